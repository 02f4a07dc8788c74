//! `echostack learn`: trains a machine on a task, a grammar, an automaton, an inferred language, traces or
//! contexts, or a machine with two stacks on a Turing machine, and saves it.

mod args;
mod contexts;
mod inferred;
mod language;
mod learned;
mod traces;
mod turing;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use echostack::Machine;
use echostack::machine::Readout;
use echostack_grammar::Subject;
use serde_json::{Value, json};

pub(crate) use self::args::Args;
use self::learned::{Assurance, Learned};
use crate::certificate;
use crate::outcome::Outcome;
use crate::output::{count, note, print_json, try_output};
use crate::session::Session;

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    if let Some(negatives) = args.negatives {
        ensure!((0. ..=1.).contains(&negatives), "--negatives is {negatives}, but must be from 0 to 1");
    }
    ensure!((1..=1_000_000).contains(&args.count), "--count is {}, but must be from 1 to 1000000", args.count);
    if let Some(path) = &args.turing {
        try_output([Some(&args.output), args.certificate.as_ref()].into_iter().flatten())?;
        return turing::run(args, path, session);
    }
    let bare = args.traces.is_some() || args.contexts.is_some();
    let proves = !args.tolerant && !args.no_prove && (!bare || args.must_prove());
    ensure!(proves || !args.limit.is_set(), "--seconds limits the search for a proof, but these options ask for none");
    try_output([Some(&args.output), args.certificate.as_ref()].into_iter().flatten())?;
    let lexer = args.lexer.as_deref().map(|path| traces::open_lexer(session, path)).transpose()?;
    let bar = session.bar();
    let inferred = match &args.source.examples {
        Some(_) => Some(inferred::infer(args, session, &bar)?),
        None => None,
    };
    if inferred.as_ref().is_some_and(|(inferred, _)| !inferred.is_settled()) {
        bar.finish();
        return Ok(Outcome::Rejected);
    }
    let (subject, start, learned) = args.limit.keep(&bar, |control| {
        let subject = match &inferred {
            Some((inferred, folder)) => Some(inferred::subject(args, session, inferred, folder)?),
            None if bare => None,
            None => Some(args.subject.open(session, args.encoding, control)?),
        };
        let start = Instant::now();
        let learned = match (&subject, &args.traces, &args.contexts) {
            (Some(subject), ..) => language::learn(args, subject, (&bar, control), session)?,
            (None, Some(path), _) => traces::learn(args, path, lexer.as_ref(), (&bar, control))?,
            (None, None, path) => contexts::learn(args, path.as_deref().context("--contexts is missing")?, &bar)?,
        };
        Ok((subject, start, learned))
    })?;
    bar.finish();
    let seconds = start.elapsed().as_secs_f64();
    let Learned { mut machine, words, assurance } = learned;
    let manifest = machine.manifest_mut();
    manifest.set_seed(args.seed);
    if let Some(words) = words {
        manifest.set_word_count(words);
    }
    if let Some(lexer) = &lexer {
        manifest.set_lexer(lexer.source());
    }
    machine.save(&args.output).context("could not save the machine")?;
    if let (Some(path), Some(certificate)) = (&args.certificate, assurance.certificate()) {
        // A lexer that was given on its own takes the place of the subject's, as in the manifest.
        match &lexer {
            Some(lexer) => certificate::write(path, &certificate.clone().with_lexer(lexer.source()))?,
            None => certificate::write(path, certificate)?,
        }
    }
    let unnamed = if args.traces.is_some() { "traces" } else { "contexts" };
    let name = subject.as_ref().map_or(unnamed, Subject::name);
    if args.json {
        print_json(&summary(args, name, &machine, words, &assurance, seconds))?;
    } else if !session.quiet {
        let words = words.map_or(String::new(), |words| format!(" from {}", count(words, "word")));
        let details = if session.verbose { sizes(&machine) } else { String::new() };
        let (milliseconds, output) = (seconds * 1e3, args.output.display());
        note(format_args!("learned {name}{words} in {milliseconds:.0} ms{details}; saved {output}"));
    }
    let outcome = assurance.tell(args.must_prove(), session.quiet || args.json);
    if let Some((inferred, folder)) = &inferred {
        inferred::report(args, inferred, folder, &assurance)?;
    }
    Ok(outcome)
}

/// Returns what a machine was trained on and what it consists of, for the message about it.
fn sizes(machine: &Machine) -> String {
    let rows = count(machine.lessons().actions().len(), "training row");
    let support = count(support(machine).iter().sum(), "support vector");
    format!(": {rows} (distinct pairs of input and stack), {support}")
}

/// Returns the number of support vectors of each readout.
fn support(machine: &Machine) -> [usize; 4] {
    [Readout::Pop, Readout::Push, Readout::Shift, Readout::Output].map(|readout| machine.support(readout))
}

/// Returns the summary that `--json` prints.
fn summary(
    args: &Args,
    name: &str,
    machine: &Machine,
    words: Option<usize>,
    assurance: &Assurance,
    seconds: f64,
) -> Value {
    let mut value = json!({
        "task": name, "words": words, "rows": machine.lessons().actions().len(), "support": support(machine),
        "seconds": seconds, "output": args.output,
    });
    assurance.add_to(&mut value);
    value
}
