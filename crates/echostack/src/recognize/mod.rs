//! The common interface of all recognizers: sessions that read a word token by token, verdicts, limits and observers.
//!
//! Automata, machines and tables implement [`Recognizer`], so the same test or program works with each of them.

mod event;
mod mode;
mod recover;
mod run;
mod session;
mod tree;
mod verdict;

pub use event::{Event, Observer, Reduction};
pub use mode::{Mode, View};
pub use recover::{Edit, Mistake, Recovery, mistakes};
pub use run::{Run, Stack};
pub use session::{Outputs, Recognizer, Session, Status, judge_all, judge_serially, outputs, watch_all};
pub use tree::{Node, Tree, TreeBuilder, Visit};
pub use verdict::{Judged, Limit, Limits, Outcome, Verdict};
