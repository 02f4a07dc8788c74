//! The machine itself: its parts, and its decisions on a pair of states.

use std::sync::Arc;

use super::cells::{Cells, Certain};
use super::readouts::{Actions, Features, Output, Readout, Readouts};
use crate::manifest::Manifest;
use crate::readout::{DecisionScratch, Head, Lessons, Projection, Side, Values};
use crate::recognize::{Mode, Reduction, View};
use crate::reservoir::{Drive, Reservoir};
use crate::simd::Simd;
use crate::symbol::{Alphabet, Input, Lookahead};
use crate::teach::Answer;

/// A trained reservoir stack machine.
///
/// Cloning is cheap, because the clone shares the readouts and the reservoir.
///
/// ```
/// use echostack::{Oracle, Params, Recognizer, Verdict, Word};
/// use echostack::tasks::Task;
/// use echostack::teach::record;
///
/// // The teacher: the automaton of the language a^n b^n, and its traces on ten words.
/// let oracle = Oracle::tolerant(Task::Anbn.automaton().unwrap());
/// let alphabet = oracle.automaton().alphabet().clone();
/// let word = |n: usize| alphabet.word([vec!["a"; n], vec!["b"; n]].concat()).unwrap();
/// let traces: Vec<_> =
///     (1..=10).filter_map(|n| record(&oracle, "example", &word(n), Default::default()).0).collect();
///
/// // The machine, taught in milliseconds, is right far beyond what it has seen.
/// let machine = Params::default().check()?.fit(&alphabet, &traces, &())?;
/// assert_eq!(machine.judge(&word(5_000)), Verdict::Accept);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) alphabet: Arc<Alphabet>,
    pub(super) reservoir: Arc<dyn Reservoir>,
    pub(super) view: View,
    pub(super) mode: Mode,
    pub(super) simd: Simd,
    pub(super) readouts: Arc<Readouts>,
    pub(super) derived: Arc<Derived>,
    pub(super) lessons: Arc<Lessons>,
    pub(super) manifest: Arc<Manifest>,
    /// The decisions that are known without states.
    pub(super) cells: Option<Arc<Cells>>,
}

/// Features that are the same for every word.
#[derive(Debug, Default)]
pub(super) struct Derived {
    /// The input features of each terminal and, as the last entry, of the end of the word; only in the symbol view.
    pub(super) symbols: Vec<Vec<f64>>,
    /// The stack features of the empty stack.
    pub(super) bottom: Vec<f64>,
}

/// All decisions of a machine on one pair of states.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// The action on the stack.
    pub reduction: Reduction,
    /// True if the input would be shifted.
    pub shift: bool,
    /// The output.
    pub output: Vec<f64>,
}

impl Machine {
    /// Returns the alphabet.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// Returns the reservoir.
    pub fn reservoir(&self) -> &Arc<dyn Reservoir> {
        &self.reservoir
    }

    /// Returns the representation of the input that the machine sees.
    pub fn view(&self) -> View {
        self.view
    }

    /// Returns how tokens that cannot follow are treated: skipped or rejected.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the lessons that the machine was trained on.
    pub fn lessons(&self) -> &Arc<Lessons> {
        &self.lessons
    }

    /// Returns the record of how the machine was made: version, settings, digest of the traces, and any entries that
    /// its maker added.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the manifest for adding entries.
    pub fn manifest_mut(&mut self) -> &mut Manifest {
        Arc::make_mut(&mut self.manifest)
    }

    /// Returns the machine with an empty manifest. A proof is about the bytes of its file, and their digest identifies the
    /// machine.
    pub(crate) fn without_manifest(&self) -> Self {
        Self { manifest: Arc::default(), ..self.clone() }
    }

    /// Returns this machine with another choice of SIMD instructions. Its decisions stay the same.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }

    /// Returns whether the decisions of sessions are looked up in cells.
    pub(crate) fn has_memory(&self) -> bool {
        self.cells.is_some()
    }

    /// Returns this machine with the decisions of its sessions looked up in cells.
    pub(crate) fn with_certain(mut self, source: impl Certain + 'static) -> Self {
        self.cells = Some(Arc::new(Cells::new(Box::new(source), self.view, &self.alphabet)));
        self
    }

    /// Returns the number of decisions that were computed, and not looked up, in sessions of a machine with cells.
    #[cfg(test)]
    pub(crate) fn computed(&self) -> usize {
        self.cells.as_ref().map_or(0, |cells| cells.computed())
    }

    /// Returns the numbers of distinct centers that the readouts compare states with, for the input and for the stack.
    pub fn centers(&self) -> (usize, usize) {
        (self.readouts.projection.centers(Side::Input), self.readouts.projection.centers(Side::Stack))
    }

    /// Returns the number of support vectors of a readout, or 0 if it is not a support vector machine.
    pub fn support(&self, readout: Readout) -> usize {
        match self.head(readout) {
            Some(Head::Votes { pairs, .. }) => {
                let mut used: Vec<u32> = pairs.iter().flat_map(|pair| &pair.terms).map(|&(row, _)| row).collect();
                used.sort_unstable();
                used.dedup();
                used.len()
            }
            _ => 0,
        }
    }

    /// Returns all decisions on a pair of states. Everything is computed from scratch, which is slow and simple; this
    /// method is for experiments and tests.
    ///
    /// # Panics
    /// If a state does not have as many values as the reservoir has neurons.
    pub fn choose(&self, input: &[f64], stack: &[f64]) -> Choices {
        self.with_features(input, stack, |features, scratch| {
            let (reduction, _) = self.reduction(features, scratch);
            let shift = *self.readouts.shift.decide(&self.readouts.projection, features, scratch).0;
            let mut output = Vec::new();
            self.output_values(features, scratch, &mut output);
            Choices { reduction, shift, output }
        })
    }

    /// Returns the decision values of a readout on a pair of states, one for each pair of its classes. The pairs are in
    /// the order (0, 1), (0, 2), ..., (1, 2), ..., and a positive value is a decision for the first class of the pair.
    /// The result is empty if the readout is not a support vector machine.
    ///
    /// # Panics
    /// If a state does not have as many values as the reservoir has neurons.
    pub fn decision_values(&self, readout: Readout, input: &[f64], stack: &[f64]) -> Vec<f64> {
        let Some(head) = self.head(readout) else { return Vec::new() };
        self.with_features(input, stack, |features, scratch| {
            head.pair_values(&self.readouts.projection, features.input, features.stack, scratch);
            scratch.pairs().to_vec()
        })
    }

    fn head(&self, readout: Readout) -> Option<&Head> {
        match (readout, &self.readouts.actions) {
            (Readout::Pop, Actions::Separate { pop, .. }) => Some(&pop.head),
            (Readout::Push, Actions::Separate { push, .. }) => Some(&push.head),
            (Readout::Pop | Readout::Push, Actions::Joint(joint)) => Some(&joint.head),
            (Readout::Shift, _) => Some(&self.readouts.shift.head),
            (Readout::Output, _) => match &self.readouts.output {
                Output::Classes(classifier) => Some(&classifier.head),
                Output::Regression => None,
            },
        }
    }

    /// Returns the readouts in use and their heads. If pop and push are joint, [`Readout::Pop`] stands for both. A
    /// regression has no head and is left out.
    pub(crate) fn heads(&self) -> Vec<(Readout, &Head)> {
        let separate = matches!(self.readouts.actions, Actions::Separate { .. });
        let asked = [Readout::Pop, Readout::Push, Readout::Output, Readout::Shift];
        let asked = asked.into_iter().filter(|&readout| separate || readout != Readout::Push);
        asked.filter_map(|readout| self.head(readout).map(|head| (readout, head))).collect()
    }

    /// Returns the class of a readout that means this answer, if there is one.
    pub(crate) fn class(&self, readout: Readout, answer: Answer) -> Option<usize> {
        fn place<L: PartialEq>(labels: &[L], label: &L) -> Option<usize> {
            labels.iter().position(|own| own == label)
        }
        match (readout, answer, &self.readouts.actions, &self.readouts.output) {
            (Readout::Pop, Answer::Act(act), Actions::Separate { pop, .. }, _) => place(&pop.labels, &act.pop),
            (Readout::Push, Answer::Act(act), Actions::Separate { push, .. }, _) => place(&push.labels, &act.push),
            (Readout::Pop, Answer::Act(act), Actions::Joint(joint), _) => place(&joint.labels, &act),
            (Readout::Shift, Answer::Shift(shift), ..) => place(&self.readouts.shift.labels, &shift),
            (Readout::Output, Answer::Output(accepts), _, Output::Classes(output)) => {
                place(&output.labels, &Values(vec![f64::from(u8::from(accepts))]))
            }
            _ => None,
        }
    }

    /// Returns the answer that a class of a readout means. If the readout decides only on pop or only on push, the
    /// other half of the action is empty.
    pub(crate) fn answer(&self, readout: Readout, class: usize) -> Option<Answer> {
        match (readout, &self.readouts.actions, &self.readouts.output) {
            (Readout::Pop, Actions::Separate { pop, .. }, _) => {
                pop.labels.get(class).map(|&pop| Answer::Act(Reduction { pop, push: None }))
            }
            (Readout::Push, Actions::Separate { push, .. }, _) => {
                push.labels.get(class).map(|&push| Answer::Act(Reduction { pop: 0, push }))
            }
            (Readout::Pop | Readout::Push, Actions::Joint(joint), _) => {
                joint.labels.get(class).copied().map(Answer::Act)
            }
            (Readout::Shift, ..) => self.readouts.shift.labels.get(class).copied().map(Answer::Shift),
            (Readout::Output, _, Output::Classes(output)) => {
                output.labels.get(class).and_then(|values| values.0.first()).map(|&value| Answer::Output(value > 0.5))
            }
            (Readout::Output, _, Output::Regression) => None,
        }
    }

    /// Returns the projection, which contains the centers that the readouts compare states with.
    pub(crate) fn projection(&self) -> &Projection {
        &self.readouts.projection
    }

    /// Returns the input features of the lookahead, in the symbol view.
    pub(crate) fn symbol_features(&self, next: Lookahead) -> &[f64] {
        match next {
            Lookahead::Token(token) => &self.derived.symbols[token.index()],
            Lookahead::End => &self.derived.symbols[self.derived.symbols.len() - 1],
        }
    }

    fn with_features<R>(
        &self,
        input: &[f64],
        stack: &[f64],
        f: impl FnOnce(&Features<'_>, &mut DecisionScratch) -> R,
    ) -> R {
        for state in [input, stack] {
            assert_eq!(state.len(), self.reservoir.neurons(), "a state must have one value per neuron");
        }
        let mut scratch = DecisionScratch::default();
        let input = self.project(Side::Input, input, &mut scratch);
        let stack = self.project(Side::Stack, stack, &mut scratch);
        f(&Features { input: &input, stack: &stack }, &mut scratch)
    }

    /// Computes the features of a state.
    fn project(&self, side: Side, state: &[f64], scratch: &mut DecisionScratch) -> Vec<f64> {
        let mut out = vec![0.; self.readouts.projection.width(side)];
        self.readouts.projection.project_all(self.simd, side, &mut [(state, &mut out)], scratch.comparison());
        out
    }

    pub(super) fn reduction(&self, features: &Features<'_>, scratch: &mut DecisionScratch) -> (Reduction, f64) {
        match &self.readouts.actions {
            Actions::Separate { pop, push } => {
                let (&pop, pop_margin) = pop.decide(&self.readouts.projection, features, scratch);
                let (&push, push_margin) = push.decide(&self.readouts.projection, features, scratch);
                (Reduction { pop, push }, pop_margin.min(push_margin))
            }
            Actions::Joint(joint) => {
                let (&reduction, margin) = joint.decide(&self.readouts.projection, features, scratch);
                (reduction, margin)
            }
        }
    }

    pub(super) fn output_values(&self, features: &Features<'_>, scratch: &mut DecisionScratch, out: &mut Vec<f64>) {
        match &self.readouts.output {
            Output::Classes(classifier) => {
                out.clear();
                out.extend_from_slice(&classifier.decide(&self.readouts.projection, features, scratch).0.0);
            }
            Output::Regression => self.readouts.projection.linear_values(features.input, features.stack, out),
        }
    }

    /// Creates a machine from its parts, and computes the derived features.
    pub(super) fn new(
        alphabet: Arc<Alphabet>,
        reservoir: Arc<dyn Reservoir>,
        (view, mode): (View, Mode),
        readouts: Readouts,
        lessons: Lessons,
        manifest: Manifest,
    ) -> Self {
        let mut this = Self {
            alphabet,
            reservoir,
            view,
            mode,
            simd: Simd::default(),
            readouts: Arc::new(readouts),
            derived: Arc::default(),
            lessons: Arc::new(lessons),
            manifest: Arc::new(manifest),
            cells: None,
        };
        this.derived = Arc::new(this.derive());
        this
    }

    /// Computes the features of the empty stack and, in the symbol view, of the symbols.
    fn derive(&self) -> Derived {
        let mut scratch = DecisionScratch::default();
        let zero = vec![0.; self.reservoir.neurons()];
        let bottom = self.project(Side::Stack, &zero, &mut scratch);
        let mut symbols = Vec::new();
        if self.view == View::Symbol {
            let mut states: Vec<Vec<f64>> = vec![zero.clone(); self.alphabet.terminals().len() + 1];
            for (channel, state) in states.iter_mut().enumerate().take(self.alphabet.terminals().len()) {
                self.reservoir.step(self.simd, &zero, Drive::Channel(channel), state);
            }
            symbols.extend(states.iter().map(|state| self.project(Side::Input, state, &mut scratch)));
        }
        Derived { symbols, bottom }
    }
}

/// Returns the reservoir input for an input of the machine, or for the end of the word (`None`).
pub(super) fn drive(input: Option<Input<'_>>) -> Drive<'_> {
    match input {
        None => Drive::Silence,
        Some(Input::Symbol(symbol)) => Drive::Channel(symbol.index()),
        Some(Input::Vector(values)) => Drive::Values(values),
    }
}
