//! The toolboxes of the simulated Daytona over HTTP: commands, files, sessions, and what is left of
//! them afterwards.

mod cleaning_up;
mod client;
mod command_line;
mod commands;
mod files;
mod gate;
mod links;
mod sessions;

pub(crate) use client::{Client, entries, soon};
pub(crate) use command_line::Served;

use sandpool_core::Resources;
use sandpool_sim::{AccountSettings, CommandExecution, DaytonaApi, DaytonaApiOptions, Latencies};

/// One with a quota that nothing exceeds, and that creates and deletes at once.
pub(crate) fn roomy() -> AccountSettings {
    let mut account = AccountSettings::default();
    account.profile.quota = Resources {
        slots: Resources::UNLIMITED,
        memory_mb: Resources::UNLIMITED,
        cpu_milli: Resources::UNLIMITED,
        disk_mb: Resources::UNLIMITED,
    };
    account.profile.latencies = Latencies::zero();
    account
}

/// One that is served in this process.
async fn served() -> (DaytonaApi, Client) {
    served_with(CommandExecution::Local).await
}

async fn served_with(execution: CommandExecution) -> (DaytonaApi, Client) {
    let account = AccountSettings { api_key: "dtn_test".to_owned(), ..roomy() };
    let options = DaytonaApiOptions { execution, account, ..DaytonaApiOptions::default() };
    let api = DaytonaApi::start(options).await.expect("a free port");
    let client = Client::new(&api.url(), api.api_key());
    (api, client)
}
