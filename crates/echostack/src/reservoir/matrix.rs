//! A reservoir of given matrices, dense or sparse. The random reservoir is one, too.

use super::{Activation, Drive, Finish, InputWeights, Reservoir, ReservoirError, check_leak, check_neurons, finite};
use crate::simd::Simd;

/// The matrices of a [`MatrixReservoir`], row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixParts {
    /// The number of neurons, m.
    pub neurons: usize,
    /// The number of input channels, n: one for each symbol of the alphabet.
    pub channels: usize,
    /// U, m rows of n weights.
    pub input: Vec<f64>,
    /// W, m rows of m weights.
    pub recurrent: Vec<f64>,
    /// A value added to each neuron before the activation; none if empty.
    pub bias: Vec<f64>,
    /// The part of the new state in the mixture with the old, above 0 and at most 1.
    pub leak: f64,
    /// The activation.
    pub activation: Activation,
}

/// A reservoir of given matrices. Mostly-zero recurrent weights are stored and multiplied sparsely.
///
/// ```
/// use echostack::{Activation, Drive, MatrixParts, MatrixReservoir, Simd, encode};
/// let reservoir = MatrixReservoir::new(MatrixParts {
///     neurons: 2,
///     channels: 1,
///     input: vec![1.0, 0.0],
///     recurrent: vec![0.0, 0.0, 0.5, 0.0], // a delay line: the second neuron follows the first
///     bias: vec![],
///     leak: 1.0,
///     activation: Activation::Identity,
/// })?;
/// let state = encode(&reservoir, Simd::default(), [Drive::Channel(0), Drive::Silence]);
/// assert_eq!(state, [0.0, 0.5]);
/// # Ok::<(), echostack::ReservoirError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MatrixReservoir {
    input: InputWeights,
    recurrence: Recurrence,
    finish: Finish,
}

#[derive(Clone, Debug)]
enum Recurrence {
    /// Column by column.
    Dense(Vec<f64>),
    Sparse(Sparse),
}

/// A sparse matrix, row by row.
#[derive(Clone, Debug)]
struct Sparse {
    /// Where each row's weights begin; one more entry at the end.
    starts: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

impl Sparse {
    /// `to = W from`, each row summed in four interleaved parts.
    fn multiply(&self, from: &[f64], to: &mut [f64]) {
        for (to, ends) in to.iter_mut().zip(self.starts.windows(2)) {
            let range = ends[0] as usize..ends[1] as usize;
            let (columns, weights) = (&self.columns[range.clone()], &self.weights[range]);
            let mut sums = [0.; 4];
            let (columns, rest_columns) = columns.as_chunks::<4>();
            let (weights, rest_weights) = weights.as_chunks::<4>();
            for (columns, weights) in columns.iter().zip(weights) {
                for ((sum, &column), weight) in sums.iter_mut().zip(columns).zip(weights) {
                    *sum += weight * from[column as usize];
                }
            }
            for ((sum, &column), weight) in sums.iter_mut().zip(rest_columns).zip(rest_weights) {
                *sum += weight * from[column as usize];
            }
            *to = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
    }
}

impl MatrixReservoir {
    /// A reservoir of these matrices.
    ///
    /// # Errors
    /// If a matrix has the wrong size, a value is not finite, or the leak is out of range.
    pub fn new(parts: MatrixParts) -> Result<Self, ReservoirError> {
        let MatrixParts { neurons, channels, input, recurrent, bias, leak, activation } = parts;
        check_neurons(neurons)?;
        check_leak(leak)?;
        let shape = |name, given: &[f64], needed: usize| {
            given.iter().try_for_each(|&value| finite(name, value))?;
            if given.len() == needed { Ok(()) } else { Err(ReservoirError::Shape { name, given: given.len(), needed }) }
        };
        shape("input", &input, neurons * channels)?;
        shape("recurrent", &recurrent, neurons * neurons)?;
        if !bias.is_empty() {
            shape("bias", &bias, neurons)?;
        }
        let columns = transpose(&input, neurons, channels);
        let present = recurrent.iter().filter(|&&weight| weight != 0.).count();
        let recurrence = if present * 4 <= recurrent.len() {
            Recurrence::Sparse(sparse(&recurrent, neurons))
        } else {
            Recurrence::Dense(transpose(&recurrent, neurons, neurons))
        };
        let finish = Finish { activation, leak, bias };
        Ok(Self { input: InputWeights { neurons, columns }, recurrence, finish })
    }
}

fn transpose(rows: &[f64], height: usize, width: usize) -> Vec<f64> {
    (0..width).flat_map(|column| (0..height).map(move |row| rows[row * width + column])).collect()
}

fn sparse(rows: &[f64], width: usize) -> Sparse {
    let mut this = Sparse { starts: vec![0], columns: Vec::new(), weights: Vec::new() };
    for row in rows.chunks_exact(width) {
        for (column, &weight) in row.iter().enumerate().filter(|&(_, &weight)| weight != 0.) {
            this.columns.push(column as u32);
            this.weights.push(weight);
        }
        this.starts.push(this.columns.len() as u32);
    }
    this
}

impl Reservoir for MatrixReservoir {
    fn neurons(&self) -> usize {
        self.input.neurons
    }

    fn channels(&self) -> usize {
        self.input.channels()
    }

    fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]) {
        match &self.recurrence {
            Recurrence::Dense(columns) => simd.multiply(columns, from, to),
            Recurrence::Sparse(sparse) => sparse.multiply(from, to),
        }
        self.input.add(simd, drive, to);
        self.finish.apply(simd, from, to);
    }
}
