//! Inferring a language: the options that name the examples and the oracle, and what is told about a run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use echostack::Control;
use echostack::file::read_text;
use echostack_grammar::Subject;
use echostack_infer::program::{Command, MAX_TEXT, Pattern, Process, Program, Sandbox, split};
use echostack_infer::{Asking, Ending, FILES, Guess, InferError, Inferred, Proved, Settings, Stop, guess, infer};

use crate::output::{count, note};
use crate::session::Session;

/// The maximum number of examples.
const MAX_EXAMPLES: usize = 100_000;

/// Options that name the examples and the oracle.
#[derive(clap::Args)]
pub(crate) struct Source {
    /// Folder with valid texts, one per file
    #[arg(long, value_name = "FOLDER", group = "subject", help_heading = SOURCE)]
    pub(crate) examples: Option<PathBuf>,
    /// Program that says whether a text is valid, with its arguments: exit code 0 means yes, 1 to 125 no. The path of a
    /// file with the text replaces {}; without {}, the text is the standard input. No shell is involved
    #[arg(long, value_name = "COMMAND", requires = "examples", help_heading = SOURCE)]
    pub(crate) oracle: Option<String>,
    /// The program stays open: it reads one JSON string per line, and writes true or false per line
    #[arg(long, requires = "oracle", help_heading = SOURCE)]
    persistent: bool,
    /// Regular expression that finds the position of a failure in what the program prints, if it has none of the usual forms,
    /// such as `char 7`, `line 2, column 3` or `:2:3:`. One group is the number of characters before it; two are a line and a
    /// column. A persistent program writes {"valid": false, "at": 3} instead
    #[arg(long, value_name = "PATTERN", requires = "oracle", conflicts_with = "persistent", help_heading = SOURCE)]
    position: Option<String>,
    /// Lexer in Lex syntax, if the tokens are known, or a part of one: if it does not read all examples, its rules are kept,
    /// and the other tokens are looked for
    #[arg(long, value_name = "FILE", requires = "examples", help_heading = SOURCE)]
    tokens: Option<PathBuf>,
    /// What is learned: modules, or reductions of given tokens, for languages without visible brackets
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Learner::Modules, help_heading = SOURCE)]
    learner: Learner,
    /// Run the program in a sandbox without network and without write access (needs bubblewrap)
    #[arg(long, requires = "oracle", help_heading = SOURCE)]
    sandbox: bool,
    /// Number of queries at the same time; never changes the result [default: number of cores]
    #[arg(long, value_name = "N", requires = "oracle", help_heading = SOURCE)]
    workers: Option<usize>,
    /// Time limit for the answer to one text, in seconds. It becomes shorter if the program usually answers fast: 100 times
    /// its usual time, but at least a second
    #[arg(long, value_name = "SECONDS", default_value_t = 10., help_heading = SOURCE)]
    answer_within: f64,
    /// A text on which the program crashes or exceeds its time limit is not valid. Otherwise it is set aside
    #[arg(long, requires = "oracle", help_heading = SOURCE)]
    failure_is_no: bool,
    /// Maximum number of queries
    #[arg(long, value_name = "N", default_value_t = 2_000_000, help_heading = SOURCE)]
    queries: usize,
}

/// What is learned, as a command-line value.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Learner {
    /// An automaton for each opener
    Modules,
    /// Rules that replace what is on top of a stack; needs --tokens
    Reductions,
}

/// The heading of these options.
pub(crate) const SOURCE: &str = "Examples and oracle";

impl Source {
    /// Guesses the language from valid and invalid texts, and writes it into a folder.
    pub(crate) fn guess(
        &self,
        session: &Session,
        mut settings: Settings,
        invalid: &Path,
        folder: &Path,
        control: &dyn Control,
    ) -> Result<Guess> {
        let examples = self.examples.as_deref().context("give --examples")?;
        ensure!(self.learner == Learner::Modules, "--learner reductions needs a program: give --oracle");
        settings.lexer = self.lexer(session)?;
        let guessed = guess(&read_examples(examples)?, &read_examples(invalid)?, &settings, control)?;
        guessed.save(folder).with_context(|| format!("could not write to {}", folder.display()))?;
        Ok(guessed)
    }

    /// Reads the lexer, if it was given.
    fn lexer(&self, session: &Session) -> Result<Option<String>> {
        let read = |path: &PathBuf| read_text(path, session.grammar_limits().bytes).context("could not read the lexer");
        self.tokens.as_ref().map(read).transpose()
    }

    /// Infers the language, and writes it into a folder. Tokens and rules are named after those of a grammar, if there is one.
    pub(crate) fn infer(
        &self,
        session: &Session,
        mut settings: Settings,
        names: Option<&Subject>,
        folder: &Path,
        control: &dyn Control,
    ) -> Result<Inferred> {
        let examples = self.examples.as_deref().context("give --examples")?;
        ensure!(self.oracle.is_some(), "--examples needs the program that accepts or rejects texts: give --oracle");
        let examples = read_examples(examples)?;
        let oracle = self.oracle()?;
        std::fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
        let workers = workers(self.workers)?;
        settings.asking = Asking {
            workers,
            queries: self.queries,
            answers: Some(folder.join(FILES[3])),
            failure_is_no: self.failure_is_no,
            ..settings.asking
        };
        settings.lexer = self.lexer(session)?;
        settings.reductions = self.learner == Learner::Reductions;
        ensure!(!settings.reductions || self.tokens.is_some(), "--learner reductions needs the tokens: give --tokens");
        let mut inferred = match infer(&examples, &*oracle, &settings, control) {
            Ok(inferred) => inferred,
            Err(error @ InferError::Stopped(Stop::Queries(_) | Stop::Time(_))) => {
                let hint = "; if the program stays open and reads one text per line, give --persistent";
                let hint = if self.persistent { "" } else { hint };
                bail!("{error}, before there was a first grammar; start again with a higher limit to continue{hint}")
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(names) = names {
            inferred.name_after(names);
        }
        let saved = inferred.save(folder, &oracle.name(), Proved::NotTried);
        saved.with_context(|| format!("could not write to {}", folder.display()))?;
        Ok(inferred)
    }

    /// Returns the name of the oracle, for the report.
    pub(crate) fn name(&self) -> &str {
        self.oracle.as_deref().unwrap_or_default()
    }

    fn oracle(&self) -> Result<Box<dyn Program>> {
        let way =
            Way { persistent: self.persistent, bytes: false, sandbox: self.sandbox, answer_within: self.answer_within };
        way.open(self.name(), self.position.as_deref())
    }
}

/// How a program is run.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) persistent: bool,
    /// A program that stays open reads bytes.
    pub(crate) bytes: bool,
    pub(crate) sandbox: bool,
    pub(crate) answer_within: f64,
}

impl Way {
    /// Returns the program of a command line, which may print positions in the form of a pattern.
    pub(crate) fn open(self, command: &str, position: Option<&str>) -> Result<Box<dyn Program>> {
        let words = split(command)?;
        let limit = seconds("--answer-within", self.answer_within)?;
        let sandbox = if self.sandbox { Some(Sandbox::new()?) } else { None };
        if self.persistent {
            return Ok(Box::new(Process::new(words, limit, sandbox).by_bytes(self.bytes)));
        }
        let pattern = position.map(Pattern::new).transpose()?;
        let command = Command::new(words, limit, sandbox).context("could not create a folder for the texts")?;
        Ok(Box::new(command.with_pattern(pattern)))
    }
}

/// Returns the number of queries at the same time.
pub(crate) fn workers(given: Option<usize>) -> Result<usize> {
    let workers = given.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
    ensure!((1..=256).contains(&workers), "--workers is {workers}, but must be from 1 to 256");
    Ok(workers)
}

/// Reads the files of a folder, in the order of their names. Folders in it are left out.
pub(crate) fn read_examples(folder: &Path) -> Result<Vec<String>> {
    let unread = || format!("could not read the examples in {}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(unread)? {
        let path = entry.with_context(unread)?.path();
        if path.is_file() {
            paths.push(path);
        }
        ensure!(paths.len() <= MAX_EXAMPLES, "{} has more than {MAX_EXAMPLES} files", folder.display());
    }
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        let text = read_text(&path, MAX_TEXT as u64);
        texts.push(text.with_context(|| format!("could not read {} as an example", path.display()))?);
    }
    Ok(texts)
}

/// Returns the time that an option gives in seconds.
pub(crate) fn seconds(option: &str, value: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(value)
        .with_context(|| format!("{option} is {value}, but must be a number of at least 0"))
}

/// Tells how a run ended.
pub(crate) fn tell(inferred: &Inferred, folder: &Path, quiet: bool) {
    let folder = folder.display();
    if let Ending::NotSettled(reason) = inferred.ending() {
        note(format_args!("echostack: not settled: {reason}; {folder}/report.md shows the best grammar so far"));
    } else if !quiet {
        let (examples, queries) = (count(inferred.examples().len(), "example"), inferred.queries());
        let (tokens, rules) =
            inferred.language().map_or((0, 0), |language| (language.files().tokens.len(), language.size().rules));
        let milliseconds = inferred.time().as_millis();
        note(format_args!(
            "learned a language from {examples} and {queries} queries in {milliseconds} ms: {}, {}; see {folder}/report.md",
            count(tokens, "token"),
            count(rules, "rule"),
        ));
    }
    if inferred.reused() > 0 && !quiet {
        note(format_args!(
            "{} from earlier runs, in {folder}/answers.jsonl; if the program has changed, delete that file",
            match inferred.reused() {
                1 => "1 answer is".to_string(),
                reused => format!("{reused} answers are"),
            }
        ));
    }
    if inferred.set_aside() > 0 {
        note(format_args!("echostack: {} without an answer, see the report", count(inferred.set_aside(), "text")));
    }
}
