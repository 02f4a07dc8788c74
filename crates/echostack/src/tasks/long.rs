//! Long words of the tasks' grammars, drawn by their length. Drawing words until the length fits, as for short words,
//! would never end.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::definition::Production;

/// The length distribution of each nonterminal of a grammar: the probability that it becomes a word of each length.
#[derive(Debug)]
pub(super) struct Lengths {
    grammar: &'static [Production],
    of: BTreeMap<char, Vec<f64>>,
}

impl Lengths {
    /// Computes the probabilities of lengths up to `longest`. The time grows with the square of `longest`.
    pub(super) fn new(grammar: &'static [Production], longest: usize) -> Self {
        let mut this = Self { grammar, of: grammar.iter().map(|(left, ..)| (*left, vec![0.; longest + 1])).collect() };
        for length in 1..=longest {
            // In the order of the grammar, a nonterminal alone on a right-hand side always comes before the left-hand
            // side, so its probability for this length is known.
            let mut done = None;
            for &(left, ..) in grammar {
                if done != Some(left) {
                    let sum = grammar.iter().filter(|production| production.0 == left);
                    let sum = sum.map(|&(_, probability, right)| probability * this.becomes(right, length)).sum();
                    if let Some(lengths) = this.of.get_mut(&left) {
                        lengths[length] = sum;
                    }
                    done = Some(left);
                }
            }
        }
        this
    }

    /// Returns the maximum length whose probability is known.
    pub(super) fn longest(&self) -> usize {
        self.of.values().map(|lengths| lengths.len() - 1).max().unwrap_or(0)
    }

    /// Returns the number of letters of a right-hand side, and the length distributions of its nonterminals.
    fn parts(&self, right: &'static str) -> (usize, Vec<&[f64]>) {
        let open: Vec<&[f64]> = right.chars().filter_map(|symbol| self.of.get(&symbol).map(Vec::as_slice)).collect();
        (right.len() - open.len(), open)
    }

    /// Returns the probability that a right-hand side becomes a word of this length.
    fn becomes(&self, right: &'static str, length: usize) -> f64 {
        let (letters, open) = self.parts(right);
        let Some(rest) = length.checked_sub(letters) else { return 0. };
        match open.as_slice() {
            [] => f64::from(u8::from(rest == 0)),
            [one] => one[rest],
            [one, other] => (1..rest).map(|first| one[first] * other[rest - first]).sum(),
            _ => 0.,
        }
    }

    /// Draws a word with a length in this range, with the probability that the grammar gives it.
    pub(super) fn word(&self, random: &mut ChaCha8Rng, lengths: RangeInclusive<usize>) -> Option<String> {
        let start = self.grammar[0].0;
        let total = self.of.get(&start)?;
        let known = *lengths.start()..=(*lengths.end()).min(total.len() - 1);
        let length = pick(random, known.clone().map(|length| (length, total[length])))?;
        let mut word = String::new();
        let mut open = vec![(start, length)];
        while let Some((symbol, length)) = open.pop() {
            if !self.of.contains_key(&symbol) {
                word.push(symbol);
                continue;
            }
            let choices = self.grammar.iter().filter(|production| production.0 == symbol);
            let weighed = choices.map(|&(_, probability, right)| (right, probability * self.becomes(right, length)));
            let right = pick(random, weighed)?;
            let (letters, parts) = self.parts(right);
            let rest = length - letters;
            let first = match parts.as_slice() {
                [one, other] => {
                    pick(random, from_both_ends(rest).map(|first| (first, one[first] * other[rest - first])))?
                }
                _ => rest,
            };
            let mut of_parts = [first, rest - first].into_iter();
            let sizes = right.chars().map(|symbol| {
                let size = if self.of.contains_key(&symbol) { of_parts.next().unwrap_or(0) } else { 1 };
                (symbol, size)
            });
            let sizes: Vec<(char, usize)> = sizes.collect();
            open.extend(sizes.into_iter().rev());
        }
        Some(word)
    }
}

/// Returns the possible sizes of the first of two parts, starting with the most unequal splits, which are the most
/// frequent.
fn from_both_ends(rest: usize) -> impl Iterator<Item = usize> {
    (1..rest).map(move |at| if at % 2 == 1 { at.div_ceil(2) } else { rest - at / 2 })
}

/// Draws one of several items according to their weights.
fn pick<T>(random: &mut ChaCha8Rng, weighed: impl Iterator<Item = (T, f64)>) -> Option<T> {
    let weighed: Vec<(T, f64)> = weighed.collect();
    let total: f64 = weighed.iter().map(|(_, weight)| weight).sum();
    let mut at = random.random::<f64>() * total;
    let mut chosen = None;
    for (item, weight) in weighed {
        if weight > 0. {
            chosen = Some(item);
            at -= weight;
            if at < 0. {
                break;
            }
        }
    }
    chosen
}
