//! `echostack infer`: infers a grammar and a lexer from example texts and a program that accepts or rejects texts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use echostack::Control;
use echostack::file::read_text;
use echostack_infer::oracle::{Command, MAX_TEXT, Oracle, Pattern, Process, Sandbox, split};
use echostack_infer::{Asking, Ending, FILES, Guess, InferError, Inferred, Proved, Settings, Stop, guess, infer};

use crate::output::{count, note};
use crate::progress::Bar;
use crate::{Outcome, grammar_limits, print_json};

const EXAMPLES: &str = "\
Examples:
  A program that is run on a file, and answers by its exit code:
    echostack infer --examples examples --oracle 'xmllint --noout {}' -o inferred
  A program that stays open: one JSON string per line in, true or false per line out:
    echostack infer --examples examples --oracle 'python3 oracle.py' --persistent -o inferred
  Valid and invalid texts, but no program: the result is a guess:
    echostack infer --examples valid --invalid invalid -o guessed
  Make and prove a machine for the result:
    echostack learn --grammar inferred -o model.safetensors

The program is run on texts that nobody has looked at: see --sandbox and docs/infer.md. A run that was interrupted
continues where it was, if it is started again with the same folder.

Exit codes: 0 if the language was learned or guessed; 1 if the run did not converge (the report says where); 2 on an error.";

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
    oracle: Option<String>,
    /// The program stays open: it reads one JSON string per line, and writes true or false per line
    #[arg(long, requires = "oracle", help_heading = SOURCE)]
    persistent: bool,
    /// Regular expression that finds the position of a failure in what the program prints: one group for the number of
    /// characters before it, or two for a line and a column. A persistent program writes {"valid": false, "at": 3} instead
    #[arg(long, value_name = "PATTERN", requires = "oracle", conflicts_with = "persistent", help_heading = SOURCE)]
    position: Option<String>,
    /// Lexer in Lex syntax, if the tokens are known; otherwise they are inferred, too
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
    /// Time limit for the answer to one text, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10., help_heading = SOURCE)]
    answer_within: f64,
    /// A text on which the program crashes or exceeds its time limit is not valid. Otherwise it is set aside
    #[arg(long, requires = "oracle", help_heading = SOURCE)]
    failure_is_no: bool,
    /// Maximum number of queries
    #[arg(long, value_name = "N", default_value_t = 2_000_000, help_heading = SOURCE)]
    queries: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Learner {
    /// An automaton for each opener
    Modules,
    /// Rules that replace what is on top of a stack; needs --tokens
    Reductions,
}

const SOURCE: &str = "Examples and oracle";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
    /// Folder with invalid texts, one per file, if there is no program. The result is a guess
    #[arg(long, value_name = "FOLDER", requires = "examples", conflicts_with = "oracle", help_heading = SOURCE)]
    invalid: Option<PathBuf>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of random tests in a round
    #[arg(long, default_value_t = 4000)]
    tests: usize,
    /// Maximum number of rounds
    #[arg(long, default_value_t = 60)]
    rounds: usize,
    /// Fraction of the examples to hold out, to measure recall [default: a fifth of at least 50 examples, else none]
    #[arg(long, value_name = "FRACTION")]
    hold_out: Option<f64>,
    /// Compare at most this many token strings with the program after learning: all of up to a length
    #[arg(long, value_name = "N", default_value_t = 5000)]
    strings: usize,
    /// Number of texts in each of two samples that are compared with the program after learning
    #[arg(long, value_name = "N", default_value_t = 1000)]
    fresh: usize,
    /// Give up after this many seconds, with the best grammar so far
    #[arg(long, value_name = "N", default_value_t = 3600.)]
    seconds: f64,
    /// Folder to write the grammar, the lexer, the report and the answers to
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    ensure!(
        args.source.examples.is_some() && (args.source.oracle.is_some() || args.invalid.is_some()),
        "give --examples and --oracle, or --examples and --invalid"
    );
    if let Some(fraction) = args.hold_out {
        ensure!((0. ..=0.9).contains(&fraction), "--hold-out is {fraction}, but must be from 0 to 0.9");
    }
    let settings = Settings {
        seed: args.seed,
        tests: args.tests,
        rounds: args.rounds,
        hold_out: args.hold_out,
        strings: args.strings,
        fresh: args.fresh,
        asking: Asking { time: seconds("--seconds", args.seconds)?, ..Asking::default() },
        ..Settings::default()
    };
    let bar = Bar::new(quiet);
    if let Some(invalid) = &args.invalid {
        let guessed = args.source.guess(settings, invalid, &args.output, &bar);
        bar.finish();
        let guessed = guessed?;
        if args.json {
            print_json(&guessed.summary())?;
        } else if !quiet {
            tell_guess(&guessed, &args.output);
        }
        return Ok(Outcome::Accepted);
    }
    let inferred = args.source.infer(settings, &args.output, &bar);
    bar.finish();
    let inferred = inferred?;
    if args.json {
        print_json(&inferred.summary(Proved::NotTried))?;
    } else {
        tell(&inferred, &args.output, quiet);
    }
    Ok(if inferred.is_settled() { Outcome::Accepted } else { Outcome::Rejected })
}

fn seconds(option: &str, value: f64) -> Result<Duration> {
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
        let (tokens, states) =
            inferred.language().map_or((0, 0), |language| (language.files().tokens.len(), language.states()));
        let milliseconds = inferred.time().as_millis();
        note(format_args!(
            "learned a language from {examples} and {queries} queries in {milliseconds} ms: {}, {}; see {folder}/report.md",
            count(tokens, "token"),
            count(states, "state"),
        ));
    }
    if inferred.set_aside() > 0 {
        note(format_args!("echostack: {} without an answer, see the report", count(inferred.set_aside(), "text")));
    }
}

/// Tells what was guessed, and how far it can be trusted.
fn tell_guess(guessed: &Guess, folder: &Path) {
    let (texts, held_out) = (guessed.texts(), guessed.held_out());
    let known = match (held_out.valid.len(), held_out.invalid.len()) {
        (0, 0) => "nothing was held out to test it".to_string(),
        (valid, invalid) => {
            let [rejected, accepted] = guessed.mistakes(held_out).map(|wrong| wrong.len());
            format!(
                "of the held-out texts, {rejected} of {valid} valid ones are rejected, {accepted} of {invalid} invalid ones accepted"
            )
        }
    };
    note(format_args!(
        "guessed a language from {} and {}: {}; {known}; see {}/report.md",
        count(texts.valid.len(), "valid text"),
        count(texts.invalid.len(), "invalid text"),
        count(guessed.states(), "state"),
        folder.display(),
    ));
}

impl Source {
    /// Guesses the language from valid and invalid texts, and writes it into a folder.
    fn guess(&self, mut settings: Settings, invalid: &Path, folder: &Path, control: &dyn Control) -> Result<Guess> {
        let examples = self.examples.as_deref().context("give --examples")?;
        ensure!(self.learner == Learner::Modules, "--learner reductions needs a program: give --oracle");
        settings.lexer = self.lexer()?;
        let guessed = guess(&read_examples(examples)?, &read_examples(invalid)?, &settings, control)?;
        guessed.save(folder).with_context(|| format!("could not write to {}", folder.display()))?;
        Ok(guessed)
    }

    /// Reads the lexer, if it was given.
    fn lexer(&self) -> Result<Option<String>> {
        let read = |path: &PathBuf| read_text(path, grammar_limits().bytes).context("could not read the lexer");
        self.tokens.as_ref().map(read).transpose()
    }

    /// Infers the language, and writes it into a folder.
    pub(crate) fn infer(&self, mut settings: Settings, folder: &Path, control: &dyn Control) -> Result<Inferred> {
        let examples = self.examples.as_deref().context("give --examples")?;
        ensure!(self.oracle.is_some(), "--examples needs the program that accepts or rejects texts: give --oracle");
        let examples = read_examples(examples)?;
        let oracle = self.oracle()?;
        std::fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
        let workers = self.workers.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
        ensure!((1..=256).contains(&workers), "--workers is {workers}, but must be from 1 to 256");
        settings.asking = Asking {
            workers,
            queries: self.queries,
            answers: Some(folder.join(FILES[3])),
            failure_is_no: self.failure_is_no,
            ..settings.asking
        };
        settings.lexer = self.lexer()?;
        settings.reductions = self.learner == Learner::Reductions;
        ensure!(!settings.reductions || self.tokens.is_some(), "--learner reductions needs the tokens: give --tokens");
        let inferred = match infer(&examples, &*oracle, &settings, control) {
            Ok(inferred) => inferred,
            Err(error @ InferError::Stopped(Stop::Queries(_) | Stop::Time(_))) => {
                bail!("{error}, before there was a first grammar; start again with a higher limit to continue")
            }
            Err(error) => return Err(error.into()),
        };
        let saved = inferred.save(folder, &oracle.name(), Proved::NotTried);
        saved.with_context(|| format!("could not write to {}", folder.display()))?;
        Ok(inferred)
    }

    /// Returns the name of the oracle, for the report.
    pub(crate) fn name(&self) -> &str {
        self.oracle.as_deref().unwrap_or_default()
    }

    fn oracle(&self) -> Result<Box<dyn Oracle>> {
        let words = split(self.name())?;
        let limit = seconds("--answer-within", self.answer_within)?;
        let sandbox = if self.sandbox { Some(Sandbox::new()?) } else { None };
        if self.persistent {
            return Ok(Box::new(Process::new(words, limit, sandbox)));
        }
        let pattern = self.position.as_deref().map(Pattern::new).transpose()?;
        let command = Command::new(words, limit, sandbox).context("could not create a folder for the texts")?;
        Ok(Box::new(command.with_pattern(pattern)))
    }
}

/// Reads the files of a folder, in the order of their names. Folders in it are left out.
fn read_examples(folder: &Path) -> Result<Vec<String>> {
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
