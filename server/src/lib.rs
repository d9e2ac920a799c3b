//! Conversations that outlive their sandboxes: an HTTP server over sandpool's scheduler.

mod clock;
mod config;
mod engine;
mod keys;
mod provider;
mod store;

pub use config::{
    DaytonaSettings, HistorySettings, HttpSettings, Settings, SettingsError, StoreSettings,
};
