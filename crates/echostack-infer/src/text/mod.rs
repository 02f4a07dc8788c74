//! From texts to words: characters, classes of characters and tokens, short examples, and what opens and closes.

pub(crate) mod categories;
pub(crate) mod charset;
pub(crate) mod classes;
pub(crate) mod shrink;
pub(crate) mod symbols;
pub(crate) mod tags;
pub(crate) mod teacher;
