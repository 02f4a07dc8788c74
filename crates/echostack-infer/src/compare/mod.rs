//! Where programs and grammars disagree.
//!
//! All sides are asked about the same texts (`side.rs`, `panel.rs`): texts at the limits of what programs can represent
//! (`purpose.rs`, `limits.rs`), texts near the examples and of the grammars (`sources.rs`), texts that are not UTF-8
//! (`raw.rs`), and those that a learner of each program wants to know. A text on which they disagree is made as small as
//! possible (`shrink.rs`), and texts with the same cause are one kind (`shape.rs`, `told.rs`, `cause.rs`, `kinds.rs`). `run.rs` puts
//! these together, `report.rs` tells what was found, and `known.rs` reads it again.

mod cause;
mod kinds;
mod known;
mod limits;
mod panel;
mod purpose;
mod raw;
mod report;
mod run;
mod shape;
mod shrink;
mod side;
mod sources;
mod told;

pub use kinds::Kind;
pub use known::{KnownKinds, UnreadableKinds};
pub use run::{CompareError, CompareSettings, Disagreements, Statement, compare};
pub use side::{Said, Side, Vote};
