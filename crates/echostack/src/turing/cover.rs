//! Cells: sets of configurations of a shape, given by suffixes of both stacks, and the way in which they are split.

use std::sync::Arc;

use super::rules::Which;
use super::shape::{Shape, Top, suffix_of};
use crate::suffix::StackSuffix;

/// The configurations of a shape that have these suffixes, before one lookahead.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) suffixes: [StackSuffix; 2],
    /// The tops of both stacks that can occur in the cell.
    tops: Arc<[[Top; 2]]>,
}

/// The maximum number of symbols of each stack by which cells are told apart.
pub(super) const MAX_DEPTH: usize = 12;

impl Cell {
    /// Returns the cell of all configurations before a lookahead.
    pub(super) fn all(shape: &Shape, next: u32) -> Self {
        Self { suffixes: [StackSuffix::ANY, StackSuffix::ANY], tops: shape.tops_before(next).collect() }
    }

    /// Returns whether the symbols of a stack are all known, so that the cell cannot be split by it.
    pub(super) fn is_whole(&self, which: Which) -> bool {
        self.suffixes[which.index()].is_whole()
    }

    /// Returns the number of symbols of a stack that are known.
    pub(super) fn depth(&self, which: Which) -> usize {
        self.suffixes[which.index()].depth()
    }

    /// Returns the suffixes of both stacks.
    pub(super) fn suffixes(&self) -> [&StackSuffix; 2] {
        [&self.suffixes[0], &self.suffixes[1]]
    }

    /// Returns the parts of the cell by one more symbol of a stack, or its bottom: those in which the shape has any
    /// configuration. They are in the order of the symbols, with the bottom first.
    pub(super) fn split(&self, shape: &Shape, which: Which) -> Vec<Self> {
        let own = &self.suffixes[which.index()];
        let with = |suffix: StackSuffix, tops: Arc<[[Top; 2]]>| {
            let mut suffixes = self.suffixes.clone();
            suffixes[which.index()] = suffix;
            Self { suffixes, tops }
        };
        if *own != StackSuffix::ANY {
            return shape.longer(which, own).into_iter().map(|longer| with(longer, self.tops.clone())).collect();
        }
        let mut tops: Vec<Top> = self.tops.iter().map(|tops| tops[which.index()]).collect();
        tops.sort_unstable();
        tops.dedup();
        let part = |top: Top| {
            let tops = self.tops.iter().copied().filter(|tops| tops[which.index()] == top).collect();
            with(suffix_of(top), tops)
        };
        tops.into_iter().map(part).collect()
    }
}
