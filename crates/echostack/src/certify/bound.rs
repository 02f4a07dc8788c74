//! Lower bounds on the margin of a decision, valid for all states of a set at once.
//!
//! A proof splits the configurations of a machine into cells. In each cell, the states of the input and of the stack
//! are only known to lie in a set ([`Enclosure`]). This module computes a lower bound on the margin by which a readout
//! chooses a class, for every pair of states from two such sets. If the bound is above 0, the decision is certain in
//! the whole cell.
//!
//! # Setting
//!
//! A set has a center c, a half-width for each neuron, and a radius R. Its states are c + e, where every |e_n| is at
//! most the half-width and |e| is at most R. A readout of the kind *votes* computes, for each pair of classes, the
//! value f(x) = Σ w_i k_i(x) + v with kernel values k_i(x) = exp(-γ|x - y_i|²) around centers y_i. The state x has two
//! parts, input and stack, and a kernel value is the product of two factors, one for each part ([`Factors`]). A class
//! is chosen if it wins against every other class or, if no class does, if it has the most votes.
//!
//! # Two bounds on a kernel machine
//!
//! With q = e·(c - y_i), the squared distance from a center is |c - y_i|² + 2q + |e|². The maximum of |q| on the set is
//! called the *lean*. It is bounded by the smaller of two values: the sum over the neurons of half-width times
//! distance, and R|c - y_i|.
//!
//! 1. The *interval bound* uses the worst case of every kernel value: its minimum where the weight is positive, its
//!    maximum where it is negative. It ignores that the contributions of support vectors may cancel.
//! 2. The *Taylor bound* takes this into account. With t = γ(2q + |e|²), a kernel value is k_i(c) exp(-t). This is at
//!    least (1-t) k_i(c), and at most that plus t²/2 times its maximum in the set. The terms linear in e add up to the
//!    gradient of f at c, in which opposite support vectors cancel. The gradient changes f by at most |gradient| R, or
//!    by half-widths times slopes if that is less. The remaining terms are the *sag* below and the *bulge* above the
//!    linear part, for which the worst case is used.
//!
//! The better of the two bounds is used. The Taylor bound is computed only if the interval bound is not above 0 and the
//! Taylor bound can be.
//!
//! # Lists
//!
//! A readout of the kind *list* decides by the first of its clauses that holds. The conditions of a clause are linear
//! in the state, so their range on a set is known up to rounding ([`Range`]). A class is certain if every clause of
//! another class fails, up to a clause of this class that holds, or up to the end of the list if this class is its
//! default.
//!
//! # Invariants
//!
//! - A bound is a statement about the program, not about real numbers. It is lowered by more than floating-point
//!   arithmetic can lose, in the program that decides and in the bound itself, whatever the order of the sums. Each
//!   constant is named after its lemma in docs/proof.
//! - A value that is not finite is not a bound. The decision then counts as open.
//! - Only a machine whose parts are [`Scaled`] can be bounded, since the lemmas hold for no other.
//!
//! # Cost
//!
//! Each set costs one distance and a few exponentials per center ([`Sighting`]). Each pair of sets costs, for each
//! kernel, a few products per support vector, which are kept in [`Scratch`] for all readouts of the kernel. Each pair
//! of classes costs a sum over its support vectors and, for the Taylor bound, one pass over the centers, which is by
//! far the most expensive step.
//!
//! # References
//!
//! - Neumaier: Interval methods for systems of equations (1990), for centered forms.
//! - Higham: Accuracy and stability of numerical algorithms (2002), for the rounding of sums.

use super::enclose::{Encloser, Enclosure, NORM, Start};
use super::error::CertifyError;
use super::scale::{Scaled, UNDERFLOW, WellScaled};
use crate::control::Poll;
use crate::machine::Readout;
use crate::readout::{Clause, Head, Pair, Side, place_of_pair};
use crate::recognize::View;
use crate::simd::{Comparison, EXP_ERROR, Rows, Simd};
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::SymbolId;

/// The rounding error of a squared distance per neuron, in units of `f64::EPSILON` times the square of the sum of both
/// lengths (Lemma DISTANCE_LOSS).
pub(super) const DISTANCE_LOSS: f64 = 8.;
/// A factor that covers the rounding of a weighted sum of distances (Lemma LEAN).
pub(super) const LEAN: f64 = 1. + 1e-12;
/// The number of times that the rounding error of a distance enters a kernel value: in the program, in the bounds, and
/// to second order (Lemma DISTANCE_SHARE).
pub(super) const DISTANCE_SHARE: f64 = 4.;
/// The rounding error of a decision value per term, in units of `f64::EPSILON`, the distance from 1 to the next number
/// (Lemma TERM_LOSS).
pub(super) const TERM_LOSS: f64 = 8.;
/// The number of terms that is added to those of a sum, because products, exponents and exponentials are rounded, too
/// (Lemma EXTRA_TERMS).
pub(super) const EXTRA_TERMS: usize = 128;
// Four roundings of exponents up to 400, four exponentials, and a few products. One rounding is half of EPSILON.
const _: () = assert!(2. * TERM_LOSS * EXTRA_TERMS as f64 >= 4. * 400. + 8. * EXP_ERROR / f64::EPSILON + 20.);
/// The relative rounding error above which the error is no longer linear, and the decision counts as open (Lemma
/// MOST_LOST).
pub(super) const MOST_LOST: f64 = 1e-2;
/// A factor that covers the rounding of the change due to the gradient, or of the spread of a linear map (Lemma
/// CHANGE).
pub(super) const CHANGE: f64 = 1. + 1e-11;
/// The rounding error of a linear value per term (Lemma LINEAR_LOSS).
pub(super) const LINEAR_LOSS: f64 = 8.;
/// The rounding error of the sum of both sides' linear values and the intercept (Lemma CLAUSE_LOSS).
pub(super) const CLAUSE_LOSS: f64 = 8.;

/// A set of states, as the readouts see it.
#[derive(Debug)]
pub(crate) struct Sighting {
    /// The set, or `None` if what the readouts see is known exactly.
    set: Option<Enclosure>,
    /// An upper bound on the rounding error of a squared distance.
    loss: f64,
    /// The spread of the set times an upper bound on the distance between a state and a center.
    span: f64,
    /// This side's factors of the kernel values, for each kernel.
    kernels: Vec<Factors>,
    /// This side's contributions to the linear values.
    linear: Vec<Range>,
}

/// The range of a linear value on a set.
#[derive(Clone, Copy, Debug)]
struct Range {
    middle: f64,
    /// The maximum distance from the middle, including rounding.
    spread: f64,
}

/// One side's factors of the kernel values, for each center of a kernel.
#[derive(Debug)]
struct Factors {
    /// The factor at the center of the set, and its minimum and maximum in the set.
    middle: Vec<f64>,
    least: Vec<f64>,
    greatest: Vec<f64>,
    /// The maximum of |e·(c - y)| on the set, where c + e is a state and y is a center of the kernel.
    lean: Vec<f64>,
}

impl Sighting {
    /// Returns the maximum distance of a state from the center of the set.
    pub(crate) fn size(&self) -> f64 {
        self.set.as_ref().map_or(0., |set| set.ball)
    }

    /// Returns the approximate number of floating-point values that the sighting consists of.
    pub(crate) fn numbers(&self) -> usize {
        let neurons = self.set.as_ref().map_or(0, |set| set.center.len());
        let factors: usize = self.kernels.iter().map(|factors| factors.middle.len()).sum();
        2 * neurons + 4 * factors + 2 * self.linear.len()
    }
}

/// The centers of all kernels and the linear map, for one side.
struct Centers {
    width: usize,
    flat: Vec<f64>,
    rows: Rows,
    /// The centers that each kernel uses.
    members: Vec<Vec<u32>>,
    /// The length of the longest center.
    longest: f64,
    /// The linear map: for each linear value, its weights.
    linear: Vec<Vec<f64>>,
}

struct Kernel {
    gamma: f64,
    support: Vec<[u32; 2]>,
    /// The number of terms of the longest sum over the support vectors. A pair may name a support vector more than
    /// once.
    terms: usize,
}

/// Computes bounds on all decisions of a machine, whose readouts have names of type `R`. The two sides are the input and
/// the stack or, in a machine with two stacks, the first and the second stack.
pub(crate) struct Bounds<R = Readout> {
    /// The input features of each lookahead, if the readouts see nothing else of the input.
    symbols: Option<Vec<Vec<f64>>>,
    encloser: Encloser,
    /// The states before a suffix, for each side.
    starts: [Start; 2],
    input: Centers,
    stack: Centers,
    kernels: Vec<Kernel>,
    heads: Vec<(R, Head)>,
}

/// A bound on the margin of a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Margin {
    /// A lower bound. If it is above 0, the class is chosen on the whole set.
    pub(crate) least: f64,
    /// The approximate margin at the center of the set.
    pub(crate) middle: f64,
}

/// Kernel values of the support vectors on a pair of sets, and buffers.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The kernel that the values belong to, or `None` if they are not those of the current sets.
    kernel: Option<usize>,
    /// The input suffix that the values belong to.
    suffix: Option<InputSuffix>,
    middle: Vec<f64>,
    least: Vec<f64>,
    greatest: Vec<f64>,
    /// How far a kernel value can curve below and above its linear part.
    sag: Vec<f64>,
    bulge: Vec<f64>,
    /// The share of each support vector in the rounding error.
    loss: Vec<f64>,
    /// The relative rounding error of each share, or infinity if it is above [`MOST_LOST`].
    lost: f64,
    shares: Vec<f64>,
    gradient: Vec<f64>,
}

impl Scratch {
    /// Discards the values, because the next sets are different.
    pub(crate) fn forget(&mut self) {
        self.kernel = None;
        self.suffix = None;
    }

    /// Discards the values unless they belong to this input suffix. The stack suffix must be the same as before.
    pub(crate) fn turn_to(&mut self, suffix: &InputSuffix) {
        if self.suffix.as_ref() != Some(suffix) {
            self.kernel = None;
            self.suffix = Some(suffix.clone());
        }
    }
}

impl Bounds {
    /// Prepares the bounds for a machine.
    ///
    /// # Errors
    /// [`CertifyError::Reservoir`] if the reservoir's states cannot be enclosed.
    pub(crate) fn new(scaled: &WellScaled<'_>, poll: &mut Poll<'_>) -> Result<Self, CertifyError> {
        let machine = scaled.machine;
        let alphabet = machine.alphabet();
        let (channels, symbols) = match machine.view() {
            View::Symbol => {
                let features = |next| machine.symbol_features(next).to_vec();
                (None, Some(alphabet.lookaheads().map(features).collect()))
            }
            View::Reservoir => (Some(alphabet.terminals().len()), None),
        };
        Ok(Self { symbols, ..Self::over(&scaled.parts, [channels, Some(alphabet.len())], poll)? })
    }

    /// Returns what the readouts see of all inputs with this suffix.
    pub(crate) fn input(&self, suffix: &InputSuffix) -> Sighting {
        if let Some(symbols) = &self.symbols {
            let last = symbols.len() - 1;
            let mut rest = &symbols[suffix.next().token().map_or(last, SymbolId::index)][..];
            let factors = |members: &Vec<u32>| {
                let (own, after) = rest.split_at(members.len());
                rest = after;
                let [middle, least, greatest] = [own.to_vec(), own.to_vec(), own.to_vec()];
                Factors { middle, least, greatest, lean: vec![0.; own.len()] }
            };
            let kernels = self.input.members.iter().map(factors).collect();
            let linear = rest.iter().map(|&middle| Range { middle, spread: 0. }).collect();
            return Sighting { set: None, loss: 0., span: 0., kernels, linear };
        }
        let next = suffix.next().token().map(SymbolId::index);
        let channels: Vec<Option<usize>> =
            suffix.before().iter().map(|token| Some(token.index())).chain([next]).collect();
        let start = if suffix.is_whole() { &Start::Zero } else { &self.starts[0] };
        self.see(&self.input, self.encloser.after(start, channels.into_iter()))
    }
}

impl<R: Clone> Bounds<R> {
    /// Prepares the bounds for readouts of two states, each of which is reached by a sequence of the first `channels`
    /// channels of the reservoir; `None` for a side whose states are not enclosed.
    ///
    /// # Errors
    /// [`CertifyError::Reservoir`] if the reservoir's states cannot be enclosed.
    pub(crate) fn over(
        scaled: &Scaled<R>,
        channels: [Option<usize>; 2],
        poll: &mut Poll<'_>,
    ) -> Result<Self, CertifyError> {
        let encloser = Encloser::new(scaled.reservoir.clone()).ok_or(CertifyError::Reservoir)?;
        let mut starts = [Start::Zero, Start::Zero];
        for (start, channels) in starts.iter_mut().zip(channels) {
            if let Some(channels) = channels {
                *start = encloser.anything(channels, poll)?;
            }
        }
        let parts = &scaled.projection;
        let width = scaled.neurons;
        let [input, stack] = parts.halves.clone().map(|half| {
            let mut rows = Rows::new(width);
            half.centers.chunks_exact(width).for_each(|row| rows.push(row));
            let square = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
            let longest = half.centers.chunks_exact(width).map(square).fold(0., f64::max).sqrt() * NORM;
            let (map, count) = half.linear;
            let linear = (0..count).map(|column| map.iter().skip(column).step_by(count).copied().collect()).collect();
            Centers { width, flat: half.centers, rows, members: half.members, longest, linear }
        });
        let heads = scaled.heads.clone();
        let terms = |number: usize| {
            let pairs = heads.iter().filter_map(|(_, head)| match head {
                Head::Votes { kernel, pairs, .. } if *kernel == number => Some(pairs),
                _ => None,
            });
            pairs.flatten().map(|pair| pair.terms.len()).max().unwrap_or(0)
        };
        let kernels = parts.kernels.iter().enumerate().map(|(number, (gamma, support))| Kernel {
            gamma: *gamma,
            support: support.clone(),
            terms: terms(number),
        });
        let kernels = kernels.collect();
        Ok(Self { symbols: None, encloser, starts, input, stack, kernels, heads })
    }

    /// Returns the readouts that are bounded.
    pub(crate) fn heads(&self) -> &[(R, Head)] {
        &self.heads
    }

    /// Returns what the readouts see of all stacks with this suffix.
    pub(crate) fn stack(&self, suffix: &StackSuffix) -> Sighting {
        let start = if suffix.is_whole() { &Start::Zero } else { &self.starts[1] };
        let channels = suffix.symbols().iter().map(|symbol| Some(symbol.index()));
        self.see(&self.stack, self.encloser.after(start, channels))
    }

    /// Returns what the readouts of a machine with two stacks see of all first stacks with this suffix. What they see of
    /// the second stack is what other machines see of their only one.
    pub(crate) fn first_stack(&self, suffix: &StackSuffix) -> Sighting {
        let start = if suffix.is_whole() { &Start::Zero } else { &self.starts[0] };
        let channels = suffix.symbols().iter().map(|symbol| Some(symbol.index()));
        self.see(&self.input, self.encloser.after(start, channels))
    }

    fn see(&self, side: &Centers, set: Enclosure) -> Sighting {
        let simd = Simd::default();
        let mut comparison = Comparison::default();
        let distances = comparison.squared_distances(simd, &side.rows, [&set.center[..]]);
        let mut lean = vec![0.; side.rows.len()];
        if set.ball > 0. {
            simd.weighted_distances(&side.flat, &set.center, &set.radii, &mut lean);
        }
        let length = set.center.iter().map(|x| x * x).sum::<f64>().sqrt() * NORM + set.ball;
        let loss =
            DISTANCE_LOSS * (side.width + 8) as f64 * f64::EPSILON * (length + side.longest) * (length + side.longest);
        for (lean, distance) in lean.iter_mut().zip(distances) {
            *lean = worse(*lean, set.ball * (distance + loss).sqrt()) * LEAN;
        }
        let square = set.ball * set.ball;
        let kernels = self.kernels.iter().zip(&side.members).map(|(kernel, members)| {
            let factor = |exponent: &dyn Fn(usize) -> f64| {
                let mut values: Vec<f64> =
                    members.iter().map(|&member| -kernel.gamma * exponent(member as usize)).collect();
                simd.exp(&mut values);
                values
            };
            Factors {
                middle: factor(&|at| distances[at]),
                least: factor(&|at| distances[at] + 2. * lean[at] + square),
                greatest: factor(&|at| (distances[at] - 2. * lean[at]).max(0.)),
                lean: members.iter().map(|&member| lean[member as usize]).collect(),
            }
        });
        let kernels = kernels.collect();
        let span = (length + side.longest) * set.spread();
        let linear = side.linear.iter().map(|weights| range(weights, &set)).collect();
        Sighting { set: Some(set), loss, span, kernels, linear }
    }

    /// Bounds the margin of `class` in the readout with the number `head`. `scratch` keeps the values that the readouts
    /// of one kernel share on one pair of sets.
    pub(crate) fn margin(
        &self,
        head: usize,
        class: usize,
        input: &Sighting,
        stack: &Sighting,
        scratch: &mut Scratch,
    ) -> Margin {
        let lead = self.lead(head, class, input, stack, scratch);
        if lead.middle > 0. {
            return lead;
        }
        // The class does not win against every other class at the center, but it may still have the most votes.
        match self.votes(head, class, input, stack, scratch) {
            Some(margin) => Margin { least: margin, middle: margin },
            None => lead,
        }
    }

    /// Bounds the margin by which `class` wins against every other class. Used like [`Bounds::margin`], which also
    /// counts votes.
    pub(crate) fn lead(
        &self,
        head: usize,
        class: usize,
        input: &Sighting,
        stack: &Sighting,
        scratch: &mut Scratch,
    ) -> Margin {
        let (kernel, classes, pairs) = match &self.heads[head].1 {
            Head::Constant(own) => {
                let margin = if *own == class { f64::INFINITY } else { f64::NEG_INFINITY };
                return Margin { least: margin, middle: margin };
            }
            Head::List { clauses, otherwise } => return list_margin(clauses, *otherwise, class, input, stack),
            Head::Votes { kernel, classes, pairs } => (*kernel, *classes, pairs),
        };
        if scratch.kernel != Some(kernel) {
            self.evaluate(kernel, input, stack, scratch);
        }
        let mut margin = Margin { least: f64::INFINITY, middle: f64::INFINITY };
        for other in (0..classes).filter(|&other| other != class) {
            let pair = &pairs[place_of_pair(classes, class.min(other), class.max(other))];
            let sign = if class < other { 1. } else { -1. };
            // Once a pair is not certain, the class is not, and the better bound is not worth its cost.
            let refine = margin.least > 0.;
            let one = self.pair(pair, sign, refine, kernel, (input, stack), scratch);
            margin = Margin { least: worse(margin.least, one.least), middle: worse(margin.middle, one.middle) };
        }
        margin
    }

    /// Returns the smallest margin of a pair of classes if `class` has the most votes on the whole of both sets.
    /// Returns `None` if it does not, or if the vote of some pair is not certain.
    pub(crate) fn votes(
        &self,
        head: usize,
        class: usize,
        input: &Sighting,
        stack: &Sighting,
        scratch: &mut Scratch,
    ) -> Option<f64> {
        let Head::Votes { kernel, classes, pairs } = &self.heads[head].1 else { return None };
        if scratch.kernel != Some(*kernel) {
            self.evaluate(*kernel, input, stack, scratch);
        }
        let (winner, margin) = self.most_votes((*kernel, *classes, pairs), input, stack, scratch)?;
        (winner == class).then_some(margin)
    }

    /// Returns the class with the most votes on the whole of both sets, and the smallest margin of a pair of classes.
    /// Returns `None` if the vote of some pair is not certain.
    fn most_votes(
        &self,
        (kernel, classes, pairs): (usize, usize, &[Pair]),
        input: &Sighting,
        stack: &Sighting,
        scratch: &mut Scratch,
    ) -> Option<(usize, f64)> {
        let (mut votes, mut margin) = (vec![0_u32; classes], f64::INFINITY);
        for pair in pairs {
            let first = self.pair(pair, 1., true, kernel, (input, stack), scratch).least;
            let winner = if first > 0. { pair.first } else { pair.second };
            let least =
                if first > 0. { first } else { self.pair(pair, -1., true, kernel, (input, stack), scratch).least };
            if least.is_nan() || least <= 0. {
                return None;
            }
            margin = margin.min(least);
            votes[winner as usize] += 1;
        }
        let winner = (0..classes).rev().max_by_key(|&class| votes[class])?;
        Some((winner, margin))
    }

    /// Returns the class that is chosen on the whole of both sets, if it is certain. `scratch` is used as in
    /// [`Bounds::margin`].
    pub(crate) fn certain(
        &self,
        head: usize,
        input: &Sighting,
        stack: &Sighting,
        scratch: &mut Scratch,
    ) -> Option<usize> {
        let class = match &self.heads[head].1 {
            Head::Constant(class) => return Some(*class),
            Head::List { clauses, otherwise } => {
                let holds = |clause: &&Clause| clause_range(clause, input, stack).middle > 0.;
                clauses.iter().find(holds).map_or(*otherwise, |clause| clause.class)
            }
            Head::Votes { kernel, classes, pairs } => {
                if scratch.kernel != Some(*kernel) {
                    self.evaluate(*kernel, input, stack, scratch);
                }
                // A knockout: only the class that wins the last comparison can win against all others.
                let first_wins = |a: usize, b: usize| {
                    let pair = &pairs[place_of_pair(*classes, a, b)];
                    let terms = pair.terms.iter().map(|&(at, weight)| weight * scratch.middle[at as usize]);
                    terms.sum::<f64>() + pair.intercept > 0.
                };
                (1..*classes).fold(0, |winner, other| if first_wins(winner, other) { winner } else { other })
            }
        };
        let lead = self.lead(head, class, input, stack, scratch);
        if lead.least > 0. {
            return Some(class);
        }
        // If no class wins against all others, the most votes decide. If this one does at the center, a pair that is
        // not certain here has no certain vote either.
        let Head::Votes { kernel, classes, pairs } = &self.heads[head].1 else { return None };
        if lead.middle > 0. {
            return None;
        }
        self.most_votes((*kernel, *classes, pairs), input, stack, scratch).map(|(winner, _)| winner)
    }

    /// Computes the values of a kernel on a pair of sets, which all its readouts share.
    fn evaluate(&self, number: usize, input: &Sighting, stack: &Sighting, scratch: &mut Scratch) {
        let kernel = &self.kernels[number];
        let (a, b) = (&input.kernels[number], &stack.kernels[number]);
        let square = input.size() * input.size() + stack.size() * stack.size();
        let gamma = kernel.gamma;
        let all = || kernel.support.iter().map(|&[i, j]| (i as usize, j as usize));
        scratch.kernel = Some(number);
        fill(&mut scratch.middle, all().map(|(i, j)| a.middle[i] * b.middle[j]));
        fill(&mut scratch.least, all().map(|(i, j)| a.least[i] * b.least[j]));
        fill(&mut scratch.greatest, all().map(|(i, j)| a.greatest[i] * b.greatest[j]));
        let greatest = &scratch.greatest;
        let lean = || all().map(|(i, j)| a.lean[i] + b.lean[j] + square).zip(greatest);
        fill(&mut scratch.sag, greatest.iter().map(|high| high * gamma * square));
        fill(&mut scratch.bulge, lean().map(|(lean, high)| high * 2. * (gamma * lean) * (gamma * lean)));
        let span = input.span + stack.span;
        let share = |(lean, high): (f64, &f64)| {
            let steep = 1. + 2. * gamma * lean;
            high * (steep * steep + 2. * gamma * span)
        };
        fill(&mut scratch.loss, lean().map(share));
        // The error of a kernel value comes from its distances, in the program and here; that of a sum, from its terms.
        let count = (kernel.terms + self.stack.width + EXTRA_TERMS) as f64;
        scratch.lost = DISTANCE_SHARE * gamma * (input.loss + stack.loss) + TERM_LOSS * count * f64::EPSILON;
        if scratch.lost.is_nan() || scratch.lost > MOST_LOST {
            scratch.lost = f64::INFINITY;
        }
    }

    /// Bounds the margin of one class of a pair over the other: of the first if `sign` is 1, of the second if it is -1.
    /// The Taylor bound is computed only if `refine` is set.
    fn pair(
        &self,
        pair: &Pair,
        sign: f64,
        refine: bool,
        kernel: usize,
        (input, stack): (&Sighting, &Sighting),
        scratch: &mut Scratch,
    ) -> Margin {
        let (mut middle, mut least, mut curved, mut loss) = (0., 0., 0., pair.intercept.abs());
        for &(at, weight) in &pair.terms {
            let (at, weight) = (at as usize, sign * weight);
            middle += weight * scratch.middle[at];
            least += weight * if weight > 0. { scratch.least[at] } else { scratch.greatest[at] };
            curved += weight * if weight > 0. { scratch.sag[at] } else { -scratch.bulge[at] };
            loss += weight.abs() * scratch.loss[at];
        }
        let (middle, least) = (middle + sign * pair.intercept, least + sign * pair.intercept);
        let lost = loss * scratch.lost + UNDERFLOW;
        let interval = least - lost;
        let worth = middle - curved - lost > 0.;
        if !(least.is_finite() && curved.is_finite() && lost.is_finite()) {
            return Margin { least: f64::NEG_INFINITY, middle };
        }
        if interval > 0. || !worth || !refine {
            return Margin { least: interval, middle };
        }
        let change = self.change(&self.input, Side::Input, pair, kernel, input, scratch)
            + self.change(&self.stack, Side::Stack, pair, kernel, stack, scratch);
        let taylor = middle - curved - change * CHANGE - lost;
        Margin { least: if taylor.is_finite() && taylor > interval { taylor } else { interval }, middle }
    }

    /// Returns the maximum change of a pair's value due to its gradient at the center of one side's set.
    fn change(
        &self,
        side: &Centers,
        which: Side,
        pair: &Pair,
        kernel: usize,
        sighting: &Sighting,
        scratch: &mut Scratch,
    ) -> f64 {
        let Some(set) = sighting.set.as_ref().filter(|set| set.ball > 0.) else { return 0. };
        let (members, kernel) = (&side.members[kernel], &self.kernels[kernel]);
        // The gradient is -2 gamma times the sum over the support vectors of weight * kernel * (c - center). The
        // products of weight and kernel are first summed up for each center.
        fill(&mut scratch.shares, members.iter().map(|_| 0.));
        let mut total = 0.;
        for &(at, weight) in &pair.terms {
            let value = weight * scratch.middle[at as usize];
            let place = kernel.support[at as usize][match which {
                Side::Input => 0,
                Side::Stack => 1,
            }];
            scratch.shares[place as usize] += value;
            total += value;
        }
        fill(&mut scratch.gradient, set.center.iter().map(|x| total * x));
        let simd = Simd::default();
        for (&member, share) in members.iter().zip(&scratch.shares) {
            if *share != 0. {
                simd.add_scaled(
                    -share,
                    &side.flat[member as usize * side.width..][..side.width],
                    &mut scratch.gradient,
                );
            }
        }
        let boxed: f64 = scratch.gradient.iter().zip(&set.radii).map(|(slope, radius)| slope.abs() * radius).sum();
        let square: f64 = scratch.gradient.iter().map(|slope| slope * slope).sum();
        2. * kernel.gamma * worse(boxed, square.sqrt() * set.ball)
    }
}

/// Returns the range of a linear value on a set. The program adds the products in some order, and each addition loses a
/// small fraction of the maximum of their sum.
fn range(weights: &[f64], set: &Enclosure) -> Range {
    let terms = || weights.iter().zip(set.center.iter().zip(&set.radii));
    let middle: f64 = terms().map(|(weight, (center, _))| weight * center).sum();
    let boxed: f64 = terms().map(|(weight, (_, radius))| weight.abs() * radius).sum();
    let most: f64 = terms().map(|(weight, (center, radius))| weight.abs() * (center.abs() + radius)).sum();
    let length = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
    let lost = LINEAR_LOSS * (weights.len() + 8) as f64 * f64::EPSILON * most + UNDERFLOW;
    Range { middle, spread: worse(boxed, length * set.ball) * CHANGE + lost }
}

/// Bounds on how far a clause is from failing, and from holding, on a pair of sets.
struct ClauseRange {
    /// The approximate distance from failing at the center of the sets; below 0 if the clause fails there.
    middle: f64,
    /// A lower bound on how far all conditions are above 0. If it is above 0, the clause holds on the whole of both
    /// sets.
    holds: f64,
    /// A lower bound on how far one of the conditions is below 0. If it is above 0, the clause fails on the whole of
    /// both sets.
    fails: f64,
}

fn clause_range(clause: &Clause, input: &Sighting, stack: &Sighting) -> ClauseRange {
    let mut all = ClauseRange { middle: f64::INFINITY, holds: f64::INFINITY, fails: f64::NEG_INFINITY };
    for &(number, intercept) in &clause.conditions {
        let [a, b] = [input.linear[number as usize], stack.linear[number as usize]];
        let middle = a.middle + b.middle + intercept;
        let lost = CLAUSE_LOSS * f64::EPSILON * (a.middle.abs() + b.middle.abs() + intercept.abs()) + UNDERFLOW;
        let spread = a.spread + b.spread + lost;
        all.middle = worse(all.middle, middle);
        if !(middle.is_finite() && spread.is_finite()) {
            all.holds = f64::NEG_INFINITY;
            continue;
        }
        all.holds = worse(all.holds, middle - spread);
        all.fails = all.fails.max(-middle - spread);
    }
    all
}

/// Bounds the margin of a class in a list. Each clause of another class must fail, up to a clause of this class that
/// holds. A clause of this class that may or may not hold does not matter if the rest of the list gives this class,
/// too.
fn list_margin(clauses: &[Clause], otherwise: usize, class: usize, input: &Sighting, stack: &Sighting) -> Margin {
    let mut margin = Margin { least: f64::INFINITY, middle: f64::INFINITY };
    // Whether a clause of this class holds at the center, so that later clauses do not matter there.
    let mut held = false;
    for clause in clauses {
        let range = clause_range(clause, input, stack);
        if clause.class == class {
            if range.middle > 0. && !held {
                held = true;
                margin.middle = worse(margin.middle, range.middle);
            }
            if range.holds > 0. {
                return Margin { least: worse(margin.least, range.holds), middle: margin.middle };
            }
        } else {
            if !held {
                margin.middle = worse(margin.middle, -range.middle);
            }
            margin.least = worse(margin.least, range.fails);
        }
    }
    if otherwise != class {
        let middle = if held { margin.middle } else { f64::NEG_INFINITY };
        return Margin { least: f64::NEG_INFINITY, middle };
    }
    margin
}

fn fill(to: &mut Vec<f64>, values: impl Iterator<Item = f64>) {
    to.clear();
    to.extend(values);
}

/// Returns the smaller of two numbers, or NaN if one of them is NaN.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Choices, Machine, Params};
    use crate::recognize::{Mode, Reduction};
    use crate::reservoir::ReservoirKind;
    use crate::reservoir::{Drive, encode};
    use crate::study::Study;
    use crate::symbol::Lookahead;
    use crate::tasks::Task;
    use crate::teach::Answer;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Trains a machine on a few words. It may be right or wrong.
    fn machine(task: Task, kind: ReservoirKind, view: View) -> Machine {
        let language = task.language().unwrap();
        let teacher = crate::Oracle::strict(language.automaton().clone()).unwrap();
        let traces = Study { words: 30, ..Study::default() }.begin(&*language, &teacher).unwrap();
        let params = Params { view, mode: Mode::Strict, ..Params::standard(kind, 48, 1) };
        params.check().unwrap().fit(&task.alphabet(), &traces, &()).unwrap()
    }

    #[test]
    fn a_bound_never_excludes_a_computed_value() {
        let count = std::env::var("ECHOSTACK_CONTINUATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
        for task in [Task::Dyck1, Task::Json] {
            for kind in ReservoirKind::ALL {
                for view in [View::Symbol, View::Reservoir] {
                    let machine = machine(task, kind, view);
                    let (gap, certain) = compare(&machine, count);
                    // The bounds are not trivial: on whole sequences they are almost exact.
                    assert!(gap < 1e-3, "{task} {kind:?} {view:?}: {gap}");
                    assert!(certain > 0, "{task} {kind:?} {view:?}: no decision is certain");
                }
            }
        }
    }

    #[test]
    fn a_list_that_is_certain_decides_so() {
        let count = std::env::var("ECHOSTACK_CONTINUATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
        for task in [Task::Dyck1, Task::Json] {
            let oracle = crate::Oracle::strict(task.automaton().unwrap()).unwrap();
            for kind in ReservoirKind::ALL {
                for view in [View::Symbol, View::Reservoir] {
                    let params = Params { view, mode: Mode::Strict, ..Params::provable(kind, 256, 1) };
                    let (machine, _) = crate::extract::construct(&oracle, &params.check().unwrap(), &()).unwrap();
                    let [certain, open] = compare_lists(&machine, count);
                    assert!(
                        certain > count / 4 && open > 0,
                        "{task} {kind:?} {view:?}: {certain} certain, {open} open"
                    );
                }
            }
        }
    }

    /// Compares the decisions of lists that are certain with those of the machine after random continuations. Returns
    /// the numbers of certain and of open decisions.
    fn compare_lists(machine: &Machine, count: usize) -> [usize; 2] {
        let bounds = Bounds::new(&WellScaled::new(machine).unwrap(), &mut Poll::new(&())).unwrap();
        let (symbols, terminals) = (machine.alphabet().len(), machine.alphabet().terminals().len());
        let mut random = ChaCha8Rng::seed_from_u64(6);
        let mut scratch = Scratch::default();
        let mut seen = [0; 2];
        for _ in 0..count {
            let mut draw = |among: usize| -> Vec<SymbolId> {
                let length = random.random_range(0..12);
                (0..length).map(|_| SymbolId::new(random.random_range(0..among))).collect()
            };
            let (before, stack) = (draw(terminals), draw(symbols));
            let next = match random.random_range(0..=terminals) {
                token if token < terminals => Lookahead::Token(SymbolId::new(token)),
                _ => Lookahead::End,
            };
            let [h, g] = states(machine, &before, next, &stack);
            let chosen = machine.choose(&h, &g);
            let mut end = |symbols: &[SymbolId]| -> Vec<SymbolId> {
                let length = random.random_range(0..=symbols.len().min(4));
                symbols[symbols.len() - length..].to_vec()
            };
            let input = bounds.input(&InputSuffix::new(end(&before), next, false));
            let stack = bounds.stack(&StackSuffix::new(end(&stack), false));
            for (number, &(readout, _)) in bounds.heads().iter().enumerate() {
                let Some(class) = bounds.certain(number, &input, &stack, &mut scratch) else {
                    seen[1] += 1;
                    continue;
                };
                seen[0] += 1;
                assert_eq!(
                    machine.answer(readout, class),
                    Some(chosen_answer(readout, &chosen, bounds.heads().len() == 4)),
                    "{readout:?}"
                );
            }
        }
        seen
    }

    /// Compares bounds with the values that the machine computes after random continuations. Returns the widest gap on
    /// whole sequences, and the number of decisions that were certain.
    fn compare(machine: &Machine, count: usize) -> (f64, usize) {
        let bounds = Bounds::new(&WellScaled::new(machine).unwrap(), &mut Poll::new(&())).unwrap();
        let alphabet = machine.alphabet().clone();
        let (symbols, terminals) = (alphabet.len(), alphabet.terminals().len());
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut scratch = Scratch::default();
        let (mut widest, mut certain) = (0_f64, 0);
        let draw = |random: &mut ChaCha8Rng, count: usize, among: usize| -> Vec<SymbolId> {
            (0..count).map(|_| SymbolId::new(random.random_range(0..among))).collect()
        };
        for round in 0..count {
            let lengths = [random.random_range(0..25), random.random_range(0..25)];
            let (before, stack) = (draw(&mut random, lengths[0], terminals), draw(&mut random, lengths[1], symbols));
            let next = match random.random_range(0..=terminals) {
                token if token < terminals => Lookahead::Token(SymbolId::new(token)),
                _ => Lookahead::End,
            };
            let states = states(machine, &before, next, &stack);
            let whole = round % 4 == 0;
            let part = |symbols: &[SymbolId], random: &mut ChaCha8Rng| -> Vec<SymbolId> {
                let length = if whole { symbols.len() } else { random.random_range(0..=symbols.len().min(5)) };
                symbols[symbols.len() - length..].to_vec()
            };
            let (before, stack) = (part(&before, &mut random), part(&stack, &mut random));
            let input = bounds.input(&InputSuffix::new(before, next, whole));
            let stack = bounds.stack(&StackSuffix::new(stack, whole));
            for (number, (readout, head)) in bounds.heads().iter().enumerate() {
                let readout = *readout;
                let Head::Votes { classes, pairs, .. } = head else { continue };
                let values = machine.decision_values(readout, &states[0], &states[1]);
                let mut winner = None;
                for class in 0..*classes {
                    let towards = |(pair, value): (&Pair, &f64)| match class as u32 {
                        class if class == pair.first => *value,
                        class if class == pair.second => -*value,
                        _ => f64::INFINITY,
                    };
                    let computed = pairs.iter().zip(&values).map(towards).fold(f64::INFINITY, f64::min);
                    scratch.forget();
                    let Margin { least, .. } = bounds.margin(number, class, &input, &stack, &mut scratch);
                    // A class that loses against another one may still have the most votes.
                    let beaten = computed <= 0.;
                    let decided = || {
                        let chosen = machine.choose(&states[0], &states[1]);
                        machine.answer(readout, class)
                            == Some(chosen_answer(readout, &chosen, bounds.heads().len() == 4))
                    };
                    let sound = least <= computed || (beaten && decided());
                    assert!(sound, "{readout:?}: bound {least}, computed {computed}");
                    certain += usize::from(least > 0.);
                    winner = if least > 0. { Some(class) } else { winner };
                    if whole && !beaten {
                        widest = widest.max(computed - least);
                    }
                }
                scratch.forget();
                assert_eq!(bounds.certain(number, &input, &stack, &mut scratch), winner, "{readout:?}");
            }
        }
        (widest, certain)
    }

    /// Returns the answer of a readout. If pop and push are separate, it is half of the reduction.
    fn chosen_answer(readout: Readout, chosen: &Choices, separate: bool) -> Answer {
        let Reduction { pop, push } = chosen.reduction;
        match readout {
            Readout::Pop if separate => Answer::Act(Reduction { pop, push: None }),
            Readout::Push if separate => Answer::Act(Reduction { pop: 0, push }),
            Readout::Pop | Readout::Push => Answer::Act(chosen.reduction),
            Readout::Shift => Answer::Shift(chosen.shift),
            Readout::Output => Answer::Output(chosen.output[0] > 0.5),
        }
    }

    /// Computes the states of the input and of the stack.
    fn states(machine: &Machine, before: &[SymbolId], next: Lookahead, stack: &[SymbolId]) -> [Vec<f64>; 2] {
        let reservoir = &**machine.reservoir();
        let channel = |symbol: &SymbolId| Drive::Channel(symbol.index());
        let run = |drives: Vec<Drive<'_>>| encode(reservoir, Simd::default(), drives);
        let next = match next {
            Lookahead::Token(token) => Drive::Channel(token.index()),
            Lookahead::End => Drive::Silence,
        };
        let input = match (machine.view(), next) {
            (View::Reservoir, _) => run(before.iter().map(channel).chain([next]).collect()),
            (View::Symbol, Drive::Silence) => vec![0.; reservoir.neurons()],
            (View::Symbol, _) => run(vec![next]),
        };
        [input, run(stack.iter().map(channel).collect())]
    }
}
