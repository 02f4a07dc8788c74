//! Progress reports and cancellation for long calls.
//!
//! A long call takes a [`Control`], to which it reports its progress and which can cancel it.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::name::named;

/// A stage of a long call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The traces are run through the reservoir.
    Collect,
    /// The classifiers are trained. One unit is one pair of classes or one regression.
    Train,
    /// A trained machine is tested on fresh words.
    Test,
    /// The configurations that an automaton or a machine can reach are computed, and how each can be completed to a
    /// word. The total grows as more are found.
    Explore,
    /// A proof is searched for. The units are stack suffixes; their total may grow as more are found.
    Prove,
    /// A certificate is checked. The units are stack suffixes.
    Check,
    /// A program is asked about texts. One unit is one query; the total is the limit on queries.
    Query,
}

impl Stage {
    /// All stages.
    pub(crate) const ALL: [Self; 7] =
        [Self::Collect, Self::Train, Self::Test, Self::Explore, Self::Prove, Self::Check, Self::Query];

    /// Returns the stage's name, as used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collect => "collect",
            Self::Train => "train",
            Self::Test => "test",
            Self::Explore => "explore",
            Self::Prove => "prove",
            Self::Check => "check",
            Self::Query => "query",
        }
    }
}

named!(Stage, "stage");

/// A receiver of progress reports that can also cancel a long call. `()` is the control that ignores progress and never
/// cancels.
///
/// ```
/// use echostack::Control;
/// use echostack::control::Stage;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// struct Button(AtomicBool);
/// impl Control for Button {
///     fn progress(&self, stage: Stage, done: usize, total: usize) {
///         eprintln!("{stage}: {done} of {total}");
///     }
///     fn cancelled(&self) -> bool {
///         self.0.load(Ordering::Relaxed)
///     }
/// }
/// ```
pub trait Control: Sync {
    /// Called when `done` of `total` units of the stage are finished. Calls may come from any thread.
    fn progress(&self, _stage: Stage, _done: usize, _total: usize) {}

    /// Returns whether the call should stop as soon as possible.
    fn cancelled(&self) -> bool {
        false
    }
}

impl Control for () {}

/// A control that cancels a call after it was asked a number of times. Unlike a [`Deadline`], it does so at the same point
/// on every computer. Long calls ask about once per millisecond.
///
/// ```
/// use echostack::Control;
/// use echostack::control::Budget;
///
/// let budget = Budget::new(2);
/// assert_eq!([(); 3].map(|()| budget.cancelled()), [false, false, true]);
/// ```
#[derive(Debug)]
pub struct Budget(AtomicUsize);

impl Budget {
    /// Creates a budget for this many questions.
    pub fn new(questions: usize) -> Self {
        Self(AtomicUsize::new(questions))
    }
}

impl Control for Budget {
    fn cancelled(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

/// A control that cancels a call when its time is up, or when another control cancels it.
///
/// ```
/// use echostack::Control;
/// use echostack::control::Deadline;
/// use std::time::Duration;
///
/// let patient = Deadline::new(Duration::from_secs(3600), &());
/// assert!(!patient.cancelled() && !patient.is_over());
/// let hasty = Deadline::new(Duration::ZERO, &());
/// assert!(hasty.cancelled() && hasty.is_over());
/// ```
pub struct Deadline<'c> {
    /// The time at which the deadline expires, or `None` if it never does.
    until: Option<Instant>,
    control: &'c dyn Control,
}

impl fmt::Debug for Deadline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline").field("until", &self.until).finish_non_exhaustive()
    }
}

impl<'c> Deadline<'c> {
    /// Creates a deadline that expires after `time`, counted from now. If that is too far in the future for the clock,
    /// the deadline never expires.
    pub fn new(time: Duration, control: &'c dyn Control) -> Self {
        Self { until: Instant::now().checked_add(time), control }
    }

    /// Returns whether the time is up.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

impl Control for Deadline<'_> {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        self.control.progress(stage, done, total);
    }

    fn cancelled(&self) -> bool {
        self.is_over() || self.control.cancelled()
    }
}

/// The error of a call that its control stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled;

/// Asks a control whether to continue, but not at each of many small steps, since asking would take longer than the
/// steps. Reports the progress of a stage whenever it asks.
pub(crate) struct Poll<'c> {
    control: &'c dyn Control,
    left: u32,
    /// The stage, and how many of how many units of it are done.
    progress: Option<(Stage, usize, usize)>,
}

impl<'c> Poll<'c> {
    /// The number of small steps between two polls of the control.
    const STEPS: u32 = 1024;

    pub(crate) fn new(control: &'c dyn Control) -> Self {
        Self { control, left: 0, progress: None }
    }

    /// Sets the progress that is reported from now on.
    pub(crate) fn progress(&mut self, stage: Stage, done: usize, total: usize) {
        self.progress = Some((stage, done, total));
    }

    /// Counts one small step, which takes about a microsecond.
    pub(crate) fn step(&mut self) -> Result<(), Cancelled> {
        self.steps(1)
    }

    /// Counts `count` small steps at once.
    pub(crate) fn steps(&mut self, count: usize) -> Result<(), Cancelled> {
        self.left = self.left.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX));
        if self.left > 0 {
            return Ok(());
        }
        self.now()
    }

    /// Counts a step that takes longer, and asks the control at once.
    pub(crate) fn now(&mut self) -> Result<(), Cancelled> {
        self.left = Self::STEPS;
        if let Some((stage, done, total)) = self.progress {
            self.control.progress(stage, done, total);
        }
        if self.control.cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}
