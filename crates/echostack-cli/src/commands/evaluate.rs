//! `echostack evaluate`: measures a machine on fresh words of a task, a grammar or an automaton, or on traces.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use echostack::language::{WordKind, draw};
use echostack::recognize::Reduction;
use echostack::tasks::Split;
use echostack::teach::{Answer, Score, Step, compare, departures, score};
use echostack::{Alphabet, Limits, Model, Oracle, Word};
use echostack_grammar::{Encoding, Subject};
use serde_json::{Map, Value, json};

use crate::equivalent::comparable;
use crate::outcome::Outcome;
use crate::output::{count, print_json};
use crate::progress::Bar;
use crate::session::Session;
use crate::subject::lengths;
use crate::traces::open_traces;
use crate::words::names;

const EXAMPLES: &str = "\
Examples:
  Judge 1,000 fresh words of each kind:
    echostack evaluate json.safetensors --against testdata/grammars/json --count 1000
  Compare with what your own program did on other words than those of training (docs/traces.md):
    echostack evaluate log.safetensors --traces held-out.jsonl --show-wrong 5

Exit codes: 0 if the model was measured, whatever the result; 2 on an error.";

const WHAT: &str = "What to compare with";
const WORDS: &str = "Fresh words";
const OUTPUT: &str = "Output";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, group(clap::ArgGroup::new("other").required(true)))]
pub(crate) struct Args {
    /// Grammar (a folder, or NAME.y), table or machine
    model: PathBuf,
    /// Language to compare with: a grammar, `task:NAME`, or an automaton in JSON
    #[arg(long, value_name = "LANGUAGE", group = "other", help_heading = WHAT)]
    against: Option<String>,
    /// Traces in JSON Lines: compare every action with them, instead of the verdicts on fresh words
    #[arg(long, value_name = "FILE", group = "other", help_heading = WHAT)]
    traces: Option<PathBuf>,
    /// Number of words of each kind
    #[arg(long, default_value_t = 100, help_heading = WORDS)]
    count: usize,
    /// Minimum length of the words [default: 50 for a task, else 1]
    #[arg(long, help_heading = WORDS)]
    min_length: Option<usize>,
    /// Maximum length of the words
    #[arg(long, default_value_t = 200, help_heading = WORDS)]
    max_length: usize,
    /// Seed of the words
    #[arg(long, default_value_t = 1, help_heading = WORDS)]
    seed: u64,
    /// Print the words with a wrong verdict, at most this many of each kind; for traces, those with a different action,
    /// and the first step that differs
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = OUTPUT)]
    show_wrong: usize,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// The measurements on words of one kind.
#[derive(Default)]
struct Measured {
    error: f64,
    wrong: usize,
    unlike: usize,
    tokens: usize,
    shown: Vec<String>,
}

/// The maximum number of words held in memory at once.
const BATCH: usize = 512;

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let model = session.load_model(&args.model)?;
    if let Some(path) = &args.traces {
        return on_traces(args, &model, path);
    }
    let name = args.against.as_deref().context("give --against or --traces")?;
    let subject = session.open_subject(name, Encoding::Auto, &())?;
    subject.check_tokens(model.alphabet())?;
    let mut json = Map::new();
    json.insert("task".into(), json!(subject.name()));
    if subject.language().is_none() {
        let task = subject.task().context("only a task can have no language")?;
        let Score { error, wrong, tokens, .. } =
            score(&model, &task.examples(Split::Test, args.count, args.seed), Limits::default());
        let measured = Measured { error, wrong: wrong.len(), tokens, ..Measured::default() };
        report(args, WordKind::Valid, &measured, &mut json)?;
    } else {
        let oracle = subject.oracle(model.mode(), &())?;
        let mut random = Split::Test.generator(args.seed);
        let bar = session.bar();
        for kind in WordKind::ALL {
            let measured = measure(args, &subject, &model, &oracle, kind, &mut random, &bar);
            bar.finish();
            report(args, kind, &measured?, &mut json)?;
        }
    }
    if args.json {
        print_json(&Value::Object(json))?;
    }
    Ok(Outcome::Accepted)
}

/// Compares every action of a model with those of traces.
fn on_traces(args: &Args, model: &Model, path: &Path) -> Result<Outcome> {
    let (alphabet, traces) = open_traces(path)?;
    comparable(model.alphabet(), &path.display().to_string(), &alphabet)?;
    let Score { error, wrong, words, tokens } = score(model, &traces, Limits::default());
    let departing = departures(model, &traces, Limits::default());
    let tell =
        |step: Option<&Step>, end: bool| step.map_or("nothing".to_string(), |step| actions(&alphabet, step, end));
    let shown = departing.iter().take(args.show_wrong).map(|departure| {
        let trace = &traces[departure.trace];
        let end = departure.step == trace.word().len();
        let (wanted, given) = (tell(departure.wanted.as_ref(), end), tell(departure.given.as_ref(), end));
        (trace.source(), departure.step, wanted, given)
    });
    if args.json {
        let shown: Vec<Value> = shown
            .map(|(source, step, wanted, given)| {
                json!({"source": source, "step": step, "wanted": wanted, "given": given})
            })
            .collect();
        print_json(&json!({
            "traces": path, "words": words, "tokens": tokens, "error": error, "wrong": wrong.len(),
            "departing": departing.len(), "departures": shown,
        }))?;
        return Ok(Outcome::Accepted);
    }
    let mut out = std::io::stdout().lock();
    let (all, tokens) = (count(words, "word"), count(tokens, "token"));
    writeln!(out, "traces     error {error}, {} of {all} wrong, {tokens}", wrong.len())?;
    writeln!(out, "           {} of {all} with an action that differs from the trace", departing.len())?;
    for (source, step, wanted, given) in shown {
        writeln!(out, "  {source}, step {step}: {given} instead of {wanted}")?;
    }
    Ok(Outcome::Accepted)
}

/// Describes what is done in a step of a trace.
fn actions(alphabet: &Alphabet, step: &Step, end: bool) -> String {
    let reduction = |Reduction { pop, push }: &Reduction| match push {
        Some(symbol) => format!("pop {pop} and push {}", alphabet.name(*symbol)),
        None => format!("pop {pop}"),
    };
    let output = step.output.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let shift = (!end).then(|| Answer::Shift(step.shift).to_string());
    let parts = step.reductions.iter().map(reduction).chain([format!("output {output}")]).chain(shift);
    parts.collect::<Vec<_>>().join(", ")
}

fn measure(
    args: &Args,
    subject: &Subject,
    model: &Model,
    oracle: &Oracle,
    kind: WordKind,
    random: &mut rand_chacha::ChaCha8Rng,
    bar: &Bar,
) -> Result<Measured> {
    let language = subject.require_language()?;
    let shortest = args.min_length.unwrap_or(if subject.task().is_some() { 50 } else { 1 });
    let lengths = lengths(shortest, args.max_length)?;
    let mut measured = Measured::default();
    let mut done = 0;
    while done < args.count {
        let mut words: Vec<Word> = Vec::new();
        for _ in 0..BATCH.min(args.count - done) {
            let word = draw(&**language, oracle, kind, lengths.clone(), random);
            words.push(word.with_context(|| {
                format!("there are no {kind} words of {} with {shortest} to {} tokens", subject.name(), args.max_length)
            })?);
        }
        let comparison = compare(model, oracle, &words, Limits::default());
        measured.error += comparison.errors / args.count as f64;
        measured.wrong += comparison.wrong.len();
        measured.unlike += comparison.unlike.len();
        measured.tokens += words.iter().map(Word::len).sum::<usize>();
        for &number in comparison.wrong.iter().take(args.show_wrong - measured.shown.len().min(args.show_wrong)) {
            measured.shown.push(names(model.alphabet(), &words[number]).collect::<Vec<_>>().join(" "));
        }
        done += words.len();
        bar.show(&format!("{kind} words"), done, args.count);
    }
    Ok(measured)
}

fn report(args: &Args, kind: WordKind, measured: &Measured, json: &mut Map<String, Value>) -> Result<()> {
    let Measured { error, wrong, unlike, tokens, shown } = measured;
    if !args.json {
        let mut out = std::io::stdout().lock();
        let (words, tokens) = (count(args.count, "word"), count(*tokens, "token"));
        writeln!(out, "{kind:10} error {error}, {wrong} of {words} wrong, {tokens}")?;
        if *unlike > 0 {
            let verdicts = count(*unlike, "correct verdict");
            writeln!(out, "           {verdicts} with different expected tokens")?;
        }
        return Ok(shown.iter().try_for_each(|word| writeln!(out, "  {word}"))?);
    }
    let prefix = match kind {
        WordKind::Valid => "",
        WordKind::NearMiss => "near_miss_",
        WordKind::Random => "random_",
    };
    json.insert(format!("{prefix}error"), if *error == 0. { json!(0) } else { json!(error) });
    json.insert(format!("{prefix}wrong"), json!(wrong));
    json.insert(format!("{prefix}unexpected"), json!(unlike));
    if args.show_wrong > 0 {
        json.insert(format!("{prefix}wrong_words"), json!(shown));
    }
    Ok(())
}
