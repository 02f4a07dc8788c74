//! Few rules that say what many situations do.

use std::collections::BTreeMap;

use crate::automaton::Rule;
use crate::recognize::Reduction;
use crate::symbol::{Lookahead, SymbolId};

/// What is done on stacks with one end before one token: a reduction, or whatever else.
#[derive(Clone, Debug)]
pub(super) struct Situation<D = Reduction> {
    pub(super) next: Lookahead,
    /// The end of the stack, the topmost symbol first.
    pub(super) symbols: Vec<SymbolId>,
    /// Whether this is the whole stack.
    pub(super) whole: bool,
    pub(super) does: D,
    /// Of what is popped, as much as is always the same, the topmost symbol first.
    pub(super) popped: Vec<SymbolId>,
}

impl<D> Situation<D> {
    /// Whether a rule applies to all stacks of the situation.
    fn is_covered(&self, rule: &Pattern) -> bool {
        rule.next.is_none_or(|next| next == self.next)
            && self.symbols.starts_with(&rule.symbols)
            && (!rule.anchored || (self.whole && self.symbols.len() == rule.symbols.len()))
    }

    /// Whether it applies to some of them.
    fn is_met(&self, rule: &Pattern) -> bool {
        let longer = !self.whole && rule.symbols.starts_with(&self.symbols);
        self.is_covered(rule) || (longer && rule.next.is_none_or(|next| next == self.next))
    }
}

/// More situations than few rules are sought for: the time grows with their square.
const MANY: usize = 5_000;

/// A rule without its action; the suffix has the topmost symbol first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    pub(super) anchored: bool,
    pub(super) symbols: Vec<SymbolId>,
    pub(super) next: Option<Lookahead>,
}

/// An ordered list of rules that does in every situation what is to be done there, from few patterns. Each is lengthened to the
/// symbols that it pops, as far as they are always the same.
pub(super) fn rule_list(situations: &[Situation]) -> Vec<Rule> {
    let found = few_patterns(situations, Reduction::NONE);
    found.into_iter().filter_map(|(pattern, does, popped)| lengthened(pattern, does, &popped)).collect()
}

/// An ordered list of patterns with what is done where they match, so that in every situation the first that matches is right,
/// and `nothing` where none does. Greedily: the next pattern is the one that settles the most of the situations that are left,
/// and does nothing wrong in any of them; of several the shortest. Of too many situations each gets a pattern of its own. With
/// each pattern comes what is always popped where it decides.
pub(super) fn few_patterns<D: Copy + Eq>(situations: &[Situation<D>], nothing: D) -> Vec<(Pattern, D, Vec<SymbolId>)> {
    let situations = shortened(situations);
    if situations.len() > MANY {
        let acting = situations.into_iter().filter(|situation| situation.does != nothing);
        let own = |Situation { next, symbols, whole, does, .. }: Situation<D>| {
            (Pattern { anchored: whole, symbols, next: Some(next) }, does, Vec::new())
        };
        return acting.map(own).collect();
    }
    let mut left: Vec<&Situation<D>> = situations.iter().collect();
    let mut found = Vec::new();
    loop {
        let mut patterns: Vec<Pattern> = Vec::new();
        for situation in left.iter().filter(|situation| situation.does != nothing) {
            for length in 0..=situation.symbols.len() {
                let symbols = situation.symbols[..length].to_vec();
                for next in [None, Some(situation.next)] {
                    patterns.push(Pattern { anchored: false, symbols: symbols.clone(), next });
                    if situation.whole && length == situation.symbols.len() {
                        patterns.push(Pattern { anchored: true, symbols: symbols.clone(), next });
                    }
                }
            }
        }
        patterns.sort();
        patterns.dedup();
        let mut best: Option<(usize, Pattern, D)> = None;
        for pattern in patterns {
            let mut met = left.iter().filter(|situation| situation.is_met(&pattern)).peekable();
            let Some(first) = met.peek().filter(|first| first.does != nothing).copied() else { continue };
            let mut count = 0;
            let pure = met.all(|situation| {
                count += usize::from(situation.is_covered(&pattern));
                situation.does == first.does
            });
            let simple = |pattern: &Pattern| (pattern.anchored, pattern.symbols.len(), pattern.next.is_some());
            let better = |(most, other, _): &(usize, Pattern, D)| (count, simple(other)) > (*most, simple(&pattern));
            if pure && best.as_ref().is_none_or(better) {
                best = Some((count, pattern, first.does));
            }
        }
        let Some((_, pattern, does)) = best else { return found };
        let (covered, rest): (Vec<&Situation<D>>, Vec<&Situation<D>>) =
            left.into_iter().partition(|situation| situation.is_covered(&pattern));
        found.push((pattern, does, common_beginning(covered.iter().map(|situation| &situation.popped))));
        left = rest;
    }
}

/// The same situations by ends of the stack that are as short as they can be: where all that end alike do the same, they
/// are one.
fn shortened<D: Copy + Eq>(situations: &[Situation<D>]) -> Vec<Situation<D>> {
    let mut out = Vec::new();
    let mut open: BTreeMap<(Lookahead, Vec<SymbolId>), Vec<&Situation<D>>> = BTreeMap::new();
    for situation in situations {
        open.entry((situation.next, Vec::new())).or_default().push(situation);
    }
    while let Some(((next, symbols), group)) = open.pop_first() {
        let does = group[0].does;
        let whole = group.len() == 1 && group[0].whole && group[0].symbols.len() == symbols.len();
        if whole || group.iter().all(|situation| situation.does == does) {
            let popped = common_beginning(group.iter().map(|situation| &situation.popped));
            out.push(Situation { next, symbols, whole, does, popped });
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

/// The rule, with as much of what it pops as is always the same.
fn lengthened(pattern: Pattern, reduction: Reduction, popped: &[SymbolId]) -> Option<Rule> {
    let Pattern { anchored, mut symbols, next: lookahead } = pattern;
    if !anchored {
        let more = popped.iter().take(reduction.pop as usize).skip(symbols.len());
        symbols.extend(more);
    }
    symbols.reverse();
    Some(Rule { anchored, suffix: symbols, lookahead, pop: reduction.pop, push: reduction.push? })
}
