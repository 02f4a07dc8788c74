//! Finds completions: what can come of a control and an element, by saturation.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use foldhash::fast::RandomState;

use super::complete::{Completion, Goal, Outcome, accepts, elements_beneath, forget, stuck};
use super::reach::{Control, ElementId, Move, Reach, Strict, System, Witness, way_down};
use super::{AutomatonError, Oracle};
use crate::control::{Cancelled, Control as Caller, Poll};
use crate::symbol::SymbolId;

/// The most completions that are found before we give up.
const MOST: usize = 1 << 23;

/// The number of a goal, in the order in which they are asked for.
type GoalId = u32;

/// The number of a completion, in the order in which they are found.
type CompletionId = u32;

/// What is known and who waits for more, for one goal.
#[derive(Default)]
struct Entry {
    outcomes: Vec<CompletionId>,
    /// Goals that have whatever outcomes we have, each with what led from it to us beside.
    same: Vec<(GoalId, Option<CompletionId>)>,
    /// Goals with an element beneath ours: our outcomes go on there.
    beneath: Vec<GoalId>,
}

struct Found {
    goal: GoalId,
    outcome: Outcome,
    /// What it follows from.
    from: [Option<CompletionId>; 2],
}

/// What can come of goals.
pub(crate) struct Summaries<'s, 'a> {
    strict: &'s mut Strict<'a>,
    beneath: HashMap<ElementId, BTreeSet<ElementId>>,
    goals: Vec<Goal>,
    ids: HashMap<Goal, GoalId, RandomState>,
    entries: Vec<Entry>,
    known: HashSet<(GoalId, Outcome), RandomState>,
    /// Elements and what can come of them, in whichever control.
    popped: HashSet<(ElementId, Control), RandomState>,
    /// Each after those that it follows from.
    found: Vec<Found>,
    /// Goals up to this one have been looked at.
    expanded: usize,
    queue: VecDeque<Found>,
}

impl<'s, 'a> Summaries<'s, 'a> {
    /// All that can come of these goals, and of those that they lead to: by a move, or when their element is popped and
    /// one of those in `beneath` comes to the top.
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
            poll.step()?;
            if this.found.len().max(this.queue.len()) > MOST {
                return Err(AutomatonError::TooLarge);
            }
            if let Some(found) = this.queue.pop_front() {
                this.note(found, poll)?;
            } else if this.expanded < this.goals.len() {
                this.expanded += 1;
                this.expand(this.expanded as GoalId - 1);
            } else {
                return Ok(this);
            }
        }
    }

    /// All that can come of the reachable stacks before a token is read.
    fn of(strict: &'s mut Strict<'a>, reach: &Reach, poll: &mut Poll<'_>) -> Result<Self, AutomatonError> {
        let next = reach.heads.iter().filter(|head| forget(head.control) == Control::Next(0));
        let beneath = elements_beneath(reach, poll)?;
        Self::new(strict, next.map(|head| (Control::Next(0), head.element)), beneath, poll)
    }

    fn demand(&mut self, goal: Goal) -> GoalId {
        let fresh = self.goals.len() as GoalId;
        *self.ids.entry(goal).or_insert_with(|| {
            self.goals.push(goal);
            self.entries.push(Entry::default());
            fresh
        })
    }

    /// Lets `waiter` have every outcome of a goal, those known and those to come.
    fn share(&mut self, goal: Goal, waiter: GoalId, beside: Option<CompletionId>) {
        let goal = self.demand(goal) as usize;
        self.entries[goal].same.push((waiter, beside));
        for &number in &self.entries[goal].outcomes {
            let outcome = self.found[number as usize].outcome;
            self.queue.push_back(Found { goal: waiter, outcome, from: [Some(number), beside] });
        }
    }

    /// The element above the waiter's is gone, or the word is accepted.
    fn resume(&mut self, waiter: GoalId, number: CompletionId) {
        match self.found[number as usize].outcome {
            None => self.queue.push_back(Found { goal: waiter, outcome: None, from: [Some(number), None] }),
            Some(control) => self.share((control, self.goals[waiter as usize].1), waiter, Some(number)),
        }
    }

    fn expand(&mut self, number: GoalId) {
        let (control, element) = self.goals[number as usize];
        if accepts(self.strict, control, element) {
            self.queue.push_back(Found { goal: number, outcome: None, from: [None; 2] });
        }
        for next in self.strict.moves(control, element) {
            match next {
                Move::Stay(control) => self.share((forget(control), element), number, None),
                Move::Pop(control) => {
                    self.queue.push_back(Found { goal: number, outcome: Some(forget(control)), from: [None; 2] });
                }
                Move::Push(control, pushed) => {
                    let above = self.demand((forget(control), pushed)) as usize;
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
        let number = self.found.len() as CompletionId;
        self.found.push(found);
        let element = self.goals[goal as usize].1;
        if let Some(control) = outcome
            && self.popped.insert((element, control))
        {
            let lower = self.beneath.get(&element).map_or(Vec::new(), |all| all.iter().copied().collect());
            lower.into_iter().for_each(|lower| _ = self.demand((control, lower)));
        }
        let entry = &mut self.entries[goal as usize];
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

    /// All completions, each after those that it follows from.
    pub(crate) fn list(&self) -> Vec<Completion> {
        self.found.iter().map(|found| self.completion(found)).collect()
    }

    fn completion(&self, found: &Found) -> Completion {
        let (control, element) = self.goals[found.goal as usize];
        (control, element, found.outcome)
    }

    /// The completions of these goals and those that they follow from, in order.
    fn needed(&self, goals: &HashSet<Goal>, poll: &mut Poll<'_>) -> Result<Vec<Completion>, Cancelled> {
        let mut needed = Vec::with_capacity(self.found.len());
        for found in &self.found {
            poll.step()?;
            needed.push(goals.contains(&self.goals[found.goal as usize]));
        }
        for number in (0..needed.len()).rev() {
            if needed[number] {
                self.found[number].from.iter().flatten().for_each(|&from| needed[from as usize] = true);
            }
        }
        let kept = self.found.iter().zip(needed).filter(|(_, needed)| *needed);
        Ok(kept.map(|(found, _)| self.completion(found)).collect())
    }
}

/// All completions of the reachable stacks before a token is read.
pub(crate) fn summaries(
    strict: &mut Strict<'_>,
    reach: &Reach,
    poll: &mut Poll<'_>,
) -> Result<Vec<Completion>, AutomatonError> {
    Ok(Summaries::of(strict, reach, poll)?.list())
}

/// Completions that show of every reachable stack that it can become a word.
///
/// # Errors
/// [`AutomatonError::DeadEnd`] if one cannot, [`AutomatonError::NoWords`] if none can.
pub(crate) fn complete(
    strict: &mut Strict<'_>,
    (reach, witness): (&Reach, &Witness),
    poll: &mut Poll<'_>,
) -> Result<Vec<Completion>, AutomatonError> {
    let all = Summaries::of(strict, reach, poll)?;
    let mut asked: HashSet<Goal> = HashSet::new();
    let mut ask = |(controls, element): &(Vec<Control>, ElementId)| {
        asked.extend(controls.iter().map(|&control| (control, *element)));
    };
    match stuck(&all.list(), reach, poll, &mut ask)? {
        None => Ok(all.needed(&asked, poll)?),
        // Every word begins with the empty stack.
        Some(elements) if elements == [0] => Err(AutomatonError::NoWords),
        Some(elements) => Err(dead_end(strict, (reach, witness), &elements)),
    }
}

impl Oracle {
    /// Checks that every stack that can occur before a token is read can still become a word. Viable stacks that are computed
    /// from the rules are so; those that are given need not be.
    ///
    /// # Errors
    /// [`AutomatonError::DeadEnd`] if one cannot, [`AutomatonError::NoWords`] if none can; [`AutomatonError::TooLarge`] or [`AutomatonError::Cancelled`] if that was
    /// not found out.
    pub fn check_viable(&self, control: &dyn Caller) -> Result<(), AutomatonError> {
        let mut strict = Strict::new(self, 0)?;
        let (reach, witness) = Reach::new(&mut strict, control)?;
        complete(&mut strict, (&reach, &witness), &mut Poll::new(control)).map(|_| ())
    }
}

/// Reports a stack with these elements on top, the topmost last, which cannot become a word.
fn dead_end(strict: &Strict<'_>, (reach, witness): (&Reach, &Witness), elements: &[ElementId]) -> AutomatonError {
    let beneath = reach.beneath();
    let found = reach.heads.iter().filter(|head| forget(head.control) == Control::Next(0)).find_map(|&head| {
        let (&top, lower) = elements.split_last()?;
        let fits = |depth: usize, element: ElementId| lower.iter().nth_back(depth).is_none_or(|&own| own == element);
        let unders = (head.element == top).then(|| way_down(head, lower.len(), &beneath, fits)).flatten()?;
        let stack: Vec<ElementId> = unders.iter().rev().map(|under| under.element).chain([head.element]).collect();
        Some((witness.word(head, &unders), stack))
    });
    // What lies beneath which is known of two elements at a time: the stack may be one that no word leads to.
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
