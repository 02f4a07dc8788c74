//! The loop that Algorithms 1 and 2 share: read a token, act on the stack until there is nothing left to do, output,
//! shift.

use super::event::{Event, Observer, Reduction};
use super::mode::Mode;
use super::session::{Session, Status};
use super::verdict::{Judged, Limit, Limits, Outcome};
use crate::symbol::{Alphabet, Input, Lookahead, Word};

/// The stack of an automaton, a machine or a table, together with the decisions about it.
///
/// A [`Run`] drives the stack and takes care of limits, verdicts and observers.
pub trait Stack: Clone + Send {
    /// Returns the alphabet of symbols that are read and pushed.
    fn alphabet(&self) -> &Alphabet;

    /// Returns how tokens that cannot follow are treated: skipped or rejected.
    fn mode(&self) -> Mode;

    /// Returns whether the input can be read at all.
    fn admits(&self, input: Input<'_>) -> bool;

    /// Sets the mark for [`Stack::rewind`], then looks at the next input, or at the end of the word if that is `None`.
    /// Unless `margins` is set, the margins of the following decisions may be NaN.
    fn look(&mut self, next: Option<Input<'_>>, margins: bool);

    /// Computes what several stacks need for their next decisions. It is called before each decision. Computing this
    /// for many stacks at once gives the same results as for each stack alone, but is faster.
    fn prepare(_stacks: &mut [&mut Self]) {}

    /// Decides what to do to the stack next, and returns that with the margin of the decision.
    fn decide(&mut self) -> (Reduction, f64);

    /// Returns the number of symbols on the stack.
    fn depth(&self) -> usize;

    /// Performs a reduction, which must not pop more symbols than the stack has.
    fn reduce(&mut self, reduction: Reduction);

    /// Returns the output, and whether it means acceptance if this is the end of the word.
    fn output(&mut self) -> (&[f64], bool);

    /// Returns whether the current input may be shifted, and the margin of that decision.
    fn shifts(&mut self) -> (bool, f64);

    /// Pushes the current input.
    fn shift(&mut self);

    /// Undoes everything since the last [`Stack::look`], including that call.
    fn rewind(&mut self);
}

/// The reason a run reads no more tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Refused,
    Stopped(Limit),
}

/// A session that reads one word with a [`Stack`].
#[derive(Clone, Debug)]
pub struct Run<S> {
    stack: S,
    limits: Limits,
    position: u64,
    /// The number of decisions that may still be taken on this token.
    left: u64,
    ended: Option<Ended>,
}

impl<S: Stack> Run<S> {
    /// Begins a word with an empty stack.
    pub fn new(stack: S, limits: Limits) -> Self {
        Self { stack, limits, position: 0, left: 0, ended: None }
    }

    /// Resumes a word after `position` tokens, with a stack in the state they left it in.
    pub(crate) fn resume(stack: S, limits: Limits, position: u64) -> Self {
        Self { position, ..Self::new(stack, limits) }
    }

    /// Returns the stack as it is after the last token read.
    pub fn stack(&self) -> &S {
        &self.stack
    }

    /// Returns the number of tokens read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Looks at the next input, or at the end of the word if that is `None`.
    fn look(&mut self, next: Option<Input<'_>>, watch: &dyn Observer) {
        self.stack.look(next, watch.reads_margins());
        self.left = self.limits.actions_at(self.stack.depth());
    }

    /// Takes one decision, for which the stack must be prepared. If there is nothing left to do, returns whether the
    /// output means acceptance. This is one iteration of lines 4 to 7 of Algorithm 1, or 7 to 24 of Algorithm 2.
    fn act(&mut self, watch: &mut dyn Observer) -> Result<Option<bool>, Limit> {
        if watch.cancelled() {
            return Err(Limit::Cancelled);
        }
        self.left = self.left.checked_sub(1).ok_or(Limit::Actions)?;
        let (reduction, margin) = self.stack.decide();
        watch.event(self.position, Event::Decide { reduction, margin });
        if reduction == Reduction::NONE {
            let (values, accepting) = self.stack.output();
            watch.event(self.position, Event::Output { values });
            return Ok(Some(accepting));
        }
        let depth = self.stack.depth().checked_sub(reduction.pop as usize).ok_or(Limit::Underflow)?;
        if reduction.push.is_some() && depth >= self.limits.depth {
            return Err(Limit::Depth);
        }
        self.stack.reduce(reduction);
        Ok(None)
    }

    /// Acts on the stack until there is nothing left to do, and returns whether the output means acceptance.
    fn settle(&mut self, watch: &mut dyn Observer) -> Result<bool, Limit> {
        loop {
            S::prepare(&mut [&mut self.stack]);
            if let Some(accepting) = self.act(watch)? {
                return Ok(accepting);
            }
        }
    }

    /// Reads one input and returns whether it is allowed here. If it is not, the caller must rewind the stack.
    fn read(&mut self, input: Input<'_>, watch: &mut dyn Observer) -> Result<bool, Limit> {
        self.look(Some(input), watch);
        self.settle(watch)?;
        self.shift(watch)
    }

    /// Shifts the current input if possible, and returns whether it is allowed here.
    fn shift(&mut self, watch: &mut dyn Observer) -> Result<bool, Limit> {
        let (shifted, margin) = self.stack.shifts();
        if shifted && self.stack.depth() >= self.limits.depth {
            return Err(Limit::Depth);
        }
        watch.event(self.position, Event::Shift { shifted, margin });
        if shifted {
            self.stack.shift();
        }
        Ok(shifted || self.stack.mode() == Mode::Tolerant)
    }

    /// Reads the end of the word and returns whether the word is accepted.
    fn read_end(&mut self, watch: &mut dyn Observer) -> Result<bool, Limit> {
        self.look(None, watch);
        self.settle(watch)
    }

    /// Records the result of reading a token, and returns the status.
    fn note(&mut self, read: Result<bool, Limit>) -> Status {
        match read {
            Ok(true) => self.position += 1,
            Ok(false) => self.ended = Some(Ended::Refused),
            Err(limit) => self.ended = Some(Ended::Stopped(limit)),
        }
        if self.ended.is_some() {
            self.stack.rewind();
        }
        self.status()
    }

    /// Returns the answer, after the end was read or the run ended early.
    fn conclude<A: Judged>(mut self, end: Result<bool, Limit>) -> A {
        let position = self.position;
        let outcome = match (self.ended, end) {
            (Some(Ended::Refused), _) => Outcome::Reject { position },
            (Some(Ended::Stopped(limit)), _) | (None, Err(limit)) => Outcome::Stopped { position, limit },
            (None, Ok(true)) => Outcome::Accept,
            (None, Ok(false)) => match self.stack.mode() {
                Mode::Strict => Outcome::Incomplete,
                Mode::Tolerant => Outcome::Reject { position },
            },
        };
        A::new(outcome, || {
            // A run that ended early was rewound then.
            if self.ended.is_none() {
                self.stack.rewind();
            }
            self.expected()
        })
    }

    /// Returns the status after the last token.
    pub fn status(&self) -> Status {
        match self.ended {
            None => Status::Open,
            Some(Ended::Refused) => Status::Refused,
            Some(Ended::Stopped(_)) => Status::Stopped,
        }
    }
}

impl<S: Stack> Session for Run<S> {
    fn feed(&mut self, input: Input<'_>, watch: &mut dyn Observer) -> Status {
        if self.ended.is_some() {
            return self.status();
        }
        if !self.stack.admits(input) {
            self.ended = Some(Ended::Refused);
            return Status::Refused;
        }
        let read = self.read(input, watch);
        self.note(read)
    }

    fn answer<A: Judged>(mut self, watch: &mut dyn Observer) -> A {
        let end = if self.ended.is_some() { Ok(false) } else { self.read_end(watch) };
        self.conclude(end)
    }

    fn judge_together<W: Observer, A: Judged>(words: Vec<(Self, &Word, &mut W)>) -> Vec<A> {
        let mut answers = vec![None; words.len()];
        let mut lanes: Vec<Lane<'_, S, W>> = Vec::new();
        for (number, (run, word, watch)) in words.into_iter().enumerate() {
            let mut lane = Lane { run, word, watch, number, at: 0 };
            match lane.next() {
                Next::Goes => lanes.push(lane),
                Next::Ended => answers[number] = Some(lane.run.conclude(Ok(false))),
            }
        }
        while !lanes.is_empty() {
            let mut stacks: Vec<&mut S> = lanes.iter_mut().map(|lane| &mut lane.run.stack).collect();
            S::prepare(&mut stacks);
            let mut at = 0;
            while at < lanes.len() {
                match lanes[at].act() {
                    None => at += 1,
                    Some(end) => {
                        let lane = lanes.swap_remove(at);
                        answers[lane.number] = Some(lane.run.conclude(end));
                    }
                }
            }
        }
        answers.into_iter().flatten().collect()
    }

    fn expected(&self) -> Vec<Lookahead> {
        if self.stack.mode() == Mode::Tolerant {
            return Vec::new();
        }
        let mut fork = self.clone();
        let mut fits = |lookahead: &Lookahead| {
            let fits = match *lookahead {
                Lookahead::Token(token) => fork.read(Input::Symbol(token), &mut ()),
                Lookahead::End => fork.read_end(&mut ()),
            };
            fork.stack.rewind();
            fits == Ok(true)
        };
        self.stack.alphabet().lookaheads().filter(|lookahead| fits(lookahead)).collect()
    }
}

/// One of several words that are read together.
struct Lane<'a, S, W> {
    run: Run<S>,
    word: &'a Word,
    watch: &'a mut W,
    /// The index of the word among those that are read together.
    number: usize,
    /// The number of inputs looked at so far, where the end of the word counts as one.
    at: usize,
}

enum Next {
    Goes,
    Ended,
}

impl<S: Stack, W: Observer> Lane<'_, S, W> {
    /// Looks at the next input or at the end, unless the input cannot be read at all.
    fn next(&mut self) -> Next {
        let input = self.word.get(self.at);
        if input.is_some_and(|input| !self.run.stack.admits(input)) {
            self.run.ended = Some(Ended::Refused);
            return Next::Ended;
        }
        self.run.look(input, self.watch);
        self.at += 1;
        Next::Goes
    }

    /// Takes one decision and performs what follows from it. Once the word is done, returns the result of reading its
    /// end.
    fn act(&mut self) -> Option<Result<bool, Limit>> {
        let settled = match self.run.act(self.watch) {
            Ok(None) => return None,
            Ok(Some(accepting)) => Ok(accepting),
            Err(limit) => Err(limit),
        };
        if self.at > self.word.len() {
            return Some(settled);
        }
        let read = settled.and_then(|_| self.run.shift(self.watch));
        if self.run.note(read) != Status::Open {
            return Some(Ok(false));
        }
        match self.next() {
            Next::Goes => None,
            Next::Ended => Some(Ok(false)),
        }
    }
}
