//! `echostack learn`: trains a machine on a task, a grammar, an automaton, traces or contexts, and saves it.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use echostack::certify::Proof;
use echostack::certify::Size;
use echostack::language::Language;
use echostack::machine::{Checked, Readout};
use echostack::readout::Svm;
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::study::{ProofRound, Round, practise};
use echostack::tasks::Split;
use echostack::teach::{Answer, Context as Asked, Exercise, contradictions, read_contexts, read_traces};
use echostack::{Alphabet, Control, Machine, Params, Study, SymbolId, Trace};
use echostack_grammar::{Encoding, Subject};

use crate::progress::{Bar, TimeLimit};
use crate::subject::{self, encoding, lengths};
use crate::{Kind, Outcome, certify, print_json};

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    #[command(flatten)]
    subject: subject::Args,
    /// Traces in JSON Lines, as written by `echostack teach` (docs/format.md)
    #[arg(long, value_name = "FILE", group = "subject")]
    traces: Option<PathBuf>,
    /// Contexts in JSON Lines, as counted by `echostack contexts` in a corpus of traces (docs/scale.md)
    #[arg(long, value_name = "FILE", group = "subject")]
    contexts: Option<PathBuf>,
    /// If contexts contradict each other, use the most frequent answer
    #[arg(long, requires = "contexts")]
    majority: bool,
    /// How a grammar is translated into rules
    #[arg(long, value_parser = encoding(), default_value = "auto")]
    encoding: Encoding,
    /// Kind of reservoir
    #[arg(long, value_enum, default_value = "cycle")]
    reservoir: Kind,
    /// Number of neurons
    #[arg(long, default_value_t = 256)]
    neurons: usize,
    /// What the machine sees of its input: the whole input through the reservoir, or only the next token [default:
    /// reservoir for a task without --prove; whichever the contexts need for --contexts; else symbol]
    #[arg(long, value_enum)]
    lookahead: Option<LookaheadView>,
    /// Reject a word at the first token that cannot follow, instead of at its end. Always on for grammars, automata and
    /// --prove, and for traces and contexts in which a token is refused
    #[arg(long)]
    strict: bool,
    /// Number of training words, in addition to those that cover a grammar
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// Maximum length of the training words
    #[arg(long, default_value_t = 50)]
    max_length: usize,
    /// Fraction of training words that are wrong, from 0 to 1: half of them near misses, half random words [default: 0
    /// for a task without --prove, else 0.5]
    #[arg(long)]
    negatives: Option<f64>,
    /// Number of fresh words that must be judged correctly before training ends; 0 for no test [default: 0 for a task,
    /// else 10000]
    #[arg(long)]
    tests: Option<usize>,
    /// Maximum length of the test words
    #[arg(long, default_value_t = 200)]
    test_length: usize,
    /// Maximum number of training rounds
    #[arg(long, default_value_t = 30)]
    rounds: usize,
    /// Cost C of the support vector machines [default: depends on what is learned and on --prove]
    #[arg(long)]
    cost: Option<f64>,
    /// Kernel parameter gamma, as a multiple of 1 / (features * variance) [default: depends on what is learned and on
    /// --prove]
    #[arg(long)]
    gamma: Option<f64>,
    /// Seed of the words and weights
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Train until the machine is proved correct on every word, instead of testing it; implies --strict
    #[arg(long, conflicts_with_all = ["traces", "contexts", "tests"])]
    prove: bool,
    /// File to write the certificate of the proof to
    #[arg(long, value_name = "FILE", requires = "prove")]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    limit: TimeLimit,
    /// File to save the machine to
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LookaheadView {
    Reservoir,
    Symbol,
}

impl From<LookaheadView> for View {
    fn from(view: LookaheadView) -> Self {
        match view {
            LookaheadView::Reservoir => Self::Reservoir,
            LookaheadView::Symbol => Self::Symbol,
        }
    }
}

/// The result of training. The number of words is not known if the machine learned from contexts.
struct Learned {
    machine: Machine,
    words: Option<usize>,
    rounds: Vec<Round>,
    /// The result of the search for a proof, if there was one.
    proof: Option<Proof>,
}

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    if let Some(negatives) = args.negatives {
        ensure!((0. ..=1.).contains(&negatives), "--negatives is {negatives}, but must be from 0 to 1");
    }
    ensure!((1..=1_000_000).contains(&args.count), "--count is {}, but must be from 1 to 1000000", args.count);
    ensure!(args.prove || !args.limit.is_set(), "--seconds requires --prove");
    let bare = args.traces.is_some() || args.contexts.is_some();
    let bar = Bar::new(quiet);
    let (subject, start, learned) = args.limit.keep(&bar, |control| {
        let subject = if bare { None } else { Some(args.subject.open(args.encoding, control)?) };
        let start = Instant::now();
        let learned = match (&subject, &args.traces, &args.contexts) {
            (Some(subject), ..) => from_subject(args, subject, &bar, control, quiet)?,
            (None, Some(path), _) => from_traces(args, path, &bar)?,
            (None, None, Some(path)) => from_contexts(args, path, &bar)?,
            (None, None, None) => bail!("give --task, --grammar, --automaton, --traces or --contexts"),
        };
        Ok((subject, start, learned))
    })?;
    bar.finish();
    let unnamed = if args.traces.is_some() { "traces" } else { "contexts" };
    let name = subject.as_ref().map_or(unnamed, Subject::name).to_string();
    let Learned { mut machine, words, rounds, proof } = learned;
    let seconds = start.elapsed().as_secs_f64();
    let manifest = machine.manifest_mut();
    manifest.set_seed(args.seed);
    manifest.set_word_count(args.count);
    if let Some(subject) = &subject {
        subject.note(manifest);
    }
    machine.save(&args.output).context("could not save the machine")?;
    let wrong = rounds.last().map_or(0, |round| round.wrong);
    let size = proof.map_or(Ok(None), |proof| settle(args, proof))?;
    report(args, quiet, &name, &machine, (words, &rounds, size), seconds)?;
    if args.prove && size.is_none() {
        eprintln!(
            "echostack: no proof was found; `echostack certify` shows the open cells. Try more --rounds or --neurons"
        );
        return Ok(Outcome::Rejected);
    }
    if wrong > 0 {
        eprintln!("echostack: after {} rounds, {wrong} words of the last test were still misjudged", rounds.len());
    }
    Ok(if wrong > 0 { Outcome::Rejected } else { Outcome::Accepted })
}

/// Writes the certificate and returns its size, if there is one.
fn settle(args: &Args, proof: Proof) -> Result<Option<Size>> {
    let Proof::Proved(certificate) = proof else { return Ok(None) };
    if let Some(path) = &args.certificate {
        certify::write(path, &certificate)?;
    }
    Ok(Some(certificate.size()))
}

fn report(
    args: &Args,
    quiet: bool,
    name: &str,
    machine: &Machine,
    (words, rounds, size): (Option<usize>, &[Round], Option<Size>),
    seconds: f64,
) -> Result<()> {
    let rows = machine.lessons().actions().len();
    let support =
        [Readout::Pop, Readout::Push, Readout::Shift, Readout::Output].map(|readout| machine.support(readout));
    if args.json {
        let rounds: Vec<_> = rounds
            .iter()
            .map(|round| {
                let Round { traces, rows, tested, wrong } = round;
                serde_json::json!({"traces": traces, "rows": rows, "tested": tested, "wrong": wrong})
            })
            .collect();
        let mut value = serde_json::json!({
            "task": name, "words": words, "rows": rows, "support": support, "seconds": seconds,
            "rounds": rounds, "output": args.output,
        });
        if args.prove {
            value["proved"] = size.is_some().into();
            value["cells"] = size.map(|size| size.cells).into();
        }
        print_json(&value)?;
    } else if !quiet {
        eprintln!(
            "learned {name}{} in {:.0} ms: {rows} contexts, {} support vectors; saved {}",
            words.map_or(String::new(), |words| format!(" from {words} words")),
            seconds * 1e3,
            support.iter().sum::<usize>(),
            args.output.display()
        );
        if let Some(size) = size {
            eprintln!("proved correct on every word, of any length, with {} cells", size.cells);
        }
    }
    Ok(())
}

/// Returns the parameters, with the changes made by the options.
fn params(args: &Args, defaults: Params, view: View, mode: Mode) -> Params {
    Params {
        view: args.lookahead.map_or(view, View::from),
        mode,
        svm: Svm {
            cost: args.cost.unwrap_or(defaults.svm.cost),
            gamma: args.gamma.unwrap_or(defaults.svm.gamma),
            ..defaults.svm
        },
        ..defaults
    }
}

fn from_subject(args: &Args, subject: &Subject, bar: &Bar, control: &dyn Control, quiet: bool) -> Result<Learned> {
    let kind: ReservoirKind = args.reservoir.into();
    let is_task = subject.task().is_some();
    let paper = is_task && !args.prove;
    let negatives = args.negatives.unwrap_or(if paper { 0. } else { 0.5 });
    let strict = args.strict || !paper;
    let view = if paper { View::Reservoir } else { View::Symbol };
    let mode = if strict { Mode::Strict } else { Mode::Tolerant };
    let defaults = match subject.task() {
        _ if args.prove => Params::provable(kind, args.neurons, args.seed),
        Some(task) => task.params(kind, args.neurons, args.seed),
        None => Params::standard(kind, args.neurons, args.seed),
    };
    let params = params(args, defaults, view, mode).check()?;
    let Some(language) = subject.language() else {
        ensure!(
            negatives == 0. && !strict,
            "{} has no wrong words: leave out --negatives, --strict and --prove",
            subject.name()
        );
        let task = subject.task().context("only a task can have no language")?;
        let traces = task.examples(Split::Train, args.count, args.seed);
        let machine = params.fit(&task.alphabet(), &traces, bar)?;
        return Ok(Learned { machine, words: Some(traces.len()), rounds: Vec::new(), proof: None });
    };
    if strict && negatives == 0. && !quiet {
        eprintln!("echostack: a strict machine learns what to reject only from wrong words: add --negatives 0.5");
    }
    let study = Study {
        words: args.count,
        negatives,
        lengths: lengths(1, args.max_length)?,
        tests: args.tests.unwrap_or(if is_task { 0 } else { 10_000 }),
        test_lengths: lengths(1, args.test_length)?,
        rounds: args.rounds,
        seed: args.seed,
    };
    if args.prove {
        return prove(&study, &**language, &params, (bar, control), quiet);
    }
    let mut number = 0;
    let mut tell = |round: &Round| {
        number += 1;
        if !quiet && round.tested > 0 {
            let Round { rows, tested, wrong, .. } = round;
            bar.say(&format!("round {number}: {rows} contexts, {wrong} of {tested} fresh words wrong"));
        }
    };
    let (machine, rounds) = study.learn(&**language, &params, bar, &mut tell)?;
    let words = Some(rounds.last().map_or(0, |round| round.traces));
    let rounds = rounds.into_iter().filter(|round| round.tested > 0).collect();
    Ok(Learned { machine, words, rounds, proof: None })
}

/// Trains until the machine is proved correct.
fn prove(
    study: &Study,
    language: &dyn Language,
    params: &Checked,
    (bar, control): (&Bar, &dyn Control),
    quiet: bool,
) -> Result<Learned> {
    let mut number = 0;
    let mut tell = |round: &ProofRound| {
        number += 1;
        if !quiet && round.open > 0 {
            let ProofRound { rows, exercises, cost, open, .. } = round;
            let taught = format!("{rows} contexts, {exercises} exercises, cost {cost:e}");
            bar.say(&format!("round {number}: {taught}: {open} cells open"));
        }
    };
    let (machine, proof) = study.prove(language, params, control, &mut tell)?;
    Ok(Learned { machine, words: Some(study.words), rounds: Vec::new(), proof: Some(proof) })
}

fn from_traces(args: &Args, path: &Path, bar: &Bar) -> Result<Learned> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("could not read {name}"))?;
    let (alphabet, traces) = read_traces(&mut BufReader::new(file)).with_context(|| format!("could not use {name}"))?;
    let strict = args.strict || traces.iter().any(Trace::is_refusal);
    let defaults = Params::standard(ReservoirKind::from(args.reservoir), args.neurons, args.seed);
    let params = params(args, defaults, View::Symbol, if strict { Mode::Strict } else { Mode::Tolerant });
    let found = contradictions(&traces, params.view, 3);
    if !found.is_empty() {
        let tell = |found: &echostack::teach::Contradiction| {
            let place = |at: usize| {
                let (trace, step) = found.places[at];
                format!("{} (step {step}): {}", traces[trace].source(), found.actions[at])
            };
            format!("with the stack [{}]\n  {}\n  {}", names(&alphabet, &found.stack), place(0), place(1))
        };
        bail!("the traces contradict each other:\n{}", found.iter().map(tell).collect::<Vec<_>>().join("\n"));
    }
    let machine = params.check()?.fit(&alphabet, &traces, bar)?;
    Ok(Learned { machine, words: Some(traces.len()), rounds: Vec::new(), proof: None })
}

/// Trains a machine on the contexts of a corpus. A state must depend only on the last symbols, as a context does, so
/// the recurrent weights are as weak as for proofs.
fn from_contexts(args: &Args, path: &Path, bar: &Bar) -> Result<Learned> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("could not read {name}"))?;
    let file = read_contexts(&mut BufReader::new(file)).with_context(|| format!("could not use {name}"))?;
    let view = if file.depth.before > 0 { View::Reservoir } else { View::Symbol };
    ensure!(
        args.lookahead.is_none_or(|asked| View::from(asked) == view),
        "--lookahead does not fit the contexts, which have {} tokens of the input before the next one: leave it out",
        file.depth.before
    );
    let exercises = exercises(file.contexts, &file.alphabet, args.majority)?;
    let strict = args.strict || exercises.iter().any(|exercise| exercise.answer == Answer::Shift(false));
    let defaults = Params::provable(ReservoirKind::from(args.reservoir), args.neurons, args.seed);
    let params = params(args, defaults, view, if strict { Mode::Strict } else { Mode::Tolerant });
    let (machine, wrong) = practise(&params.check()?, &file.alphabet, &exercises, bar)?;
    ensure!(
        wrong == 0,
        "the machine still gives a wrong answer for {wrong} of the contexts; try more --neurons, or count longer contexts"
    );
    Ok(Learned { machine, words: None, rounds: Vec::new(), proof: None })
}

/// Returns the exercises of the contexts. Of contexts that contradict each other, the most frequent one is used if
/// `majority` is set; otherwise, contradictions are an error.
fn exercises(mut contexts: Vec<Asked>, alphabet: &Alphabet, majority: bool) -> Result<Vec<Exercise>> {
    contexts.sort_by(|a, b| a.exercise.cmp(&b.exercise));
    let found: Vec<[&Asked; 2]> = Asked::contradictions(&contexts).collect();
    if !found.is_empty() && !majority {
        let tell = |[a, b]: &[&Asked; 2]| {
            let place = |context: &Asked| {
                format!("count {}, first in {}: {}", context.count, context.source, context.exercise.answer)
            };
            let next = a.exercise.next.token().map_or("the end", |token| alphabet.name(token));
            let stack = names(alphabet, &a.exercise.stack);
            format!("with the stack [{stack}] before {next}\n  {}\n  {}", place(a), place(b))
        };
        bail!(
            "the contexts contradict each other (contradictions: {}); count longer contexts, or add --majority to use the most frequent answer:\n{}",
            found.len(),
            found.iter().take(3).map(tell).collect::<Vec<_>>().join("\n")
        );
    }
    let believed =
        contexts.chunk_by(Asked::contradicts).filter_map(|rivals| rivals.iter().max_by_key(|rival| rival.count));
    Ok(believed.map(|context| context.exercise.clone()).collect())
}

/// Returns the names of symbols, separated by spaces.
fn names(alphabet: &Alphabet, symbols: &[SymbolId]) -> String {
    symbols.iter().map(|&symbol| alphabet.name(symbol)).collect::<Vec<_>>().join(" ")
}
