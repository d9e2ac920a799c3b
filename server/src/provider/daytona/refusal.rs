//! What a refusal means. Daytona's control plane has no machine-readable codes: only the status
//! and the text of the message tell cases apart (v0.190.0, all-exceptions.filter.ts). Every text
//! that is matched anywhere is matched here.

use super::rate_limit::retry_after;
use crate::provider::ProviderError;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use sandpool_core::Dimension;

/// What the request would have changed, and so what is unknown when no proper answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It only asked: without an answer nothing has happened.
    None,
    /// It creates, deletes or writes.
    Change,
    /// It runs a command or writes files, in the sandbox.
    Command,
}

/// A request that was not answered with success.
#[derive(Debug)]
pub(super) struct Refused {
    /// None when there was no answer at all.
    pub(super) status: Option<StatusCode>,
    /// The provider's words.
    pub(super) message: String,
    /// What it means where the caller knows nothing better.
    pub(super) error: ProviderError,
}

impl Refused {
    /// No answer came. A connection that was never made carried nothing; one that broke may have.
    pub(super) fn of_transport(error: &reqwest::Error, effect: Effect) -> Self {
        let detail = told(error);
        let error = if error.is_builder() {
            ProviderError::Rejected { detail: detail.clone() }
        } else if error.is_connect() || effect == Effect::None {
            ProviderError::Unavailable { detail: detail.clone() }
        } else {
            ProviderError::Lost { detail: detail.clone() }
        };
        Self { status: None, message: detail, error }
    }

    /// An answer came that is no success.
    pub(super) fn of_answer(
        status: StatusCode,
        headers: &HeaderMap,
        body: &str,
        effect: Effect,
    ) -> Self {
        let message = message_of(body);
        let detail = format!("{}: {message}", status.as_u16());
        let error = match status.as_u16() {
            400 => of_bad_request(&message, detail),
            409 if message.contains("already exists") => ProviderError::NameExists,
            409 => ProviderError::Conflict { detail },
            429 => ProviderError::RateLimited { retry_after: retry_after(headers) },
            // The balancer's way of saying that it passed nothing on.
            503 => ProviderError::Unavailable { detail },
            // 502 and 504 are also seen for creates that were carried out (n8n-io/n8n#35314).
            408 | 500..=599 if effect == Effect::None => ProviderError::Unavailable { detail },
            408 | 500..=599 => ProviderError::Lost { detail },
            _ => ProviderError::Rejected { detail },
        };
        Self { status: Some(status), message, error }
    }

    /// Whether a toolbox call failed because the sandbox is not running or not there, whatever the
    /// status says: stopped ones answer 400, vanished ones 404 (daytonaio/daytona#4142, #4632).
    pub(super) fn is_about_state(&self) -> bool {
        const TEXTS: [&str; 5] = [
            "Is the Sandbox started?",
            "failed to resolve container IP",
            "no IP address found",
            "container not found",
            "No such container",
        ];
        TEXTS.iter().any(|text| self.message.contains(text))
    }

    /// Whether the answer says that nothing is there.
    pub(super) fn is_not_found(&self) -> bool {
        self.status == Some(StatusCode::NOT_FOUND)
    }
}

/// A 400 may be a quota, a failed start, or a real mistake (v0.190.0, sandbox.service.ts).
fn of_bad_request(message: &str, detail: String) -> ProviderError {
    const TOTALS: [(&str, Option<Dimension>); 5] = [
        ("Total CPU limit exceeded", Some(Dimension::Cpu)),
        ("Total memory limit exceeded", Some(Dimension::Memory)),
        ("Total disk limit exceeded", Some(Dimension::Disk)),
        ("Total GPU limit exceeded", None),
        // Seen in daytonaio/daytona#5134; not in the published source.
        ("Sandbox resource limit reached", None),
    ];
    if let Some((_, dimension)) = TOTALS.iter().find(|(text, _)| message.starts_with(text)) {
        return ProviderError::Full { dimension: *dimension, detail };
    }
    if message.starts_with("Sandbox failed to start") {
        return ProviderError::Errored { detail };
    }
    // Their machines are full or away, not our quota: nothing was created, and it passes.
    if message.starts_with("No available runners") || message.starts_with("No available nodes") {
        return ProviderError::Unavailable { detail };
    }
    // A snapshot on its way to a region; an inactive one stays so until somebody activates it.
    let is_on_its_way = ["is pending", "is pulling", "is building", "is snapshotting"]
        .iter()
        .any(|text| message.ends_with(text));
    if message.starts_with("Snapshot ") && is_on_its_way {
        return ProviderError::Unavailable { detail };
    }
    ProviderError::Rejected { detail }
}

/// The message in a body: JSON with `message` or, from older toolboxes, `error`; else whatever
/// text there is, which behind a balancer is HTML.
fn message_of(body: &str) -> String {
    let json: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let field = |key: &str| json.as_ref()?.get(key)?.as_str().map(str::to_owned);
    if let Some(message) = field("message").or_else(|| field("error")) {
        return shortened(&message);
    }
    match body.trim() {
        "" => "(no text)".to_owned(),
        text if text.starts_with('<') => {
            let title =
                text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
            shortened(title.map_or("(a web page)", |(title, _)| title))
        }
        text => shortened(text),
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 500;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}

/// The error with what caused it, without the address.
fn told(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() {
        "no answer in time".to_owned()
    } else if error.is_connect() {
        "no connection".to_owned()
    } else {
        "the connection broke".to_owned()
    };
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, message: &str, effect: Effect) -> ProviderError {
        let status = StatusCode::from_u16(status).unwrap();
        let body =
            serde_json::json!({"statusCode": status.as_u16(), "message": message}).to_string();
        Refused::of_answer(status, &HeaderMap::new(), &body, effect).error
    }

    #[test]
    fn each_quota_text_names_its_dimension() {
        let tier = "To increase concurrency limits, upgrade your organization's Tier by visiting https://app.daytona.io/dashboard/limits.";
        for (text, dimension) in [
            (
                format!("Total CPU limit exceeded. Maximum allowed: 10.\n{tier}"),
                Some(Dimension::Cpu),
            ),
            (
                format!("Total memory limit exceeded. Maximum allowed: 10GiB.\n{tier}"),
                Some(Dimension::Memory),
            ),
            (
                format!(
                    "Total disk limit exceeded. Maximum allowed: 30GiB.\nConsider archiving your unused Sandboxes to free up available storage.\n{tier}"
                ),
                Some(Dimension::Disk),
            ),
            ("Total GPU limit exceeded. Maximum allowed: 0.".to_owned(), None),
            ("Sandbox resource limit reached (16), please try again later.".to_owned(), None),
        ] {
            let ProviderError::Full { dimension: seen, .. } = error(400, &text, Effect::Change)
            else {
                panic!("{text} is no quota");
            };
            assert_eq!(seen, dimension, "{text}");
        }
    }

    #[test]
    fn other_bad_requests_are_told_apart() {
        use ProviderError::{Errored, Rejected, Unavailable};
        let of = |text| error(400, text, Effect::Change);
        assert!(matches!(
            of(
                "CPU request 5 exceeds maximum allowed per sandbox (4).\nNeed higher resource limits per-sandbox?"
            ),
            Rejected { .. }
        ));
        assert!(matches!(of("Sandbox failed to start: boom\nsecond line"), Errored { .. }));
        assert!(matches!(of("No available runners"), Unavailable { .. }));
        assert!(matches!(of("Snapshot a is pulling"), Unavailable { .. }));
        assert!(matches!(of("Snapshot a is inactive"), Rejected { .. }));
        assert!(matches!(of("autoStopInterval must be a number"), Rejected { .. }));
    }

    #[test]
    fn what_an_error_of_the_server_leaves_unknown_depends_on_the_request() {
        for status in [500, 502, 504] {
            assert!(matches!(error(status, "", Effect::Change), ProviderError::Lost { .. }));
            assert!(matches!(error(status, "", Effect::None), ProviderError::Unavailable { .. }));
        }
        assert!(matches!(error(503, "", Effect::Change), ProviderError::Unavailable { .. }));
        assert!(matches!(
            error(401, "Invalid credentials", Effect::None),
            ProviderError::Rejected { .. }
        ));
    }

    #[test]
    fn a_page_instead_of_json_is_read_by_its_title() {
        let page = "<html>\r\n<head><title>502 Bad Gateway</title></head></html>";
        assert_eq!(message_of(page), "502 Bad Gateway");
        assert_eq!(message_of(""), "(no text)");
        assert_eq!(message_of(r#"{"error":"older","statusCode":400}"#), "older");
    }
}
