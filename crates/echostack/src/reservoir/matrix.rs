//! Reservoirs with given matrices, dense or sparse. Random reservoirs are of this kind, too.

use super::abreast::{abreast, recur_abreast};
use super::error::{ReservoirError, check_leak, check_neurons, check_sparse_neurons, finite, input_weights, shape};
use super::network::{Drive, Reservoir, Transition};
use super::parts::{MatrixParts, Recurrent, ReservoirParts};
use super::weights::{Finish, InputWeights};
use crate::simd::{Abreast, DenseRows, Simd, SparseRows};

/// A reservoir with given matrices. If most of the recurrent weights are zero, they are stored and multiplied sparsely.
///
/// ```
/// use echostack::reservoir::{Activation, Drive, MatrixParts, MatrixReservoir, Recurrent, Simd, encode};
/// let reservoir = MatrixReservoir::new(MatrixParts {
///     neurons: 2,
///     channels: 1,
///     input: vec![1.0, 0.0],
///     recurrent: Recurrent::Dense(vec![0.0, 0.0, 0.5, 0.0]), // a delay line: the second neuron follows the first
///     bias: vec![],
///     leak: 1.0,
///     activation: Activation::Identity,
/// })?;
/// let state = encode(&reservoir, Simd::default(), [Drive::Channel(0), Drive::Silence]);
/// assert_eq!(state, [0.0, 0.5]);
/// # Ok::<(), echostack::reservoir::ReservoirError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MatrixReservoir {
    input: InputWeights,
    recurrence: Recurrence,
    finish: Finish,
}

#[derive(Clone, Debug)]
enum Recurrence {
    Dense(DenseRows),
    Sparse(SparseRows),
}

impl Recurrence {
    /// Computes `to = W from`.
    fn multiply(&self, simd: Simd, from: &[f64], to: &mut [f64]) {
        match self {
            Self::Dense(rows) => rows.multiply(simd, from, to),
            Self::Sparse(rows) => rows.multiply(from, to),
        }
    }

    /// Computes `to = W from` for several states side by side, with the same bits as [`Recurrence::multiply`].
    fn multiply_abreast(&self, simd: Simd, from: &[Abreast], to: &mut [Abreast]) {
        match self {
            Self::Dense(rows) => rows.multiply_abreast(simd, from, to),
            Self::Sparse(rows) => rows.multiply_abreast(simd, from, to),
        }
    }
}

impl MatrixReservoir {
    /// Creates a reservoir with these matrices.
    ///
    /// # Errors
    /// If a matrix has the wrong size, a value is not finite, or the leak rate is out of range.
    pub fn new(parts: MatrixParts) -> Result<Self, ReservoirError> {
        let MatrixParts { neurons, channels, input, recurrent, bias, leak, activation } = parts;
        match recurrent {
            Recurrent::Dense(_) => check_neurons(neurons)?,
            Recurrent::Sparse(_) => check_sparse_neurons(neurons)?,
        }
        check_leak(leak)?;
        shape("input", &input, input_weights(neurons, channels)?)?;
        if !bias.is_empty() {
            shape("bias", &bias, neurons)?;
        }
        let columns = transpose(&input, neurons, channels);
        let recurrence = match recurrent {
            Recurrent::Dense(weights) => {
                shape("recurrent", &weights, neurons * neurons)?;
                let present = weights.iter().filter(|&&weight| weight != 0.).count();
                if present * 4 <= weights.len() {
                    let place = |at: usize| ((at / neurons) as u32, (at % neurons) as u32);
                    let entries = weights.iter().enumerate().filter(|&(_, &weight)| weight != 0.);
                    Recurrence::Sparse(SparseRows::new(neurons, entries.map(|(at, &w)| (place(at).0, place(at).1, w))))
                } else {
                    Recurrence::Dense(DenseRows::new(neurons, neurons, |row, column| weights[row * neurons + column]))
                }
            }
            Recurrent::Sparse(entries) => {
                entries.iter().try_for_each(|&(_, _, weight)| finite("recurrent", weight))?;
                let inside = entries.iter().all(|&(row, column, _)| (row.max(column) as usize) < neurons);
                let sorted = entries.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1));
                if !inside || !sorted {
                    return Err(ReservoirError::Sparse);
                }
                Recurrence::Sparse(SparseRows::new(neurons, entries.into_iter()))
            }
        };
        let finish = Finish { activation, leak, bias };
        Ok(Self { input: InputWeights { neurons, columns }, recurrence, finish })
    }
}

pub(super) fn transpose(rows: &[f64], height: usize, width: usize) -> Vec<f64> {
    (0..width).flat_map(|column| (0..height).map(move |row| rows[row * width + column])).collect()
}

impl Reservoir for MatrixReservoir {
    fn neurons(&self) -> usize {
        self.input.neurons
    }

    fn channels(&self) -> usize {
        self.input.channels()
    }

    fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]) {
        self.recurrence.multiply(simd, from, to);
        self.input.add(simd, drive, to);
        self.finish.apply(simd, from, to);
    }

    fn steps(&self, simd: Simd, steps: &mut [Transition<'_>]) {
        for steps in abreast(self, simd, steps) {
            recur_abreast(steps, 0..self.neurons(), |from, to| self.recurrence.multiply_abreast(simd, from, to));
            for step in steps {
                self.input.add(simd, step.drive, step.to);
                self.finish.apply(simd, step.from, step.to);
            }
        }
    }

    fn parts(&self) -> Option<ReservoirParts> {
        let (neurons, channels) = (self.neurons(), self.channels());
        let recurrent = match &self.recurrence {
            Recurrence::Dense(rows) => Recurrent::Dense(rows.by_rows()),
            Recurrence::Sparse(rows) => Recurrent::Sparse(rows.entries()),
        };
        Some(ReservoirParts::Matrix(MatrixParts {
            neurons,
            channels,
            input: transpose(&self.input.columns, channels, neurons),
            recurrent,
            bias: self.finish.bias.clone(),
            leak: self.finish.leak,
            activation: self.finish.activation,
        }))
    }
}
