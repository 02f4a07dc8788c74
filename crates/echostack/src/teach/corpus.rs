//! Distinct contexts: a summary of what a corpus of traces teaches, however large the corpus is.
//!
//! A state depends only on the last symbols, so all that training needs from a corpus is which answers are required for
//! which suffixes of the stack and of the input. A [`Corpus`] counts them trace by trace. Two corpora can be merged,
//! and the result does not depend on the order, so parts of a corpus can be counted in different places.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::exercise::{Answer, Exercise};
use super::replay::{Follower, Instruction};
use super::trace::Trace;
use crate::recognize::Reduction;
use crate::symbol::{Input, Lookahead, SymbolId, Word};

/// The part of a configuration that a context keeps. Two configurations that agree in this part are the same context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Depth {
    /// The number of stack symbols, from the top.
    pub stack: usize,
    /// The number of tokens before the next one.
    pub before: usize,
}

/// An answer that a corpus teaches, with the suffixes of input and stack for which it is required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The input suffix, the stack suffix, and the answer.
    pub exercise: Exercise,
    /// The number of times that the answer is required.
    pub count: u64,
    /// The source that requires it. If there are several, the first one in alphabetical order.
    pub source: Arc<str>,
}

/// The reason why a trace cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// The word consists of vectors.
    #[error("the word consists of vectors, but contexts are counted only for words of tokens")]
    Vectors,
    /// An output says more than whether a word is accepted.
    #[error("step {0}: the output must be a single 0 or 1")]
    Output(usize),
    /// There are too many distinct contexts.
    #[error("there are more than {MAX_CONTEXTS} distinct contexts; keep fewer symbols of the stack and of the input")]
    TooMany,
}

/// The maximum number of distinct contexts of a corpus.
pub const MAX_CONTEXTS: usize = 1 << 24;

/// The distinct contexts of a corpus of traces, with their counts.
#[derive(Clone, Debug)]
pub struct Corpus {
    depth: Depth,
    seen: HashMap<Box<[u32]>, Seen, RandomState>,
    key: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Seen {
    count: u64,
    source: Arc<str>,
}

/// Encodes an optional symbol as a number.
fn number(symbol: Option<SymbolId>) -> u32 {
    symbol.map_or(0, |symbol| symbol.index() as u32 + 1)
}

/// Decodes the number of an optional symbol.
fn symbol(number: u32) -> Option<SymbolId> {
    number.checked_sub(1).map(|index| SymbolId::new(index as usize))
}

/// Encodes an exercise as a sequence of numbers, so that equal exercises have equal keys: the kind of the answer, the
/// answer, the next token, the number of tokens before it, these tokens, and the stack.
fn write(key: &mut Vec<u32>, before: &[SymbolId], next: Lookahead, stack: &[SymbolId], answer: Answer) {
    key.clear();
    key.extend(match answer {
        Answer::Act(Reduction { pop, push }) => [0, pop, number(push)],
        Answer::Shift(shift) => [1, u32::from(shift), 0],
        Answer::Output(accepts) => [2, u32::from(accepts), 0],
    });
    key.push(number(next.token()));
    key.push(before.len() as u32);
    key.extend(before.iter().chain(stack).map(|symbol| symbol.index() as u32));
}

/// Decodes an exercise from its key.
fn read(key: &[u32]) -> Exercise {
    let answer = match key[0] {
        0 => Answer::Act(Reduction { pop: key[1], push: symbol(key[2]) }),
        1 => Answer::Shift(key[1] == 1),
        _ => Answer::Output(key[1] == 1),
    };
    let next = symbol(key[3]).map_or(Lookahead::End, Lookahead::Token);
    let symbols = |numbers: &[u32]| numbers.iter().map(|&index| SymbolId::new(index as usize)).collect();
    let (before, stack) = key[5..].split_at(key[4] as usize);
    Exercise { before: symbols(before), next, stack: symbols(stack), answer }
}

/// Returns the last `count` entries of a list, or all if there are fewer.
fn last<T>(list: &[T], count: usize) -> &[T] {
    &list[list.len().saturating_sub(count)..]
}

impl Corpus {
    /// Creates an empty corpus.
    pub fn new(depth: Depth) -> Self {
        Self { depth, seen: HashMap::default(), key: Vec::new() }
    }

    /// Returns the part of a configuration that is kept.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Returns the number of distinct contexts.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Returns whether there are no contexts.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Counts the decisions in those steps of a trace that are trained on.
    ///
    /// # Errors
    /// See [`CorpusError`].
    pub fn add(&mut self, trace: &Trace) -> Result<(), CorpusError> {
        let Word::Symbols(tokens) = trace.word() else { return Err(CorpusError::Vectors) };
        let plain = |output: &[f64]| *output == [0.] || *output == [1.];
        if let Some(step) = trace.steps().iter().position(|step| !plain(&step.output)) {
            return Err(CorpusError::Output(step));
        }
        trace.replay(&mut Counter { corpus: self, tokens, source: &trace.source })
    }

    /// Adds a context that was counted elsewhere.
    ///
    /// # Errors
    /// [`CorpusError::TooMany`] if there are too many distinct contexts.
    pub fn insert(&mut self, context: &Context) -> Result<(), CorpusError> {
        let Exercise { before, next, stack, answer } = &context.exercise;
        let (before, stack) = (last(before, self.depth.before), last(stack, self.depth.stack));
        write(&mut self.key, before, *next, stack, *answer);
        count(&mut self.seen, &self.key, context.count, &context.source)
    }

    /// Returns the contexts, ordered by their exercises.
    pub fn contexts(&self) -> Vec<Context> {
        let all = self.seen.iter();
        let mut all: Vec<Context> = all
            .map(|(key, Seen { count, source })| Context { exercise: read(key), count: *count, source: source.clone() })
            .collect();
        all.sort_unstable_by(|a, b| a.exercise.cmp(&b.exercise));
        all
    }
}

/// Counts the decisions that a trace teaches.
struct Counter<'c> {
    corpus: &'c mut Corpus,
    tokens: &'c [SymbolId],
    source: &'c Arc<str>,
}

impl Follower for Counter<'_> {
    type Element = SymbolId;
    type Error = CorpusError;

    fn look(&mut self, _: usize, _: Option<Input<'_>>) -> Result<(), CorpusError> {
        Ok(())
    }

    fn follow(&mut self, instruction: &Instruction<'_>, stack: &[SymbolId]) -> Result<(), CorpusError> {
        let &Instruction { step, taught, reduction, output, shift } = instruction;
        if !taught {
            return Ok(());
        }
        let Corpus { depth, seen, key } = &mut *self.corpus;
        let before = last(&self.tokens[..step], depth.before);
        let next = self.tokens.get(step).map_or(Lookahead::End, |&token| Lookahead::Token(token));
        let output = output.map(|output| Answer::Output(output[0] > 0.5));
        for answer in [Some(Answer::Act(reduction)), output, shift.map(Answer::Shift)].into_iter().flatten() {
            write(key, before, next, last(stack, depth.stack), answer);
            count(seen, key, 1, self.source)?;
        }
        Ok(())
    }

    fn push(&mut self, _: &[SymbolId], input: Input<'_>) -> Result<SymbolId, CorpusError> {
        match input {
            Input::Symbol(symbol) => Ok(symbol),
            Input::Vector(_) => Err(CorpusError::Vectors),
        }
    }
}

/// Adds to the count of a key.
fn count(
    seen: &mut HashMap<Box<[u32]>, Seen, RandomState>,
    key: &[u32],
    times: u64,
    source: &Arc<str>,
) -> Result<(), CorpusError> {
    let full = seen.len() >= MAX_CONTEXTS;
    match seen.get_mut(key) {
        Some(known) => {
            known.count = known.count.saturating_add(times);
            if **source < *known.source {
                known.source = source.clone();
            }
        }
        None if full => return Err(CorpusError::TooMany),
        None => {
            seen.insert(key.into(), Seen { count: times, source: source.clone() });
        }
    }
    Ok(())
}

impl Context {
    /// Returns whether another context has the same suffixes of input and stack, but requires a different answer of the
    /// same kind.
    pub fn contradicts(&self, other: &Self) -> bool {
        fn kind(context: &Context) -> Discriminant<Answer> {
            discriminant(&context.exercise.answer)
        }
        fn seen(context: &Context) -> (&[SymbolId], Lookahead, &[SymbolId]) {
            let Exercise { before, next, stack, .. } = &context.exercise;
            (before, *next, stack)
        }
        kind(self) == kind(other) && self.exercise.answer != other.exercise.answer && seen(self) == seen(other)
    }

    /// Returns the contradictions among ordered contexts, each as a context and the one after it.
    pub fn contradictions(ordered: &[Self]) -> impl Iterator<Item = [&Self; 2]> {
        ordered.windows(2).map(|pair| [&pair[0], &pair[1]]).filter(|[a, b]| a.contradicts(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{Split, Task};

    const DEPTH: Depth = Depth { stack: 4, before: 1 };

    fn corpus(traces: &[Trace]) -> Corpus {
        let mut corpus = Corpus::new(DEPTH);
        traces.iter().for_each(|trace| corpus.add(trace).unwrap());
        corpus
    }

    /// Computes the contexts by listing every decision and counting equal ones.
    fn slowly(traces: &[Trace]) -> Vec<(Exercise, u64)> {
        let mut all: Vec<Exercise> = Vec::new();
        for trace in traces {
            let Word::Symbols(tokens) = trace.word() else { unreachable!() };
            let mut stack = Vec::new();
            for (at, step) in trace.steps().iter().enumerate() {
                let before = if at > 0 { vec![tokens[at - 1]] } else { Vec::new() };
                let next = if at < tokens.len() { Lookahead::Token(tokens[at]) } else { Lookahead::End };
                let mut claim = |stack: &Vec<SymbolId>, answer| {
                    let mut stack = stack.clone();
                    while stack.len() > 4 {
                        stack.remove(0);
                    }
                    all.push(Exercise { before: before.clone(), next, stack, answer });
                };
                for reduction in &step.reductions {
                    claim(&stack, Answer::Act(*reduction));
                    stack.truncate(stack.len() - reduction.pop as usize);
                    stack.extend(reduction.push);
                }
                claim(&stack, Answer::Act(Reduction::NONE));
                claim(&stack, Answer::Output(step.output == [1.]));
                if at < tokens.len() {
                    claim(&stack, Answer::Shift(step.shift));
                    if step.shift {
                        stack.push(tokens[at]);
                    }
                }
            }
        }
        all.sort();
        let mut counted: Vec<(Exercise, u64)> = Vec::new();
        for exercise in all {
            match counted.last_mut() {
                Some((known, count)) if *known == exercise => *count += 1,
                _ => counted.push((exercise, 1)),
            }
        }
        counted
    }

    #[test]
    fn contexts_are_those_written_down_one_by_one_and_parts_merge() {
        for task in Task::ALL.into_iter().filter(|task| task.automaton().is_some()) {
            let traces = task.examples(Split::Train, 60, 1);
            let whole = corpus(&traces).contexts();
            let plain: Vec<_> = whole.iter().map(|context| (context.exercise.clone(), context.count)).collect();
            assert_eq!(plain, slowly(&traces), "{task}");
            let mut merged = corpus(&traces[40..]);
            corpus(&traces[..40]).contexts().iter().for_each(|context| merged.insert(context).unwrap());
            assert_eq!(merged.contexts(), whole, "{task}");
            assert_eq!(Context::contradictions(&whole).count(), 0, "{task}");
        }
    }

    #[test]
    fn contexts_that_are_too_short_contradict_each_other() {
        let traces = Task::Anbn.examples(Split::Train, 60, 1);
        let mut corpus = Corpus::new(Depth { stack: 0, before: 0 });
        traces.iter().for_each(|trace| corpus.add(trace).unwrap());
        let contexts = corpus.contexts();
        let found: Vec<_> = Context::contradictions(&contexts).collect();
        assert!(!found.is_empty() && found.iter().all(|[a, b]| a.exercise < b.exercise));
    }

    #[test]
    fn what_only_leads_there_and_what_is_no_verdict_is_not_counted() {
        let traces = Task::Anbn.examples(Split::Train, 2, 1);
        assert!(corpus(&[traces[0].clone().teaching(0..0)]).is_empty());
        let copy = Task::Copy.examples(Split::Train, 1, 1);
        assert_eq!(Corpus::new(DEPTH).add(&copy[0]), Err(CorpusError::Vectors));
    }
}
