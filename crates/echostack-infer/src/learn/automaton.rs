//! The hypothesis as an automaton: complete, and without what no valid word needs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::learner::{ALL, Closed, Learner, Module, State, Step};
use crate::ask::queries::Stop;
use crate::text::symbols::{Sym, Word};
use crate::text::teacher::Teacher;

/// A place in the automaton.
pub(crate) type Place = (Module, State);

/// The places that are open, and the current one.
pub(crate) type Configuration = (Vec<Place>, Place);

/// The finite automaton of one module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) start: Option<State>,
    /// The states after plain symbols, for each state.
    pub(crate) plain: Vec<BTreeMap<Sym, State>>,
    /// The states after closed words, for each state.
    pub(crate) over: Vec<BTreeMap<Closed, State>>,
}

/// A modular nested-word automaton.
#[derive(Clone, Debug, Default)]
pub(crate) struct Automaton {
    pub(crate) calls: Vec<Sym>,
    pub(crate) returns: Vec<Sym>,
    pub(crate) parts: Vec<Part>,
    /// The ways to close a word of each class: the module, its last state, and the closer.
    pub(crate) closings: BTreeMap<Closed, Vec<(Module, State, Sym)>>,
    /// The states of the top level in which a word may end.
    pub(crate) accepting: BTreeSet<State>,
    /// The states of each module that occur in valid words.
    pub(crate) live: Vec<BTreeSet<State>>,
    /// The length of the shortest way from the beginning of its module to each place.
    pub(crate) reach: BTreeMap<Place, usize>,
    /// The length of the shortest closed word of each class.
    pub(crate) cost: BTreeMap<Closed, usize>,
    back: HashMap<(Module, State, Sym), Closed>,
}

impl Automaton {
    /// Makes the decisions of a hypothesis, and returns it as an automaton. If `most` contexts say no, a plain symbol is
    /// left out.
    pub(crate) fn freeze(learner: &mut Learner, most: usize, teacher: &mut Teacher<'_>) -> Result<Self, Stop> {
        let mut this = Self { calls: learner.calls.clone(), returns: learner.returns.clone(), ..Self::default() };
        // New states and classes can appear while decisions are made.
        loop {
            let size = learner.size();
            this.fill(learner, most, teacher)?;
            if learner.size() == size {
                break;
            }
        }
        let states: Vec<State> = (0..learner.states(Module::TOP) as u32).map(State).collect();
        let words: Vec<Word> = states.iter().map(|&state| learner.access(Module::TOP, state).clone()).collect();
        let accepting = states.iter().zip(teacher.members(&words)?).filter(|(_, valid)| *valid);
        this.accepting = accepting.map(|(&state, _)| state).collect();
        Ok(this.finish())
    }

    /// Makes an automaton of its openers and closers, modules, closed words, and accepting states.
    pub(crate) fn new(
        (calls, returns): (Vec<Sym>, Vec<Sym>),
        parts: Vec<Part>,
        closings: BTreeMap<Closed, Vec<(Module, State, Sym)>>,
        accepting: BTreeSet<State>,
    ) -> Self {
        Self { calls, returns, parts, closings, accepting, ..Self::default() }.finish()
    }

    fn finish(mut self) -> Self {
        self.trim();
        let closings = self.closings.iter();
        self.back = closings.flat_map(|(&class, ways)| ways.iter().map(move |&way| (way, class))).collect();
        self
    }

    fn fill(&mut self, learner: &mut Learner, most: usize, teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        let symbols = teacher.symbols.in_use();
        let starts: Vec<Step> = learner.modules().map(Step::Start).collect();
        let starts = learner.decide_these(&starts, ALL, teacher)?;
        let places: Vec<Place> = learner
            .modules()
            .flat_map(|module| (0..learner.states(module) as u32).map(move |state| (module, State(state))))
            .collect();
        let steps: Vec<Step> =
            places.iter().flat_map(|&(m, q)| symbols.iter().map(move |&symbol| Step::Plain(m, q, symbol))).collect();
        let mut targets = learner.decide_these(&steps, most, teacher)?.into_iter();
        let mut plain: BTreeMap<Place, BTreeMap<Sym, State>> = BTreeMap::new();
        for &place in &places {
            let moves = symbols.iter().zip(targets.by_ref());
            plain.insert(place, moves.filter_map(|(&symbol, target)| Some((symbol, State(target?)))).collect());
        }
        let mut ends: Vec<(Place, Sym)> = Vec::new();
        for &place in places.iter().filter(|(module, _)| *module != Module::TOP) {
            let closers = self.returns.iter().filter(|closer| !plain[&place].contains_key(closer));
            ends.extend(closers.map(|&closer| (place, closer)));
        }
        let steps: Vec<Step> = ends.iter().map(|&((m, q), closer)| Step::Close(m, q, closer)).collect();
        let classes = learner.decide_these(&steps, ALL, teacher)?;
        self.closings.clear();
        for ((place, closer), class) in ends.into_iter().zip(classes) {
            if let Some(class) = class {
                self.closings.entry(Closed(class)).or_default().push((place.0, place.1, closer));
            }
        }
        // A closed word is no move from a state in which its opener is plain.
        let mut overs: Vec<(Place, Closed)> = Vec::new();
        for &place in &places {
            let opens =
                |&&(module, ..): &&(Module, State, Sym)| plain[&place].contains_key(&self.calls[module.at() - 1]);
            let classes = self.closings.iter().filter(|(_, ways)| !ways.iter().any(|way| opens(&way)));
            overs.extend(classes.map(|(&class, _)| (place, class)));
        }
        let steps: Vec<Step> = overs.iter().map(|&((m, q), class)| Step::Over(m, q, class)).collect();
        // There are few closed words, and few tests show that one is missing.
        let targets = learner.decide_these(&steps, ALL, teacher)?;
        self.parts.clear();
        for (module, start) in learner.modules().zip(starts) {
            let count = learner.states(module);
            let start = start.map(State);
            let plain = (0..count as u32).map(|q| plain.remove(&(module, State(q))).unwrap_or_default()).collect();
            self.parts.push(Part { start, plain, over: vec![BTreeMap::new(); count] });
        }
        for ((place, class), target) in overs.into_iter().zip(targets) {
            if let Some(target) = target {
                self.parts[place.0.at()].over[place.1.at()].insert(class, State(target));
            }
        }
        Ok(())
    }

    pub(crate) fn modules(&self) -> impl Iterator<Item = Module> + use<> {
        (0..self.parts.len() as u32).map(Module)
    }

    fn states_of(&self, module: Module) -> impl Iterator<Item = State> + use<> {
        (0..self.parts[module.at()].plain.len() as u32).map(State)
    }

    pub(crate) fn plain(&self, (module, state): Place) -> &BTreeMap<Sym, State> {
        &self.parts[module.at()].plain[state.at()]
    }

    pub(crate) fn over(&self, (module, state): Place) -> &BTreeMap<Closed, State> {
        &self.parts[module.at()].over[state.at()]
    }

    /// Returns the opener of a module; the top level has none.
    pub(crate) fn opener(&self, module: Module) -> Option<Sym> {
        module.at().checked_sub(1).map(|at| self.calls[at])
    }

    /// Keeps what is reachable and can end.
    fn trim(&mut self) {
        loop {
            self.measure();
            let used: BTreeSet<Closed> =
                self.parts.iter().flat_map(|part| part.over.iter().flat_map(|moves| moves.keys().copied())).collect();
            let mut ends: Vec<BTreeSet<State>> = vec![BTreeSet::new(); self.parts.len()];
            ends[0].clone_from(&self.accepting);
            for (class, ways) in &self.closings {
                if used.contains(class) && self.cost.contains_key(class) {
                    ways.iter().for_each(|&(module, state, _)| _ = ends[module.at()].insert(state));
                }
            }
            let mut removed = false;
            self.live.clear();
            for (module, mut good) in self.modules().zip(ends) {
                let cost = &self.cost;
                loop {
                    let leads = |&state: &State| {
                        let plain = self.plain((module, state)).values().any(|target| good.contains(target));
                        let mut over = self.over((module, state)).iter();
                        plain || over.any(|(class, target)| good.contains(target) && cost.contains_key(class))
                    };
                    let more: Vec<State> =
                        self.states_of(module).filter(|state| !good.contains(state)).filter(leads).collect();
                    if more.is_empty() {
                        break;
                    }
                    good.extend(more);
                }
                good.retain(|&state| self.reach.contains_key(&(module, state)));
                let part = &mut self.parts[module.at()];
                for at in 0..part.plain.len() {
                    let is_good = good.contains(&State(at as u32));
                    let before = part.plain[at].len() + part.over[at].len();
                    part.plain[at].retain(|_, target| is_good && good.contains(target));
                    part.over[at].retain(|class, to| is_good && good.contains(to) && cost.contains_key(class));
                    removed |= part.plain[at].len() + part.over[at].len() < before;
                }
                self.live.push(good);
            }
            let live = &self.live;
            let before: usize = self.closings.values().map(Vec::len).sum();
            for (class, ways) in &mut self.closings {
                ways.retain(|(module, state, _)| used.contains(class) && live[module.at()].contains(state));
            }
            self.closings.retain(|_, ways| !ways.is_empty());
            removed |= self.closings.values().map(Vec::len).sum::<usize>() < before;
            if !removed {
                return;
            }
        }
    }

    /// Computes the lengths of the shortest ways.
    fn measure(&mut self) {
        self.cost.clear();
        self.reach.clear();
        for module in self.modules() {
            if let Some(start) = self.parts[module.at()].start {
                self.reach.insert((module, start), 0);
            }
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for module in self.modules() {
                for state in self.states_of(module) {
                    let Some(&base) = self.reach.get(&(module, state)) else { continue };
                    let plain = self.plain((module, state)).values().map(|&target| (target, base + 1));
                    let costs = self.over((module, state)).iter();
                    let over = costs.filter_map(|(class, &to)| Some((to, base + self.cost.get(class)?)));
                    let moves: Vec<(State, usize)> = plain.chain(over).collect();
                    for (target, length) in moves {
                        let known = self.reach.entry((module, target)).or_insert(usize::MAX);
                        changed |= length < *known;
                        *known = length.min(*known);
                    }
                }
            }
            for (&class, ways) in &self.closings {
                let lengths = ways.iter().filter_map(|&(module, state, _)| self.reach.get(&(module, state)));
                if let Some(length) = lengths.min().map(|length| length + 2) {
                    let known = self.cost.entry(class).or_insert(usize::MAX);
                    changed |= length < *known;
                    *known = length.min(*known);
                }
            }
        }
    }

    /// Returns whether two automata have the same moves.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.parts, &self.closings, &self.accepting) == (&other.parts, &other.closings, &other.accepting)
    }

    /// Returns the number of states.
    pub(crate) fn states(&self) -> usize {
        self.live.iter().map(BTreeSet::len).sum()
    }

    /// Returns the state of a module after a well-matched word, if there is one.
    pub(crate) fn run(&self, place: Place, word: &[Sym]) -> Option<State> {
        let (stack, (_, state)) = self.follow(place, word)?;
        stack.is_empty().then_some(state)
    }

    /// Returns whether a word of the language begins like this.
    pub(crate) fn reads(&self, word: &[Sym]) -> bool {
        let start = self.parts.first().and_then(|part| part.start);
        let configuration = start.and_then(|start| self.follow((Module::TOP, start), word));
        configuration.is_some_and(|configuration| self.can_end(configuration))
    }

    /// Returns whether what is open can be closed, and the word can end. That a module can be closed somewhere does not
    /// suffice.
    fn can_end(&self, (open, (mut module, state)): Configuration) -> bool {
        let mut states = BTreeSet::from([state]);
        for &(outer, below) in open.iter().rev() {
            let mut waiting: Vec<State> = states.iter().copied().collect();
            while let Some(state) = waiting.pop() {
                let (plain, over) = (self.plain((module, state)).values(), self.over((module, state)).values());
                waiting.extend(plain.chain(over).copied().filter(|&next| states.insert(next)));
            }
            let ends = |class: &Closed| {
                let mut ways = self.closings.get(class).into_iter().flatten();
                ways.any(|(inner, state, _)| *inner == module && states.contains(state))
            };
            let over = self.over((outer, below)).iter();
            states = over.filter(|(class, _)| ends(class)).map(|(_, &target)| target).collect();
            module = outer;
        }
        states.iter().any(|state| self.live[Module::TOP.at()].contains(state))
    }

    /// Returns the places that are open after a word, and the current one.
    fn follow(&self, place: Place, word: &[Sym]) -> Option<Configuration> {
        word.iter().try_fold((Vec::new(), place), |configuration, &symbol| self.step(configuration, symbol))
    }

    /// Reads one symbol.
    pub(crate) fn step(&self, (mut open, (module, state)): Configuration, symbol: Sym) -> Option<Configuration> {
        if let Some(&target) = self.plain((module, state)).get(&symbol) {
            return Some((open, (module, target)));
        }
        if let Some(call) = self.calls.iter().position(|&call| call == symbol) {
            open.push((module, state));
            let inner = Module(call as u32 + 1);
            let start = self.parts[inner.at()].start?;
            return Some((open, (inner, start)));
        }
        let class = self.back.get(&(module, state, symbol))?;
        let outer = open.pop()?;
        let target = *self.over(outer).get(class)?;
        Some((open, (outer.0, target)))
    }

    pub(crate) fn accepts(&self, word: &[Sym]) -> bool {
        let start = self.parts.first().and_then(|part| part.start);
        let end = start.and_then(|start| self.run((Module::TOP, start), word));
        end.is_some_and(|end| self.accepting.contains(&end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LISTS, automaton, lists, lists_learned, symbol, taught, teacher, texts, word};

    #[test]
    fn an_automaton_judges_as_the_language() {
        let (hypothesis, _) = lists_learned();
        let automaton = automaton(&hypothesis);
        for text in texts(LISTS, 7) {
            let word = hypothesis.symbols.lex(&hypothesis.symbols.base(&text).unwrap());
            assert_eq!(automaton.accepts(&word), lists(&text), "{text:?}");
        }
        assert!(automaton.is_same(&automaton.clone()));
    }

    /// `a` leads to the end, `b` to a state from which nothing does, and no way leads to the last state.
    #[test]
    fn what_no_valid_word_needs_is_left_out() {
        let teacher = teacher(&lists, "ab");
        let (a, b) = (symbol(&teacher, 'a'), symbol(&teacher, 'b'));
        let moves = |moves: &[(Sym, u32)]| moves.iter().map(|&(symbol, to)| (symbol, State(to))).collect();
        let plain = vec![moves(&[(a, 1), (b, 2)]), moves(&[]), moves(&[(a, 2)]), moves(&[(a, 1)])];
        let part = Part { start: Some(State(0)), over: vec![BTreeMap::new(); plain.len()], plain };
        let automaton = Automaton::new((vec![], vec![]), vec![part], BTreeMap::new(), BTreeSet::from([State(1)]));
        assert_eq!(automaton.states(), 2);
        assert_eq!(automaton.plain((Module::TOP, State(0))).keys().collect::<Vec<_>>(), [&a]);
        assert!(automaton.plain((Module::TOP, State(3))).is_empty());
        assert!(automaton.accepts(&[a]) && !automaton.accepts(&[b]) && !automaton.accepts(&[]));
        assert!(automaton.reads(&[]) && !automaton.reads(&[b]));
        assert_eq!(automaton.reach[&(Module::TOP, State(1))], 1);
    }

    /// Decisions that few contexts refuse are left open: what is accepted is still valid.
    #[test]
    fn a_hypothesis_with_open_decisions_accepts_less() {
        let freeze = |most| {
            let mut teacher = teacher(&lists, LISTS);
            let mut learner = taught(&mut teacher);
            Automaton::freeze(&mut learner, most, &mut teacher).unwrap()
        };
        let (few, all) = (freeze(1), freeze(ALL));
        let teacher = teacher(&lists, LISTS);
        for text in texts(LISTS, 6) {
            let word = word(&teacher, &text);
            assert!(!few.accepts(&word) || all.accepts(&word), "{text:?}");
        }
    }
}
