//! Ridge regression: the linear map V that minimises |X V - Y|^2 + penalty |V|^2, without intercept.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side as Triangle};

use super::{Lesson, States, Values};

/// How many rows are in memory at once.
const BLOCK: usize = 4096;

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

    /// Adds rows that lie one after the other.
    fn add(&mut self, x: &[f64], y: &[f64]) {
        let count = x.len() / self.left.ncols().max(1);
        let x = MatRef::from_row_major_slice(x, count, self.left.ncols());
        let y = MatRef::from_row_major_slice(y, count, self.right.ncols());
        self.left += x.transpose() * x;
        self.right += x.transpose() * y;
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
    for block in steps.chunks(BLOCK) {
        let row = |(lesson, _): &(Lesson, Values)| [inputs.get(lesson.input), stacks.get(lesson.stack)].concat();
        let x: Vec<f64> = block.iter().flat_map(row).collect();
        let y: Vec<f64> = block.iter().flat_map(|(_, values)| values.0.iter().copied()).collect();
        normal.add(&x, &y);
    }
    let mut map = normal.solve()?;
    let stack = map.split_off(m * outputs);
    Some([map, stack])
}
