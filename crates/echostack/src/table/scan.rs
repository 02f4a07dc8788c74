//! The fast way to run a table: with whole chains of reductions at once, and usually one byte per symbol on the stack.
//!
//! # Example
//!
//! The table of aⁿbⁿ has the rules S: a S b and, before b, S: nothing. States 0 to 4 stand for the empty stack, `a`, S
//! above `a`, `b`, and S at the bottom. Plainly, the word `aabb` takes four shifts and three reductions. Fused (see
//! [`fuse`](super::fuse)), it takes one operation for each token and one for the end:
//!
//! | next | states before | fused operation | instead of |
//! |---|---|---|---|
//! | `a` | 0 | push 1 | shift a |
//! | `a` | 0 1 | push 1 | shift a |
//! | `b` | 0 1 1 | push 2 and 3 | push S, shift b |
//! | `b` | 0 1 1 2 3 | hop: pop 3; then, on state 1, push 2 and 3 | reduce a S b to S, shift b |
//! | the end | 0 1 2 3 | hop: pop 3; then, on state 0, accept | reduce a S b to S, accept |
//!
//! An operation that pops nothing begins with a hop as well, which pops nothing. So all tokens take the same way
//! through [`Fast::look`], and only a second hop is a branch.

use super::compiled::{Table, TableStack};
use super::frames::Frames;
use super::fuse::{Kind, MAX_CHAIN_DECISIONS, MAX_INLINE_STATES, Op};
use super::rows::State;
use super::segments::Segments;
use crate::recognize::{Judged, Limits, Outcome, Run, Session, Status, Verdict};
use crate::symbol::{Input, SymbolId};

/// A reader of words that runs a [`Table`] at full speed, one word after the other.
///
/// The verdict is the same as in the table's own session: all exceptional cases, such as a token that does not fit or a
/// limit that is nearly reached, are left to that session.
///
/// ```
/// use echostack::{Limits, Oracle, Scanner, Table, Verdict, tasks::Task};
/// let table = Table::new(&Oracle::strict(Task::Anbn.automaton().unwrap())?, Default::default())?;
/// let [a, b] = ["a", "b"].map(|name| table.alphabet().symbol(name).unwrap());
/// let mut scanner = Scanner::new(&table, Limits::default());
/// scanner.read([a; 1000]);
/// scanner.read([b; 1000]);
/// assert_eq!(scanner.finish(), Verdict::Accept);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scanner {
    table: Table,
    limits: Limits,
    stack: Stack,
    /// What reads long words, kept from one word to the next.
    segments: Option<Box<Segments>>,
    /// Whether the word is read in segments.
    is_long: bool,
    /// The table's own session, after it has taken over.
    plain: Option<Run<TableStack>>,
}

/// A stack of states, in one byte each if they fit.
#[derive(Clone, Debug)]
enum Stack {
    Narrow(Cells<u8>),
    Wide(Cells<State>),
}

/// The cells of a stack, and the position in the word.
#[derive(Clone, Debug)]
struct Cells<C> {
    /// The states, from the bottom of the stack to its top, followed by unused space.
    states: Vec<C>,
    /// The number of symbols on the stack, not counting the bottom.
    depth: usize,
    /// The number of tokens read.
    position: u64,
}

/// A state as it is stored on the stack.
trait Cell: Copy + Default {
    fn of(state: State) -> Self;
    fn state(self) -> usize;
}

impl Cell for u8 {
    fn of(state: State) -> Self {
        state as Self
    }

    fn state(self) -> usize {
        usize::from(self)
    }
}

impl Cell for State {
    fn of(state: State) -> Self {
        state
    }

    fn state(self) -> usize {
        usize::from(self)
    }
}

/// The maximum number of decisions in a first and a last chain together.
const TWO_CHAINS: u64 = 2 * MAX_CHAIN_DECISIONS as u64;

/// The reason the fast loop ended.
enum Left {
    /// All tokens were read.
    Ended,
    /// The stack became deeper than the loop was prepared for.
    Deep,
    /// This token must be read by the table's own session.
    Token(SymbolId),
}

/// A stack in the fast loop, with everything that the loop needs at hand.
struct Fast<'a, C> {
    states: &'a mut [C],
    depth: usize,
    position: u64,
}

impl<C: Cell> Fast<'_, C> {
    /// Reads tokens until the stack is deeper than `ready`, which it must not be at first.
    #[inline]
    fn read(
        &mut self,
        table: &Table,
        limits: Limits,
        ready: usize,
        tokens: &mut impl Iterator<Item = SymbolId>,
    ) -> Left {
        let fused = table.fused();
        let terminals = table.rows().terminals;
        let mut top = self.states[self.depth].state();
        // The topmost state is kept aside, because the next look-up would have to wait until it is written to the stack
        // and read again.
        for token in tokens {
            if token.index() >= terminals {
                return Left::Token(token);
            }
            let (op, low) = self.look(table, limits, top, token.index());
            if op.is(Kind::Push) {
                // Always the same number of cells are written, which takes no loop. Those above the new depth do not
                // count.
                let above = &mut self.states[low + 1..=low + MAX_INLINE_STATES];
                above.iter_mut().enumerate().for_each(|(number, cell)| *cell = C::of(op.state(number)));
                top = usize::from(op.last());
            } else if op.is(Kind::PushMany) {
                let above = self.states[low + 1..].iter_mut();
                let pushed = &fused.many[op.place()..][..op.count()];
                above.zip(pushed).for_each(|(cell, &state)| *cell = C::of(state));
                top = usize::from(pushed[pushed.len() - 1]);
            } else {
                // Nothing was written, so the stack is still the one before the token, and the table's own session can
                // find out why the token does not fit.
                return Left::Token(token);
            }
            self.depth = low + op.count();
            self.position += 1;
            // Checked after each token instead of each write: up to this depth, there is room for any one token.
            if self.depth > ready {
                return Left::Deep;
            }
        }
        Left::Ended
    }

    /// Looks at a token, or at the end of the word. Returns the operation and the depth at which it applies.
    #[inline]
    fn look(&self, table: &Table, limits: Limits, top: usize, column: usize) -> (Op, usize) {
        let ops = &table.fused().ops[..];
        // The first columns consist of hops only, most of which pop nothing, so this one is taken without asking.
        let first = ops[column * table.states() + top];
        // A table from a file may pop more than there is, or lead to a column without an entry for a state.
        let Some(mut low) = self.depth.checked_sub(first.pop()) else { return (Op::UNKNOWN, 0) };
        let mut op = ops.get(first.place() + self.states[low].state()).copied().unwrap_or(Op::UNKNOWN);
        if !op.is(Kind::Hop) {
            return (op, low);
        }
        // Any number of hops can follow. Two chains, before the first and after the last of them, are counted as if
        // they were as long as possible. If that exceeds the limit, the table's own session counts exactly.
        let mut taken = TWO_CHAINS;
        while op.is(Kind::Hop) {
            let Some(beneath) = low.checked_sub(op.pop()) else { return (Op::UNKNOWN, low) };
            low = beneath;
            taken += op.count() as u64;
            op = ops.get(op.place() + self.states[low].state()).copied().unwrap_or(Op::UNKNOWN);
        }
        let many = taken > limits.actions && taken > limits.actions_at(self.depth);
        if many { (Op::UNKNOWN, low) } else { (op, low) }
    }
}

/// A word is read in segments if at least this many tokens of it come at once.
const LONG: usize = 1 << 12;

/// The initial length of the list of states, and the length by which it grows.
const INITIAL_STATES: usize = 1 << 8;
const STATES_GROWTH: usize = 1 << 12;

impl<C: Cell> Cells<C> {
    fn new(table: &Table) -> Self {
        Self {
            states: vec![C::default(); INITIAL_STATES + table.fused().rise + MAX_INLINE_STATES],
            depth: 0,
            position: 0,
        }
    }

    /// Begins another word.
    fn begin(&mut self) {
        (self.depth, self.position) = (0, 0);
    }

    /// Reads tokens up to one that must be read by the table's own session, and returns that token.
    fn read(&mut self, table: &Table, limits: Limits, tokens: &mut impl Iterator<Item = SymbolId>) -> Option<SymbolId> {
        let room = table.fused().rise + MAX_INLINE_STATES;
        // Up to this depth, a chain does not reach the limit.
        let Some(deepest) = limits.depth.checked_sub(table.fused().rise) else { return tokens.next() };
        if limits.actions < TWO_CHAINS {
            return tokens.next(); // a single hop might exceed the limit
        }
        // The list grows outside of the fast loop, which then needs no check whether it has to.
        while self.depth <= deepest {
            if self.states.len() <= self.depth + room {
                self.states.resize(self.states.len() + room + STATES_GROWTH, C::default());
            }
            // Up to this depth, a chain does not reach the end of the list either.
            let ready = deepest.min(self.states.len() - room - 1);
            let mut fast = self.fast();
            let left = fast.read(table, limits, ready, tokens);
            (self.depth, self.position) = (fast.depth, fast.position);
            match left {
                Left::Ended => return None,
                Left::Token(token) => return Some(token),
                Left::Deep => {}
            }
        }
        tokens.next()
    }

    /// Returns the stack for the fast loop.
    fn fast(&mut self) -> Fast<'_, C> {
        Fast { states: &mut self.states, depth: self.depth, position: self.position }
    }

    /// Returns whether the word may end here. If the result is `false`, a limit may be the reason.
    fn ends(&mut self, table: &Table, limits: Limits) -> bool {
        // Near a limit, the answer is no, whereupon the table's own session is asked.
        let near = self.depth + table.fused().rise > limits.depth || limits.actions < TWO_CHAINS;
        let end = table.rows().terminals;
        let top = self.states[self.depth].state();
        !near && self.fast().look(table, limits, top, end).0.is(Kind::Accept)
    }

    /// Returns a session of the table itself that continues from here.
    fn plain(&self, table: &Table, limits: Limits) -> Run<TableStack> {
        // State 0 at the bottom belongs to every stack and is not listed.
        let states = self.states[1..=self.depth].iter().map(|cell| cell.state() as State);
        Run::resume(TableStack::new(table.clone(), states), limits, self.position)
    }
}

impl Scanner {
    /// Creates a scanner at the beginning of a word.
    pub fn new(table: &Table, limits: Limits) -> Self {
        let stack = if table.is_narrow() { Stack::Narrow(Cells::new(table)) } else { Stack::Wide(Cells::new(table)) };
        Self { table: table.clone(), limits, stack, segments: None, is_long: false, plain: None }
    }

    /// Reads tokens, stopping after the first one that ends the word, and returns the status. It is faster to read many
    /// tokens at once.
    pub fn read(&mut self, tokens: impl AsRef<[SymbolId]>) -> Status {
        self.read_long(tokens.as_ref(), LONG)
    }

    /// Reads tokens, in segments if a word begins with at least `long` of them.
    fn read_long(&mut self, tokens: &[SymbolId], long: usize) -> Status {
        // Once the table's own session has taken over, it stays: what it has found out cannot be handed back.
        if self.plain.is_some() {
            return self.read_plain(tokens);
        }
        // Segments have a stack of their own, so whether a word is read in them is decided at its beginning.
        if self.position() == 0 && tokens.len() >= long {
            let frames = self.table.all_frames();
            self.is_long = frames.is_some();
            if let (Some(frames), None) = (frames, &self.segments) {
                self.segments = Some(Box::new(Segments::new(frames)));
            }
        }
        let (before, limits) = (self.position(), self.limits);
        if let Some((frames, segments)) = self.long() {
            if segments.read(frames, limits, tokens).is_ok() {
                return Status::Open;
            }
            // Whole blocks were read. The rest begins with the block in which something happened.
            let read = (segments.position() - before) as usize;
            return self.read_plain(&tokens[read..]);
        }
        let left = match &mut self.stack {
            Stack::Narrow(cells) => cells.read(&self.table, self.limits, &mut tokens.iter().copied()),
            Stack::Wide(cells) => cells.read(&self.table, self.limits, &mut tokens.iter().copied()),
        };
        if left.is_some() { self.read_plain(&tokens[(self.position() - before) as usize..]) } else { Status::Open }
    }

    /// Returns the segments that the word is read in, with their frames. Frames are not computed for other words.
    fn long(&mut self) -> Option<(&Frames, &mut Segments)> {
        if self.is_long { self.table.all_frames().zip(self.segments.as_deref_mut()) } else { None }
    }

    /// Reads tokens with the table's own session.
    fn read_plain(&mut self, tokens: &[SymbolId]) -> Status {
        let taken = self.take_plain();
        let plain = self.plain.insert(taken);
        for &token in tokens {
            if plain.feed(Input::Symbol(token), &mut ()) != Status::Open {
                break;
            }
        }
        plain.status()
    }

    /// Returns the table's own session, which has already taken over or does so now.
    fn take_plain(&mut self) -> Run<TableStack> {
        if let Some(plain) = self.plain.take() {
            return plain;
        }
        let (table, limits) = (self.table.clone(), self.limits);
        if let Some((frames, segments)) = self.long() {
            return segments.plain(frames, &table, limits);
        }
        match &self.stack {
            Stack::Narrow(cells) => cells.plain(&table, limits),
            Stack::Wide(cells) => cells.plain(&table, limits),
        }
    }

    /// Returns the status of the word.
    pub fn status(&self) -> Status {
        self.plain.as_ref().map_or(Status::Open, Run::status)
    }

    /// Returns the number of tokens read.
    pub fn position(&self) -> u64 {
        match (&self.plain, &self.segments, &self.stack) {
            (Some(plain), _, _) => plain.position(),
            (None, Some(segments), _) if self.is_long => segments.position(),
            (None, _, Stack::Narrow(cells)) => cells.position,
            (None, _, Stack::Wide(cells)) => cells.position,
        }
    }

    /// Ends the word and returns the verdict. The next token begins another word.
    pub fn finish(&mut self) -> Verdict {
        self.answer()
    }

    /// Ends the word and returns the verdict, or only its outcome. The next token begins another word.
    pub fn answer<A: Judged>(&mut self) -> A {
        // Only acceptance is decided here. Everything else has a reason, which the table's own session finds.
        let accepted = self.plain.is_none() && self.ends();
        let answer = if accepted { A::new(Outcome::Accept, Vec::new) } else { self.take_plain().answer(&mut ()) };
        match &mut self.stack {
            Stack::Narrow(cells) => cells.begin(),
            Stack::Wide(cells) => cells.begin(),
        }
        self.segments.iter_mut().for_each(|segments| segments.begin());
        self.is_long = false;
        answer
    }

    /// Returns whether the word may end here. If the result is `false`, a limit may be the reason.
    fn ends(&mut self) -> bool {
        if let Some((frames, segments)) = self.long() {
            return segments.ends(frames);
        }
        match &mut self.stack {
            Stack::Narrow(cells) => cells.ends(&self.table, self.limits),
            Stack::Wide(cells) => cells.ends(&self.table, self.limits),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::rows::tests::changed;
    use super::*;
    use crate::automaton::Oracle;
    use crate::automaton::reach::tests::random_automaton;
    use crate::manifest::Manifest;
    use crate::recognize::Recognizer;
    use crate::symbol::Word;
    use crate::tasks::Task;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Returns a word that mostly follows the automaton, with occasional tokens that may not fit.
    pub(in super::super) fn word(oracle: &Oracle, longest: usize, random: &mut ChaCha8Rng) -> Vec<SymbolId> {
        let terminals = oracle.automaton().alphabet().terminals().len();
        let mut session = oracle.start(Limits::default());
        let mut word = Vec::new();
        for _ in 0..random.random_range(0..=longest) {
            let fits: Vec<SymbolId> = session.expected().iter().filter_map(|next| next.token()).collect();
            let more = usize::from(random.random_bool(0.01)); // allow a symbol that is not a token
            let any = SymbolId::new(random.random_range(0..terminals + more));
            let token = match fits.len() {
                0 => any,
                _ if random.random_bool(0.02) => any,
                count => fits[random.random_range(0..count)],
            };
            word.push(token);
            session.feed(Input::Symbol(token), &mut ());
        }
        word
    }

    /// Asserts that the oracle, the table's own session and a scanner that is fed in parts agree on a word, and returns
    /// the verdict.
    fn compare(oracle: &Oracle, table: &Table, word: &[SymbolId], limits: Limits, part: usize) -> Verdict {
        let whole = Word::from(word.to_vec());
        let verdict = oracle.judge_with(&whole, limits, &mut ());
        assert_eq!(table.judge_with(&whole, limits, &mut ()), verdict, "{word:?} {limits:?}");
        let mut scanner = Scanner::new(table, limits);
        let mut session = oracle.start(limits);
        for part in word.chunks(part) {
            let status = scanner.read(part);
            part.iter().for_each(|&token| {
                session.feed(Input::Symbol(token), &mut ());
            });
            assert_eq!((status, scanner.position()), (session.status(), session.position()));
        }
        assert_eq!(scanner.finish(), verdict, "{word:?} {limits:?}");
        if let Some(verdicts) = in_segments(table, limits, &[word], part) {
            assert_eq!(verdicts, std::slice::from_ref(&verdict), "{word:?} {limits:?}");
        }
        assert_eq!(table.judge_serially::<Outcome>(&[whole], limits), [verdict.outcome()], "{word:?} {limits:?}");
        verdict
    }

    /// Returns the verdicts on words that are read in segments, in blocks of this size, if the table has frames.
    pub(in super::super) fn in_segments(
        table: &Table,
        limits: Limits,
        words: &[&[SymbolId]],
        block: usize,
    ) -> Option<Vec<Verdict>> {
        let mut scanner = Scanner::new(table, limits);
        scanner.segments = Some(Box::new(Segments::with_blocks(table.all_frames()?, block)));
        let verdict = |word: &&[SymbolId]| {
            // Parts of words need not end where blocks do.
            word.chunks(block * 5 / 3 + 1).for_each(|part| {
                scanner.read_long(part, 0);
            });
            scanner.finish()
        };
        Some(words.iter().map(verdict).collect())
    }

    /// Returns limits on a depth below this one, on actions, or none.
    pub(in super::super) fn limits(deepest: usize, random: &mut ChaCha8Rng) -> Limits {
        match random.random_range(0..4) {
            0 => Limits { depth: random.random_range(0..deepest), ..Limits::default() },
            1 => Limits {
                depth: random.random_range(5..1000),
                actions: random.random_range(0..100),
                actions_per_symbol: random.random_range(0..3),
            },
            _ => Limits::default(),
        }
    }

    #[test]
    fn the_example_is_as_described() {
        let oracle = Oracle::strict(Task::Anbn.automaton().unwrap()).unwrap();
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        let [a, b] = ["a", "b"].map(|name| table.alphabet().symbol(name).unwrap());
        let mut scanner = Scanner::new(&table, Limits::default());
        let mut seen = Vec::new();
        for token in [a, a, b, b] {
            scanner.read([token]);
            let Stack::Narrow(cells) = &scanner.stack else { panic!("five states fit in a byte") };
            seen.push(cells.states[..=cells.depth].to_vec());
        }
        assert_eq!(seen, [vec![0, 1], vec![0, 1, 1], vec![0, 1, 1, 2, 3], vec![0, 1, 2, 3]]);
        // The operations for the third and the fourth token, and for the end.
        let Stack::Narrow(cells) = &mut scanner.stack else { panic!("five states fit in a byte") };
        for (states, column, low, pushed) in
            [(&seen[1], b.index(), 2, Some(2)), (&seen[2], b.index(), 1, Some(2)), (&seen[3], 2, 0, None)]
        {
            cells.states[..states.len()].copy_from_slice(states);
            cells.depth = states.len() - 1;
            let top = usize::from(states[cells.depth]);
            let (op, at) = cells.fast().look(&table, Limits::default(), top, column);
            assert_eq!(at, low);
            match pushed {
                Some(count) => {
                    assert!(op.is(Kind::Push) && op.count() == count);
                    assert_eq!([op.state(0), op.state(1)], [2, 3]);
                }
                None => assert!(op.is(Kind::Accept)),
            }
        }
        // The fourth token and the end hop at once, by three states; the others do not.
        let first = |state: usize, column: usize| table.fused().ops[column * table.states() + state].pop();
        assert_eq!([first(0, a.index()), first(1, a.index()), first(1, b.index())], [0; 3]);
        assert_eq!([first(3, b.index()), first(3, 2)], [3; 2]);
    }

    #[test]
    fn tables_judge_as_the_automata_of_the_tasks() {
        let mut random = ChaCha8Rng::seed_from_u64(6);
        for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
            let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
            let table = Table::new(&oracle, Manifest::default()).unwrap();
            let again = Table::from_bytes(&table.to_bytes().unwrap()).unwrap();
            assert_eq!(again.rows(), table.rows());
            let mut accepted = 0;
            for _ in 0..2000 {
                let word = word(&oracle, 30, &mut random);
                let verdict = compare(&oracle, &again, &word, limits(12, &mut random), random.random_range(1..40));
                accepted += usize::from(verdict.is_accept());
            }
            assert!(accepted > 20, "{task}: {accepted}");
        }
    }

    #[test]
    fn tables_judge_as_random_automata() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let (mut automata, mut accepted, mut stopped) = (0, 0, 0);
        while automata < 1000 {
            let Ok(oracle) = Oracle::strict(random_automaton(&mut random)) else { continue };
            let Ok(table) = Table::new(&oracle, Manifest::default()) else { continue };

            automata += 1;
            for _ in 0..20 {
                let word = word(&oracle, 12, &mut random);
                match compare(&oracle, &table, &word, limits(12, &mut random), random.random_range(1..5)) {
                    Verdict::Accept => accepted += 1,
                    Verdict::Stopped { .. } => stopped += 1,
                    _ => {}
                }
            }
        }
        assert!(accepted > 100 && stopped > 100, "{accepted} {stopped}");
    }

    #[test]
    fn a_deep_stack_grows_and_comes_back() {
        let oracle = Oracle::strict(Task::Anbn.automaton().unwrap()).unwrap();
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        let [a, b] = ["a", "b"].map(|name| table.alphabet().symbol(name).unwrap());
        let count = 100_000;
        for (more, accepted) in [(0, true), (1, false)] {
            let mut scanner = Scanner::new(&table, Limits::default());
            assert_eq!(scanner.read(vec![a; count]), Status::Open);
            scanner.read(vec![b; count + more]);
            assert_eq!(scanner.finish().is_accept(), accepted);
        }
    }

    #[test]
    fn damaged_tables_are_refused_or_run() {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let oracle = Oracle::strict(Task::Json.automaton().unwrap()).unwrap();
        let bytes = Table::new(&oracle, Manifest::default()).unwrap().to_bytes().unwrap();
        let mut ran = 0;
        for _ in 0..3000 {
            let mut damaged = bytes.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..damaged.len());
                damaged[at] = if random.random_bool(0.5) { random.random_range(0..8) } else { random.random() };
            }
            let Ok(table) = Table::from_bytes(&damaged) else { continue };
            ran += 1;
            for _ in 0..5 {
                let word = word(&oracle, 30, &mut random);
                let word = [Word::from(word)];
                let verdict = table.judge(&word[0]);
                assert_eq!(table.judge_serially::<Verdict>(&word, Limits::default()), [verdict]);
            }
        }
        assert!(ran > 100, "{ran}");
    }

    /// Asserts that all ways to run a table agree on words that an oracle draws.
    fn agree(oracle: &Oracle, table: &Table, random: &mut ChaCha8Rng) {
        let words: Vec<Vec<SymbolId>> = (0..5).map(|_| word(oracle, 40, random)).collect();
        let limits = limits(12, random);
        let wholes: Vec<Word> = words.iter().map(|word| word.clone().into()).collect();
        let wanted: Vec<Verdict> = wholes.iter().map(|word| table.judge_with(word, limits, &mut ())).collect();
        assert_eq!(table.judge_serially::<Verdict>(&wholes, limits), wanted, "{words:?} {limits:?}");
        let words: Vec<&[SymbolId]> = words.iter().map(Vec::as_slice).collect();
        if let Some(verdicts) = in_segments(table, limits, &words, random.random_range(1..12)) {
            assert_eq!(verdicts, wanted, "{words:?} {limits:?}");
        }
    }

    #[test]
    fn tables_with_changed_entries_are_refused_or_run() {
        let mut random = ChaCha8Rng::seed_from_u64(14);
        let json = Oracle::strict(Task::Json.automaton().unwrap()).unwrap();
        let (mut ran, mut refused) = (0, 0);
        for number in 0..8000 {
            let any = Oracle::strict(random_automaton(&mut random)).ok().filter(|_| number % 4 > 0);
            let oracle = any.as_ref().unwrap_or(&json);
            let Ok(table) = Table::new(oracle, Manifest::default()) else { continue };
            let rows = changed(table.rows().clone(), &mut random);
            let Some(changed) = Table::of(table.alphabet().clone(), Manifest::default(), rows) else { continue };
            match Table::from_bytes(&changed.to_bytes().unwrap()) {
                Ok(table) => agree(oracle, &table, &mut random),
                Err(_) => refused += 1,
            }
            ran += 1;
        }
        ran -= refused;
        println!("{ran} tables ran, {refused} were refused");
        assert!(ran > 4000 && refused > 400, "{ran} {refused}");
    }
}
