//! Commands that keep auto-stop away.

use super::Toolbox;
use std::sync::Arc;

/// Keeps auto-stop away from a sandbox for as long as a command runs in it.
pub(super) struct UnderWay {
    toolbox: Arc<Toolbox>,
    sandbox: String,
}

impl UnderWay {
    /// A command begins.
    pub(super) fn begin(toolbox: &Arc<Toolbox>, sandbox: &str) -> Self {
        toolbox.control_plane.command_begun(sandbox);
        Self { toolbox: Arc::clone(toolbox), sandbox: sandbox.to_owned() }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.toolbox.control_plane.command_ended(&self.sandbox);
    }
}
