//! Identifiers for the names of tokens, which may consist of any characters.
//!
//! Everything that writes source code or a grammar takes its names from here, so that a token has the same name
//! everywhere: `(` is `LPAREN` in C, Lark and bison, and `LParen` in Rust. The names of marks are those that are common
//! in grammars; a mark of several characters is spelled character by character.
//!
//! ```
//! use echostack::spelling::{Case, Names, identifier};
//! assert_eq!(identifier("(", Case::Upper), "LPAREN");
//! assert_eq!(identifier("</html>", Case::Camel), "LessSlashHtmlGreater");
//! let mut names = Names::numbered("_").without(["END"]);
//! assert_eq!([names.take("END"), names.take("LPAREN"), names.take("LPAREN")], ["END_2", "LPAREN", "LPAREN_2"]);
//! ```

use std::borrow::Cow;
use std::collections::HashSet;

/// How an identifier is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// `LPAREN`, `A_B`.
    Upper,
    /// `lparen`, `a_b`.
    Lower,
    /// `LParen`, `AB`.
    Camel,
}

impl Case {
    /// Returns the words as one name.
    pub fn join<S: AsRef<str>>(self, words: &[S]) -> String {
        let words = words.iter().map(AsRef::as_ref);
        match self {
            Self::Upper => words.map(str::to_ascii_uppercase).collect::<Vec<_>>().join("_"),
            Self::Lower => words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("_"),
            Self::Camel => words.map(capitalized).collect(),
        }
    }
}

/// Returns a word with a capital. `STRING` becomes `String`, but `someName` keeps its inner capitals.
fn capitalized(word: &str) -> String {
    let shouted = !word.bytes().any(|byte| byte.is_ascii_lowercase());
    let mut word = if shouted { word.to_ascii_lowercase() } else { word.to_string() };
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    word
}

/// Returns an identifier for a name. It begins with a letter and consists of ASCII letters, digits and underscores.
pub fn identifier(name: &str, case: Case) -> String {
    let mut words = words(name);
    if words[0].starts_with(|first: char| first.is_ascii_digit()) {
        words.insert(0, "T".to_string());
    }
    case.join(&words)
}

/// Returns a name as it is if it is an identifier, because people chose it; otherwise, an identifier in lower case.
///
/// ```
/// use echostack::spelling::as_written;
/// assert_eq!(as_written("_Expr"), "_Expr");
/// assert_eq!(as_written("expr-list"), "expr_minus_list");
/// ```
pub fn as_written(name: &str) -> String {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if begins && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        name.to_string()
    } else {
        identifier(name, Case::Lower)
    }
}

/// Returns the words of a name, of which there is at least one: marks are spelled out, and underscores separate words.
///
/// ```
/// use echostack::spelling::words;
/// assert_eq!(words("a_b+="), ["a", "b", "Plus", "Equals"]);
/// ```
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' => words.last_mut().into_iter().for_each(|word| word.push(letter)),
            '_' => words.push(String::new()),
            mark => words.extend([spelled(mark).into_owned(), String::new()]),
        }
    }
    words.retain(|word| !word.is_empty());
    if words.is_empty() {
        words.push(name.chars().next().map_or(Cow::Borrowed("Empty"), spelled).into_owned());
    }
    words
}

/// Returns the name of a character that is neither an ASCII letter nor a digit, as one word.
pub fn spelled(mark: char) -> Cow<'static, str> {
    Cow::Borrowed(match mark {
        '\t' => "Tab",
        '\n' => "Newline",
        '\r' => "Return",
        ' ' => "Space",
        '!' => "Bang",
        '"' => "DQuote",
        '#' => "Hash",
        '$' => "Dollar",
        '%' => "Percent",
        '&' => "Ampersand",
        '\'' => "SQuote",
        '(' => "LParen",
        ')' => "RParen",
        '*' => "Star",
        '+' => "Plus",
        ',' => "Comma",
        '-' => "Minus",
        '.' => "Dot",
        '/' => "Slash",
        ':' => "Colon",
        ';' => "Semicolon",
        '<' => "Less",
        '=' => "Equals",
        '>' => "Greater",
        '?' => "Question",
        '@' => "At",
        '[' => "LBracket",
        '\\' => "Backslash",
        ']' => "RBracket",
        '^' => "Caret",
        '_' => "Underscore",
        '`' => "Backquote",
        '{' => "LBrace",
        '|' => "Bar",
        '}' => "RBrace",
        '~' => "Tilde",
        other => return Cow::Owned(format!("U{:04x}", u32::from(other))),
    })
}

/// Gives out names, each only once: a name that is taken gets a number, starting with 2.
#[derive(Clone, Debug)]
pub struct Names {
    taken: HashSet<String>,
    separator: &'static str,
}

impl Names {
    /// Creates a giver of names, with what stands between a name and its number: an underscore, or nothing where the
    /// style of a language has none.
    pub fn numbered(separator: &'static str) -> Self {
        Self { taken: HashSet::new(), separator }
    }

    /// Returns the giver of names with some names taken, such as the reserved words of a language.
    #[must_use]
    pub fn without<'a>(mut self, reserved: impl IntoIterator<Item = &'a str>) -> Self {
        self.taken.extend(reserved.into_iter().map(str::to_string));
        self
    }

    /// Returns the name, or the name with the first number with which it is not taken.
    pub fn take(&mut self, name: &str) -> String {
        let mut given = name.to_string();
        let mut number = 2;
        while !self.taken.insert(given.clone()) {
            given = format!("{name}{}{number}", self.separator);
            number += 1;
        }
        given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_an_identifier_in_every_case() {
        for (name, upper, lower, camel) in [
            ("(", "LPAREN", "lparen", "LParen"),
            ("!=", "BANG_EQUALS", "bang_equals", "BangEquals"),
            ("STRING", "STRING", "string", "String"),
            ("someName", "SOMENAME", "somename", "SomeName"),
            ("__a__b_", "A_B", "a_b", "AB"),
            ("a b", "A_SPACE_B", "a_space_b", "ASpaceB"),
            ("_", "UNDERSCORE", "underscore", "Underscore"),
            ("", "EMPTY", "empty", "Empty"),
            ("12", "T_12", "t_12", "T12"),
            ("été", "U00E9_T_U00E9", "u00e9_t_u00e9", "U00e9TU00e9"),
        ] {
            assert_eq!(identifier(name, Case::Upper), upper);
            assert_eq!(identifier(name, Case::Lower), lower);
            assert_eq!(identifier(name, Case::Camel), camel);
        }
    }

    #[test]
    fn no_two_marks_have_the_same_name() {
        let marks = (0..=255).map(char::from).filter(|letter| !letter.is_ascii_alphanumeric());
        let names: Vec<String> = marks.map(|mark| spelled(mark).to_ascii_uppercase()).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric())), "{names:?}");
    }

    #[test]
    fn a_number_does_not_make_a_name_that_is_taken() {
        let mut names = Names::numbered("").without(["Self"]);
        assert_eq!(["A2", "A", "A", "A", "Self"].map(|name| names.take(name)), ["A2", "A", "A3", "A4", "Self2"]);
    }
}
