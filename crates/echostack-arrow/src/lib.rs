//! Reservoir stack machines and their tables over Apache Arrow arrays.
//!
//! A word is a list of tokens (names or numbers of terminals) or a text. The tokens of a text are its characters, or
//! the tokens that the model's lexer finds in it. [`Words::read`] reads a column for a
//! [`Judge`](echostack_grammar::Judge), which is a model with its lexer, and [`Words::judge`] judges it.
//!
//! ```
//! use arrow_array::{Array, StringArray};
//! use echostack::{Limits, Oracle, Table, tasks::Task};
//! use echostack_arrow::{Words, verdicts};
//! use echostack_grammar::Judge;
//! let table = Table::new(&Oracle::strict(Task::Anbn.automaton().unwrap())?, Default::default())?;
//! let judge = Judge::new(table.into())?;
//! let words = Words::read(&StringArray::from(vec![Some("aabb"), Some("abab"), None]), &judge)?;
//! let verdicts = verdicts(&words.judge(&judge, Limits::default()));
//! assert_eq!((verdicts.len(), verdicts.null_count()), (3, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod judge;
mod words;

pub use judge::{POSITION, VERDICT, action_list, verdict_fields, verdicts};
pub use words::{Words, WordsError};
