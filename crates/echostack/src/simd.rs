//! The vectorized f64 arithmetic behind every decision: tanh, exp, products and squared distances.
//!
//! All of it consists of plain loops with a fixed order of summation. A fused multiply-add is used exactly where one is
//! written, and nowhere else. The results are therefore the same, bit for bit, on every CPU, with or without vector
//! instructions. [`Simd`] only chooses the instructions that run the loops.

use pulp::{Arch, Scalar, WithSimd};

/// The instructions that run the loops. The results are identical for every choice; only the speed differs.
#[derive(Clone, Copy, Debug)]
pub struct Simd {
    arch: Option<Arch>,
}

impl Default for Simd {
    /// Chooses the best instructions that this CPU supports.
    fn default() -> Self {
        Self { arch: Some(Arch::new()) }
    }
}

impl Simd {
    /// Chooses the instructions that every CPU of the platform supports.
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

    /// Replaces each value by its hyperbolic tangent, with a relative error of at most 4 * 2^-52 (Lemma TANH_ERROR).
    ///
    /// ```
    /// let mut values = [-1.0, 0.0, 0.5, 40.0];
    /// echostack::reservoir::Simd::default().tanh(&mut values);
    /// assert!((values[2] - 0.5f64.tanh()).abs() < 1e-15);
    /// assert_eq!((values[1], values[3]), (0.0, 1.0));
    /// ```
    pub fn tanh(self, values: &mut [f64]) {
        self.run(Tanh { values });
    }

    /// Replaces each value by its exponential, with a relative error of at most 2 * 2^-52 (Lemma EXP_ERROR). Below -708
    /// the result is 0, above 709 it is infinite.
    pub fn exp(self, values: &mut [f64]) {
        self.run(Exp { values });
    }

    /// Computes `out[i] = exp(-gamma * distances[members[i]])`.
    pub(crate) fn gaussian(self, gamma: f64, distances: &[f64], members: &[u32], out: &mut [f64]) {
        for (out, &member) in out.iter_mut().zip(members) {
            *out = -gamma * distances[member as usize];
        }
        self.exp(out);
    }

    /// Computes `to[i] = a * from[i]`.
    pub(crate) fn scale(self, a: f64, from: &[f64], to: &mut [f64]) {
        self.run(Scale { a, from, to });
    }

    /// Computes `to[i] += a * from[i]`.
    pub(crate) fn add_scaled(self, a: f64, from: &[f64], to: &mut [f64]) {
        self.run(AddScaled { a, from, to });
    }

    /// Computes in `to[i]` the sum of `weights[n] * |point[n] - rows[i][n]|` over `n`. The rows are stored one after
    /// the other.
    pub(crate) fn weighted_distances(self, rows: &[f64], point: &[f64], weights: &[f64], to: &mut [f64]) {
        self.run(WeightedDistances { rows, point, weights, to });
    }

    /// Computes `to[i] = matrix[i][..] * from`, for a matrix stored column by column.
    pub(crate) fn multiply(self, columns: &[f64], from: &[f64], to: &mut [f64]) {
        self.run(Multiply { columns, from, to });
    }
}

/// Defines a loop that is compiled for each instruction set. Everything in it is forcibly inlined, because only code
/// that is inlined into pulp's dispatch is compiled for the instructions that pulp chooses.
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
kernel!(Scale: scale, a: f64, from: &'a [f64], to: &'a mut [f64]);
kernel!(AddScaled: add_scaled, a: f64, from: &'a [f64], to: &'a mut [f64]);
kernel!(Square: square, values: &'a [f64], square: &'a mut f64);
kernel!(Multiply: multiply, columns: &'a [f64], from: &'a [f64], to: &'a mut [f64]);

kernel!(Dense: dense, rows: &'a DenseRows, from: &'a [f64], to: &'a mut [f64]);
kernel!(WeightedDistances: weighted_distances, rows: &'a [f64], point: &'a [f64], weights: &'a [f64], to: &'a mut [f64]);

struct Distances<'a> {
    rows: &'a Rows,
    comparison: &'a mut Comparison,
}

impl WithSimd for Distances<'_> {
    type Output = ();

    /// Keeps as many sums as there are registers for. The order of summation is the same for each of them.
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let Self { rows, comparison } = self;
        comparison.squares = squares_of(&comparison.points);
        match (comparison.count, S::F64_LANES) {
            (1, _) => squared_distances::<S, 2, 1>(simd, rows, comparison, 0),
            (_, 8) => squared_distances::<S, 2, POINTS>(simd, rows, comparison, 0),
            (count, _) => {
                for first in (0..count).step_by(POINTS / 2) {
                    squared_distances::<S, 2, { POINTS / 2 }>(simd, rows, comparison, first);
                }
            }
        }
    }
}

struct DenseAbreast<'a> {
    rows: &'a DenseRows,
    from: &'a [Abreast],
    to: &'a mut [Abreast],
}

impl WithSimd for DenseAbreast<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => dense_abreast::<S, { ABREAST / 8 }>(simd, self),
            4 => dense_abreast::<S, { ABREAST / 4 }>(simd, self),
            2 => dense_abreast::<S, { ABREAST / 2 }>(simd, self),
            _ => dense_abreast::<S, ABREAST>(simd, self),
        }
    }
}

/// The number of rows of a block that are multiplied at a time with states stored side by side.
const ROWS_AT_ONCE: usize = 8;

/// Multiplies a dense matrix with states side by side. `V` vectors hold the values of all states.
#[inline(always)]
fn dense_abreast<S: pulp::Simd, const V: usize>(simd: S, product: DenseAbreast<'_>) {
    let DenseAbreast { rows, from, to } = product;
    for (block, to) in rows.blocks.chunks_exact(rows.width * BLOCK).zip(to.chunks_mut(BLOCK)) {
        for (number, to) in to.chunks_mut(ROWS_AT_ONCE).enumerate() {
            let mut sums = [[simd.splat_f64s(0.); V]; ROWS_AT_ONCE];
            for (column, from) in block.as_chunks::<BLOCK>().0.iter().zip(from) {
                let weights = &column.as_chunks::<ROWS_AT_ONCE>().0[number];
                let from = S::as_simd_f64s(&from.0).0;
                for row in 0..ROWS_AT_ONCE {
                    let weight = simd.splat_f64s(weights[row]);
                    for v in 0..V {
                        sums[row][v] = simd.mul_add_f64s(from[v], weight, sums[row][v]);
                    }
                }
            }
            for (to, sums) in to.iter_mut().zip(&sums) {
                S::as_mut_simd_f64s(&mut to.0).0.copy_from_slice(sums);
            }
        }
    }
}

#[inline(always)]
fn dense(rows: &DenseRows, from: &[f64], to: &mut [f64]) {
    for (block, to) in rows.blocks.chunks_exact(rows.width * BLOCK).zip(to.chunks_mut(BLOCK)) {
        let mut sums = [0.; BLOCK];
        for (weights, &x) in block.as_chunks::<BLOCK>().0.iter().zip(from) {
            for row in 0..BLOCK {
                sums[row] = x.mul_add(weights[row], sums[row]);
            }
        }
        to.copy_from_slice(&sums[..to.len()]);
    }
}

struct SparseAbreast<'a> {
    rows: &'a SparseRows,
    from: &'a [Abreast],
    to: &'a mut [Abreast],
}

impl WithSimd for SparseAbreast<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => sparse_abreast::<S, { ABREAST / 8 }>(simd, self),
            4 => sparse_abreast::<S, { ABREAST / 4 }>(simd, self),
            2 => sparse_abreast::<S, { ABREAST / 2 }>(simd, self),
            _ => sparse_abreast::<S, ABREAST>(simd, self),
        }
    }
}

/// Multiplies a sparse matrix with states side by side. `V` vectors hold the values of all states.
#[inline(always)]
fn sparse_abreast<S: pulp::Simd, const V: usize>(simd: S, product: SparseAbreast<'_>) {
    let SparseAbreast { rows, from, to } = product;
    for (to, (columns, weights)) in to.iter_mut().zip(rows.rows()) {
        let mut sums = [[simd.splat_f64s(0.); V]; SparseRows::PARTS];
        let add = |sums: &mut [S::f64s; V], column: u32, weight: f64| {
            let from = S::as_simd_f64s(&from[column as usize].0).0;
            let weight = simd.splat_f64s(weight);
            for v in 0..V {
                sums[v] = simd.add_f64s(sums[v], simd.mul_f64s(weight, from[v]));
            }
        };
        let (columns, rest_columns) = columns.as_chunks::<{ SparseRows::PARTS }>();
        let (weights, rest_weights) = weights.as_chunks::<{ SparseRows::PARTS }>();
        for (columns, weights) in columns.iter().zip(weights) {
            for part in 0..SparseRows::PARTS {
                add(&mut sums[part], columns[part], weights[part]);
            }
        }
        for ((sums, &column), &weight) in sums.iter_mut().zip(rest_columns).zip(rest_weights) {
            add(sums, column, weight);
        }
        let to = S::as_mut_simd_f64s(&mut to.0).0;
        for v in 0..V {
            to[v] = simd.add_f64s(simd.add_f64s(sums[0][v], sums[1][v]), simd.add_f64s(sums[2][v], sums[3][v]));
        }
    }
}

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
fn weighted_distances(rows: &[f64], point: &[f64], weights: &[f64], to: &mut [f64]) {
    const PARTS: usize = 32;
    for (to, row) in to.iter_mut().zip(rows.chunks_exact(point.len())) {
        let mut sums = [0.; PARTS];
        let (row, row_rest) = row.as_chunks::<PARTS>();
        let (point, point_rest) = point.as_chunks::<PARTS>();
        let (weights, weights_rest) = weights.as_chunks::<PARTS>();
        for ((y, x), w) in row.iter().zip(point).zip(weights) {
            for at in 0..PARTS {
                sums[at] = (x[at] - y[at]).abs().mul_add(w[at], sums[at]);
            }
        }
        for ((y, x), w) in row_rest.iter().zip(point_rest).zip(weights_rest) {
            sums[0] += (x - y).abs() * w;
        }
        *to = sums.iter().sum();
    }
}

#[inline(always)]
fn scale(a: f64, from: &[f64], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = a * from;
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

/// The constant 1.5 * 2^52. Adding it to a number rounds the number to an integer, which is then in the low bits.
pub(crate) const ROUND: f64 = 6_755_399_441_055_744.0;
/// The two parts of ln 2. The first has 32 significant bits, so its product with a small integer is exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// Splits x = k ln 2 + r with |r| <= ln 2 / 2, and returns e^r - 1 and 2^k, for -1022 <= k <= 1023.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64) {
    let rounded = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = rounded - ROUND;
    let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, x));
    // The Taylor polynomial of degree 13. Here, its remainder is below 5e-18, relative to the result.
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

/// The range on which exp is computed. Within it, the exponent stays in the range of normal numbers.
const EXP_LOWEST: f64 = -708.;
const EXP_HIGHEST: f64 = 709.;
/// The relative error of exp within this range (Lemma EXP_ERROR), and of tanh (Lemma TANH_ERROR).
pub(crate) const EXP_ERROR: f64 = 2. * f64::EPSILON;
pub(crate) const TANH_ERROR: f64 = 4. * f64::EPSILON;

#[inline(always)]
fn exp(x: f64) -> f64 {
    let inside = if x > EXP_HIGHEST { EXP_HIGHEST } else { x };
    let inside = if inside < EXP_LOWEST { EXP_LOWEST } else { inside };
    let (p, scale) = reduce(inside);
    let y = p.mul_add(scale, scale);
    let y = if x > EXP_HIGHEST { f64::INFINITY } else { y };
    if x < EXP_LOWEST { 0. } else { y }
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

/// The number of states stored side by side when several are multiplied at once.
pub(crate) const ABREAST: usize = 8;

/// One value of each of [`ABREAST`] states. It is aligned so that it never spans two cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Abreast(pub(crate) [f64; ABREAST]);

/// The number of rows of a dense matrix stored side by side.
const BLOCK: usize = 32;

/// A dense matrix stored in blocks of rows. A block contains its first column, then its second, and so on. If columns
/// extended through the whole matrix and their length were a power of two, they would compete for only a few cache
/// lines.
#[derive(Clone, Debug)]
pub(crate) struct DenseRows {
    height: usize,
    width: usize,
    /// The blocks, one after the other. The last block is padded with zeros.
    blocks: Vec<f64>,
}

impl DenseRows {
    /// Creates a matrix from a function that returns the weight in a row and column.
    pub(crate) fn new(height: usize, width: usize, weight: impl Fn(usize, usize) -> f64) -> Self {
        let mut blocks = vec![0.; height.div_ceil(BLOCK) * BLOCK * width];
        for row in 0..height {
            for column in 0..width {
                blocks[place(width, row, column)] = weight(row, column);
            }
        }
        Self { height, width, blocks }
    }

    /// Returns the weights, row by row.
    pub(crate) fn by_rows(&self) -> Vec<f64> {
        let row = |row| (0..self.width).map(move |column| self.blocks[place(self.width, row, column)]);
        (0..self.height).flat_map(row).collect()
    }

    /// Computes `to = matrix * from`, with each row summed from the first column to the last.
    pub(crate) fn multiply(&self, simd: Simd, from: &[f64], to: &mut [f64]) {
        simd.run(Dense { rows: self, from, to });
    }

    /// Computes the product with several vectors stored side by side. The results have the same bits as in
    /// [`multiply`](Self::multiply), but each weight is read only once for all vectors.
    pub(crate) fn multiply_abreast(&self, simd: Simd, from: &[Abreast], to: &mut [Abreast]) {
        simd.run(DenseAbreast { rows: self, from, to });
    }
}

/// Returns the position of a weight in the blocks of a matrix.
fn place(width: usize, row: usize, column: usize) -> usize {
    (row / BLOCK * width + column) * BLOCK + row % BLOCK
}

/// A sparse matrix, stored row by row.
#[derive(Clone, Debug)]
pub(crate) struct SparseRows {
    /// The index at which each row's weights begin, plus one more entry at the end.
    starts: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

impl SparseRows {
    /// The number of interleaved partial sums per row.
    const PARTS: usize = 4;

    /// Creates a matrix from entries (row, column, weight) that are sorted by row.
    pub(crate) fn new(rows: usize, entries: impl Iterator<Item = (u32, u32, f64)>) -> Self {
        let mut this = Self { starts: vec![0; rows + 1], columns: Vec::new(), weights: Vec::new() };
        for (row, column, weight) in entries {
            this.columns.push(column);
            this.weights.push(weight);
            this.starts[row as usize + 1] = this.columns.len() as u32;
        }
        for row in 0..rows {
            this.starts[row + 1] = this.starts[row + 1].max(this.starts[row]);
        }
        this
    }

    /// Returns the columns and weights of each row.
    #[inline(always)]
    fn rows(&self) -> impl Iterator<Item = (&[u32], &[f64])> {
        self.starts.windows(2).map(|ends| {
            let range = ends[0] as usize..ends[1] as usize;
            (&self.columns[range.clone()], &self.weights[range])
        })
    }

    /// Returns the entries (row, column, weight).
    pub(crate) fn entries(&self) -> Vec<(u32, u32, f64)> {
        let row = |(row, (columns, weights)): (usize, (&[u32], &[f64]))| {
            columns.iter().zip(weights).map(|(&column, &weight)| (row as u32, column, weight)).collect::<Vec<_>>()
        };
        self.rows().enumerate().flat_map(row).collect()
    }

    /// Computes `to = matrix * from`.
    pub(crate) fn multiply(&self, from: &[f64], to: &mut [f64]) {
        for (to, (columns, weights)) in to.iter_mut().zip(self.rows()) {
            let mut sums = [0.; Self::PARTS];
            let (columns, rest_columns) = columns.as_chunks::<{ Self::PARTS }>();
            let (weights, rest_weights) = weights.as_chunks::<{ Self::PARTS }>();
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

    /// Computes the product with several vectors stored side by side. The results have the same bits as in
    /// [`multiply`](Self::multiply), but each weight is read only once for all vectors.
    pub(crate) fn multiply_abreast(&self, simd: Simd, from: &[Abreast], to: &mut [Abreast]) {
        simd.run(SparseAbreast { rows: self, from, to });
    }
}

/// The number of rows stored side by side in [`Rows`].
const LANES: usize = 16;

/// Vectors of one width, laid out so that the squared distances from a point to many of them take a single pass.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    width: usize,
    len: usize,
    /// Blocks of `LANES` rows. A block contains the first values of all its rows, then the second values, and so on.
    /// The last block is padded with zeros.
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
        let mut square = 0.;
        Simd::default().run(Square { values: row, square: &mut square });
        self.squares.push(square);
        self.len += 1;
    }

    pub(crate) fn row(&self, index: usize) -> impl Iterator<Item = f64> {
        let block = &self.blocks[index / LANES * LANES * self.width..];
        block.iter().skip(index % LANES).step_by(LANES).take(self.width).copied()
    }
}

/// The number of points that are compared with the rows at once, so that the rows are read only once for all of them.
pub(crate) const POINTS: usize = 8;

/// Points of one width that are compared with [`Rows`], and space for their distances.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison {
    count: usize,
    /// The first values of all points, then the second values, and so on. Missing points are zero.
    points: Vec<[f64; POINTS]>,
    /// The squared length of each point.
    squares: [f64; POINTS],
    distances: Vec<f64>,
}

impl Comparison {
    /// Computes the squared distances of up to [`POINTS`] points to each row: all distances of the first point, then
    /// those of the second, and so on. A squared distance is |x|^2 + |y|^2 - 2 x y, with x y summed from the first
    /// neuron to the last.
    pub(crate) fn squared_distances<'a>(
        &mut self,
        simd: Simd,
        rows: &Rows,
        points: impl IntoIterator<Item = &'a [f64]>,
    ) -> &[f64] {
        self.points.clear();
        self.points.resize(rows.width, [0.; POINTS]);
        self.count = 0;
        for (at, point) in points.into_iter().enumerate() {
            for (place, value) in self.points.iter_mut().zip(point) {
                place[at] = *value;
            }
            self.count = at + 1;
        }
        self.distances.resize(self.count * rows.len, 0.);
        simd.run(Distances { rows, comparison: self });
        &self.distances
    }
}

/// Adds up the squares, from the first to the last, in the same way as products of two vectors are summed. The distance
/// of a point from itself is therefore 0.
#[inline(always)]
fn square(values: &[f64], square: &mut f64) {
    for value in values {
        *square = value.mul_add(*value, *square);
    }
}

/// Returns the squared length of each point, summed in the same way as in [`square`].
#[inline(always)]
fn squares_of(points: &[[f64; POINTS]]) -> [f64; POINTS] {
    let mut squares = [0.; POINTS];
    for values in points {
        for at in 0..POINTS {
            squares[at] = values[at].mul_add(values[at], squares[at]);
        }
    }
    squares
}

/// Compares `N` points, beginning with number `first`, with `V` vectors of rows at a time.
#[inline(always)]
fn squared_distances<S: pulp::Simd, const V: usize, const N: usize>(
    simd: S,
    rows: &Rows,
    comparison: &mut Comparison,
    first: usize,
) {
    let Comparison { count, points, squares, distances } = comparison;
    let tile = V * S::F64_LANES;
    for (number, block) in rows.blocks.chunks_exact(LANES * rows.width).enumerate() {
        for offset in (0..LANES).step_by(tile) {
            let mut products = [[simd.splat_f64s(0.); V]; N];
            for (row, point) in block.as_chunks::<LANES>().0.iter().zip(&*points) {
                let row = S::as_simd_f64s(&row[offset..offset + tile]).0;
                let row: [S::f64s; V] = std::array::from_fn(|v| row[v]);
                for n in 0..N {
                    let x = simd.splat_f64s(point[first + n]);
                    for v in 0..V {
                        products[n][v] = simd.mul_add_f64s(x, row[v], products[n][v]);
                    }
                }
            }
            let begin = (number * LANES + offset).min(rows.len);
            let place = begin..(begin + tile).min(rows.len);
            for (at, products) in (first..*count).zip(&products) {
                let out = &mut distances[at * rows.len..][place.clone()];
                let products: &[f64] = pulp::bytemuck::cast_slice(products);
                for ((out, product), square) in out.iter_mut().zip(products).zip(&rows.squares[place.clone()]) {
                    // Rounding may make the result negative.
                    let distance = (-2_f64).mul_add(*product, squares[at] + square);
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
            let distances = |simd: Simd, points: &[&[f64]]| {
                Comparison::default().squared_distances(simd, &rows, points.iter().copied()).to_vec()
            };
            let (a, b) = (distances(fast, &[&point]), distances(slow, &[&point]));
            // Several points at once give the same bits as each point alone, regardless of their number.
            let others: [&[f64]; POINTS] = std::array::from_fn(|at| if at == 1 { &point[..] } else { &all[5 * at] });
            for count in 2..=POINTS {
                let together = distances(fast, &others[..count]);
                assert_eq!(together, distances(slow, &others[..count]));
                for (at, other) in others.iter().enumerate().take(count) {
                    assert_eq!(together[at * 41..][..41], distances(fast, &[other]));
                }
            }
            let obvious: Vec<f64> =
                all.iter().map(|row| row.iter().zip(&point).map(|(y, x)| (x - y) * (x - y)).sum()).collect();
            assert_eq!(a, b);
            let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-14 * (x + 900. * width as f64);
            assert!(a.iter().zip(&obvious).all(near));
            assert_eq!(distances(fast, &[&all[7]])[7], 0.);
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
