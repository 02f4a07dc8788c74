//! The states of a parser that accepts the same words as a canonical LR(1) parser, with few of them.
//!
//! # Idea
//!
//! Canonical LR(1) states with the same items differ only in their lookaheads. An LALR(1) parser merges all of them,
//! which can make a conflict of what is none in any of them, and can let a precedence resolve a conflict in a context
//! that never had one. Here, they are merged unless that could happen. A state is an LR(0) state together with, for
//! each item of its kernel, the exact lookaheads among those that [matter](super::lookaheads) to it. In every other
//! respect, the LALR(1) lookaheads are taken.
//!
//! # Why this is exact
//!
//! Take a stack of symbols, the canonical state I that it leads to, and the state J that it leads to here. Both have
//! the same items. Compare what they do on a lookahead t.
//!
//! 1. *For a reduction to whose node t matters, t is a lookahead in J if and only if it is one in I.* By induction over
//!    the length of the stack: the sets in J are computed by the same equations, restricted to what matters, and what
//!    matters to a node also matters to every node that its lookaheads come from.
//! 2. *If t is contested in the LALR(1) state*, then it matters to every reduction that has t among its LALR(1)
//!    lookaheads, so I and J have the same reductions on t, by 1. They have the same shift, since shifts follow from
//!    the items. So the conflict, if any, is resolved in the same way.
//! 3. *If t is not contested*, then there is no conflict on t in the LALR(1) state, or a shift wins against all of its
//!    reductions. A shift that wins against some reductions also wins against fewer of them: precedences compare the
//!    token with one production at a time. In that case, I and J both shift. Without a conflict, both shift t, or there
//!    is at most one reduction. J may have that reduction where I has none.
//! 4. *A reduction that only J has is harmless.* Suppose that J reduces by A: α on t after the symbols βα, and that
//!    after this reduction and maybe others t is shifted, or the word is accepted. Then βAt, or βA at the end of a
//!    word, can be continued to a sentential form, at least by the rules, and so t is a canonical lookahead of A: α
//!    after βα. Then I has the reduction, too. So t is refused in the end, just a few reductions later.
//!
//! Therefore a word is accepted by both parsers or by neither, and the same token is refused.
//!
//! # Example
//!
//! The grammar S: a A d | b B d | a B e | b A e; A: c; B: c is LR(1), but not LALR(1). After c, there is one LR(0)
//! state, with two complete items, those of A: c and B: c. Both have the LALR(1) lookaheads d and e, so both lookaheads
//! are contested. They matter to the two items, and to the nonterminals A and B in the states after a and after b, from
//! which the lookaheads come. In the state after a, d follows A and e follows B. So from there, c leads to a state that
//! reduces to A on d and to B on e. From the state after b, c leads to another one, which reduces to A on e and to B on
//! d. All other states are those of the LALR(1) parser: there are 14 instead of 13. A canonical parser has 14 as well;
//! but if this were a part of a larger grammar, it would tell most of the other states apart, too.

use std::collections::HashMap;

use super::first::Productions;
use super::lookaheads::Lookaheads;
use super::lr0::Lr0;
use super::work::{Item, TooLarge, Work};
use crate::bits::{Bits, add};
use crate::precedence::Choices;
use crate::rules::Rules;

/// The states of a parser, without any resolution of conflicts. State 0 is the start state.
#[derive(Debug)]
pub(crate) struct States<'a> {
    productions: Productions<'a>,
    lr0: Lr0,
    lookaheads: Lookaheads,
    /// The LR(0) state of each state.
    cores: Vec<usize>,
    /// For each state, the lookaheads that matter to the items of its kernel, one set after the other; empty if none
    /// matters.
    exact: Vec<Box<[u64]>>,
    /// The state after each symbol, in the order of the symbols of the LR(0) state.
    next: Vec<Vec<usize>>,
}

impl<'a> States<'a> {
    /// Computes the states of a grammar, unless there are more than `most`. Given what a state could do, `contested`
    /// returns the lookaheads with a conflict that a shift does not win. If it never returns any, the states are those
    /// of an LALR(1) parser.
    pub(crate) fn new(
        rules: &'a Rules,
        most: usize,
        contested: impl Fn(&Choices) -> Option<Bits>,
    ) -> Result<Self, TooLarge> {
        let mut work = Work::default();
        let productions = Productions::new(rules, &mut work)?;
        let lr0 = Lr0::new(&productions, most, &mut work)?;
        let of_state = |lookaheads: &Lookaheads, state| contested(&lalr_choices(&productions, &lr0, lookaheads, state));
        let lookaheads = Lookaheads::with_contested(&productions, &lr0, of_state, &mut work)?;
        let (cores, exact, next) = (Vec::new(), Vec::new(), Vec::new());
        let mut this = Self { productions, lr0, lookaheads, cores, exact, next };
        this.split(most, &mut work)?;
        Ok(this)
    }

    /// Splits the LR(0) states by the lookaheads that matter.
    fn split(&mut self, most: usize, work: &mut Work) -> Result<(), TooLarge> {
        // Node 0 is the only item of the start state's kernel. Its LALR(1) lookahead, the end, is also its exact one.
        let start = self.kernel_sets(0, |_| self.lookaheads.lalr(0));
        let mut known: HashMap<(usize, Box<[u64]>), usize> = HashMap::from([((0, start.clone()), 0)]);
        self.cores.push(0);
        self.exact.push(start);
        while self.next.len() < self.cores.len() {
            let state = self.next.len();
            let core = self.cores[state];
            let sets = self.sets(state, work)?;
            let mut next = Vec::new();
            // The state after a symbol has the items that the LR(0) state has there. Which of the states with these
            // items it is depends on the lookaheads that its kernel gets from this state.
            for at in 0..self.lr0.edges[core].len() {
                let to = self.lr0.edges[core][at].1;
                let exact = self.kernel_sets(to, |item| &sets[self.source(core, item)]);
                work.read(exact.len() + 1, 1)?;
                let fresh = self.cores.len();
                let number = *known.entry((to, exact)).or_insert_with_key(|(_, exact)| {
                    self.cores.push(to);
                    self.exact.push(exact.clone());
                    fresh
                });
                // The sets are kept twice: in the list, and as a key.
                if number == fresh {
                    work.keep(2 * self.exact[fresh].len() + 8, 1)?;
                }
                next.push(number);
            }
            self.next.push(next);
            if self.cores.len() > most {
                return Err(TooLarge::States);
            }
        }
        Ok(())
    }

    /// Returns, for the items of a kernel, the lookaheads that matter among those that `of` returns.
    fn kernel_sets<'b>(&self, core: usize, of: impl Fn((usize, usize)) -> &'b [u64]) -> Box<[u64]> {
        // Most states are of this kind, and need no sets. It makes them equal to each other as well.
        if !self.lookaheads.any_matters(core) {
            return Box::default();
        }
        let items = self.lr0.kernels[core].iter().zip(self.lookaheads.kernel(&self.lr0, core));
        let sets = items.flat_map(|(&item, node)| masked(of(item), self.lookaheads.matter(node)));
        sets.collect()
    }

    /// Returns where the lookaheads of an item come from, as a number among the nodes of the state before it: the same
    /// item one symbol back or, if that is at the beginning of a production, the nonterminal on its left side.
    fn source(&self, core: usize, (production, at): (usize, usize)) -> usize {
        let begin = self.lookaheads.kernel(&self.lr0, core).start;
        // Kernels come first among the nodes of a state. The item of the start state is in its kernel although nothing
        // was read of it, and it has no left side, so the kernel must be asked first.
        if let Ok(kernel) = self.lr0.kernels[core].binary_search(&(production, at - 1)) {
            return kernel;
        }
        let left = self.productions.rules.productions[production].left;
        self.lookaheads.nonterminal(&self.lr0, core, left) - begin
    }

    /// Returns the lookaheads that matter to each node of a state: the items of its kernel, then its nonterminals.
    fn sets(&self, state: usize, work: &mut Work) -> Result<Vec<Bits>, TooLarge> {
        let core = self.cores[state];
        let (kernel, closure) = (&self.lr0.kernels[core], &self.lr0.closures[core]);
        if self.exact[state].is_empty() {
            // What matters nowhere in a state also matters nowhere further on, except for what begins there.
            return Ok(vec![self.productions.none(); kernel.len() + closure.len()]);
        }
        let width = self.productions.width;
        let begin = self.lookaheads.kernel(&self.lr0, core).start;
        let mut sets: Vec<Bits> = self.exact[state].chunks_exact(width).map(Bits::from).collect();
        sets.resize(kernel.len() + closure.len(), self.productions.none());
        let items = self.before_nonterminals(core);
        // The same equations as for LALR(1) lookaheads, but only within this state, and only for what matters. Few
        // passes are needed, because a state has few nonterminals.
        let mut changed = true;
        while std::mem::take(&mut changed) {
            work.read(items.len(), width)?;
            for &(from, item, symbol) in &items {
                let node = self.lookaheads.nonterminal(&self.lr0, core, symbol);
                let flowing = self.followers(item, &sets[from]);
                let flowing: Bits = masked(&flowing, self.lookaheads.matter(node)).collect();
                changed |= add(&mut sets[node - begin], &flowing);
            }
        }
        Ok(sets)
    }

    /// Returns the items of an LR(0) state that continue with a nonterminal, each with the number of the node that has
    /// its lookaheads, and the nonterminal. Lookaheads flow on from these within the state.
    fn before_nonterminals(&self, core: usize) -> Vec<(usize, Item, usize)> {
        let (kernel, closure) = (&self.lr0.kernels[core], &self.lr0.closures[core]);
        let own = kernel.iter().copied().enumerate();
        let begun = closure.iter().zip(kernel.len()..);
        // All productions of a nonterminal have the lookaheads of its node.
        let begun = begun.flat_map(|(&symbol, node)| self.productions.of[symbol].iter().map(move |&p| (node, (p, 0))));
        let before =
            own.chain(begun).filter_map(|(node, item)| Some((node, item, self.productions.next_nonterminal(item)?)));
        before.collect()
    }

    /// Returns what can follow the symbol after the position of an item, given the item's lookaheads.
    fn followers(&self, item: Item, lookaheads: &[u64]) -> Bits {
        let first = self.productions.rest((item.0, item.1 + 1));
        let mut found = self.productions.none();
        if first.is_none_or(|first| first.nullable) {
            add(&mut found, lookaheads);
        }
        first.into_iter().for_each(|first| _ = add(&mut found, &first.bits));
        found
    }

    /// Returns the number of states.
    pub(crate) fn len(&self) -> usize {
        self.cores.len()
    }

    /// Returns the number of LR(0) states, which is that of an LALR(1) parser.
    pub(crate) fn cores(&self) -> usize {
        self.lr0.kernels.len()
    }

    /// Returns the LR(0) state of a state.
    pub(crate) fn core(&self, state: usize) -> usize {
        self.cores[state]
    }

    /// Returns the state after each symbol that can come next, in the order of the symbols.
    pub(crate) fn edges(&self, state: usize) -> impl Iterator<Item = (usize, usize)> {
        self.lr0.edges[self.cores[state]].iter().zip(&self.next[state]).map(|(&(symbol, _), &next)| (symbol, next))
    }

    /// Returns the LR(0) state after each symbol that can come next.
    pub(crate) fn core_edges(&self, core: usize) -> &[(usize, usize)] {
        &self.lr0.edges[core]
    }

    /// Returns what could be done in a state.
    pub(crate) fn choices(&self, state: usize) -> Result<Choices, TooLarge> {
        let core = self.cores[state];
        if self.exact[state].is_empty() {
            return Ok(self.lalr_choices(core));
        }
        // The same sets were computed to split the states. They are not kept, because those of all states together can
        // take much more memory than the states.
        let sets = self.sets(state, &mut Work::default())?;
        let begin = self.lookaheads.kernel(&self.lr0, core).start;
        let mut choices = self.lalr_choices(core);
        for (production, node) in self.lookaheads.reductions(&self.productions, &self.lr0, core) {
            // Exact where it matters, and otherwise as for LALR(1).
            let (lalr, matter) = (self.lookaheads.lalr(node), self.lookaheads.matter(node));
            let lookaheads = lalr.iter().zip(matter).zip(&sets[node - begin]).map(|((lalr, m), own)| lalr & !m | own);
            choices.reductions.insert(production, lookaheads.collect());
        }
        Ok(choices)
    }

    /// Returns what an LALR(1) parser could do in an LR(0) state.
    pub(crate) fn lalr_choices(&self, core: usize) -> Choices {
        lalr_choices(&self.productions, &self.lr0, &self.lookaheads, core)
    }

    /// Returns the first production that continues with a token in a state.
    pub(crate) fn shifted(&self, state: usize, token: usize) -> Option<usize> {
        let core = self.cores[state];
        let begun = self.lr0.closures[core].iter().flat_map(|&symbol| &self.productions.of[symbol]);
        let items = self.lr0.kernels[core].iter().copied().chain(begun.map(|&number| (number, 0)));
        let continuing = items.filter(|&item| self.productions.next(item) == Some(token));
        continuing.map(|(production, _)| production).min()
    }
}

/// Returns the elements of a set that are also in another.
fn masked<'b>(bits: &'b [u64], mask: &'b [u64]) -> impl Iterator<Item = u64> + 'b {
    bits.iter().zip(mask).map(|(bits, mask)| bits & mask)
}

fn lalr_choices(productions: &Productions<'_>, lr0: &Lr0, lookaheads: &Lookaheads, state: usize) -> Choices {
    let symbols = lr0.edges[state].iter().map(|&(symbol, _)| symbol);
    let shifts = symbols.filter(|&symbol| symbol < productions.rules.terminals).collect();
    let reductions = lookaheads.reductions(productions, lr0, state);
    let reductions = reductions.into_iter().map(|(number, node)| (number, Bits::from(lookaheads.lalr(node)))).collect();
    Choices { shifts, reductions }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{contains, insert};
    use crate::source::Source;

    /// Returns the lookaheads of more than one reduction.
    fn contested(choices: &Choices, terminals: usize) -> Option<Bits> {
        let mut found = choices.reductions.values().next()?.clone();
        found.fill(0);
        for lookahead in 0..=terminals {
            if choices.reductions.values().filter(|bits| contains(bits, lookahead)).count() > 1 {
                insert(&mut found, lookahead);
            }
        }
        found.iter().any(|&word| word != 0).then_some(found)
    }

    #[test]
    fn the_example_is_as_described() {
        let text = "%%\nS: 'a' A 'd' | 'b' B 'd' | 'a' B 'e' | 'b' A 'e'; A: 'c'; B: 'c';\n";
        let rules = crate::reading::rules(Source { file: None, text }).unwrap().0;
        let states = States::new(&rules, 100, |choices| contested(choices, rules.terminals)).unwrap();
        assert_eq!((states.len(), states.cores()), (14, 13));
        let symbol = |name: &str| rules.names.iter().position(|own| own == name).unwrap();
        let set = |names: &[&str]| -> Bits {
            let mut bits = states.productions.none();
            names.iter().for_each(|name| insert(&mut bits, symbol(name)));
            bits
        };
        let after = |state: usize, name: &str| states.edges(state).find(|edge| edge.0 == symbol(name)).unwrap().1;
        // A: c and B: c are the last two productions.
        for (before, of_a, of_b) in [("a", "d", "e"), ("b", "e", "d")] {
            let state = after(0, before);
            for (name, follows) in [("A", of_a), ("B", of_b)] {
                let node = states.lookaheads.nonterminal(&states.lr0, states.core(state), symbol(name));
                assert_eq!(states.lookaheads.lalr(node), &set(&[follows])[..]);
                assert_eq!(states.lookaheads.matter(node), &set(&["d", "e"])[..]);
            }
            let reductions = states.choices(after(state, "c")).unwrap().reductions;
            assert_eq!(reductions.into_iter().collect::<Vec<_>>(), [(4, set(&[of_a])), (5, set(&[of_b]))]);
            let merged = states.lalr_choices(states.core(after(state, "c"))).reductions;
            assert_eq!(merged.into_values().collect::<Vec<_>>(), [set(&["d", "e"]), set(&["d", "e"])]);
        }
        // Without anything contested, these are the states of an LALR(1) parser.
        assert_eq!(States::new(&rules, 100, |_| None).unwrap().len(), 13);
    }
}
