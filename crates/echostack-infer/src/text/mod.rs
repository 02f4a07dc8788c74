//! From texts to words: characters, classes of characters and tokens, short examples, and what opens and closes.

pub(crate) mod categories;
pub(crate) mod charset;
pub(crate) mod classes;
mod narrow;
mod runs;
pub(crate) mod shrink;
mod splice;
pub(crate) mod symbols;
pub(crate) mod tags;
pub(crate) mod teacher;
