//! Lexers: how a text is split into tokens.
//!
//! `file.rs` and `flex.rs` read the two syntaxes of lexer files, with `pattern.rs` for flex's regular expressions and
//! `action.rs` for what its actions return. `dfa.rs` compiles the rules, `lexer.rs` is the lexer, and `tokenizer.rs` runs it.

pub(crate) mod action;
pub(crate) mod dfa;
pub(crate) mod file;
pub(crate) mod flex;
pub(crate) mod lexer;
pub(crate) mod pattern;
pub(crate) mod tokenizer;
