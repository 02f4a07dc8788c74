//! Random strings of a lexer's rules, drawn from the automaton of a start state.

use std::collections::HashMap;
use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::lex::dfa::{Dfa, Rows};

/// The distance from a state in which a rule cannot match any more.
const NEVER: u32 = u32::MAX;
/// The maximum number of distances that are kept.
const MOST_DISTANCES: usize = 1 << 24;
/// The probability that a byte is chosen by what it leads to, and not by how often people write it.
const STRUCTURAL: f64 = 0.2;

/// Which letters a string prefers.
#[derive(Clone, Copy, Debug)]
enum Case {
    Lower,
    Upper,
    Mixed,
}

/// Returns how often people write a byte, roughly. Each byte has some weight, because it may be the only possible one.
fn weight(case: Case, byte: u8) -> f64 {
    let [lower, upper] = match case {
        Case::Lower => [80., 0.4],
        Case::Upper => [0.4, 80.],
        Case::Mixed => [40., 40.],
    };
    match byte {
        b'a' | b'e' | b'i' | b'o' | b's' | b't' | b'n' | b'r' => 2. * lower,
        b'a'..=b'z' => lower,
        b'A'..=b'Z' => upper,
        b'0'..=b'9' => 40.,
        b' ' => 60.,
        b'_' => 10.,
        b'\n' => 1.,
        b'\t' => 0.5,
        b'!'..=b'~' => 4.,
        // The first bytes of characters: Latin with accents, Greek, Cyrillic, Chinese, and those of four bytes.
        0xc3 => 12.,
        0xce | 0xd0 => 3.,
        0xe4..=0xe9 | 0xf0 => 2.,
        0x80.. => 0.2,
        _ => 0.001,
    }
}

/// A class of bytes that lead to the same states.
#[derive(Clone, Debug, Default)]
struct Class {
    bytes: Vec<u8>,
    /// The weights of its bytes together, in each case.
    weights: [f64; 3],
    /// The weight by which it is chosen for what it leads to.
    structural: f64,
}

/// The strings that the rules of one start state match.
pub(super) struct Strings {
    width: usize,
    next: Vec<u32>,
    start: usize,
    accepting: usize,
    rules: Vec<u32>,
    classes: Vec<Class>,
    class_of: [u8; 256],
    /// The states before each state.
    before: Vec<Vec<u32>>,
    /// For each rule that was asked for, the number of bytes from each state until it can match.
    distances: HashMap<u32, Arc<[u32]>>,
}

impl Strings {
    pub(super) fn new(dfa: &Dfa) -> Self {
        let Rows { classes: class_of, width, next, start, accepting, rules, .. } = dfa.rows();
        let mut classes = vec![Class::default(); width];
        for byte in 0..=255 {
            let class = &mut classes[usize::from(class_of[usize::from(byte)])];
            class.bytes.push(byte);
            for (sum, case) in class.weights.iter_mut().zip([Case::Lower, Case::Upper, Case::Mixed]) {
                *sum += weight(case, byte);
            }
            let structural = if matches!(byte, b' '..=b'~') { 1. } else { 0.02 };
            class.structural = class.structural.max(structural);
        }
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); next.len() / width];
        for (state, row) in next.chunks_exact(width).enumerate() {
            for &next in row {
                // The list of a state ends with this one if another byte leads there as well.
                let earlier = &mut before[next as usize];
                if next != 0 && earlier.last() != Some(&(state as u32)) {
                    earlier.push(state as u32);
                }
            }
        }
        let (class_of, rules, distances) = (*class_of, rules.to_vec(), HashMap::new());
        Self { width, next, start, accepting, rules, classes, class_of, before, distances }
    }

    /// Returns the rules that can match, in the order of their numbers.
    pub(super) fn matching(&self) -> Vec<u32> {
        let mut rules = self.rules.clone();
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    /// Returns the state after a byte; 0 is the one in which nothing can match any more.
    pub(super) fn step(&self, state: u32, byte: u8) -> u32 {
        self.next[state as usize * self.width + usize::from(self.class_of[usize::from(byte)])]
    }

    /// Returns the rule that matches what was read up to a state.
    pub(super) fn matched(&self, state: u32) -> Option<u32> {
        self.rules.get((state as usize).checked_sub(self.accepting)?).copied()
    }

    /// Returns the state after a string.
    pub(super) fn after(&self, string: &[u8]) -> u32 {
        string.iter().fold(self.start as u32, |state, &byte| self.step(state, byte))
    }

    /// Draws a string that a rule matches, and that no earlier rule matches. Most strings are short.
    pub(super) fn draw(&mut self, random: &mut ChaCha8Rng, rule: u32) -> Option<Vec<u8>> {
        let distances = self.distances(rule);
        let case = match random.random_range(0..20) {
            0..16 => Case::Lower,
            16..19 => Case::Upper,
            _ => Case::Mixed,
        };
        let length = match random.random_range(0..100) {
            0..60 => random.random_range(1..=5),
            60..90 => random.random_range(1..=10),
            90..99 => random.random_range(1..=25),
            _ => random.random_range(1..=100),
        };
        let (mut state, mut string) = (self.start, Vec::new());
        loop {
            let is_match = !string.is_empty() && self.matched(state as u32) == Some(rule);
            let left = length.max(string.len()) - string.len();
            if is_match && left == 0 {
                return Some(string);
            }
            let row = &self.next[state * self.width..][..self.width];
            let distance = |next: u32| if next == 0 { NEVER } else { distances[next as usize] };
            let nearest = row.iter().map(|&next| distance(next)).min().unwrap_or(NEVER);
            if nearest == NEVER {
                return is_match.then_some(string);
            }
            // A byte after which the rule can match in time or, if there is none, as soon as possible.
            let most = nearest.max((left as u32).saturating_sub(1));
            let structural = random.random_bool(STRUCTURAL);
            let weights = row.iter().zip(&self.classes).map(|(&next, class)| match distance(next) {
                NEVER => 0.,
                distance if distance > most => 0.,
                _ if structural => class.structural,
                _ => class.weights[case as usize],
            });
            let weights: Vec<f64> = weights.collect();
            let class = draw(random, &weights)?;
            let bytes = &self.classes[class].bytes;
            let weights: Vec<f64> = bytes.iter().map(|&byte| weight(case, byte)).collect();
            string.push(bytes[draw(random, &weights)?]);
            state = row[class] as usize;
        }
    }

    /// Returns the number of bytes from each state until a rule can match.
    fn distances(&mut self, rule: u32) -> Arc<[u32]> {
        if let Some(known) = self.distances.get(&rule) {
            return known.clone();
        }
        let states = self.before.len();
        let mut distances = vec![NEVER; states];
        let matching = self.rules.iter().enumerate().filter(|(_, matched)| **matched == rule);
        let mut nearest: Vec<u32> = matching.map(|(place, _)| (place + self.accepting) as u32).collect();
        let mut distance = 0;
        while !nearest.is_empty() {
            // A state that several others follow is kept once: otherwise, the list would grow with the number of ways.
            nearest.retain(|&state| {
                let known = std::mem::replace(&mut distances[state as usize], distance);
                if known != NEVER {
                    distances[state as usize] = known;
                }
                known == NEVER
            });
            nearest = nearest.iter().flat_map(|&state| &self.before[state as usize]).copied().collect();
            distance += 1;
        }
        if (self.distances.len() + 1) * states > MOST_DISTANCES {
            self.distances.clear();
        }
        let distances: Arc<[u32]> = distances.into();
        self.distances.insert(rule, distances.clone());
        distances
    }
}

/// Draws the number of one of the weights, in proportion to it. Returns `None` if all of them are 0.
fn draw(random: &mut ChaCha8Rng, weights: &[f64]) -> Option<usize> {
    let mut at = random.random::<f64>() * weights.iter().sum::<f64>();
    let mut chosen = None;
    for (number, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.) {
        chosen = Some(number);
        at -= weight;
        if at < 0. {
            break;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lexer::Lexer;
    use rand::SeedableRng;

    #[test]
    fn strings_belong_to_their_rules_and_reach_all_of_them() {
        let lexer = "%%\nif \"IF\"\n[a-z]+ \"NAME\"\n-?[0-9]+(\\.[0-9]+)? \"NUMBER\"\n\"([^\"\\\\]|\\\\.)*\" \"TEXT\"\n[ ]+ ;\n";
        let lexer = Lexer::new(lexer).unwrap();
        let mut strings = Strings::new(&lexer.states[0]);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut seen = std::collections::BTreeSet::new();
        for rule in strings.matching() {
            for _ in 0..2000 {
                let string = strings.draw(&mut random, rule).unwrap();
                assert_eq!(strings.matched(strings.after(&string)), Some(rule));
                let string = String::from_utf8(string).unwrap();
                let (tokens, fault) = lexer.tokens(&string);
                assert_eq!(fault, None);
                match lexer.rules[rule as usize].name {
                    Some(name) => {
                        assert_eq!(tokens.len(), 1);
                        assert_eq!(tokens[0].name, lexer.names()[name as usize]);
                    }
                    None => assert!(tokens.is_empty()),
                }
                // What was seen: escapes, fractions, characters that are not ASCII, long strings.
                seen.extend(string.contains('\\').then_some("escape"));
                seen.extend(string.contains('.').then_some("dot"));
                seen.extend((!string.is_ascii()).then_some("Unicode"));
                seen.extend((string.len() > 50).then_some("long"));
            }
        }
        assert_eq!(seen.len(), 4, "{seen:?}");
    }
}
