//! Writes regular expressions for other tools.

use std::fmt::Write;

use regex_syntax::hir::{Class, Hir, HirKind};
use regex_syntax::utf8::Utf8Sequences;

/// How a tool writes regular expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Python's `re`, inside Lark's slashes. Also read by llguidance.
    Python,
    /// flex, which matches bytes.
    Flex,
    /// GBNF, whose rules may contain repetition and classes of characters.
    Gbnf,
}

/// How tightly an expression binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Choice,
    Sequence,
    Repetition,
    Atom,
}

/// Writes an expression for a tool.
pub(super) fn write(pattern: &Hir, dialect: Dialect) -> String {
    expression(pattern, dialect).0
}

/// Writes the expression so that it can be repeated or be part of a sequence.
fn within(pattern: &Hir, dialect: Dialect, least: Binding) -> String {
    let (text, binding) = expression(pattern, dialect);
    if binding >= least {
        text
    } else if dialect == Dialect::Python {
        format!("(?:{text})")
    } else {
        format!("({text})")
    }
}

fn expression(pattern: &Hir, dialect: Dialect) -> (String, Binding) {
    let space = if dialect == Dialect::Gbnf { " " } else { "" };
    match pattern.kind() {
        // Lexers with assertions are refused when they are read.
        HirKind::Empty | HirKind::Look(_) => match dialect {
            Dialect::Python => ("(?:)".to_string(), Binding::Atom),
            Dialect::Flex | Dialect::Gbnf => ("\"\"".to_string(), Binding::Atom),
        },
        HirKind::Literal(literal) => literal_text(&literal.0, dialect),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges: Vec<(char, char)> = class.iter().map(|range| (range.start(), range.end())).collect();
            if dialect == Dialect::Flex { bytes_of(&ranges) } else { (self::class(&ranges, dialect), Binding::Atom) }
        }
        HirKind::Class(Class::Bytes(class)) => {
            let ranges: Vec<(u8, u8)> = class.iter().map(|range| (range.start(), range.end())).collect();
            (byte_class(&ranges), Binding::Atom)
        }
        HirKind::Repetition(repetition) => {
            let sub = within(&repetition.sub, dialect, Binding::Atom);
            let count = match (repetition.min, repetition.max) {
                (0, None) => "*".to_string(),
                (1, None) => "+".to_string(),
                (0, Some(1)) => "?".to_string(),
                (min, None) => format!("{{{min},}}"),
                (min, Some(max)) if min == max => format!("{{{min}}}"),
                (min, Some(max)) => format!("{{{min},{max}}}"),
            };
            (sub + &count, Binding::Repetition)
        }
        HirKind::Capture(capture) => expression(&capture.sub, dialect),
        HirKind::Concat(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| within(part, dialect, Binding::Repetition)).collect();
            (parts.join(space), Binding::Sequence)
        }
        HirKind::Alternation(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| within(part, dialect, Binding::Sequence)).collect();
            (parts.join(&format!("{space}|{space}")), Binding::Choice)
        }
    }
}

fn literal_text(bytes: &[u8], dialect: Dialect) -> (String, Binding) {
    let text = String::from_utf8_lossy(bytes);
    let single = text.chars().count() == 1;
    match dialect {
        Dialect::Python => {
            let text: String = text.chars().map(python).collect();
            (text, if single { Binding::Atom } else { Binding::Sequence })
        }
        Dialect::Flex => (flex_string(bytes), Binding::Atom),
        Dialect::Gbnf => (gbnf_string(&text), Binding::Atom),
    }
}

/// Escapes a character for Python's `re`. Lark replaces `\x`, `\u` and `\U` before the expression is compiled, so these
/// are used only where the character has no meaning.
fn python(letter: char) -> String {
    match letter {
        '\n' => "\\n".to_string(),
        '\r' => "\\r".to_string(),
        '\t' => "\\t".to_string(),
        letter if letter.is_ascii_alphanumeric() || letter == '_' || letter == ' ' => letter.to_string(),
        '"' | '\'' | '<' | '>' | '=' | ',' | ':' | ';' | '%' | '@' | '!' | '`' | '~' | '#' | '&' => letter.to_string(),
        letter if letter.is_ascii_graphic() => format!("\\{letter}"),
        letter if u32::from(letter) < 0x100 => format!("\\x{:02x}", u32::from(letter)),
        letter if u32::from(letter) < 0x1_0000 => format!("\\u{:04x}", u32::from(letter)),
        letter => format!("\\U{:08x}", u32::from(letter)),
    }
}

/// Writes a class of characters.
pub(super) fn class(ranges: &[(char, char)], dialect: Dialect) -> String {
    let letter = |letter: char| match dialect {
        Dialect::Gbnf => gbnf_in_class(letter),
        Dialect::Python | Dialect::Flex if "&~#".contains(letter) => format!("\\{letter}"),
        Dialect::Python | Dialect::Flex => python(letter),
    };
    let mut out = String::from("[");
    // A class of nearly everything is shorter by what it lacks.
    let complement = complement(ranges);
    let shown = if complement.len() < ranges.len() && !complement.is_empty() {
        out.push('^');
        &complement[..]
    } else {
        ranges
    };
    for &(from, to) in shown {
        out.push_str(&letter(from));
        if to > from {
            if u32::from(to) > u32::from(from) + 1 {
                out.push('-');
            }
            out.push_str(&letter(to));
        }
    }
    out + "]"
}

/// Returns all other characters.
fn complement(ranges: &[(char, char)]) -> Vec<(char, char)> {
    let after = |letter: char| match letter {
        '\u{d7ff}' => Some('\u{e000}'),
        letter => char::from_u32(u32::from(letter) + 1),
    };
    let before = |letter: char| match letter {
        '\u{e000}' => Some('\u{d7ff}'),
        letter => u32::from(letter).checked_sub(1).and_then(char::from_u32),
    };
    let mut out = Vec::new();
    let mut from = Some('\0');
    for &(start, end) in ranges {
        if let (Some(from), Some(to)) = (from, before(start))
            && from <= to
        {
            out.push((from, to));
        }
        from = after(end);
    }
    out.extend(from.map(|from| (from, char::MAX)));
    out
}

/// Escapes a character in a class of GBNF. xgrammar reads any number of digits after `\x`, so this is not used.
fn gbnf_in_class(letter: char) -> String {
    match letter {
        '\n' => "\\n".to_string(),
        '\r' => "\\r".to_string(),
        '\t' => "\\t".to_string(),
        '\\' | '[' | ']' => format!("\\{letter}"),
        letter if (letter.is_ascii_graphic() || letter == ' ') && letter != '-' && letter != '^' => letter.to_string(),
        letter if u32::from(letter) < 0x1_0000 => format!("\\u{:04X}", u32::from(letter)),
        letter => format!("\\U{:08X}", u32::from(letter)),
    }
}

/// Writes a string literal in GBNF.
pub(super) fn gbnf_string(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '[' | ']' | '^' | '-' => out.push(letter),
            letter => out.push_str(&gbnf_in_class(letter)),
        }
    }
    out + "\""
}

/// Writes a string literal for Lark.
pub(super) fn lark_string(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if letter.is_control() => _ = write!(out, "\\u{:04x}", u32::from(letter)),
            letter => out.push(letter),
        }
    }
    out + "\""
}

/// Writes a string literal for flex.
fn flex_string(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', byte as char]),
            b' '..=b'~' => out.push(byte as char),
            _ => _ = write!(out, "\\x{byte:02x}"),
        }
    }
    out + "\""
}

fn flex_byte(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() { (byte as char).to_string() } else { format!("\\x{byte:02x}") }
}

fn byte_class(ranges: &[(u8, u8)]) -> String {
    let mut out = String::from("[");
    for &(from, to) in ranges {
        out.push_str(&flex_byte(from));
        if to > from {
            out.push('-');
            out.push_str(&flex_byte(to));
        }
    }
    out + "]"
}

/// Writes a class of characters as their bytes in UTF-8, for flex.
fn bytes_of(ranges: &[(char, char)]) -> (String, Binding) {
    let mut single = Vec::new();
    let mut longer = Vec::new();
    for &(from, to) in ranges {
        for sequence in Utf8Sequences::new(from, to) {
            match sequence.as_slice() {
                [only] => single.push((only.start, only.end)),
                parts => {
                    let parts = parts.iter().map(|part| byte_class(&[(part.start, part.end)]));
                    longer.push(parts.collect::<String>());
                }
            }
        }
    }
    let mut all: Vec<String> = Vec::new();
    if !single.is_empty() {
        all.push(byte_class(&single));
    }
    let binding = if longer.is_empty() { Binding::Atom } else { Binding::Choice };
    all.extend(longer);
    (all.join("|"), binding)
}
