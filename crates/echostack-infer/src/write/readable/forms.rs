//! The two forms of a grammar: Yacc and Lex for programs, EBNF for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::net::{Label, Net};
use super::rules::{Item, Rules};
use super::term::Term;
use crate::write::export::{Files, write_rule};

/// The rules of a language, with their tokens.
pub(super) struct Forms<'a> {
    pub(super) net: &'a Net,
    pub(super) rules: &'a Rules,
    /// The regular expressions of texts that are refused.
    pub(super) traps: &'a [String],
}

/// The names of tokens that no rule has.
const APART: &str = "NOT_APART";
const RETURN: &str = "CARRIAGE_RETURN";

impl Forms<'_> {
    /// Returns all forms. The lexer may be given.
    pub(super) fn files(&self, lexer: Option<&str>, comment: &str) -> Files {
        let tokens = self.net.tokens.iter().map(|token| (token.name.clone(), token.sample.clone())).collect();
        let lexer = lexer.map_or_else(|| self.lexer(), str::to_string);
        Files { grammar: self.grammar(comment), lexer, tokens, ebnf: Some(self.ebnf()) }
    }

    /// Returns the numbers of the rules, the start first.
    fn order(&self) -> impl Iterator<Item = usize> {
        let start = self.rules.start;
        std::iter::once(start).chain((0..self.rules.all.len()).filter(move |&rule| rule != start))
    }

    /// Returns the grammar in Yacc's syntax.
    fn grammar(&self, comment: &str) -> String {
        let mut text = String::new();
        comment.lines().for_each(|line| _ = writeln!(text, "// {line}"));
        let rules = &self.rules.all;
        for rule in self.order().filter(|&rule| rules[rule].is_list()) {
            let kind = if self.is_shown(rule) { "list" } else { "inline" };
            _ = writeln!(text, "// echostack: {kind} {}", rules[rule].name);
        }
        for token in self.net.tokens.iter().filter(|token| !token.says_enough()) {
            _ = writeln!(text, "// echostack: example {} {}", token.name, Value::from(token.sample.as_str()));
        }
        _ = writeln!(text, "%start {}\n%%", rules[self.rules.start].name);
        let item = |item: &Item| match *item {
            Item::Token(token) => format!("'{}'", self.net.tokens[token].name),
            Item::Rule(rule) => rules[rule].name.clone(),
        };
        let body = |items: &Vec<Item>| match items[..] {
            [] => "%empty".to_string(),
            _ => items.iter().map(item).collect::<Vec<_>>().join(" "),
        };
        for rule in self.order().map(|rule| &rules[rule]) {
            write_rule(&mut text, &rule.name, &rule.bodies.iter().map(body).collect::<Vec<_>>());
        }
        text
    }

    /// Returns the lexer in Lex's syntax. Tokens with one text come first, so that names need not leave them out.
    fn lexer(&self) -> String {
        let mut text = "%%\n".to_string();
        for literal in [true, false] {
            for token in self.net.tokens.iter().filter(|token| token.is_literal == literal) {
                let pattern = token.pattern.as_deref().unwrap_or_default();
                _ = writeln!(text, "{pattern} \"{}\"", token.name);
            }
        }
        // No rule has this token, so that what is one is refused.
        for (name, trap) in self.refused() {
            _ = writeln!(text, "{trap} \"{name}\"");
        }
        for skipped in &self.net.skipped {
            _ = writeln!(text, "{skipped} ;");
        }
        text
    }

    /// Returns the names and expressions of tokens that no rule has.
    fn refused(&self) -> impl Iterator<Item = (&str, &str)> {
        let returns = self.net.refuses_returns.then_some((RETURN, "\\r"));
        self.traps.iter().map(|trap| (APART, trap.as_str())).chain(returns)
    }

    /// Returns the grammar in EBNF, with an example text for each rule.
    fn ebnf(&self) -> String {
        let samples = self.samples();
        let mut text = String::new();
        for rule in self.order().filter(|&rule| self.is_shown(rule)) {
            let own = &self.rules.all[rule];
            let example = samples.get(&rule).map_or(String::new(), |sample| format!("    /* {} */", shown(sample)));
            _ = writeln!(text, "{} ::= {}{example}", own.name, self.term(&own.term, Some(rule)));
        }
        let patterns = self.net.tokens.iter().filter(|token| !token.is_literal);
        let mut patterns = patterns.filter_map(|token| Some((token, token.pattern.as_ref()?))).peekable();
        if patterns.peek().is_some() || !self.net.skipped.is_empty() {
            text.push('\n');
        }
        for (token, pattern) in patterns {
            _ = writeln!(text, "{} ::= /{}/    /* {} */", token.name, plain(pattern), shown(&token.sample));
        }
        for (name, trap) in self.refused() {
            _ = writeln!(text, "{name} ::= /{}/    /* in no rule */", plain(trap));
        }
        if !self.net.skipped.is_empty() {
            let skipped = self.net.skipped.iter().map(|pattern| format!("/{}/", plain(pattern)));
            _ = writeln!(text, "skipped ::= {}", skipped.collect::<Vec<_>>().join(" | "));
        }
        text
    }

    fn is_shown(&self, rule: usize) -> bool {
        self.rules.all[rule].is_shown
    }

    fn term(&self, term: &Term, outer: Option<usize>) -> String {
        let rule = self.rules.named.get(term).copied().filter(|&rule| Some(rule) != outer && self.is_shown(rule));
        if let Some(rule) = rule {
            return self.rules.all[rule].name.clone();
        }
        let group = |part: &Term| {
            let text = self.term(part, outer);
            let is_one = matches!(part, Term::Symbol(_)) || !text.contains(' ');
            if is_one && !text.ends_with(['*', '+', '?']) { text } else { format!("({text})") }
        };
        let within = |part: &Term| if let Term::Choice(_) = part { group(part) } else { self.term(part, outer) };
        match term {
            Term::Symbol(symbol) => self.symbol(*symbol),
            Term::Set(_) => String::new(),
            Term::Sequence(parts) => parts.iter().map(within).collect::<Vec<_>>().join(" "),
            Term::Choice(parts) => parts.iter().map(|part| self.term(part, outer)).collect::<Vec<_>>().join(" | "),
            Term::Optional(part) => group(part) + "?",
            Term::Star(part) => group(part) + "*",
            Term::Plus(part) => group(part) + "+",
            Term::List(item, between) => {
                let item = group(item);
                format!("{item} ({} {item})*", within(between))
            }
        }
    }

    fn symbol(&self, symbol: usize) -> String {
        match &self.net.labels[symbol] {
            Label::Token(token) => {
                let token = &self.net.tokens[*token];
                if token.is_literal { shown(&token.sample) } else { token.name.clone() }
            }
            Label::Whole => self.rules.all[self.rules.start].name.clone(),
            Label::Call(..) => {
                self.rules.calls.get(&symbol).map_or(String::new(), |&rule| self.rules.all[rule].name.clone())
            }
        }
    }

    /// Returns a shortest text of each rule.
    fn samples(&self) -> BTreeMap<usize, String> {
        let mut samples: BTreeMap<usize, String> = BTreeMap::new();
        loop {
            let mut changed = false;
            for (rule, own) in self.rules.all.iter().enumerate() {
                for body in &own.bodies {
                    let texts = body.iter().map(|item| match item {
                        Item::Token(token) => Some(self.net.tokens[*token].sample.as_str()),
                        Item::Rule(rule) => samples.get(rule).map(String::as_str),
                    });
                    let Some(texts) = texts.collect::<Option<Vec<&str>>>() else { continue };
                    let text = self.join(&texts);
                    let known = samples.get(&rule);
                    if known.is_none_or(|known| (text.len(), &text) < (known.len(), known)) {
                        samples.insert(rule, text);
                        changed = true;
                    }
                }
            }
            if !changed {
                return samples;
            }
        }
    }

    /// Joins the texts of tokens, with a space between words if one may be skipped.
    fn join(&self, texts: &[&str]) -> String {
        let is_word = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let skips = !self.net.skipped.is_empty() || self.net.tokens.iter().any(|token| token.pattern.is_none());
        let mut out = String::new();
        for text in texts {
            if skips && is_word(out.chars().last()) && is_word(text.chars().next()) {
                out.push(' ');
            }
            out.push_str(text);
        }
        out
    }
}

/// Returns a text between quotes, on one line.
fn shown(text: &str) -> String {
    format!("{text:?}")
}

/// Returns a regular expression as people write it, without the escapes that only a lexer needs.
fn plain(pattern: &str) -> String {
    let (mut out, mut letters, mut is_set) = (String::new(), pattern.chars().peekable(), false);
    while let Some(letter) = letters.next() {
        if let ('\\', Some(&next)) = (letter, letters.peek()) {
            letters.next();
            let needed = if is_set { "\\]^-[" } else { "\\.[]()*+?{}|^$/" };
            if next.is_ascii_alphanumeric() || needed.contains(next) {
                out.push('\\');
            }
            out.push(next);
        } else {
            is_set = if is_set { letter != ']' } else { letter == '[' };
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_that_only_a_lexer_needs_are_left_out() {
        assert_eq!(plain("\\-?(0|[1-9][0-9]*)(\\.[0-9]+)?"), "-?(0|[1-9][0-9]*)(\\.[0-9]+)?");
        assert_eq!(plain("\\\"[^\\\"\\\\\\]\\-]*\\\""), "\"[^\"\\\\\\]\\-]*\"");
        assert_eq!(plain("\\x20\\n"), "\\x20\\n");
        assert_eq!(shown("a\n\"b\""), "\"a\\n\\\"b\\\"\"");
    }
}
