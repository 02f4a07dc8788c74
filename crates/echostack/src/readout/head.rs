//! Heads, which join the halves of a readout and decide between classes.

use super::projection::Projection;
use crate::simd::Comparison;

/// A decision: the index of the class, and the distance to a different decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decision {
    pub(crate) class: usize,
    pub(crate) margin: f64,
}

/// A binary classifier for one pair of classes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) first: u32,
    pub(crate) second: u32,
    /// The support vectors, by their index in the kernel, with their signed weights.
    pub(crate) terms: Vec<(u32, f64)>,
    pub(crate) intercept: f64,
}

impl Pair {
    /// Returns the decision value, given the kernel values of the support vectors: above 0 for the first class. The
    /// terms are summed in four interleaved parts, which do not have to wait for each other.
    pub(crate) fn value(&self, kernel: &[f64]) -> f64 {
        let term = |&(at, weight): &(u32, f64)| weight * kernel[at as usize];
        let (fours, rest) = self.terms.as_chunks::<4>();
        let mut parts = [0.; 4];
        for four in fours {
            for (part, own) in parts.iter_mut().zip(four) {
                *part += term(own);
            }
        }
        parts[0] += rest.iter().map(term).sum::<f64>();
        (parts[0] + parts[1]) + (parts[2] + parts[3]) + self.intercept
    }
}

/// The part of a readout that joins the halves and decides between classes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Head {
    /// A head that always decides on this class.
    Constant(usize),
    /// A vote among all pairs of classes.
    Votes { kernel: usize, classes: usize, pairs: Vec<Pair> },
    /// A decision list: the class of the first clause that holds.
    List { clauses: Vec<Clause>, otherwise: usize },
}

/// A conjunction of conditions, each of which requires that an affine function is above 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clause {
    /// The conditions: the index of a linear value and the intercept added to it.
    pub(crate) conditions: Vec<(u32, f64)>,
    pub(crate) class: usize,
}

impl Clause {
    /// Returns the distance from failing if the clause holds, and the negated distance from holding if it fails.
    fn value(&self, linear: &[f64]) -> f64 {
        let condition = |&(number, intercept): &(u32, f64)| linear[number as usize] + intercept;
        self.conditions.iter().map(condition).fold(f64::INFINITY, least)
    }
}

/// Reusable buffers for decisions.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecisionScratch {
    comparison: Comparison,
    values: Vec<f64>,
    /// The kernel that `values` belong to, or `None` if they are not those of the current features.
    kernel: Option<usize>,
    pairs: Vec<f64>,
    linear: Vec<f64>,
}

impl DecisionScratch {
    /// Discards the kernel values because the features have changed.
    pub(crate) fn forget(&mut self) {
        self.kernel = None;
    }

    pub(crate) fn comparison(&mut self) -> &mut Comparison {
        &mut self.comparison
    }

    /// Computes the kernel values of the current features, unless they are already known.
    fn evaluate(&mut self, projection: &Projection, kernel: usize, input: &[f64], stack: &[f64]) {
        if self.kernel != Some(kernel) {
            projection.kernel_values(kernel, input, stack, &mut self.values);
            self.kernel = Some(kernel);
        }
    }

    /// Computes the decision values of all pairs.
    fn all_pairs(&mut self, pairs: &[Pair]) {
        self.pairs.clear();
        self.pairs.extend(pairs.iter().map(|pair| pair.value(&self.values)));
    }

    /// Returns the decision values of the pairs, as left by [`Head::pair_values`].
    pub(crate) fn pairs(&self) -> &[f64] {
        &self.pairs
    }
}

impl Head {
    /// Decides on a class for these features. In a vote, a value above 0 counts for the first class of a pair and any
    /// other value for the second. Among classes with equal votes, the first wins.
    pub(crate) fn decide(
        &self,
        projection: &Projection,
        input: &[f64],
        stack: &[f64],
        scratch: &mut DecisionScratch,
    ) -> Decision {
        match self {
            Self::Constant(class) => Decision { class: *class, margin: f64::INFINITY },
            Self::Votes { kernel, classes, pairs } => {
                scratch.evaluate(projection, *kernel, input, stack);
                unbeaten(pairs, *classes, &scratch.values).unwrap_or_else(|| {
                    scratch.all_pairs(pairs);
                    most_votes(pairs, *classes, &scratch.pairs)
                })
            }
            Self::List { clauses, otherwise } => {
                projection.linear_values(input, stack, &mut scratch.linear);
                let mut margin = f64::INFINITY;
                for clause in clauses {
                    let value = clause.value(&scratch.linear);
                    margin = least(margin, value.abs());
                    if value > 0. {
                        return Decision { class: clause.class, margin };
                    }
                }
                Decision { class: *otherwise, margin }
            }
        }
    }

    /// Computes the decision values of all pairs and leaves them in `scratch`.
    pub(crate) fn pair_values(
        &self,
        projection: &Projection,
        input: &[f64],
        stack: &[f64],
        scratch: &mut DecisionScratch,
    ) {
        scratch.pairs.clear();
        if let Self::Votes { kernel, pairs, .. } = self {
            scratch.evaluate(projection, *kernel, input, stack);
            scratch.all_pairs(pairs);
        }
    }
}

/// Returns the index of the pair of two classes, of which `first` is the smaller. The pairs are in the order (0, 1),
/// (0, 2), ..., (1, 2), ...
pub(crate) fn place_of_pair(classes: usize, first: usize, second: usize) -> usize {
    first * (2 * classes - first - 1) / 2 + (second - first - 1)
}

/// Returns the smaller of two margins, or NaN if one of them is NaN.
fn least(a: f64, b: f64) -> f64 {
    if b < a || b.is_nan() { b } else { a }
}

/// Returns the class that wins against every other class, if there is one. It has the most votes, and few pairs need to
/// be evaluated to find it.
pub(super) fn unbeaten(pairs: &[Pair], classes: usize, kernel: &[f64]) -> Option<Decision> {
    let value = |a: usize, b: usize| pairs[place_of_pair(classes, a, b)].value(kernel);
    // Each class in turn meets the winner so far. Only the last winner can be unbeaten.
    let (mut class, mut margin) = (0, f64::INFINITY);
    for other in 1..classes {
        let value = value(class, other);
        (class, margin) =
            if value > 0. { (class, least(margin, value)) } else { (other, least(f64::INFINITY, -value)) };
    }
    for other in 0..class {
        let value = value(other, class);
        if value > 0. {
            return None;
        }
        margin = least(margin, -value);
    }
    Some(Decision { class, margin })
}

/// Returns the class with the most votes.
pub(super) fn most_votes(pairs: &[Pair], classes: usize, values: &[f64]) -> Decision {
    let mut votes = vec![0_u32; classes];
    for (pair, &value) in pairs.iter().zip(values) {
        votes[if value > 0. { pair.first } else { pair.second } as usize] += 1;
    }
    let class = (0..classes).rev().max_by_key(|&class| votes[class]).unwrap_or(0);
    let towards = |(pair, &value): (&Pair, &f64)| match class as u32 {
        class if class == pair.first => value,
        class if class == pair.second => -value,
        _ => f64::INFINITY,
    };
    let margin = pairs.iter().zip(values).map(towards).fold(f64::INFINITY, least);
    Decision { class, margin }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn an_unbeaten_class_is_the_one_with_the_most_votes() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(4);
        let (mut found, mut missing) = (0, 0);
        for round in 0..2000 {
            let classes = random.random_range(2..7_usize);
            let all = (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a as u32, b as u32)));
            let pairs: Vec<Pair> = all
                .map(|(first, second)| {
                    let values = [-1., -0.5, 0., 0.5, 1., f64::NAN];
                    let intercept = values[random.random_range(0..if round % 10 == 0 { 6 } else { 5 })];
                    Pair { first, second, terms: vec![], intercept }
                })
                .collect();
            let values: Vec<f64> = pairs.iter().map(|pair| pair.value(&[])).collect();
            let slow = most_votes(&pairs, classes, &values);
            match unbeaten(&pairs, classes, &[]) {
                None => missing += 1,
                Some(fast) => {
                    found += 1;
                    assert_eq!(fast.class, slow.class);
                    assert_eq!(fast.margin.to_bits() << 1, slow.margin.to_bits() << 1, "{pairs:?}");
                }
            }
        }
        assert!(found > 500 && missing > 100, "{found} {missing}");
    }
}
