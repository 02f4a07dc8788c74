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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::Oracle;
    use crate::automaton::reach::tests::random_automaton;
    use crate::manifest::Manifest;
    use crate::recognize::{Recognizer, Session, Status, Verdict};
    use crate::symbol::Input;
    use crate::tasks::Task;
    use rand::{RngExt, SeedableRng};
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

    /// Returns whether frames accept each word, without the scanner.
    fn accepted(frames: &Frames, words: &[Word]) -> Vec<bool> {
        let mut stacks: Stacks =
            std::array::from_fn(|_| vec![0; HEIGHT].into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!()));
        let words: Vec<&[SymbolId]> = words.iter().map(symbols).collect();
        let (mut batch, mut rest, mut all) = (Batch::default(), &words[..], Vec::new());
        while !rest.is_empty() {
            let count = batch.fill(frames, Limits::default(), rest);
            all.extend(batch.run(frames, &mut stacks));
            rest = &rest[count..];
        }
        all
    }

    /// Asserts that the oracle, the plain table and the frames agree on all words, and returns how many are accepted.
    fn compare(oracle: &Oracle, table: &Table, words: &[Word], limits: Limits) -> usize {
        let by_frames: Vec<Verdict> = table.judge_in_turn(words, limits);
        let outcomes: Vec<Outcome> = table.judge_in_turn(words, limits);
        for ((word, verdict), outcome) in words.iter().zip(&by_frames).zip(&outcomes) {
            assert_eq!(*verdict, oracle.judge_with(word, limits, &mut ()), "{word:?} {limits:?}");
            assert_eq!(*verdict, table.judge_with(word, limits, &mut ()), "{word:?} {limits:?}");
            assert_eq!(*outcome, verdict.outcome());
        }
        by_frames.iter().filter(|verdict| verdict.is_accept()).count()
    }

    #[test]
    fn all_short_words_are_judged_as_by_the_automaton() {
        for (task, least) in [(Task::Anbn, 4), (Task::Dyck1, 22), (Task::Dyck2, 270)] {
            let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
            let table = table(&oracle).unwrap();
            let words = all_words(table.rows().terminals, 8);
            assert!(compare(&oracle, &table, &words, Limits::default()) >= least, "{task}");
            let by_frames = accepted(table.frames().unwrap(), &words);
            let wanted: Vec<bool> = words.iter().map(|word| oracle.judge(word).is_accept()).collect();
            assert_eq!(by_frames, wanted, "{task}: nothing is left to the scanner");
        }
    }

    #[test]
    fn a_changed_step_is_found() {
        let oracle = Oracle::strict(Task::Dyck1.automaton().unwrap()).unwrap();
        let table = table(&oracle).unwrap();
        let words = all_words(table.rows().terminals, 8);
        let frames = table.frames().unwrap();
        let right = accepted(frames, &words);
        let (mut changed, mut found) = (0, 0);
        for at in 0..frames.steps.len() {
            for to in 0..frames.steps.len() {
                let mut other = frames.clone();
                other.steps[at] = frames.steps[to];
                if other.steps[at] != frames.steps[at] {
                    changed += 1;
                    found += usize::from(accepted(&other, &words) != right);
                }
            }
        }
        // The others are steps that no word takes, or one refusal in place of another.
        println!("{found} of {changed} changes were found");
        assert!(found * 3 > changed, "{found} of {changed}");
    }

    /// Returns a word that mostly follows the automaton.
    fn word(oracle: &Oracle, longest: usize, random: &mut ChaCha8Rng) -> Word {
        let mut session = oracle.start(Limits::default());
        let mut word = Vec::new();
        for _ in 0..random.random_range(0..=longest) {
            let fits: Vec<SymbolId> = session.expected().iter().filter_map(|next| next.token()).collect();
            if fits.is_empty() {
                break;
            }
            let token = fits[random.random_range(0..fits.len())];
            let more = oracle.automaton().alphabet().terminals().len() + 1;
            let wrong = random.random_bool(0.03);
            word.push(if wrong { SymbolId::new(random.random_range(0..more)) } else { token });
            if session.feed(Input::Symbol(word[word.len() - 1]), &mut ()) != Status::Open && random.random_bool(0.5) {
                break;
            }
        }
        Word::Symbols(word)
    }

    fn limits(random: &mut ChaCha8Rng) -> Limits {
        match random.random_range(0..3) {
            0 => Limits { depth: random.random_range(0..200), ..Limits::default() },
            1 => Limits {
                depth: random.random_range(5..1000),
                actions: random.random_range(0..100),
                actions_per_symbol: random.random_range(0..3),
            },
            _ => Limits::default(),
        }
    }

    #[test]
    fn frames_judge_as_the_automata_of_the_tasks() {
        let mut random = ChaCha8Rng::seed_from_u64(10);
        for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
            let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
            let table = table(&oracle).unwrap();
            let (mut all, mut by_frames) = (0, 0);
            for _ in 0..20 {
                let words: Vec<Word> = (0..100).map(|_| word(&oracle, 40, &mut random)).collect();
                compare(&oracle, &table, &words, limits(&mut random));
                all += compare(&oracle, &table, &words, Limits::default());
                by_frames += accepted(table.frames().unwrap(), &words).iter().filter(|accepted| **accepted).count();
            }
            assert!(all > 20 && by_frames == all, "{task}: {by_frames} of {all}");
        }
    }

    #[test]
    fn frames_judge_as_random_automata() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let (mut automata, mut all, mut by_frames) = (0, 0, 0);
        while automata < 1000 {
            let Ok(oracle) = Oracle::strict(random_automaton(&mut random)) else { continue };
            let Some(table) = table(&oracle) else { continue };
            automata += 1;
            let words: Vec<Word> = (0..20).map(|_| word(&oracle, 12, &mut random)).collect();
            compare(&oracle, &table, &words, limits(&mut random));
            all += compare(&oracle, &table, &words, Limits::default());
            if let Some(frames) = table.frames() {
                by_frames += accepted(frames, &words).iter().filter(|accepted| **accepted).count();
            }
        }
        println!("{by_frames} of {all} words accepted by frames");
        assert!(all > 100 && by_frames * 10 > all * 9, "{by_frames} of {all}");
    }
}
