//! Reservoir stack machines and their tables on [Apache DataFusion](datafusion), in one process or on a cluster.
//!
//! [`Models`] holds machines and tables under the names that queries use for them. [`register`] adds these functions to
//! a session:
//!
//! - `echostack_verdict('name', words)`: a struct of the verdict (accept, incomplete, reject, stopped) and the position
//!   of the token that cannot follow;
//! - `echostack_accepts('name', words)`: a Boolean, true if the word is in the language;
//! - `echostack_actions('name', words)`: the actions of the machine on its stack, as a list.
//!
//! Words are lists of token names, lists of terminal numbers, or strings. [`Scoring`] judges files of words, file by
//! file. [`contexts`] counts the distinct contexts in a corpus of traces, which are all there is to learn from it.
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

mod access;
mod cluster;
mod codec;
mod contexts;
mod functions;
mod guard;
mod inputs;
mod models;
mod query;
mod retry;
mod rows;
mod score;
mod stores;
mod tls;
mod traces;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/sql.md")]
struct Sql;

pub use access::Access;
pub use cluster::{Executor, Scheduler, connect};
pub use contexts::{Found, contexts};
pub use functions::{Question, function, register};
pub use models::Models;
pub use query::{Progress, is_address};
pub use score::{Counts, Scoring, Summary};
pub use stores::{read_object, runtime, write_object};
pub use tls::Tls;
pub use traces::TraceWriter;
