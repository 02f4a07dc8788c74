//! The command-line program `echostack`: learn, infer, check, prove and compile.
//!
//! It is a thin layer over the library: it parses arguments, calls the library and prints the results. Data goes to
//! standard output, messages to standard error. The exit code is 0 for accept, 1 for reject or incomplete, and 2 for an
//! error or a limit; docs/getting-started.md has a table for all commands.

// A closed pipe would make `println!` panic; `writeln!` returns an error, which ends the program quietly.
#![warn(clippy::print_stdout)]

mod certificate;
mod commands;
mod equivalent;
mod external;
mod inference;
mod input;
mod options;
mod outcome;
mod output;
mod progress;
mod reading;
mod renamed;
mod session;
mod subject;
mod text;
mod traces;
mod two_stacks;
mod words;

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::builder::StyledStr;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use echostack::file::FileLimits;
use echostack_grammar::GrammarLimits;

use crate::commands::{
    certify, check, compare, compile, construct, engine, evaluate, export, extract, infer, inspect, lab, learn, parse,
    run as run_machine, sample, tasks, teach,
};
use crate::outcome::{Outcome, is_closed_pipe};
use crate::output::note;
use crate::renamed::renamed;
use crate::session::Session;

/// Checks texts against a grammar for bison and flex, compiles it to C and Rust, exports it to other tools, and infers a
/// grammar where there is only a program. Also trains reservoir stack machines, which it proves to follow a grammar
#[derive(Parser)]
#[command(name = "echostack", version, propagate_version = true)]
struct Cli {
    /// Print only errors and show no progress; `check` then reports its verdict only through the exit code
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    quiet: bool,
    /// Print details of training and proofs
    #[arg(long, short, global = true, conflicts_with = "quiet", help_heading = GLOBAL)]
    verbose: bool,
    /// Number of threads; never changes a result [default: all cores]
    #[arg(long, global = true, value_name = "N", help_heading = GLOBAL)]
    threads: Option<usize>,
    /// Limits on model files, such as `bytes=1000000,neurons=512`: bytes, symbols, neurons, centers (of support vectors),
    /// states (of a table) [default: what the largest model has]
    #[arg(long, global = true, value_name = "NAME=NUMBER,...", help_heading = GLOBAL)]
    model_limits: Option<FileLimits>,
    /// Limits on grammars and lexers, such as `productions=1000,states=5000`: bytes, symbols, productions, states
    /// and entries (of the LR(1) table), transitions (between viable stacks), `lexer_states` [default: what large grammars need]
    #[arg(long, global = true, value_name = "NAME=NUMBER,...", help_heading = GLOBAL)]
    grammar_limits: Option<GrammarLimits>,
    #[command(subcommand)]
    command: Command,
}

const GLOBAL: &str = "Options of all commands";

#[derive(Subcommand)]
enum Command {
    /// Infer a grammar and a lexer from example texts and a program that accepts or rejects texts: exit code 0 if the
    /// language was learned, 1 if the run did not converge, 2 on an error
    Infer(infer::Args),
    /// Find out where programs and grammars disagree: exit code 0 if no disagreement was found, 1 if there are some, 2 on an
    /// error
    Compare(compare::Args),
    /// Check texts or words: exit code 0 if all are accepted, 1 if at least one is not, 2 on an error or a limit
    Check(check::Args),
    /// Print the parse trees of texts or words
    Parse(parse::Args),
    /// Write a grammar for another tool: Lark, llama.cpp, ANTLR, bison and others
    Export(export::Args),
    /// Compile a grammar or a machine to C, to Rust, or to a table that runs at the speed of a parser
    Compile(compile::Args),
    /// Write texts of a grammar, valid ones or with a mistake, or words of a language
    Sample(sample::Args),
    /// Show what a grammar, a table, a machine or any other file of echostack contains
    Inspect(inspect::Args),
    /// Train a machine, prove it correct on every word, and save it
    Learn(Box<learn::Args>),
    /// Prove that a machine or a table follows a grammar on every word, or check a proof: exit code 0 if it is proved, 1 if
    /// not, 2 on an error
    Certify(certify::Args),
    /// Extract the automaton from a machine, with a proof that the machine does the same on every word
    Extract(extract::Args),
    /// Construct a machine from a grammar or an automaton, without training, and prove it correct on every word
    Construct(construct::Args),
    /// Run a machine with two stacks on one word, and show the run as the tape of a Turing machine: exit code 0 if it
    /// accepts, 1 if it halts without accepting, 2 on an error or a limit
    Run(run_machine::Args),
    /// Measure a machine or a table on fresh words
    Evaluate(evaluate::Args),
    /// List the built-in tasks
    Tasks(tasks::Args),
    /// Write the actions of a parser on words of a language, for `learn --traces`
    Teach(teach::Args),
    /// Run experiments: the paper's tables, and benchmarks
    Lab(lab::Args),
    /// Check the words in many Parquet, Arrow, JSON Lines or CSV files (needs the program echostack-engine)
    #[command(
        disable_help_flag = true,
        override_usage = "echostack score [OPTIONS] --output <FOLDER> <MODEL> <INPUTS>...",
        after_help = engine::OPTIONS
    )]
    Score(engine::Args),
    /// Count the distinct contexts in a corpus of traces, for `learn --contexts` (needs the program echostack-engine)
    #[command(
        disable_help_flag = true,
        override_usage = "echostack contexts [OPTIONS] --output <FILE> <INPUTS>...",
        after_help = engine::OPTIONS
    )]
    Contexts(engine::Args),
    /// Convert traces from JSON Lines to Parquet, for `contexts` (needs the program echostack-engine)
    #[command(
        disable_help_flag = true,
        override_usage = "echostack pack --output <FILE> <INPUT>",
        after_help = engine::OPTIONS
    )]
    Pack(engine::Args),
    /// Run the scheduler or an executor of a cluster, for the option `--cluster` of other commands (needs the program
    /// echostack-engine)
    #[command(
        disable_help_flag = true,
        override_usage = "echostack cluster <COMMAND>",
        after_help = engine::OPTIONS
    )]
    Cluster(engine::Args),
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

/// The commands in the order of the help, by what people do.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Everyday", &["infer", "compare", "check", "parse", "export", "compile", "sample", "inspect"]),
    ("Machines and proofs", &["learn", "certify", "extract", "construct", "run", "evaluate"]),
    ("Research", &["tasks", "teach", "lab"]),
    ("Many files", &["score", "contexts", "pack", "cluster"]),
    ("Shell", &["completions", "man", "help"]),
];

/// Returns the command line as a whole, whose help has the commands in groups.
fn command_line() -> clap::Command {
    let mut built = Cli::command();
    built.build();
    let mut groups = String::new();
    for (title, names) in GROUPS {
        _ = writeln!(groups, "{title}:");
        for command in names.iter().filter_map(|name| built.find_subcommand(name)) {
            // What follows a colon are details, which the help of the command repeats.
            let about = command.get_about().map(StyledStr::to_string).unwrap_or_default();
            let about = about.split(": exit code").next().unwrap_or_default();
            _ = writeln!(groups, "  {:12} {about}", command.get_name());
        }
        groups.push('\n');
    }
    let start = "A grammar is a file NAME.y with its lexer NAME.l, grammar.y with lexer.l, or a folder with these. Start with\n  \
                 echostack check grammar.y text.txt       is this text valid?\n  \
                 echostack compile grammar.y -o parser.c  a parser in C\n  \
                 echostack export grammar.y --format gbnf -o grammar.gbnf\n  \
                 echostack help infer                     a grammar from examples and a program\n  \
                 echostack help COMMAND                   the options of a command, with examples\n";
    Cli::command()
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{GLOBAL}:\n{{options}}\n\n{{after-help}}"
        ))
        .after_help(start)
}

fn main() -> ExitCode {
    let (arguments, hints) = renamed(std::env::args_os().collect());
    let matches = command_line().get_matches_from(arguments);
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    if !cli.quiet {
        hints.iter().for_each(note);
    }
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

fn run(cli: Cli) -> Result<Outcome> {
    if let Some(threads) = cli.threads {
        anyhow::ensure!((1..=1024).contains(&threads), "--threads is {threads}, but must be from 1 to 1024");
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    let Cli { quiet, verbose, threads, model_limits, grammar_limits, command } = cli;
    let session = Session { quiet, verbose, threads, model_limits, grammar_limits };
    let engine = |name: &str, args: &engine::Args| engine::run(name, args, &session, || help_of(name));
    match command {
        Command::Tasks(args) => tasks::run(&args),
        Command::Sample(args) => sample::run(&args, &session),
        Command::Infer(args) => infer::run(&args, &session),
        Command::Compare(args) => compare::run(&args, &session),
        Command::Learn(args) => learn::run(&args, &session),
        Command::Check(args) => check::run(&args, &session),
        Command::Evaluate(args) => evaluate::run(&args, &session),
        Command::Certify(args) => certify::run(&args, &session),
        Command::Export(args) => export::run(&args, &session),
        Command::Extract(args) => extract::run(&args, &session),
        Command::Compile(args) => compile::run(&args, &session),
        Command::Construct(args) => construct::run(&args, &session),
        Command::Run(args) => run_machine::run(&args, &session),
        Command::Teach(args) => teach::run(&args, &session),
        Command::Parse(args) => parse::run(&args, &session),
        Command::Inspect(args) => inspect::run(&args, &session),
        Command::Lab(args) => lab::run(&args, &session),
        Command::Score(args) => engine("score", &args),
        Command::Contexts(args) => engine("contexts", &args),
        Command::Pack(args) => engine("pack", &args),
        Command::Cluster(args) => engine("cluster", &args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command_line(), "echostack", &mut script);
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

/// Returns the help of a command.
fn help_of(command: &str) -> StyledStr {
    let mut cli = command_line();
    cli.build();
    cli.find_subcommand_mut(command).map(clap::Command::render_long_help).unwrap_or_default()
}
