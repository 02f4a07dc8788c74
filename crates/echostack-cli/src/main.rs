//! The command-line program `echostack`: learn, infer, check, prove and compile.
//!
//! It is a thin layer over the library: it parses arguments, calls the library and prints the results. Data goes to
//! standard output, messages to standard error. The exit code is 0 for accept, 1 for reject or incomplete, and 2 for an
//! error or a limit; docs/getting-started.md has a table for all commands.

// A closed pipe would make `println!` panic; `writeln!` returns an error, which ends the program quietly.
#![warn(clippy::print_stdout)]

mod bench;
mod certify;
mod check;
mod compile;
mod construct;
mod evaluate;
mod external;
mod extract;
mod infer;
mod inspect;
mod learn;
mod output;
mod parse;
mod progress;
mod reading;
mod reproduce;
mod sample;
mod subject;
mod teach;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use echostack::file::FileLimits;
use echostack::reservoir::ReservoirKind;
use echostack::tasks::Task;
use echostack::{Machine, Model, Verdict};
use echostack_grammar::{GrammarLimits, Judge};

use crate::output::note;

/// Learn, check and measure reservoir stack machines.
#[derive(Parser)]
#[command(name = "echostack", version, propagate_version = true)]
struct Cli {
    /// Print only errors and show no progress; `check` then reports its verdict only through the exit code
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    quiet: bool,
    /// Number of threads; never changes a result [default: all cores]
    #[arg(long, global = true, value_name = "N", help_heading = GLOBAL)]
    threads: Option<usize>,
    /// Limits on model files, such as `bytes=1000000,neurons=512`: bytes, symbols, neurons, centres (of support vectors),
    /// states (of a table) [default: what the largest model has]
    #[arg(long, global = true, value_name = "NAME=NUMBER,...", help_heading = GLOBAL)]
    model_limits: Option<FileLimits>,
    /// Limits on grammars and lexers, such as `productions=1000,states=5000`: bytes, symbols, productions, states (of the
    /// LR(1) table), `lexer_states` [default: what large grammars need]
    #[arg(long, global = true, value_name = "NAME=NUMBER,...", help_heading = GLOBAL)]
    grammar_limits: Option<GrammarLimits>,
    #[command(subcommand)]
    command: Command,
}

/// The limits on model files, as given on the command line. Like the number of threads, they are the same everywhere.
static MODEL_LIMITS: OnceLock<FileLimits> = OnceLock::new();
/// The limits on grammars and lexers, as given on the command line.
static GRAMMAR_LIMITS: OnceLock<GrammarLimits> = OnceLock::new();

const GLOBAL: &str = "Options of all commands";

#[derive(Subcommand)]
enum Command {
    /// List the built-in tasks
    Tasks(TasksArgs),
    /// Print words of a language, or write a work item for `bench`
    Sample(sample::Args),
    /// Write the actions of a parser on words of a language, for `learn --traces`
    Teach(teach::Args),
    /// Infer a grammar and a lexer from example texts and a program that accepts or rejects texts: exit code 0 if the
    /// language was learned, 1 if the run did not converge, 2 on an error
    Infer(infer::Args),
    /// Train a machine and save it
    Learn(Box<learn::Args>),
    /// Check words or texts: exit code 0 if all are accepted, 1 if at least one is not, 2 on an error or a limit
    Check(check::Args),
    /// Print the parse trees of words or texts
    Parse(parse::Args),
    /// Measure a machine or a table on fresh words
    Evaluate(evaluate::Args),
    /// Prove that a machine is correct on every word, or check a proof: exit code 0 if it is proved, 1 if not, 2 on an
    /// error
    Certify(certify::Args),
    /// Extract the automaton from a machine, with a proof that the machine does the same on every word
    Extract(extract::Args),
    /// Compile a machine to a table that runs at the speed of a parser, or to a source file that contains the table
    Compile(compile::Args),
    /// Construct a machine from an automaton, without training, and prove it correct on every word
    Construct(construct::Args),
    /// Show the contents of a model, a table, a certificate, an automaton, traces or contexts
    Inspect(inspect::Args),
    /// Train and test as specified by a work item (see `sample --work`), and print the error and the times
    Bench(bench::Args),
    /// Run the paper's experiments and compare the results with the published ones
    Reproduce(reproduce::Args),
    /// Check the words in many Parquet, Arrow, JSON Lines or CSV files (needs the program echostack-engine)
    #[command(
        disable_help_flag = true,
        override_usage = "echostack score [OPTIONS] --output <FOLDER> <MODEL> <INPUTS>...",
        after_help = external::OPTIONS
    )]
    Score(external::Args),
    /// Count the distinct contexts in a corpus of traces, for `learn --contexts` (needs the program echostack-engine)
    #[command(
        disable_help_flag = true,
        override_usage = "echostack contexts [OPTIONS] --output <FILE> <INPUTS>...",
        after_help = external::OPTIONS
    )]
    Contexts(external::Args),
    /// Convert traces from JSON Lines to Parquet, for `contexts` (needs the program echostack-engine)
    #[command(
        disable_help_flag = true,
        override_usage = "echostack pack --output <FILE> <INPUT>",
        after_help = external::OPTIONS
    )]
    Pack(external::Args),
    /// Run the scheduler or an executor of a cluster, for the option `--cluster` of other commands (needs the program
    /// echostack-engine)
    #[command(
        disable_help_flag = true,
        override_usage = "echostack cluster <COMMAND>",
        after_help = external::OPTIONS
    )]
    Cluster(external::Args),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write man pages to a folder
    Man {
        /// The folder, created if it does not exist
        folder: PathBuf,
    },
}

#[derive(clap::Args)]
struct TasksArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Show the rules of each task and the grammar that its words are drawn from
    #[arg(long)]
    rules: bool,
}

/// The kind of reservoir, as a command-line value.
#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Sparse Gaussian weights
    Random,
    /// A cycle with jumps
    Cycle,
    /// A Legendre delay network
    Legendre,
}

impl From<Kind> for ReservoirKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Random => Self::Random,
            Kind::Cycle => Self::Cycle,
            Kind::Legendre => Self::Legendre,
        }
    }
}

/// The outcome of a command that ends without an error; it determines the exit code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Accepted,
    Rejected,
    Stopped,
}

impl Outcome {
    /// Returns the outcome of a command that ends with a verdict.
    fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Accept => Self::Accepted,
            Verdict::Incomplete { .. } | Verdict::Reject { .. } => Self::Rejected,
            Verdict::Stopped { .. } => Self::Stopped,
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(Outcome::Accepted) => ExitCode::SUCCESS,
        Ok(Outcome::Rejected) => ExitCode::from(1),
        Ok(Outcome::Stopped) => ExitCode::from(2),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            note(format_args!("echostack: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Returns whether the error is a closed pipe: the reader of our output has exited, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(kind))
}

fn run(cli: Cli) -> Result<Outcome> {
    if let Some(threads) = cli.threads {
        anyhow::ensure!((1..=1024).contains(&threads), "--threads is {threads}, but must be from 1 to 1024");
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    if let Some(limits) = cli.model_limits {
        _ = MODEL_LIMITS.set(limits);
    }
    if let Some(limits) = cli.grammar_limits {
        _ = GRAMMAR_LIMITS.set(limits);
    }
    match cli.command {
        Command::Tasks(args) => tasks(&args),
        Command::Sample(args) => sample::run(&args, cli.quiet),
        Command::Infer(args) => infer::run(&args, cli.quiet),
        Command::Learn(args) => learn::run(&args, cli.quiet),
        Command::Check(args) => check::run(&args, cli.quiet),
        Command::Evaluate(args) => evaluate::run(&args, cli.quiet),
        Command::Certify(args) => certify::run(&args, cli.quiet),
        Command::Extract(args) => extract::run(&args, cli.quiet),
        Command::Compile(args) => compile::run(&args, cli.quiet),
        Command::Construct(args) => construct::run(&args, cli.quiet),
        Command::Teach(args) => teach::run(&args, cli.quiet),
        Command::Parse(args) => parse::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Reproduce(args) => reproduce::run(&args, cli.quiet),
        Command::Score(args) => external::engine("score", &args, cli.quiet, cli.threads),
        Command::Contexts(args) => external::engine("contexts", &args, cli.quiet, cli.threads),
        Command::Pack(args) => external::engine("pack", &args, cli.quiet, cli.threads),
        Command::Cluster(args) => external::engine("cluster", &args, cli.quiet, cli.threads),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "echostack", &mut script);
            std::io::stdout().write_all(&script)?;
            Ok(Outcome::Accepted)
        }
        Command::Man { folder } => {
            std::fs::create_dir_all(&folder)?;
            clap_mangen::generate_to(Cli::command(), &folder)?;
            Ok(Outcome::Accepted)
        }
    }
}

/// Prints a value as one line of JSON.
fn print_json(value: &serde_json::Value) -> Result<()> {
    writeln!(std::io::stdout(), "{value}")?;
    Ok(())
}

fn load(path: &Path) -> Result<Machine> {
    machine_of(&load_model(path)?, path)
}

/// Returns the machine that a model is, or an error if its file contains a table.
fn machine_of(model: &Model, path: &Path) -> Result<Machine> {
    let machine = model.machine().cloned();
    machine.with_context(|| format!("{} is the file of a table, but a machine is needed", path.display()))
}

/// Opens a model with its lexer, or without it if the input consists of tokens.
fn open_judge(path: &Path, tokens: bool) -> Result<Judge> {
    let model = load_model(path)?;
    if tokens {
        return Ok(Judge::without_lexer(model));
    }
    Judge::new(model).context("the model's lexer is not valid")
}

/// Returns the limits on grammars and lexers.
fn grammar_limits() -> GrammarLimits {
    GRAMMAR_LIMITS.get().copied().unwrap_or_default()
}

fn load_model(path: &Path) -> Result<Model> {
    let limits = MODEL_LIMITS.get().copied().unwrap_or_default();
    Model::load_within(path, &limits).with_context(|| format!("could not read the model or table {}", path.display()))
}

fn tasks(args: &TasksArgs) -> Result<Outcome> {
    let mut out = std::io::stdout().lock();
    for task in Task::ALL {
        let alphabet = task.alphabet();
        let names: Vec<&str> = alphabet.terminals().map(|symbol| alphabet.name(symbol)).collect();
        let automaton = task.automaton();
        if args.json {
            let json =
                |automaton: echostack::Automaton| serde_json::from_str::<serde_json::Value>(&automaton.to_json());
            let automaton = automaton.map(json).transpose()?;
            let value = serde_json::json!({
                "task": task.name(), "terminals": names, "automaton": automaton,
                "grammar": task.sampling_grammar(),
            });
            writeln!(out, "{value}")?;
            continue;
        }
        writeln!(out, "{:12} {}", task.name(), names.join(" "))?;
        if let (true, Some(automaton), Some(grammar)) = (args.rules, automaton, task.sampling_grammar()) {
            for line in automaton.to_string().lines().chain(grammar.lines()) {
                writeln!(out, "    {line}")?;
            }
        }
    }
    Ok(Outcome::Accepted)
}
