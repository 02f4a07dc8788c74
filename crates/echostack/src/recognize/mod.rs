//! What all recognizers have in common: sessions that are fed token by token, verdicts, limits, observers.
//!
//! Automata, machines and tables implement [`Recognizer`], so that a test or a program written once runs with each of them.

mod event;
mod mode;
mod run;
mod session;
mod tree;
mod verdict;

pub use event::{Event, Observer, Reduction};
pub use mode::{Mode, View};
pub use run::{Run, Stack};
pub use session::{Outputs, Recognizer, Session, Status, judge_all, judge_in_turn, outputs, watch_all};
pub use tree::{Node, Tree, TreeBuilder, Visit};
pub use verdict::{Limit, Limits, Verdict};
