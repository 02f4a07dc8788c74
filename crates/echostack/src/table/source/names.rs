//! Identifiers for generated sources: prefixes, and the names of tokens.

use std::collections::HashSet;
use std::str::FromStr;

use super::language::{SourceError, SourceLanguage};

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

/// Returns the words of an identifier for the name of a token, which may consist of any characters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars().take(MAX_NAME) {
        let spelled = match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' => {
                words.last_mut().into_iter().for_each(|word| word.push(letter));
                continue;
            }
            '_' | ' ' => "",
            '!' => "bang",
            '"' => "quote",
            '#' => "hash",
            '$' => "dollar",
            '%' => "percent",
            '&' => "and",
            '\'' => "apostrophe",
            '(' => "left_paren",
            ')' => "right_paren",
            '*' => "star",
            '+' => "plus",
            ',' => "comma",
            '-' => "minus",
            '.' => "dot",
            '/' => "slash",
            ':' => "colon",
            ';' => "semicolon",
            '<' => "less",
            '=' => "equals",
            '>' => "greater",
            '?' => "question",
            '@' => "at",
            '[' => "left_bracket",
            '\\' => "backslash",
            ']' => "right_bracket",
            '^' => "caret",
            '`' => "backquote",
            '{' => "left_brace",
            '|' => "bar",
            '}' => "right_brace",
            '~' => "tilde",
            other => &format!("u{:04x}", u32::from(other)),
        };
        words.extend(spelled.split('_').map(str::to_string));
        words.push(String::new());
    }
    words.retain(|word| !word.is_empty());
    if words.is_empty() {
        words.push("empty".to_string());
    }
    words
}

/// Returns an identifier for each name: valid in the language, and different from all others.
pub(super) fn identifiers<'a>(language: SourceLanguage, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut unique = |mut identifier: String| {
        identifier.truncate(MAX_NAME); // all of it is ASCII
        let all = std::iter::once(identifier.clone()).chain((2..).map(|number| match language {
            SourceLanguage::Rust => format!("{identifier}{number}"),
            SourceLanguage::C => format!("{identifier}_{number}"),
        }));
        let free = all.into_iter().find(|identifier| taken.insert(identifier.clone()));
        free.unwrap_or_default()
    };
    names
        .map(|name| {
            let words = words(name);
            unique(match language {
                SourceLanguage::C => words.join("_").to_ascii_uppercase(),
                SourceLanguage::Rust => camel_case(&words),
            })
        })
        .collect()
}

fn camel_case(words: &[String]) -> String {
    let mut all = String::new();
    for word in words {
        let (first, rest) = word.split_at(1);
        let shouted = word.bytes().all(|byte| !byte.is_ascii_lowercase());
        all += &first.to_ascii_uppercase();
        all += &if shouted { rest.to_ascii_lowercase() } else { rest.to_string() };
    }
    match all.as_bytes() {
        [b'0'..=b'9', ..] => format!("T{all}"),
        b"Self" => "SelfToken".to_string(), // a keyword
        _ => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        let names = ["</html>", "STRING", "true", "TRUE", "", "é", "self", "1", "a_b", "a b", "left_x"];
        let c = identifiers(SourceLanguage::C, names.into_iter());
        let wanted =
            ["LESS_SLASH_HTML_GREATER", "STRING", "TRUE", "TRUE_2", "EMPTY", "U00E9", "SELF", "1", "A_B", "A_B_2"];
        assert_eq!(c[..10], wanted);
        let rust = identifiers(SourceLanguage::Rust, names.into_iter());
        let wanted =
            ["LessSlashHtmlGreater", "String", "True", "True2", "Empty", "U00e9", "SelfToken", "T1", "AB", "AB2"];
        assert_eq!(rust[..10], wanted);
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
