//! Ridge regression: the linear map V that minimises |X V - Y|^2 + penalty |V|^2, without intercept.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side as Triangle};

use super::Lessons;

/// Fits the outputs of all steps. Returns the map on h and the map on g, column by column, or `None` if the normal
/// equations are singular to working precision.
pub(crate) fn ridge(lessons: &Lessons, penalty: f64) -> Option<[Vec<f64>; 2]> {
    let m = lessons.inputs.neurons();
    let outputs = lessons.steps.first()?.1.0.len();
    let rows: Vec<Vec<f64>> = lessons.steps.iter().map(|(lesson, _)| lessons.features(*lesson)).collect();
    let x = Mat::from_fn(rows.len(), 2 * m, |i, j| rows[i][j]);
    let y = Mat::from_fn(rows.len(), outputs, |i, j| lessons.steps[i].1.0[j]);
    let mut normal = x.transpose() * &x;
    for i in 0..2 * m {
        normal[(i, i)] += penalty;
    }
    let right = x.transpose() * &y;
    let solution = normal.llt(Triangle::Lower).ok()?.solve(&right);
    let map = |from: usize| -> Vec<f64> {
        (from..from + m).flat_map(|i| (0..outputs).map(move |k| (i, k))).map(|place| solution[place]).collect()
    };
    let maps = [map(0), map(m)];
    maps.iter().flatten().all(|weight| weight.is_finite()).then_some(maps)
}
