//! What a command is about: a task, a grammar or an automaton.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use echostack::tasks::Task;
use echostack::{Alphabet, Automaton, Control, Language, Manifest, Mode, Oracle, Walks};
use echostack_grammar::{Encoding, Grammar, Lexer};

use crate::TaskName;

/// Options that name a subject.
#[derive(clap::Args)]
#[group(id = "subject", multiple = false)]
pub(crate) struct Args {
    /// A built-in task; `echostack tasks` lists them
    #[arg(long, value_name = "TASK")]
    task: Option<TaskName>,
    /// A grammar in Yacc's syntax: a file, or a folder with grammar.y and lexer.l
    #[arg(long, value_name = "PATH")]
    grammar: Option<PathBuf>,
    /// An automaton in JSON
    #[arg(long, value_name = "FILE")]
    automaton: Option<PathBuf>,
}

/// The longest words that are drawn.
const LONGEST: usize = 1_000_000;

/// A range of lengths that words can be drawn from.
pub(crate) fn lengths(shortest: usize, longest: usize) -> Result<RangeInclusive<usize>> {
    ensure!(
        shortest <= longest && longest <= LONGEST,
        "words of {shortest} to {longest} tokens were asked for; lengths go up to {LONGEST}, the shorter one first"
    );
    Ok(shortest..=longest)
}

/// How a grammar becomes rules, as an option.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum EncodingName {
    /// Suffixes of symbols where they suffice, else states
    Auto,
    /// The paper's suffixes of symbols
    Suffix,
    /// The states of the LR(1) table
    State,
}

impl From<EncodingName> for Encoding {
    fn from(name: EncodingName) -> Self {
        match name {
            EncodingName::Auto => Self::Auto,
            EncodingName::Suffix => Self::Suffix,
            EncodingName::State => Self::State,
        }
    }
}

/// What a command is about.
pub(crate) struct Subject {
    pub(crate) name: String,
    /// The task, if it is one.
    pub(crate) task: Option<Task>,
    /// The language, if it is one: all but the copy tasks.
    pub(crate) language: Option<Arc<dyn Language>>,
    pub(crate) lexer: Option<Lexer>,
    /// How the grammar became rules, if it is one.
    pub(crate) encoding: Option<Encoding>,
}

impl Args {
    pub(crate) fn open(&self, encoding: EncodingName, control: &dyn Control) -> Result<Subject> {
        if let Some(task) = self.task {
            return Ok(Subject::task(task));
        }
        if let Some(path) = &self.grammar {
            let text = path.to_string_lossy();
            return Subject::grammar(text.strip_prefix("grammar:").map_or(path.as_path(), Path::new), encoding);
        }
        Subject::automaton(self.automaton.as_ref().context("give --task, --grammar or --automaton")?, control)
    }
}

impl Subject {
    fn task(TaskName(task): TaskName) -> Self {
        let name = task.name().to_string();
        Self { name, task: Some(task), language: task.language(), lexer: None, encoding: None }
    }

    fn grammar(path: &Path, encoding: EncodingName) -> Result<Self> {
        let opened = Grammar::open(path, encoding.into());
        let (grammar, lexer) = opened.with_context(|| format!("could not use the grammar {}", path.display()))?;
        let (name, encoding) = (grammar.to_string(), Some(grammar.encoding()));
        Ok(Self { name, task: None, language: Some(Arc::new(grammar)), lexer, encoding })
    }

    fn automaton(path: &Path, control: &dyn Control) -> Result<Self> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("could not read {name}"))?;
        let automaton = Automaton::from_json(&text).with_context(|| format!("could not use {name}"))?;
        let walks = Walks::new(&name, Arc::new(Oracle::controlled(automaton, control)?));
        Ok(Self { name, task: None, language: Some(Arc::new(walks)), lexer: None, encoding: None })
    }

    /// What a name stands for: `task:NAME`, `grammar:PATH`, the bare name of a task, or the file of an automaton.
    pub(crate) fn named(text: &str, encoding: EncodingName, control: &dyn Control) -> Result<Self> {
        if let Some(path) = text.strip_prefix("grammar:") {
            return Self::grammar(Path::new(path), encoding);
        }
        match text.parse::<TaskName>() {
            Ok(task) => Ok(Self::task(task)),
            Err(error) if text.starts_with("task:") => bail!(error),
            Err(_) => Self::automaton(Path::new(text), control),
        }
    }

    /// The language.
    pub(crate) fn language(&self) -> Result<&Arc<dyn Language>> {
        self.language.as_ref().with_context(|| format!("{} is no language of symbols", self.name))
    }

    /// The oracle of the language in this mode.
    pub(crate) fn oracle(&self, mode: Mode, control: &dyn Control) -> Result<Arc<Oracle>> {
        let automaton = self.language()?.automaton().clone();
        Ok(Arc::new(match mode {
            Mode::Strict => Oracle::controlled(automaton, control)?,
            Mode::Tolerant => Oracle::tolerant(automaton),
        }))
    }

    /// The symbols.
    pub(crate) fn alphabet(&self) -> Arc<Alphabet> {
        match (&self.language, self.task) {
            (Some(language), _) => language.automaton().alphabet().clone(),
            (None, Some(task)) => task.alphabet(),
            (None, None) => unreachable!("a subject is a task or a language"),
        }
    }

    /// Notes in a machine's manifest what it was made for.
    pub(crate) fn note(&self, manifest: &mut Manifest) {
        if self.task.is_some() {
            manifest.set_task(&self.name);
        } else {
            manifest.set_language(&self.name);
        }
        if let Some(lexer) = &self.lexer {
            manifest.set_lexer(lexer.source());
        }
        if let Some(encoding) = self.encoding {
            manifest.set_encoding(format!("{encoding:?}").to_lowercase());
        }
    }

    /// Checks that a machine reads what the subject is written in.
    pub(crate) fn fits(&self, own: &Alphabet) -> Result<()> {
        let alphabet = self.alphabet();
        let terminals = |alphabet: &Alphabet| -> Vec<String> {
            alphabet.terminals().map(|symbol| alphabet.name(symbol).to_string()).collect()
        };
        ensure!(
            terminals(&alphabet) == terminals(own),
            "the machine reads {}, but {} is written in {}",
            terminals(own).join(" "),
            self.name,
            terminals(&alphabet).join(" ")
        );
        Ok(())
    }
}
