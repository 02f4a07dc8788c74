//! What models are compared on: the paper's tasks, and any grammar.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use echostack::language::{WordKind, examples};
use echostack::tasks::{Split, Task};
use echostack::{Alphabet, Oracle, Trace};
use echostack_grammar::{Encoding, Subject, SubjectError};
use rand_chacha::ChaCha8Rng;

use crate::test_set::TestSet;

/// A task or a grammar that models are taught and tested on.
#[derive(Clone, Debug)]
pub struct Problem {
    name: String,
    subject: Arc<Subject>,
}

impl Problem {
    /// What a name stands for: one of the paper's tasks, or `grammar:PATH`, a grammar in Yacc's syntax.
    ///
    /// # Errors
    /// If it is neither.
    pub fn named(name: &str) -> Result<Self, SubjectError> {
        let Some(path) = name.strip_prefix("grammar:") else {
            let task: Task = name.parse()?;
            return Ok(task.into());
        };
        let subject = Subject::open_grammar(Path::new(path), Encoding::Auto)?;
        Ok(Self { name: name.to_string(), subject: Arc::new(subject) })
    }

    /// Its name in specifications and records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The task of the paper, if it is one.
    pub fn task(&self) -> Option<Task> {
        self.subject.task()
    }

    /// Whether its words are symbols and its outputs 0 or 1; else both are vectors.
    pub fn is_language(&self) -> bool {
        self.subject.language().is_some()
    }

    /// The symbols.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        self.subject.alphabet()
    }

    /// The words of a training set, of which a part may be wrong: near misses and random words, half each.
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

    /// The words of a test set; none if there are not so many: tasks that are no languages have the paper's examples only, and
    /// long words of a grammar are not drawn.
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

    /// Words of one kind with what the tolerant automaton does on them.
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
