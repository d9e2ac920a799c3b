//! The rules of a selection.

/// How a history is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextRules {
    /// Tool outputs longer than this are shortened to it, head and tail kept, bytes. Less than
    /// [`ContextRules::SHORTEST`] is taken as that, so that the note about what is left out fits.
    pub tool_output_bytes: usize,
}

impl ContextRules {
    /// The shortest that an output is cut to, bytes.
    pub const SHORTEST: usize = 64;
}

impl Default for ContextRules {
    fn default() -> Self {
        Self { tool_output_bytes: 8_000 }
    }
}
