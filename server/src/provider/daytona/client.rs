//! The connection to Daytona: one pooled HTTP client, and how each request is sent and read.

use super::options::{DaytonaOptions, OptionsError};
use super::refusal::{Effect, Refused};
use super::running::Running;
use super::wire::Sandbox;
use crate::provider::{IdTable, ProviderError, SandboxTemplate, Target};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use sandpool_core::{ClassId, ProviderId};
use secrecy::ExposeSecret;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Daytona's proxy closes an idle connection after 70 s and its own towards sandboxes after 30 s;
/// one that we close first is never found closed in the middle of a request.
const POOL_IDLE: Duration = Duration::from_secs(25);

/// The most that is read of an answer's body, bytes: no command's output or file may fill memory.
pub(super) const MOST_BODY_BYTES: usize = 64 << 20;

/// Sandboxes at Daytona.
pub struct Daytona {
    pub(super) options: DaytonaOptions,
    pub(super) ids: IdTable,
    pub(super) running: Running,
    http: Client,
    api: Url,
    /// Where a sandbox's toolbox is reached, as its latest description said.
    toolboxes: Mutex<BTreeMap<ProviderId, Url>>,
}

impl fmt::Debug for Daytona {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Daytona")
            .field("api", &self.api.as_str())
            .field("pool", &self.options.pool.as_str())
            .finish_non_exhaustive()
    }
}

impl Daytona {
    /// A client. Nothing is sent yet.
    ///
    /// # Errors
    /// When the options cannot be used.
    pub fn new(options: DaytonaOptions) -> Result<Self, OptionsError> {
        let wrong = || OptionsError::Address(options.api_url.clone());
        let api = Url::parse(&options.api_url).map_err(|_| wrong())?;
        if !matches!(api.scheme(), "http" | "https") || api.cannot_be_a_base() {
            return Err(wrong());
        }
        if options.templates.is_empty() {
            return Err(OptionsError::NoClass);
        }
        let bearer = format!("Bearer {}", options.api_key.expose_secret());
        let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| OptionsError::Key)?;
        bearer.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(
            HeaderName::from_static("x-daytona-source"),
            HeaderValue::from_static("sandpool"),
        );
        // Fails when a provider is installed already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .default_headers(headers)
            .user_agent(concat!("sandpool/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(options.connect_timeout)
            .timeout(options.call_timeout)
            .pool_idle_timeout(POOL_IDLE)
            // A redirect would carry the key, or a create, to where nobody said it should go.
            .redirect(reqwest::redirect::Policy::none())
            // When to try again is the scheduler's decision.
            .retry(reqwest::retry::never())
            .build()?;
        Ok(Self {
            options,
            ids: IdTable::default(),
            running: Running::default(),
            http,
            api,
            toolboxes: Mutex::default(),
        })
    }

    pub(super) fn template(&self, class: ClassId) -> Result<&SandboxTemplate, ProviderError> {
        self.options.templates.get(usize::from(class.0)).ok_or_else(|| ProviderError::Rejected {
            detail: format!("there is no class number {class}"),
        })
    }

    /// A request to the API. Each part of the path is encoded by itself.
    pub(super) fn request(&self, method: Method, path: &[&str]) -> RequestBuilder {
        self.http.request(method, joined(&self.api, path))
    }

    /// A request to the toolbox of a sandbox, which is looked up if it was not met yet.
    pub(super) async fn toolbox(
        &self,
        provider: ProviderId,
        method: Method,
        path: &[&str],
    ) -> Result<RequestBuilder, ProviderError> {
        let text = self.known_text(provider)?;
        let base = match self.toolbox_of(provider) {
            Some(base) => base,
            None => {
                let Some(sandbox) = self.get(&text).await? else { return Err(gone(&text)) };
                self.meet(&sandbox);
                self.toolbox_of(provider).ok_or_else(|| ProviderError::Unavailable {
                    detail: "the sandbox's description has no usable toolbox address".to_owned(),
                })?
            }
        };
        let mut parts = vec![text.as_str()];
        parts.extend_from_slice(path);
        Ok(self.http.request(method, joined(&base, &parts)))
    }

    fn toolbox_of(&self, provider: ProviderId) -> Option<Url> {
        self.toolboxes.lock().unwrap_or_else(PoisonError::into_inner).get(&provider).cloned()
    }

    /// Takes note of a sandbox's id and of where its toolbox is. The key goes to that address, so
    /// one that is not encrypted is believed only of an API that is not encrypted either.
    pub(super) fn meet(&self, sandbox: &Sandbox) -> ProviderId {
        let provider = self.ids.number_of(&sandbox.id);
        let address = Url::parse(&sandbox.toolbox_proxy_url).ok().filter(|address| {
            address.scheme() == "https"
                || (self.api.scheme() == "http" && address.scheme() == "http")
        });
        if let Some(address) = address {
            let mut toolboxes = self.toolboxes.lock().unwrap_or_else(PoisonError::into_inner);
            toolboxes.insert(provider, address);
        }
        provider
    }

    /// The sandbox is gone: where it was is forgotten. Its number stays its own.
    pub(super) fn forget(&self, text: &str) {
        let provider = self.ids.number_of(text);
        self.toolboxes.lock().unwrap_or_else(PoisonError::into_inner).remove(&provider);
    }

    pub(super) fn known_text(&self, provider: ProviderId) -> Result<String, ProviderError> {
        self.ids.text_of(provider).ok_or_else(|| ProviderError::Gone {
            detail: format!("no sandbox with the number {provider} was ever met"),
        })
    }

    /// What the API says of one sandbox by id or name; none when it knows no such one. This answer
    /// is the truth, a list is not (daytonaio/daytona#5138).
    pub(super) async fn get(&self, id_or_name: &str) -> Result<Option<Sandbox>, ProviderError> {
        let response =
            send(self.request(Method::GET, &["sandbox", id_or_name]), Effect::None).await;
        match response {
            Ok(response) => read_json(response, Effect::None).await.map(Some),
            Err(refused) if refused.status == Some(StatusCode::NOT_FOUND) => Ok(None),
            Err(refused) => Err(refused.error),
        }
    }

    /// The provider's id of a target. A name is looked up and must lead to one of ours.
    pub(super) async fn resolve(&self, target: Target) -> Result<Option<String>, ProviderError> {
        if let Some(provider) = target.provider {
            return self.known_text(provider).map(Some);
        }
        let Some(sandbox) = self.get(&self.options.pool.write(target.name)).await? else {
            return Ok(None);
        };
        if !sandbox.bears(&self.options.pool) {
            return Ok(None);
        }
        self.meet(&sandbox);
        Ok(Some(sandbox.id))
    }
}

pub(super) fn gone(text: &str) -> ProviderError {
    ProviderError::Gone { detail: format!("the provider knows no sandbox {text}") }
}

fn joined(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    url.path_segments_mut().expect("an http address can be a base").pop_if_empty().extend(path);
    url
}

/// Sends a request; any status but success is a refusal.
pub(super) async fn send(request: RequestBuilder, effect: Effect) -> Result<Response, Refused> {
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) => return Err(Refused::of_transport(&error, effect)),
    };
    if response.status().is_success() {
        return Ok(response);
    }
    let (status, headers) = (response.status(), response.headers().clone());
    let body = read_body(response, 64 << 10).await.unwrap_or_default();
    Err(Refused::of_answer(status, &headers, &String::from_utf8_lossy(&body), effect))
}

/// Reads a body up to a bound. Longer ones and broken ones are an error.
pub(super) async fn read_body(mut response: Response, most: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|error| error.without_url().to_string())?
    {
        if body.len() + chunk.len() > most {
            return Err(format!("the answer is longer than {most} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads a successful answer. One that cannot be read was still carried out, unless it only asked.
pub(super) async fn read_json<T: DeserializeOwned>(
    response: Response,
    effect: Effect,
) -> Result<T, ProviderError> {
    let unread = |detail| match effect {
        Effect::None => ProviderError::Unavailable { detail },
        Effect::Change | Effect::Command => ProviderError::Lost { detail },
    };
    let body = read_body(response, MOST_BODY_BYTES).await.map_err(unread)?;
    serde_json::from_slice(&body)
        .map_err(|error| unread(format!("the answer cannot be read: {error}")))
}
