//! The experiments of *Reservoir Stack Machines* (Paaßen, Schulz, Hammer, Neurocomputing 2021): protocol, baselines, tables
//! and figures.
//!
//! A [`Specification`] lists tasks, models and numbers of training words. An [`Experiment`] goes through all of them: it
//! searches for hyperparameters, repeats the training with the best ones, and appends each finished cell to a
//! [`RecordFile`]. [`tables`] shows the measured values next to the published ones, [`figures`] draws the paper's
//! figures, and [`curves`] plots the measured errors. [`flare`] is a benchmark of other authors. A [`Problem`] is a task or a grammar, and a model is anything
//! that implements [`Estimator`].

pub mod curves;
mod diagrams;
mod drawing;
pub mod estimator;
mod experiment;
pub mod figures;
pub mod flare;
pub mod models;
mod problem;
pub mod record;
mod spec;
pub mod tables;
mod test_set;

pub use estimator::{Choice, Estimator, EstimatorError, Prepared, Space, Trained};
pub use experiment::{Experiment, ExperimentError, Progress, Shard};
pub use problem::Problem;
pub use record::{Line, RecordError, RecordFile, merge};
pub use spec::{Specification, SpecificationError, Sweep};
pub use test_set::TestSet;
