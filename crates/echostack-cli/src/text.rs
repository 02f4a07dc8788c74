//! Reports on texts and words that were checked, for people and as JSON.

use std::fmt;
use std::io::{IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use echostack::{Alphabet, Lookahead, Verdict};
use echostack_grammar::{Fault, FaultKind, Judgement};
use serde_json::{Value, json};

/// The maximum length of a text that is parsed, in bytes.
const MAX_TEXT: u64 = 1 << 30;

/// The version of the objects that `--json` prints: see docs/output.schema.json.
const OUTPUT_VERSION: u32 = 1;

/// Reads a file as a whole; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    read_up_to(path, MAX_TEXT)
}

/// Reads a file of at most `most` bytes as a whole; `-` is standard input.
pub(crate) fn read_up_to(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_bytes(path)?
        .take(most + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("could not read {}", path.display()))?;
    if bytes.len() as u64 > most {
        bail!("{} has more than {most} bytes, the maximum for a text that is read as a whole", path.display());
    }
    Ok(bytes)
}

/// Opens a file; `-` is standard input.
pub(crate) fn open_bytes(path: &Path) -> Result<Box<dyn Read>> {
    Ok(if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(path).with_context(|| format!("could not read {}", path.display()))?)
    })
}

/// Whether output has colors, as a command-line value.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment variable NO_COLOR is set
    Auto,
    Always,
    Never,
}

/// The colors of verdicts, or none.
#[derive(Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    /// Returns the colors for standard output.
    pub(crate) fn new(color: Color) -> Self {
        Self(match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::io::stdout().is_terminal()
            }
        })
    }

    /// Returns a text in the color of a verdict: green for accept, red for reject, yellow otherwise.
    pub(crate) fn verdict(self, verdict: &Verdict, text: impl fmt::Display) -> String {
        let code = match verdict {
            _ if !self.0 => return text.to_string(),
            Verdict::Accept => 32,
            Verdict::Reject { .. } => 31,
            _ => 33,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// Adds what a verdict says to a JSON object: the verdict, the expected tokens and whether the end is expected, or the
/// limit that was reached.
pub(crate) fn verdict_report(mut value: Value, alphabet: &Alphabet, verdict: &Verdict) -> Value {
    value["version"] = json!(OUTPUT_VERSION);
    value["verdict"] = json!(verdict.name());
    if let Some(position) = verdict.position() {
        value["position"] = json!(position);
    }
    match verdict {
        Verdict::Accept => {}
        Verdict::Stopped { limit, .. } => value["limit"] = json!(limit.to_string()),
        verdict => {
            let expected = verdict.expected();
            let names: Vec<&str> =
                expected.iter().filter_map(|next| next.token()).map(|token| alphabet.name(token)).collect();
            value["expected"] = json!(names);
            value["expected_end"] = json!(expected.contains(&Lookahead::End));
        }
    }
    value
}

/// Returns the JSON object for a word: the line that it is on, and the verdict.
pub(crate) fn word_report(
    alphabet: &Alphabet,
    (file, line): (&str, u64),
    verdict: &Verdict,
    refused: Option<&str>,
) -> Value {
    let mut value = verdict_report(json!({"file": file, "line": line}), alphabet, verdict);
    if let Some(refused) = refused {
        value["unexpected"] = json!(refused);
    }
    value
}

/// A report on a text that was checked.
pub(crate) struct Report<'a> {
    pub(crate) judgement: &'a Judgement,
    pub(crate) alphabet: &'a Alphabet,
    pub(crate) file: &'a str,
    pub(crate) paint: Paint,
}

impl Report<'_> {
    /// Returns the report as text, like the judgement itself, with the name of the file and in colors.
    pub(crate) fn to_text(&self) -> String {
        let Self { judgement, file, paint, .. } = self;
        let what = paint.verdict(&judgement.verdict, judgement.reason());
        let Some(Fault { place, .. }) = &judgement.fault else { return format!("{file}: {what}") };
        let expected = hint(judgement.expected());
        format!("{file}:{}:{}: {what}{expected}\n{}", place.line, place.column, place.excerpt())
    }

    /// Returns the report as JSON: the verdict, and the place and the reason if the text is not accepted.
    pub(crate) fn to_json(&self) -> Value {
        let Self { judgement: Judgement { verdict, fault, .. }, alphabet, file, .. } = self;
        let mut value = verdict_report(json!({"file": file}), alphabet, verdict);
        if let Some(Fault { place, byte, kind }) = fault {
            value["line"] = json!(place.line);
            value["column"] = json!(place.column);
            value["byte"] = json!(byte);
            let by_model = matches!(kind, FaultKind::Token { .. } | FaultKind::End | FaultKind::NoTree);
            value["by"] = json!(if by_model { "machine" } else { "lexer" });
            if let FaultKind::Token { name, .. } = kind {
                value["unexpected"] = json!(name);
            }
        }
        value
    }
}

/// Returns `, expected A, B or C`, or an empty string if nothing is expected.
pub(crate) fn hint(expected: Option<String>) -> String {
    expected.map_or(String::new(), |expected| format!(", expected {expected}"))
}
