//! Grammars as teachers: a grammar in Yacc's syntax becomes an automaton of ours, words to learn from, and a lexer.
//!
//! **For** people who have a grammar and want a machine that learned it. The grammar is read and its LR(1) table is built by
//! grmtools; everything after that is about machines: how the table becomes [rules](Encoding), how [words](Grammar) are drawn,
//! and how a conflict is told in words.
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

mod build;
mod conflict;
mod count;
mod encode;
mod error;
mod grammar;
mod judge;
mod lexer;
mod probe;
mod subject;
mod table;

pub use encode::{Encoding, UnknownEncoding};
pub use error::{GrammarError, MAX_SYMBOLS};
pub use grammar::Grammar;
pub use judge::{Fault, Judge, JudgeError, Judgement, Tokens};
pub use lexer::{Lexeme, Lexer, LexerError, Place, place};
pub use subject::{Subject, SubjectError, parse_task};
pub use table::{Action, LrTable, Production};
