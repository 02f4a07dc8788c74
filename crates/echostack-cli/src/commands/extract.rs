//! `echostack extract`: extracts the automaton from a machine, or compares the machine with another automaton.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use echostack::Alphabet;
use echostack::extract::{Extraction, extract};
use echostack_grammar::Encoding;

use crate::equivalent::{encoding_of, equivalent, explained};
use crate::outcome::Outcome;
use crate::output::{count, note, save, try_output};
use crate::progress::TimeLimit;
use crate::session::Session;
use crate::subject::encoding;

const EXAMPLES: &str = "\
Examples:
  Print the rules that a machine follows:
    echostack extract dyck1.safetensors
  Draw them:
    echostack extract dyck1.safetensors --format dot -o dyck1.dot
  Find a word on which a machine and a grammar differ:
    echostack extract json.safetensors --against testdata/grammars/json

Exit codes: 0 if the rules are exact, or the actions are the same; 1 if not; 2 on an error, or if it stays open.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Machine
    model: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value = "rules")]
    format: Format,
    /// File to write to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Decide whether the machine takes the same actions as this language (a grammar, `task:NAME`, or an automaton in
    /// JSON) on every word: the same pops, pushes of the same nonterminals, shifts and outputs. Two grammars of one
    /// language differ in this if one is left-recursive and the other is right-recursive, or if a nonterminal has another
    /// name. Exit code 0 if the actions are the same, 1 if a word shows that they are not, 2 if the question stays open
    /// or the symbols differ
    #[arg(long, value_name = "LANGUAGE", conflicts_with_all = ["format", "output"])]
    against: Option<String>,
    /// How a grammar is translated into rules [default: as in training]
    #[arg(long, value_parser = encoding())]
    encoding: Option<Encoding>,
    #[command(flatten)]
    limit: TimeLimit,
}

/// The format that the automaton is written in.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Ordered rules in the paper's form: stack suffix, lookahead, pop, push
    Rules,
    /// The productions that correspond to the reductions, in general not a grammar of the language
    Grammar,
    /// A graph for Graphviz
    Dot,
    /// The automaton in JSON, as read by other commands
    Json,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    try_output(&args.output)?;
    let machine = session.load_machine(&args.model)?;
    let bar = session.bar();
    if let Some(name) = &args.against {
        return args.limit.keep(&bar, |control| {
            let subject = session.open_subject(name, encoding_of(machine.manifest(), args.encoding), control)?;
            equivalent(&machine, &subject, &bar, control)
        });
    }
    let found = args.limit.keep(&bar, |control| {
        bar.begin("extracting the rules");
        explained(extract(&machine, control), &machine, &bar)
    })?;
    let Some(found) = found else { return Ok(Outcome::Rejected) };
    write(args, &written(args.format, &found, machine.alphabet()))?;
    if !session.quiet {
        let rules = count(found.oracle.automaton().rules().len(), "rule");
        let cells = count(found.certificate.size().cells, "cell");
        note(format_args!("exact: {rules}, proved with {cells} to describe what the machine does on every word"));
    }
    Ok(Outcome::Accepted)
}

fn written(format: Format, found: &Extraction, alphabet: &Alphabet) -> String {
    let automaton = found.oracle.automaton();
    match format {
        Format::Grammar => {
            let line = |(push, symbols): &(_, Vec<_>)| {
                let names: Vec<String> = symbols.iter().map(|&symbol| alphabet.plain_name(symbol)).collect();
                let right = if names.is_empty() { "ε".to_string() } else { names.join(" ") };
                format!("{} -> {right}\n", alphabet.plain_name(*push))
            };
            found.productions.iter().map(line).collect()
        }
        Format::Dot => found.dot(),
        Format::Json => automaton.to_json() + "\n",
        Format::Rules => automaton.to_string(),
    }
}

fn write(args: &Args, text: &str) -> Result<()> {
    match &args.output {
        Some(path) => save(path, text),
        None => Ok(std::io::stdout().write_all(text.as_bytes())?),
    }
}
