//! The automata of lexers over characters instead of bytes: what other notations are written from.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use crate::lex::dfa::{DEAD, Dfa};

/// The ranges of characters that lead from a state to others, in order.
pub(super) type Ranges = Vec<(char, char, usize)>;

/// Adds a range of characters that leads to a state. It continues the last range if that leads there, too.
pub(super) fn extend(next: &mut Ranges, (from, to): (char, char), target: usize) {
    match next.last_mut() {
        Some((_, end, known)) if *known == target && u32::from(*end) + 1 == u32::from(from) => *end = to,
        _ => next.push((from, to, target)),
    }
}

/// Returns an automaton for the same texts with as few states as possible, and which of the states it has. States with
/// different labels are told apart. They are numbered in the order in which they are found from the start.
pub(super) fn minimized<L: Eq + Hash>(next: &[Ranges], labels: &[L]) -> (Vec<Ranges>, Vec<usize>) {
    // The class of each state: states of one class have been told apart by no text so far.
    let mut classes = vec![0; next.len()];
    let mut count = 0;
    loop {
        let mut numbers = HashMap::new();
        let finer: Vec<usize> = (0..next.len())
            .map(|state| {
                let mut led = Ranges::new();
                for &(from, to, target) in &next[state] {
                    extend(&mut led, (from, to), classes[target]);
                }
                let fresh = numbers.len();
                *numbers.entry((&labels[state], led)).or_insert(fresh)
            })
            .collect();
        classes = finer;
        if numbers.len() == count {
            break;
        }
        count = numbers.len();
    }
    let mut order = vec![0];
    let mut places = HashMap::from([(classes[0], 0)]);
    let mut rows: Vec<Ranges> = Vec::new();
    while let Some(&state) = order.get(rows.len()) {
        let mut row = Ranges::new();
        for &(from, to, target) in &next[state] {
            let place = *places.entry(classes[target]).or_insert_with(|| {
                order.push(target);
                order.len() - 1
            });
            extend(&mut row, (from, to), place);
        }
        rows.push(row);
    }
    (rows, order)
}

/// An automaton over characters. State 0 is the start.
pub(super) struct Chars {
    pub(super) states: Vec<CharState>,
    /// For each state, the first one that continues in the same way, whether or not a rule matches in it; `None` if
    /// nothing continues.
    pub(super) continuation: Vec<Option<usize>>,
}

/// A state of an automaton over characters.
#[derive(Clone, Debug, Default)]
pub(super) struct CharState {
    /// The ranges of characters that lead to other states, in order.
    pub(super) next: Vec<(char, char, usize)>,
    /// The rule that matches what was read.
    pub(super) rule: Option<u32>,
}

impl Chars {
    /// Converts an automaton over the bytes of UTF-8.
    pub(super) fn new(dfa: &Dfa) -> Self {
        Self::from_state(dfa, dfa.start())
    }

    /// Converts an automaton over the bytes of UTF-8, beginning with one of its states.
    pub(super) fn from_state(dfa: &Dfa, start: u32) -> Self {
        let mut numbers = HashMap::from([(start, 0)]);
        let mut order = vec![start];
        let mut states: Vec<CharState> = Vec::new();
        let mut uniform = HashMap::new();
        while states.len() < order.len() {
            let state = order[states.len()];
            let mut ranges = Vec::new();
            for lead in 0..=0xf4_u8 {
                let next = dfa.step(state, lead);
                if next == DEAD {
                    continue;
                }
                match lead {
                    0..=0x7f => add(&mut ranges, (u32::from(lead), u32::from(lead)), next),
                    0xc2..=0xdf => walk(dfa, next, 1, u32::from(lead & 0x1f), &mut uniform, &mut ranges),
                    0xe0..=0xef => walk(dfa, next, 2, u32::from(lead & 0x0f), &mut uniform, &mut ranges),
                    0xf0..=0xf4 => walk(dfa, next, 3, u32::from(lead & 0x07), &mut uniform, &mut ranges),
                    _ => {}
                }
            }
            let mut number = |target: u32| {
                let fresh = order.len();
                *numbers.entry(target).or_insert_with(|| {
                    order.push(target);
                    fresh
                })
            };
            let range = |(from, to, target): (u32, u32, u32)| {
                Some((char::from_u32(from)?, char::from_u32(to)?, number(target)))
            };
            let next = ranges.into_iter().filter_map(range).collect();
            states.push(CharState { next, rule: dfa.matched(state) });
        }
        let continuation = continuations(&states);
        Self { states, continuation }
    }

    pub(super) fn step(&self, state: usize, letter: char) -> Option<usize> {
        let next = &self.states[state].next;
        let at = next.partition_point(|&(_, to, _)| to < letter);
        next.get(at).filter(|&&(from, _, _)| from <= letter).map(|&(_, _, target)| target)
    }

    /// Returns the states from which a rule can match.
    pub(super) fn useful(&self, rule: u32) -> Vec<bool> {
        let matching = self.states.iter().map(|state| state.rule == Some(rule)).collect();
        leading_to(matching, |state| &self.states[state].next)
    }
}

/// Returns the states from which one of the given states can be reached, given the ranges that lead on from each.
pub(super) fn leading_to<'a>(mut found: Vec<bool>, next: impl Fn(usize) -> &'a [(char, char, usize)]) -> Vec<bool> {
    let mut changed = true;
    while changed {
        changed = false;
        for state in 0..found.len() {
            if !found[state] && next(state).iter().any(|&(_, _, target)| found[target]) {
                found[state] = true;
                changed = true;
            }
        }
    }
    found
}

/// Adds a range of code points, which continues the last one if possible.
fn add(ranges: &mut Vec<(u32, u32, u32)>, (from, to): (u32, u32), target: u32) {
    match ranges.last_mut() {
        Some((_, end, known)) if *end + 1 == from && *known == target => *end = to,
        _ => ranges.push((from, to, target)),
    }
}

/// Adds the code points whose last `left` bytes are read from a state; `high` has the bits before them.
fn walk(
    dfa: &Dfa,
    state: u32,
    left: u32,
    high: u32,
    uniform: &mut HashMap<(u32, u32), Option<u32>>,
    ranges: &mut Vec<(u32, u32, u32)>,
) {
    if let Some(target) = all_lead_to(dfa, state, left, uniform) {
        let from = high << (6 * left);
        add(ranges, (from, from + (1 << (6 * left)) - 1), target);
        return;
    }
    for byte in 0x80..=0xbf_u8 {
        let (next, high) = (dfa.step(state, byte), high << 6 | u32::from(byte & 0x3f));
        if next == DEAD {
            continue;
        }
        if left == 1 {
            add(ranges, (high, high), next);
        } else {
            walk(dfa, next, left - 1, high, uniform, ranges);
        }
    }
}

/// Returns the state that all sequences of this many continuation bytes lead to, if it is the same and not dead.
fn all_lead_to(dfa: &Dfa, state: u32, left: u32, uniform: &mut HashMap<(u32, u32), Option<u32>>) -> Option<u32> {
    if left == 0 {
        return Some(state).filter(|&state| state != DEAD);
    }
    if let Some(&known) = uniform.get(&(state, left)) {
        return known;
    }
    let targets: BTreeSet<Option<u32>> = (0x80..=0xbf_u8)
        .map(|byte| match dfa.step(state, byte) {
            DEAD => None,
            next => all_lead_to(dfa, next, left - 1, uniform),
        })
        .collect();
    let target = match targets.iter().collect::<Vec<_>>()[..] {
        [Some(only)] => Some(*only),
        _ => None,
    };
    uniform.insert((state, left), target);
    target
}

/// Finds the states that continue in the same way: the same texts lead from them to states in which a rule matches.
fn continuations(states: &[CharState]) -> Vec<Option<usize>> {
    let mut class: Vec<usize> = states.iter().map(|state| usize::from(state.rule.is_some())).collect();
    let merged = |state: &CharState, class: &[usize]| {
        let mut out: Vec<(char, char, usize)> = Vec::new();
        for &(from, to, target) in &state.next {
            match out.last_mut() {
                Some((_, end, known)) if *known == class[target] && u32::from(*end) + 1 == u32::from(from) => {
                    *end = to;
                }
                _ => out.push((from, to, class[target])),
            }
        }
        out
    };
    loop {
        let mut known = HashMap::new();
        let next: Vec<usize> = states
            .iter()
            .map(|state| {
                let fresh = known.len();
                *known.entry((state.rule.is_some(), merged(state, &class))).or_insert(fresh)
            })
            .collect();
        let count = |class: &[usize]| class.iter().collect::<BTreeSet<_>>().len();
        let done = count(&next) == count(&class);
        class = next;
        if done {
            break;
        }
    }
    let mut first = HashMap::new();
    let all = states.iter().enumerate().map(|(at, state)| {
        let same = *first.entry(merged(state, &class)).or_insert(at);
        (!state.next.is_empty()).then_some(same)
    });
    all.collect()
}
