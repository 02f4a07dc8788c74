//! Examples of the configurations in a cell.

use super::cells::{Cells, Next, Obligation};
use crate::automaton::reach::PlaceId;
use crate::suffix::StackSuffix;
use crate::teach::{Answer, Exercise};

/// The maximum number of stack symbols, and of tokens before the next one, in the suffixes of a cell.
pub(super) const MAX_SUFFIX: usize = 48;

/// Finds a configuration that occurs in a cell. See [`Cells::ways_down`].
pub(super) struct Examples(Vec<(Next, PlaceId)>);

impl Examples {
    pub(super) fn new(cells: &Cells) -> Self {
        Self(cells.ways_down())
    }

    /// Returns an exercise on a reachable stack with this suffix.
    pub(super) fn exercise(&self, obligation: &Obligation, suffix: &StackSuffix, answer: Answer) -> Exercise {
        let mut beneath = Vec::new();
        let mut place = obligation.items.first().map_or(PlaceId::BELOW, |item| item.place);
        while !suffix.is_whole() && place != PlaceId::BELOW {
            let (symbol, below) = self.0[place.index()];
            beneath.extend(symbol);
            place = below;
        }
        let stack = beneath.into_iter().rev().chain(suffix.symbols().iter().copied()).collect();
        let (before, next) = (obligation.input.before().to_vec(), obligation.input.next());
        Exercise { before, next, stack, answer }
    }
}
