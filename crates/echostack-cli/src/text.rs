//! Reads texts, and reports verdicts on them.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use echostack::{Alphabet, Lookahead, Verdict};
use echostack_grammar::{Fault, Judgement, Place, place};
use serde_json::{Value, json};

/// The maximum length of a text, in bytes.
const MAX_TEXT: u64 = 1 << 30;

/// Reads the bytes of a file; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_TEXT + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_TEXT + 1).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("could not read {}", path.display()))?;
    if bytes.len() as u64 > MAX_TEXT {
        bail!("{} has more than {MAX_TEXT} bytes, the maximum for a text", path.display());
    }
    Ok(bytes)
}

/// Returns the name of a symbol as it is shown: in quotes unless it consists of letters, digits and underscores.
pub(crate) fn shown(name: &str) -> String {
    let word = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    if word { name.to_string() } else { format!("'{name}'") }
}

/// Returns the names of the expected tokens.
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

/// Returns `, expected A, B or C`, or an empty string if there are no names.
pub(crate) fn hint(names: &[String]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((one, [])) => format!(", expected {one}"),
        Some((last, others)) => format!(", expected {} or {last}", others.join(", ")),
    }
}

/// A report on a text that was judged.
pub(crate) struct Report<'a> {
    pub(crate) judgement: Judgement<'a>,
    pub(crate) alphabet: &'a Alphabet,
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl Report<'_> {
    /// Returns the place of the error.
    fn place(&self) -> Place<'_> {
        let byte = match self.judgement.fault {
            Some(Fault::Token(lexeme)) => lexeme.start,
            Some(Fault::Byte(byte)) => byte,
            None => self.text.trim_end().len(),
        };
        place(self.text, byte)
    }

    /// Returns the report as text: one line if the text is accepted, otherwise the place and the reason, followed by
    /// the line of the text and a caret.
    pub(crate) fn to_text(&self) -> String {
        let Self { judgement: Judgement { verdict, fault }, alphabet, file, text } = self;
        let names = expected_names(alphabet, verdict.expected(), shown);
        let what = match (verdict, fault) {
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
        let place = self.place();
        let (line, caret) = window(place.text, place.column);
        format!("{file}:{}:{}: {what}{}\n  {line}\n  {caret}", place.line, place.column, hint(&names))
    }

    /// Returns the report as JSON: the verdict, and the place and the reason if the text is not accepted.
    pub(crate) fn to_json(&self) -> Value {
        let Self { judgement: Judgement { verdict, fault }, alphabet, file, .. } = self;
        let mut value = json!({"file": file, "verdict": verdict.name()});
        if verdict.is_accept() {
            return value;
        }
        let place = self.place();
        value["line"] = json!(place.line);
        value["column"] = json!(place.column);
        value["by"] = json!(if let Some(Fault::Byte(_)) = fault { "lexer" } else { "machine" });
        if let Some(Fault::Token(lexeme)) = fault {
            value["unexpected"] = json!(lexeme.name);
        }
        match verdict {
            Verdict::Stopped { limit, .. } => value["limit"] = json!(limit.to_string()),
            verdict => value["expected"] = json!(expected_names(alphabet, verdict.expected(), str::to_string)),
        }
        value
    }
}

/// Shortens the text of a token that is long or spans several lines.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(30).collect();
    if cut.len() == text.len() { cut } else { format!("{cut}...") }
}

/// The number of characters of a line that are shown on either side of a place.
const AROUND: usize = 60;

/// Returns the part of a line around a column, and a line with a caret under that column.
fn window(line: &str, column: usize) -> (String, String) {
    let from = column.saturating_sub(AROUND + 1);
    let part: String = line.chars().skip(from).take(2 * AROUND).map(|c| if c.is_control() { ' ' } else { c }).collect();
    (part, format!("{}^", " ".repeat(column - 1 - from)))
}
