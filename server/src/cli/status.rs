//! `sandpool-server status`: a running server, as its operator sees it.

use super::Failure;
use crate::api::{SandboxStatus, Status, WaitingStatus};
use clap::Args;
use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Show who holds what, who waits, and what is wrong
///
/// The operator's key comes from SANDPOOL_ADMIN_KEY, or from the file that SANDPOOL_ADMIN_KEY_FILE
/// names: never from a flag, which other users of the machine can see.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes:
  0  the server answers, and nothing is wrong
  1  something is wrong: a stuck delete, a create in limbo, an open breaker, a lowered limit
  2  the command has mistakes, or there is no key
  3  the server does not answer, or not to this key

Examples:
  SANDPOOL_ADMIN_KEY_FILE=/run/secrets/operator sandpool-server status
  sandpool-server status --url https://pool.example.org --json
  sandpool-server status --watch 2")]
pub(super) struct Arguments {
    /// Where the server is
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8420")]
    url: String,
    /// Print the answer as it is
    #[arg(long)]
    json: bool,
    /// Again and again, after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    watch: Option<u64>,
}

pub(super) fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let key = key()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::CannotStart(error.to_string()))?;
    // The ring provider is installed once, before any client is made.
    let _ = rustls::crypto::ring::default_provider().install_default();
    runtime.block_on(async {
        loop {
            let status = ask(&arguments.url, &key).await?;
            let text = if arguments.json {
                serde_json::to_string_pretty(&status).unwrap_or_default() + "\n"
            } else {
                table(&status)
            };
            // Whoever pipes it into something may close it.
            if write!(std::io::stdout(), "{text}").is_err() {
                return Ok(());
            }
            let Some(seconds) = arguments.watch else {
                return match wrong(&status) {
                    wrong if wrong.is_empty() => Ok(()),
                    wrong => Err(Failure::Failed(wrong.join("; "))),
                };
            };
            tokio::time::sleep(Duration::from_secs(seconds)).await;
        }
    })
}

fn key() -> Result<String, Failure> {
    if let Ok(key) = std::env::var("SANDPOOL_ADMIN_KEY")
        && !key.trim().is_empty()
    {
        return Ok(key.trim().to_owned());
    }
    let Some(file) = std::env::var_os("SANDPOOL_ADMIN_KEY_FILE").map(PathBuf::from) else {
        return Err(Failure::Mistakes(
            "there is no key\n  hint: set SANDPOOL_ADMIN_KEY, or SANDPOOL_ADMIN_KEY_FILE to a file \
             with the operator's key"
                .to_owned(),
        ));
    };
    let text = std::fs::read_to_string(&file)
        .map_err(|error| Failure::Mistakes(format!("cannot read {}: {error}", file.display())))?;
    Ok(text.trim().to_owned())
}

async fn ask(url: &str, key: &str) -> Result<Status, Failure> {
    let no_answer = |error: &dyn std::fmt::Display| {
        Failure::CannotStart(format!("{url} does not answer: {error}"))
    };
    let url = format!("{}/v1/admin/status", url.trim_end_matches('/'));
    let client = reqwest::Client::builder()
        .timeout(Duration::from_secs(10))
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| no_answer(&error))?;
    let answer = client.get(&url).bearer_auth(key).send().await;
    let answer = answer.map_err(|error| no_answer(&error.without_url()))?;
    match answer.status().as_u16() {
        200 => answer.json().await.map_err(|error| no_answer(&error.without_url())),
        401 | 403 => Err(Failure::CannotStart(
            "the key is not the operator's\n  hint: the first start showed it once; a new one is \
             made by POST /v1/admin/accounts/0/keys"
                .to_owned(),
        )),
        status => Err(no_answer(&format!("status {status}"))),
    }
}

/// What somebody should look at.
fn wrong(status: &Status) -> Vec<String> {
    let mut wrong = Vec::new();
    if status.stuck > 0 {
        wrong.push(format!("{} deletes are stuck", status.stuck));
    }
    if status.limbo > 0 {
        wrong.push(format!("{} creates are in limbo", status.limbo));
    }
    if status.capacity.is_lowered {
        wrong.push("the limit is lowered: the provider said full".to_owned());
    }
    let open = status.classes.iter().filter(|class| class.is_breaker_open);
    wrong.extend(open.map(|class| format!("the breaker of class {:?} is open", class.class)));
    wrong
}

fn table(status: &Status) -> String {
    let amount = |value: Option<i64>| value.map_or("unlimited".to_owned(), |it| it.to_string());
    let capacity = &status.capacity;
    let mut text = format!(
        "{} of {} sandboxes, {} free, {} starting, {} waiting{}{}\n",
        capacity.sandboxes,
        amount(capacity.limit.sandboxes),
        amount(capacity.free.sandboxes),
        capacity.starting,
        capacity.waiting,
        if capacity.is_lowered { "; the limit is lowered, the provider said full" } else { "" },
        if status.is_recovering { "; recovering: nothing starts yet" } else { "" },
    );
    for class in &status.classes {
        text += &format!(
            "class {}: {} of {} warm, a start takes {:.1} s{}{}\n",
            class.class,
            class.warm,
            class.warm_target,
            class.start_seconds,
            if class.failures > 0 {
                format!(", {} failures in a row", class.failures)
            } else {
                String::new()
            },
            if class.is_breaker_open { ", BREAKER OPEN" } else { "" },
        );
    }
    if !status.sandboxes.is_empty() {
        let head = ["sandbox", "class", "state", "since s", "account", "conversation", "provider"];
        text += &rows(&head, status.sandboxes.iter().map(sandbox_row));
    }
    if !status.waiting.is_empty() {
        let head = ["waits", "account", "for", "reason", "before it", "waited s", "patience s"];
        text += &rows(&head, status.waiting.iter().map(waiting_row));
    }
    text
}

fn sandbox_row(it: &SandboxStatus) -> Vec<String> {
    let state = if it.is_stuck { format!("{} (stuck)", it.state) } else { it.state.clone() };
    vec![
        it.name.clone(),
        it.class.clone(),
        state,
        it.since_seconds.map_or(String::new(), |seconds| format!("{seconds:.0}")),
        it.account.map_or(String::new(), |account| account.to_string()),
        it.conversation.clone().unwrap_or_default(),
        it.provider_id.clone().unwrap_or_default(),
    ]
}

fn waiting_row(it: &WaitingStatus) -> Vec<String> {
    vec![
        it.conversation.clone(),
        it.account.to_string(),
        if it.is_blocked { "an execute" } else { "later" }.to_owned(),
        it.reason.clone(),
        it.position.map_or(String::new(), |position| position.to_string()),
        format!("{:.1}", it.waited_seconds),
        it.patience_left_seconds.map_or(String::new(), |seconds| format!("{seconds:.1}")),
    ]
}

fn rows(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head.to_vec());
    table.add_rows(rows);
    format!("\n{table}\n")
}
