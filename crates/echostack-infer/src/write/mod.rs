//! From a hypothesis to a grammar and a lexer: tokens in place of characters, regular expressions, and names.

pub(crate) mod contract;
pub(crate) mod export;
pub(crate) mod grammar;
pub(crate) mod names;
pub(crate) mod readable;
pub(crate) mod regex;
