//! Readouts: what decides on a pair of states, the input's h and the stack's g.
//!
//! Every readout is split in two halves (a projection): what depends on h alone is computed once a token, what depends
//! on g alone once a push; a head joins the halves. For a support vector machine with RBF kernel the halves are the
//! factors exp(-gamma |h - h_i|^2) and exp(-gamma |g - g_i|^2) of its kernel values; for a linear map they are its two
//! summands. Many support vectors share a half, which is then computed once for all of them.
//!
//! A machine that was constructed has no support vectors: its heads are lists of clauses over linear values.

mod classifier;
mod lessons;
mod ridge;
mod separate;
mod svm;

pub use classifier::{Classifier, ClassifierError};
pub(crate) use lessons::{ContextId, ContextInput, Contexts, Distances, Labelled, States, Values, scale};
pub use lessons::{Lesson, Lessons, StateId};
pub use ridge::least_squares;
pub(crate) use ridge::ridge;
pub(crate) use separate::{Affine, separate};
pub use svm::Svm;
pub(crate) use svm::{Fault, Problem, Shape, train};

use std::collections::HashMap;

use crate::simd::{Comparison, POINTS, Rows, Simd};

/// Which of the two states of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// The state h of the input.
    Input,
    /// The state g of the stack.
    Stack,
}

/// The halves of all readouts of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Projection {
    input: Half,
    stack: Half,
    kernels: Vec<Kernel>,
}

/// One side of a projection. A state's features are the kernel factors of each kernel, then the linear values.
#[derive(Clone, Debug)]
struct Half {
    centres: Rows,
    /// For each kernel the centres that it uses.
    members: Vec<Vec<u32>>,
    /// A linear map, column by column, and the number of its outputs.
    linear: (Vec<f64>, usize),
    width: usize,
}

/// A kernel of one width and the support vectors of all heads that share it.
#[derive(Clone, Debug)]
struct Kernel {
    gamma: f64,
    /// Where its factors begin among the features of either side.
    offsets: [usize; 2],
    /// For each support vector the place of its halves among the factors.
    support: Vec<[u32; 2]>,
}

/// A kernel that is put together: the support vectors of one training set, as pairs of states.
pub(crate) struct KernelParts {
    pub(crate) gamma: f64,
    pub(crate) support: Vec<Lesson>,
}

/// What a model file keeps of a projection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProjectionParts {
    /// For the input and for the stack.
    pub(crate) halves: [HalfParts; 2],
    /// gamma and support of each kernel.
    pub(crate) kernels: Vec<(f64, Vec<[u32; 2]>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HalfParts {
    /// The centres, one after the other.
    pub(crate) centres: Vec<f64>,
    pub(crate) members: Vec<Vec<u32>>,
    pub(crate) linear: (Vec<f64>, usize),
}

impl Half {
    fn parts(&self) -> HalfParts {
        let centres = (0..self.centres.len()).flat_map(|row| self.centres.row(row)).collect();
        HalfParts { centres, members: self.members.clone(), linear: self.linear.clone() }
    }

    /// `None` if a member is no centre or the linear map has the wrong size.
    fn from_parts(neurons: usize, parts: HalfParts) -> Option<Self> {
        let HalfParts { centres: values, members, linear } = parts;
        let mut centres = Rows::new(neurons);
        values.chunks_exact(neurons).for_each(|row| centres.push(row));
        let known = members.iter().flatten().all(|&member| (member as usize) < centres.len());
        let width = members.iter().map(Vec::len).sum::<usize>() + linear.1;
        (known && linear.0.len() == linear.1.checked_mul(neurons)?).then_some(Self { centres, members, linear, width })
    }

    fn new(states: &States, kernels: &[KernelParts], side: Side, linear: (Vec<f64>, usize)) -> (Self, Vec<Vec<u32>>) {
        let mut places: HashMap<StateId, u32> = HashMap::new();
        let mut centres = Rows::new(states.neurons());
        let mut members = Vec::new();
        let mut support = Vec::new();
        for kernel in kernels {
            let mut local: HashMap<StateId, u32> = HashMap::new();
            let mut mine = Vec::new();
            let place = |lesson: &Lesson| {
                let state = lesson.state(side);
                *local.entry(state).or_insert_with(|| {
                    let centre = *places.entry(state).or_insert_with(|| {
                        centres.push(&states.get(state));
                        centres.len() as u32 - 1
                    });
                    mine.push(centre);
                    mine.len() as u32 - 1
                })
            };
            support.push(kernel.support.iter().map(place).collect());
            members.push(mine);
        }
        let width = members.iter().map(Vec::len).sum::<usize>() + linear.1;
        (Self { centres, members, linear, width }, support)
    }
}

impl Projection {
    /// Puts a projection together from kernels over `lessons` and a linear map for either side.
    pub(crate) fn new(
        inputs: &States,
        stacks: &States,
        kernels: &[KernelParts],
        linear: [(Vec<f64>, usize); 2],
    ) -> Self {
        let [linear_input, linear_stack] = linear;
        let (input, input_support) = Half::new(inputs, kernels, Side::Input, linear_input);
        let (stack, stack_support) = Half::new(stacks, kernels, Side::Stack, linear_stack);
        let supports = input_support.iter().zip(&stack_support);
        let join = |(a, b): (&Vec<u32>, &Vec<u32>)| a.iter().zip(b).map(|(&a, &b)| [a, b]).collect();
        let kernels = kernels.iter().map(|kernel| kernel.gamma).zip(supports.map(join));
        Self::assemble(input, stack, kernels)
    }

    fn assemble(input: Half, stack: Half, kernels: impl Iterator<Item = (f64, Vec<[u32; 2]>)>) -> Self {
        let mut offsets = [0; 2];
        let mut built = Vec::new();
        for (k, (gamma, support)) in kernels.enumerate() {
            built.push(Kernel { gamma, offsets, support });
            offsets[0] += input.members[k].len();
            offsets[1] += stack.members[k].len();
        }
        Self { input, stack, kernels: built }
    }

    pub(crate) fn parts(&self) -> ProjectionParts {
        let kernels = self.kernels.iter().map(|kernel| (kernel.gamma, kernel.support.clone())).collect();
        ProjectionParts { halves: [self.input.parts(), self.stack.parts()], kernels }
    }

    /// `None` if the parts do not fit together.
    pub(crate) fn from_parts(neurons: usize, parts: ProjectionParts) -> Option<Self> {
        let [input, stack] = parts.halves;
        let (input, stack) = (Half::from_parts(neurons, input)?, Half::from_parts(neurons, stack)?);
        let fits = |half: &Half| half.members.len() == parts.kernels.len();
        if !fits(&input) || !fits(&stack) || input.linear.1 != stack.linear.1 {
            return None;
        }
        let inside = |(k, (_, support)): (usize, &(f64, Vec<[u32; 2]>))| {
            let (a, b) = (input.members[k].len(), stack.members[k].len());
            support.iter().all(|place| (place[0] as usize) < a && (place[1] as usize) < b)
        };
        let sound = parts.kernels.iter().enumerate().all(inside);
        sound.then(|| Self::assemble(input, stack, parts.kernels.into_iter()))
    }

    /// The number of support vectors of a kernel.
    pub(crate) fn support(&self, kernel: usize) -> Option<usize> {
        self.kernels.get(kernel).map(|kernel| kernel.support.len())
    }

    /// The number of linear values.
    pub(crate) fn linear_count(&self) -> usize {
        self.input.linear.1
    }

    fn half(&self, side: Side) -> &Half {
        match side {
            Side::Input => &self.input,
            Side::Stack => &self.stack,
        }
    }

    /// The number of features of a state.
    pub(crate) fn width(&self, side: Side) -> usize {
        self.half(side).width
    }

    /// The number of distinct centres on a side.
    pub(crate) fn centres(&self, side: Side) -> usize {
        self.half(side).centres.len()
    }

    /// Fills in the features of each state. `comparison` is scratch.
    pub(crate) fn project_all(
        &self,
        simd: Simd,
        side: Side,
        states: &mut [(&[f64], &mut [f64])],
        comparison: &mut Comparison,
    ) {
        let half = self.half(side);
        let count = half.centres.len();
        for group in states.chunks_mut(POINTS) {
            let distances = comparison.squared_distances(simd, &half.centres, group.iter().map(|(state, _)| *state));
            for (at, (state, out)) in group.iter_mut().enumerate() {
                let distances = &distances[at * count..][..count];
                let mut rest = &mut **out;
                for (kernel, members) in self.kernels.iter().zip(&half.members) {
                    let (factors, after) = rest.split_at_mut(members.len());
                    simd.gaussian(kernel.gamma, distances, members, factors);
                    rest = after;
                }
                simd.multiply(&half.linear.0, state, rest);
            }
        }
    }

    /// The kernel value of each support vector of a kernel, from the features of both states.
    fn kernel_values(&self, kernel: usize, input: &[f64], stack: &[f64], out: &mut Vec<f64>) {
        let kernel = &self.kernels[kernel];
        let (input, stack) = (&input[kernel.offsets[0]..], &stack[kernel.offsets[1]..]);
        out.clear();
        out.extend(kernel.support.iter().map(|&[a, b]| input[a as usize] * stack[b as usize]));
    }

    /// The sum of the linear values of both states.
    pub(crate) fn linear_values(&self, input: &[f64], stack: &[f64], out: &mut Vec<f64>) {
        let count = self.input.linear.1;
        out.clear();
        let (input, stack) = (&input[input.len() - count..], &stack[stack.len() - count..]);
        out.extend(input.iter().zip(stack).map(|(a, b)| a + b));
    }
}

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
pub(crate) struct Scratch {
    comparison: Comparison,
    values: Vec<f64>,
    /// The kernel that `values` belongs to, if they are those of the features at hand.
    kernel: Option<usize>,
    pairs: Vec<f64>,
    linear: Vec<f64>,
}

impl Scratch {
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
        scratch: &mut Scratch,
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
    pub(crate) fn pair_values(&self, projection: &Projection, input: &[f64], stack: &[f64], scratch: &mut Scratch) {
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
fn unbeaten(pairs: &[Pair], classes: usize, kernel: &[f64]) -> Option<Decision> {
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
fn most_votes(pairs: &[Pair], classes: usize, values: &[f64]) -> Decision {
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
