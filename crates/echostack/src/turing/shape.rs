//! The regular shape of the configurations of rules with two stacks.
//!
//! A shape says, for each stack, which symbols may lie directly on which, and which symbols may be on top of both stacks at
//! once before each lookahead. These are the configurations that a proof covers. A shape contains every configuration that
//! can occur if it contains those at the start and if no rule leads out of it, which [`Shape::check`] verifies. It may also
//! contain others.

use std::collections::BTreeSet;

use super::rules::{Decided, TwoStackRules, TwoStackStep, Which, next_number, next_of};
use crate::control::{Cancelled, Poll};
use crate::suffix::StackSuffix;
use crate::symbol::SymbolId;

/// What can be on top of a stack: 0 for nothing, and a symbol's number plus 1 for a symbol.
pub(super) type Top = u32;

/// Returns the number of a symbol as a top.
pub(super) fn top_of(symbol: SymbolId) -> Top {
    symbol.index() as Top + 1
}

/// The shape of a set of configurations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// For each stack, the pairs of a symbol and what may lie beneath it.
    pub(super) pairs: [BTreeSet<(Top, Top)>; 2],
    /// The number of what is next, and the tops of the first and of the second stack.
    pub(super) tops: BTreeSet<(u32, Top, Top)>,
}

/// Something that must be part of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Pair(Which, Top, Top),
    Tops(u32, Top, Top),
}

impl Shape {
    /// Computes the smallest shape of all configurations of these rules.
    pub(super) fn new(rules: &TwoStackRules, poll: &mut Poll<'_>) -> Result<Self, Cancelled> {
        let mut shape = Self::default();
        for next in 0..=rules.alphabet().terminals().len() as u32 {
            shape.tops.insert((next, 0, 0));
        }
        loop {
            let mut missing = Vec::new();
            shape.follow(rules, poll, &mut |_, part| missing.push(part))?;
            if missing.is_empty() {
                return Ok(shape);
            }
            missing.into_iter().for_each(|part| shape.insert(part));
        }
    }

    fn insert(&mut self, part: Part) {
        match part {
            Part::Pair(which, below, above) => _ = self.pairs[which.index()].insert((above, below)),
            Part::Tops(next, first, second) => _ = self.tops.insert((next, first, second)),
        }
    }

    fn contains(&self, part: Part) -> bool {
        match part {
            Part::Pair(which, below, above) => self.pairs[which.index()].contains(&(above, below)),
            Part::Tops(next, first, second) => self.tops.contains(&(next, first, second)),
        }
    }

    /// Checks that the shape contains the configurations at the start, and that no rule leads out of it. Returns what is
    /// missing, with the name of the rule that leads there.
    pub(super) fn check(&self, rules: &TwoStackRules, poll: &mut Poll<'_>) -> Result<Option<String>, Cancelled> {
        for next in 0..=rules.alphabet().terminals().len() as u32 {
            if !self.contains(Part::Tops(next, 0, 0)) {
                return Ok(Some("the start is missing".to_string()));
            }
        }
        let mut missing = None;
        self.follow(rules, poll, &mut |rule, part| {
            missing.get_or_insert_with(|| format!("{} leads out of it ({part:?})", rules.name(rule)));
        })?;
        Ok(missing)
    }

    /// Finds what the rules require beyond what the shape contains, and reports it with the rule.
    fn follow(
        &self,
        rules: &TwoStackRules,
        poll: &mut Poll<'_>,
        missing: &mut dyn FnMut(Option<usize>, Part),
    ) -> Result<(), Cancelled> {
        let alphabet = rules.alphabet();
        let mut require = |rule, part| {
            if !self.contains(part) {
                missing(rule, part);
            }
        };
        for &(next, first, second) in &self.tops {
            let Some(lookahead) = next_of(next as usize, alphabet) else { continue };
            let mut open = vec![[suffix_of(first), suffix_of(second)]];
            while let Some(suffixes) = open.pop() {
                poll.step()?;
                let rule = match rules.decided([&suffixes[0], &suffixes[1]], lookahead) {
                    Decided::By(rule) => rule,
                    Decided::Open(which) => {
                        open.extend(self.longer(which, &suffixes[which.index()]).into_iter().map(|longer| {
                            let mut suffixes = suffixes.clone();
                            suffixes[which.index()] = longer;
                            suffixes
                        }));
                        continue;
                    }
                };
                match &rules.decision(rule).step {
                    TwoStackStep::Rest(true) => {
                        let Some(token) = lookahead.token() else { continue };
                        require(rule, Part::Pair(Which::First, first, top_of(token)));
                        for then in alphabet.lookaheads() {
                            let then = next_number(then, alphabet) as u32;
                            require(rule, Part::Tops(then, top_of(token), second));
                        }
                    }
                    TwoStackStep::Rest(false) => {}
                    TwoStackStep::Act(changes) => {
                        let mut after = [Vec::new(), Vec::new()];
                        for which in Which::BOTH {
                            let change = &changes[which.index()];
                            for mut top in self.popped(which, &suffixes[which.index()], change.pop as usize) {
                                for &symbol in &change.push {
                                    require(rule, Part::Pair(which, top, top_of(symbol)));
                                    top = top_of(symbol);
                                }
                                after[which.index()].push(top);
                            }
                        }
                        for &first in &after[0] {
                            after[1].iter().for_each(|&second| require(rule, Part::Tops(next, first, second)));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns what can be on top of a stack with this suffix after this many pops. A rule pops at most what it looks at, so
    /// the suffix is as long as that.
    fn popped(&self, which: Which, suffix: &StackSuffix, count: usize) -> Vec<Top> {
        let symbols = suffix.symbols();
        match symbols.len() - count {
            0 if suffix.is_whole() => vec![0],
            0 if count == 0 => unreachable!("the top is always known"),
            0 => self.beneath(which, symbols[0]).collect(),
            left => vec![top_of(symbols[left - 1])],
        }
    }

    /// Returns what can lie beneath a symbol.
    fn beneath(&self, which: Which, symbol: SymbolId) -> impl Iterator<Item = Top> {
        let above = top_of(symbol);
        self.pairs[which.index()].range((above, 0)..=(above, Top::MAX)).map(|&(_, below)| below)
    }

    /// Returns the suffixes by one more symbol of a stack whose top is known.
    pub(super) fn longer(&self, which: Which, suffix: &StackSuffix) -> Vec<StackSuffix> {
        let Some(&lowest) = suffix.symbols().first().filter(|_| !suffix.is_whole()) else { return Vec::new() };
        self.beneath(which, lowest).map(|below| suffix.longer(symbol_of(below))).collect()
    }

    /// Returns the tops of both stacks that can occur together before a lookahead.
    pub(super) fn tops_before(&self, next: u32) -> impl Iterator<Item = [Top; 2]> {
        self.tops.range((next, 0, 0)..=(next, Top::MAX, Top::MAX)).map(|&(_, first, second)| [first, second])
    }
}

/// Returns the symbol on top, if there is one.
pub(super) fn symbol_of(top: Top) -> Option<SymbolId> {
    top.checked_sub(1).map(|index| SymbolId::new(index as usize))
}

/// Returns the suffix of all stacks with this top.
pub(super) fn suffix_of(top: Top) -> StackSuffix {
    symbol_of(top).map_or(StackSuffix::BOTTOM, |symbol| StackSuffix::new(vec![symbol], false))
}
