//! What all readers of grammars and lexers share: places in a text, errors and warnings that name them, and limits.

pub(crate) mod error;
pub(crate) mod limits;
pub(crate) mod place;
pub(crate) mod source;
