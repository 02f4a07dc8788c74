//! Compiling or learning a grammar, with the same result as `echostack compile` and `echostack learn`.

use echostack::certify::Proof;
use echostack::file::FileError;
use echostack::{Certificate, Control};
use echostack_grammar::{
    Encoding, Goal, Grammar, GrammarError, Judge, LearnEvent, Learning, Lexer, LexerError, Subject, SubjectError,
};
use serde::Serialize;

/// The reason why a grammar could not be compiled or learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The grammar or its lexer cannot be used. A message with a place names the file that the command line would read.
    #[error("{file}{0}", file = if matches!(.0, GrammarError::Syntax(_)) { "grammar.y:" } else { "" })]
    Grammar(#[from] GrammarError),
    /// There is no lexer, but a terminal is not a single character.
    #[error(
        "without a lexer, each character is a token, but the grammar has the terminal {0}; write a lexer, or spell the \
         terminal out in characters"
    )]
    NoLexer(String),
    /// The lexer does not fit the grammar, or training failed.
    #[error(transparent)]
    Learn(#[from] echostack_grammar::LearnError),
    /// The grammar could not be compiled.
    #[error(transparent)]
    Subject(#[from] SubjectError),
    /// The model could not be written to a file.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A table, or a machine with the result of the search for a proof, and its file.
#[derive(Debug)]
pub struct PageModel {
    judge: Judge,
    file: Vec<u8>,
    certificate: Option<Certificate>,
    summary: Summary,
}

/// What the page tells about a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The number of states of a table; `None` for a machine.
    pub states: Option<usize>,
    /// Whether the machine is proved to follow the grammar on every word.
    pub proved: bool,
    /// What a proof covers, and what is trusted.
    pub covers: String,
    /// The number of cells: those of the proof, or those that were examined without finding one.
    pub cells: usize,
    /// The number of cells that stayed open.
    pub open: usize,
    /// The number of distinct training rows.
    pub rows: usize,
    /// What in the grammar and the lexer is probably not intended.
    pub warnings: Vec<String>,
}

impl PageModel {
    /// Returns the model with its lexer.
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// Returns the bytes of the model's file.
    pub fn file(&self) -> &[u8] {
        &self.file
    }

    /// Returns the certificate, if it is a machine that is proved.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.certificate.as_ref()
    }

    /// Returns what is known about the model.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

/// Compiles a grammar to a table, without training. Without a lexer, each character is a token.
///
/// # Errors
/// See [`PageError`].
pub fn compile(name: &str, grammar: &str, lexer: Option<&str>, control: &dyn Control) -> Result<PageModel, PageError> {
    let subject = subject(name, grammar, lexer)?;
    let table = subject.table(control)?;
    let warnings = subject.warnings().iter().map(ToString::to_string).collect();
    let summary = Summary { states: Some(table.states()), warnings, ..Summary::default() };
    let file = table.to_bytes()?;
    Ok(PageModel { judge: Judge::new(table.into()).map_err(in_lexer)?, file, certificate: None, summary })
}

/// Returns the grammar with its lexer, if texts can contain all of its terminals.
fn subject(name: &str, grammar: &str, lexer: Option<&str>) -> Result<Subject, PageError> {
    let lexer = lexer.map(Lexer::new).transpose().map_err(in_lexer)?;
    let subject = Subject::of_grammar(Grammar::new(name, grammar, Encoding::Auto)?, lexer);
    check_tokens(&subject)?;
    Ok(subject)
}

/// Learns a grammar with the defaults of the command line, and reports each round. Without a lexer, each character is a
/// token.
///
/// # Errors
/// See [`PageError`].
pub fn learn(
    name: &str,
    grammar: &str,
    lexer: Option<&str>,
    control: &dyn Control,
    report: &mut dyn FnMut(LearnEvent<'_>),
) -> Result<PageModel, PageError> {
    let subject = subject(name, grammar, lexer)?;
    let learned = subject.learn_with(&Learning { goal: Goal::Proof, ..Learning::default() }, control, report)?;
    let (cells, open) = match &learned.proof {
        Some(Proof::Proved(certificate)) => (certificate.size().cells, 0),
        Some(Proof::Open { cells, examined, .. }) => (*examined, cells.len()),
        None => (0, 0),
    };
    let certificate = learned.certificate().cloned();
    let summary = Summary {
        states: None,
        proved: certificate.is_some(),
        covers: learned.covers,
        cells,
        open,
        rows: learned.machine.lessons().actions().len(),
        warnings: subject.warnings().iter().map(ToString::to_string).collect(),
    };
    let file = learned.machine.to_bytes()?;
    Ok(PageModel { judge: Judge::new(learned.machine.into()).map_err(in_lexer)?, file, certificate, summary })
}

fn in_lexer(error: LexerError) -> GrammarError {
    GrammarError::Lexer { path: "lexer.l".to_string(), error }
}

/// Checks that, without a lexer, a text can contain every terminal.
fn check_tokens(subject: &Subject) -> Result<(), PageError> {
    if subject.lexer().is_some() {
        return Ok(());
    }
    let alphabet = subject.alphabet();
    let long = alphabet.terminals().map(|symbol| alphabet.name(symbol)).find(|name| name.chars().count() != 1);
    long.map_or(Ok(()), |name| Err(PageError::NoLexer(name.to_string())))
}
