//! `echostack certify`: prove that a machine agrees with an automaton on every word, or check such a proof.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use echostack::certify::{OpenCell, Size};
use echostack::{
    Alphabet, Certificate, CertifyError, Lookahead, Machine, Mode, Oracle, Proof, Prover, SymbolId, check,
};
use serde_json::json;

use crate::check::tell;
use crate::progress::Bar;
use crate::sample::names;
use crate::subject::{EncodingName, Subject};
use crate::{Outcome, load, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The model file
    model: PathBuf,
    /// What it shall agree with: `task:NAME`, `grammar:PATH`, or an automaton in JSON
    #[arg(long, value_name = "AUTOMATON")]
    against: String,
    /// Where to write the certificate
    #[arg(long, short, value_name = "FILE", conflicts_with = "check")]
    output: Option<PathBuf>,
    /// Check this certificate, in place of searching for one
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// How a grammar becomes rules [default: as the machine was taught]
    #[arg(long, value_enum)]
    encoding: Option<EncodingName>,
    /// How many open cells to show if there is no proof
    #[arg(long, default_value_t = 10, value_name = "N")]
    show_open: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    let machine = Arc::new(load(&args.model)?);
    let taught = machine.manifest().get("encoding").and_then(|name| EncodingName::from_str(name, false).ok());
    let subject = Subject::named(&args.against, args.encoding.or(taught).unwrap_or(EncodingName::Auto))?;
    let oracle = subject.oracle(Mode::Strict)?;
    let start = Instant::now();
    if let Some(path) = &args.check {
        return check_file(args, quiet, path, &machine, &oracle, &subject.name, start);
    }
    let bar = Bar::new(quiet);
    let prover = Prover::new(&oracle, machine.view())?;
    let proof = prover.prove(&machine, &bar);
    bar.finish();
    match proof? {
        Proof::Proved(certificate) => {
            if let Some(path) = &args.output {
                write(path, &certificate)?;
            }
            tell_proved(args.json, quiet, &subject.name, certificate.size(), start.elapsed().as_secs_f64())?;
            Ok(Outcome::Accepted)
        }
        Proof::Open { cells, examined, .. } => {
            let difference = prover.difference(&machine, &cells);
            let alphabet = machine.alphabet();
            if args.json {
                let difference = difference.map(|found| {
                    let [machine, automaton] =
                        [&found.machine, &found.automaton].map(|verdict| tell(alphabet, verdict, None));
                    let word: Vec<&str> = names(alphabet, &found.word).collect();
                    json!({"word": word, "machine": machine, "automaton": automaton})
                });
                let open: Vec<String> =
                    cells.iter().take(args.show_open).map(|cell| tell_cell(alphabet, cell)).collect();
                let count = cells.len();
                print_json(
                    &json!({"proved": false, "difference": difference, "examined": examined, "open": count, "cells": open}),
                )?;
                return Ok(Outcome::Rejected);
            }
            println!("not proved: {} of {examined} cells are open", cells.len());
            match difference {
                Some(found) => {
                    let word: Vec<&str> = names(alphabet, &found.word).collect();
                    println!("the two differ on the word: {}", word.join(" "));
                    println!("  machine:   {}", tell(alphabet, &found.machine, None));
                    println!("  automaton: {}", tell(alphabet, &found.automaton, None));
                }
                None => println!("no word is known on which they differ"),
            }
            for cell in cells.iter().take(args.show_open) {
                println!("{}", tell_cell(alphabet, cell));
            }
            Ok(Outcome::Rejected)
        }
    }
}

fn check_file(
    args: &Args,
    quiet: bool,
    path: &Path,
    machine: &Machine,
    oracle: &Oracle,
    name: &str,
    start: Instant,
) -> Result<Outcome> {
    let text = std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    let certificate = Certificate::from_json(&text).with_context(|| format!("could not use {}", path.display()))?;
    match check(&certificate, machine, oracle) {
        Ok(()) => {
            tell_proved(args.json, quiet, name, certificate.size(), start.elapsed().as_secs_f64())?;
            Ok(Outcome::Accepted)
        }
        Err(CertifyError::Refused(why)) => {
            if args.json {
                print_json(&json!({"proved": false, "refused": why}))?;
            } else {
                println!("the certificate does not prove it: {why}");
            }
            Ok(Outcome::Rejected)
        }
        Err(error) => bail!(error),
    }
}

/// Writes a certificate to a file.
pub(crate) fn write(path: &Path, certificate: &Certificate) -> Result<()> {
    std::fs::write(path, certificate.to_json()).with_context(|| format!("could not write {}", path.display()))
}

fn tell_proved(as_json: bool, quiet: bool, name: &str, size: Size, seconds: f64) -> Result<()> {
    let Size { stacks, cells, depth, input, reach } = size;
    if as_json {
        return print_json(&json!({
            "proved": true, "against": name, "cells": cells, "stacks": stacks, "depth": depth, "input": input,
            "reach": reach, "seconds": seconds,
        }));
    }
    if !quiet {
        println!("proved in {:.0} ms: on every word, of any length, the machine does what {name} does", seconds * 1e3);
        println!(
            "{cells} cells on {stacks} ends of the stack; at most {depth} symbols of the stack and {input} of the input decide"
        );
    }
    Ok(())
}

fn spelled(alphabet: &Alphabet, symbols: impl Iterator<Item = SymbolId>) -> String {
    symbols.map(|symbol| alphabet.name(symbol)).collect::<Vec<_>>().join(" ")
}

fn tell_cell(alphabet: &Alphabet, cell: &OpenCell) -> String {
    let input = spelled(alphabet, cell.before.iter().rev().copied());
    let stack = spelled(alphabet, cell.stack.iter().copied());
    let next = match cell.next {
        Lookahead::Token(token) => alphabet.name(token),
        Lookahead::End => "the end",
    };
    let bottom = if cell.whole { "^ " } else { "" };
    format!(
        "open: {:?} on the stack [{bottom}{stack}] before {}{}{}: the bound misses by {:.3}, the value in the middle is {:.3}",
        cell.readout,
        next,
        if input.is_empty() { "" } else { ", after " },
        input,
        -cell.margin,
        cell.middle
    )
}
