//! Ridge regression without intercept: finds the linear map V that minimizes |X V - Y|^2 + penalty |V|^2.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::Solve;
use faer::{Accum, Mat, MatRef, Par, Side as Triangle};
use rayon::prelude::*;

use super::lessons::{Lesson, States, Values};

/// The number of rows in a block, which is multiplied as a whole.
const ROWS_PER_BLOCK: usize = 4096;
/// The number of blocks that are processed at once.
const BLOCKS_AT_ONCE: usize = 16;

/// The normal equations of a regression, accumulated from rows.
struct Normal {
    left: Mat<f64>,
    right: Mat<f64>,
}

impl Normal {
    fn new(width: usize, outputs: usize, penalty: f64) -> Self {
        let left = Mat::from_fn(width, width, |i, j| if i == j { penalty } else { 0. });
        Self { left, right: Mat::zeros(width, outputs) }
    }

    /// Adds rows, given one after the other. Blocks of rows are multiplied on rayon's threads and added in order, so
    /// the sums do not depend on the number of threads. Only the lower half of the symmetric left side is kept.
    fn add(&mut self, x: &[f64], y: &[f64]) {
        let (width, outputs) = (self.left.ncols(), self.right.ncols());
        let product = |(x, y): (&[f64], &[f64])| {
            let count = x.len() / width;
            let x = MatRef::from_row_major_slice(x, count, width);
            let mut left = Mat::zeros(width, width);
            let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            triangular::matmul(&mut left, lower, Accum::Add, x.transpose(), whole, x, whole, 1., Par::Seq);
            (left, x.transpose() * MatRef::from_row_major_slice(y, count, outputs))
        };
        let rounds =
            x.chunks(BLOCKS_AT_ONCE * ROWS_PER_BLOCK * width).zip(y.chunks(BLOCKS_AT_ONCE * ROWS_PER_BLOCK * outputs));
        for (x, y) in rounds {
            let blocks = x.par_chunks(ROWS_PER_BLOCK * width).zip(y.par_chunks(ROWS_PER_BLOCK * outputs));
            for (left, right) in blocks.map(product).collect::<Vec<_>>() {
                self.left += left;
                self.right += right;
            }
        }
    }

    /// Returns the solution, row by row, or `None` if the equations are singular to working precision.
    fn solve(&self) -> Option<Vec<f64>> {
        let solution = self.left.llt(Triangle::Lower).ok()?.solve(&self.right);
        let places = (0..solution.nrows()).flat_map(|i| (0..solution.ncols()).map(move |k| (i, k)));
        let all: Vec<f64> = places.map(|place| solution[place]).collect();
        all.iter().all(|weight| weight.is_finite()).then_some(all)
    }
}

/// Returns the linear map W that minimizes |X W - Y|^2 + penalty |W|^2, row by row, or `None` if it is not unique to
/// working precision. The rows of X have `width` values and the rows of Y `outputs` values; both are given row by row.
///
/// # Panics
/// If X and Y do not have the same number of rows, a row is incomplete, or `width` or `outputs` is 0.
pub fn least_squares(x: &[f64], width: usize, y: &[f64], outputs: usize, penalty: f64) -> Option<Vec<f64>> {
    assert!(width > 0 && outputs > 0 && x.len().is_multiple_of(width), "X must consist of whole rows");
    assert_eq!(x.len() / width * outputs, y.len(), "Y must have as many rows as X");
    let rows = y.len() / outputs;
    if penalty > 0. && rows < width {
        return dual(
            MatRef::from_row_major_slice(x, rows, width),
            MatRef::from_row_major_slice(y, rows, outputs),
            penalty,
        );
    }
    let mut normal = Normal::new(width, outputs, penalty);
    normal.add(x, y);
    normal.solve()
}

/// Returns the same solution from the products of rows instead of columns, which are fewer here:
/// X^T (X X^T + penalty)^-1 Y.
fn dual(x: MatRef<'_, f64>, y: MatRef<'_, f64>, penalty: f64) -> Option<Vec<f64>> {
    let mut products = x * x.transpose();
    (0..x.nrows()).for_each(|row| products[(row, row)] += penalty);
    let weights = x.transpose() * products.llt(Triangle::Lower).ok()?.solve(y);
    let places = (0..weights.nrows()).flat_map(|i| (0..weights.ncols()).map(move |k| (i, k)));
    let all: Vec<f64> = places.map(|place| weights[place]).collect();
    all.iter().all(|weight| weight.is_finite()).then_some(all)
}

/// Fits a linear map to the outputs of all steps. Returns the map on h and the map on g, column by column, or `None` if
/// the normal equations are singular to working precision.
pub(crate) fn ridge(
    inputs: &States,
    stacks: &States,
    steps: &[(Lesson, Values)],
    penalty: f64,
) -> Option<[Vec<f64>; 2]> {
    let m = inputs.neurons();
    let outputs = steps.first()?.1.0.len();
    let mut normal = Normal::new(2 * m, outputs, penalty);
    for block in steps.chunks(BLOCKS_AT_ONCE * ROWS_PER_BLOCK) {
        let row = |(lesson, _): &(Lesson, Values)| [inputs.get(lesson.input), stacks.get(lesson.stack)].concat();
        let x: Vec<f64> = block.iter().flat_map(row).collect();
        let y: Vec<f64> = block.iter().flat_map(|(_, values)| values.0.iter().copied()).collect();
        normal.add(&x, &y);
    }
    let mut map = normal.solve()?;
    let stack = map.split_off(m * outputs);
    Some([map, stack])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_have_the_solution_of_the_normal_equations() {
        let (rows, width, outputs) = (20, 30, 2);
        let x: Vec<f64> = (0..rows * width).map(|i| (i as f64 * 0.73).sin()).collect();
        let y: Vec<f64> = (0..rows * outputs).map(|i| (i as f64 * 1.31).cos()).collect();
        let mut normal = Normal::new(width, outputs, 0.1);
        normal.add(&x, &y);
        let (given, wanted) = (least_squares(&x, width, &y, outputs, 0.1).unwrap(), normal.solve().unwrap());
        assert!(given.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-10));
        assert!(least_squares(&x, width, &y, outputs, 0.).is_none());
    }
}
