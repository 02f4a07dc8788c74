//! Which lookaheads each item of an LR(0) state has, and which of them matter.
//!
//! The lookaheads of items flow from state to state. A *node* is an item of a state's kernel, or a nonterminal that the
//! state may go on with, which stands for all its productions. Lookaheads flow
//!
//! - from an item to the same item one symbol further, in the next state;
//! - from a nonterminal to its productions after their first symbol, in the next state;
//! - from an item A: α . B γ, or from the nonterminal of a production A: B γ, to the nonterminal B, if γ can be empty.
//!
//! Besides, what can begin γ is a lookahead of B. The least solution forward gives the LALR(1) lookaheads, as in
//! DeRemer and Pennello: Efficient computation of LALR(1) look-ahead sets (1982).
//!
//! The same graph, followed backward, says which lookaheads matter to a node. A lookahead is *contested* in a state if
//! a conflict on it is not won by a shift. It matters to the nodes whose reductions take part in the conflict, and to
//! all nodes from which lookaheads flow to these.
//!
//! The [example](super::states) of states shows a conflict, and to which nodes its lookaheads matter.

use std::collections::VecDeque;
use std::ops::Range;

use super::first::Productions;
use super::lr0::Lr0;
use super::work::{Item, TooLarge, Work};
use crate::bits::{Bits, add, insert};

/// The nodes of all states, with their lookaheads.
#[derive(Debug)]
pub(super) struct Lookaheads {
    width: usize,
    /// The first node of each state, and the number of nodes. The items of a state's kernel come first, then its
    /// nonterminals.
    begin: Vec<usize>,
    /// The LALR(1) lookaheads of each node.
    lalr: Vec<u64>,
    /// The lookaheads that matter to each node.
    matter: Vec<u64>,
    /// For each state, whether any lookahead matters to any of its nodes.
    any_matters: Vec<bool>,
}

/// The nodes that lookaheads flow to from each node, or come from.
struct Flow {
    /// Where the list of each node begins, and the length of all lists.
    begin: Vec<usize>,
    nodes: Vec<u32>,
}

impl Flow {
    fn of(&self, node: usize) -> &[u32] {
        &self.nodes[self.begin[node]..self.begin[node + 1]]
    }

    /// Returns the flow in the opposite direction.
    fn reversed(&self) -> Self {
        // A counting sort by the node that lookaheads flow to: first how many there are for each, then where each list
        // begins, and then the lists.
        let count = self.begin.len() - 1;
        let mut begin = vec![0; count + 1];
        self.nodes.iter().for_each(|&to| begin[to as usize + 1] += 1);
        (0..count).for_each(|node| begin[node + 1] += begin[node]);
        let mut next = begin.clone();
        let mut nodes = vec![0; self.nodes.len()];
        for from in 0..count {
            for &to in self.of(from) {
                nodes[next[to as usize]] = from as u32;
                next[to as usize] += 1;
            }
        }
        Self { begin, nodes }
    }

    /// Lets sets flow until nothing changes.
    fn saturate(&self, sets: &mut [u64], width: usize, work: &mut Work) -> Result<(), TooLarge> {
        let count = self.begin.len() - 1;
        let has_any = |node: usize| sets[node * width..][..width].iter().any(|&word| word != 0);
        let mut queued: Vec<bool> = (0..count).map(has_any).collect();
        let mut queue: VecDeque<usize> = (0..count).filter(|&node| queued[node]).collect();
        let mut own = vec![0; width];
        // First come, first served: nodes near the beginning of a chain are done before those at its end, so that most
        // of what will arrive there has arrived. A node that waits already is not added again. Sets only grow, so this
        // ends.
        while let Some(node) = queue.pop_front() {
            queued[node] = false;
            own.copy_from_slice(&sets[node * width..][..width]);
            work.read(self.of(node).len() + 1, width)?;
            for &to in self.of(node) {
                let to = to as usize;
                if add(&mut sets[to * width..][..width], &own) && !std::mem::replace(&mut queued[to], true) {
                    queue.push_back(to);
                }
            }
        }
        Ok(())
    }
}

impl Lookaheads {
    /// Computes the LALR(1) lookaheads. No lookahead matters yet.
    fn new(productions: &Productions<'_>, lr0: &Lr0, work: &mut Work) -> Result<(Self, Flow), TooLarge> {
        let mut begin = vec![0];
        for (kernel, closure) in lr0.kernels.iter().zip(&lr0.closures) {
            begin.push(begin[begin.len() - 1] + kernel.len() + closure.len());
        }
        let (nodes, width) = (begin[begin.len() - 1], productions.width);
        work.keep(nodes, 2 * width + 2)?;
        let mut this = Self { width, begin, lalr: vec![0; nodes * width], matter: Vec::new(), any_matters: Vec::new() };
        // What follows the start symbol is the end of the input.
        insert(&mut this.lalr[..width], productions.rules.terminals);
        let flow = this.flow(productions, lr0, work)?;
        flow.saturate(&mut this.lalr, width, work)?;
        Ok((this, flow))
    }

    /// Computes the LALR(1) lookaheads, and which of them matter: `contested` returns those of a state.
    pub(super) fn with_contested(
        productions: &Productions<'_>,
        lr0: &Lr0,
        contested: impl Fn(&Self, usize) -> Option<Bits>,
        work: &mut Work,
    ) -> Result<Self, TooLarge> {
        let (mut this, flow) = Self::new(productions, lr0, work)?;
        // The flow is needed a second time, backward, and only if there is any conflict. Most grammars have none that
        // matters.
        let mut matter = vec![0; this.lalr.len()];
        let mut any = false;
        for state in 0..lr0.kernels.len() {
            let Some(bits) = contested(&this, state) else { continue };
            any = true;
            for (_, node) in this.reductions(productions, lr0, state) {
                // Only reductions that have the lookahead take part in a conflict.
                let lalr = &this.lalr[node * this.width..][..this.width];
                let own: Vec<u64> = lalr.iter().zip(&bits).map(|(lalr, contested)| lalr & contested).collect();
                add(&mut matter[node * this.width..][..this.width], &own);
            }
        }
        if any {
            work.keep(flow.nodes.len() + flow.begin.len(), 1)?;
            flow.reversed().saturate(&mut matter, this.width, work)?;
        }
        let nodes = this.begin.windows(2).map(|ends| &matter[ends[0] * this.width..ends[1] * this.width]);
        this.any_matters = nodes.map(|sets| sets.iter().any(|&word| word != 0)).collect();
        this.matter = matter;
        Ok(this)
    }

    /// Returns the nodes of a state's kernel.
    pub(super) fn kernel(&self, lr0: &Lr0, state: usize) -> Range<usize> {
        self.begin[state]..self.begin[state] + lr0.kernels[state].len()
    }

    /// Returns the node of a nonterminal that a state may go on with.
    pub(super) fn nonterminal(&self, lr0: &Lr0, state: usize, symbol: usize) -> usize {
        let at = lr0.closures[state].binary_search(&symbol).expect("what comes next is in the closure");
        self.begin[state] + lr0.kernels[state].len() + at
    }

    /// Returns the LALR(1) lookaheads of a node.
    pub(super) fn lalr(&self, node: usize) -> &[u64] {
        &self.lalr[node * self.width..][..self.width]
    }

    /// Returns the lookaheads that matter to a node.
    pub(super) fn matter(&self, node: usize) -> &[u64] {
        &self.matter[node * self.width..][..self.width]
    }

    /// Returns whether any lookahead matters to any node of a state.
    pub(super) fn any_matters(&self, state: usize) -> bool {
        self.any_matters[state]
    }

    /// Returns the productions that a state can reduce by, each with the node that has its lookaheads.
    pub(super) fn reductions(&self, productions: &Productions<'_>, lr0: &Lr0, state: usize) -> Vec<(usize, usize)> {
        // Complete items of the kernel, and empty productions, which are complete at their beginning. Any other
        // production has to be begun first.
        let kernel = lr0.kernels[state].iter().enumerate();
        let complete = kernel.filter(|(_, item)| productions.next(**item).is_none());
        let complete = complete.map(|(at, item)| (item.0, self.begin[state] + at));
        let closure = lr0.closures[state].iter().zip(self.begin[state] + lr0.kernels[state].len()..);
        let empty = closure.flat_map(|(&symbol, node)| {
            let empty = productions.of[symbol].iter().filter(|&&number| productions.right(number).is_empty());
            empty.map(move |&number| (number, node))
        });
        complete.chain(empty).collect()
    }

    /// Adds to the nonterminals of a state what can begin the rest after them, and returns where lookaheads flow.
    fn flow(&mut self, productions: &Productions<'_>, lr0: &Lr0, work: &mut Work) -> Result<Flow, TooLarge> {
        let mut flow = Flow { begin: vec![0], nodes: Vec::new() };
        // In the order of the nodes, because the list of each node ends where that of the next one begins.
        for state in 0..lr0.kernels.len() {
            for &item in &lr0.kernels[state] {
                self.flow_from(productions, lr0, (state, item), &mut flow.nodes);
                flow.begin.push(flow.nodes.len());
            }
            for &symbol in &lr0.closures[state] {
                for &number in &productions.of[symbol] {
                    self.flow_from(productions, lr0, (state, (number, 0)), &mut flow.nodes);
                }
                let begin = flow.begin[flow.begin.len() - 1];
                work.keep(flow.nodes.len() - begin, 1)?;
                flow.begin.push(flow.nodes.len());
            }
        }
        Ok(flow)
    }

    /// Adds the nodes that the lookaheads of an item in a state flow to.
    fn flow_from(
        &mut self,
        productions: &Productions<'_>,
        lr0: &Lr0,
        (state, item): (usize, Item),
        nodes: &mut Vec<u32>,
    ) {
        let Some(symbol) = productions.next(item) else { return };
        let after = (item.0, item.1 + 1);
        let next = lr0.after(state, symbol).expect("every symbol that comes next leads to a state");
        let at = lr0.kernels[next].binary_search(&after).expect("the item one symbol further is in the next state");
        nodes.push((self.begin[next] + at) as u32);
        // For A: α . B γ, what can begin γ is a lookahead of B. If γ can be empty, so are the lookaheads of the item.
        if symbol >= productions.rules.terminals {
            let node = self.nonterminal(lr0, state, symbol);
            match productions.rest(after) {
                Some(first) => {
                    add(&mut self.lalr[node * self.width..][..self.width], &first.bits);
                    if first.nullable {
                        nodes.push(node as u32);
                    }
                }
                // After the start symbol of the production that stands for acceptance, nothing is left.
                None => nodes.push(node as u32),
            }
        }
    }
}
