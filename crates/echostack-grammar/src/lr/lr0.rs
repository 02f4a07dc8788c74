//! LR(0) states: sets of items, without lookaheads.
//!
//! For example, take E: E + n | n. The start state has the kernel E' : . E, where E' stands for acceptance, and the
//! closure E: it may go on with the productions of E. After E, the kernel is E' : E . and E: E . + n, which has no
//! closure. After n, it is E: n . alone, and so on: there are five states.

use std::collections::HashMap;

use super::first::Productions;
use super::work::{Item, TooLarge, Work};

/// The words that an item of a state takes, which is also part of a key.
const ITEM: usize = 8;

/// The LR(0) states of a grammar. State 0 is the start state.
#[derive(Debug)]
pub(super) struct Lr0 {
    /// The items from which each state began, in order. All of them have a position after the first symbol, except for
    /// that of the start state.
    pub(super) kernels: Vec<Vec<Item>>,
    /// The nonterminals that each state may go on with, in order. Their productions belong to the state, too.
    pub(super) closures: Vec<Vec<usize>>,
    /// The state after each symbol that a state may go on with, in the order of the symbols.
    pub(super) edges: Vec<Vec<(usize, usize)>>,
}

impl Lr0 {
    /// Computes the states, unless there are more than `most`.
    pub(super) fn new(productions: &Productions<'_>, most: usize, work: &mut Work) -> Result<Self, TooLarge> {
        let begins = Begins::new(productions);
        let start = vec![(productions.acceptance(), 0)];
        let mut this = Self { kernels: vec![start.clone()], closures: Vec::new(), edges: Vec::new() };
        let mut known = HashMap::from([(start, 0)]);
        // The kernel determines the rest of a state, so states are equal if their kernels are. The list grows while it
        // is worked through.
        while let Some(kernel) = this.kernels.get(this.edges.len()) {
            let closure = begins.closure(productions, kernel, work)?;
            let mut edges = Vec::new();
            for (symbol, kernel) in successors(productions, &begins, kernel, &closure, work)? {
                let fresh = this.kernels.len();
                let state = known.get(&kernel).copied().unwrap_or(fresh);
                if state == fresh {
                    work.keep(2 * kernel.len() + 1, ITEM)?;
                    known.insert(kernel.clone(), fresh);
                    this.kernels.push(kernel);
                }
                edges.push((symbol, state));
            }
            work.keep(edges.len() + closure.len() + 1, 2)?;
            this.edges.push(edges);
            this.closures.push(closure);
            // Asked after each state, since a short grammar can have more states than fit in memory.
            if this.kernels.len() > most {
                return Err(TooLarge::States);
            }
        }
        Ok(this)
    }

    /// Returns the state after a symbol.
    pub(super) fn after(&self, state: usize, symbol: usize) -> Option<usize> {
        let edges = &self.edges[state];
        edges.binary_search_by_key(&symbol, |edge| edge.0).ok().map(|at| edges[at].1)
    }
}

/// What the productions of each nonterminal begin with.
struct Begins {
    /// The nonterminals that begin a production of each symbol, each once.
    nonterminals: Vec<Vec<usize>>,
    /// For each symbol, the first symbol of each of its productions that is not empty, and the item after it.
    items: Vec<Vec<(usize, Item)>>,
}

impl Begins {
    fn new(productions: &Productions<'_>) -> Self {
        let items = |numbers: &Vec<usize>| -> Vec<(usize, Item)> {
            numbers.iter().filter_map(|&number| Some((productions.next((number, 0))?, (number, 1)))).collect()
        };
        let items: Vec<Vec<(usize, Item)>> = productions.of.iter().map(items).collect();
        let nonterminals = items.iter().map(|items| {
            let mut first: Vec<usize> = items.iter().map(|&(symbol, _)| symbol).collect();
            first.retain(|&symbol| symbol >= productions.rules.terminals);
            first.sort_unstable();
            first.dedup();
            first
        });
        Self { nonterminals: nonterminals.collect(), items }
    }

    /// Returns the nonterminals that can come next after the items of a kernel, in order.
    fn closure(&self, productions: &Productions<'_>, kernel: &[Item], work: &mut Work) -> Result<Vec<usize>, TooLarge> {
        // Only nonterminals are kept, and not their productions: all productions of a nonterminal are in a state, or
        // none is.
        let mut found: Vec<usize> = kernel.iter().filter_map(|&item| productions.next_nonterminal(item)).collect();
        let mut seen = vec![false; productions.rules.names.len()];
        found.retain(|&symbol| !std::mem::replace(&mut seen[symbol], true));
        let mut at = 0;
        while let Some(&symbol) = found.get(at) {
            let begins = &self.nonterminals[symbol];
            work.read(begins.len() + 1, 1)?;
            found.extend(begins.iter().filter(|&&symbol| !std::mem::replace(&mut seen[symbol], true)));
            at += 1;
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// Returns the kernels of the states that follow a state, by the symbol that leads there.
fn successors(
    productions: &Productions<'_>,
    begins: &Begins,
    kernel: &[Item],
    closure: &[usize],
    work: &mut Work,
) -> Result<Vec<(usize, Vec<Item>)>, TooLarge> {
    let continued = kernel.iter().filter_map(|&item| Some((productions.next(item)?, (item.0, item.1 + 1))));
    let begun = closure.iter().flat_map(|&symbol| &begins.items[symbol]).copied();
    let mut all: Vec<(usize, Item)> = continued.chain(begun).collect();
    work.read(all.len(), 4)?;
    // By symbol first, and then by item, so that equal kernels are equal lists. No item occurs twice.
    all.sort_unstable();
    let groups = all.chunk_by(|one, other| one.0 == other.0);
    Ok(groups.map(|group| (group[0].0, group.iter().map(|&(_, item)| item).collect())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    #[test]
    fn the_example_is_as_described() {
        let rules = crate::reading::rules(Source { file: None, text: "%%\nE: E '+' 'n' | 'n';\n" }).unwrap().0;
        let mut work = Work::default();
        let productions = Productions::new(&rules, &mut work).unwrap();
        let lr0 = Lr0::new(&productions, 100, &mut work).unwrap();
        let acceptance = productions.acceptance();
        assert_eq!((acceptance, lr0.kernels.len()), (2, 5));
        assert_eq!((&lr0.kernels[0], &lr0.closures[0]), (&vec![(acceptance, 0)], &vec![rules.start]));
        let after = lr0.after(0, rules.start).unwrap();
        assert_eq!((&lr0.kernels[after], &lr0.closures[after]), (&vec![(0, 1), (acceptance, 1)], &vec![]));
        let n = rules.names.iter().position(|name| name == "n").unwrap();
        assert_eq!(lr0.kernels[lr0.after(0, n).unwrap()], [(1, 1)]);
    }
}
