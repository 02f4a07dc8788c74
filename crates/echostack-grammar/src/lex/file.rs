//! Reads lexer files: start states, and rules that pair a regular expression with the name of a token.

use std::ops::Range;

use regex_syntax::hir::{Hir, HirKind};
use regex_syntax::{Parser, ParserBuilder, is_meta_character};

use crate::text::error::{LexerError, list};

/// The maximum length of a lexer file, in bytes.
const MAX_SOURCE: usize = 1 << 20;
/// The maximum length of all regular expressions of a lexer together, in bytes. It bounds the memory of the parsed
/// expressions: two bytes can stand for a class of a thousand ranges.
const MAX_PATTERNS: usize = 1 << 16;

/// The contents of a lexer file.
#[derive(Debug)]
pub(crate) struct LexFile {
    /// The start states. The first one is the initial state.
    pub(crate) states: Vec<StartState>,
    pub(crate) rules: Vec<LexRule>,
    /// What is left out, and where.
    pub(crate) warnings: Vec<(usize, String)>,
}

/// A start state, which determines which rules apply.
#[derive(Debug)]
pub(crate) struct StartState {
    pub(crate) name: String,
    /// Whether rules without start states do not apply in this state.
    pub(crate) exclusive: bool,
}

/// A rule of a lexer.
#[derive(Debug)]
pub(crate) struct LexRule {
    pub(crate) pattern: Hir,
    /// The name of the token; `None` if the matched text is skipped.
    pub(crate) name: Option<String>,
    /// The start states in which the rule applies; if there are none, it applies in all that are not exclusive.
    pub(crate) states: Vec<usize>,
    pub(crate) change: Option<StateChange>,
    /// The place of the rule in the file.
    pub(crate) span: Range<usize>,
    /// Whether the name is the character that was matched, one of several that a rule in the file stands for.
    pub(crate) own_text: bool,
}

/// What happens when a rule matches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The number of the token's name; `None` if the text is skipped.
    pub(crate) name: Option<u32>,
    pub(crate) change: Option<StateChange>,
}

/// What a rule does to the stack of start states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateChange {
    /// Replaces the whole stack by a state.
    Replace(usize),
    /// Replaces the state on top of the stack.
    Begin(usize),
    /// Pushes a state.
    Push(usize),
    /// Pops a state.
    Pop,
}

impl LexRule {
    /// Returns whether the rule applies in a start state.
    pub(crate) fn applies(&self, number: usize, state: &StartState) -> bool {
        if self.states.is_empty() { !state.exclusive } else { self.states.contains(&number) }
    }
}

/// How regular expressions are read; the names are those of grmtools.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of grmtools")]
struct Flags {
    dot_matches_new_line: bool,
    case_insensitive: bool,
    ignore_whitespace: bool,
    unicode: bool,
    octal: bool,
    /// Whether `\b` is a backspace, as in POSIX, instead of a word boundary.
    posix_escapes: bool,
    /// Whether lines that begin with `//` are comments.
    allow_wholeline_comments: bool,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            dot_matches_new_line: true,
            case_insensitive: false,
            ignore_whitespace: false,
            unicode: true,
            octal: true,
            posix_escapes: false,
            allow_wholeline_comments: false,
        }
    }
}

impl Flags {
    const NAMES: [&str; 7] = [
        "dot_matches_new_line",
        "case_insensitive",
        "ignore_whitespace",
        "unicode",
        "octal",
        "posix_escapes",
        "allow_wholeline_comments",
    ];

    fn set(&mut self, name: &str, value: bool) -> bool {
        let flag = match name {
            "dot_matches_new_line" => &mut self.dot_matches_new_line,
            "case_insensitive" => &mut self.case_insensitive,
            "ignore_whitespace" => &mut self.ignore_whitespace,
            "unicode" => &mut self.unicode,
            "octal" => &mut self.octal,
            "posix_escapes" => &mut self.posix_escapes,
            "allow_wholeline_comments" => &mut self.allow_wholeline_comments,
            _ => return false,
        };
        *flag = value;
        true
    }

    fn parser(self) -> Parser {
        ParserBuilder::new()
            .dot_matches_new_line(self.dot_matches_new_line)
            .case_insensitive(self.case_insensitive)
            .ignore_whitespace(self.ignore_whitespace)
            .unicode(self.unicode)
            .octal(self.octal)
            .multi_line(true)
            .build()
    }
}

/// Reads a lexer file in the dialect of grmtools.
pub(crate) fn read(source: &str) -> Result<LexFile, LexerError> {
    if source.len() > MAX_SOURCE {
        return Err(LexerError::new(format!(
            "the lexer has {} bytes, but at most {MAX_SOURCE} are allowed",
            source.len()
        )));
    }
    let mut reader = Reader {
        source,
        file: LexFile {
            states: vec![StartState { name: "INITIAL".into(), exclusive: false }],
            rules: Vec::new(),
            warnings: Vec::new(),
        },
        flags: Flags::default(),
        patterns: 0,
    };
    let mut lines = lines(source);
    reader.declarations(&mut lines)?;
    for span in lines {
        let line = &source[span.clone()];
        if line.starts_with("%%") {
            let rest = &source[span.start + 2..];
            if rest.trim().is_empty() {
                break;
            }
            return Err(reader.error(span.start, "code after the second %% is not read; remove it"));
        }
        if line.trim().is_empty() || (reader.flags.allow_wholeline_comments && line.starts_with("//")) {
            continue;
        }
        reader.rule(span)?;
    }
    Ok(reader.file)
}

/// Returns the lines of a text, without their line breaks.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let begin = start;
        start += line.len();
        begin..begin + line.trim_end_matches(['\n', '\r']).len()
    })
}

struct Reader<'a> {
    source: &'a str,
    file: LexFile,
    flags: Flags,
    /// The length of all regular expressions so far.
    patterns: usize,
}

impl Reader<'_> {
    fn error(&self, at: usize, message: impl AsRef<str>) -> LexerError {
        LexerError::at(self.source, at, message.as_ref())
    }

    /// Reads the lines up to the first `%%`.
    fn declarations(&mut self, lines: &mut impl Iterator<Item = Range<usize>>) -> Result<(), LexerError> {
        while let Some(span) = lines.next() {
            let line = self.source[span.clone()].trim();
            let start = span.start + self.source[span].find(line).unwrap_or(0);
            let word = line.split_ascii_whitespace().next().unwrap_or_default();
            if line.starts_with("%%") {
                return Ok(());
            } else if line.is_empty() || (self.flags.allow_wholeline_comments && line.starts_with("//")) {
            } else if line.starts_with("%grmtools") {
                self.header(start, lines)?;
            } else if let Some(kind @ ('s' | 'S' | 'x' | 'X')) =
                word.strip_prefix('%').and_then(|word| word.chars().next())
            {
                self.start_states(&line[word.len()..], start, kind.eq_ignore_ascii_case(&'x'))?;
            } else {
                return Err(self.error(start, "this declaration is not known; start states are declared with %s or %x"));
            }
        }
        Err(self.error(self.source.len(), "the rules are missing; they begin after a line with %%"))
    }

    /// Reads the flags in a section `%grmtools{...}`, which ends with its line or on a later one.
    fn header(&mut self, start: usize, lines: &mut impl Iterator<Item = Range<usize>>) -> Result<(), LexerError> {
        let text = &self.source[start..];
        let end = text.find('}').ok_or_else(|| self.error(start, "the section %grmtools is not closed with }"))?;
        let body = text[..end].trim_start_matches("%grmtools").trim_start();
        let body = body.strip_prefix('{').ok_or_else(|| self.error(start, "%grmtools must be followed by {"))?;
        for flag in body.split(',').map(str::trim).filter(|flag| !flag.is_empty()) {
            let (name, value) = flag.strip_prefix('!').map_or((flag, true), |name| (name.trim(), false));
            if !self.flags.set(name, value) {
                return Err(
                    self.error(start, format!("the flag {name:?} is not known; the flags are {}", list(&Flags::NAMES)))
                );
            }
        }
        if text[..end].contains('\n') {
            lines.find(|span| span.end > start + end);
        }
        Ok(())
    }

    fn start_states(&mut self, names: &str, at: usize, exclusive: bool) -> Result<(), LexerError> {
        for name in names.split_ascii_whitespace() {
            if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.".contains(letter)) {
                return Err(
                    self.error(at, format!("{name:?} is not a name of a start state; write letters, digits, _ and ."))
                );
            }
            if self.file.states.iter().any(|state| state.name == name) {
                return Err(self.error(at, format!("the start state {name} is declared twice")));
            }
            self.file.states.push(StartState { name: name.into(), exclusive });
        }
        Ok(())
    }

    fn state(&self, name: &str, at: usize) -> Result<usize, LexerError> {
        let found = self.file.states.iter().position(|state| state.name == name.trim());
        found.ok_or_else(|| self.error(at, format!("the start state {name:?} is not declared with %s or %x")))
    }

    /// Reads a rule: an expression, white space, and a name in quotes or `;`. The expression may begin with the start
    /// states in which the rule applies; a start state before the name is the one to change to.
    fn rule(&mut self, span: Range<usize>) -> Result<(), LexerError> {
        let line = self.source[span.clone()].trim_end();
        if line.starts_with([' ', '\t']) {
            return Err(self.error(span.start, "a rule must begin in the first column; remove the space before it"));
        }
        let missing = "a rule is a regular expression, a space, and the token's name in quotes or ; to skip the text";
        let space = line.rfind([' ', '\t']).ok_or_else(|| self.error(span.start, missing))?;
        let (mut pattern, action) = (trim_end_unescaped(&line[..space]), &line[space + 1..]);
        let mut at = span.start + space + 1;

        let (mut change, mut named) = (None, action);
        if let Some((state, rest)) = action.strip_prefix('<').and_then(|action| action.split_once('>')) {
            change = Some(match state.split_at_checked(1) {
                Some(("+", name)) => StateChange::Push(self.state(name, at)?),
                Some(("-", name)) => self.state(name, at).map(|_| StateChange::Pop)?,
                _ => StateChange::Replace(self.state(state, at)?),
            });
            at += action.len() - rest.len();
            named = rest;
        }
        let name = match named {
            ";" | "''" | "\"\"" => None,
            _ => Some(unquote(named).ok_or_else(|| {
                self.error(
                    at,
                    format!("{named:?} is not a token's name in quotes; write \"{named}\", or ; to skip the text"),
                )
            })?),
        };

        let mut states = Vec::new();
        if let Some(rest) = pattern.strip_prefix('<') {
            let unclosed = "the list of start states is not closed with >; write \\< for the character itself";
            let (list, expression) = rest.split_once('>').ok_or_else(|| self.error(span.start, unclosed))?;
            states = list.split(',').map(|name| self.state(name, span.start)).collect::<Result<_, _>>()?;
            pattern = expression;
        }
        self.patterns += pattern.len();
        if self.patterns > MAX_PATTERNS {
            return Err(self.error(span.start, format!("the rules have more than {MAX_PATTERNS} bytes; shorten them")));
        }
        let pattern = self.flags.parser().parse(&unescape(pattern, self.flags.posix_escapes)).map_err(|error| {
            let reason = match &error {
                regex_syntax::Error::Parse(error) => error.kind().to_string(),
                regex_syntax::Error::Translate(error) => error.kind().to_string(),
                error => error.to_string(),
            };
            self.error(span.start, format!("this regular expression is not valid: {reason}"))
        })?;
        if let Some(problem) = refused(&pattern) {
            return Err(self.error(span.start, problem));
        }
        let span = span.start..span.start + line.len();
        self.file.rules.push(LexRule {
            pattern,
            name: name.map(str::to_string),
            states,
            change,
            span,
            own_text: false,
        });
        Ok(())
    }
}

fn unquote(text: &str) -> Option<&str> {
    ['"', '\''].iter().find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote)).filter(|name| !name.is_empty())
}

/// Removes white space from the end of an expression, except a space that is escaped.
fn trim_end_unescaped(pattern: &str) -> &str {
    let trimmed = pattern.trim_end();
    let escaped = trimmed.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1;
    let kept = if escaped { pattern[trimmed.len()..].chars().next().map_or(0, char::len_utf8) } else { 0 };
    &pattern[..trimmed.len() + kept]
}

/// The letters that mean something else after a backslash.
const KNOWN: &str = "xuUafnrtvpPdDsSwWAzb";

/// Removes the backslash before characters that need none in our regular expressions: in Lex, any character can be
/// escaped.
fn unescape(pattern: &str, posix: bool) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match (letter, letters.as_str().chars().next()) {
            ('\\', Some(next)) => {
                letters.next();
                match next {
                    'b' if posix => text += "\\x08",
                    _ if is_meta_character(next) || next.is_ascii_digit() || KNOWN.contains(next) => {
                        text.extend(['\\', next]);
                    }
                    _ => text.push(next),
                }
            }
            _ => text.push(letter),
        }
    }
    text
}

/// Returns why an expression cannot be a rule, if it means something else when the longest match counts.
fn refused(pattern: &Hir) -> Option<&'static str> {
    if !pattern.properties().look_set().is_empty() {
        return Some(
            "anchors and word boundaries (^, $, \\b) have no meaning in a lexer: every rule matches exactly where the \
             last token ended, and the longest match counts; remove them",
        );
    }
    // Expressions are nested to a limited depth, but a loop needs no such argument.
    let mut open = vec![pattern];
    while let Some(part) = open.pop() {
        match part.kind() {
            HirKind::Repetition(repetition) => {
                if !repetition.greedy && repetition.max != Some(repetition.min) {
                    return Some(
                        "a lazy repetition (*?, +?, ??) has no meaning where the longest match counts; write what may \
                         be repeated instead, such as /\\*([^*]|\\*+[^*/])*\\*+/ for a comment",
                    );
                }
                open.push(&repetition.sub);
            }
            HirKind::Capture(capture) => open.push(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => open.extend(parts),
            _ => {}
        }
    }
    None
}
