//! Counts the words of a grammar by length, draws words uniformly, and finds shortest words that cover the grammar.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::table::LrTable;
use crate::rules::Production;

/// The numbers of derivations by length, each multiplied by `scale` to the power of the length so that it fits in an
/// f64.
#[derive(Debug)]
pub(crate) struct Counts {
    longest: usize,
    /// The numbers for each symbol and length.
    symbols: Vec<Vec<f64>>,
    /// The numbers for each production, position in its right side, and length. They count what the right side derives
    /// from that position on.
    rests: Vec<Vec<Vec<f64>>>,
}

/// The maximum length of the words that are counted. The work grows with its square.
pub(crate) const LONGEST: usize = 5000;
/// The maximum number of scales that are tried.
const ATTEMPTS: usize = 20;

impl Counts {
    /// Counts the derivations of up to `longest` tokens. Returns `None` if a rule derives itself alone, or if no scale
    /// was found.
    pub(crate) fn new(table: &LrTable, longest: usize) -> Option<Self> {
        let mut scale = 1_f64;
        for _ in 0..ATTEMPTS {
            let (counts, done) = Self::scaled(table, longest, scale)?;
            if done > longest {
                return Some(counts);
            }
            // The numbers grow by about this factor with each token.
            let largest = counts.symbols.iter().map(|of| of[done - 1]).fold(1., f64::max);
            scale /= largest.powf(1. / (done - 1).max(1) as f64).max(2_f64.sqrt());
        }
        None
    }

    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Counts until the numbers become too large, and returns the number of lengths that were completed.
    fn scaled(table: &LrTable, longest: usize, scale: f64) -> Option<(Self, usize)> {
        let empty = vec![0.; longest + 1];
        let mut symbols = vec![empty.clone(); table.names.len()];
        if longest > 0 {
            symbols[..table.terminals].iter_mut().for_each(|counts| counts[1] = scale);
        }
        let rests = |production: &Production| vec![empty.clone(); production.right.len() + 1];
        let mut this = Self { longest, symbols, rests: table.productions.iter().map(rests).collect() };
        for rests in &mut this.rests {
            if let Some(last) = rests.last_mut() {
                last[0] = 1.;
            }
        }
        for length in 0..=longest {
            // Rules that derive each other without reading anything converge after as many rounds as there are rules.
            let mut rounds = 0..table.names.len() + 2;
            while this.settle(table, length) {
                if this.symbols.iter().any(|of| !of[length].is_finite()) {
                    return Some((this, length));
                }
                rounds.next()?;
            }
        }
        Some((this, longest + 1))
    }

    /// Recomputes the numbers for this length once, and returns whether any of them changed.
    fn settle(&mut self, table: &LrTable, length: usize) -> bool {
        let mut totals = vec![0.; table.names.len()];
        for (production, rests) in table.productions.iter().zip(&mut self.rests) {
            for place in (0..production.right.len()).rev() {
                let (first, rest) = (&self.symbols[production.right[place]], &rests[place + 1]);
                rests[place][length] = (0..=length).map(|part| first[part] * rest[length - part]).sum();
            }
            totals[production.left] += rests[0][length];
        }
        let mut changed = false;
        for (symbol, total) in totals.into_iter().enumerate().skip(table.terminals) {
            changed |= self.symbols[symbol][length] != total;
            self.symbols[symbol][length] = total;
        }
        changed
    }

    /// Draws a length uniformly from those in the range that words have, and then a word of that length. Returns `None`
    /// if no word has such a length.
    pub(crate) fn draw(
        &self,
        table: &LrTable,
        random: &mut ChaCha8Rng,
        lengths: &RangeInclusive<usize>,
    ) -> Option<Vec<usize>> {
        let counted = *lengths.start()..=self.longest.min(*lengths.end());
        let possible: Vec<usize> = counted.filter(|&length| self.symbols[table.start][length] > 0.).collect();
        if possible.is_empty() {
            return None;
        }
        let length = possible[random.random_range(0..possible.len())];
        let mut word = Vec::with_capacity(length);
        let mut open = vec![(table.start, length)];
        while let Some((symbol, length)) = open.pop() {
            if symbol < table.terminals {
                word.push(symbol);
                continue;
            }
            let choices: Vec<(usize, f64)> =
                table.productions_of(symbol).map(|(number, _)| (number, self.rests[number][0][length])).collect();
            let number = choose(random, &choices);
            let right = &table.productions[number].right;
            let mut left = length;
            let mut parts = Vec::with_capacity(right.len());
            for (place, &symbol) in right.iter().enumerate() {
                let rest = &self.rests[number][place + 1];
                let choices: Vec<(usize, f64)> =
                    (0..=left).map(|part| (part, self.symbols[symbol][part] * rest[left - part])).collect();
                let part = choose(random, &choices);
                parts.push((symbol, part));
                left -= part;
            }
            open.extend(parts.into_iter().rev());
        }
        Some(word)
    }
}

/// Draws one of the choices by weight. A choice of weight 0 is never drawn unless all weights are 0.
fn choose(random: &mut ChaCha8Rng, choices: &[(usize, f64)]) -> usize {
    let total: f64 = choices.iter().map(|(_, weight)| weight).sum();
    let mut at = random.random::<f64>() * total;
    let mut chosen = choices.first().map_or(0, |(choice, _)| *choice);
    for &(choice, weight) in choices.iter().filter(|(_, weight)| *weight > 0.) {
        chosen = choice;
        at -= weight;
        if at < 0. {
            break;
        }
    }
    chosen
}

/// The shortest derivations of a grammar's symbols.
pub(crate) struct Shortest<'a> {
    table: &'a LrTable,
    /// The length of the shortest word that each symbol derives and, for a nonterminal, the production to use; `None`
    /// if the symbol derives no word.
    best: Vec<Option<(usize, usize)>>,
}

impl<'a> Shortest<'a> {
    pub(crate) fn new(table: &'a LrTable) -> Self {
        Self::over(table, |_| true)
    }

    /// Finds the shortest derivations of words that consist of some of the terminals only.
    pub(crate) fn over(table: &'a LrTable, usable: impl Fn(usize) -> bool) -> Self {
        let mut best = vec![None; table.names.len()];
        for (terminal, best) in best[..table.terminals].iter_mut().enumerate() {
            *best = usable(terminal).then_some((1, 0));
        }
        let mut this = Self { table, best };
        let mut changed = true;
        while changed {
            changed = false;
            for (number, production) in table.productions.iter().enumerate() {
                if let Some(length) = this.length(&production.right)
                    && this.best[production.left].is_none_or(|(known, _)| length < known)
                {
                    this.best[production.left] = Some((length, number));
                    changed = true;
                }
            }
        }
        this
    }

    /// Returns whether a symbol derives any word.
    pub(crate) fn derives(&self, symbol: usize) -> bool {
        self.best[symbol].is_some()
    }

    /// Returns the production with which the shortest derivation of a nonterminal begins. Derivations that follow these
    /// productions end, because each was found after those of the symbols on its right side.
    pub(crate) fn production(&self, symbol: usize) -> Option<usize> {
        self.best[symbol].map(|(_, production)| production)
    }

    /// Returns the length of the shortest word that a sequence of symbols derives. It may be exponentially long.
    pub(crate) fn length(&self, symbols: &[usize]) -> Option<usize> {
        symbols.iter().try_fold(0_usize, |sum, &symbol| Some(sum.saturating_add(self.best[symbol]?.0)))
    }

    /// Appends the shortest word that a sequence of symbols derives.
    pub(crate) fn expand(&self, symbols: &[usize], word: &mut Vec<usize>) {
        let mut open: Vec<usize> = symbols.iter().rev().copied().collect();
        while let Some(symbol) = open.pop() {
            if symbol < self.table.terminals {
                word.push(symbol);
            } else if let Some((_, production)) = self.best[symbol] {
                open.extend(self.table.productions[production].right.iter().rev());
            }
        }
    }

    /// Finds, for each nonterminal, the production and the position in it through which the start symbol derives the
    /// nonterminal with the fewest tokens around it, and that number of tokens.
    pub(crate) fn contexts(&self) -> Vec<Option<(usize, usize, usize)>> {
        let table = self.table;
        let mut around: Vec<Option<usize>> = vec![None; table.names.len()];
        let mut through = vec![None; table.names.len()];
        around[table.start] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for (number, production) in table.productions.iter().enumerate() {
                let (Some(outside), Some(all)) = (around[production.left], self.length(&production.right)) else {
                    continue;
                };
                for (place, &symbol) in
                    production.right.iter().enumerate().filter(|(_, symbol)| **symbol >= table.terminals)
                {
                    let cost =
                        (outside.saturating_add(all)).saturating_sub(self.best[symbol].map_or(0, |(length, _)| length));
                    if around[symbol].is_none_or(|known| cost < known) {
                        around[symbol] = Some(cost);
                        through[symbol] = Some((number, place, cost));
                        changed = true;
                    }
                }
            }
        }
        through
    }
}

/// The maximum number of covering words.
const MOST_COVERING: usize = 3000;

/// Returns, for each production and each place where its rule is used, a shortest word that uses the production there.
pub(crate) fn covering(table: &LrTable) -> Vec<Vec<usize>> {
    let shortest = Shortest::new(table);
    let contexts = shortest.contexts();
    // The symbols before and after a symbol in a derivation from the start symbol.
    let around = |mut symbol: usize| {
        let (mut before, mut after): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        while symbol != table.start {
            let (number, place, _) = contexts[symbol]?;
            let production = &table.productions[number];
            before = [&production.right[..place], &before].concat();
            after.extend(&production.right[place + 1..]);
            symbol = production.left;
        }
        Some((before, after))
    };
    let mut words = BTreeSet::new();
    let mut add = |symbols: &[usize]| {
        if shortest.length(symbols).is_some() {
            let mut word = Vec::new();
            shortest.expand(symbols, &mut word);
            words.insert((word.len(), word));
        }
    };
    for outer in &table.productions {
        let Some((before, after)) = around(outer.left) else { continue };
        add(&[&before, &outer.right[..], &after].concat());
        for (place, &symbol) in outer.right.iter().enumerate().filter(|(_, symbol)| **symbol >= table.terminals) {
            for (_, inner) in table.productions_of(symbol) {
                add(&[&before, &outer.right[..place], &inner.right, &outer.right[place + 1..], &after].concat());
            }
        }
    }
    words.into_iter().take(MOST_COVERING).map(|(_, word)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, Grammar};
    use rand::SeedableRng;

    #[test]
    fn counts_are_catalan_numbers_and_words_are_drawn_evenly() {
        let grammar = Grammar::new("dyck", "%start S\n%%\nS: | '(' S ')' S;\n", Encoding::Auto).unwrap();
        let table = grammar.table();
        let counts = Counts::new(table, 12).unwrap();
        let catalan = [1., 0., 1., 0., 2., 0., 5., 0., 14., 0., 42., 0., 132.];
        assert_eq!(counts.symbols[table.start], catalan);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..5000 {
            *seen.entry(counts.draw(table, &mut random, &(6..=6)).unwrap()).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 5);
        assert!(seen.values().all(|&count| (800..1200).contains(&count)), "{seen:?}");
        assert_eq!(counts.draw(table, &mut random, &(3..=3)), None);
        // For long words, the unscaled numbers do not fit in an f64.
        let long = Counts::new(table, 2000).unwrap();
        assert_eq!(long.draw(table, &mut random, &(2000..=2000)).unwrap().len(), 2000);
    }
}
