//! Merging: a modular nested-word automaton from valid and invalid words alone, as RPNI does for finite automata.
//!
//! At first, each module is the prefix tree of what the valid words have in it, and every closed word is a class of its
//! own. Then states of a module are merged, and classes of closed words, the oldest first, as long as no invalid word is
//! accepted.

use std::collections::{BTreeMap, BTreeSet};

use super::automaton::{Automaton, Part};
use super::learner::{Closed, Module, State};
use crate::ask::queries::Stop;
use crate::text::symbols::{Sym, Word};

/// The most states of all prefix trees: a bound on time and memory.
const MAX_STATES: usize = 2_000_000;

/// Openers, each with its closer.
pub(crate) type Pairs = BTreeMap<Sym, Sym>;

/// Returns the pairs of symbols that nest and match in all words: brackets, as far as valid words alone can tell. `check`
/// returns an error if the run must stop.
pub(crate) fn brackets(words: &[Word], check: impl Fn() -> Result<(), Stop>) -> Result<Pairs, Stop> {
    let mut counts: BTreeMap<Sym, usize> = BTreeMap::new();
    words.iter().flatten().for_each(|&symbol| *counts.entry(symbol).or_default() += 1);
    let mut chosen = Pairs::new();
    for (&open, &count) in &counts {
        check()?;
        for (&close, _) in counts.iter().filter(|&(&close, &other)| other == count && close != open && count > 1) {
            let taken = |symbol| chosen.contains_key(&symbol) || chosen.values().any(|&other| other == symbol);
            if taken(open) || taken(close) || !nests(words, open, close) {
                continue;
            }
            chosen.insert(open, close);
            if !words.iter().all(|word| steps(word, &chosen).is_some()) {
                chosen.remove(&open);
            }
        }
    }
    Ok(chosen)
}

/// Returns whether two symbols occur equally often, never a closer before its opener, and somewhere one pair in another.
fn nests(words: &[Word], open: Sym, close: Sym) -> bool {
    let mut deepest = 0;
    for word in words {
        let mut depth = 0_usize;
        for &symbol in word {
            if symbol == open {
                depth += 1;
                deepest = deepest.max(depth);
            } else if symbol == close {
                let Some(less) = depth.checked_sub(1) else { return false };
                depth = less;
            }
        }
        if depth > 0 {
            return false;
        }
    }
    deepest > 1
}

/// A symbol of a word, as the modules read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Plain(Sym),
    Open(usize),
    Close,
}

/// Returns what the modules read, if all brackets of a word match.
fn steps(word: &[Sym], pairs: &Pairs) -> Option<Vec<Item>> {
    let mut open: Vec<Sym> = Vec::new();
    let mut items = Vec::with_capacity(word.len());
    for &symbol in word {
        if let Some(&close) = pairs.get(&symbol) {
            open.push(close);
            items.push(Item::Open(1 + pairs.keys().take_while(|&&other| other != symbol).count()));
        } else if pairs.values().any(|&close| close == symbol) {
            if open.pop() != Some(symbol) {
                return None;
            }
            items.push(Item::Close);
        } else {
            items.push(Item::Plain(symbol));
        }
    }
    open.is_empty().then_some(items)
}

/// What leads from one state of a module to another: a symbol, or a closed word of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Letter {
    Plain(Sym),
    Closed(usize),
}

/// A change that can be taken back.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A state was merged into another.
    State(usize),
    /// A class was merged into another.
    Class(usize),
    /// A module can now end in a state.
    End(usize),
    /// A move was added.
    Added(usize, Letter),
    /// A move was removed.
    Removed(usize, Letter, usize),
}

/// Two things that are to be the same.
#[derive(Clone, Copy, Debug)]
enum Pair {
    States(usize, usize),
    Classes(usize, usize),
}

/// Modules whose states are being merged.
#[derive(Debug)]
pub(crate) struct Merging {
    pairs: Pairs,
    /// The state that each state was merged into, or itself. The first states are those in which the modules begin.
    states: Vec<usize>,
    moves: Vec<BTreeMap<Letter, usize>>,
    /// The class of the closed word that ends in a state, if its module can end there. The top level has class 0.
    ends: Vec<Option<usize>>,
    /// The class that each class was merged into, or itself.
    classes: Vec<usize>,
    /// The states from which a closed word of a class leads on, and possibly others.
    users: Vec<Vec<usize>>,
    changes: Vec<Change>,
    /// The invalid words that could be accepted, the last one that refuted a merge first.
    invalid: Vec<Vec<Item>>,
}

fn root(parents: &[usize], mut at: usize) -> usize {
    while parents[at] != at {
        at = parents[at];
    }
    at
}

impl Merging {
    /// Begins with the prefix trees of valid words. Returns `None` if they are too large.
    pub(crate) fn new(valid: &[Word], invalid: &[Word], pairs: Pairs) -> Option<Self> {
        let mut invalid: Vec<Vec<Item>> = invalid.iter().filter_map(|word| steps(word, &pairs)).collect();
        invalid.sort_by_key(Vec::len);
        let modules = pairs.len() + 1;
        let mut this = Self {
            pairs,
            states: (0..modules).collect(),
            moves: vec![BTreeMap::new(); modules],
            ends: vec![None; modules],
            classes: vec![0],
            users: vec![Vec::new()],
            changes: Vec::new(),
            invalid,
        };
        let mut valid: Vec<&Word> = valid.iter().collect();
        valid.sort_by_key(|word| (word.len(), *word));
        for word in valid {
            let (mut open, mut state) = (Vec::new(), 0);
            for item in steps(word, &this.pairs)? {
                let letter = match item {
                    Item::Open(inner) => {
                        open.push(state);
                        state = inner;
                        continue;
                    }
                    Item::Close => {
                        let class = this.ends[state].unwrap_or_else(|| this.add_class());
                        this.ends[state] = Some(class);
                        state = open.pop()?;
                        this.users[class].push(state);
                        Letter::Closed(class)
                    }
                    Item::Plain(symbol) => Letter::Plain(symbol),
                };
                let next = this.moves[state].get(&letter).copied();
                let target = next.unwrap_or_else(|| this.add_state());
                this.moves[state].insert(letter, target);
                state = target;
            }
            this.ends[state] = Some(0);
            if this.moves.len() > MAX_STATES {
                return None;
            }
        }
        Some(this)
    }

    /// Returns the number of states of the prefix trees.
    pub(crate) fn states(&self) -> usize {
        self.states.len()
    }

    fn add_state(&mut self) -> usize {
        self.states.push(self.states.len());
        self.moves.push(BTreeMap::new());
        self.ends.push(None);
        self.states.len() - 1
    }

    fn add_class(&mut self) -> usize {
        self.classes.push(self.classes.len());
        self.users.push(Vec::new());
        self.classes.len() - 1
    }

    fn state(&self, state: usize) -> usize {
        root(&self.states, state)
    }

    /// Returns the class of the closed word that ends in a state.
    fn class_at(&self, state: usize) -> Option<usize> {
        self.ends[state].map(|class| root(&self.classes, class))
    }

    fn accepts(&self, word: &[Item]) -> bool {
        let (mut open, mut state) = (Vec::new(), self.state(0));
        for &item in word {
            let letter = match item {
                Item::Open(inner) => {
                    open.push(state);
                    state = self.state(inner);
                    continue;
                }
                Item::Close => {
                    let (Some(class), Some(outer)) = (self.class_at(state), open.pop()) else { return false };
                    state = outer;
                    Letter::Closed(class)
                }
                Item::Plain(symbol) => Letter::Plain(symbol),
            };
            match self.moves[state].get(&letter) {
                Some(&target) => state = self.state(target),
                None => return false,
            }
        }
        open.is_empty() && self.ends[state].is_some()
    }

    /// Merges two states or classes, and all that the automaton would otherwise not tell apart.
    fn join(&mut self, pair: Pair) {
        let mut todo = vec![pair];
        while let Some(pair) = todo.pop() {
            match pair {
                Pair::States(first, second) => {
                    let (first, second) = (self.state(first), self.state(second));
                    let (into, from) = (first.min(second), first.max(second));
                    if into == from {
                        continue;
                    }
                    self.states[from] = into;
                    self.changes.push(Change::State(from));
                    match (self.ends[into], self.ends[from]) {
                        (Some(one), Some(other)) => todo.push(Pair::Classes(one, other)),
                        (None, Some(class)) => {
                            self.ends[into] = Some(class);
                            self.changes.push(Change::End(into));
                        }
                        _ => {}
                    }
                    let moves = std::mem::take(&mut self.moves[from]);
                    moves.iter().for_each(|(&letter, &target)| self.lead(into, letter, target, &mut todo));
                    self.moves[from] = moves;
                }
                Pair::Classes(first, second) => {
                    let (first, second) = (root(&self.classes, first), root(&self.classes, second));
                    let (into, from) = (first.min(second), first.max(second));
                    if into == from {
                        continue;
                    }
                    self.classes[from] = into;
                    self.changes.push(Change::Class(from));
                    let users = std::mem::take(&mut self.users[from]);
                    for &user in &users {
                        let user = self.state(user);
                        if let Some(target) = self.moves[user].remove(&Letter::Closed(from)) {
                            self.changes.push(Change::Removed(user, Letter::Closed(from), target));
                            self.lead(user, Letter::Closed(into), target, &mut todo);
                        }
                    }
                    self.users[from] = users;
                }
            }
        }
    }

    /// Adds a move to a state, or merges its target with that of the same move.
    fn lead(&mut self, state: usize, letter: Letter, target: usize, todo: &mut Vec<Pair>) {
        let letter = match letter {
            Letter::Closed(class) => Letter::Closed(root(&self.classes, class)),
            plain @ Letter::Plain(_) => plain,
        };
        if let Some(&other) = self.moves[state].get(&letter) {
            todo.push(Pair::States(other, target));
            return;
        }
        self.moves[state].insert(letter, target);
        self.changes.push(Change::Added(state, letter));
        if let Letter::Closed(class) = letter {
            self.users[class].push(state);
        }
    }

    fn take_back(&mut self) {
        while let Some(change) = self.changes.pop() {
            match change {
                Change::State(state) => self.states[state] = state,
                Change::Class(class) => self.classes[class] = class,
                Change::End(state) => self.ends[state] = None,
                Change::Added(state, letter) => {
                    self.moves[state].remove(&letter);
                    if let Letter::Closed(class) = letter {
                        self.users[class].pop();
                    }
                }
                Change::Removed(state, letter, target) => _ = self.moves[state].insert(letter, target),
            }
        }
    }

    /// Returns whether an invalid word is accepted.
    fn accepts_invalid(&mut self) -> bool {
        let found = (0..self.invalid.len()).find(|&at| self.accepts(&self.invalid[at]));
        if let Some(at) = found {
            self.invalid[..=at].rotate_right(1);
        }
        found.is_some()
    }

    /// Merges the first pair with which no invalid word is accepted. Returns whether there is one.
    fn join_any(&mut self, pairs: &[Pair], mut check: impl FnMut() -> Result<(), Stop>) -> Result<bool, Stop> {
        for &pair in pairs {
            check()?;
            self.join(pair);
            if !self.accepts_invalid() {
                self.changes.clear();
                return Ok(true);
            }
            self.take_back();
        }
        Ok(false)
    }

    /// Merges states and classes until no more can be merged. `check` is told the number of states that are kept, and
    /// returns an error if the run must stop; what was merged until then stays.
    pub(crate) fn merge(&mut self, mut check: impl FnMut(usize) -> Result<(), Stop>) -> Result<(), Stop> {
        let mut kept: Vec<Vec<usize>> = (0..=self.pairs.len()).map(|start| vec![start]).collect();
        let mut classes: Vec<usize> = Vec::new();
        loop {
            // Kept states can have become the same.
            for states in &mut kept {
                let roots: BTreeSet<usize> = states.iter().map(|&state| self.state(state)).collect();
                *states = roots.into_iter().collect();
            }
            let count = kept.iter().map(Vec::len).sum();
            // The oldest class in which a kept state ends, and that is neither kept nor merged.
            classes = classes.iter().map(|&class| root(&self.classes, class)).collect();
            let ends = kept[1..].iter().flatten().filter_map(|&state| self.class_at(state));
            if let Some(class) = ends.filter(|class| !classes.contains(class)).min() {
                let options: Vec<Pair> = classes.iter().map(|&other| Pair::Classes(other, class)).collect();
                if !self.join_any(&options, || check(count))? {
                    classes.push(class);
                }
                continue;
            }
            // The oldest state that a kept state leads to, and that is neither kept nor merged.
            let next = kept.iter().enumerate().flat_map(|(module, states)| {
                let targets = states.iter().flat_map(|&state| self.moves[state].values());
                let targets = targets.map(|&target| self.state(target)).filter(|target| !states.contains(target));
                targets.map(move |state| (state, module))
            });
            let Some((state, module)) = next.min() else { return Ok(()) };
            let options: Vec<Pair> = kept[module].iter().map(|&other| Pair::States(other, state)).collect();
            if !self.join_any(&options, || check(count))? {
                kept[module].push(state);
            }
        }
    }

    /// Returns the automaton.
    pub(crate) fn automaton(&self) -> Automaton {
        let mut parts = Vec::new();
        let mut closings: BTreeMap<Closed, Vec<(Module, State, Sym)>> = BTreeMap::new();
        let mut accepting = BTreeSet::new();
        let closers: Vec<Sym> = self.pairs.values().copied().collect();
        for module in 0..=self.pairs.len() {
            let mut states = vec![self.state(module)];
            let mut numbers = BTreeMap::from([(states[0], State(0))]);
            let mut part = Part { start: Some(State(0)), ..Part::default() };
            let mut at = 0;
            while let Some(&state) = states.get(at) {
                let own = State(at as u32);
                if let Some(class) = self.class_at(state) {
                    if module == 0 {
                        accepting.insert(own);
                    } else {
                        let way = (Module(module as u32), own, closers[module - 1]);
                        closings.entry(Closed(class as u32)).or_default().push(way);
                    }
                }
                let (mut plain, mut over) = (BTreeMap::new(), BTreeMap::new());
                for (&letter, &target) in &self.moves[state] {
                    let target = self.state(target);
                    let number = *numbers.entry(target).or_insert_with(|| {
                        states.push(target);
                        State(states.len() as u32 - 1)
                    });
                    match letter {
                        Letter::Plain(symbol) => _ = plain.insert(symbol, number),
                        Letter::Closed(class) => _ = over.insert(Closed(class as u32), number),
                    }
                }
                part.plain.push(plain);
                part.over.push(over);
                at += 1;
            }
            parts.push(part);
        }
        Automaton::new((self.pairs.keys().copied().collect(), closers), parts, closings, accepting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::symbols::Symbols;

    /// All words of up to a length.
    fn all(symbols: &[Sym], length: usize) -> Vec<Word> {
        let mut words = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..length {
            let end = words.len();
            for at in from..end {
                words.extend(symbols.iter().map(|&symbol| [&words[at][..], &[symbol]].concat()).collect::<Vec<_>>());
            }
            from = end;
        }
        words
    }

    /// Reads a value of lists such as (x,(x),()), and returns the rest.
    fn value(word: &[Sym], names: [Sym; 4]) -> Option<&[Sym]> {
        let [open, close, x, comma] = names;
        match word.split_first()? {
            (&first, rest) if first == x => Some(rest),
            (&first, rest) if first == open => {
                if rest.first() == Some(&close) {
                    return Some(&rest[1..]);
                }
                let mut rest = value(rest, names)?;
                while rest.first() == Some(&comma) {
                    rest = value(&rest[1..], names)?;
                }
                (rest.first() == Some(&close)).then(|| &rest[1..])
            }
            _ => None,
        }
    }

    /// With all words up to a length the merged automaton is right on longer ones.
    #[test]
    fn merging_all_short_words_is_right_on_longer_ones() {
        let mut names = Symbols::default();
        let [open, close, x, comma] =
            ['(', ')', 'x', ','].map(|letter| names.add_class(letter, crate::text::charset::CharSet::of(letter)));
        let valid = |word: &Word| value(word, [open, close, x, comma]).is_some_and(<[Sym]>::is_empty);
        let (good, bad): (Vec<Word>, Vec<Word>) = all(&[open, close, x, comma], 7).into_iter().partition(valid);
        let pairs = brackets(&good, || Ok(())).unwrap();
        assert_eq!(pairs, Pairs::from([(open, close)]));
        let mut merging = Merging::new(&good, &bad, pairs).unwrap();
        merging.merge(|_| Ok(())).unwrap();
        let automaton = merging.automaton();
        assert!(automaton.states() <= 6, "{}", automaton.states());
        for word in all(&[open, close, x, comma], 9) {
            assert_eq!(automaton.accepts(&word), valid(&word), "{}", names.render(&word));
        }
    }
}
