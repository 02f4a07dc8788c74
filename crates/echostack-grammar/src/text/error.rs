//! The errors and warnings about grammars.

use std::fmt;

use echostack::automaton::AutomatonError;

use super::place::Place;

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
    /// The grammar has no LR(1) table of a size that can be computed.
    #[error("no LR(1) table could be built: {0}")]
    Table(String),
    /// The grammar exceeds a limit.
    #[error("the grammar has {given} {what} or more; the limit is {most}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How many there are at least.
        given: u64,
        /// The limit.
        most: u64,
    },
    /// A nonterminal can derive itself, so that a word has infinitely many derivations.
    #[error(
        "{0} can derive itself alone, so that words would have infinitely many readings; \
         remove the production that leads back to it"
    )]
    Cyclic(String),
    /// The start symbol derives no word.
    #[error("the start symbol {0} derives no word, because no derivation from it ends; add a production that ends one")]
    Empty(String),
    /// The resolution of conflicts forbids every continuation of some prefixes of words, perhaps, and it would take too
    /// long to compute which ones.
    #[error(
        "the resolution of conflicts may forbid every continuation of some prefixes, and there are too many stacks to \
         compute which ones; rewrite the rules so that they have fewer conflicts"
    )]
    DeadEnds,
    /// The resolution of conflicts makes the parser reduce forever.
    #[error(
        "conflicts are resolved so that a parser would reduce to {0} forever without reading anything; \
         rewrite the rules so that they have no conflicts"
    )]
    Endless(String),
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
    #[error("{path}:{}{error}", if error.has_place { "" } else { " " })]
    Lexer {
        /// The file.
        path: String,
        /// The error. It is part of the message, and therefore not reported again as the source.
        error: LexerError,
    },
}

/// The reason why a lexer was rejected.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct LexerError {
    message: String,
    /// Whether the message begins with a line and a column.
    has_place: bool,
}

impl LexerError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), has_place: false }
    }

    /// Creates an error at a byte of the lexer's text.
    pub(crate) fn at(source: &str, byte: usize, message: &str) -> Self {
        let place = Place::new(source, byte);
        let message = format!("{}:{}: {message}\n{}", place.line, place.column, place.excerpt());
        Self { message, has_place: true }
    }
}

impl GrammarError {
    /// Checks that there is not more of something than a limit allows.
    pub(crate) fn within(what: &'static str, given: usize, most: u64) -> Result<(), Self> {
        let given = given as u64;
        if given <= most { Ok(()) } else { Err(Self::Limit { what, given, most }) }
    }

    /// Returns whether the message begins with the path of a file.
    pub(crate) fn names_file(&self) -> bool {
        matches!(self, Self::Syntax(_) | Self::Lexer { .. })
    }
}

/// Something in a grammar or lexer that is probably not intended.
///
/// It displays as a sentence, after the file, line and column if it is about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(String);

impl Warning {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The maximum number of names in a list.
const MAX_LISTED: usize = 12;

/// Lists names in a sentence.
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_string(),
        [most @ .., last] if names.len() <= MAX_LISTED => format!("{} and {last}", most.join(", ")),
        _ => format!("{} and {} others", names[..MAX_LISTED].join(", "), names.len() - MAX_LISTED),
    }
}
