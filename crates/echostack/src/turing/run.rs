//! The loop of a machine with two stacks, which rules and trained machines share: Algorithm 2 of the paper with a second
//! stack.

use std::borrow::Cow;

use super::rules::{Change, Decision, TwoStackRules, TwoStackStep, Which};
use crate::recognize::{Limit, Outcome};
use crate::symbol::{Lookahead, SymbolId};

/// The resources that a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// The maximum number of actions. Nobody can tell in general whether a run ends without a limit.
    pub actions: u64,
    /// The maximum number of symbols on each stack, and of outputs.
    pub depth: usize,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { actions: 100_000_000, depth: 1 << 22 }
    }
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoStackRun {
    /// The verdict.
    pub outcome: Outcome,
    /// The number of actions that were taken.
    pub actions: u64,
    /// The numbers of the output symbols that were written.
    pub output: Vec<u32>,
    /// The first and the second stack at the end, the topmost symbol last.
    pub stacks: [Vec<SymbolId>; 2],
}

/// What takes part in a run and decides in each of its steps, in part by decisions that are known for `'d`.
pub trait Decider<'d> {
    /// Decides in the current configuration.
    fn decide(&mut self, next: Lookahead) -> Cow<'d, Decision>;
    /// Returns the number of symbols on a stack.
    fn depth(&self, which: Which) -> usize;
    /// Removes the topmost symbols of a stack, which has at least that many.
    fn pop(&mut self, which: Which, count: usize);
    /// Pushes a symbol.
    fn push(&mut self, which: Which, symbol: SymbolId);
    /// Returns the symbols on a stack, the topmost last.
    fn symbols(&self, which: Which) -> Vec<SymbolId>;
}

/// Watches a run.
pub trait Watcher<D> {
    /// Called with each decision before it is carried out, with what decides and what is next.
    fn decided(&mut self, decider: &D, next: Lookahead, decision: &Decision);
}

impl<D> Watcher<D> for () {
    fn decided(&mut self, _: &D, _: Lookahead, _: &Decision) {}
}

impl<D, F: FnMut(&D, Lookahead, &Decision)> Watcher<D> for F {
    fn decided(&mut self, decider: &D, next: Lookahead, decision: &Decision) {
        self(decider, next, decision);
    }
}

/// Runs on a word. A token that is not a terminal is refused.
pub(super) fn run<'d, D: Decider<'d>>(
    mut decider: D,
    terminals: usize,
    word: &[SymbolId],
    limits: RunLimits,
    watcher: &mut impl Watcher<D>,
) -> TwoStackRun {
    let (mut actions, mut output) = (0_u64, Vec::new());
    let mut position = 0;
    let outcome = loop {
        let next = word.get(position).map_or(Lookahead::End, |&token| Lookahead::Token(token));
        let stopped = |limit| Outcome::Stopped { position: position as u64, limit };
        if next.token().is_some_and(|token| token.index() >= terminals) {
            break Outcome::Reject { position: position as u64 };
        }
        let decision = decider.decide(next);
        watcher.decided(&decider, next, &decision);
        if let Some(symbol) = decision.output {
            if output.len() == limits.depth {
                break stopped(Limit::Depth);
            }
            output.push(symbol);
        }
        match (&decision.step, next) {
            (TwoStackStep::Rest(true), Lookahead::End) => break Outcome::Accept,
            (TwoStackStep::Rest(false), Lookahead::End) => break Outcome::Incomplete,
            (TwoStackStep::Rest(false), Lookahead::Token(_)) => break Outcome::Reject { position: position as u64 },
            (TwoStackStep::Rest(true), Lookahead::Token(token)) => {
                if decider.depth(Which::First) == limits.depth {
                    break stopped(Limit::Depth);
                }
                decider.push(Which::First, token);
                position += 1;
            }
            (TwoStackStep::Act(changes), _) => {
                if actions == limits.actions {
                    break stopped(Limit::Actions);
                }
                actions += 1;
                if let Some(limit) = impossible(&decider, changes, limits.depth) {
                    break stopped(limit);
                }
                for (which, change) in Which::BOTH.into_iter().zip(changes) {
                    decider.pop(which, change.pop as usize);
                    change.push.iter().for_each(|&symbol| decider.push(which, symbol));
                }
            }
        }
    };
    TwoStackRun { outcome, actions, output, stacks: Which::BOTH.map(|which| decider.symbols(which)) }
}

/// Returns the limit that an action would run into, if any.
fn impossible<'d>(decider: &impl Decider<'d>, changes: &[Change; 2], most: usize) -> Option<Limit> {
    Which::BOTH.into_iter().zip(changes).find_map(|(which, change)| {
        match decider.depth(which).checked_sub(change.pop as usize) {
            None => Some(Limit::Underflow),
            Some(left) if left + change.push.len() > most => Some(Limit::Depth),
            Some(_) => None,
        }
    })
}

/// Rules with their stacks.
#[derive(Clone, Debug)]
pub struct RuleStacks<'r> {
    rules: &'r TwoStackRules,
    stacks: [Vec<SymbolId>; 2],
}

impl RuleStacks<'_> {
    /// Returns the symbols on a stack, the topmost last.
    pub fn of(&self, which: Which) -> &[SymbolId] {
        &self.stacks[which.index()]
    }
}

impl<'r> Decider<'r> for RuleStacks<'r> {
    fn decide(&mut self, next: Lookahead) -> Cow<'r, Decision> {
        Cow::Borrowed(self.rules.decide([&self.stacks[0], &self.stacks[1]], next))
    }

    fn depth(&self, which: Which) -> usize {
        self.stacks[which.index()].len()
    }

    fn pop(&mut self, which: Which, count: usize) {
        let stack = &mut self.stacks[which.index()];
        stack.truncate(stack.len() - count);
    }

    fn push(&mut self, which: Which, symbol: SymbolId) {
        self.stacks[which.index()].push(symbol);
    }

    fn symbols(&self, which: Which) -> Vec<SymbolId> {
        self.stacks[which.index()].clone()
    }
}

impl TwoStackRules {
    /// Runs the rules on a word.
    pub fn run(&self, word: &[SymbolId], limits: RunLimits) -> TwoStackRun {
        self.run_with(word, limits, &mut ())
    }

    /// Runs the rules on a word, and shows each decision to a watcher.
    pub fn run_with<'r>(
        &'r self,
        word: &[SymbolId],
        limits: RunLimits,
        watcher: &mut impl Watcher<RuleStacks<'r>>,
    ) -> TwoStackRun {
        let stacks = RuleStacks { rules: self, stacks: [Vec::new(), Vec::new()] };
        run(stacks, self.alphabet().terminals().len(), word, limits, watcher)
    }
}
