//! Frames: the stack of a table cut into pieces, so that a token is one look-up and at most one push or pop.
//!
//! The states on a stack recur. The stack is cut below some of them, so that without these, the graph of pushes has no
//! cycle; then there are only finitely many pieces. A piece is a *frame*, and a stack is a list of frame numbers. Where
//! every token that can follow leads to the same reduction, the reduction is made at once, before the token is known.
//! So a closing bracket pops its frame immediately, and most tokens take one [`Step`]: replace the topmost frame, push
//! a frame, or pop one and look at what it uncovers. The rest takes several: a *hop* is a step that reads no token. A
//! frame that would only pass on the result of the one above it, as in a list that recurs on its right, is left out.
//!
//! A step has no branches, and several words are run side by side ([`Lanes`](super::lanes::Lanes)), because each of
//! them alone would wait for its look-ups.
//!
//! Frames say which words are accepted, and where the others are refused. Expected tokens come from the plain table,
//! which judges such a word again, or from the stack of states, which can be recovered if no frame is left out
//! ([`Keep::All`]). Limits are not checked while frames run; [`Frames::longest`] and [`Frames::are_few`] say when they
//! cannot be reached.
//!
//! # Example
//!
//! Dyck1 has the rules S: S S, S: ( S ) and, before a closing bracket, S: nothing. Its table has six states:
//!
//! | state | stands for | pushes | reduces |
//! |---|---|---|---|
//! | 0 | the empty stack | `(` to 1, S to 4 | |
//! | 1 | `(` | `(` to 1, S to 2 | pops 0 and pushes S, before `)` |
//! | 2 | S above a bracket | `(` to 1, `)` to 3, S to 5 | |
//! | 3 | `)` | | pops 3 and pushes S, always |
//! | 4 | S at the bottom; accepts | `(` to 1, S to 5 | |
//! | 5 | a second S | | pops 2 and pushes S, always |
//!
//! The only state that recurs without end is 1. Cut below it, a stack such as 0 4 1 2 1 becomes 0 4 | 1 2 | 1. States 3
//! and 5 never stay on top, because their reductions are made at once. So there are four frames, here with what they
//! do:
//!
//! | frame | states | on `(` | on `)` | at the end |
//! |---|---|---|---|---|
//! | 0 | 0 | push 1 | refuse | refuse |
//! | 1 | 1 | push 1 | pop | refuse |
//! | 2 | 0 4 | push 1 | refuse | accept |
//! | 3 | 1 2 | push 1 | pop | refuse |
//!
//! All pops are alike: the bracket completes ( S ), which is all of the frame, S is pushed onto the frame beneath, and
//! a second S is merged with the first. So 0 and 2 become 2 when they are uncovered, and 1 and 3 become 3. The word
//! `(())` takes five steps, each with one look-up for the step and one for its result:
//!
//! | read | frames below | topmost frame |
//! |---|---|---|
//! | | | 0 |
//! | `(` | 0 | 1 |
//! | `(` | 0 1 | 1 |
//! | `)` | 0 | 3, since 1 is uncovered |
//! | `)` | | 2, since 0 is uncovered |
//! | the end | | accepted |
//!
//! # Files
//!
//! `cuts.rs` chooses where to cut, and which reductions are made at once. `moves.rs` finds all frames and what follows
//! them. `layout.rs` writes this down as steps, and `steps.rs` runs them.

mod cuts;
mod layout;
mod moves;
mod steps;

use cuts::{cuts, settled};
use layout::Layout;
use moves::{Builder, Moves};
pub(super) use steps::{Admitted, Frames, Step, boxed};

use super::rows::{Rows, State};

/// Which frames are on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// All of them, so that the stack of states can be recovered.
    All,
    /// All but those that only pass on a result.
    Needed,
}

impl Frames {
    /// Cuts a table into frames. Returns `None` if there would be too many, or too many tokens for a byte.
    pub(super) fn new(rows: &Rows, keep: Keep) -> Option<Self> {
        // A column is a byte. Besides the tokens, there is one for the end and one for anything else.
        if rows.terminals + 2 > 1 << u8::BITS {
            return None;
        }
        let tops = rows.tops()?;
        let cut = cuts(rows, &tops)?;
        let settled = (0..rows.states()).map(|state| settled(rows, state as State)).collect();
        let mut builder = Builder::new(rows, cut, settled);
        // Without the frames that only pass on results, others follow each other, and some do not occur any more. So
        // everything is found again, until there is nothing to leave out. The work is bounded for all rounds together.
        let moves = loop {
            let moves = Moves::new(&mut builder)?;
            let passing = moves.passing();
            if passing.is_empty() || keep == Keep::All {
                break moves;
            }
            builder.leave_out(passing);
        };
        Layout::new(builder.frames(), rows.terminals).frames(&moves, &builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::Oracle;
    use crate::manifest::Manifest;
    use crate::symbol::{Lookahead, SymbolId};
    use crate::table::Table;
    use crate::tasks::Task;

    /// The columns of Dyck1.
    const OPEN: u8 = 0;
    const CLOSE: u8 = 1;
    const END: u8 = 2;

    /// Takes a step with the frame or the special row of this number on top. Returns the number of the row after it,
    /// the frame that is left below, if any, and the change of the height.
    fn step(frames: &Frames, number: u16, column: u8, uncovered: u16) -> (u16, u16, i16) {
        let width = frames.terminals as u16 + 2;
        let (row, step) = frames.next(number * width, column, uncovered);
        (row / width, step.below, step.change as i16)
    }

    #[test]
    fn the_example_is_as_described() {
        let oracle = Oracle::strict(Task::Dyck1.automaton().unwrap()).unwrap();
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        let rows = table.rows();
        let [open, close, s] = ["(", ")", "S"].map(|name| table.alphabet().symbol(name).unwrap());
        let pushes = |state| [open, close, s].map(|symbol| rows.push(state, symbol));
        let reduces = |state| {
            [Lookahead::Token(open), Lookahead::Token(close), Lookahead::End]
                .map(|look| rows.action(state, look).map(|reduction| reduction.pop))
        };
        assert_eq!(rows.states(), 6);
        assert_eq!((0..6).filter(|&state| rows.accepting[state]).collect::<Vec<_>>(), [4]);
        let expected = [
            ([Some(1), None, Some(4)], [None; 3]),
            ([Some(1), None, Some(2)], [None, Some(0), None]),
            ([Some(1), Some(3), Some(5)], [None; 3]),
            ([None; 3], [Some(3); 3]),
            ([Some(1), None, Some(5)], [None; 3]),
            ([None; 3], [Some(2); 3]),
        ];
        for (state, expected) in expected.into_iter().enumerate() {
            assert_eq!((pushes(state as State), reduces(state as State)), expected, "state {state}");
        }
        assert_eq!((0..3).map(SymbolId::new).collect::<Vec<_>>(), [open, close, s]);

        for keep in [Keep::All, Keep::Needed] {
            let frames = Frames::new(rows, keep).unwrap();
            let states: Vec<&[State]> = (0..frames.unknown()).map(|number| &frames.frame(number).states[..]).collect();
            assert_eq!(states, [&[0][..], &[1], &[0, 4], &[1, 2]]);
            assert_eq!(frames.hops, None);
            let width = frames.terminals as u16 + 2;
            let (accepted, refused) = (frames.accepted / width, frames.refused.unwrap() / width);
            let refused_at_end = accepted + 1;
            for frame in 0..4 {
                assert_eq!(step(&frames, frame, OPEN, 0), (1, frame, 1));
                let end = if frame == 2 { accepted } else { refused_at_end };
                assert_eq!(step(&frames, frame, END, 0), (end, 0, 0));
            }
            for frame in [0, 2] {
                assert_eq!(step(&frames, frame, CLOSE, 0), (refused, 0, 0));
            }
            for frame in [1, 3] {
                for (uncovered, becomes) in [(0, 2), (1, 3), (2, 2), (3, 3)] {
                    assert_eq!(step(&frames, frame, CLOSE, uncovered), (becomes, 0, -1));
                }
            }
        }
    }

    #[test]
    fn the_word_of_the_example_runs_as_described() {
        let oracle = Oracle::strict(Task::Dyck1.automaton().unwrap()).unwrap();
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        let frames = Frames::new(table.rows(), Keep::Needed).unwrap();
        let (mut below, mut top) = (Vec::new(), 0);
        let mut seen = Vec::new();
        for column in [OPEN, OPEN, CLOSE, CLOSE, END] {
            let (next, left, change) = step(&frames, top, column, below.last().copied().unwrap_or(0));
            match change {
                1 => below.push(left),
                -1 => _ = below.pop(),
                _ => {}
            }
            top = next;
            seen.push((below.clone(), top));
        }
        let accepted = frames.accepted / (frames.terminals as u16 + 2);
        assert_eq!(seen, [(vec![0], 1), (vec![0, 1], 1), (vec![0], 3), (vec![], 2), (vec![], accepted)]);
    }
}
