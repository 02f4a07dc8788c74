//! One long word through a table, in segments that run side by side, by [frames](super::frames).
//!
//! A *frame* is a piece of the stack; the topmost one and the next token determine a *step*, which replaces, pushes or
//! pops a frame. A *row* is the topmost frame as the index of its steps. *Special rows* stand for what is not a frame: a
//! token that is refused, a word that is accepted, and `lost`, the outcome of a pop below which nothing is known. A *hop*
//! is a step that reads no token, because one token does more than one step can.
//!
//! The word is read in *blocks*. Each of four *lanes* has a quarter of a block and reads it in one or more *segments*.
//! The lanes take their steps in turn, on one thread: every step waits for the table, and four of them wait at the same
//! time. Only lane 0 knows the stack. A segment of another lane begins where the topmost frame is known or guessed: after
//! a token that leaves the same frame on top wherever it is read, such as an opening bracket, or after one that did so
//! many times before. What is below is not known, so the segment ends before the first step that looks at it, and another
//! one begins further on.
//!
//! When all segments of a block have run, they are *joined* from left to right. The tokens between them are read one by
//! one on the real stack. If a segment begins with the frame that is then on top, what it pushed is put on the stack, and
//! its tokens are done: **what a segment does depends on its first frame and its tokens, and on nothing else**. If the
//! frame is a different one, because the guess was wrong, the segment is passed over, and its tokens are read one by one.
//! So a wrong guess costs time, but does no harm.
//!
//! A block is read as a whole, or not at all. If a token in it is refused, or if the stack or the actions of the block
//! might reach a limit, the stack is as it was before the block, and the plain table reads the rest of the word
//! ([`Segments::plain`]), with the exact verdict and limits.
//!
//! # Example
//!
//! Take the word `(()(()))` of Dyck1 (see the [example](super::frames) of frames) as one block. Each of four lanes has
//! two tokens of it. After `(`, frame 1 is on top wherever it is read, so a segment can begin there. After `)`, it may
//! be frame 2 or 3.
//!
//! - Lane 0 has `((`. It begins with frame 0, as the word does, and ends with frame 1 on top of frames 0 and 1.
//! - Lane 1 has `)(`. After the `(` before it, frame 1 is on top, but `)` pops that at once, and what it uncovers is
//!   not known. So the first segment is empty. The second begins after `(`, where the lane ends, and is empty, too.
//! - Lane 2 has `()`. It begins with frame 1, since `(` comes before it. `(` pushes another frame 1, `)` pops it, and
//!   frame 3 is on top of nothing else.
//! - Lane 3 has `))`, and `)` comes before it. There is no place where a segment could begin, so its only segment is
//!   empty and at its end. In a longer text, the frame after `)` may have been the same eight times, and then a segment
//!   begins with it as a guess.
//!
//! Now they are joined. Lane 0 began with the frame that is on top, so its result is taken over: frame 1 on top of 0
//! and 1. The tokens of lane 1 are read one by one, which leads to frame 1 on top of 0 and 3. Lane 2 began with frame
//! 1, so its result is taken over: frame 3 on top of 0 and 3. The last two tokens are read one by one, and frame 2 is
//! left, where the word may end.

use super::compiled::{Table, TableStack};
use super::frames::{Frames, boxed};
use super::rows::State;
use super::stacks::{LANES, Stacks, Top};
use crate::recognize::{Limits, Run};
use crate::symbol::SymbolId;

/// The maximum number of tokens in a block, if each of them adds at most one frame.
const BLOCK: usize = 1 << 15;
/// The height of a lane's stack, more than any segment needs: a lane has a quarter of the block.
const HEIGHT: usize = BLOCK / 2;
/// How often the row after a token must have been the same as the time before for a segment to begin with it as a guess.
const SURE: u8 = 8;

/// A word that is being read by frames.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    /// The frames on the stack, without the topmost one.
    stack: Vec<u16>,
    /// The row of the topmost frame.
    row: u16,
    position: u64,
    /// For each kind of token, the row that followed it when it was read one by one.
    guesses: Vec<Guess>,
    columns: Box<[u8; BLOCK]>,
    /// The stack of each lane, above a frame that is not known.
    stacks: Box<Stacks<{ HEIGHT + 1 }>>,
    done: [Vec<Segment>; LANES],
    /// The maximum number of tokens in a block.
    block: usize,
}

/// The row after the last token of a kind, and how often in succession it was the same as the time before.
#[derive(Clone, Copy, Debug, Default)]
struct Guess {
    row: u16,
    times: u8,
}

/// A part of a block, and how it changes the stack.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// The index of its first token, and the one after its last token. If it ends between two hops, the token that they
    /// belong to counts as not read: its last row is that of a hop, which goes on with the same token.
    tokens: [usize; 2],
    /// The row with which it begins, and the one with which it ends.
    rows: [u16; 2],
    /// The number of frames that it leaves on the stack below the topmost one.
    height: usize,
}

/// A lane: its part of the block, and the segment that is running in it.
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

/// Takes one step in a lane, unless it leads to a special row, which is then returned.
#[inline(always)]
fn advance(
    top: &mut Top,
    frames: &Frames,
    column: u8,
    stacks: &mut Stacks<{ HEIGHT + 1 }>,
    number: usize,
) -> Option<u16> {
    let next = top.look(frames, column, stacks, number);
    // The step is looked up before it is taken, so that a segment ends in front of it.
    if frames.is_special(next.0) {
        return Some(next.0);
    }
    top.take(next, stacks, number);
    None
}

/// A block was not read, because a token in it is refused, or because a limit might be reached.
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
        tokens.chunks(self.block).try_for_each(|block| self.read_block(frames, limits, block))
    }

    fn read_block(&mut self, frames: &Frames, limits: Limits, block: &[SymbolId]) -> Result<(), Refused> {
        // Limits are not checked while frames run, so a block that might reach one is left to the plain table.
        if !frames.are_few(self.stack.len() + block.len() * frames.pushes(), limits) {
            return Err(Refused);
        }
        for (column, token) in self.columns.iter_mut().zip(block) {
            *column = frames.column(*token);
        }
        self.run(frames, block.len());
        self.join(frames, block.len())?;
        self.position += block.len() as u64;
        Ok(())
    }

    /// Returns whether the word may end here.
    pub(super) fn ends(&self, frames: &Frames) -> bool {
        let (mut row, mut height) = (self.row, self.stack.len());
        loop {
            let uncovered = height.checked_sub(1).map_or(0, |below| self.stack[below]);
            let (next, step) = frames.next(row, frames.end(), uncovered);
            row = next;
            if !frames.is_hop(row) {
                return row == frames.accepted;
            }
            // At the end, a step accepts, refuses or pops, but never pushes. So it is enough to know the height.
            let Some(below) = height.checked_sub(usize::from(step.selects & 1)) else { return false };
            height = below;
        }
    }

    /// Returns a session of the table itself that continues from here.
    pub(super) fn plain(&self, frames: &Frames, table: &Table, limits: Limits) -> Run<TableStack> {
        // The frames hold the states of the plain table, the bottommost of which is implied. But a frame may already have
        // made reductions that the table makes only when it sees the next token, and the table refuses some tokens before
        // them. So it is told which tokens it may still read here (`admitted`).
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
            // A pop that uncovers this frame leads to the special row `lost`.
            self.stacks[0][number] = frames.unknown();
            let [from, end] = [number, number + 1].map(|number| number * length / LANES);
            let top = Top { row: self.row, height: 0 };
            *lane = Lane { top, first: self.row, start: from, at: from, end };
            // A lane that begins with the block begins with its topmost frame. The others have to find out.
            if from > 0 {
                block.begin(lane, from - 1);
            }
        }
        loop {
            // Every step reads at most one token, so no lane comes to its end before the last of this many steps. Once
            // one is at its end, the others go on one after the other below: there is no fourth step to wait with them.
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
        for (number, list) in done.iter().enumerate() {
            for &Segment { tokens: [start, end], rows: [first, last], height } in list {
                joined.read(&columns[..], guesses, &mut at, start)?;
                // Segments come in order and do not overlap, so this is where the segment begins.
                debug_assert_eq!(at, start);
                // It never looked at what was below its first frame. So it would have run in the same way here, and what
                // it pushed comes on top. Only the last segment of a lane can have pushed anything that is left: the
                // others ended because their stack was empty. So one stack for each lane is enough.
                if joined.row == first {
                    joined.stack.extend(stacks[1..=height].iter().map(|frames| frames[number]));
                    (joined.row, at) = (last, end);
                }
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
    fn run_evenly(&mut self, lanes: &mut [Lane; LANES], stacks: &mut Stacks<{ HEIGHT + 1 }>, steps: usize) {
        // Copies of the tops stay in registers, and one counter is enough for the tokens that are next in all lanes.
        let parts: [&[u8]; LANES] = std::array::from_fn(|number| &self.columns[lanes[number].at..][..steps]);
        let mut tops: [Top; LANES] = std::array::from_fn(|number| lanes[number].top);
        let mut ended = [None; LANES];
        let mut done = 0;
        // Whether a segment ends is looked at after all lanes have taken the step, which is cheaper than after each.
        while done < steps && ended == [None; LANES] {
            for number in 0..LANES {
                ended[number] = advance(&mut tops[number], self.frames, parts[number][done], stacks, number);
            }
            done += 1;
        }
        // A lane whose segment ended has not taken the last step.
        for (number, lane) in lanes.iter_mut().enumerate() {
            lane.top = tops[number];
            lane.at += done - usize::from(ended[number].is_some());
            if let Some(row) = ended[number] {
                self.end(lane, number, row);
            }
        }
    }

    /// Takes this many steps in each lane, or until a segment ends.
    fn run_with_hops(&mut self, lanes: &mut [Lane; LANES], stacks: &mut Stacks<{ HEIGHT + 1 }>, steps: usize) {
        let mut ended = false;
        for _ in 0..steps {
            for (number, lane) in lanes.iter_mut().enumerate() {
                ended |= self.step(lane, stacks, number);
            }
            // The next segment begins further on, so fewer steps may be left than were asked for.
            if ended {
                break;
            }
        }
    }

    /// Takes one step. Returns whether a segment has ended.
    #[inline(always)]
    fn step(&mut self, lane: &mut Lane, stacks: &mut Stacks<{ HEIGHT + 1 }>, number: usize) -> bool {
        let ended = advance(&mut lane.top, self.frames, self.columns[lane.at % BLOCK], stacks, number);
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
        // If a token is refused, the segment is not noted, so that its tokens are read one by one when the block is
        // joined, and the token is refused again if the segment began with the right frame. If the step looked below the
        // segment's stack, that stack is empty, so the next segment can have it.
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
        // A row that was the same many times begins a segment at once, as a guess. Otherwise the next token after which
        // the row is certain does, and if there is none, nothing more of the lane is read ahead. The remainder by `BLOCK`
        // changes nothing; it saves a check of the index.
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
    /// The minimum height of the stack since the beginning of the block. What is below it has not changed, because a
    /// segment that is taken over only pushes.
    low: usize,
    /// What was above that height at the beginning of the block, from the top.
    undo: Vec<u16>,
}

impl Joined<'_> {
    /// Reads tokens one by one up to an index.
    ///
    /// # Errors
    /// If a token is refused. The stack is then as it was before the block.
    fn read(&mut self, columns: &[u8], guesses: &mut [Guess], at: &mut usize, end: usize) -> Result<(), Refused> {
        while *at < end {
            let column = columns[*at];
            // On an empty stack, no step pops: there is nothing below the first frame, and the frames know this. (At the
            // end of a word, which is never in a block, a pop there would refuse the word: see `ends`.)
            let uncovered = self.stack.last().copied().unwrap_or(0);
            let (row, step) = self.frames.next(self.row, column, uncovered);
            self.row = row;
            if self.frames.is_special(self.row) {
                self.stack.truncate(self.low);
                self.stack.extend(self.undo.iter().rev());
                return Err(Refused);
            }
            if step.selects != 0 {
                self.stack.pop();
                // Only what was on the stack before the block must be brought back if the block is refused.
                if self.stack.len() < self.low {
                    self.low -= 1;
                    self.undo.push(uncovered);
                }
            } else if step.change != 0 {
                self.stack.push(step.below);
            }
            if !self.frames.is_hop(self.row) {
                *at += 1;
                // Tokens are read here if they are in no segment that was taken over. These are the ones where a guess
                // would help.
                let guess = &mut guesses[usize::from(column)];
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
    fn the_example_is_as_described() {
        let oracle = Oracle::strict(Task::Dyck1.automaton().unwrap()).unwrap();
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        let frames = table.all_frames().unwrap();
        let width = frames.terminals as u16 + 2;
        let word: Vec<SymbolId> =
            "(()(()))".chars().map(|name| table.alphabet().symbol(&name.to_string()).unwrap()).collect();
        let mut segments = Segments::with_blocks(frames, word.len());
        assert!(segments.read(frames, Limits::default(), &word).is_ok());
        let part = |part: &Segment| (part.tokens, part.rows.map(|row| row / width), part.height);
        let done: Vec<Vec<_>> = segments.done.iter().map(|list| list.iter().map(part).collect()).collect();
        let lane_1 = vec![([2, 2], [1, 1], 0), ([4, 4], [1, 1], 0)];
        assert_eq!(done, [vec![([0, 2], [0, 1], 2)], lane_1, vec![([4, 6], [1, 3], 0)], vec![([8, 8], [0, 0], 0)]]);
        assert_eq!([segments.stacks[1][0], segments.stacks[2][0]], [0, 1]);
        assert_eq!((segments.row / width, segments.stack.len()), (2, 0));
        assert!(segments.ends(frames));
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
