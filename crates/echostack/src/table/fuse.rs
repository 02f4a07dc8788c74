//! Fusion of the actions that a table takes on one token into a single operation.
//!
//! On a token, a table may reduce several times before it pushes the token. If the states involved are known, the
//! outcome is computed once: the states that are pushed in the end follow from the topmost state and the token
//! ([`Kind::Push`]). A reduction that pops more than is known leads to a [`Kind::Hop`]: pop, look at the uncovered
//! state, and continue in a separate column that knows which symbol is being pushed.
//!
//! Most tokens need one hop or none, in an order that a processor cannot predict. Therefore every token begins with a
//! hop, which pops nothing if none is needed, and only further hops take a branch. Nothing is written to the stack
//! before a token is found to fit, so a refused token leaves the stack unchanged.

use std::collections::HashMap;

use super::rows::{Rows, State};
use crate::symbol::{Lookahead, SymbolId};

/// The operation for one state on top of the stack, in one column. There is a column for each lookahead, and for pairs
/// of a symbol that is about to be pushed and a lookahead.
///
/// It is a plain number, so that generated sources can contain the same numbers. The lowest byte is its [kind](Kind),
/// and the second byte is a count. The rest holds up to three states of 16 bits each, or an index in the upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Op(pub(super) u64);

/// The kind of an [`Op`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// The token does not fit, or the word may not end here.
    Refuse,
    /// The word may end here.
    Accept,
    /// Pop some symbols, then continue in the column that begins at the index. The second byte is the number of
    /// decisions taken, and the next two bytes are the number of symbols popped.
    Hop,
    /// The token fits, and the states in the operation are pushed. The second byte is their number.
    Push,
    /// The token fits, and more states are pushed than the operation has room for. They are at the index in a separate
    /// list.
    PushMany,
    /// The actions cannot be fused, for example because there are too many. The plain table takes over.
    Unknown,
}

impl Op {
    pub(super) const UNKNOWN: Self = Self(Kind::Unknown as u64);

    pub(super) fn is(self, kind: Kind) -> bool {
        self.0 as u8 == kind as u8
    }

    /// Returns the number of states pushed, or the number of decisions taken before a hop.
    pub(super) fn count(self) -> usize {
        usize::from((self.0 >> 8) as u8)
    }

    /// Returns one of the states that are pushed, counted from 0.
    pub(super) fn state(self, number: usize) -> State {
        (self.0 >> (16 + 16 * number)) as State
    }

    /// Returns the last of the states that are pushed. There must be at least one.
    pub(super) fn last(self) -> State {
        (self.0 >> (16 * self.count())) as State
    }

    /// Returns the number of symbols popped before a hop.
    pub(super) fn pop(self) -> usize {
        usize::from((self.0 >> 16) as u16)
    }

    /// Returns an index: the beginning of a column, or a position in the list of states.
    pub(super) fn place(self) -> usize {
        (self.0 >> 32) as usize
    }

    fn hop(steps: usize, pop: u32, column: u32) -> Self {
        Self(Kind::Hop as u64 | (steps as u64) << 8 | u64::from(pop) << 16 | u64::from(column) << 32)
    }
}

/// The maximum number of pushed states that an [`Op`] holds itself.
pub(super) const MAX_INLINE_STATES: usize = 3;

/// The maximum number of decisions in one chain.
pub(super) const MAX_CHAIN_DECISIONS: usize = 64;

/// The maximum number of operations of a table.
const MAX_OPS: usize = 1 << 24;

/// All operations of a table, column by column.
#[derive(Debug)]
pub(super) struct Fused {
    /// The operations. That of a state in a column is at the beginning of the column plus the number of the state. The
    /// columns of the lookaheads come first, cover all states, and contain only hops.
    pub(super) ops: Vec<Op>,
    /// The states pushed by [`Kind::PushMany`].
    pub(super) many: Vec<State>,
    /// The maximum number of symbols that a chain pushes above the position where it began.
    pub(super) rise: usize,
    /// The number of operations, not counting refusals and the hops that only the layout requires.
    used: usize,
}

/// The end of a chain.
enum End {
    Push(Vec<State>),
    Hop { steps: usize, pop: u32, push: SymbolId },
    Accept,
    Refuse,
    Unknown,
}

impl Fused {
    /// Fuses the actions of a table. Returns `None` if there would be too many operations.
    pub(super) fn new(rows: &Rows) -> Option<Self> {
        let tops = rows.tops()?;
        let states = rows.states();
        // For each symbol, the first and the last state that it is pushed on.
        let mut spans: Vec<Option<(usize, usize)>> = vec![None; rows.symbols];
        for (state, row) in rows.pushes.chunks_exact(rows.symbols.max(1)).enumerate() {
            for (span, _) in spans.iter_mut().zip(row).filter(|(_, to)| **to > 0) {
                *span = Some((span.map_or(state, |span| span.0), state));
            }
        }
        let looks = (0..rows.terminals).map(|token| Lookahead::Token(SymbolId::new(token))).chain([Lookahead::End]);
        // Each column with its beginning, its first and last state, its lookahead, and the symbol that is pushed in it.
        let mut columns: Vec<(u32, usize, usize, Lookahead, Option<SymbolId>)> = Vec::new();
        let mut begin = (rows.terminals as u32 + 1) * states as u32;
        for look in looks {
            columns.push((begin, 0, states - 1, look, None));
            begin += states as u32;
        }
        let mut known: HashMap<(Lookahead, SymbolId), u32> = HashMap::new();
        let mut all = Self { ops: Vec::new(), many: Vec::new(), rise: 0, used: 0 };
        let mut at = 0;
        while let Some(&(_, first, last, look, push)) = columns.get(at) {
            for state in first..=last {
                let end = all.chain(rows, &tops, state as State, look, push);
                all.used += usize::from(!matches!(end, End::Refuse));
                let op = match end {
                    End::Push(pushed) => all.push(&pushed),
                    End::Accept => Op(Kind::Accept as u64),
                    End::Refuse => Op(Kind::Refuse as u64),
                    End::Unknown => Op::UNKNOWN,
                    End::Hop { steps, pop, push } => {
                        let column = *known.entry((look, push)).or_insert_with(|| {
                            let (low, high) = spans[push.index()].unwrap_or((0, 0));
                            // The columns before this one cover all states, so the difference is not negative.
                            let column = begin - low as u32;
                            begin += (high - low + 1) as u32;
                            columns.push((column, low, high, look, Some(push)));
                            column
                        });
                        Op::hop(steps, pop, column)
                    }
                };
                all.ops.push(op);
            }
            if begin as usize > MAX_OPS {
                return None;
            }
            at += 1;
        }
        // Hops are placed directly in the first columns. All other operations are reached from there by a hop that pops
        // nothing.
        let direct = (rows.terminals + 1) * states;
        let first = (0..direct).map(|at| match all.ops[at] {
            op if op.is(Kind::Hop) => op,
            _ => Op::hop(0, 0, (direct + at / states * states) as u32),
        });
        all.ops = first.chain(all.ops.iter().copied()).collect();
        Some(all)
    }

    fn push(&mut self, pushed: &[State]) -> Op {
        let count = (pushed.len() as u64) << 8;
        if pushed.len() <= MAX_INLINE_STATES {
            let states = pushed.iter().zip(1..).fold(0, |all, (&state, place)| all | u64::from(state) << (16 * place));
            return Op(Kind::Push as u64 | count | states);
        }
        // A chain pushes fewer than 256 states, so a byte is enough for the count.
        let place = (self.many.len() as u64) << 32;
        self.many.extend(pushed);
        Op(Kind::PushMany as u64 | count | place)
    }

    /// Follows what happens with the state `base` on top, after the symbol `push`, if any, is pushed on it.
    fn chain(
        &mut self,
        rows: &Rows,
        tops: &[Option<SymbolId>],
        base: State,
        look: Lookahead,
        push: Option<SymbolId>,
    ) -> End {
        // The known states. All but the first are pushed only if the token fits.
        let mut known = vec![base];
        if let Some(push) = push {
            match rows.push(base, push) {
                Some(state) => known.push(state),
                None => return End::Refuse, // this push never happens
            }
        }
        for steps in 1..=MAX_CHAIN_DECISIONS {
            self.rise = self.rise.max(known.len());
            let top = known[known.len() - 1];
            let Some(reduction) = rows.action(top, look) else {
                return match look.token().map(|token| rows.push(top, token)) {
                    Some(Some(state)) => {
                        known.push(state);
                        End::Push(known.split_off(1))
                    }
                    None if rows.accepting[top as usize] => End::Accept,
                    _ => End::Refuse,
                };
            };
            let (pop, Some(push)) = (reduction.pop as usize, reduction.push) else { return End::Unknown };
            if pop < known.len() {
                known.truncate(known.len() - pop);
            } else if pop == known.len() && tops[base as usize] == Some(push) {
                // All known states are popped, and the symbol of the first one is pushed again, which leads to the same
                // state as before.
                known.truncate(1);
                continue;
            } else {
                return End::Hop { steps, pop: (pop + 1 - known.len()) as u32, push };
            }
            match rows.push(known[known.len() - 1], push) {
                Some(state) => known.push(state),
                None => return End::Unknown,
            }
        }
        End::Unknown
    }

    /// Returns the number of operations, and about how many bytes they take.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.used, self.ops.len() * size_of::<Op>() + self.many.len() * size_of::<State>())
    }
}
