//! `echostack infer`: infers a grammar and a lexer from example texts and a program that accepts or rejects texts.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use echostack_grammar::{Encoding, Equality, Subject, equality};
use echostack_infer::{Asking, Guess, Inferred, Proved, Settings};

use crate::inference::{SOURCE, Source, seconds, tell};
use crate::outcome::Outcome;
use crate::output::{count, note, print_json};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  A program that is run on a file, and answers by its exit code:
    echostack infer --examples examples --oracle 'xmllint --noout {}' -o inferred
  A program that stays open: one JSON string per line in, true or false per line out:
    echostack infer --examples examples --oracle 'python3 oracle.py' --persistent -o inferred
  This is much faster than starting a program for each text. For a function in Python, oracle.py is
    import json, sys
    for line in sys.stdin:
        print('true' if accepts(json.loads(line)) else 'false', flush=True)
  Valid and invalid texts, but no program: the result is a guess:
    echostack infer --examples valid --invalid invalid -o guessed
  Make and prove a machine for the result:
    echostack learn inferred -o model.safetensors

The program is run on texts that nobody has looked at: see --sandbox and docs/infer.md. A run that was interrupted
continues where it was, if it is started again with the same folder. If the tokens are known, a short lexer in --tokens
leads to a smaller grammar, and to it sooner.

Exit codes: 0 if the language was learned or guessed; 1 if the run did not converge (the report says where); 2 on an error.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
    /// Folder with invalid texts, one per file, if there is no program. The result is a guess
    #[arg(long, value_name = "FOLDER", requires = "examples", conflicts_with = "oracle", help_heading = SOURCE)]
    invalid: Option<PathBuf>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of random tests in a round
    #[arg(long, default_value_t = 4000)]
    tests: usize,
    /// Maximum number of rounds
    #[arg(long, default_value_t = 1000)]
    rounds: usize,
    /// Fraction of the examples to hold out, to measure recall [default: a fifth of at least 50 examples, else none]
    #[arg(long, value_name = "FRACTION")]
    hold_out: Option<f64>,
    /// Compare at most this many token strings with the program after learning: all of up to a length
    #[arg(long, value_name = "N", default_value_t = 5000)]
    strings: usize,
    /// Number of texts in each of three samples that are compared with the program after learning. Languages that took more than
    /// 200,000 queries to learn are compared with more texts
    #[arg(long, value_name = "N", default_value_t = 1000)]
    fresh: usize,
    /// Ask about at most this many texts that differ from an example in one character, before the language counts as
    /// learned. If there are more, the shortest examples come first
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    neighbors: usize,
    /// Look for tokens first: names, numbers, strings, keywords, operators and comments, besides those of --tokens. If they do
    /// not explain the language, characters are used
    #[arg(long, conflicts_with = "invalid")]
    find_tokens: bool,
    /// Leave out everything beyond ASCII: characters, and examples that contain them
    #[arg(long, conflicts_with = "invalid")]
    ascii: bool,
    /// Give up after this many seconds, with the best grammar so far
    #[arg(long, value_name = "N", default_value_t = 3600.)]
    seconds: f64,
    /// Folder to write the grammar, the lexer, the report and the answers to
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
    /// Decide whether the result has the same texts as this grammar, of all lengths, and print a text in which they differ.
    /// Tokens and rules that have the same texts there take its names
    #[arg(long, value_name = "GRAMMAR", conflicts_with_all = ["invalid", "json"])]
    against: Option<PathBuf>,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    ensure!(
        args.source.examples.is_some() && (args.source.oracle.is_some() || args.invalid.is_some()),
        "give --examples and --oracle, or --examples and --invalid"
    );
    if let Some(fraction) = args.hold_out {
        ensure!((0. ..=0.9).contains(&fraction), "--hold-out is {fraction}, but must be from 0 to 0.9");
    }
    let settings = Settings {
        seed: args.seed,
        tests: args.tests,
        rounds: args.rounds,
        hold_out: args.hold_out,
        strings: args.strings,
        fresh: args.fresh,
        neighbors: args.neighbors,
        ascii: args.ascii,
        tokens: args.find_tokens,
        asking: Asking { time: seconds("--seconds", args.seconds)?, ..Asking::default() },
        ..Settings::default()
    };
    let open = |path| Subject::open_grammar_within(path, Encoding::Auto, &session.grammar_limits());
    let against = args.against.as_deref().map(open).transpose()?;
    let bar = session.bar();
    if let Some(invalid) = &args.invalid {
        let guessed = args.source.guess(session, settings, invalid, &args.output, &bar);
        bar.finish();
        let guessed = guessed?;
        if args.json {
            print_json(&guessed.summary())?;
        } else if !session.quiet {
            tell_guess(&guessed, &args.output);
        }
        return Ok(Outcome::Accepted);
    }
    let inferred = args.source.infer(session, settings, against.as_ref(), &args.output, &bar);
    bar.finish();
    let inferred = inferred?;
    if args.json {
        print_json(&inferred.summary(Proved::NotTried))?;
    } else {
        tell(&inferred, &args.output, session.quiet);
    }
    if let (Some(against), Some(path)) = (against, &args.against) {
        return compared(&inferred, &against, path);
    }
    Ok(if inferred.is_settled() { Outcome::Accepted } else { Outcome::Rejected })
}

/// Tells whether an inferred language has the same texts as a grammar.
fn compared(inferred: &Inferred, against: &Subject, path: &Path) -> Result<Outcome> {
    let language = inferred.language().context("nothing was inferred that could be compared")?;
    let found = equality(&language.subject("inferred")?, against, &());
    let path = path.display();
    match &found {
        Equality::Equal => note(format_args!("equal to {path}: the same texts, of all lengths")),
        Equality::Different { text, first } => {
            let whose = if *first { "the inferred grammar".to_string() } else { path.to_string() };
            note(format_args!("not equal to {path}: only {whose} has {text:?}"));
        }
        other => note(format_args!("compared with {path}: {other}")),
    }
    Ok(if found == Equality::Equal { Outcome::Accepted } else { Outcome::Rejected })
}

/// Tells what was guessed, and how far it can be trusted.
fn tell_guess(guessed: &Guess, folder: &Path) {
    let (texts, held_out) = (guessed.texts(), guessed.held_out());
    let known = match (held_out.valid.len(), held_out.invalid.len()) {
        (0, 0) => "nothing was held out to test it".to_string(),
        (valid, invalid) => {
            let [rejected, accepted] = guessed.mistakes(held_out).map(|wrong| wrong.len());
            format!(
                "of the held-out texts, {rejected} of {valid} valid ones are rejected, {accepted} of {invalid} invalid ones accepted"
            )
        }
    };
    note(format_args!(
        "guessed a language from {} and {}: {}; {known}; see {}/report.md",
        count(texts.valid.len(), "valid text"),
        count(texts.invalid.len(), "invalid text"),
        count(guessed.states(), "state"),
        folder.display(),
    ));
}
