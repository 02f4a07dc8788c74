//! Reads lexers as they are written for flex: patterns with C code, of which only the token and the start state count.

use std::ops::Range;

use regex_syntax::hir::{Class, Hir, HirKind};

use super::action::{self, Action, Change, Returned};
use super::file::{LexFile, LexRule, StartState, StateChange};
use super::pattern::Patterns;
use crate::text::error::LexerError;
use crate::yacc::code;

/// The maximum number of characters for which a rule that returns the character itself is written out. A class with
/// more is written out for ASCII only.
const MAX_CHARACTERS: usize = 256;

/// Returns whether a file is written for flex rather than for grmtools: it has code, options or definitions.
pub(crate) fn is_flex(source: &str) -> bool {
    let mut lines = source.lines();
    let declares = |line: &&str| {
        let is_name = line.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        is_name || ["%{", "%option", "%top"].iter().any(|start| line.starts_with(start))
    };
    let has_code = |line: &str| {
        let last = line.split_whitespace().next_back().unwrap_or_default();
        let named = last == ";" || last.ends_with('"') || last.ends_with('\'');
        let begins = |(at, _): (usize, char)| {
            let rest = line[at..].trim_start();
            rest.starts_with('{') || ["return", "BEGIN"].iter().any(|word| rest.starts_with(word))
        };
        !named && line.char_indices().filter(|(_, letter)| letter.is_whitespace()).any(begins)
    };
    lines.by_ref().take_while(|line| !line.starts_with("%%")).any(|line| declares(&line)) || lines.any(has_code)
}

/// Reads a lexer file in the dialect of flex.
pub(crate) fn read(source: &str) -> Result<LexFile, LexerError> {
    let initial = StartState { name: "INITIAL".into(), exclusive: false };
    let mut reader = Reader {
        source,
        at: 0,
        patterns: Patterns::new(source),
        file: LexFile { states: vec![initial], rules: Vec::new(), warnings: Vec::new() },
    };
    reader.definitions()?;
    reader.rules()?;
    Ok(reader.file)
}

struct Reader<'a> {
    source: &'a str,
    at: usize,
    patterns: Patterns<'a>,
    file: LexFile,
}

/// A rule whose action was not read yet, because it is that of the next rule.
struct Pending {
    pattern: Hir,
    states: Vec<usize>,
    span: Range<usize>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn error<T>(&self, at: usize, message: &str) -> Result<T, LexerError> {
        Err(LexerError::at(self.source, at, message))
    }

    /// Returns the rest of the line, and goes to the next line.
    fn line(&mut self) -> &'a str {
        let rest = self.rest();
        let line = rest.split('\n').next().unwrap_or_default();
        self.at += (line.len() + 1).min(rest.len());
        line.trim_end()
    }

    /// Passes over spaces and tabs.
    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    /// Passes over code and comments at the beginning of a line. Returns whether there was anything of the kind.
    fn skip_code(&mut self) -> Result<bool, LexerError> {
        let (start, rest) = (self.at, self.rest());
        let inner = rest.trim_start_matches([' ', '\t', '\r']);
        if inner.starts_with("%{") {
            let Some(end) = rest.find("\n%}").or_else(|| rest.find("%}")) else {
                return self.error(start, "this %{ has no %}");
            };
            self.at += end + 1;
        } else if inner.starts_with("/*") {
            let comment = self.at + rest.len() - inner.len();
            self.at = code::comment(self.source, comment).unwrap_or(comment);
        } else if !(inner.is_empty() || inner.starts_with('\n') || inner.starts_with("//") || inner.len() < rest.len())
        {
            return Ok(false);
        }
        self.line();
        Ok(true)
    }

    /// Reads the first part of the file, up to `%%`.
    fn definitions(&mut self) -> Result<(), LexerError> {
        while !self.rest().is_empty() {
            if self.skip_code()? {
                continue;
            }
            let start = self.at;
            if self.rest().starts_with("%top") {
                let Some(end) = self.rest().find('{').and_then(|brace| code::block(self.source, start + brace)) else {
                    return self.error(start, "the block %top is not closed");
                };
                self.at = end;
                self.line();
                continue;
            }
            let line = self.line();
            let (word, rest) = line.split_at(line.find([' ', '\t']).unwrap_or(line.len()));
            match word {
                _ if word.starts_with("%%") => return Ok(()),
                "%option" | "%options" => {
                    let ignores = |option: &str| matches!(option, "case-insensitive" | "caseless");
                    self.patterns.case_insensitive |= rest.split_ascii_whitespace().any(ignores);
                }
                "%s" | "%S" | "%start" | "%Start" | "%x" | "%X" => {
                    for name in rest.split_ascii_whitespace() {
                        let exclusive = matches!(word, "%x" | "%X");
                        self.file.states.push(StartState { name: name.into(), exclusive });
                    }
                }
                "%pointer" | "%array" | "%a" | "%e" | "%k" | "%n" | "%o" | "%p" => {}
                _ if word.starts_with('%') => {
                    return self.error(
                        start,
                        &format!("the declaration {word} is not known; remove it if it does not affect the tokens"),
                    );
                }
                _ => {
                    let pattern = rest.trim();
                    if pattern.is_empty() {
                        return self.error(start, "a definition is a name, a space and a pattern");
                    }
                    let from = start + line.len() - rest.trim_start().len();
                    self.patterns.definitions.insert(word, from..from + pattern.len());
                }
            }
        }
        self.error(self.at, "the rules are missing; they begin after a line with %%")
    }

    /// Reads the rules, up to a second `%%`.
    fn rules(&mut self) -> Result<(), LexerError> {
        // The start states of the blocks <STATE>{ ... } that are open, and where they begin.
        let mut scopes: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut pending: Vec<Pending> = Vec::new();
        while !self.rest().is_empty() {
            if scopes.is_empty() {
                if self.skip_code()? {
                    continue;
                }
            } else {
                self.skip_blanks();
                if self.rest().starts_with(['\n', '\r'])
                    || ["/*", "//", "%{"].iter().any(|code| self.rest().starts_with(code))
                {
                    self.skip_code()?;
                    continue;
                }
            }
            if self.rest().starts_with("%%") {
                break;
            }
            let start = self.at;
            if self.rest().starts_with('}') && scopes.pop().is_some() {
                self.line();
                continue;
            }
            let mut states = scopes.last().map_or_else(Vec::new, |(_, states)| states.clone());
            if self.rest().starts_with('<') && !self.rest().starts_with("<<EOF>>") {
                states.extend(self.states()?);
                states.sort_unstable();
                states.dedup();
                if self.rest().starts_with('{')
                    && self.rest()[1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n')
                {
                    self.line();
                    scopes.push((start, states));
                    continue;
                }
            }
            self.rule(start, states, &mut pending)?;
        }
        match (scopes.first(), pending.first()) {
            (Some(&(at, _)), _) => self.error(at, "this block of rules is not closed with }"),
            (_, Some(rule)) => self.error(rule.span.start, "the action | needs a rule after this one"),
            _ => Ok(()),
        }
    }

    /// Reads a list of start states in angle brackets.
    fn states(&mut self) -> Result<Vec<usize>, LexerError> {
        let Some(end) = self.rest().find('>') else {
            return self
                .error(self.at, "the list of start states is not closed with >; write \"<\" for the character itself");
        };
        let list = &self.rest()[1..end];
        let states = if list == "*" {
            Ok((0..self.file.states.len()).collect())
        } else {
            list.split(',').map(|name| self.state(name.trim(), self.at)).collect()
        };
        self.at += end + 1;
        states
    }

    fn state(&self, name: &str, at: usize) -> Result<usize, LexerError> {
        // In flex, the initial state is the number 0.
        let name = if name == "0" { "INITIAL" } else { name };
        match self.file.states.iter().position(|state| state.name == name) {
            Some(number) => Ok(number),
            None => self.error(at, &format!("the start state {name:?} is not declared with %s or %x")),
        }
    }

    /// Reads a rule, whose start states were read.
    fn rule(&mut self, start: usize, states: Vec<usize>, pending: &mut Vec<Pending>) -> Result<(), LexerError> {
        if self.rest().starts_with("<<EOF>>") {
            self.at += "<<EOF>>".len();
            self.action()?;
            let message = "rules for <<EOF>> are left out: the end of the text is the end of the word";
            if self.file.warnings.iter().all(|(_, known)| known != message) {
                self.file.warnings.push((start, message.into()));
            }
            return Ok(());
        }
        let (pattern, end) = self.patterns.read(self.at)?;
        self.at = end;
        pending.push(Pending { pattern, states, span: start..end });
        let (from, to) = self.action()?;
        if self.source[from..to].trim() == "|" {
            return Ok(());
        }
        let action = action::read(self.source, from, to)?;
        if let (Returned::Nothing, Some((at, name))) = (&action.returned, action.macro_call) {
            let message = format!(
                "{name} is taken to return nothing, so that the text is skipped; if it returns a token, write return"
            );
            self.file.warnings.push((at, message));
        }
        for rule in std::mem::take(pending) {
            self.add(rule, &action, from)?;
        }
        Ok(())
    }

    /// Passes over an action. It ends with its line, unless a brace is open there. Returns its part of the file.
    fn action(&mut self) -> Result<(usize, usize), LexerError> {
        self.skip_blanks();
        let start = self.at;
        if self.rest().starts_with("%{") {
            let Some(end) = self.rest().find("%}") else { return self.error(start, "this %{ has no %}") };
            self.at += end;
            self.line();
            return Ok((start + 2, start + end));
        }
        let mut at = start;
        while let Some(letter) = self.source[at..].chars().next() {
            at = match letter {
                '\n' => break,
                '{' => match code::block(self.source, at) {
                    Some(end) => end,
                    None => return self.error(at, "this brace is not closed"),
                },
                '"' | '\'' => code::literal(self.source, at).unwrap_or(at + 1),
                '/' => code::comment(self.source, at).unwrap_or(at + 1),
                letter => at + letter.len_utf8(),
            };
        }
        self.at = at;
        self.line();
        Ok((start, at))
    }

    fn add(&mut self, rule: Pending, action: &Action<'_>, at: usize) -> Result<(), LexerError> {
        let Pending { pattern, states, span } = rule;
        let change = match action.change {
            Some(Change::Begin(name)) => Some(StateChange::Begin(self.state(name, at)?)),
            Some(Change::Push(name)) => Some(StateChange::Push(self.state(name, at)?)),
            Some(Change::Pop) => Some(StateChange::Pop),
            None => None,
        };
        let named = |name, pattern, own_text| LexRule {
            pattern,
            name,
            states: states.clone(),
            change,
            span: span.clone(),
            own_text,
        };
        match &action.returned {
            Returned::Nothing => self.file.rules.push(named(None, pattern, false)),
            Returned::Token(name) => self.file.rules.push(named(Some(name.clone()), pattern, false)),
            Returned::Character => {
                let Some(letters) = letters(&pattern) else {
                    let message =
                        "this rule returns one character, but its pattern can match more; write a rule for each token";
                    return self.error(span.start, message);
                };
                for letter in letters {
                    let mut buffer = [0; 4];
                    let pattern = Hir::literal(letter.encode_utf8(&mut buffer).as_bytes());
                    self.file.rules.push(named(Some(code::character_name(letter)), pattern, true));
                }
            }
        }
        Ok(())
    }
}

/// Returns the characters that a pattern matches, if it matches single characters only. Of a large class, only those in
/// ASCII are returned: a grammar has no tokens for the others.
fn letters(pattern: &Hir) -> Option<Vec<char>> {
    match pattern.kind() {
        HirKind::Literal(literal) => {
            let mut letters = str::from_utf8(&literal.0).ok()?.chars();
            letters.next().filter(|_| letters.as_str().is_empty()).map(|letter| vec![letter])
        }
        HirKind::Class(Class::Unicode(class)) => {
            let all = || class.iter().flat_map(|range| range.start()..=range.end());
            let few = all().nth(MAX_CHARACTERS).is_none();
            Some(all().filter(|letter| few || letter.is_ascii()).collect())
        }
        HirKind::Class(Class::Bytes(class)) => {
            Some(class.iter().flat_map(|range| range.start()..=range.end()).map(char::from).collect())
        }
        _ => None,
    }
}
