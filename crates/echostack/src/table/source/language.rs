//! The languages of generated sources, and how values are written in them.

use std::fmt::Write;

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
    /// The prefix cannot begin an identifier.
    #[error("{0:?} cannot be a prefix: give a letter, followed by at most 39 letters, digits or underscores")]
    Prefix(String),
}

impl SourceLanguage {
    /// Returns the type of unsigned numbers up to `most`.
    pub fn unsigned(self, most: usize) -> &'static str {
        match (self, most) {
            (Self::Rust, 0..=0xff) => "u8",
            (Self::Rust, 0x100..=0xffff) => "u16",
            (Self::Rust, _) => "u32",
            (Self::C, 0..=0xff) => "uint8_t",
            (Self::C, 0x100..=0xffff) => "uint16_t",
            (Self::C, _) => "uint32_t",
        }
    }

    /// Returns a string literal. In C, any byte that is not printable ASCII is written as an octal escape.
    pub fn literal(self, text: &str) -> String {
        if self == Self::Rust {
            return format!("{text:?}");
        }
        let mut out = String::from("\"");
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' | b'?' => out.extend(['\\', byte as char]),
                b' '..=b'~' => out.push(byte as char),
                _ => _ = write!(out, "\\{byte:03o}"),
            }
        }
        out + "\""
    }

    /// Returns the values of a list, in lines that are indented.
    pub fn list(self, values: impl Iterator<Item = String>) -> String {
        let mut lines = String::new();
        let mut width = 0;
        for value in values {
            if width > 0 && width + value.len() + 2 > MAX_WIDTH {
                lines.push('\n');
                width = 0;
            }
            lines += if width == 0 { "    " } else { " " };
            lines += &value;
            lines.push(',');
            width += value.len() + 2;
        }
        lines
    }

    /// Ends a list with an additional 0 in C, which does not allow empty lists.
    pub(super) fn ended(self, values: impl Iterator<Item = String>) -> String {
        let end = (self == Self::C).then(|| "0".to_string());
        values.chain(end).collect::<Vec<_>>().join(", ")
    }
}

/// The maximum width of the lines of a list, in characters.
const MAX_WIDTH: usize = 110;
