//! Lexers: texts to tokens.

use pyo3::prelude::*;

use crate::errors::Kind;

/// A lexer in Lex's syntax.
#[pyclass(module = "echostack._native", frozen)]
pub(crate) struct Lexer(echostack_grammar::Lexer);

#[pymethods]
impl Lexer {
    #[new]
    fn new(source: &str) -> PyResult<Self> {
        Ok(Self(echostack_grammar::Lexer::new(source).map_err(|error| Kind::Grammar.error(error))?))
    }

    /// The tokens of a text: name, first character, and the one after the last; and the character that begins no token.
    fn tokens(&self, text: &str) -> (Vec<(String, usize, usize)>, Option<usize>) {
        let (lexemes, bad) = self.0.tokens(text);
        // Places are counted in bytes there, and in characters in Python. They only go up.
        let (mut byte, mut character) = (0, 0);
        let mut place = |at: usize| {
            character += text[byte..at].chars().count();
            byte = at;
            character
        };
        let tokens =
            lexemes.iter().map(|lexeme| (lexeme.name.to_string(), place(lexeme.start), place(lexeme.end))).collect();
        (tokens, bad.map(place))
    }
}
