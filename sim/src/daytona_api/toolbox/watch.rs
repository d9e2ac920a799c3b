//! Lets processes and directories follow the sandboxes: a stopped one runs nothing, and of one that
//! is gone nothing is left.

use super::Toolbox;
use crate::daytona_api::control_plane::Standing;
use std::sync::Arc;
use std::time::Duration;

/// So long is waited for more changes before they are looked at together.
const PAUSE: Duration = Duration::from_millis(5);

/// Follows the sandboxes, for ever.
pub(in crate::daytona_api) async fn watch(toolbox: Arc<Toolbox>) {
    let mut changes = toolbox.control_plane.changes();
    loop {
        changes.mark_unchanged();
        let looker = Arc::clone(&toolbox);
        // If it panicked, that has been reported, and the next look may do better.
        let _ = tokio::task::spawn_blocking(move || look(&looker)).await;
        if changes.changed().await.is_err() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn look(toolbox: &Toolbox) {
    for workspace in toolbox.host.workspaces() {
        let id = workspace.id();
        match toolbox.control_plane.standing(id) {
            Standing::Started => {}
            Standing::Stopped => toolbox.host.stop(id),
            Standing::Gone => {
                // What cannot be removed now is removed with everything else at the end.
                let _ = toolbox.host.remove(id);
            }
        }
    }
}
