//! Parse trees, built bottom-up from the reductions of a run.

use std::ops::Range;

use super::event::{Event, Observer, Reduction};
use crate::symbol::{Alphabet, SymbolId};

/// A node of a [`Tree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A token, given by its position in the word.
    Token(u64),
    /// A nonterminal and its children.
    Branch {
        /// The nonterminal.
        symbol: SymbolId,
        /// The indices of the children in the tree, from the first to the last.
        children: Vec<usize>,
    },
}

/// A parse tree. Its nodes are in the order in which they were finished, children before their parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Returns the nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the index of the root.
    pub fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Returns the part of the text that each node covers, given those of the tokens. A branch begins with its first
    /// token; one without tokens is empty, and lies at the end of the token before it.
    pub fn spans(&self, tokens: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut spans: Vec<Range<usize>> = Vec::with_capacity(self.nodes.len());
        let mut end = 0;
        for node in &self.nodes {
            spans.push(match node {
                Node::Token(position) => {
                    let span = tokens.get(*position as usize).cloned().unwrap_or(end..end);
                    end = span.end;
                    span
                }
                Node::Branch { children, .. } => {
                    let mut covered = children.iter().map(|&child| &spans[child]).filter(|span| !span.is_empty());
                    let first = covered.next().map_or(end, |span| span.start);
                    let last = covered.next_back().map_or(end, |span| span.end);
                    first..last
                }
            });
        }
        spans
    }

    /// Returns the tree in which some branches are left out, with their children in their places. `is_left_out` is given the
    /// symbol of a branch and that of its parent. The root stays.
    #[must_use]
    pub fn without(self, is_left_out: impl Fn(SymbolId, SymbolId) -> bool) -> Self {
        let mut kept = vec![true; self.nodes.len()];
        for node in &self.nodes {
            let Node::Branch { symbol: parent, children } = node else { continue };
            for &child in children {
                if let Node::Branch { symbol, .. } = self.nodes[child] {
                    kept[child] = !is_left_out(symbol, *parent);
                }
            }
        }
        let mut places = vec![0; self.nodes.len()];
        let mut nodes = Vec::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(at, _)| kept[*at]) {
            places[at] = nodes.len();
            let Node::Branch { symbol, children } = node else {
                nodes.push(node.clone());
                continue;
            };
            let mut own = Vec::new();
            let mut open: Vec<usize> = children.iter().rev().copied().collect();
            while let Some(child) = open.pop() {
                match &self.nodes[child] {
                    Node::Branch { children, .. } if !kept[child] => open.extend(children.iter().rev()),
                    _ => own.push(places[child]),
                }
            }
            nodes.push(Node::Branch { symbol: *symbol, children: own });
        }
        Self { nodes }
    }

    /// Walks through the tree from the root, with children in order. It visits each node, given with its
    /// index, and, once the children of a branch are done, the branch again. The walk is not recursive, so trees may be deep.
    pub fn walk(&self, mut visit: impl FnMut(usize, &Node, Visit)) {
        let mut open = vec![(self.root(), Visit::Enter)];
        while let Some((at, visiting)) = open.pop() {
            let node = &self.nodes[at];
            visit(at, node, visiting);
            if let (Node::Branch { children, .. }, Visit::Enter) = (node, visiting) {
                open.push((at, Visit::Leave));
                open.extend(children.iter().rev().map(|&child| (child, Visit::Enter)));
            }
        }
    }
}

/// The occasion on which a [walk](Tree::walk) visits a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Before its children. Tokens are visited only in this way.
    Enter,
    /// After its children.
    Leave,
}

/// An observer that builds the tree of a word while the word is read.
#[derive(Clone, Debug)]
pub struct TreeBuilder<'a> {
    alphabet: &'a Alphabet,
    nodes: Vec<Node>,
    /// The nodes that have no parent yet, from the bottom of the stack to its top.
    roots: Vec<usize>,
}

impl<'a> TreeBuilder<'a> {
    /// Creates a builder for a recognizer with this alphabet.
    pub fn new(alphabet: &'a Alphabet) -> Self {
        Self { alphabet, nodes: Vec::new(), roots: Vec::new() }
    }

    /// Returns the tree if all nodes are under a single root, as they are for an accepted word.
    pub fn finish(self) -> Option<Tree> {
        match self.roots[..] {
            [root] if root + 1 == self.nodes.len() => Some(Tree { nodes: self.nodes }),
            _ => None,
        }
    }
}

impl Observer for TreeBuilder<'_> {
    fn event(&mut self, position: u64, event: Event<'_>) {
        let node = match event {
            Event::Shift { shifted: true, .. } => Node::Token(position),
            Event::Decide { reduction: Reduction { pop, push: Some(symbol) }, .. } => {
                if self.alphabet.is_state(symbol) {
                    return; // a parser state replaces the symbol on top, without a node
                }
                let children = self.roots.split_off(self.roots.len().saturating_sub(pop as usize));
                Node::Branch { symbol, children }
            }
            Event::Decide { reduction: Reduction { pop, push: None }, .. } => {
                self.roots.truncate(self.roots.len().saturating_sub(pop as usize));
                return;
            }
            _ => return,
        };
        self.roots.push(self.nodes.len());
        self.nodes.push(node);
    }

    fn reads_margins(&self) -> bool {
        false
    }
}
