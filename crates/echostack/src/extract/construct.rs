//! Construction: a machine from an automaton, with no word to learn from (the paper's Theorem 2).
//!
//! Each suffix that a rule asks for, and each lookahead, becomes an affine function of the stack's or the input's state
//! that is above 0 where it is met; the readouts go through the rules in order. Functions that hold on all stacks need
//! not exist, but those that can occur are enough. Which of them must be told apart is found by the search for a proof:
//! what it leaves open is added to what the functions separate.

use std::collections::BTreeSet;

use super::rules::{Pattern, Situation, few_patterns};
use crate::automaton::{AutomatonError, Oracle};
use crate::certify::{CertifyError, Proof, Prover, Required};
use crate::control::Control;
use crate::machine::{Checked, List, Lists, Machine, Readout, Test};
use crate::manifest::Manifest;
use crate::readout::{Affine, Distances, Fault, Outcome, States, at_rising_cost, separate};
use crate::recognize::{Reduction, View};
use crate::reservoir::{Drive, Reservoir, ReservoirError, encode};
use crate::simd::Simd;
use crate::suffix::StackSuffix;
use crate::symbol::{Lookahead, SymbolId};
use crate::teach::{Answer, Exercise};

/// Why no machine could be constructed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConstructError {
    /// The machine cannot be compared with the automaton.
    #[error(transparent)]
    Certify(#[from] CertifyError),
    /// The automaton is too large.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
    /// The reservoir does not fit the alphabet.
    #[error(transparent)]
    Reservoir(#[from] ReservoirError),
    /// Whether a token may follow is not decided by any suffix of the stack of reasonable length.
    #[error(
        "no suffix of the stack, however long, decides which tokens can follow; there is no list of rules for that"
    )]
    NoSuffix,
    /// The states of two things that must be told apart are too near to each other, or a value overflowed.
    #[error("no affine function separates the reservoir's states; take more neurons or another reservoir")]
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

/// What a test asks.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Question {
    /// Whether this comes next.
    Next(Lookahead),
    /// Whether the stack has this suffix.
    Stack(StackSuffix),
}

/// The questions that rules ask, each once.
#[derive(Default)]
struct Questions(Vec<Question>);

impl Questions {
    fn number(&mut self, question: Question) -> usize {
        self.0.iter().position(|own| *own == question).unwrap_or_else(|| {
            self.0.push(question);
            self.0.len() - 1
        })
    }

    /// What must hold for a pattern to match.
    fn of(&mut self, Pattern { stack, next }: Pattern) -> Vec<usize> {
        let next = next.map(|next| self.number(Question::Next(next)));
        let stack = (stack != StackSuffix::ANY).then(|| self.number(Question::Stack(stack)));
        next.into_iter().chain(stack).collect()
    }
}

/// The most rounds of separation and proof.
const MAX_ROUNDS: usize = 40;
/// The number of cells, examined in all rounds together, after which the next round is the last.
const MAX_EXAMINED_CELLS: usize = 200_000;
/// The cost of a separator in the first round.
const FIRST_COST: f64 = 1e4;

/// Makes a machine that does what a strict automaton does, and proves it. Of the parameters only the reservoir and the
/// view count. The proof is open if the functions could not be found.
///
/// # Errors
/// See [`ConstructError`].
pub fn construct(oracle: &Oracle, params: &Checked, control: &dyn Control) -> Result<(Machine, Proof), ConstructError> {
    let automaton = oracle.automaton();
    let alphabet = automaton.alphabet();
    let view = params.params().view;
    let reservoir = params.params().reservoir.build(alphabet.len())?;
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
    let follows = prover.answers(Readout::Shift, control)?.ok_or(ConstructError::NoSuffix)?;
    let situations: Vec<Situation<bool>> = follows
        .into_iter()
        .map(|Required { next, stack, answer }| {
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
        lists.tests = examples.tests(&questions.0, cost)?;
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

/// What was read of the input, and what comes next.
type Read = (Vec<SymbolId>, Lookahead);

/// Inputs and stacks that can occur: what the tests are to tell apart.
struct Examples<'a> {
    reservoir: &'a dyn Reservoir,
    view: View,
    inputs: BTreeSet<Read>,
    /// Topmost last.
    stacks: BTreeSet<Vec<SymbolId>>,
}

impl<'a> Examples<'a> {
    /// No example; but what can come next is all there is to see in the symbol view.
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
            (Lookahead::End, View::Symbol) => None, // the state of nothing at all
        };
        self.state(before, next)
    }

    fn state(&self, symbols: &[SymbolId], more: Option<Drive<'_>>) -> Vec<f64> {
        let drives = symbols.iter().map(|symbol| Drive::Channel(symbol.index())).chain(more);
        encode(self.reservoir, Simd::default(), drives)
    }

    /// A function for each question that tells apart the examples where it is met. Without examples none is ever met.
    fn tests(&self, questions: &[Question], cost: f64) -> Result<Vec<Test>, Fault> {
        let neurons = self.reservoir.neurons();
        let inputs = Side::new(neurons, &self.inputs, |read| self.input_state(read));
        let stacks = Side::new(neurons, &self.stacks, |stack| self.state(stack, None));
        let [between_inputs, between_stacks] =
            [&inputs.states, &stacks.states].map(|states| Distances::new(states, Simd::default()));
        let test = |question: &Question| match question {
            Question::Next(next) => inputs.separate(&between_inputs, cost, |read| read.1 == *next).map(Test::Input),
            Question::Stack(suffix) => {
                stacks.separate(&between_stacks, cost, |stack| suffix.matches(stack)).map(Test::Stack)
            }
        };
        questions.iter().map(test).collect()
    }
}

/// The examples of one side with their states.
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

    fn separate(&self, between: &Distances<'_>, cost: f64, met: impl Fn(&E) -> bool) -> Result<Affine, Fault> {
        if self.examples.is_empty() {
            return Ok(Affine::constant(self.states.neurons(), 0.));
        }
        let positive: Vec<bool> = self.examples.iter().map(|example| met(example)).collect();
        separate(&self.states, between, &positive, cost)
    }
}
