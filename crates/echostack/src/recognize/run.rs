//! The loop that Algorithms 1 and 2 share: read a token, act on the stack until nothing is to be done, output, shift.

use super::event::{Event, Observer, Reduction};
use super::mode::Mode;
use super::session::{Session, Status};
use super::verdict::{Limit, Limits, Verdict};
use crate::symbol::{Alphabet, Input, Lookahead, Word};

/// The stack of an automaton, a machine or a table, and how each decides what to do with it.
///
/// [`Run`] drives it, and takes care of limits, verdicts and observers.
pub trait Stack: Clone + Send {
    /// The symbols it reads and pushes.
    fn alphabet(&self) -> &Alphabet;

    /// Whether a token that cannot follow is skipped or rejected.
    fn mode(&self) -> Mode;

    /// Whether the input is one that it can read at all.
    fn admits(&self, input: Input<'_>) -> bool;

    /// Sets the mark that [`Stack::rewind`] goes back to, then looks at the next input, or at the end.
    fn look(&mut self, next: Option<Input<'_>>);

    /// Computes what the next decisions of several stacks need. It is called before each of them; what is computed for
    /// many at once is the same as for each alone, only faster.
    fn prepare(_stacks: &mut [&mut Self]) {}

    /// What is to be done to the stack now, and the margin of that decision.
    fn decide(&mut self) -> (Reduction, f64);

    /// The number of symbols on the stack.
    fn depth(&self) -> usize;

    /// Does it; the pop is at most the depth.
    fn reduce(&mut self, reduction: Reduction);

    /// The output, and whether it means acceptance (if this is the end of the word).
    fn output(&mut self) -> (&[f64], bool);

    /// Whether the input looked at may be shifted, and the margin of that decision.
    fn shifts(&mut self) -> (bool, f64);

    /// Pushes the input looked at.
    fn shift(&mut self);

    /// Undoes everything since the last [`Stack::look`], and that look.
    fn rewind(&mut self);
}

/// Why a run reads no further token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Refused,
    Stopped(Limit),
}

/// The reading of one word with a [`Stack`].
#[derive(Clone, Debug)]
pub struct Run<S> {
    stack: S,
    limits: Limits,
    position: u64,
    /// The decisions that may still be taken on this token.
    left: u64,
    ended: Option<Ended>,
}

impl<S: Stack> Run<S> {
    /// Begins a word with a stack that is empty.
    pub fn new(stack: S, limits: Limits) -> Self {
        Self { stack, limits, position: 0, left: 0, ended: None }
    }

    /// Goes on with a word of which so many tokens were read, with a stack as they leave it.
    pub(crate) fn resume(stack: S, limits: Limits, position: u64) -> Self {
        Self { position, ..Self::new(stack, limits) }
    }

    /// The stack as it stands after the last token that was read.
    pub fn stack(&self) -> &S {
        &self.stack
    }

    /// The number of tokens read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Looks at the next input, or at the end.
    fn look(&mut self, next: Option<Input<'_>>) {
        self.stack.look(next);
        self.left = self.limits.actions_at(self.stack.depth());
    }

    /// Takes one decision, for which the stack is prepared. Once there is nothing to do, says whether the output means
    /// acceptance (one round of lines 4 to 7 of Algorithm 1, 7 to 24 of Algorithm 2).
    fn act(&mut self, watch: &mut dyn Observer) -> Result<Option<bool>, Limit> {
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

    /// Acts on the stack until there is nothing to do.
    fn settle(&mut self, watch: &mut dyn Observer) -> Result<bool, Limit> {
        loop {
            S::prepare(&mut [&mut self.stack]);
            if let Some(accepting) = self.act(watch)? {
                return Ok(accepting);
            }
        }
    }

    /// Reads one input and says whether it may stand here. A refused one is left to be rewound.
    fn read(&mut self, input: Input<'_>, watch: &mut dyn Observer) -> Result<bool, Limit> {
        self.look(Some(input));
        self.settle(watch)?;
        self.shift(watch)
    }

    /// Shifts the input looked at, and says whether it may stand here.
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

    /// Reads the end and says whether the word is accepted.
    fn read_end(&mut self, watch: &mut dyn Observer) -> Result<bool, Limit> {
        self.look(None);
        self.settle(watch)
    }

    /// Notes how the reading of a token ended.
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

    /// The verdict, once the end was read or the run ended before.
    fn verdict(mut self, end: Result<bool, Limit>) -> Verdict {
        let position = self.position;
        match (self.ended, end) {
            (Some(Ended::Refused), _) => Verdict::Reject { position, expected: self.expected() },
            (Some(Ended::Stopped(limit)), _) | (None, Err(limit)) => Verdict::Stopped { position, limit },
            (None, Ok(true)) => Verdict::Accept,
            (None, Ok(false)) => {
                self.stack.rewind();
                let expected = self.expected();
                match self.stack.mode() {
                    Mode::Strict => Verdict::Incomplete { expected },
                    Mode::Tolerant => Verdict::Reject { position, expected },
                }
            }
        }
    }

    /// Where the word stands after the last token.
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

    fn finish(mut self, watch: &mut dyn Observer) -> Verdict {
        let end = if self.ended.is_some() { Ok(false) } else { self.read_end(watch) };
        self.verdict(end)
    }

    fn judge_together<W: Observer>(words: Vec<(Self, &Word, &mut W)>) -> Vec<Verdict> {
        let mut verdicts = vec![None; words.len()];
        let mut lanes: Vec<Lane<'_, S, W>> = Vec::new();
        for (number, (run, word, watch)) in words.into_iter().enumerate() {
            let mut lane = Lane { run, word, watch, number, at: 0 };
            match lane.next() {
                Next::Goes => lanes.push(lane),
                Next::Ended => verdicts[number] = Some(lane.run.verdict(Ok(false))),
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
                        verdicts[lane.number] = Some(lane.run.verdict(end));
                    }
                }
            }
        }
        verdicts.into_iter().flatten().collect()
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
    /// The place of the word among them.
    number: usize,
    /// How many inputs were looked at; one more than the word has once its end was.
    at: usize,
}

enum Next {
    Goes,
    Ended,
}

impl<S: Stack, W: Observer> Lane<'_, S, W> {
    /// Looks at the next input or at the end, unless the input is not admitted.
    fn next(&mut self) -> Next {
        let input = self.word.get(self.at);
        if input.is_some_and(|input| !self.run.stack.admits(input)) {
            self.run.ended = Some(Ended::Refused);
            return Next::Ended;
        }
        self.run.look(input);
        self.at += 1;
        Next::Goes
    }

    /// Takes one decision and what follows from it. Returns how the end was read, once the word is done.
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
