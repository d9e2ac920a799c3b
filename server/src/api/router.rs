//! Every route in one list.

use super::app::App;
use super::error::{ApiError, ErrorCode};
use super::{health, middleware, v1};
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
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
        .routes(routes!(v1::admin::drain))
        .routes(routes!(v1::admin::add_account))
        .routes(routes!(v1::admin::add_key))
        .routes(routes!(v1::admin::revoke_key))
}

/// The OpenAPI document that the server serves.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    routes().into_openapi()
}

/// The whole service.
pub(crate) fn router(app: App) -> Router {
    let (router, document) = routes().split_for_parts();
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
