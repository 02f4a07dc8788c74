//! Values of options that several commands have: the kind of reservoir, and what a machine sees of its input.

use clap::ValueEnum;
use echostack::recognize::View;
use echostack::reservoir::ReservoirKind;

/// The kind of reservoir, as a command-line value.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Kind {
    /// Sparse Gaussian weights
    Random,
    /// A cycle with jumps
    Cycle,
    /// A Legendre delay network
    Legendre,
}

impl From<Kind> for ReservoirKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Random => Self::Random,
            Kind::Cycle => Self::Cycle,
            Kind::Legendre => Self::Legendre,
        }
    }
}

/// What a machine sees of its input, as a command-line value.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LookaheadView {
    Reservoir,
    Symbol,
}

impl From<LookaheadView> for View {
    fn from(view: LookaheadView) -> Self {
        match view {
            LookaheadView::Reservoir => Self::Reservoir,
            LookaheadView::Symbol => Self::Symbol,
        }
    }
}
