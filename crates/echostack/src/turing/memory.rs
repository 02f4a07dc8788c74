//! The memory of decisions that cannot turn out differently, as one-stack machines have one: decisions that are the same on
//! all stacks with some topmost symbols are found once, by the bounds of proofs, and then looked up.

use std::fmt::Debug;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::rules::{Decision, Which, next_of};
use crate::suffix::StackSuffix;
use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// The maximum number of symbols of each stack by which decisions are told apart.
const MAX_SYMBOLS: usize = 4;
/// The maximum number of places for parts of cells, in all cells together.
const MAX_PLACES: usize = 1 << 20;

/// The source of what is certain.
pub(super) trait MemorySource: Debug + Send + Sync {
    /// Returns the decision on all stacks with these suffixes, or else the stack whose states differ more.
    fn certain(&self, suffixes: [&StackSuffix; 2], next: Lookahead) -> Result<Decision, Which>;
}

/// A set of configurations: those with the same topmost symbols on both stacks, as many as the way to it tells apart.
#[derive(Debug)]
enum Cell {
    /// The decision on all of them.
    Known(Decision),
    /// Nothing is certain, and no more symbols are told apart.
    Unknown,
    /// The parts by one more symbol of a stack; the first is for its bottom.
    Split(Which, Box<[OnceLock<Box<Cell>>]>),
}

#[derive(Debug)]
pub(super) struct Memory {
    source: Box<dyn MemorySource>,
    /// The cells for each lookahead.
    roots: Box<[OnceLock<Box<Cell>>]>,
    nexts: Vec<Lookahead>,
    symbols: usize,
    places: AtomicUsize,
}

impl Memory {
    pub(super) fn new(source: Box<dyn MemorySource>, alphabet: &Alphabet) -> Self {
        let count = alphabet.terminals().len() + 1;
        Self {
            source,
            roots: (0..count).map(|_| OnceLock::new()).collect(),
            nexts: (0..count).filter_map(|number| next_of(number, alphabet)).collect(),
            symbols: alphabet.len(),
            places: AtomicUsize::new(0),
        }
    }

    /// Returns the decision in a configuration, if it is known. `beneath` returns the symbol that lies this far beneath the
    /// top of a stack, or `None` beneath its bottom.
    pub(super) fn find(&self, next: usize, beneath: impl Fn(Which, usize) -> Option<SymbolId>) -> Option<&Decision> {
        let mut place = self.roots.get(next)?;
        let (mut depths, mut whole) = ([0; 2], [false; 2]);
        loop {
            let cell = place.get_or_init(|| Box::new(self.create(next, depths, whole, &beneath)));
            match &**cell {
                Cell::Known(decision) => return Some(decision),
                Cell::Unknown => return None,
                Cell::Split(which, parts) => {
                    let symbol = beneath(*which, depths[which.index()]);
                    match symbol {
                        Some(_) => depths[which.index()] += 1,
                        None => whole[which.index()] = true,
                    }
                    place = parts.get(symbol.map_or(0, |symbol| symbol.index() + 1))?;
                }
            }
        }
    }

    fn create(
        &self,
        next: usize,
        depths: [usize; 2],
        whole: [bool; 2],
        beneath: &impl Fn(Which, usize) -> Option<SymbolId>,
    ) -> Cell {
        let [first, second] = Which::BOTH.map(|which| {
            let symbols = (0..depths[which.index()]).rev().filter_map(|count| beneath(which, count)).collect();
            StackSuffix::new(symbols, whole[which.index()])
        });
        match self.source.certain([&first, &second], self.nexts[next]) {
            Ok(decision) => Cell::Known(decision),
            Err(wider) => {
                let open = |which: Which| !whole[which.index()] && depths[which.index()] < MAX_SYMBOLS;
                let other = if wider == Which::First { Which::Second } else { Which::First };
                let split = [wider, other].into_iter().find(|&which| open(which));
                match split {
                    Some(which) if self.places.load(Ordering::Relaxed) < MAX_PLACES => {
                        self.places.fetch_add(self.symbols + 1, Ordering::Relaxed);
                        Cell::Split(which, (0..=self.symbols).map(|_| OnceLock::new()).collect())
                    }
                    _ => Cell::Unknown,
                }
            }
        }
    }
}
