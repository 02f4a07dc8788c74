//! The walk over all stack suffixes of a proof, on all threads.
//!
//! What can be proved on a stack suffix does not depend on any other suffix, so several are examined side by side. What
//! was found on them is used in the order of the walk, so no result depends on the number of threads.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::bound::{Bounds, Scratch, Sighting};
use super::cells::{Obligation, Task};
use crate::control::{Control, Poll};
use crate::suffix::{InputSuffix, StackSuffix};

/// A breadth-first walk over stack suffixes, with the obligations that are left on each. Shorter suffixes come first.
pub(super) struct StackWalk(VecDeque<Task>);

impl StackWalk {
    /// The number of suffixes per thread that are examined side by side, if there is more than one thread. More of them
    /// keep the threads busy; fewer waste less work if the walk ends early.
    const SUFFIXES_PER_THREAD: usize = 8;

    /// Begins with the empty suffix, which every stack has.
    pub(super) fn new(root: Vec<Obligation>) -> Self {
        Self(VecDeque::from([(StackSuffix::ANY, root)]))
    }

    /// Returns the next suffix, and what is to be proved on it.
    pub(super) fn next(&mut self) -> Option<Task> {
        self.0.pop_front()
    }

    /// Returns the next suffixes that are to be examined side by side. They are none only at the end of the walk.
    pub(super) fn next_for(&mut self, workers: usize) -> Vec<Task> {
        let count = if workers > 1 { workers * Self::SUFFIXES_PER_THREAD } else { 1 };
        self.0.drain(..count.min(self.0.len())).collect()
    }

    /// Returns the number of suffixes that are still to be visited.
    pub(super) fn waiting(&self) -> usize {
        self.0.len()
    }

    /// Adds what is left of a suffix that was visited.
    pub(super) fn go_on(&mut self, left: Vec<Task>) {
        self.0.extend(left);
    }
}

/// What a thread keeps from one stack suffix to the next.
pub(super) struct Worker<'c> {
    pub(super) inputs: InputSightings,
    pub(super) scratch: Scratch,
    pub(super) poll: Poll<'c>,
}

impl<'c> Worker<'c> {
    /// Creates one worker for each of rayon's threads.
    pub(super) fn all(control: &'c dyn Control) -> Vec<Self> {
        let count = rayon::current_num_threads();
        let worker =
            |_| Self { inputs: InputSightings::new(count), scratch: Scratch::default(), poll: Poll::new(control) };
        (0..count).map(worker).collect()
    }
}

/// Does all tasks, each by the first worker that is free, and returns the results in the order of the tasks.
pub(super) fn side_by_side<W: Send, T: Send, R: Send>(
    workers: &mut [W],
    tasks: impl IntoIterator<Item = T, IntoIter: Send>,
    work: impl Fn(&mut W, T) -> R + Sync,
) -> Vec<R> {
    let tasks = Mutex::new(tasks.into_iter().enumerate());
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let shares = workers.par_iter_mut().with_max_len(1).map(|worker| {
        let mut results = Vec::new();
        while let Some((number, task)) = next() {
            results.push((number, work(worker, task)));
        }
        results
    });
    let mut results: Vec<(usize, R)> = shares.flatten_iter().collect();
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// A cache of input suffixes as the readouts see them. When it becomes too large, it is cleared, and its entries are
/// computed again when they are needed.
pub(crate) struct InputSightings {
    seen: HashMap<InputSuffix, Sighting>,
    /// The approximate number of floating-point values in the cache.
    size: usize,
    /// The size at which the cache is cleared.
    limit: usize,
}

impl InputSightings {
    /// The maximum number of floating-point values that are kept: 256 MiB.
    pub(crate) const MAX_NUMBERS: usize = 1 << 25;

    /// Creates one of `count` caches that are used together.
    pub(crate) fn new(count: usize) -> Self {
        Self { seen: HashMap::new(), size: 0, limit: Self::MAX_NUMBERS / count }
    }

    /// Returns what the readouts see of an input suffix, computed or from the cache.
    pub(crate) fn see(&mut self, bounds: &Bounds, suffix: &InputSuffix) -> &Sighting {
        if self.size > self.limit {
            self.seen.clear();
            self.size = 0;
        }
        self.seen.entry(suffix.clone()).or_insert_with(|| {
            let sighting = bounds.input(suffix);
            self.size += sighting.numbers();
            sighting
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_tasks() {
        for count in [1, 3, 8] {
            let mut done = vec![0; count];
            let results = side_by_side(&mut done, 0..1000, |done, task| {
                *done += 1;
                task * task
            });
            assert!(results.into_iter().eq((0..1000).map(|task| task * task)));
            assert_eq!(done.iter().sum::<i32>(), 1000);
        }
    }
}
