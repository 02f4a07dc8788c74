//! Stacks of frames, several of them side by side.
//!
//! A step needs two look-ups, of which the second waits for the first, and the next step waits for both. A processor
//! that runs one word waits most of the time. So steps of several words, or of several parts of one, are taken in
//! turns: lane 0, lane 1, lane 2, lane 3, lane 0, and so on. None of them waits for another.
//!
//! The stacks are one list, in which each height has a place for each lane. In Dyck1 (see the
//! [example](super::frames)), after lane 0 has read `((` and lane 1 has read `()`, the list and the tops are
//!
//! | height | lane 0 | lane 1 |
//! |---|---|---|
//! | 1 | 0 | (0, not used any more) |
//! | 2 | 1 | |
//! | top | frame 1, height 2 | frame 2, height 0 |

use super::frames::{Frames, Step};

/// The number of lanes.
pub(super) const LANES: usize = 4;

/// The stacks of all lanes, for heights below `N`. The topmost frames are not on the stacks. At height 0 is what lies
/// below the stack.
pub(super) type Stacks<const N: usize> = [[u16; LANES]; N];

/// The top of a lane's stack.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Top {
    /// The row of the topmost frame.
    pub(super) row: u16,
    /// The number of frames below it.
    pub(super) height: usize,
}

impl Top {
    /// Takes one step, without a branch.
    #[inline(always)]
    pub(super) fn step<const N: usize>(&mut self, frames: &Frames, column: u8, stacks: &mut Stacks<N>, lane: usize) {
        let next = self.look(frames, column, stacks, lane);
        self.take(next, stacks, lane);
    }

    /// Returns the row that the next step leads to, and the step.
    #[inline(always)]
    pub(super) fn look<'a, const N: usize>(
        &self,
        frames: &'a Frames,
        column: u8,
        stacks: &Stacks<N>,
        lane: usize,
    ) -> (u16, &'a Step) {
        frames.next(self.row, column, stacks[self.height % (N - 1)][lane])
    }

    /// Takes a step that was [looked up](Self::look).
    #[inline(always)]
    pub(super) fn take<const N: usize>(&mut self, (row, step): (u16, &Step), stacks: &mut Stacks<N>, lane: usize) {
        // The change of the height is a number modulo 2^16, and so -1 is 2^16 - 1. It stays -1 modulo a divisor of
        // 2^16. The heights are below that divisor in any case. To reduce them tells the compiler that no index needs a
        // check.
        const { assert!(N > 1 && (1 << u16::BITS) % (N - 1) == 0, "-1 must remain -1") };
        self.row = row;
        // If nothing is pushed, this is above the stack, where nothing is looked at before it is written again.
        stacks[self.height % (N - 1) + 1][lane] = step.below;
        self.height = (self.height + usize::from(step.change)) % (N - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::frames::Keep;
    use super::*;
    use crate::automaton::Oracle;
    use crate::manifest::Manifest;
    use crate::table::Table;
    use crate::tasks::Task;

    #[test]
    fn the_example_is_as_described() {
        let oracle = Oracle::strict(Task::Dyck1.automaton().unwrap()).unwrap();
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        let frames = Frames::new(table.rows(), Keep::Needed).unwrap();
        let (open, close) = (0, 1);
        let mut stacks: Stacks<9> = [[0; LANES]; 9];
        let mut tops = [Top::default(); LANES];
        for columns in [[open, open], [open, close]] {
            for (lane, column) in columns.into_iter().enumerate() {
                tops[lane].step(&frames, column, &mut stacks, lane);
            }
        }
        let width = frames.terminals as u16 + 2;
        let seen: Vec<(u16, usize)> = tops[..2].iter().map(|top| (top.row / width, top.height)).collect();
        assert_eq!(seen, [(1, 2), (2, 0)]);
        assert_eq!([stacks[1][..2].to_vec(), stacks[2][..1].to_vec()].concat(), [0, 0, 1]);
    }
}
