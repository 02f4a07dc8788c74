//! Writes regular expressions for other tools.

use std::fmt::Write;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
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
    /// The lexer rules of ANTLR 4.
    Antlr,
    /// The W3C's EBNF.
    W3c,
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
    let space = if matches!(dialect, Dialect::Gbnf | Dialect::Antlr | Dialect::W3c) { " " } else { "" };
    let counts = !matches!(dialect, Dialect::Antlr | Dialect::W3c);
    match pattern.kind() {
        // Lexers with assertions are refused when they are read.
        HirKind::Empty | HirKind::Look(_) => match dialect {
            Dialect::Python => ("(?:)".to_string(), Binding::Atom),
            Dialect::Flex | Dialect::Gbnf | Dialect::W3c => ("\"\"".to_string(), Binding::Atom),
            Dialect::Antlr => ("()".to_string(), Binding::Atom),
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
            // xgrammar needs a hundred times as long for a mask inside of ([^"\\] | "\\" escape)* as for the same texts
            // written as [^"\\]* ("\\" escape [^"\\]*)*.
            if dialect == Dialect::Gbnf
                && let Some((letters, others)) = parted(repetition)
            {
                let letters = within(&letters, dialect, Binding::Atom);
                let others = within(&others, dialect, Binding::Sequence);
                return (format!("{letters}* ({others} {letters}*)*"), Binding::Sequence);
            }
            let sub = within(&repetition.sub, dialect, Binding::Atom);
            let count = match (repetition.min, repetition.max) {
                (0, None) => "*".to_string(),
                (1, None) => "+".to_string(),
                (0, Some(1)) => "?".to_string(),
                (min, max) if !counts => return (repeated(&sub, min, max), Binding::Sequence),
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
        // ANTLR has no empty expression, but what is empty or something else is optional.
        HirKind::Alternation(parts) if dialect == Dialect::Antlr && parts.iter().any(is_empty) => {
            let some = parts.iter().filter(|part| !is_empty(part)).map(|part| within(part, dialect, Binding::Sequence));
            (format!("({})?", some.collect::<Vec<_>>().join(" | ")), Binding::Repetition)
        }
        HirKind::Alternation(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| within(part, dialect, Binding::Sequence)).collect();
            (parts.join(&format!("{space}|{space}")), Binding::Choice)
        }
    }
}

fn is_empty(pattern: &Hir) -> bool {
    matches!(pattern.kind(), HirKind::Empty)
}

/// Splits what is repeated any number of times into a class of characters and all else, if there are both.
fn parted(repetition: &Repetition) -> Option<(Hir, Hir)> {
    let (0, None, HirKind::Alternation(parts)) = (repetition.min, repetition.max, repetition.sub.kind()) else {
        return None;
    };
    let (letters, others): (Vec<Hir>, Vec<Hir>) =
        parts.iter().cloned().partition(|part| matches!(part.kind(), HirKind::Class(_)));
    (letters.len() == 1 && others.iter().all(|part| part.properties().minimum_len() > Some(0)))
        .then(|| (Hir::alternation(letters), Hir::alternation(others)))
}

/// Writes a counted repetition for tools that have none.
fn repeated(sub: &str, min: u32, max: Option<u32>) -> String {
    let mut parts = vec![sub.to_string(); min as usize];
    match max {
        None => parts.push(format!("{sub}*")),
        // x{0,3} is (x (x x?)?)?, so that there is one way to read each text.
        Some(max) => {
            let optional = (min..max).fold(String::new(), |inner, _| match &inner[..] {
                "" => format!("{sub}?"),
                inner => format!("({sub} {inner})?"),
            });
            parts.extend((!optional.is_empty()).then_some(optional));
        }
    }
    parts.join(" ")
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
        Dialect::Antlr => (antlr_string(&text), Binding::Atom),
        Dialect::W3c => {
            let text = w3c_string(&text);
            let binding = if text.contains(' ') { Binding::Sequence } else { Binding::Atom };
            (text, binding)
        }
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
        // Fandango takes a leading ^ for a negation.
        Dialect::Antlr if letter == '^' => "\\u005E".to_string(),
        Dialect::Antlr => antlr(letter, "]-"),
        Dialect::W3c => w3c_in_class(letter),
        Dialect::Python | Dialect::Flex if "&~#".contains(letter) => format!("\\{letter}"),
        Dialect::Python | Dialect::Flex => python(letter),
    };
    let mut out = String::from("[");
    // A class of nearly everything is shorter by what it lacks.
    let complement = complement(ranges);
    let is_negated = complement.len() < ranges.len() && !complement.is_empty()
        || dialect == Dialect::Antlr && ranges.iter().any(|&(from, to)| from <= '\u{d7ff}' && to >= '\u{e000}');
    let shown = if is_negated {
        out = if dialect == Dialect::Antlr { "~[" } else { "[^" }.to_string();
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
    if is_negated && dialect == Dialect::Antlr {
        // No text has halves of surrogate pairs, but fuzzers that read this would draw them.
        out.push_str("\\uD800-\\uDFFF");
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

/// Escapes a character in ANTLR, where these characters have a meaning besides the backslash.
fn antlr(letter: char, special: &str) -> String {
    match letter {
        '\n' => "\\n".to_string(),
        '\r' => "\\r".to_string(),
        '\t' => "\\t".to_string(),
        '\\' => "\\\\".to_string(),
        letter if special.contains(letter) => format!("\\{letter}"),
        ' '..='~' => letter.to_string(),
        letter if u32::from(letter) < 0x1_0000 => format!("\\u{:04X}", u32::from(letter)),
        letter => format!("\\u{{{:X}}}", u32::from(letter)),
    }
}

/// Writes a string literal for ANTLR.
pub(super) fn antlr_string(text: &str) -> String {
    format!("'{}'", text.chars().map(|letter| antlr(letter, "'")).collect::<String>())
}

/// Writes a character in a class of the W3C's EBNF.
fn w3c_in_class(letter: char) -> String {
    if letter.is_ascii_graphic() && !"[]^-#".contains(letter) {
        letter.to_string()
    } else {
        format!("#x{:X}", u32::from(letter))
    }
}

/// Writes a text in the W3C's EBNF. What cannot be in quotes is written by its number, so this may be a sequence.
pub(super) fn w3c_string(text: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut plain = String::new();
    let quote = |plain: &mut String, parts: &mut Vec<String>| {
        if !plain.is_empty() {
            let mark = if plain.contains('"') { '\'' } else { '"' };
            parts.push(format!("{mark}{}{mark}", std::mem::take(plain)));
        }
    };
    for letter in text.chars() {
        let is_plain = letter.is_ascii_graphic() || letter == ' ';
        let clashes = (letter == '"' && plain.contains('\'')) || (letter == '\'' && plain.contains('"'));
        if !is_plain || clashes {
            quote(&mut plain, &mut parts);
        }
        if is_plain {
            plain.push(letter);
        } else {
            parts.push(format!("#x{:X}", u32::from(letter)));
        }
    }
    quote(&mut plain, &mut parts);
    parts.join(" ")
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
