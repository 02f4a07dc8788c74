//! Where the stack is cut, and which reductions do not wait for a token.

use std::collections::BTreeSet;

use crate::symbol::{Lookahead, SymbolId};
use crate::table::rows::{Rows, State};

/// The maximum number of states and pushes that are looked at to find out where to cut.
const MAX_CUTTING: usize = 1 << 27;

/// A reduction that is made whatever comes: how many symbols are popped, which one is pushed, and the lookaheads that
/// are not refused before it.
pub(super) type Settled = Option<(usize, SymbolId, BTreeSet<usize>)>;

/// Returns the reduction of a state that is made whatever comes, unless the lookahead is refused.
pub(super) fn settled(rows: &Rows, state: State) -> Settled {
    let mut same = None;
    let mut admits = BTreeSet::new();
    let looks = (0..rows.terminals).map(|token| Lookahead::Token(SymbolId::new(token))).chain([Lookahead::End]);
    for (number, look) in looks.enumerate() {
        let fits = match (rows.action(state, look), look.token()) {
            (Some(reduction), _) => {
                if same.is_some_and(|same| same != reduction) {
                    return None;
                }
                same = Some(reduction);
                admits.insert(number);
                false
            }
            (None, Some(token)) => rows.push(state, token).is_some(),
            (None, None) => rows.accepting[usize::from(state)],
        };
        // This lookahead needs the state as it is. A lookahead that is refused does not: it is refused after the
        // reduction just as well, as long as it is remembered that it must be.
        if fits {
            return None;
        }
    }
    same.and_then(|same| Some((same.pop as usize, same.push?, admits)))
}

/// Chooses the states to cut below. Without them, the graph of pushes has no cycle. States that tokens lead to come
/// first, because they are pushed when something is opened.
///
/// Returns `None` if that takes too long, which happens for large tables, which would have too many frames anyway.
pub(super) fn cuts(rows: &Rows, tops: &[Option<SymbolId>]) -> Option<Vec<bool>> {
    let mut graph = Graph::new(rows);
    let size = rows.states() + graph.to.iter().map(Vec::len).sum::<usize>();
    let mut left = MAX_CUTTING;
    let mut rest = graph.on_cycles();
    // As few cuts as possible would be best, but to find these is NP-complete (Karp 1972, feedback node set). So the
    // best next cut is taken, until no cycle is left.
    while !rest.is_empty() {
        let token = |state: &usize| tops[*state].is_some_and(|top| top.index() < rows.terminals);
        let tokens: Vec<usize> = rest.iter().copied().filter(token).collect();
        let candidates = if tokens.is_empty() { rest } else { tokens };
        left = left.checked_sub(candidates.len().saturating_mul(size))?;
        // Of cuts that are equally good, the first is taken, so that the frames of a table are always the same.
        let best = candidates.into_iter().min_by_key(|&state| (graph.left_without(state), state));
        best.into_iter().for_each(|state| graph.cut[state] = true);
        rest = graph.on_cycles();
    }
    Some(graph.cut)
}

/// The graph of pushes from state to state.
struct Graph {
    to: Vec<Vec<usize>>,
    from: Vec<Vec<usize>>,
    /// The states that are cut below. Pushes to them do not count.
    cut: Vec<bool>,
}

impl Graph {
    fn new(rows: &Rows) -> Self {
        let targets = |row: &[u32]| row.iter().filter(|to| **to > 0).map(|to| *to as usize - 1).collect();
        let to: Vec<Vec<usize>> = rows.pushes.chunks_exact(rows.symbols.max(1)).map(targets).collect();
        let mut from = vec![Vec::new(); to.len()];
        for (state, next) in to.iter().enumerate() {
            next.iter().for_each(|&next| from[next].push(state));
        }
        let cut = vec![false; to.len()];
        Self { to, from, cut }
    }

    /// Returns the number of states that would be left on cycles if this one were cut below.
    fn left_without(&mut self, state: usize) -> usize {
        self.cut[state] = true;
        let left = self.on_cycles().len();
        self.cut[state] = false;
        left
    }

    /// Returns the states on cycles that do not contain cut states: those that remain when states without a way in or
    /// without a way out are removed again and again. (These may also connect two cycles, which does no harm.)
    fn on_cycles(&self) -> Vec<usize> {
        let alive = |next: &Vec<usize>| next.iter().filter(|&&state| !self.cut[state]).count();
        // For each state, the number of ways out, and of ways in, to and from states that are not removed.
        let mut ways = [&self.to, &self.from].map(|ways| ways.iter().map(alive).collect::<Vec<usize>>());
        let mut left: Vec<bool> = self.cut.clone();
        let mut leaving: Vec<usize> =
            (0..left.len()).filter(|&at| !left[at] && ways.iter().any(|ways| ways[at] == 0)).collect();
        leaving.iter().for_each(|&state| left[state] = true);
        while let Some(state) = leaving.pop() {
            // The states that it leads to lose a way in, and those that lead to it lose a way out.
            for (side, next) in [(1, &self.to[state]), (0, &self.from[state])] {
                for &next in next {
                    ways[side][next] -= usize::from(!self.cut[next]);
                    if !left[next] && ways[side][next] == 0 {
                        left[next] = true;
                        leaving.push(next);
                    }
                }
            }
        }
        (0..left.len()).filter(|&state| !left[state]).collect()
    }
}
