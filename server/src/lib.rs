//! Conversations that outlive their sandboxes: an HTTP server over sandpool's scheduler.

mod api;
mod bench;
mod chaos;
mod cli;
mod clock;
mod config;
mod context;
mod engine;
mod keys;
mod metrics;
mod provider;
mod rig;
mod service;
mod store;

pub use api::openapi;
pub use cli::main;
pub use config::{
    DaytonaSettings, HistorySettings, HttpSettings, Settings, SettingsError, SimulatedSettings,
    StoreSettings,
};
pub use context::{
    BytesOverFour, ContextRules, Selected, Selection, TokenEstimate, load_context, select_context,
};
pub use keys::{ApiKey, AuthError, KeyHash, authenticate, redact_keys};
pub use metrics::Prices;
pub use provider::{
    Alive, CommandOutcome, CommandRequest, Daytona, DaytonaOptions, FileContent, FileEntry,
    FileSource, Found, IdTable, Language, OptionsError, Origin, OutputSink, Pool, PoolError,
    PrepareFile, PrepareSteps, ProviderError, Relabelling, Run, SandboxProvider, SandboxTemplate,
    Scripted, Simulated, Target, carry_out,
};
pub use store::{
    Account, ApiKeyRecord, Batch, Committing, Conversation, ConversationKey, ConversationPage,
    EventRecord, ExecuteRecord, IdempotencyRecord, IdempotencyStatus, Intent, JournalLine,
    KeyUnavailable, MAX_PAGE, Message, MessageKind, MessageRange, NewApiKey, NewConversation,
    NewIdempotent, OpenConversation, OpenExecute, OpenRequest, OpenTurn, Order, Receipt, Recovery,
    SandboxRef, SqliteOptions, SqliteStore, Store, StoreError, TurnRecord, Write,
};

use sandpool_core::Resources;

/// How sandboxes are made at the provider, by class, as the configuration says.
///
/// # Errors
/// With what is wrong with a class's prepare steps.
fn provider_templates(settings: &Settings) -> Result<Vec<SandboxTemplate>, String> {
    let classes = settings.policy.config.classes.iter().zip(&settings.policy.templates);
    classes
        .map(|(class, template)| {
            let origin = match (&template.image, &template.snapshot) {
                (Some(image), _) => Origin::Image(image.clone()),
                (None, Some(snapshot)) => Origin::Snapshot(snapshot.clone()),
                (None, None) => Origin::Default,
            };
            let prepare: PrepareSteps = match template.prepare.clone() {
                None => PrepareSteps::default(),
                Some(table) => table
                    .try_into()
                    .map_err(|error| format!("[classes.{}.prepare]: {error}", class.name))?,
            };
            if !(1..=3_600).contains(&prepare.timeout_seconds) {
                return Err(format!(
                    "[classes.{}.prepare]: timeout_seconds = {} is out of range\n  hint: from 1 to 3600",
                    class.name, prepare.timeout_seconds
                ));
            }
            let resources: Resources = class.resources;
            let environment = std::collections::BTreeMap::new();
            Ok(SandboxTemplate {
                class: class.name.clone(),
                resources,
                origin,
                environment,
                prepare,
            })
        })
        .collect()
}
