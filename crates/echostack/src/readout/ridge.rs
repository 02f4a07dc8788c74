//! Ridge regression: the linear map V that minimises |X V - Y|^2 + penalty |V|^2, without intercept.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::Solve;
use faer::{Accum, Mat, MatRef, Par, Side as Triangle};
use rayon::prelude::*;

use super::lessons::{Lesson, States, Values};

/// How many rows are multiplied as one.
const ROWS_PER_BLOCK: usize = 4096;
/// How many such blocks are in work at once.
const BLOCKS_AT_ONCE: usize = 16;

/// The normal equations of a regression, to which rows are added.
struct Normal {
    left: Mat<f64>,
    right: Mat<f64>,
}

impl Normal {
    fn new(width: usize, outputs: usize, penalty: f64) -> Self {
        let left = Mat::from_fn(width, width, |i, j| if i == j { penalty } else { 0. });
        Self { left, right: Mat::zeros(width, outputs) }
    }

    /// Adds rows that lie one after the other. Blocks of them are multiplied on rayon's threads and added in their order, so that
    /// the sums do not depend on the number of threads. Of the symmetric left side only the lower half is kept.
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

    /// The solution, row by row, or `None` if the equations are singular to working precision.
    fn solve(&self) -> Option<Vec<f64>> {
        let solution = self.left.llt(Triangle::Lower).ok()?.solve(&self.right);
        let places = (0..solution.nrows()).flat_map(|i| (0..solution.ncols()).map(move |k| (i, k)));
        let all: Vec<f64> = places.map(|place| solution[place]).collect();
        all.iter().all(|weight| weight.is_finite()).then_some(all)
    }
}

/// The linear map W that minimises |X W - Y|^2 + penalty |W|^2, row by row; `None` if it is not unique to working precision. The
/// rows of X and of Y, `width` and `outputs` values each, lie one after the other.
///
/// # Panics
/// If X and Y do not have the same number of rows, or a row is not whole.
pub fn least_squares(x: &[f64], width: usize, y: &[f64], outputs: usize, penalty: f64) -> Option<Vec<f64>> {
    assert!(width > 0 && outputs > 0 && x.len().is_multiple_of(width), "X has whole rows");
    assert_eq!(x.len() / width * outputs, y.len(), "Y has as many rows as X");
    let mut normal = Normal::new(width, outputs, penalty);
    normal.add(x, y);
    normal.solve()
}

/// Fits the outputs of all steps. Returns the map on h and the map on g, column by column, or `None` if the normal
/// equations are singular to working precision.
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
