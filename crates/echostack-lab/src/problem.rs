//! The problems that models are compared on: the paper's tasks, and any grammar.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use echostack::language::{WordKind, examples};
use echostack::symbol::Input;
use echostack::tasks::{Split, Task};
use echostack::{Alphabet, Automaton, Oracle, Trace};
use echostack_grammar::{Encoding, Subject, SubjectError};
use rand_chacha::ChaCha8Rng;

use crate::test_set::TestSet;

/// A task or a grammar that models are trained and tested on.
#[derive(Clone, Debug)]
pub struct Problem {
    name: String,
    subject: Arc<Subject>,
    echo: bool,
}

/// The ending of the names of copy tasks whose input is also the output while it is read.
const ECHO: &str = "-echo";

impl Problem {
    /// Opens the problem that a name stands for: one of the paper's tasks, `grammar:PATH` for a grammar in Yacc syntax,
    /// or `copy-echo` or `repeat-copy-echo` for a copy task whose input is also the output while it is read.
    ///
    /// # Errors
    /// If there is no such task, or if the grammar cannot be used.
    pub fn named(name: &str) -> Result<Self, SubjectError> {
        let Some(path) = name.strip_prefix("grammar:") else {
            let copy =
                [Task::Copy, Task::RepeatCopy].into_iter().find(|task| name.strip_suffix(ECHO) == Some(task.name()));
            return match copy {
                Some(task) => Ok(Self { name: name.to_string(), echo: true, ..task.into() }),
                None => Ok(name.parse::<Task>()?.into()),
            };
        };
        let subject = Subject::open_grammar(Path::new(path), Encoding::Auto)?;
        Ok(Self { name: name.to_string(), subject: Arc::new(subject), echo: false })
    }

    /// Returns the name in specifications and records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the task, if the problem is one of the paper's tasks.
    pub fn task(&self) -> Option<Task> {
        self.subject.task()
    }

    /// Returns whether the input is also the output while it is read.
    pub(crate) fn echoes(&self) -> bool {
        self.echo
    }

    /// Returns the examples of a task.
    fn examples(&self, task: Task, split: Split, count: usize, data: u64) -> Vec<Trace> {
        let all = task.examples(split, count, data);
        if self.echo { all.iter().map(|trace| echoed(trace).unwrap_or_else(|| trace.clone())).collect() } else { all }
    }

    /// Returns whether words consist of symbols and outputs are 0 or 1. Otherwise, both are vectors.
    pub fn is_language(&self) -> bool {
        self.subject.language().is_some()
    }

    /// Returns the automaton of the language, if the problem is one.
    pub(crate) fn automaton(&self) -> Option<&Automaton> {
        self.subject.language().map(|language| language.automaton())
    }

    /// Returns the symbols.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        self.subject.alphabet()
    }

    /// Draws the words of a training set. A fraction of the words may be invalid: half of these are near misses, and
    /// half are random words.
    pub(crate) fn training(&self, words: usize, negatives: f64, data: u64) -> Vec<Trace> {
        match (self.task(), self.subject.language()) {
            (Some(task), language) if negatives == 0. || language.is_none() => {
                self.examples(task, Split::Train, words, data)
            }
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
            Some(task) if paper => Some(self.examples(task, Split::Test, test.words, data)),
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
        Self { name: task.name().into(), subject: Arc::new(task.into()), echo: false }
    }
}

/// Returns the example of a copy task in which each vector is also the output while it is read.
fn echoed(trace: &Trace) -> Option<Trace> {
    let mut steps = trace.steps().to_vec();
    for (step, input) in steps.iter_mut().zip(trace.word().inputs()) {
        let Input::Vector(values) = input else { return None };
        let (end, bits) = values.split_last()?;
        if *end < 0. {
            step.output = bits.to_vec();
        }
    }
    Trace::new(&Task::Copy.alphabet(), trace.source(), trace.word().clone(), steps).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_is_output_while_it_is_read() {
        for (name, plain) in [("copy-echo", "copy"), ("repeat-copy-echo", "repeat-copy")] {
            let [echo, plain] = [name, plain].map(|name| Problem::named(name).unwrap());
            assert_eq!((echo.name(), echo.task()), (name, plain.task()));
            for (echo, plain) in echo.training(5, 0., 1).iter().zip(plain.training(5, 0., 1)) {
                assert_eq!(echo.word(), plain.word());
                for ((echo, plain), input) in echo.steps().iter().zip(plain.steps()).zip(plain.word().inputs()) {
                    let Input::Vector([bits @ .., end]) = input else { panic!("{input:?}") };
                    assert_eq!(echo.output, if *end < 0. { bits } else { &plain.output });
                }
            }
        }
        assert!(Problem::named("latch-echo").is_err());
    }
}
