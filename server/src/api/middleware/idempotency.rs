//! `Idempotency-Key`: a request that creates or runs something may be sent again under the same
//! key, and is carried out once. The answer is kept for a day.
//!
//! Not for the operator's routes: their answers hold keys, of which only hashes may be kept.

use super::super::app::App;
use super::super::auth::Account;
use super::super::error::{ApiError, ErrorCode};
use crate::store::{Batch, IdempotencyRecord, IdempotencyStatus, NewIdempotent, StoreError, Write};
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use sha2::{Digest, Sha256};

/// The header.
pub(in crate::api) const IDEMPOTENCY_KEY: &str = "idempotency-key";
const OPERATORS: &str = "/v1/admin";
const DAY_MS: i64 = 86_400_000;
const LONGEST_KEY: usize = 200;

pub(super) async fn once(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let key = request.headers().get(IDEMPOTENCY_KEY).cloned();
    let (true, Some(key)) = (request.method() == Method::POST, key) else {
        return Ok(next.run(request).await);
    };
    let key = key_of(&key)?;
    if request.uri().path().starts_with(OPERATORS) {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            "the operator's routes take no idempotency key",
        )
        .hint("their answers hold API keys, which are not kept; send the request without it"));
    }
    let (mut parts, body) = request.into_parts();
    let Account(account) = Account::from_request_parts(&mut parts, &app).await?;
    let most = app.http.max_body_mb as usize * 1_024 * 1_024;
    let body = axum::body::to_bytes(body, most)
        .await
        .map_err(|_| ApiError::new(ErrorCode::BodyTooLarge, "the body is too large"))?;
    let request_hash = hash_of(parts.uri.path(), &body);
    let now_ms = crate::clock::wall_clock_ms();
    let store = app.service.store();
    let kept = store.idempotency(account, &key, now_ms).await;
    if let Some(record) = kept.map_err(|error| ApiError::internal(&error))? {
        return replay(record, request_hash);
    }
    let begin = Write::BeginIdempotent(NewIdempotent {
        account,
        key: key.clone(),
        request_hash,
        began_ms: now_ms,
        expires_ms: now_ms.saturating_add(DAY_MS),
    });
    match store.commit(Batch::new(vec![begin])).await {
        Ok(_) => {}
        Err(StoreError::Exists { .. }) => return Err(in_progress()),
        Err(error) => return Err(ApiError::internal(&error)),
    }
    // In a task of its own: it goes on, and its answer is kept, even if the caller has gone.
    let request = Request::from_parts(parts, Body::from(body));
    let task = tokio::spawn(async move {
        let response = next.run(request).await;
        keep(&app, account, key, response).await
    });
    task.await.unwrap_or_else(|failed| Err(ApiError::internal(&failed)))
}

fn key_of(value: &HeaderValue) -> Result<String, ApiError> {
    let key = value.to_str().unwrap_or_default();
    if key.is_empty() || key.len() > LONGEST_KEY {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            "the idempotency key is not 1 to 200 visible ASCII characters",
        ));
    }
    Ok(key.to_owned())
}

fn hash_of(path: &str, body: &Bytes) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(path.as_bytes());
    hash.update([0]);
    hash.update(body);
    hash.finalize().into()
}

fn in_progress() -> ApiError {
    ApiError::new(
        ErrorCode::IdempotencyInProgress,
        "the first request with this idempotency key is still being worked on",
    )
    .retry_after_seconds(1)
}

fn replay(record: IdempotencyRecord, request_hash: [u8; 32]) -> Result<Response, ApiError> {
    if record.request_hash != request_hash {
        return Err(ApiError::new(
            ErrorCode::IdempotencyKeyReused,
            "this idempotency key was used for another request",
        )
        .hint("use a new key for each request, and the same one only to send it again"));
    }
    match record.status {
        IdempotencyStatus::InProgress => Err(in_progress()),
        IdempotencyStatus::Finished { status, body } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
            let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Ok((status, [json], body).into_response())
        }
    }
}

/// Keeps the answer. One that says "not now" is none: nothing was done, and the request may be tried
/// anew. A defect may have come after something was done, so that its answer is kept.
async fn keep(
    app: &App,
    account: u32,
    key: String,
    response: Response,
) -> Result<Response, ApiError> {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.map_err(|error| ApiError::internal(&error))?.to_bytes();
    let write = if parts.status == StatusCode::SERVICE_UNAVAILABLE {
        Write::ForgetIdempotent { account, key }
    } else {
        let status = parts.status.as_u16();
        Write::FinishIdempotent { account, key, status, body: body.to_vec() }
    };
    let kept = app.service.store().commit(Batch::new(vec![write])).await;
    kept.map_err(|error| ApiError::internal(&error))?;
    Ok(Response::from_parts(parts, Body::from(body)))
}
