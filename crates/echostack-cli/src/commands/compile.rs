//! `echostack compile`: compiles a grammar or a machine to a table, or to a source file that contains the table.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use echostack::Table;
use echostack::extract::replicate;
use echostack::recognize::Mode;
use echostack::table::{Prefix, SourceLanguage};
use echostack_grammar::{Encoding, Judge};

use crate::equivalent::{encoding_of, equivalent, explained};
use crate::outcome::Outcome;
use crate::output::{note, save, try_output};
use crate::session::{Session, machine_of};
use crate::subject::encoding;

/// Examples that are shown below the options.
const EXAMPLES: &str = "Examples:
  echostack compile grammar.y -o parser.c                               parser.c and parser.h
  echostack compile testdata/grammars/json --prefix json_ -o json.c     with names that begin with json_
  echostack compile json.safetensors -o json.table                      a table, for check, parse and evaluate
  echostack compile json.table -o src/json.rs                           a Rust module that needs no std";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Grammar (a folder, or NAME.y), table or machine
    model: PathBuf,
    /// File to write the table or the source to
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// What to write. Without this option, the name of the file tells (.c or .rs); any other name means a table
    #[arg(long, value_enum, ignore_case = true)]
    emit: Option<Emit>,
    /// What the names in C begin with, such as json_, so that several recognizers fit into one program [default:
    /// echostack_]
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<Prefix>,
    /// Compile this language (a grammar, `task:NAME`, or an automaton in JSON) after proving that the machine does the
    /// same on every word, instead of extracting the automaton from the machine
    #[arg(long, value_name = "LANGUAGE")]
    against: Option<String>,
    /// How a grammar is translated into rules [default: as in training]
    #[arg(long, value_parser = encoding())]
    encoding: Option<Encoding>,
}

/// The form that a machine is compiled to.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// A table, which `check`, `parse` and `evaluate` accept in place of a model file
    Table,
    /// Rust source that needs no library, not even std, with the lexer if the model has one
    Rust,
    /// C source and its header, which need no library, with the lexer if the model has one
    C,
}

impl Args {
    /// Returns what to write.
    fn emit(&self) -> Emit {
        let by_name = || match self.output.extension()?.to_str()? {
            "c" | "h" => Some(Emit::C),
            "rs" => Some(Emit::Rust),
            _ => None,
        };
        self.emit.or_else(by_name).unwrap_or(Emit::Table)
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let emit = args.emit();
    if args.prefix.is_some() && emit != Emit::C {
        bail!("--prefix is for --emit c; in Rust, the name of the module distinguishes recognizers");
    }
    if emit == Emit::C && args.output.extension().is_some_and(|extension| extension == "h") {
        bail!("{} is a header, which is written next to the source: give a name such as x.c", args.output.display());
    }
    try_output([&args.output])?;
    let table = match table(args, session)? {
        Ok(table) => table,
        Err(outcome) => return Ok(outcome),
    };
    match emit {
        Emit::Table => table.save(&args.output)?,
        Emit::Rust => write_source(args, &table, SourceLanguage::Rust)?,
        Emit::C => write_source(args, &table, SourceLanguage::C)?,
    }
    if !session.quiet {
        let (actions, bytes) = table.size();
        let output = args.output.display();
        let saved = match emit {
            Emit::Table => format!("the table {output}"),
            Emit::Rust => output.to_string(),
            Emit::C => format!("{output} and {}", args.output.with_extension("h").display()),
        };
        note(format_args!("{} states, {actions} actions in {bytes} bytes; saved {saved}", table.states()));
    }
    Ok(Outcome::Accepted)
}

/// Returns the table, or the outcome if the machine cannot be compiled, which is explained.
fn table(args: &Args, session: &Session) -> Result<Result<Table, Outcome>> {
    let opened = session.open(&args.model)?;
    if let (None, Some(table)) = (&args.against, opened.model.table()) {
        return Ok(Ok(table.clone()));
    }
    let machine = machine_of(&opened, &args.model)?;
    let bar = session.bar();
    let oracle = if let Some(name) = &args.against {
        let subject = session.open_subject(name, encoding_of(machine.manifest(), args.encoding), &bar)?;
        match equivalent(&machine, &subject, &bar, &bar)? {
            Outcome::Accepted => subject.oracle(Mode::Strict, &bar)?,
            other => return Ok(Err(other)),
        }
    } else {
        bar.begin("extracting the rules");
        match explained(replicate(&machine, &bar), &machine, &bar)? {
            Some((oracle, _)) => oracle,
            None => return Ok(Err(Outcome::Rejected)),
        }
    };
    Ok(Ok(Table::compile(&oracle, machine.manifest().clone(), &bar)?))
}

/// Writes the table as source code and, in C, the header next to it.
fn write_source(args: &Args, table: &Table, language: SourceLanguage) -> Result<()> {
    let judge = Judge::new(table.clone().into()).context("the model's lexer is faulty")?;
    let source = judge.source(language, &args.prefix.clone().unwrap_or_default())?;
    let source = source.context("a machine cannot be written as source code")?;
    let header = args.output.with_extension("h");
    let name = header.file_name().map(|name| name.to_string_lossy().into_owned());
    save(&args.output, source.code(name.as_deref()))?;
    source.header().map_or(Ok(()), |text| save(&header, text))
}
