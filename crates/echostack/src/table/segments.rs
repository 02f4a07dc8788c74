//! One long word through a table, in segments that run side by side, by [frames](super::frames).
//!
//! A segment begins after a token that tells which frame is on top, such as an opening bracket. What is below is not
//! known there, so a segment ends before the first step that looks at it, and another one begins further on. When all
//! segments of a block have run, they are joined from left to right: the tokens between them are read one by one, and
//! where a segment begins with the frame that is now on top, its result is taken over. If the frame is a different one,
//! its tokens are read one by one as well. So it does no harm to begin a segment with a guess.
//!
//! A block is read as a whole, or not at all. If a token in it is refused, the stack is as it was before the block, and the
//! plain table continues from there.

use super::compiled::{Table, TableStack};
use super::frames::{Frames, boxed};
use super::rows::State;
use crate::recognize::{Limits, Run};
use crate::symbol::SymbolId;

/// The number of segments that run side by side.
const LANES: usize = 4;
/// The maximum number of tokens in a block, if each of them adds at most one frame.
const BLOCK: usize = 1 << 15;
/// The height up to which a segment's stack of frames can grow, more than it does.
const HEIGHT: usize = BLOCK / 2;
/// The number of times in a row that the same row must have followed a token for a segment to begin with it, although it
/// need not follow.
const SURE: u8 = 8;

/// A word that is being read by frames.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    /// The frames on the stack, without the topmost one.
    stack: Vec<u16>,
    /// The row of the topmost frame.
    row: u16,
    position: u64,
    /// What follows each token.
    guesses: Vec<Guess>,
    columns: Box<[u8; BLOCK]>,
    /// The stack of each lane, above a frame that is not known.
    stacks: Box<[[u16; LANES]; HEIGHT + 1]>,
    done: [Vec<Segment>; LANES],
    /// The maximum number of tokens in a block.
    block: usize,
}

/// The row that followed a token most recently, and how many times in a row it did before.
#[derive(Clone, Copy, Debug, Default)]
struct Guess {
    row: u16,
    times: u8,
}

/// A part of a block, and how it changes the stack.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// The index of its first token, and the one after its last token.
    tokens: [usize; 2],
    /// The row with which it begins, and the one with which it ends.
    rows: [u16; 2],
    /// The number of frames that it leaves on the stack below the topmost one.
    height: usize,
}

/// A segment that is running.
#[derive(Clone, Copy, Default)]
struct Lane {
    top: Top,
    at: usize,
    /// Where the segment began, and with which row.
    start: usize,
    first: u16,
    /// The end of the lane's part of the block.
    end: usize,
}

/// The top of a segment's stack.
#[derive(Clone, Copy, Default)]
struct Top {
    /// The row of the topmost frame.
    row: u16,
    /// The number of frames below it.
    height: usize,
}

impl Top {
    /// Takes one step, unless it leads to a special row, which is then returned. A hop reads no token, and does not depend
    /// on it.
    #[inline(always)]
    fn step(
        &mut self,
        frames: &Frames,
        column: u8,
        stacks: &mut [[u16; LANES]; HEIGHT + 1],
        number: usize,
    ) -> Option<u16> {
        let step = &frames.steps[usize::from(self.row) + usize::from(column)];
        let uncovered = stacks[self.height % HEIGHT][number];
        let row = frames.results[usize::from(step.result) + usize::from(uncovered & step.selects)];
        if frames.is_special(row) {
            return Some(row);
        }
        self.row = row;
        stacks[self.height % HEIGHT + 1][number] = step.below;
        self.height = (self.height + usize::from(step.change)) % HEIGHT;
        None
    }
}

/// A token was refused, or a limit might be reached.
pub(super) struct Refused;

impl Segments {
    pub(super) fn new(frames: &Frames) -> Self {
        Self::with_blocks(frames, BLOCK)
    }

    /// Creates segments for blocks with at most this many tokens.
    pub(super) fn with_blocks(frames: &Frames, block: usize) -> Self {
        Self {
            stack: Vec::new(),
            row: 0,
            position: 0,
            guesses: vec![Guess::default(); frames.terminals + 2],
            columns: boxed(Vec::new()),
            stacks: boxed(Vec::new()),
            done: Default::default(),
            block: block.min(BLOCK / frames.pushes()).max(1),
        }
    }

    /// Begins another word.
    pub(super) fn begin(&mut self) {
        self.stack.clear();
        (self.row, self.position) = (0, 0);
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Reads tokens in blocks.
    ///
    /// # Errors
    /// If a block cannot be read. The position tells how many tokens were.
    pub(super) fn read(&mut self, frames: &Frames, limits: Limits, tokens: &[SymbolId]) -> Result<(), Refused> {
        tokens.chunks(self.block).try_for_each(|block| {
            if !frames.are_few(self.stack.len() + block.len() * frames.pushes(), limits) {
                return Err(Refused);
            }
            let other = frames.terminals as u8 + 1;
            for (column, token) in self.columns.iter_mut().zip(block) {
                *column = if token.index() < frames.terminals { token.index() as u8 } else { other };
            }
            self.run(frames, block.len());
            self.join(frames, block.len())?;
            self.position += block.len() as u64;
            Ok(())
        })
    }

    /// Returns whether the word may end here.
    pub(super) fn ends(&self, frames: &Frames) -> bool {
        let (mut row, mut height) = (self.row, self.stack.len());
        loop {
            let step = frames.steps[usize::from(row) + frames.terminals];
            let uncovered = height.checked_sub(1).map_or(0, |below| self.stack[below]);
            row = frames.results[usize::from(step.result) + usize::from(uncovered & step.selects)];
            if frames.hops.is_none_or(|hops| row < hops) {
                return row == frames.accepted;
            }
            // A word that is accepted is never longer on the stack after its end.
            let Some(below) = height.checked_sub(usize::from(step.selects & 1)) else { return false };
            height = below;
        }
    }

    /// Returns a session of the table itself that continues from here.
    pub(super) fn plain(&self, frames: &Frames, table: &Table, limits: Limits) -> Run<TableStack> {
        let top = frames.topmost(self.row);
        let below = self.stack.iter().flat_map(|&number| &frames.frame(number).states);
        let states = below.chain(&top.states).skip(1).copied().collect::<Vec<State>>();
        let stack = TableStack::admitting(table.clone(), states.into_iter(), top.admitted.clone());
        Run::resume(stack, limits, self.position)
    }

    /// Runs segments of a block.
    fn run(&mut self, frames: &Frames, length: usize) {
        let hops = frames.hops.map_or(u32::MAX, u32::from);
        let Self { columns, guesses, done, .. } = self;
        let mut block = Block { frames, hops, columns, guesses, done };
        let mut lanes = [Lane::default(); LANES];
        for (number, lane) in lanes.iter_mut().enumerate() {
            block.done[number].clear();
            self.stacks[0][number] = frames.unknown();
            let [from, end] = [number, number + 1].map(|number| number * length / LANES);
            let top = Top { row: self.row, height: 0 };
            *lane = Lane { top, first: self.row, start: from, at: from, end };
            if from > 0 {
                block.begin(lane, from - 1);
            }
        }
        loop {
            // Every step reads at most one token.
            let steps = lanes.iter().map(|lane| lane.end - lane.at).min().unwrap_or(0);
            if steps == 0 {
                break;
            }
            if frames.hops.is_none() {
                block.run_evenly(&mut lanes, &mut self.stacks, steps);
            } else {
                block.run_with_hops(&mut lanes, &mut self.stacks, steps);
            }
        }
        for (number, lane) in lanes.iter_mut().enumerate() {
            while lane.at < lane.end {
                block.step(lane, &mut self.stacks, number);
            }
            block.note(lane, number);
        }
    }

    /// Reads a block, with the results of its segments.
    fn join(&mut self, frames: &Frames, length: usize) -> Result<(), Refused> {
        let Self { stack, row, guesses, columns, stacks, done, .. } = self;
        let mut joined = Joined { frames, row: *row, low: stack.len(), stack, undo: Vec::new() };
        let mut at = 0;
        for (number, segment) in
            done.iter().enumerate().flat_map(|(number, list)| list.iter().map(move |one| (number, one)))
        {
            let &Segment { tokens: [start, end], rows: [first, last], height } = segment;
            joined.read(&columns[..], guesses, &mut at, start)?;
            if joined.row == first && at == start {
                joined.stack.extend(stacks[1..=height].iter().map(|frames| frames[number]));
                (joined.row, at) = (last, end);
            }
        }
        joined.read(&columns[..], guesses, &mut at, length)?;
        *row = joined.row;
        Ok(())
    }
}

/// A block whose segments are running.
struct Block<'a> {
    frames: &'a Frames,
    /// The first row of a hop.
    hops: u32,
    columns: &'a [u8; BLOCK],
    guesses: &'a [Guess],
    done: &'a mut [Vec<Segment>; LANES],
}

impl Block<'_> {
    /// Takes this many steps in each lane, or until a segment ends, if every step reads a token.
    fn run_evenly(&mut self, lanes: &mut [Lane; LANES], stacks: &mut [[u16; LANES]; HEIGHT + 1], steps: usize) {
        let parts: [&[u8]; LANES] = std::array::from_fn(|number| &self.columns[lanes[number].at..][..steps]);
        let mut tops: [Top; LANES] = std::array::from_fn(|number| lanes[number].top);
        let mut ended = [None; LANES];
        let mut done = 0;
        while done < steps && ended == [None; LANES] {
            for number in 0..LANES {
                ended[number] = tops[number].step(self.frames, parts[number][done], stacks, number);
            }
            done += 1;
        }
        for (number, lane) in lanes.iter_mut().enumerate() {
            lane.top = tops[number];
            lane.at += done - usize::from(ended[number].is_some());
            if let Some(row) = ended[number] {
                self.end(lane, number, row);
            }
        }
    }

    /// Takes this many steps in each lane, or until a segment ends.
    fn run_with_hops(&mut self, lanes: &mut [Lane; LANES], stacks: &mut [[u16; LANES]; HEIGHT + 1], steps: usize) {
        let mut ended = false;
        for _ in 0..steps {
            for (number, lane) in lanes.iter_mut().enumerate() {
                ended |= self.step(lane, stacks, number);
            }
            if ended {
                break;
            }
        }
    }

    /// Takes one step. Returns whether a segment has ended.
    #[inline(always)]
    fn step(&mut self, lane: &mut Lane, stacks: &mut [[u16; LANES]; HEIGHT + 1], number: usize) -> bool {
        let ended = lane.top.step(self.frames, self.columns[lane.at % BLOCK], stacks, number);
        if let Some(row) = ended {
            self.end(lane, number, row);
        } else {
            lane.at += usize::from(u32::from(lane.top.row) < self.hops);
        }
        ended.is_some()
    }

    /// Ends a segment before a step that leads to a special row, and begins another one.
    #[cold]
    fn end(&mut self, lane: &mut Lane, number: usize, row: u16) {
        // The segment of a token that is refused is not used, so that the token is found again.
        if row == self.frames.lost {
            self.note(lane, number);
        }
        self.begin(lane, lane.at);
    }

    /// Notes the segment of a lane.
    fn note(&mut self, lane: &Lane, number: usize) {
        let &Lane { top: Top { row, height }, at, start, first, .. } = lane;
        self.done[number].push(Segment { tokens: [start, at], rows: [first, row], height });
    }

    /// Begins a segment after the token at this index, or after a later one.
    fn begin(&self, lane: &mut Lane, after: usize) {
        let guess = self.guesses[usize::from(self.columns[after % BLOCK])];
        let columns = &self.columns[after..lane.end];
        let known = |(at, &column): (usize, &u8)| Some((at, (*self.frames.after.get(usize::from(column))?)?));
        let (skipped, row) = if guess.times >= SURE {
            (0, guess.row)
        } else {
            columns.iter().enumerate().find_map(known).unwrap_or((lane.end - after - 1, guess.row))
        };
        let start = after + skipped + 1;
        *lane = Lane { top: Top { row, height: 0 }, first: row, start, at: start, ..*lane };
    }
}

/// The stack of a block that is being read.
struct Joined<'a> {
    frames: &'a Frames,
    stack: &'a mut Vec<u16>,
    row: u16,
    /// The minimum height of the stack so far, and what was above it at first, from the top.
    low: usize,
    undo: Vec<u16>,
}

impl Joined<'_> {
    /// Reads tokens one by one up to an index.
    ///
    /// # Errors
    /// If a token is refused. The stack is then as it was before the block.
    fn read(&mut self, columns: &[u8], guesses: &mut [Guess], at: &mut usize, end: usize) -> Result<(), Refused> {
        while *at < end {
            let column = usize::from(columns[*at]);
            let step = self.frames.steps[usize::from(self.row) + column];
            let uncovered = self.stack.last().copied().unwrap_or(0);
            self.row = self.frames.results[usize::from(step.result) + usize::from(uncovered & step.selects)];
            if self.frames.is_special(self.row) {
                self.stack.truncate(self.low);
                self.stack.extend(self.undo.iter().rev());
                return Err(Refused);
            }
            if step.selects != 0 {
                self.stack.pop();
                if self.stack.len() < self.low {
                    self.low -= 1;
                    self.undo.push(uncovered);
                }
            } else if step.change != 0 {
                self.stack.push(step.below);
            }
            if !self.frames.is_hop(self.row) {
                *at += 1;
                let guess = &mut guesses[column];
                let times = if guess.row == self.row { guess.times.saturating_add(1) } else { 0 };
                *guess = Guess { row: self.row, times };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::tests::in_segments;
    use super::*;
    use crate::automaton::Oracle;
    use crate::manifest::Manifest;
    use crate::recognize::{Recognizer, Session};
    use crate::symbol::{Input, Word};
    use crate::tasks::Task;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Returns the beginning of a word, possibly with one token changed.
    fn word(oracle: &Oracle, length: usize, random: &mut ChaCha8Rng) -> Vec<SymbolId> {
        let mut session = oracle.start(Limits::default());
        let mut word = Vec::new();
        while word.len() < length {
            let fits: Vec<SymbolId> = session.expected().iter().filter_map(|next| next.token()).collect();
            if fits.is_empty() {
                break;
            }
            word.push(fits[random.random_range(0..fits.len())]);
            session.feed(Input::Symbol(word[word.len() - 1]), &mut ());
        }
        if !word.is_empty() && random.random_bool(0.5) {
            let at = random.random_range(0..word.len());
            word[at] = SymbolId::new(random.random_range(0..oracle.automaton().alphabet().terminals().len()));
        }
        word
    }

    #[test]
    fn long_words_are_judged_as_by_the_automaton() {
        let mut random = ChaCha8Rng::seed_from_u64(12);
        let (mut joined, mut tokens) = (0, 0);
        for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
            let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
            let table = Table::new(&oracle, Manifest::default()).unwrap();
            for round in 0..30 {
                let length = random.random_range(0..2000);
                let words: Vec<Vec<SymbolId>> = (0..3).map(|_| word(&oracle, length, &mut random)).collect();
                let words: Vec<&[SymbolId]> = words.iter().map(Vec::as_slice).collect();
                let depth = if round % 3 == 0 { random.random_range(0..500) } else { 1 << 20 };
                let limits = Limits { depth, ..Limits::default() };
                let wanted: Vec<_> =
                    words.iter().map(|word| oracle.judge_with(&Word::from(word.to_vec()), limits, &mut ())).collect();
                let block = random.random_range(1..600);
                assert_eq!(in_segments(&table, limits, &words, block), Some(wanted), "{task} {block}");
                let frames = table.all_frames().unwrap();
                let mut segments = Segments::new(frames);
                for word in words {
                    segments.begin();
                    if segments.read(frames, Limits::default(), word).is_ok() {
                        let lists = segments.done.iter().flatten();
                        joined += lists.map(|segment| segment.tokens[1] - segment.tokens[0]).sum::<usize>();
                        tokens += word.len();
                    }
                }
            }
        }
        assert!(joined * 3 > tokens, "{joined} of {tokens} tokens are in segments");
    }

    #[test]
    fn a_changed_step_is_found_in_segments() {
        let oracle = Oracle::strict(Task::Dyck2.automaton().unwrap()).unwrap();
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(13);
        let words: Vec<Vec<SymbolId>> = (0..50).map(|_| word(&oracle, 500, &mut random)).collect();
        let read = |frames: &Frames| -> Vec<(bool, bool)> {
            let mut segments = Segments::with_blocks(frames, 64);
            let mut read = |word: &Vec<SymbolId>| {
                segments.begin();
                let read = segments.read(frames, Limits::default(), word).is_ok();
                (read, read && segments.ends(frames))
            };
            words.iter().map(&mut read).collect()
        };
        let frames = table.all_frames().unwrap();
        let right = read(frames);
        let width = frames.terminals + 2;
        let (mut changed, mut found) = (0, 0);
        for at in 0..usize::from(frames.unknown()) * width {
            let mut other = frames.clone();
            other.steps[at].result ^= 1;
            changed += 1;
            found += usize::from(read(&other) != right);
        }
        println!("{found} of {changed} changes were found");
        assert!(found * 3 > changed, "{found} of {changed}");
    }
}
