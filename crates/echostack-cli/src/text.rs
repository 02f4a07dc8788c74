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

/// Returns the name of a symbol as it is shown: in quotes unless it consists of letters, digits and underscores.
pub(crate) fn shown(name: &str) -> String {
    let word = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    if word { name.to_string() } else { format!("'{name}'") }
}

/// Returns `, expected A, B or C`, or an empty string if nothing is expected.
pub(crate) fn hint(alphabet: &Alphabet, expected: &[Lookahead], name: impl Fn(&str) -> String) -> String {
    let one = |lookahead: &Lookahead| match *lookahead {
        Lookahead::Token(symbol) => name(alphabet.name(symbol)),
        Lookahead::End => "the end".to_string(),
    };
    let names: Vec<String> = expected.iter().map(one).collect();
    match names.split_last() {
        None => String::new(),
        Some((one, [])) => format!(", expected {one}"),
        Some((last, others)) => format!(", expected {} or {last}", others.join(", ")),
    }
}

/// Adds what a verdict says to a JSON object: the verdict, the expected tokens and whether the end is expected, or the
/// limit that was reached.
fn add_verdict(value: &mut Value, alphabet: &Alphabet, verdict: &Verdict) {
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
}

/// Returns the JSON object for a word: the line that it is on, and the verdict.
pub(crate) fn word_report(
    alphabet: &Alphabet,
    (file, line): (&str, u64),
    verdict: &Verdict,
    refused: Option<&str>,
) -> Value {
    let mut value = json!({"file": file, "line": line});
    add_verdict(&mut value, alphabet, verdict);
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
    /// Returns the report as text: one line if the text is accepted, otherwise the place and the reason, followed by
    /// the line of the text and a caret.
    pub(crate) fn to_text(&self) -> String {
        let Self { judgement: Judgement { verdict, fault, .. }, alphabet, file, paint } = self;
        let Some(Fault { place, byte, kind }) = fault else {
            return format!("{file}: {}", paint.verdict(verdict, "accept"));
        };
        let what = match (verdict, kind) {
            (Verdict::Stopped { limit, .. }, _) => format!("stopped: the limit on {limit} was reached"),
            (_, FaultKind::Token { name, text }) if name == text => format!("unexpected {}", shown(name)),
            (_, FaultKind::Token { name, text }) => format!("unexpected {} {}", shown(name), short(text)),
            (_, FaultKind::End) => "unexpected end".to_string(),
            (_, FaultKind::NoToken(letter)) => format!("no token begins with {letter:?}"),
            (_, FaultKind::NotUtf8(0xfe | 0xff)) if *byte == 0 => {
                "this is not UTF-8, but probably UTF-16: convert it, for example with iconv -f UTF-16 -t UTF-8"
                    .to_string()
            }
            (_, FaultKind::NotUtf8(bad)) => format!("this is not UTF-8: byte {bad:#04x} at offset {byte}"),
            (_, FaultKind::LexerLimit) => "a token is too long to find its end: see the limits of lexers".to_string(),
            _ => "wrong".to_string(),
        };
        let hint =
            if let FaultKind::NotUtf8(_) = kind { String::new() } else { hint(alphabet, verdict.expected(), shown) };
        let what = paint.verdict(verdict, what);
        format!("{file}:{}:{}: {what}{hint}\n{}", place.line, place.column, place.excerpt())
    }

    /// Returns the report as JSON: the verdict, and the place and the reason if the text is not accepted.
    pub(crate) fn to_json(&self) -> Value {
        let Self { judgement: Judgement { verdict, fault, .. }, alphabet, file, .. } = self;
        let mut value = json!({"file": file});
        add_verdict(&mut value, alphabet, verdict);
        if let Some(Fault { place, byte, kind }) = fault {
            value["line"] = json!(place.line);
            value["column"] = json!(place.column);
            value["byte"] = json!(byte);
            let by_model = matches!(kind, FaultKind::Token { .. } | FaultKind::End);
            value["by"] = json!(if by_model { "machine" } else { "lexer" });
            if let FaultKind::Token { name, .. } = kind {
                value["unexpected"] = json!(name);
            }
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
