//! Finds a short list of rules that describes what is done in many situations.

use std::collections::BTreeMap;

use crate::automaton::Rule;
use crate::recognize::Reduction;
use crate::suffix::StackSuffix;
use crate::symbol::Lookahead;

/// The action on all stacks with a suffix before a lookahead. It is a reduction by default.
#[derive(Clone, Debug)]
pub(super) struct Situation<D = Reduction> {
    pub(super) next: Lookahead,
    pub(super) stack: StackSuffix,
    pub(super) does: D,
    /// The longest suffix of the popped symbols, from the top, that is always the same.
    pub(super) popped: StackSuffix,
}

impl<D> Situation<D> {
    /// Returns whether a pattern applies to all stacks of the situation.
    fn is_covered(&self, rule: &Pattern) -> bool {
        rule.next.is_none_or(|next| next == self.next) && rule.stack.covers(&self.stack)
    }

    /// Returns whether a pattern applies to some stacks of the situation.
    fn is_met(&self, rule: &Pattern) -> bool {
        rule.next.is_none_or(|next| next == self.next) && rule.stack.overlaps(&self.stack)
    }
}

/// The maximum number of situations for which a short list of patterns is searched: the time grows with its square.
const MAX_SITUATIONS: usize = 5_000;

/// A rule without its action.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    pub(super) stack: StackSuffix,
    pub(super) next: Option<Lookahead>,
}

/// Returns an ordered list of rules, made from few patterns, that does the right thing in every situation. Each rule is
/// lengthened to include the symbols that it pops, as far as they are always the same.
pub(super) fn rule_list(situations: &[Situation]) -> Vec<Rule> {
    let found = few_patterns(situations, Reduction::NONE);
    found.into_iter().filter_map(|(pattern, does, popped)| lengthened(pattern, does, &popped)).collect()
}

/// Returns an ordered list of patterns with their actions, such that in every situation the first pattern that matches
/// has the right action, and `nothing` is right where none matches. The choice is greedy: the next pattern is the one
/// that settles the most of the remaining situations and is not wrong in any of them; if there are several, the
/// simplest. If there are too many situations, each gets a pattern of its own. Each pattern comes with the symbols that
/// are always popped where it decides.
pub(super) fn few_patterns<D: Copy + Eq>(situations: &[Situation<D>], nothing: D) -> Vec<(Pattern, D, StackSuffix)> {
    let situations = shortened(situations);
    if situations.len() > MAX_SITUATIONS {
        let acting = situations.into_iter().filter(|situation| situation.does != nothing);
        let own = |Situation { next, stack, does, .. }: Situation<D>| {
            (Pattern { stack, next: Some(next) }, does, StackSuffix::ANY)
        };
        return acting.map(own).collect();
    }
    let mut left: Vec<&Situation<D>> = situations.iter().collect();
    let mut found = Vec::new();
    loop {
        let mut patterns: Vec<Pattern> = Vec::new();
        for situation in left.iter().filter(|situation| situation.does != nothing) {
            let symbols = situation.stack.symbols();
            let shorter = (0..=symbols.len()).map(|from| StackSuffix::new(symbols[from..].to_vec(), false));
            for stack in shorter.chain(situation.stack.is_whole().then(|| situation.stack.clone())) {
                patterns.extend([None, Some(situation.next)].map(|next| Pattern { stack: stack.clone(), next }));
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
            let simple = |pattern: &Pattern| (pattern.stack.is_whole(), pattern.stack.depth(), pattern.next.is_some());
            let better = |(most, other, _): &(usize, Pattern, D)| (count, simple(other)) > (*most, simple(&pattern));
            if pure && best.as_ref().is_none_or(better) {
                best = Some((count, pattern, first.does));
            }
        }
        let Some((_, pattern, does)) = best else { return found };
        let (covered, rest): (Vec<&Situation<D>>, Vec<&Situation<D>>) =
            left.into_iter().partition(|situation| situation.is_covered(&pattern));
        found.push((pattern, does, StackSuffix::common(covered.iter().map(|situation| &situation.popped))));
        left = rest;
    }
}

/// Merges situations, using the shortest stack suffixes that determine the action: situations with the same lookahead
/// become one if they have the same action as all others with their common suffix.
fn shortened<D: Copy + Eq>(situations: &[Situation<D>]) -> Vec<Situation<D>> {
    let mut out = Vec::new();
    let mut open: BTreeMap<(Lookahead, StackSuffix), Vec<&Situation<D>>> = BTreeMap::new();
    for situation in situations {
        open.entry((situation.next, StackSuffix::ANY)).or_default().push(situation);
    }
    while let Some(((next, stack), group)) = open.pop_first() {
        let does = group[0].does;
        let whole = group.len() == 1 && group[0].stack.is_whole() && group[0].stack.depth() == stack.depth();
        if whole || group.iter().all(|situation| situation.does == does) {
            let popped = StackSuffix::common(group.iter().map(|situation| &situation.popped));
            let stack = if whole { group[0].stack.clone() } else { stack };
            out.push(Situation { next, stack, does, popped });
            continue;
        }
        for situation in group {
            match situation.stack.from_top().nth(stack.depth()) {
                Some(symbol) => open.entry((next, stack.longer(Some(symbol)))).or_default().push(situation),
                // The suffix of this situation cannot be lengthened, and others with the same suffix act differently.
                None => out.push(situation.clone()),
            }
        }
    }
    out
}

/// Returns the rule of a pattern, lengthened by the symbols that it pops as far as they are always the same; `None` if
/// the reduction pushes nothing.
fn lengthened(pattern: Pattern, reduction: Reduction, popped: &StackSuffix) -> Option<Rule> {
    let Pattern { mut stack, next: lookahead } = pattern;
    if !stack.is_whole() {
        let more = popped.from_top().take(reduction.pop as usize).skip(stack.depth());
        stack = more.fold(stack, |stack, symbol| stack.longer(Some(symbol)));
    }
    let (anchored, suffix) = (stack.is_whole(), stack.symbols().to_vec());
    Some(Rule { anchored, suffix, lookahead, pop: reduction.pop, push: reduction.push? })
}
