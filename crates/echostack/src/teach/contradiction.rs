//! The search for traces that contradict each other by teaching different actions in the same context.

use std::collections::HashMap;

use super::exercise::Answer;
use super::replay::{Follower, Instruction};
use super::trace::Trace;
use crate::recognize::{Reduction, View};
use crate::symbol::{Input, SymbolId};

/// Two traces that teach different actions where a machine sees the same input and stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The places where the actions are taught: the index of the trace, and the step.
    pub places: [(usize, usize); 2],
    /// The action that each of them teaches, in words.
    pub actions: [String; 2],
    /// The symbols on the stack, the topmost last.
    pub stack: Vec<SymbolId>,
}

/// A sequence of inputs, as a node of a tree. The empty sequence is 0.
type Node = u32;

/// A numbering of sequences, in which equal sequences have equal numbers.
#[derive(Default)]
struct Sequences(HashMap<(Node, Vec<u64>), Node>);

impl Sequences {
    /// Returns the number of a sequence that is longer by one input.
    fn step(&mut self, from: Node, key: Vec<u64>) -> Node {
        let fresh = self.0.len() as Node + 1;
        *self.0.entry((from, key)).or_insert(fresh)
    }
}

/// Returns an input as a key. The key of the end of the word is empty.
fn key(input: Option<Input<'_>>) -> Vec<u64> {
    match input {
        None => Vec::new(),
        Some(Input::Symbol(symbol)) => vec![symbol.index() as u64],
        Some(Input::Vector(values)) => [0].into_iter().chain(values.iter().map(|value| value.to_bits())).collect(),
    }
}

/// A place where an action is taught: a trace and a step.
type Place = (usize, usize);

/// A decision in a context: an action on the stack, or the output and the shift after the last action.
#[derive(Clone, PartialEq)]
enum Action {
    Reduce(Reduction),
    Settle { output: Vec<f64>, shift: bool },
}

impl Action {
    fn describe(&self) -> String {
        match self {
            Self::Reduce(reduction) => Answer::Act(*reduction).to_string(),
            Self::Settle { output, shift } => format!("output {output:?}, {}", Answer::Shift(*shift)),
        }
    }
}

/// Returns the contradictions between traces for machines with this view of the input, at most `most` of them. Each is
/// reported with the first trace that teaches something in the same context. Only steps that are trained on count.
pub fn contradictions(traces: &[Trace], view: View, most: usize) -> Vec<Contradiction> {
    let mut search = Search {
        view,
        most,
        sequences: Sequences::default(),
        known: HashMap::new(),
        found: Vec::new(),
        trace: 0,
        input: 0,
    };
    for (number, trace) in traces.iter().enumerate() {
        (search.trace, search.input) = (number, 0);
        if trace.replay(&mut search) == Err(Enough) {
            break;
        }
    }
    search.found
}

/// The error that ends the search once the requested number of contradictions is found.
#[derive(PartialEq)]
struct Enough;

/// The search for contradictions, trace by trace.
struct Search {
    view: View,
    most: usize,
    sequences: Sequences,
    /// The action that was taught first, and its place, by input, stack, and whether the action settles the step.
    known: HashMap<(Node, Node, bool), (Action, Place)>,
    found: Vec<Contradiction>,
    /// The index of the current trace.
    trace: usize,
    /// The input so far, as far as the view shows it.
    input: Node,
}

/// A symbol on the stack, and the sequence that ends with it. A vector is represented by the symbol of the first
/// channel.
type Element = (SymbolId, Node);

fn top(stack: &[Element]) -> Node {
    stack.last().map_or(0, |&(_, node)| node)
}

impl Search {
    /// Records the action that the current trace teaches, and reports a contradiction if another one was taught before.
    fn claim(&mut self, step: usize, stack: &[Element], action: &Action) -> Result<(), Enough> {
        let settles = matches!(action, Action::Settle { .. });
        let place = (self.trace, step);
        let first = self.known.entry((self.input, top(stack), settles)).or_insert_with(|| (action.clone(), place));
        if first.0 != *action && self.found.len() < self.most {
            self.found.push(Contradiction {
                places: [first.1, place],
                actions: [first.0.describe(), action.describe()],
                stack: stack.iter().map(|&(symbol, _)| symbol).collect(),
            });
        }
        if self.found.len() < self.most { Ok(()) } else { Err(Enough) }
    }
}

impl Follower for Search {
    type Element = Element;
    type Error = Enough;

    fn look(&mut self, _: usize, next: Option<Input<'_>>) -> Result<(), Enough> {
        let before = if self.view == View::Reservoir { self.input } else { 0 };
        self.input = self.sequences.step(before, key(next));
        Ok(())
    }

    fn follow(&mut self, instruction: &Instruction<'_>, stack: &[Element]) -> Result<(), Enough> {
        let &Instruction { step, taught, reduction, output, shift } = instruction;
        if !taught {
            return Ok(());
        }
        self.claim(step, stack, &Action::Reduce(reduction))?;
        let settle = output.map(|output| Action::Settle { output: output.to_vec(), shift: shift == Some(true) });
        settle.map_or(Ok(()), |action| self.claim(step, stack, &action))
    }

    fn push(&mut self, stack: &[Element], input: Input<'_>) -> Result<Element, Enough> {
        let symbol = match input {
            Input::Symbol(symbol) => symbol,
            Input::Vector(_) => SymbolId::new(0),
        };
        Ok((symbol, self.sequences.step(top(stack), key(Some(input)))))
    }
}
