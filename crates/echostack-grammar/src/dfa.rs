//! The automaton of a lexer in one start state: all rules in one deterministic automaton, built by regex-automata.
//!
//! # Example
//!
//! Take the rules `if`, `[a-z]+` for NAME, `[ ]+`, which is skipped, and `\(`. After `i`, NAME matches; after `if`,
//! both `if` and NAME do, and the first one counts. The text `if x(` is read as follows. Where no longer match is
//! possible, [`Dfa::run`] stops, and the caller begins again at the start. In [`Dfa::scan`], the same byte both ends a
//! token and begins the next:
//!
//! | byte | what was read of the token | what the step says |
//! |---|---|---|
//! | `i` | `i`, a NAME | go on |
//! | `f` | `if` | go on |
//! | blank | one blank | the token `if` ends before this byte |
//! | `x` | `x`, a NAME | a token without a name ends |
//! | `(` | `(`, which nothing can continue | the token NAME ends |
//!
//! Then the text ends. `(` is left to [`Dfa::run`], because no byte after it has shown that it ends.

use std::collections::HashMap;

use echostack::SymbolId;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;

use crate::lex::Rule;

/// The maximum size of an automaton, in bytes, and of what is needed to build it.
const MAX_BYTES: usize = 1 << 24;
/// The state from which no rule can match.
pub(crate) const DEAD: u32 = 0;
/// The minimum number of bytes that must leave a state unchanged for runs of such bytes to be skipped.
const MIN_LOOP: usize = 8;
/// The number of bytes that are skipped at once.
const STRIDE: usize = 8;
/// The number of bytes for whose tokens space is made at once.
const BLOCK: usize = 1 << 12;

/// The automaton of a lexer in one start state.
///
/// States are numbered by the place of their row in the table. The dead state comes first, then those in which no rule
/// matches what was read, then those in which a rule matches, and last those of them that only the dead state follows.
#[derive(Clone)]
pub(crate) struct Dfa {
    /// The class of each byte. Bytes of one class lead to the same states.
    classes: [u8; 256],
    /// The binary logarithm of the length of a row, which has room for all classes.
    shift: u32,
    next: Vec<u32>,
    start: u32,
    /// The first state in which a rule matches.
    accepting: u32,
    /// The first state that only the dead state follows.
    last: u32,
    /// The rule that matches in each state from `accepting` on.
    rules: Vec<u32>,
    /// For each byte, the set of states that it leaves unchanged: one bit for each state that has a bit.
    loops: [u64; 256],
    /// The bit of each state in `loops`, or 0.
    bits: Vec<u64>,
    /// Like `next`, but where a token ends, the step also begins the next token: see [`Dfa::scan`]. The lower half of a
    /// step is the next state. The upper half has two flags and the name of the token that ends.
    steps: Vec<u64>,
}

/// In a step, the flag for the end of a token.
const END: u64 = 1 << 63;
/// In a step, the flag for the end of a token that has a name.
const NAMED: u64 = 1 << 62;

/// An automaton as plain rows. States are numbered by their rows, in the order of [`Dfa`]; the dead state is 0.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) classes: &'a [u8; 256],
    pub(crate) width: usize,
    pub(crate) next: Vec<u32>,
    pub(crate) start: usize,
    /// The first state in which a rule matches.
    pub(crate) accepting: usize,
    /// The first state that only the dead state follows.
    pub(crate) last: usize,
    /// The rule that matches in each state from `accepting` on.
    pub(crate) rules: &'a [u32],
}

/// The longest match found so far: the state in which a rule matched, or [`DEAD`], and the end of the match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) state: u32,
    pub(crate) end: usize,
}

/// The reason why there is no automaton.
pub(crate) struct TooLarge;

/// Removes the transitions to states from which no rule can match any more: regex-automata has a state for the byte
/// after a match, even if nothing can follow.
fn drop_useless(rows: &mut [Vec<Option<usize>>], rules: &[Option<u32>]) {
    // Backward from the states in which a rule matches.
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    for (state, row) in rows.iter().enumerate() {
        for &next in row.iter().flatten() {
            before[next].push(state);
        }
    }
    let mut useful: Vec<bool> = rules.iter().map(Option::is_some).collect();
    let mut open: Vec<usize> = (0..rows.len()).filter(|&state| useful[state]).collect();
    while let Some(state) = open.pop() {
        for &earlier in &before[state] {
            if !std::mem::replace(&mut useful[earlier], true) {
                open.push(earlier);
            }
        }
    }
    for next in rows.iter_mut().flatten() {
        *next = next.filter(|&next| useful[next]);
    }
}

/// Returns the states that can be reached, beginning with the start, and for each of them, the states after these
/// bytes.
fn reachable(dense: &dense::DFA<Vec<u32>>, start: StateID, bytes: &[u8]) -> (Vec<StateID>, Vec<Vec<Option<usize>>>) {
    let mut found = vec![start];
    let mut numbers = HashMap::from([(start, 0)]);
    let mut rows = Vec::new();
    // The list of states grows while it is worked through.
    while let Some(&state) = found.get(rows.len()) {
        let mut row = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            let next = dense.next_state(state, byte);
            let number = (!dense.is_dead_state(next)).then(|| {
                *numbers.entry(next).or_insert_with(|| {
                    found.push(next);
                    found.len() - 1
                })
            });
            row.push(number);
        }
        rows.push(row);
    }
    (found, rows)
}

/// Returns the first pattern that matches what was read up to a state. Among rules that match the same text, that one
/// counts.
fn matching(dense: &dense::DFA<Vec<u32>>, state: StateID) -> Option<usize> {
    // A match is seen one byte late, or at the end of the text. So this looks as if the text ended here.
    let end = dense.next_eoi_state(state);
    let patterns = if dense.is_match_state(end) { dense.match_len(end) } else { 0 };
    (0..patterns).map(|at| dense.match_pattern(end, at).as_usize()).min()
}

/// Replaces the numbers of names by their symbols.
fn name_symbols(out: &mut [SymbolId], symbols: &[SymbolId]) {
    for symbol in out {
        *symbol = symbols[symbol.index()];
    }
}

impl Dfa {
    /// Builds the automaton of rules, which are given with their numbers, in order of preference. `actions` has what
    /// each rule does, by its number.
    pub(crate) fn new(rules: &[(u32, &Hir)], actions: &[Rule]) -> Result<Self, TooLarge> {
        let patterns: Vec<&Hir> = rules.iter().map(|&(_, pattern)| pattern).collect();
        let nfa = thompson::Compiler::new()
            .configure(thompson::Config::new().which_captures(WhichCaptures::None).nfa_size_limit(Some(MAX_BYTES)))
            .build_many_from_hir(&patterns)
            .map_err(|_| TooLarge)?;
        // A lexer matches where it stands, so there is no search for a beginning. All matches are kept, and not only
        // the leftmost one, because the longest counts, whichever rule it belongs to.
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::All)
            .accelerate(false)
            .dfa_size_limit(Some(MAX_BYTES))
            .determinize_size_limit(Some(MAX_BYTES));
        let dense = dense::Builder::new().configure(config).build_from_nfa(&nfa).map_err(|_| TooLarge)?;
        let start = dense.start_state(&start::Config::new().anchored(Anchored::Yes)).map_err(|_| TooLarge)?;
        let mut this = Self::convert(&dense, start, |pattern| rules[pattern].0);
        this.find_loops();
        this.join_tokens(actions);
        Ok(this)
    }

    /// Copies the states that can be reached. In regex-automata, a match is seen only with the byte after it; here, a
    /// state knows whether a rule matches.
    fn convert(dense: &dense::DFA<Vec<u32>>, start: StateID, rule: impl Fn(usize) -> u32) -> Self {
        // Classes are numbered in the order of their first bytes, which stand for them.
        let mut classes = [0; 256];
        let mut bytes = Vec::new();
        for byte in 0..=255 {
            classes[usize::from(byte)] = dense.byte_classes().get(byte);
            if usize::from(classes[usize::from(byte)]) == bytes.len() {
                bytes.push(byte);
            }
        }
        let (found, mut rows) = reachable(dense, start, &bytes);
        let rules: Vec<Option<u32>> = found.iter().map(|&state| matching(dense, state).map(&rule)).collect();
        drop_useless(&mut rows, &rules);
        // In this order, one comparison tells whether a rule matches, and another one whether that is all.
        let is_last = |state: usize| rules[state].is_some() && rows[state].iter().all(Option::is_none);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&state| (rules[state].is_some(), is_last(state)));

        // A state is the place of its row, so that a step is an addition and a load. Rows have a power of two as their
        // length, so that the number of a row is a shift away. The dead state's row comes first, and leads only to
        // itself.
        let shift = bytes.len().next_power_of_two().trailing_zeros();
        let width = 1 << shift;
        let mut places = vec![0; rows.len()];
        for (place, &state) in order.iter().enumerate() {
            places[state] = ((place + 1) * width) as u32;
        }
        let mut next = vec![DEAD; width];
        for &state in &order {
            next.extend(rows[state].iter().map(|&next| next.map_or(DEAD, |next| places[next])));
            next.resize(next.len().next_multiple_of(width), DEAD);
        }
        let first = |is: &dyn Fn(usize) -> bool| {
            let place = order.iter().position(|&state| is(state)).unwrap_or(order.len());
            ((place + 1) * width) as u32
        };
        Self {
            classes,
            shift,
            start: places[0],
            accepting: first(&|state| rules[state].is_some()),
            last: first(&is_last),
            rules: order.iter().filter_map(|&state| rules[state]).collect(),
            loops: [0; 256],
            bits: vec![0; order.len() + 1],
            next,
            steps: Vec::new(),
        }
    }

    /// Returns the number of states, with the dead one.
    pub(crate) fn states(&self) -> usize {
        self.next.len() >> self.shift
    }

    /// Gives a bit to each of the states that the most bytes leave unchanged.
    fn find_loops(&mut self) {
        let stays = |state: u32, byte: usize| self.next[state as usize + usize::from(self.classes[byte])] == state;
        let count = |row: usize| (0..256).filter(|&byte| stays((row as u32) << self.shift, byte)).count();
        let mut looping: Vec<(usize, usize)> = (1..self.bits.len()).map(|row| (count(row), row)).collect();
        // A set of states has 64 bits. The states that most bytes leave unchanged gain most, such as those in a string
        // or a comment.
        looping.retain(|&(count, _)| count >= MIN_LOOP);
        looping.sort_by_key(|&(count, row)| (std::cmp::Reverse(count), row));
        looping.truncate(64);
        let mut loops = [0; 256];
        for (bit, &(_, row)) in looping.iter().enumerate() {
            for (byte, set) in loops.iter_mut().enumerate() {
                *set |= u64::from(stays((row as u32) << self.shift, byte)) << bit;
            }
        }
        self.loops = loops;
        for (bit, &(_, row)) in looping.iter().enumerate() {
            self.bits[row] = 1 << bit;
        }
    }

    /// Computes the steps. Where a token ends and its rule does not change the start state, the byte after it is the
    /// first one of the next token.
    fn join_tokens(&mut self, actions: &[Rule]) {
        let width = 1 << self.shift;
        self.steps = self.next.iter().map(|&next| u64::from(next)).collect();
        for row in (self.accepting as usize >> self.shift)..self.bits.len() {
            let Rule { name, change } = actions[self.rule((row << self.shift) as u32) as usize];
            // The next token is read by the automaton of another start state.
            if change.is_some() {
                continue;
            }
            let end = END | name.map_or(0, |name| NAMED | u64::from(name) << 32);
            for class in 0..width {
                let (step, first) = (row * width + class, self.next[self.start as usize + class]);
                // If a longer match is still possible, the token does not end here. If no token begins with this byte,
                // the step stays dead, and the caller finds out.
                if self.next[step] == DEAD && first != DEAD {
                    self.steps[step] = end | u64::from(first);
                }
            }
        }
    }

    /// Returns the state at the beginning of a token.
    pub(crate) fn start(&self) -> u32 {
        self.start
    }

    /// Returns the rule that matches in a state that was [`Found`].
    pub(crate) fn rule(&self, state: u32) -> u32 {
        self.rules[((state - self.accepting) >> self.shift) as usize]
    }

    /// Returns the state after a byte.
    pub(crate) fn step(&self, state: u32, byte: u8) -> u32 {
        self.next[state as usize + usize::from(self.classes[usize::from(byte)])]
    }

    /// Returns the rule that matches what was read, if there is one.
    pub(crate) fn matched(&self, state: u32) -> Option<u32> {
        (state >= self.accepting).then(|| self.rule(state))
    }

    /// Returns the automaton as plain rows, with as many columns as there are classes.
    pub(crate) fn rows(&self) -> Rows<'_> {
        let width = self.classes.iter().max().map_or(1, |&class| usize::from(class) + 1);
        let row = |state: u32| state >> self.shift;
        let next = self.next.chunks_exact(1 << self.shift).flat_map(|next| next[..width].iter().map(|&next| row(next)));
        Rows {
            classes: &self.classes,
            width,
            next: next.collect(),
            start: row(self.start) as usize,
            accepting: row(self.accepting) as usize,
            last: row(self.last) as usize,
            rules: &self.rules,
        }
    }

    /// Returns the rules that can match something.
    pub(crate) fn matching(&self) -> &[u32] {
        &self.rules
    }

    /// Reads bytes, beginning at `at`, until no longer match is possible or all bytes are read. Notes the longest match
    /// in `found`. Returns the state, which is [`DEAD`] if no longer match is possible, and the place after the last
    /// byte that was read.
    #[inline]
    pub(crate) fn run(&self, mut state: u32, bytes: &[u8], mut at: usize, found: &mut Found) -> (u32, usize) {
        while let Some(&byte) = bytes.get(at) {
            let next = self.step(state, byte);
            if next == DEAD {
                return (DEAD, at);
            }
            at += 1;
            // A byte that leaves the state unchanged is likely to be followed by more of them.
            if next == state {
                at = self.skip(state, bytes, at);
            }
            if next >= self.accepting {
                *found = Found { state: next, end: at };
                // No need to look at the next byte, which may not have arrived yet.
                if next >= self.last {
                    return (DEAD, at);
                }
            }
            state = next;
        }
        (state, at)
    }

    /// Reads whole tokens, beginning at `at`, and appends the symbols of those that have a name; `symbols` has the
    /// symbol of each name. Returns the beginning of the first token that does not end in `bytes`, or is not followed
    /// by another one, or changes the start state, or for which the automaton must go back.
    ///
    /// This is the fast way to do what [`Dfa::run`] does for one token after the other. There is no branch that depends
    /// on where tokens end, because a processor cannot predict that.
    pub(crate) fn scan(&self, bytes: &[u8], at: usize, symbols: &[SymbolId], out: &mut Vec<SymbolId>) -> usize {
        let (mut state, mut start, mut at) = (self.start, at, at);
        let mut count = out.len();
        while at < bytes.len() {
            let first = count;
            let end = bytes.len().min(at + BLOCK);
            // No byte ends more than one token, so there is room for those of a whole block.
            out.resize(count + end - at, SymbolId::UNKNOWN);
            while at < end {
                let before = state;
                for &byte in &bytes[at..end.min(at + STRIDE)] {
                    let step = self.steps[state as usize + usize::from(self.classes[usize::from(byte)])];
                    // The token has to be read again from its start: the longest match may lie before this byte.
                    if step == u64::from(DEAD) {
                        out.truncate(count);
                        name_symbols(&mut out[first..], symbols);
                        return start;
                    }
                    // A name, which becomes a symbol at the end of the block. It is written for every byte, and
                    // overwritten unless a token with a name has ended.
                    out[count] = SymbolId::new((step << 2 >> 34) as usize);
                    count += usize::from(step & NAMED != 0);
                    start = if step & END == 0 { start } else { at };
                    state = step as u32;
                    at += 1;
                }
                // Asked once in several bytes. If the state has changed and come back in between, no harm is done.
                if state == before {
                    at = self.skip(state, &bytes[..end], at);
                }
            }
            out.truncate(count);
            name_symbols(&mut out[first..], symbols);
        }
        start
    }

    /// Skips bytes that leave the state unchanged, several at a time. Unlike steps of the automaton, these lookups do
    /// not wait for each other.
    #[inline]
    fn skip(&self, state: u32, bytes: &[u8], mut at: usize) -> usize {
        let mut bit = self.bits[(state >> self.shift) as usize];
        // A state without a bit has no loop worth a test, and neither has one that the bits of some byte exclude.
        while bit != 0 {
            let Some(block) = bytes.get(at..at + STRIDE) else { break };
            bit &= block.iter().fold(u64::MAX, |sets, &byte| sets & self.loops[usize::from(byte)]);
            at += if bit == 0 { 0 } else { STRIDE };
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_as_described() {
        let patterns = ["if", "[a-z]+", "[ ]+", r"\("].map(|pattern| regex_syntax::parse(pattern).unwrap());
        let rules: Vec<(u32, &Hir)> = (0..).zip(&patterns).collect();
        let actions = [Some(0), Some(1), None, Some(2)].map(|name| Rule { name, change: None });
        let Ok(dfa) = Dfa::new(&rules, &actions) else { panic!("four rules are not too large") };
        let text = b"if x(";
        let after = |text: &[u8]| text.iter().fold(dfa.start(), |state, &byte| dfa.step(state, byte));
        let matched = [&b"i"[..], b"if", b" ", b"x", b"("].map(|text| dfa.matched(after(text)));
        assert_eq!(matched, [Some(1), Some(0), Some(2), Some(1), Some(3)]);
        assert_eq!(dfa.step(after(b"if"), b' '), DEAD);
        // As runs: the first match, and the last one, which ends without a look at another byte.
        let mut found = Found { state: DEAD, end: 0 };
        assert_eq!(dfa.run(dfa.start(), text, 0, &mut found), (DEAD, 2));
        assert_eq!((dfa.rule(found.state), found.end), (0, 2));
        assert_eq!(dfa.run(dfa.start(), text, 4, &mut found), (DEAD, 5));
        assert!(found.state >= dfa.last);
        // As steps, which name the tokens that end.
        let symbols = [7, 8, 9].map(SymbolId::new);
        let mut out = Vec::new();
        assert_eq!(dfa.scan(text, 0, &symbols, &mut out), 4);
        assert_eq!(out, symbols[..2]);
        let step = |state: u32, byte: u8| dfa.steps[state as usize + usize::from(dfa.classes[usize::from(byte)])];
        assert_eq!(step(after(b"i"), b'f') & END, 0);
        assert_eq!(step(after(b"if"), b' ') & (END | NAMED), END | NAMED);
        assert_eq!(step(after(b" "), b'x') & (END | NAMED), END);
        assert_eq!(step(after(b"x"), b'('), END | NAMED | 1 << 32 | u64::from(after(b"(")));
    }
}
