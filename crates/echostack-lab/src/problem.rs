//! What models are compared on: the paper's tasks, and any grammar.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use echostack::UnknownName;
use echostack::tasks::{Split, Task};
use echostack::{Alphabet, Language, Oracle, Trace, WordKind, examples};
use echostack_grammar::{Encoding, Grammar, GrammarError};
use rand_chacha::ChaCha8Rng;

use crate::spec::{Kind, TestSet};

/// A task that models are taught and tested on.
#[derive(Clone)]
pub struct Problem {
    name: String,
    task: Option<Task>,
    language: Option<Arc<dyn Language>>,
    alphabet: Arc<Alphabet>,
}

/// Why a name stands for no problem.
#[derive(Debug, thiserror::Error)]
pub enum ProblemError {
    /// It is no task's.
    #[error(transparent)]
    Task(#[from] UnknownName),
    /// The grammar is of no use.
    #[error("could not use the grammar {path}: {error}")]
    Grammar {
        /// Where it is.
        path: String,
        /// Why.
        error: GrammarError,
    },
}

impl Problem {
    /// What a name stands for: one of the paper's tasks, or `grammar:PATH`, a grammar in Yacc's syntax.
    ///
    /// # Errors
    /// If it is neither.
    pub fn named(name: &str) -> Result<Self, ProblemError> {
        let Some(path) = name.strip_prefix("grammar:") else {
            let task: Task = name.parse()?;
            return Ok(task.into());
        };
        let opened = Grammar::open(Path::new(path), Encoding::Auto);
        let (grammar, _) = opened.map_err(|error| ProblemError::Grammar { path: path.to_string(), error })?;
        let language: Arc<dyn Language> = Arc::new(grammar);
        let alphabet = language.automaton().alphabet().clone();
        Ok(Self { name: name.to_string(), task: None, language: Some(language), alphabet })
    }

    /// Its name in specifications and records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The task of the paper, if it is one.
    pub fn task(&self) -> Option<Task> {
        self.task
    }

    /// Whether its words are symbols and its outputs 0 or 1; else both are vectors.
    pub fn is_language(&self) -> bool {
        self.language.is_some()
    }

    /// The symbols.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// The words of a training set, of which a part may be wrong: near misses and random words, half each.
    pub(crate) fn training(&self, words: usize, negatives: f64, data: u64) -> Vec<Trace> {
        match (self.task, &self.language) {
            (Some(task), language) if negatives == 0. || language.is_none() => task.examples(Split::Train, words, data),
            _ => {
                let mut random = Split::Train.generator(data);
                let shares = WordKind::shares(words, negatives).into_iter();
                shares.flat_map(|(kind, count)| self.drawn(kind, Split::Train.lengths(), count, &mut random)).collect()
            }
        }
    }

    /// The words of a test set; none if there are not so many: tasks that are no languages have the paper's examples only, and
    /// long words of a grammar are not drawn.
    pub(crate) fn testing(&self, test: &TestSet, data: u64) -> Option<Vec<Trace>> {
        let lengths = test.lengths.0..=test.lengths.1;
        let paper = test.kind == Kind::Valid && lengths == Split::Test.lengths();
        let words = match self.task {
            Some(task) if paper => Some(task.examples(Split::Test, test.words, data)),
            _ if self.is_language() => {
                Some(self.drawn(test.kind.into(), lengths, test.words, &mut Split::Test.generator(data)))
            }
            _ => None,
        };
        words.filter(|words| words.len() == test.words)
    }

    /// Words of one kind with what the tolerant automaton does on them.
    fn drawn(
        &self,
        kind: WordKind,
        lengths: RangeInclusive<usize>,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Vec<Trace> {
        let Some(language) = &self.language else { return Vec::new() };
        let oracle = Arc::new(Oracle::tolerant(language.automaton().clone()));
        examples(&**language, &oracle, kind, lengths, count, random)
    }
}

impl From<Task> for Problem {
    fn from(task: Task) -> Self {
        Self { name: task.name().into(), task: Some(task), language: task.language(), alphabet: task.alphabet() }
    }
}
