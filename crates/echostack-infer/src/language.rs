//! The inferred language as a grammar with a lexer, checked against the automaton over characters.

use echostack::language::Language as _;
use echostack::{Oracle, Recognizer, Verdict};
use echostack_grammar::{Encoding, Grammar, Lexer, Subject};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::contract::{Contracted, contract, keep_symbols};
use crate::draw::mutate;
use crate::export::{Files, write};
use crate::infer::Inferred;

/// The number of texts, and as many near misses, on which the grammar is compared with the automaton over characters.
const COMPARED: usize = 1000;
/// The length of the longest texts, in characters.
const LONGEST: usize = 60;

/// The reason why there is no grammar.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LanguageError {
    /// No text is accepted.
    #[error("the language that was inferred so far is empty")]
    Empty,
    /// The grammar or the lexer is not accepted. This is an error in this crate.
    #[error("the inferred grammar cannot be used: {0}; this is a bug")]
    Unusable(String),
}

/// An inferred language: a grammar and a lexer.
#[derive(Debug)]
pub struct Language {
    files: Files,
    grammar: Grammar,
    lexer: Lexer,
    oracle: Oracle,
    has_tokens: bool,
    states: usize,
}

impl Inferred {
    /// Returns the language as a grammar with a lexer. The states within tokens are contracted. If that is not possible,
    /// the tokens are classes of characters.
    ///
    /// # Errors
    /// If no text is accepted.
    pub fn language(&self) -> Result<Language, LanguageError> {
        if self.automaton.live.first().is_none_or(|live| live.intersection(&self.automaton.accepting).next().is_none())
        {
            return Err(LanguageError::Empty);
        }
        if let Ok(contracted) = contract(&self.automaton, &self.symbols)
            && let Ok(language) = Language::new(self, &contracted, true)
            && language.agrees_with(self)
        {
            return Ok(language);
        }
        Language::new(self, &keep_symbols(&self.automaton, &self.symbols), false).map_err(LanguageError::Unusable)
    }
}

impl Language {
    fn new(inferred: &Inferred, contracted: &Contracted, has_tokens: bool) -> Result<Self, String> {
        let comment =
            format!("Inferred from {} examples and {} queries.", inferred.examples().len(), inferred.queries());
        let files = write(contracted, &comment);
        let grammar = Grammar::new("inferred", &files.grammar, Encoding::Auto).map_err(|error| error.to_string())?;
        let lexer = Lexer::new(&files.lexer).map_err(|error| error.to_string())?;
        let oracle = Oracle::strict(grammar.automaton().clone()).map_err(|error| error.to_string())?;
        Ok(Self { files, grammar, lexer, oracle, has_tokens, states: contracted.moves.len() })
    }

    /// Returns whether the grammar and the automaton over characters judge many texts alike.
    fn agrees_with(&self, inferred: &Inferred) -> bool {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let letters: Vec<char> = inferred.examples().iter().flat_map(|text| text.chars()).collect();
        let examples: Vec<Vec<char>> = inferred.examples().iter().map(|text| text.chars().collect()).collect();
        let same = |text: &str| self.accepts(text) == inferred.accepts(text);
        if !inferred.examples().iter().all(|text| same(text)) {
            return false;
        }
        (0..COMPARED).all(|_| {
            let size = random.random_range(1..=LONGEST);
            let drawn = inferred.draw(size, &mut random).unwrap_or_default();
            let from: Vec<char> = match examples.choose(&mut random) {
                Some(example) if random.random_bool(0.3) => example.clone(),
                _ => drawn.chars().collect(),
            };
            let near: String = mutate(&from, &letters, &examples, &mut random).into_iter().collect();
            same(&drawn) && same(&near)
        })
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

    /// Returns the subject that machines are made for.
    pub fn into_subject(self) -> Subject {
        Subject::of_grammar(self.grammar, Some(self.lexer))
    }
}
