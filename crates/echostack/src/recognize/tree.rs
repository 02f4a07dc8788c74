//! The reductions of a run are a parse: they build a tree from its leaves up.

use super::event::{Event, Observer, Reduction};
use crate::symbol::{Alphabet, SymbolId};

/// A node of a [`Tree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A token, by its position in the word.
    Token(u64),
    /// A nonterminal over its children, by their numbers in the tree.
    Branch {
        /// The nonterminal.
        symbol: SymbolId,
        /// The children, from the first to the last.
        children: Vec<usize>,
    },
}

/// A parse tree: nodes in the order in which they were finished, children before their parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The root.
    pub fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Walks through the tree from the root, children in order: each node, and each branch again once its children are
    /// done. Deep trees need no deep recursion.
    pub fn walk(&self, mut visit: impl FnMut(&Node, Visit)) {
        let mut open = vec![(self.root(), Visit::Enter)];
        while let Some((at, visiting)) = open.pop() {
            let node = &self.nodes[at];
            visit(node, visiting);
            if let (Node::Branch { children, .. }, Visit::Enter) = (node, visiting) {
                open.push((at, Visit::Leave));
                open.extend(children.iter().rev().map(|&child| (child, Visit::Enter)));
            }
        }
    }
}

/// How a node is met on a [walk](Tree::walk).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Before its children. Tokens are met only so.
    Enter,
    /// After its children.
    Leave,
}

/// Builds the tree of a word while it is read. It is an observer.
#[derive(Clone, Debug)]
pub struct TreeBuilder<'a> {
    alphabet: &'a Alphabet,
    nodes: Vec<Node>,
    /// The nodes without a parent yet, from the bottom of the stack on.
    roots: Vec<usize>,
}

impl<'a> TreeBuilder<'a> {
    /// A builder for a recogniser of this alphabet.
    pub fn new(alphabet: &'a Alphabet) -> Self {
        Self { alphabet, nodes: Vec::new(), roots: Vec::new() }
    }

    /// The tree, if the word was accepted: all is under one node then.
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
                    return; // the symbol on top is only renamed
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
}
