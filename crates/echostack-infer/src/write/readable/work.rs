//! How much work the search for a readable form may take.

use std::sync::atomic::{AtomicUsize, Ordering};

use echostack::Control;

/// The steps of one search, which take a few seconds.
const WORK: usize = 200_000_000;
/// The steps that are taken each time a comparison asks whether to go on.
const COMPARED: usize = 50_000;

/// What is left, in steps. They are counted, not timed, so that the same is found on every computer.
#[derive(Debug)]
pub(super) struct Work(AtomicUsize);

impl Default for Work {
    fn default() -> Self {
        Self(AtomicUsize::new(WORK))
    }
}

impl Work {
    /// Takes so many steps. Returns whether any are left.
    pub(super) fn take(&self, steps: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(steps), Ordering::Relaxed);
        left > steps
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// A comparison asks from time to time whether to go on.
impl Control for Work {
    fn cancelled(&self) -> bool {
        !self.take(COMPARED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends() {
        let work = Work::default();
        assert!(work.take(WORK - COMPARED - 1) && !work.is_over());
        assert!(!work.cancelled() || work.is_over());
        assert!(!work.take(2) && work.is_over() && work.cancelled());
    }
}
