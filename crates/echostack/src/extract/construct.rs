//! Constructs a machine from an automaton, without training on words (the paper's Theorem 3).
//!
//! Each stack suffix and each lookahead in a rule becomes an affine function of the state of the stack or the input
//! that is above 0 where the suffix or lookahead matches; the readouts go through the rules in order. Functions that
//! are correct on all stacks need not exist, but it is enough if they are correct on those that can occur. The search
//! for a proof finds the stacks and inputs that must be separated: those that it leaves open are added to the examples
//! that the functions separate.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::rules::{Pattern, Situation, few_patterns};
use crate::automaton::{AutomatonError, Oracle};
use crate::certify::{CertifyError, Proof, Prover, Required};
use crate::control::{Control, Stage};
use crate::machine::{Checked, List, Lists, Machine, Readout, Test};
use crate::manifest::Manifest;
use crate::readout::{Affine, Distances, Fault, Outcome, States, at_rising_cost, separate};
use crate::recognize::{Reduction, View};
use crate::reservoir::{Drive, Reservoir, ReservoirError, check_neurons, encode};
use crate::simd::Simd;
use crate::suffix::StackSuffix;
use crate::symbol::{Lookahead, SymbolId};
use crate::teach::{Answer, Exercise};

/// The reason why no machine could be constructed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConstructError {
    /// The machine cannot be compared with the automaton.
    #[error(transparent)]
    Certify(#[from] CertifyError),
    /// The automaton is too large or otherwise unsuitable.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
    /// The reservoir does not fit the alphabet.
    #[error(transparent)]
    Reservoir(#[from] ReservoirError),
    /// No stack suffix of reasonable length determines which tokens can follow.
    #[error(
        "no stack suffix of reasonable length determines which tokens can follow, so no list of rules can decide it"
    )]
    NoSuffix,
    /// Two states that must be separated are too close to each other, or a value overflowed.
    #[error("no affine function separates the reservoir's states; use more neurons or another reservoir")]
    NotSeparable,
}

impl From<Fault> for ConstructError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Cancelled => Self::Certify(CertifyError::Cancelled),
            Fault::NotConverged(_) | Fault::NotFinite => Self::NotSeparable,
        }
    }
}

/// The question that a test answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Question {
    /// Does this come next?
    Next(Lookahead),
    /// Does the stack have this suffix?
    Stack(StackSuffix),
}

/// The questions that the rules ask, without duplicates.
#[derive(Default)]
struct Questions {
    all: Vec<Question>,
    numbers: HashMap<Question, usize>,
}

impl Questions {
    fn number(&mut self, question: Question) -> usize {
        *self.numbers.entry(question).or_insert_with_key(|question| {
            self.all.push(question.clone());
            self.all.len() - 1
        })
    }

    /// Returns the numbers of the questions that must be answered with yes for a pattern to match.
    fn of(&mut self, Pattern { stack, next }: Pattern) -> Vec<usize> {
        let next = next.map(|next| self.number(Question::Next(next)));
        let stack = (stack != StackSuffix::ANY).then(|| self.number(Question::Stack(stack)));
        next.into_iter().chain(stack).collect()
    }
}

/// The maximum number of rounds of separation and proof.
const MAX_ROUNDS: usize = 40;
/// The number of cells, examined in all rounds together, after which the next round is the last.
const MAX_EXAMINED_CELLS: usize = 200_000;
/// The cost of a separator in the first round.
const FIRST_COST: f64 = 1e4;

/// Constructs a machine that agrees with a strict automaton, and proves that it does. Only the reservoir and the view
/// of the parameters are used. The proof is open if no suitable functions were found.
///
/// # Errors
/// See [`ConstructError`].
pub fn construct(oracle: &Oracle, params: &Checked, control: &dyn Control) -> Result<(Machine, Proof), ConstructError> {
    let automaton = oracle.automaton();
    let alphabet = automaton.alphabet();
    let view = params.params().view;
    let reservoir = params.params().reservoir.build(alphabet.len())?;
    check_neurons(reservoir.neurons())?;
    let prover = Prover::new(oracle, view, control)?;
    let mut questions = Questions::default();
    let mut lists = Lists {
        tests: Vec::new(),
        actions: List { rules: Vec::new(), otherwise: Reduction::NONE },
        shift: List { rules: Vec::new(), otherwise: true },
        accept: List { rules: Vec::new(), otherwise: false },
    };
    for rule in automaton.rules() {
        let stack = StackSuffix::new(rule.suffix.clone(), rule.anchored);
        let asked = questions.of(Pattern { stack, next: rule.lookahead });
        lists.actions.rules.push((asked, Reduction { pop: rule.pop, push: Some(rule.push) }));
    }
    for &symbol in automaton.accepting() {
        let stack = StackSuffix::new(vec![symbol], true);
        lists.accept.rules.push((questions.of(Pattern { stack, next: None }), true));
    }
    let follows = prover.answers(Readout::Shift, control)?;
    if !follows.all {
        return Err(ConstructError::NoSuffix);
    }
    let situations: Vec<Situation<bool>> = follows
        .required
        .into_iter()
        .map(|Required { next, stack, answer, .. }| {
            let does = answer == Answer::Shift(true);
            Situation { next, stack, does, popped: StackSuffix::ANY }
        })
        .collect();
    for (pattern, shifts, _) in few_patterns(&situations, true) {
        lists.shift.rules.push((questions.of(pattern), shifts));
    }
    let mut manifest = Manifest::default();
    manifest.set_version(env!("CARGO_PKG_VERSION"));
    manifest.set_reservoir(&params.params().reservoir);
    manifest.set_constructed(format_args!("from {} rules", automaton.rules().len()));
    let mut examples = Examples::new(&*reservoir, view, alphabet.lookaheads());
    let mut total = 0;
    at_rising_cost(FIRST_COST, |round, cost| {
        lists.tests = examples.tests(&questions.all, cost, control)?;
        let machine = Machine::from_lists(alphabet.clone(), reservoir.clone(), view, &lists, manifest.clone())
            .ok_or(ConstructError::NotSeparable)?;
        Ok(match prover.prove(&machine, control)? {
            Proof::Open { exercises, examined, .. } if round < MAX_ROUNDS && total < MAX_EXAMINED_CELLS => {
                total += examined;
                let before = examples.len();
                exercises.into_iter().for_each(|exercise| examples.add(exercise));
                if examples.len() == before { Outcome::Stuck } else { Outcome::Open }
            }
            proof => Outcome::Done((machine, proof)),
        })
    })
}

/// The tokens that have been read, and the lookahead.
type Read = (Vec<SymbolId>, Lookahead);

/// The inputs and stacks that the tests must separate; all of them can occur.
struct Examples<'a> {
    reservoir: &'a dyn Reservoir,
    view: View,
    inputs: BTreeSet<Read>,
    /// The stacks, with the topmost symbol last.
    stacks: BTreeSet<Vec<SymbolId>>,
}

impl<'a> Examples<'a> {
    /// Creates a set without stacks. In the symbol view it has all inputs from the start, because a machine sees only
    /// the lookahead; in the reservoir view it has none.
    fn new(reservoir: &'a dyn Reservoir, view: View, nexts: impl Iterator<Item = Lookahead>) -> Self {
        let inputs = match view {
            View::Symbol => nexts.map(|next| (Vec::new(), next)).collect(),
            View::Reservoir => BTreeSet::new(),
        };
        Self { reservoir, view, inputs, stacks: BTreeSet::new() }
    }

    fn add(&mut self, exercise: Exercise) {
        if self.view == View::Reservoir {
            self.inputs.insert((exercise.before, exercise.next));
        }
        self.stacks.insert(exercise.stack);
    }

    fn len(&self) -> usize {
        self.inputs.len() + self.stacks.len()
    }

    fn input_state(&self, (before, next): &Read) -> Vec<f64> {
        let next = match (next, self.view) {
            (Lookahead::Token(token), _) => Some(Drive::Channel(token.index())),
            (Lookahead::End, View::Reservoir) => Some(Drive::Silence),
            (Lookahead::End, View::Symbol) => None, // the state after no input
        };
        self.state(before, next)
    }

    fn state(&self, symbols: &[SymbolId], more: Option<Drive<'_>>) -> Vec<f64> {
        let drives = symbols.iter().map(|symbol| Drive::Channel(symbol.index())).chain(more);
        encode(self.reservoir, Simd::default(), drives)
    }

    /// Returns an affine function for each question, which separates the examples where the answer is yes from the
    /// others. Without examples, the answer is always no.
    fn tests(&self, questions: &[Question], cost: f64, control: &dyn Control) -> Result<Vec<Test>, Fault> {
        let neurons = self.reservoir.neurons();
        let inputs = Side::new(neurons, &self.inputs, |read| self.input_state(read));
        let stacks = Side::new(neurons, &self.stacks, |stack| self.state(stack, None));
        let [between_inputs, between_stacks] =
            [&inputs.states, &stacks.states].map(|states| Distances::new(states, Simd::default()));
        let done = AtomicUsize::new(0);
        let test = |question: &Question| {
            let test = match question {
                Question::Next(next) => {
                    Test::Input(inputs.separate(&between_inputs, cost, |read| read.1 == *next, control)?)
                }
                Question::Stack(suffix) => {
                    Test::Stack(stacks.separate(&between_stacks, cost, |stack| suffix.matches(stack), control)?)
                }
            };
            control.progress(Stage::Train, done.fetch_add(1, Ordering::Relaxed) + 1, questions.len());
            Ok(test)
        };
        questions.par_iter().map(test).collect()
    }
}

/// The examples of one side, inputs or stacks, with their states.
struct Side<'e, E> {
    states: States,
    /// The first example with each state.
    examples: Vec<&'e E>,
}

impl<'e, E> Side<'e, E> {
    fn new(neurons: usize, examples: &'e BTreeSet<E>, state: impl Fn(&E) -> Vec<f64>) -> Self {
        let mut side = Self { states: States::new(neurons), examples: Vec::new() };
        for example in examples {
            if side.states.intern(&state(example)).index() == side.examples.len() {
                side.examples.push(example);
            }
        }
        side
    }

    fn separate(
        &self,
        between: &Distances<'_>,
        cost: f64,
        met: impl Fn(&E) -> bool,
        control: &dyn Control,
    ) -> Result<Affine, Fault> {
        if self.examples.is_empty() {
            return Ok(Affine::constant(self.states.neurons(), 0.));
        }
        let positive: Vec<bool> = self.examples.iter().map(|example| met(example)).collect();
        separate(&self.states, between, &positive, cost, control)
    }
}
