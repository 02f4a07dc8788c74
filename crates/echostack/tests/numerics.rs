//! Tests of tanh and exp against arbitrary-precision arithmetic.
#![cfg(feature = "machine")]

use astro_float::{BigFloat, Consts, RoundingMode};
use echostack::reservoir::Simd;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const BITS: usize = 160;
const ROUND: RoundingMode = RoundingMode::ToEven;

/// Returns points near zero, points of every magnitude, and random points.
fn points(limit: f64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut all = vec![0., f64::MIN_POSITIVE, 1e-300, 1e-20, 0.346_573_590_279_972_7, 0.346_573_590_279_972_6, 0.5, 1.];
    all.extend((0..6000).map(|_| random.random_range(0.0..limit)));
    all.extend((0..3000).map(|_| random.random_range(0.0..2.0_f64)));
    all.extend((0..2000).map(|_| 10_f64.powf(random.random_range(-17.0..0.0))));
    all.retain(|x| *x <= limit);
    all.iter().flat_map(|x| [*x, -x]).collect()
}

/// Returns the largest relative error in units of 2^-52.
fn worst(points: &[f64], given: &[f64], exact: impl Fn(&BigFloat, &mut Consts) -> BigFloat) -> f64 {
    let mut constants = Consts::new().unwrap();
    let mut worst = 0_f64;
    for (x, y) in points.iter().zip(given) {
        let truth = exact(&BigFloat::from_f64(*x, BITS), &mut constants);
        if truth.is_zero() {
            assert_eq!(*y, 0.);
            continue;
        }
        let error = BigFloat::from_f64(*y, BITS).sub(&truth, BITS, ROUND).div(&truth, BITS, ROUND).abs();
        let error: f64 = error.to_string().parse().unwrap();
        worst = worst.max(error / f64::EPSILON);
    }
    worst
}

#[test]
fn tanh_has_its_stated_error() {
    let points = points(25.);
    let mut given = points.clone();
    Simd::default().tanh(&mut given);
    let worst = worst(&points, &given, |x, constants| x.tanh(BITS, ROUND, constants));
    println!("tanh: at most {worst:.3} * 2^-52 on {} points", points.len());
    assert!(worst <= 4.);
    assert!(given.iter().all(|y| y.abs() <= 1.));
}

#[test]
fn exp_has_its_stated_error() {
    let points = points(708.);
    let mut given = points.clone();
    Simd::default().exp(&mut given);
    let worst = worst(&points, &given, |x, constants| x.exp(BITS, ROUND, constants));
    println!("exp: at most {worst:.3} * 2^-52 on {} points", points.len());
    assert!(worst <= 2.);
}
