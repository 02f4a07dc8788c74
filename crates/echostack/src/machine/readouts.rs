//! The readouts of a machine: heads, and what their classes mean.

use crate::readout::{DecisionScratch, Head, Projection, Values};
use crate::recognize::Reduction;
use crate::symbol::SymbolId;

/// A head and what its classes mean.
#[derive(Clone, Debug)]
pub(super) struct LabelledHead<L> {
    pub(super) labels: Vec<L>,
    pub(super) head: Head,
}

/// What decides on pop and push.
#[derive(Clone, Debug)]
pub(super) enum Actions {
    Separate { pop: LabelledHead<u32>, push: LabelledHead<Option<SymbolId>> },
    Joint(LabelledHead<Reduction>),
}

/// What decides on the output.
#[derive(Clone, Debug)]
pub(super) enum Output {
    Classes(LabelledHead<Values>),
    Regression,
}

/// The trained part of a machine.
#[derive(Debug)]
pub(super) struct Readouts {
    pub(super) projection: Projection,
    pub(super) actions: Actions,
    pub(super) shift: LabelledHead<bool>,
    pub(super) output: Output,
}

/// Features of both states, and buffers to decide on them.
#[derive(Clone, Debug)]
pub(super) struct Features<'a> {
    pub(super) input: &'a [f64],
    pub(super) stack: &'a [f64],
}

impl<L: Clone> LabelledHead<L> {
    pub(super) fn decide(
        &self,
        projection: &Projection,
        features: &Features<'_>,
        scratch: &mut DecisionScratch,
    ) -> (&L, f64) {
        let decision = self.head.decide(projection, features.input, features.stack, scratch);
        (&self.labels[decision.class], decision.margin)
    }
}

/// A readout of a machine, by its name in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Readout {
    /// How many symbols to pop; both readouts of the stack in one, if they are joint.
    Pop,
    /// What to push.
    Push,
    /// Whether to shift.
    Shift,
    /// What to put out.
    Output,
}

impl Readout {
    /// Its name in messages and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pop => "pop",
            Self::Push => "push",
            Self::Shift => "shift",
            Self::Output => "output",
        }
    }
}
