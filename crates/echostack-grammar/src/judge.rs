//! Models together with their lexers, which judge texts as well as words.

use std::path::Path;
use std::sync::Arc;

use echostack::file::FileError;
use echostack::recognize::{Observer, Status};
use echostack::symbol::Input;
use echostack::{Alphabet, Limits, Model, Recognizer, Session, SymbolId, Verdict};

use crate::lexer::{Lexeme, Lexer, LexerError};

/// The reason why a [`Judge`] could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// The file could not be read, or is not a model file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The lexer that the model was made with is invalid.
    #[error("the model's lexer is faulty: {0}")]
    Lexer(LexerError),
}

/// A model together with the lexer that it was made with, if there is one.
///
/// ```
/// use echostack::{Manifest, Oracle, Table, tasks::Task};
/// use echostack_grammar::Judge;
/// let table = Table::new(&Oracle::strict(Task::Anbn.automaton().unwrap())?, Manifest::default())?;
/// let judge = Judge::new(table.into())?;
/// let tokens = judge.tokens("aabb");
/// assert!(judge.judge_lexemes(&tokens, Default::default(), &mut ()).verdict.is_accept());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Judge {
    model: Model,
    lexer: Option<Lexer>,
}

/// The tokens of a text up to the first byte at which no token begins, and that byte, if there is one.
pub type Tokens<'a> = (Vec<Lexeme<'a>>, Option<usize>);

/// The verdict on a text, and the place where the text goes wrong.
#[derive(Clone, Debug)]
pub struct Judgement<'a> {
    /// The verdict.
    pub verdict: Verdict,
    /// The place where the text goes wrong; `None` if it does not go wrong before its end.
    pub fault: Option<Fault<'a>>,
}

/// The place where a text goes wrong.
#[derive(Clone, Copy, Debug)]
pub enum Fault<'a> {
    /// The model rejects this token, or reaches a limit on it.
    Token(Lexeme<'a>),
    /// No token begins at this byte.
    Byte(usize),
}

impl Judge {
    /// Creates a judge from a model and the lexer in the model's manifest, if there is one.
    ///
    /// # Errors
    /// If the lexer is invalid.
    pub fn new(model: Model) -> Result<Self, LexerError> {
        let lexer = model.manifest().lexer().map(Lexer::new).transpose()?;
        Ok(Self { model, lexer })
    }

    /// Creates a judge without a lexer, even if the model was made with one.
    pub fn without_lexer(model: Model) -> Self {
        Self { model, lexer: None }
    }

    /// Loads a judge from the file of a machine or table.
    ///
    /// # Errors
    /// If the file cannot be read or is not a model file, or if the model's lexer is invalid.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JudgeError> {
        Self::new(Model::load(path)?).map_err(JudgeError::Lexer)
    }

    /// Loads a judge from the bytes of the file of a machine or table.
    ///
    /// # Errors
    /// If the bytes are not a model file, or if the model's lexer is invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JudgeError> {
        Self::new(Model::from_bytes(bytes)?).map_err(JudgeError::Lexer)
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the symbols that the model reads and pushes.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        self.model.alphabet()
    }

    /// Returns whether a lexer splits texts into tokens. Otherwise, each character is a token.
    pub fn has_lexer(&self) -> bool {
        self.lexer.is_some()
    }

    /// Splits a text into tokens.
    pub fn tokens<'a>(&'a self, text: &'a str) -> Tokens<'a> {
        if let Some(lexer) = &self.lexer {
            return lexer.tokens(text);
        }
        let one = |(start, letter): (usize, char)| {
            let end = start + letter.len_utf8();
            Lexeme { name: &text[start..end], start, end }
        };
        (text.char_indices().map(one).collect(), None)
    }

    /// Appends the tokens of a text to a list of symbols. Anything that is not a token becomes [`SymbolId::UNKNOWN`].
    pub fn add_symbols(&self, text: &str, symbols: &mut Vec<SymbolId>) {
        if let Some(lexer) = &self.lexer {
            let (lexemes, bad) = lexer.tokens(text);
            symbols.extend(lexemes.iter().map(|lexeme| self.symbol(lexeme.name)));
            symbols.extend(bad.map(|_| SymbolId::UNKNOWN));
        } else {
            let mut buffer = [0; 4];
            symbols.extend(text.chars().map(|letter| self.symbol(letter.encode_utf8(&mut buffer))));
        }
    }

    /// Judges the tokens of a text, and reports each step to an observer.
    pub fn judge_lexemes<'a>(
        &self,
        (lexemes, bad): &Tokens<'a>,
        limits: Limits,
        watch: &mut dyn Observer,
    ) -> Judgement<'a> {
        let mut session = self.model.start(limits);
        for lexeme in lexemes {
            if session.feed(Input::Symbol(self.symbol(lexeme.name)), watch) != Status::Open {
                return Judgement { verdict: session.finish(watch), fault: Some(Fault::Token(*lexeme)) };
            }
        }
        if bad.is_some() {
            session.feed(Input::Symbol(SymbolId::UNKNOWN), watch);
        }
        Judgement { verdict: session.finish(watch), fault: bad.map(Fault::Byte) }
    }

    fn symbol(&self, name: &str) -> SymbolId {
        self.alphabet().symbol(name).unwrap_or(SymbolId::UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, Grammar};
    use echostack::language::Language;
    use echostack::{Manifest, Oracle, Table};

    fn bytes(lexer: &str) -> Vec<u8> {
        let grammar = Grammar::new("sums", "%start S\n%%\nS: S '+' 'n' | 'n';\n", Encoding::Auto).unwrap();
        let mut manifest = Manifest::default();
        manifest.set_lexer(lexer);
        let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
        Table::new(&oracle, manifest).unwrap().to_bytes().unwrap()
    }

    #[test]
    fn texts_are_judged_by_their_tokens() {
        let judge = Judge::from_bytes(&bytes("%%\n[0-9]+ \"n\"\n\\+ \"+\"\n[ ]+ ;\n")).unwrap();
        let judged = |text: &str| {
            let judgement = judge.judge_lexemes(&judge.tokens(text), Limits::default(), &mut ());
            let fault = judgement.fault.map(|fault| match fault {
                Fault::Token(lexeme) => lexeme.start,
                Fault::Byte(byte) => byte,
            });
            (judgement.verdict.name(), fault)
        };
        assert_eq!(judged("12 + 3"), ("accept", None));
        assert_eq!(judged("12 +"), ("incomplete", None));
        assert_eq!(judged("12 3"), ("reject", Some(3)));
        assert_eq!(judged("12 + x"), ("reject", Some(5)));

        let mut symbols = Vec::new();
        judge.add_symbols("1 + x", &mut symbols);
        assert_eq!(symbols[2], SymbolId::UNKNOWN);
        let letters = Judge::without_lexer(judge.model().clone());
        let (lexemes, fault) = letters.tokens("n+é");
        assert_eq!((lexemes[2].name, lexemes[2].end, fault), ("é", 4, None));
    }

    #[test]
    fn a_faulty_lexer_is_an_error() {
        let error = Judge::from_bytes(&bytes("no lexer")).unwrap_err();
        assert!(error.to_string().starts_with("the model's lexer is faulty: "), "{error}");
    }
}
