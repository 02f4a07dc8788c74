//! Grammars in the syntax of Yacc and bison, and lexers in that of Lex and flex, for reservoir stack machines and tables.
//!
//! A [`Grammar`] is read as it was written for Yacc or bison; its LR(1) table is [encoded](Encoding) as rules, words are
//! drawn from it, and conflicts are explained. A [`Subject`] is a task, a grammar or an automaton: it is
//! [learned](Subject::learn) by a machine, with a proof, or [compiled](Subject::table) to a table. A [`Judge`] is a
//! machine or a table with its lexer: it [checks](Judge::check) and [parses](Judge::parse) texts.
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

mod compare;
mod export;
mod generate;
mod grammar;
mod judge;
#[cfg(feature = "machine")]
mod learn;
mod lex;
mod lr;
mod meaning;
mod rules;
mod subject;
mod text;
mod texts;
mod yacc;

pub use compare::{Equality, equality};
pub use export::{Export, ExportError, Exported, Notation};
pub use grammar::Grammar;
pub use judge::{Fault, FaultKind, Judge, JudgeError, Judgement, Parsed, ParsedNode, sexpr_atom};
#[cfg(feature = "machine")]
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
pub use texts::{Cover, Coverage, Covering, SampledText, TextEdit, TextKind, TextParams, TextSampler, TooManyPairs};
