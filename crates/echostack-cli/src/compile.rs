//! `echostack compile`: compiles a machine to a table, or to a source file that contains the table.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::ValueEnum;
use echostack::Table;
use echostack::extract::replicate;
use echostack::recognize::Mode;
use echostack::table::SourceLanguage;
use echostack_grammar::{Encoding, Subject};

use crate::certify::encoding_of;
use crate::extract::{equivalent, explained};
use crate::progress::Bar;
use crate::subject::encoding;
use crate::{Outcome, load};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// File to write the table or the source to
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// What to write
    #[arg(long, value_enum, default_value = "table")]
    emit: Emit,
    /// Compile this automaton (`task:NAME`, `grammar:PATH` or a file) after proving that the machine does the same on
    /// every word, instead of extracting the automaton from the machine
    #[arg(long, value_name = "AUTOMATON")]
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
    /// Rust source that needs no library, not even std
    Rust,
    /// C source that needs no library
    C,
}

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    let machine = load(&args.model)?;
    let bar = Bar::new(quiet);
    let oracle = if let Some(name) = &args.against {
        let subject = Subject::named(name, encoding_of(&machine, args.encoding), &bar)?;
        match equivalent(&machine, &subject, &bar, &bar)? {
            Outcome::Accepted => subject.oracle(Mode::Strict, &bar)?,
            other => return Ok(other),
        }
    } else {
        bar.begin("extracting the rules");
        match explained(replicate(&machine, &bar), &machine, &bar)? {
            Some((oracle, _)) => oracle,
            None => return Ok(Outcome::Rejected),
        }
    };
    let table = Table::new(&oracle, machine.manifest().clone())?;
    let source = match args.emit {
        Emit::Table => None,
        Emit::Rust => Some(table.source(SourceLanguage::Rust)?),
        Emit::C => Some(table.source(SourceLanguage::C)?),
    };
    match source {
        None => table.save(&args.output)?,
        Some(source) => std::fs::write(&args.output, source)
            .with_context(|| format!("could not write {}", args.output.display()))?,
    }
    if !quiet {
        let (actions, bytes) = table.size();
        let mut err = std::io::stderr();
        writeln!(err, "{} states, {actions} actions in {bytes} bytes", table.states())?;
    }
    Ok(Outcome::Accepted)
}
