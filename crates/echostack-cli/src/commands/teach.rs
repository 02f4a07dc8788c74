//! `echostack teach`: writes the actions of a parser on words of a language, as traces in JSON Lines.

use std::io::BufWriter;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use echostack::file::replace;
use echostack::recognize::Mode;
use echostack::tasks::Split;
use echostack::teach::write_traces;
use echostack::{Study, Trace};
use echostack_grammar::Encoding;

use crate::outcome::Outcome;
use crate::output::try_output;
use crate::session::Session;
use crate::subject::{self, encoding, lengths};

const EXAMPLES: &str = "\
Examples:
  Write what a parser does on 200 words, and learn from that alone:
    echostack teach testdata/grammars/dyck2 --count 200 -o dyck2.jsonl
    echostack learn --traces dyck2.jsonl -o dyck2.safetensors";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, mut_group("subject", |group| group.required(true)))]
pub(crate) struct Args {
    #[command(flatten)]
    subject: subject::Args,
    /// How a grammar is translated into rules
    #[arg(long, value_parser = encoding(), default_value = "auto")]
    encoding: Encoding,
    /// Number of words, in addition to those that cover a grammar
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// Maximum length of the words
    #[arg(long, default_value_t = 50)]
    max_length: usize,
    /// Fraction of words that are wrong, from 0 to 1: half of them near misses, half random words
    #[arg(long, default_value_t = 0.5)]
    negatives: f64,
    /// Accept or reject only at the end of a word, as in the paper, instead of at the first token that cannot follow
    #[arg(long)]
    tolerant: bool,
    /// Seed of the words
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// File to write the traces to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    ensure!((0. ..=1.).contains(&args.negatives), "--negatives is {}, but must be from 0 to 1", args.negatives);
    try_output(&args.output)?;
    let subject = args.subject.open(session, args.encoding, &())?;
    let traces: Vec<Trace> = match (subject.language(), subject.task()) {
        (Some(language), _) => {
            let mode = if args.tolerant { Mode::Tolerant } else { Mode::Strict };
            let study = Study {
                words: args.count,
                negatives: args.negatives,
                lengths: lengths(1, args.max_length)?,
                seed: args.seed,
                ..Study::default()
            };
            study.begin(&**language, &subject.oracle(mode, &())?)?
        }
        (None, task) => task.context("only a task can have no language")?.examples(Split::Train, args.count, args.seed),
    };
    let alphabet = subject.alphabet();
    match &args.output {
        None => write_traces(&mut BufWriter::new(std::io::stdout().lock()), alphabet, &traces)?,
        Some(path) => replace(path, |out| write_traces(out, alphabet, &traces))
            .with_context(|| format!("could not write {}", path.display()))?,
    }
    Ok(Outcome::Accepted)
}
