//! What a proof is, as data.

use crate::automaton::complete::Completion;
use crate::automaton::reach::{ElementId, Reach};
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::SymbolId;

/// The version of the arithmetic that bounds are computed for: tanh, exp and sums as `simd` has them.
pub(super) const ARITHMETIC: u32 = 1;

/// A proof that a machine and an automaton agree on every word, in a form that can be [checked](super::check).
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    pub(super) arithmetic: u32,
    /// Digests.
    pub(super) machine: String,
    pub(super) automaton: String,
    /// How many tokens before the next one are kept apart.
    pub(super) memory: u32,
    /// For each element but the bottom one that it lies on, and its symbol.
    pub(super) elements: Vec<(ElementId, SymbolId)>,
    pub(super) reach: Reach,
    /// Why every reachable stack can become a word. Certificates of the first version do not say.
    pub(super) completions: Option<Vec<Completion>>,
    pub(super) cells: Vec<Cell>,
}

/// A suffix of the stack, and what becomes of the obligations on it. What is not named goes on to the longer suffixes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) stack: StackSuffix,
    /// Obligations that are split by the token before their input, one after the other.
    pub(super) split: Vec<Named>,
    /// Obligations that are proved, after that.
    pub(super) proved: Vec<Named>,
}

/// An obligation on a suffix of the stack: the number of its readout, and its input.
pub(super) type Named = (usize, InputSuffix);

/// How large a certificate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The suffixes of the stack that are looked at.
    pub stacks: usize,
    /// The decisions that are proved on them.
    pub cells: usize,
    /// The most symbols of the stack that a decision needs.
    pub depth: usize,
    /// The most tokens of the input, the next one among them.
    pub input: usize,
    /// The elements: a symbol of the stack with all that decides what the automaton does when it is on top.
    pub elements: usize,
    /// The transitions of the automaton of reachable stacks.
    pub reach: usize,
    /// The completions, which show that each of these stacks can become a word; 0 in a certificate of the first
    /// version.
    pub completions: usize,
}

impl Certificate {
    /// How large it is.
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
