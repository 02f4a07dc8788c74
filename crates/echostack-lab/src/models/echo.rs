//! The echo state network: a reservoir over the input, and a ridge regression on its states.

use std::sync::Arc;

use echostack::reservoir::{Sequence, run};
use echostack::tasks::ReservoirKind;
use echostack::{Reservoir, Simd, Trace, Word, readout::least_squares};
use rand_chacha::ChaCha8Rng;

use super::{chosen, draw_reservoir, drives, one_of, reservoir, short};
use crate::model::{Choice, Model, ModelError, Prepared, Trained};
use crate::problem::Problem;

/// An echo state network.
pub(super) struct EchoState {
    kind: ReservoirKind,
    neurons: usize,
    name: String,
}

impl EchoState {
    pub(super) fn new(kind: ReservoirKind, neurons: usize) -> Self {
        let size = if neurons == 256 { String::new() } else { format!("-{neurons}") };
        Self { kind, neurons, name: format!("{}-ESN{size}", short(kind)) }
    }
}

impl Model for EchoState {
    fn name(&self) -> &str {
        &self.name
    }

    fn draw(&self, problem: &Problem, random: &mut ChaCha8Rng) -> Option<Choice> {
        let mut choice = draw_reservoir(self.kind, problem, random);
        choice.insert("penalty".into(), one_of(random, &[1e-7, 1e-5, 1e-3]));
        Some(choice)
    }

    fn prepare(&self, problem: &Problem, choice: &Choice, seed: u64) -> Result<Box<dyn Prepared>, ModelError> {
        let reservoir = reservoir(self.kind, self.neurons, problem.alphabet().terminals().len(), choice, seed)?;
        Ok(Box::new(Configured { reservoir, penalty: chosen(choice, "penalty")? }))
    }
}

/// A reservoir and the penalty of the regression on its states.
struct Configured {
    reservoir: Arc<dyn Reservoir>,
    penalty: f64,
}

/// The states of a reservoir on words, at each token and at the end, one after the other.
fn states(reservoir: &dyn Reservoir, words: &[&Word]) -> Vec<Vec<f64>> {
    let neurons = reservoir.neurons();
    let mut all: Vec<Vec<f64>> = words.iter().map(|word| vec![0.; (word.len() + 1) * neurons]).collect();
    let mut sequences = Vec::new();
    for (word, states) in words.iter().zip(&mut all) {
        sequences.push(Sequence { start: vec![0.; neurons], drives: drives(word), states });
    }
    run(reservoir, Simd::default(), &mut sequences);
    all
}

/// The regression from states to the outputs of traces.
pub(super) fn regress(states: &[f64], neurons: usize, traces: &[Trace], penalty: f64) -> Result<Linear, ModelError> {
    let width = traces.first().map_or(0, Trace::output_width);
    let outputs: Vec<f64> = traces.iter().flat_map(Trace::steps).flat_map(|step| step.output.iter().copied()).collect();
    let weights = least_squares(states, neurons, &outputs, width, penalty);
    let weights = weights.ok_or_else(|| ModelError("the regression has no solution; raise the penalty".into()))?;
    Ok(Linear { weights, width })
}

/// A linear map from states to outputs.
pub(super) struct Linear {
    /// A row for each neuron.
    weights: Vec<f64>,
    width: usize,
}

impl Linear {
    /// The outputs of a state, put at the end of the others.
    pub(super) fn apply(&self, state: &[f64], outputs: &mut Vec<f64>) {
        let start = outputs.len();
        outputs.resize(start + self.width, 0.);
        for (value, weights) in state.iter().zip(self.weights.chunks_exact(self.width)) {
            for (output, weight) in outputs[start..].iter_mut().zip(weights) {
                *output += value * weight;
            }
        }
    }
}

impl Prepared for Configured {
    fn train(&self, traces: &[Trace]) -> Result<Box<dyn Trained>, ModelError> {
        let words: Vec<&Word> = traces.iter().map(Trace::word).collect();
        let states = states(&*self.reservoir, &words).concat();
        let linear = regress(&states, self.reservoir.neurons(), traces, self.penalty)?;
        Ok(Box::new(Network { reservoir: self.reservoir.clone(), linear }))
    }
}

struct Network {
    reservoir: Arc<dyn Reservoir>,
    linear: Linear,
}

impl Trained for Network {
    fn outputs(&self, words: &[&Word]) -> Vec<Vec<f64>> {
        let one = |states: Vec<f64>| {
            let mut outputs = Vec::new();
            states.chunks_exact(self.reservoir.neurons()).for_each(|state| self.linear.apply(state, &mut outputs));
            outputs
        };
        states(&*self.reservoir, words).into_iter().map(one).collect()
    }
}
