//! Ways through a hypothesis: how to get to each place, and how to get from there to the end of a valid word.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::automaton::{Automaton, Place};
use crate::learner::{Closed, Learner, Module, State};
use crate::symbols::{Sym, Word};

/// The length of the longest fragments.
const FRAGMENT: usize = 12;
/// The length of the longest words that are compared.
const PARALLEL: usize = 60;
/// The maximum number of words that are compared in one place.
const MAX_PARALLEL: usize = 2000;

/// Words that lead from the same place to the same end: candidates for standing for each other.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) home: Place,
    pub(crate) words: Vec<Word>,
}

/// A way to close a module: the length of what is outside, the states before and after the closed word, and within it
/// the last state and the closer.
type Way = (usize, State, State, Sym, State);

/// Shortest ways through a hypothesis.
#[derive(Debug)]
pub(crate) struct Probe<'a> {
    pub(crate) automaton: &'a Automaton,
    /// The shortest word from the beginning of its module to each place.
    pub(crate) paths: BTreeMap<Place, Word>,
    /// A shortest closed word of each class.
    pub(crate) closed: BTreeMap<Closed, Word>,
    /// A valid word up to and including the opener of each module that occurs.
    pub(crate) outer: BTreeMap<Module, Word>,
    /// The shortest way from each place to the end of a valid word that begins with `outer`.
    pub(crate) ends: BTreeMap<Place, Word>,
    /// The places that occur.
    pub(crate) places: Vec<Place>,
    /// Well-matched words that tell states apart, or lead to an end, somewhere.
    fragments: Vec<Word>,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(automaton: &'a Automaton, learner: &Learner) -> Self {
        let mut this = Self {
            automaton,
            paths: BTreeMap::new(),
            closed: BTreeMap::new(),
            outer: BTreeMap::new(),
            ends: BTreeMap::new(),
            places: Vec::new(),
            fragments: Vec::new(),
        };
        this.find_paths();
        let order = this.find_ends();
        for module in order {
            let live = automaton.live[module.at()].iter().map(|&state| (module, state));
            this.places.extend(live.filter(|place| this.paths.contains_key(place)));
        }
        let contexts = learner.contexts().map(|(_, after)| after);
        let parts: BTreeSet<&[Sym]> = contexts.chain(this.ends.values()).map(|word| this.inside(word)).collect();
        let mut parts: Vec<&[Sym]> = parts.into_iter().filter(|part| (1..=FRAGMENT).contains(&part.len())).collect();
        parts.sort_by_key(|part| part.len());
        this.fragments = parts.into_iter().map(<[Sym]>::to_vec).collect();
        this
    }

    /// Returns the moves from a place: words, and the states that they lead to.
    pub(crate) fn moves(&self, place: Place) -> Vec<(Word, State)> {
        let plain = self.automaton.plain(place).iter().map(|(&symbol, &target)| (vec![symbol], target));
        let over = self.automaton.over(place).iter();
        plain.chain(over.filter_map(|(class, &to)| Some((self.closed.get(class)?.clone(), to)))).collect()
    }

    fn find_paths(&mut self) {
        for module in self.automaton.modules() {
            if let Some(start) = self.automaton.parts[module.at()].start {
                self.paths.insert((module, start), Vec::new());
            }
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for module in self.automaton.modules() {
                for &state in &self.automaton.live[module.at()] {
                    let Some(base) = self.paths.get(&(module, state)).cloned() else { continue };
                    for (word, target) in self.moves((module, state)) {
                        let length = base.len() + word.len();
                        if self.paths.get(&(module, target)).is_none_or(|known| length < known.len()) {
                            self.paths.insert((module, target), [base.as_slice(), &word].concat());
                            changed = true;
                        }
                    }
                }
            }
            for (&class, ways) in &self.automaton.closings {
                for &(module, state, closer) in ways {
                    let (Some(path), Some(opener)) = (self.paths.get(&(module, state)), self.automaton.opener(module))
                    else {
                        continue;
                    };
                    if self.closed.get(&class).is_none_or(|known| path.len() + 2 < known.len()) {
                        let word = [&[opener], path.as_slice(), &[closer]].concat();
                        self.closed.insert(class, word);
                        changed = true;
                    }
                }
            }
        }
    }

    /// Finds the shortest ways from the states of a module to its ends.
    fn find_ends_in(&mut self, module: Module, targets: BTreeMap<State, Word>) {
        let mut best = targets;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &state in &self.automaton.live[module.at()] {
                for (word, target) in self.moves((module, state)) {
                    let Some(rest) = best.get(&target) else { continue };
                    if best.get(&state).is_none_or(|known| word.len() + rest.len() < known.len()) {
                        let way = [word, rest.clone()].concat();
                        best.insert(state, way);
                        changed = true;
                    }
                }
            }
        }
        self.ends.extend(best.into_iter().map(|(state, word)| ((module, state), word)));
    }

    /// Finds a context for each module that occurs. Returns the modules from the outside to the inside.
    fn find_ends(&mut self) -> Vec<Module> {
        let automaton = self.automaton;
        self.outer.insert(Module::TOP, Vec::new());
        self.find_ends_in(Module::TOP, automaton.accepting.iter().map(|&state| (state, Vec::new())).collect());
        let mut order = vec![Module::TOP];
        let mut next = 0;
        while let Some(&outside) = order.get(next) {
            next += 1;
            let mut found: BTreeMap<Module, Vec<Way>> = BTreeMap::new();
            for &from in &automaton.live[outside.at()] {
                let Some(path) = self.paths.get(&(outside, from)) else { continue };
                for (class, &to) in automaton.over((outside, from)) {
                    let Some(end) = self.ends.get(&(outside, to)) else { continue };
                    for &(module, state, closer) in automaton.closings.get(class).into_iter().flatten() {
                        if !self.outer.contains_key(&module) {
                            let way = (path.len() + end.len(), from, state, closer, to);
                            found.entry(module).or_default().push(way);
                        }
                    }
                }
            }
            for (module, mut ways) in found {
                ways.sort_by_key(|&(cost, from, ..)| (cost, from));
                let from = ways[0].1;
                let opener: Vec<Sym> = automaton.opener(module).into_iter().collect();
                let prefix = [self.outer[&outside].as_slice(), &self.paths[&(outside, from)], &opener].concat();
                self.outer.insert(module, prefix);
                let mut targets: BTreeMap<State, Word> = BTreeMap::new();
                for &(_, _, state, closer, to) in ways.iter().filter(|way| way.1 == from) {
                    let rest = &self.ends[&(outside, to)];
                    targets.entry(state).or_insert_with(|| [&[closer], rest.as_slice()].concat());
                }
                self.find_ends_in(module, targets);
                order.push(module);
            }
        }
        order
    }

    /// Returns the longest well-matched beginning of a word.
    fn inside<'w>(&self, word: &'w [Sym]) -> &'w [Sym] {
        let (mut depth, mut best) = (0_usize, 0);
        for (at, symbol) in word.iter().enumerate() {
            if self.automaton.calls.contains(symbol) {
                depth += 1;
            } else if self.automaton.returns.contains(symbol) {
                let Some(less) = depth.checked_sub(1) else { break };
                depth = less;
            }
            if depth == 0 {
                best = at + 1;
            }
        }
        &word[..best]
    }

    /// Returns the word that leads to a place, followed by another word.
    pub(crate) fn word_from(&self, place: Place, rest: &[&[Sym]]) -> Word {
        [self.outer[&place.0].as_slice(), &self.paths[&place], &rest.concat()].concat()
    }

    fn any_end(&self, module: Module, random: &mut ChaCha8Rng) -> Option<&Word> {
        let ends: Vec<&Word> =
            self.ends.range((module, State(0))..=(module, State(u32::MAX))).map(|(_, w)| w).collect();
        ends.choose(random).copied()
    }

    /// Draws a word: the way to a place, a few symbols, and an end of the same module.
    pub(crate) fn word(&self, symbols: &[Sym], most: usize, random: &mut ChaCha8Rng) -> Option<Word> {
        let &place = self.places.choose(random)?;
        let end = self.any_end(place.0, random)?;
        let count = if most > 1 { random.random_range(0..=most) } else { 1 };
        let closed: Vec<&Word> = self.closed.values().collect();
        let mut middle = Vec::new();
        for _ in 0..count {
            if !closed.is_empty() && random.random_bool(0.15) {
                middle.extend_from_slice(closed.choose(random)?);
            } else {
                middle.push(*symbols.choose(random)?);
            }
        }
        Some(self.word_from(place, &[&middle, end]))
    }

    /// Draws a word: the way to a place, a move, a fragment, and an end that fits.
    pub(crate) fn fragment_word(&self, symbols: &[Sym], random: &mut ChaCha8Rng) -> Option<Word> {
        let &place = self.places.choose(random)?;
        let moves = self.moves(place);
        let step = if !moves.is_empty() && random.random_bool(0.7) {
            moves.choose(random)?.0.clone()
        } else if random.random_bool(0.5) {
            Vec::new()
        } else {
            vec![*symbols.choose(random)?]
        };
        let middle = [step.as_slice(), self.fragments.choose(random)?].concat();
        let target = self.automaton.run(place, &middle);
        let end = target.and_then(|target| self.ends.get(&(place.0, target)));
        let end = match end {
            Some(end) => end,
            None => self.any_end(place.0, random)?,
        };
        Some(self.word_from(place, &[&middle, end]))
    }

    /// Returns groups of words that lead from a place with a choice to places with the same end. Only places with
    /// several ways in count: what lies between is the inside of a keyword.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Group> {
        let mut closable: HashSet<Place> = HashSet::new();
        for &(module, state, _) in self.automaton.closings.values().flatten() {
            closable.insert((module, state));
        }
        closable.extend(self.automaton.accepting.iter().map(|&state| (Module::TOP, state)));
        let mut into: HashMap<Place, usize> = HashMap::new();
        for &place in &self.places {
            for (_, target) in self.moves(place) {
                *into.entry((place.0, target)).or_default() += 1;
            }
        }
        let several = |&&home: &&Place| self.moves(home).len() > 1;
        self.places.iter().filter(several).flat_map(move |&home| {
            let is_end = |state: State| {
                into.get(&(home.0, state)).is_some_and(|&count| count > 1) || closable.contains(&(home.0, state))
            };
            let mut by_end: Vec<(&Word, Vec<Word>)> = Vec::new();
            for (word, target) in self.ways_from(home) {
                let Some(end) = self.ends.get(&(home.0, target)).filter(|_| is_end(target)) else { continue };
                match by_end.iter_mut().find(|(known, _)| *known == end) {
                    Some((_, words)) => words.push(word),
                    None => by_end.push((end, vec![word])),
                }
            }
            let several = by_end.into_iter().filter(|(_, words)| words.len() > 1);
            several.map(move |(_, words)| Group { home, words }).collect::<Vec<_>>()
        })
    }

    /// Returns words from a place, with the states that they lead to: for each state, one for each pair of first steps.
    fn ways_from(&self, home: Place) -> Vec<(Word, State)> {
        let mut seen: HashSet<(State, Vec<State>, usize)> = HashSet::new();
        let mut found: Vec<(Word, State)> = Vec::new();
        let mut layer: Vec<(Word, State, Vec<State>)> = vec![(Vec::new(), home.1, Vec::new())];
        while !layer.is_empty() && found.len() < MAX_PARALLEL {
            let mut next = Vec::new();
            for (word, state, first) in layer {
                let mut parallel: HashMap<State, usize> = HashMap::new();
                for (step, target) in self.moves((home.0, state)) {
                    // Two parallel edges are enough: siblings are compared elsewhere.
                    let edges = parallel.entry(target).or_default();
                    if *edges >= 2 {
                        continue;
                    }
                    *edges += 1;
                    let longer = [word.as_slice(), &step].concat();
                    let mut begin = first.clone();
                    if begin.len() < 2 {
                        begin.push(target);
                    }
                    let number = if first.is_empty() { *edges } else { 1 };
                    if longer.len() > PARALLEL || !seen.insert((target, begin.clone(), number)) {
                        continue;
                    }
                    found.push((longer.clone(), target));
                    next.push((longer, target, begin));
                }
            }
            layer = next;
        }
        found
    }
}
