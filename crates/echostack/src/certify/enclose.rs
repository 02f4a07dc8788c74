//! Sets that contain every state a reservoir can be in after a suffix, whatever came before it.
//!
//! The states are those that the program computes, not those of an idealized reservoir over the real numbers. Each step
//! widens the set by more than floating-point arithmetic can lose in it, whatever the order of the sums. Each constant
//! is named after its lemma in docs/proof.

use super::scale::{LARGEST, UNDERFLOW};
use crate::control::{Cancelled, Poll};
use crate::reservoir::{Activation, Recurrent, ReservoirParts};
use crate::simd::{Simd, TANH_ERROR};

/// The distance from 1 to the next number: 2^-52.
const EPSILON: f64 = f64::EPSILON;

/// The rounding error of a neuron's weighted sum per term, in the program and in the bounds (Lemma STEP_SLACK).
pub(super) const STEP_SLACK: f64 = 8.;
/// An upper bound on the rounding error of a hyperbolic tangent, a leak and the center of an interval together (Lemma
/// FINISH).
pub(super) const FINISH: f64 = 64. * EPSILON;
const _: () = assert!(FINISH >= 2. * TANH_ERROR + 12. * EPSILON);
/// An upper bound on the magnitude of a state of a network with the hyperbolic tangent, whatever was read and however
/// it was rounded (Lemma EVERYTHING).
pub(super) const EVERYTHING: f64 = 1.001;
/// A factor that covers the rounding of a length, or of a sum of up to 2^24 positive terms (Lemma NORM).
pub(super) const NORM: f64 = 1. + 1e-8;
/// The rounding error of a length per term, and of its square root (Lemma LENGTH).
pub(super) const LENGTH_TERM: f64 = 2.;
pub(super) const LENGTH_ROOT: f64 = 4.;
/// The rounding error of a step of a linear network per term (Lemma LINEAR_STEP).
pub(super) const LINEAR_STEP: f64 = 8.;
/// The norm of a power of a linear network's matrix from which on the powers are bounded by a geometric series (Lemma
/// GEOMETRIC).
pub(super) const GEOMETRIC: f64 = 0.25;
/// The maximum of the accumulated rounding error, relative to the states themselves (Lemma CONDITION).
pub(super) const CONDITION: f64 = 0.25;
/// A factor that covers the rounding of a few products and sums (Lemma FEW).
pub(super) const FEW: f64 = 1. + 1e-12;

/// A set of states: those within `radii` of the center in every neuron, and within the Euclidean distance `ball` of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Enclosure {
    pub(crate) center: Vec<f64>,
    pub(crate) radii: Vec<f64>,
    pub(crate) ball: f64,
}

impl Enclosure {
    /// Returns the set of a single state.
    pub(crate) fn point(center: Vec<f64>) -> Self {
        let radii = vec![0.; center.len()];
        Self { center, radii, ball: 0. }
    }

    /// Returns the set of states between two bounds in every neuron. The bounds must not be far beyond 1 in magnitude.
    pub(super) fn between(low: &[f64], high: &[f64]) -> Self {
        let ends = low.iter().zip(high);
        let center: Vec<f64> = ends.clone().map(|(low, high)| f64::midpoint(*low, *high)).collect();
        let radii: Vec<f64> = ends.map(|(low, high)| (high - low) * 0.5 + FINISH).collect();
        let ball = length(&radii);
        Self { center, radii, ball }
    }

    /// Returns the length of the half-widths, or the radius of the ball if it is larger.
    pub(super) fn spread(&self) -> f64 {
        length(&self.radii).max(self.ball)
    }

    /// Returns whether the other set's box lies inside this set's box.
    fn covers(&self, other: &Self) -> bool {
        let sides = self.center.iter().zip(&self.radii).zip(other.center.iter().zip(&other.radii));
        sides.into_iter().all(|((a, r), (b, q))| (a - b).abs() + q + FINISH <= *r)
    }

    /// Returns whether a state lies in the set.
    #[cfg(test)]
    pub(crate) fn contains(&self, state: &[f64]) -> bool {
        let apart = state.iter().zip(&self.center).map(|(x, c)| (x - c).abs());
        let square: f64 = apart.clone().map(|x| x * x).sum();
        apart.zip(&self.radii).all(|(apart, radius)| apart <= *radius) && square.sqrt() <= self.ball
    }
}

/// Returns an upper bound on the length of a vector.
pub(super) fn length(vector: &[f64]) -> f64 {
    let square: f64 = vector.iter().map(|x| x * x).sum();
    let terms = LENGTH_TERM * (vector.len() + 4) as f64 * EPSILON;
    (square * (1. + terms)).sqrt() * (1. + LENGTH_ROOT * EPSILON)
}

/// Computes sets that enclose the states of a reservoir.
#[derive(Debug)]
pub(crate) enum Encloser {
    Squashing(Squashing),
    Delay(Delay),
}

impl Encloser {
    /// Prepares the enclosure of a reservoir's states. Returns `None` if none is known for this kind of reservoir.
    pub(crate) fn new(parts: ReservoirParts) -> Option<Self> {
        Some(match parts {
            ReservoirParts::Legendre(parts) => Self::Delay(Delay::new(&parts.recurrent, &parts.input, parts.channels)?),
            ReservoirParts::Matrix(parts) if parts.activation == Activation::Tanh => {
                let m = parts.neurons;
                let entries: Vec<(usize, usize, f64)> = match parts.recurrent {
                    Recurrent::Sparse(entries) => {
                        entries.iter().map(|&(row, column, w)| (row as usize, column as usize, w)).collect()
                    }
                    Recurrent::Dense(rows) => {
                        let all = rows.iter().enumerate().filter(|&(_, &w)| w != 0.);
                        all.map(|(at, &w)| (at / m, at % m, w)).collect()
                    }
                };
                let columns: Vec<f64> = (0..parts.channels)
                    .flat_map(|channel| (0..m).map(move |row| (row, channel)))
                    .map(|(row, channel)| parts.input[row * parts.channels + channel])
                    .collect();
                Self::Squashing(Squashing::new(m, &entries, columns, parts.bias, parts.leak))
            }
            ReservoirParts::Matrix(_) => return None,
            ReservoirParts::Cycle(parts) => {
                let m = parts.neurons;
                let mut entries: Vec<(usize, usize, f64)> =
                    (0..m).map(|neuron| ((neuron + 1) % m, neuron, parts.cycle)).collect();
                for (a, b) in parts.jumps() {
                    entries.extend([(a as usize, b as usize, parts.jump), (b as usize, a as usize, parts.jump)]);
                }
                entries.sort_by_key(|&(row, column, _)| (row, column));
                Self::Squashing(Squashing::new(m, &entries, parts.columns, parts.bias, parts.leak))
            }
        })
    }

    /// Returns a set that contains the zero state and, with each state, its successors under any of these channels.
    /// Hence it contains all states that a sequence of them can lead to.
    pub(crate) fn anything(&self, channels: usize, poll: &mut Poll<'_>) -> Result<Start, Cancelled> {
        Ok(match self {
            Self::Squashing(squashing) => Start::Set(squashing.anything(channels, poll)?),
            Self::Delay(_) => Start::Any,
        })
    }

    /// Returns the set of states after `symbols`, beginning at `start`. A symbol that is `None` stands for silence.
    pub(crate) fn after(&self, start: &Start, symbols: impl ExactSizeIterator<Item = Option<usize>>) -> Enclosure {
        match self {
            Self::Squashing(squashing) => {
                let mut set = match start {
                    Start::Set(set) => set.clone(),
                    _ => Enclosure::point(vec![0.; squashing.neurons]),
                };
                for channel in symbols {
                    squashing.step(&mut set, channel);
                }
                set
            }
            Self::Delay(delay) => delay.after(!matches!(start, Start::Zero), symbols),
        }
    }
}

/// The states that are possible before a suffix.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    /// The zero state: nothing came before.
    Zero,
    /// Any state that can occur, in a [`Delay`] network, which bounds the echoes of earlier symbols itself.
    Any,
    /// The states of this set.
    Set(Enclosure),
}

/// A network with the hyperbolic tangent. Its states are enclosed in boxes, which are propagated through the weights.
#[derive(Debug)]
pub(crate) struct Squashing {
    neurons: usize,
    /// The position in `weights` where each row begins, and at the end the number of all weights.
    starts: Vec<usize>,
    /// The recurrent weights row by row, each with its column.
    weights: Vec<(usize, f64)>,
    columns: Vec<f64>,
    bias: Vec<f64>,
    leak: f64,
    /// For each neuron, an upper bound on the rounding error of its sums, in the program and in the bounds together.
    pub(super) slack: Vec<f64>,
}

/// The maximum number of rounds in which the set of all states is made smaller. No lemma depends on it, because the set
/// is checked at the end.
const MAX_ROUNDS: usize = 40;
/// The change of a radius below which another round is not worthwhile. No lemma depends on it.
const SETTLED_CHANGE: f64 = 1e-6;
/// The amount by which the set of all states is wider than needed, so that its check does not fail due to rounding. No
/// lemma depends on it.
const WIDER: f64 = 1e-9;

impl Squashing {
    pub(super) fn new(
        neurons: usize,
        entries: &[(usize, usize, f64)],
        columns: Vec<f64>,
        bias: Vec<f64>,
        leak: f64,
    ) -> Self {
        let mut starts = vec![0; neurons + 1];
        for &(row, _, _) in entries {
            starts[row + 1] += 1;
        }
        for row in 0..neurons {
            starts[row + 1] += starts[row];
        }
        let weights: Vec<(usize, f64)> = entries.iter().map(|&(_, column, weight)| (column, weight)).collect();
        let slack = |row: usize| {
            let recurrent = &weights[starts[row]..starts[row + 1]];
            let largest = columns.iter().skip(row).step_by(neurons).fold(0., |a: f64, b| a.max(b.abs()));
            let sum = recurrent.iter().map(|(_, weight)| weight.abs()).sum::<f64>();
            let sum = sum + largest + bias.get(row).map_or(0., |bias| bias.abs());
            STEP_SLACK * (recurrent.len() + 8) as f64 * EPSILON * sum
        };
        let slack = (0..neurons).map(slack).collect();
        Self { neurons, starts, weights, columns, bias, leak, slack }
    }

    /// Returns lower and upper bounds on the argument of each hyperbolic tangent.
    pub(super) fn arguments(&self, set: &Enclosure, channel: Option<usize>) -> [Vec<f64>; 2] {
        let input = channel.map(|channel| &self.columns[channel * self.neurons..][..self.neurons]);
        let (mut low, mut high) = (vec![0.; self.neurons], vec![0.; self.neurons]);
        for row in 0..self.neurons {
            let (mut middle, mut radius) = (0., self.slack[row]);
            for &(column, weight) in &self.weights[self.starts[row]..self.starts[row + 1]] {
                middle += weight * set.center[column];
                radius += weight.abs() * set.radii[column];
            }
            middle += input.map_or(0., |input| input[row]) + self.bias.get(row).copied().unwrap_or(0.);
            (low[row], high[row]) = (middle - radius, middle + radius);
        }
        [low, high]
    }

    /// Replaces a set by the set of the successors of its states.
    pub(super) fn step(&self, set: &mut Enclosure, channel: Option<usize>) {
        let [mut low, mut high] = self.arguments(set, channel);
        let simd = Simd::default();
        simd.tanh(&mut low);
        simd.tanh(&mut high);
        if self.leak < 1. {
            for (row, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
                let (middle, radius) = ((1. - self.leak) * set.center[row], (1. - self.leak) * set.radii[row]);
                *low = middle - radius + self.leak * *low;
                *high = middle + radius + self.leak * *high;
            }
        }
        *set = Enclosure::between(&low, &high);
    }

    /// Computes a set of all states. It begins with all values that a hyperbolic tangent can take, and in every round
    /// the set of all successors becomes smaller. It is checked at the end that the last set contains the zero state
    /// and its own successors.
    fn anything(&self, channels: usize, poll: &mut Poll<'_>) -> Result<Enclosure, Cancelled> {
        let everything = Enclosure::between(&vec![-EVERYTHING; self.neurons], &vec![EVERYTHING; self.neurons]);
        let mut successors = |set: &Enclosure| -> Result<Vec<Enclosure>, Cancelled> {
            let after = |channel: usize| {
                poll.now()?;
                let mut next = set.clone();
                self.step(&mut next, Some(channel));
                Ok(next)
            };
            (0..channels).map(after).collect()
        };
        let mut set = everything.clone();
        for _ in 0..MAX_ROUNDS {
            let (mut low, mut high) = (vec![-WIDER; self.neurons], vec![WIDER; self.neurons]);
            for next in successors(&set)? {
                for (row, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
                    *low = low.min(next.center[row] - next.radii[row] - WIDER);
                    *high = high.max(next.center[row] + next.radii[row] + WIDER);
                }
            }
            let next = Enclosure::between(&low, &high);
            let moved = next.radii.iter().zip(&set.radii).map(|(a, b)| b - a).fold(0., f64::max);
            set = next;
            if moved < SETTLED_CHANGE {
                break;
            }
        }
        let zero = Enclosure::point(vec![0.; self.neurons]);
        let sound = set.covers(&zero) && successors(&set)?.iter().all(|next| set.covers(next));
        Ok(if sound { set } else { everything })
    }
}

/// A delay network. It is linear, so a state is the sum of the echoes of all symbols read. The echoes of old symbols
/// are bounded together; a box propagated through the weights would not stay bounded.
#[derive(Debug)]
pub(crate) struct Delay {
    channels: usize,
    order: usize,
    /// The echoes of a symbol: what is left of it after 0, 1, ... steps.
    echoes: Vec<Vec<f64>>,
    /// For each number of steps, a bound on the sum of the echoes of all symbols that are at least as old: in every
    /// neuron, and as a length.
    tails: Vec<(Vec<f64>, f64)>,
    /// An upper bound on the distance that all rounding together moves a state.
    pub(super) slack: f64,
}

/// The maximum number of steps within which a symbol must lose three quarters of its size.
const MAX_ECHO_STEPS: usize = 4096;

impl Delay {
    pub(super) fn new(recurrent: &[f64], input: &[f64], channels: usize) -> Option<Self> {
        let order = input.len();
        // The rounding error of a step with a state and a weight matrix of length 1 (Lemma LINEAR_STEP).
        let rounding = LINEAR_STEP * (order + 8) as f64 * EPSILON;
        let times = |vector: &[f64]| -> Vec<f64> {
            let mut out = vec![0.; order];
            Simd::default().multiply(recurrent, vector, &mut out);
            out
        };
        let Powers { bounds, total, size } = Powers::new(order, rounding, times)?;
        let period = bounds.len() - 1;
        let count = 3 * period + 32;
        let mut echoes = vec![input.to_vec()];
        while echoes.len() < count + period {
            echoes.push(times(&echoes[echoes.len() - 1]));
        }
        let lengths: Vec<f64> = echoes.iter().map(|echo| length(echo)).collect();
        // The distance of all computed echoes together from the exact ones (Lemma ECHOES).
        let off = total * rounding * size * lengths.iter().sum::<f64>() * NORM;
        let mut tails = vec![(vec![0.; order], 0.); count + 1];
        let rest = lengths[count..].iter().sum::<f64>() / (1. - GEOMETRIC) * NORM;
        tails[count] = (vec![rest; order], rest);
        for from in (0..count).rev() {
            let (above, length_above) = &tails[from + 1];
            let radii = above.iter().zip(&echoes[from]).map(|(a, b)| a + b.abs()).collect();
            tails[from] = (radii, length_above + lengths[from]);
        }
        let longest = (tails[0].1 + 2. * off) * NORM;
        // The accumulated rounding error over all steps of the program, and in the sums of echoes (Lemma DELAY_SLACK).
        let steps = total * rounding * (2. * size * longest + lengths[0]);
        let sums = LENGTH_TERM * (count + period + 8) as f64 * EPSILON * longest;
        let slack = (steps + 2. * off + sums) * NORM + UNDERFLOW;
        let tame = longest <= LARGEST && total * rounding * (size + 1.) <= CONDITION && slack.is_finite();
        tame.then_some(Self { channels, order, echoes, tails, slack })
    }

    /// Returns the set of states after `symbols`, preceded by any other symbols if `anything` is set.
    pub(super) fn after(&self, anything: bool, symbols: impl ExactSizeIterator<Item = Option<usize>>) -> Enclosure {
        let count = symbols.len();
        let mut center = vec![0.; self.channels * self.order];
        for (number, channel) in symbols.enumerate() {
            let age = count - 1 - number;
            if let (Some(channel), Some(echo)) = (channel, self.echoes.get(age).filter(|_| age < self.tails.len() - 1))
            {
                let block = &mut center[channel * self.order..][..self.order];
                block.iter_mut().zip(echo).for_each(|(x, echo)| *x += echo);
            }
        }
        let last = self.tails.len() - 1;
        // Symbols that are too old to be added one by one are part of the tail.
        let (radii, ball) = match count.min(last) {
            age if anything || count > last => &self.tails[age],
            _ => &(vec![0.; self.order], 0.),
        };
        let radii: Vec<f64> = (0..self.channels).flat_map(|_| radii.iter().map(|r| (r + self.slack) * FEW)).collect();
        Enclosure { center, radii, ball: (ball + self.slack) * FEW }
    }
}

/// Bounds on the powers of a matrix.
pub(super) struct Powers {
    /// Upper bounds on the norms of the powers, up to the first that is at most [`GEOMETRIC`].
    pub(super) bounds: Vec<f64>,
    /// An upper bound on the sum of the norms of all powers.
    pub(super) total: f64,
    /// The norm of the matrix.
    pub(super) size: f64,
}

impl Powers {
    /// Computes the bounds. All norms are Frobenius norms, so the norm of a power is at most the product of the norms
    /// of its factors. Returns `None` if the powers do not become small soon enough.
    pub(super) fn new(order: usize, rounding: f64, times: impl Fn(&[f64]) -> Vec<f64>) -> Option<Self> {
        let unit = |row: usize| (0..order).map(|column| f64::from(u8::from(row == column))).collect();
        let mut power: Vec<Vec<f64>> = (0..order).map(unit).collect();
        let size = |power: &[Vec<f64>]| length(&power.iter().map(|column| length(column)).collect::<Vec<_>>());
        let mut computed = vec![size(&power)];
        power = power.iter().map(|column| times(column)).collect();
        let own = size(&power);
        // The error of a computed power is the sum of the errors of its steps, each times the power that came after it
        // (Lemma POWERS).
        let mut bounds = computed.clone();
        while bounds.len() < 2 || bounds.last().is_some_and(|&bound| bound > GEOMETRIC) {
            let number = bounds.len();
            if number > MAX_ECHO_STEPS || number * order * order * order > 1 << 31 {
                return None;
            }
            computed.push(size(&power));
            power = power.iter().map(|column| times(column)).collect();
            let lost: f64 = bounds.iter().rev().zip(&computed).map(|(after, before)| after * before).sum();
            let bound = (computed[number] + rounding * own * lost) * FEW + UNDERFLOW;
            if !bound.is_finite() {
                return None;
            }
            bounds.push(bound);
        }
        let total = bounds[..bounds.len() - 1].iter().sum::<f64>() / (1. - GEOMETRIC) * NORM;
        Some(Self { bounds, total, size: own })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::reservoir::{Cycle, Drive, Legendre, Random, ReservoirParams, Signs};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Returns the number of states to compare with the sets of their suffixes. `ECHOSTACK_CONTINUATIONS` changes it.
    fn continuations() -> usize {
        std::env::var("ECHOSTACK_CONTINUATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
    }

    fn kinds() -> Vec<(&'static str, ReservoirParams)> {
        let cycle = Cycle { neurons: 40, jump_length: 4, cycle: 0.5, jump: 0.3, ..Cycle::default() };
        let random = Random { neurons: 48, radius: 0.8, density: 0.2, ..Random::default() };
        vec![
            ("cycle", ReservoirParams::Cycle(cycle.clone())),
            ("leaking cycle", {
                let signs = Signs::Seed(5);
                ReservoirParams::Cycle(Cycle { leak: 0.6, bias: 0.4, signs, ..cycle })
            }),
            ("random", ReservoirParams::Random(random.clone())),
            ("leaking random", ReservoirParams::Random(Random { leak: 0.7, bias: 0.5, seed: 3, ..random })),
            ("dense", ReservoirParams::Random(Random { neurons: 20, density: 0.9, seed: 4, ..Random::default() })),
            ("strong", ReservoirParams::Random(Random { radius: 1.5, input: 0.01, neurons: 16, ..Random::default() })),
            ("delay", ReservoirParams::Legendre(Legendre { neurons: 36, theta: 3. })),
            ("long delay", ReservoirParams::Legendre(Legendre { neurons: 15, theta: 9.5 })),
        ]
    }

    #[test]
    fn no_state_leaves_the_set_of_its_suffix() {
        let channels = 3;
        for (name, params) in kinds() {
            let reservoir = params.build(channels).unwrap();
            let encloser = Encloser::new(reservoir.parts().unwrap()).unwrap();
            let (anything, simd) = (encloser.anything(channels, &mut Poll::new(&())).unwrap(), Simd::default());
            let mut random = ChaCha8Rng::seed_from_u64(11);
            let mut sets: HashMap<Vec<usize>, Enclosure> = HashMap::new();
            let (mut state, mut next) = (vec![0.; reservoir.neurons()], vec![0.; reservoir.neurons()]);
            let mut read: Vec<usize> = Vec::new();
            for _ in 0..continuations() {
                for length in 0..=read.len().min(5) {
                    let suffix = read[read.len() - length..].to_vec();
                    let symbols = || suffix.iter().map(|&channel| Some(channel));
                    let set = sets
                        .entry(suffix.clone())
                        .or_insert_with(|| encloser.after(&anything, symbols().collect::<Vec<_>>().into_iter()));
                    assert!(set.contains(&state), "{name}: after {read:?} outside the set of {suffix:?}");
                }
                if read.len() < 40 {
                    let whole = encloser.after(&Start::Zero, read.iter().map(|&channel| Some(channel)));
                    assert!(whole.contains(&state), "{name}: after exactly {read:?}");
                }
                // Repetitions of one symbol drive neurons to their extremes.
                let symbol = match read.last() {
                    Some(&last) if random.random_bool(0.4) => last,
                    _ => random.random_range(0..channels),
                };
                reservoir.step(simd, &state, Drive::Channel(symbol), &mut next);
                std::mem::swap(&mut state, &mut next);
                read.push(symbol);
                if random.random_bool(0.01) {
                    read.clear();
                    state.fill(0.);
                }
            }
        }
    }

    #[test]
    fn a_longer_suffix_leaves_less_room() {
        let weak = Random { radius: 0.3, density: 0.05, ..Random::default() };
        let kinds = kinds().into_iter().filter(|(name, _)| name.contains("cycle") || name.contains("delay"));
        for (name, params) in kinds.chain([("weak", ReservoirParams::Random(weak))]) {
            let reservoir = params.build(3).unwrap();
            let encloser = Encloser::new(reservoir.parts().unwrap()).unwrap();
            let anything = encloser.anything(3, &mut Poll::new(&())).unwrap();
            let size = |length: usize| encloser.after(&anything, vec![Some(1); length].into_iter()).ball;
            assert!(size(12) < 0.5 * size(2), "{name}: {} and {}", size(2), size(12));
        }
    }
}
