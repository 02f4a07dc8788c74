//! Finds the rules that match, with a finite automaton that reads the stack from the bottom (Aho and Corasick's
//! construction).
//!
//! A node stands for the longest suffix of the stack that some rule's suffix begins with. The bottom of the stack
//! counts as a symbol of its own, so that anchored rules and "the stack is exactly A" are suffixes like any other.

use std::collections::{BTreeMap, VecDeque};

use super::lr::Automaton;
use crate::index::index;
use crate::recognize::Reduction;
use crate::symbol::{Lookahead, SymbolId};

index! {
    /// The number of a node, which stands for what is known about a stack.
    pub(super) Node
}

/// The node of stacks about which nothing is known.
const ROOT: Node = Node::new(0);

index! {
    /// The number of a rule, in list order.
    RuleId
}

#[derive(Debug)]
pub(super) struct Suffixes<'a> {
    automaton: &'a Automaton,
    children: Vec<BTreeMap<u32, Node>>,
    fallback: Vec<Node>,
    /// For each node, the rules whose suffix is on top of the stack, in list order.
    matching: Vec<Vec<RuleId>>,
    /// For each node, whether the stack is exactly one accepting symbol.
    accepting: Vec<bool>,
    bottom: Node,
}

impl<'a> Suffixes<'a> {
    pub(super) fn new(automaton: &'a Automaton) -> Self {
        let root = (vec![BTreeMap::new()], vec![Vec::new()], vec![false]);
        let (children, matching, accepting) = root;
        let mut this = Self { automaton, children, fallback: Vec::new(), matching, accepting, bottom: ROOT };
        let bottom = automaton.alphabet().len() as u32;
        this.bottom = this.insert([bottom]);
        for (number, rule) in automaton.rules().iter().enumerate() {
            let symbols = rule.suffix.iter().map(|symbol| symbol.index() as u32);
            let node = this.insert(rule.anchored.then_some(bottom).into_iter().chain(symbols));
            this.matching[node.index()].push(RuleId::new(number));
        }
        for symbol in automaton.accepting() {
            let node = this.insert([bottom, symbol.index() as u32]);
            this.accepting[node.index()] = true;
        }
        this.link();
        this
    }

    fn insert(&mut self, path: impl IntoIterator<Item = u32>) -> Node {
        let mut node = ROOT;
        for symbol in path {
            let next = Node::new(self.children.len());
            node = *self.children[node.index()].entry(symbol).or_insert(next);
            if node == next {
                self.children.push(BTreeMap::new());
                self.matching.push(Vec::new());
                self.accepting.push(false);
            }
        }
        node
    }

    /// Sets each node's fallback, its longest proper suffix that is a node, and adds the rules that match there to
    /// those of the node.
    fn link(&mut self) {
        self.fallback = vec![ROOT; self.children.len()];
        let mut queue: VecDeque<Node> = self.children[ROOT.index()].values().copied().collect();
        while let Some(node) = queue.pop_front() {
            let fallback = self.fallback[node.index()];
            let inherited = self.matching[fallback.index()].clone();
            self.matching[node.index()].extend(inherited);
            self.matching[node.index()].sort_unstable();
            for (symbol, child) in self.children[node.index()].clone() {
                self.fallback[child.index()] = self.follow(self.fallback[node.index()], symbol);
                queue.push_back(child);
            }
        }
        // Nodes of depth one were queued with the root as their fallback, so they have inherited from it above.
    }

    fn follow(&self, mut node: Node, symbol: u32) -> Node {
        loop {
            match self.children[node.index()].get(&symbol) {
                Some(&child) => return child,
                None if node == ROOT => return ROOT,
                None => node = self.fallback[node.index()],
            }
        }
    }

    /// Returns all nodes.
    pub(super) fn nodes(&self) -> impl ExactSizeIterator<Item = Node> + use<> {
        (0..self.children.len()).map(Node::new)
    }

    /// Returns the node of the empty stack.
    pub(super) fn bottom(&self) -> Node {
        self.bottom
    }

    /// Returns the node of the stack with one more symbol.
    pub(super) fn push(&self, node: Node, symbol: SymbolId) -> Node {
        self.follow(node, symbol.index() as u32)
    }

    /// Returns the action of the first matching rule, if any matches.
    pub(super) fn action(&self, node: Node, lookahead: Lookahead) -> Option<Reduction> {
        let rules = self.matching[node.index()].iter().map(|&number| &self.automaton.rules()[number.index()]);
        let mut rules = rules.filter(|rule| rule.lookahead.is_none_or(|wanted| wanted == lookahead));
        rules.next().map(|rule| Reduction { pop: rule.pop, push: Some(rule.push) })
    }

    /// Returns whether the stack is exactly one accepting symbol.
    pub(super) fn accepts(&self, node: Node) -> bool {
        self.accepting[node.index()]
    }
}
