//! Heads: what joins the halves of a readout to a decision between classes.

use super::projection::Projection;
use crate::simd::Comparison;

/// A decision: the index of the class, and how far it is from another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decision {
    pub(crate) class: usize,
    pub(crate) margin: f64,
}

/// One of two classes against the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) first: u32,
    pub(crate) second: u32,
    /// The support vectors, by their place in the kernel, with their signed weights.
    pub(crate) terms: Vec<(u32, f64)>,
    pub(crate) intercept: f64,
}

impl Pair {
    /// The decision value, from the kernel values of the support vectors: above 0 for the first class. Terms are summed in
    /// four interleaved parts, which need not wait for each other.
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

/// What joins the halves to a decision between classes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Head {
    /// Always this class.
    Constant(usize),
    /// A vote of all pairs of classes.
    Votes { kernel: usize, classes: usize, pairs: Vec<Pair> },
    /// The class of the first clause that holds.
    List { clauses: Vec<Clause>, otherwise: usize },
}

/// A conjunction of affine functions that must be above 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clause {
    /// Linear values, by their number, and what is added to each.
    pub(crate) conditions: Vec<(u32, f64)>,
    pub(crate) class: usize,
}

impl Clause {
    /// How far the clause is from failing, if it holds, or from holding, negated, if it fails.
    fn value(&self, linear: &[f64]) -> f64 {
        let condition = |&(number, intercept): &(u32, f64)| linear[number as usize] + intercept;
        self.conditions.iter().map(condition).fold(f64::INFINITY, least)
    }
}

/// Buffers of a decision, to be used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecisionScratch {
    comparison: Comparison,
    values: Vec<f64>,
    /// The kernel that `values` belongs to, if they are those of the features at hand.
    kernel: Option<usize>,
    pairs: Vec<f64>,
    linear: Vec<f64>,
}

impl DecisionScratch {
    /// Forgets kernel values: the features have changed.
    pub(crate) fn forget(&mut self) {
        self.kernel = None;
    }

    pub(crate) fn comparison(&mut self) -> &mut Comparison {
        &mut self.comparison
    }

    /// Computes the kernel values of the features at hand, unless they are there.
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

    /// The decision values of the pairs, as [`Head::pair_values`] left them.
    pub(crate) fn pairs(&self) -> &[f64] {
        &self.pairs
    }
}

impl Head {
    /// The class for these features. A value above 0 is a vote for the first class of a pair, any other for the second;
    /// of classes with equal votes the first wins.
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

    /// The decision values of all pairs, left in `scratch`.
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

/// The place of the pair of two classes, the smaller one first: the pairs stand in the order (0, 1), (0, 2), ..., (1, 2), ...
pub(crate) fn place_of_pair(classes: usize, first: usize, second: usize) -> usize {
    first * (2 * classes - first - 1) / 2 + (second - first - 1)
}

/// The smaller of two margins; one that is not a number makes the other one, too.
fn least(a: f64, b: f64) -> f64 {
    if b < a || b.is_nan() { b } else { a }
}

/// The class that wins against every other, if there is one: then it has the most votes, and few pairs need to be looked at.
pub(super) fn unbeaten(pairs: &[Pair], classes: usize, kernel: &[f64]) -> Option<Decision> {
    let value = |a: usize, b: usize| pairs[place_of_pair(classes, a, b)].value(kernel);
    // Only the class that is left after each has met the one that won before can be unbeaten.
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

/// The class with the most votes.
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
