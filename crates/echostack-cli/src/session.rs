//! The options of all commands, and what is opened under them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use echostack::file::FileLimits;
use echostack::{Control, Machine, Model};
use echostack_grammar::{Encoding, GrammarLimits, Judge, Subject, parse_task};

use crate::output::note;
use crate::progress::Bar;

/// The options of all commands, as given on the command line.
#[derive(Clone, Copy)]
pub(crate) struct Session {
    /// Whether to print only errors, and to show no progress.
    pub(crate) quiet: bool,
    /// Whether to print details of what is done.
    pub(crate) verbose: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) model_limits: Option<FileLimits>,
    pub(crate) grammar_limits: Option<GrammarLimits>,
}

impl Session {
    /// Begins to show the progress of a command.
    pub(crate) fn bar(&self) -> Bar {
        Bar::new(self.quiet)
    }

    /// Opens a grammar, a table or a machine. A grammar is compiled to a table, and what is suspicious about it is printed.
    pub(crate) fn open(&self, path: &Path) -> Result<Opened> {
        if !Subject::is_grammar(path) {
            let model = Model::load_within(path, &self.model_limits.unwrap_or_default());
            let model = model.with_context(|| {
                let path = path.display();
                format!("could not read {path} as a table or a machine; a grammar is a folder, or a file named NAME.y")
            })?;
            return Ok(Opened { model, grammar: None });
        }
        let bar = self.bar();
        let subject = Subject::open_grammar_within(path, Encoding::Auto, &self.grammar_limits())?;
        self.warn_of(&subject);
        if subject.lexer().is_none() && !self.quiet {
            warn_of_unused_lexer(path);
        }
        bar.begin("compiling the grammar");
        let model = subject.table(&bar).map(Model::from);
        bar.finish();
        Ok(Opened { model: model?, grammar: Some(subject) })
    }

    /// Opens a grammar, a table or a machine, as a model.
    pub(crate) fn load_model(&self, path: &Path) -> Result<Model> {
        Ok(self.open(path)?.model)
    }

    /// Loads a machine.
    pub(crate) fn load_machine(&self, path: &Path) -> Result<Machine> {
        machine_of(&self.open(path)?, path)
    }

    /// Opens a grammar, a table or a machine with its lexer, or without it if the input consists of tokens.
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

    /// Opens the language that a command works on, or that a model is compared with: what [`Subject::named`] opens, or
    /// the grammar that a table or a machine was made from.
    pub(crate) fn open_subject(&self, name: &str, encoding: Encoding, control: &dyn Control) -> Result<Subject> {
        let path = Path::new(name);
        if path.is_file() && !Subject::is_grammar(path) {
            let model = Model::load_within(path, &self.model_limits.unwrap_or_default());
            if let Ok(model) = model {
                let subject = Subject::of_manifest(model.manifest(), &self.grammar_limits())?;
                return subject.with_context(|| {
                    format!("{name} does not contain its grammar; give the grammar, task:NAME, or an automaton")
                });
            }
        }
        let is_task = name.starts_with("task:") || parse_task(name).is_ok();
        if !is_task && !path.exists() && !name.starts_with("grammar:") {
            bail!(
                "there is no grammar, automaton or task {name}; a task is `task:NAME`, and `echostack tasks` lists them"
            );
        }
        Ok(Subject::named(name, encoding, &self.grammar_limits(), control)?)
    }

    /// Prints what is suspicious about a grammar and its lexer.
    pub(crate) fn warn_of(&self, subject: &Subject) {
        if !self.quiet {
            subject.warnings().iter().for_each(|warning| note(format_args!("warning: {warning}")));
        }
    }
}

/// Warns if a grammar was read without a lexer, but there is one next to it.
fn warn_of_unused_lexer(path: &Path) {
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut lexers: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|ending| ending == "l")).collect();
    lexers.sort();
    if let Some(lexer) = lexers.first() {
        let needed = if path.is_dir() { "lexer.l".to_string() } else { path.with_extension("l").display().to_string() };
        note(format_args!(
            "warning: {} is read without a lexer, so that a text consists of names of tokens; {} would be used if it were \
             named {needed}",
            path.display(),
            lexer.display()
        ));
    }
}

/// A model, and the grammar that it was compiled from just now, if it was.
pub(crate) struct Opened {
    pub(crate) model: Model,
    pub(crate) grammar: Option<Subject>,
}

/// Returns the machine that was opened, or an error if it is something else.
pub(crate) fn machine_of(opened: &Opened, path: &Path) -> Result<Machine> {
    let what = if opened.grammar.is_some() { "a grammar" } else { "the file of a table" };
    let machine = opened.model.machine().cloned();
    machine.with_context(|| {
        let path = path.display();
        format!("{path} is {what}, but a machine is needed; `echostack learn` trains one")
    })
}
