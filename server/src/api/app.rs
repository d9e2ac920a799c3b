//! What every handler can reach.

use super::auth::Known;
use crate::config::HttpSettings;
use crate::metrics::Metrics;
use crate::service::Service;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::Semaphore;

/// What every handler can reach. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) service: Service,
    pub(crate) http: HttpSettings,
    pub(crate) metrics: Arc<Metrics>,
    /// Keys that were looked up before.
    pub(crate) known: Arc<Known>,
    /// Requests that may be worked on at once.
    pub(crate) permits: Arc<Semaphore>,
    /// Whether a shutdown has begun: nothing new is taken on.
    pub(crate) is_draining: Arc<AtomicBool>,
}

impl App {
    pub(crate) fn new(service: Service, http: HttpSettings, metrics: Arc<Metrics>) -> Self {
        let permits = Arc::new(Semaphore::new(http.max_requests as usize));
        Self {
            service,
            http,
            metrics,
            known: Arc::new(Known::default()),
            permits,
            is_draining: Arc::new(AtomicBool::new(false)),
        }
    }
}
