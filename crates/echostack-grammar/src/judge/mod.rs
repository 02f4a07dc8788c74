//! Models together with their lexers, which judge texts as well as words.

mod hints;
mod judgement;
mod parse;
mod recover;
mod stream;

use std::path::Path;
use std::sync::Arc;

use echostack::certify::CertifyError;
use echostack::file::FileError;
use echostack::recognize::{Observer, Status};
use echostack::symbol::Input;
use echostack::{Alphabet, Certificate, Limits, Model, Recognizer, Session, SymbolId, Verdict};

use self::hints::Hints;
use self::judgement::MAX_TOKEN;
pub use self::judgement::{Fault, FaultKind, Judgement};
pub use self::parse::{Parsed, ParsedNode, sexpr_atom};
use crate::lex::lexer::Lexer;
use crate::lex::tokenizer::{Lexeme, Tokens};
use crate::lr::encode::Encoding;
use crate::subject::{Subject, SubjectError};
use crate::text::error::LexerError;

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
    /// The grammar cannot be used, or its table would be too large.
    #[error(transparent)]
    Subject(#[from] SubjectError),
}

/// A model together with the lexer that it was made with, if there is one.
///
/// ```
/// use echostack::{Manifest, Oracle, Table, tasks::Task};
/// use echostack_grammar::Judge;
/// let table = Table::new(&Oracle::strict(Task::Anbn.automaton().unwrap())?, Manifest::default())?;
/// let judge = Judge::new(table.into())?;
/// judge.check("aabb")?;
/// let message = judge.check("aab").unwrap_err().to_string();
/// assert_eq!(message.lines().next(), Some("1:4: unexpected end, expected b"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Judge {
    model: Model,
    lexer: Option<Lexer>,
    /// The symbol of each of the lexer's names.
    symbols: Vec<SymbolId>,
    hints: Arc<Hints>,
}

impl Judge {
    /// Creates a judge from a model and the lexer in the model's manifest, if there is one.
    ///
    /// # Errors
    /// If the lexer is invalid.
    pub fn new(model: Model) -> Result<Self, LexerError> {
        let lexer = model.manifest().lexer().map(Lexer::new).transpose()?;
        let names = lexer.as_ref().map_or(&[][..], Lexer::names);
        let symbols = names.iter().map(|name| model.alphabet().symbol(name).unwrap_or(SymbolId::UNKNOWN)).collect();
        let hints = Arc::new(model.manifest().grammar().map(Hints::of).unwrap_or_default());
        Ok(Self { model, lexer, symbols, hints })
    }

    /// Creates a judge without a lexer, even if the model was made with one.
    pub fn without_lexer(model: Model) -> Self {
        Self { model, lexer: None, symbols: Vec::new(), hints: Arc::default() }
    }

    /// Opens a grammar, a table or a machine. A [grammar](Subject::is_grammar) is compiled to a table, which needs no
    /// training.
    ///
    /// # Errors
    /// If a file cannot be read or is not valid, or if the model's lexer is invalid.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JudgeError> {
        let path = path.as_ref();
        if !Subject::is_grammar(path) {
            return Self::new(Model::load(path)?).map_err(JudgeError::Lexer);
        }
        let table = Subject::open_grammar(path, Encoding::Auto)?.table(&())?;
        Self::new(table.into()).map_err(JudgeError::Lexer)
    }

    /// Loads a judge from the bytes of the file of a machine or table.
    ///
    /// # Errors
    /// If the bytes are not a model file, or if the model's lexer is invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JudgeError> {
        Self::new(Model::from_bytes(bytes)?).map_err(JudgeError::Lexer)
    }

    /// Checks that a certificate is about this judge: about its model and, if texts are split into tokens by a lexer,
    /// about the lexer. Whether the claims of the certificate are true is for `certify` to verify.
    ///
    /// # Errors
    /// [`CertifyError::Refused`] if the certificate is about something else.
    pub fn check_certificate(&self, certificate: &Certificate) -> Result<(), CertifyError> {
        self.model.check_certificate(certificate)?;
        match &self.lexer {
            Some(lexer) => certificate.check_lexer(Some(lexer.source())),
            None => Ok(()),
        }
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
            let done = lexer.add_symbols(text, &self.symbols, symbols);
            symbols.extend(done.err().map(|_| SymbolId::UNKNOWN));
        } else {
            let mut buffer = [0; 4];
            symbols.extend(text.chars().map(|letter| self.symbol(letter.encode_utf8(&mut buffer))));
        }
    }

    /// Checks a text: whether the model accepts it.
    ///
    /// # Errors
    /// If it does not. The judgement says where and why; [`Display`](std::fmt::Display) shows it with the line of the
    /// text.
    pub fn check(&self, text: &str) -> Result<(), Box<Judgement>> {
        let judgement = self.judge_bytes(text.as_bytes(), Limits::default());
        if judgement.verdict.is_accept() { Ok(()) } else { Err(Box::new(judgement)) }
    }

    /// Judges a text that was split into tokens by [`Judge::tokens`], and reports each step to an observer.
    pub fn judge_tokens(
        &self,
        text: &str,
        (lexemes, fault): &Tokens<'_>,
        limits: Limits,
        watch: &mut dyn Observer,
    ) -> Judgement {
        let mut session = self.model.start(limits);
        for lexeme in lexemes {
            if session.feed(Input::Symbol(self.symbol(lexeme.name)), watch) != Status::Open {
                let own = text[lexeme.start..lexeme.end].chars().take(MAX_TOKEN).collect();
                let kind = FaultKind::Token { name: lexeme.name.to_string(), text: own };
                return self.judgement(session.finish(watch), Fault::new(text, lexeme.start, kind));
            }
        }
        let Some(fault) = fault else {
            let end = Fault::new(text, text.trim_end().len(), FaultKind::End);
            return self.judgement(session.finish(watch), end);
        };
        session.feed(Input::Symbol(SymbolId::UNKNOWN), watch);
        let byte = fault.byte() as usize;
        let kind = FaultKind::of(*fault, text.get(byte..).unwrap_or_default());
        self.judgement(session.finish(watch), Fault::new(text, byte, kind))
    }

    pub(crate) fn lexer(&self) -> Option<&Lexer> {
        self.lexer.as_ref()
    }

    /// Returns the symbol of each of the lexer's names.
    pub(crate) fn symbols(&self) -> &[SymbolId] {
        &self.symbols
    }

    /// Returns the judgement with a verdict; the fault counts only if the text is not accepted.
    fn judgement(&self, verdict: Verdict, fault: Fault) -> Judgement {
        let fault = (!verdict.is_accept()).then_some(fault);
        Judgement { verdict, fault, alphabet: self.alphabet().clone(), hints: self.hints.clone() }
    }

    pub(crate) fn symbol(&self, name: &str) -> SymbolId {
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
            let judgement = judge.judge_tokens(text, &judge.tokens(text), Limits::default(), &mut ());
            assert_eq!(judge.judge_stream(&mut text.as_bytes(), Limits::default()).unwrap(), judgement);
            (judgement.verdict.name(), judgement.fault.map(|fault| fault.byte))
        };
        assert_eq!(judged("12 + 3"), ("accept", None));
        assert_eq!(judged("12 +"), ("incomplete", Some(4)));
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
