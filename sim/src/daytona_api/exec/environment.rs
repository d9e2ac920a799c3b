//! The environment of a command: made from nothing, so that no secret of the server's leaks in.

use std::collections::BTreeMap;
use std::path::Path;

/// Marks every process of a sandbox, so that none is overlooked when it ends.
pub(super) const MARK: &str = "SANDPOOL_SANDBOX";

/// Where programs are found when the server itself has no `PATH`.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The environment of a command of a sandbox. The request's variables win over the sandbox's, and
/// those over what is set here; only the mark cannot be replaced.
pub(super) fn environment(
    home: &Path,
    temporary: &Path,
    mark: &str,
    sandbox: &BTreeMap<String, String>,
    request: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let path = std::env::var("PATH").unwrap_or_else(|_| USUAL_PATH.to_owned());
    let home = home.to_string_lossy().into_owned();
    let mut environment = BTreeMap::from([
        ("PATH".to_owned(), path),
        ("HOME".to_owned(), home.clone()),
        ("DAYTONA_HOME".to_owned(), home),
        ("TMPDIR".to_owned(), temporary.to_string_lossy().into_owned()),
        ("USER".to_owned(), "daytona".to_owned()),
        ("LOGNAME".to_owned(), "daytona".to_owned()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
    ]);
    environment.extend(sandbox.clone());
    environment.extend(request.clone());
    environment.insert(MARK.to_owned(), mark.to_owned());
    environment
}

/// Whether a name can be one of an environment variable, as the daemon checks it: a letter or an
/// underscore, then letters, digits and underscores.
pub(in crate::daytona_api) fn is_variable_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|next| next.is_ascii_alphanumeric() || next == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_request_wins_over_the_sandbox_and_the_mark_over_both() {
        let sandbox = map(&[("A", "1"), ("B", "1"), ("HOME", "/elsewhere")]);
        let request = map(&[("B", "2"), (MARK, "none")]);
        let made = environment(Path::new("/h"), Path::new("/t"), "me", &sandbox, &request);
        assert_eq!(made["A"], "1");
        assert_eq!(made["B"], "2");
        assert_eq!(made["HOME"], "/elsewhere");
        assert_eq!(made["DAYTONA_HOME"], "/h");
        assert_eq!(made[MARK], "me");
    }

    #[test]
    fn nothing_of_the_servers_own_environment_is_there_but_the_path() {
        let none = BTreeMap::new();
        let made = environment(Path::new("/h"), Path::new("/t"), "me", &none, &none);
        let names: Vec<&str> = made.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["DAYTONA_HOME", "HOME", "LANG", "LOGNAME", "PATH", MARK, "TMPDIR", "USER"]
        );
    }

    #[test]
    fn names_of_variables_are_checked() {
        for good in ["A", "_", "a1_B"] {
            assert!(is_variable_name(good), "{good}");
        }
        for bad in ["", "1A", "A-B", "A=B", "Ä"] {
            assert!(!is_variable_name(bad), "{bad}");
        }
    }
}
