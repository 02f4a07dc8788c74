//! From the text of a grammar, in the syntax of Yacc and bison, to its rules.
//!
//! `reading.rs` goes the whole way: `tokens.rs` and `code.rs` split the text, `parser.rs` reads its declarations and rules,
//! `resolve.rs` gives numbers to the names, and `trim.rs` leaves out what no word needs. The result is [`Rules`](crate::rules::Rules).

pub(crate) mod code;
pub(crate) mod parser;
pub(crate) mod reading;
pub(crate) mod resolve;
pub(crate) mod tokens;
pub(crate) mod trim;
