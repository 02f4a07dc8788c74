//! The problems that models are compared on: the paper's tasks, and any grammar.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use echostack::language::{WordKind, examples};
use echostack::tasks::{Split, Task};
use echostack::{Alphabet, Oracle, Trace};
use echostack_grammar::{Encoding, Subject, SubjectError};
use rand_chacha::ChaCha8Rng;

use crate::test_set::TestSet;

/// A task or a grammar that models are trained and tested on.
#[derive(Clone, Debug)]
pub struct Problem {
    name: String,
    subject: Arc<Subject>,
}

impl Problem {
    /// Opens the problem that a name stands for: one of the paper's tasks, or `grammar:PATH` for a grammar in Yacc
    /// syntax.
    ///
    /// # Errors
    /// If there is no such task, or if the grammar cannot be used.
    pub fn named(name: &str) -> Result<Self, SubjectError> {
        let Some(path) = name.strip_prefix("grammar:") else {
            let task: Task = name.parse()?;
            return Ok(task.into());
        };
        let subject = Subject::open_grammar(Path::new(path), Encoding::Auto)?;
        Ok(Self { name: name.to_string(), subject: Arc::new(subject) })
    }

    /// Returns the name in specifications and records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the task, if the problem is one of the paper's tasks.
    pub fn task(&self) -> Option<Task> {
        self.subject.task()
    }

    /// Returns whether words consist of symbols and outputs are 0 or 1. Otherwise, both are vectors.
    pub fn is_language(&self) -> bool {
        self.subject.language().is_some()
    }

    /// Returns the symbols.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        self.subject.alphabet()
    }

    /// Draws the words of a training set. A fraction of the words may be invalid: half of these are near misses, and
    /// half are random words.
    pub(crate) fn training(&self, words: usize, negatives: f64, data: u64) -> Vec<Trace> {
        match (self.task(), self.subject.language()) {
            (Some(task), language) if negatives == 0. || language.is_none() => task.examples(Split::Train, words, data),
            _ => {
                let mut random = Split::Train.generator(data);
                let shares = WordKind::shares(words, negatives).into_iter();
                shares.flat_map(|(kind, count)| self.drawn(kind, Split::Train.lengths(), count, &mut random)).collect()
            }
        }
    }

    /// Draws the words of a test set. Returns `None` if there are not enough words: tasks that are not languages have
    /// only the paper's examples, and long words of a grammar are not drawn.
    pub(crate) fn testing(&self, test: &TestSet, data: u64) -> Option<Vec<Trace>> {
        let lengths = test.lengths.0..=test.lengths.1;
        let paper = test.kind == WordKind::Valid && lengths == Split::Test.lengths();
        let words = match self.task() {
            Some(task) if paper => Some(task.examples(Split::Test, test.words, data)),
            _ if self.is_language() => {
                Some(self.drawn(test.kind, lengths, test.words, &mut Split::Test.generator(data)))
            }
            _ => None,
        };
        words.filter(|words| words.len() == test.words)
    }

    /// Draws words of one kind, with the actions of the tolerant automaton on them.
    fn drawn(
        &self,
        kind: WordKind,
        lengths: RangeInclusive<usize>,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Vec<Trace> {
        let Some(language) = self.subject.language() else { return Vec::new() };
        let oracle = Oracle::tolerant(language.automaton().clone());
        examples(&**language, &oracle, kind, lengths, count, random)
    }
}

impl From<Task> for Problem {
    fn from(task: Task) -> Self {
        Self { name: task.name().into(), subject: Arc::new(task.into()) }
    }
}
