//! Computes the viable stacks of an automaton: those from which some continuation of the word is accepted.
//!
//! A strict oracle rejects a token as soon as no continuation can be accepted, so it must know for every stack whether
//! acceptance can still be reached. This file computes a finite automaton, [`Viability`], that reads a stack from the
//! bottom and answers this question. A run keeps one of its states beside each symbol on the stack.
//!
//! # Idea
//!
//! An LR(1) automaton is a pushdown system. Its next action depends on its [`Phase`], the state between two actions,
//! and on the rules that match, which the topmost [`Node`] of [`Suffixes`] determines. A configuration is therefore a
//! phase and a stack of nodes. In a pushdown system, the stacks from which a set of configurations can be reached, pre*
//! of that set, form a regular language (Büchi 1964). Here the set consists of the accepting configurations, and pre*
//! is computed in two steps.
//!
//! # Step 1: what can be popped
//!
//! A goal (p, g) is a phase p with a node g on top. Its outcomes are the phases q that the automaton can reach from
//! there with g popped and the rest of the stack untouched. They are the least sets such that
//!
//! - a move from (p, g) to phase q that pops g makes q an outcome of (p, g);
//! - a move to phase r that leaves g on top makes every outcome of (r, g) an outcome of (p, g);
//! - a move to phase r that pushes a node h onto g makes, for every outcome s of (r, h), every outcome of (s, g) an
//!   outcome of (p, g).
//!
//! [`Saturation`] solves these equations by tabulation on demand. A goal gets an entry when it is first requested. The
//! entry lists its outcomes and the goals that wait for them, and each new outcome is passed on to each waiter once.
//! Acceptance is a phase of its own, [`Phase::Accepted`], which pops whatever is on top: it is an outcome of (p, g) if
//! and only if a word can be accepted before g is popped.
//!
//! # Step 2: reading a stack
//!
//! Let A(w) be the set of phases from which the stack w is accepted for some input. If g is the top node of w and v is
//! the stack below it, then p is in A(w) if and only if an outcome of (p, g) is in A(v); below the bottom of the stack,
//! A is {`Accepted`}. Thus A(w) is a function of A(v) and g, and g is a function of the node below it and the symbol.
//! There are finitely many pairs (g, A(w)). They are the states of [`Viability`], found breadth first from the empty
//! stack. A stack is viable if A(w) contains [`Phase::Next`].
//!
//! # Stacks that are known not to be viable
//!
//! An LR(1) table has a path for every stack that can become a word, but if its conflicts were resolved, it may also have
//! paths to dead ends. Then viable stacks are given, and [`Viability::trimmed`] removes the dead ends: a token is shifted
//! only onto a stack for which the given viable stacks have a path, so their state is kept beside the node ([`Spot`]). All
//! prefixes of a stack that occurs and is viable are viable, too: each was a stack of its own on the way. So what remains
//! is a set of stacks that contains all prefixes, and it is given in the same form, with as few states as possible.
//!
//! # Invariants
//!
//! - Outcomes are only ever added, so the order of the work does not matter: the least solution is unique.
//! - A phase that pops whatever is on top ([`Phase::pops_any`]) does the same on every node, and is not tabulated.
//! - Every phase that is an outcome of a tabulated goal is itself tabulated, for every node, before stacks are read.
//! - States are numbered in the order in which they are found, and phases and symbols are processed in a fixed order,
//!   so the result is the same in every run.
//!
//! # Cost
//!
//! With P phases and N nodes, there are at most PN goals with at most P outcomes each. Step 2 determinizes, so in
//! theory it can need exponentially many states; in practice, their number grows with the number of suffixes that can
//! lie on top of each other. Balanced brackets of 20 kinds need 9,850 states. Beyond [`MAX_STEPS`], the automaton is
//! rejected as too large.
//!
//! # References
//!
//! - Büchi: Regular canonical systems (1964).
//! - Bouajjani, Esparza, Maler: Reachability analysis of pushdown automata (CONCUR 1997).
//! - Esparza, Hansel, Rossmanith, Schwoon: Efficient algorithms for model checking pushdown systems (CAV 2000).

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::error::AutomatonError;
use super::lr::Automaton;
use super::suffixes::{Node, Suffixes};
use super::viability::{StackState, Viability};
use crate::control::{Control, Poll};
use crate::symbol::{Lookahead, SymbolId};

/// The state of the automaton between two actions on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Phase {
    /// The word has been accepted; the rest of the stack does not matter.
    Accepted,
    /// The next token is to be read.
    Next,
    /// Rules are applied under this lookahead.
    Reduce(Lookahead),
    /// This number of symbols must still be popped; then this symbol is pushed.
    Pop(Lookahead, u32, SymbolId),
}

impl Phase {
    /// Returns the phase that follows if this one pops whatever is on top; `None` if it does not.
    fn pops_any(self) -> Option<Self> {
        match self {
            Self::Accepted => Some(Self::Accepted),
            Self::Pop(lookahead, left, push) if left > 0 => Some(Self::Pop(lookahead, left - 1, push)),
            _ => None,
        }
    }
}

/// What is known about a stack: the node of the rules' suffixes, and its state in the given viable stacks; the bottom's
/// state if none are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Spot {
    node: Node,
    state: StackState,
}

/// The stacks that the search is about: what the rules see of them, and which of them are known not to be viable.
struct Stacks<'a> {
    suffixes: Suffixes<'a>,
    given: Option<&'a Viability>,
}

impl Stacks<'_> {
    fn bottom(&self) -> Spot {
        Spot { node: self.suffixes.bottom(), state: StackState::new(0) }
    }

    fn push(&self, spot: Spot, symbol: SymbolId) -> Spot {
        let state = self.given.map_or(spot.state, |given| given.push(spot.state, symbol));
        Spot { node: self.suffixes.push(spot.node, symbol), state }
    }

    /// Returns whether a stack may be viable, as far as is given.
    fn may_be_viable(&self, spot: Spot) -> bool {
        self.given.is_none_or(|given| given.is_viable(spot.state))
    }

    /// Returns all that can be known about a stack, leaving out stacks that are known not to be viable.
    fn spots(&self, symbols: usize, poll: &mut Poll<'_>) -> Result<Vec<Spot>, AutomatonError> {
        if self.given.is_none() {
            let state = StackState::new(0);
            return Ok(self.suffixes.nodes().map(|node| Spot { node, state }).collect());
        }
        let mut spots = vec![self.bottom()];
        let mut seen: HashSet<Spot> = spots.iter().copied().collect();
        let mut at = 0;
        while let Some(&spot) = spots.get(at) {
            poll.steps(symbols)?;
            for symbol in (0..symbols).map(SymbolId::new) {
                let next = self.push(spot, symbol);
                if self.may_be_viable(next) && seen.insert(next) {
                    spots.push(next);
                }
            }
            if spots.len() > MAX_STEPS {
                return Err(AutomatonError::TooLarge);
            }
            at += 1;
        }
        Ok(spots)
    }
}

/// A phase with a spot on top.
type Goal = (Phase, Spot);

/// The known outcomes of a goal, and the goals that wait for more.
#[derive(Default)]
struct Entry {
    outcomes: BTreeSet<Phase>,
    /// The goals whose outcomes include those of this one.
    same: HashSet<Goal>,
    /// The goals whose node lies below that of this one: they continue from each of its outcomes.
    beneath: HashSet<Goal>,
}

/// The tabulated outcomes of goals: step 1 in the module documentation.
struct Saturation<'a, 'c> {
    stacks: &'a Stacks<'a>,
    spots: Vec<Spot>,
    poll: Poll<'c>,
    lookaheads: Vec<Lookahead>,
    entries: HashMap<Goal, Entry>,
    /// The goals that have not been expanded yet.
    fresh: VecDeque<Goal>,
    /// The outcomes that have not been passed on yet.
    found: VecDeque<(Goal, Phase)>,
    /// The number of steps done.
    steps: usize,
}

impl Saturation<'_, '_> {
    fn demand(&mut self, goal: Goal) -> &mut Entry {
        self.entries.entry(goal).or_insert_with(|| {
            self.fresh.push_back(goal);
            Entry::default()
        })
    }

    /// Passes every outcome of `goal` on to `waiter`, those already known and those found later.
    fn share(&mut self, goal: Goal, waiter: Goal) {
        let entry = self.demand(goal);
        if entry.same.insert(waiter) {
            let known = entry.outcomes.clone();
            self.found.extend(known.into_iter().map(|outcome| (waiter, outcome)));
        }
    }

    /// Lets `waiter`, whose node lies below that of `goal`, continue from each outcome of `goal`.
    fn go_on(&mut self, goal: Goal, waiter: Goal) {
        let entry = self.demand(goal);
        if entry.beneath.insert(waiter) {
            for outcome in entry.outcomes.clone() {
                self.resume(waiter, outcome);
            }
        }
    }

    /// Continues from `waiter` in phase `outcome`, when the node above its own has been popped.
    fn resume(&mut self, waiter: Goal, outcome: Phase) {
        match outcome.pops_any() {
            Some(phase) => self.found.push_back((waiter, phase)),
            None => self.share((outcome, waiter.1), waiter),
        }
    }

    /// Applies the moves of the automaton from a goal.
    fn expand(&mut self, goal: Goal) {
        let (phase, spot) = goal;
        match phase {
            Phase::Next => {
                for lookahead in self.lookaheads.clone() {
                    self.share((Phase::Reduce(lookahead), spot), goal);
                }
            }
            Phase::Reduce(lookahead) => match (self.stacks.suffixes.action(spot.node, lookahead), lookahead) {
                (Some(action), _) => {
                    let push = action.push.expect("a rule pushes a symbol");
                    match action.pop {
                        0 => self.go_on((phase, self.stacks.push(spot, push)), goal),
                        pop => self.found.push_back((goal, Phase::Pop(lookahead, pop - 1, push))),
                    }
                }
                (None, Lookahead::Token(token)) => {
                    let shifted = self.stacks.push(spot, token);
                    if self.stacks.may_be_viable(shifted) {
                        self.go_on((Phase::Next, shifted), goal);
                    }
                }
                (None, Lookahead::End) if self.stacks.suffixes.accepts(spot.node) => {
                    self.found.push_back((goal, Phase::Accepted));
                }
                (None, Lookahead::End) => {}
            },
            Phase::Pop(lookahead, 0, push) => {
                self.go_on((Phase::Reduce(lookahead), self.stacks.push(spot, push)), goal);
            }
            Phase::Pop(..) | Phase::Accepted => {
                self.found.push_back((goal, phase.pops_any().expect("these phases pop anything")));
            }
        }
    }

    /// Runs until there are no new goals and outcomes.
    fn run(&mut self) -> Result<(), AutomatonError> {
        loop {
            self.poll.steps(4)?;
            self.steps += 1 + self.found.len() / 1024;
            if self.steps > MAX_STEPS || self.found.len() > MAX_STEPS {
                return Err(AutomatonError::TooLarge);
            }
            if let Some((goal, outcome)) = self.found.pop_front() {
                let entry = self.demand(goal);
                if entry.outcomes.insert(outcome) {
                    let (same, beneath) = (entry.same.clone(), entry.beneath.clone());
                    self.poll.steps(same.len() + beneath.len())?;
                    self.found.extend(same.into_iter().map(|waiter| (waiter, outcome)));
                    for waiter in beneath {
                        self.resume(waiter, outcome);
                    }
                }
            } else if let Some(goal) = self.fresh.pop_front() {
                self.expand(goal);
            } else {
                return Ok(());
            }
        }
    }

    /// Computes the outcomes of every spot for the phase `Next` and for every phase that is an outcome. Returns these
    /// phases.
    fn saturate(&mut self) -> Result<BTreeSet<Phase>, AutomatonError> {
        let mut phases = BTreeSet::from([Phase::Next, Phase::Accepted]);
        loop {
            let open = phases.iter().filter(|phase| phase.pops_any().is_none()).count();
            if open.saturating_mul(self.spots.len()) > MAX_STEPS {
                return Err(AutomatonError::TooLarge);
            }
            for at in 0..self.spots.len() {
                self.poll.steps(phases.len())?;
                for &phase in phases.iter().filter(|phase| phase.pops_any().is_none()) {
                    self.demand((phase, self.spots[at]));
                }
            }
            self.run()?;
            let mut more = phases.clone();
            for (goal, entry) in &self.entries {
                self.poll.steps(1 + entry.outcomes.len())?;
                if phases.contains(&goal.0) {
                    more.extend(&entry.outcomes);
                }
            }
            for mut phase in more.clone() {
                while let Some(next) = phase.pops_any().filter(|&next| next != phase) {
                    more.insert(next);
                    phase = next;
                }
            }
            if more == phases {
                return Ok(phases);
            }
            phases = more;
        }
    }
}

/// The maximum number of steps of the saturation; it also limits the work of reading stacks from the bottom.
const MAX_STEPS: usize = 1 << 25;

/// What is known about a stack, and the phases from which it is accepted: a state while stacks are read.
type Reading = (Spot, BTreeSet<Phase>);

impl Viability {
    /// Computes the viable stacks of an automaton from its rules, whatever viable stacks it comes with.
    ///
    /// # Errors
    /// [`AutomatonError::TooLarge`] if there are too many states, or finding them takes too many steps.
    pub fn new(automaton: &Automaton) -> Result<Self, AutomatonError> {
        Self::compute(automaton, &())
    }

    /// Computes the viable stacks of an automaton under a control.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`AutomatonError::Cancelled`].
    pub fn compute(automaton: &Automaton, control: &dyn Control) -> Result<Self, AutomatonError> {
        Self::read(automaton, None, control)
    }

    /// Removes from given viable stacks all from which the automaton cannot accept any word, although it refuses all
    /// others.
    ///
    /// # Errors
    /// As [`compute`](Self::compute); [`AutomatonError::Viable`] if the empty stack would be removed, or the
    /// number of symbols is not that of the alphabet.
    pub fn trimmed(&self, automaton: &Automaton, control: &dyn Control) -> Result<Self, AutomatonError> {
        if self.symbols != automaton.alphabet().len() {
            return Err(AutomatonError::Viable);
        }
        Self::read(automaton, Some(self), control)?.minimized(control)
    }

    /// Computes the viable stacks among those that are given, or among all.
    fn read(automaton: &Automaton, given: Option<&Self>, control: &dyn Control) -> Result<Self, AutomatonError> {
        let stacks = Stacks { suffixes: Suffixes::new(automaton), given };
        let symbols = automaton.alphabet().len();
        let mut poll = Poll::new(control);
        let mut saturation = Saturation {
            stacks: &stacks,
            spots: stacks.spots(symbols, &mut poll)?,
            poll: Poll::new(control),
            lookaheads: automaton.alphabet().lookaheads().collect(),
            entries: HashMap::new(),
            fresh: VecDeque::new(),
            found: VecDeque::new(),
            steps: 0,
        };
        let phases = saturation.saturate()?;
        // Returns the phases from which a stack is accepted, given those for the stack below its top spot. A stack that
        // is known not to be viable is not looked at any further.
        let accepted_from = |beneath: &BTreeSet<Phase>, spot: Spot| -> BTreeSet<Phase> {
            let leads_in = |phase: &Phase| match phase.pops_any() {
                Some(next) => beneath.contains(&next),
                None => !saturation.entries[&(*phase, spot)].outcomes.is_disjoint(beneath),
            };
            let looked_at = stacks.may_be_viable(spot);
            phases.iter().copied().filter(|phase| looked_at && leads_in(phase)).collect()
        };

        let bottom: Reading = (stacks.bottom(), accepted_from(&BTreeSet::from([Phase::Accepted]), stacks.bottom()));
        let mut this = Self { symbols, next: Vec::new(), viable: Vec::new() };
        let mut states = HashMap::from([(bottom.clone(), StackState::new(0))]);
        let mut queue = VecDeque::from([bottom]);
        let mut steps = 0_usize;
        while let Some((spot, beneath)) = queue.pop_front() {
            this.viable.push(beneath.contains(&Phase::Next));
            steps = steps.saturating_add(symbols.saturating_mul(phases.len()));
            if steps > 64 * MAX_STEPS || states.len().saturating_mul(phases.len().max(symbols)) > MAX_STEPS {
                return Err(AutomatonError::TooLarge);
            }
            for symbol in (0..symbols).map(SymbolId::new) {
                poll.steps(phases.len())?;
                let top = stacks.push(spot, symbol);
                let key = (top, accepted_from(&beneath, top));
                let fresh = StackState::new(states.len());
                let state = *states.entry(key).or_insert_with_key(|key| {
                    queue.push_back(key.clone());
                    fresh
                });
                this.next.push(state);
            }
        }
        Ok(this)
    }

    /// Returns the stacks all of whose prefixes are viable, with as few states as possible. States are numbered in the
    /// order in which they are found breadth first, as in [`given`](Self::given).
    ///
    /// # Errors
    /// [`AutomatonError::Viable`] if not even the empty stack is viable; [`AutomatonError::Cancelled`].
    pub fn minimized(&self, control: &dyn Control) -> Result<Self, AutomatonError> {
        let mut poll = Poll::new(control);
        // The class of each state: states of one class have been told apart by no stack so far. 0 is for those that are
        // not viable.
        let mut classes: Vec<usize> = self.viable.iter().map(|&viable| usize::from(viable)).collect();
        let mut count = 0;
        loop {
            let mut numbers: HashMap<Vec<usize>, usize> = HashMap::new();
            let mut finer = vec![0; classes.len()];
            for state in (0..classes.len()).filter(|&state| self.viable[state]) {
                poll.steps(self.symbols)?;
                let next = &self.next[state * self.symbols..][..self.symbols];
                let leads = next.iter().map(|to| classes[to.index()]).collect();
                let fresh = numbers.len() + 1;
                finer[state] = *numbers.entry(leads).or_insert(fresh);
            }
            classes = finer;
            if numbers.len() == count {
                break;
            }
            count = numbers.len();
        }
        let mut first = vec![None; count + 1];
        classes.iter().enumerate().rev().for_each(|(state, &class)| first[class] = Some(state));
        let mut order: Vec<usize> = vec![classes[0]];
        let mut numbers = HashMap::from([(classes[0], 0)]);
        let mut rows: Vec<Vec<(SymbolId, usize)>> = Vec::new();
        while let Some(&class) = order.get(rows.len()) {
            let Some(state) = first[class].filter(|_| class > 0) else { return Err(AutomatonError::Viable) };
            poll.steps(self.symbols)?;
            let mut row = Vec::new();
            for (symbol, to) in self.next[state * self.symbols..][..self.symbols].iter().enumerate() {
                let class = classes[to.index()];
                if class > 0 {
                    let fresh = order.len();
                    let number = *numbers.entry(class).or_insert(fresh);
                    if number == fresh {
                        order.push(class);
                    }
                    row.push((SymbolId::new(symbol), number));
                }
            }
            rows.push(row);
        }
        Self::given(self.symbols, &rows)
    }
}
