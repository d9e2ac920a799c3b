//! The seam to time.

use crate::time::Time;

/// Tells the time. The simulator's clock is a number that it sets; the server's is monotonic.
pub trait Clock {
    /// The current instant; never earlier than one it gave before.
    fn now(&self) -> Time;
}
