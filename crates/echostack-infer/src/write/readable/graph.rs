//! Finite automata whose arcs are terms, and how they are made small.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::term::{Factoring, Term};
use super::work::Work;

/// A finite automaton. A state that is no key has no arcs.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) arcs: BTreeMap<usize, BTreeSet<(Term, usize)>>,
}

/// How far an automaton is rewritten, with the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cover {
    /// Loops are split off.
    Loops,
    /// Arcs that another state has, too, are replaced by one to that state.
    Shared,
    /// States of which the words are unions of those of others are left out, too.
    Residual,
}

/// The most times that arcs are replaced.
const MAX_SHARED: usize = 200;

/// The labels and classes that a state leads to.
pub(super) type Moves<L> = BTreeSet<(L, usize)>;

/// Returns the coarsest partition that refines another one and that moves respect, as the number of each state's class.
pub(super) fn classes<L: Ord>(first: Vec<usize>, moves: &dyn Fn(usize, &[usize]) -> Moves<L>) -> Vec<usize> {
    let mut block = first;
    loop {
        let mut numbers = BTreeMap::new();
        let mut fresh = Vec::with_capacity(block.len());
        for state in 0..block.len() {
            let next = numbers.len();
            fresh.push(*numbers.entry((block[state], moves(state, &block))).or_insert(next));
        }
        if numbers.len() == block.iter().collect::<BTreeSet<_>>().len() {
            return fresh;
        }
        block = fresh;
    }
}

impl Graph {
    pub(super) fn out(&self, state: usize) -> impl Iterator<Item = &(Term, usize)> {
        self.arcs.get(&state).into_iter().flatten()
    }

    pub(super) fn add(&mut self, from: usize, term: Term, to: usize) {
        self.arcs.entry(from).or_default().insert((term, to));
    }

    fn reachable_from(&self, state: usize, along: &dyn Fn(&Term) -> bool) -> BTreeSet<usize> {
        let (mut seen, mut open) = (BTreeSet::from([state]), vec![state]);
        while let Some(state) = open.pop() {
            let next = self.out(state).filter(|(term, _)| along(term)).map(|&(_, to)| to);
            open.extend(next.filter(|&to| seen.insert(to)));
        }
        seen
    }

    /// Leaves out what is not on a way from the start to the end.
    pub(super) fn trim(&mut self) {
        let seen = self.reachable_from(self.start, &|_| true);
        let mut live = BTreeSet::from([self.end]);
        loop {
            let leads = |(&from, out): (&usize, &BTreeSet<(Term, usize)>)| {
                (!live.contains(&from) && out.iter().any(|(_, to)| live.contains(to))).then_some(from)
            };
            let more: Vec<usize> = self.arcs.iter().filter_map(leads).collect();
            if more.is_empty() {
                break;
            }
            live.extend(more);
        }
        self.arcs.retain(|from, _| seen.contains(from) && live.contains(from));
        self.arcs.values_mut().for_each(|out| out.retain(|(_, to)| live.contains(to)));
    }

    /// Merges the states of a deterministic automaton that have the same future.
    pub(super) fn minimize(&mut self) {
        let mut states: BTreeSet<usize> = self.arcs.keys().copied().collect();
        states.extend([self.start, self.end]);
        let states: Vec<usize> = states.into_iter().collect();
        let at = |state: usize| states.binary_search(&state).unwrap_or(0);
        let first = states.iter().map(|&state| usize::from(state == self.end)).collect();
        let block = classes(first, &|state, block| {
            let mut found = BTreeSet::new();
            for (term, to) in self.out(states[state]) {
                match term {
                    Term::Set(atoms) => {
                        found.extend(atoms.iter().map(|&atom| (Term::Set([atom].into()), block[at(*to)])));
                    }
                    term => _ = found.insert((term.clone(), block[at(*to)])),
                }
            }
            found
        });
        let mut one: BTreeMap<usize, usize> = BTreeMap::from([(block[at(self.end)], self.end)]);
        one.entry(block[at(self.start)]).or_insert(self.start);
        states.iter().for_each(|&state| _ = one.entry(block[at(state)]).or_insert(state));
        let same = |state: usize| one[&block[at(state)]];
        let mut arcs: BTreeMap<usize, BTreeSet<(Term, usize)>> = BTreeMap::new();
        for (&from, out) in self.arcs.iter().filter(|(from, _)| same(**from) == **from) {
            let mut sets: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            let own = arcs.entry(from).or_default();
            for (term, to) in out {
                match term {
                    Term::Set(atoms) => sets.entry(same(*to)).or_default().extend(atoms),
                    term => _ = own.insert((term.clone(), same(*to))),
                }
            }
            own.extend(sets.into_iter().map(|(to, atoms)| (Term::Set(atoms), to)));
        }
        self.start = same(self.start);
        self.arcs = arcs;
    }

    /// Returns the automaton with its states in the order in which a search finds them, so that nothing else matters.
    pub(super) fn numbered(&self) -> Self {
        let mut numbers = BTreeMap::from([(self.end, 1)]);
        numbers.insert(self.start, 0);
        let mut open = VecDeque::from([self.start]);
        let mut arcs: BTreeMap<usize, BTreeSet<(Term, usize)>> = BTreeMap::new();
        while let Some(state) = open.pop_front() {
            let mut out: Vec<&(Term, usize)> = self.out(state).collect();
            out.sort_by_key(|(term, to)| (term.size(), term, *to));
            for (term, to) in out {
                let fresh = numbers.len().max(2);
                let number = *numbers.entry(*to).or_insert_with(|| {
                    open.push_back(*to);
                    fresh
                });
                arcs.entry(numbers[&state]).or_default().insert((term.clone(), number));
            }
        }
        Self { start: 0, end: numbers[&self.end], arcs }
    }

    fn fresh(&self) -> usize {
        let most = self.arcs.iter().flat_map(|(&from, out)| out.iter().map(|&(_, to)| to).chain([from])).max();
        most.unwrap_or(0).max(self.start).max(self.end) + 1
    }

    /// Merges states that have the same arcs.
    pub(super) fn merge(&mut self) {
        loop {
            let (mut seen, mut same) = (BTreeMap::new(), BTreeMap::new());
            let mut states: Vec<usize> = self.arcs.keys().copied().filter(|&state| state != self.end).collect();
            states.sort_by_key(|&state| (state != self.start, state));
            for state in states {
                let own = |to: usize| if to == state { None } else { Some(to) };
                let key: BTreeSet<(&Term, Option<usize>)> =
                    self.out(state).map(|(term, to)| (term, own(*to))).collect();
                match seen.get(&key) {
                    Some(&other) => _ = same.insert(state, other),
                    None => _ = seen.insert(key, state),
                }
            }
            if same.is_empty() {
                return;
            }
            self.arcs.retain(|state, _| !same.contains_key(state));
            for out in self.arcs.values_mut() {
                *out =
                    std::mem::take(out).into_iter().map(|(term, to)| (term, *same.get(&to).unwrap_or(&to))).collect();
            }
        }
    }

    /// Returns an automaton with the same words, not deterministic, with as few arcs as can be found.
    pub(super) fn reduced(&self, cover: Cover, factoring: Factoring, work: &Work) -> Self {
        let mut this = self.clone();
        let mut next = this.fresh();
        // A state with a loop is split: first the loop, then the rest.
        for state in self.arcs.keys().copied().filter(|&state| state != self.end) {
            let (loops, rest): (BTreeSet<_>, BTreeSet<_>) = self.out(state).cloned().partition(|&(_, to)| to == state);
            if loops.is_empty() || rest.is_empty() {
                continue;
            }
            let again = factoring.choice(loops.into_iter().map(|(term, _)| term).collect());
            this.arcs.insert(state, BTreeSet::from([(again, state), (Term::EMPTY, next)]));
            this.arcs.insert(next, rest);
            next += 1;
        }
        this.merge();
        if cover > Cover::Loops {
            for _ in 0..MAX_SHARED {
                if !work.take(this.arcs.len().pow(2)) || !this.share(cover) {
                    break;
                }
            }
        }
        this.trim();
        this
    }

    /// If a state can do all that another one can, then it is the other one or something else. Returns whether there is one.
    fn share(&mut self, cover: Cover) -> bool {
        while self.distribute(cover) {}
        let mut best: Option<(usize, usize, usize)> = None;
        for (&one, all) in &self.arcs {
            for (&other, some) in &self.arcs {
                let is_end = || some.len() == 1 && some.contains(&(Term::EMPTY, self.end));
                if one == other || some.is_empty() || some.len() >= all.len() || !some.is_subset(all) || is_end() {
                    continue;
                }
                if best.is_none_or(|best| best < (some.len(), one, other))
                    && !self.reachable_from(other, &|term| *term == Term::EMPTY).contains(&one)
                {
                    best = Some((some.len(), one, other));
                }
            }
        }
        let Some((_, one, other)) = best else { return false };
        let shared = self.arcs[&other].clone();
        let own = self.arcs.entry(one).or_default();
        own.retain(|arc| !shared.contains(arc));
        own.insert((Term::EMPTY, other));
        self.merge();
        true
    }

    /// Leaves out a state with empty arcs: what leads to it leads to where these lead. Returns whether there is one.
    fn distribute(&mut self, cover: Cover) -> bool {
        let can_go = |(&state, out): (&usize, &BTreeSet<(Term, usize)>)| {
            let is_empty = |(term, _): &(Term, usize)| *term == Term::EMPTY;
            let is_inner = state != self.start && state != self.end && out.len() > 1;
            let is_union = cover == Cover::Residual || out.iter().all(is_empty);
            let is_loop = out.iter().any(|&(_, to)| to == state);
            let leads = out.iter().any(|arc| is_empty(arc) && arc.1 != self.end);
            (is_inner && is_union && !is_loop && leads).then_some(state)
        };
        let Some(state) = self.arcs.iter().find_map(can_go) else { return false };
        let fresh = self.fresh();
        let out = self.arcs.remove(&state).unwrap_or_default();
        let (empty, own): (BTreeSet<_>, BTreeSet<_>) = out.into_iter().partition(|(term, _)| *term == Term::EMPTY);
        let mut targets: BTreeSet<usize> = empty.into_iter().map(|(_, to)| to).collect();
        if !own.is_empty() {
            targets.insert(fresh);
            self.arcs.insert(fresh, own);
        }
        for out in self.arcs.values_mut() {
            let (to_state, mut others): (BTreeSet<_>, BTreeSet<_>) =
                std::mem::take(out).into_iter().partition(|&(_, to)| to == state);
            for (term, _) in to_state {
                others.extend(targets.iter().map(|&to| (term.clone(), to)));
            }
            *out = others;
        }
        true
    }

    /// If the words from a state are the words of a known part and then something, says so: it is a symbol and then the
    /// rest.
    pub(super) fn fold(&mut self, state: usize, symbol: &Term, part: &Self) {
        if state == self.end || part.arcs.len() < 2 || self.out(state).count() < 2 {
            return;
        }
        let (mut image, mut open) = (BTreeMap::from([(part.start, state)]), vec![part.start]);
        let (mut rest, mut more) = (None, BTreeSet::new());
        while let Some(inner) = open.pop() {
            let own = image[&inner];
            if own == self.end {
                return;
            }
            let mut others: BTreeSet<(Term, usize)> = self.out(own).cloned().collect();
            for (term, to) in part.out(inner).filter(|&&(_, to)| to != part.end) {
                let targets: Vec<usize> = others
                    .iter()
                    .filter(|(other, target)| other == term && image.get(to).is_none_or(|known| known == target))
                    .map(|&(_, target)| target)
                    .collect();
                let [target] = targets[..] else { return };
                others.remove(&(term.clone(), target));
                if image.insert(*to, target).is_none() {
                    open.push(*to);
                }
            }
            // A way of the part to its end that is not empty has no place to go on from.
            if part.out(inner).any(|(term, to)| *to == part.end && *term != Term::EMPTY) {
                return;
            }
            if part.out(inner).any(|(_, to)| *to == part.end) {
                if rest.as_ref().is_some_and(|rest| *rest != others) {
                    return;
                }
                rest = Some(others);
            } else if !others.is_empty() {
                let is_again = part.arcs.values().flatten().any(|&(_, to)| to == part.start);
                if inner != part.start || is_again {
                    return;
                }
                more = others;
            }
        }
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            let after = self.fresh();
            self.arcs.insert(after, rest);
            more.insert((symbol.clone(), after));
            self.arcs.insert(state, more);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::testing::random;

    /// Returns the words of an automaton of up to a length, whose arcs are terms.
    pub(crate) fn words(graph: &Graph, length: usize) -> BTreeSet<Vec<usize>> {
        let mut found: BTreeSet<(usize, Vec<usize>)> = BTreeSet::from([(graph.start, Vec::new())]);
        let mut open: Vec<(usize, Vec<usize>)> = found.iter().cloned().collect();
        while let Some((state, word)) = open.pop() {
            for (term, to) in graph.out(state) {
                for step in crate::write::readable::term::tests::words(term, length) {
                    let next = (*to, [&word[..], &step].concat());
                    if next.1.len() <= length && found.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
        }
        found.into_iter().filter(|(state, _)| *state == graph.end).map(|(_, word)| word).collect()
    }

    /// Returns a random deterministic automaton over three symbols, which is not empty.
    pub(crate) fn drawn(random: &mut ChaCha8Rng) -> Graph {
        loop {
            let states = random.random_range(1..=5);
            let mut graph = Graph { start: 0, end: states, ..Graph::default() };
            for state in 0..states {
                for symbol in 0..3 {
                    if random.random_bool(0.5) {
                        graph.add(state, Term::Symbol(symbol), random.random_range(0..states));
                    }
                }
                if random.random_bool(0.4) {
                    graph.add(state, Term::EMPTY, states);
                }
            }
            graph.trim();
            if graph.arcs.contains_key(&graph.start) {
                return graph;
            }
        }
    }

    #[test]
    fn smaller_automata_have_the_same_words() {
        let mut random = random();
        for _ in 0..500 {
            let graph = drawn(&mut random);
            let expected = words(&graph, 5);
            let mut least = graph.clone();
            least.minimize();
            assert_eq!(words(&least, 5), expected, "{graph:?}");
            assert!(least.arcs.len() <= graph.arcs.len());
            assert_eq!(words(&graph.numbered(), 5), expected, "{graph:?}");
            for cover in [Cover::Loops, Cover::Shared, Cover::Residual] {
                assert_eq!(
                    words(&least.reduced(cover, Factoring::ALL[0], &Work::default()), 5),
                    expected,
                    "{cover:?}: {graph:?}"
                );
            }
        }
    }

    #[test]
    fn known_parts_are_folded() {
        // `0 (1 0)*`, with and without a start that is reached again.
        let part = |start: usize| {
            let mut part = Graph { start, end: 9, ..Graph::default() };
            part.add(start, Term::Symbol(0), 1);
            part.add(2, Term::Symbol(0), 1);
            part.add(1, Term::Symbol(1), 2);
            part
        };
        let known = |start: usize| {
            let mut known = part(start);
            known.add(1, Term::EMPTY, 9);
            known
        };
        // `0 (1 0)* 2 | 3`
        let graph = |start: usize| {
            let mut graph = part(start);
            graph.add(1, Term::Symbol(2), 4);
            graph.add(start, Term::Symbol(3), 4);
            graph.add(4, Term::EMPTY, 9);
            graph
        };
        let mut folded = graph(5);
        folded.fold(5, &Term::Symbol(7), &known(5));
        assert_eq!(words(&folded, 9), BTreeSet::from([vec![7, 2], vec![3]]));
        let mut same = graph(2);
        same.fold(2, &Term::Symbol(7), &known(2));
        assert_eq!(same.arcs, graph(2).arcs);
    }
}
