//! Machines with two stacks, which simulate Turing machines: the paper's road beyond LR(1) languages.
//!
//! docs/two-stacks.md defines them and shows that they simulate every Turing machine. A [`Teacher`] is a Turing machine
//! ([`TuringMachine`]) or a list of rules ([`TwoStackRules`]), read from a text. [`TwoStackLearning`] records its runs, trains a
//! [`TwoStackMachine`], and searches for a [`TwoStackCertificate`] that the machine simulates the teacher on every input, for every
//! number of steps; [`check`] verifies one.
//!
//! A machine with two stacks is no case of [`Machine`](crate::Machine), which has one: it shares the reservoirs, the
//! readouts, their training, the enclosures of states and the bounds on decisions, and has a loop, a teacher and a proof of
//! its own.

mod certificate;
mod check;
mod cover;
mod error;
mod file;
mod fit;
mod learn;
mod lookup;
mod machine;
mod memory;
mod picture;
mod prove;
mod rules;
mod run;
mod shape;
mod tape;
mod text;

pub use certificate::{MAX_CERTIFICATE, TwoStackCertificate, TwoStackCertificateError};
pub use check::check;
pub use error::TextError;
pub use fit::TwoStackExercise;
pub use learn::{TwoStackLearnError, TwoStackLearned, TwoStackLearning};
pub use machine::{MachineStacks, TwoStackMachine, TwoStackReadout};
pub use picture::{Frame, RunDrawing};
pub use prove::{TwoStackOpenCell, TwoStackProof, prove};
pub use rules::{
    Change, Decision, MAX_RULES, MAX_SUFFIX, TwoStackRule, TwoStackRules, TwoStackRulesError, TwoStackStep, Which,
};
pub use run::{Decider, RuleStacks, RunLimits, TwoStackRun, Watcher};
pub use tape::{Entry, Move, Tape, TuringMachine};
pub use text::{MAX_TEXT, Teacher};
