//! The form of request bodies, with the texts of the real server's validator.

use super::answer::Refused;
use serde_json::Value;

/// What a field has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    SafeText,
    Object,
    Flag,
    Number,
    /// At least zero.
    Amount,
    /// At least zero and at most one.
    AtMostOne,
    List,
}

/// The fields of a create, in the order in which their faults are told.
const CREATE: [(&str, Form); 24] = [
    ("name", Form::SafeText),
    ("snapshot", Form::Text),
    ("user", Form::Text),
    ("env", Form::Object),
    ("labels", Form::Object),
    ("public", Form::Flag),
    ("networkBlockAll", Form::Flag),
    ("networkAllowList", Form::Text),
    ("domainAllowList", Form::Text),
    ("target", Form::Text),
    ("cpu", Form::Amount),
    ("gpu", Form::AtMostOne),
    ("memory", Form::Amount),
    ("disk", Form::Amount),
    ("autoStopInterval", Form::Number),
    ("autoPauseInterval", Form::Number),
    ("autoArchiveInterval", Form::Number),
    ("autoDeleteInterval", Form::Number),
    ("ttlMinutes", Form::Number),
    ("queueTimeout", Form::Number),
    ("volumes", Form::List),
    ("buildInfo", Form::Object),
    ("linkedSandbox", Form::Text),
    ("secrets", Form::List),
];

/// Refuses a create whose fields are not of the right form. Unknown fields, and ones that are
/// null, are ignored.
pub(super) fn check_create(body: &Value) -> Result<(), Refused> {
    let mut faults = Vec::new();
    for (field, form) in CREATE {
        if let Some(value) = body.get(field).filter(|value| !value.is_null()) {
            check(field, form, value, &mut faults);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Refused::bad(faults.join(", "))) }
}

/// Refuses a resize that does not name whole amounts of at least one.
pub(super) fn check_resize(body: &Value) -> Result<(), Refused> {
    let mut faults = Vec::new();
    for field in ["cpu", "memory", "disk"] {
        let Some(value) = body.get(field).filter(|value| !value.is_null()) else { continue };
        if value.as_f64().is_none_or(|number| number < 1.0) {
            faults.push(format!("{field} must not be less than 1"));
        }
        if value.as_f64().is_none_or(|number| number.fract() != 0.0) {
            faults.push(format!("{field} must be an integer number"));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Refused::bad(faults.join(", "))) }
}

fn check(field: &str, form: Form, value: &Value, faults: &mut Vec<String>) {
    let mut expect = |right: bool, what: &str| {
        if !right {
            faults.push(format!("{field} {what}"));
        }
    };
    match form {
        Form::Text => expect(value.is_string(), "must be a string"),
        Form::SafeText => {
            expect(
                value.as_str().is_some_and(is_safe),
                "must not contain HTML tags, URLs, or control characters",
            );
            expect(value.is_string(), "must be a string");
        }
        Form::Object => expect(value.is_object(), "must be an object"),
        Form::Flag => expect(value.is_boolean(), "must be a boolean value"),
        Form::List => expect(value.is_array(), "must be an array"),
        Form::Number => {
            expect(value.is_number(), "must be a number conforming to the specified constraints");
        }
        Form::Amount | Form::AtMostOne => {
            let number = value.as_f64();
            if form == Form::AtMostOne {
                expect(number.is_some_and(|number| number <= 1.0), "must not be greater than 1");
            }
            expect(number.is_some_and(|number| number >= 0.0), "must not be less than 0");
            expect(number.is_some(), "must be a number conforming to the specified constraints");
        }
    }
}

/// Whether a text has no HTML tag, no URL and no control character in it.
fn is_safe(text: &str) -> bool {
    let lower = text.to_lowercase();
    let has_url = lower.contains("://")
        || lower.contains("www.")
        || ["data:", "tel:", "mailto:", "javascript:", "vbscript:"]
            .iter()
            .any(|scheme| lower.contains(scheme));
    !has_url && !has_tag(text) && !text.chars().any(is_control)
}

fn is_control(c: char) -> bool {
    matches!(u32::from(c), 0..=0x1f | 0x7f..=0x9f)
}

/// Whether the text holds something between angle brackets that begins like a tag.
fn has_tag(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let rest = &text[at + 1..];
        let begins = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        begins && rest.contains('>')
    })
}

/// Refuses a list of networks that is too long or has something else in it (Daytona v0.190.0,
/// network-validation.util.ts).
pub(super) fn check_networks(list: &str) -> Result<(), Refused> {
    let networks: Vec<&str> =
        list.split(',').map(str::trim).filter(|network| !network.is_empty()).collect();
    for network in &networks {
        let (address, prefix) = network.split_once('/').ok_or_else(|| {
            Refused::bad(format!(
                "Invalid network format: {network}. Missing CIDR block size (e.g., /24)"
            ))
        })?;
        if address.parse::<std::net::Ipv4Addr>().is_err() {
            return Err(Refused::bad(format!(
                "Invalid IP address: {address} in network {network}. Must be a valid IPv4 address"
            )));
        }
        if !prefix.parse::<u8>().is_ok_and(|prefix| prefix <= 32) {
            return Err(Refused::bad(format!(
                "Invalid CIDR prefix length: {network}. Prefix must be between 0 and 32"
            )));
        }
    }
    if networks.len() > 10 {
        return Err(Refused::bad("Network allow list cannot contain more than 10 networks"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(body: &Value) -> String {
        match check_create(body) {
            Err(Refused::Because { status: 400, message }) => message,
            other => panic!("not refused for its form: {other:?}"),
        }
    }

    #[test]
    fn faults_are_told_in_the_validators_words_and_order() {
        for (body, text) in [
            (
                json!({"cpu": "2"}),
                "cpu must not be less than 0, cpu must be a number conforming to the specified \
                 constraints",
            ),
            (json!({"gpu": 2}), "gpu must not be greater than 1"),
            (json!({"labels": ["a"]}), "labels must be an object"),
            (
                json!({"name": 5}),
                "name must not contain HTML tags, URLs, or control characters, name must be a \
                 string",
            ),
            (
                json!({"public": "x", "env": ["a"]}),
                "env must be an object, public must be a boolean value",
            ),
        ] {
            assert_eq!(message(&body), text, "{body}");
        }
        assert_eq!(check_create(&json!({"foo": 1, "labels": null, "cpu": 0})), Ok(()));
        assert_eq!(check_create(&json!([])), Ok(()));
    }

    #[test]
    fn a_name_may_be_odd_but_not_dangerous() {
        for good in ["a b", "é/名", "1 < 2 > 0", "x:y", &"n".repeat(300)] {
            assert!(is_safe(good), "{good}");
        }
        for bad in ["<b>x</b>", "https://x", "ftp://x", "www.x", "mydata:1", "tel:1", "a\nb"] {
            assert!(!is_safe(bad), "{bad}");
        }
    }

    #[test]
    fn networks_are_at_most_ten_and_well_formed() {
        let networks = |n: usize| vec!["10.0.0.0/16"; n].join(",");
        assert_eq!(check_networks(&networks(10)), Ok(()));
        assert!(check_networks(&networks(11)).is_err());
        assert!(check_networks("10.0.0.0").is_err());
        assert!(check_networks("10.0.0.300/8").is_err());
        assert!(check_networks("10.0.0.0/33").is_err());
    }
}
