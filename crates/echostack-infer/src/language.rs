//! The inferred language as a grammar with a lexer, checked against the automaton over characters.

use echostack::language::Language as _;
use echostack::{Oracle, Recognizer, Verdict};
use echostack_grammar::{Encoding, Grammar, GrammarError, Lexer, Subject};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::contract::{Contracted, contract, keep_symbols};
use crate::draw::mutate;
use crate::export::{Files, write};
use crate::hypothesis::Hypothesis;

/// The number of texts, and as many near misses, on which the grammar is compared with the automaton over characters.
const COMPARED: usize = 1000;
/// The length of the longest texts, in characters.
const LONGEST: usize = 60;

/// An inferred language: a grammar and a lexer.
#[derive(Debug)]
pub struct Language {
    files: Files,
    lexer: Lexer,
    oracle: Oracle,
    has_tokens: bool,
    states: usize,
}

impl Language {
    /// Returns the grammar of a hypothesis. The states within tokens are contracted. If that is not possible, the tokens
    /// are classes of characters. An empty language has no grammar.
    pub(crate) fn of(hypothesis: &Hypothesis, examples: &[String], comment: &str) -> Option<Self> {
        if hypothesis.is_empty() {
            return None;
        }
        let (automaton, symbols) = (&hypothesis.automaton, &hypothesis.symbols);
        let contracted = contract(automaton, symbols).ok();
        let contracted = contracted.and_then(|contracted| Self::new(&contracted, comment, true));
        let contracted = contracted.filter(|language| language.agrees_with(hypothesis, examples));
        contracted.or_else(|| Self::new(&keep_symbols(automaton, symbols), comment, false))
    }

    fn new(contracted: &Contracted, comment: &str, has_tokens: bool) -> Option<Self> {
        let files = write(contracted, comment);
        let grammar = Grammar::new("inferred", &files.grammar, Encoding::Auto).ok()?;
        let lexer = Lexer::new(&files.lexer).ok()?;
        let oracle = Oracle::strict(grammar.automaton().clone()).ok()?;
        Some(Self { files, lexer, oracle, has_tokens, states: contracted.moves.len() })
    }

    /// Returns whether the grammar and the automaton over characters judge many texts alike.
    fn agrees_with(&self, hypothesis: &Hypothesis, examples: &[String]) -> bool {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let letters: Vec<char> = examples.iter().flat_map(|text| text.chars()).collect();
        let spelled: Vec<Vec<char>> = examples.iter().map(|text| text.chars().collect()).collect();
        let sizes: Vec<usize> = (0..COMPARED).map(|_| random.random_range(1..=LONGEST)).collect();
        let drawn = hypothesis.draw(&sizes, &mut random);
        let near: Vec<String> = drawn
            .iter()
            .map(|drawn| {
                let from: Vec<char> = match spelled.choose(&mut random) {
                    Some(example) if random.random_bool(0.3) => example.clone(),
                    _ => drawn.chars().collect(),
                };
                mutate(&from, &letters, &spelled, &mut random).into_iter().collect()
            })
            .collect();
        let mut texts = examples.iter().chain(&drawn).chain(&near);
        texts.all(|text| self.accepts(text) == hypothesis.accepts(text))
    }

    /// Returns whether a text is in the language.
    pub fn accepts(&self, text: &str) -> bool {
        let (tokens, fault) = self.lexer.tokens(text);
        if fault.is_some() {
            return false;
        }
        let word = self.oracle.automaton().alphabet().word(tokens.iter().map(|token| token.name));
        word.is_ok_and(|word| self.oracle.judge(&word) == Verdict::Accept)
    }

    /// Returns whether a text is read as these tokens, by their numbers in [`Files::tokens`].
    pub(crate) fn reads_as(&self, text: &str, tokens: &[usize]) -> bool {
        let (found, fault) = self.lexer.tokens(text);
        fault.is_none() && found.iter().map(|token| token.name).eq(tokens.iter().map(|&at| &*self.files.tokens[at].0))
    }

    /// Returns the grammar and the lexer as texts.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Returns whether the tokens are more than classes of characters.
    pub fn has_tokens(&self) -> bool {
        self.has_tokens
    }

    /// Returns the number of states of the automaton over tokens.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Returns the subject that machines are made for, under a name.
    ///
    /// # Errors
    /// If the grammar cannot be used, which is an error in this crate.
    pub fn subject(&self, name: &str) -> Result<Subject, GrammarError> {
        let grammar = Grammar::new(name, &self.files.grammar, Encoding::Auto)?;
        Ok(Subject::of_grammar(grammar, Lexer::new(&self.files.lexer).ok()))
    }
}
