//! `echostack check`: checks texts or words, from files or standard input. Words are given one per line and read as a
//! stream, in constant memory apart from the stack.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use echostack::{Alphabet, Limits, Model, Verdict};
use echostack_grammar::Judge;
use serde_json::{Value, json};

use crate::reading::{Names, Reading, open};
use crate::text::{self, Report, expected_names, hint};
use crate::{Outcome, open_judge, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file or table file
    model: PathBuf,
    /// Texts if the model has a lexer, otherwise files with one word per line; `-` is standard input
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    /// Read tokens separated by white space, one word per line, even if the model has a lexer
    #[arg(long)]
    tokens: bool,
    /// Read every character as a token, instead of tokens separated by white space; implies --tokens
    #[arg(long)]
    chars: bool,
    /// Print JSON, one line per word or text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    depth: Depth,
}

/// The limit on the depth of the stack.
#[derive(clap::Args)]
pub(crate) struct Depth {
    /// Maximum number of symbols on the stack; a word that needs more is stopped. A table uses one or two bytes per
    /// symbol, a machine more
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth)]
    max_depth: usize,
}

impl Depth {
    pub(crate) fn limits(&self) -> Limits {
        Limits { depth: self.max_depth, ..Limits::default() }
    }
}

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    let judge = open_judge(&args.model, args.tokens || args.chars)?;
    let mut worst = Outcome::Accepted;
    for path in &args.files {
        let outcome = if judge.has_lexer() {
            whole(args, quiet, &judge, path)?
        } else {
            file(args, quiet, judge.model(), &path.display().to_string(), open(path)?)?
        };
        worst = worst.max(outcome);
    }
    Ok(worst)
}

/// Checks a text.
fn whole(args: &Args, quiet: bool, judge: &Judge, path: &Path) -> Result<Outcome> {
    let bytes = text::read(path)?;
    let name = path.display().to_string();
    // A file that is not UTF-8 is rejected at its first invalid byte.
    let (source, broken) = match std::str::from_utf8(&bytes) {
        Ok(source) => (source, None),
        Err(error) => (std::str::from_utf8(&bytes[..error.valid_up_to()])?, Some(error.valid_up_to())),
    };
    let mut tokens = judge.tokens(source);
    tokens.1 = tokens.1.or(broken);
    let judgement = judge.judge_lexemes(&tokens, args.depth.limits(), &mut ());
    let report = Report { judgement, alphabet: judge.alphabet(), file: &name, text: source };
    if args.json {
        print_json(&report.to_json())?;
    } else if !quiet {
        writeln!(std::io::stdout(), "{}", report.to_text())?;
    }
    Ok(Outcome::of(&report.judgement.verdict))
}

/// Checks the words of one file. An empty file contains one word, the empty word.
fn file(args: &Args, quiet: bool, model: &Model, name: &str, mut input: impl BufRead) -> Result<Outcome> {
    let names = Names::new(model.alphabet(), args.chars);
    let mut worst = Outcome::Accepted;
    let mut line = 0;
    loop {
        line += 1;
        let mut word = Reading::new(&names, model.scan(args.depth.limits()));
        let ended = word.read(&mut input).with_context(|| format!("could not read {name}"))?;
        if ended && word.is_empty() && line > 1 {
            return Ok(worst);
        }
        let (verdict, refused, ()) = word.finish();
        if !quiet {
            report(args, model.alphabet(), name, line, &verdict, refused.as_deref())?;
        }
        worst = worst.max(Outcome::of(&verdict));
        if ended {
            return Ok(worst);
        }
    }
}

fn report(
    args: &Args,
    alphabet: &Alphabet,
    file: &str,
    line: u64,
    verdict: &Verdict,
    refused: Option<&str>,
) -> Result<()> {
    if args.json {
        let mut value = json!({"file": file, "line": line, "verdict": verdict.name()});
        if let Some(position) = verdict.position() {
            value["position"] = json!(position);
        }
        if let Verdict::Reject { expected, .. } | Verdict::Incomplete { expected } = verdict {
            value["expected"] = Value::from(expected_names(alphabet, expected, str::to_string));
        }
        if let Verdict::Stopped { limit, .. } = verdict {
            value["limit"] = json!(limit.to_string());
        }
        return print_json(&value);
    }
    writeln!(std::io::stdout(), "{file}:{line}: {}", tell(alphabet, verdict, refused))?;
    Ok(())
}

/// Describes a verdict in English.
pub(crate) fn tell(alphabet: &Alphabet, verdict: &Verdict, refused: Option<&str>) -> String {
    let hint = |expected| hint(&expected_names(alphabet, expected, str::to_string));
    match verdict {
        Verdict::Accept => "accept".to_string(),
        Verdict::Incomplete { expected } => format!("incomplete{}", hint(expected)),
        Verdict::Reject { position, expected } => match refused {
            Some(token) => format!("reject at token {position}: unexpected {token}{}", hint(expected)),
            None => format!("reject at position {position}{}", hint(expected)),
        },
        Verdict::Stopped { position, limit } => {
            format!("stopped at token {position}: the limit on {limit} was reached")
        }
    }
}
