//! Turns and executes.

/// A turn as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRecord {
    /// Its number.
    pub turn: u64,
    /// The class of sandbox that it uses, by name.
    pub class: String,
    /// When it began.
    pub began_ms: i64,
    /// When it ended and why; none while it is open.
    pub ended: Option<(i64, String)>,
}

/// An execute as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteRecord {
    /// Its number.
    pub execute: u64,
    /// In which turn.
    pub turn: u64,
    /// When it was started.
    pub started_ms: i64,
    /// When it ended, how, and its result (JSON); none while its end is not known.
    pub finished: Option<(i64, String, String)>,
}
