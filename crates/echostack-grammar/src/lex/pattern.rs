//! Reads flex's patterns.
//!
//! Patterns match characters here, and bytes in flex. This makes no difference for patterns in ASCII, nor for those that
//! treat all other bytes alike, such as `[\x80-\xff]`; others are refused.

use std::collections::HashMap;
use std::ops::Range;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Repetition};

use crate::text::error::LexerError;

/// The maximum number of parts of all patterns together, with definitions expanded.
const MAX_PARTS: usize = 1 << 16;
/// The maximum depth of parentheses and definitions in each other.
const MAX_DEPTH: usize = 100;

/// What is needed to read the patterns of a file.
#[derive(Debug)]
pub(crate) struct Patterns<'a> {
    source: &'a str,
    /// The named definitions.
    pub(crate) definitions: HashMap<&'a str, Range<usize>>,
    pub(crate) case_insensitive: bool,
    /// The number of parts so far.
    parts: usize,
}

impl<'a> Patterns<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Self { source, definitions: HashMap::new(), case_insensitive: false, parts: 0 }
    }

    /// Reads the pattern that begins here. Returns it with the position after it.
    pub(crate) fn read(&mut self, at: usize) -> Result<(Hir, usize), LexerError> {
        let end = self.source.len();
        let ignore_case = self.case_insensitive;
        let mut reader = Reader { patterns: self, at, end, depth: 0, ignore_case, dot_all: false };
        let pattern = reader.alternation()?;
        match reader.peek() {
            Some(')') => reader.error("this parenthesis closes nothing; write \")\" for the character itself"),
            _ => Ok((pattern, reader.at)),
        }
    }
}

/// A position in a pattern.
struct Reader<'p, 'a> {
    patterns: &'p mut Patterns<'a>,
    at: usize,
    /// The end of the file, or of a definition.
    end: usize,
    depth: usize,
    ignore_case: bool,
    /// Whether the dot also matches a line break.
    dot_all: bool,
}

impl<'a> Reader<'_, 'a> {
    fn rest(&self) -> &'a str {
        &self.patterns.source[self.at..self.end]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn error<T>(&self, message: &str) -> Result<T, LexerError> {
        Err(LexerError::at(self.patterns.source, self.at, message))
    }

    fn alternation(&mut self) -> Result<Hir, LexerError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.error("the pattern is nested too deeply; does a definition contain itself?");
        }
        let mut choices = vec![self.sequence()?];
        while self.peek() == Some('|') {
            self.at += 1;
            choices.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(Hir::alternation(choices))
    }

    fn sequence(&mut self) -> Result<Hir, LexerError> {
        let mut parts = Vec::new();
        while let Some(letter) = self.peek() {
            match letter {
                '|' | ')' => break,
                letter if letter.is_ascii_whitespace() => break,
                _ => {
                    self.patterns.parts += 1;
                    if self.patterns.parts > MAX_PARTS {
                        return self.error(&format!(
                            "the patterns have more than {MAX_PARTS} parts, with definitions written out; shorten them"
                        ));
                    }
                    let part = self.part()?;
                    parts.push(self.repeated(part)?);
                }
            }
        }
        if parts.is_empty() { self.error("a part of the pattern is missing here") } else { Ok(Hir::concat(parts)) }
    }

    /// Reads the repetitions after a part.
    fn repeated(&mut self, mut part: Hir) -> Result<Hir, LexerError> {
        loop {
            let (min, max) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') if self.rest()[1..].starts_with(|letter: char| letter.is_ascii_digit()) => {
                    let Some(end) = self.rest().find('}') else { return self.error(UNCLOSED_BRACE) };
                    let inside = &self.rest()[1..end];
                    let (min, max) = inside.split_once(',').map_or((inside, Some(inside)), |(min, max)| {
                        (min, Some(max.trim()).filter(|max| !max.is_empty()))
                    });
                    let (min, max) = (min.trim().parse::<u32>(), max.map(str::parse::<u32>).transpose());
                    let (Ok(min), Ok(max)) = (min, max) else {
                        return self.error("a repetition is {2}, {2,} or {2,3}");
                    };
                    if max.is_some_and(|max| max < min) {
                        return self.error("the numbers of a repetition must be in ascending order");
                    }
                    self.at += end;
                    (min, max)
                }
                _ => return Ok(part),
            };
            self.at += 1;
            part = Hir::repetition(Repetition { min, max, greedy: true, sub: Box::new(part) });
        }
    }

    fn part(&mut self) -> Result<Hir, LexerError> {
        let start = self.at;
        match self.next() {
            Some('(') => self.group(start),
            Some('"') => self.text(start),
            Some('[') => {
                let class = self.class(start)?;
                Ok(Hir::class(Class::Unicode(self.combined(class)?)))
            }
            Some('.') if self.dot_all => Ok(class([('\0', char::MAX)])),
            Some('.') => Ok(class([('\0', '\t'), ('\x0b', char::MAX)])),
            Some('{') => self.definition(start),
            Some('/') => {
                self.refuse(start, "trailing context (/) is not supported: a token would depend on the text after it")
            }
            Some('^') => self
                .refuse(start, "^ is not supported: a rule applies wherever the last token ended; use a start state"),
            Some('$') if self.peek().is_none_or(|next| next.is_ascii_whitespace() || matches!(next, '|' | ')')) => {
                self.refuse(start, "$ is not supported: match the line break itself, or leave it to another rule")
            }
            Some(letter @ ('*' | '+' | '?')) => self
                .refuse(start, &format!("{letter} repeats nothing here; write \"{letter}\" for the character itself")),
            Some('\\') => {
                let letter = self.escape()?;
                self.letter(letter, start)
            }
            Some(letter) => self.letter(u32::from(letter), start),
            None => self.error("the pattern ends here"),
        }
    }

    fn refuse<T>(&mut self, at: usize, message: &str) -> Result<T, LexerError> {
        self.at = at;
        self.error(message)
    }

    /// Returns the pattern for a character. Bytes that are not ASCII are no characters.
    fn letter(&mut self, code: u32, start: usize) -> Result<Hir, LexerError> {
        let escaped = self.patterns.source[start..].starts_with('\\') && code > 0x7f;
        let Some(letter) = char::from_u32(code).filter(|_| !escaped) else {
            return self.refuse(start, BYTES);
        };
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]);
        self.fold(&mut class);
        Ok(Hir::class(Class::Unicode(class)))
    }

    /// Adds the other case of ASCII letters, if the case is ignored. In flex, other letters have no case.
    fn fold(&self, class: &mut ClassUnicode) {
        if self.ignore_case {
            let mut ascii = ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7f')]);
            ascii.intersect(class);
            let other = |letter: char| {
                if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
            };
            let others = ascii.iter().flat_map(|range| range.start()..=range.end()).map(other);
            class.union(&ClassUnicode::new(others.map(|letter| ClassUnicodeRange::new(letter, letter))));
        }
    }

    /// Reads what follows a backslash.
    fn escape(&mut self) -> Result<u32, LexerError> {
        let digits = |text: &str, most: usize, radix: u32| {
            text.chars().take(most).take_while(|digit| digit.is_digit(radix)).count()
        };
        let rest = self.rest();
        let (length, radix) = match rest.chars().next() {
            Some('0'..='7') => (digits(rest, 3, 8), 8),
            Some('x') if digits(&rest[1..], 2, 16) > 0 => {
                self.at += 1;
                (digits(&rest[1..], 2, 16), 16)
            }
            _ => (0, 10),
        };
        if length > 0 {
            let code = u32::from_str_radix(&self.rest()[..length], radix).unwrap_or(u32::MAX);
            self.at += length;
            return Ok(code);
        }
        Ok(match self.next() {
            Some('a') => 0x07,
            Some('b') => 0x08,
            Some('f') => 0x0c,
            Some('n') => 0x0a,
            Some('r') => 0x0d,
            Some('t') => 0x09,
            Some('v') => 0x0b,
            Some('\n') | None => return self.error("nothing follows this backslash"),
            Some(letter) => u32::from(letter),
        })
    }

    fn text(&mut self, start: usize) -> Result<Hir, LexerError> {
        let mut parts = Vec::new();
        loop {
            let at = self.at;
            let letter = match self.next() {
                Some('"') => return Ok(Hir::concat(parts)),
                Some('\n') | None => {
                    return self.refuse(start, "this quote is not closed; write \\\" for the character itself");
                }
                Some('\\') => self.escape()?,
                Some(letter) => u32::from(letter),
            };
            parts.push(self.letter(letter, at)?);
        }
    }

    /// Reads a group, whose parenthesis was read. It may begin with flags, such as `(?i:`, or be a comment, `(?#...)`.
    fn group(&mut self, start: usize) -> Result<Hir, LexerError> {
        let (ignore_case, dot_all) = (self.ignore_case, self.dot_all);
        let unclosed = "this parenthesis is not closed; a space ends a pattern, unless it is in quotes or brackets";
        if let Some(rest) = self.rest().strip_prefix("?#") {
            let Some(end) = rest.find(')') else { return self.refuse(start, unclosed) };
            self.at += end + 3;
            return Ok(Hir::empty());
        }
        if self.peek() == Some('?') {
            self.at += 1;
            let mut value = true;
            loop {
                match self.next() {
                    Some(':') => break,
                    Some('-') => value = false,
                    Some('i') => self.ignore_case = value,
                    Some('s') => self.dot_all = value,
                    _ => return self.refuse(start, "the flags of a group can be i and s, as in (?i:...)"),
                }
            }
        }
        let inside = self.alternation()?;
        (self.ignore_case, self.dot_all) = (ignore_case, dot_all);
        if self.next() == Some(')') { Ok(inside) } else { self.refuse(start, unclosed) }
    }

    /// Reads the use of a definition, whose brace was read.
    fn definition(&mut self, start: usize) -> Result<Hir, LexerError> {
        let Some(end) = self.rest().find('}') else { return self.refuse(start, UNCLOSED_BRACE) };
        let name = &self.rest()[..end];
        let Some(span) = self.patterns.definitions.get(name).cloned() else {
            return self.refuse(
                start,
                &format!("{{{name}}} is not defined; define it before the %%, or write \"{{\" for the brace itself"),
            );
        };
        self.at += end + 1;
        let (at, end, case, dot) = (self.at, self.end, self.ignore_case, self.dot_all);
        (self.at, self.end, self.dot_all) = (span.start, span.end, false);
        let inside = self.alternation()?;
        if self.at < self.end {
            return self.error("a definition is a pattern; only quotes and brackets can contain spaces");
        }
        (self.at, self.end, self.ignore_case, self.dot_all) = (at, end, case, dot);
        Ok(inside)
    }

    /// Reads the differences and unions after a class: `{-}` and `{+}` with another class.
    fn combined(&mut self, mut class: ClassUnicode) -> Result<ClassUnicode, LexerError> {
        loop {
            let minus = self.rest().starts_with("{-}[");
            if !minus && !self.rest().starts_with("{+}[") {
                return Ok(class);
            }
            let start = self.at + 3;
            self.at += 4;
            let other = self.class(start)?;
            if minus { class.difference(&other) } else { class.union(&other) }
        }
    }

    /// Reads a class, whose bracket was read.
    fn class(&mut self, start: usize) -> Result<ClassUnicode, LexerError> {
        let negated = self.peek() == Some('^');
        self.at += usize::from(negated);
        let mut class = ClassUnicode::empty();
        let mut first = true;
        loop {
            let at = self.at;
            match self.peek() {
                Some(']') if !first => break,
                Some('\n') | None => {
                    return self.refuse(start, "this bracket is not closed; write \"[\" for the character itself");
                }
                Some('[') if self.rest().starts_with("[:") => {
                    let Some(end) = self.rest().find(":]") else { return self.error("this [: has no :]") };
                    let name = &self.rest()[2..end];
                    let Some(named) = named(name) else {
                        return self.error(&format!("the class {name:?} is not known; the classes are {CLASSES}"));
                    };
                    class.union(&named);
                    self.at += end + 2;
                }
                _ => {
                    let from = self.class_letter()?;
                    let is_range = self.peek() == Some('-') && !self.rest().starts_with("-]");
                    let to = if is_range {
                        self.at += 1;
                        self.class_letter()?
                    } else {
                        from
                    };
                    let Some(range) = range(from, to) else { return self.refuse(at, BYTES) };
                    if from.0 > to.0 {
                        return self.refuse(at, "the ends of a range must be in ascending order");
                    }
                    class.push(range);
                }
            }
            first = false;
        }
        self.at += 1;
        self.fold(&mut class);
        if negated {
            class.negate();
        }
        Ok(class)
    }

    /// Reads a character of a class. Returns its number, and whether it is written as an escape.
    fn class_letter(&mut self) -> Result<(u32, bool), LexerError> {
        match self.next() {
            Some('\\') => Ok((self.escape()?, true)),
            Some(letter) => Ok((u32::from(letter), false)),
            None => self.error("the pattern ends here"),
        }
    }
}

const UNCLOSED_BRACE: &str = "this brace is not closed; write \"{\" for the character itself";
const BYTES: &str = "bytes that are not ASCII are not supported, except for all of them together, [\\x80-\\xff]; \
                     write the characters themselves";

/// Returns the characters from one to another. If they are written as numbers, 0x80 and 0xff are the first and the last
/// character that is not ASCII, and other numbers above 0x7f have no meaning.
fn range((from, from_escaped): (u32, bool), (to, to_escaped): (u32, bool)) -> Option<ClassUnicodeRange> {
    let from = Some(from).filter(|&from| !from_escaped || from <= 0x80)?;
    let to = if to_escaped && to == 0xff {
        u32::from(char::MAX)
    } else {
        Some(to).filter(|&to| !to_escaped || to < 0x80)?
    };
    Some(ClassUnicodeRange::new(char::from_u32(from)?, char::from_u32(to)?))
}

fn class(ranges: impl IntoIterator<Item = (char, char)>) -> Hir {
    let ranges = ranges.into_iter().map(|(from, to)| ClassUnicodeRange::new(from, to));
    Hir::class(Class::Unicode(ClassUnicode::new(ranges)))
}

const CLASSES: &str = "alnum, alpha, blank, cntrl, digit, graph, lower, print, punct, space, upper and xdigit";

/// Returns the class with a name such as `alpha`, or what is not in it for `^alpha`.
fn named(name: &str) -> Option<ClassUnicode> {
    if let Some(name) = name.strip_prefix('^') {
        let mut class = named(name)?;
        class.negate();
        return Some(class);
    }
    let holds: fn(&char) -> bool = match name {
        "alnum" => char::is_ascii_alphanumeric,
        "alpha" => char::is_ascii_alphabetic,
        "blank" => |letter| matches!(letter, ' ' | '\t'),
        "cntrl" => char::is_ascii_control,
        "digit" => char::is_ascii_digit,
        "graph" => char::is_ascii_graphic,
        "lower" => char::is_ascii_lowercase,
        "print" => |letter| matches!(letter, ' '..='~'),
        "punct" => char::is_ascii_punctuation,
        "space" => |letter| matches!(letter, ' ' | '\t'..='\r'),
        "upper" => char::is_ascii_uppercase,
        "xdigit" => char::is_ascii_hexdigit,
        _ => return None,
    };
    let letters = ('\0'..='\x7f').filter(holds);
    Some(ClassUnicode::new(letters.map(|letter| ClassUnicodeRange::new(letter, letter))))
}
