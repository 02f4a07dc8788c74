//! Ridge regression: the linear map V that minimises |X V - Y|^2 + penalty |V|^2, without intercept.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side as Triangle};

use super::{Lesson, States, Values};

/// How many rows are in memory at once.
const BLOCK: usize = 4096;

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
    let mut normal = Mat::from_fn(2 * m, 2 * m, |i, j| if i == j { penalty } else { 0. });
    let mut right = Mat::zeros(2 * m, outputs);
    for block in steps.chunks(BLOCK) {
        let row = |(lesson, _): &(Lesson, Values)| [inputs.get(lesson.input), stacks.get(lesson.stack)].concat();
        let rows: Vec<Vec<f64>> = block.iter().map(row).collect();
        let x = Mat::from_fn(rows.len(), 2 * m, |i, j| rows[i][j]);
        let y = Mat::from_fn(rows.len(), outputs, |i, j| block[i].1.0[j]);
        normal += x.transpose() * &x;
        right += x.transpose() * &y;
    }
    let solution = normal.llt(Triangle::Lower).ok()?.solve(&right);
    let map = |from: usize| -> Vec<f64> {
        (from..from + m).flat_map(|i| (0..outputs).map(move |k| (i, k))).map(|place| solution[place]).collect()
    };
    let maps = [map(0), map(m)];
    maps.iter().flatten().all(|weight| weight.is_finite()).then_some(maps)
}
