//! The HTTP API. A request goes through the middlewares from the outside in, is known to be of an
//! account, and reaches one handler, which calls one method of [`crate::service`].

mod app;
mod auth;
mod error;
mod extract;
mod health;
mod metrics;
mod middleware;
mod router;
mod v1;

pub(crate) use app::App;
pub use router::openapi;
pub(crate) use router::router;
pub(crate) use v1::admin::accounts::new_key_id;
pub(crate) use v1::admin::status::{SandboxStatus, Status, WaitingStatus};
