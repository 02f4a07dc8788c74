//! Names that people can read, for tokens and for the states of modules.

use echostack::spelling::{Case, spelled, words};

use super::contract::Token;
use crate::text::symbols::Look;

/// The length of the longest text that is its own name, and the most texts in one name.
const OWN_NAME: (usize, usize) = (24, 4);
/// The most words in a name.
const MAX_WORDS: usize = 4;

/// Returns the name of a token: its own text, or what its texts look like.
pub(crate) fn of_token(token: &Token) -> String {
    let written = token.regex.to_string();
    let texts = written.replace('\\', "");
    let plain = |text: &str| {
        let letters = text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let marks = text.chars().all(|letter| letter.is_ascii_punctuation() && !"'\"\\%".contains(letter));
        !text.is_empty() && (letters || marks)
    };
    // One text, or a few words.
    if texts == token.text && plain(&texts) && texts.len() <= OWN_NAME.0 {
        return texts;
    }
    let words: Vec<&str> = written.split('|').collect();
    let all = words.iter().all(|word| word.chars().all(|letter| letter.is_ascii_alphanumeric()));
    if all && words.len() > 1 && words.len() <= OWN_NAME.1 && written.len() <= OWN_NAME.0 {
        return words.join("_or_");
    }
    if let Some(class) = token.regex.as_class() {
        let is = |test: fn(char) -> bool| class.ranges().iter().all(|&(from, to)| test(from) && test(to));
        let size = class.len();
        return match () {
            () if is(char::is_numeric) => "DIGIT",
            () if is(char::is_whitespace) && size > 1 => "SPACE",
            () if is(char::is_alphabetic) && size > 1 => "LETTER",
            () if is(char::is_alphanumeric) && size > 1 => "ALPHANUMERIC",
            () if size > 1 => "CHARACTER",
            () => return looks(&token.text),
        }
        .to_string();
    }
    let (first, last) = (token.text.chars().next(), token.text.chars().next_back());
    if token.text.chars().count() > 1 && first == last && matches!(first, Some('"' | '\'' | '`')) {
        return "STRING".to_string();
    }
    looks(&token.text)
}

/// Describes a text by what its parts look like.
fn looks(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for letter in text.chars() {
        let look = Look::of(letter);
        if last != Some(look) {
            words.push(match look {
                Look::Letter => "LETTER".to_string(),
                Look::Digit => "DIGIT".to_string(),
                Look::Other(_) | Look::Token(_) => spelled(letter).to_ascii_uppercase(),
            });
        }
        last = Some(look);
    }
    words.truncate(MAX_WORDS);
    if words.is_empty() { "EMPTY".to_string() } else { words.join("_") }
}

/// Returns a text as a part of the name of a rule: `a_b` and `,` become `AB` and `Comma`.
pub(crate) fn camel(text: &str) -> String {
    let mut words = words(text);
    words.truncate(MAX_WORDS);
    Case::Camel.join(&words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::charset::CharSet;
    use crate::write::regex::Regex;

    fn name(regex: Regex, text: &str) -> String {
        of_token(&Token { regex, text: text.to_string(), given: Vec::new() })
    }

    #[test]
    fn tokens_are_called_what_they_look_like() {
        let class = |ranges: &[(char, char)]| Regex::Class(ranges.iter().copied().collect::<CharSet>());
        let text = |text: &str| Regex::Text(text.to_string());
        assert_eq!(name(text("while"), "while"), "while");
        assert_eq!(name(text("["), "["), "[");
        assert_eq!(name(text("true").or(text("false")), "true"), "true_or_false");
        assert_eq!(name(class(&[('0', '9')]), "0"), "DIGIT");
        assert_eq!(name(class(&[(' ', ' '), ('\n', '\n')]), " "), "SPACE");
        assert_eq!(name(class(&[('a', 'z')]), "a"), "LETTER");
        assert_eq!(name(class(&[('0', '9'), ('a', 'z')]), "0"), "ALPHANUMERIC");
        assert_eq!(name(class(&[('0', '9'), ('-', '-')]), "0"), "CHARACTER");
        assert_eq!(name(text("\"a\""), "\"a\""), "STRING");
        assert_eq!(name(text("-1"), "-1"), "MINUS_DIGIT");
        assert_eq!(name(text("\""), "\""), "DQUOTE");
    }

    #[test]
    fn rules_are_called_like_types() {
        assert_eq!(
            (camel("a_b"), camel(","), camel("while")),
            ("AB".to_string(), "Comma".to_string(), "While".to_string())
        );
    }
}
