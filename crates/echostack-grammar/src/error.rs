//! Why a grammar was refused.

use echostack::automaton::AutomatonError;

use crate::lexer::LexerError;

/// Why a grammar was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// A file could not be read.
    #[error("could not read {path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why; told above, and so no cause of its own.
        error: std::io::Error,
    },
    /// The text is no grammar.
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
    /// Nonterminals derive no word.
    #[error(
        "no word can be derived from {}: every production needs another such nonterminal, or itself; \
         add one that comes to an end, or leave them out",
        .0.join(", ")
    )]
    Unproductive(Vec<String>),
    /// Precedences forbid every continuation of some beginnings of words, and which ones is too much to compute.
    #[error(
        "the precedences forbid every continuation of {0:?}, although the rules have some; \
         and too many stacks are like that to tell them apart: write the rules without such precedences"
    )]
    DeadEnds(String),
    /// The suffixes of the stack do not decide, but they were asked for.
    #[error("no suffix of the stack, however long, decides what to do in this grammar; use the state encoding")]
    NotBySuffix,
    /// Suffixes would decide, but with too many rules, or too many viable stacks.
    #[error("the rules with suffixes of the stack would be too many for this grammar; use the state encoding")]
    LargeBySuffix,
    /// The automaton is faulty.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
    /// The lexer is faulty.
    #[error(transparent)]
    Lexer(#[from] LexerError),
}

/// The most symbols and states of a grammar.
pub const MAX_SYMBOLS: usize = 1 << 14;
