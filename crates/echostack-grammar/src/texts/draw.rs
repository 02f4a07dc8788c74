//! Words drawn from the rules of a grammar, under a budget of tokens.
//!
//! No words are counted, so that the first word comes at once, whatever the size of the grammar. A nonterminal with a
//! budget is replaced by a production whose shortest words fit in the budget, if possible by one that can use it up,
//! and the symbols of the production share the budget at random.

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

use crate::lr::count::Shortest;
use crate::lr::table::LrTable;

/// The length of the longest word of a symbol that has no longest word.
const UNBOUNDED: usize = usize::MAX;
/// The maximum number of tokens of a word, whatever the caller asks for.
const MOST: usize = 1 << 20;
/// The number of steps of a derivation after which only shortest derivations are used: this many, and as many again for
/// each token. It matters only for rules that derive each other without adding tokens.
const STEPS: usize = 200;
/// The probability that a production is chosen that can use up the budget, if there is one.
const FILLING: f64 = 0.95;
/// The probability that a production is chosen that the caller prefers, if there is one.
const PREFERRED: f64 = 0.9;

/// A position on the right side of a production: its number, and the place of the symbol.
pub(super) type Position = (usize, usize);

/// Draws derivations of a grammar.
pub(super) struct Derivations<'a> {
    table: &'a LrTable,
    shortest: Shortest<'a>,
    /// The length of the longest word of each symbol, or [`UNBOUNDED`].
    longest: Vec<usize>,
    /// The productions of each symbol that derive a word.
    usable: Vec<Vec<usize>>,
    /// The lengths of the shortest and the longest word of each production.
    lengths: Vec<(usize, usize)>,
    /// Where each symbol is used in productions that derive a word.
    uses: Vec<Vec<Position>>,
    /// The position through which the start symbol derives each symbol with the fewest tokens around it.
    contexts: Vec<Option<Position>>,
}

/// A symbol that is still to be replaced.
struct Open {
    symbol: usize,
    budget: usize,
    /// Where it is used.
    parent: Option<Position>,
    /// The step of the way that must be taken here.
    step: Option<usize>,
}

impl<'a> Derivations<'a> {
    /// Prepares to draw words of the terminals that can be used.
    pub(super) fn new(table: &'a LrTable, is_usable: impl Fn(usize) -> bool) -> Self {
        let shortest = Shortest::over(table, is_usable);
        let symbols = table.names.len();
        let (mut usable, mut uses) = (vec![Vec::new(); symbols], vec![Vec::new(); symbols]);
        for (number, production) in table.productions.iter().enumerate() {
            if shortest.length(&production.right).is_none() {
                continue;
            }
            usable[production.left].push(number);
            for (place, &symbol) in production.right.iter().enumerate() {
                uses[symbol].push((number, place));
            }
        }
        let longest = longest(table, &usable, &uses);
        let length = |right: &[usize]| {
            let most = right.iter().fold(0_usize, |sum, &symbol| sum.saturating_add(longest[symbol]));
            (shortest.length(right).unwrap_or(UNBOUNDED), most)
        };
        let lengths = table.productions.iter().map(|production| length(&production.right)).collect();
        let contexts = shortest.contexts().into_iter().map(|context| context.map(|(number, place, _)| (number, place)));
        let contexts = contexts.collect();
        Self { table, shortest, longest, usable, lengths, uses, contexts }
    }

    /// Returns the length of the shortest word, if there is one.
    pub(super) fn least(&self) -> Option<usize> {
        self.shortest.length(&[self.table.start])
    }

    /// Returns whether a production derives a word.
    pub(super) fn is_usable(&self, production: usize) -> bool {
        self.lengths[production].0 != UNBOUNDED
    }

    /// Draws a word of about as many tokens as the budget says, or a shortest one if that has more, but none of more
    /// than `most` tokens. The derivation takes a way from the start symbol, if one is given, and chooses productions
    /// that are preferred at a position.
    pub(super) fn draw(
        &self,
        random: &mut ChaCha8Rng,
        budget: usize,
        most: usize,
        way: &[Position],
        prefers: &dyn Fn(Option<Position>, usize) -> bool,
    ) -> Option<Vec<usize>> {
        let needs = self.needs(way)?;
        let least = self.least()?.max(needs.first().copied().unwrap_or(0));
        // A few rules may have no word of less than exponential length.
        if least > most.min(MOST) {
            return None;
        }
        let budget = budget.clamp(least, MOST);
        let mut steps = STEPS.saturating_mul(budget + 1);
        let mut word = Vec::new();
        let step = (!way.is_empty()).then_some(0);
        let mut open = vec![Open { symbol: self.table.start, budget, parent: None, step }];
        while let Some(next) = open.pop() {
            if next.symbol < self.table.terminals {
                word.push(next.symbol);
                continue;
            }
            steps = steps.saturating_sub(1);
            let number = match next.step {
                Some(step) => way[step].0,
                None if steps == 0 => self.shortest.production(next.symbol)?,
                None => self.choose(random, &next, prefers)?,
            };
            let right = &self.table.productions[number].right;
            // The rest of the way leads through one of the symbols.
            let rest = next.step.filter(|step| step + 1 < way.len()).map(|step| (way[step].1, step + 1));
            let budgets = self.share(random, right, next.budget, rest.map(|(place, step)| (place, needs[step])));
            for (place, (&symbol, budget)) in right.iter().zip(budgets).enumerate().rev() {
                let step = rest.filter(|&(through, _)| through == place).map(|(_, step)| step);
                open.push(Open { symbol, budget, parent: Some((number, place)), step });
            }
        }
        Some(word)
    }

    /// Returns the number of tokens that the rest of a way needs at least, from each of its steps on.
    fn needs(&self, way: &[Position]) -> Option<Vec<usize>> {
        let mut needs = vec![0; way.len()];
        for (step, &(number, place)) in way.iter().enumerate().rev() {
            let right = &self.table.productions[number].right;
            let all = self.shortest.length(right)?;
            needs[step] = match needs.get(step + 1) {
                Some(&need) => all.saturating_sub(self.shortest.length(&[*right.get(place)?])?).saturating_add(need),
                None => all,
            };
        }
        Some(needs)
    }

    fn choose(
        &self,
        random: &mut ChaCha8Rng,
        open: &Open,
        prefers: &dyn Fn(Option<Position>, usize) -> bool,
    ) -> Option<usize> {
        let best = self.shortest.production(open.symbol)?;
        // Where nothing is left to spend, derivations of nothing must not go on growing.
        if open.budget == 0 && random.random_bool(0.5) {
            return Some(best);
        }
        let all = self.usable[open.symbol].iter().copied();
        let fitting: Vec<usize> = all.filter(|&number| self.lengths[number].0 <= open.budget).collect();
        let preferred: Vec<usize> = fitting.iter().copied().filter(|&number| prefers(open.parent, number)).collect();
        if !preferred.is_empty() && random.random_bool(PREFERRED) {
            return preferred.choose(random).copied();
        }
        let filling: Vec<usize> =
            fitting.iter().copied().filter(|&number| self.lengths[number].1 >= open.budget).collect();
        let few = if !filling.is_empty() && random.random_bool(FILLING) { &filling } else { &fitting };
        Some(few.choose(random).copied().unwrap_or(best))
    }

    /// Shares a budget among the symbols of a right side. Each gets what it needs; `rest` is the place of a symbol that
    /// needs more than its shortest word, and that number.
    fn share(
        &self,
        random: &mut ChaCha8Rng,
        right: &[usize],
        budget: usize,
        rest: Option<(usize, usize)>,
    ) -> Vec<usize> {
        let need = |(place, &symbol): (usize, &usize)| match rest {
            Some((through, need)) if through == place => need,
            _ => self.shortest.length(&[symbol]).unwrap_or(0),
        };
        let mut shares: Vec<usize> = right.iter().enumerate().map(need).collect();
        let mut spare = budget.saturating_sub(shares.iter().fold(0_usize, |sum, &share| sum.saturating_add(share)));
        let mut order: Vec<usize> = (0..right.len()).filter(|&place| right[place] >= self.table.terminals).collect();
        order.shuffle(random);
        // Each in turn gets a part of what is left; what is left in the end goes to the first ones that can use it.
        for is_last in [false, true] {
            for &place in &order {
                let most = spare.min(self.longest[right[place]].saturating_sub(shares[place]));
                let part = if is_last { most } else { random.random_range(0..=most) };
                shares[place] += part;
                spare -= part;
            }
        }
        shares
    }

    /// Returns a way from the start symbol to a nonterminal: the shortest one, after as many random uses of it and of
    /// what it is used in as `detours` says.
    pub(super) fn way_to(&self, random: &mut ChaCha8Rng, mut symbol: usize, detours: usize) -> Option<Vec<Position>> {
        let mut way = Vec::new();
        for _ in 0..detours {
            let Some(&(number, place)) = self.uses[symbol].choose(random) else { break };
            way.push((number, place));
            symbol = self.table.productions[number].left;
        }
        while symbol != self.table.start {
            let (number, place) = self.contexts[symbol]?;
            way.push((number, place));
            symbol = self.table.productions[number].left;
        }
        way.reverse();
        Some(way)
    }
}

/// Returns the length of the longest word of each symbol. A symbol that derives itself, or one that does, has none,
/// even if the derivation adds no tokens.
fn longest(table: &LrTable, usable: &[Vec<usize>], uses: &[Vec<Position>]) -> Vec<usize> {
    let mut longest = vec![UNBOUNDED; table.names.len()];
    let is_nonterminal = |symbol: &&usize| **symbol >= table.terminals;
    let uses_of_nonterminals = |&number: &usize| table.productions[number].right.iter().filter(is_nonterminal).count();
    let mut missing: Vec<usize> =
        usable.iter().map(|numbers| numbers.iter().map(uses_of_nonterminals).sum::<usize>()).collect();
    longest[..table.terminals].fill(1);
    // A nonterminal is done once all that its productions use is done.
    let mut done: Vec<usize> = (table.terminals..table.names.len()).filter(|&symbol| missing[symbol] == 0).collect();
    while let Some(symbol) = done.pop() {
        let length = |&number: &usize| {
            let right = &table.productions[number].right;
            right.iter().fold(0_usize, |sum, &symbol| sum.saturating_add(longest[symbol]))
        };
        longest[symbol] = usable[symbol].iter().map(length).max().unwrap_or(0);
        for &(number, _) in &uses[symbol] {
            let left = table.productions[number].left;
            missing[left] -= 1;
            if missing[left] == 0 {
                done.push(left);
            }
        }
    }
    longest
}
