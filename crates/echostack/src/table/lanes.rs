//! Many words through a table, several of them side by side, by [frames](super::frames).
//!
//! Words are dealt out to lanes, each to the one that has the fewest tokens, and follow each other in a lane with an
//! end after each. All lanes then run at once, and the row after every token is written down. The outcomes are read
//! from these rows afterwards, so that nothing has to be decided while the lanes run.
//!
//! For example, take the words `()`, `(`, `)`, `()` and `()()` of Dyck1. The fifth goes to lane 1, which is the first
//! one with fewest tokens. Below each token is the frame that is on top after it, or what has become of the word:
//!
//! | lane | | | | | | | |
//! |---|---|---|---|---|---|---|---|
//! | 0 | `(` 1 | `)` 2 | end: accepted | | | | |
//! | 1 | `(` 1 | end: refused | `(` 1 | `)` 2 | `(` 1 | `)` 2 | end: accepted |
//! | 2 | `)` refused | end: refused | | | | | |
//! | 3 | `(` 1 | `)` 2 | end: accepted | | | | |
//!
//! The second word is refused only at its end, so it is incomplete. The third is refused at its first token.

use rayon::prelude::*;

use super::compiled::Table;
use super::frames::{Frames, boxed};
use super::scan::Scanner;
use super::stacks::{LANES, Stacks, Top};
use crate::recognize::{Judged, Limits, Outcome, Verdict};
use crate::symbol::{SymbolId, Word};

/// The number of words that a thread takes at a time.
const WORDS: usize = 1 << 8;
/// The maximum number of words that are looked at together.
const WORDS_AT_ONCE: usize = 1 << 10;

/// The height up to which a stack of frames can grow, more than it does: what is left of one word is never popped by
/// the next, so the frames of all words of a lane add up.
const HEIGHT: usize = 2 * TOKENS;

/// The maximum number of tokens that a lane reads at once, if each of them adds at most one frame. A word that is
/// longer is left to the [`Scanner`].
const TOKENS: usize = 1 << 12;

/// A reader of many words, several of them side by side, that runs a [`Table`] by its frames.
///
/// The answers are those of a [`Scanner`], which also finds out what is expected where a word is refused.
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
    /// What the lanes need, once it is needed.
    batch: Option<Batch>,
}

/// Words that run together.
#[derive(Clone, Debug)]
struct Batch {
    /// The tokens of each lane's words, with an end after each word.
    tokens: Box<[[u8; LANES]; TOKENS]>,
    /// The row of each lane after each token.
    rows: Box<[[u16; LANES]; TOKENS]>,
    /// The stack of each lane. The topmost frame is not on the stack. A word begins at the height at which the one
    /// before it has ended, because what is below is never looked at.
    stacks: Box<Stacks<{ HEIGHT + 1 }>>,
    /// The number of tokens of each lane.
    lengths: [usize; LANES],
    places: Vec<Place>,
}

/// Where a word is in a [`Batch`].
#[derive(Clone, Copy, Debug)]
struct Place {
    lane: u8,
    /// The index of its first token.
    start: u16,
    /// The index of its end.
    end: u16,
    /// Whether the word was left out, because it is too long.
    is_left_out: bool,
}

impl Lanes {
    /// Creates a reader of words.
    pub fn new(table: &Table, limits: Limits) -> Self {
        Self { table: table.clone(), limits, scanner: Scanner::new(table, limits), batch: None }
    }

    /// Judges words, given as slices of tokens.
    pub fn judge<'a, A: Judged>(&mut self, words: impl Iterator<Item = &'a [SymbolId]>) -> Vec<A> {
        let mut words = words.fuse();
        let mut answers: Vec<A> = Vec::with_capacity(words.size_hint().0);
        loop {
            let some: Vec<&[SymbolId]> = words.by_ref().take(WORDS_AT_ONCE).collect();
            if some.is_empty() {
                return answers;
            }
            self.judge_some(&some, &mut answers);
        }
    }

    fn judge_some<A: Judged>(&mut self, words: &[&[SymbolId]], answers: &mut Vec<A>) {
        let Self { table, limits, scanner, batch } = self;
        // Frames take time to compute, and pay off only after some thousand tokens. With fewer words than lanes, most
        // lanes would be empty.
        let tokens = words.iter().map(|word| word.len()).sum();
        let frames = if words.len() < LANES { None } else { table.frames_for(tokens) };
        let frames = frames.and_then(|frames| Some((frames, frames.longest(*limits)?)));
        let Some((frames, longest)) = frames else {
            return answers.extend(words.iter().map(|word| scan(scanner, word)));
        };
        let batch = batch.get_or_insert_with(Batch::new);
        let mut rest = words;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(batch.fill(frames, longest, rest));
            let outcomes = batch.run(frames);
            answers.extend(now.iter().zip(outcomes).map(|(word, outcome)| answer(scanner, word, outcome)));
            rest = later;
        }
    }
}

/// Returns the answer for a word, given its outcome, if frames tell. Frames do not know what is expected where a word
/// is refused, so the word is read again if that is asked for.
fn answer<A: Judged>(scanner: &mut Scanner, word: &[SymbolId], outcome: Option<Outcome>) -> A {
    match outcome {
        Some(outcome) => A::new(outcome, || scan::<Verdict>(scanner, word).expected().to_vec()),
        None => scan(scanner, word),
    }
}

/// Judges a word with the scanner.
fn scan<A: Judged>(scanner: &mut Scanner, word: &[SymbolId]) -> A {
    scanner.read(word);
    scanner.answer()
}

impl Batch {
    fn new() -> Self {
        let places = Vec::new();
        Self {
            tokens: boxed(Vec::new()),
            rows: boxed(Vec::new()),
            stacks: boxed(Vec::new()),
            lengths: [0; LANES],
            places,
        }
    }

    /// Takes words as long as there is room, at least one, and returns their number.
    fn fill(&mut self, frames: &Frames, longest: usize, words: &[&[SymbolId]]) -> usize {
        // The stacks have room for one frame for each token. If a token can add more, fewer tokens are taken.
        let room = TOKENS / frames.pushes();
        let longest = longest.min(room - 1);
        self.places.clear();
        self.lengths = [0; LANES];
        for word in words {
            // A word that is left out takes its place as an empty word, so that places and words stay side by side.
            let is_left_out = word.len() > longest;
            let word = if is_left_out { &[] } else { *word };
            let (lane, at) = self.shortest_lane();
            // An empty batch has room for any word that is not left out, so at least one is taken.
            if at + word.len() >= room {
                break;
            }
            let (cells, last) = self.tokens[at..=at + word.len()].split_at_mut(word.len());
            for (cell, token) in cells.iter_mut().zip(word) {
                cell[lane % LANES] = frames.column(*token);
            }
            last[0][lane] = frames.end();
            let end = at + word.len();
            self.places.push(Place { lane: lane as u8, start: at as u16, end: end as u16, is_left_out });
            self.lengths[lane] = end + 1;
        }
        self.places.len()
    }

    /// Returns the lane with the fewest tokens, and their number.
    fn shortest_lane(&self) -> (usize, usize) {
        let (mut lane, mut at) = (0, self.lengths[0]);
        for (other, &length) in self.lengths.iter().enumerate().skip(1) {
            (lane, at) = if length < at { (other, length) } else { (lane, at) };
        }
        (lane, at)
    }

    /// Runs all words. Returns the outcome of each, or `None` if the frames do not tell.
    fn run(&mut self, frames: &Frames) -> impl Iterator<Item = Option<Outcome>> {
        match frames.hops {
            None => self.run_evenly(frames),
            Some(hops) => self.run_with_hops(frames, hops),
        }
        self.places.iter().map(|place| self.outcome(frames, *place))
    }

    /// Returns the outcome of a word that has run, or `None` if the frames do not tell.
    fn outcome(&self, frames: &Frames, place: Place) -> Option<Outcome> {
        let Place { lane, start, end, is_left_out } = place;
        let lane = usize::from(lane);
        if is_left_out {
            return None;
        }
        if self.rows[usize::from(end)][lane] == frames.accepted {
            return Some(Outcome::Accept);
        }
        // If a step could not be computed, frames may refuse what the table does not. Then only acceptance is certain.
        let refused = frames.refused?;
        // Once a token is refused, so are all others.
        let tokens = &self.rows[usize::from(start)..usize::from(end)];
        let position = tokens.partition_point(|row| row[lane] != refused);
        let whole = position == tokens.len();
        Some(if whole { Outcome::Incomplete } else { Outcome::Reject { position: position as u64 } })
    }

    /// Runs all words if every step reads a token. What a lane reads after its last word does not matter.
    fn run_evenly(&mut self, frames: &Frames) {
        // All lanes are at the same index, which is thus a plain loop over the tokens. Lanes are filled evenly, so that
        // few steps are taken in vain.
        let length = self.lengths.into_iter().max().unwrap_or(0);
        let mut tops = [Top::default(); LANES];
        for (tokens, rows) in self.tokens.iter().zip(self.rows.iter_mut()).take(length) {
            for lane in 0..LANES {
                let top = &mut tops[lane];
                top.step(frames, tokens[lane], &mut self.stacks, lane);
                rows[lane] = top.row;
            }
        }
    }

    /// Runs all words if there are steps that read no token.
    fn run_with_hops(&mut self, frames: &Frames, hops: u16) {
        let Self { tokens, rows, stacks, lengths, .. } = self;
        let mut running = Running { frames, hops, tokens, rows, stacks, tops: Default::default(), at: [0; LANES] };
        loop {
            // Every step reads at most one token, so no lane can end within this many steps, and none is asked whether
            // it has. Hops leave some tokens, for which there is another round.
            let left = running.at.iter().zip(&*lengths).map(|(at, length)| length - at);
            let steps = left.min().unwrap_or(0);
            if steps == 0 {
                break;
            }
            for _ in 0..steps {
                for lane in 0..LANES {
                    running.step(lane);
                }
            }
        }
        // One lane has ended. What is left of the others is short.
        for (lane, &length) in lengths.iter().enumerate() {
            while running.at[lane] < length {
                running.step(lane);
            }
        }
    }
}

/// Lanes that take different numbers of steps.
struct Running<'a> {
    frames: &'a Frames,
    /// The first row of a hop.
    hops: u16,
    tokens: &'a [[u8; LANES]; TOKENS],
    rows: &'a mut [[u16; LANES]; TOKENS],
    stacks: &'a mut Stacks<{ HEIGHT + 1 }>,
    tops: [Top; LANES],
    /// The index of the next token of each lane.
    at: [usize; LANES],
}

impl Running<'_> {
    /// Takes one step in a lane.
    #[inline(always)]
    fn step(&mut self, lane: usize) {
        let (top, at) = (&mut self.tops[lane], &mut self.at[lane]);
        top.step(self.frames, self.tokens[*at % TOKENS][lane], self.stacks, lane);
        // The row of a hop is overwritten when the token has been read.
        self.rows[*at % TOKENS][lane] = top.row;
        *at += usize::from(top.row < self.hops);
    }
}

impl Table {
    /// Judges many words on rayon's threads. The answers do not depend on the number of threads.
    pub fn judge_all<A: Judged>(&self, words: &[Word], limits: Limits) -> Vec<A> {
        let some = |lanes: &mut Lanes, words: &[Word]| lanes.judge(words.iter().map(symbols));
        words.par_chunks(WORDS).map_init(|| Lanes::new(self, limits), some).flatten_iter().collect()
    }

    /// Judges many words on the calling thread, with the same answers as [`Table::judge_all`].
    pub fn judge_serially<A: Judged>(&self, words: &[Word], limits: Limits) -> Vec<A> {
        self.judge_slices(words.iter().map(symbols), limits)
    }

    /// Judges many words, given as slices of tokens, on the calling thread.
    pub fn judge_slices<'a, A: Judged>(&self, words: impl Iterator<Item = &'a [SymbolId]>, limits: Limits) -> Vec<A> {
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

#[cfg(test)]
mod tests {
    use super::super::frames::Step;
    use super::super::scan::tests::{limits, word};
    use super::*;
    use crate::automaton::Oracle;
    use crate::automaton::reach::tests::random_automaton;
    use crate::manifest::Manifest;
    use crate::recognize::{Recognizer, Verdict};
    use crate::tasks::Task;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn table(oracle: &Oracle) -> Option<Table> {
        Table::new(oracle, Manifest::default()).ok()
    }

    /// Returns all words of up to this many tokens.
    fn all_words(terminals: usize, longest: usize) -> Vec<Word> {
        let mut all = vec![Vec::new()];
        let mut at = 0;
        while at < all.len() {
            if all[at].len() < longest {
                let longer = |token| [&all[at][..], &[SymbolId::new(token)]].concat();
                let longer: Vec<Vec<SymbolId>> = (0..terminals).map(longer).collect();
                all.extend(longer);
            }
            at += 1;
        }
        all.into_iter().map(Word::Symbols).collect()
    }

    /// Returns what frames say of each word, without the scanner.
    fn outcomes(frames: &Frames, words: &[Word]) -> Vec<Option<Outcome>> {
        let words: Vec<&[SymbolId]> = words.iter().map(symbols).collect();
        let (mut batch, mut rest, mut all) = (Batch::new(), &words[..], Vec::new());
        let longest = frames.longest(Limits::default()).unwrap();
        while !rest.is_empty() {
            let count = batch.fill(frames, longest, rest);
            all.extend(batch.run(frames));
            rest = &rest[count..];
        }
        all
    }

    /// Asserts that the oracle, the plain table and the frames agree on all words, and returns how many are accepted.
    fn compare(oracle: &Oracle, table: &Table, words: &[Word], limits: Limits) -> usize {
        let by_frames: Vec<Verdict> = table.judge_serially(words, limits);
        let outcomes: Vec<Outcome> = table.judge_serially(words, limits);
        for ((word, verdict), outcome) in words.iter().zip(&by_frames).zip(&outcomes) {
            assert_eq!(*verdict, oracle.judge_with(word, limits, &mut ()), "{word:?} {limits:?}");
            assert_eq!(*verdict, table.judge_with(word, limits, &mut ()), "{word:?} {limits:?}");
            assert_eq!(*outcome, verdict.outcome());
        }
        by_frames.iter().filter(|verdict| verdict.is_accept()).count()
    }

    #[test]
    fn the_example_is_as_described() {
        let oracle = Oracle::strict(Task::Dyck1.automaton().unwrap()).unwrap();
        let table = table(&oracle).unwrap();
        let frames = table.frames().unwrap();
        let tokens = |word: &str| -> Vec<SymbolId> {
            word.chars().map(|name| table.alphabet().symbol(&name.to_string()).unwrap()).collect()
        };
        let words = ["()", "(", ")", "()", "()()"].map(tokens);
        let words: Vec<&[SymbolId]> = words.iter().map(Vec::as_slice).collect();
        let mut batch = Batch::new();
        assert_eq!(batch.fill(frames, 100, &words), words.len());
        let outcomes: Vec<Option<Outcome>> = batch.run(frames).collect();
        let wanted =
            [Outcome::Accept, Outcome::Incomplete, Outcome::Reject { position: 0 }, Outcome::Accept, Outcome::Accept];
        assert_eq!(outcomes, wanted.map(Some));
        assert_eq!(batch.lengths, [3, 7, 2, 3]);
        let width = frames.terminals as u16 + 2;
        let (accepted, refused) = (frames.accepted / width, frames.refused.unwrap() / width);
        let refused_at_end = accepted + 1;
        let rows = |lane: usize| -> Vec<u16> {
            batch.rows[..batch.lengths[lane]].iter().map(|rows| rows[lane] / width).collect()
        };
        assert_eq!(rows(0), [1, 2, accepted]);
        assert_eq!(rows(1), [1, refused_at_end, 1, 2, 1, 2, accepted]);
        assert_eq!(rows(2), [refused, refused_at_end]);
        assert_eq!(rows(3), [1, 2, accepted]);
    }

    #[test]
    fn all_short_words_are_judged_as_by_the_automaton() {
        for (task, least) in [(Task::Anbn, 4), (Task::Dyck1, 22), (Task::Dyck2, 270)] {
            let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
            let table = table(&oracle).unwrap();
            let words = all_words(table.rows().terminals, 8);
            assert!(compare(&oracle, &table, &words, Limits::default()) >= least, "{task}");
            let by_frames = outcomes(table.frames().unwrap(), &words);
            let wanted: Vec<Option<Outcome>> = words.iter().map(|word| Some(oracle.judge(word).outcome())).collect();
            assert_eq!(by_frames, wanted, "{task}: nothing is left to the scanner");
        }
    }

    #[test]
    fn a_changed_step_is_found() {
        let oracle = Oracle::strict(Task::Dyck1.automaton().unwrap()).unwrap();
        let table = table(&oracle).unwrap();
        let words = all_words(table.rows().terminals, 8);
        let frames = table.frames().unwrap();
        let right = outcomes(frames, &words);
        let (mut changed, mut found) = (0, 0);
        let used = frames.steps.iter().rposition(|step| *step != Step::default()).unwrap();
        for at in 0..used {
            for to in 0..used {
                let mut other = frames.clone();
                other.steps[at] = frames.steps[to];
                if other.steps[at] != frames.steps[at] {
                    changed += 1;
                    found += usize::from(outcomes(&other, &words) != right);
                }
            }
        }
        // The others are steps that no word takes, or one refusal in place of another.
        println!("{found} of {changed} changes were found");
        assert!(found * 3 > changed, "{found} of {changed}");
    }

    #[test]
    fn frames_judge_as_the_automata_of_the_tasks() {
        let mut random = ChaCha8Rng::seed_from_u64(10);
        for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
            let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
            let table = table(&oracle).unwrap();
            let mut accepted = 0;
            for _ in 0..20 {
                let words: Vec<Word> = (0..100).map(|_| word(&oracle, 40, &mut random).into()).collect();
                compare(&oracle, &table, &words, limits(200, &mut random));
                accepted += compare(&oracle, &table, &words, Limits::default());
                assert!(!outcomes(table.frames().unwrap(), &words).contains(&None), "{task}");
            }
            assert!(accepted > 20, "{task}: {accepted}");
        }
    }

    #[test]
    fn frames_judge_as_random_automata() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let (mut automata, mut all, mut accepted, mut by_frames) = (0, 0, 0, 0);
        while automata < 1000 {
            let Ok(oracle) = Oracle::strict(random_automaton(&mut random)) else { continue };
            let Some(table) = table(&oracle) else { continue };
            automata += 1;
            let words: Vec<Word> = (0..20).map(|_| word(&oracle, 12, &mut random).into()).collect();
            compare(&oracle, &table, &words, limits(200, &mut random));
            all += words.len();
            accepted += compare(&oracle, &table, &words, Limits::default());
            if let Some(frames) = table.frames() {
                by_frames += outcomes(frames, &words).iter().flatten().count();
            }
        }
        println!("{by_frames} of {all} words judged by frames, {accepted} accepted");
        assert!(accepted > 100 && by_frames * 10 > all * 9, "{by_frames} of {all}, {accepted}");
    }
}
