//! The two sides of a machine.

/// One of the two sides of a machine, each of which has a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// The input, whose state is h.
    Input,
    /// The stack, whose state is g.
    Stack,
}
