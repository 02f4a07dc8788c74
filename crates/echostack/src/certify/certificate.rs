//! The data of a proof.

use crate::automaton::complete::Completion;
use crate::automaton::reach::{ElementId, Reach};
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::SymbolId;

/// The version of the arithmetic that the bounds are computed for: tanh, exp and sums as implemented in `simd`.
pub(super) const ARITHMETIC: u32 = 1;

/// A proof that a machine and an automaton agree on every word, in a form that can be [checked](super::check).
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    pub(super) arithmetic: u32,
    /// The digests of the machine and of the automaton.
    pub(super) machine: String,
    pub(super) automaton: String,
    /// The number of tokens before the next one by which configurations are distinguished.
    pub(super) memory: u32,
    /// For each element except the bottom, the element that it was first pushed on, and its symbol.
    pub(super) elements: Vec<(ElementId, SymbolId)>,
    pub(super) reach: Reach,
    /// Completions, which show that every reachable stack can become a word. `None` in format version 1.
    pub(super) completions: Option<Vec<Completion>>,
    pub(super) cells: Vec<Cell>,
}

/// A stack suffix, and how the obligations on it are settled. Obligations that are not named are passed on to the
/// longer suffixes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) stack: StackSuffix,
    /// Obligations that are split by the token before their input suffix, in this order.
    pub(super) split: Vec<Named>,
    /// Obligations that are proved after the splits.
    pub(super) proved: Vec<Named>,
}

/// The name of an obligation on a stack suffix: the number of its readout, and its input suffix.
pub(super) type Named = (usize, InputSuffix);

/// The size of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of stack suffixes that are examined.
    pub stacks: usize,
    /// The number of decisions that are proved on them.
    pub cells: usize,
    /// The maximum number of stack symbols that a decision needs.
    pub depth: usize,
    /// The maximum number of input tokens that a decision needs, including the next one.
    pub input: usize,
    /// The number of elements. An element is a symbol on the stack together with everything that determines what the
    /// automaton does when the symbol is on top.
    pub elements: usize,
    /// The number of transitions of the finite automaton that reads the reachable stacks.
    pub reach: usize,
    /// The number of completions, which show that each of these stacks can become a word. It is 0 in a certificate of
    /// format version 1.
    pub completions: usize,
}

impl Certificate {
    /// Returns the SHA-256 digest of the machine's file, as written with an empty manifest, in hexadecimal digits.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// Returns the SHA-256 digest of the automaton's file, in hexadecimal digits.
    pub fn automaton(&self) -> &str {
        &self.automaton
    }

    /// Returns the size of the certificate.
    pub fn size(&self) -> Size {
        let proved = || self.cells.iter().flat_map(|cell| cell.proved.iter().map(move |(_, input)| (cell, input)));
        Size {
            stacks: self.cells.len(),
            cells: proved().count(),
            depth: proved().map(|(cell, _)| cell.stack.depth()).max().unwrap_or(0),
            input: proved().map(|(_, input)| input.before().len() + 1).max().unwrap_or(0),
            elements: self.elements.len() + 1,
            reach: self.reach.tops.len() + self.reach.unders.len(),
            completions: self.completions.as_ref().map_or(0, Vec::len),
        }
    }
}
