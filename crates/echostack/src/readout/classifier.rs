//! A support vector machine on plain vectors, for use with other models than the reservoir stack machine.

use super::head::{Pair, most_votes, unbeaten};
use super::lessons::{Distances, Lesson, StateId, States};
use super::svm::{Fault, Problem, Shape, Svm, train};
use crate::control::Control;
use crate::simd::{Comparison, Rows, Simd};

/// A trained classifier: C-SVC with an RBF kernel, one against one, like scikit-learn's `SVC`.
///
/// ```
/// use echostack::readout::{Classifier, Svm};
/// let rows: [&[f64]; 4] = [&[0.0, 0.0], &[0.0, 1.0], &[1.0, 0.0], &[1.0, 1.0]];
/// let xor = Classifier::fit(2, rows.into_iter().zip([0, 1, 1, 0]), Svm::default(), &())?;
/// assert_eq!((xor.classify(&[0.1, 0.1]), xor.classify(&[0.9, 0.2])), (0, 1));
/// # Ok::<(), echostack::readout::ClassifierError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Classifier {
    /// The label of each class.
    labels: Vec<usize>,
    gamma: f64,
    support: Rows,
    /// The pairs of classes. Their terms refer to the support vectors.
    pairs: Vec<Pair>,
}

/// The reason a classifier could not be trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassifierError {
    /// There are no rows.
    #[error("no rows were given; a classifier needs at least one")]
    Empty,
    /// A value is not finite or overflowed, or the kernel's gamma is not positive and finite, for example because the
    /// variance of the rows is 0 to working precision.
    #[error("a value is not finite or overflowed, or gamma is not positive and finite; rescale the rows")]
    NotFinite,
    /// The control asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The optimization did not converge.
    #[error("no solution after {0} steps; lower the cost or raise the tolerance")]
    NotConverged(usize),
}

impl From<Fault> for ClassifierError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Cancelled => Self::Cancelled,
            Fault::NotConverged(steps) => Self::NotConverged(steps),
            Fault::NotFinite => Self::NotFinite,
        }
    }
}

impl Classifier {
    /// Trains a classifier on rows of `width` values with their labels. Equal rows count once, with the label of the
    /// first.
    ///
    /// # Errors
    /// If there are no rows, a value is not finite, the control cancels, or the optimization does not converge.
    pub fn fit<'a>(
        width: usize,
        rows: impl IntoIterator<Item = (&'a [f64], usize)>,
        svm: Svm,
        control: &dyn Control,
    ) -> Result<Self, ClassifierError> {
        let mut states = States::new(width);
        let mut given: Vec<usize> = Vec::new();
        for (row, label) in rows {
            if row.iter().any(|value| !value.is_finite()) {
                return Err(ClassifierError::NotFinite);
            }
            if states.intern(row).index() == given.len() {
                given.push(label);
            }
        }
        let mut labels = given.clone();
        labels.sort_unstable();
        labels.dedup();
        if labels.len() < 2 {
            let empty = given.is_empty();
            let constant = Self { labels, gamma: 1., support: Rows::new(width), pairs: Vec::new() };
            return if empty { Err(ClassifierError::Empty) } else { Ok(constant) };
        }
        let values = (0..given.len()).flat_map(|row| states.get(StateId::new(row as u32)));
        let (sum, square) = values.fold((0., 0.), |(sum, square), x| (sum + x, square + x * x));
        let count = (given.len() * width) as f64;
        let variance = square / count - (sum / count) * (sum / count);
        let gamma = svm.gamma / (width as f64 * variance);
        if !(gamma.is_finite() && gamma > 0.) {
            return Err(ClassifierError::NotFinite);
        }
        // The solver works on pairs of states. Here the first state is the same in all pairs and has no effect.
        let mut nothing = States::new(1);
        let input = nothing.intern(&[0.]);
        let lesson = |row| Lesson { input, stack: StateId::new(row as u32) };
        let problem = Problem {
            rows: &(0..given.len()).map(lesson).collect::<Vec<_>>(),
            classes: given.iter().map(|label| labels.partition_point(|known| known < label) as u32).collect(),
            class_count: labels.len(),
            shape: Shape::Gaussian { gamma },
            inputs: &Distances::new(&nothing, Simd::default()),
            stacks: &Distances::new(&states, Simd::default()),
            simd: Simd::default(),
        };
        let mut pairs = train(&problem, svm, control, &|_| {})?;
        let mut support = Rows::new(width);
        let mut places: Vec<Option<u32>> = vec![None; given.len()];
        for (row, _) in pairs.iter_mut().flat_map(|pair| &mut pair.terms) {
            *row = *places[*row as usize].get_or_insert_with(|| {
                support.push(&states.get(StateId::new(*row)));
                support.len() as u32 - 1
            });
        }
        Ok(Self { labels, gamma, support, pairs })
    }

    /// Returns the predicted label of a vector.
    pub fn classify(&self, vector: &[f64]) -> usize {
        let simd = Simd::default();
        let mut comparison = Comparison::default();
        let distances = comparison.squared_distances(simd, &self.support, [vector]);
        let mut kernel: Vec<f64> = distances.iter().map(|distance| -self.gamma * distance).collect();
        simd.exp(&mut kernel);
        let decided = unbeaten(&self.pairs, self.labels.len(), &kernel).unwrap_or_else(|| {
            let values: Vec<f64> = self.pairs.iter().map(|pair| pair.value(&kernel)).collect();
            most_votes(&self.pairs, self.labels.len(), &values)
        });
        self.labels[decided.class]
    }
}
