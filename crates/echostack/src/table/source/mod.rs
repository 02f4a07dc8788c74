//! Generation of source code from a table, for programs that use no library.

mod names;

use std::fmt::Write;

pub use names::Prefix;

use super::Table;
use super::fuse::{Kind, MAX_INLINE_STATES};

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
    fn ended(self, values: impl Iterator<Item = String>) -> String {
        let end = (self == Self::C).then(|| "0".to_string());
        values.chain(end).collect::<Vec<_>>().join(", ")
    }
}

/// The maximum width of the lines of a list, in characters.
const MAX_WIDTH: usize = 110;
/// The number of actions per line.
const WIDTH: usize = 8;

/// The source code of a recognizer that needs no library.
///
/// It consists of what programs use, which in C can be a header, and the rest. Another layer can be added to it, such as
/// a lexer.
#[derive(Clone, Debug)]
pub struct Source {
    language: SourceLanguage,
    prefix: Prefix,
    /// The declarations, which only C has.
    declarations: String,
    definitions: String,
}

impl Source {
    /// Returns the programming language.
    pub fn language(&self) -> SourceLanguage {
        self.language
    }

    /// Appends declarations (in C) and definitions, given as templates: `@NAME@` stands for a value, and in C,
    /// `echostack_` and `ECHOSTACK_` for the prefix.
    pub fn append(&mut self, declarations: &str, definitions: &str, values: &[(&str, String)]) {
        for (all, template) in [(&mut self.declarations, declarations), (&mut self.definitions, definitions)] {
            if !all.is_empty() && !template.is_empty() {
                all.push('\n');
            }
            *all += &match self.language {
                SourceLanguage::Rust => filled(template, values),
                SourceLanguage::C => filled(&self.prefix.apply(template), values),
            };
        }
    }

    /// Returns the header, if the language is C.
    pub fn header(&self) -> Option<String> {
        let wrapped = || {
            let template = self.prefix.apply(include_str!("frame.h"));
            filled(&template, &[("DECLARATIONS", self.declarations.clone())])
        };
        (self.language == SourceLanguage::C).then(wrapped)
    }

    /// Returns the source file, which includes the header with the given name. Without such a name, it contains what
    /// would be in the header.
    pub fn code(&self, header: Option<&str>) -> String {
        match (self.language, header) {
            (SourceLanguage::Rust, _) => format!("{}\n{}", include_str!("frame.rs"), self.definitions),
            (SourceLanguage::C, None) => format!("{}\n{}", self.header().unwrap_or_default(), self.definitions),
            (SourceLanguage::C, Some(name)) => {
                // A file's name is not escaped in an #include, so what could end it is left out.
                let name: String = name.chars().filter(|letter| !letter.is_control() && *letter != '"').collect();
                let comment = "/* A recognizer generated by echostack. The header says how to use it. */";
                format!("{comment}\n#include \"{name}\"\n\n{}", self.definitions)
            }
        }
    }
}

/// Returns a template with its placeholders replaced by their values, which are not looked at again.
fn filled(template: &str, values: &[(&str, String)]) -> String {
    let mut out = String::new();
    // Every other part is a name, because no template contains an at sign of its own.
    for (number, part) in template.split('@').enumerate() {
        let value = values.iter().find(|(name, _)| number % 2 == 1 && *name == part);
        out += value.map_or(part, |(_, value)| value);
    }
    out
}

impl Table {
    /// Returns the table as source code: a recognizer of words that needs no library.
    ///
    /// # Errors
    /// [`SourceError::Endless`] if a chain of reductions is too long or never ends.
    pub fn source(&self, language: SourceLanguage, prefix: &Prefix) -> Result<Source, SourceError> {
        let fused = self.fused();
        if fused.ops.iter().any(|op| op.is(Kind::Unknown)) {
            return Err(SourceError::Endless);
        }
        let mut actions = String::new();
        for line in fused.ops.chunks(WIDTH) {
            let line: Vec<String> = line.iter().map(|op| format!("{:#x}", op.0)).collect();
            let _ = writeln!(actions, "    {},", line.join(", "));
        }
        let names: Vec<&str> = self.alphabet().terminals().map(|token| self.alphabet().name(token)).collect();
        let identifiers = names::identifiers(language, names.iter().copied());
        let one = |identifier: String| match language {
            SourceLanguage::Rust => format!("    {identifier},"),
            SourceLanguage::C => prefix.apply(&format!("    ECHOSTACK_TOKEN_{identifier},")),
        };
        let end = (language == SourceLanguage::C).then(|| prefix.apply("    ECHOSTACK_TOKEN_THE_END_ /* no token */"));
        let list: Vec<String> = identifiers.into_iter().map(one).chain(end).collect();
        let values = [
            ("TERMINALS", self.rows().terminals.to_string()),
            ("STATES", self.states().to_string()),
            ("STATE", language.unsigned(self.states() - 1).to_string()),
            ("ROOM", (1 + fused.rise + MAX_INLINE_STATES).to_string()),
            ("COUNT", fused.ops.len().to_string()),
            ("MANY", fused.many.len().to_string()),
            ("PUSHED", language.ended(fused.many.iter().map(u16::to_string))),
            ("ACTIONS", actions),
            ("ENUM", list.join("\n")),
            ("TOKENS", language.ended(names.iter().map(|name| language.literal(name)))),
        ];
        let mut source =
            Source { language, prefix: prefix.clone(), declarations: String::new(), definitions: String::new() };
        match language {
            SourceLanguage::Rust => source.append("", include_str!("recogniser.rs"), &values),
            SourceLanguage::C => source.append(include_str!("recogniser.h"), include_str!("recogniser.c"), &values),
        }
        Ok(source)
    }
}
