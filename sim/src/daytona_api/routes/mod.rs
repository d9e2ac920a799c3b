//! The routes of the control plane: one file each, one list of them all.

mod api_keys;
mod archive;
mod config;
mod create;
mod delete;
mod get;
mod health;
mod intervals;
mod labels;
mod last_activity;
mod list;
mod network;
mod organizations;
mod pause;
mod preview;
mod public;
mod recover;
mod resize;
mod snapshots;
mod start;
mod stop;
mod toolbox_url;

use super::admin;
use super::answer::unknown_route;
use super::asked::Asked;
use super::real_time::Live;
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::Response;
use axum::routing::{delete as delete_, get as get_, post as post_, put as put_};
use std::sync::Arc;

/// Every route that is served here.
pub(super) fn router(live: Arc<Live>) -> Router {
    let api = Router::new()
        .route("/sandbox", post_(create::create).get(list::list))
        .route("/sandbox/paginated", get_(list::list_paginated))
        .route("/sandbox/{key}", get_(get::get).delete(delete::delete))
        .route("/sandbox/{key}/start", post_(start::start))
        .route("/sandbox/{key}/stop", post_(stop::stop))
        .route("/sandbox/{key}/archive", post_(archive::archive))
        .route("/sandbox/{key}/recover", post_(recover::recover))
        .route("/sandbox/{key}/resize", post_(resize::resize))
        .route("/sandbox/{key}/pause", post_(pause::pause))
        .route("/sandbox/{key}/fork", post_(pause::fork))
        .route("/sandbox/{key}/labels", put_(labels::set_labels))
        .route("/sandbox/{key}/autostop/{minutes}", post_(intervals::auto_stop))
        .route("/sandbox/{key}/autoarchive/{minutes}", post_(intervals::auto_archive))
        .route("/sandbox/{key}/autodelete/{minutes}", post_(intervals::auto_delete))
        .route("/sandbox/{key}/ttl/{minutes}", post_(intervals::ttl))
        .route("/sandbox/{key}/public/{flag}", post_(public::set_public))
        .route("/sandbox/{key}/network-settings", post_(network::set_network))
        .route("/sandbox/{key}/last-activity", post_(last_activity::last_activity))
        .route("/sandbox/{key}/ports/{port}/preview-url", get_(preview::preview_url))
        .route("/sandbox/{key}/ports/{port}/signed-preview-url", get_(preview::signed_preview_url))
        .route("/sandbox/{key}/toolbox-proxy-url", get_(toolbox_url::toolbox_url))
        .route("/snapshots", get_(snapshots::list).post(snapshots::create))
        .route("/snapshots/{key}", get_(snapshots::get).delete(snapshots::delete))
        .route("/snapshots/{key}/activate", post_(snapshots::activate))
        .route("/api-keys", get_(api_keys::list).post(api_keys::create))
        .route("/api-keys/current", get_(api_keys::current))
        .route("/api-keys/{key}", delete_(api_keys::delete))
        .route("/organizations", get_(organizations::list))
        .route("/organizations/{key}/usage", get_(organizations::usage))
        .route("/config", get_(config::config))
        .route("/health", get_(health::health))
        .route("/health/ready", get_(health::health))
        .method_not_allowed_fallback(unknown);
    Router::new()
        .nest("/api", api)
        .route("/admin/control", post_(admin::control))
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .layer(DefaultBodyLimit::disable())
        .with_state(live)
}

async fn unknown(State(live): State<Arc<Live>>, asked: Asked) -> Response {
    unknown_route(&live, &asked)
}
