//! Automata compiled to tables that run as fast as a parser, in memory or as generated source code.

mod compiled;
mod frames;
mod fuse;
mod lanes;
mod rows;
mod scan;
mod segments;
mod sound;
mod source;
mod stacks;

pub use compiled::{Table, TableStack};
pub use lanes::Lanes;
pub use rows::State;
pub use scan::Scanner;
pub use source::{Prefix, Source, SourceError, SourceLanguage, SourceOptions};
