//! What is said about a text: the verdict, and where and why the text goes wrong.

use std::fmt;
use std::sync::Arc;

use echostack::{Alphabet, Verdict};

use super::hints::Hints;
use crate::lex::tokenizer::LexFault;
use crate::text::place::Place;

/// The maximum length of the text of a token in a report, in characters.
pub(crate) const MAX_TOKEN: usize = 60;

/// The verdict on a text, and where and why the text goes wrong.
///
/// It is displayed as `accept`, or as the place, the reason and what was expected, with the line of the text below:
/// ```text
/// 1:12: unexpected '}', expected ']' or ','
///   {"a": [1, 2}
///              ^
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// What is wrong with the text, if it is not accepted.
    pub fault: Option<Fault>,
    /// The symbols of the model, for the names of what was expected.
    pub(super) alphabet: Arc<Alphabet>,
    /// Examples of what was expected, where a name does not say enough.
    pub(super) hints: Arc<Hints>,
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place of the fault.
    pub place: Place,
    /// The number of bytes before that place.
    pub byte: u64,
    /// What is wrong there.
    pub kind: FaultKind,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The model rejects this token, or reaches a limit on it.
    Token {
        /// The name of the token.
        name: String,
        /// The text of the token, or its beginning if it is long.
        text: String,
    },
    /// The text ends too early.
    End,
    /// No token begins with this character.
    NoToken(char),
    /// This byte is not UTF-8.
    NotUtf8(u8),
    /// The lexer reached one of its limits.
    LexerLimit,
    /// The model accepts the text, but its reductions make no single tree.
    NoTree,
}

impl Judgement {
    /// Returns the reason for the verdict in English, without what was expected: `unexpected ']'`, for example, or
    /// `accept` if the text is accepted.
    pub fn reason(&self) -> String {
        let Some(Fault { byte, kind, .. }) = &self.fault else { return self.verdict.name().to_string() };
        match (&self.verdict, kind) {
            (Verdict::Stopped { limit, .. }, _) => format!("stopped: the limit on {limit} was reached"),
            (_, FaultKind::Token { name, text }) if name == text => format!("unexpected {}", shown(name)),
            (_, FaultKind::Token { name, text }) => format!("unexpected {} {}", shown(name), short(text)),
            (_, FaultKind::End) => "unexpected end".to_string(),
            (_, FaultKind::NoToken(letter)) => format!("no token begins with {letter:?}"),
            (_, FaultKind::NotUtf8(0xfe | 0xff)) if *byte == 0 => {
                "this is not UTF-8, but probably UTF-16: convert it, for example with iconv -f UTF-16 -t UTF-8"
                    .to_string()
            }
            (_, FaultKind::NotUtf8(bad)) => format!("this is not UTF-8: byte {bad:#04x} at offset {byte}"),
            (_, FaultKind::LexerLimit) => "a token is too long to find its end: see the limits of lexers".to_string(),
            (_, FaultKind::NoTree) => "the text is accepted, but the reductions make no single tree".to_string(),
        }
    }

    /// Returns what was expected instead, as `A, B or C`; `None` if nothing is known to be possible.
    pub fn expected(&self) -> Option<String> {
        match self.fault.as_ref()?.kind {
            FaultKind::NotUtf8(_) => None,
            _ => self.alphabet.alternatives(self.verdict.expected(), |name| match self.hints.example(name) {
                Some(text) => format!("{} (such as {})", shown(name), plain(text)),
                None => shown(name),
            }),
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Fault { place, .. }) = &self.fault else { return f.write_str(&self.reason()) };
        write!(f, "{}:{}: {}", place.line, place.column, self.reason())?;
        if let Some(expected) = self.expected() {
            write!(f, ", expected {expected}")?;
        }
        write!(f, "\n{}", place.excerpt())
    }
}

impl std::error::Error for Judgement {}

impl Fault {
    pub(crate) fn new(text: &str, byte: usize, kind: FaultKind) -> Self {
        Self { place: Place::new(text, byte), byte: byte as u64, kind }
    }
}

impl FaultKind {
    pub(crate) fn of(fault: LexFault, rest: &str) -> Self {
        match fault {
            LexFault::NoToken(_) => rest.chars().next().map_or(Self::End, Self::NoToken),
            LexFault::Limit(_) => Self::LexerLimit,
        }
    }
}

/// Returns the name of a symbol as it is shown: in quotes unless it consists of letters, digits and underscores.
fn shown(name: &str) -> String {
    let word = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    if word { name.to_string() } else { format!("'{name}'") }
}

/// Returns an example as it is, unless that would not show where it begins and ends.
fn plain(text: &str) -> String {
    let is_clear = text.trim() == text && !text.is_empty() && !text.contains(char::is_control);
    if is_clear { text.to_string() } else { format!("{text:?}") }
}

/// Shortens the text of a token that is long or spans several lines.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(30).collect();
    if cut.len() == text.len() { cut } else { format!("{cut}...") }
}
