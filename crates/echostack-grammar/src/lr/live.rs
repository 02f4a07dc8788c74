//! Finds the stacks of an LR(1) table from which a word can still be accepted.
//!
//! Without conflicts, every path through the states of a table can become the stack of a word. The resolution of a
//! conflict removes actions, so that a path may lead to a dead end. This file computes a finite automaton, [`Live`], that
//! reads a stack from the bottom and has no transition to a dead end. The states of a table tell much more about a stack
//! than the rules of an automaton do, so that sets of lookaheads, one bit each, are all that is needed.
//!
//! # Step 1: what can be popped
//!
//! Let q be the state on top. It is popped in the course of a reduction to some nonterminal A, d symbols of whose
//! production are on the stack: a *pop* (A, d). A state has few of them, those of its kernel. The *outcome* of a situation
//! with q on top is the set of pairs of a pop and a lookahead t with which q can be popped, and whether a word can be
//! accepted before. There are three kinds of situations ([`Situation`]), and their outcomes are the least sets such that
//!
//! - the next token is read: any lookahead can follow;
//! - t follows, and the table reduces by A: α with d = |α| > 0: q is popped, by (A, d) and t;
//! - t follows, and the table shifts to p, or reduces by A: ε: something is pushed. Whatever is popped later by (B, d)
//!   and u uncovers q. If d > 1, it also pops q, by (B, d - 1) and u; if d = 1, B is pushed onto q with u following.
//!
//! # Step 2: reading a stack
//!
//! For a stack with q on top, the pops and lookaheads after which what is below q is accepted follow from those of the
//! stack below, by the same distinction of d > 1 and d = 1. There are finitely many pairs of q and such a set. They are
//! the states of [`Live`], found breadth first. The stack is live if one of these pops is an outcome, or if a word can be
//! accepted before q is popped.

use std::collections::{HashMap, HashSet, VecDeque};

use super::table::{Action, LrTable};
use crate::rules::bits::{add, contains, insert};

/// The maximum number of states of [`Live`], and of situations, times the size of their sets.
const MAX_WORDS: usize = 1 << 25;
/// The maximum number of steps.
const MAX_STEPS: usize = 1 << 26;

/// The automaton of live stacks: for each state, the symbols that can be pushed, each with the state of the stack after
/// that. State 0 is the empty stack.
#[derive(Debug)]
pub(crate) struct Live {
    /// The state of the table for each state.
    pub(crate) states: Vec<usize>,
    pub(crate) next: Vec<Vec<(usize, usize)>>,
    /// Whether a path through the table is missing.
    pub(crate) dead_ends: bool,
}

/// Why the live stacks are not known.
#[derive(Debug)]
pub(crate) enum LiveError {
    /// There are too many situations or stacks.
    TooMany,
    /// Not even the empty stack is live, because the table accepts no words.
    NoWords,
}

/// What can happen with a state on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Situation {
    /// The next token is read.
    Next(usize),
    /// This lookahead follows.
    Followed(usize, usize),
    /// This nonterminal is pushed, with this lookahead following.
    Pushed(usize, usize, usize),
}

/// How a state can be popped: the nonterminal that is pushed afterwards, and the number of symbols that are popped,
/// including the one of this state.
type Pop = (usize, usize);

/// The pops and lookaheads of a situation, as bits, and whether a word can be accepted before.
#[derive(Clone, Debug, Default)]
struct Outcome {
    pops: Vec<u64>,
    accepts: bool,
}

struct Search<'a> {
    table: &'a LrTable,
    /// The pops of each state, in ascending order.
    pops: Vec<Vec<Pop>>,
    /// The number of 64-bit words for a set of lookaheads.
    width: usize,
    numbers: HashMap<Situation, usize>,
    situations: Vec<Situation>,
    outcomes: Vec<Outcome>,
    /// The situations whose outcomes depend on those of each situation.
    dependents: Vec<Vec<usize>>,
    dependences: HashSet<(usize, usize)>,
    queue: VecDeque<usize>,
    is_queued: Vec<bool>,
    words: usize,
    steps: usize,
}

impl Live {
    /// Computes the live stacks of a table.
    pub(crate) fn new(table: &LrTable) -> Result<Self, LiveError> {
        let mut search = Search::new(table);
        let bottom = (0, vec![0; search.pops[0].len() * search.width]);
        if !search.is_accepted(Situation::Next(0), &bottom.1)? {
            return Err(LiveError::NoWords);
        }
        let mut numbers = HashMap::from([(bottom.clone(), 0)]);
        let mut found = vec![bottom];
        let mut this = Self { states: vec![0], next: Vec::new(), dead_ends: false };
        while let Some((state, accepted)) = found.get(this.next.len()).cloned() {
            let mut row = Vec::new();
            for (symbol, next) in table.next[state].iter().enumerate() {
                let Some(next) = *next else { continue };
                let above = search.accepted_above(state, &accepted, next)?;
                if !search.is_accepted(Situation::Next(next), &above)? {
                    this.dead_ends = true;
                    continue;
                }
                search.words += above.len() + 8;
                let fresh = found.len();
                let number = *numbers.entry((next, above)).or_insert_with_key(|key| {
                    found.push(key.clone());
                    this.states.push(next);
                    fresh
                });
                row.push((symbol, number));
            }
            this.next.push(row);
        }
        Ok(this)
    }
}

impl<'a> Search<'a> {
    fn new(table: &'a LrTable) -> Self {
        let mut pops: Vec<Vec<Pop>> = vec![Vec::new(); table.states()];
        for production in &table.productions {
            for start in (0..table.states()).filter(|&state| table.next[state][production.left].is_some()) {
                let mut state = start;
                for (at, &symbol) in production.right.iter().enumerate() {
                    let Some(next) = table.next[state][symbol] else { break };
                    pops[next].push((production.left, at + 1));
                    state = next;
                }
            }
        }
        for pops in &mut pops {
            pops.sort_unstable();
            pops.dedup();
        }
        Self {
            table,
            pops,
            width: (table.terminals + 1).div_ceil(64),
            numbers: HashMap::new(),
            situations: Vec::new(),
            outcomes: Vec::new(),
            dependents: Vec::new(),
            dependences: HashSet::new(),
            queue: VecDeque::new(),
            is_queued: Vec::new(),
            words: 0,
            steps: 0,
        }
    }

    fn step(&mut self, steps: usize) -> Result<(), LiveError> {
        self.steps += steps;
        if self.steps > MAX_STEPS || self.words > MAX_WORDS { Err(LiveError::TooMany) } else { Ok(()) }
    }

    /// Returns the number of a situation, which is new if nothing depends on it yet.
    fn number(&mut self, situation: Situation) -> usize {
        let fresh = self.situations.len();
        let number = *self.numbers.entry(situation).or_insert(fresh);
        if number == fresh {
            let (Situation::Next(state) | Situation::Followed(state, _) | Situation::Pushed(state, ..)) = situation;
            let length = self.pops[state].len() * self.width;
            self.situations.push(situation);
            self.outcomes.push(Outcome { pops: vec![0; length], accepts: false });
            self.dependents.push(Vec::new());
            self.is_queued.push(true);
            self.queue.push_back(fresh);
            self.words += length + 16;
        }
        number
    }

    /// Returns the outcome of a situation. Everything that it depends on is computed until nothing changes any more.
    fn outcome(&mut self, situation: Situation) -> Result<usize, LiveError> {
        let number = self.number(situation);
        while let Some(at) = self.queue.pop_front() {
            self.is_queued[at] = false;
            let outcome = self.compute(at)?;
            let known = &mut self.outcomes[at];
            let changed = add(&mut known.pops, &outcome.pops) || (outcome.accepts && !known.accepts);
            known.accepts |= outcome.accepts;
            if changed {
                for at in self.dependents[at].clone() {
                    if !std::mem::replace(&mut self.is_queued[at], true) {
                        self.queue.push_back(at);
                    }
                }
            }
        }
        Ok(number)
    }

    /// Computes the outcome of a situation from what is known about the situations that it leads to.
    fn compute(&mut self, at: usize) -> Result<Outcome, LiveError> {
        let (state, above) = match self.situations[at] {
            Situation::Next(state) => {
                let mut outcome = self.outcomes[at].clone();
                for lookahead in 0..=self.table.terminals {
                    if self.table.actions[state][lookahead] == Action::Error {
                        continue;
                    }
                    let followed = self.dependence(at, Situation::Followed(state, lookahead))?;
                    self.include(&mut outcome, followed);
                }
                return Ok(outcome);
            }
            Situation::Followed(state, lookahead) => match self.table.actions[state][lookahead] {
                Action::Error => return Ok(Outcome::default()),
                Action::Accept => return Ok(Outcome { pops: Vec::new(), accepts: true }),
                Action::Shift(next) => (state, Situation::Next(next)),
                Action::Reduce(number) => {
                    let production = &self.table.productions[number];
                    if production.right.is_empty() {
                        let pushed = self.dependence(at, Situation::Pushed(state, production.left, lookahead))?;
                        return Ok(self.outcomes[pushed].clone());
                    }
                    let mut outcome = Outcome { pops: vec![0; self.outcomes[at].pops.len()], accepts: false };
                    self.insert(&mut outcome.pops, state, (production.left, production.right.len()), lookahead);
                    return Ok(outcome);
                }
            },
            Situation::Pushed(state, left, lookahead) => match self.table.next[state][left] {
                Some(next) => (state, Situation::Followed(next, lookahead)),
                None => return Ok(Outcome::default()),
            },
        };
        let (Situation::Next(top) | Situation::Followed(top, _) | Situation::Pushed(top, ..)) = above;
        let above = self.dependence(at, above)?;
        let mut outcome = self.outcomes[at].clone();
        outcome.accepts |= self.outcomes[above].accepts;
        for place in 0..self.pops[top].len() {
            let (left, count) = self.pops[top][place];
            let lookaheads = self.outcomes[above].pops[place * self.width..][..self.width].to_vec();
            self.step(1 + self.width)?;
            if count > 1 {
                if let Ok(own) = self.pops[state].binary_search(&(left, count - 1)) {
                    add(&mut outcome.pops[own * self.width..][..self.width], &lookaheads);
                }
                continue;
            }
            for lookahead in (0..=self.table.terminals).filter(|&lookahead| contains(&lookaheads, lookahead)) {
                let pushed = self.dependence(at, Situation::Pushed(state, left, lookahead))?;
                self.include(&mut outcome, pushed);
            }
        }
        Ok(outcome)
    }

    /// Returns the number of a situation that another one depends on.
    fn dependence(&mut self, at: usize, situation: Situation) -> Result<usize, LiveError> {
        let number = self.number(situation);
        self.step(1)?;
        if self.dependences.insert((number, at)) {
            self.dependents[number].push(at);
            self.words += 4;
        }
        Ok(number)
    }

    fn include(&self, outcome: &mut Outcome, other: usize) {
        let other = &self.outcomes[other];
        add(&mut outcome.pops, &other.pops);
        outcome.accepts |= other.accepts;
    }

    fn insert(&self, pops: &mut [u64], state: usize, pop: Pop, lookahead: usize) {
        if let Ok(place) = self.pops[state].binary_search(&pop) {
            insert(&mut pops[place * self.width..][..self.width], lookahead);
        }
    }

    /// Returns whether a word is accepted from a situation, given the pops after which it is.
    fn is_accepted(&mut self, situation: Situation, accepted: &[u64]) -> Result<bool, LiveError> {
        let outcome = self.outcome(situation)?;
        self.step(1 + accepted.len())?;
        let Outcome { pops, accepts } = &self.outcomes[outcome];
        Ok(*accepts || pops.iter().zip(accepted).any(|(pops, accepted)| pops & accepted != 0))
    }

    /// Returns the pops of a state after which a word is accepted, given those of the state below it.
    fn accepted_above(&mut self, below: usize, accepted: &[u64], state: usize) -> Result<Vec<u64>, LiveError> {
        let mut above = vec![0; self.pops[state].len() * self.width];
        for place in 0..self.pops[state].len() {
            let (left, count) = self.pops[state][place];
            let own = place * self.width..(place + 1) * self.width;
            if count > 1 {
                if let Ok(at) = self.pops[below].binary_search(&(left, count - 1)) {
                    above[own].copy_from_slice(&accepted[at * self.width..][..self.width]);
                }
                continue;
            }
            for lookahead in 0..=self.table.terminals {
                if self.is_accepted(Situation::Pushed(below, left, lookahead), accepted)? {
                    insert(&mut above[own.clone()], lookahead);
                }
            }
        }
        Ok(above)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use echostack::Automaton;
    use echostack::automaton::Viability;
    use echostack::language::Language;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use crate::meaning::tests::{cases, random_grammar};
    use crate::{Encoding, Grammar};

    /// Returns the viable stacks of an automaton, as they are written to a file.
    fn shown(automaton: &Automaton) -> String {
        let json: serde_json::Value = serde_json::from_str(&automaton.to_json()).unwrap();
        json["viable"].to_string()
    }

    /// Compares the viable stacks of a grammar with those that follow from its rules alone, among all paths of the table.
    /// Returns whether there are dead ends.
    fn compare(grammar: &Grammar) -> bool {
        let (automaton, table) = (grammar.automaton(), grammar.table());
        assert_eq!(grammar.encoding(), Encoding::Suffix);
        let row = |next: &Vec<Option<usize>>| {
            let next = next.iter().enumerate();
            next.filter_map(|(symbol, to)| Some((echostack::SymbolId::new(symbol), (*to)?))).collect()
        };
        let paths: Vec<_> = table.next.iter().map(row).collect();
        let paths = Viability::given(automaton.alphabet().len(), &paths).unwrap();
        let slow = paths.trimmed(automaton, &()).unwrap();
        let fast = automaton.viability().unwrap().minimized(&()).unwrap();
        let [slow, fast] = [slow, fast].map(|viable| shown(&automaton.clone().with_viability(viable).unwrap()));
        assert_eq!(slow, fast, "{}", grammar.source());
        shown(&automaton.clone().with_viability(paths.minimized(&()).unwrap()).unwrap()) != slow
    }

    #[test]
    fn viable_stacks_are_those_of_the_rules() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let (mut compared, mut with_dead_ends) = (0, 0);
        for _ in 0..cases(1000) {
            let Ok(grammar) = Grammar::new("test", &random_grammar(&mut random), Encoding::Suffix) else { continue };
            compared += 1;
            with_dead_ends += usize::from(compare(&grammar));
        }
        assert!(compared > 100 && with_dead_ends > 10, "{compared} grammars, {with_dead_ends} with dead ends");
    }

    #[test]
    fn viable_stacks_of_the_projects_are_those_of_the_rules() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wild");
        for name in ["calculator", "conf"] {
            compare(&Grammar::open(&folder.join(name), Encoding::Suffix).unwrap().0);
        }
    }
}
