//! Small expressions for the words of an automaton, by leaving out its states one after the other.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::graph::{Cover, Graph};
use super::term::{Factoring, Term, sequence, star};
use super::work::Work;

/// The most states of an automaton, and the largest part of an expression. Larger ones are not for people.
const MAX_STATES: usize = 250;
const MAX_SIZE: usize = 1500;
/// How many orders of states are tried, in total for all states and at most.
const ORDERS: (usize, usize) = (900, 60);

/// A part that has a name, as an automaton that is reduced in each way.
#[derive(Clone, Debug)]
pub(super) struct Known {
    symbol: Term,
    reduced: BTreeMap<Cover, Graph>,
}

impl Known {
    pub(super) fn new(symbol: Term, graph: &Graph, work: &Work) -> Self {
        let graph = graph.numbered();
        let reduced =
            [Cover::Shared, Cover::Residual].map(|cover| (cover, graph.reduced(cover, Factoring::ALL[0], work)));
        Self { symbol, reduced: reduced.into() }
    }
}

/// Returns some expressions of all words of an automaton, small ones first. There are none if it is too large.
pub(super) fn expressions(graph: &Graph, known: &[Known], covers: &[Cover], work: &Work) -> Vec<Term> {
    let graph = graph.numbered();
    if graph.arcs.len() > MAX_STATES {
        return Vec::new();
    }
    let mut found = BTreeSet::new();
    for &cover in covers {
        let mut small = graph.reduced(cover, Factoring::ALL[0], work);
        for part in known {
            let Some(reduced) = part.reduced.get(&cover) else { continue };
            let states: Vec<usize> = small.arcs.keys().copied().collect();
            states.into_iter().for_each(|state| small.fold(state, &part.symbol, reduced));
            small.merge();
        }
        small.trim();
        let orders = ORDERS.1.min(ORDERS.0 / small.arcs.len().max(1)).max(2);
        for factoring in Factoring::ALL {
            found.extend((0..orders as u64).filter_map(|order| eliminate(&small, factoring, order, work)));
        }
    }
    let mut found: Vec<Term> = found.into_iter().collect();
    found.sort_by_cached_key(|term| (term.size(), term.clone()));
    found
}

/// Leaves out all states. Those that make the expression grow least go first; other orders than 0 are near that one.
fn eliminate(graph: &Graph, factoring: Factoring, order: u64, work: &Work) -> Option<Term> {
    let begin = usize::MAX;
    let mut random = ChaCha8Rng::seed_from_u64(order);
    let mut ways: BTreeMap<(usize, usize), Vec<Term>> = BTreeMap::from([((begin, graph.start), vec![Term::EMPTY])]);
    for (&from, out) in &graph.arcs {
        for (term, to) in out {
            ways.entry((from, *to)).or_default().push(term.clone());
        }
    }
    let mut ways: BTreeMap<(usize, usize), Term> =
        ways.into_iter().map(|(key, terms)| (key, factoring.choice(terms))).collect();
    let mut sizes: BTreeMap<(usize, usize), usize> = ways.iter().map(|(key, term)| (*key, term.size())).collect();
    let mut inner: BTreeSet<usize> = graph.arcs.keys().copied().filter(|&state| state != graph.end).collect();
    while !inner.is_empty() {
        let growth = |state: usize| {
            let (mut before, mut after, mut again) = ((0, 0), (0, 0), 0);
            for (&(from, to), size) in &sizes {
                match (from == state, to == state) {
                    (true, true) => again = *size,
                    (true, false) => after = (after.0 + size, after.1 + 1),
                    (false, true) => before = (before.0 + size, before.1 + 1),
                    (false, false) => {}
                }
            }
            // A state without ways to or from it costs nothing.
            (before.0 * after.1 + after.0 * before.1 + again * before.1 * after.1)
                .saturating_sub(before.0 + after.0 + again) as f64
        };
        if !work.take(inner.len() * sizes.len()) {
            return None;
        }
        let mut weight = |state: usize| growth(state) * if order == 0 { 1. } else { random.random_range(0.3..1.5) };
        let weights: Vec<(f64, usize)> = inner.iter().map(|&state| (weight(state), state)).collect();
        let (_, state) = weights.into_iter().min_by(|one, two| one.0.total_cmp(&two.0).then(one.1.cmp(&two.1)))?;
        inner.remove(&state);
        let again = ways.remove(&(state, state)).map(star);
        let touching: Vec<(usize, usize)> =
            ways.keys().copied().filter(|&(from, to)| from == state || to == state).collect();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        sizes.remove(&(state, state));
        for (from, to) in touching {
            sizes.remove(&(from, to));
            let term = ways.remove(&(from, to))?;
            if to == state { before.push((from, term)) } else { after.push((to, term)) }
        }
        for (from, first) in &before {
            for (to, last) in &after {
                let parts = [Some(first.clone()), again.clone(), Some(last.clone())];
                let way = sequence(parts.into_iter().flatten().collect());
                let way = match ways.remove(&(*from, *to)) {
                    Some(known) => factoring.choice(vec![known, way]),
                    None => way,
                };
                let size = way.size();
                if size > MAX_SIZE || !work.take(size) {
                    return None;
                }
                sizes.insert((*from, *to), size);
                ways.insert((*from, *to), way);
            }
        }
    }
    ways.remove(&(begin, graph.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random;
    use crate::write::readable::graph::tests::{drawn, words};
    use crate::write::readable::term::tests::words as words_of;

    #[test]
    fn every_expression_has_the_words_of_the_automaton() {
        let mut random = random();
        for _ in 0..60 {
            let graph = drawn(&mut random);
            let expected = words(&graph, 5);
            let found = expressions(&graph, &[], &[Cover::Residual, Cover::Shared, Cover::Loops], &Work::default());
            assert!(!found.is_empty() && found.is_sorted_by_key(Term::size), "{graph:?}");
            for term in found.iter().take(20) {
                assert_eq!(words_of(term, 5), expected, "{term:?}: {graph:?}");
            }
        }
    }

    #[test]
    fn large_automata_have_no_expression() {
        let mut graph = Graph { start: 0, end: MAX_STATES + 1, ..Graph::default() };
        (0..=MAX_STATES).for_each(|state| graph.add(state, Term::Symbol(state), state + 1));
        assert!(expressions(&graph, &[], &[Cover::Loops], &Work::default()).is_empty());
    }
}
