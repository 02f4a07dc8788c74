//! Random words: of the hypothesis, and near misses.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::automaton::Automaton;
use super::learner::{Closed, Module, State};
use crate::text::symbols::{Sym, Word};

/// The depth from which on the shortest way is taken.
const DEEP: usize = 12;

/// Draws words of a hypothesis.
#[derive(Debug)]
pub(crate) struct Draw<'a> {
    automaton: &'a Automaton,
    /// The shortest way from each state of a module to one of some states.
    distances: BTreeMap<(Module, Vec<State>), BTreeMap<State, usize>>,
}

impl<'a> Draw<'a> {
    pub(crate) fn new(automaton: &'a Automaton) -> Self {
        Self { automaton, distances: BTreeMap::new() }
    }

    /// Draws a word of very roughly this many symbols, if there are any words.
    pub(crate) fn word(&mut self, size: usize, random: &mut ChaCha8Rng) -> Option<Word> {
        let live = self.automaton.live.first()?;
        let targets: Vec<State> = self.automaton.accepting.intersection(live).copied().collect();
        let mut out = Vec::new();
        if targets.is_empty() {
            return None;
        }
        let mut budget = size as isize;
        self.walk(Module::TOP, &targets, &mut budget, &mut out, 0, random)?;
        Some(out)
    }

    fn distances(&mut self, module: Module, targets: &[State]) -> BTreeMap<State, usize> {
        if let Some(known) = self.distances.get(&(module, targets.to_vec())) {
            return known.clone();
        }
        let live: &BTreeSet<State> = &self.automaton.live[module.at()];
        let mut found: BTreeMap<State, usize> = targets.iter().map(|&target| (target, 0)).collect();
        loop {
            let mut changed = false;
            for &state in live {
                let least = self.moves(module, state, &found).map(|(length, ..)| length).min();
                if let Some(length) = least.filter(|length| found.get(&state).is_none_or(|known| length < known)) {
                    found.insert(state, length);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        self.distances.insert((module, targets.to_vec()), found.clone());
        found
    }

    /// Returns the moves from a state, with the length of the shortest way on.
    fn moves<'b>(
        &'b self,
        module: Module,
        state: State,
        distances: &'b BTreeMap<State, usize>,
    ) -> impl Iterator<Item = (usize, Result<Sym, Closed>, State)> + 'b {
        let plain = self.automaton.plain((module, state)).iter();
        let plain = plain.filter_map(|(&symbol, &to)| Some((1 + distances.get(&to)?, Ok(symbol), to)));
        let over =
            self.automaton.over((module, state)).iter().filter_map(|(&class, &to)| {
                Some((self.automaton.cost.get(&class)? + distances.get(&to)?, Err(class), to))
            });
        plain.chain(over)
    }

    fn walk(
        &mut self,
        module: Module,
        targets: &[State],
        budget: &mut isize,
        out: &mut Word,
        depth: usize,
        random: &mut ChaCha8Rng,
    ) -> Option<()> {
        let distances = self.distances(module, targets);
        let mut state = self.automaton.parts[module.at()].start?;
        loop {
            let hurry = *budget <= 0 || depth > DEEP;
            let mut options: Vec<_> = self.moves(module, state, &distances).collect();
            if targets.contains(&state) && (options.is_empty() || *budget <= 0 || random.random_bool(0.25)) {
                return Some(());
            }
            if hurry {
                let least = options.iter().map(|(length, ..)| *length).min()?;
                options.retain(|(length, ..)| *length == least);
            }
            let nested: Vec<_> = options.iter().filter(|(_, step, _)| step.is_err()).collect();
            let nests = !nested.is_empty() && random.random_bool(0.4);
            let &(_, step, target) = if nests { *nested.choose(random)? } else { options.choose(random)? };
            match step {
                Ok(symbol) => {
                    out.push(symbol);
                    *budget -= 1;
                }
                Err(class) => {
                    let ways = self.automaton.closings.get(&class)?;
                    let shortest = ways.iter().min_by_key(|(m, q, _)| self.automaton.reach.get(&(*m, *q)));
                    let &(inner, end, closer) = if hurry { shortest? } else { ways.choose(random)? };
                    out.push(self.automaton.opener(inner)?);
                    *budget -= 2;
                    self.walk(inner, &[end], budget, out, depth + 1, random)?;
                    out.push(closer);
                }
            }
            state = target;
        }
    }
}

/// Returns a word after one to three edits. Some edits insert a part of another word.
pub(crate) fn mutate<T: Copy>(word: &[T], letters: &[T], others: &[Vec<T>], random: &mut ChaCha8Rng) -> Vec<T> {
    let mut word = word.to_vec();
    let edits = [1, 1, 1, 2, 3][random.random_range(0..5)];
    for _ in 0..edits {
        let length = word.len();
        let Some(&letter) = letters.choose(random) else { return word };
        match random.random_range(0..6) {
            0 if length > 0 => _ = word.remove(random.random_range(0..length)),
            1 => word.insert(random.random_range(0..=length), letter),
            2 if length > 0 => word[random.random_range(0..length)] = letter,
            3 if length > 1 => {
                let at = random.random_range(0..length - 1);
                word.swap(at, at + 1);
            }
            4 if length > 0 => {
                let from = random.random_range(0..length);
                let to = (from + random.random_range(1..5)).min(length);
                let part = word[from..to].to_vec();
                word.splice(to..to, part);
            }
            5 => {
                if let Some(other) = others.choose(random).filter(|other| !other.is_empty()) {
                    let from = random.random_range(0..other.len());
                    let to = (from + random.random_range(1..6)).min(other.len());
                    let at = random.random_range(0..=length);
                    let end = (at + random.random_range(0..3)).min(length);
                    word.splice(at..end, other[from..to].iter().copied());
                }
            }
            _ => {}
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{automaton, lists_learned, random};

    #[test]
    fn words_of_the_hypothesis_are_drawn() {
        let (hypothesis, _) = lists_learned();
        let (automaton, mut random) = (automaton(&hypothesis), random());
        let mut draw = Draw::new(automaton);
        let mut lengths: BTreeSet<usize> = BTreeSet::new();
        for size in 1..200 {
            let word = draw.word(size, &mut random).unwrap();
            assert!(automaton.accepts(&word));
            lengths.insert(word.len());
        }
        assert!(lengths.contains(&1) && lengths.last() > Some(&60), "{lengths:?}");
        assert_eq!(Draw::new(&Automaton::default()).word(5, &mut random), None);
    }

    /// Up to three edits, of which each inserts at most five symbols.
    #[test]
    fn near_misses_are_near() {
        let (word, mut random) = (b"abcdefgh".to_vec(), random());
        let others = vec![b"123456789".to_vec()];
        let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
        for _ in 0..1000 {
            let edited = mutate(&word, b"xy", &others, &mut random);
            assert!(edited.len().abs_diff(word.len()) <= 15);
            seen.insert(edited);
        }
        assert!(seen.len() > 300, "{}", seen.len());
        assert_eq!(mutate(&word, &[], &others, &mut random), word);
    }
}
