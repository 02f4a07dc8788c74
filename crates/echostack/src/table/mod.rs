//! An automaton as a table that runs as fast as a parser, in memory or as generated source code.

mod fuse;
mod scan;
mod source;
#[expect(clippy::module_inception, reason = "the table itself")]
mod table;

pub use scan::Scanner;
pub use source::{SourceError, SourceLanguage};
pub use table::{State, Table, TableStack};
