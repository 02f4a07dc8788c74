//! Learning from a Turing machine, or from rules with two stacks.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use echostack::readout::Svm;
use echostack::turing::{TwoStackCertificate, TwoStackLearned, TwoStackLearning};
use serde_json::json;

use super::args::Args;
use crate::outcome::Outcome;
use crate::output::{count, note, print_json, save};
use crate::session::Session;
use crate::two_stacks;

/// Teaches a machine with two stacks, proves it unless that is not wanted, and saves it.
pub(super) fn run(args: &Args, path: &Path, session: &Session) -> Result<Outcome> {
    ensure!(
        !args.tolerant && !args.strict,
        "--tolerant and --strict are for machines with one stack; the rules say what is refused"
    );
    let teacher = two_stacks::teacher(path)?;
    let defaults = TwoStackLearning::default();
    let svm = Svm {
        cost: args.cost.unwrap_or(defaults.svm.cost),
        gamma: args.gamma.unwrap_or(defaults.svm.gamma),
        ..defaults.svm
    };
    let learning = TwoStackLearning {
        svm,
        words: args.count,
        max_length: args.max_length,
        seed: args.seed,
        rounds: args.rounds,
        prove: !args.no_prove,
        ..defaults
    };
    let learning = learning.with_reservoir(args.reservoir.into(), args.neurons, args.seed);
    let (bar, start) = (session.bar(), Instant::now());
    let learned = args.limit.keep(&bar, |control| Ok(learning.learn(&teacher, control)?))?;
    bar.finish();
    let seconds = start.elapsed().as_secs_f64();
    let TwoStackLearned { machine, certificate, open, words, contexts, added, rounds } = learned;
    machine.save(&args.output).context("could not save the machine")?;
    if let (Some(path), Some(certificate)) = (&args.certificate, &certificate) {
        save(path, certificate.to_json())?;
    }
    let cells = certificate.as_ref().map(TwoStackCertificate::cells);
    if args.json {
        print_json(&json!({
            "teacher": path, "words": words, "contexts": contexts, "added": added, "rounds": rounds, "seconds": seconds,
            "proved": cells.is_some(), "cells": cells, "output": args.output,
            "open": open.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }))?;
    } else if !session.quiet {
        let (words, contexts) = (count(words, "word"), count(contexts, "context"));
        note(format_args!(
            "learned {} from {words} with {contexts}, and from {} that the proof asked for, in {:.0} ms; saved {}",
            path.display(),
            count(added, "decision"),
            seconds * 1e3,
            args.output.display()
        ));
        match cells {
            Some(cells) => note(format_args!(
                "proved on every input and for every number of steps ({}, found and checked)",
                count(cells, "cell")
            )),
            None if args.no_prove => {}
            None => {
                note(format_args!("not proved within {}", count(rounds, "round")));
                open.iter().take(10).for_each(|cell| note(format_args!("  {cell}")));
            }
        }
    }
    Ok(if cells.is_some() || args.no_prove { Outcome::Accepted } else { Outcome::Rejected })
}
