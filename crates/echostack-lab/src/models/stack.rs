//! The reservoir stack machine, as a model of the experiments, with three kinds of readouts.

use std::sync::Arc;

use echostack::control::Budget;
use echostack::extract::construct;
use echostack::machine::{Checked, OutputReadout};
use echostack::readout::Svm;
use echostack::recognize::{Mode, Outcome, Outputs, View, watch_all};
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::ReservoirParams;
use echostack::{Alphabet, Limits, Machine, Oracle, Params, Trace, Word};

use super::common::{COSTS, PENALTIES, chosen, neurons, reservoir, reservoir_space, short};
use crate::estimator::{Choice, Estimator, EstimatorError, Prepared, Space, Trained};
use crate::problem::Problem;

/// A reservoir stack machine with 256 neurons, or with 512 for the copy task, as in the paper.
pub(super) struct StackMachine {
    kind: ReservoirKind,
    readouts: Readouts,
    name: String,
}

/// How a machine decides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Readouts {
    /// By support vector machines with an RBF kernel, as in the paper.
    Rbf,
    /// By linear support vector machines.
    Linear,
    /// By lists of rules with linear conditions, which are constructed from the automaton. The training words are not
    /// used.
    List,
}

/// The gamma of an RBF kernel that makes it practically linear. With a cost of C / (2 gamma), the decisions of a support
/// vector machine approach those of a linear one with a cost of C as gamma goes to 0 (Keerthi and Lin, 2003).
const LINEAR_GAMMA: f64 = 1e-4;

impl StackMachine {
    pub(super) fn new(kind: ReservoirKind, readouts: Readouts) -> Self {
        let ending = match readouts {
            Readouts::Rbf => "",
            Readouts::Linear => "-linear",
            Readouts::List => "-list",
        };
        Self { kind, readouts, name: format!("{}-RSM{ending}", short(kind)) }
    }
}

impl Estimator for StackMachine {
    fn name(&self) -> &str {
        &self.name
    }

    fn takes(&self, problem: &Problem) -> bool {
        self.readouts != Readouts::List || problem.automaton().is_some()
    }

    fn spaces(&self, problem: &Problem) -> Vec<Space> {
        let mut space = reservoir_space(self.kind, problem);
        match self.readouts {
            Readouts::Rbf => {
                space.insert("cost".into(), COSTS.into());
                space.insert("gamma".into(), vec![0.1, 0.3, 1.]);
            }
            Readouts::Linear => {
                space.insert("cost".into(), COSTS.map(|cost| cost / (2. * LINEAR_GAMMA)).into());
                space.insert("gamma".into(), vec![LINEAR_GAMMA]);
            }
            Readouts::List => return vec![space],
        }
        if !problem.is_language() {
            space.insert("penalty".into(), PENALTIES.into());
        }
        vec![space]
    }

    fn prepare(&self, problem: &Problem, choice: &Choice, seed: u64) -> Result<Box<dyn Prepared>, EstimatorError> {
        let alphabet = problem.alphabet().clone();
        let reservoir = reservoir(self.kind, neurons(problem), alphabet.len(), choice, seed)?;
        let reservoir = ReservoirParams::Given(reservoir);
        if self.readouts == Readouts::List {
            let automaton = problem.automaton().ok_or_else(|| EstimatorError("the task has no automaton".into()))?;
            let oracle = Oracle::strict(automaton.clone()).map_err(EstimatorError::new)?;
            let params = Params { reservoir, view: View::Reservoir, mode: Mode::Strict, ..Params::default() };
            return Ok(Box::new(Constructed { params: params.check().map_err(EstimatorError::new)?, oracle }));
        }
        let params = Params {
            reservoir,
            svm: Svm { cost: chosen(choice, "cost")?, gamma: chosen(choice, "gamma")?, ..Svm::default() },
            output: match choice.get("penalty") {
                Some(&penalty) => OutputReadout::Ridge { penalty },
                None => OutputReadout::Classify,
            },
            ..Params::default()
        };
        Ok(Box::new(Configured { params: params.check().map_err(EstimatorError::new)?, alphabet }))
    }
}

struct Configured {
    params: Checked,
    alphabet: Arc<Alphabet>,
}

impl Prepared for Configured {
    fn train(&self, traces: &[Trace]) -> Result<Box<dyn Trained>, EstimatorError> {
        let machine = self.params.fit(&self.alphabet, traces, &()).map_err(EstimatorError::new)?;
        Ok(Box::new(Taught(machine.memoized())))
    }
}

struct Constructed {
    params: Checked,
    oracle: Oracle,
}

/// The budget for the construction of a list, a few seconds. With many of the reservoirs that are searched, it would take
/// minutes or more.
const MAX_QUESTIONS: usize = 4_000;

impl Prepared for Constructed {
    fn train(&self, _: &[Trace]) -> Result<Box<dyn Trained>, EstimatorError> {
        let budget = Budget::new(MAX_QUESTIONS);
        let (machine, _) = construct(&self.oracle, &self.params, &budget).map_err(EstimatorError::new)?;
        Ok(Box::new(Taught(machine.memoized())))
    }
}

struct Taught(Machine);

impl Trained for Taught {
    fn outputs(&self, words: &[&Word]) -> Vec<Vec<f64>> {
        let mut given = vec![Outputs::default(); words.len()];
        // With bad hyperparameters, a machine may push forever. A correct stack has at most one symbol per token and,
        // in the copy tasks, some placeholders.
        let longest = words.iter().map(|word| word.len()).max().unwrap_or(0);
        let limits = Limits { depth: 64 + 2 * longest, actions: 64, actions_per_symbol: 4 };
        let _: Vec<Outcome> = watch_all(&self.0, words, &mut given, limits);
        given.into_iter().map(|outputs| outputs.0).collect()
    }
}
