//! The random reservoir: sparse Gaussian weights, scaled to a spectral radius.

use faer::Mat;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::error::{ReservoirError, check_leak, check_neurons, finite, input_weights, within};
use super::matrix::MatrixReservoir;
use super::parts::{Activation, MatrixParts, Recurrent};

/// Parameters of a random reservoir. The weights are drawn from `ChaCha8Rng`, seeded with `seed`.
#[derive(Clone, Debug, PartialEq)]
pub struct Random {
    /// The number of neurons.
    pub neurons: usize,
    /// The largest absolute eigenvalue of the recurrent weights.
    pub radius: f64,
    /// The probability that a recurrent weight is not zero.
    pub density: f64,
    /// The standard deviation of the input weights.
    pub input: f64,
    /// The standard deviation of the biases; 0 for no bias.
    pub bias: f64,
    /// The leak rate: the fraction of the new state in the mixture with the old state. At 1, a neuron has no memory of
    /// its own.
    pub leak: f64,
    /// The seed of all weights.
    pub seed: u64,
}

impl Default for Random {
    fn default() -> Self {
        Self { neurons: 256, radius: 0.5, density: 0.1, input: 1., bias: 0., leak: 1., seed: 0 }
    }
}

impl Random {
    pub(super) fn check(&self) -> Result<(), ReservoirError> {
        check_neurons(self.neurons)?;
        within("radius", self.radius, self.radius > 0. && self.radius.is_finite(), "positive and finite")?;
        within("density", self.density, self.density > 0. && self.density <= 1., "above 0 and at most 1")?;
        finite("input", self.input)?;
        finite("bias", self.bias)?;
        check_leak(self.leak)
    }

    /// Builds the reservoir for this many input channels.
    ///
    /// # Errors
    /// If a parameter is out of range or no recurrent weight feeds back.
    pub fn build(&self, channels: usize) -> Result<MatrixReservoir, ReservoirError> {
        self.check()?;
        input_weights(self.neurons, channels)?;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let m = self.neurons;
        let mut recurrent = vec![0.; m * m];
        for weight in &mut recurrent {
            if random.random_bool(self.density) {
                *weight = normal(&mut random);
            }
        }
        if !feeds_back(&recurrent, m) {
            return Err(ReservoirError::NoRecurrence);
        }
        let scale = self.radius / spectral_radius(&recurrent, m).ok_or(ReservoirError::NoRecurrence)?;
        recurrent.iter_mut().for_each(|weight| *weight *= scale);
        let input = (0..m * channels).map(|_| self.input * normal(&mut random)).collect();
        let bias = if self.bias == 0. { 0 } else { m };
        let bias = (0..bias).map(|_| self.bias * normal(&mut random)).collect();
        MatrixReservoir::new(MatrixParts {
            neurons: m,
            channels,
            input,
            recurrent: Recurrent::Dense(recurrent),
            bias,
            leak: self.leak,
            activation: Activation::Tanh,
        })
    }
}

fn normal(random: &mut impl Rng) -> f64 {
    random.sample(StandardNormal)
}

/// Returns whether some weights form a cycle. Without a cycle the spectral radius is 0, which eigenvalue solvers do not
/// find exactly.
fn feeds_back(rows: &[f64], m: usize) -> bool {
    let present = |from: usize, to: usize| rows[to * m + from] != 0.;
    let mut incoming: Vec<usize> = (0..m).map(|to| (0..m).filter(|&from| present(from, to)).count()).collect();
    let mut free: Vec<usize> = (0..m).filter(|&neuron| incoming[neuron] == 0).collect();
    let mut removed = 0;
    while let Some(from) = free.pop() {
        removed += 1;
        for to in (0..m).filter(|&to| present(from, to)) {
            incoming[to] -= 1;
            if incoming[to] == 0 {
                free.push(to);
            }
        }
    }
    removed < m
}

/// Returns the largest absolute eigenvalue, or `None` if it is zero to working precision or cannot be computed.
fn spectral_radius(rows: &[f64], m: usize) -> Option<f64> {
    let matrix = Mat::from_fn(m, m, |i, j| rows[i * m + j]);
    let values = matrix.eigenvalues().ok()?;
    let radius = values.iter().map(|value| value.re.hypot(value.im)).fold(0., f64::max);
    (radius > 1e-12).then_some(radius)
}
