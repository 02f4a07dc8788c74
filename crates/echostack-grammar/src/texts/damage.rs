//! Valid texts with one small mistake.

use std::fmt;

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::source::Source;
use crate::judge::Fault;

/// The number of edits that are tried until a text is not valid any more.
const ATTEMPTS: usize = 30;
/// Characters that replace others, besides letters and digits.
const OTHERS: &[u8] = b" \n\"'\\()[]{}<>,.;:+-*/=&|!?#$%@^~`_";

/// A small change of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextEdit {
    /// A token was removed.
    TokenRemoved,
    /// A token was written twice.
    TokenDoubled,
    /// Two neighboring tokens changed places.
    TokensSwapped,
    /// A token was replaced by another one.
    TokenReplaced,
    /// A character was removed.
    CharacterRemoved,
    /// A character was inserted.
    CharacterInserted,
    /// A character was replaced by another one.
    CharacterReplaced,
}

impl TextEdit {
    /// All edits, those of tokens first.
    pub const ALL: [Self; 7] = [
        Self::TokenRemoved,
        Self::TokenDoubled,
        Self::TokensSwapped,
        Self::TokenReplaced,
        Self::CharacterRemoved,
        Self::CharacterInserted,
        Self::CharacterReplaced,
    ];

    /// The number of edits of tokens.
    const OF_TOKENS: usize = 4;

    /// Returns the name of the edit, such as `token removed`.
    pub fn name(self) -> &'static str {
        match self {
            Self::TokenRemoved => "token removed",
            Self::TokenDoubled => "token doubled",
            Self::TokensSwapped => "tokens swapped",
            Self::TokenReplaced => "token replaced",
            Self::CharacterRemoved => "character removed",
            Self::CharacterInserted => "character inserted",
            Self::CharacterReplaced => "character replaced",
        }
    }
}

impl fmt::Display for TextEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Makes one small edit after which a valid text is not valid. Returns the text, the edit and the mistake.
pub(super) fn damage(
    source: &mut Source<'_>,
    random: &mut ChaCha8Rng,
    text: &str,
) -> Option<(String, TextEdit, Fault)> {
    let edits = if source.has_lexer() { &TextEdit::ALL[..] } else { &TextEdit::ALL[..TextEdit::OF_TOKENS] };
    (0..ATTEMPTS).find_map(|_| {
        let edit = *edits.choose(random)?;
        let edited = apply(source, random, text, edit)?;
        let fault = source.fault(&edited)?;
        Some((edited, edit, fault))
    })
}

/// Makes an edit at a random place.
fn apply(source: &mut Source<'_>, random: &mut ChaCha8Rng, text: &str, edit: TextEdit) -> Option<String> {
    let letters = || -> Vec<(usize, char)> { text.char_indices().collect() };
    let replaced = |start: usize, end: usize, new: &str| [&text[..start], new, &text[end..]].concat();
    match edit {
        TextEdit::CharacterInserted => {
            let places: Vec<usize> = letters().into_iter().map(|(at, _)| at).chain([text.len()]).collect();
            let &at = places.choose(random)?;
            Some(replaced(at, at, letter(random).encode_utf8(&mut [0; 4])))
        }
        TextEdit::CharacterRemoved | TextEdit::CharacterReplaced => {
            let &(at, old) = letters().choose(random)?;
            let new = if edit == TextEdit::CharacterRemoved { String::new() } else { letter(random).to_string() };
            Some(replaced(at, at + old.len_utf8(), &new))
        }
        _ => {
            let spans: Vec<(usize, usize)> =
                source.tokens(text).0.iter().map(|token| (token.start, token.end)).collect();
            let number = random.random_range(0..spans.len().max(1));
            let &(start, end) = spans.get(number)?;
            let own = &text[start..end];
            match edit {
                TextEdit::TokenDoubled => Some(replaced(end, end, &[source.blank(), own].concat())),
                TextEdit::TokensSwapped => {
                    let &(next, last) = spans.get(number + 1)?;
                    Some(replaced(start, last, &[&text[next..last], &text[end..next], own].concat()))
                }
                TextEdit::TokenReplaced => {
                    let other = random.random_range(0..source.table.terminals.max(1));
                    let string = source.string(random, other)?;
                    Some(replaced(start, end, &string))
                }
                // Without a lexer, a blank belongs to each token.
                _ if source.has_lexer() => Some(replaced(start, end, "")),
                _ if start > 0 => Some(replaced(start - 1, end, "")),
                _ => Some(replaced(start, text.len().min(end + 1), "")),
            }
        }
    }
}

/// Draws a character.
fn letter(random: &mut ChaCha8Rng) -> char {
    match random.random_range(0..20) {
        0..5 => char::from(random.random_range(b'a'..=b'z')),
        5..8 => char::from(random.random_range(b'0'..=b'9')),
        8..19 => OTHERS.choose(random).map_or('?', |&byte| char::from(byte)),
        _ => ['é', 'λ', '中', '\u{0}', '\u{7f}', '\u{a0}'].choose(random).copied().unwrap_or('é'),
    }
}
