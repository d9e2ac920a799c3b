//! What can be read off a journal: the scheduler's state at any moment, and why a conversation
//! waited, lost its files or was refused.

mod notable;
mod replay;
mod story;
mod words;

pub use notable::{Notable, notable};
pub use replay::{Divergence, ReplayedStep, replay};
pub use story::{Story, StoryStep, story};
