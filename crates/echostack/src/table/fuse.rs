//! Chains of actions made into one.
//!
//! On a token a table may reduce several times before it pushes the token. Where the states involved are known, all of that
//! is computed once: from the topmost state and the token follows which states are pushed in the end ([`Kind::Push`]). A
//! reduction that pops more than is known leads to a [`Kind::Hop`]: pop, look at the state uncovered, go on in a column of
//! its own, which knows what is being pushed. Most tokens need one hop or none, in no order that a processor could foresee;
//! so every token begins with a hop, if need be with one that pops nothing, and only more than one is a branch. Nothing is
//! written to the stack before a token is found to fit, so that a refused token leaves it as it was.

use std::collections::HashMap;

use super::rows::{Rows, State};
use crate::symbol::{Lookahead, SymbolId};

/// What is done with one state on top, in one column. The columns are the lookaheads, and the pairs of a symbol that is to be
/// pushed and a lookahead.
///
/// It is a number, so that generated sources have the same: the lowest byte is its [kind](Kind), the second a count, and the
/// rest is up to three states of 16 bits, or in the upper half a place.
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
    /// Pop some, then go on in the column that begins at the place; the second byte counts the decisions taken, and the next
    /// two the symbols popped.
    Hop,
    /// The token fits: so many of the states come on top.
    Push,
    /// The same with more states, which lie at a place of a list of their own.
    PushMany,
    /// Too much happens at once: this is for the plain table.
    Unknown,
}

impl Op {
    pub(super) const UNKNOWN: Self = Self(Kind::Unknown as u64);

    pub(super) fn is(self, kind: Kind) -> bool {
        self.0 as u8 == kind as u8
    }

    /// How many states are pushed, or how many decisions were taken before a hop.
    pub(super) fn count(self) -> usize {
        usize::from((self.0 >> 8) as u8)
    }

    /// One of the states that are pushed, counted from 0.
    pub(super) fn state(self, number: usize) -> State {
        (self.0 >> (16 + 16 * number)) as State
    }

    /// The last of the states that are pushed, for at least one.
    pub(super) fn last(self) -> State {
        (self.0 >> (16 * self.count())) as State
    }

    /// How many symbols are popped before a hop.
    pub(super) fn pop(self) -> usize {
        usize::from((self.0 >> 16) as u16)
    }

    /// A place: of a column, or in the list of states.
    pub(super) fn place(self) -> usize {
        (self.0 >> 32) as usize
    }

    fn hop(steps: usize, pop: u32, column: u32) -> Self {
        Self(Kind::Hop as u64 | (steps as u64) << 8 | u64::from(pop) << 16 | u64::from(column) << 32)
    }
}

/// How many pushed states an [`Op`] holds itself.
pub(super) const MAX_INLINE_STATES: usize = 3;

/// The most decisions in one chain.
pub(super) const MAX_CHAIN_DECISIONS: usize = 64;

/// The most ops of a table.
const MAX_OPS: usize = 1 << 24;

/// All ops of a table, column after column.
#[derive(Debug)]
pub(super) struct Fused {
    /// The op of a state in a column is at the column's beginning and the state's number. The columns of the lookaheads come
    /// first, have all states, and have only hops.
    pub(super) ops: Vec<Op>,
    /// The states of [`Kind::PushMany`].
    pub(super) many: Vec<State>,
    /// The most symbols that a chain pushes above where it began.
    pub(super) rise: usize,
    /// The number of ops that are not there only because of the layout.
    used: usize,
}

/// Where a chain ends.
enum End {
    Push(Vec<State>),
    Hop { steps: usize, pop: u32, push: SymbolId },
    Accept,
    Refuse,
    Unknown,
}

impl Fused {
    /// The ops of a table; `None` if they are too many.
    pub(super) fn new(rows: &Rows) -> Option<Self> {
        let tops = rows.tops()?;
        let states = rows.states();
        // For each symbol the first and the last state that it is pushed on.
        let mut spans: Vec<Option<(usize, usize)>> = vec![None; rows.symbols];
        for (state, row) in rows.pushes.chunks_exact(rows.symbols.max(1)).enumerate() {
            for (span, _) in spans.iter_mut().zip(row).filter(|(_, to)| **to > 0) {
                *span = Some((span.map_or(state, |span| span.0), state));
            }
        }
        let looks = (0..rows.terminals).map(|token| Lookahead::Token(SymbolId::new(token))).chain([Lookahead::End]);
        // Each column with its beginning, its states, and what is pushed in it.
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
                            // The columns before have all states, so this does not go below 0.
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
        // What begins with a hop has it in the first columns; all else goes there by a hop that pops nothing.
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
        // A chain is shorter than 256, so that a byte is enough for the count.
        let place = (self.many.len() as u64) << 32;
        self.many.extend(pushed);
        Op(Kind::PushMany as u64 | count | place)
    }

    /// Follows what happens with this state on top, once a symbol was pushed on it or none.
    fn chain(
        &mut self,
        rows: &Rows,
        tops: &[Option<SymbolId>],
        base: State,
        look: Lookahead,
        push: Option<SymbolId>,
    ) -> End {
        // The states that are known; all but the first are pushed only if the token fits.
        let mut known = vec![base];
        if let Some(push) = push {
            match rows.push(base, push) {
                Some(state) => known.push(state),
                None => return End::Refuse, // it never happens
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
                // What is known is replaced by the symbol that it began with, which leads to the same state as before.
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

    /// The number of ops, and about how many bytes they take.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.used, self.ops.len() * size_of::<Op>() + self.many.len() * size_of::<State>())
    }
}
