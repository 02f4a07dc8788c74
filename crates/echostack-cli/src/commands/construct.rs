//! `echostack construct`: constructs a machine from an automaton, without training.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use echostack::Params;
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack_grammar::Encoding;

use crate::certificate;
use crate::options::{Kind, LookaheadView};
use crate::outcome::Outcome;
use crate::output::{count, note, try_output};
use crate::progress::TimeLimit;
use crate::session::Session;
use crate::subject::{self, encoding};

const EXAMPLES: &str = "\
Examples:
  Turn an automaton into a machine, and keep the certificate of the proof:
    echostack construct task:json --certificate json.certificate -o json.safetensors

Exit codes: 0 if the machine is saved and proved; 1 if it is saved, but not proved; 2 on an error.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, mut_group("subject", |group| group.required(true)))]
pub(crate) struct Args {
    #[command(flatten)]
    subject: subject::Args,
    /// How a grammar is translated into rules
    #[arg(long, value_parser = encoding(), default_value = "auto")]
    encoding: Encoding,
    /// Kind of reservoir
    #[arg(long, value_enum, default_value = "cycle")]
    reservoir: Kind,
    /// Number of neurons
    #[arg(long, default_value_t = 256)]
    neurons: usize,
    /// What the machine sees of its input: the whole input through the reservoir, or only the next token
    #[arg(long, value_enum, default_value = "symbol")]
    lookahead: LookaheadView,
    /// Seed of the weights
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// File to write the certificate of the proof to
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    limit: TimeLimit,
    /// File to save the machine to
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    try_output([Some(&args.output), args.certificate.as_ref()].into_iter().flatten())?;
    let view = View::from(args.lookahead);
    let defaults = Params::provable(ReservoirKind::from(args.reservoir), args.neurons, args.seed);
    let params = Params { view, mode: Mode::Strict, ..defaults };
    let bar = session.bar();
    let start = Instant::now();
    let (subject, learned) = args.limit.keep(&bar, |control| {
        let subject = args.subject.open(session, args.encoding, control)?;
        let learned = subject.construct(params.adapted_to(subject.alphabet()), control)?;
        Ok((subject, learned))
    })?;
    bar.finish();
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    learned.machine.save(&args.output).context("could not save the machine")?;
    if !session.quiet {
        let rules = count(subject.require_language()?.automaton().rules().len(), "rule");
        let (name, output) = (subject.name(), args.output.display());
        note(format_args!("constructed {name} from {rules} in {milliseconds:.0} ms; saved {output}"));
    }
    let Some(certificate) = learned.certificate() else {
        note(format_args!("echostack: {learned}; the machine may be wrong on some words: try more --neurons"));
        return Ok(Outcome::Rejected);
    };
    if let Some(path) = &args.certificate {
        certificate::write(path, certificate)?;
    }
    if !session.quiet {
        note(&learned);
    }
    Ok(Outcome::Accepted)
}
