//! `echostack evaluate`: measures a machine on fresh words of a task, a grammar or an automaton.

use std::path::PathBuf;

use anyhow::{Context, Result};
use echostack::language::{WordKind, draw};
use echostack::tasks::Split;
use echostack::teach::{Score, compare, score};
use echostack::{Limits, Model, Oracle, Word};
use echostack_grammar::{Encoding, Subject};
use serde_json::{Map, Value, json};

use crate::progress::Bar;
use crate::sample::names;
use crate::subject::{self, lengths};
use crate::{Outcome, load_model, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file or table file
    model: PathBuf,
    #[command(flatten)]
    subject: subject::Args,
    /// Number of words of each kind
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// Minimum length of the words [default: 50 for a task, else 1]
    #[arg(long)]
    min_length: Option<usize>,
    /// Maximum length of the words
    #[arg(long, default_value_t = 200)]
    max_length: usize,
    /// Seed of the words
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the words with a wrong verdict, at most this many of each kind
    #[arg(long, default_value_t = 0, value_name = "N")]
    show_wrong: usize,
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

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    let model = load_model(&args.model)?;
    let subject = args.subject.open(Encoding::Auto, &())?;
    subject.check_tokens(model.alphabet())?;
    let mut json = Map::new();
    json.insert("task".into(), json!(subject.name()));
    if subject.language().is_none() {
        let task = subject.task().context("only a task can have no language")?;
        let Score { error, wrong, tokens, .. } =
            score(&model, &task.examples(Split::Test, args.count, args.seed), Limits::default());
        let measured = Measured { error, wrong: wrong.len(), tokens, ..Measured::default() };
        report(args, WordKind::Valid, &measured, &mut json);
    } else {
        let oracle = subject.oracle(model.mode(), &())?;
        let mut random = Split::Test.generator(args.seed);
        let bar = Bar::new(quiet);
        for kind in WordKind::ALL {
            let measured = measure(args, &subject, &model, &oracle, kind, &mut random, &bar);
            bar.finish();
            report(args, kind, &measured?, &mut json);
        }
    }
    if args.json {
        print_json(&Value::Object(json))?;
    }
    Ok(Outcome::Accepted)
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

fn report(args: &Args, kind: WordKind, measured: &Measured, json: &mut Map<String, Value>) {
    let Measured { error, wrong, unlike, tokens, shown } = measured;
    if !args.json {
        println!("{kind:10} error {error}, {wrong} of {} words wrong, {tokens} tokens", args.count);
        if *unlike > 0 {
            println!("           {unlike} correct verdicts with different expected tokens");
        }
        shown.iter().for_each(|word| println!("  {word}"));
        return;
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
}
