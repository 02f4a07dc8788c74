//! A table that is cut into frames, and how it runs.

use std::collections::BTreeSet;

use crate::recognize::Limits;
use crate::symbol::SymbolId;
use crate::table::rows::State;

/// The maximum number of steps and of results. An index of 16 bits, with what is added to it, cannot miss them.
pub(super) const INDEXES: usize = 1 << 16;
const STEPS: usize = INDEXES + (1 << 8);
const RESULTS: usize = INDEXES + INDEXES;

/// What to do for a topmost frame and a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Step {
    /// The index of the result.
    pub(in super::super) result: u16,
    /// For a pop, all ones: the number of the frame that is uncovered is added to the index. Otherwise zero.
    pub(in super::super) selects: u16,
    /// The frame that is left below if one is pushed.
    pub(in super::super) below: u16,
    /// The change of the stack's height: -1, 0 or 1, modulo 2^16.
    pub(in super::super) change: u16,
}

impl Step {
    pub(super) fn new(result: usize, below: usize, change: i16) -> Self {
        let selects = if change < 0 { u16::MAX } else { 0 };
        Self { result: result as u16, selects, below: below as u16, change: change as u16 }
    }
}

/// A table cut into frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Frames {
    /// The steps, a row for each frame, with one for each token, for the end, and for anything else. Then a row for
    /// each hop.
    pub(in super::super) steps: Box<[Step; STEPS]>,
    /// The beginnings of the rows that steps lead to.
    pub(in super::super) results: Box<[u16; RESULTS]>,
    /// The beginning of the first row of a hop, if there are any.
    pub(in super::super) hops: Option<u16>,
    /// The row after the end of a word that is accepted. It is a copy of the first row, so that the next word can
    /// begin.
    pub(in super::super) accepted: u16,
    /// The row after a token that is refused, if that is the one that the plain table refuses.
    pub(in super::super) refused: Option<u16>,
    /// The row of a word that was refused before its end, the first of those that are neither of frames nor of hops.
    pub(super) special: u16,
    /// The row after a frame that is not known is uncovered, the last of these.
    pub(in super::super) lost: u16,
    /// For each token, the row after it, if it is the same wherever the token is read.
    pub(in super::super) after: Vec<Option<u16>>,
    /// The number of tokens.
    pub(in super::super) terminals: usize,
    /// The contents of each frame.
    pub(super) contents: Vec<Frame>,
    pub(super) bounds: Bounds,
}

/// What bounds the limits that a word can reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The maximum number of known states while a step is computed.
    pub(super) rise: usize,
    /// The maximum number of frames that a token adds.
    pub(super) pushes: usize,
    /// The maximum number of decisions in a step.
    pub(super) decisions: usize,
    /// The maximum number of decisions for each symbol of a frame that is popped between two others.
    pub(super) through: usize,
}

/// The lookaheads that a frame admits; `None` for all. The others were refused before the reductions that led to it.
pub(in super::super) type Admitted = Option<BTreeSet<usize>>;

/// A piece of the stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct Frame {
    pub(in super::super) states: Vec<State>,
    pub(in super::super) admitted: Admitted,
}

/// Extends a list to a length that the compiler knows, unless it has more than all indexes of 16 bits.
pub(super) fn indexed<T: Clone + Default, const N: usize>(values: Vec<T>) -> Option<Box<[T; N]>> {
    (values.len() <= INDEXES).then(|| boxed(values))
}

/// Extends a list, which is not longer, to a length that the compiler knows.
pub(in super::super) fn boxed<T: Clone + Default, const N: usize>(mut values: Vec<T>) -> Box<[T; N]> {
    values.resize(N, T::default());
    values.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("the length is right"))
}

impl Frames {
    /// Looks up what follows when this row is on top and this column is read, with this frame beneath. Returns the row
    /// that comes next, and the step, which says what becomes of the stack. A hop is the same in all columns, and
    /// `uncovered` matters only to a pop.
    ///
    /// This is all that is needed to run a table. How a stack is kept, and when to stop, is up to the caller.
    #[inline(always)]
    pub(in super::super) fn next(&self, row: u16, column: u8, uncovered: u16) -> (u16, &Step) {
        // Neither index needs a check: rows and results are numbers of 16 bits, and both lists have room for what is
        // added to them. There is no branch either. Whether a step pops depends on the word, and would often be
        // predicted wrongly, so the uncovered frame is always loaded, and masked out if it does not matter.
        let step = &self.steps[usize::from(row) + usize::from(column)];
        (self.results[usize::from(step.result) + usize::from(uncovered & step.selects)], step)
    }

    /// Returns the column of a token. Symbols that are not tokens of the table share one, in which they are refused.
    #[inline]
    pub(in super::super) fn column(&self, token: SymbolId) -> u8 {
        if token.index() < self.terminals { token.index() as u8 } else { self.end() + 1 }
    }

    /// Returns the column of the end of a word.
    #[inline]
    pub(in super::super) fn end(&self) -> u8 {
        self.terminals as u8
    }

    /// Returns whether a row is that of a step that reads no token.
    #[inline]
    pub(in super::super) fn is_hop(&self, row: u16) -> bool {
        self.hops.is_some_and(|hops| row >= hops)
    }

    /// Returns whether a row is that of a word that was refused or has ended, or of a frame that is not known.
    #[inline]
    pub(in super::super) fn is_special(&self, row: u16) -> bool {
        // The special rows follow each other. Rows before them wrap around and become too large.
        row.wrapping_sub(self.special) <= self.lost - self.special
    }

    /// Returns the number of the frame that is not known.
    pub(in super::super) fn unknown(&self) -> u16 {
        self.contents.len() as u16
    }

    /// Returns the contents of the frame with this number.
    pub(in super::super) fn frame(&self, number: u16) -> &Frame {
        &self.contents[usize::from(number)]
    }

    /// Returns the contents of the topmost frame, given its row.
    pub(in super::super) fn topmost(&self, row: u16) -> &Frame {
        &self.contents[usize::from(row) / (self.terminals + 2)]
    }

    /// Returns whether this many frames have so few symbols that the next token cannot reach a limit.
    pub(in super::super) fn are_few(&self, frames: usize, limits: Limits) -> bool {
        // No frame has more than `rise` states, and neither has what is known while a step is computed. The two more
        // are that, and the topmost frame, which is not on the stack.
        self.longest(limits).is_some()
            && frames.saturating_add(self.pushes() + 2).saturating_mul(self.bounds.rise.max(1)) <= limits.depth
    }

    /// Returns the maximum number of frames that a token adds to the stack.
    pub(in super::super) fn pushes(&self) -> usize {
        self.bounds.pushes.max(1)
    }

    /// Returns the maximum number of tokens with which a word cannot reach a limit, or `None` if any word might.
    pub(in super::super) fn longest(&self, limits: Limits) -> Option<usize> {
        let (Bounds { rise, decisions, through, .. }, pushes) = (self.bounds, self.pushes());
        // The plain table makes the reductions of two steps on one token; each frame on the stack has a symbol.
        let few = (decisions * (pushes + 4)) as u64 <= limits.actions && through as u64 <= limits.actions_per_symbol;
        (limits.depth / (pushes * rise.max(1))).checked_sub(2).filter(|_| few)
    }
}
