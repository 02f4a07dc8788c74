//! Names that people can read, for tokens and for the states of modules.

use std::collections::HashSet;

use super::contract::Token;
use crate::text::symbols::Look;

/// The length of the longest text that is its own name, and the most texts in one name.
const OWN_NAME: (usize, usize) = (24, 4);
/// The most words in a name.
const MAX_WORDS: usize = 4;

/// Hands out names, each only once.
#[derive(Debug, Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// Returns a name, with a number if it is taken.
    pub(crate) fn take(&mut self, name: &str) -> String {
        let mut unique = name.to_string();
        let mut number = 1;
        while !self.0.insert(unique.clone()) {
            number += 1;
            unique = format!("{name}_{number}");
        }
        unique
    }
}

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
                Look::Other(_) | Look::Token(_) => of_mark(letter).to_uppercase(),
            });
        }
        last = Some(look);
    }
    words.truncate(MAX_WORDS);
    if words.is_empty() { "EMPTY".to_string() } else { words.join("_") }
}

/// Returns the name of a character that is neither a letter nor a digit.
fn of_mark(letter: char) -> String {
    let name = match letter {
        ' ' => "space",
        '\n' => "newline",
        '\t' => "tab",
        '\r' => "return",
        '!' => "not",
        '"' => "quote",
        '#' => "hash",
        '$' => "dollar",
        '%' => "percent",
        '&' => "and",
        '\'' => "apostrophe",
        '(' => "paren",
        ')' => "end_paren",
        '*' => "times",
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
        '[' => "bracket",
        '\\' => "backslash",
        ']' => "end_bracket",
        '^' => "caret",
        '_' => "underscore",
        '`' => "backquote",
        '{' => "brace",
        '|' => "bar",
        '}' => "end_brace",
        '~' => "tilde",
        letter => return format!("u{:x}", u32::from(letter)),
    };
    name.to_string()
}

/// Returns a text as a part of the name of a rule: `a_b` and `,` become `AB` and `Comma`.
pub(crate) fn camel(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() {
            word.push(letter);
            continue;
        }
        words.push(std::mem::take(&mut word));
        if letter != '_' || text.len() == 1 {
            words.extend(of_mark(letter).split('_').map(str::to_string));
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    let capital = |word: &String| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_ascii_uppercase().to_string() + &letters.as_str().to_ascii_lowercase()
        })
    };
    words.iter().take(MAX_WORDS).map(capital).collect()
}
