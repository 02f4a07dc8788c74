//! Chains of actions made into one.
//!
//! On a token a table may reduce several times before it pushes the token. Where the states involved are known, all of that
//! is computed once: from the topmost state and the token follows which states are pushed in the end ([`Op::Push`]). A
//! reduction that pops more than is known leads to a [`Op::Hop`]: pop, look at the state uncovered, go on in a column of its
//! own, which knows what is being pushed. Nothing is written to the stack before a token is found to fit, so that a refused
//! token leaves it as it was.

use std::collections::HashMap;

use super::table::{Rows, State};
use crate::symbol::{Lookahead, SymbolId};

/// What is done with one state on top, in one column. The columns are the lookaheads, and the pairs of a symbol that is to be
/// pushed and a lookahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// The token fits: so many of these states come on top.
    Push { count: u8, states: [State; INLINE] },
    /// The same with more states, which lie in a list of their own.
    PushMany { count: u16, from: u32 },
    /// Pop so many, then go on in the column that begins here.
    Hop { steps: u8, pop: u16, column: u32 },
    /// The word may end here.
    Accept,
    /// The token does not fit, or the word may not end here.
    Refuse,
    /// Too much happens at once: this is for the plain table.
    Unknown,
}

/// How many pushed states an [`Op`] holds itself.
pub(super) const INLINE: usize = 3;

/// The most decisions in one chain.
pub(super) const LONGEST: usize = 64;

/// The most ops of a table.
const MAX_OPS: usize = 1 << 24;

/// All ops of a table, column after column.
#[derive(Debug)]
pub(super) struct Fused {
    /// The op of a state in a column is at the column's beginning and the state's number. The columns of the lookaheads come
    /// first and have all states.
    pub(super) ops: Vec<Op>,
    /// The states of [`Op::PushMany`].
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
        let mut begin = 0;
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
                    End::Accept => Op::Accept,
                    End::Refuse => Op::Refuse,
                    End::Unknown => Op::Unknown,
                    End::Hop { steps, pop, push } => {
                        let column = *known.entry((look, push)).or_insert_with(|| {
                            let (low, high) = spans[push.index()].unwrap_or((0, 0));
                            // The columns before have all states, so this does not go below 0.
                            let column = begin - low as u32;
                            begin += (high - low + 1) as u32;
                            columns.push((column, low, high, look, Some(push)));
                            column
                        });
                        Op::Hop { steps: steps as u8, pop: pop as u16, column }
                    }
                };
                all.ops.push(op);
            }
            if begin as usize > MAX_OPS {
                return None;
            }
            at += 1;
        }
        Some(all)
    }

    fn push(&mut self, pushed: &[State]) -> Op {
        if pushed.len() <= INLINE {
            let mut states = [0; INLINE];
            states[..pushed.len()].copy_from_slice(pushed);
            return Op::Push { count: pushed.len() as u8, states };
        }
        let from = self.many.len() as u32;
        self.many.extend(pushed);
        Op::PushMany { count: pushed.len() as u16, from }
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
        for steps in 1..=LONGEST {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_is_small() {
        assert_eq!(size_of::<Op>(), 8);
    }
}
