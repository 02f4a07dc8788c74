//! Explores what a machine does.
//!
//! The machine is explored as a pushdown system whose elements are the topmost few symbols of the stack. A decision
//! that is the same for all stacks with these symbols on top ([`Bounds`]) becomes a move of the system. A decision that
//! is not stays open: the exploration does not continue from there, and is repeated with one more symbol of the stack,
//! or with one more token of the input.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::automaton::reach::{ElementId, Memory, Reach, Recalled, Sight, System};
use crate::automaton::{Automaton, AutomatonError};
use crate::certify::bound::{Bounds, Scratch, Sighting};
use crate::certify::walk::InputSightings;
use crate::certify::{CertifyError, Difference, WellScaled, provable};
use crate::control::{Control, Poll};
use crate::machine::{Machine, Readout};
use crate::recognize::{Reduction, View};
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::{Alphabet, Lookahead, SymbolId};
use crate::teach::Answer;

/// The reason why no automaton could be extracted from a machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The machine cannot be compared with automata.
    #[error(transparent)]
    Certify(#[from] CertifyError),
    /// The automaton is too large or otherwise unsuitable.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
    /// A decision of the machine depends on more of its input than the next token.
    #[error(
        "on some stacks, the machine's decision depends on more of its input than the next token, which no LR(1) \
         rule can express"
    )]
    NotLr1,
    /// The machine does something that no rule can express.
    #[error(
        "the machine pops without pushing, or accepts with a stack that is not a single symbol, which no rule \
         can express"
    )]
    NoRule,
    /// Some decisions remained open.
    #[error("{} decisions remain open even with {depth} symbols of the stack; the first is {}", open.len(), open[0])]
    Open {
        /// The number of stack symbols that were considered.
        depth: usize,
        /// The open decisions.
        open: Vec<Undecided>,
    },
    /// The rules were found, but the machine does not agree with their automaton: it rejects a token after which the
    /// word could still be completed.
    #[error(
        "the machine follows rules, but is not a strict automaton: it rejects a token after which a word could still \
         be completed"
    )]
    Refuses {
        /// The automaton of the rules.
        automaton: Box<Automaton>,
        /// A word on which the machine and the automaton differ, if one was found.
        difference: Option<Box<Difference>>,
    },
}

/// A decision that is not the same for all stacks with the same suffix.
#[derive(Clone, Debug)]
pub struct Undecided {
    /// The lookahead.
    pub next: Lookahead,
    /// The stack suffix.
    pub stack: StackSuffix,
    alphabet: Arc<Alphabet>,
}

impl std::fmt::Display for Undecided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let next = InputSuffix::of(self.next);
        write!(f, "on the stack {} before {}", self.stack.display(&self.alphabet), next.display(&self.alphabet))
    }
}

/// The maximum number of stack symbols in an element.
const MAX_STACK_SUFFIX: usize = 12;
/// The maximum number of tokens before the next one that are remembered.
const MAX_REMEMBERED_TOKENS: u32 = 5;

/// Explores a strict machine until no decision is open. `done` gets the result.
pub(super) fn explore<R>(
    machine: &Machine,
    control: &dyn Control,
    done: impl FnOnce(&Explored<'_>, &Reach) -> Result<R, ExtractError>,
) -> Result<R, ExtractError> {
    provable(machine)?;
    let bounds = Bounds::new(&WellScaled::new(machine)?, &mut Poll::new(control))?;
    let (mut depth, mut tokens) = (1, u32::from(machine.view() == View::Reservoir));
    loop {
        if control.cancelled() {
            return Err(CertifyError::Cancelled.into());
        }
        let terminals = machine.alphabet().terminals().len();
        let memory = Memory::new(terminals, tokens).ok_or(AutomatonError::TooLarge)?;
        let mut explored = Explored::new(machine, &bounds, depth, memory);
        let (reach, _) = Reach::new(&mut explored, control)?;
        if explored.open.is_empty() {
            return done(&explored, &reach);
        }
        // A decision is attributed to the larger of its two sets, inputs or stacks; extend the one that leaves more
        // open.
        let input_is_larger =
            explored.open.iter().filter(|open| open.input_is_larger).count() * 2 > explored.open.len();
        match input_is_larger {
            true if tokens < MAX_REMEMBERED_TOKENS => tokens += 1,
            _ if depth < MAX_STACK_SUFFIX => depth += 1,
            _ => {
                let open = explored.open.iter().map(|open| explored.undecided(open)).collect();
                return Err(ExtractError::Open { depth, open });
            }
        }
    }
}

/// A decision that could not be determined.
struct Open {
    next: Lookahead,
    element: ElementId,
    input_is_larger: bool,
}

/// A machine as a pushdown system whose elements are stack suffixes.
pub(super) struct Explored<'m> {
    pub(super) machine: &'m Machine,
    bounds: &'m Bounds,
    pub(super) depth: usize,
    memory: Memory,
    pub(super) elements: Vec<StackSuffix>,
    pub(super) ids: HashMap<StackSuffix, ElementId>,
    sightings: Vec<Option<Sighting>>,
    /// The approximate number of floating-point numbers in the sightings.
    numbers: usize,
    inputs: InputSightings,
    scratch: Scratch,
    /// The reductions that have been asked for; `None` if the decision is open.
    pub(super) reductions: HashMap<(Sight, ElementId), Option<Reduction>, RandomState>,
    /// The outputs and shifts that have been asked for; `None` if one of the decisions is open.
    pub(super) settled: HashMap<(Sight, ElementId), Option<(bool, bool)>, RandomState>,
    open: Vec<Open>,
}

impl<'m> Explored<'m> {
    fn new(machine: &'m Machine, bounds: &'m Bounds, depth: usize, memory: Memory) -> Self {
        Self {
            machine,
            bounds,
            depth,
            memory,
            elements: vec![StackSuffix::BOTTOM],
            ids: HashMap::from([(StackSuffix::BOTTOM, ElementId::BOTTOM)]),
            sightings: vec![None],
            numbers: 0,
            inputs: InputSightings::new(1),
            scratch: Scratch::default(),
            reductions: HashMap::default(),
            settled: HashMap::default(),
            open: Vec::new(),
        }
    }

    /// Returns the suffix of the input that the machine sees, as far as it is remembered.
    fn input(&self, sight: Sight) -> InputSuffix {
        let mut input = InputSuffix::of(sight.next);
        while self.machine.view() == View::Reservoir && !input.is_whole() {
            match self.memory.recall(sight.recent, input.before().len()) {
                Recalled::Token(token) => input = input.longer(Some(token)),
                Recalled::Beginning => input = input.longer(None),
                Recalled::Forgotten => break,
            }
        }
        input
    }

    /// Returns the answers of the given readouts, if they are the same on all stacks with this suffix; otherwise
    /// records the decision as open.
    fn answers(&mut self, sight: Sight, element: ElementId, readouts: &[Readout]) -> Option<Vec<Answer>> {
        let input = self.input(sight);
        let place = element.index();
        if self.numbers > InputSightings::MAX_NUMBERS {
            self.numbers = 0;
            self.sightings.iter_mut().for_each(|sighting| *sighting = None);
        }
        let stack = &*self.sightings[place].get_or_insert_with(|| {
            let sighting = self.bounds.stack(&self.elements[place]);
            self.numbers += sighting.numbers();
            sighting
        });
        let input = self.inputs.see(self.bounds, &input);
        let mut answers = Vec::new();
        self.scratch.forget();
        for (number, (readout, _)) in self.bounds.heads().iter().enumerate() {
            if readouts.contains(readout) {
                let Some(class) = self.bounds.certain(number, input, stack, &mut self.scratch) else {
                    let input_is_larger = input.size() > stack.size();
                    self.open.push(Open { next: sight.next, element, input_is_larger });
                    return None;
                };
                answers.push(self.machine.answer(*readout, class)?);
            }
        }
        Some(answers)
    }

    fn reduction(&mut self, sight: Sight, element: ElementId) -> Option<Reduction> {
        if let Some(&known) = self.reductions.get(&(sight, element)) {
            return known;
        }
        let answers = self.answers(sight, element, &[Readout::Pop, Readout::Push]);
        // Separate readouts give half of the answer each: the pop comes from the first, the push from the last.
        let found = answers.and_then(|answers| match (answers.first(), answers.last()) {
            (Some(Answer::Act(first)), Some(Answer::Act(last))) => Some(Reduction { pop: first.pop, push: last.push }),
            _ => None,
        });
        self.reductions.insert((sight, element), found);
        found
    }

    /// Returns whether the output means acceptance, and whether the token is shifted; `None` if that is open.
    fn settled(&mut self, sight: Sight, element: ElementId) -> Option<(bool, bool)> {
        if let Some(&known) = self.settled.get(&(sight, element)) {
            return known;
        }
        let asked: &[Readout] =
            if sight.next == Lookahead::End { &[Readout::Output] } else { &[Readout::Output, Readout::Shift] };
        let found = self.answers(sight, element, asked).map(|answers| {
            let output = answers.contains(&Answer::Output(true));
            (output, answers.contains(&Answer::Shift(true)))
        });
        self.settled.insert((sight, element), found);
        found
    }

    fn undecided(&self, open: &Open) -> Undecided {
        let (next, stack) = (open.next, self.elements[open.element.index()].clone());
        Undecided { next, stack, alphabet: self.machine.alphabet().clone() }
    }
}

impl System for Explored<'_> {
    fn symbol(&self, element: ElementId) -> Option<SymbolId> {
        self.elements[element.index()].top()
    }

    fn alphabet(&self) -> &Alphabet {
        self.machine.alphabet()
    }

    fn memory(&self) -> Memory {
        self.memory
    }

    fn push(&mut self, on: ElementId, symbol: SymbolId) -> ElementId {
        let suffix = self.elements[on.index()].pushed(symbol, self.depth);
        let fresh = ElementId::new(self.elements.len());
        let id = *self.ids.entry(suffix.clone()).or_insert(fresh);
        if id == fresh {
            self.elements.push(suffix);
            self.sightings.push(None);
        }
        id
    }

    fn decide(&mut self, sight: Sight, top: ElementId) -> Option<Reduction> {
        self.reduction(sight, top)
    }

    fn goes_on(&mut self, sight: Sight, top: ElementId) -> bool {
        self.settled(sight, top).is_some_and(|(_, shifts)| shifts)
    }
}
