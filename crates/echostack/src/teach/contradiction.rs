//! Traces that contradict each other: the same context, two actions.

use std::collections::HashMap;

use super::exercise::Answer;
use super::trace::Trace;
use crate::recognize::{Reduction, View};
use crate::symbol::{Input, SymbolId};

/// Two traces that ask for different actions where a machine sees the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The traces, by their number, and the steps.
    pub places: [(usize, usize); 2],
    /// What each asks for, in words.
    pub actions: [String; 2],
    /// The symbols on the stack, topmost last.
    pub stack: Vec<SymbolId>,
}

/// A sequence of inputs, as a node of a tree; 0 is the empty one.
type Node = u32;

/// Sequences as numbers: equal sequences have equal numbers.
#[derive(Default)]
struct Sequences(HashMap<(Node, Vec<u64>), Node>);

impl Sequences {
    fn step(&mut self, from: Node, key: Vec<u64>) -> Node {
        let fresh = self.0.len() as Node + 1;
        *self.0.entry((from, key)).or_insert(fresh)
    }
}

/// An input as a key; the end is the empty one.
fn key(input: Option<Input<'_>>) -> Vec<u64> {
    match input {
        None => Vec::new(),
        Some(Input::Symbol(symbol)) => vec![symbol.index() as u64],
        Some(Input::Vector(values)) => [0].into_iter().chain(values.iter().map(|value| value.to_bits())).collect(),
    }
}

/// Where something is asked for: a trace and a step.
type Place = (usize, usize);

/// What is decided in a context: an action on the stack, or an output and a shift after the last.
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

/// The contradictions between traces that are seen in this view, at most `most` of them: each with the first trace that
/// asked for something else. Only steps that teach count.
pub fn contradictions(traces: &[Trace], view: View, most: usize) -> Vec<Contradiction> {
    let mut sequences = Sequences::default();
    let mut known: HashMap<(Node, Node, bool), (Action, Place)> = HashMap::new();
    let mut found = Vec::new();
    for (number, trace) in traces.iter().enumerate() {
        let mut input = 0;
        // The symbols on the stack and the sequences they are; vectors stand as the symbol of their first channel.
        let mut stack: Vec<(SymbolId, Node)> = Vec::new();
        let inputs = trace.word().inputs().map(Some).chain([None]);
        for (at, (step, next)) in trace.steps().iter().zip(inputs).enumerate() {
            let before = if view == View::Reservoir { input } else { 0 };
            input = sequences.step(before, key(next));
            let mut claim = |stack: &[(SymbolId, Node)], action: Action| {
                let settles = matches!(action, Action::Settle { .. });
                let top = stack.last().map_or(0, |&(_, node)| node);
                let (first, place) =
                    known.entry((input, top, settles)).or_insert_with(|| (action.clone(), (number, at)));
                if *first != action && found.len() < most {
                    found.push(Contradiction {
                        places: [*place, (number, at)],
                        actions: [first.describe(), action.describe()],
                        stack: stack.iter().map(|&(symbol, _)| symbol).collect(),
                    });
                }
            };
            let taught = trace.taught().contains(&at);
            for &reduction in step.reductions.iter().chain([&Reduction::NONE]) {
                if taught {
                    claim(&stack, Action::Reduce(reduction));
                }
                stack.truncate(stack.len() - reduction.pop as usize);
                if let Some(symbol) = reduction.push {
                    let node = sequences.step(stack.last().map_or(0, |&(_, node)| node), vec![symbol.index() as u64]);
                    stack.push((symbol, node));
                }
            }
            if taught {
                let shift = step.shift && next.is_some();
                claim(&stack, Action::Settle { output: step.output.clone(), shift });
            }
            if let (true, Some(input)) = (step.shift, next) {
                let symbol = match input {
                    Input::Symbol(symbol) => symbol,
                    Input::Vector(_) => SymbolId::new(0),
                };
                let node = sequences.step(stack.last().map_or(0, |&(_, node)| node), key(next));
                stack.push((symbol, node));
            }
            if found.len() >= most {
                return found;
            }
        }
    }
    found
}
