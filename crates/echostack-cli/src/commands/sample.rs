//! `echostack sample`: prints words of a language, or texts of a grammar.

mod texts;

use std::io::Write;

use anyhow::{Context, Result, bail, ensure};
use clap::builder::PossibleValuesParser;
use echostack::Word;
use echostack::language::{WordKind, all_words, draw};
use echostack::recognize::Mode;
use echostack::tasks::Split;
use echostack_grammar::{Encoding, TextKind};

use crate::outcome::Outcome;
use crate::session::Session;
use crate::subject::{self, lengths};
use crate::words::names;

const EXAMPLES: &str = "\
Examples:
  Print ten words that are almost right:
    echostack sample testdata/grammars/json --kind near-miss --count 10
  Print all words up to length 4:
    echostack sample task:dyck2 --all 4 --chars
  Write texts that use every production of a grammar, each to a file:
    echostack sample testdata/grammars/json --texts --cover productions -o texts
  Write texts with a mistake, and where it is:
    echostack sample testdata/grammars/json --texts --kind near-miss --json
  Exchange parts of texts of your own:
    echostack sample testdata/grammars/json --texts --kind spliced --examples FOLDER";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, mut_group("subject", |group| group.required(true)))]
pub(crate) struct Args {
    #[command(flatten)]
    subject: subject::Args,
    /// Kind of words, or of texts with --texts: random is for words only, spliced for texts only
    #[arg(long, value_parser = PossibleValuesParser::new(KINDS), default_value = "valid")]
    kind: String,
    /// Number of words or texts [default: 100, or as many as --cover needs]
    #[arg(long)]
    count: Option<usize>,
    /// Minimum number of tokens [default: 1, or 0 with --texts]
    #[arg(long)]
    min_length: Option<usize>,
    /// Maximum number of tokens [default: 50, or no matter with --cover and --examples]
    #[arg(long)]
    max_length: Option<usize>,
    /// Seed of the words, and of a work item
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print all words up to this length instead, shortest first
    #[arg(long, value_name = "LENGTH")]
    all: Option<usize>,
    /// Write words without spaces between their tokens
    #[arg(long)]
    chars: bool,
    #[command(flatten)]
    texts: texts::Args,
}

/// The kinds of words and of texts.
const KINDS: [&str; 4] = ["valid", "near-miss", "random", "spliced"];
/// The maximum number of tokens of a word or text by default.
const LONGEST: usize = 50;
/// The maximum number of words that `--all` prints.
const MOST: usize = 1_000_000;

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let subject = args.subject.open(session, Encoding::Auto, &())?;
    if args.texts.texts {
        let longest = args.max_length.or(args.texts.longest()).unwrap_or(LONGEST);
        let lengths = lengths(args.min_length.unwrap_or(0), longest)?;
        return texts::run(&args.texts, &subject, &args.kind, lengths, args.count, args.seed, session.quiet);
    }
    ensure!(args.kind != TextKind::Spliced.name(), "--kind spliced makes texts: add --texts and --examples FOLDER");
    let language = subject.require_language()?;
    let alphabet = subject.alphabet();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut print = |word: &Word| {
        let names: Vec<&str> = names(alphabet, word).collect();
        writeln!(out, "{}", names.join(if args.chars { "" } else { " " }))
    };
    if let Some(longest) = args.all {
        ensure!(longest <= 1000, "--all is {longest}, but must be at most 1000");
        let all = all_words(&subject.oracle(Mode::Strict, &())?, longest, MOST);
        let all = all.with_context(|| format!("there are more than {MOST} words up to length {longest}"))?;
        all.iter().try_for_each(&mut print)?;
    } else {
        let kind: WordKind = args.kind.parse()?;
        let oracle = subject.oracle(Mode::Tolerant, &())?;
        let mut random = Split::Train.generator(args.seed);
        let (from, to) = (args.min_length.unwrap_or(1), args.max_length.unwrap_or(LONGEST));
        let lengths = lengths(from, to)?;
        for _ in 0..args.count.unwrap_or(texts::COUNT) {
            let word = draw(&**language, &oracle, kind, lengths.clone(), &mut random);
            let Some(word) = word else {
                let name = subject.name();
                bail!("there are no {kind} words of {name} with {from} to {to} tokens");
            };
            print(&word)?;
        }
    }
    out.flush()?;
    Ok(Outcome::Accepted)
}
