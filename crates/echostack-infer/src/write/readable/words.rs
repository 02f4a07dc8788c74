//! Expressions for finite automata of which nothing else is known.

use std::collections::BTreeSet;

use super::eliminate::expressions;
use super::graph::{Cover, Graph};
use super::pieces::written;
use super::term::Term;
use super::work::Work;
use crate::text::charset::CharSet;

/// A finite automaton over disjoint sets of characters. It need not be deterministic.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    pub(crate) sets: &'a [CharSet],
    /// The states from which one leads to another by some of the sets.
    pub(crate) arcs: Vec<(usize, BTreeSet<usize>, usize)>,
    pub(crate) start: usize,
    pub(crate) ends: Vec<usize>,
}

impl Words<'_> {
    /// Returns a small expression of all words, as lexers write it. There is none if it is too large.
    pub(crate) fn expression(self) -> Option<String> {
        let states = self.arcs.iter().flat_map(|&(from, _, to)| [from, to]).chain([self.start]);
        let end = 1 + states.max()?;
        let mut graph = Graph { start: self.start, end, ..Graph::default() };
        for (from, sets, to) in self.arcs {
            graph.add(from, Term::Set(sets), to);
        }
        self.ends.into_iter().for_each(|state| graph.add(state, Term::EMPTY, end));
        graph.trim();
        graph.minimize();
        let found = expressions(&graph, &[], &[Cover::Shared, Cover::Loops], &Work::default());
        found.first().map(|term| written(term, self.sets))
    }
}
