//! The inferred language as a grammar with a lexer, checked against the automaton over characters.

use std::collections::{BTreeSet, HashSet};

use echostack::automaton::WordGrammar;
use echostack::language::Language as _;
use echostack::{Oracle, Recognizer, Verdict};
use echostack_grammar::{Encoding, Grammar, GrammarError, GrammarLimits, Lexer, Subject, TextParams, TextSampler};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::contract::{Contracted, contract, keep_symbols};
use super::export::{Files, write, write_words};
use super::readable::{Attempt, Readable, readable};
use crate::learn::hypothesis::{Hypothesis, Model};
use crate::learn::reductions::Reductions;
use crate::test::edits::Edits;
use crate::text::symbols::Symbols;

/// The number of texts, and as many near misses, on which the grammar is compared with the automaton over characters.
const COMPARED: usize = 1000;
/// The most states of the LR(1) table: the square root of the most transitions between stacks.
const MAX_STATES: u64 = 5792;
/// How many texts are drawn at most for each different one.
const AGAIN: usize = 10;
/// The length of the longest texts, in characters.
const LONGEST: usize = 60;

/// The reason why a hypothesis has no grammar.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoGrammar {
    #[error("no text is in the language")]
    Empty,
    #[error("no grammar was found in which every text has one structure")]
    Ambiguous,
    #[error("the grammar that was found is too large to be used: {0}")]
    TooLarge(String),
}

/// How much there is to read in a grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrammarSize {
    /// The number of rules.
    pub rules: usize,
    /// The number of productions: the alternatives of all rules.
    pub productions: usize,
    /// The number of symbols on both sides of the rules.
    pub symbols: usize,
}

impl GrammarSize {
    fn of(grammar: &Grammar) -> Self {
        let productions = grammar.table().productions();
        let rules: BTreeSet<usize> = productions.iter().map(|production| production.left).collect();
        let symbols = rules.len() + productions.iter().map(|production| production.right.len()).sum::<usize>();
        Self { rules: rules.len(), productions: productions.len(), symbols }
    }
}

/// An inferred language: a grammar and a lexer.
#[derive(Debug)]
pub struct InferredGrammar {
    files: Files,
    lexer: Lexer,
    oracle: Oracle,
    has_tokens: bool,
    size: GrammarSize,
    refused: Vec<String>,
    readable: Option<Readable>,
}

impl InferredGrammar {
    /// Returns the grammar of a hypothesis, as people would write it if that is shown to be the same language. Otherwise,
    /// the grammar is the automaton, with the states within tokens contracted. If that is not possible, the tokens are
    /// classes of characters. An empty language has no grammar.
    pub(crate) fn of(hypothesis: &Hypothesis, examples: &[String], comment: &str) -> Result<Self, NoGrammar> {
        Self::written(hypothesis, examples, comment, true)
    }

    /// Returns the grammar as the automaton, which is found faster than one that people would write.
    pub(crate) fn plain(hypothesis: &Hypothesis, examples: &[String], comment: &str) -> Result<Self, NoGrammar> {
        Self::written(hypothesis, examples, comment, false)
    }

    fn written(
        hypothesis: &Hypothesis,
        examples: &[String],
        comment: &str,
        for_people: bool,
    ) -> Result<Self, NoGrammar> {
        if hypothesis.is_empty() {
            return Err(NoGrammar::Empty);
        }
        let symbols = &hypothesis.symbols;
        let automaton = match &hypothesis.model {
            Model::Modules(automaton) => automaton,
            Model::Reductions(reductions) => return Self::of_reductions(reductions, symbols, comment),
        };
        let given = symbols.lexer().is_some();
        // The parser of all characters is large, so it is made only if it is needed.
        let exact = || Self::new(&keep_symbols(automaton, symbols), symbols, comment, given);
        let mut attempt = Attempt::default();
        if for_people && let Ok(Ok(exact)) = exact().map(|exact| exact.subject("inferred")) {
            attempt = readable(automaton, symbols, &exact, comment);
        }
        if let Some(readable) = attempt.found {
            let language = Self::of_files(readable.files.clone(), true)?;
            return Ok(Self { refused: attempt.refused, readable: Some(readable), ..language });
        }
        let contracted = if given { None } else { contract(automaton, symbols).ok() };
        let contracted = contracted.and_then(|contracted| Self::new(&contracted, symbols, comment, true).ok());
        let language =
            contracted.filter(|language| language.agrees_with(hypothesis, examples)).map_or_else(exact, Ok)?;
        Ok(Self { refused: attempt.refused, ..language })
    }

    /// Returns the grammar of reductions, if there is one in which every text has one structure.
    fn of_reductions(reductions: &Reductions, symbols: &Symbols, comment: &str) -> Result<Self, NoGrammar> {
        let automaton = reductions.automaton(symbols).ok_or(NoGrammar::Ambiguous)?;
        let oracle = Oracle::strict(automaton).map_err(|_| NoGrammar::Ambiguous)?;
        let words = WordGrammar::new(&oracle).map_err(|_| NoGrammar::Ambiguous)?;
        let grammar = write_words(&words, oracle.alphabet(), comment);
        let files = Files::over_given(symbols, grammar).ok_or(NoGrammar::Ambiguous)?;
        Self::of_files(files, true)
    }

    fn new(contracted: &Contracted, symbols: &Symbols, comment: &str, has_tokens: bool) -> Result<Self, NoGrammar> {
        Self::of_files(write(contracted, symbols, comment), has_tokens)
    }

    fn of_files(files: Files, has_tokens: bool) -> Result<Self, NoGrammar> {
        // With more states, the viable stacks would have too many transitions, and finding that out takes long.
        let limits = GrammarLimits { states: MAX_STATES, ..GrammarLimits::default() };
        let grammar = Grammar::new_within("inferred", &files.grammar, Encoding::Auto, &limits);
        let grammar = grammar.map_err(|error| match error {
            GrammarError::Limit { .. } => NoGrammar::TooLarge(error.to_string()),
            _ => NoGrammar::Ambiguous,
        })?;
        let lexer = Lexer::new(&files.lexer).map_err(|error| NoGrammar::TooLarge(error.to_string()))?;
        let oracle =
            Oracle::strict(grammar.automaton().clone()).map_err(|error| NoGrammar::TooLarge(error.to_string()))?;
        Ok(Self {
            size: GrammarSize::of(&grammar),
            files,
            lexer,
            oracle,
            has_tokens,
            refused: Vec::new(),
            readable: None,
        })
    }

    /// Takes the names of another grammar for tokens and rules that have the same texts there, if the grammar is one that
    /// people would write. Lexers that were given keep their names.
    pub(crate) fn name_after(&mut self, other: &Subject) {
        let Some(mut readable) = self.readable.clone() else { return };
        readable.name_after(other);
        if let Ok(language) = Self::of_files(readable.files.clone(), self.has_tokens) {
            *self = Self { refused: std::mem::take(&mut self.refused), readable: Some(readable), ..language };
        }
    }

    /// Returns whether the grammar and the automaton over characters judge many texts alike.
    fn agrees_with(&self, hypothesis: &Hypothesis, examples: &[String]) -> bool {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let sizes: Vec<usize> = (0..COMPARED).map(|_| random.random_range(1..=LONGEST)).collect();
        let drawn = hypothesis.draw(&sizes, &mut random);
        let near = Edits::new(examples, &hypothesis.symbols);
        let near: Vec<String> = drawn
            .iter()
            .map(|drawn| {
                let from = examples.choose(&mut random).filter(|_| random.random_bool(0.3)).unwrap_or(drawn);
                near.edit(from, &mut random)
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

    /// Draws texts from the rules of the grammar and of the lexer, independently of each other, until there are `count`
    /// different ones: what is drawn again costs nothing. If the language is small, there can be fewer.
    pub(crate) fn sample(&self, count: usize, seed: u64) -> Vec<String> {
        let Ok(grammar) = Grammar::new("inferred", &self.files.grammar, Encoding::Auto) else { return Vec::new() };
        let params = TextParams { distinct: false, seed, ..TextParams::default() };
        let sampler = TextSampler::new(&grammar, Some(&self.lexer), params);
        let (mut drawn, mut different) = (Vec::new(), HashSet::new());
        for text in sampler.take(AGAIN * count) {
            if different.len() == count {
                break;
            }
            different.insert(text.text.clone());
            drawn.push(text.text);
        }
        drawn
    }

    /// Returns the grammar and the lexer as texts.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Returns whether the tokens are more than classes of characters.
    pub fn has_tokens(&self) -> bool {
        self.has_tokens
    }

    /// Returns the readable forms that were proposed and refused, with the reasons. A grammar that has one of these forms
    /// was decided to be the same language as the automaton, on texts of all lengths.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    /// Returns how much there is to read in the grammar.
    pub fn size(&self) -> GrammarSize {
        self.size
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LISTS, lists, lists_learned, texts};

    /// The text of the grammar, not the automaton that it was written from.
    #[test]
    fn the_grammar_has_the_texts_of_the_hypothesis() {
        let (hypothesis, _) = lists_learned();
        let examples = ["[x,x]".to_string()];
        let language = InferredGrammar::of(&hypothesis, &examples, "A comment.").unwrap();
        assert!(language.has_tokens() && language.files().grammar.starts_with("// A comment.\n"));
        for text in texts(LISTS, 6) {
            assert_eq!(language.accepts(&text), lists(&text), "{text:?}");
        }
        assert!(!language.accepts("y"));
        assert!(language.sample(100, 0).iter().all(|text| lists(text)));
        let drawn = language.sample(100, 1);
        assert!(drawn.len() >= 100 && drawn.iter().collect::<HashSet<_>>().len() == 100);
        let subject = language.subject("lists").unwrap();
        assert_eq!(subject.name(), "lists");
        assert!(matches!(InferredGrammar::of(&Hypothesis::default(), &examples, ""), Err(NoGrammar::Empty)));
    }

    #[test]
    fn texts_are_read_as_tokens() {
        let (hypothesis, _) = lists_learned();
        let language = InferredGrammar::of(&hypothesis, &[], "").unwrap();
        let number = |text: &str| language.files().tokens.iter().position(|(_, own)| own == text).unwrap();
        assert!(language.reads_as("[x", &[number("["), number("x")]));
        assert!(!language.reads_as("[x", &[number("[")]) && !language.reads_as("y", &[number("x")]));
    }
}
