//! Active learning of a modular nested-word automaton from membership queries.
//!
//! A hypothesis has a finite automaton for the top level, and one for each opener. These *modules* read plain symbols
//! and *closed words*: an opener, what its module read, and a closer. Closed words that can stand for each other in all
//! known contexts are one class. The states of a module are classes of words from its opener on, kept in a
//! discrimination tree. A word that is misjudged is narrowed down to one step by binary search (Rivest and Schapire), and
//! the rest of the word after this step is the context that splits a leaf.

use std::collections::HashMap;

use super::tree::{Context, LeafId, Tree};
use crate::ask::queries::Stop;
use crate::text::symbols::{Sym, Word};
use crate::text::teacher::Teacher;

/// The maximum number of states and classes of closed words of a hypothesis.
const MAX_STATES: usize = 3000;

/// All contexts are tried for a decision.
pub(crate) const ALL: usize = usize::MAX;

/// A module: the top level, or that of an opener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Module(pub(crate) u32);

impl Module {
    pub(crate) const TOP: Self = Self(0);

    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// A state of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct State(pub(crate) u32);

impl State {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// A class of closed words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Closed(pub(crate) u32);

impl Closed {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// A decision of the hypothesis, which depends on a leaf of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// The state in which a module begins.
    Start(Module),
    /// The state after a plain symbol.
    Plain(Module, State, Sym),
    /// The class of the closed word that a closer ends.
    Close(Module, State, Sym),
    /// The state after a closed word.
    Over(Module, State, Closed),
}

/// What a symbol is in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Plain,
    Call(Module),
    Return,
}

/// How a word that the hypothesis misjudges can be learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Learned {
    /// The word was judged correctly.
    Nothing,
    /// The hypothesis has been refined.
    Refined,
    /// The openers and closers of the word do not match: the tags are wrong.
    Mistagged,
}

/// The modules that are open, with their states.
type Stack = Vec<(Module, State)>;

/// The hypothesis.
#[derive(Debug)]
pub(crate) struct Learner {
    /// The openers; the module of the first one has number 1.
    pub(crate) calls: Vec<Sym>,
    pub(crate) returns: Vec<Sym>,
    trees: Vec<Tree<Step>>,
    closed: Tree<Step>,
    decided: HashMap<Step, LeafId>,
}

impl Learner {
    pub(crate) fn new(calls: Vec<Sym>, returns: Vec<Sym>) -> Self {
        let trees = (0..=calls.len()).map(|_| Tree::new()).collect();
        Self { calls, returns, trees, closed: Tree::new(), decided: HashMap::new() }
    }

    pub(crate) fn modules(&self) -> impl Iterator<Item = Module> + use<> {
        (0..self.trees.len() as u32).map(Module)
    }

    /// Returns the number of states of a module.
    pub(crate) fn states(&self, module: Module) -> usize {
        self.trees[module.at()].len()
    }

    /// Returns the number of states of all modules and of classes of closed words.
    pub(crate) fn size(&self) -> usize {
        self.trees.iter().map(Tree::len).sum::<usize>() + self.closed.len()
    }

    /// Returns all contexts that tell states or closed words apart.
    pub(crate) fn contexts(&self) -> impl Iterator<Item = &Context> {
        self.trees.iter().chain([&self.closed]).flat_map(Tree::contexts)
    }

    pub(crate) fn access(&self, module: Module, state: State) -> &Word {
        self.trees[module.at()].access(state.at())
    }

    fn opener(&self, module: Module) -> Option<Sym> {
        module.at().checked_sub(1).map(|at| self.calls[at])
    }

    fn tree(&mut self, step: Step) -> &mut Tree<Step> {
        match step {
            Step::Start(module) | Step::Plain(module, ..) | Step::Over(module, ..) => &mut self.trees[module.at()],
            Step::Close(..) => &mut self.closed,
        }
    }

    /// Returns the word that a decision is about.
    fn word(&self, step: Step) -> Word {
        match step {
            Step::Start(_) => Vec::new(),
            Step::Plain(module, state, symbol) => [self.access(module, state).as_slice(), &[symbol]].concat(),
            Step::Close(module, state, symbol) => {
                let opener: Vec<Sym> = self.opener(module).into_iter().collect();
                [&opener, self.access(module, state).as_slice(), &[symbol]].concat()
            }
            Step::Over(module, state, closed) => {
                [self.access(module, state).as_slice(), self.closed.access(closed.at())].concat()
            }
        }
    }

    fn leaf(&mut self, step: Step, teacher: &mut Teacher<'_>) -> Result<LeafId, Stop> {
        if let Some(&leaf) = self.decided.get(&step) {
            return Ok(leaf);
        }
        self.decide_all(&[step], ALL, teacher)?;
        self.decided.get(&step).copied().ok_or(Stop::Contradiction)
    }

    /// Returns the result of a decision: a state or a class of closed words, or nothing if no valid word goes on.
    fn decide(&mut self, step: Step, teacher: &mut Teacher<'_>) -> Result<Option<usize>, Stop> {
        let leaf = self.leaf(step, teacher)?;
        Ok(self.tree(step).class(leaf))
    }

    /// Makes many decisions at the same time.
    fn decide_all(&mut self, steps: &[Step], most: usize, teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        let open: Vec<Step> = steps.iter().copied().filter(|step| !self.decided.contains_key(step)).collect();
        let mut by_tree: Vec<Vec<Step>> = vec![Vec::new(); self.trees.len() + 1];
        for step in open {
            let tree = match step {
                Step::Start(module) | Step::Plain(module, ..) | Step::Over(module, ..) => module.at(),
                Step::Close(..) => self.trees.len(),
            };
            by_tree[tree].push(step);
        }
        for mut group in by_tree.into_iter().filter(|group| !group.is_empty()) {
            let mut words: Vec<Word> = group.iter().map(|&step| self.word(step)).collect();
            if most < ALL {
                let mut live = self.tree(group[0]).probably_live(&words, most, teacher)?.into_iter();
                let mut both = Vec::new();
                for (step, word) in group.into_iter().zip(words) {
                    both.extend(live.next().filter(|live| *live).map(|_| (step, word)));
                }
                (group, words) = both.into_iter().unzip();
            }
            let Some(&first) = group.first() else { continue };
            let leaves = self.tree(first).sift(&words, teacher)?;
            for (&step, leaf) in group.iter().zip(leaves) {
                if self.decided.insert(step, leaf).is_none() {
                    self.tree(step).note(leaf, step);
                }
            }
        }
        if self.size() > MAX_STATES { Err(Stop::States(self.size())) } else { Ok(()) }
    }

    fn start(&mut self, module: Module, teacher: &mut Teacher<'_>) -> Result<Option<State>, Stop> {
        Ok(self.decide(Step::Start(module), teacher)?.map(|state| State(state as u32)))
    }

    fn plain(
        &mut self,
        (module, state): (Module, State),
        symbol: Sym,
        teacher: &mut Teacher<'_>,
    ) -> Result<Option<State>, Stop> {
        Ok(self.decide(Step::Plain(module, state, symbol), teacher)?.map(|state| State(state as u32)))
    }

    fn close(
        &mut self,
        (module, state): (Module, State),
        symbol: Sym,
        teacher: &mut Teacher<'_>,
    ) -> Result<Option<Closed>, Stop> {
        Ok(self.decide(Step::Close(module, state, symbol), teacher)?.map(|class| Closed(class as u32)))
    }

    fn over(
        &mut self,
        (module, state): (Module, State),
        closed: Closed,
        teacher: &mut Teacher<'_>,
    ) -> Result<Option<State>, Stop> {
        Ok(self.decide(Step::Over(module, state, closed), teacher)?.map(|state| State(state as u32)))
    }

    /// Makes the given decisions at the same time. Returns the number of the state or class that each of them leads to, if
    /// valid words go on from there. A decision is left open, and leads nowhere, if `most` contexts all say no.
    pub(crate) fn decide_these(
        &mut self,
        steps: &[Step],
        most: usize,
        teacher: &mut Teacher<'_>,
    ) -> Result<Vec<Option<u32>>, Stop> {
        self.decide_all(steps, most, teacher)?;
        let class = |&step: &Step| {
            let leaf = *self.decided.get(&step)?;
            self.tree(step).class(leaf).map(|class| class as u32)
        };
        Ok(steps.iter().map(class).collect())
    }

    /// Returns what a symbol is in a state. An opener or a closer that can stand alone, as within a string, is plain.
    fn role(&mut self, place: (Module, State), symbol: Sym, teacher: &mut Teacher<'_>) -> Result<Role, Stop> {
        let call = self.calls.iter().position(|&call| call == symbol);
        if call.is_none() && !self.returns.contains(&symbol) {
            return Ok(Role::Plain);
        }
        if self.plain(place, symbol, teacher)?.is_some() {
            return Ok(Role::Plain);
        }
        Ok(call.map_or(Role::Return, |at| Role::Call(Module(at as u32 + 1))))
    }

    /// Returns the stack after each beginning of a word, up to where no valid word goes on, and whether the word is
    /// accepted.
    fn run(&mut self, word: &[Sym], teacher: &mut Teacher<'_>) -> Result<(Vec<Stack>, bool), Stop> {
        let mut stacks: Vec<Stack> = Vec::with_capacity(word.len() + 1);
        let Some(start) = self.start(Module::TOP, teacher)? else { return Ok((stacks, false)) };
        stacks.push(vec![(Module::TOP, start)]);
        for &symbol in word {
            let mut stack = stacks[stacks.len() - 1].clone();
            let Some(place) = stack.pop() else { return Err(Stop::Contradiction) };
            match self.role(place, symbol, teacher)? {
                Role::Call(module) => {
                    let Some(start) = self.start(module, teacher)? else { return Ok((stacks, false)) };
                    stack.extend([place, (module, start)]);
                }
                Role::Return => {
                    let Some(below) = stack.pop() else { return Ok((stacks, false)) };
                    let Some(closed) = self.close(place, symbol, teacher)? else { return Ok((stacks, false)) };
                    let Some(target) = self.over(below, closed, teacher)? else { return Ok((stacks, false)) };
                    stack.push((below.0, target));
                }
                Role::Plain => {
                    let Some(target) = self.plain(place, symbol, teacher)? else { return Ok((stacks, false)) };
                    stack.push((place.0, target));
                }
            }
            stacks.push(stack);
        }
        let accepted = match stacks[word.len()][..] {
            [(module, state)] => {
                let access = self.access(module, state).clone();
                teacher.member(&access)?
            }
            _ => false,
        };
        Ok((stacks, accepted))
    }

    /// Returns whether the hypothesis accepts a word.
    pub(crate) fn accepts(&mut self, word: &[Sym], teacher: &mut Teacher<'_>) -> Result<bool, Stop> {
        Ok(self.run(word, teacher)?.1)
    }

    /// Returns the word that leads to a stack.
    fn configuration(&self, stack: &[(Module, State)]) -> Word {
        let mut word = Vec::new();
        for &(module, state) in stack {
            word.extend(self.opener(module));
            word.extend_from_slice(self.access(module, state));
        }
        word
    }

    /// Refines the hypothesis once if it misjudges a word.
    fn refine(&mut self, word: &[Sym], teacher: &mut Teacher<'_>) -> Result<Learned, Stop> {
        let truth = teacher.member(word)?;
        let (stacks, accepted) = self.run(word, teacher)?;
        if truth == accepted {
            return Ok(Learned::Nothing);
        }
        // The answer if the first `at` symbols are replaced by the access words of the stack after them.
        let judge = |this: &Self, at: usize, teacher: &mut Teacher<'_>| match stacks.get(at) {
            Some(stack) => teacher.member(&[&this.configuration(stack), &word[at..]].concat()),
            None => Ok(false),
        };
        if judge(self, word.len(), teacher)? == truth {
            return Ok(Learned::Mistagged);
        }
        // The answer at `low` is the truth (-1, here 0, is the word itself); that at `high` is not.
        let (mut low, mut high) = (0, word.len() + 1);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if judge(self, middle - 1, teacher)? == truth { low = middle } else { high = middle }
        }
        let at = high - 1;
        let rest = word[at..].to_vec();
        let Some(before) = at.checked_sub(1) else {
            return self.split(Step::Start(Module::TOP), (Vec::new(), rest), teacher);
        };
        let (symbol, stack) = (word[before], stacks[before].clone());
        let Some((&place, outside)) = stack.split_last() else { return Err(Stop::Contradiction) };
        let below = |this: &Self, stack: &[(Module, State)], module: Module| {
            let mut word = this.configuration(stack);
            word.extend(this.opener(module));
            word
        };
        match self.role(place, symbol, teacher)? {
            Role::Plain => {
                let context = (below(self, outside, place.0), rest);
                self.split(Step::Plain(place.0, place.1, symbol), context, teacher)
            }
            Role::Call(module) => {
                let context = (below(self, &stack, module), rest);
                self.split(Step::Start(module), context, teacher)
            }
            Role::Return => {
                let Some((&outer, further)) = outside.split_last() else { return Ok(Learned::Mistagged) };
                let around = below(self, further, outer.0);
                let prefix = [around.as_slice(), self.access(outer.0, outer.1)].concat();
                let step = Step::Close(place.0, place.1, symbol);
                let same = match self.close(place, symbol, teacher)? {
                    Some(closed) => {
                        let word = [&prefix, self.closed.access(closed.at()).as_slice(), &rest].concat();
                        (teacher.member(&word)? == truth).then_some(closed)
                    }
                    None => None,
                };
                match same {
                    Some(closed) => self.split(Step::Over(outer.0, outer.1, closed), (around, rest), teacher),
                    None => self.split(step, (prefix, rest), teacher),
                }
            }
        }
    }

    fn split(&mut self, step: Step, context: Context, teacher: &mut Teacher<'_>) -> Result<Learned, Stop> {
        let leaf = self.leaf(step, teacher)?;
        let word = self.word(step);
        for user in self.tree(step).split(leaf, context, &word, teacher)? {
            self.decided.remove(&user);
        }
        Ok(Learned::Refined)
    }

    /// Learns from a valid word whose openers and closers do not match: some of them are plain in their places.
    pub(crate) fn learn_as_plain(&mut self, word: &[Sym], teacher: &mut Teacher<'_>) -> Result<Learned, Stop> {
        loop {
            match self.learn_from(word, teacher)? {
                Learned::Mistagged if self.make_plain(word, teacher)? => {}
                learned => return Ok(learned),
            }
        }
    }

    /// Makes one symbol plain that has no partner in a word. Returns whether there is one that can be.
    fn make_plain(&mut self, word: &[Sym], teacher: &mut Teacher<'_>) -> Result<bool, Stop> {
        let (stacks, _) = self.run(word, teacher)?;
        let depths: Vec<usize> = stacks.iter().map(Vec::len).collect();
        for at in (0..word.len().min(stacks.len())).rev() {
            // An opener that is not closed, or a closer that stopped the hypothesis.
            let open = depths[at + 1..].iter().all(|&depth| depth > depths[at]);
            if !open && at + 1 < stacks.len() {
                continue;
            }
            let (symbol, stack) = (word[at], stacks[at].clone());
            let Some((&place, outside)) = stack.split_last() else { continue };
            if self.role(place, symbol, teacher)? == Role::Plain {
                continue;
            }
            let step = Step::Plain(place.0, place.1, symbol);
            let mut before = self.configuration(outside);
            before.extend(self.opener(place.0));
            let rest = word[at + 1..].to_vec();
            if teacher.member(&[before.as_slice(), &self.word(step), &rest].concat())? {
                return Ok(self.split(step, (before, rest), teacher)? == Learned::Refined);
            }
        }
        Ok(false)
    }

    /// Refines the hypothesis until it judges a word correctly.
    pub(crate) fn learn_from(&mut self, word: &[Sym], teacher: &mut Teacher<'_>) -> Result<Learned, Stop> {
        let mut learned = Learned::Nothing;
        loop {
            match self.refine(word, teacher)? {
                Learned::Nothing => return Ok(learned),
                Learned::Refined => learned = Learned::Refined,
                Learned::Mistagged => return Ok(Learned::Mistagged),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LISTS, lists, taught, teacher, texts, untaught, word};

    #[test]
    fn a_few_short_words_teach_all_lists() {
        let mut teacher = teacher(&lists, LISTS);
        let mut learner = taught(&mut teacher);
        for text in texts(LISTS, 7) {
            let word = word(&teacher, &text);
            assert_eq!(learner.accepts(&word, &mut teacher).unwrap(), lists(&text), "{text:?}");
            assert_eq!(learner.learn_from(&word, &mut teacher).unwrap(), Learned::Nothing);
        }
        // Within brackets: at the beginning, after an item, and after a comma. At the top: before and after the item.
        assert_eq!(learner.modules().map(|module| learner.states(module)).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(learner.size(), 6);
    }

    /// Each refinement adds a state or a class of closed words.
    #[test]
    fn what_is_misjudged_refines_the_hypothesis() {
        let mut teacher = teacher(&lists, LISTS);
        let mut learner = untaught(&teacher);
        for text in ["x", "[]", "[x]", "[x,x]"] {
            let (word, size) = (word(&teacher, text), learner.size());
            let right = learner.accepts(&word, &mut teacher).unwrap();
            let learned = learner.learn_from(&word, &mut teacher).unwrap();
            assert_eq!(
                (learned, learner.size() > size),
                if right { (Learned::Nothing, false) } else { (Learned::Refined, true) }
            );
            assert!(learner.accepts(&word, &mut teacher).unwrap());
        }
    }

    /// Between quotes, anything is possible, also a bracket without a partner.
    #[test]
    fn a_bracket_without_a_partner_becomes_plain_in_its_place() {
        fn quoted(text: &str) -> bool {
            let mut rest = text;
            let (mut depth, mut quote) = (0_i32, false);
            while let Some(letter) = rest.chars().next() {
                rest = &rest[1..];
                match letter {
                    '"' => quote = !quote,
                    '[' if !quote => depth += 1,
                    ']' if !quote => depth -= 1,
                    _ => {}
                }
                if depth < 0 {
                    return false;
                }
            }
            depth == 0 && !quote
        }
        let mut teacher = teacher(&quoted, "[]\"");
        let mut learner = untaught(&teacher);
        for text in ["[]", "[[]]"] {
            assert_ne!(learner.learn_from(&word(&teacher, text), &mut teacher).unwrap(), Learned::Mistagged);
        }
        let odd = word(&teacher, "[\"[\"]");
        assert!(!learner.accepts(&odd, &mut teacher).unwrap());
        assert_eq!(learner.learn_as_plain(&odd, &mut teacher).unwrap(), Learned::Refined);
        for text in ["[\"[\"]", "[\"[[\"]", "[\"\"]", "[[]]", "[\"[\"", "[\"]"] {
            let word = word(&teacher, text);
            assert_eq!(learner.accepts(&word, &mut teacher).unwrap(), quoted(text), "{text:?}");
        }
    }
}
