//! Generation of source code from a table, for programs that use no library.

use std::fmt::Write;

use super::Table;
use super::fuse::{Kind, MAX_INLINE_STATES};
use crate::symbol::Alphabet;

/// The programming language of a generated recognizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceLanguage {
    /// Rust, without std.
    Rust,
    /// C99 or later.
    C,
}

/// The reason a table could not be written as source code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A chain of reductions is too long to be followed, or never ends.
    #[error("on some token, the chain of reductions is too long to be written as source code, or never ends")]
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

    /// Returns the names of the tokens as a list of literals.
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

    /// Returns a list of numbers. In C, it ends with an additional 0, because C does not allow empty lists.
    fn numbers(self, numbers: impl Iterator<Item = u16>) -> String {
        let list: Vec<String> = numbers.map(|number| number.to_string()).collect();
        match self {
            Self::Rust => list.join(", "),
            Self::C => list.into_iter().chain(["0".to_string()]).collect::<Vec<_>>().join(", "),
        }
    }
}

/// Returns a string literal in C. Any byte that is not printable ASCII is written as an octal escape.
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

/// The number of actions per line.
const WIDTH: usize = 8;

impl Table {
    /// Returns the table as a self-contained source file: a recognizer that needs no library.
    ///
    /// # Errors
    /// [`SourceError::Endless`] if a chain of reductions is too long or never ends.
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
            // The tokens come last because a name may contain anything, even a placeholder.
            ("@TOKENS@", language.tokens(self.alphabet())),
        ];
        let text = language.template().to_string();
        Ok(values.iter().fold(text, |text, (name, value)| text.replace(name, value)))
    }
}
