//! Names that somebody gave: those of tokens and rules that have the same texts in another grammar.

use std::collections::BTreeMap;

use echostack::spelling::Names;
use echostack_grammar::{Encoding, Equality, Grammar, Lexer, Subject, equality};

use super::Readable;
use super::forms::Forms;
use super::work::Work;

/// The most names of each kind that are compared.
const MAX_NAMES: usize = 60;

impl Readable {
    /// Takes the names of another grammar for tokens and rules that have the same texts there. A lexer that was given keeps
    /// its names.
    pub(crate) fn name_after(&mut self, other: &Subject) {
        let Some(grammar) = other.grammar() else { return };
        let Some(lexer) = other.lexer() else { return };
        let work = Work::default();
        let terminals = grammar.table().terminals();
        let names = grammar.table().names();
        let token_names =
            |names: &[String]| names.iter().map(|name| (name.clone(), of_token(name))).collect::<Vec<_>>();
        let rule_names = |names: &[String], text: &str| {
            names.iter().map(|name| (name.clone(), of_rule(name, text))).collect::<Vec<_>>()
        };
        let own_tokens: Vec<String> = self.net.tokens.iter().map(|token| token.name.clone()).collect();
        let own_rules: Vec<String> = self.rules.all.iter().map(|rule| rule.name.clone()).collect();
        let lexers = (&*self.files.lexer, lexer.source());
        let mut tokens = BTreeMap::new();
        if self.net.tokens.iter().all(|token| token.pattern.is_some()) {
            tokens = same(token_names(&own_tokens), token_names(&names[..terminals]), lexers, &work);
        }
        let rules = same(
            rule_names(&own_rules, &self.files.grammar),
            rule_names(&names[terminals..], grammar.source()),
            lexers,
            &work,
        );
        // Given names come first, so that the others are the ones that are numbered.
        let mut taken = Names::numbered("_");
        let given: BTreeMap<&String, String> =
            tokens.iter().chain(&rules).map(|(own, name)| (own, taken.take(name))).collect();
        let mut name = |own: &mut String| *own = given.get(own).cloned().unwrap_or_else(|| taken.take(own));
        self.net.tokens.iter_mut().for_each(|token| name(&mut token.name));
        self.rules.all.iter_mut().for_each(|rule| name(&mut rule.name));
        let is_given = self.net.tokens.iter().any(|token| token.pattern.is_none());
        let forms = Forms { net: &self.net, rules: &self.rules, traps: &self.traps };
        self.files = forms.files(is_given.then_some(&*self.files.lexer), &self.comment);
    }
}

/// Returns a grammar of one token.
fn of_token(name: &str) -> String {
    format!("%start Text\n%%\nText: '{name}';\n")
}

/// Returns a grammar that begins with another rule.
fn of_rule(name: &str, grammar: &str) -> String {
    let others = grammar.lines().filter(|line| !line.starts_with("%start "));
    std::iter::once(format!("%start {name}")).chain(others.map(str::to_string)).collect::<Vec<_>>().join("\n") + "\n"
}

/// Returns the other name for each name whose grammar has the same texts as another one that no other name has taken.
fn same(
    own: Vec<(String, String)>,
    others: Vec<(String, String)>,
    (lexer, other_lexer): (&str, &str),
    work: &Work,
) -> BTreeMap<String, String> {
    let subjects = |all: Vec<(String, String)>, lexer: &str| -> Vec<(String, Subject)> {
        let subject = |(name, text): (String, String)| {
            let grammar = Grammar::new("named", &text, Encoding::Auto).ok()?;
            Some((name, Subject::of_grammar(grammar, Lexer::new(lexer).ok())))
        };
        all.into_iter().take(MAX_NAMES).filter_map(subject).collect()
    };
    let mut others = subjects(others, other_lexer);
    let mut found = BTreeMap::new();
    for (name, own) in subjects(own, lexer) {
        let is_same = |(_, other): &(String, Subject)| equality(&own, other, work) == Equality::Equal;
        if let Some(at) = others.iter().position(is_same) {
            found.insert(name, others.remove(at).0);
        }
    }
    found
}
