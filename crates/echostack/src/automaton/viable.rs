//! Viable stacks: those from which some continuation of the word is accepted.
//!
//! They are a regular set, pre*(accept) of the automaton taken as a pushdown system over the nodes of [`Suffixes`]. We
//! compute, on demand and to a fixed point, the relation "begun in phase p with g on top, the automaton can come to
//! phase q with g gone and what is beneath untouched", and then read a stack from its bottom: the set of phases from
//! which it can be accepted is a function of the set for the stack beneath and of the top node.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::error::AutomatonError;
use super::lr::Automaton;
use super::suffixes::{Node, Suffixes};
use super::viability::{StackState, Viability};
use crate::control::{Control, Poll};
use crate::symbol::{Lookahead, SymbolId};

/// Where the automaton is between two actions on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Phase {
    /// The word has been accepted; the rest of the stack does not matter.
    Accepted,
    /// The next token is to be read.
    Next,
    /// Rules are applied under this lookahead.
    Reduce(Lookahead),
    /// So many symbols more are to be popped, then this one is pushed.
    Pop(Lookahead, u32, SymbolId),
}

impl Phase {
    /// Where a phase goes that removes whatever is on top.
    fn pops_any(self) -> Option<Self> {
        match self {
            Self::Accepted => Some(Self::Accepted),
            Self::Pop(lookahead, left, push) if left > 0 => Some(Self::Pop(lookahead, left - 1, push)),
            _ => None,
        }
    }
}

type Goal = (Phase, Node);

/// What is known and who waits for more, for one goal.
#[derive(Default)]
struct Entry {
    outcomes: BTreeSet<Phase>,
    /// Goals whose outcomes include ours.
    same: HashSet<Goal>,
    /// Goals with a symbol beneath ours: our outcomes go on there.
    beneath: HashSet<Goal>,
}

/// The relation of the module's head, tabled.
struct Saturation<'a, 'c> {
    suffixes: &'a Suffixes<'a>,
    poll: Poll<'c>,
    lookaheads: Vec<Lookahead>,
    entries: HashMap<Goal, Entry>,
    /// Goals not yet looked at.
    fresh: VecDeque<Goal>,
    /// Outcomes not yet passed on.
    found: VecDeque<(Goal, Phase)>,
    /// The work done.
    steps: usize,
}

impl Saturation<'_, '_> {
    fn demand(&mut self, goal: Goal) -> &mut Entry {
        self.entries.entry(goal).or_insert_with(|| {
            self.fresh.push_back(goal);
            Entry::default()
        })
    }

    /// Lets `waiter` have every outcome of `goal`, those known and those to come.
    fn share(&mut self, goal: Goal, waiter: Goal) {
        let entry = self.demand(goal);
        if entry.same.insert(waiter) {
            let known = entry.outcomes.clone();
            self.found.extend(known.into_iter().map(|outcome| (waiter, outcome)));
        }
    }

    /// Lets `waiter`, whose node lies beneath that of `goal`, go on from each outcome of `goal`.
    fn go_on(&mut self, goal: Goal, waiter: Goal) {
        let entry = self.demand(goal);
        if entry.beneath.insert(waiter) {
            for outcome in entry.outcomes.clone() {
                self.resume(waiter, outcome);
            }
        }
    }

    /// The symbol above the waiter's node is gone and the phase is `outcome`.
    fn resume(&mut self, waiter: Goal, outcome: Phase) {
        match outcome.pops_any() {
            Some(phase) => self.found.push_back((waiter, phase)),
            None => self.share((outcome, waiter.1), waiter),
        }
    }

    /// The automaton's own steps from a goal.
    fn expand(&mut self, goal: Goal) {
        let (phase, node) = goal;
        match phase {
            Phase::Next => {
                for lookahead in self.lookaheads.clone() {
                    self.share((Phase::Reduce(lookahead), node), goal);
                }
            }
            Phase::Reduce(lookahead) => match (self.suffixes.action(node, lookahead), lookahead) {
                (Some(action), _) => {
                    let push = action.push.expect("a rule pushes a symbol");
                    match action.pop {
                        0 => self.go_on((phase, self.suffixes.push(node, push)), goal),
                        pop => self.found.push_back((goal, Phase::Pop(lookahead, pop - 1, push))),
                    }
                }
                (None, Lookahead::Token(token)) => {
                    self.go_on((Phase::Next, self.suffixes.push(node, token)), goal);
                }
                (None, Lookahead::End) if self.suffixes.accepts(node) => {
                    self.found.push_back((goal, Phase::Accepted));
                }
                (None, Lookahead::End) => {}
            },
            Phase::Pop(lookahead, 0, push) => {
                self.go_on((Phase::Reduce(lookahead), self.suffixes.push(node, push)), goal);
            }
            Phase::Pop(..) | Phase::Accepted => {
                self.found.push_back((goal, phase.pops_any().expect("these phases pop anything")));
            }
        }
    }

    /// Goes on until nothing is new.
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

    /// The relation for every node, for the phase `Next` and every phase that an outcome leads to.
    fn saturate(&mut self) -> Result<BTreeSet<Phase>, AutomatonError> {
        let mut phases = BTreeSet::from([Phase::Next, Phase::Accepted]);
        loop {
            let open = phases.iter().filter(|phase| phase.pops_any().is_none()).count();
            if open.saturating_mul(self.suffixes.nodes().len()) > MAX_STEPS {
                return Err(AutomatonError::TooLarge);
            }
            for node in self.suffixes.nodes() {
                self.poll.steps(phases.len())?;
                for &phase in phases.iter().filter(|phase| phase.pops_any().is_none()) {
                    self.demand((phase, node));
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

/// The most steps of the saturation, and of reading stacks from the bottom.
const MAX_STEPS: usize = 1 << 25;

impl Viability {
    /// Computes the viable stacks of an automaton.
    ///
    /// # Errors
    /// [`AutomatonError::TooLarge`] if there are too many states.
    pub fn new(automaton: &Automaton) -> Result<Self, AutomatonError> {
        Self::controlled(automaton, &())
    }

    /// The same under a control.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`AutomatonError::Cancelled`].
    pub fn controlled(automaton: &Automaton, control: &dyn Control) -> Result<Self, AutomatonError> {
        let suffixes = Suffixes::new(automaton);
        let mut saturation = Saturation {
            suffixes: &suffixes,
            poll: Poll::new(control),
            lookaheads: automaton.alphabet().lookaheads().collect(),
            entries: HashMap::new(),
            fresh: VecDeque::new(),
            found: VecDeque::new(),
            steps: 0,
        };
        let phases = saturation.saturate()?;
        // The phases from which a stack is accepted, given those for the stack beneath its top node.
        let accepted_from = |beneath: &BTreeSet<Phase>, node: Node| -> BTreeSet<Phase> {
            let leads_in = |phase: &Phase| match phase.pops_any() {
                Some(next) => beneath.contains(&next),
                None => !saturation.entries[&(*phase, node)].outcomes.is_disjoint(beneath),
            };
            phases.iter().copied().filter(leads_in).collect()
        };

        let symbols = automaton.alphabet().len();
        let bottom = (suffixes.bottom(), accepted_from(&BTreeSet::from([Phase::Accepted]), suffixes.bottom()));
        let mut this = Self { symbols, next: Vec::new(), viable: Vec::new() };
        let mut states = HashMap::from([(bottom.clone(), StackState::new(0))]);
        let mut queue = VecDeque::from([bottom]);
        let mut steps = 0_usize;
        let mut poll = Poll::new(control);
        while let Some((node, beneath)) = queue.pop_front() {
            this.viable.push(beneath.contains(&Phase::Next));
            steps = steps.saturating_add(symbols.saturating_mul(phases.len()));
            if steps > 64 * MAX_STEPS || states.len().saturating_mul(phases.len().max(symbols)) > MAX_STEPS {
                return Err(AutomatonError::TooLarge);
            }
            for symbol in (0..symbols).map(SymbolId::new) {
                poll.steps(phases.len())?;
                let top = suffixes.push(node, symbol);
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
}
