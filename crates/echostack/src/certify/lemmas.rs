//! Tests of the lemmas in docs/proof, each of which searches for inputs that come close to the lemma's bound.
//!
//! A search reports the largest fraction of the allowance that was used. It must be at most 1. It must also be more
//! than a thousandth, or else the search could not detect a constant that is too small.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Sub};

use astro_float::{BigFloat, Consts, RoundingMode};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::bound::{
    CHANGE, CLAUSE_LOSS, DISTANCE_LOSS, DISTANCE_SHARE, EXTRA_TERMS, LEAN, LINEAR_LOSS, MOST_LOST, TERM_LOSS,
};
use super::enclose::{
    CONDITION, Delay, EVERYTHING, Enclosure, FEW, FINISH, GEOMETRIC, LINEAR_STEP, NORM, Powers, STEP_SLACK, Squashing,
    length,
};
use super::scale::{LARGEST, LEAST_LEAK, MOST_TERMS, UNDERFLOW};
use crate::readout::Pair;
use crate::reservoir::{
    Activation, Drive, LegendreParts, LegendreReservoir, MAX_NEURONS, MatrixParts, MatrixReservoir, Recurrent,
    Reservoir,
};
use crate::simd::{Comparison, Rows, Simd, SparseRows};

const EPSILON: f64 = f64::EPSILON;
const BITS: usize = 1024;
const ROUND: RoundingMode = RoundingMode::ToEven;

/// A number with enough bits that sums and products of a few doubles are exact.
#[derive(Clone, Debug)]
struct Exact(BigFloat);

impl Exact {
    fn new(value: f64) -> Self {
        Self(BigFloat::from_f64(value, BITS))
    }

    fn sum(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Self::new(0.), Add::add)
    }

    fn product(a: &[f64], b: &[f64]) -> Self {
        Self::sum(a.iter().zip(b).map(|(&a, &b)| Self::new(a) * Self::new(b)))
    }

    fn abs(&self) -> Self {
        Self(self.0.abs())
    }

    fn sqrt(&self) -> Self {
        Self(self.0.sqrt(BITS, ROUND))
    }

    fn exp(&self, constants: &mut Consts) -> Self {
        Self(self.0.exp(BITS, ROUND, constants))
    }

    fn rounded(&self) -> f64 {
        if self.0.is_zero() { 0. } else { self.0.to_string().parse().unwrap() }
    }
}

impl Add for Exact {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.add(&other.0, BITS, ROUND))
    }
}

impl Sub for Exact {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.sub(&other.0, BITS, ROUND))
    }
}

impl Mul for Exact {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(self.0.mul(&other.0, BITS, ROUND))
    }
}

/// The largest fraction of an allowance that was used.
#[derive(Default)]
struct Worst(f64);

impl Worst {
    fn see(&mut self, lost: f64, allowed: f64) {
        assert!(!lost.is_nan() && allowed >= 0.);
        if lost > 0. {
            self.0 = self.0.max(lost / allowed);
        }
    }

    fn judge(&self, lemma: &str) {
        println!("{lemma}: {:.4} of the allowance was used", self.0);
        assert!(self.0 <= 1., "{lemma} does not hold: {} of the allowance was used", self.0);
        assert!(self.0 > 1e-3, "{lemma}: the search is too weak, only {} of the allowance was used", self.0);
    }
}

fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(17)
}

/// Draws a number with a random mantissa, a random sign and a random exponent from 0 to `spread`.
fn number(random: &mut ChaCha8Rng, spread: i32) -> f64 {
    let size = 2_f64.powi(random.random_range(0..=spread));
    let sign = if random.random_bool(0.5) { 1. } else { -1. };
    sign * size * random.random_range(1.0..2.0)
}

fn numbers(random: &mut ChaCha8Rng, count: usize, spread: i32) -> Vec<f64> {
    (0..count).map(|_| number(random, spread)).collect()
}

#[test]
fn lemma_largest() {
    // The largest values in the proof of LARGEST: none may overflow, and the powers of two stated there must hold.
    let neurons = MAX_NEURONS as f64;
    let state = 2. * LARGEST;
    let apart = neurons.sqrt() * (state + LARGEST);
    let ball = neurons.sqrt() * state;
    assert!(apart <= 2_f64.powi(56) && ball <= 2_f64.powi(55));
    let exponent = LARGEST * apart * apart;
    let lean = ball * apart;
    let curved = 2. * (LARGEST * lean) * (LARGEST * lean);
    let sum = curved * LARGEST * MOST_TERMS as f64;
    assert!(exponent.is_finite() && sum <= 2_f64.powi(400));
    // The check is not vacuous: the cube of the largest value does overflow.
    assert!(sum.powi(3).is_infinite());
}

#[test]
fn lemma_underflow() {
    let neurons = MAX_NEURONS as f64;
    let (state, terms) = (2. * LARGEST, MOST_TERMS as f64);
    let (apart, ball) = (neurons.sqrt() * (state + LARGEST), neurons.sqrt() * state);
    // Values that exp flushes to 0 matter most where the curvature multiplies them.
    let mut flushed = [-708.0_f64];
    Simd::default().exp(&mut flushed);
    let curved = 2. * (LARGEST * ball * apart).powi(2) * LARGEST * terms;
    let by_exp = 4. * flushed[0] * curved;
    // A length whose squares underflow: the worst case is found by trying components of different magnitudes.
    let mut worst = 0_f64;
    for exponent in -600..-500 {
        for mantissa in [1., 1.25, 1.41] {
            let part = mantissa * 2_f64.powi(exponent);
            let computed = (part * part).sqrt();
            worst = worst.max(part - computed);
        }
    }
    let by_length = worst * neurons.sqrt() * 2. * LARGEST * ball;
    // Small kernel values, whose exponents lose more than TERM_LOSS allows for. MOST_LOST bounds these exponents, and
    // also the factors that gradient and curvature multiply the values by.
    let most = MOST_LOST / (DISTANCE_SHARE * DISTANCE_LOSS * 9. * EPSILON);
    let by_exponent = (-400_f64).exp() * 4. * 745. * EPSILON * LARGEST * terms * 2. * (most * most);
    println!("{by_exp:e} by exp, {by_length:e} by lengths, {by_exponent:e} by exponents, of {UNDERFLOW:e}");
    let mut share = Worst::default();
    share.see(by_exp + by_length + by_exponent, UNDERFLOW);
    share.judge("UNDERFLOW");
}

#[test]
fn lemma_everything() {
    let mut largest = 0_f64;
    for power in (0..=20).step_by(4) {
        for offset in [1., 1.37] {
            let leak = (offset * 2_f64.powi(-power)).clamp(LEAST_LEAK, 1.);
            let reservoir = MatrixReservoir::new(MatrixParts {
                neurons: 1,
                channels: 2,
                input: vec![LARGEST, 30.],
                recurrent: Recurrent::Dense(vec![1.]),
                bias: vec![],
                leak,
                activation: Activation::Tanh,
            })
            .unwrap();
            let (mut from, mut to) = ([0.], [0.]);
            for step in 0..(20. / leak).min(1e6) as usize {
                reservoir.step(Simd::default(), &from, Drive::Channel(step % 7 / 6), &mut to);
                std::mem::swap(&mut from, &mut to);
                largest = largest.max(from[0]);
            }
        }
    }
    println!("a state of {largest}");
    assert!(largest <= EVERYTHING && largest > 1. - 1e-6);
}

#[test]
fn lemma_step_slack() {
    let mut random = random();
    let mut worst = Worst::default();
    for round in 0..20_000 {
        let count = [1, 2, 3, 4, 5, 9, 33][round % 7];
        let weights = numbers(&mut random, count, 3);
        let (input, bias) = (number(&mut random, 3), number(&mut random, 3));
        let entries: Vec<(usize, usize, f64)> = weights.iter().enumerate().map(|(at, &w)| (0, at, w)).collect();
        let columns = [vec![input], vec![0.; count]].concat();
        let biases = [vec![bias], vec![0.; count]].concat();
        let mut squashing = Squashing::new(count + 1, &entries, columns, biases, 1.);
        let allowed = squashing.slack[0];
        let sum: f64 = weights.iter().map(|w| w.abs()).sum::<f64>() + input.abs() + bias.abs();
        assert!(allowed >= STEP_SLACK * (count + 8) as f64 * EPSILON * sum * 0.99);
        squashing.slack.fill(0.);
        // A state at the corner of the box where the argument is largest.
        let (center, radii): (Vec<f64>, Vec<f64>) =
            (0..=count).map(|_| (random.random_range(-0.5..0.5), random.random_range(0.0..0.5))).unzip();
        let towards = |(at, w): (usize, &f64)| center[at] + w.signum() * radii[at];
        let mut state: Vec<f64> = weights.iter().enumerate().map(towards).collect();
        // A sum that was rounded away from the center is outside of the box: move it back by one step.
        for (at, x) in state.iter_mut().enumerate() {
            let far = (Exact::new(*x) - Exact::new(center[at])).abs();
            if far.0.cmp(&Exact::new(radii[at]).0) == Some(1) {
                *x = if *x > center[at] { x.next_down() } else { x.next_up() };
            }
        }
        state.push(0.);
        let [_, high] = squashing.arguments(&Enclosure { center, radii, ball: 1. }, Some(0));
        let sparse = SparseRows::new(1, entries.iter().map(|&(row, column, w)| (row as u32, column as u32, w)));
        let mut program = [0.];
        sparse.multiply(&state, &mut program);
        worst.see(program[0] + input + bias - high[0], allowed);
        let fused = weights.iter().zip(&state).fold(0., |sum: f64, (w, x)| x.mul_add(*w, sum));
        worst.see(fused + input + bias - high[0], allowed);
    }
    worst.judge("STEP_SLACK");
}

#[test]
fn lemma_finish() {
    let mut random = random();
    let mut worst = Worst::default();
    for round in 0..20_000 {
        let leak: f64 = if round % 3 == 0 { 1. } else { random.random_range(LEAST_LEAK..1.) };
        let weight = number(&mut random, 2) / 2.;
        let mut squashing = Squashing::new(1, &[(0, 0, weight)], vec![random.random_range(-2.0..2.0)], vec![], leak);
        squashing.slack.fill(0.);
        let (center, radius): (f64, f64) = (random.random_range(-0.6..0.6), random.random_range(0.0..0.4));
        let state = center + radius * if random.random_bool(0.5) { 1. } else { -1. };
        let mut set = Enclosure { center: vec![center], radii: vec![radius.max((state - center).abs())], ball: 1. };
        // The lemma is not about the rounding of the argument itself.
        let [low, high] = squashing.arguments(&set, Some(0));
        let argument = if weight * (state - center) > 0. { high[0] } else { low[0] };
        let mut tanh = [argument];
        Simd::default().tanh(&mut tanh);
        let program = if leak < 1. { (1. - leak) * state + leak * tanh[0] } else { tanh[0] };
        squashing.step(&mut set, Some(0));
        let outside = Exact::new(program) - Exact::new(set.center[0]);
        let outside = outside.abs() - (Exact::new(set.radii[0]) - Exact::new(FINISH));
        worst.see(outside.rounded(), FINISH);
    }
    worst.judge("FINISH");
}

#[test]
fn lemma_length() {
    let mut random = random();
    let mut worst = Worst::default();
    for round in 0..5_000 {
        let vector = numbers(&mut random, [1, 2, 3, 8, 40][round % 5], 2);
        let truth = Exact::product(&vector, &vector).sqrt();
        let plain = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        worst.see((truth - Exact::new(plain)).rounded(), length(&vector) - plain);
    }
    worst.judge("LENGTH");
    // A large term and many small ones, each of which rounds away: the worst case for a sum of positive numbers.
    let half = 0.49 * EPSILON;
    let small = |count: usize| std::iter::once(1.).chain(std::iter::repeat_n(half, count - 1));
    let lost = |count: usize| (count as f64 - 1.) * half;
    for (lemma, factor, count) in [("NORM", NORM, MOST_TERMS), ("FEW", FEW, 4000), ("CHANGE", CHANGE, MAX_NEURONS)] {
        let computed: f64 = small(count).sum();
        let mut worst = Worst::default();
        worst.see(1. + lost(count) - computed, factor - 1.);
        worst.judge(lemma);
    }
    // The weighted distances are added up in several partial sums, each with a large term of its own.
    let parts = 32;
    let row: Vec<f64> = (0..MAX_NEURONS).map(|at| if at < parts { 1. } else { half }).collect();
    let mut computed = [0.];
    Simd::default().weighted_distances(&row, &vec![0.; MAX_NEURONS], &vec![1.; MAX_NEURONS], &mut computed);
    let truth = parts as f64 + (MAX_NEURONS - parts) as f64 * half;
    let mut worst = Worst::default();
    worst.see((truth - computed[0]) / truth, LEAN - 1.);
    worst.judge("LEAN");
}

#[test]
fn lemma_linear_step() {
    let mut random = random();
    let mut worst = Worst::default();
    for round in 0..10_000 {
        let order = [1, 2, 3, 6][round % 4];
        let (recurrent, input) = (numbers(&mut random, order * order, 2), numbers(&mut random, order, 2));
        let state = numbers(&mut random, order, 2);
        let network =
            LegendreReservoir::new(LegendreParts { channels: 1, recurrent: recurrent.clone(), input: input.clone() });
        let mut computed = vec![0.; order];
        network.unwrap().step(Simd::default(), &state, Drive::Channel(0), &mut computed);
        let off = (0..order).map(|row| {
            let weights: Vec<f64> = (0..order).map(|column| recurrent[column * order + row]).collect();
            let truth = Exact::product(&weights, &state) + Exact::new(input[row]);
            (truth - Exact::new(computed[row])).rounded()
        });
        let rounding = LINEAR_STEP * (order + 8) as f64 * EPSILON;
        let allowed = rounding * (length(&recurrent) * length(&state) + length(&input));
        worst.see(length(&off.collect::<Vec<_>>()), allowed);
    }
    worst.judge("LINEAR_STEP");
}

/// Computes the exact powers of a square matrix, each column by column.
fn exact_powers(order: usize, matrix: &[f64], count: usize) -> Vec<Vec<Exact>> {
    let exact: Vec<Exact> = matrix.iter().map(|&x| Exact::new(x)).collect();
    let unit = |at: usize| Exact::new(f64::from(u8::from(at / order == at % order)));
    let mut powers: Vec<Vec<Exact>> = vec![(0..order * order).map(unit).collect()];
    while powers.len() < count {
        let last = &powers[powers.len() - 1];
        let entry = |at: usize| {
            let (column, row) = (at / order, at % order);
            Exact::sum((0..order).map(|k| exact[k * order + row].clone() * last[column * order + k].clone()))
        };
        powers.push((0..order * order).map(entry).collect());
    }
    powers
}

fn exact_length(vector: impl Iterator<Item = Exact>) -> f64 {
    Exact::sum(vector.map(|x| x.clone() * x)).sqrt().rounded()
}

#[test]
fn lemma_powers() {
    let mut random = random();
    let mut worst = [Worst::default(), Worst::default()];
    let mut tried = 0;
    for round in 0..400 {
        let order = 1 + round % 2;
        let size = if round % 4 < 2 { 0.5 } else { 0.7 };
        let mut matrix: Vec<f64> = (0..order * order).map(|_| size * random.random_range(-1.0..1.0)).collect();
        if round % 8 == 7 {
            matrix[2] = 50.; // the powers grow before they shrink
            matrix[1] = 0.;
        }
        let rounding = LINEAR_STEP * (order + 8) as f64 * EPSILON;
        let times = |vector: &[f64]| {
            let mut out = vec![0.; order];
            Simd::default().multiply(&matrix, vector, &mut out);
            out
        };
        let Some(powers) = Powers::new(order, rounding, times) else { continue };
        tried += 1;
        let exact = exact_powers(order, &matrix, powers.bounds.len() + 60);
        let unit = |row: usize| (0..order).map(|column| f64::from(u8::from(row == column))).collect();
        let mut computed: Vec<Vec<f64>> = (0..order).map(unit).collect();
        let mut sizes: Vec<f64> = Vec::new();
        for (number, bound) in powers.bounds.iter().enumerate() {
            assert!(exact_length(exact[number].iter().cloned()) <= *bound, "power {number} of {matrix:?}");
            let off = exact[number].iter().zip(computed.iter().flatten()).map(|(a, &b)| a.clone() - Exact::new(b));
            let lost: f64 = powers.bounds[..number].iter().rev().zip(&sizes).map(|(after, size)| after * size).sum();
            if number > 1 {
                worst[0].see(exact_length(off), rounding * powers.size * lost);
            }
            sizes.push(length(&computed.concat()));
            computed = computed.iter().map(|column| times(column)).collect();
        }
        assert!(powers.bounds.last().is_some_and(|&last| last <= GEOMETRIC));
        let all: f64 = exact.iter().map(|power| exact_length(power.iter().cloned())).sum();
        worst[1].see(all, powers.total);
    }
    assert!(tried > 300, "{tried} matrices");
    worst[0].judge("POWERS");
    worst[1].judge("GEOMETRIC");
}

#[test]
fn lemma_delay_slack() {
    let mut random = random();
    let mut worst = Worst::default();
    for round in 0..2_000 {
        let order = 1 + round % 2;
        let recurrent: Vec<f64> = (0..order * order).map(|_| random.random_range(-0.3..0.3)).collect();
        let input = numbers(&mut random, order, 1);
        let Some(delay) = Delay::new(&recurrent, &input, 2) else { continue };
        let network = LegendreReservoir::new(LegendreParts { channels: 2, recurrent, input }).unwrap();
        let (mut from, mut to) = (vec![0.; 2 * order], vec![0.; 2 * order]);
        let symbols: Vec<Option<usize>> = (0..20).map(|_| Some(random.random_range(0..2))).collect();
        for &symbol in &symbols {
            let drive = symbol.map_or(Drive::Silence, Drive::Channel);
            network.step(Simd::default(), &from, drive, &mut to);
            std::mem::swap(&mut from, &mut to);
        }
        let set = delay.after(false, symbols.into_iter());
        let off: Vec<f64> = set.center.iter().zip(&from).map(|(a, b)| a - b).collect();
        worst.see(length(&off), delay.slack);
    }
    worst.judge("DELAY_SLACK");
    // A matrix whose powers lose all digits by rounding: they may become small, but the condition does not hold.
    let skewed = [1e9, 1e18, -1., -1e9];
    assert!(Delay::new(&skewed, &[1., 1.], 2).is_none());
    assert_eq!(CONDITION.partial_cmp(&1.), Some(Ordering::Less));
}

#[test]
fn lemma_distance_loss() {
    let mut random = random();
    let mut worst = Worst::default();
    for round in 0..10_000 {
        let width = [1, 2, 3, 8, 30][round % 5];
        let x = numbers(&mut random, width, 1);
        let y = if round % 2 == 0 { numbers(&mut random, width, 1) } else { x.iter().map(|x| x * 1.01).collect() };
        let mut rows = Rows::new(width);
        rows.push(&y);
        let computed = Comparison::default().squared_distances(Simd::default(), &rows, [&x[..]])[0];
        let truth = x.iter().zip(&y).map(|(&x, &y)| Exact::new(x) - Exact::new(y));
        let truth = Exact::sum(truth.map(|apart| apart.clone() * apart));
        let far = length(&x) + length(&y);
        let allowed = DISTANCE_LOSS * (width + 8) as f64 * EPSILON * far * far;
        worst.see((truth - Exact::new(computed)).abs().rounded(), allowed);
    }
    worst.judge("DISTANCE_LOSS");
}

#[test]
fn lemma_term_loss() {
    let mut worst = Worst::default();
    for count in [3, 7, 99, 1003, 100_003] {
        // One of the four partial sums begins with a large term, so that everything added to it rounds away.
        let (large, small) = (1., 0.24 * EPSILON);
        let weights = std::iter::once(large).chain(std::iter::repeat_n(small, count)).chain([-large]);
        let terms: Vec<(u32, f64)> = weights.map(|weight| (0, weight)).collect();
        let allowed = terms.iter().map(|term| term.1.abs()).sum::<f64>();
        let allowed = allowed * TERM_LOSS * (terms.len() + 1 + EXTRA_TERMS) as f64 * EPSILON;
        let truth = count as f64 * small;
        let pair = Pair { first: 0, second: 1, terms, intercept: 0. };
        worst.see((truth - pair.value(&[1.])).abs(), allowed);
    }
    worst.judge("TERM_LOSS");
}

#[test]
fn lemma_extra_terms() {
    let mut random = random();
    let mut constants = Consts::new().unwrap();
    let mut worst = Worst::default();
    for _ in 0..2_000 {
        // The exponents lose most. Here they are up to 200 on either side.
        let gamma: f64 = random.random_range(0.5..1.0);
        let apart: [f64; 2] = std::array::from_fn(|_| random.random_range(190.0..200.0) / gamma);
        let mut factors = [0.; 2];
        Simd::default().gaussian(gamma, &apart, &[0, 1], &mut factors);
        let computed = factors[0] * factors[1];
        let exponent = Exact::new(0.) - Exact::new(gamma) * (Exact::new(apart[0]) + Exact::new(apart[1]));
        let truth = exponent.exp(&mut constants);
        let off = (Exact::new(computed) - truth).abs().rounded();
        worst.see(off, computed * TERM_LOSS * (EXTRA_TERMS + 2) as f64 * EPSILON);
    }
    worst.judge("EXTRA_TERMS");
}

#[test]
fn lemma_distance_share() {
    let mut random = random();
    let mut constants = Consts::new().unwrap();
    let mut worst = Worst::default();
    for _ in 0..4_000 {
        // The points are far from the origin and close to each other: the distance loses almost all of its digits.
        let x = 1e6 * random.random_range(1.0..2.0_f64);
        let y = x + random.random_range(-1.0..1.0_f64);
        let mut rows = Rows::new(1);
        rows.push(&[y]);
        let computed = Comparison::default().squared_distances(Simd::default(), &rows, [&[x][..]])[0];
        let loss = DISTANCE_LOSS * 9. * EPSILON * (x + y) * (x + y);
        let gamma = random.random_range(0.1..1.0) * MOST_LOST / DISTANCE_SHARE / loss;
        let mut kernel = [0.];
        Simd::default().gaussian(gamma, &[computed], &[0], &mut kernel);
        let apart = Exact::new(x) - Exact::new(y);
        let exponent = Exact::new(0.) - Exact::new(gamma) * (apart.clone() * apart);
        let off = (Exact::new(kernel[0]) - exponent.exp(&mut constants)).abs().rounded();
        worst.see(off, kernel[0] * DISTANCE_SHARE * gamma * loss);
    }
    worst.judge("DISTANCE_SHARE");
    // The error occurs in the program and in the bounds, and is not quite linear at the allowed maximum.
    let most = MOST_LOST / DISTANCE_SHARE;
    assert!((2. * most).exp_m1() * (1. + MOST_LOST) < DISTANCE_SHARE * most);
}

#[test]
fn lemma_linear_loss() {
    let mut random = random();
    let mut worst = Worst::default();
    for round in 0..10_000 {
        let width = [1, 2, 3, 8, 30][round % 5];
        let (weights, state) = (numbers(&mut random, width, 1), numbers(&mut random, width, 1));
        let mut computed = [0.];
        Simd::default().multiply(&weights, &state, &mut computed);
        let middle: f64 = weights.iter().zip(&state).map(|(w, x)| w * x).sum();
        let truth = Exact::product(&weights, &state);
        let most: f64 = weights.iter().zip(&state).map(|(w, x)| (w * x).abs()).sum();
        let off = [computed[0], middle].map(|value| (truth.clone() - Exact::new(value)).abs().rounded());
        worst.see(off[0] + off[1], LINEAR_LOSS * (width + 8) as f64 * EPSILON * most);
    }
    worst.judge("LINEAR_LOSS");
}

#[test]
fn lemma_clause_loss() {
    let mut random = random();
    let mut worst = Worst::default();
    for _ in 0..10_000 {
        let [a, b, intercept] = [2, 2, 2].map(|spread| number(&mut random, spread));
        let truth = Exact::new(a) + Exact::new(b) + Exact::new(intercept);
        let off = (truth - Exact::new((a + b) + intercept)).abs().rounded();
        worst.see(off, CLAUSE_LOSS * EPSILON * (a.abs() + b.abs() + intercept.abs()));
    }
    worst.judge("CLAUSE_LOSS");
}
