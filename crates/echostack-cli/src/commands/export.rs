//! `echostack export`: writes a grammar in the notation of another tool.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::ValueEnum;
use echostack::certify::{Comparison, Proof, check_table};
use echostack::extract::extract;
use echostack::recognize::Mode;
use echostack::{Control, Model, Prover};
use echostack_grammar::{Export, Exported, Lexer, Notation, Subject};

use crate::equivalent::{comparable, explained};
use crate::outcome::Outcome;
use crate::output::{note, save, try_output};
use crate::progress::{Bar, TimeLimit};
use crate::session::{Opened, Session};

const EXAMPLES: &str = "\
Examples:
  echostack export grammar.y --format lark -o grammar.lark
  echostack export testdata/grammars/json --format gbnf -o json.gbnf     for llama.cpp and xgrammar
  echostack export json.safetensors --format lark                        what a machine was proved to follow

The target accepts exactly the texts that `echostack check` accepts, or nothing is written and a message says why.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Grammar (a folder, or NAME.y), table or machine
    model: PathBuf,
    /// The tool that the grammar is for
    #[arg(long, value_enum)]
    format: Format,
    /// File to write to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    limit: TimeLimit,
}

/// The notation of another tool, as a command-line value.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// GBNF, which constrains the output of language models: llama.cpp, xgrammar
    #[value(aliases = ["llama.cpp", "llamacpp", "xgrammar"])]
    Gbnf,
    /// The dialect of Lark that llguidance reads, which constrains the output of language models
    Llguidance,
    /// The Python package Lark
    Lark,
    /// A combined grammar for ANTLR 4, which Grammarinator and Fandango read as well
    #[value(aliases = ["antlr4", "g4"])]
    Antlr,
    /// bison
    #[value(alias = "bison")]
    Yacc,
    /// The lexer for flex, together with --format yacc
    #[value(alias = "lex")]
    Flex,
    /// The W3C's EBNF, to read
    Ebnf,
    /// Railroad diagrams, to look at
    Svg,
}

impl From<Format> for Notation {
    fn from(format: Format) -> Self {
        match format {
            Format::Gbnf => Self::Gbnf,
            Format::Llguidance => Self::Llguidance,
            Format::Lark => Self::Lark,
            Format::Yacc => Self::Yacc,
            Format::Flex => Self::Flex,
            Format::Antlr => Self::Antlr,
            Format::Ebnf => Self::Ebnf,
            Format::Svg => Self::Svg,
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    try_output(&args.output)?;
    let opened = session.open(&args.model)?;
    let bar = session.bar();
    args.limit.keep(&bar, |control| export(args, session, &opened, (&bar, control)))
}

fn export(args: &Args, session: &Session, opened: &Opened, (bar, control): (&Bar, &dyn Control)) -> Result<Outcome> {
    if let Some(subject) = &opened.grammar {
        let grammar = subject.grammar().context("a grammar was opened")?;
        let export = Export::of_grammar(grammar, subject.lexer());
        let why = match subject.lexer() {
            Some(_) => "as the grammar is written",
            None => "as the grammar is written; it has no lexer, so tokens are written as their names",
        };
        return write(args, session, &export, why);
    }
    let (manifest, limits) = (opened.model.manifest(), session.grammar_limits());
    bar.begin("comparing with the grammar");
    let subject = Subject::of_manifest(manifest, &limits);
    let followed = match &subject {
        Ok(Some(subject)) => follows(&opened.model, subject, control)?.then_some(subject),
        _ => None,
    };
    bar.finish();
    if let Some((subject, grammar)) = followed.and_then(|subject| Some((subject, subject.grammar()?))) {
        let export = Export::of_grammar(grammar, subject.lexer());
        return write(args, session, &export, "the model is proved to follow the text of this grammar on every word");
    }
    if let (Err(error), false) = (&subject, session.quiet) {
        note(format_args!("warning: the grammar in the model cannot be used: {error}"));
    }
    let Some(machine) = opened.model.machine() else {
        let path = args.model.display();
        anyhow::bail!("{path} is a table that does not contain its grammar; export the grammar, or the machine instead")
    };
    bar.begin("extracting the rules");
    let Some(found) = explained(extract(machine, control), machine, bar)? else { return Ok(Outcome::Rejected) };
    let lexer = manifest.lexer().map(|text| Lexer::new_within(text, &limits)).transpose();
    let lexer = lexer.context("the model's lexer is not valid")?;
    let export = Export::of_oracle(&found.oracle, lexer.as_ref())?;
    write(args, session, &export, "the machine is proved to follow these rules on every word")
}

/// Writes the grammar, and says how it was made.
fn write(args: &Args, session: &Session, export: &Export<'_>, why: &str) -> Result<Outcome> {
    let Exported { text, remarks } = export.write(args.format.into())?;
    match &args.output {
        Some(path) => save(path, text)?,
        None => std::io::stdout().write_all(text.as_bytes())?,
    }
    if !session.quiet {
        let all: Vec<&str> = std::iter::once(why).chain(remarks.iter().map(String::as_str)).collect();
        note(format_args!("exact: {}", all.join("; ")));
        let file = args.output.as_ref().and_then(|path| path.file_stem());
        if args.format == Format::Antlr && file != Some("Exported".as_ref()) {
            note(format_args!("ANTLR itself reads this grammar from a file named Exported.g4"));
        }
    }
    Ok(Outcome::Accepted)
}

/// Returns whether a model is proved to follow a grammar's text on every word.
fn follows(model: &Model, subject: &Subject, control: &dyn Control) -> Result<bool> {
    if comparable(model.alphabet(), subject.name(), subject.alphabet()).is_err() {
        return Ok(false);
    }
    let oracle = subject.oracle(Mode::Strict, control)?;
    let is_equal = match (model.machine(), model.table()) {
        (Some(machine), _) => {
            let proof = Prover::new(&oracle, machine.view(), control)?.prove(machine, control)?;
            matches!(proof, Proof::Proved(_))
        }
        (None, Some(table)) => matches!(check_table(table, &oracle, control)?, Comparison::Equal { .. }),
        (None, None) => false,
    };
    if is_equal {
        subject.check_translation(&oracle, control)?;
    }
    Ok(is_equal)
}
