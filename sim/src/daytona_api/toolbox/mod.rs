//! The toolbox of a sandbox: commands and files, behind the proxy that leads to it. One file a
//! route.

mod bulk_download;
mod bulk_upload;
mod code_run;
mod delete;
mod download;
mod entered;
mod error;
mod execute;
mod file_info;
mod folder;
mod gate;
mod info;
mod list;
mod move_file;
mod permissions;
mod request;
mod sessions;
mod upload;
mod version;
mod watch;
mod work_dir;
mod write_file;

use super::control_plane::ControlPlane;
use super::exec::Host;
use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::sync::Arc;

pub(super) use watch::watch;

/// What the routes share.
pub(super) struct Toolbox {
    /// Who knows which sandboxes there are.
    pub(super) control_plane: Arc<dyn ControlPlane>,
    /// Where their files and processes are.
    pub(super) host: Arc<Host>,
}

/// Every route of a toolbox, to be nested below the sandbox's id.
pub(super) fn router(toolbox: Arc<Toolbox>) -> Router {
    Router::new()
        .route("/process/execute", post(execute::execute))
        .route("/process/code-run", post(code_run::code_run))
        .route("/process/session", get(sessions::list).post(sessions::create))
        .route("/process/session/{session}", get(sessions::get).delete(sessions::delete))
        .route("/process/session/{session}/exec", post(sessions::execute))
        .route("/process/session/{session}/command/{command}", get(sessions::command))
        .route("/process/session/{session}/command/{command}/logs", get(sessions::logs))
        .route("/process/session/{session}/command/{command}/input", post(sessions::input))
        .route("/files", get(list::list).delete(delete::delete))
        .route("/files/bulk-upload", post(bulk_upload::bulk_upload))
        .route("/files/upload-v2", post(upload::upload))
        .route("/files/bulk-download", post(bulk_download::bulk_download))
        .route("/files/download", get(download::download))
        .route("/files/info", get(info::info))
        .route("/files/folder", post(folder::folder))
        .route("/files/move", post(move_file::move_file))
        .route("/files/permissions", post(permissions::permissions))
        .route("/work-dir", get(work_dir::work_dir))
        .route("/user-home-dir", get(work_dir::user_home_dir))
        .route("/version", get(version::version))
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .layer(from_fn_with_state(Arc::clone(&toolbox), gate::gate))
        .with_state(toolbox)
}

/// What the daemon's framework answers to what it does not serve.
pub(super) async fn unknown() -> Response {
    (StatusCode::NOT_FOUND, "404 page not found").into_response()
}
