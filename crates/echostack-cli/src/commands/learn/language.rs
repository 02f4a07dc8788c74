//! Learning a language: a task, a grammar or an automaton.

use anyhow::{Context, Result, ensure};
use echostack::recognize::{Mode, View};
use echostack::study::{ProofRound, Round};
use echostack::tasks::Split;
use echostack::{Control, Study};
use echostack_grammar::{Goal, LearnEvent, Learning, Subject};

use super::args::{Args, params};
use super::learned::{Assurance, Learned};
use crate::output::{count, note, percent};
use crate::progress::Bar;
use crate::session::Session;
use crate::subject::lengths;

/// The number of fresh words that a strict machine is tested on.
const TESTS: usize = 10_000;

/// Learns a language: proves the machine, and tests it on fresh words if it could not be proved.
pub(super) fn learn(
    args: &Args,
    subject: &Subject,
    (bar, control): (&Bar, &dyn Control),
    session: &Session,
) -> Result<Learned> {
    if subject.language().is_none() {
        return vectors(args, subject, bar);
    }
    let learning = learning(args)?;
    let warn = || {
        if learning.mode == Mode::Strict && learning.study.negatives == 0. && !session.quiet {
            note("echostack: a strict machine learns what to reject only from wrong words: add --negatives 0.5");
        }
    };
    if learning.goal == Goal::Test {
        warn();
    }
    let mut searched: Vec<ProofRound> = Vec::new();
    let mut tests = 0;
    let mut report = |event: LearnEvent<'_>| match event {
        LearnEvent::NoProof(error) => {
            bar.say(&format!("echostack: no proof is possible, so the machine is only tested: {error}"));
            warn();
        }
        LearnEvent::Searched(round) => {
            if !session.quiet && round.open > 0 {
                bar.say(&tell(round, searched.len() + 1, session.verbose));
            }
            searched.push(round.clone());
        }
        LearnEvent::Tested(&Round { tested, wrong, .. }) if !session.quiet && tested > 0 => {
            tests += 1;
            bar.say(&format!("round {tests}: {wrong} of {} wrong", count(tested, "fresh word")));
        }
        _ => {}
    };
    let learned = subject.learn_with(&learning, control, &mut report)?;
    let message = learned.to_string();
    let echostack_grammar::Learned { machine, words, proof, test, rounds, .. } = learned;
    Ok(Learned { machine, words, assurance: Assurance { proof, test, searched, rounds, message, rules: None } })
}

/// Returns the settings that the options ask for.
fn learning(args: &Args) -> Result<Learning> {
    let study = Study {
        words: args.count,
        negatives: args.negatives.unwrap_or(if args.tolerant { 0. } else { 0.5 }),
        lengths: lengths(1, args.max_length)?,
        tests: args.tests.unwrap_or(if args.tolerant { 0 } else { TESTS }),
        test_lengths: lengths(1, args.test_length)?,
        rounds: args.rounds,
        seed: args.seed,
    };
    let goal = match args {
        Args { tolerant: true, .. } | Args { no_prove: true, .. } => Goal::Test,
        args if args.must_prove() => Goal::Proof,
        _ => Goal::ProofOrTest,
    };
    Ok(Learning {
        goal,
        study,
        reservoir: args.reservoir.into(),
        neurons: args.neurons,
        mode: if args.tolerant { Mode::Tolerant } else { Mode::Strict },
        view: args.lookahead.map(View::from),
        cost: args.cost,
        gamma: args.gamma,
        params: None,
    })
}

/// Tells how much of the proof is done after a round, and on request what is left.
fn tell(round: &ProofRound, number: usize, verbose: bool) -> String {
    let ProofRound { exercises, open, examined, cost, .. } = *round;
    let done = percent(examined - open.min(examined), examined);
    let told = format!("round {number}: {done} % of the proof done");
    if !verbose {
        return told;
    }
    let (cells, exercises) = (count(examined, "cell"), count(exercises, "exercise"));
    format!("{told}: {open} of {cells} open after {exercises}, at cost {cost:e}")
}

/// Learns a task whose words are vectors, as in the paper.
fn vectors(args: &Args, subject: &Subject, bar: &Bar) -> Result<Learned> {
    let task = subject.task().context("only a task can have no language")?;
    let given = [
        ("--prove", args.prove),
        ("--certificate", args.certificate.is_some()),
        ("--strict", args.strict),
        ("--negatives", args.negatives.is_some_and(|negatives| negatives > 0.)),
        ("--tests", args.tests.is_some_and(|tests| tests > 0)),
        ("--seconds", args.limit.is_set()),
    ];
    let given: Vec<&str> = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
    ensure!(
        given.is_empty(),
        "the words of {task} are vectors of numbers: there is no grammar to prove a machine against, and there are no \
         wrong words; leave out {}",
        given.join(" and ")
    );
    let defaults = task.params(args.reservoir.into(), args.neurons, args.seed);
    let params = params(args, defaults, View::Reservoir, Mode::Tolerant)?;
    let traces = task.examples(Split::Train, args.count, args.seed);
    let mut machine = params.fit(&task.alphabet(), &traces, bar)?;
    subject.describe_in(machine.manifest_mut());
    Ok(Learned { machine, words: Some(traces.len()), assurance: Assurance::default() })
}
