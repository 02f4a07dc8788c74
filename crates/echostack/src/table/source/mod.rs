//! A table as source in another language, which needs no library.

use std::fmt::Write;

use super::Table;
use super::fuse::{Kind, MAX_INLINE_STATES};
use crate::symbol::Alphabet;

/// What a recogniser is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceLanguage {
    /// Rust, without std.
    Rust,
    /// C, of 1999 or later.
    C,
}

/// Why there is no source for a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A chain of reductions is too long to be followed, or has no end.
    #[error("on some token more reductions follow each other than can be written down, or they have no end")]
    Endless,
}

impl SourceLanguage {
    fn template(self) -> &'static str {
        match self {
            Self::Rust => include_str!("recogniser.rs"),
            Self::C => include_str!("recogniser.c"),
        }
    }

    fn state(self, narrow: bool) -> &'static str {
        match (self, narrow) {
            (Self::Rust, true) => "u8",
            (Self::Rust, false) => "u16",
            (Self::C, true) => "uint8_t",
            (Self::C, false) => "uint16_t",
        }
    }

    /// The names of the tokens as literals.
    fn tokens(self, alphabet: &Alphabet) -> String {
        let names: Vec<String> = alphabet
            .terminals()
            .map(|token| match self {
                Self::Rust => format!("{:?}", alphabet.name(token)),
                Self::C => c_literal(alphabet.name(token)),
            })
            .collect();
        match self {
            Self::Rust => names.join(", "),
            Self::C => names.into_iter().chain(["0".to_string()]).collect::<Vec<_>>().join(", "),
        }
    }

    /// A list of numbers; C has no empty lists.
    fn numbers(self, numbers: impl Iterator<Item = u16>) -> String {
        let list: Vec<String> = numbers.map(|number| number.to_string()).collect();
        match self {
            Self::Rust => list.join(", "),
            Self::C => list.into_iter().chain(["0".to_string()]).collect::<Vec<_>>().join(", "),
        }
    }
}

/// A string literal of C: whatever is not plain is written as a number.
fn c_literal(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' | b'?' => out.extend(['\\', byte as char]),
            b' '..=b'~' => out.push(byte as char),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out + "\""
}

/// How many numbers stand on a line.
const WIDTH: usize = 8;

impl Table {
    /// The table as a source file of its own: a recogniser that needs no library.
    ///
    /// # Errors
    /// [`SourceError::Endless`] if a chain of reductions is too long or has no end.
    pub fn source(&self, language: SourceLanguage) -> Result<String, SourceError> {
        let fused = self.fused();
        if fused.ops.iter().any(|op| op.is(Kind::Unknown)) {
            return Err(SourceError::Endless);
        }
        let mut actions = String::new();
        for line in fused.ops.chunks(WIDTH) {
            let line: Vec<String> = line.iter().map(|op| format!("{:#x}", op.0)).collect();
            let _ = writeln!(actions, "    {},", line.join(", "));
        }
        let values = [
            ("@TERMINALS@", self.rows().terminals.to_string()),
            ("@STATES@", self.states().to_string()),
            ("@STATE@", language.state(self.is_narrow()).to_string()),
            ("@ROOM@", (1 + fused.rise + MAX_INLINE_STATES).to_string()),
            ("@COUNT@", fused.ops.len().to_string()),
            ("@MANY@", fused.many.len().to_string()),
            ("@PUSHED@", language.numbers(fused.many.iter().copied())),
            ("@ACTIONS@", actions),
            // Last, as a name may be anything.
            ("@TOKENS@", language.tokens(self.alphabet())),
        ];
        let text = language.template().to_string();
        Ok(values.iter().fold(text, |text, (name, value)| text.replace(name, value)))
    }
}
