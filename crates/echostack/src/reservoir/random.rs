//! The random reservoir: sparse Gaussian weights, scaled to a spectral radius.

use faer::Mat;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::error::{
    MAX_NEURONS, ReservoirError, check_density, check_leak, check_sparse_neurons, finite, input_weights, within,
};
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
        check_sparse_neurons(self.neurons)?;
        within("radius", self.radius, self.radius > 0. && self.radius.is_finite(), "positive and finite")?;
        within("density", self.density, self.density > 0. && self.density <= 1., "above 0 and at most 1")?;
        check_density(self.neurons, self.density)?;
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
        let recurrent = if m <= MAX_NEURONS { self.dense(&mut random)? } else { self.sparse(&mut random)? };
        let input = (0..m * channels).map(|_| self.input * normal(&mut random)).collect();
        let bias = if self.bias == 0. { 0 } else { m };
        let bias = (0..bias).map(|_| self.bias * normal(&mut random)).collect();
        MatrixReservoir::new(MatrixParts {
            neurons: m,
            channels,
            input,
            recurrent,
            bias,
            leak: self.leak,
            activation: Activation::Tanh,
        })
    }
}

impl Random {
    fn dense(&self, random: &mut ChaCha8Rng) -> Result<Recurrent, ReservoirError> {
        let m = self.neurons;
        let mut recurrent = vec![0.; m * m];
        for weight in &mut recurrent {
            if random.random_bool(self.density) {
                *weight = normal(random);
            }
        }
        if !feeds_back(&recurrent, m) {
            return Err(ReservoirError::NoRecurrence);
        }
        let scale = self.radius / spectral_radius(&recurrent, m).ok_or(ReservoirError::NoRecurrence)?;
        recurrent.iter_mut().for_each(|weight| *weight *= scale);
        Ok(Recurrent::Dense(recurrent))
    }

    /// Draws the same weights as [`Random::dense`], but finds their spectral radius only approximately.
    fn sparse(&self, random: &mut ChaCha8Rng) -> Result<Recurrent, ReservoirError> {
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        for row in 0..self.neurons as u32 {
            for column in 0..self.neurons as u32 {
                if random.random_bool(self.density) {
                    entries.push((row, column, normal(random)));
                }
            }
        }
        let scale = self.radius / arnoldi_radius(&entries, self.neurons).ok_or(ReservoirError::NoRecurrence)?;
        entries.iter_mut().for_each(|entry| entry.2 *= scale);
        Ok(Recurrent::Sparse(entries))
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

/// The dimension of the space in which [`arnoldi_radius`] looks for eigenvalues.
const DIMENSIONS: usize = 128;

/// Returns the largest absolute eigenvalue of sparse weights to within a few percent, by Arnoldi's method: it is that of
/// the weights restricted to the space of a random vector and its images.
fn arnoldi_radius(entries: &[(u32, u32, f64)], m: usize) -> Option<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut next: Vec<f64> = (0..m).map(|_| normal(&mut random)).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut restricted = Mat::<f64>::zeros(DIMENSIONS, DIMENSIONS);
    while basis.len() < DIMENSIONS.min(m) {
        let k = basis.len();
        let norm = dot(&next, &next).sqrt();
        if norm < 1e-12 {
            break; // the space is closed
        }
        if k > 0 {
            restricted[(k, k - 1)] = norm;
        }
        next.iter_mut().for_each(|value| *value /= norm);
        basis.push(next);
        let mut image = vec![0.; m];
        entries.iter().for_each(|&(i, j, weight)| image[i as usize] += weight * basis[k][j as usize]);
        for _ in 0..2 {
            for (row, vector) in basis.iter().enumerate() {
                let part = dot(vector, &image);
                restricted[(row, k)] += part;
                image.iter_mut().zip(vector).for_each(|(value, own)| *value -= part * own);
            }
        }
        next = image;
    }
    largest(&restricted.submatrix(0, 0, basis.len(), basis.len()).to_owned())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn spectral_radius(rows: &[f64], m: usize) -> Option<f64> {
    largest(&Mat::from_fn(m, m, |i, j| rows[i * m + j]))
}

/// Returns the largest absolute eigenvalue, or `None` if it is zero to working precision or cannot be computed.
fn largest(matrix: &Mat<f64>) -> Option<f64> {
    let values = matrix.eigenvalues().ok()?;
    let radius = values.iter().map(|value| value.re.hypot(value.im)).fold(0., f64::max);
    (radius > 1e-12).then_some(radius)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_radius_of_sparse_weights_is_nearly_that_of_the_dense_ones() {
        for (neurons, density) in [(1000, 0.01), (600, 0.1), (50, 0.5)] {
            let params = Random { neurons, density, ..Random::default() };
            let random = || ChaCha8Rng::seed_from_u64(3);
            let Ok(Recurrent::Dense(dense)) = params.dense(&mut random()) else { panic!("the weights are dense") };
            let Ok(Recurrent::Sparse(sparse)) = params.sparse(&mut random()) else { panic!("the weights are sparse") };
            let (row, column, weight) = sparse[7];
            let ratio = weight / dense[row as usize * neurons + column as usize];
            assert!((ratio - 1.).abs() < 0.05, "{neurons} neurons: {ratio}");
            let other = sparse.iter().map(|&(i, j, w)| (w / dense[i as usize * neurons + j as usize] - ratio).abs());
            assert!(other.fold(0., f64::max) < 1e-9);
        }
    }
}
