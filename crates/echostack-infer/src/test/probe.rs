//! Ways through a hypothesis: how to get to each place, and how to get from there to the end of a valid word.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::learn::automaton::{Automaton, Place};
use crate::learn::learner::{Closed, Learner, Module, State};
use crate::text::symbols::{Sym, Word};

/// The length of the longest fragments.
const FRAGMENT: usize = 12;
/// The length of the longest words that are compared.
const PARALLEL: usize = 60;
/// The maximum number of words that are compared in one place.
const MAX_PARALLEL: usize = 8000;

/// Words that lead from the same place to the same end: candidates for standing for each other.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) home: Place,
    pub(crate) words: Vec<Word>,
    /// Whether there are more words, which were left out.
    pub(crate) cut: bool,
}

/// A way to close a module: the length of what is outside, the states before and after the closed word, and within it
/// the last state and the closer.
type Way = (usize, State, State, Sym, State);

/// A setting for a module: what stands before and after it. A module can need several, because not each of its states can
/// end in each of them.
#[derive(Debug)]
struct Setting {
    module: Module,
    /// A word up to and including the opener.
    before: Word,
    /// The shortest way from each state to the end of a valid word that begins with `before`.
    ends: BTreeMap<State, Word>,
}

/// The maximum number of settings for a module.
const MAX_SETTINGS: usize = 16;

/// Shortest ways through a hypothesis.
#[derive(Debug)]
pub(crate) struct Probe<'a> {
    pub(crate) automaton: &'a Automaton,
    /// The shortest word from the beginning of its module to each place.
    pub(crate) paths: BTreeMap<Place, Word>,
    /// A shortest closed word of each class.
    pub(crate) closed: BTreeMap<Closed, Word>,
    settings: Vec<Setting>,
    /// The setting in which each place is tested.
    setting_of: BTreeMap<Place, usize>,
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
            settings: Vec::new(),
            setting_of: BTreeMap::new(),
            places: Vec::new(),
            fragments: Vec::new(),
        };
        this.find_paths();
        this.find_settings();
        for (number, setting) in this.settings.iter().enumerate() {
            let live = automaton.live[setting.module.at()].iter().map(|&state| (setting.module, state));
            this.places.extend(live.filter(|place| this.setting_of.get(place) == Some(&number)));
        }
        let contexts = learner.contexts().map(|(_, after)| after);
        let ends = this.settings.iter().flat_map(|setting| setting.ends.values());
        let parts: BTreeSet<&[Sym]> = contexts.chain(ends).map(|word| this.inside(word)).collect();
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

    /// Returns the shortest way from each state of a module to one of its ends.
    fn ends_of(&self, module: Module, targets: BTreeMap<State, Word>) -> BTreeMap<State, Word> {
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
        best
    }

    /// Adds a setting if some state has none yet.
    fn add_setting(&mut self, setting: Setting) {
        let module = setting.module;
        let known = self.settings.iter().filter(|setting| setting.module == module).count();
        let places = setting.ends.keys().map(|&state| (module, state)).filter(|place| self.paths.contains_key(place));
        let fresh: Vec<Place> = places.filter(|place| !self.setting_of.contains_key(place)).collect();
        if !fresh.is_empty() && known < MAX_SETTINGS {
            self.setting_of.extend(fresh.into_iter().map(|place| (place, self.settings.len())));
            self.settings.push(setting);
        }
    }

    /// Finds settings for all modules that occur, from the outside to the inside.
    fn find_settings(&mut self) {
        let automaton = self.automaton;
        let accepting = automaton.accepting.iter().map(|&state| (state, Vec::new())).collect();
        let ends = self.ends_of(Module::TOP, accepting);
        self.add_setting(Setting { module: Module::TOP, before: Vec::new(), ends });
        let mut next = 0;
        while let Some(outer) = self.settings.get(next) {
            next += 1;
            let outside = outer.module;
            let mut found: BTreeMap<Module, Vec<Way>> = BTreeMap::new();
            for &from in &automaton.live[outside.at()] {
                let Some(path) = self.paths.get(&(outside, from)) else { continue };
                for (class, &to) in automaton.over((outside, from)) {
                    let Some(end) = outer.ends.get(&to) else { continue };
                    for &(module, state, closer) in automaton.closings.get(class).into_iter().flatten() {
                        let way = (path.len() + end.len(), from, state, closer, to);
                        found.entry(module).or_default().push(way);
                    }
                }
            }
            let (before, ends) = (outer.before.clone(), outer.ends.clone());
            for (module, mut ways) in found {
                ways.sort_by_key(|&(cost, from, ..)| (cost, from));
                let mut tried: BTreeSet<State> = BTreeSet::new();
                for &(_, from, ..) in &ways {
                    if !tried.insert(from) {
                        continue;
                    }
                    let mut targets: BTreeMap<State, Word> = BTreeMap::new();
                    for &(_, _, state, closer, to) in ways.iter().filter(|way| way.1 == from) {
                        targets.entry(state).or_insert_with(|| [&[closer], ends[&to].as_slice()].concat());
                    }
                    if targets.keys().all(|&state| self.setting_of.contains_key(&(module, state))) {
                        continue;
                    }
                    let opener: Vec<Sym> = automaton.opener(module).into_iter().collect();
                    let before = [before.as_slice(), &self.paths[&(outside, from)], &opener].concat();
                    let ends = self.ends_of(module, targets);
                    self.add_setting(Setting { module, before, ends });
                }
            }
        }
    }

    /// Returns the shortest way from a state to the end, in the setting of a place of the same module.
    pub(crate) fn end(&self, place: Place, state: State) -> Option<&Word> {
        self.settings[*self.setting_of.get(&place)?].ends.get(&state)
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
        let before = self.setting_of.get(&place).map_or(&[][..], |&number| &self.settings[number].before);
        [before, &self.paths[&place], &rest.concat()].concat()
    }

    fn any_end(&self, place: Place, random: &mut ChaCha8Rng) -> Option<&Word> {
        let ends: Vec<&Word> = self.settings[*self.setting_of.get(&place)?].ends.values().collect();
        ends.choose(random).copied()
    }

    /// Draws a word: the way to a place, a few symbols, and an end of the same module.
    pub(crate) fn word(&self, symbols: &[Sym], most: usize, random: &mut ChaCha8Rng) -> Option<Word> {
        let &place = self.places.choose(random)?;
        let end = self.any_end(place, random)?;
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
        let end = target.and_then(|target| self.end(place, target));
        let end = match end {
            Some(end) => end,
            None => self.any_end(place, random)?,
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
            let (ways, cut) = self.ways_from(home);
            for (word, target) in ways {
                let Some(end) = self.end(home, target).filter(|_| is_end(target)) else { continue };
                match by_end.iter_mut().find(|(known, _)| *known == end) {
                    Some((_, words)) => words.push(word),
                    None => by_end.push((end, vec![word])),
                }
            }
            let several = by_end.into_iter().filter(|(_, words)| words.len() > 1);
            several.map(move |(_, words)| Group { home, words, cut }).collect::<Vec<_>>()
        })
    }

    /// Returns words from a place, with the states that they lead to: for each state, one for each pair of first steps,
    /// and for each state before a closed word. Returns also whether there are more.
    fn ways_from(&self, home: Place) -> (Vec<(Word, State)>, bool) {
        let mut seen: HashSet<(State, Option<State>, Vec<State>, usize)> = HashSet::new();
        let mut found: Vec<(Word, State)> = Vec::new();
        let mut cut = false;
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
                    // What stands before a closed word matters: `sin(x)` must not hide `sinh(x)`.
                    let before = Some(state).filter(|_| step.len() > 1);
                    if !seen.insert((target, before, begin.clone(), number)) {
                        continue;
                    }
                    if longer.len() > PARALLEL {
                        cut = true;
                        continue;
                    }
                    found.push((longer.clone(), target));
                    next.push((longer, target, begin));
                }
            }
            layer = next;
        }
        (found, cut || !layer.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{automaton, lists_learned, random};

    /// From each place, the shortest way on leads to the end of a valid word.
    #[test]
    fn ways_lead_through_every_place_to_an_end() {
        let (hypothesis, learner) = lists_learned();
        let automaton = automaton(&hypothesis);
        let probe = Probe::new(automaton, &learner);
        assert_eq!(probe.places.len(), automaton.states());
        for &place in &probe.places {
            let end = probe.end(place, place.1).unwrap();
            assert!(automaton.accepts(&probe.word_from(place, &[end])));
            for (step, target) in probe.moves(place) {
                assert_eq!(automaton.run(place, &step), Some(target));
                let end = probe.end(place, target).unwrap();
                assert!(automaton.accepts(&probe.word_from(place, &[&step, end])));
            }
        }
        for word in probe.closed.values() {
            assert!(hypothesis.accepts(&hypothesis.symbols.render(word)));
        }
    }

    #[test]
    fn drawn_words_begin_with_a_way_to_a_place() {
        let (hypothesis, learner) = lists_learned();
        let automaton = automaton(&hypothesis);
        let probe = Probe::new(automaton, &learner);
        let (symbols, mut random) = (hypothesis.symbols.in_use(), random());
        let (mut valid, mut invalid) = (0, 0);
        for number in 0..400 {
            let word = match number % 3 {
                0 => probe.fragment_word(&symbols, &mut random),
                most => probe.word(&symbols, most, &mut random),
            };
            let word = word.unwrap();
            let begins = |&place: &Place| word.starts_with(&probe.word_from(place, &[]));
            assert!(probe.places.iter().any(begins));
            *(if automaton.accepts(&word) { &mut valid } else { &mut invalid }) += 1;
        }
        assert!(valid > 40 && invalid > 40, "{valid} {invalid}");
    }

    /// The words of a group lead from its home to places with the same end, so they can stand for each other there.
    #[test]
    fn the_words_of_a_group_can_stand_for_each_other() {
        let (hypothesis, learner) = lists_learned();
        let automaton = automaton(&hypothesis);
        let probe = Probe::new(automaton, &learner);
        let groups: Vec<Group> = probe.groups().collect();
        assert!(!groups.is_empty());
        for group in groups {
            let end = |word: &Word| probe.end(group.home, automaton.run(group.home, word).unwrap()).unwrap();
            let first = end(&group.words[0]);
            assert!(group.words.iter().all(|word| end(word) == first));
            assert!(group.words.iter().all(|word| automaton.accepts(&probe.word_from(group.home, &[word, first]))));
        }
    }
}
