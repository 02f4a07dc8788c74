//! Maximum-margin affine separators: functions that are positive on some states and negative on others.

use super::lessons::{Distances, Lesson, StateId, States};
use super::svm::{Fault, Problem, Shape, Svm, train};
use crate::control::Control;
use crate::simd::Simd;

/// An affine function of a state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Affine {
    pub(crate) weights: Vec<f64>,
    pub(crate) intercept: f64,
}

impl Affine {
    /// Returns a constant function.
    pub(crate) fn constant(neurons: usize, intercept: f64) -> Self {
        Self { weights: vec![0.; neurons], intercept }
    }
}

/// Separates the states for which `positive` holds from the others: the function is at least 1 on the former and at
/// most -1 on the latter, if the cost is large enough. If all states are of one kind, it is 1 or -1 everywhere.
pub(crate) fn separate(
    states: &States,
    distances: &Distances<'_>,
    positive: &[bool],
    cost: f64,
    control: &dyn Control,
) -> Result<Affine, Fault> {
    let neurons = states.neurons();
    if positive.iter().all(|&is| is == positive[0]) {
        return Ok(Affine::constant(neurons, if positive.first() == Some(&true) { 1. } else { -1. }));
    }
    // All rows have the same input, which therefore has no effect.
    let mut nothing = States::new(neurons);
    let input = nothing.intern(&vec![0.; neurons]);
    let rows: Vec<Lesson> = (0..positive.len()).map(|row| Lesson { input, stack: StateId::new(row as u32) }).collect();
    let problem = Problem {
        rows: &rows,
        classes: positive.iter().map(|&is| u32::from(!is)).collect(),
        class_count: 2,
        shape: Shape::Linear,
        inputs: &Distances::new(&nothing, Simd::default()),
        stacks: distances,
        simd: Simd::default(),
    };
    let pairs = train(&problem, Svm { cost, gamma: 1., tolerance: 1e-3 }, control, &|_| {})?;
    let mut all = Affine::constant(neurons, pairs[0].intercept);
    for &(row, weight) in &pairs[0].terms {
        let state = states.get(StateId::new(row));
        // The kernel is 1 - |x - y|^2 / 2. The weights add up to 0, so only these terms remain.
        all.intercept -= weight * state.iter().map(|x| x * x).sum::<f64>() / 2.;
        all.weights.iter_mut().zip(&state).for_each(|(sum, x)| *sum += weight * x);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn a_separator_has_the_widest_margin() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for round in 0..50 {
            let mut states = States::new(5);
            let direction: Vec<f64> = (0..5).map(|_| random.random_range(-1.0..1.0)).collect();
            let mut positive = Vec::new();
            while positive.len() < 40 {
                let point: Vec<f64> = (0..5).map(|_| random.random_range(-1.0..1.0)).collect();
                let value: f64 = point.iter().zip(&direction).map(|(x, w)| x * w).sum::<f64>() + 0.1;
                if value.abs() > 0.1 {
                    states.intern(&point);
                    positive.push(value > 0.);
                }
            }
            let distances = Distances::new(&states, Simd::default());
            let found = separate(&states, &distances, &positive, 1e6, &()).unwrap();
            let values: Vec<f64> = (0..positive.len())
                .map(|row| {
                    let state = states.get(StateId::new(row as u32));
                    let value: f64 = state.iter().zip(&found.weights).map(|(x, w)| x * w).sum();
                    if positive[row] { value + found.intercept } else { -value - found.intercept }
                })
                .collect();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            assert!((least - 1.).abs() < 0.01, "round {round}: {least}");
            // `direction` separates the points with a margin of 0.1 / |direction|; the widest margin is at least that.
            let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(1. / length(&found.weights) >= 0.1 / length(&direction) * 0.99, "round {round}");
        }
    }
}
