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

mod export;
mod generate;
mod grammar;
mod judge;
mod learn;
mod lex;
mod lr;
mod meaning;
mod rules;
mod subject;
mod text;
mod yacc;

pub use export::{Export, ExportError, Notation};
pub use grammar::Grammar;
pub use judge::{Fault, FaultKind, Judge, JudgeError, Judgement, Parsed, ParsedNode};
pub use learn::{Goal, LearnError, LearnEvent, Learned, Learning, Test};
pub use lex::lexer::Lexer;
pub use lex::tokenizer::{LexFault, Lexeme, Tokens};
pub use lr::encode::Encoding;
pub use lr::table::{Action, LrTable};
pub use rules::Production;
pub use subject::{Subject, SubjectError, parse_task};
pub use text::error::{GrammarError, LexerError, Warning};
pub use text::limits::GrammarLimits;
pub use text::place::Place;
