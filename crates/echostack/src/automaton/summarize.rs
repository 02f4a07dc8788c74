//! Finds completions, the possible outcomes of a phase with an element on top, by saturation.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use foldhash::fast::RandomState;

use super::complete::{Completion, Goal, Outcome, accepts, elements_beneath, forget, stuck};
use super::reach::{ElementId, History, Move, Phase, Reach, Strict, System, Witness, way_down};
use super::{AutomatonError, Oracle};
use crate::control::{Cancelled, Control, Poll, Stage};
use crate::index::index;
use crate::symbol::SymbolId;

/// The maximum number of completions that are found before the saturation gives up.
const MAX_COMPLETIONS: usize = 1 << 23;

index! {
    /// The number of a goal, in the order in which goals are first requested.
    GoalId
}

index! {
    /// The number of a completion, in the order in which completions are found.
    CompletionId
}

/// The known outcomes of a goal, and the goals that wait for more.
#[derive(Default)]
struct Entry {
    outcomes: Vec<CompletionId>,
    /// The goals that inherit every outcome of this one, each with the completion that led from it to this goal, if
    /// there was one.
    same: Vec<(GoalId, Option<CompletionId>)>,
    /// The goals whose element lies below that of this one: they continue from each of its outcomes.
    beneath: Vec<GoalId>,
}

struct Found {
    goal: GoalId,
    outcome: Outcome,
    /// The completions that it follows from.
    from: [Option<CompletionId>; 2],
}

/// The outcomes of goals.
pub(crate) struct Summaries<'s, 'a> {
    strict: &'s mut Strict<'a>,
    beneath: HashMap<ElementId, BTreeSet<ElementId>>,
    goals: Vec<Goal>,
    ids: HashMap<Goal, GoalId, RandomState>,
    entries: Vec<Entry>,
    known: HashSet<(GoalId, Outcome), RandomState>,
    /// The elements, each with the phases that follow when it is popped, whatever the phase before.
    popped: HashSet<(ElementId, Phase), RandomState>,
    /// The completions found, each after those that it follows from.
    found: Vec<Found>,
    /// The number of goals that have been expanded, in order.
    expanded: usize,
    queue: VecDeque<Found>,
}

impl<'s, 'a> Summaries<'s, 'a> {
    /// Computes all outcomes of these goals and of the goals that they lead to, either by a move or when their element
    /// is popped and one of those in `beneath` becomes the top.
    pub(crate) fn new(
        strict: &'s mut Strict<'a>,
        goals: impl IntoIterator<Item = Goal>,
        beneath: HashMap<ElementId, BTreeSet<ElementId>>,
        poll: &mut Poll<'_>,
    ) -> Result<Self, AutomatonError> {
        let mut this = Self {
            strict,
            beneath,
            goals: Vec::new(),
            ids: HashMap::default(),
            entries: Vec::new(),
            known: HashSet::default(),
            popped: HashSet::default(),
            found: Vec::new(),
            expanded: 0,
            queue: VecDeque::new(),
        };
        for goal in goals {
            this.demand(goal);
        }
        loop {
            let (done, waiting) = (this.found.len(), this.queue.len() + this.goals.len() - this.expanded);
            poll.progress(Stage::Explore, done, done + waiting);
            poll.step()?;
            if this.found.len().max(this.queue.len()) > MAX_COMPLETIONS {
                return Err(AutomatonError::TooLarge);
            }
            if let Some(found) = this.queue.pop_front() {
                this.note(found, poll)?;
            } else if this.expanded < this.goals.len() {
                this.expanded += 1;
                this.expand(GoalId::new(this.expanded - 1));
            } else {
                return Ok(this);
            }
        }
    }

    /// Computes all outcomes of the reachable stacks on which a token is to be read.
    fn of(strict: &'s mut Strict<'a>, reach: &Reach, poll: &mut Poll<'_>) -> Result<Self, AutomatonError> {
        let next = reach.tops.iter().filter(|top| forget(top.phase) == Phase::Next(History::EMPTY));
        let beneath = elements_beneath(reach, poll)?;
        Self::new(strict, next.map(|top| (Phase::Next(History::EMPTY), top.element)), beneath, poll)
    }

    fn demand(&mut self, goal: Goal) -> GoalId {
        let fresh = GoalId::new(self.goals.len());
        *self.ids.entry(goal).or_insert_with(|| {
            self.goals.push(goal);
            self.entries.push(Entry::default());
            fresh
        })
    }

    /// Passes every outcome of a goal on to `waiter`, those already known and those found later.
    fn share(&mut self, goal: Goal, waiter: GoalId, beside: Option<CompletionId>) {
        let goal = self.demand(goal).index();
        self.entries[goal].same.push((waiter, beside));
        for &number in &self.entries[goal].outcomes {
            let outcome = self.found[number.index()].outcome;
            self.queue.push_back(Found { goal: waiter, outcome, from: [Some(number), beside] });
        }
    }

    /// Continues from `waiter` when the element above its own has been popped or the word has been accepted.
    fn resume(&mut self, waiter: GoalId, number: CompletionId) {
        match self.found[number.index()].outcome {
            None => self.queue.push_back(Found { goal: waiter, outcome: None, from: [Some(number), None] }),
            Some(phase) => self.share((phase, self.goals[waiter.index()].1), waiter, Some(number)),
        }
    }

    fn expand(&mut self, number: GoalId) {
        let (phase, element) = self.goals[number.index()];
        if accepts(self.strict, phase, element) {
            self.queue.push_back(Found { goal: number, outcome: None, from: [None; 2] });
        }
        for next in self.strict.moves(phase, element) {
            match next {
                Move::Stay(phase) => self.share((forget(phase), element), number, None),
                Move::Pop(phase) => {
                    self.queue.push_back(Found { goal: number, outcome: Some(forget(phase)), from: [None; 2] });
                }
                Move::Push(phase, pushed) => {
                    let above = self.demand((forget(phase), pushed)).index();
                    self.entries[above].beneath.push(number);
                    for outcome in self.entries[above].outcomes.clone() {
                        self.resume(number, outcome);
                    }
                }
            }
        }
    }

    fn note(&mut self, found: Found, poll: &mut Poll<'_>) -> Result<(), AutomatonError> {
        let Found { goal, outcome, .. } = found;
        if !self.known.insert((goal, outcome)) {
            return Ok(());
        }
        let number = CompletionId::new(self.found.len());
        self.found.push(found);
        let element = self.goals[goal.index()].1;
        if let Some(phase) = outcome
            && self.popped.insert((element, phase))
        {
            let lower = self.beneath.get(&element).map_or(Vec::new(), |all| all.iter().copied().collect());
            lower.into_iter().for_each(|lower| _ = self.demand((phase, lower)));
        }
        let entry = &mut self.entries[goal.index()];
        entry.outcomes.push(number);
        poll.steps(entry.same.len() + entry.beneath.len())?;
        for &(waiter, beside) in &entry.same {
            self.queue.push_back(Found { goal: waiter, outcome, from: [Some(number), beside] });
        }
        for waiter in entry.beneath.clone() {
            self.resume(waiter, number);
        }
        Ok(())
    }

    /// Returns all completions, each after those that it follows from.
    pub(crate) fn list(&self) -> Vec<Completion> {
        self.found.iter().map(|found| self.completion(found)).collect()
    }

    fn completion(&self, found: &Found) -> Completion {
        let (phase, element) = self.goals[found.goal.index()];
        (phase, element, found.outcome)
    }

    /// Returns the completions of these goals and those that they follow from, in order.
    fn needed(&self, goals: &HashSet<Goal>, poll: &mut Poll<'_>) -> Result<Vec<Completion>, Cancelled> {
        let mut needed = Vec::with_capacity(self.found.len());
        for found in &self.found {
            poll.step()?;
            needed.push(goals.contains(&self.goals[found.goal.index()]));
        }
        for number in (0..needed.len()).rev() {
            if needed[number] {
                self.found[number].from.iter().flatten().for_each(|&from| needed[from.index()] = true);
            }
        }
        let kept = self.found.iter().zip(needed).filter(|(_, needed)| *needed);
        Ok(kept.map(|(found, _)| self.completion(found)).collect())
    }
}

/// Returns all completions of the reachable stacks on which a token is to be read.
pub(crate) fn summaries(
    strict: &mut Strict<'_>,
    reach: &Reach,
    poll: &mut Poll<'_>,
) -> Result<Vec<Completion>, AutomatonError> {
    Ok(Summaries::of(strict, reach, poll)?.list())
}

/// Returns completions that show that every reachable stack can be completed to a word.
///
/// # Errors
/// [`AutomatonError::DeadEnd`] if a stack cannot be completed, [`AutomatonError::NoWords`] if not even the empty one
/// can.
pub(crate) fn complete(
    strict: &mut Strict<'_>,
    (reach, witness): (&Reach, &Witness),
    poll: &mut Poll<'_>,
) -> Result<Vec<Completion>, AutomatonError> {
    let all = Summaries::of(strict, reach, poll)?;
    let mut asked: HashSet<Goal> = HashSet::new();
    let mut ask = |(phases, element): &(Vec<Phase>, ElementId)| {
        asked.extend(phases.iter().map(|&phase| (phase, *element)));
    };
    match stuck(&all.list(), reach, poll, &mut ask)? {
        None => Ok(all.needed(&asked, poll)?),
        // Every word starts on the empty stack.
        Some(elements) if elements == [ElementId::BOTTOM] => Err(AutomatonError::NoWords),
        Some(elements) => Err(dead_end(strict, (reach, witness), &elements)),
    }
}

impl Oracle {
    /// Checks that every stack on which a token can be read can still be completed to a word. This always holds if the
    /// viable stacks are computed from the rules, but not necessarily if they are given.
    ///
    /// # Errors
    /// [`AutomatonError::DeadEnd`] if a stack cannot be completed, [`AutomatonError::NoWords`] if not even the empty
    /// one can; [`AutomatonError::TooLarge`] or [`AutomatonError::Cancelled`] if the check did not finish.
    pub fn check_viable(&self, control: &dyn Control) -> Result<(), AutomatonError> {
        let mut strict = Strict::new(self, 0)?;
        let (reach, witness) = Reach::new(&mut strict, control)?;
        complete(&mut strict, (&reach, &witness), &mut Poll::new(control)).map(|_| ())
    }
}

/// Returns the error for a stack with these elements on top, the topmost last, that cannot be completed to a word.
fn dead_end(strict: &Strict<'_>, (reach, witness): (&Reach, &Witness), elements: &[ElementId]) -> AutomatonError {
    let beneath = reach.beneath();
    let found = reach.tops.iter().filter(|top| forget(top.phase) == Phase::Next(History::EMPTY)).find_map(|&top| {
        let (&topmost, lower) = elements.split_last()?;
        let fits = |depth: usize, element: ElementId| lower.iter().nth_back(depth).is_none_or(|&own| own == element);
        let unders = (top.element == topmost).then(|| way_down(top, lower.len(), &beneath, fits)).flatten()?;
        let stack: Vec<ElementId> = unders.iter().rev().map(|under| under.element).chain([top.element]).collect();
        Some((witness.word(top, &unders), stack))
    });
    // Only adjacent pairs of elements are known to occur in reachable stacks, so there may be no word that leads to
    // this stack.
    let (word, stack) = match found {
        Some((word, stack)) => (Some(word), stack),
        None => (None, elements.to_vec()),
    };
    let names = |symbols: Vec<SymbolId>| {
        symbols.into_iter().map(|symbol| strict.alphabet().name(symbol).to_string()).collect::<Vec<_>>().join(" ")
    };
    let stack = stack.into_iter().filter_map(|element| strict.symbol(element)).collect();
    AutomatonError::DeadEnd { stack: names(stack), word: word.map(names) }
}
