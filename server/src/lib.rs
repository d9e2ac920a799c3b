//! Conversations that outlive their sandboxes: an HTTP server over sandpool's scheduler.

mod provider;
mod store;
