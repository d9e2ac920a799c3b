//! The simulated Daytona over HTTP: the machine that the simulator runs in virtual time, in real
//! time and behind Daytona's own API.
//!
//! ```no_run
//! # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
//! use sandpool_sim::{DaytonaApi, DaytonaApiOptions};
//!
//! let api = DaytonaApi::start(DaytonaApiOptions::default()).await?;
//! println!("{} {}", api.url(), api.api_key());
//! api.stop().await;
//! # Ok(())
//! # }
//! ```

mod admin;
mod answer;
mod app;
mod asked;
mod connection;
mod control_plane;
mod error_body;
mod exec;
mod real_time;
mod routes;
mod toolbox;

pub use app::{DaytonaApi, DaytonaApiOptions, StartError};
pub use exec::{CommandExecution, HostError};
pub use real_time::Live;
