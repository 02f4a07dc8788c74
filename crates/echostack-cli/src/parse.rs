//! `echostack parse`: prints the reductions of a machine, as a tree or as a stream of events.

use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;
use echostack::recognize::{Event, Node, Observer, Reduction, Tree, TreeBuilder, Visit};
use echostack::{Alphabet, Model, Recognizer, SymbolId, Verdict};
use echostack_grammar::Judge;

use crate::check::{Input, tell};
use crate::output::note;
use crate::reading::{Names, Reading, Watch, Watched, open};
use crate::text::{self, Color, Paint, Report};
use crate::{Outcome, is_closed_pipe};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file or table file
    model: PathBuf,
    /// Texts if the model has a lexer, otherwise files with one word per line; `-` is standard input
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    /// What to print: trees as S-expressions or JSON, one per line, or events as they happen, in constant memory apart
    /// from the stack
    #[arg(long, value_enum, default_value = "sexpr")]
    format: Format,
    #[command(flatten)]
    input: Input,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Sexpr,
    Json,
    Events,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let judge = args.input.open(&args.model)?;
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
    let tokens = judge.tokens(source);
    let mut printer = Printer::new(args.format, judge.alphabet(), out);
    printer.leaves = tokens.0.iter().map(|lexeme| source[lexeme.start..lexeme.end].to_string()).collect();
    let judgement = judge.judge_tokens(source, &tokens, args.input.limits(), &mut printer);
    printer.finish(&judgement.verdict)?;
    if !judgement.verdict.is_accept() {
        let paint = Paint::new(Color::Never);
        let report = Report { judgement: &judgement, alphabet: judge.alphabet(), file: &name, paint };
        note(report.to_text());
    }
    Ok(Outcome::of(&judgement.verdict))
}

/// Parses the words of one file.
fn words(args: &Args, model: &Model, name: &str, mut input: impl BufRead, out: &mut dyn Write) -> Result<Outcome> {
    let names = Names::new(model.alphabet(), args.input.chars);
    let mut worst = Outcome::Accepted;
    for line in 1.. {
        let watch = Printer::new(args.format, model.alphabet(), out);
        let mut word = Reading::new(&names, Watched { session: model.start(args.input.limits()), watch });
        let ended = word.read(&mut input).with_context(|| format!("could not read {name}"))?;
        if ended && word.is_empty() {
            break;
        }
        let (verdict, refused, printer) = word.finish();
        printer.finish(&verdict)?;
        if !verdict.is_accept() {
            note(format_args!("{name}:{line}: {}", tell(model.alphabet(), &verdict, refused.as_deref())));
        }
        worst = worst.max(Outcome::of(&verdict));
        if ended {
            break;
        }
    }
    Ok(worst)
}

/// An observer that prints a parse.
struct Printer<'a> {
    format: Format,
    alphabet: &'a Alphabet,
    tree: TreeBuilder<'a>,
    /// The text of each token; for a stream of events, only that of the last token.
    leaves: Vec<String>,
    out: &'a mut dyn Write,
    /// The first error in writing, reported at the end.
    failed: Option<std::io::Error>,
}

impl<'a> Printer<'a> {
    fn new(format: Format, alphabet: &'a Alphabet, out: &'a mut dyn Write) -> Self {
        let tree = TreeBuilder::new(alphabet);
        Self { format, alphabet, tree, leaves: Vec::new(), out, failed: None }
    }

    fn finish(self, verdict: &Verdict) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        if self.format == Format::Events {
            writeln!(self.out, "{}", verdict.name())?;
            return Ok(());
        }
        let Some(tree) = self.tree.finish().filter(|_| verdict.is_accept()) else { return Ok(()) };
        let name = |symbol: SymbolId| self.alphabet.name(symbol);
        let line = match self.format {
            Format::Json => as_json(&tree, &self.leaves, name),
            _ => as_sexpr(&tree, &self.leaves, name),
        };
        writeln!(self.out, "{line}")?;
        Ok(())
    }
}

impl Watch for Printer<'_> {
    fn token(&mut self, token: SymbolId) {
        if self.format == Format::Events {
            self.leaves.clear();
        }
        // A symbol that is not in the alphabet is refused and never shown.
        let text = if self.alphabet.contains(token) { self.alphabet.name(token) } else { "" };
        self.leaves.push(text.to_string());
    }
}

impl Observer for Printer<'_> {
    fn event(&mut self, position: u64, event: Event<'_>) {
        if self.format != Format::Events {
            self.tree.event(position, event);
            return;
        }
        let line = match event {
            Event::Shift { shifted: true, .. } => {
                // For a lexed text, all tokens are here; for a stream, only the last one.
                let text = self.leaves.get(position as usize).or(self.leaves.last());
                format!("shift {}", atom(text.map_or("", String::as_str)))
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
}

/// Returns the text of a token as it is written in an S-expression: quoted if it would be read as something else.
fn atom(text: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"()\"';".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_string() } else { format!("{text:?}") }
}

fn as_sexpr<'a>(tree: &Tree, leaves: &[String], name: impl Fn(SymbolId) -> &'a str) -> String {
    let mut text = String::new();
    tree.walk(|node, visit| {
        if visit == Visit::Leave {
            text.push(')');
            return;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        match node {
            Node::Token(position) => text += &atom(leaves.get(*position as usize).map_or("", String::as_str)),
            Node::Branch { symbol, .. } => {
                text.push('(');
                text += name(*symbol);
            }
        }
    });
    text
}

fn as_json<'a>(tree: &Tree, leaves: &[String], name: impl Fn(SymbolId) -> &'a str) -> String {
    let quote = |text: &str| serde_json::Value::from(text).to_string();
    let mut text = String::new();
    tree.walk(|node, visit| {
        if visit == Visit::Leave {
            text += "]}";
            return;
        }
        if text.ends_with(['}', '"']) {
            text.push(',');
        }
        match node {
            Node::Token(position) => text += &quote(leaves.get(*position as usize).map_or("", String::as_str)),
            Node::Branch { symbol, .. } => {
                text += "{\"rule\":";
                text += &quote(name(*symbol));
                text += ",\"children\":[";
            }
        }
    });
    text
}
