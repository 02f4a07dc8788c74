//! What a machine is, as an automaton: read back out of it, with no automaton given; and the automaton as a table that runs as
//! fast as a parser; and the way back, a machine made from an automaton without learning.

mod construct;
mod extract;
mod fuse;
mod grammar;
mod rules;
mod scan;
mod source;
mod table;

pub use construct::{ConstructError, construct};
pub use extract::{ExtractError, Extraction, Undecided, extract};
pub use grammar::{Notation, Part, WordGrammar};
pub use scan::Scanner;
pub use source::{SourceError, SourceLanguage};
pub use table::{State, Table, TableStack};
