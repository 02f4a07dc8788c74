//! Decisions that are certain in a whole cell, found once and then looked up.
//!
//! A reservoir forgets, so most decisions depend only on the last symbols of the input and of the stack. A cell is the
//! set of all configurations with the same last symbols. If a readout chooses the same class everywhere in a cell, the
//! choice is remembered, and neither states nor kernel values are needed there anymore. If it does not, the cell is
//! split by one more symbol. Decisions that are not certain in the smallest cells are computed as if there were none.
//!
//! Cells are created while words are read. They are paid for in advance by decisions that were computed, and no more of
//! them are created if few are of use. So a machine whose decisions are never certain does not lose much time.
//!
//! # Example
//!
//! A machine for Dyck1 is about to read `)` after `( (`, on the stack `( (`. The cell of all configurations with `)`
//! next comes first. It says nothing, since any symbol can be on top. Its parts are for the symbol on top, and that for
//! `(` is asked next: does a readout choose the same class on all stacks with `(` on top, whatever came before? If all
//! do, such as "pop nothing and push S", then this is the decision, now and whenever `)` comes with `(` on top. If some
//! readout does not, the cell is split again, by the symbol below `(` or by the token before `)`, on whichever side the
//! states differ more. Here, both are `(`. After four symbols on a side, it is not split on that side any more.

use std::fmt::Debug;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::readouts::{Actions, Output, Readout, Readouts};
use crate::readout::Side;
use crate::recognize::{Reduction, View};
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// The maximum number of symbols of a cell on each side.
pub(super) const MAX_SYMBOLS: usize = 4;
/// The maximum number of places for parts of cells, in all cells together: 16 MiB.
const MAX_PLACES: usize = 1 << 20;
/// The number of computed decisions for each cell.
const CELL_PRICE: usize = 1;
/// The number of cells after which it is worthwhile to ask how many of them are of use.
const FIRST_CELLS: usize = 128;
/// The number of cells that may be created for each one in which everything is known.
const CELLS_PER_COMPLETE: usize = 8;

/// The source of what is certain in a cell.
pub(crate) trait Certain: Debug + Send + Sync {
    /// Returns the approximate time until the first cell is known, as a number of computed decisions.
    fn preparation(&self) -> usize;

    /// Returns what is certain in a cell, or `None` if that cannot be found out for this machine.
    /// The classes of some readouts are known already, because they are certain in a larger cell.
    fn certain(&self, input: &InputSuffix, stack: &StackSuffix, known: &[(Readout, usize)]) -> Option<Certainty>;
}

/// What is certain in a cell.
pub(crate) struct Certainty {
    /// The readouts that choose the same class in the whole cell, and these classes, including those known before.
    pub(crate) classes: Vec<(Readout, usize)>,
    /// The side on which the states of the cell differ more.
    pub(crate) wider: Side,
}

/// The decisions that are known in a configuration. Output and shift are only asked for if there is no reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) reduction: Option<Reduction>,
    /// The class of the output.
    pub(super) output: Option<usize>,
    pub(super) shift: Option<bool>,
}

impl Known {
    /// Translates the classes of the readouts.
    fn new(readouts: &Readouts, classes: &[(Readout, usize)]) -> Self {
        let class = |readout| classes.iter().find(|(own, _)| *own == readout).map(|(_, class)| *class);
        let reduction = match &readouts.actions {
            Actions::Separate { pop, push } => class(Readout::Pop)
                .zip(class(Readout::Push))
                .map(|(own, other)| Reduction { pop: pop.labels[own], push: push.labels[other] }),
            Actions::Joint(joint) => class(Readout::Pop).map(|class| joint.labels[class]),
        };
        let shift = class(Readout::Shift).map(|class| readouts.shift.labels[class]);
        Self { reduction, output: class(Readout::Output), shift }
    }

    /// Returns whether everything that will be asked for is known.
    fn is_complete(&self, readouts: &Readouts, next: Lookahead) -> bool {
        let output = self.output.is_some() || matches!(readouts.output, Output::Regression);
        let shift = self.shift.is_some() || next == Lookahead::End;
        self.reduction.is_some_and(|reduction| reduction != Reduction::NONE || (output && shift))
    }
}

/// The last symbols on one side of a configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent {
    /// The symbols, the last one first.
    pub(super) symbols: [SymbolId; MAX_SYMBOLS],
    pub(super) count: usize,
    /// Whether these are all symbols.
    pub(super) whole: bool,
}

impl Recent {
    /// Nothing is known.
    pub(super) const NOTHING: Self = Self { symbols: [SymbolId::UNKNOWN; MAX_SYMBOLS], count: 0, whole: false };

    /// Takes the last of these symbols, which are given in reverse. Symbols before one that is `None` are unknown.
    pub(super) fn new(reversed: impl IntoIterator<Item = Option<SymbolId>>, complete: bool) -> Self {
        let mut recent = Self::NOTHING;
        for symbol in reversed {
            match symbol {
                Some(symbol) if recent.count < MAX_SYMBOLS => {
                    recent.symbols[recent.count] = symbol;
                    recent.count += 1;
                }
                // There is more than this, so where the symbols begin is not known.
                _ => return recent,
            }
        }
        Self { whole: complete, ..recent }
    }

    /// Returns the last `count` symbols, in their order.
    fn last(&self, count: usize) -> Vec<SymbolId> {
        self.symbols[..count].iter().rev().copied().collect()
    }
}

/// How much of a side a cell distinguishes.
#[derive(Clone, Copy, Default)]
struct Extent {
    symbols: usize,
    whole: bool,
}

impl Extent {
    /// Goes on by one symbol and returns the number of the part that it leads to, unless the symbol is not known.
    fn advance(&mut self, recent: &Recent) -> Option<usize> {
        if self.symbols < recent.count {
            self.symbols += 1;
            return Some(1 + recent.symbols[self.symbols - 1].index());
        }
        // All symbols are told apart. One thing is left: that nothing comes before them, which a cell can know only
        // once.
        let ends = recent.whole && !self.whole;
        self.whole |= recent.whole;
        ends.then_some(0)
    }
}

/// A set of configurations with the same last symbols.
#[derive(Debug)]
struct Cell {
    classes: Vec<(Readout, usize)>,
    known: Known,
    wider: Side,
    /// The parts of the cell by one more symbol on the wider side; the first is for the bottom or the beginning.
    parts: Box<[OnceLock<Option<Box<Cell>>>]>,
}

/// The cells of a machine, as far as they are known.
#[derive(Debug)]
pub(super) struct Cells {
    source: Box<dyn Certain>,
    view: View,
    /// The number of symbols of the alphabet.
    symbols: usize,
    /// The cells by the next token or, as the last one, for the end of the word.
    roots: Box<[OnceLock<Option<Box<Cell>>>]>,
    created: AtomicUsize,
    /// The number of cells in which everything is known.
    complete: AtomicUsize,
    places: AtomicUsize,
    /// The number of decisions that were computed.
    computed: AtomicUsize,
    /// The number of computed decisions that pays for the first cell.
    preparation: OnceLock<usize>,
}

impl Cells {
    pub(super) fn new(source: Box<dyn Certain>, view: View, alphabet: &Alphabet) -> Self {
        Self {
            source,
            view,
            symbols: alphabet.len(),
            roots: (0..=alphabet.terminals().len()).map(|_| OnceLock::new()).collect(),
            created: AtomicUsize::new(0),
            complete: AtomicUsize::new(0),
            places: AtomicUsize::new(0),
            computed: AtomicUsize::new(0),
            preparation: OnceLock::new(),
        }
    }

    /// Notes that decisions were computed.
    pub(super) fn note_computed(&self, count: usize) {
        self.computed.fetch_add(count, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(super) fn computed(&self) -> usize {
        self.computed.load(Ordering::Relaxed)
    }

    /// Returns whether another cell may be created.
    fn can_create(&self) -> bool {
        let [computed, created, complete] =
            [&self.computed, &self.created, &self.complete].map(|count| count.load(Ordering::Relaxed));
        let price = CELL_PRICE * created;
        // The counts are read one after the other while other threads change them, so they need not fit together. That
        // does no harm: they only decide whether time is spent on cells, never what a decision is. The cheapest tests
        // come first.
        computed > price
            && created <= FIRST_CELLS + CELLS_PER_COMPLETE * complete
            && computed - price > *self.preparation.get_or_init(|| self.source.preparation())
            && self.places.load(Ordering::Relaxed) < MAX_PLACES
    }

    /// Returns the decisions that are known in a configuration.
    pub(super) fn find(&self, readouts: &Readouts, next: Lookahead, input: &Recent, stack: &Recent) -> Known {
        let mut extents = [Extent::default(); 2];
        let mut above: Option<&Cell> = None;
        let mut place = &self.roots[match next {
            Lookahead::Token(token) => token.index(),
            Lookahead::End => self.roots.len() - 1,
        }];
        loop {
            let cell = match place.get() {
                Some(cell) => cell,
                // If two threads come here at once, one of them waits for the other, and both get the same cell.
                None if self.can_create() => {
                    place.get_or_init(|| self.create(readouts, next, [input, stack], extents, above))
                }
                None => &None,
            };
            // What is certain in a cell is certain in its parts, so what is known above this place still holds here.
            let Some(cell) = cell else { break };
            above = Some(cell);
            if cell.parts.is_empty() {
                break;
            }
            let (extent, recent) = match cell.wider {
                Side::Input => (&mut extents[0], input),
                Side::Stack => (&mut extents[1], stack),
            };
            match extent.advance(recent).and_then(|part| cell.parts.get(part)) {
                Some(part) => place = part,
                // The next symbol is not known, or the alphabet does not have it.
                None => break,
            }
        }
        above.map_or(Known::default(), |cell| cell.known)
    }

    /// Asks what is certain in a cell. Returns `None` if that cannot be found out, so that it is not asked again.
    fn create(
        &self,
        readouts: &Readouts,
        next: Lookahead,
        [input, stack]: [&Recent; 2],
        extents: [Extent; 2],
        above: Option<&Cell>,
    ) -> Option<Box<Cell>> {
        let [before, beneath] = extents;
        let certain = match above {
            // Nothing is certain on all stacks, so the cell is split at once.
            None => Certainty { classes: Vec::new(), wider: Side::Stack },
            Some(above) => {
                self.created.fetch_add(1, Ordering::Relaxed);
                let input = InputSuffix::new(input.last(before.symbols), next, before.whole);
                let stack = StackSuffix::new(stack.last(beneath.symbols), beneath.whole);
                self.source.certain(&input, &stack, &above.classes)?
            }
        };
        let Certainty { classes, wider } = certain;
        let known = Known::new(readouts, &classes);
        // A machine whose readouts see only the next symbol is not told more by the input, and a side of which
        // everything is known cannot be split.
        let splits = match wider {
            Side::Input => self.view == View::Reservoir && !before.whole && before.symbols < MAX_SYMBOLS,
            Side::Stack => !beneath.whole && beneath.symbols < MAX_SYMBOLS,
        };
        let is_complete = known.is_complete(readouts, next);
        self.complete.fetch_add(usize::from(is_complete), Ordering::Relaxed);
        // If everything is known, nothing is gained by looking further, so the search ends here.
        let parts = if splits && !is_complete { 1 + self.symbols } else { 0 };
        self.places.fetch_add(parts, Ordering::Relaxed);
        Some(Box::new(Cell { classes, known, wider, parts: (0..parts).map(|_| OnceLock::new()).collect() }))
    }
}
