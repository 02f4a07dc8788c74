//! Tests of the reservoirs: the echo state property, the Legendre network's memory, leak and bias, and structure.
#![cfg(feature = "machine")]

use std::sync::Arc;

use echostack::reservoir::{
    Activation, Cycle, Drive, Legendre, MatrixParts, MatrixReservoir, Random, Recurrent, Reservoir, ReservoirError,
    ReservoirParams, Signs, Simd, encode,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CHANNELS: usize = 5;

fn kinds(seed: u64) -> Vec<ReservoirParams> {
    let cycle = Cycle { neurons: 100, signs: Signs::Seed(seed), ..Cycle::default() };
    let random = Random { neurons: 100, seed, ..Random::default() };
    vec![
        ReservoirParams::Cycle(cycle.clone()),
        ReservoirParams::Cycle(Cycle { leak: 0.6, bias: 0.3, signs: Signs::Pi, ..cycle }),
        ReservoirParams::Random(random.clone()),
        ReservoirParams::Random(Random { leak: 0.5, bias: 0.2, density: 0.9, ..random }),
        ReservoirParams::Legendre(Legendre { neurons: 100, theta: 5. }),
    ]
}

#[test]
fn two_different_starts_converge() {
    let simd = Simd::default();
    for seed in 0..20 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for params in kinds(seed) {
            let reservoir = params.build(CHANNELS).unwrap();
            let mut start = || (0..reservoir.neurons()).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
            let (mut a, mut b) = (start(), start());
            let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
            let before = distance(&a, &b);
            let mut next = a.clone();
            for _ in 0..60 {
                let drive = Drive::Channel(random.random_range(0..CHANNELS));
                for state in [&mut a, &mut b] {
                    reservoir.step(simd, state, drive, &mut next);
                    std::mem::swap(state, &mut next);
                }
            }
            let after = distance(&a, &b);
            assert!(after < 1e-6 * before, "seed {seed}, {params:?}: {before} became {after}");
        }
    }
}

#[test]
fn the_legendre_network_reads_back_its_past() {
    // The input delayed by r * theta is sum_i x_i P_i(2r - 1), within the window. The signal varies slowly, as the
    // order requires.
    let (order, theta) = (24, 40.);
    let params = Legendre { neurons: 2 * order, theta };
    let reservoir = ReservoirParams::Legendre(params).build(2).unwrap();
    let signal = |t: f64| (0.11 * t).sin() + 0.5 * (0.043 * t + 1.).cos();
    let inputs: Vec<[f64; 2]> = (0..400).map(|t| [signal(f64::from(t)), -2. * signal(f64::from(t) + 50.)]).collect();
    let state = encode(&*reservoir, Simd::default(), inputs.iter().map(|values| Drive::Values(values)));
    for delay in [3., 6., 13., 20., 31., 36.] {
        let x = 2. * delay / theta - 1.;
        let mut legendre = vec![1., x];
        for n in 1..order {
            let n = n as f64;
            let next = ((2. * n + 1.) * x * legendre[legendre.len() - 1] - n * legendre[legendre.len() - 2]) / (n + 1.);
            legendre.push(next);
        }
        // The input is held for a step, so the value is that of the signal half a step later.
        for (channel, sign) in [(0, 1.), (1, -2.)] {
            let block = &state[channel * order..][..order];
            let value: f64 = block.iter().zip(&legendre).map(|(x, p)| x * p).sum();
            let shift = if channel == 0 { 0. } else { 50. };
            let wanted = sign * signal(399.5 - delay + shift);
            assert!((value - wanted).abs() < 0.02, "delay {delay}, channel {channel}: {value} for {wanted}");
        }
    }
}

#[test]
fn leak_and_bias_do_what_they_say() {
    let weights = [0.3, -0.1, 0.2, 0.5, 0.1, -0.2, 0.4, 0.7, 0.1];
    let parts = MatrixParts {
        neurons: 3,
        channels: 2,
        input: vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        recurrent: Recurrent::Dense(weights.to_vec()),
        bias: vec![0.05, -0.1, 0.2],
        leak: 0.3,
        activation: Activation::Tanh,
    };
    let reservoir = MatrixReservoir::new(parts.clone()).unwrap();
    let (from, x) = ([0.3, -0.5, 0.8], [0.7, -0.2]);
    let mut to = [0.; 3];
    reservoir.step(Simd::default(), &from, Drive::Values(&x), &mut to);
    for i in 0..3 {
        let sum: f64 = (0..3).map(|j| weights[3 * i + j] * from[j]).sum::<f64>()
            + (0..2).map(|j| parts.input[2 * i + j] * x[j]).sum::<f64>()
            + parts.bias[i];
        let wanted = 0.7 * from[i] + 0.3 * sum.tanh();
        assert!((to[i] - wanted).abs() < 1e-15);
    }
    let short = MatrixParts { recurrent: Recurrent::Dense(vec![0.; 8]), ..parts.clone() };
    let error = MatrixReservoir::new(short).unwrap_err();
    assert_eq!(error, ReservoirError::Shape { name: "recurrent", given: 8, needed: 9 });
    assert!(MatrixReservoir::new(MatrixParts { bias: vec![f64::NAN; 3], ..parts }).is_err());
}

#[test]
fn sparse_and_dense_weights_are_the_same_network() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let m = 40;
    let mut weight = |density| if random.random_bool(density) { random.random_range(-0.3..0.3) } else { 0. };
    let weights: Vec<f64> = (0..m * m).map(|_| weight(0.1)).collect();
    let recurrent = Recurrent::Dense(weights.clone());
    let input: Vec<f64> = (0..m * 2).map(|_| weight(1.)).collect();
    let activation = Activation::Tanh;
    let parts = MatrixParts { neurons: m, channels: 2, input, recurrent, bias: vec![], leak: 1., activation };
    let sparse = MatrixReservoir::new(parts.clone()).unwrap();
    // The same weights with many tiny ones added are stored densely.
    let recurrent = Recurrent::Dense(weights.iter().map(|&w| if w == 0. { 1e-300 } else { w }).collect());
    let dense = MatrixReservoir::new(MatrixParts { recurrent, ..parts }).unwrap();
    let drives = || (0..30).map(|t| Drive::Channel(t % 2));
    let (a, b) = (encode(&sparse, Simd::default(), drives()), encode(&dense, Simd::default(), drives()));
    assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-14));
}

#[test]
fn a_random_reservoir_has_its_radius_and_repeats_with_its_seed() {
    let simd = Simd::default();
    let build = |seed| Random { neurons: 60, radius: 0.7, seed, ..Random::default() }.build(2).unwrap();
    let state = |reservoir: &MatrixReservoir| encode(reservoir, simd, [Drive::Channel(0), Drive::Channel(1)]);
    assert_eq!(state(&build(1)), state(&build(1)));
    assert_ne!(state(&build(1)), state(&build(2)));
    // Near zero, tanh is the identity, so in the long run a tiny state decays by the spectral radius per step.
    let reservoir = build(1);
    let (mut from, mut to) = (vec![1e-8; 60], vec![0.; 60]);
    let norm = |state: &[f64]| state.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut norms = vec![norm(&from)];
    for _ in 0..400 {
        reservoir.step(simd, &from, Drive::Silence, &mut to);
        std::mem::swap(&mut from, &mut to);
        norms.push(norm(&from));
    }
    let rate = (norms[400] / norms[100]).powf(1. / 300.);
    assert!((rate - 0.7).abs() < 0.01, "{rate}");
}

#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |params: ReservoirParams| params.build(CHANNELS).unwrap_err().to_string();
    let cycle = |cycle: Cycle| refused(ReservoirParams::Cycle(cycle));
    assert_eq!(
        cycle(Cycle { jump_length: 129, ..Cycle::default() }),
        "256 neurons, but a cycle reservoir with jumps of length 129 needs at least 258"
    );
    assert_eq!(cycle(Cycle { neurons: 0, ..Cycle::default() }), "neurons is 0, but must be from 1 to 4096");
    assert_eq!(cycle(Cycle { cycle: f64::NAN, ..Cycle::default() }), "cycle is NaN, but must be finite");
    let tiny = Random { neurons: 2, density: 1e-9, ..Random::default() };
    assert!(refused(ReservoirParams::Random(tiny)).contains("raise the density"));
    let legendre = Legendre { neurons: 4, theta: 3. };
    assert!(refused(ReservoirParams::Legendre(legendre)).contains("at least one per channel"));
    let given: Arc<dyn Reservoir> = Arc::new(Random::default().build(3).unwrap());
    let error = ReservoirParams::Given(given).build(CHANNELS).unwrap_err();
    assert_eq!(error, ReservoirError::Channels { given: 3, needed: CHANNELS });
}

#[test]
fn parts_make_the_same_reservoir_again() {
    for params in kinds(7) {
        let reservoir = params.build(CHANNELS).unwrap();
        let again = reservoir.parts().unwrap().build().unwrap();
        let drives = || (0..40).map(|t| Drive::Channel(t * t % CHANNELS));
        let state = |reservoir: &dyn Reservoir| encode(reservoir, Simd::default(), drives());
        assert_eq!(state(&*reservoir), state(&*again), "{params:?}");
        assert_eq!(reservoir.parts(), again.parts());
    }
}

#[test]
fn unsorted_or_outside_sparse_weights_are_refused() {
    let parts = |entries: &[(u32, u32, f64)]| MatrixParts {
        neurons: 3,
        channels: 1,
        input: vec![1.; 3],
        recurrent: Recurrent::Sparse(entries.to_vec()),
        bias: vec![],
        leak: 1.,
        activation: Activation::Tanh,
    };
    assert!(MatrixReservoir::new(parts(&[(0, 1, 0.5), (2, 0, 0.5)])).is_ok());
    for bad in [[(0, 1, 0.5), (0, 1, 0.5)], [(1, 0, 0.5), (0, 1, 0.5)], [(0, 0, 0.5), (0, 3, 0.5)]] {
        assert_eq!(MatrixReservoir::new(parts(&bad)).unwrap_err(), ReservoirError::Sparse);
    }
}
