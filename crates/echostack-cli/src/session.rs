//! The options of all commands, and what is opened under them.

use std::path::Path;

use anyhow::{Context, Result};
use echostack::file::FileLimits;
use echostack::{Control, Machine, Model};
use echostack_grammar::{Encoding, GrammarLimits, Judge, Subject};

use crate::output::note;
use crate::progress::Bar;

/// The options of all commands, as given on the command line.
#[derive(Clone, Copy)]
pub(crate) struct Session {
    /// Whether to print only errors, and to show no progress.
    pub(crate) quiet: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) model_limits: Option<FileLimits>,
    pub(crate) grammar_limits: Option<GrammarLimits>,
}

impl Session {
    /// Begins to show the progress of a command.
    pub(crate) fn bar(&self) -> Bar {
        Bar::new(self.quiet)
    }

    /// Loads a machine or a table.
    pub(crate) fn load_model(&self, path: &Path) -> Result<Model> {
        let model = Model::load_within(path, &self.model_limits.unwrap_or_default());
        model.with_context(|| format!("could not read the model or table {}", path.display()))
    }

    /// Loads a machine.
    pub(crate) fn load_machine(&self, path: &Path) -> Result<Machine> {
        machine_of(&self.load_model(path)?, path)
    }

    /// Opens a model with its lexer, or without it if the input consists of tokens.
    pub(crate) fn open_judge(&self, path: &Path, tokens: bool) -> Result<Judge> {
        let model = self.load_model(path)?;
        if tokens {
            return Ok(Judge::without_lexer(model));
        }
        Judge::new(model).context("the model's lexer is not valid")
    }

    /// Returns the limits on grammars and lexers.
    pub(crate) fn grammar_limits(&self) -> GrammarLimits {
        self.grammar_limits.unwrap_or_default()
    }

    /// Opens what a model is compared with, like [`Subject::named`].
    pub(crate) fn open_subject(&self, name: &str, encoding: Encoding, control: &dyn Control) -> Result<Subject> {
        Ok(Subject::named(name, encoding, &self.grammar_limits(), control)?)
    }

    /// Opens a grammar and its lexer, like [`Subject::open_grammar_within`].
    pub(crate) fn open_grammar(&self, path: &Path, encoding: Encoding) -> Result<Subject> {
        Ok(Subject::open_grammar_within(path, encoding, &self.grammar_limits())?)
    }

    /// Prints what is suspicious about a grammar and its lexer.
    pub(crate) fn warn_of(&self, subject: &Subject) {
        if !self.quiet {
            subject.warnings().iter().for_each(|warning| note(format_args!("warning: {warning}")));
        }
    }
}

/// Returns the machine that a model is, or an error if its file contains a table.
pub(crate) fn machine_of(model: &Model, path: &Path) -> Result<Machine> {
    let machine = model.machine().cloned();
    machine.with_context(|| format!("{} is the file of a table, but a machine is needed", path.display()))
}
