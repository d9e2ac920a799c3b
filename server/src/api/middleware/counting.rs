//! Counts and times every request, by the route that the router knows.

use super::super::app::App;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;

/// What is asked for beside the routes: one label for all of it.
const NO_ROUTE: &str = "none";

/// Methods that are told apart; whoever makes one up does not make a label.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

pub(super) async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = METHODS.into_iter().find(|it| *it == request.method().as_str()).unwrap_or("other");
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
    app.metrics.requested(method, route, response.status().as_u16(), began.elapsed());
    response
}
