//! How long to wait for an answer.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The number of answers after which it is known how long one usually takes.
const ANSWERS: usize = 31;
/// How much longer than usual an answer may take, and how long it may take in any case: a busy computer can stop a program
/// for a while.
const TIMES: u32 = 100;
const LEAST: Duration = Duration::from_secs(1);
/// How much longer than the first copy of a program a later one may take to start, and how long it may take in any case.
const START_TIMES: u32 = 10;
const LEAST_START: Duration = Duration::from_secs(5);

/// A limit that adapts to the program: 100 times its usual answer, but at least a second, and never more than it was set
/// to.
#[derive(Debug)]
pub(super) struct Patience {
    most: Duration,
    /// How long the first answers took.
    took: Mutex<Vec<Duration>>,
    /// How long the first answer of the first copy took, which had to start before.
    started: OnceLock<Duration>,
}

impl Patience {
    pub(super) fn new(most: Duration) -> Self {
        Self { most, took: Mutex::new(Vec::new()), started: OnceLock::new() }
    }

    pub(super) fn most(&self) -> Duration {
        self.most
    }

    /// Returns how long to wait for the next answer.
    pub(super) fn limit(&self) -> Duration {
        let took = self.took.lock().unwrap_or_else(PoisonError::into_inner);
        if took.len() < ANSWERS { self.most } else { (took[ANSWERS / 2] * TIMES).max(LEAST).min(self.most) }
    }

    /// Returns how long to wait for the first answer of a copy of the program that has just been started.
    pub(super) fn first_limit(&self) -> Duration {
        let start = self.started.get().map_or(self.most, |&started| (started * START_TIMES).max(LEAST_START));
        self.limit().max(start).min(self.most)
    }

    /// Notes how long the first answer of a copy took.
    pub(super) fn note_first(&self, time: Duration) {
        // Only the first copy counts: a busy computer should not make the limit longer and longer.
        _ = self.started.set(time);
        self.note(time);
    }

    /// Notes how long an answer took.
    pub(super) fn note(&self, time: Duration) {
        let mut took = self.took.lock().unwrap_or_else(PoisonError::into_inner);
        if took.len() < ANSWERS {
            took.push(time);
            took.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_usual_answer() {
        let limit = |milliseconds: u64| {
            let patience = Patience::new(Duration::from_secs(10));
            assert_eq!(patience.limit(), Duration::from_secs(10));
            (0..ANSWERS as u64).for_each(|more| patience.note(Duration::from_millis(milliseconds + more)));
            patience.note(Duration::from_secs(60));
            patience.limit()
        };
        assert_eq!(limit(0), Duration::from_millis(1500));
        assert_eq!(limit(50), Duration::from_millis(6500));
        assert_eq!(limit(500), Duration::from_secs(10));
        let slow = Patience::new(Duration::from_secs(60));
        assert_eq!(slow.first_limit(), Duration::from_secs(60));
        slow.note_first(Duration::from_secs(2));
        (0..ANSWERS).for_each(|_| slow.note(Duration::ZERO));
        assert_eq!((slow.limit(), slow.first_limit()), (Duration::from_secs(1), Duration::from_secs(20)));
        let quick = Patience::new(Duration::from_millis(300));
        (0..ANSWERS).for_each(|_| quick.note(Duration::ZERO));
        assert_eq!(quick.limit(), Duration::from_millis(300));
    }
}
