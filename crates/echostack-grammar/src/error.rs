//! The errors that grammars can have.

use echostack::automaton::AutomatonError;

use crate::lexer::LexerError;

/// The reason why a grammar was rejected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// A file could not be read.
    #[error("could not read {path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// The error of the operating system. It is part of the message, and therefore not reported again as the
        /// source.
        error: std::io::Error,
    },
    /// The text is not a valid grammar.
    #[error("{0}")]
    Syntax(String),
    /// The grammar is ambiguous, or needs more than one token of lookahead.
    #[error("{0}")]
    Conflict(String),
    /// The grammar has too many symbols or states.
    #[error("the grammar needs {0} states and symbols, but at most {MAX_SYMBOLS} are possible")]
    TooLarge(usize),
    /// The start rule can derive itself, so that a word has infinitely many derivations.
    #[error("the start rule {0} can derive itself alone; its words would have infinitely many readings")]
    Cyclic(String),
    /// Some nonterminals derive no word.
    #[error(
        "no word can be derived from {}: every production contains such a nonterminal; \
         add a production without one, or remove the nonterminals",
        .0.join(", ")
    )]
    Unproductive(Vec<String>),
    /// Precedences forbid every continuation of some prefixes of words, and it would take too long to compute which
    /// ones.
    #[error(
        "the precedences forbid every continuation of {0:?}, although the rules allow some, \
         and there are too many such stacks to compute; rewrite the rules without these precedences"
    )]
    DeadEnds(String),
    /// The suffix encoding was requested, but stack suffixes do not decide what to do.
    #[error("no suffix of the stack, however long, decides what to do in this grammar; use the state encoding")]
    NotBySuffix,
    /// The suffix encoding was requested, but there are too many states, rules or viable stacks for it.
    #[error("the suffix encoding would be too large for this grammar; use the state encoding")]
    LargeBySuffix,
    /// The automaton was rejected.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
    /// The lexer was rejected.
    #[error(transparent)]
    Lexer(#[from] LexerError),
}

/// The maximum number of symbols and states of a grammar.
pub const MAX_SYMBOLS: usize = 1 << 14;
