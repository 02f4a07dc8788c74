//! Draws the stack suffixes that a machine distinguishes as a graph for Graphviz.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::rules::Situation;
use crate::automaton::reach::{ElementId, PlaceId, Reach};
use crate::recognize::Reduction;
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::{Alphabet, Lookahead};

/// A graph of stack suffixes: the actions on each suffix, and the pushes that lead from one to another.
#[derive(Debug)]
pub(super) struct Graph {
    /// The suffix of each element, and the action on it for each lookahead.
    nodes: Vec<(StackSuffix, Vec<(Lookahead, Reduction)>)>,
    edges: BTreeSet<(ElementId, ElementId)>,
}

impl Graph {
    pub(super) fn new(elements: &[StackSuffix], reach: &Reach, situations: &[Situation]) -> Self {
        let mut does: BTreeMap<&StackSuffix, Vec<(Lookahead, Reduction)>> = BTreeMap::new();
        for situation in situations {
            does.entry(&situation.stack).or_default().push((situation.next, situation.does));
        }
        let node = |stack: &StackSuffix| (stack.clone(), does.remove(stack).unwrap_or_default());
        let above = |place: PlaceId| reach.places[place.index() - 1].1;
        Self {
            nodes: elements.iter().map(node).collect(),
            edges: reach.unders.iter().map(|under| (under.element, above(under.place))).collect(),
        }
    }

    /// Writes the graph in Graphviz's DOT language.
    pub(super) fn dot(&self, alphabet: &Alphabet) -> String {
        let mut out = String::from("digraph machine {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n");
        for (number, (stack, does)) in self.nodes.iter().enumerate() {
            let mut label = quoted(&stack.display(alphabet).to_string());
            for ((pop, push), nexts) in actions(does, alphabet) {
                let text = format!("before {}: pop {pop}, push {push}", nexts.join(" "));
                label.push_str("\\n");
                label.push_str(&quoted(&text));
            }
            let _ = writeln!(out, "  n{number} [label=\"{label}\"];");
        }
        for &(from, to) in &self.edges {
            let top = self.nodes[to.index()].0.top();
            let symbol = top.map_or(String::new(), |symbol| alphabet.plain_name(symbol));
            let _ = writeln!(out, "  n{} -> n{} [label=\"{}\"];", from.index(), to.index(), quoted(&symbol));
        }
        out + "}\n"
    }
}

/// Returns the pops and pushes on one suffix, each with the lookaheads it applies to.
fn actions(does: &[(Lookahead, Reduction)], alphabet: &Alphabet) -> BTreeMap<(u32, String), Vec<String>> {
    let mut actions: BTreeMap<(u32, String), Vec<String>> = BTreeMap::new();
    for &(next, Reduction { pop, push }) in does {
        if let Some(push) = push {
            let nexts = actions.entry((pop, alphabet.plain_name(push))).or_default();
            nexts.push(InputSuffix::of(next).display(alphabet).to_string());
        }
    }
    actions
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
