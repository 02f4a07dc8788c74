//! Long calls take a control: progress goes out through it, cancellation comes in.

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

/// What a long call reports to, and asks whether to go on. `()` is the control that does neither.
///
/// ```
/// use echostack::{Control, Stage};
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// struct Button(AtomicBool);
/// impl Control for Button {
///     fn progress(&self, stage: Stage, done: usize, total: usize) {
///         eprintln!("{stage:?}: {done} of {total}");
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
