//! What is certain in the cells of a running machine with two stacks, by the bounds of proofs.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::certificate::Decisions;
use super::machine::TwoStackMachine;
use super::memory::MemorySource;
use super::rules::{Decision, Which, next_number};
use crate::certify::bound::Scratch;
use crate::control::Poll;
use crate::suffix::StackSuffix;
use crate::symbol::Lookahead;

impl TwoStackMachine {
    /// Returns this machine with a memory of decisions that cannot turn out differently, by the bounds of proofs. All runs
    /// stay the same, and most decisions are looked up.
    #[must_use]
    pub fn memoized(self) -> Self {
        if self.has_memory() {
            return self;
        }
        let source = Bounded { machine: self.clone(), decisions: OnceLock::new() };
        self.with_memory(Box::new(source))
    }
}

/// A machine with the bounds on its decisions, once they are needed; `None` if it cannot be bounded.
struct Bounded {
    machine: TwoStackMachine,
    decisions: OnceLock<Option<Mutex<Decisions>>>,
}

impl fmt::Debug for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded").finish_non_exhaustive()
    }
}

impl MemorySource for Bounded {
    fn certain(&self, suffixes: [&StackSuffix; 2], next: Lookahead) -> Result<Decision, Which> {
        let decisions =
            self.decisions.get_or_init(|| Decisions::new(&self.machine, &mut Poll::new(&())).ok().map(Mutex::new));
        let Some(decisions) = decisions else { return Err(Which::First) };
        let mut decisions = decisions.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = decisions.see(suffixes);
        let mut scratch = Scratch::default();
        let number = next_number(next, self.machine.alphabet());
        let certain = self.machine.readouts(next).decision(|readout, _| {
            decisions.bounds.certain(Decisions::number(number, readout), &seen[0], &seen[1], &mut scratch)
        });
        certain.ok_or(if seen[0].size() > seen[1].size() { Which::First } else { Which::Second })
    }
}
