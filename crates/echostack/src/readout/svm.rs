//! The support vector classifier: C-SVC with an RBF or linear kernel, one against one, as defined by LIBSVM and
//! scikit-learn.
//!
//! The solver is sequential minimal optimization with second-order working set selection (Fan, Chen, Lin 2005). Kernel
//! columns are computed when first needed, from squared distances between the distinct halves of the rows.

use std::collections::VecDeque;
use std::fmt;

use rayon::prelude::*;

use super::head::Pair;
use super::lessons::{Distances, Lesson};
use crate::control::Control;
use crate::manifest::Fields;
use crate::simd::Simd;

/// Parameters of the support vector machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svm {
    /// The penalty C for a training row on the wrong side of its margin.
    pub cost: f64,
    /// The gamma of the kernel exp(-gamma |x - y|^2), as a multiple of scikit-learn's "scale", which is
    /// 1 / (features * variance).
    pub gamma: f64,
    /// The stopping tolerance: the violation of the optimality conditions at which training stops.
    pub tolerance: f64,
}

/// Returns scikit-learn's defaults (`gamma="scale"` and its tolerance), except that the cost is 100 instead of 1:
/// traces do not contradict each other, so no row has to end up on the wrong side.
impl Default for Svm {
    fn default() -> Self {
        Self { cost: 100., gamma: 1., tolerance: 1e-3 }
    }
}

/// Writes the parameters as recorded in a model's manifest. The text is part of the file format and must not change.
impl fmt::Display for Svm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cost, gamma, tolerance } = self;
        write!(f, "Svm {{ cost: {cost:?}, gamma: {gamma:?}, tolerance: {tolerance:?} }}")
    }
}

impl Svm {
    /// Returns the parameters that a manifest records, or `None` if the text is not in the form of their `Display`.
    pub fn from_manifest(text: &str) -> Option<Self> {
        let of = Fields::read(text.strip_prefix("Svm { ")?.strip_suffix(" }")?)?;
        Some(Self { cost: of.get("cost")?, gamma: of.get("gamma")?, tolerance: of.get("tolerance")? })
    }
}

/// A classification problem: the training data and the kernel.
pub(crate) struct Problem<'a> {
    pub(crate) rows: &'a [Lesson],
    /// The class of each row.
    pub(crate) classes: Vec<u32>,
    pub(crate) class_count: usize,
    pub(crate) shape: Shape,
    pub(crate) inputs: &'a Distances<'a>,
    pub(crate) stacks: &'a Distances<'a>,
    pub(crate) simd: Simd,
}

/// The kernel, as a function of the distance between rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// The Gaussian kernel exp(-gamma |x - y|^2).
    Gaussian { gamma: f64 },
    /// The kernel 1 - |x - y|^2 / 2: the inner product, up to terms that cancel because the weights add up to 0.
    Linear,
}

/// The reason training ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Cancelled,
    NotConverged(usize),
    NotFinite,
}

/// Trains all pairs of classes, in the order (0, 1), (0, 2), ..., (1, 2), ... The terms refer to rows. `done` is called
/// with 1 after each pair, and with 0 from time to time while a pair is trained.
pub(crate) fn train(
    problem: &Problem<'_>,
    params: Svm,
    control: &dyn Control,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Pair>, Fault> {
    let mut members = vec![Vec::new(); problem.class_count];
    for (row, &class) in problem.classes.iter().enumerate() {
        members[class as usize].push(row as u32);
    }
    let count = problem.class_count;
    let pairs: Vec<_> = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect();
    let solve = |&(a, b): &(usize, usize)| {
        let rows: Vec<u32> = members[a].iter().chain(&members[b]).copied().collect();
        let (weights, rho) = Solver::new(problem, &rows, members[a].len(), params).solve(control, done)?;
        done(1);
        let terms = rows.into_iter().zip(weights).filter(|&(_, weight)| weight != 0.).collect();
        Ok(Pair { first: a as u32, second: b as u32, terms, intercept: -rho })
    };
    pairs.par_iter().map(solve).collect()
}

/// The maximum number of kernel values kept in memory for one pair of classes.
const MAX_KEPT_VALUES: usize = 1 << 25;
/// The number of rounds after which optimization gives up, unless [`ROUNDS_PER_ROW`] allows more; as in LIBSVM.
const MIN_ROUND_LIMIT: usize = 10_000_000;
/// The number of rounds per row after which optimization gives up, unless [`MIN_ROUND_LIMIT`] allows more.
const ROUNDS_PER_ROW: usize = 100;
/// The number of gradient values that are updated between two polls of the control, which takes a few milliseconds.
const VALUES_PER_POLL: usize = 1 << 20;
/// The replacement for a curvature that is not positive, as in LIBSVM.
const TAU: f64 = 1e-12;

/// Minimizes 1/2 a'Qa - sum a subject to 0 <= a <= C and y'a = 0, where Q_ij = y_i y_j K_ij.
struct Solver<'a> {
    problem: &'a Problem<'a>,
    rows: &'a [u32],
    params: Svm,
    /// The sign of each row: +1 for the first class, -1 for the second.
    sign: Vec<f64>,
    alpha: Vec<f64>,
    /// The negated gradient times the sign: the rate at which the objective falls as y_i a_i grows.
    ascent: Vec<f64>,
    columns: Vec<Option<Box<[f64]>>>,
    kept: VecDeque<usize>,
}

impl<'a> Solver<'a> {
    fn new(problem: &'a Problem<'a>, rows: &'a [u32], positive: usize, params: Svm) -> Self {
        let sign: Vec<f64> = (0..rows.len()).map(|i| if i < positive { 1. } else { -1. }).collect();
        Self {
            problem,
            rows,
            params,
            alpha: vec![0.; rows.len()],
            ascent: sign.clone(),
            sign,
            columns: vec![None; rows.len()],
            kept: VecDeque::new(),
        }
    }

    /// Makes sure that the kernel column of row `i` is in memory, and evicts the oldest column if there is no room.
    fn fetch(&mut self, i: usize) {
        if self.columns[i].is_some() {
            return;
        }
        if self.kept.len() >= (MAX_KEPT_VALUES / self.rows.len()).max(2) {
            let oldest = self.kept.pop_front().expect("columns are kept");
            self.columns[oldest] = None;
        }
        let Problem { rows, shape, inputs, stacks, simd, .. } = *self.problem;
        let lesson = rows[self.rows[i] as usize];
        let mut column: Box<[f64]> = vec![0.; self.rows.len()].into();
        inputs.with_row(lesson.input, |input| {
            stacks.with_row(lesson.stack, |stack| {
                for (value, &row) in column.iter_mut().zip(self.rows) {
                    let other = rows[row as usize];
                    *value = input[other.input.index()] + stack[other.stack.index()];
                }
            });
        });
        match shape {
            Shape::Gaussian { gamma } => {
                column.iter_mut().for_each(|value| *value *= -gamma);
                simd.exp(&mut column);
            }
            Shape::Linear => column.iter_mut().for_each(|value| *value = 1. - *value / 2.),
        }
        self.columns[i] = Some(column);
        self.kept.push_back(i);
    }

    fn column(&self, i: usize) -> &[f64] {
        self.columns[i].as_deref().expect("the column was fetched")
    }

    /// Returns whether a_i may move so that y_i a_i grows.
    fn may_rise(&self, i: usize) -> bool {
        if self.sign[i] > 0. { self.alpha[i] < self.params.cost } else { self.alpha[i] > 0. }
    }

    /// Returns whether a_i may move so that y_i a_i falls.
    fn may_fall(&self, i: usize) -> bool {
        if self.sign[i] > 0. { self.alpha[i] > 0. } else { self.alpha[i] < self.params.cost }
    }

    /// Returns the pair to optimize next, or `None` if the solution is optimal to within the tolerance.
    fn select(&mut self) -> Option<(usize, usize)> {
        let mut up = f64::NEG_INFINITY;
        let mut first = None;
        for (i, &ascent) in self.ascent.iter().enumerate() {
            if ascent >= up && self.may_rise(i) {
                (up, first) = (ascent, Some(i));
            }
        }
        let i = first?;
        self.fetch(i);
        let column = self.column(i);
        let (mut down, mut best, mut second) = (f64::INFINITY, f64::INFINITY, None);
        for (j, (&ascent, &kernel)) in self.ascent.iter().zip(column).enumerate() {
            if !self.may_fall(j) {
                continue;
            }
            down = down.min(ascent);
            let difference = up - ascent;
            if difference > 0. {
                let curvature = 2. - 2. * kernel; // K_ii + K_jj - 2 K_ij, and K_ii = 1
                let gain = -(difference * difference) / if curvature > 0. { curvature } else { TAU };
                if gain <= best {
                    (best, second) = (gain, Some(j));
                }
            }
        }
        if up - down < self.params.tolerance { None } else { second.map(|j| (i, j)) }
    }

    /// Moves a_i and a_j along y'a = 0 to the optimum within the box.
    fn update(&mut self, i: usize, j: usize) {
        self.fetch(j);
        if self.columns[i].is_none() {
            self.fetch(i);
        }
        let cost = self.params.cost;
        let kernel = self.column(i)[j];
        let curvature = 2. - 2. * kernel;
        let curvature = if curvature > 0. { curvature } else { TAU };
        // y_i a_i rises and y_j a_j falls by the same step.
        let wanted = (self.ascent[i] - self.ascent[j]) / curvature;
        let room = |alpha: f64, rising: bool| if rising { cost - alpha } else { alpha };
        let (room_i, room_j) = (room(self.alpha[i], self.sign[i] > 0.), room(self.alpha[j], self.sign[j] < 0.));
        let step = wanted.min(room_i).min(room_j);
        let bound = |alpha: f64, rising: bool, at_bound: bool| match (at_bound, rising) {
            (true, true) => cost,
            (true, false) => 0.,
            (false, true) => alpha + step,
            (false, false) => alpha - step,
        };
        self.alpha[i] = bound(self.alpha[i], self.sign[i] > 0., step == room_i);
        self.alpha[j] = bound(self.alpha[j], self.sign[j] < 0., step == room_j);
        let (columns, ascent) = (&self.columns, &mut self.ascent);
        let column = |k: usize| columns[k].as_deref().expect("the column was fetched");
        self.problem.simd.add_scaled(-step, column(i), ascent);
        self.problem.simd.add_scaled(step, column(j), ascent);
    }

    /// Solves the problem. Returns the signed weights y_i a_i, and rho.
    fn solve(mut self, control: &dyn Control, done: &dyn Fn(usize)) -> Result<(Vec<f64>, f64), Fault> {
        let max_rounds = MIN_ROUND_LIMIT.max(ROUNDS_PER_ROW * self.rows.len());
        let rounds_per_poll = (VALUES_PER_POLL / self.rows.len().max(1)).max(1);
        for round in 0..max_rounds {
            if round % rounds_per_poll == 0 {
                done(0);
                if control.cancelled() {
                    return Err(Fault::Cancelled);
                }
            }
            let Some((i, j)) = self.select() else {
                let rho = self.rho();
                let weights: Vec<f64> = self.sign.iter().zip(&self.alpha).map(|(sign, alpha)| sign * alpha).collect();
                let finite = rho.is_finite() && self.ascent.iter().chain(&weights).all(|value| value.is_finite());
                return if finite { Ok((weights, rho)) } else { Err(Fault::NotFinite) };
            };
            self.update(i, j);
        }
        Err(Fault::NotConverged(max_rounds))
    }

    /// Returns rho: the mean of y_i times the gradient over the free rows or, if there are none, the midpoint of the
    /// interval that the other rows allow.
    fn rho(&self) -> f64 {
        let (mut low, mut high, mut sum, mut free) = (f64::NEG_INFINITY, f64::INFINITY, 0., 0);
        for i in 0..self.rows.len() {
            let value = -self.ascent[i];
            match (self.may_rise(i), self.may_fall(i)) {
                (true, true) => {
                    free += 1;
                    sum += value;
                }
                (true, false) => high = high.min(value),
                (false, _) => low = low.max(value),
            }
        }
        if free > 0 { sum / f64::from(free) } else { f64::midpoint(low, high) }
    }
}
