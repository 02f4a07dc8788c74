//! What every recogniser has in common: sessions that are fed token by token, verdicts, limits, observers.
//!
//! The automaton and the machine implement [`Recognizer`], so that a test or a program written once runs with either.

mod run;
mod tree;

use std::fmt;
use std::sync::Arc;

pub use run::{Engine, Run};
pub use tree::{Node, Tree, TreeBuilder, Visit, is_state};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::symbol::{Alphabet, Input, Lookahead, SymbolId, Word};

/// What a token means that cannot follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The paper's machine: a refused token is skipped and the word is judged at its end.
    #[default]
    Tolerant,
    /// A refused token rejects the word at its position.
    Strict,
}

/// How a machine sees its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// The state of the reservoir over the whole input so far, as in the paper.
    #[default]
    Reservoir,
    /// The encoding of the next token alone: all that an LR(1) decision needs.
    Symbol,
}

/// The judgement of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The word is in the language.
    Accept,
    /// The word is the beginning of a word of the language, but no whole one (strict mode only).
    Incomplete {
        /// What could have followed.
        expected: Vec<Lookahead>,
    },
    /// The word is not in the language.
    Reject {
        /// The token that cannot stand where it stands, counted from 0. A tolerant recogniser judges at the end: then it
        /// is the length of the word, unless an input is outside the alphabet.
        position: u64,
        /// What could have stood there instead. Empty in tolerant mode, which does not know.
        expected: Vec<Lookahead>,
    },
    /// A limit was reached: neither accepted nor rejected.
    Stopped {
        /// The token that was being read.
        position: u64,
        /// The limit.
        limit: Limit,
    },
}

impl Verdict {
    /// Whether the word is accepted.
    pub fn is_accept(&self) -> bool {
        matches!(self, Self::Accept)
    }

    /// Its name: `accept`, `incomplete`, `reject` or `stopped`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Incomplete { .. } => "incomplete",
            Self::Reject { .. } => "reject",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// The token that cannot stand where it stands, or at which a limit was reached, counted from 0.
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::Reject { position, .. } | Self::Stopped { position, .. } => Some(*position),
            Self::Accept | Self::Incomplete { .. } => None,
        }
    }

    /// The limit that was reached, if one was.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Stopped { limit, .. } => Some(*limit),
            _ => None,
        }
    }

    /// What could have stood where the word goes wrong or ends; nothing if it is accepted or was stopped.
    pub fn expected(&self) -> &[Lookahead] {
        match self {
            Self::Reject { expected, .. } | Self::Incomplete { expected } => expected,
            Self::Accept | Self::Stopped { .. } => &[],
        }
    }
}

/// Where a session stands after a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The token was read; more can follow.
    Open,
    /// The token was refused, or one before it: the verdict is a rejection, and further tokens change nothing.
    Refused,
    /// A limit was reached, and further tokens change nothing.
    Stopped,
}

/// Why a run was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The stack would have grown beyond [`Limits::depth`].
    Depth,
    /// More decisions were taken on one token than [`Limits::actions`] allows: the machine may loop.
    Actions,
    /// A decision asked to pop more symbols than the stack has.
    Underflow,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Depth => "depth",
            Self::Actions => "actions",
            Self::Underflow => "underflow",
        })
    }
}

/// What a run may use. The defaults are safe for hostile input and large enough for a million symbols of depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest number of symbols on the stack.
    pub depth: usize,
    /// The decisions allowed on one token, apart from those for the depth.
    pub actions: u64,
    /// The decisions allowed on one token for each symbol on the stack when it is read. A closing bracket may reduce
    /// all that is open, so a constant alone would be wrong.
    pub actions_per_symbol: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 1 << 22, actions: 1024, actions_per_symbol: 8 }
    }
}

impl Limits {
    pub(crate) fn actions_at(&self, depth: usize) -> u64 {
        self.actions_per_symbol.saturating_mul(depth as u64).saturating_add(self.actions)
    }
}

/// One action on the stack: pop so many symbols, then push one or none. (The paper's j and A.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reduction {
    /// How many symbols are popped.
    pub pop: u32,
    /// The nonterminal that is pushed then.
    pub push: Option<SymbolId>,
}

impl Reduction {
    /// No pop and no push: the decision that ends the loop over one token.
    pub const NONE: Self = Self { pop: 0, push: None };
}

/// What happens in a session. For each token and for the end: decisions up to one that is [`Reduction::NONE`], one
/// output, and for a token one shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// What is done to the stack, and how far the decision was from another (infinite for an automaton).
    Decide {
        /// The action.
        reduction: Reduction,
        /// The distance to another decision.
        margin: f64,
    },
    /// The output on this token, before it is shifted (the paper's y).
    Output {
        /// The values; a recogniser of a language has one, 0 or 1.
        values: &'a [f64],
    },
    /// Whether the token was shifted onto the stack.
    Shift {
        /// False: refused in strict mode, skipped in tolerant mode.
        shifted: bool,
        /// The distance to another decision.
        margin: f64,
    },
}

/// Sees each step of a session. `()` sees nothing; a closure over the position and the event is an observer.
pub trait Observer {
    /// Something happened on the token at this position (the word's length: on its end).
    fn event(&mut self, position: u64, event: Event<'_>);
}

impl Observer for () {
    fn event(&mut self, _: u64, _: Event<'_>) {}
}

impl<F: FnMut(u64, Event<'_>)> Observer for F {
    fn event(&mut self, position: u64, event: Event<'_>) {
        self(position, event);
    }
}

/// Something that judges words: an automaton, a machine. Shared between threads; each word has its own session.
pub trait Recognizer: Send + Sync + 'static {
    /// The state of reading one word.
    type Session: Session;

    /// The symbols it reads and pushes.
    fn alphabet(&self) -> &Alphabet;

    /// Begins a word.
    fn start(self: &Arc<Self>, limits: Limits) -> Self::Session;
}

/// The reading of one word. A session can be cloned and the copies go on independently.
pub trait Session: Clone + Send {
    /// Reads one input. An input outside the alphabet is refused at its position in both modes.
    fn feed(&mut self, input: Input<'_>, watch: &mut dyn Observer) -> Status;

    /// Ends the word.
    fn finish(self, watch: &mut dyn Observer) -> Verdict;

    /// Judges several words with a fresh session and an observer each. The verdicts and events are those of one word
    /// after the other; a session may take the words in turns to be faster.
    fn judge_together<W: Observer>(words: Vec<(Self, &Word, &mut W)>) -> Vec<Verdict> {
        words.into_iter().map(|(session, word, watch)| judge_with(session, word, watch)).collect()
    }

    /// What could come next (in strict mode; empty in tolerant mode, which does not know). After a refusal: what could
    /// have stood there. A token on which a limit is reached is left out. Each one costs what reading it would.
    fn expected(&self) -> Vec<Lookahead>;
}

/// Judges a whole word.
pub fn judge<R: Recognizer>(recognizer: &Arc<R>, word: &Word, limits: Limits, watch: &mut dyn Observer) -> Verdict {
    judge_with(recognizer.start(limits), word, watch)
}

fn judge_with<S: Session>(mut session: S, word: &Word, watch: &mut dyn Observer) -> Verdict {
    for input in word.inputs() {
        if session.feed(input, watch) != Status::Open {
            break;
        }
    }
    session.finish(watch)
}

/// How many words are judged together on one thread.
const TOGETHER: usize = 32;

/// Judges many words on rayon's threads, with an observer each; neither depends on the number of threads.
pub fn watch_all<R: Recognizer, W: Observer + Send>(
    recognizer: &Arc<R>,
    words: &[&Word],
    watches: &mut [W],
    limits: Limits,
) -> Vec<Verdict> {
    let chunks = words.par_chunks(TOGETHER).zip(watches.par_chunks_mut(TOGETHER));
    chunks
        .flat_map(|(words, watches)| {
            let words = words.iter().zip(watches).map(|(word, watch)| (recognizer.start(limits), *word, watch));
            R::Session::judge_together(words.collect())
        })
        .collect()
}

/// Judges many words on rayon's threads; the answer does not depend on their number.
pub fn judge_all<R: Recognizer>(recognizer: &Arc<R>, words: &[Word], limits: Limits) -> Vec<Verdict> {
    watch_all(recognizer, &words.iter().collect::<Vec<_>>(), &mut vec![(); words.len()], limits)
}

/// Judges many words on the thread that calls; the answer is that of [`judge_all`].
pub fn judge_in_turn<R: Recognizer>(recognizer: &Arc<R>, words: &[Word], limits: Limits) -> Vec<Verdict> {
    let chunk = |words: &[Word]| {
        let mut watches = vec![(); words.len()];
        let words = words.iter().zip(&mut watches).map(|(word, watch)| (recognizer.start(limits), word, watch));
        R::Session::judge_together(words.collect())
    };
    words.chunks(TOGETHER).flat_map(chunk).collect()
}

/// The outputs on a word, one after the other (the paper's y_1 to y_{T+1}), and the verdict. After a refusal or a limit
/// the outputs end early.
pub fn outputs<R: Recognizer>(recognizer: &Arc<R>, word: &Word, limits: Limits) -> (Vec<f64>, Verdict) {
    let mut all = Outputs::default();
    let verdict = judge(recognizer, word, limits, &mut all);
    (all.0, verdict)
}

/// Collects the outputs on a word.
#[derive(Clone, Debug, Default)]
pub struct Outputs(pub Vec<f64>);

impl Observer for Outputs {
    fn event(&mut self, _: u64, event: Event<'_>) {
        if let Event::Output { values } = event {
            self.0.extend_from_slice(values);
        }
    }
}
