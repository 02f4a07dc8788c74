//! Few rules that say what many situations do.

use crate::automaton::Rule;
use crate::recognize::Reduction;
use crate::symbol::{Lookahead, SymbolId};

/// What is done on stacks with one end before one token.
#[derive(Clone, Debug)]
pub(super) struct Situation {
    pub(super) next: Lookahead,
    /// The end of the stack, the topmost symbol first.
    pub(super) symbols: Vec<SymbolId>,
    /// Whether this is the whole stack.
    pub(super) whole: bool,
    pub(super) reduction: Reduction,
    /// Of what is popped, as much as is always the same, the topmost symbol first.
    pub(super) popped: Vec<SymbolId>,
}

impl Situation {
    fn matches(&self, rule: &Candidate) -> bool {
        rule.next.is_none_or(|next| next == self.next)
            && self.symbols.starts_with(&rule.symbols)
            && (!rule.anchored || (self.whole && self.symbols.len() == rule.symbols.len()))
    }
}

/// A rule without its action; the suffix has the topmost symbol first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    anchored: bool,
    symbols: Vec<SymbolId>,
    next: Option<Lookahead>,
}

/// An ordered list of rules that does in every situation what is to be done there. Greedily: the next rule is the one that
/// settles the most of the situations that are left, and does nothing wrong in any of them; of several the shortest. Then
/// each is lengthened to the symbols that it pops, as far as they are always the same.
pub(super) fn rule_list(situations: &[Situation]) -> Vec<Rule> {
    let mut left: Vec<&Situation> = situations.iter().collect();
    let mut rules = Vec::new();
    loop {
        let mut candidates: Vec<Candidate> = Vec::new();
        for situation in left.iter().filter(|situation| situation.reduction != Reduction::NONE) {
            for length in 0..=situation.symbols.len() {
                let symbols = situation.symbols[..length].to_vec();
                for next in [None, Some(situation.next)] {
                    candidates.push(Candidate { anchored: false, symbols: symbols.clone(), next });
                    if situation.whole && length == situation.symbols.len() {
                        candidates.push(Candidate { anchored: true, symbols: symbols.clone(), next });
                    }
                }
            }
        }
        candidates.sort();
        candidates.dedup();
        let mut best: Option<(usize, Candidate, Reduction)> = None;
        for candidate in candidates {
            let mut covered = left.iter().filter(|situation| situation.matches(&candidate));
            let Some(first) = covered.next().filter(|first| first.reduction != Reduction::NONE) else { continue };
            let mut count = 1;
            let pure = covered.all(|situation| {
                count += 1;
                situation.reduction == first.reduction
            });
            let simple =
                |candidate: &Candidate| (candidate.anchored, candidate.symbols.len(), candidate.next.is_some());
            let better =
                |(most, other, _): &(usize, Candidate, Reduction)| (count, simple(other)) > (*most, simple(&candidate));
            if pure && best.as_ref().is_none_or(better) {
                best = Some((count, candidate, first.reduction));
            }
        }
        let Some((_, candidate, reduction)) = best else { return rules };
        let (covered, rest): (Vec<&Situation>, Vec<&Situation>) =
            left.into_iter().partition(|situation| situation.matches(&candidate));
        rules.extend(lengthened(&candidate, reduction, &covered));
        left = rest;
    }
}

/// The rule, with as much of what it pops as all situations that it settles have in common.
fn lengthened(candidate: &Candidate, reduction: Reduction, covered: &[&Situation]) -> Option<Rule> {
    let mut symbols = candidate.symbols.clone();
    while !candidate.anchored && symbols.len() < reduction.pop as usize {
        let next = |situation: &&Situation| situation.popped.get(symbols.len()).copied();
        let Some(symbol) = covered.first().and_then(next) else { break };
        if !covered.iter().all(|situation| next(situation) == Some(symbol)) {
            break;
        }
        symbols.push(symbol);
    }
    symbols.reverse();
    let Candidate { anchored, next: lookahead, .. } = *candidate;
    Some(Rule { anchored, suffix: symbols, lookahead, pop: reduction.pop, push: reduction.push? })
}
