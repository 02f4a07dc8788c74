//! `echostack certify`: proves that a machine or a table does the same as an automaton on every word, or checks such a
//! proof.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use echostack::certify::{Behavior, CertifyError, Comparison, Proof};
use echostack::certify::{Difference, OpenCell, ProvedCell, Size, check_each, check_table};
use echostack::file::{MAX_BYTES, read_text};
use echostack::machine::Readout;
use echostack::recognize::{Mode, Reduction};
use echostack::suffix::InputSuffix;
use echostack::table::SourceOptions;
use echostack::teach::Answer;
use echostack::turing::{self, TwoStackMachine};
use echostack::{Alphabet, Certificate, Control, Machine, Model, Oracle, Prover, Table};
use echostack_grammar::{Encoding, Judge, Subject};
use serde_json::json;

use crate::certificate;
use crate::equivalent::{comparable, encoding_of, tell_difference};
use crate::outcome::Outcome;
use crate::output::{count, print_json, save, try_output};
use crate::progress::{Bar, TimeLimit};
use crate::session::Session;
use crate::subject::encoding;
use crate::two_stacks;
use crate::words::{names, tell};

const EXAMPLES: &str = "\
Examples:
  Prove a machine correct against its grammar, and keep the certificate:
    echostack certify json.safetensors --against testdata/grammars/json -o json.certificate
  Check a certificate, without searching:
    echostack certify json.safetensors --against testdata/grammars/json --check json.certificate
  Compare a table with the grammar, action by action, and generated C with the table:
    echostack certify json.table --against testdata/grammars/json --source json.c -o json.table.certificate

Exit codes: 0 if the model is proved; 1 if it is not, or if the certificate is not valid; 2 on an error.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Machine, table, or grammar (a folder, or NAME.y), which is compiled to a table
    model: PathBuf,
    /// Language to compare with: a grammar (a folder, or NAME.y), `task:NAME`, or an automaton in JSON; for a machine with
    /// two stacks, a Turing machine or rules (docs/two-stacks.md)
    #[arg(long, value_name = "LANGUAGE")]
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
    /// Source file that `compile` generated from the table: check that the table gives this file, byte by byte
    #[arg(long, value_name = "FILE")]
    source: Option<PathBuf>,
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

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    try_output([&args.output, &args.write_automaton].into_iter().flatten())?;
    let bar = session.bar();
    if let Some(machine) = two_stacks::open(session, &args.model)? {
        return args.limit.keep(&bar, |control| with_two_stacks(args, session, &machine, &bar, control));
    }
    args.limit.keep(&bar, |control| certify(args, session, &bar, control))
}

fn certify(args: &Args, session: &Session, bar: &Bar, control: &dyn Control) -> Result<Outcome> {
    let model = session.load_model(&args.model)?;
    let subject = session.open_subject(&args.against, encoding_of(model.manifest(), args.encoding), control)?;
    subject.check_lexer()?;
    let oracle = subject.oracle(Mode::Strict, control)?;
    let start = Instant::now();
    let claim = Claim { args, session, subject: &subject, oracle: &oracle, start };
    let proved = claim.model(&model, bar, control);
    bar.finish();
    match proved {
        Err(error) => claim.refused(error),
        Ok(outcome) => Ok(outcome),
    }
}

/// Proves that a machine with two stacks simulates a Turing machine or rules, or checks such a proof.
fn with_two_stacks(
    args: &Args,
    session: &Session,
    machine: &TwoStackMachine,
    bar: &Bar,
    control: &dyn Control,
) -> Result<Outcome> {
    let teacher = two_stacks::teacher(Path::new(&args.against))?;
    let start = Instant::now();
    let proved = match &args.check {
        Some(path) => {
            let certificate =
                turing::TwoStackCertificate::from_json(&read_text(path, turing::MAX_CERTIFICATE as u64)?)?;
            turing::check(&certificate, machine, &teacher, control)
                .map(|()| turing::TwoStackProof::Proved(Box::new(certificate)))
        }
        None => turing::prove(machine, &teacher, control),
    };
    bar.finish();
    let (certificate, told) = match proved {
        Ok(turing::TwoStackProof::Proved(certificate)) => (Some(certificate), Vec::new()),
        Ok(turing::TwoStackProof::Open { cells, .. }) => (None, cells.iter().map(ToString::to_string).collect()),
        Err(CertifyError::Cancelled) => return Err(CertifyError::Cancelled.into()),
        Err(error) => (None, vec![error.to_string()]),
    };
    let cells = certificate.as_ref().map(|certificate| certificate.cells());
    if let (Some(path), Some(certificate)) = (&args.output, &certificate) {
        save(path, certificate.to_json())?;
    }
    let seconds = start.elapsed().as_secs_f64();
    if args.json {
        print_json(&json!({"proved": cells.is_some(), "cells": cells, "seconds": seconds, "open": told}))?;
    } else if let Some(cells) = cells {
        let what = if args.check.is_some() { "checked" } else { "found and checked" };
        let (cells, milliseconds) = (count(cells, "cell"), seconds * 1e3);
        if !session.quiet {
            writeln!(
                std::io::stdout(),
                "proved: the machine simulates {} on every input, for every number of steps; {cells}, {what} in \
                 {milliseconds:.0} ms",
                args.against
            )?;
        }
    } else {
        writeln!(std::io::stdout(), "not proved: the machine may differ from {}", args.against)?;
        told.iter().take(args.show_open).try_for_each(|line| writeln!(std::io::stdout(), "  {line}"))?;
    }
    Ok(if cells.is_some() { Outcome::Accepted } else { Outcome::Rejected })
}

/// What is to be proved, or checked.
struct Claim<'a> {
    args: &'a Args,
    session: &'a Session,
    subject: &'a Subject,
    oracle: &'a Oracle,
    start: Instant,
}

impl Claim<'_> {
    /// Proves or checks everything from the text of the grammar to the model.
    fn model(&self, model: &Model, bar: &Bar, control: &dyn Control) -> Result<Outcome> {
        let args = self.args;
        comparable(model.alphabet(), self.subject.name(), self.subject.alphabet())?;
        if let Some(path) = &args.write_automaton {
            save(path, self.oracle.automaton().to_json())?;
        }
        self.subject.check_lexer_of(model.manifest())?;
        let given = args.check.as_ref().map(|path| certificate::read(path)).transpose()?;
        match &given {
            Some(certificate) => self.subject.check_covered(certificate, self.oracle, control)?,
            None => _ = self.subject.check_translation(self.oracle, control)?,
        }
        match (model.machine(), model.table()) {
            (Some(_), _) if args.source.is_some() => {
                bail!("--source compares a source file with a table; give a table")
            }
            (Some(machine), _) => match given {
                Some(certificate) => self.check(machine, &certificate, control),
                None => self.prove(machine, bar, control),
            },
            (_, Some(table)) => self.table(table, given.as_ref(), control),
            (None, None) => bail!("a model is a machine or a table"),
        }
    }

    /// Searches for a proof of a machine.
    fn prove(&self, machine: &Machine, bar: &Bar, control: &dyn Control) -> Result<Outcome> {
        let args = self.args;
        let prover = Prover::new(self.oracle, machine.view(), control)?.with_max_cells(args.max_cells);
        let proof = prover.prove(machine, control);
        bar.finish();
        match proof? {
            Proof::Proved(certificate) => {
                let certificate = self.subject.named_in(*certificate);
                if let Some(path) = &args.output {
                    certificate::write(path, &certificate)?;
                }
                self.tell_proved(machine, certificate.size())?;
                Ok(Outcome::Accepted)
            }
            Proof::Open { cells, examined, .. } => {
                let difference = prover.difference(machine, &cells, control);
                tell_open(args, machine.alphabet(), (&cells, examined), difference)?;
                Ok(Outcome::Rejected)
            }
        }
    }

    /// Checks the certificate of a machine.
    fn check(&self, machine: &Machine, certificate: &Certificate, control: &dyn Control) -> Result<Outcome> {
        let mut cells = Vec::new();
        let mut tell = |cell: ProvedCell| {
            if self.args.cells {
                cells.push(cell);
            }
        };
        check_each(certificate, machine, self.oracle, control, &mut tell)?;
        let mut out = std::io::stdout().lock();
        for cell in &cells {
            writeln!(out, "{}", tell_proved_cell(machine.alphabet(), cell))?;
        }
        drop(out);
        self.tell_proved(machine, certificate.size())?;
        Ok(Outcome::Accepted)
    }

    /// Compares a table with the automaton, and source files with the table.
    fn table(&self, table: &Table, given: Option<&Certificate>, control: &dyn Control) -> Result<Outcome> {
        let (args, name, alphabet) = (self.args, self.subject.name(), table.alphabet());
        let (certificate, configurations) = match check_table(table, self.oracle, control)? {
            Comparison::Equal { certificate, configurations } => (certificate, configurations),
            Comparison::Differs { word, next, table, automaton } => {
                let word: Vec<&str> = names(alphabet, &word).collect();
                let next = next.token().map_or("the end", |token| alphabet.name(token));
                let [table, automaton] = [table, automaton].map(|behavior| tell_behavior(alphabet, behavior));
                if args.json {
                    print_json(&json!({"proved": false, "against": name,
                        "difference": {"word": word, "next": next, "table": table, "automaton": automaton}}))?;
                } else {
                    let after =
                        if word.is_empty() { "at the beginning".into() } else { format!("after {}", word.join(" ")) };
                    let mut out = std::io::stdout();
                    writeln!(out, "not equal: {after}, before {next}, the table {table}, and {name} {automaton}")?;
                }
                return Ok(Outcome::Rejected);
            }
            _ => bail!("the table and {name} cannot be compared: they have different symbols"),
        };
        if let Some(given) = given {
            Model::from(table.clone()).check_certificate(given)?;
            if given.machine().is_some() {
                let why = "it is also about a machine, which is not checked together with a table";
                bail!(CertifyError::Refused(why.into()));
            }
            if given.automaton() != certificate.automaton() {
                bail!(CertifyError::Refused("it is for another automaton".into()));
            }
        }
        if let Some(path) = &args.source
            && let Err(why) = regenerated(table, path)?
        {
            if args.json {
                print_json(&json!({"proved": false, "against": name, "source": why}))?;
            } else {
                writeln!(std::io::stdout(), "the table is equal to {name}, but {why}")?;
            }
            return Ok(Outcome::Rejected);
        }
        if let Some(path) = &args.output {
            certificate::write(path, &self.subject.named_in(*certificate))?;
        }
        self.tell_equal(table, configurations)?;
        Ok(Outcome::Accepted)
    }

    fn tell_equal(&self, table: &Table, configurations: usize) -> Result<()> {
        let (seconds, name) = (self.start.elapsed().as_secs_f64(), self.subject.name());
        let what = if self.args.source.is_some() { "source file" } else { "table" };
        let covers = self.subject.coverage(what, table.manifest());
        if self.args.json {
            return print_json(&json!({"proved": true, "against": name, "states": table.states(),
                "configurations": configurations, "source": self.args.source, "covers": covers, "seconds": seconds}));
        }
        if !self.session.quiet {
            let milliseconds = seconds * 1e3;
            let mut out = std::io::stdout().lock();
            writeln!(
                out,
                "equal in {milliseconds:.0} ms: the table takes the same actions as {name} on every word, of any length"
            )?;
            if self.args.source.is_some() {
                writeln!(out, "the source file is the one that the table gives, byte by byte")?;
            }
            writeln!(out, "proved {covers}")?;
        }
        Ok(())
    }

    fn tell_proved(&self, machine: &Machine, size: Size) -> Result<()> {
        let (seconds, name) = (self.start.elapsed().as_secs_f64(), self.subject.name());
        let Size { stacks, cells, depth, input, elements, reach, completions } = size;
        let covers = self.subject.coverage("machine", machine.manifest());
        if self.args.json {
            return print_json(&json!({
                "proved": true, "against": name, "cells": cells, "stacks": stacks, "depth": depth, "input": input,
                "elements": elements, "symbols": machine.alphabet().len(), "reach": reach,
                "completions": completions, "covers": covers, "seconds": seconds,
            }));
        }
        if !self.session.quiet {
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
            writeln!(out, "proved {covers}")?;
        }
        Ok(())
    }

    /// Tells why a proof or a certificate does not hold. Other errors are errors of the command.
    fn refused(&self, error: anyhow::Error) -> Result<Outcome> {
        let (label, why) = match error.downcast_ref::<CertifyError>() {
            Some(CertifyError::Refused(why)) => ("the certificate is not valid", why.clone()),
            Some(why @ (CertifyError::Translation(_) | CertifyError::Lexer(_))) => ("not proved", why.to_string()),
            _ => return Err(error),
        };
        if self.args.json {
            print_json(&json!({"proved": false, "refused": why}))?;
        } else {
            writeln!(std::io::stdout(), "{label}: {why}")?;
        }
        Ok(Outcome::Rejected)
    }
}

/// Makes the source file again from the table, with the options that its first line names, and compares the two. Returns
/// what differs.
fn regenerated(table: &Table, path: &Path) -> Result<Result<(), String>> {
    let given = read_text(path, MAX_BYTES).context("could not read the source file")?;
    let Some(options) = SourceOptions::of(&given) else {
        return Ok(Err(format!("{} does not begin with the options of `echostack compile`", path.display())));
    };
    let judge = Judge::new(table.clone().into()).context("the table's lexer is faulty")?;
    let source = judge.source(options.language, &options.prefix)?.context("a table has a source")?;
    if source.code(options.header.as_deref()) != given {
        return Ok(Err(format!("{} is not the file that the table gives", path.display())));
    }
    let (Some(name), Some(expected)) = (&options.header, source.header()) else { return Ok(Ok(())) };
    let header = path.with_file_name(name);
    let given = read_text(&header, MAX_BYTES).context("could not read the header of the source file")?;
    if given != expected {
        return Ok(Err(format!("{} is not the header that the table gives", header.display())));
    }
    Ok(Ok(()))
}

fn tell_behavior(alphabet: &Alphabet, behavior: Behavior) -> String {
    match behavior {
        Behavior::Reduce(Reduction { pop, push }) => {
            let push = push.map_or("nothing", |symbol| alphabet.name(symbol));
            format!("pops {pop} and pushes {push}")
        }
        Behavior::GoOn => "goes on".to_string(),
        Behavior::Refuse => "refuses it".to_string(),
        Behavior::Lost => "has no state".to_string(),
    }
}

/// Tells which cells of a machine are open, and a word on which it differs from the automaton, if one was found.
fn tell_open(
    args: &Args,
    alphabet: &Alphabet,
    (cells, examined): (&[OpenCell], usize),
    difference: Option<Difference>,
) -> Result<()> {
    if args.json {
        let difference = difference.map(|found| {
            let [machine, automaton] = [&found.machine, &found.automaton].map(|verdict| tell(alphabet, verdict, None));
            let word: Vec<&str> = names(alphabet, &found.word).collect();
            json!({"word": word, "machine": machine, "automaton": automaton})
        });
        let open: Vec<String> = cells.iter().take(args.show_open).map(|cell| tell_cell(alphabet, cell)).collect();
        let count = cells.len();
        return print_json(
            &json!({"proved": false, "difference": difference, "examined": examined, "open": count, "cells": open}),
        );
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
