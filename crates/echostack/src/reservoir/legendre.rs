//! The Legendre delay network (LDN), which represents the recent past of each input channel by Legendre coefficients.

use faer::linalg::solvers::Solve;
use faer::{Mat, Scale};

use super::abreast::{abreast, recur_abreast};
use super::error::{ReservoirError, check_neurons, shape, within};
use super::network::{Drive, Reservoir, Transition};
use super::parts::{LegendreParts, ReservoirParts};
use crate::simd::{DenseRows, Simd};

/// Parameters of a Legendre delay network. Its activation is the identity.
#[derive(Clone, Debug, PartialEq)]
pub struct Legendre {
    /// The maximum number of neurons. Each channel gets the same number: this one divided by the number of channels,
    /// rounded down.
    pub neurons: usize,
    /// The number of steps that the network looks back.
    pub theta: f64,
}

impl Default for Legendre {
    fn default() -> Self {
        Self { neurons: 256, theta: 3. }
    }
}

impl Legendre {
    pub(super) fn check(&self) -> Result<(), ReservoirError> {
        check_neurons(self.neurons)?;
        within("theta", self.theta, self.theta >= 0.1 && self.theta <= 1e6, "from 0.1 to 1e6")
    }

    pub(super) fn build(&self, channels: usize) -> Result<LegendreReservoir, ReservoirError> {
        let order = self.neurons / channels.max(1);
        if order == 0 {
            return Err(ReservoirError::TooFewNeurons { neurons: self.neurons, channels });
        }
        // The system is theta dx/dt = A x + B u with u constant over a step: exp([A B; 0 0] / theta) is [W U; 0 1].
        let sign = |power: usize| if power.is_multiple_of(2) { 1. } else { -1. };
        let system = Mat::from_fn(order + 1, order + 1, |i, j| {
            let scale = (2 * i + 1) as f64 / self.theta;
            match (i, j) {
                (i, _) if i == order => 0.,
                (i, j) if j == order => scale * sign(i),
                (i, j) if i < j => -scale,
                (i, j) => scale * sign(i - j + 1),
            }
        });
        let step = exponential(&system);
        LegendreReservoir::new(LegendreParts {
            channels,
            recurrent: (0..order * order).map(|k| step[(k % order, k / order)]).collect(),
            input: (0..order).map(|i| step[(i, order)]).collect(),
        })
    }
}

/// Computes the matrix exponential by scaling and squaring with the Padé approximant of degree 13.
fn exponential(matrix: &Mat<f64>) -> Mat<f64> {
    const B: [f64; 14] = [
        64_764_752_532_480_000.,
        32_382_376_266_240_000.,
        7_771_770_303_897_600.,
        1_187_353_796_428_800.,
        129_060_195_264_000.,
        10_559_470_521_600.,
        670_442_572_800.,
        33_522_128_640.,
        1_323_241_920.,
        40_840_800.,
        960_960.,
        16_380.,
        182.,
        1.,
    ];
    let n = matrix.nrows();
    let norm = (0..n).map(|j| (0..n).map(|i| matrix[(i, j)].abs()).sum::<f64>()).fold(0., f64::max);
    // Up to a norm of 5.37, degree 13 is exact to within rounding.
    let squarings = (norm / 5.37).log2().ceil().max(0.) as i32;
    let a = matrix * Scale(0.5_f64.powi(squarings));
    let one = Mat::<f64>::identity(n, n);
    let a2 = &a * &a;
    let a4 = &a2 * &a2;
    let a6 = &a4 * &a2;
    let sum = |c6: f64, c4: f64, c2: f64| &a6 * Scale(c6) + &a4 * Scale(c4) + &a2 * Scale(c2);
    let odd = &a * (&a6 * sum(B[13], B[11], B[9]) + sum(B[7], B[5], B[3]) + &one * Scale(B[1]));
    let even = &a6 * sum(B[12], B[10], B[8]) + sum(B[6], B[4], B[2]) + &one * Scale(B[0]);
    let mut result = (&even - &odd).partial_piv_lu().solve(&even + &odd);
    for _ in 0..squarings {
        result = &result * &result;
    }
    result
}

/// A Legendre delay network: the same small linear network for each channel.
#[derive(Clone, Debug)]
pub struct LegendreReservoir {
    order: usize,
    parts: LegendreParts,
    /// The recurrent weights of `parts` in the layout for multiplication.
    recurrent: DenseRows,
}

impl LegendreReservoir {
    /// Creates a network with the given weights.
    ///
    /// # Errors
    /// If a value is not finite, a list has the wrong length, or there are too many neurons.
    pub fn new(parts: LegendreParts) -> Result<Self, ReservoirError> {
        let order = parts.input.len();
        check_neurons(order.saturating_mul(parts.channels.max(1)))?;
        shape("input", &parts.input, order)?;
        shape("recurrent", &parts.recurrent, order * order)?;
        let recurrent = DenseRows::new(order, order, |row, column| parts.recurrent[column * order + row]);
        Ok(Self { order, parts, recurrent })
    }
}

impl LegendreReservoir {
    /// Computes `to += U x`.
    fn drive(&self, simd: Simd, drive: Drive<'_>, to: &mut [f64]) {
        let mut add = |channel: usize, value: f64| {
            simd.add_scaled(value, &self.parts.input, &mut to[channel * self.order..][..self.order]);
        };
        match drive {
            Drive::Silence => {}
            Drive::Channel(channel) => add(channel, 1.),
            Drive::Values(values) => values.iter().enumerate().for_each(|(channel, &value)| add(channel, value)),
        }
    }
}

impl Reservoir for LegendreReservoir {
    fn neurons(&self) -> usize {
        self.parts.channels * self.order
    }

    fn channels(&self) -> usize {
        self.parts.channels
    }

    fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]) {
        for (from, to) in from.chunks_exact(self.order).zip(to.chunks_exact_mut(self.order)) {
            self.recurrent.multiply(simd, from, to);
        }
        self.drive(simd, drive, to);
    }

    fn steps(&self, simd: Simd, steps: &mut [Transition<'_>]) {
        for steps in abreast(self, simd, steps) {
            for channel in 0..self.parts.channels {
                let neurons = channel * self.order..(channel + 1) * self.order;
                recur_abreast(steps, neurons, |from, to| self.recurrent.multiply_abreast(simd, from, to));
            }
            steps.iter_mut().for_each(|step| self.drive(simd, step.drive, step.to));
        }
    }

    fn parts(&self) -> Option<ReservoirParts> {
        Some(ReservoirParts::Legendre(self.parts.clone()))
    }
}
