//! Learning a language: a task, a grammar or an automaton.

use anyhow::{Context, Result, ensure};
use echostack::automaton::AutomatonError;
use echostack::certify::{CertifyError, Proof};
use echostack::language::Language;
use echostack::machine::Checked;
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::study::{ProofRound, Round, StudyError};
use echostack::tasks::{Split, Task};
use echostack::{Control, Params, Study};
use echostack_grammar::Subject;

use super::args::{Args, params};
use super::learned::{Assurance, Learned};
use crate::output::{count, note};
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
    let Some(language) = subject.language() else {
        return vectors(args, subject.task().context("only a task can have no language")?, bar);
    };
    let study = Study {
        words: args.count,
        negatives: args.negatives.unwrap_or(if args.tolerant { 0. } else { 0.5 }),
        lengths: lengths(1, args.max_length)?,
        tests: args.tests.unwrap_or(if args.tolerant { 0 } else { TESTS }),
        test_lengths: lengths(1, args.test_length)?,
        rounds: args.rounds,
        seed: args.seed,
    };
    let kind = ReservoirKind::from(args.reservoir);
    let proves = !args.tolerant && !args.no_prove;
    if proves {
        let defaults = Params::provable(kind, args.neurons, args.seed).adapted_to(subject.alphabet());
        let params = params(args, defaults, View::Symbol, Mode::Strict)?;
        match prove(args, &study, &**language, &params, (bar, control), session) {
            Err(error) if !args.must_prove() && rules_out_proofs(&error) => {
                bar.say(&format!("echostack: no proof is possible, so the machine is only tested: {error}"));
            }
            ended => return covered(ended?, subject, control),
        }
    }
    let defaults = Params::standard(kind, args.neurons, args.seed);
    let (view, mode) = if args.tolerant { (View::Reservoir, Mode::Tolerant) } else { (View::Symbol, Mode::Strict) };
    let params = params(args, defaults, view, mode)?;
    if mode == Mode::Strict && study.negatives == 0. && !session.quiet {
        note("echostack: a strict machine learns what to reject only from wrong words: add --negatives 0.5");
    }
    let mut number = 0;
    let mut tell = |round: &Round| {
        number += 1;
        if !session.quiet && round.tested > 0 {
            let Round { tested, wrong, .. } = *round;
            bar.say(&format!("round {number}: {wrong} of {} wrong", count(tested, "fresh word")));
        }
    };
    let (machine, rounds) = study.learn(&**language, &params, control, &mut tell)?;
    let words = rounds.last().map(|round| round.traces);
    let rounds: Vec<Round> = rounds.into_iter().filter(|round| round.tested > 0).collect();
    let test = rounds.last().map(|round| (round.tested, round.wrong));
    Ok(Learned { machine, words, assurance: Assurance { rounds, test, ..Assurance::default() } })
}

/// Extends a proof about the automaton to the text of the grammar, if the subject is one.
fn covered(mut learned: Learned, subject: &Subject, control: &dyn Control) -> Result<Learned> {
    if let Some(proof) = learned.assurance.proof.take() {
        let oracle = subject.oracle(Mode::Strict, control)?;
        learned.assurance.proof = Some(subject.cover(proof, &oracle, control)?);
    }
    Ok(learned)
}

/// Returns whether an error means that no proof can be searched for, although a machine can still be trained.
fn rules_out_proofs(error: &StudyError) -> bool {
    match error {
        StudyError::Certify(why) => !matches!(why, CertifyError::Cancelled),
        StudyError::Automaton(why) => !matches!(why, AutomatonError::Cancelled),
        _ => false,
    }
}

/// Trains until the machine is proved correct. If it is not, although no proof is required, tests it.
fn prove(
    args: &Args,
    study: &Study,
    language: &dyn Language,
    params: &Checked,
    (bar, control): (&Bar, &dyn Control),
    session: &Session,
) -> Result<Learned, StudyError> {
    let mut rounds = Rounds::default();
    let mut tell = |round: &ProofRound| {
        if !session.quiet && round.open > 0 {
            bar.say(&rounds.tell(round));
        }
    };
    let (machine, proof) = study.prove(language, params, control, &mut tell)?;
    let tests = matches!(proof, Proof::Open { .. }) && !args.must_prove() && study.tests > 0;
    let test = if tests { Some(study.test(language, &machine, control)?) } else { None };
    let test = test.map(|(tested, wrong)| (tested, wrong.len()));
    let assurance = Assurance { proof: Some(proof), test, ..Assurance::default() };
    let words = (params.params().view != View::Symbol).then_some(study.words);
    Ok(Learned { machine, words, assurance })
}

/// The rounds of a proof that were told. A term is explained when it is first used.
#[derive(Default)]
struct Rounds {
    number: usize,
    cost: f64,
    exercises_explained: bool,
}

impl Rounds {
    fn tell(&mut self, round: &ProofRound) -> String {
        let ProofRound { exercises, open, examined, cost, .. } = *round;
        self.number += 1;
        let explained = |first: bool, meaning: &str| if first { format!(" ({meaning})") } else { String::new() };
        let mut parts = vec![format!("round {}: {open} of {} open", self.number, count(examined, "cell"))];
        let meaning = "a cell is one decision on all stacks with the same top, open until proved";
        parts.push(explained(self.number == 1, meaning));
        if exercises > 0 {
            let meaning = "an exercise is one decision with the right answer";
            parts.push(format!(", after {}", count(exercises, "exercise")));
            parts.push(explained(!self.exercises_explained, meaning));
            self.exercises_explained = true;
        }
        if self.number > 1 && cost != self.cost {
            parts.push(format!(", at cost {cost:e}"));
        }
        self.cost = cost;
        parts.concat()
    }
}

/// Learns a task whose words are vectors, as in the paper.
fn vectors(args: &Args, task: Task, bar: &Bar) -> Result<Learned> {
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
    let machine = params.fit(&task.alphabet(), &traces, bar)?;
    Ok(Learned { machine, words: Some(traces.len()), assurance: Assurance::default() })
}
