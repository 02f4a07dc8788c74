//! `echostack extract`: extracts the automaton from a machine, or compares the machine with another automaton.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::ValueEnum;
use echostack::certify::Proof;
use echostack::extract::{Extraction, extract};
use echostack::language::Language;
use echostack::recognize::Mode;
use echostack::{Alphabet, Control, Machine, Oracle, Prover};
use echostack_grammar::{Encoding, Export, Grammar, Lexer, Notation};

use crate::compare::{comparable, encoding_of, equivalent, explained};
use crate::outcome::Outcome;
use crate::output::{count, note, save};
use crate::progress::{Bar, TimeLimit};
use crate::session::Session;
use crate::subject::encoding;

const EXAMPLES: &str = "\
Examples:
  Print the rules that a machine follows:
    echostack extract dyck1.safetensors
  Write a grammar of the words that it accepts:
    echostack extract dyck1.safetensors --format lark -o dyck1.lark
  Find a word on which a machine and a grammar differ:
    echostack extract json.safetensors --equivalent-to testdata/grammars/json

Exit codes: 0 if the rules are exact, or the actions are the same; 1 if not; 2 on an error, or if it stays open.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value = "rules")]
    format: Format,
    /// File to write to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Decide whether the machine takes the same actions as this automaton (`task:NAME`, a grammar or a JSON file) on
    /// every word: the same pops, pushes of the same nonterminals, shifts and outputs. Two grammars of one language
    /// differ in this if one is left-recursive and the other is right-recursive, or if a nonterminal has another name.
    /// Exit code 0 if the actions are the same, 1 if a word shows that they are not, 2 if the question stays open or
    /// the symbols differ
    #[arg(long, value_name = "AUTOMATON", conflicts_with_all = ["format", "output"])]
    equivalent_to: Option<String>,
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
    /// A grammar of exactly the words that the machine accepts, for bison
    Yacc,
    /// The lexer, for flex, together with --format yacc
    Flex,
    /// A grammar of exactly the texts that the machine accepts, for the Python package Lark
    Lark,
    /// The same in GBNF, which constrains the output of language models
    Gbnf,
    /// The same for llguidance, which constrains the output of language models
    Llguidance,
    /// A graph for Graphviz
    Dot,
    /// The automaton in JSON, as read by other commands
    Json,
}

impl Format {
    /// Returns the notation of a grammar for another tool.
    fn notation(self) -> Option<Notation> {
        match self {
            Self::Yacc => Some(Notation::Yacc),
            Self::Flex => Some(Notation::Flex),
            Self::Lark => Some(Notation::Lark),
            Self::Gbnf => Some(Notation::Gbnf),
            Self::Llguidance => Some(Notation::Llguidance),
            Self::Rules | Self::Grammar | Self::Dot | Self::Json => None,
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let machine = session.load_machine(&args.model)?;
    let bar = session.bar();
    if let Some(name) = &args.equivalent_to {
        return args.limit.keep(&bar, |control| {
            let subject = session.open_subject(name, encoding_of(machine.manifest(), args.encoding), control)?;
            equivalent(&machine, &subject, &bar, control)
        });
    }
    if let Some(notation) = args.format.notation() {
        return args.limit.keep(&bar, |control| export(args, session, notation, &machine, (&bar, control)));
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
        _ => automaton.to_string(),
    }
}

fn write(args: &Args, text: &str) -> Result<()> {
    match &args.output {
        Some(path) => save(path, text),
        None => Ok(std::io::stdout().write_all(text.as_bytes())?),
    }
}

/// Writes a grammar for another tool: the one that the machine learned if it is proved to do the same, and otherwise one
/// that is made from its rules.
fn export(
    args: &Args,
    session: &Session,
    notation: Notation,
    machine: &Machine,
    (bar, control): (&Bar, &dyn Control),
) -> Result<Outcome> {
    let lexer = machine.manifest().lexer().map(Lexer::new).transpose().context("the model's lexer is not valid")?;
    let taught = taught(args, machine, control)?;
    let (export, own) = if let Some(grammar) = &taught {
        bar.finish();
        (Export::of_grammar(grammar, lexer.as_ref())?, true)
    } else {
        bar.begin("extracting the rules");
        let Some(found) = explained(extract(machine, control), machine, bar)? else { return Ok(Outcome::Rejected) };
        (Export::of_oracle(&found.oracle, lexer.as_ref())?, false)
    };
    write(args, &export.write(notation)?)?;
    if !session.quiet {
        let what = if own { "the text of the grammar that it learned" } else { "its own rules" };
        let trusted = if lexer.is_some() { "; the lexer is trusted" } else { "" };
        note(format_args!("exact: the machine is proved to follow {what} on every word{trusted}"));
    }
    Ok(Outcome::Accepted)
}

/// Returns the grammar that the machine learned, if the machine is proved to follow its text on every word.
fn taught(args: &Args, machine: &Machine, control: &dyn Control) -> Result<Option<Grammar>> {
    let Some(source) = machine.manifest().grammar() else { return Ok(None) };
    let encoding = encoding_of(machine.manifest(), args.encoding);
    let Ok(grammar) = Grammar::new("grammar", source, encoding) else { return Ok(None) };
    if comparable(machine.alphabet(), "grammar", grammar.automaton().alphabet()).is_err() {
        return Ok(None);
    }
    let oracle = Oracle::new(grammar.automaton().clone(), Mode::Strict, control)?;
    let proof = Prover::new(&oracle, machine.view(), control)?.prove(machine, control)?;
    if !matches!(proof, Proof::Proved(_)) {
        return Ok(None);
    }
    grammar.check_translation(&oracle, control)?;
    Ok(Some(grammar))
}
