//! How many tokens a text takes.

/// Estimates what a model's tokenizer would count.
pub trait TokenEstimate {
    /// The tokens of a text, at least 0. The same text always counts the same.
    fn tokens(&self, text: &str) -> u64;
}

/// A quarter of the bytes, rounded up: the usual rule of thumb for English and code. Other scripts
/// take more bytes a letter in UTF-8, and so count more tokens here as they do in fact. Of a limit
/// that must not be passed, leave a part unused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesOverFour;

impl TokenEstimate for BytesOverFour {
    fn tokens(&self, text: &str) -> u64 {
        (text.len() as u64).div_ceil(4)
    }
}
