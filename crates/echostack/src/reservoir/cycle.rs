//! The cycle reservoir with jumps (CRJ): a ring of neurons connected by one weight, with shortcuts of another weight.

use std::fmt;

use dashu_int::ops::SquareRoot;
use dashu_int::{IBig, UBig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::error::{ReservoirError, check_leak, check_neurons, finite, input_weights, shape, within};
use super::network::{Drive, Reservoir};
use super::parts::{Activation, CycleParts, ReservoirParts};
use super::weights::{Finish, InputWeights};
use crate::simd::Simd;

/// The source of the signs of the input weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// The decimal digits of pi, row by row: 0 to 4 for minus, 5 to 9 for plus. The network then does not depend on a
    /// seed.
    Pi,
    /// Fair coin flips, drawn from `ChaCha8Rng` with this seed.
    Seed(u64),
}

impl fmt::Display for Signs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pi => f.write_str("Pi"),
            Self::Seed(seed) => write!(f, "Seed({seed})"),
        }
    }
}

impl Signs {
    pub(super) fn from_manifest(text: &str) -> Option<Self> {
        match text {
            "Pi" => Some(Self::Pi),
            _ => text.strip_prefix("Seed(")?.strip_suffix(')')?.parse().ok().map(Self::Seed),
        }
    }
}

/// Parameters of a cycle reservoir with jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycle {
    /// The number of neurons.
    pub neurons: usize,
    /// The absolute value of every input weight.
    pub input: f64,
    /// The weight from each neuron to the next on the ring.
    pub cycle: f64,
    /// The weight of the jumps, in both directions.
    pub jump: f64,
    /// The length of a jump, from 2 to half the number of neurons. The jumps form a closed ring if it divides the
    /// number of neurons.
    pub jump_length: usize,
    /// The absolute value of every bias; 0 for no bias.
    pub bias: f64,
    /// The leak rate: the fraction of the new state in the mixture with the old state. At 1, a neuron has no memory of
    /// its own.
    pub leak: f64,
    /// The source of the signs of the input weights and biases.
    pub signs: Signs,
}

impl Default for Cycle {
    fn default() -> Self {
        let signs = Signs::Pi;
        Self { neurons: 256, input: 1., cycle: 0.3, jump: 0.2, jump_length: 16, bias: 0., leak: 1., signs }
    }
}

impl Cycle {
    pub(super) fn check(&self) -> Result<(), ReservoirError> {
        check_neurons(self.neurons)?;
        finite("input", self.input)?;
        finite("cycle", self.cycle)?;
        finite("jump", self.jump)?;
        finite("bias", self.bias)?;
        check_jump_length(self.jump_length, self.neurons)?;
        check_leak(self.leak)
    }

    pub(super) fn build(&self, channels: usize) -> Result<CycleReservoir, ReservoirError> {
        input_weights(self.neurons, channels)?;
        let m = self.neurons;
        let biased = self.bias != 0.;
        let width = channels + usize::from(biased);
        let signs = match self.signs {
            Signs::Pi => pi_digits(m * width).iter().map(|&digit| if digit < 5 { -1. } else { 1. }).collect(),
            Signs::Seed(seed) => {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                (0..m * width).map(|_| if random.random_bool(0.5) { 1. } else { -1. }).collect::<Vec<f64>>()
            }
        };
        // A row holds the input weights of one neuron, followed by its bias.
        let column = |column: usize, scale: f64| (0..m).map(move |row| (row * width + column, scale));
        let weight = |(place, scale): (usize, f64)| scale * signs[place];
        let columns = (0..channels).flat_map(|channel| column(channel, self.input)).map(weight).collect();
        let bias = if biased { column(channels, self.bias).map(weight).collect() } else { Vec::new() };
        let parts = CycleParts {
            neurons: m,
            columns,
            cycle: self.cycle,
            jump: self.jump,
            jump_length: self.jump_length,
            bias,
            leak: self.leak,
        };
        CycleReservoir::new(parts)
    }
}

/// A cycle reservoir with jumps.
#[derive(Clone, Debug)]
pub struct CycleReservoir {
    input: InputWeights,
    cycle: f64,
    jump: f64,
    jump_length: usize,
    /// The endpoints of each jump.
    jumps: Vec<(u32, u32)>,
    finish: Finish,
}

impl CycleReservoir {
    /// Creates a reservoir with the given weights.
    ///
    /// # Errors
    /// If a value is out of range or a list has the wrong length.
    pub fn new(parts: CycleParts) -> Result<Self, ReservoirError> {
        check_neurons(parts.neurons)?;
        check_jump_length(parts.jump_length, parts.neurons)?;
        check_leak(parts.leak)?;
        let jumps = parts.jumps();
        let CycleParts { neurons: m, columns, cycle, jump, jump_length: l, bias, leak } = parts;
        finite("cycle", cycle)?;
        finite("jump", jump)?;
        shape("input", &columns, columns.len() / m * m)?;
        if !bias.is_empty() {
            shape("bias", &bias, m)?;
        }
        let finish = Finish { activation: Activation::Tanh, leak, bias };
        Ok(Self { input: InputWeights { neurons: m, columns }, cycle, jump, jump_length: l, jumps, finish })
    }
}

impl Reservoir for CycleReservoir {
    fn neurons(&self) -> usize {
        self.input.neurons
    }

    fn channels(&self) -> usize {
        self.input.channels()
    }

    fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]) {
        let last = from.len() - 1;
        to[0] = self.cycle * from[last];
        simd.scale(self.cycle, &from[..last], &mut to[1..]);
        for &(a, b) in &self.jumps {
            to[a as usize] += self.jump * from[b as usize];
            to[b as usize] += self.jump * from[a as usize];
        }
        self.input.add(simd, drive, to);
        self.finish.apply(simd, from, to);
    }

    fn parts(&self) -> Option<ReservoirParts> {
        Some(ReservoirParts::Cycle(CycleParts {
            neurons: self.input.neurons,
            columns: self.input.columns.clone(),
            cycle: self.cycle,
            jump: self.jump,
            jump_length: self.jump_length,
            bias: self.finish.bias.clone(),
            leak: self.finish.leak,
        }))
    }
}

fn check_jump_length(length: usize, neurons: usize) -> Result<(), ReservoirError> {
    within("jump_length", length as f64, length >= 2, "at least 2")?;
    if length <= neurons / 2 { Ok(()) } else { Err(ReservoirError::Jumps { length, neurons }) }
}

/// Returns the first `count` decimal digits of pi, starting with the 3, by Chudnovsky's series with binary splitting.
fn pi_digits(count: usize) -> Vec<u8> {
    /// Returns the sums P, Q and T of the terms from `from` (included) to `to` (excluded).
    fn split(from: u64, to: u64) -> (IBig, IBig, IBig) {
        if to - from == 1 {
            let k = from;
            let (p, q) = if k == 0 {
                (IBig::ONE, IBig::ONE)
            } else {
                let p = -(IBig::from(6 * k - 5) * IBig::from(2 * k - 1) * IBig::from(6 * k - 1));
                (p, IBig::from(k).pow(3) * IBig::from(10_939_058_860_032_000_u64))
            };
            let t = &p * (IBig::from(13_591_409) + IBig::from(545_140_134_u64) * IBig::from(k));
            return (p, q, t);
        }
        let middle = u64::midpoint(from, to);
        let ((p1, q1, t1), (p2, q2, t2)) = (split(from, middle), split(middle, to));
        let t = &t1 * &q2 + &p1 * &t2;
        (p1 * p2, q1 * q2, t)
    }
    let digits = count + 10; // the last digits are lost to rounding
    let (_, q, t) = split(0, digits as u64 / 14 + 2);
    let one = UBig::from(10_u8).pow(digits);
    let root = (UBig::from(10_005_u32) * &one * &one).sqrt();
    let pi = (q * IBig::from(426_880) * IBig::from(root)) / t;
    pi.to_string().bytes().take(count).map(|byte| byte - b'0').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pi_is_pi() {
        let text = |count| pi_digits(count).iter().map(|digit| (b'0' + digit) as char).collect::<String>();
        assert_eq!(text(50), "31415926535897932384626433832795028841971693993751");
        // Digits 991 to 1000 after the decimal point, as printed in tables of pi.
        assert_eq!(text(1001)[991..], *"2164201989");
        assert_eq!(text(20_000)[..1001], text(1001));
    }

    #[test]
    fn the_structure_is_that_of_the_full_matrix() {
        for (m, l) in [(6, 2), (6, 3), (7, 2), (7, 3), (20, 4), (21, 4)] {
            let params = Cycle { neurons: m, jump_length: l, ..Cycle::default() };
            let reservoir = params.build(3).unwrap();
            let mut full = vec![vec![0.; m]; m];
            for i in 0..m {
                full[(i + 1) % m][i] = params.cycle;
            }
            let mut i = 0;
            while i + l <= m {
                let (a, b) = (i, (i + l) % m);
                full[a][b] = params.jump;
                full[b][a] = params.jump;
                i += l;
            }
            let from: Vec<f64> = (0..m).map(|i| (i as f64 * 0.7).sin()).collect();
            let mut to = vec![0.; m];
            reservoir.step(Simd::default(), &from, Drive::Channel(1), &mut to);
            for (row, to) in to.iter().enumerate() {
                let sum: f64 = full[row].iter().zip(&from).map(|(w, x)| w * x).sum();
                let expected = (sum + reservoir.input.column(1)[row]).tanh();
                assert!((to - expected).abs() < 1e-14, "{m} neurons, jumps of {l}, row {row}");
            }
        }
    }
}
