//! Every route in one list.

use super::app::App;
use super::error::{ApiError, ErrorBody, ErrorCode};
use super::{health, metrics, middleware, v1};
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{Modify, OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "sandpool",
        description = "Conversations that keep their history while sandboxes come and go."
    ),
    modifiers(&Bearer),
    security(("api_key" = []))
)]
struct Document;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        openapi
            .components
            .get_or_insert_default()
            .add_security_scheme("api_key", SecurityScheme::Http(scheme));
    }
}

fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(metrics::metrics))
        .routes(routes!(v1::conversations::create, v1::conversations::list))
        .routes(routes!(
            v1::conversations::get,
            v1::conversations::update,
            v1::conversations::close
        ))
        .routes(routes!(v1::messages::append, v1::messages::list))
        .routes(routes!(v1::messages::context))
        .routes(routes!(v1::turns::begin))
        .routes(routes!(v1::turns::end))
        .routes(routes!(v1::execute::execute))
        .routes(routes!(v1::execute::cancel))
        .routes(routes!(v1::files::read, v1::files::write, v1::files::delete))
        .routes(routes!(v1::files::list))
        .routes(routes!(v1::events::list))
        .routes(routes!(v1::explain::explain))
        .routes(routes!(v1::capacity::capacity))
        .routes(routes!(v1::admin::drain::drain))
        .routes(routes!(v1::admin::status::status))
        .routes(routes!(v1::admin::reconcile::reconcile))
        .routes(routes!(v1::admin::accounts::add_account, v1::admin::accounts::list_accounts))
        .routes(routes!(v1::admin::accounts::add_key, v1::admin::accounts::list_keys))
        .routes(routes!(v1::admin::accounts::revoke_key))
}

/// The OpenAPI document that the server serves.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = routes().into_openapi();
    add_common_answers(&mut document);
    document
}

/// What the middlewares and the readers of bodies answer, whatever the route.
fn add_common_answers(document: &mut utoipa::openapi::OpenApi) {
    let answer = |description: &str| {
        let body =
            ContentBuilder::new().schema(Some(Ref::from_schema_name(ErrorBody::name()))).build();
        let response = ResponseBuilder::new().description(description);
        RefOr::T(response.content("application/json", body).build())
    };
    for (path, item) in &mut document.paths.paths {
        let methods =
            [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch];
        for operation in methods.into_iter().flatten() {
            let mut common = Vec::new();
            if path.starts_with("/v1/") {
                common.push(("503", "too many requests are under way, or the server ends"));
                common.push(("500", "a defect, or the store fails"));
            }
            if operation.request_body.is_some() {
                common.push(("413", "the body is too large"));
                common.push(("415", "the body is of another type"));
            }
            for (status, description) in common {
                let responses = &mut operation.responses.responses;
                responses.entry(status.to_owned()).or_insert_with(|| answer(description));
            }
        }
    }
}

/// The whole service.
pub(crate) fn router(app: App) -> Router {
    let (router, mut document) = routes().split_for_parts();
    add_common_answers(&mut document);
    let document = document.to_json().expect("the document is JSON");
    let router = router
        .route("/openapi.json", get(move || async move { json(document) }))
        .fallback(|| async { ApiError::not_found("route") })
        .method_not_allowed_fallback(|| async {
            ApiError::new(ErrorCode::MethodNotAllowed, "this route does not take that method")
        });
    middleware::around(router, &app).with_state(app)
}

fn json(text: String) -> impl IntoResponse {
    ([(axum::http::header::CONTENT_TYPE, "application/json")], text)
}
