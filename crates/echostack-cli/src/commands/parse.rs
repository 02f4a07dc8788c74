//! `echostack parse`: prints the reductions of a machine, as a tree or as a stream of events.

use std::io::{BufRead, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;
use echostack::recognize::{Event, Node, Observer, Reduction, Tree, TreeBuilder, Visit};
use echostack::{Alphabet, Model, Recognizer, SymbolId, Verdict};
use echostack_grammar::Judge;
use serde_json::Value;

use crate::input::Input;
use crate::outcome::{Outcome, is_closed_pipe};
use crate::output::note;
use crate::reading::{Names, Reading, Watch, Watched, open};
use crate::session::Session;
use crate::text::{self, Color, Paint, Report, word_report};
use crate::words::tell;

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

/// A place in a text: the number of bytes before it, its line and its column, from 1 in characters.
#[derive(Clone, Copy, Debug, Default)]
struct Spot {
    byte: usize,
    line: usize,
    column: usize,
}

/// Returns the places of bytes in a text, which must be in order.
fn spots(text: &str, bytes: impl Iterator<Item = usize>) -> Vec<Spot> {
    let mut here = Spot { byte: 0, line: 1, column: 1 };
    let spot = |byte: usize| {
        for letter in text[here.byte..byte].chars() {
            here = match letter {
                '\n' => Spot { line: here.line + 1, column: 1, ..here },
                _ => Spot { column: here.column + 1, ..here },
            };
        }
        here.byte = byte;
        here
    };
    bytes.map(spot).collect()
}

/// Returns whether a token consists of punctuation.
fn is_punctuation(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
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
    let tokens = judge.tokens(source);
    let mut printer = Printer::new(args, judge.alphabet(), out);
    printer.leaves = tokens.0.iter().map(|lexeme| source[lexeme.start..lexeme.end].to_string()).collect();
    printer.names = tokens.0.iter().map(|lexeme| lexeme.name.to_string()).collect();
    if args.format == Format::Json {
        printer.spots = spots(source, tokens.0.iter().flat_map(|lexeme| [lexeme.start, lexeme.end]));
    }
    let judgement = judge.judge_tokens(source, &tokens, args.input.limits(), &mut printer);
    let paint = Paint::new(Color::Never);
    let report = Report { judgement: &judgement, alphabet: judge.alphabet(), file: &name, paint };
    printer.finish(&judgement.verdict, || report.to_json())?;
    if !judgement.verdict.is_accept() {
        note(report.to_text());
    }
    Ok(Outcome::of(&judgement.verdict))
}

/// Parses the words of one file.
fn words(args: &Args, model: &Model, name: &str, mut input: impl BufRead, out: &mut dyn Write) -> Result<Outcome> {
    let names = Names::new(model.alphabet(), args.input.chars);
    let mut worst = Outcome::Accepted;
    for line in 1.. {
        let watch = Printer::new(args, model.alphabet(), out);
        let mut word = Reading::new(&names, Watched { session: model.start(args.input.limits()), watch });
        let ended = word.read(&mut input).with_context(|| format!("could not read {name}"))?;
        if ended && word.is_empty() {
            break;
        }
        let ((verdict, printer), refused) = word.finish();
        printer.finish(&verdict, || word_report(model.alphabet(), (name, line), &verdict, refused.as_deref()))?;
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
    no_punctuation: bool,
    alphabet: &'a Alphabet,
    tree: TreeBuilder<'a>,
    /// The text of each token; for a stream of events, only that of the last token.
    leaves: Vec<String>,
    /// The name of each token, if it may differ from the text.
    names: Vec<String>,
    /// The beginning and the end of each token, if they are known.
    spots: Vec<Spot>,
    out: &'a mut dyn Write,
    /// The first error in writing, reported at the end.
    failed: Option<std::io::Error>,
}

impl<'a> Printer<'a> {
    fn new(args: &Args, alphabet: &'a Alphabet, out: &'a mut dyn Write) -> Self {
        let tree = TreeBuilder::new(alphabet);
        let (leaves, names, spots) = (Vec::new(), Vec::new(), Vec::new());
        let Args { format, no_punctuation, .. } = *args;
        Self { format, no_punctuation, alphabet, tree, leaves, names, spots, out, failed: None }
    }

    /// Prints the tree. `report` is the object that `check --json` prints.
    fn finish(self, verdict: &Verdict, report: impl FnOnce() -> Value) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        let shown = Shown {
            alphabet: self.alphabet,
            leaves: &self.leaves,
            names: &self.names,
            spots: &self.spots,
            no_punctuation: self.no_punctuation,
        };
        let tree = self.tree.finish().filter(|_| verdict.is_accept());
        match (self.format, tree) {
            (Format::Events, _) => writeln!(self.out, "{}", verdict.name())?,
            (Format::Sexpr, None) => {}
            (Format::Sexpr, Some(tree)) => writeln!(self.out, "{}", shown.as_sexpr(&tree))?,
            (Format::Json, None) => writeln!(self.out, "{}", report())?,
            // The tree may be too deep for a value of serde_json, so its text is put into the object.
            (Format::Json, Some(tree)) => {
                let mut object = report().to_string();
                object.pop();
                writeln!(self.out, "{object},\"tree\":{}}}", shown.as_json(&tree))?;
            }
        }
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

    fn reads_margins(&self) -> bool {
        false
    }
}

/// Returns the text of a token as it is written in an S-expression: quoted if it would be read as something else.
fn atom(text: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"()\"';".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_string() } else { format!("{text:?}") }
}

/// What trees are printed with.
struct Shown<'a> {
    alphabet: &'a Alphabet,
    leaves: &'a [String],
    names: &'a [String],
    spots: &'a [Spot],
    no_punctuation: bool,
}

impl Shown<'_> {
    fn leaf(&self, position: u64) -> &str {
        self.leaves.get(position as usize).map_or("", String::as_str)
    }

    /// Returns whether a node is left out.
    fn is_left_out(&self, node: &Node) -> bool {
        self.no_punctuation && matches!(node, Node::Token(position) if is_punctuation(self.leaf(*position)))
    }

    fn as_sexpr(&self, tree: &Tree) -> String {
        let mut text = String::new();
        tree.walk(|_, node, visit| {
            if self.is_left_out(node) {
                return;
            }
            if visit == Visit::Leave {
                text.push(')');
                return;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            match node {
                Node::Token(position) => text += &atom(self.leaf(*position)),
                Node::Branch { symbol, .. } => {
                    text.push('(');
                    text += self.alphabet.name(*symbol);
                }
            }
        });
        text
    }

    fn as_json(&self, tree: &Tree) -> String {
        let quote = |text: &str| Value::from(text).to_string();
        // Spans are counted in tokens, and then looked up.
        let tokens: Vec<Range<usize>> = (0..self.spots.len() / 2).map(|token| 2 * token..2 * token + 1).collect();
        let spans = if tokens.is_empty() { Vec::new() } else { tree.spans(&tokens) };
        let place = |key: &str, at: usize| {
            let Spot { byte, line, column } = self.spots[at];
            format!(",\"{key}\":{{\"byte\":{byte},\"line\":{line},\"column\":{column}}}")
        };
        let mut text = String::new();
        tree.walk(|at, node, visit| {
            if self.is_left_out(node) {
                return;
            }
            if visit == Visit::Leave {
                text += "]}";
                return;
            }
            if text.ends_with('}') {
                text.push(',');
            }
            let kind = match node {
                Node::Branch { symbol, .. } => self.alphabet.name(*symbol),
                Node::Token(position) => self.names.get(*position as usize).map_or(self.leaf(*position), |name| name),
            };
            text += "{\"kind\":";
            text += &quote(kind);
            if let Some(span) = spans.get(at) {
                text += &place("start", span.start);
                text += &place("end", span.end);
            }
            match node {
                Node::Token(position) => {
                    text += ",\"text\":";
                    text += &quote(self.leaf(*position));
                    text.push('}');
                }
                Node::Branch { .. } => text += ",\"children\":[",
            }
        });
        text
    }
}
