//! How many words there are of each length, and words drawn uniformly from them; shortest words that cover a grammar.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::table::{LrTable, Production};

/// The numbers of derivations by length, each multiplied with `scale` to the power of the length, so that they fit in f64.
#[derive(Debug)]
pub(crate) struct Counts {
    longest: usize,
    /// For each symbol and length.
    symbols: Vec<Vec<f64>>,
    /// For each production, place in its right side and length: of the right side from there on.
    rests: Vec<Vec<Vec<f64>>>,
}

/// The longest words that are counted; the work grows with the square.
pub(crate) const LONGEST: usize = 5000;
/// How often a better scale is tried.
const ATTEMPTS: usize = 20;

impl Counts {
    /// `None` if a rule derives itself alone.
    pub(crate) fn new(table: &LrTable, longest: usize) -> Option<Self> {
        let mut scale = 1_f64;
        for _ in 0..ATTEMPTS {
            let (counts, done) = Self::scaled(table, longest, scale)?;
            if done > longest {
                return Some(counts);
            }
            // The numbers grow by about this much with each token.
            let largest = counts.symbols.iter().map(|of| of[done - 1]).fold(1., f64::max);
            scale /= largest.powf(1. / (done - 1).max(1) as f64).max(2_f64.sqrt());
        }
        None
    }

    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Counts until the numbers become too large, and says how many lengths were done.
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
            // Rules that call each other without reading anything settle after as many rounds as there are rules.
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

    /// Counts what has this length once more and says whether something changed.
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

    /// A word whose length is drawn uniformly from those in the range that words have.
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

/// One of these, by weight; never one of weight 0 unless all are.
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
    /// For each symbol its shortest length and, if it is a nonterminal, the production that has it; `None` if it derives
    /// no word.
    best: Vec<Option<(usize, usize)>>,
}

impl<'a> Shortest<'a> {
    pub(crate) fn new(table: &'a LrTable) -> Self {
        let mut best = vec![None; table.names.len()];
        best[..table.terminals].fill(Some((1, 0)));
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

    /// Whether a symbol derives a word at all.
    pub(crate) fn derives(&self, symbol: usize) -> bool {
        self.best[symbol].is_some()
    }

    /// The shortest length of these symbols together.
    fn length(&self, symbols: &[usize]) -> Option<usize> {
        symbols.iter().map(|&symbol| self.best[symbol].map(|(length, _)| length)).sum()
    }

    /// Adds the shortest word of these symbols.
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

    /// For each nonterminal the production and the place in it through which it is reached from the start with the
    /// fewest tokens around it.
    fn contexts(&self) -> Vec<Option<(usize, usize, usize)>> {
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
                    let cost = outside + all - self.best[symbol].map_or(0, |(length, _)| length);
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

/// The most covering words.
const MOST_COVERING: usize = 3000;

/// For each production at each place where its rule is used, a shortest word with it there.
pub(crate) fn covering(table: &LrTable) -> Vec<Vec<usize>> {
    let shortest = Shortest::new(table);
    let contexts = shortest.contexts();
    // The word around a symbol: what stands before and after it, from the start.
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
        // Long words: the numbers do not fit in f64 unscaled.
        let long = Counts::new(table, 2000).unwrap();
        assert_eq!(long.draw(table, &mut random, &(2000..=2000)).unwrap().len(), 2000);
    }
}
