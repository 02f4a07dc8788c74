//! Algorithm 2: the state and the decisions of a machine while it reads a word. The loop itself is in [`Run`].

use super::readouts::Features;
use super::stack::StateStack;
use super::stack_machine::{Machine, drive};
use crate::readout::{DecisionScratch, Side};
use crate::recognize::{Limits, Mode, Recognizer, Reduction, Run, Stack, View};
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

/// The state of a [`Machine`] while it reads a word: the state of its input, and the stack with its states.
#[derive(Clone, Debug)]
pub struct MachineStack {
    machine: Machine,
    stack: StateStack,
    /// The state h before the current input.
    before: Vec<f64>,
    /// The state h after the current input.
    state: Vec<f64>,
    /// The features of `state`; valid only if `input_known`.
    input_features: Vec<f64>,
    input_known: bool,
    next: Next,
    /// The current input, if it is a vector.
    vector: Vec<f64>,
    scratch: DecisionScratch,
    output: Vec<f64>,
}

/// The current input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Symbol(SymbolId),
    Vector,
    End,
}

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
            before: vec![0.; neurons],
            state: vec![0.; neurons],
            input_features: vec![0.; machine.readouts.projection.width(Side::Input)],
            input_known: false,
            next: Next::End,
            vector: Vec::new(),
            scratch: DecisionScratch::default(),
            output: Vec::new(),
            machine,
        }
    }

    /// Returns the symbols on the stack, topmost last, with `None` instead of shifted vectors.
    pub fn symbols(&self) -> impl Iterator<Item = Option<SymbolId>> {
        self.stack.symbols()
    }

    /// Returns the state on a side and the buffer for its features, unless the features are known already.
    fn open(&mut self, side: Side) -> Option<(&[f64], &mut [f64])> {
        match side {
            Side::Input if self.input_known => None,
            Side::Input => Some((&self.state, &mut self.input_features)),
            Side::Stack => self.stack.open(),
        }
    }

    /// Calls `f` with the features of both states.
    fn with_features<R>(&mut self, f: impl FnOnce(&Machine, &Features<'_>, &mut DecisionScratch) -> R) -> R {
        let Self { machine, stack, input_features, scratch, .. } = self;
        let stack = stack.features().unwrap_or(&machine.derived.bottom);
        f(machine, &Features { input: input_features, stack }, scratch)
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

    fn look(&mut self, next: Option<Input<'_>>) {
        self.stack.mark();
        self.scratch.forget();
        self.next = match next {
            None => Next::End,
            Some(Input::Symbol(symbol)) => Next::Symbol(symbol),
            Some(Input::Vector(values)) => {
                self.vector.clear();
                self.vector.extend_from_slice(values);
                Next::Vector
            }
        };
        let Self { machine, before, state, input_features, .. } = self;
        self.input_known = machine.view == View::Symbol && self.next != Next::Vector;
        match (machine.view, self.next) {
            (View::Symbol, Next::Symbol(symbol)) => {
                input_features.copy_from_slice(machine.symbol_features(Lookahead::Token(symbol)));
            }
            (View::Symbol, Next::End) => input_features.copy_from_slice(machine.symbol_features(Lookahead::End)),
            (view, _) => {
                if view == View::Reservoir {
                    std::mem::swap(before, state);
                }
                machine.reservoir.step(machine.simd, before, drive(next), state);
            }
        }
    }

    fn prepare(stacks: &mut [&mut Self]) {
        let Some(first) = stacks.first_mut() else { return };
        let (readouts, simd) = (first.machine.readouts.clone(), first.machine.simd);
        let mut comparison = std::mem::take(first.scratch.comparison());
        for side in [Side::Input, Side::Stack] {
            let mut open: Vec<(&[f64], &mut [f64])> = stacks.iter_mut().filter_map(|stack| stack.open(side)).collect();
            readouts.projection.project_all(simd, side, &mut open, &mut comparison);
        }
        for each in stacks.iter_mut() {
            each.input_known = true;
            each.stack.set_known();
        }
        if let Some(first) = stacks.first_mut() {
            *first.scratch.comparison() = comparison;
        }
    }

    fn decide(&mut self) -> (Reduction, f64) {
        self.scratch.forget();
        self.with_features(Machine::reduction)
    }

    fn depth(&self) -> usize {
        self.stack.depth()
    }

    fn reduce(&mut self, reduction: Reduction) {
        let Self { machine, stack, .. } = self;
        stack.pop(&*machine.reservoir, machine.simd, reduction.pop as usize);
        if let Some(symbol) = reduction.push {
            stack.push(&*machine.reservoir, machine.simd, Input::Symbol(symbol));
        }
    }

    fn output(&mut self) -> (&[f64], bool) {
        let mut output = std::mem::take(&mut self.output);
        self.with_features(|machine, features, scratch| machine.output_values(features, scratch, &mut output));
        self.output = output;
        (&self.output, self.output[0] > 0.5)
    }

    fn shifts(&mut self) -> (bool, f64) {
        self.with_features(|machine, features, scratch| {
            let (&shift, margin) = machine.readouts.shift.decide(&machine.readouts.projection, features, scratch);
            (shift, margin)
        })
    }

    fn shift(&mut self) {
        let Self { machine, stack, next, vector, .. } = self;
        let input = match next {
            Next::Symbol(symbol) => Input::Symbol(*symbol),
            Next::Vector => Input::Vector(vector),
            Next::End => return,
        };
        stack.push(&*machine.reservoir, machine.simd, input);
    }

    fn rewind(&mut self) {
        let Self { machine, stack, before, state, .. } = self;
        stack.rewind(&*machine.reservoir, machine.simd);
        if machine.view == View::Reservoir {
            std::mem::swap(before, state);
        }
    }
}
