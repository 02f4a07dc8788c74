//! Texts: read whole, made into tokens by the lexer that a machine was taught with.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use echostack::{Alphabet, Input, Limits, Lookahead, Manifest, Model, Observer, Session, Status, SymbolId, Verdict};
use echostack_grammar::{Lexeme, Lexer, place};
use serde_json::{Value, json};

/// The longest text that is read, in bytes.
const MAX_TEXT: u64 = 1 << 30;

/// The lexer of a model, if it was taught with one.
pub(crate) fn lexer_of(manifest: &Manifest) -> Result<Option<Lexer>> {
    let source = manifest.lexer();
    source.map(|source| Lexer::new(source).context("the model's lexer is faulty")).transpose()
}

/// The bytes of a file; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_TEXT + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_TEXT + 1).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("could not read {}", path.display()))?;
    if bytes.len() as u64 > MAX_TEXT {
        bail!("{} has more than {MAX_TEXT} bytes; a text is read whole", path.display());
    }
    Ok(bytes)
}

/// What was judged of a text, and where it went wrong.
pub(crate) struct Judged<'a> {
    pub(crate) verdict: Verdict,
    /// Where: a token that was refused, or a byte that begins none.
    pub(crate) fault: Option<Fault<'a>>,
}

pub(crate) enum Fault<'a> {
    Token(Lexeme<'a>),
    Byte(usize),
}

/// Judges a text.
pub(crate) fn judge<'a>(
    model: &Model,
    limits: Limits,
    (lexemes, bad): &(Vec<Lexeme<'a>>, Option<usize>),
    watch: &mut dyn Observer,
) -> Judged<'a> {
    let mut session = model.session(limits);
    for lexeme in lexemes {
        let symbol = model.alphabet().symbol(lexeme.name).unwrap_or(SymbolId::UNKNOWN);
        if session.feed(Input::Symbol(symbol), watch) != Status::Open {
            return Judged { verdict: session.finish(watch), fault: Some(Fault::Token(*lexeme)) };
        }
    }
    if let Some(byte) = *bad {
        session.feed(Input::Symbol(SymbolId::UNKNOWN), watch);
        return Judged { verdict: session.finish(watch), fault: Some(Fault::Byte(byte)) };
    }
    Judged { verdict: session.finish(watch), fault: None }
}

/// The name of a symbol as it is shown: in quotes unless it is a word.
pub(crate) fn shown(name: &str) -> String {
    let word = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    if word { name.to_string() } else { format!("'{name}'") }
}

/// What was expected, as names.
pub(crate) fn expected_names(
    alphabet: &Alphabet,
    expected: &[Lookahead],
    name: impl Fn(&str) -> String,
) -> Vec<String> {
    let one = |lookahead: &Lookahead| match *lookahead {
        Lookahead::Token(symbol) => name(alphabet.name(symbol)),
        Lookahead::End => "the end".to_string(),
    };
    expected.iter().map(one).collect()
}

/// `, expected A, B or C`, or nothing.
pub(crate) fn hint(names: &[String]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((one, [])) => format!(", expected {one}"),
        Some((last, others)) => format!(", expected {} or {last}", others.join(", ")),
    }
}

impl Judged<'_> {
    /// Where the text goes wrong, in bytes.
    fn byte(&self, text: &str) -> usize {
        match &self.fault {
            Some(Fault::Token(lexeme)) => lexeme.start,
            Some(Fault::Byte(byte)) => *byte,
            None => text.trim_end().len(),
        }
    }

    /// What is told of it: a line for an accepted text, else where and why, with the line and a caret.
    pub(crate) fn tell(&self, alphabet: &Alphabet, file: &str, text: &str) -> String {
        let names = expected_names(alphabet, self.verdict.expected(), shown);
        let what = match (&self.verdict, &self.fault) {
            (Verdict::Accept, _) => return format!("{file}: accept"),
            (Verdict::Stopped { limit, .. }, _) => {
                format!("stopped: the limit on {limit} was reached")
            }
            (_, Some(Fault::Token(lexeme))) => {
                let (name, own) = (shown(lexeme.name), &text[lexeme.start..lexeme.end]);
                if own == lexeme.name {
                    format!("unexpected {name}")
                } else {
                    format!("unexpected {name} {}", short(own))
                }
            }
            (_, Some(Fault::Byte(byte))) => {
                let next: String = text[*byte..].chars().take(1).collect();
                format!("no token begins with {next:?}")
            }
            (_, None) => "unexpected end".to_string(),
        };
        let place = place(text, self.byte(text));
        let (line, caret) = window(place.text, place.column);
        format!("{file}:{}:{}: {what}{}\n  {line}\n  {caret}", place.line, place.column, hint(&names))
    }

    /// The same as JSON.
    pub(crate) fn json(&self, alphabet: &Alphabet, file: &str, text: &str) -> Value {
        let mut value = json!({"file": file, "verdict": self.verdict.name()});
        if self.verdict.is_accept() {
            return value;
        }
        let place = place(text, self.byte(text));
        value["line"] = json!(place.line);
        value["column"] = json!(place.column);
        value["by"] = json!(if let Some(Fault::Byte(_)) = self.fault { "lexer" } else { "machine" });
        if let Some(Fault::Token(lexeme)) = &self.fault {
            value["unexpected"] = json!(lexeme.name);
        }
        match &self.verdict {
            Verdict::Stopped { limit, .. } => value["limit"] = json!(limit.to_string()),
            verdict => value["expected"] = json!(expected_names(alphabet, verdict.expected(), str::to_string)),
        }
        value
    }
}

/// A token's text, cut where it is long or goes over the line.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(30).collect();
    if cut.len() == text.len() { cut } else { format!("{cut}...") }
}

/// How much of a line is shown on either side of a place.
const AROUND: usize = 60;

/// The part of a line around a column, and a line with a caret under it.
fn window(line: &str, column: usize) -> (String, String) {
    let from = column.saturating_sub(AROUND + 1);
    let part: String = line.chars().skip(from).take(2 * AROUND).map(|c| if c.is_control() { ' ' } else { c }).collect();
    (part, format!("{}^", " ".repeat(column - 1 - from)))
}
