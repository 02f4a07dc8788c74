//! Identifiers for generated sources: prefixes, and the names of tokens.

use std::str::FromStr;

use super::language::{SourceError, SourceLanguage};
use crate::spelling::{self, Case, Names};

/// The maximum length of a prefix.
const MAX_PREFIX: usize = 40;
/// The maximum length of an identifier that is made from the name of a token, without the number that makes it unique.
const MAX_NAME: usize = 60;

/// The beginning of all public identifiers of a generated recognizer in C, so that several fit into one program.
///
/// ```
/// use echostack::table::Prefix;
/// assert!("json_".parse::<Prefix>().is_ok());
/// assert!("2nd_".parse::<Prefix>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(String);

impl Default for Prefix {
    fn default() -> Self {
        Self("echostack_".to_string())
    }
}

impl FromStr for Prefix {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if letters && text.len() <= MAX_PREFIX && text.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            Ok(Self(text.to_string()))
        } else {
            Err(SourceError::Prefix(text.chars().take(MAX_PREFIX).collect()))
        }
    }
}

impl Prefix {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a template in C, in which the prefix is `echostack_`, with this prefix instead.
    pub(super) fn apply(&self, template: &str) -> String {
        template.replace("echostack_", &self.0).replace("ECHOSTACK_", &self.0.to_ascii_uppercase())
    }
}

/// Returns an identifier for each name: valid in the language, and different from all others.
pub(super) fn identifiers<'a>(language: SourceLanguage, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut unique = match language {
        SourceLanguage::Rust => Names::numbered("").without(["Self"]),
        SourceLanguage::C => Names::numbered("_"),
    };
    let one = |name| {
        let mut identifier = match language {
            SourceLanguage::Rust => spelling::identifier(name, Case::Camel),
            // A digit may come first, because all of them begin with the prefix.
            SourceLanguage::C => Case::Upper.join(&spelling::words(name)),
        };
        identifier.truncate(MAX_NAME); // all of it is ASCII
        unique.take(&identifier)
    };
    names.map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_become_identifiers() {
        let names = ["</html>", "STRING", "true", "TRUE", "", "é", "self", "1", "a_b", "A_b"];
        let c = identifiers(SourceLanguage::C, names.into_iter());
        let wanted =
            ["LESS_SLASH_HTML_GREATER", "STRING", "TRUE", "TRUE_2", "EMPTY", "U00E9", "SELF", "1", "A_B", "A_B_2"];
        assert_eq!(c, wanted);
        let rust = identifiers(SourceLanguage::Rust, names.into_iter());
        let wanted = ["LessSlashHtmlGreater", "String", "True", "True2", "Empty", "U00e9", "Self2", "T1", "AB", "AB2"];
        assert_eq!(rust, wanted);
    }

    #[test]
    fn identifiers_are_unique_and_not_too_long() {
        let long = ["{".repeat(1000), "{".repeat(999), "{{2".to_string(), "{{".to_string(), "{{".to_string()];
        for language in [SourceLanguage::Rust, SourceLanguage::C] {
            let all = identifiers(language, long.iter().map(String::as_str));
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{all:?}");
            assert!(all.iter().all(|name| name.len() < MAX_NAME + 4), "{all:?}");
        }
    }

    #[test]
    fn prefixes_are_identifiers() {
        for good in ["json_", "J", "a1_"] {
            assert_eq!(good.parse::<Prefix>().unwrap().0, good);
        }
        for bad in ["", "_x", "1a", "a-b", "é", "a b", &"a".repeat(41)] {
            assert!(bad.parse::<Prefix>().is_err(), "{bad}");
        }
        let prefix: Prefix = "json_".parse().unwrap();
        assert_eq!(prefix.apply("echostack_read ECHOSTACK_ROOM"), "json_read JSON_ROOM");
    }
}
