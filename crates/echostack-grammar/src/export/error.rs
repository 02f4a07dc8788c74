//! The errors of exports.

use echostack::automaton::AutomatonError;

/// The reason why a grammar cannot be written in a notation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The automaton is too large.
    #[error("the automaton could not be turned into a grammar")]
    Automaton(#[from] AutomatonError),
    /// The conflicts of the grammar cannot be resolved in rules of a reasonable size.
    #[error(
        "the grammar's conflicts cannot be resolved by its rules alone: {0}; the format yacc keeps its precedences"
    )]
    Levels(String),
    /// The grammar or the lexer is too large.
    #[error("the grammar would have too many rules in this notation")]
    TooLarge,
    /// There is no lexer.
    #[error("the model has no lexer, because it reads tokens and not texts")]
    NoLexer,
    /// The lexer has a start state that is not a single token.
    #[error(
        "the start state {0} of the lexer is more than a regular expression: {1}; the formats yacc and flex can express it"
    )]
    StartStates(String, String),
    /// A text of each of two lexer rules is the beginning of a text of the other.
    #[error(
        "Lark tries the rules of a lexer one after the other, but neither {0} nor {1} can come first: each has a text \
         that begins with a text of the other"
    )]
    Order(String, String),
    /// An expression matches less if its alternatives are tried in order.
    #[error(
        "Lark takes the first alternative that matches, but in the rule for {0} a later one can be longer; put the \
         longer one first"
    )]
    Alternatives(String),
}
