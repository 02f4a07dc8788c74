//! Draws the stacks that a machine distinguishes as a graph for Graphviz.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use super::rules::Situation;
use crate::automaton::reach::{PlaceId, Reach};
use crate::recognize::Reduction;
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// A graph of stacks. Each node stands for stacks on which the machine does the same, now and after any pushes.
#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// The symbols whose push leads from one node to another.
    edges: BTreeMap<(usize, usize), BTreeSet<SymbolId>>,
}

#[derive(Clone, Debug)]
struct Node {
    /// What the stacks have in common.
    stack: StackSuffix,
    /// The action on the stacks before each lookahead.
    does: BTreeMap<Lookahead, Reduction>,
    /// Whether the word is accepted if it ends here.
    accepts: bool,
}

impl Graph {
    pub(super) fn new(
        elements: &[StackSuffix],
        reach: &Reach,
        situations: &[Situation],
        accepting: &[SymbolId],
    ) -> Self {
        let mut does: HashMap<&StackSuffix, BTreeMap<Lookahead, Reduction>> = HashMap::new();
        for situation in situations {
            does.entry(&situation.stack).or_default().insert(situation.next, situation.does);
        }
        let node = |stack: &StackSuffix| Node {
            stack: stack.clone(),
            does: does.remove(stack).unwrap_or_default(),
            accepts: stack.is_whole() && matches!(stack.symbols(), [symbol] if accepting.contains(symbol)),
        };
        let all: Vec<Node> = elements.iter().map(node).collect();
        let above = |place: PlaceId| reach.places[place.index() - 1].1.index();
        let pushes: BTreeSet<(usize, usize)> =
            reach.unders.iter().map(|under| (under.element.index(), above(under.place))).collect();
        let classes = merged(&all, &pushes);
        let count = classes.iter().max().map_or(0, |most| most + 1);
        let members =
            |class: usize| all.iter().zip(&classes).filter(move |(_, own)| **own == class).map(|(node, _)| node);
        let one = |class: usize| {
            let mut nodes = members(class);
            let (first, more) = (nodes.next(), nodes.next().is_some());
            let stack =
                if more { StackSuffix::common(members(class).map(|node| &node.stack)) } else { StackSuffix::ANY };
            first.map(|first| Node { stack: if more { stack } else { first.stack.clone() }, ..first.clone() })
        };
        let mut edges: BTreeMap<(usize, usize), BTreeSet<SymbolId>> = BTreeMap::new();
        for (from, to) in pushes {
            edges.entry((classes[from], classes[to])).or_default().extend(all[to].stack.top());
        }
        Self { nodes: (0..count).filter_map(one).collect(), edges }
    }

    /// Writes the graph in Graphviz's DOT language. It is at most 20 inches wide, which is 1,920 pixels.
    pub(super) fn dot(&self, alphabet: &Alphabet) -> String {
        let mut out = String::from(
            "digraph machine {\n  rankdir=LR;\n  size=\"20,100\";\n  node [shape=box, style=rounded, \
             fontname=\"monospace\"];\n  edge [fontname=\"monospace\"];\n  start [shape=point];\n  start -> n0;\n",
        );
        for (number, node) in self.nodes.iter().enumerate() {
            let mut label = quoted(&node.stack.display(alphabet).to_string());
            for line in actions(&node.does, alphabet) {
                label.push_str("\\n");
                label.push_str(&quoted(&line));
            }
            let border = if node.accepts { ", peripheries=2" } else { "" };
            let _ = writeln!(out, "  n{number} [label=\"{label}\"{border}];");
        }
        for (&(from, to), symbols) in &self.edges {
            let names: Vec<String> = symbols.iter().map(|&symbol| alphabet.plain_name(symbol)).collect();
            let lines: Vec<String> = names.chunks(4).map(|line| quoted(&line.join("  "))).collect();
            let _ = writeln!(out, "  n{from} -> n{to} [label=\"{}\"];", lines.join("\\n"));
        }
        out + "}\n"
    }
}

/// Returns a class for each node, by partition refinement: the nodes of a class have the same actions, and pushes of the
/// same symbols lead to the same classes. The class of the first node, the empty stack, is 0.
fn merged(nodes: &[Node], pushes: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let mut classes = vec![0; nodes.len()];
    let mut count = 0;
    loop {
        let mut next: Vec<BTreeSet<(Option<SymbolId>, usize)>> = vec![BTreeSet::new(); nodes.len()];
        for &(from, to) in pushes {
            next[from].insert((nodes[to].stack.top(), classes[to]));
        }
        let mut known = HashMap::new();
        let refined: Vec<usize> = (nodes.iter().zip(next).enumerate())
            .map(|(number, (node, next))| {
                let fresh = known.len();
                let does: Vec<_> = node.does.iter().map(|(&next, &does)| (next, does)).collect();
                // The empty stack stays alone, because it is the start.
                *known.entry((number == 0, does, node.accepts, next)).or_insert(fresh)
            })
            .collect();
        classes = refined;
        if known.len() == count {
            return classes;
        }
        count = known.len();
    }
}

/// Returns a line for each pop and push, with the lookaheads before which it happens unless it always happens.
fn actions(does: &BTreeMap<Lookahead, Reduction>, alphabet: &Alphabet) -> Vec<String> {
    let mut nexts: BTreeMap<(u32, Option<String>), Vec<String>> = BTreeMap::new();
    for (&next, &Reduction { pop, push }) in does {
        let name = InputSuffix::of(next).display(alphabet).to_string();
        nexts.entry((pop, push.map(|push| alphabet.plain_name(push)))).or_default().push(name);
    }
    let most = nexts.values().map(Vec::len).max().unwrap_or(0);
    let only = nexts.len() == 1;
    let mut otherwise = None;
    let mut lines = Vec::new();
    for ((pop, push), before) in nexts {
        let what = push.map(|push| format!("pop {pop}, push {push}"));
        if only {
            lines.extend(what);
        } else if before.len() == most && most > 2 && otherwise.is_none() {
            otherwise = Some(format!("any other: {}", what.unwrap_or_else(|| "shift".to_string())));
        } else {
            lines.push(format!("{}: {}", before.join(" "), what.unwrap_or_else(|| "shift".to_string())));
        }
    }
    lines.extend(otherwise);
    lines
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
