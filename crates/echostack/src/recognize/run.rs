//! The loop that Algorithms 1 and 2 share: read a token, act on the stack until nothing is to be done, output, shift.

use super::{Event, Limit, Limits, Mode, Observer, Reduction, Session, Status, Verdict};
use crate::symbol::{Alphabet, Input, Lookahead};

/// What an automaton and a machine do differently: how they decide, and what they keep on their stack.
///
/// [`Run`] drives it and sees to limits, verdicts and observers.
pub trait Engine: Clone + Send {
    /// The symbols it reads and pushes.
    fn alphabet(&self) -> &Alphabet;

    /// Whether a token that cannot follow is skipped or rejected.
    fn mode(&self) -> Mode;

    /// Whether the input is one that it can read at all.
    fn admits(&self, input: Input<'_>) -> bool;

    /// Sets the mark that [`Engine::rewind`] goes back to, then looks at the next input, or at the end.
    fn look(&mut self, next: Option<Input<'_>>);

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

    /// Undoes everything since the last [`Engine::look`], and that look.
    fn rewind(&mut self);
}

/// Why a run reads no further token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Refused,
    Stopped(Limit),
}

/// The reading of one word by an [`Engine`].
#[derive(Clone, Debug)]
pub struct Run<E> {
    engine: E,
    limits: Limits,
    position: u64,
    ended: Option<Ended>,
}

impl<E: Engine> Run<E> {
    /// Begins a word with an engine whose stack is empty.
    pub fn new(engine: E, limits: Limits) -> Self {
        Self { engine, limits, position: 0, ended: None }
    }

    /// The engine, as it stands after the last token that was read.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The number of tokens read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Acts on the stack until there is nothing to do (lines 4 to 7 of Algorithm 1, 7 to 24 of Algorithm 2), and says
    /// whether the output then means acceptance.
    fn settle(&mut self, watch: &mut dyn Observer) -> Result<bool, Limit> {
        for _ in 0..self.limits.actions_at(self.engine.depth()) {
            let (reduction, margin) = self.engine.decide();
            watch.event(self.position, Event::Decide { reduction, margin });
            if reduction == Reduction::NONE {
                let (values, accepting) = self.engine.output();
                watch.event(self.position, Event::Output { values });
                return Ok(accepting);
            }
            let left = self.engine.depth().checked_sub(reduction.pop as usize).ok_or(Limit::Underflow)?;
            if reduction.push.is_some() && left >= self.limits.depth {
                return Err(Limit::Depth);
            }
            self.engine.reduce(reduction);
        }
        Err(Limit::Actions)
    }

    /// Reads one input and says whether it may stand here. A refused one is left to be rewound.
    fn read(&mut self, input: Input<'_>, watch: &mut dyn Observer) -> Result<bool, Limit> {
        self.engine.look(Some(input));
        self.settle(watch)?;
        let (shifted, margin) = self.engine.shifts();
        if shifted && self.engine.depth() >= self.limits.depth {
            return Err(Limit::Depth);
        }
        watch.event(self.position, Event::Shift { shifted, margin });
        if shifted {
            self.engine.shift();
        }
        Ok(shifted || self.engine.mode() == Mode::Tolerant)
    }

    /// Reads the end and says whether the word is accepted.
    fn read_end(&mut self, watch: &mut dyn Observer) -> Result<bool, Limit> {
        self.engine.look(None);
        self.settle(watch)
    }

    fn status(&self) -> Status {
        match self.ended {
            None => Status::Open,
            Some(Ended::Refused) => Status::Refused,
            Some(Ended::Stopped(_)) => Status::Stopped,
        }
    }
}

impl<E: Engine> Session for Run<E> {
    fn feed(&mut self, input: Input<'_>, watch: &mut dyn Observer) -> Status {
        if self.ended.is_some() {
            return self.status();
        }
        if !self.engine.admits(input) {
            self.ended = Some(Ended::Refused);
            return Status::Refused;
        }
        match self.read(input, watch) {
            Ok(true) => self.position += 1,
            Ok(false) => self.ended = Some(Ended::Refused),
            Err(limit) => self.ended = Some(Ended::Stopped(limit)),
        }
        if self.ended.is_some() {
            self.engine.rewind();
        }
        self.status()
    }

    fn finish(mut self, watch: &mut dyn Observer) -> Verdict {
        let position = self.position;
        match self.ended {
            Some(Ended::Refused) => return Verdict::Reject { position, expected: self.expected() },
            Some(Ended::Stopped(limit)) => return Verdict::Stopped { position, limit },
            None => {}
        }
        match self.read_end(watch) {
            Ok(true) => Verdict::Accept,
            Ok(false) => {
                self.engine.rewind();
                let expected = self.expected();
                match self.engine.mode() {
                    Mode::Strict => Verdict::Incomplete { expected },
                    Mode::Tolerant => Verdict::Reject { position, expected },
                }
            }
            Err(limit) => Verdict::Stopped { position, limit },
        }
    }

    fn expected(&self) -> Vec<Lookahead> {
        if self.engine.mode() == Mode::Tolerant {
            return Vec::new();
        }
        let mut fork = self.clone();
        let mut fits = |lookahead: &Lookahead| {
            let fits = match *lookahead {
                Lookahead::Token(token) => fork.read(Input::Symbol(token), &mut ()),
                Lookahead::End => fork.read_end(&mut ()),
            };
            fork.engine.rewind();
            fits == Ok(true)
        };
        self.engine.alphabet().lookaheads().filter(|lookahead| fits(lookahead)).collect()
    }
}
