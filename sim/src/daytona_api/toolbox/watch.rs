//! Lets processes and directories follow the sandboxes: a stopped one runs nothing, and of one that
//! is gone nothing is left.

use super::Toolbox;
use crate::daytona_api::control_plane::Standing;
use std::sync::Arc;
use std::time::Duration;

/// So long is waited for more changes before they are looked at together.
const PAUSE: Duration = Duration::from_millis(5);

/// So long after a look is the next one at the latest.
const AGAIN: Duration = Duration::from_millis(500);

/// Follows the sandboxes, for ever.
pub(in crate::daytona_api) async fn watch(toolbox: Arc<Toolbox>) {
    let mut changes = toolbox.control_plane.changes();
    loop {
        changes.mark_unchanged();
        let looker = Arc::clone(&toolbox);
        // If it panicked, that has been reported, and the next look may do better.
        let _ = tokio::task::spawn_blocking(move || look(&looker)).await;
        // What could not be removed is tried again after a while, whether anything changes or not.
        if let Ok(Err(_)) = tokio::time::timeout(AGAIN, changes.changed()).await {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn look(toolbox: &Toolbox) {
    let (mut stopped, mut gone) = (Vec::new(), Vec::new());
    for workspace in toolbox.host.workspaces() {
        match toolbox.control_plane.standing(workspace.id()) {
            // A stop that was followed at once by a start is seen by the count alone.
            Standing::Started { stops } => drop(toolbox.host.follow(&workspace, stops)),
            Standing::Stopped => stopped.push(workspace),
            Standing::Gone => gone.push(workspace),
        }
    }
    // What cannot be removed now is removed at the next look, or with everything at the end.
    let _ = toolbox.host.end(&stopped, &gone);
}
