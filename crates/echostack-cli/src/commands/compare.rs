//! `echostack compare`: finds out where programs and grammars disagree.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use echostack::file::read_text;
use echostack_grammar::{Judge, Subject};
use echostack_infer::program::Program;
use echostack_infer::{CompareSettings, KnownKinds, Side, compare};

use crate::inference::{Way, read_examples, seconds, workers};
use crate::outcome::Outcome;
use crate::output::{count, note, print_json, save, try_output};
use crate::session::Session;

/// The maximum size of a file with known kinds, in bytes.
const MAX_KNOWN: u64 = 1 << 26;

const EXAMPLES: &str = "\
Examples:
  Two versions of a program, which are run on a file and answer by their exit codes:
    echostack compare old='./parser-1.0 {}' new='./parser-1.1 {}' --examples examples
  A grammar and a program that stays open: one JSON string per line in, true or false per line out:
    echostack compare grammar.y 'persistent:python3 oracle.py' --examples examples
  Accept what is found today, and fail on everything else from then on, for example in CI:
    echostack compare grammar.y './parser {}' --examples examples --json > known.json
    echostack compare grammar.y './parser {}' --examples examples --known known.json

A side is the path of a grammar (a folder, or NAME.y), of a table or of a machine, if there is such a file. Anything else is
the command line of a program, as for `infer --oracle`: exit code 0 means that the text is valid, 1 to 125 that it is not;
the path of a file with the text replaces {}; without {}, the text is the standard input; no shell is involved. A program
without arguments needs `program:` before its path. `persistent:` before a command line means that this program stays open.
NAME= before all that is the name of the side in the output.

Programs are run on texts that nobody has looked at: see --sandbox and docs/compare.md.

Exit codes: 0 if no disagreement was found, or only known ones; 1 if there are others; 2 on an error.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is an option of the command line
pub(crate) struct Args {
    /// What is compared: [NAME=]PATH or [NAME=]COMMAND, see below
    #[arg(value_name = "SIDE", required = true, num_args = 2..)]
    sides: Vec<String>,
    /// Folder with texts that are valid, one per file
    #[arg(long, value_name = "FOLDER")]
    examples: PathBuf,
    /// All programs stay open: they read one JSON string per line, and write true or false per line
    #[arg(long)]
    persistent: bool,
    /// Programs that stay open read bytes: each character of a line is one byte, from U+0000 to U+00FF. Other programs read a
    /// file, and always take bytes. If all sides take bytes, they are also asked about texts that are not UTF-8
    #[arg(long)]
    bytes: bool,
    /// Run programs in a sandbox without network and without write access (needs bubblewrap)
    #[arg(long)]
    sandbox: bool,
    /// Number of queries at the same time; never changes the result [default: number of cores]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Time limit for the answer to one text, in seconds. It becomes shorter if the program usually answers fast: 100 times
    /// its usual time, but at least a second
    #[arg(long, value_name = "SECONDS", default_value_t = 10.)]
    answer_within: f64,
    /// Maximum number of queries: each program that is asked about a text counts as one
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    queries: usize,
    /// Stop after this many seconds
    #[arg(long, value_name = "N", default_value_t = 600.)]
    seconds: f64,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Kinds of disagreement that are accepted: what an earlier run has printed with --json
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
    /// Write a report in Markdown
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// A side that was opened.
enum Opened {
    Program(Box<dyn Program>),
    Model(Box<(Judge, Option<Subject>)>),
}

impl Opened {
    fn side<'a>(&'a self, name: &str) -> Side<'a> {
        match self {
            Self::Program(program) => Side::program(name, &**program),
            Self::Model(model) => Side::model(name, &model.0, model.1.as_ref()),
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    try_output(&args.report)?;
    let settings = CompareSettings {
        seed: args.seed,
        queries: args.queries,
        time: seconds("--seconds", args.seconds)?,
        workers: workers(args.workers)?,
        known: args.known.as_deref().map_or_else(|| Ok(KnownKinds::default()), read_known)?,
        ..CompareSettings::default()
    };
    let examples = read_examples(&args.examples)?;
    let opened = args.sides.iter().map(|side| open(side, args, session)).collect::<Result<Vec<_>>>()?;
    let sides: Vec<Side<'_>> = opened.iter().map(|(name, opened)| opened.side(name)).collect();
    let bar = session.bar();
    bar.begin("asking");
    let found = compare(&sides, &examples, &settings, &bar);
    bar.finish();
    let found = found?;
    if let Some(path) = &args.report {
        save(path, found.report())?;
    }
    if args.json {
        print_json(&found.to_json())?;
    } else {
        std::io::stdout().write_all(found.table().as_bytes())?;
    }
    for text in found.gone() {
        note(format_args!("the sides no longer disagree in the known way on {text:?}"));
    }
    for ((name, _), failures) in found.sides().iter().zip(found.failures()) {
        if let Some((text, failure)) = failures.first() {
            note(format_args!("echostack: {name} gave no answer to some texts, such as {:?}: {failure}", short(text)));
        }
    }
    if !session.quiet {
        let queries = if found.queries() == 1 { "1 query".to_string() } else { format!("{} queries", found.queries()) };
        let milliseconds = found.time().as_millis();
        note(format_args!("{queries} for {} in {milliseconds} ms", count(found.texts(), "text")));
        note(found.conclusion());
    }
    Ok(if found.has_new() { Outcome::Rejected } else { Outcome::Accepted })
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

fn read_known(path: &Path) -> Result<KnownKinds> {
    let text = read_text(path, MAX_KNOWN).with_context(|| format!("could not read {}", path.display()))?;
    KnownKinds::from_json(&text).with_context(|| format!("could not use {}", path.display()))
}

/// Opens a side.
fn open(given: &str, args: &Args, session: &Session) -> Result<(String, Opened)> {
    let (name, side) = named(given);
    if Path::new(side).exists() {
        let opened =
            session.open(Path::new(side)).with_context(|| format!("if {side} is a program, write `program:{side}`"))?;
        let judge = Judge::new(opened.model).context("the model's lexer is not valid")?;
        return Ok((name.to_string(), Opened::Model(Box::new((judge, opened.grammar)))));
    }
    let (persistent, command) = match side.strip_prefix("persistent:") {
        Some(command) => (true, command),
        None => (args.persistent, side.strip_prefix("program:").unwrap_or(side)),
    };
    let is_path = !command.contains(char::is_whitespace) && command == side && side.contains(['/', '\\', '.']);
    ensure!(!is_path, "there is no file {side}; if it is a program, write `program:{side}`");
    let way = Way { persistent, bytes: args.bytes, sandbox: args.sandbox, answer_within: args.answer_within };
    Ok((name.to_string(), Opened::Program(way.open(command, None)?)))
}

/// Splits a side into its name and the rest. A path or a command line without a name is its own name.
fn named(given: &str) -> (&str, &str) {
    match given.split_once('=') {
        Some((name, side)) if !name.is_empty() && name.chars().all(is_of_name) && !Path::new(given).exists() => {
            (name, side)
        }
        _ => (given, given),
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')
}
