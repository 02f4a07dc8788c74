//! Finds a short list of rules that describes what is done in many situations.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

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
    fn is_covered(&self, pattern: &Pattern) -> bool {
        pattern.next.is_none_or(|next| next == self.next) && pattern.stack.covers(&self.stack)
    }

    /// Returns all patterns that apply to all stacks of the situation.
    fn covering(&self) -> impl Iterator<Item = Pattern> + '_ {
        let whole = self.stack.is_whole().then(|| self.stack.clone());
        let stacks = shorter(&self.stack).chain(whole);
        stacks.flat_map(|stack| [None, Some(self.next)].map(|next| Pattern { stack: stack.clone(), next }))
    }
}

/// A rule without its action.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
/// simplest. Each pattern comes with the symbols that are always popped where it decides.
pub(super) fn few_patterns<D: Copy + Eq>(situations: &[Situation<D>], nothing: D) -> Vec<(Pattern, D, StackSuffix)> {
    let situations = shortened(situations);
    let mut candidates = Candidates::new(&situations, nothing);
    let mut found = Vec::new();
    while let Some((pattern, does, settled)) = candidates.settle() {
        let popped = StackSuffix::common(settled.iter().map(|&at| &situations[at].popped));
        found.push((pattern, does, popped));
    }
    found
}

/// The patterns that may come next in a list. What is known about them is updated when situations are settled, because
/// looking at all situations again for each pattern of the list would take time that grows with the cube of their
/// number.
struct Candidates<'s, D> {
    situations: &'s [Situation<D>],
    nothing: D,
    patterns: Vec<Candidate<D>>,
    /// For each situation, the patterns that apply to some of its stacks.
    meeting: Vec<Vec<usize>>,
    settled: Vec<bool>,
    /// The patterns that can come next, the best first, with the ranks that they had when they were added. Ranks only
    /// fall.
    queue: BinaryHeap<(Rank, Reverse<usize>)>,
}

/// The number of situations that a pattern settles, and how simple it is: whether it is anchored, its depth, and whether
/// it has a lookahead. Of two patterns, the one with the higher rank is better.
type Rank = (usize, Reverse<(bool, usize, bool)>);

struct Candidate<D> {
    pattern: Pattern,
    /// The situations that the pattern covers.
    covers: Vec<usize>,
    /// The number of these that remain.
    left: usize,
    /// The actions in the situations that the pattern meets, each with the number of remaining situations.
    actions: Vec<(D, usize)>,
}

impl<D: Copy + Eq> Candidate<D> {
    /// Adds a situation that the pattern meets.
    fn meet(&mut self, does: D) {
        match self.actions.iter_mut().find(|(own, _)| *own == does) {
            Some((_, count)) => *count += 1,
            None => self.actions.push((does, 1)),
        }
    }

    /// Returns the rank and the action of the pattern, if it has a single action in the remaining situations that it
    /// meets.
    fn usable(&self, nothing: D) -> Option<(Rank, D)> {
        let mut actions = self.actions.iter().filter(|(_, count)| *count > 0);
        let &(does, _) = actions.next()?;
        let Pattern { stack, next } = &self.pattern;
        let rank = (self.left, Reverse((stack.is_whole(), stack.depth(), next.is_some())));
        (self.left > 0 && does != nothing && actions.next().is_none()).then_some((rank, does))
    }
}

impl<'s, D: Copy + Eq> Candidates<'s, D> {
    fn new(situations: &'s [Situation<D>], nothing: D) -> Self {
        let acting = situations.iter().filter(|situation| situation.does != nothing);
        let patterns: BTreeSet<Pattern> = acting.flat_map(Situation::covering).collect();
        let numbers: HashMap<Pattern, usize> = patterns.iter().cloned().zip(0..).collect();
        let candidate = |pattern| Candidate { pattern, covers: Vec::new(), left: 0, actions: Vec::new() };
        let mut patterns: Vec<Candidate<D>> = patterns.into_iter().map(candidate).collect();
        let mut meeting = vec![Vec::new(); situations.len()];
        let mut by_stack: HashMap<&StackSuffix, Vec<usize>> = HashMap::new();
        for (at, situation) in situations.iter().enumerate() {
            by_stack.entry(&situation.stack).or_default().push(at);
            for number in situation.covering().filter_map(|pattern| numbers.get(&pattern).copied()) {
                patterns[number].covers.push(at);
                patterns[number].left += 1;
                patterns[number].meet(situation.does);
                meeting[at].push(number);
            }
        }
        // A pattern also meets the situations that are less specific than itself.
        for (number, candidate) in patterns.iter_mut().enumerate() {
            let Pattern { stack, next } = candidate.pattern.clone();
            for shorter in shorter(&stack).filter(|shorter| *shorter != stack) {
                for &at in by_stack.get(&shorter).into_iter().flatten() {
                    if next.is_none_or(|next| next == situations[at].next) {
                        candidate.meet(situations[at].does);
                        meeting[at].push(number);
                    }
                }
            }
        }
        let mut this = Self {
            situations,
            nothing,
            patterns,
            meeting,
            settled: vec![false; situations.len()],
            queue: BinaryHeap::new(),
        };
        (0..this.patterns.len()).for_each(|number| this.enqueue(number));
        this
    }

    /// Adds a pattern to the queue with its present rank, if it can come next.
    fn enqueue(&mut self, number: usize) {
        let usable = self.patterns[number].usable(self.nothing);
        self.queue.extend(usable.map(|(rank, _)| (rank, Reverse(number))));
    }

    /// Chooses the next pattern of the list. Returns it with its action and the situations that it settles; `None` if
    /// there is nothing left to do.
    fn settle(&mut self) -> Option<(Pattern, D, Vec<usize>)> {
        loop {
            let (queued, Reverse(number)) = self.queue.pop()?;
            let candidate = &self.patterns[number];
            let Some((rank, does)) = candidate.usable(self.nothing) else { continue };
            if rank != queued {
                self.queue.push((rank, Reverse(number)));
                continue;
            }
            let pattern = candidate.pattern.clone();
            let settled: Vec<usize> = candidate.covers.iter().copied().filter(|&at| !self.settled[at]).collect();
            let mut fewer = BTreeSet::new();
            for &at in &settled {
                self.settled[at] = true;
                let situation = &self.situations[at];
                for &number in &self.meeting[at] {
                    let candidate = &mut self.patterns[number];
                    candidate.left -= usize::from(situation.is_covered(&candidate.pattern));
                    if let Some((_, count)) = candidate.actions.iter_mut().find(|(own, _)| *own == situation.does) {
                        *count -= 1;
                        if *count == 0 {
                            fewer.insert(number);
                        }
                    }
                }
            }
            // Only a pattern that meets fewer actions than before can have become usable.
            fewer.into_iter().for_each(|number| self.enqueue(number));
            return Some((pattern, does, settled));
        }
    }
}

/// Returns the suffixes of a suffix that leave open what is below them, the empty one first.
fn shorter(stack: &StackSuffix) -> impl Iterator<Item = StackSuffix> + '_ {
    let symbols = stack.symbols();
    (0..=symbols.len()).rev().map(|from| StackSuffix::new(symbols[from..].to_vec(), false))
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

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::symbol::SymbolId;

    impl<D> Situation<D> {
        /// Returns whether a pattern applies to some stacks of the situation.
        fn is_met(&self, pattern: &Pattern) -> bool {
            pattern.next.is_none_or(|next| next == self.next) && pattern.stack.overlaps(&self.stack)
        }
    }

    /// Finds the patterns by the definition: looks at all remaining situations for each.
    fn naive(situations: &[Situation<u32>], nothing: u32) -> Vec<(Pattern, u32, StackSuffix)> {
        let situations = shortened(situations);
        let mut left: Vec<&Situation<u32>> = situations.iter().collect();
        let mut found = Vec::new();
        loop {
            let acting = left.iter().filter(|situation| situation.does != nothing);
            let patterns: BTreeSet<Pattern> = acting.flat_map(|situation| situation.covering()).collect();
            let mut best: Option<(Rank, Pattern, u32)> = None;
            for pattern in patterns {
                let met: Vec<_> = left.iter().filter(|situation| situation.is_met(&pattern)).collect();
                let does = met[0].does;
                if does == nothing || met.iter().any(|situation| situation.does != does) {
                    continue;
                }
                let count = left.iter().filter(|situation| situation.is_covered(&pattern)).count();
                let simple = (pattern.stack.is_whole(), pattern.stack.depth(), pattern.next.is_some());
                let rank = (count, Reverse(simple));
                if best.as_ref().is_none_or(|(most, ..)| rank > *most) {
                    best = Some((rank, pattern, does));
                }
            }
            let Some((_, pattern, does)) = best else { return found };
            let (settled, rest): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|situation| situation.is_covered(&pattern));
            found.push((pattern, does, StackSuffix::common(settled.iter().map(|situation| &situation.popped))));
            left = rest;
        }
    }

    #[test]
    fn patterns_are_those_of_the_definition() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let mut lengths = BTreeSet::new();
        for _ in 0..1000 {
            let stack = |random: &mut ChaCha8Rng| {
                let depth = random.random_range(0..4);
                let symbols = (0..depth).map(|_| SymbolId::new(random.random_range(0..3))).collect();
                StackSuffix::new(symbols, random.random_bool(0.3))
            };
            let situation = |random: &mut ChaCha8Rng| Situation {
                next: Lookahead::Token(SymbolId::new(random.random_range(0..3))),
                stack: stack(random),
                does: random.random_range(0..3),
                popped: stack(random),
            };
            let situations: Vec<_> = (0..random.random_range(0..30)).map(|_| situation(&mut random)).collect();
            let found = few_patterns(&situations, 0);
            assert_eq!(found, naive(&situations, 0), "{situations:?}");
            lengths.insert(found.len());
        }
        assert!(lengths.len() > 10, "{lengths:?}");
    }
}
