//! The vectorised arithmetic that every decision is made of: tanh, exp, squared distances, in f64.
//!
//! All of it is written as plain loops over fixed orders of summation, with a fused multiply-add wherever one is written
//! and nowhere else, so that the result is the same, bit for bit, on every CPU and with vector instructions or without. [`Simd`]
//! only chooses which instructions run the loops.

use pulp::{Arch, Scalar, WithSimd};

/// Which instructions run the loops. The results are equal; only the speed differs.
#[derive(Clone, Copy, Debug)]
pub struct Simd {
    arch: Option<Arch>,
}

impl Default for Simd {
    /// The best that this CPU has.
    fn default() -> Self {
        Self { arch: Some(Arch::new()) }
    }
}

impl Simd {
    /// The instructions that every CPU of the platform has.
    pub fn portable() -> Self {
        Self { arch: None }
    }

    #[inline(always)]
    fn run(self, kernel: impl WithSimd<Output = ()>) {
        match self.arch {
            Some(arch) => arch.dispatch(kernel),
            None => kernel.with_simd(Scalar::new()),
        }
    }

    /// Replaces each value by its hyperbolic tangent, with a relative error of at most 4 * 2^-52.
    ///
    /// ```
    /// let mut values = [-1.0, 0.0, 0.5, 40.0];
    /// echostack::Simd::default().tanh(&mut values);
    /// assert!((values[2] - 0.5f64.tanh()).abs() < 1e-15);
    /// assert_eq!((values[1], values[3]), (0.0, 1.0));
    /// ```
    pub fn tanh(self, values: &mut [f64]) {
        self.run(Tanh { values });
    }

    /// Replaces each value by its exponential, with a relative error of at most 2 * 2^-52; below -708 the result is 0,
    /// above 709 infinite.
    pub fn exp(self, values: &mut [f64]) {
        self.run(Exp { values });
    }

    /// `out[i] = exp(-gamma * distances[members[i]])`.
    pub(crate) fn gaussian(self, gamma: f64, distances: &[f64], members: &[u32], out: &mut [f64]) {
        for (out, &member) in out.iter_mut().zip(members) {
            *out = -gamma * distances[member as usize];
        }
        self.exp(out);
    }

    /// `to[i] += a * from[i]`.
    pub(crate) fn add_scaled(self, a: f64, from: &[f64], to: &mut [f64]) {
        self.run(AddScaled { a, from, to });
    }

    /// `to[i] = matrix[i][..] * from`, for a matrix stored column by column.
    pub(crate) fn multiply(self, columns: &[f64], from: &[f64], to: &mut [f64]) {
        self.run(Multiply { columns, from, to });
    }
}

/// A loop that is compiled for each set of instructions. Everything is inlined by force: only what is inlined into
/// pulp's dispatch is compiled for the instructions that it chooses.
macro_rules! kernel {
    ($name:ident: $function:path, $($argument:ident: $type:ty),*) => {
        struct $name<'a> {
            $($argument: $type,)*
        }

        impl WithSimd for $name<'_> {
            type Output = ();

            #[inline(always)]
            fn with_simd<S: pulp::Simd>(self, _: S) {
                $function($(self.$argument),*);
            }
        }
    };
}

kernel!(Tanh: all_tanh, values: &'a mut [f64]);
kernel!(Exp: all_exp, values: &'a mut [f64]);
kernel!(AddScaled: add_scaled, a: f64, from: &'a [f64], to: &'a mut [f64]);
kernel!(Multiply: multiply, columns: &'a [f64], from: &'a [f64], to: &'a mut [f64]);
kernel!(DistancesOfOne: squared_distances::<1>, blocks: &'a [f64], squares: &'a [f64], points: [&'a [f64]; 1], out: &'a mut [f64]);
kernel!(DistancesOfMany: squared_distances::<POINTS>, blocks: &'a [f64], squares: &'a [f64], points: [&'a [f64]; POINTS], out: &'a mut [f64]);

#[inline(always)]
fn multiply(columns: &[f64], from: &[f64], to: &mut [f64]) {
    to.fill(0.);
    if !to.is_empty() {
        for (column, &x) in columns.chunks_exact(to.len()).zip(from) {
            add_scaled(x, column, to);
        }
    }
}

#[inline(always)]
fn add_scaled(a: f64, from: &[f64], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = a.mul_add(*from, *to);
    }
}

#[inline(always)]
fn all_tanh(values: &mut [f64]) {
    for value in values {
        *value = tanh(*value);
    }
}

#[inline(always)]
fn all_exp(values: &mut [f64]) {
    for value in values {
        *value = exp(*value);
    }
}

/// 2^52 * 1.5: adding it rounds to an integer, which is then in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has 32 significant bits, so that its product with a small integer is exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// x = k ln 2 + r with |r| <= ln 2 / 2. Returns e^r - 1 and 2^k, for -1022 <= k <= 1023.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64) {
    let rounded = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = rounded - ROUND;
    let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, x));
    // The Taylor polynomial of degree 13: its remainder is below 5e-18 of the result here.
    let mut p: f64 = 1. / 6_227_020_800.;
    for c in [
        1. / 479_001_600.,
        1. / 39_916_800.,
        1. / 3_628_800.,
        1. / 362_880.,
        1. / 40_320.,
        1. / 5_040.,
        1. / 720.,
        1. / 120.,
        1. / 24.,
        1. / 6.,
        0.5,
    ] {
        p = p.mul_add(r, c);
    }
    let scale = f64::from_bits((rounded.to_bits().wrapping_add(1023)) << 52);
    ((r * r).mul_add(p, r), scale)
}

#[inline(always)]
fn exp(x: f64) -> f64 {
    let inside = if x > 709. { 709. } else { x };
    let inside = if inside < -708. { -708. } else { inside };
    let (p, scale) = reduce(inside);
    let y = p.mul_add(scale, scale);
    let y = if x > 709. { f64::INFINITY } else { y };
    if x < -708. { 0. } else { y }
}

#[inline(always)]
fn tanh(x: f64) -> f64 {
    let double = 2. * x.abs();
    let inside = if double > 40. { 40. } else { double };
    let (p, scale) = reduce(inside);
    // e^(2|x|) - 1, without cancellation near 0, where scale is 1.
    let minus_one = p.mul_add(scale, scale - 1.);
    (minus_one / (minus_one + 2.)).copysign(x)
}

/// How many rows stand side by side in [`Rows`].
const LANES: usize = 16;

/// Vectors of one width, laid out so that the squared distances from a point to many of them are one pass.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    width: usize,
    len: usize,
    /// Blocks of `LANES` rows; in a block, the first values of all its rows, then the second ones, and so on. The last
    /// block is filled up with zeros.
    blocks: Vec<f64>,
    /// The squared length of each row.
    squares: Vec<f64>,
}

impl Rows {
    pub(crate) fn new(width: usize) -> Self {
        Self { width, len: 0, blocks: Vec::new(), squares: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, row: &[f64]) {
        let lane = self.len % LANES;
        if lane == 0 {
            self.blocks.resize(self.blocks.len() + LANES * self.width, 0.);
        }
        let block = self.len / LANES * LANES * self.width;
        for (place, value) in self.blocks[block..].chunks_exact_mut(LANES).zip(row) {
            place[lane] = *value;
        }
        self.squares.push(square(row));
        self.len += 1;
    }

    pub(crate) fn row(&self, index: usize) -> impl Iterator<Item = f64> {
        let block = &self.blocks[index / LANES * LANES * self.width..];
        block.iter().skip(index % LANES).step_by(LANES).take(self.width).copied()
    }

    /// The squared distance of each of the first `count` points to each row, as |x|^2 + |y|^2 - 2 x y; x y is summed from
    /// the first neuron to the last. Several points at once read the rows only once.
    pub(crate) fn squared_distances(&self, simd: Simd, points: [&[f64]; POINTS], count: usize, out: &mut [f64]) {
        let (blocks, squares) = (&self.blocks[..], &self.squares[..]);
        if count == 1 {
            simd.run(DistancesOfOne { blocks, squares, points: [points[0]], out });
        } else {
            simd.run(DistancesOfMany { blocks, squares, points, out: &mut out[..count * self.len] });
        }
    }
}

/// The sum of squares, in `LANES` interleaved parts.
#[inline(always)]
fn square(values: &[f64]) -> f64 {
    let mut sums = [0_f64; LANES];
    for chunk in values.chunks(LANES) {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum = x.mul_add(*x, *sum);
        }
    }
    sums.iter().sum()
}

/// How many points are compared with the rows at once.
pub(crate) const POINTS: usize = 4;

/// `out` has the distances of the first point, then those of the second, and so on; it may end before the last point.
#[inline(always)]
fn squared_distances<const N: usize>(blocks: &[f64], squares: &[f64], points: [&[f64]; N], out: &mut [f64]) {
    let (width, rows) = (points[0].len(), squares.len());
    assert!(points.iter().all(|point| point.len() == width));
    let mut own = [0.; N];
    for (own, point) in own.iter_mut().zip(&points) {
        *own = square(point);
    }
    for (number, block) in blocks.chunks_exact(LANES * width).enumerate() {
        // Half a block at a time: its sums for all points stay in registers.
        for half in 0..2 {
            let mut products = [[0_f64; LANES / 2]; N];
            for (at, values) in block.as_chunks::<LANES>().0.iter().enumerate().take(width) {
                let values = &values.as_chunks::<{ LANES / 2 }>().0[half];
                for (products, point) in products.iter_mut().zip(&points) {
                    let x = point[at];
                    for (product, value) in products.iter_mut().zip(values) {
                        *product = x.mul_add(*value, *product);
                    }
                }
            }
            let first = number * LANES + half * LANES / 2;
            for (at, (products, own)) in products.iter().zip(own).enumerate() {
                let place = first.min(rows)..(first + LANES / 2).min(rows);
                let Some(out) = out.get_mut(at * rows + place.start..at * rows + place.end) else { continue };
                for ((out, product), square) in out.iter_mut().zip(products).zip(&squares[place]) {
                    // Rounding may leave less than nothing.
                    let distance = (-2_f64).mul_add(*product, own + square);
                    *out = if distance < 0. { 0. } else { distance };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn portable_and_vectorised_loops_agree_to_the_bit() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let (fast, slow) = (Simd::default(), Simd::portable());
        for width in [1, 3, 16, 37, 256] {
            let point: Vec<f64> = (0..width).map(|_| random.random_range(-30.0..30.0)).collect();
            let pair = |f: &dyn Fn(Simd, &mut [f64])| {
                let (mut a, mut b) = (point.clone(), point.clone());
                f(fast, &mut a);
                f(slow, &mut b);
                assert_eq!(a, b);
            };
            pair(&|simd, x| simd.tanh(x));
            pair(&|simd, x| simd.exp(x));
            let mut rows = Rows::new(width);
            let all: Vec<Vec<f64>> =
                (0..41).map(|_| (0..width).map(|_| random.random_range(-1.0..1.0)).collect()).collect();
            all.iter().for_each(|row| rows.push(row));
            let (mut a, mut b) = (vec![0.; 41], vec![0.; 41]);
            rows.squared_distances(fast, [&point; POINTS], 1, &mut a);
            rows.squared_distances(slow, [&point; POINTS], 1, &mut b);
            // Several points at once have the same bits as each alone, however many there are.
            let others = [&all[3][..], &point, &all[17], &all[40]];
            for count in 2..=POINTS {
                let mut together = vec![0.; 41 * count];
                rows.squared_distances(fast, others, count, &mut together);
                for (at, other) in others.iter().enumerate().take(count) {
                    let mut alone = vec![0.; 41];
                    rows.squared_distances(fast, [other; POINTS], 1, &mut alone);
                    assert_eq!(together[at * 41..][..41], alone);
                }
            }
            let obvious: Vec<f64> =
                all.iter().map(|row| row.iter().zip(&point).map(|(y, x)| (x - y) * (x - y)).sum()).collect();
            assert_eq!(a, b);
            let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-14 * (x + 900. * width as f64);
            assert!(a.iter().zip(&obvious).all(near));
            assert_eq!(rows.row(40).collect::<Vec<_>>(), all[40]);
        }
    }

    #[test]
    fn edges() {
        let mut values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0., -0., 1e-310, -1e300];
        Simd::default().tanh(&mut values);
        assert!(values[0].is_nan());
        assert_eq!(&values[1..4], [1., -1., 0.]);
        assert!(values[4].is_sign_negative() && values[4] == 0.);
        assert_eq!(&values[5..], [1e-310, -1.]);
        let mut values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0., -708.5, 709.5, -1e300];
        Simd::default().exp(&mut values);
        assert!(values[0].is_nan());
        assert_eq!(&values[1..], [f64::INFINITY, 0., 1., 0., f64::INFINITY, 0.]);
    }
}
