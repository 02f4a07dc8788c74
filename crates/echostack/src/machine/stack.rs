//! The stack of a running machine, which keeps all symbols but only the states near the top, computed when needed.
//!
//! The paper feeds the whole stack through the reservoir again after every pop. We keep a window with the states after
//! each of the topmost elements, so that a pop is a truncation. We also keep a checkpoint every [`CHECKPOINT_SPACING`]
//! elements, so that the states below the window can be computed again when it runs empty. The window moves when it is
//! two spacings long, which leaves one spacing of it. After a pop below the window, it is refilled with at most one
//! spacing. So each move is paid for by about as many pushes or pops, and the amortized cost of an operation is constant.

use std::sync::Arc;

use crate::reservoir::{Drive, Reservoir};
use crate::simd::Simd;
use crate::symbol::{Input, SymbolId};
use crate::undo::UndoStack;

/// The number of elements between checkpoints.
const CHECKPOINT_SPACING: usize = 128;

/// An element of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Symbol(u32),
    /// A shifted vector, by its index among the vectors on the stack.
    Vector(u32),
}

#[derive(Clone, Debug)]
pub(crate) struct StateStack {
    elements: UndoStack<Element>,
    /// The values of the shifted vectors, `width` each.
    vectors: UndoStack<f64>,
    width: usize,
    neurons: usize,
    features: usize,
    /// The number of elements below the window, a multiple of the spacing.
    ///
    /// The window holds the states after `base + 1`, `base + 2`, ... elements, as far as they are computed.
    base: usize,
    states: Vec<f64>,
    /// The features of each state in the window; valid only where `known`.
    projected: Vec<f64>,
    known: Vec<bool>,
    /// The states after every `CHECKPOINT_SPACING` elements, starting with the empty stack.
    checkpoints: Vec<Arc<[f64]>>,
}

impl StateStack {
    pub(crate) fn new(neurons: usize, features: usize, width: usize) -> Self {
        Self {
            elements: UndoStack::default(),
            vectors: UndoStack::default(),
            width,
            neurons,
            features,
            base: 0,
            states: Vec::new(),
            projected: Vec::new(),
            known: Vec::new(),
            checkpoints: vec![vec![0.; neurons].into()],
        }
    }

    pub(crate) fn depth(&self) -> usize {
        self.elements.len()
    }

    /// Returns the symbols on the stack, topmost last, with `None` instead of shifted vectors.
    pub(crate) fn symbols(&self) -> impl DoubleEndedIterator<Item = Option<SymbolId>> {
        self.elements.items().iter().map(|element| match *element {
            Element::Symbol(symbol) => Some(SymbolId::new(symbol as usize)),
            Element::Vector(_) => None,
        })
    }

    /// Returns the symbol that lies this many symbols beneath the top, if there is one and it is not a vector.
    pub(crate) fn beneath_top(&self, count: usize) -> Option<SymbolId> {
        let place = self.elements.len().checked_sub(count + 1)?;
        match self.elements.items()[place] {
            Element::Symbol(symbol) => Some(SymbolId::new(symbol as usize)),
            Element::Vector(_) => None,
        }
    }

    /// Returns the state after all elements.
    fn top(&self) -> &[f64] {
        match self.known.len().checked_sub(1) {
            Some(row) => &self.states[row * self.neurons..][..self.neurons],
            None => &self.checkpoints[self.base / CHECKPOINT_SPACING],
        }
    }

    /// Returns the features of the stack, which must have been [opened](Self::open), or `None` if the stack is empty.
    pub(crate) fn features(&self) -> Option<&[f64]> {
        let row = self.known.len().checked_sub(1)?;
        Some(&self.projected[row * self.features..][..self.features])
    }

    /// Returns the state of the stack and the buffer for its features, unless the features are known already or the
    /// stack is empty.
    pub(crate) fn open(&mut self, reservoir: &dyn Reservoir, simd: Simd) -> Option<(&[f64], &mut [f64])> {
        self.catch_up(reservoir, simd);
        let row = self.known.len().checked_sub(1).filter(|&row| !self.known[row])?;
        let state = &self.states[row * self.neurons..][..self.neurons];
        Some((state, &mut self.projected[row * self.features..][..self.features]))
    }

    /// Records that the features of the stack were filled in.
    pub(crate) fn set_known(&mut self) {
        if let Some(known) = self.known.last_mut() {
            *known = true;
        }
    }

    /// Adds the state after one more element.
    fn step(&mut self, reservoir: &dyn Reservoir, simd: Simd, element: Element) {
        if self.known.len() == 2 * CHECKPOINT_SPACING {
            self.base += CHECKPOINT_SPACING;
            self.known.drain(..CHECKPOINT_SPACING);
            self.states.drain(..CHECKPOINT_SPACING * self.neurons);
            self.projected.drain(..CHECKPOINT_SPACING * self.features);
        }
        let row = self.known.len();
        self.known.push(false);
        self.states.resize((row + 1) * self.neurons, 0.);
        self.projected.resize((row + 1) * self.features, 0.);
        let (before, after) = self.states.split_at_mut(row * self.neurons);
        let from = match row {
            0 => &*self.checkpoints[self.base / CHECKPOINT_SPACING],
            _ => &before[(row - 1) * self.neurons..],
        };
        let drive = match element {
            Element::Symbol(symbol) => Drive::Channel(symbol as usize),
            Element::Vector(number) => {
                Drive::Values(&self.vectors.items()[number as usize * self.width..][..self.width])
            }
        };
        reservoir.step(simd, from, drive, after);
        let depth = self.base + row + 1;
        if depth == self.checkpoints.len() * CHECKPOINT_SPACING {
            self.checkpoints.push(self.top().into());
        }
    }

    pub(crate) fn push(&mut self, input: Input<'_>) {
        let element = match input {
            Input::Symbol(symbol) => Element::Symbol(symbol.index() as u32),
            Input::Vector(values) => {
                let number = self.vectors.len() / self.width;
                values.iter().for_each(|&value| self.vectors.push(value));
                Element::Vector(number as u32)
            }
        };
        self.elements.push(element);
    }

    pub(crate) fn pop(&mut self, count: usize) {
        let depth = self.elements.len() - count;
        let vector = |element: &Element| match *element {
            Element::Vector(number) => Some(number as usize * self.width),
            Element::Symbol(_) => None,
        };
        if let Some(lowest) = self.elements.items()[depth..].iter().find_map(vector) {
            self.vectors.truncate(lowest);
        }
        self.elements.truncate(depth);
        self.truncate_states(depth);
    }

    /// Discards the states above `depth`.
    fn truncate_states(&mut self, depth: usize) {
        let rows = depth.saturating_sub(self.base);
        self.base = self.base.min(depth / CHECKPOINT_SPACING * CHECKPOINT_SPACING);
        self.checkpoints.truncate(depth / CHECKPOINT_SPACING + 1);
        self.known.truncate(rows);
        self.states.truncate(rows * self.neurons);
        self.projected.truncate(rows * self.features);
    }

    /// Computes the missing states up to the top of the stack.
    fn catch_up(&mut self, reservoir: &dyn Reservoir, simd: Simd) {
        let depth = self.elements.len();
        // The state of the top must be in the window, not only a checkpoint.
        self.base = self.base.min(depth.saturating_sub(1) / CHECKPOINT_SPACING * CHECKPOINT_SPACING);
        for at in self.base + self.known.len()..depth {
            self.step(reservoir, simd, self.elements.items()[at]);
        }
    }

    pub(crate) fn mark(&mut self) {
        self.elements.mark();
        self.vectors.mark();
    }

    pub(crate) fn rewind(&mut self) {
        let low = self.elements.rewind();
        self.vectors.rewind();
        self.truncate_states(low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reservoir::{Cycle, encode};
    use rand::{RngExt, SeedableRng};

    #[test]
    fn states_are_those_of_the_whole_stack() {
        let simd = Simd::default();
        let reservoir =
            crate::reservoir::ReservoirParams::Cycle(Cycle { neurons: 8, jump_length: 2, ..Cycle::default() })
                .build(3)
                .unwrap();
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let mut stack = StateStack::new(8, 1, 2);
        let mut obvious: Vec<Result<usize, [f64; 2]>> = Vec::new();
        let mut marked = obvious.clone();
        // The stack grows and shrinks a lot, so that the window moves up and down many times.
        for round in 0..400 {
            let rising = (round / 20) % 3 != 2;
            stack.mark();
            marked.clone_from(&obvious);
            for _ in 0..random.random_range(1..60) {
                if random.random_bool(if rising { 0.8 } else { 0.1 }) {
                    if random.random_bool(0.7) {
                        let symbol = random.random_range(0..3);
                        obvious.push(Ok(symbol));
                        stack.push(Input::Symbol(SymbolId::new(symbol)));
                    } else {
                        let values = [random.random_range(-1.0..1.0), random.random_range(-1.0..1.0)];
                        obvious.push(Err(values));
                        stack.push(Input::Vector(&values));
                    }
                } else {
                    let count = random.random_range(0..=obvious.len().min(9));
                    obvious.truncate(obvious.len() - count);
                    stack.pop(count);
                }
            }
            if random.random_bool(0.3) {
                stack.rewind();
                obvious.clone_from(&marked);
            }
            assert_eq!(stack.depth(), obvious.len());
            if random.random_bool(0.5) {
                continue; // several rounds without a state
            }
            stack.catch_up(&*reservoir, simd);
            let drives = obvious.iter().map(|element| match element {
                Ok(symbol) => Drive::Channel(*symbol),
                Err(values) => Drive::Values(values),
            });
            assert_eq!(stack.top(), encode(&*reservoir, simd, drives), "round {round}, depth {}", obvious.len());
            assert!(stack.known.len() <= 2 * CHECKPOINT_SPACING);
        }
    }
}
