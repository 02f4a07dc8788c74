//! The networks as models of `echostack_lab`, which runs the paper's experiments.

use std::sync::Arc;

use echostack::{Alphabet, Trace, Word};
use echostack_lab::{Choice, Estimator, EstimatorError, Prepared, Problem, Space, Trained as Tested};

use crate::settings::{Architecture, Hyperparameters};
use crate::train::{Trained, train};

/// Returns all baselines with the paper's settings. They have no hyperparameters to search.
pub fn baselines() -> Vec<Box<dyn Estimator>> {
    let baseline = |architecture| Box::new(Baseline { architecture }) as Box<dyn Estimator>;
    Architecture::ALL.into_iter().map(baseline).collect()
}

struct Baseline {
    architecture: Architecture,
}

impl Estimator for Baseline {
    fn name(&self) -> &str {
        self.architecture.name()
    }

    fn spaces(&self, _: &Problem) -> Vec<Space> {
        Vec::new()
    }

    fn prepare(&self, problem: &Problem, _: &Choice, seed: u64) -> Result<Box<dyn Prepared>, EstimatorError> {
        let settings = Hyperparameters { seed, ..Hyperparameters::default() };
        Ok(Box::new(Configured { architecture: self.architecture, alphabet: problem.alphabet().clone(), settings }))
    }
}

struct Configured {
    architecture: Architecture,
    alphabet: Arc<Alphabet>,
    settings: Hyperparameters,
}

impl Prepared for Configured {
    fn train(&self, traces: &[Trace]) -> Result<Box<dyn Tested>, EstimatorError> {
        let network = train(self.architecture, &self.alphabet, traces, &self.settings, &());
        Ok(Box::new(Network(network.map_err(EstimatorError::new)?)))
    }
}

struct Network(Trained);

impl Tested for Network {
    fn outputs(&self, words: &[&Word]) -> Vec<Vec<f64>> {
        self.0.outputs(words)
    }
}
