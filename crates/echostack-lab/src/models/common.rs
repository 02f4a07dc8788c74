//! What the models share: the hyperparameters to choose from, and the reservoirs that they build.

use std::sync::Arc;

use echostack::Word;
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::{Cycle, Drive, Legendre, Random, Reservoir, ReservoirParams, Signs};
use echostack::symbol::Input;
use echostack::tasks::Task;

use crate::estimator::{Choice, EstimatorError, Space};
use crate::problem::Problem;

/// Returns the number of neurons of stack and memory machines: 256, or 512 for the copy task, as in the paper.
pub(super) fn neurons(problem: &Problem) -> usize {
    if problem.task() == Some(Task::Copy) { 512 } else { 256 }
}

/// Returns the paper's short name for a kind of reservoir.
pub(super) fn short(kind: ReservoirKind) -> &'static str {
    match kind {
        ReservoirKind::Random => "rand",
        ReservoirKind::Cycle => "CRJ",
        ReservoirKind::Legendre => "LDN",
    }
}

/// The costs of support vector machines to choose from.
pub(super) const COSTS: [f64; 3] = [1., 100., 1e4];
/// The penalties of regressions to choose from.
pub(super) const PENALTIES: [f64; 3] = [1e-7, 1e-5, 1e-3];

/// Returns the hyperparameters of a reservoir to choose from. The values are those that the paper's author published for
/// a related model, extended where these do not reach zero error: by an input scale of 1, by cycle weights of 0.2 and
/// 0.3, and in the delay of the Legendre network.
pub(super) fn reservoir_space(kind: ReservoirKind, problem: &Problem) -> Space {
    let values: &[(&str, &[f64])] = match kind {
        ReservoirKind::Random => &[("radius", &[0.5, 0.7, 0.9]), ("density", &[0.1, 0.2, 0.5]), ("input", &[0.3, 1.])],
        ReservoirKind::Cycle => &[
            ("input", &[0.1, 0.3, 0.5, 1.]),
            ("cycle", &[0.1, 0.2, 0.3, 0.7, 0.9]),
            ("jump", &[0.1, 0.2, 0.4]),
            ("jump_length", &[4., 8., 16.]),
        ],
        ReservoirKind::Legendre => match problem.task() {
            Some(Task::Copy) => &[("theta", &[20., 24., 28., 32.])],
            Some(Task::RepeatCopy) => &[("theta", &[12., 14., 16., 20.])],
            _ => &[("theta", &[3., 5., 8.])],
        },
    };
    values.iter().map(|(name, values)| (name.to_string(), values.to_vec())).collect()
}

/// Returns the value of a hyperparameter.
pub(super) fn chosen(choice: &Choice, name: &str) -> Result<f64, EstimatorError> {
    choice.get(name).copied().ok_or_else(|| EstimatorError(format!("the hyperparameter {name} is missing")))
}

/// Builds the reservoir with these hyperparameters.
pub(super) fn reservoir(
    kind: ReservoirKind,
    neurons: usize,
    channels: usize,
    choice: &Choice,
    seed: u64,
) -> Result<Arc<dyn Reservoir>, EstimatorError> {
    let value = |name: &str| chosen(choice, name);
    let params = match kind {
        ReservoirKind::Random => ReservoirParams::Random(Random {
            neurons,
            radius: value("radius")?,
            density: value("density")?,
            input: value("input")?,
            seed,
            ..Random::default()
        }),
        ReservoirKind::Cycle => ReservoirParams::Cycle(Cycle {
            neurons,
            input: value("input")?,
            cycle: value("cycle")?,
            jump: value("jump")?,
            jump_length: value("jump_length")? as usize,
            signs: Signs::Seed(seed),
            ..Cycle::default()
        }),
        ReservoirKind::Legendre => ReservoirParams::Legendre(Legendre { neurons, theta: value("theta")? }),
    };
    params.build(channels).map_err(EstimatorError::new)
}

/// Returns the drives of a reservoir on a word: the inputs, and silence at the end.
pub(super) fn drives(word: &Word) -> Vec<Drive<'_>> {
    let drive = |input| match input {
        Input::Symbol(symbol) => Drive::Channel(symbol.index()),
        Input::Vector(values) => Drive::Values(values),
    };
    word.inputs().map(drive).chain([Drive::Silence]).collect()
}
