//! `echostack parse`: prints the reductions of a machine, as a tree or as a stream of events.

use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;
use echostack::recognize::{Event, Observer, Reduction, TreeBuilder};
use echostack::{Alphabet, Model, Recognizer, SymbolId, Verdict};
use echostack_grammar::{Judge, Parsed, sexpr_atom};
use serde_json::{Value, json};

use crate::input::Input;
use crate::outcome::{Outcome, is_closed_pipe};
use crate::output::note;
use crate::reading::{Names, Reading, Watch, Watched, open};
use crate::session::Session;
use crate::text::{self, Color, Paint, Report, verdict_report, word_report};
use crate::words::tell;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Grammar (a folder, or NAME.y), table or machine
    model: PathBuf,
    /// Texts if the model has a lexer, otherwise files with one word per line; `-` is standard input
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    /// What to print: trees as S-expressions or JSON, one per line, or events as they happen, in constant memory apart
    /// from the stack
    #[arg(long, value_enum, default_value = "sexpr")]
    format: Format,
    /// Leave out tokens that consist of punctuation
    #[arg(long)]
    no_punctuation: bool,
    #[command(flatten)]
    input: Input,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// An S-expression of rules and the texts of tokens
    Sexpr,
    /// The object that `check --json` prints, with the tree: kinds, texts and spans
    Json,
    /// One line per step
    Events,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let judge = args.input.open(session, &args.model)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut worst = Outcome::Accepted;
    for path in &args.files {
        let parsed = if judge.has_lexer() {
            text(args, &judge, path, &mut out)
        } else {
            open(path).and_then(|input| words(args, judge.model(), &path.display().to_string(), input, &mut out))
        };
        // A closed pipe ends the run; a file that cannot be read does not.
        let outcome = parsed.or_else(|error| {
            if is_closed_pipe(&error) {
                return Err(error);
            }
            note(format_args!("echostack: {error:#}"));
            Ok(Outcome::Stopped)
        });
        worst = worst.max(outcome?);
    }
    out.flush()?;
    Ok(worst)
}

/// Parses a text.
fn text(args: &Args, judge: &Judge, path: &Path, out: &mut dyn Write) -> Result<Outcome> {
    let (name, bytes) = (path.display().to_string(), text::read(path)?);
    let source = std::str::from_utf8(&bytes).with_context(|| format!("{name} is not UTF-8"))?;
    let limits = args.input.limits();
    let judgement = if args.format == Format::Events {
        let tokens = judge.tokens(source);
        let texts = tokens.0.iter().map(|lexeme| source[lexeme.start..lexeme.end].to_string()).collect();
        let mut events = Events { alphabet: judge.alphabet(), tokens: texts, out, failed: None };
        let judgement = judge.judge_tokens(source, &tokens, limits, &mut events);
        events.finish(&judgement.verdict)?;
        judgement
    } else {
        match judge.parse_within(source, limits) {
            Ok(parsed) => {
                let accepted = json!({"file": name});
                print(args, parsed, &verdict_report(accepted, judge.alphabet(), &Verdict::Accept), out)?;
                return Ok(Outcome::Accepted);
            }
            Err(judgement) => *judgement,
        }
    };
    let paint = Paint::new(Color::Never);
    let report = Report { judgement: &judgement, alphabet: judge.alphabet(), file: &name, paint };
    if args.format == Format::Json {
        writeln!(out, "{}", report.to_json())?;
    }
    if judgement.fault.is_some() {
        note(report.to_text());
    }
    Ok(Outcome::of(&judgement.verdict))
}

/// Parses the words of one file.
fn words(args: &Args, model: &Model, name: &str, mut input: impl BufRead, out: &mut dyn Write) -> Result<Outcome> {
    let alphabet = model.alphabet();
    let names = Names::new(alphabet, args.input.chars);
    let mut worst = Outcome::Accepted;
    for line in 1.. {
        let watch = if args.format == Format::Events {
            Watcher::Events(Events { alphabet, tokens: Vec::new(), out, failed: None })
        } else {
            Watcher::Tree(TreeBuilder::new(alphabet), Vec::new())
        };
        let mut word = Reading::new(&names, Watched { session: model.start(args.input.limits()), watch });
        let ended = word.read(&mut input).with_context(|| format!("could not read {name}"))?;
        if ended && word.is_empty() {
            break;
        }
        let ((verdict, watcher), refused) = word.finish();
        let report = || word_report(alphabet, (name, line), &verdict, refused.as_deref());
        match watcher {
            Watcher::Events(events) => events.finish(&verdict)?,
            Watcher::Tree(tree, tokens) => match tree.finish().filter(|_| verdict.is_accept()) {
                Some(tree) => {
                    let names = tokens.iter().map(|&token| alphabet.name(token));
                    print(args, Parsed::of_word(alphabet, tree, names), &report(), out)?;
                }
                None if args.format == Format::Json => writeln!(out, "{}", report())?,
                None => {}
            },
        }
        if !verdict.is_accept() {
            note(format_args!("{name}:{line}: {}", tell(alphabet, &verdict, refused.as_deref())));
        }
        worst = worst.max(Outcome::of(&verdict));
        if ended {
            break;
        }
    }
    Ok(worst)
}

/// Prints a tree: as an S-expression, or in the object that `check --json` prints.
fn print(args: &Args, parsed: Parsed<'_>, report: &Value, out: &mut dyn Write) -> Result<()> {
    let parsed = if args.no_punctuation { parsed.without_punctuation() } else { parsed };
    if args.format == Format::Sexpr {
        return Ok(writeln!(out, "{parsed}")?);
    }
    // The tree may be too deep for a value of serde_json, so its text is put into the object.
    let mut object = report.to_string();
    object.pop();
    Ok(writeln!(out, "{object},\"tree\":{}}}", parsed.to_json())?)
}

/// What watches a word that is read: a printer of events, or a builder of its tree with its tokens.
enum Watcher<'a> {
    Events(Events<'a>),
    Tree(TreeBuilder<'a>, Vec<SymbolId>),
}

impl Watch for Watcher<'_> {
    fn token(&mut self, token: SymbolId) {
        match self {
            // A symbol that is not in the alphabet is refused and never shown.
            Self::Events(events) => {
                let known = events.alphabet.contains(token);
                events.tokens = vec![if known { events.alphabet.name(token).to_string() } else { String::new() }];
            }
            Self::Tree(_, tokens) => tokens.push(token),
        }
    }
}

impl Observer for Watcher<'_> {
    fn event(&mut self, position: u64, event: Event<'_>) {
        match self {
            Self::Events(events) => events.event(position, event),
            Self::Tree(tree, _) => tree.event(position, event),
        }
    }

    fn reads_margins(&self) -> bool {
        false
    }
}

/// An observer that prints one line per step.
struct Events<'a> {
    alphabet: &'a Alphabet,
    /// The text of each token of a text; of a word, only that of the last token.
    tokens: Vec<String>,
    out: &'a mut dyn Write,
    /// The first error in writing, reported at the end.
    failed: Option<std::io::Error>,
}

impl Events<'_> {
    fn finish(self, verdict: &Verdict) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        Ok(writeln!(self.out, "{}", verdict.name())?)
    }
}

impl Observer for Events<'_> {
    fn event(&mut self, position: u64, event: Event<'_>) {
        let line = match event {
            Event::Shift { shifted: true, .. } => {
                let text = self.tokens.get(position as usize).or(self.tokens.last());
                format!("shift {}", sexpr_atom(text.map_or("", String::as_str)))
            }
            Event::Decide { reduction: Reduction { pop, push: Some(symbol) }, .. }
                if !self.alphabet.is_state(symbol) =>
            {
                format!("reduce {} {pop}", self.alphabet.name(symbol))
            }
            _ => return,
        };
        if self.failed.is_none() {
            self.failed = writeln!(self.out, "{line}").err();
        }
    }

    fn reads_margins(&self) -> bool {
        false
    }
}
