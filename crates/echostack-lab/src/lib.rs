//! The laboratory: every table and figure of the paper by one command, and what the paper did not measure.
//!
//! An experiment is a task, a model and a number of training words. A [`Specification`] says which; a [`Run`] searches hyperparameters
//! and repeats the best, and appends each finished cell to a [`RecordFile`]; [`tables`] sets what was measured beside
//! what was published, [`figures`] draws the paper's pictures and [`curves`] what was measured. A [`Problem`] is a task or a grammar; a model is anything that implements [`Model`].

pub mod curves;
pub mod figures;
pub mod model;
pub mod models;
mod problem;
pub mod record;
mod run;
mod spec;
pub mod tables;
mod test_set;

pub use model::{Choice, Model, ModelError, Prepared, Trained};
pub use problem::Problem;
pub use record::{Line, RecordError, RecordFile, merge};
pub use run::{Progress, Run, RunError, Shard};
pub use spec::{Specification, SpecificationError};
pub use test_set::TestSet;
