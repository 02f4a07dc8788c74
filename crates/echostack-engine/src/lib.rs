//! Reservoir stack machines and their tables on [Apache DataFusion](datafusion), in one process or on a cluster.
//!
//! [`Models`] are machines and tables under the names that queries know them by; [`register`] gives a session the functions
//!
//! - `echostack_verdict('name', words)`: a struct of the verdict (accept, incomplete, reject, stopped) and the position of the token
//!   that cannot stand where it stands;
//! - `echostack_accepts('name', words)`: whether a word is in the language;
//! - `echostack_actions('name', words)`: what the machine does to its stack, as a list.
//!
//! Words are lists of names, lists of numbers of terminals, or texts. [`Scoring`] judges files of them, part by part; [`contexts`] counts
//! what a corpus of traces teaches.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//! use echostack::{Oracle, Table, tasks::Task};
//! use echostack_engine::{Models, register};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let table = Table::new(&Oracle::strict(Task::Anbn.automaton().unwrap())?, Default::default())?;
//! let mut models = Models::default();
//! models.add("anbn", &table.to_bytes()?, None)?;
//! let session = SessionContext::new();
//! register(&session, &models);
//! let answer = session.sql("SELECT echostack_verdict('anbn', 'aabbb') AS answer").await?;
//! assert!(answer.to_string().await?.contains("{verdict: reject, position: 4}"));
//! # Ok(())
//! # }
//! ```

mod carry;
mod cluster;
mod contexts;
mod functions;
mod lost;
mod models;
mod query;
mod rows;
mod score;
mod stores;
mod traces;

pub use cluster::{Executor, Scheduler, connect};
pub use contexts::{Found, contexts};
pub use functions::{Question, function, register};
pub use models::Models;
pub use query::Progress;
pub use score::{Counts, Scoring, Summary};
pub use stores::runtime;
pub use traces::TraceWriter;
