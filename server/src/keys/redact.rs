//! Keeps keys out of text that somebody else wrote, such as an error that quotes a request.

use super::api_key::{PREFIX, RANDOM_LETTERS};
use std::borrow::Cow;

/// The text with every API key in it replaced by `sp_[redacted]`.
#[must_use]
pub fn redact_keys(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(PREFIX) {
        let (before, found) = rest.split_at(at);
        let letters = &found[PREFIX.len()..];
        let length = letters
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            .count();
        out.push_str(before);
        out.push_str(PREFIX);
        if length < RANDOM_LETTERS {
            // Too short for a key, but one may begin within it.
            rest = letters;
        } else {
            out.push_str("[redacted]");
            rest = &letters[length..];
        }
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::super::ApiKey;
    use super::*;

    #[test]
    fn a_key_within_text_is_hidden_and_the_rest_stays() {
        let key = ApiKey::generate().unwrap();
        let text = format!("sp_ is a prefix; got \"{0}\", twice: {0}", key.reveal());
        let expected = "sp_ is a prefix; got \"sp_[redacted]\", twice: sp_[redacted]";
        assert_eq!(redact_keys(&text), expected);
        assert_eq!(redact_keys(expected), expected);
        assert!(matches!(redact_keys("nothing here"), Cow::Borrowed("nothing here")));
    }

    #[test]
    fn a_key_right_behind_a_broken_one_is_hidden() {
        let key = ApiKey::generate().unwrap();
        let text = format!("sp_.sp_x!{}", key.reveal());
        assert_eq!(redact_keys(&text), "sp_.sp_x!sp_[redacted]");
    }
}
