//! Many words through a table, several of them side by side, by [frames](super::frames).

use rayon::prelude::*;

use super::compiled::Table;
use super::frames::Frames;
use super::scan::Scanner;
use crate::recognize::{Answer, Limits, Outcome};
use crate::symbol::{SymbolId, Word};

/// The number of words that run side by side.
const LANES: usize = 4;

/// The number of words that a thread takes at a time.
const WORDS: usize = 1 << 8;

/// The height up to which a stack of frames can grow; an index of 16 bits cannot miss it.
const HEIGHT: usize = 1 << 16;

/// The maximum number of tokens that run at once, if each of them adds at most one frame. A word that is longer is left
/// to the [`Scanner`].
const TOKENS: usize = 1 << 14;

/// The stacks of all lanes. The topmost frame is not on the stack. A word begins at the height at which the one before it
/// has ended, because what is below is never looked at.
type Stacks = [Box<[u16; HEIGHT]>; LANES];

/// A reader of many words, several of them side by side, that runs a [`Table`] by its frames.
///
/// The answers are those of a [`Scanner`], which judges every word that the frames do not accept.
///
/// ```
/// use echostack::recognize::Outcome;
/// use echostack::{Limits, Oracle, Table, table::Lanes, tasks::Task};
/// let table = Table::new(&Oracle::strict(Task::Anbn.automaton().unwrap())?, Default::default())?;
/// let [a, b] = ["a", "b"].map(|name| table.alphabet().symbol(name).unwrap());
/// let words = [vec![a, b], vec![a, a, b, b], vec![a], vec![b]];
/// let outcomes: Vec<Outcome> = Lanes::new(&table, Limits::default()).judge(words.iter().map(Vec::as_slice));
/// assert_eq!(outcomes, [Outcome::Accept, Outcome::Accept, Outcome::Incomplete, Outcome::Reject { position: 0 }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lanes {
    table: Table,
    limits: Limits,
    scanner: Scanner,
    /// The stacks, once they are needed.
    stacks: Option<Stacks>,
    batch: Batch,
}

/// Words that run together.
#[derive(Clone, Debug, Default)]
struct Batch {
    /// The tokens of the words, with an end after each; once they are read, 1 where a word is accepted.
    tokens: Vec<u8>,
    /// The index of each word's end.
    ends: Vec<usize>,
}

/// The words that run one after the other, side by side with those of other lanes.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// The row of the topmost frame.
    row: u32,
    height: u16,
    /// The index of the next token.
    at: usize,
}

impl Lanes {
    /// Creates a reader of words.
    pub fn new(table: &Table, limits: Limits) -> Self {
        let scanner = Scanner::new(table, limits);
        Self { table: table.clone(), limits, scanner, stacks: None, batch: Batch::default() }
    }

    /// Judges words, given as slices of tokens.
    pub fn judge<'a, A: Answer>(&mut self, words: impl Iterator<Item = &'a [SymbolId]>) -> Vec<A> {
        let words: Vec<&[SymbolId]> = words.collect();
        let Self { table, limits, scanner, stacks, batch } = self;
        let mut scan = |word: &&'a [SymbolId]| {
            scanner.read(word.iter().copied());
            scanner.answer()
        };
        let frames = if words.len() < LANES { None } else { table.frames() };
        let Some(frames) = frames else { return words.iter().map(scan).collect() };
        let stacks = stacks.get_or_insert_with(|| {
            std::array::from_fn(|_| {
                let stack = vec![0; HEIGHT].into_boxed_slice();
                stack.try_into().unwrap_or_else(|_| unreachable!("the length is right"))
            })
        });
        let mut answers: Vec<A> = Vec::with_capacity(words.len());
        let mut rest = &words[..];
        while !rest.is_empty() {
            let count = batch.fill(frames, *limits, rest);
            let accepted = batch.run(frames, stacks);
            let (now, later) = rest.split_at(count);
            let answer = |(word, accepted)| if accepted { A::new(Outcome::Accept, Vec::new) } else { scan(word) };
            answers.extend(now.iter().zip(accepted).map(answer));
            rest = later;
        }
        answers
    }
}

impl Batch {
    /// Takes words until there are enough tokens, and returns their number.
    fn fill(&mut self, frames: &Frames, limits: Limits, words: &[&[SymbolId]]) -> usize {
        let most = TOKENS / frames.pushes();
        self.tokens.resize(2 * TOKENS + 2, 0);
        self.ends.clear();
        pulp::Arch::new().dispatch(|| {
            let end = frames.terminals as u8;
            // Frames refuse what is not a token.
            let byte = |token: &SymbolId| if token.index() < frames.terminals { token.index() as u8 } else { end + 1 };
            let mut at = 0;
            for word in words {
                if at >= most {
                    break;
                }
                let word = if word.len() < most && frames.stay_within(limits, word.len()) { word } else { REFUSED };
                let cells = &mut self.tokens[at..=at + word.len()];
                cells[word.len()] = end;
                cells.iter_mut().zip(word).for_each(|(cell, token)| *cell = byte(token));
                at += word.len();
                self.ends.push(at);
                at += 1;
            }
            self.ends.len()
        })
    }

    /// Runs all words, and returns whether each is accepted.
    fn run(&mut self, frames: &Frames, stacks: &mut Stacks) -> impl Iterator<Item = bool> {
        let Self { tokens, ends } = self;
        let length = ends.last().map_or(0, |end| end + 1);
        let tokens = &mut tokens[..length];
        // Each lane gets words of about as many tokens.
        let starts: [usize; LANES] = std::array::from_fn(|lane| {
            let word = ends.partition_point(|end| *end < length / LANES * lane);
            if word == 0 { 0 } else { ends[word - 1] + 1 }
        });
        let mut lanes = starts.map(|at| Lane { at, ..Lane::default() });
        let stops: [usize; LANES] = std::array::from_fn(|lane| starts.get(lane + 1).copied().unwrap_or(length));
        loop {
            // Every step reads at most one token.
            let steps = lanes.iter().zip(stops).map(|(lane, stop)| stop - lane.at).min().unwrap_or(0);
            if steps == 0 {
                break;
            }
            for _ in 0..steps {
                for (lane, stack) in lanes.iter_mut().zip(stacks.iter_mut()) {
                    lane.step(frames, tokens, stack);
                }
            }
        }
        for ((lane, stack), stop) in lanes.iter_mut().zip(stacks).zip(stops) {
            while lane.at < stop {
                lane.step(frames, tokens, stack);
            }
        }
        let tokens = &*tokens;
        ends.iter().map(|&end| tokens[end] == 1)
    }
}

impl Lane {
    /// Takes one step, without a branch. A hop reads no token, and does not depend on it.
    #[inline(always)]
    fn step(&mut self, frames: &Frames, tokens: &mut [u8], stack: &mut [u16; HEIGHT]) {
        let token = &mut tokens[self.at];
        let step = frames.steps[self.row as usize + usize::from(*token)];
        stack[usize::from(self.height)] = step.below();
        self.height = self.height.wrapping_add_signed(step.change());
        self.row = frames.results[step.result(stack[usize::from(self.height)])];
        *token = u8::from(self.row == frames.accepted);
        self.at += usize::from(self.row < frames.hops);
    }
}

/// A word that is refused.
const REFUSED: &[SymbolId] = &[SymbolId::UNKNOWN];

impl Table {
    /// Judges many words on rayon's threads. The answers do not depend on the number of threads.
    pub fn judge_all<A: Answer>(&self, words: &[Word], limits: Limits) -> Vec<A> {
        let some = |lanes: &mut Lanes, words: &[Word]| lanes.judge(words.iter().map(symbols));
        words.par_chunks(WORDS).map_init(|| Lanes::new(self, limits), some).flatten_iter().collect()
    }

    /// Judges many words on the calling thread, with the same answers as [`Table::judge_all`].
    pub fn judge_in_turn<A: Answer>(&self, words: &[Word], limits: Limits) -> Vec<A> {
        self.judge_tokens(words.iter().map(symbols), limits)
    }

    /// Judges many words, given as slices of tokens, on the calling thread.
    pub fn judge_tokens<'a, A: Answer>(&self, words: impl Iterator<Item = &'a [SymbolId]>, limits: Limits) -> Vec<A> {
        Lanes::new(self, limits).judge(words)
    }
}

/// Returns the symbols of a word. A table refuses a vector like a symbol that it does not know.
fn symbols(word: &Word) -> &[SymbolId] {
    match word {
        Word::Symbols(symbols) => symbols,
        Word::Vectors { .. } if word.is_empty() => &[],
        Word::Vectors { .. } => &[SymbolId::UNKNOWN],
    }
}
