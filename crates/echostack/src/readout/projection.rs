//! The halves of readouts: the features that can be computed from the state of the input alone or of the stack alone.

use std::collections::HashMap;

use super::lessons::{Lesson, StateId, States};
use super::side::Side;
use crate::simd::{Comparison, POINTS, Rows, Simd};

/// The halves of all readouts of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Projection {
    input: Half,
    stack: Half,
    kernels: Vec<Kernel>,
}

/// One side of a projection. The features of a state are the factors of each kernel, followed by the linear values.
#[derive(Clone, Debug)]
struct Half {
    centers: Rows,
    /// The centers that each kernel uses.
    members: Vec<Vec<u32>>,
    /// A linear map, column by column, and the number of its outputs.
    linear: (Vec<f64>, usize),
    width: usize,
}

/// A kernel with one width, and the support vectors of all heads that share it.
#[derive(Clone, Debug)]
struct Kernel {
    gamma: f64,
    /// The offset of its factors among the features, on each side.
    offsets: [usize; 2],
    /// The indices of the halves of each support vector among the factors.
    support: Vec<[u32; 2]>,
}

/// A kernel under construction: the support vectors of one training set, as pairs of states.
pub(crate) struct KernelParts {
    pub(crate) gamma: f64,
    pub(crate) support: Vec<Lesson>,
}

/// The data of a projection that a model file stores.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProjectionParts {
    /// The halves for the input and for the stack.
    pub(crate) halves: [HalfParts; 2],
    /// The gamma and the support vectors of each kernel.
    pub(crate) kernels: Vec<(f64, Vec<[u32; 2]>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HalfParts {
    /// The centers, one after the other.
    pub(crate) centers: Vec<f64>,
    pub(crate) members: Vec<Vec<u32>>,
    pub(crate) linear: (Vec<f64>, usize),
}

impl Half {
    fn parts(&self) -> HalfParts {
        let centers = (0..self.centers.len()).flat_map(|row| self.centers.row(row)).collect();
        HalfParts { centers, members: self.members.clone(), linear: self.linear.clone() }
    }

    /// Builds a half from its parts. Returns `None` if a member is not a center or the linear map has the wrong size.
    fn from_parts(neurons: usize, parts: HalfParts) -> Option<Self> {
        let HalfParts { centers: values, members, linear } = parts;
        let mut centers = Rows::new(neurons);
        values.chunks_exact(neurons).for_each(|row| centers.push(row));
        let known = members.iter().flatten().all(|&member| (member as usize) < centers.len());
        let width = members.iter().map(Vec::len).sum::<usize>() + linear.1;
        (known && linear.0.len() == linear.1.checked_mul(neurons)?).then_some(Self { centers, members, linear, width })
    }

    fn new(states: &States, kernels: &[KernelParts], side: Side, linear: (Vec<f64>, usize)) -> (Self, Vec<Vec<u32>>) {
        let mut places: HashMap<StateId, u32> = HashMap::new();
        let mut centers = Rows::new(states.neurons());
        let mut members = Vec::new();
        let mut support = Vec::new();
        for kernel in kernels {
            let mut local: HashMap<StateId, u32> = HashMap::new();
            let mut mine = Vec::new();
            let place = |lesson: &Lesson| {
                let state = lesson.state(side);
                *local.entry(state).or_insert_with(|| {
                    let center = *places.entry(state).or_insert_with(|| {
                        centers.push(&states.get(state));
                        centers.len() as u32 - 1
                    });
                    mine.push(center);
                    mine.len() as u32 - 1
                })
            };
            support.push(kernel.support.iter().map(place).collect());
            members.push(mine);
        }
        let width = members.iter().map(Vec::len).sum::<usize>() + linear.1;
        (Self { centers, members, linear, width }, support)
    }
}

impl Projection {
    /// Builds a projection from kernels over lessons and a linear map for each side.
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

    /// Builds a projection from its parts. Returns `None` if they do not fit together.
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

    /// Returns the number of support vectors of a kernel, or `None` if there is no such kernel.
    pub(crate) fn support(&self, kernel: usize) -> Option<usize> {
        self.kernels.get(kernel).map(|kernel| kernel.support.len())
    }

    /// Returns the number of linear values.
    pub(crate) fn linear_count(&self) -> usize {
        self.input.linear.1
    }

    fn half(&self, side: Side) -> &Half {
        match side {
            Side::Input => &self.input,
            Side::Stack => &self.stack,
        }
    }

    /// Returns the number of features of a state on this side.
    pub(crate) fn width(&self, side: Side) -> usize {
        self.half(side).width
    }

    /// Returns the number of distinct centers on this side.
    pub(crate) fn centers(&self, side: Side) -> usize {
        self.half(side).centers.len()
    }

    /// Fills in the features of each state. `comparison` is scratch space.
    pub(crate) fn project_all(
        &self,
        simd: Simd,
        side: Side,
        states: &mut [(&[f64], &mut [f64])],
        comparison: &mut Comparison,
    ) {
        let half = self.half(side);
        let count = half.centers.len();
        for group in states.chunks_mut(POINTS) {
            let distances = comparison.squared_distances(simd, &half.centers, group.iter().map(|(state, _)| *state));
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

    /// Computes the kernel value of each support vector of a kernel from the features of both states.
    pub(super) fn kernel_values(&self, kernel: usize, input: &[f64], stack: &[f64], out: &mut Vec<f64>) {
        let kernel = &self.kernels[kernel];
        let (input, stack) = (&input[kernel.offsets[0]..], &stack[kernel.offsets[1]..]);
        out.clear();
        out.extend(kernel.support.iter().map(|&[a, b]| input[a as usize] * stack[b as usize]));
    }

    /// Computes the sums of the linear values of both states.
    pub(crate) fn linear_values(&self, input: &[f64], stack: &[f64], out: &mut Vec<f64>) {
        let count = self.input.linear.1;
        out.clear();
        let (input, stack) = (&input[input.len() - count..], &stack[stack.len() - count..]);
        out.extend(input.iter().zip(stack).map(|(a, b)| a + b));
    }
}
