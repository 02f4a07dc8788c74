//! Options shared by commands: the task, grammar or automaton that a command works on, word lengths and encodings.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use echostack::Control;
use echostack::tasks::Task;
use echostack_grammar::{Encoding, Subject, parse_task};

use crate::session::Session;

/// Options that name the subject of a command: a task, a grammar or an automaton.
#[derive(clap::Args)]
#[group(id = "subject", multiple = false)]
pub(crate) struct Args {
    /// Built-in task; `echostack tasks` lists them
    #[arg(long, value_name = "TASK", value_parser = parse_task)]
    task: Option<Task>,
    /// Grammar in Yacc syntax: a file, or a folder with grammar.y and lexer.l
    #[arg(long, value_name = "PATH")]
    grammar: Option<PathBuf>,
    /// Automaton in JSON
    #[arg(long, value_name = "FILE")]
    automaton: Option<PathBuf>,
}

/// The maximum length of words that are drawn.
const LONGEST: usize = 1_000_000;

/// Returns the range of lengths that words are drawn from, if it is valid.
pub(crate) fn lengths(shortest: usize, longest: usize) -> Result<RangeInclusive<usize>> {
    ensure!(
        shortest <= longest && longest <= LONGEST,
        "the minimum length is {shortest} and the maximum is {longest}, but they must be in ascending order and at most {LONGEST}"
    );
    Ok(shortest..=longest)
}

/// Returns the parser for the encoding, that is, for how a grammar is translated into rules.
pub(crate) fn encoding() -> impl TypedValueParser<Value = Encoding> {
    let value = |encoding: Encoding| {
        PossibleValue::new(encoding.name()).help(match encoding {
            Encoding::Auto => "Suffixes of symbols if they suffice, else states",
            Encoding::Suffix => "The paper's suffixes of symbols",
            Encoding::State => "The states of the LR(1) table",
        })
    };
    PossibleValuesParser::new(Encoding::ALL.map(value)).try_map(|name| name.parse::<Encoding>())
}

impl Args {
    /// Opens the subject, and prints what is suspicious about it.
    pub(crate) fn open(&self, session: &Session, encoding: Encoding, control: &dyn Control) -> Result<Subject> {
        let subject = self.find(session, encoding, control)?;
        session.warn_of(&subject);
        Ok(subject)
    }

    /// Opens the subject.
    pub(crate) fn find(&self, session: &Session, encoding: Encoding, control: &dyn Control) -> Result<Subject> {
        if let Some(task) = self.task {
            return Ok(task.into());
        }
        if let Some(path) = &self.grammar {
            let text = path.to_string_lossy();
            let path = text.strip_prefix("grammar:").map_or(path.as_path(), Path::new);
            return session.open_grammar(path, encoding);
        }
        let path = self.automaton.as_ref().context("give --task, --grammar or --automaton")?;
        Ok(Subject::open_automaton(path, control)?)
    }
}
