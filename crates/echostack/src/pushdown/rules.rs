//! Few rules that say what many situations do.

use std::collections::BTreeMap;

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
    /// Whether a rule applies to all stacks of the situation.
    fn is_covered(&self, rule: &Candidate) -> bool {
        rule.next.is_none_or(|next| next == self.next)
            && self.symbols.starts_with(&rule.symbols)
            && (!rule.anchored || (self.whole && self.symbols.len() == rule.symbols.len()))
    }

    /// Whether it applies to some of them.
    fn is_met(&self, rule: &Candidate) -> bool {
        let longer = !self.whole && rule.symbols.starts_with(&self.symbols);
        self.is_covered(rule) || (longer && rule.next.is_none_or(|next| next == self.next))
    }
}

/// More situations than few rules are sought for: the time grows with their square.
const MANY: usize = 5_000;

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
/// Of too many situations each gets a rule of its own.
pub(super) fn rule_list(situations: &[Situation]) -> Vec<Rule> {
    let situations = shortened(situations);
    if situations.len() > MANY {
        let acting = situations.iter().filter(|situation| situation.reduction != Reduction::NONE);
        let own = |situation: &Situation| {
            let Situation { next, whole, .. } = *situation;
            let candidate = Candidate { anchored: whole, symbols: situation.symbols.clone(), next: Some(next) };
            lengthened(&candidate, situation.reduction, &[])
        };
        return acting.filter_map(own).collect();
    }
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
            let mut met = left.iter().filter(|situation| situation.is_met(&candidate)).peekable();
            let Some(first) = met.peek().filter(|first| first.reduction != Reduction::NONE).copied() else { continue };
            let mut count = 0;
            let pure = met.all(|situation| {
                count += usize::from(situation.is_covered(&candidate));
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
            left.into_iter().partition(|situation| situation.is_covered(&candidate));
        rules.extend(lengthened(&candidate, reduction, &covered));
        left = rest;
    }
}

/// The same situations by ends of the stack that are as short as they can be: where all that end alike do the same, they
/// are one.
fn shortened(situations: &[Situation]) -> Vec<Situation> {
    let mut out = Vec::new();
    let mut open: BTreeMap<(Lookahead, Vec<SymbolId>), Vec<&Situation>> = BTreeMap::new();
    for situation in situations {
        open.entry((situation.next, Vec::new())).or_default().push(situation);
    }
    while let Some(((next, symbols), group)) = open.pop_first() {
        let reduction = group[0].reduction;
        let whole = group.len() == 1 && group[0].whole && group[0].symbols.len() == symbols.len();
        if whole || group.iter().all(|situation| situation.reduction == reduction) {
            let popped = common_beginning(group.iter().map(|situation| &situation.popped));
            out.push(Situation { next, symbols, whole, reduction, popped });
            continue;
        }
        for situation in group {
            match situation.symbols.get(symbols.len()) {
                Some(&symbol) => {
                    open.entry((next, [&symbols[..], &[symbol]].concat())).or_default().push(situation);
                }
                // All of its stack is known, and others that end so do something else.
                None => out.push(situation.clone()),
            }
        }
    }
    out
}

/// What all strings begin with.
pub(super) fn common_beginning<'a>(mut strings: impl Iterator<Item = &'a Vec<SymbolId>>) -> Vec<SymbolId> {
    let Some(first) = strings.next() else { return Vec::new() };
    let shared = |other: &Vec<SymbolId>| first.iter().zip(other).take_while(|(a, b)| a == b).count();
    first[..strings.map(shared).min().unwrap_or(first.len())].to_vec()
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
