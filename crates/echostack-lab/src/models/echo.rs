//! The echo state network: a reservoir that reads the input, and a ridge regression on its states.

use std::sync::Arc;

use echostack::readout::least_squares;
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::{Reservoir, Simd};
use echostack::reservoir::{Sequence, run};
use echostack::{Trace, Word};

use super::common::{PENALTIES, chosen, drives, reservoir, reservoir_space, short};
use crate::estimator::{Choice, Estimator, EstimatorError, Prepared, Space, Trained};
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

impl Estimator for EchoState {
    fn name(&self) -> &str {
        &self.name
    }

    fn spaces(&self, problem: &Problem) -> Vec<Space> {
        let mut space = reservoir_space(self.kind, problem);
        space.insert("penalty".into(), PENALTIES.into());
        vec![space]
    }

    fn prepare(&self, problem: &Problem, choice: &Choice, seed: u64) -> Result<Box<dyn Prepared>, EstimatorError> {
        let reservoir = reservoir(self.kind, self.neurons, problem.alphabet().terminals().len(), choice, seed)?;
        Ok(Box::new(Configured { reservoir, penalty: chosen(choice, "penalty")? }))
    }
}

/// A reservoir and the penalty of the regression on its states.
struct Configured {
    reservoir: Arc<dyn Reservoir>,
    penalty: f64,
}

/// Returns the states of a reservoir on words, at each token and at the end, one after the other.
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

/// Fits the regression from states to the outputs of traces, with a constant. As in scikit-learn's ridge regression,
/// the penalty applies to the weights only.
pub(super) fn regress(
    mut states: Vec<f64>,
    neurons: usize,
    traces: &[Trace],
    penalty: f64,
) -> Result<Linear, EstimatorError> {
    let width = traces.first().map_or(0, Trace::output_width);
    let mut outputs: Vec<f64> =
        traces.iter().flat_map(Trace::steps).flat_map(|step| step.output.iter().copied()).collect();
    let mean_state = subtract_mean(&mut states, neurons);
    let mean_output = subtract_mean(&mut outputs, width);
    let weights = least_squares(&states, neurons, &outputs, width, penalty);
    let weights = weights.ok_or_else(|| EstimatorError("the regression has no solution; raise the penalty".into()))?;
    let mut linear = Linear { weights, constant: vec![0.; width] };
    let mut of_mean = Vec::new();
    linear.apply(&mean_state, &mut of_mean);
    linear.constant = mean_output.iter().zip(of_mean).map(|(wanted, given)| wanted - given).collect();
    Ok(linear)
}

/// Subtracts the mean of all rows from each row, and returns the mean.
fn subtract_mean(rows: &mut [f64], width: usize) -> Vec<f64> {
    let mut mean = vec![0.; width];
    let count = (rows.len() / width.max(1)).max(1) as f64;
    for row in rows.chunks_exact(width.max(1)) {
        mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value / count);
    }
    for row in rows.chunks_exact_mut(width.max(1)) {
        row.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
    }
    mean
}

/// A linear map from states to outputs, and a constant.
pub(super) struct Linear {
    /// The weights, one row per neuron.
    weights: Vec<f64>,
    constant: Vec<f64>,
}

impl Linear {
    /// Appends the outputs for a state.
    pub(super) fn apply(&self, state: &[f64], outputs: &mut Vec<f64>) {
        let start = outputs.len();
        outputs.extend(&self.constant);
        for (value, weights) in state.iter().zip(self.weights.chunks_exact(self.constant.len().max(1))) {
            for (output, weight) in outputs[start..].iter_mut().zip(weights) {
                *output += value * weight;
            }
        }
    }
}

impl Prepared for Configured {
    fn train(&self, traces: &[Trace]) -> Result<Box<dyn Trained>, EstimatorError> {
        let words: Vec<&Word> = traces.iter().map(Trace::word).collect();
        let states = states(&*self.reservoir, &words).concat();
        let linear = regress(states, self.reservoir.neurons(), traces, self.penalty)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use echostack::tasks::{Split, Task};

    #[test]
    fn regression_finds_a_constant_and_does_not_shrink_it() {
        let traces = Task::Latch.examples(Split::Train, 5, 0);
        let steps: Vec<f64> = traces.iter().flat_map(Trace::steps).map(|step| step.output[0]).collect();
        // States for which the output is 0.5 x - 0.25 y + 7, whatever y is.
        let state = |(at, output): (usize, &f64)| {
            let y = (at % 7) as f64;
            [2. * (output + 0.25 * y - 7.), y]
        };
        let states: Vec<f64> = steps.iter().enumerate().flat_map(state).collect();
        for (penalty, off) in [(1e-9, 1e-6), (1e6, 0.6)] {
            let linear = regress(states.clone(), 2, &traces, penalty).unwrap();
            for (state, output) in states.chunks_exact(2).zip(&steps) {
                let mut given = Vec::new();
                linear.apply(state, &mut given);
                assert!((given[0] - output).abs() < off, "{given:?} {output} {penalty}");
            }
        }
    }
}
