//! The readouts of a machine: heads, and the meanings of their classes.

use crate::readout::{DecisionScratch, Head, Projection, Values};
use crate::recognize::Reduction;
use crate::symbol::SymbolId;

/// A head with a label for each class.
#[derive(Clone, Debug)]
pub(crate) struct LabelledHead<L> {
    pub(crate) labels: Vec<L>,
    pub(crate) head: Head,
}

/// The readouts that decide on pop and push.
#[derive(Clone, Debug)]
pub(super) enum Actions {
    Separate { pop: LabelledHead<u32>, push: LabelledHead<Option<SymbolId>> },
    Joint(LabelledHead<Reduction>),
}

/// The readout that decides on the output.
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

/// The features of both states.
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
    /// The number of symbols to pop. If pop and push are joint, this readout stands for both.
    Pop,
    /// The symbol to push.
    Push,
    /// The decision whether to shift.
    Shift,
    /// The output.
    Output,
}

impl Readout {
    /// Returns the readout's name in messages and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pop => "pop",
            Self::Push => "push",
            Self::Shift => "shift",
            Self::Output => "output",
        }
    }
}
