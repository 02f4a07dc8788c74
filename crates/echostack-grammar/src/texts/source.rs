//! Where texts come from: a grammar with its lexer, which words are drawn from, spelled with and checked by.

use std::collections::HashMap;
use std::sync::OnceLock;

use echostack::language::Language;
use echostack::{Oracle, Recognizer, SymbolId, Verdict, Word};
use rand_chacha::ChaCha8Rng;

use super::draw::Derivations;
use super::spell::Speller;
use super::tree::Tree;
use crate::grammar::Grammar;
use crate::judge::{Fault, FaultKind};
use crate::lex::lexer::Lexer;
use crate::lex::tokenizer::{Lexeme, Tokens};
use crate::lr::table::LrTable;

/// The maximum length of the text of a token in a fault, in characters.
const MAX_TOKEN: usize = 60;

/// A grammar with its lexer. Without a lexer, a text consists of the names of tokens, with a blank between them.
pub(super) struct Source<'a> {
    grammar: &'a Grammar,
    pub(super) table: &'a LrTable,
    pub(super) derivations: Derivations<'a>,
    speller: Option<Speller<'a>>,
    /// The terminal with each name.
    terminals: HashMap<&'a str, usize>,
    /// Rejects a token after which no word is possible, even if the resolution of conflicts is the reason. The table
    /// would go on reading.
    oracle: OnceLock<Option<Oracle>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(grammar: &'a Grammar, lexer: Option<&'a Lexer>) -> Self {
        let table = grammar.table();
        let speller = lexer.map(|lexer| Speller::new(table, lexer));
        let produces = |terminal| speller.as_ref().is_none_or(|speller| speller.produces(terminal));
        let derivations = Derivations::new(table, produces);
        let terminals = table.names[..table.terminals].iter().map(String::as_str).zip(0..).collect();
        Self { grammar, table, derivations, speller, terminals, oracle: OnceLock::new() }
    }

    /// Draws a word of about as many tokens as the budget says, and of at most as many as `most` says. Returns `None`
    /// if the resolution of conflicts forbids the one that was drawn, or if there are none.
    pub(super) fn word(&self, random: &mut ChaCha8Rng, budget: usize, most: usize) -> Option<Vec<usize>> {
        let word = self.derivations.draw(random, budget, most, &[], &|_, _| false)?;
        (!self.table.has_resolutions || self.table.accepts(&word)).then_some(word)
    }

    /// Spells a word as a text that is split into the same tokens again, if one is found.
    pub(super) fn spell(&mut self, random: &mut ChaCha8Rng, word: &[usize]) -> Option<String> {
        if let Some(speller) = &mut self.speller {
            return speller.spell(random, self.table, word);
        }
        let names: Vec<&str> = word.iter().map(|&token| self.table.names[token].as_str()).collect();
        Some(names.join(" ")).filter(|text| self.is_spelled(text, word))
    }

    /// Returns whether a text is split into the tokens of a word.
    pub(super) fn is_spelled(&self, text: &str, word: &[usize]) -> bool {
        match &self.speller {
            Some(speller) => speller.is_spelled(self.table, text, word),
            None => self.word_of(text).is_some_and(|(own, _)| own == word),
        }
    }

    /// Splits a text into tokens.
    pub(super) fn tokens<'t>(&'t self, text: &'t str) -> Tokens<'t> {
        if let Some(speller) = &self.speller {
            return speller.lexer().tokens(text);
        }
        let mut start = 0;
        let one = |name: &'t str| {
            let lexeme = Lexeme { name, start, end: start + name.len() };
            start = lexeme.end + 1;
            lexeme
        };
        (if text.is_empty() { Vec::new() } else { text.split(' ').map(one).collect() }, None)
    }

    /// Returns the terminals of a text, and its tokens. Returns `None` if not all of it consists of terminals.
    pub(super) fn word_of<'t>(&'t self, text: &'t str) -> Option<(Vec<usize>, Vec<Lexeme<'t>>)> {
        let (tokens, fault) = self.tokens(text);
        let word = tokens.iter().map(|token| self.terminals.get(token.name).copied()).collect::<Option<_>>()?;
        fault.is_none().then_some((word, tokens))
    }

    /// Returns the parse tree of a text, with the terminals and the tokens; `None` if the text is not valid.
    pub(super) fn parse<'t>(&'t self, text: &'t str) -> Option<(Tree, Vec<usize>, Vec<Lexeme<'t>>)> {
        let (word, tokens) = self.word_of(text)?;
        Some((Tree::parse(self.table, &word).ok()?, word, tokens))
    }

    /// Finds the first mistake of a text: the token after which no valid text is possible.
    pub(super) fn fault(&self, text: &str) -> Option<Fault> {
        let (tokens, fault) = self.tokens(text);
        let word: Vec<Option<usize>> = tokens.iter().map(|token| self.terminals.get(token.name).copied()).collect();
        let (read, accepted) = self.read(&word);
        if let Some(token) = tokens.get(read) {
            let own = text[token.start..token.end].chars().take(MAX_TOKEN).collect();
            let kind = FaultKind::Token { name: token.name.to_string(), text: own };
            return Some(Fault::new(text, token.start, kind));
        }
        if let Some(fault) = fault {
            let byte = fault.byte() as usize;
            return Some(Fault::new(text, byte, FaultKind::of(fault, text.get(byte..).unwrap_or_default())));
        }
        (!accepted).then(|| Fault::new(text, text.trim_end().len(), FaultKind::End))
    }

    /// Returns how many tokens are read before one is refused, and whether all of them are a word.
    fn read(&self, word: &[Option<usize>]) -> (usize, bool) {
        let strict = || Oracle::strict(self.grammar.automaton().clone()).ok();
        let oracle = self.table.has_resolutions.then(|| self.oracle.get_or_init(strict).as_ref()).flatten();
        if let Some(oracle) = oracle {
            let symbol = |token: &Option<usize>| token.map_or(SymbolId::UNKNOWN, SymbolId::new);
            return match oracle.judge(&Word::Symbols(word.iter().map(symbol).collect())) {
                Verdict::Accept => (word.len(), true),
                Verdict::Incomplete { .. } => (word.len(), false),
                Verdict::Reject { position, .. } | Verdict::Stopped { position, .. } => (position as usize, false),
            };
        }
        let mut stack = vec![0];
        let mut reads = |lookahead| self.table.read(&mut stack, lookahead, &mut |_| {});
        let refused = word.iter().position(|token| !token.is_some_and(&mut reads));
        refused.map_or_else(|| (word.len(), reads(self.table.terminals)), |refused| (refused, false))
    }

    /// Draws a string for a terminal alone.
    pub(super) fn string(&mut self, random: &mut ChaCha8Rng, terminal: usize) -> Option<String> {
        match &mut self.speller {
            Some(speller) => speller.string(random, terminal),
            None => Some(self.table.names[terminal].clone()),
        }
    }

    /// Returns what separates tokens: nothing, if nothing is known to.
    pub(super) fn blank(&self) -> &'static str {
        self.speller.as_ref().map_or(" ", |speller| speller.blank().unwrap_or_default())
    }

    /// Returns whether characters, and not only tokens, can be edited.
    pub(super) fn has_lexer(&self) -> bool {
        self.speller.is_some()
    }
}
