//! Long calls take a control: progress goes out through it, cancellation comes in.

use std::fmt;
use std::time::{Duration, Instant};

use crate::name::named;

/// A part of a long call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The traces are run through the reservoir.
    Collect,
    /// The classifiers are trained; one unit is one pair of classes or one regression.
    Train,
    /// A trained machine is tested on fresh words.
    Test,
    /// A proof is searched; the units are parts of the stack, and more may be found.
    Prove,
}

impl Stage {
    /// All stages.
    pub(crate) const ALL: [Self; 4] = [Self::Collect, Self::Train, Self::Test, Self::Prove];

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collect => "collect",
            Self::Train => "train",
            Self::Test => "test",
            Self::Prove => "prove",
        }
    }
}

named!(Stage, "stage");

/// What a long call reports to, and asks whether to go on. `()` is the control that does neither.
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
    /// `done` of `total` units of the stage are finished. Called from any thread.
    fn progress(&self, _stage: Stage, _done: usize, _total: usize) {}

    /// Whether the call shall stop as soon as it can.
    fn cancelled(&self) -> bool {
        false
    }
}

impl Control for () {}

/// A control that stops a call when its time is up, or when another control does.
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
    /// `None` is a time that never comes.
    until: Option<Instant>,
    control: &'c dyn Control,
}

impl fmt::Debug for Deadline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline").field("until", &self.until).finish_non_exhaustive()
    }
}

impl<'c> Deadline<'c> {
    /// A deadline so far from now. One that is too far for the clock never comes.
    pub fn new(time: Duration, control: &'c dyn Control) -> Self {
        Self { until: Instant::now().checked_add(time), control }
    }

    /// Whether the time is up.
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

/// The control asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled;

/// Asks a control whether to go on, but not at each of many small steps: that would take longer than the steps.
pub(crate) struct Poll<'c> {
    control: &'c dyn Control,
    left: u32,
}

impl<'c> Poll<'c> {
    /// How many steps are taken without asking.
    const STEPS: u32 = 1024;

    pub(crate) fn new(control: &'c dyn Control) -> Self {
        Self { control, left: 0 }
    }

    /// A step that takes a microsecond or so.
    pub(crate) fn step(&mut self) -> Result<(), Cancelled> {
        self.steps(1)
    }

    /// So many small steps at once.
    pub(crate) fn steps(&mut self, count: usize) -> Result<(), Cancelled> {
        self.left = self.left.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX));
        if self.left > 0 {
            return Ok(());
        }
        self.now()
    }

    /// A step that takes longer.
    pub(crate) fn now(&mut self) -> Result<(), Cancelled> {
        self.left = Self::STEPS;
        if self.control.cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}
