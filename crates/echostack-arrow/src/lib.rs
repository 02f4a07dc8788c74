//! Reservoir stack machines and their tables over Apache Arrow arrays: columns of words in, verdicts out.
//!
//! A word is a list of tokens (names, or numbers of terminals) or a text, whose tokens are its characters or what the model's lexer makes of
//! it. A [`Judge`] is a machine or a table with its lexer; [`Judge::words`] reads a column, [`Judge::judge`] judges it.
//!
//! ```
//! use arrow_array::{StringArray, Array};
//! use echostack::{Limits, Oracle, Table, tasks::Task};
//! use echostack_arrow::{Judge, verdicts};
//! let table = Table::new(&Oracle::strict(Task::Anbn.automaton().unwrap())?, Default::default())?;
//! let judge = Judge::new(table.into())?;
//! let words = judge.words(&StringArray::from(vec![Some("aabb"), Some("abab"), None]))?;
//! let verdicts = verdicts(&judge.judge(&words, Limits::default()));
//! assert_eq!((verdicts.len(), verdicts.null_count()), (3, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod judge;
mod words;

pub use judge::{Judge, POSITION, VERDICT, action_list, verdict_fields, verdicts};
pub use words::{Words, WordsError};
