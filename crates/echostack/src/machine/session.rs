//! Algorithm 2: the state and the decisions of a machine while it reads a word. The loop itself is in [`Run`].

use super::cells::{Known, MAX_SYMBOLS, Recent};
use super::readouts::{Features, Output};
use super::stack::StateStack;
use super::stack_machine::Machine;
use crate::readout::{DecisionScratch, Side};
use crate::recognize::{Limits, Mode, Recognizer, Reduction, Run, Stack, View};
use crate::reservoir::Drive;
use crate::symbol::{Alphabet, Input, Lookahead, SymbolId};

impl Recognizer for Machine {
    type Session = Run<MachineStack>;

    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn start(&self, limits: Limits) -> Self::Session {
        Run::new(MachineStack::new(self.clone()), limits)
    }
}

/// The state of a [`Machine`] while it reads a word: the state of its input, and the stack with its states. States are
/// only computed where a decision is not known without them.
#[derive(Clone, Debug)]
pub struct MachineStack {
    machine: Machine,
    stack: StateStack,
    /// The last inputs, including the current one.
    inputs: Vec<Next>,
    /// Whether `inputs` are all inputs of the word.
    complete: bool,
    /// The number of `inputs` that `state` includes.
    fed: usize,
    /// The state h before the last input of `state`.
    before: Vec<f64>,
    /// The state h.
    state: Vec<f64>,
    /// The features of `state` after all inputs; valid only if `input_known`.
    input_features: Vec<f64>,
    input_known: bool,
    /// The last vector among the inputs so far, or empty if there was none.
    vector: Vec<f64>,
    /// Whether the margins of decisions are asked for.
    margins: bool,
    /// The decisions that are known without states.
    known: Known,
    scratch: DecisionScratch,
    output: Vec<f64>,
}

/// An input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Symbol(SymbolId),
    Vector,
    End,
}

impl Next {
    fn symbol(self) -> Option<SymbolId> {
        match self {
            Self::Symbol(symbol) => Some(symbol),
            Self::Vector | Self::End => None,
        }
    }
}

/// The number of inputs that are kept before the state is computed, needed or not.
const MAX_INPUTS: usize = 1 << 10;

impl MachineStack {
    pub(super) fn new(machine: Machine) -> Self {
        let neurons = machine.reservoir.neurons();
        let stack = StateStack::new(
            neurons,
            machine.readouts.projection.width(Side::Stack),
            machine.alphabet.terminals().len(),
        );
        Self {
            stack,
            inputs: Vec::new(),
            complete: true,
            fed: 0,
            before: vec![0.; neurons],
            state: vec![0.; neurons],
            input_features: vec![0.; machine.readouts.projection.width(Side::Input)],
            input_known: false,
            vector: Vec::new(),
            margins: true,
            known: Known::default(),
            scratch: DecisionScratch::default(),
            output: Vec::new(),
            machine,
        }
    }

    /// Returns the symbols on the stack, topmost last, with `None` instead of shifted vectors.
    pub fn symbols(&self) -> impl Iterator<Item = Option<SymbolId>> {
        self.stack.symbols()
    }

    /// Feeds the reservoir with the inputs that the state does not include yet.
    fn feed(&mut self) {
        let Self { machine, inputs, fed, before, state, vector, .. } = self;
        for next in &inputs[*fed..] {
            let drive = match *next {
                Next::Symbol(symbol) => Drive::Channel(symbol.index()),
                Next::Vector => Drive::Values(vector),
                Next::End => Drive::Silence,
            };
            if machine.view == View::Reservoir {
                std::mem::swap(before, state);
            }
            machine.reservoir.step(machine.simd, before, drive, state);
        }
        *fed = inputs.len();
    }

    /// Returns the decisions that are known without states.
    fn find(&self) -> Known {
        // The states of a word with vectors need not lie in any cell.
        let can_look_up = !self.margins && self.vector.is_empty();
        let Some(cells) = self.machine.cells.as_ref().filter(|_| can_look_up) else { return Known::default() };
        let next = match self.inputs.last() {
            Some(Next::Symbol(symbol)) => Lookahead::Token(*symbol),
            Some(Next::End) => Lookahead::End,
            _ => return Known::default(),
        };
        let input = Recent::new(self.inputs.iter().rev().skip(1).map(|input| input.symbol()), self.complete);
        let stack = Recent::new(self.stack.symbols().rev(), true);
        cells.find(&self.machine.readouts, next, &input, &stack)
    }

    /// Returns the state on a side and the buffer for its features, unless the features are known already.
    fn open(&mut self, side: Side) -> Option<(&[f64], &mut [f64])> {
        match side {
            Side::Input if self.input_known => None,
            Side::Input => {
                self.feed();
                Some((&self.state, &mut self.input_features))
            }
            Side::Stack => self.stack.open(&*self.machine.reservoir, self.machine.simd),
        }
    }

    /// Computes the features of both states, for several stacks at once.
    fn project(stacks: &mut [&mut Self]) {
        let Some(first) = stacks.first() else { return };
        let (readouts, simd) = (first.machine.readouts.clone(), first.machine.simd);
        if let Some(cells) = &first.machine.cells {
            cells.note_computed(stacks.len());
        }
        let mut comparison = std::mem::take(stacks[0].scratch.comparison());
        for side in [Side::Input, Side::Stack] {
            let mut open: Vec<(&[f64], &mut [f64])> = stacks.iter_mut().filter_map(|stack| stack.open(side)).collect();
            readouts.projection.project_all(simd, side, &mut open, &mut comparison);
        }
        for each in stacks.iter_mut() {
            each.input_known = true;
            each.stack.set_known();
        }
        *stacks[0].scratch.comparison() = comparison;
    }

    /// Calls `f` with the features of both states.
    fn with_features<R>(&mut self, f: impl FnOnce(&Machine, &Features<'_>, &mut DecisionScratch) -> R) -> R {
        let Self { machine, stack, input_features, scratch, .. } = self;
        let stack = stack.features().unwrap_or(&machine.derived.bottom);
        f(machine, &Features { input: input_features, stack }, scratch)
    }

    /// Makes sure that the features are computed, if the last decision was known without them.
    fn need_features(&mut self) {
        if self.known.reduction.is_some() {
            Self::project(&mut [self]);
        }
    }
}

impl Stack for MachineStack {
    fn alphabet(&self) -> &Alphabet {
        &self.machine.alphabet
    }

    fn mode(&self) -> Mode {
        self.machine.mode
    }

    fn admits(&self, input: Input<'_>) -> bool {
        input.fits(&self.machine.alphabet)
    }

    fn look(&mut self, next: Option<Input<'_>>, margins: bool) {
        self.stack.mark();
        self.margins = margins;
        if self.inputs.len() == MAX_INPUTS {
            self.feed();
            self.fed = MAX_SYMBOLS;
            self.inputs.drain(..MAX_INPUTS - MAX_SYMBOLS);
            self.complete = false;
        }
        if self.machine.view == View::Symbol {
            self.inputs.clear(); // only the current input is seen
            self.fed = 0;
        }
        self.input_known = false;
        match next {
            Some(Input::Symbol(symbol)) => self.inputs.push(Next::Symbol(symbol)),
            None => self.inputs.push(Next::End),
            Some(Input::Vector(values)) => {
                self.feed();
                self.vector.clear();
                self.vector.extend_from_slice(values);
                self.inputs.push(Next::Vector);
                self.feed(); // the vector is not kept
            }
        }
        let Self { machine, input_features, .. } = self;
        let lookahead = match next {
            Some(Input::Symbol(symbol)) => Lookahead::Token(symbol),
            None => Lookahead::End,
            Some(Input::Vector(_)) => return,
        };
        if machine.view == View::Symbol {
            input_features.copy_from_slice(machine.symbol_features(lookahead));
            self.input_known = true;
        }
    }

    fn prepare(stacks: &mut [&mut Self]) {
        for stack in stacks.iter_mut() {
            stack.scratch.forget();
            stack.known = stack.find();
        }
        let unknown = stacks.iter_mut().filter(|stack| stack.known.reduction.is_none());
        Self::project(&mut unknown.map(|stack| &mut **stack).collect::<Vec<_>>());
    }

    fn decide(&mut self) -> (Reduction, f64) {
        match self.known.reduction {
            Some(reduction) => (reduction, f64::NAN),
            None => self.with_features(Machine::reduction),
        }
    }

    fn depth(&self) -> usize {
        self.stack.depth()
    }

    fn reduce(&mut self, reduction: Reduction) {
        self.stack.pop(reduction.pop as usize);
        if let Some(symbol) = reduction.push {
            self.stack.push(Input::Symbol(symbol));
        }
    }

    fn output(&mut self) -> (&[f64], bool) {
        let mut output = std::mem::take(&mut self.output);
        if let (Output::Classes(classifier), Some(class)) = (&self.machine.readouts.output, self.known.output) {
            output.clear();
            output.extend_from_slice(&classifier.labels[class].0);
        } else {
            self.need_features();
            self.with_features(|machine, features, scratch| machine.output_values(features, scratch, &mut output));
        }
        self.output = output;
        (&self.output, self.output[0] > 0.5)
    }

    fn shifts(&mut self) -> (bool, f64) {
        if let Some(shift) = self.known.shift {
            return (shift, f64::NAN);
        }
        self.need_features();
        self.with_features(|machine, features, scratch| {
            let (&shift, margin) = machine.readouts.shift.decide(&machine.readouts.projection, features, scratch);
            (shift, margin)
        })
    }

    fn shift(&mut self) {
        let input = match self.inputs.last() {
            Some(Next::Symbol(symbol)) => Input::Symbol(*symbol),
            Some(Next::Vector) => Input::Vector(&self.vector),
            Some(Next::End) | None => return,
        };
        self.stack.push(input);
    }

    fn rewind(&mut self) {
        self.stack.rewind();
        self.inputs.pop();
        if self.fed > self.inputs.len() {
            self.fed = self.inputs.len();
            if self.machine.view == View::Reservoir {
                std::mem::swap(&mut self.before, &mut self.state);
            }
        }
    }
}
