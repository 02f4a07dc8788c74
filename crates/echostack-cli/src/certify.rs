//! `echostack certify`: proves that a machine does the same as an automaton on every word, or checks such a proof.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use echostack::certify::{CertifyError, Proof};
use echostack::certify::{Difference, OpenCell, ProvedCell, Size, check_each};
use echostack::file::{MAX_BYTES, read_text};
use echostack::machine::Readout;
use echostack::recognize::{Mode, Reduction};
use echostack::suffix::InputSuffix;
use echostack::teach::Answer;
use echostack::{Alphabet, Certificate, Control, Machine, Oracle, Prover, Verdict};
use echostack_grammar::{Encoding, Subject};
use serde_json::json;

use crate::check::tell;
use crate::output::{count, save};
use crate::progress::{Bar, TimeLimit};
use crate::sample::names;
use crate::subject::encoding;
use crate::{Outcome, grammar_limits, load, print_json};

const EXAMPLES: &str = "\
Examples:
  Prove a machine correct against its grammar, and keep the certificate:
    echostack certify json.safetensors --against testdata/grammars/json -o json.certificate
  Check a certificate, without searching:
    echostack certify json.safetensors --against testdata/grammars/json --check json.certificate

Exit codes: 0 if the machine is proved; 1 if it is not, or if the certificate is not valid; 2 on an error.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Automaton to compare the machine with: `task:NAME`, a grammar (a folder or a file `NAME.y`), or a JSON file
    #[arg(long, value_name = "AUTOMATON")]
    against: String,
    /// File to write the certificate to
    #[arg(long, short, value_name = "FILE", conflicts_with = "check")]
    output: Option<PathBuf>,
    /// Check this certificate instead of searching for a proof
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Show every cell that is checked: readout, next token, stack suffix, answer, and margin (a lower bound on
    /// how far the answer is ahead of any other)
    #[arg(long, requires = "check", conflicts_with = "json")]
    cells: bool,
    /// File to write the automaton to, in JSON: exactly the bytes whose digest is in the certificate
    #[arg(long, value_name = "FILE")]
    write_automaton: Option<PathBuf>,
    /// How a grammar is translated into rules [default: as in training]
    #[arg(long, value_parser = encoding())]
    encoding: Option<Encoding>,
    /// Maximum number of open cells to show if there is no proof
    #[arg(long, default_value_t = 10, value_name = "N")]
    show_open: usize,
    /// Maximum number of cells that the search for a proof examines
    #[arg(long, default_value_t = Prover::MAX_CELLS, value_name = "N", conflicts_with = "check")]
    max_cells: usize,
    #[command(flatten)]
    limit: TimeLimit,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    let bar = Bar::new(quiet);
    args.limit.keep(&bar, |control| certify(args, quiet, &bar, control))
}

fn certify(args: &Args, quiet: bool, bar: &Bar, control: &dyn Control) -> Result<Outcome> {
    let machine = load(&args.model)?;
    let subject = Subject::named(&args.against, encoding_of(&machine, args.encoding), &grammar_limits(), control)?;
    subject.check_lexer()?;
    let oracle = subject.oracle(Mode::Strict, control)?;
    comparable(machine.alphabet(), subject.name(), subject.alphabet())?;
    if let Some(path) = &args.write_automaton {
        save(path, oracle.automaton().to_json())?;
    }
    let start = Instant::now();
    if let Some(path) = &args.check {
        return check_file(args, quiet, path, (&machine, &oracle, subject.name()), start, control);
    }
    let prover = Prover::new(&oracle, machine.view(), control)?.with_max_cells(args.max_cells);
    let proof = prover.prove(&machine, control);
    bar.finish();
    match proof? {
        Proof::Proved(certificate) => {
            if let Some(path) = &args.output {
                write(path, &certificate)?;
            }
            tell_proved(args, quiet, (subject.name(), machine.alphabet()), certificate.size(), start)?;
            Ok(Outcome::Accepted)
        }
        Proof::Open { cells, examined, .. } => {
            let difference = prover.difference(&machine, &cells, control);
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
            let mut out = std::io::stdout().lock();
            writeln!(out, "not proved: {} of {} open", cells.len(), count(examined, "cell"))?;
            if examined > args.max_cells {
                writeln!(out, "the search ended at the limit of {} (--max-cells)", count(args.max_cells, "cell"))?;
            }
            match difference {
                Some(found) => tell_difference(&mut out, alphabet, &found)?,
                None => writeln!(out, "no word was found on which the two differ")?,
            }
            for cell in cells.iter().take(args.show_open) {
                writeln!(out, "{}", tell_cell(alphabet, cell))?;
            }
            Ok(Outcome::Rejected)
        }
    }
}

/// Checks that a machine has the same symbols as an automaton or traces. Actions are compared one by one, so even a
/// nonterminal with another name makes them different.
pub(crate) fn comparable(machine: &Alphabet, name: &str, automaton: &Alphabet) -> Result<()> {
    let names = |alphabet: &Alphabet| -> Vec<String> {
        alphabet.terminals().chain(alphabet.nonterminals()).map(|symbol| alphabet.name(symbol).to_string()).collect()
    };
    let (own, other) = (names(machine), names(automaton));
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|name| !those.contains(name)).take(10).cloned().collect()
    };
    let (extra, missing) = (only(&own, &other), only(&other, &own));
    let how = match (extra.is_empty(), missing.is_empty()) {
        (true, true) if machine == automaton => return Ok(()),
        (true, true) => "they are in another order".to_string(),
        (false, true) => format!("only the machine has {}", extra.join(" ")),
        (true, false) => format!("only {name} has {}", missing.join(" ")),
        (false, false) => {
            format!("only the machine has {}, and only {name} has {}", extra.join(" "), missing.join(" "))
        }
    };
    bail!(
        "the machine and {name} have different symbols: {how}. What is compared is every action, including the \
         nonterminal that is pushed, so both need the same terminals and nonterminals in the same order"
    )
}

/// Returns the encoding of the grammar that a machine is compared with: the given one, else the one used in training.
pub(crate) fn encoding_of(machine: &Machine, asked: Option<Encoding>) -> Encoding {
    let taught = machine.manifest().encoding().and_then(|name| name.parse().ok());
    asked.or(taught).unwrap_or(Encoding::Auto)
}

/// Prints a word on which a machine and an automaton differ, and the verdict of each.
pub(crate) fn tell_difference(out: &mut dyn Write, alphabet: &Alphabet, found: &Difference) -> Result<()> {
    let word: Vec<&str> = names(alphabet, &found.word).collect();
    writeln!(out, "the two differ on the word: {}", word.join(" "))?;
    for (who, verdict) in [("machine:  ", &found.machine), ("automaton:", &found.automaton)] {
        let refused = match verdict {
            Verdict::Reject { position, .. } => word.get(*position as usize).copied(),
            _ => None,
        };
        writeln!(out, "  {who} {}", tell(alphabet, verdict, refused))?;
    }
    Ok(())
}

fn check_file(
    args: &Args,
    quiet: bool,
    path: &Path,
    (machine, oracle, name): (&Machine, &Oracle, &str),
    start: Instant,
    control: &dyn Control,
) -> Result<Outcome> {
    let text = read_text(path, MAX_BYTES).context("could not read the certificate")?;
    let certificate = Certificate::from_json(&text).with_context(|| format!("could not use {}", path.display()))?;
    let mut cells = Vec::new();
    let mut tell = |cell: ProvedCell| {
        if args.cells {
            cells.push(cell);
        }
    };
    match check_each(&certificate, machine, oracle, control, &mut tell) {
        Ok(()) => {
            let mut out = std::io::stdout().lock();
            for cell in &cells {
                writeln!(out, "{}", tell_proved_cell(machine.alphabet(), cell))?;
            }
            drop(out);
            tell_proved(args, quiet, (name, machine.alphabet()), certificate.size(), start)?;
            Ok(Outcome::Accepted)
        }
        Err(CertifyError::Refused(why)) => {
            if args.json {
                print_json(&json!({"proved": false, "refused": why}))?;
            } else {
                writeln!(std::io::stdout(), "the certificate is not valid: {why}")?;
            }
            Ok(Outcome::Rejected)
        }
        Err(error) => bail!(error),
    }
}

/// Writes a certificate to a file.
pub(crate) fn write(path: &Path, certificate: &Certificate) -> Result<()> {
    save(path, certificate.to_json())
}

fn tell_proved(
    args: &Args,
    quiet: bool,
    (name, alphabet): (&str, &Alphabet),
    size: Size,
    start: Instant,
) -> Result<()> {
    let seconds = start.elapsed().as_secs_f64();
    let Size { stacks, cells, depth, input, elements, reach, completions } = size;
    if args.json {
        return print_json(&json!({
            "proved": true, "against": name, "cells": cells, "stacks": stacks, "depth": depth, "input": input,
            "elements": elements, "symbols": alphabet.len(), "reach": reach,
            "completions": completions, "seconds": seconds,
        }));
    }
    if !quiet {
        let mut out = std::io::stdout().lock();
        let milliseconds = seconds * 1e3;
        writeln!(
            out,
            "proved in {milliseconds:.0} ms: the machine does the same as {name} on every word, of any length"
        )?;
        let (cells, stacks, depth) = (count(cells, "cell"), count(stacks, "stack suffix"), count(depth, "symbol"));
        writeln!(
            out,
            "{cells} on {stacks}; at most {depth} of the stack and {input} of the input determine each decision"
        )?;
    }
    Ok(())
}

fn tell_proved_cell(alphabet: &Alphabet, cell: &ProvedCell) -> String {
    let (readout, answer) = match (cell.readout, cell.answer) {
        (Readout::Pop, Answer::Act(Reduction { pop, .. })) => ("pop", pop.to_string()),
        (_, Answer::Act(Reduction { push, .. })) => {
            ("push", push.map_or("nothing".to_string(), |symbol| alphabet.name(symbol).to_string()))
        }
        (_, Answer::Shift(shift)) => ("shift", if shift { "yes" } else { "no" }.to_string()),
        (_, Answer::Output(accepts)) => ("output", u8::from(accepts).to_string()),
    };
    let (input, stack) = (cell.input.display(alphabet), cell.stack.display(alphabet));
    format!("{readout:6}  next {input:12} stack {stack:24} {answer:8} by {:.3}", cell.margin)
}

fn tell_cell(alphabet: &Alphabet, cell: &OpenCell) -> String {
    let before = cell.input.before().iter().map(|&token| alphabet.plain_name(token));
    let before = before.collect::<Vec<_>>().join(" ");
    format!(
        "open: {:?} with the stack {} before {}{}{}: the bound falls short by {:.3}, the value at the midpoint is {:.3}",
        cell.readout,
        cell.stack.display(alphabet),
        InputSuffix::of(cell.input.next()).display(alphabet),
        if before.is_empty() { "" } else { ", after " },
        before,
        -cell.margin,
        cell.middle
    )
}
