//! Bodies, paths and queries, with this API's own errors.

use super::error::{ApiError, ErrorCode};
use crate::store::ConversationKey;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// A JSON body.
#[derive(FromRequest)]
#[from_request(via(axum::Json), rejection(ApiError))]
pub(crate) struct Json<T>(pub(crate) T);

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        let code = match rejection.status() {
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ErrorCode::UnsupportedMediaType,
            StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::BodyTooLarge,
            _ => ErrorCode::InvalidRequest,
        };
        Self::new(code, rejection.body_text())
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(ErrorCode::InvalidRequest, rejection.body_text())
    }
}

impl From<PathRejection> for ApiError {
    fn from(rejection: PathRejection) -> Self {
        Self::new(ErrorCode::InvalidRequest, rejection.body_text())
    }
}

/// A query.
#[derive(FromRequestParts)]
#[from_request(via(Query), rejection(ApiError))]
pub(crate) struct Params<T>(pub(crate) T);

/// A path.
#[derive(FromRequestParts)]
#[from_request(via(Path), rejection(ApiError))]
pub(crate) struct At<T>(pub(crate) T);

/// The conversation in the path. What cannot be a name of one is one that does not exist.
pub(crate) struct InConversation(pub(crate) ConversationKey);

impl<S: Send + Sync> FromRequestParts<S> for InConversation {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        #[derive(serde::Deserialize)]
        struct Named {
            conversation: String,
        }
        let named: Path<Named> = from_path(parts, state).await?;
        ConversationKey::parse(&named.0.conversation)
            .map(Self)
            .ok_or_else(|| ApiError::not_found("conversation"))
    }
}

async fn from_path<T: DeserializeOwned + Send, S: Send + Sync>(
    parts: &mut Parts,
    state: &S,
) -> Result<Path<T>, ApiError> {
    Path::from_request_parts(parts, state).await.map_err(ApiError::from)
}
