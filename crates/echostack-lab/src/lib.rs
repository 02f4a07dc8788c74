//! Experiments that reproduce every table and figure of the paper with one command, and measure what the paper did not.
//!
//! An experiment is a task, a model and a number of training words. A [`Specification`] lists the experiments. A
//! [`Run`] searches for hyperparameters, repeats the training with the best ones, and appends each finished cell to a
//! [`RecordFile`]. [`tables`] shows the measured values next to the published ones, [`figures`] draws the paper's
//! figures, and [`curves`] plots the measured errors. A [`Problem`] is a task or a grammar, and a model is anything
//! that implements [`Model`].

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
