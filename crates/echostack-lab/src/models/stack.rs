//! The reservoir stack machine, as a model of the experiments.

use std::sync::Arc;

use echostack::machine::OutputReadout;
use echostack::readout::Svm;
use echostack::recognize::{Outcome, Outputs, watch_all};
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::ReservoirParams;
use echostack::{Alphabet, Limits, Machine, Params, Trace, Word};
use rand_chacha::ChaCha8Rng;

use super::{chosen, draw_reservoir, neurons, one_of, reservoir, short};
use crate::estimator::{Choice, Estimator, EstimatorError, Prepared, Trained};
use crate::problem::Problem;

/// A reservoir stack machine with 256 neurons, or with 512 for the copy task, as in the paper.
pub(super) struct StackMachine {
    kind: ReservoirKind,
    name: String,
}

impl StackMachine {
    pub(super) fn new(kind: ReservoirKind) -> Self {
        Self { kind, name: format!("{}-RSM", short(kind)) }
    }
}

impl Estimator for StackMachine {
    fn name(&self) -> &str {
        &self.name
    }

    fn draw(&self, problem: &Problem, random: &mut ChaCha8Rng) -> Option<Choice> {
        let mut choice = draw_reservoir(self.kind, problem, random);
        choice.insert("cost".into(), one_of(random, &[1., 100., 1e4]));
        choice.insert("gamma".into(), one_of(random, &[0.1, 0.3, 1.]));
        if !problem.is_language() {
            choice.insert("penalty".into(), one_of(random, &[1e-7, 1e-5, 1e-3]));
        }
        Some(choice)
    }

    fn prepare(&self, problem: &Problem, choice: &Choice, seed: u64) -> Result<Box<dyn Prepared>, EstimatorError> {
        let alphabet = problem.alphabet().clone();
        let reservoir = reservoir(self.kind, neurons(problem), alphabet.len(), choice, seed)?;
        let params = Params {
            reservoir: ReservoirParams::Given(reservoir),
            svm: Svm { cost: chosen(choice, "cost")?, gamma: chosen(choice, "gamma")?, ..Svm::default() },
            output: match choice.get("penalty") {
                Some(&penalty) => OutputReadout::Ridge { penalty },
                None => OutputReadout::Classify,
            },
            ..Params::default()
        };
        Ok(Box::new(Configured { params, alphabet }))
    }
}

struct Configured {
    params: Params,
    alphabet: Arc<Alphabet>,
}

impl Prepared for Configured {
    fn train(&self, traces: &[Trace]) -> Result<Box<dyn Trained>, EstimatorError> {
        let params = self.params.clone().check().map_err(EstimatorError::new)?;
        Ok(Box::new(Taught(params.fit(&self.alphabet, traces, &()).map_err(EstimatorError::new)?)))
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
