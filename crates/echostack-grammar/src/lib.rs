//! From an old parser and a folder of files to a grammar you can read, and a recognizer that is proved, compiled and
//! exported: this crate has the grammars, the lexers, and the exports.
//!
//! It turns grammars in Yacc syntax into automata and words that reservoir stack machines can learn from, and lexers that
//! split texts into tokens.
//!
//! This crate is for people who have a grammar and want a machine that has learned it. It reads the grammar as it was
//! written for Yacc or bison, and grmtools computes its LR(1) states. The table is then [encoded](Encoding) as rules,
//! [words](Grammar) are drawn, and conflicts are explained.
//!
//! ```
//! use echostack::{Oracle, Recognizer, Verdict};
//! use echostack::language::Language;
//! use echostack_grammar::{Encoding, Grammar};
//!
//! let grammar = Grammar::new("lists", "%start L\n%%\nL: '[' ']' | '[' E ']';\nE: 'x' | E ',' 'x';\n", Encoding::Auto)?;
//! let oracle = Oracle::strict(grammar.automaton().clone())?;
//! let word = grammar.automaton().alphabet().word("[ x , x ]".split(' '))?;
//! assert_eq!(oracle.judge(&word), Verdict::Accept);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//! - `machine` (default): the feature of the same name of `echostack`. Without it, models are tables. A [`Judge`] reads
//!   texts with a table and its lexer, and a [`Subject`] can be made into a table, exported, and generated as source code.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod action;
mod bits;
mod build;
mod canonical;
mod code;
mod conflict;
mod count;
mod dfa;
mod encode;
mod error;
mod export;
mod flex;
mod generate;
mod grammar;
mod judge;
mod lex;
mod lexer;
mod limits;
mod lr;
#[cfg(test)]
mod meaning;
mod pattern;
mod place;
mod precedence;
mod probe;
mod reading;
mod recover;
mod resolve;
mod rules;
mod scan;
mod source;
mod stream;
mod subject;
mod table;
mod tokenizer;
mod translation;
mod trim;
mod yacc;

pub use encode::Encoding;
pub use error::{GrammarError, LexerError, Warning};
pub use export::{Export, ExportError, Notation};
pub use grammar::Grammar;
pub use judge::{Fault, FaultKind, Judge, JudgeError, Judgement};
pub use lexer::Lexer;
pub use limits::GrammarLimits;
pub use place::Place;
pub use rules::Production;
pub use subject::{Subject, SubjectError, parse_task};
pub use table::{Action, LrTable};
pub use tokenizer::{LexFault, Lexeme, Tokens};
