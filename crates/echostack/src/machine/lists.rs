//! Machines whose readouts are lists of clauses; such machines are constructed from an automaton.

use std::sync::Arc;

use super::readouts::{Actions, LabelledHead, Output, Readouts};
use super::stack_machine::Machine;
use crate::manifest::Manifest;
use crate::readout::{Affine, Clause, HalfParts, Head, Lessons, Projection, ProjectionParts, Values};
use crate::recognize::{Mode, Reduction, View};
use crate::reservoir::Reservoir;
use crate::symbol::Alphabet;

/// A test that a rule can require: an affine function of one state, which must be above 0.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// An affine function of the input's state.
    Input(Affine),
    /// An affine function of the stack's state.
    Stack(Affine),
}

/// An ordered list of rules. Each rule has the indices of the tests that must all be above 0, and the answer in that
/// case.
pub(crate) struct List<L> {
    pub(crate) rules: Vec<(Vec<usize>, L)>,
    pub(crate) otherwise: L,
}

/// All lists of a machine, which share the same tests.
pub(crate) struct Lists {
    pub(crate) tests: Vec<Test>,
    pub(crate) actions: List<Reduction>,
    pub(crate) shift: List<bool>,
    pub(crate) accept: List<bool>,
}

impl<L: Clone + PartialEq> List<L> {
    fn classifier(&self, tests: &[Test]) -> LabelledHead<L> {
        let mut labels = vec![self.otherwise.clone()];
        let clauses = self.rules.iter().map(|(numbers, label)| {
            let class = labels.iter().position(|own| own == label).unwrap_or_else(|| {
                labels.push(label.clone());
                labels.len() - 1
            });
            let condition = |&number: &usize| match &tests[number] {
                Test::Input(affine) | Test::Stack(affine) => (number as u32, affine.intercept),
            };
            Clause { conditions: numbers.iter().map(condition).collect(), class }
        });
        let clauses = clauses.collect();
        let head = if labels.len() == 1 { Head::Constant(0) } else { Head::List { clauses, otherwise: 0 } };
        LabelledHead { labels, head }
    }
}

impl Machine {
    /// Creates a strict machine with these lists as readouts.
    pub(crate) fn from_lists(
        alphabet: Arc<Alphabet>,
        reservoir: Arc<dyn Reservoir>,
        view: View,
        lists: &Lists,
        manifest: Manifest,
    ) -> Option<Self> {
        let Lists { tests, actions, shift, accept } = lists;
        let neurons = reservoir.neurons();
        let half = |weight: &dyn Fn(&Test, usize) -> f64| {
            let map = (0..neurons).flat_map(|neuron| tests.iter().map(move |test| weight(test, neuron))).collect();
            HalfParts { centers: Vec::new(), members: Vec::new(), linear: (map, tests.len()) }
        };
        let input = half(&|test, neuron| match test {
            Test::Input(affine) => affine.weights[neuron],
            Test::Stack(_) => 0.,
        });
        let stack = half(&|test, neuron| match test {
            Test::Stack(affine) => affine.weights[neuron],
            Test::Input(_) => 0.,
        });
        let projection =
            Projection::from_parts(neurons, ProjectionParts { halves: [input, stack], kernels: Vec::new() })?;
        let accept = accept.classifier(tests);
        let labels = accept.labels.iter().map(|&accepts| Values(vec![f64::from(u8::from(accepts))])).collect();
        let readouts = Readouts {
            projection,
            actions: Actions::Joint(actions.classifier(tests)),
            shift: shift.classifier(tests),
            output: Output::Classes(LabelledHead { labels, head: accept.head }),
        };
        Some(Self::new(alphabet, reservoir, (view, Mode::Strict), readouts, Lessons::new(), manifest))
    }
}
