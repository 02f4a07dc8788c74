//! `echostack check`: judge words, one a line, from files or from a stream, in constant memory but for the stack.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use echostack::{Alphabet, Input, Limits, Lookahead, Machine, Recognizer, Session, Status, SymbolId, Verdict};
use serde_json::{Value, json};

use crate::{Outcome, load, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The model file
    model: PathBuf,
    /// Files with one word a line; `-` is standard input
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    /// Every character is a token, in place of tokens separated by white space
    #[arg(long)]
    chars: bool,
    /// Print JSON, a line a word
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    let machine = Arc::new(load(&args.model)?);
    let mut worst = Outcome::Accepted;
    for path in &args.files {
        let outcome = if path == Path::new("-") {
            file(args, quiet, &machine, "-", std::io::stdin().lock())?
        } else {
            let name = path.display().to_string();
            let reader = File::open(path).with_context(|| format!("could not read {name}"))?;
            file(args, quiet, &machine, &name, BufReader::with_capacity(1 << 16, reader))?
        };
        worst = worst.max(outcome);
    }
    Ok(worst)
}

/// Judges the words of one file. A file of no bytes is one empty word.
fn file(args: &Args, quiet: bool, machine: &Arc<Machine>, name: &str, mut reader: impl BufRead) -> Result<Outcome> {
    let mut worst = Outcome::Accepted;
    let mut line = 0;
    loop {
        line += 1;
        let mut word = Reading::new(machine, args.chars);
        let ended = word.read(&mut reader).with_context(|| format!("could not read {name}"))?;
        if ended && word.bytes == 0 && line > 1 {
            return Ok(worst);
        }
        let (verdict, refused) = word.finish();
        if !quiet {
            report(args, machine.alphabet(), name, line, &verdict, refused.as_deref())?;
        }
        worst = worst.max(match verdict {
            Verdict::Accept => Outcome::Accepted,
            Verdict::Incomplete { .. } | Verdict::Reject { .. } => Outcome::Rejected,
            Verdict::Stopped { .. } => Outcome::Stopped,
        });
        if ended {
            return Ok(worst);
        }
    }
}

/// The longest token that is kept; a longer one is no terminal anyway.
const MAX_TOKEN: usize = 1 << 16;

/// One line that is being read, byte by byte, without ever holding it.
struct Reading<'a> {
    alphabet: &'a Alphabet,
    session: <Machine as Recognizer>::Session,
    chars: bool,
    /// The bytes of the token that is being read.
    token: Vec<u8>,
    /// In character mode, how many bytes the character still has.
    missing: usize,
    bytes: u64,
    /// The token that was refused.
    refused: Option<String>,
    open: bool,
}

impl<'a> Reading<'a> {
    fn new(machine: &'a Arc<Machine>, chars: bool) -> Self {
        let session = machine.start(Limits::default());
        let alphabet = machine.alphabet();
        Self { alphabet, session, chars, token: Vec::new(), missing: 0, bytes: 0, refused: None, open: true }
    }

    /// Reads up to the end of the line and says whether the input has ended.
    fn read(&mut self, reader: &mut impl BufRead) -> Result<bool> {
        loop {
            let buffer = reader.fill_buf()?;
            if buffer.is_empty() {
                self.end_token();
                return Ok(true);
            }
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            self.bytes += part.len() as u64;
            if self.open {
                part.iter().for_each(|&byte| self.byte(byte));
            }
            let used = part.len() + usize::from(end.is_some());
            reader.consume(used);
            if end.is_some() {
                self.end_token();
                return Ok(false);
            }
        }
    }

    fn byte(&mut self, byte: u8) {
        if !self.chars {
            if byte.is_ascii_whitespace() {
                self.end_token();
            } else if self.token.len() < MAX_TOKEN {
                self.token.push(byte);
            }
            return;
        }
        if self.missing == 0 {
            self.end_token();
            self.missing = match byte {
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xff => 4,
                _ => 1,
            };
        }
        self.token.push(byte);
        self.missing -= 1;
    }

    fn end_token(&mut self) {
        self.missing = 0;
        // A carriage return at the end of a line is part of the line's end.
        if self.token.is_empty() || self.token == b"\r" {
            self.token.clear();
            return;
        }
        if self.open {
            let known = std::str::from_utf8(&self.token).ok().and_then(|name| self.alphabet.symbol(name));
            // A symbol that no alphabet has is refused by the session, at its position.
            let symbol = known.unwrap_or(SymbolId::new(u32::MAX as usize));
            if self.session.feed(Input::Symbol(symbol), &mut ()) != Status::Open {
                self.open = false;
                self.refused = Some(String::from_utf8_lossy(&self.token).into_owned());
            }
        }
        self.token.clear();
    }

    fn finish(self) -> (Verdict, Option<String>) {
        (self.session.finish(&mut ()), self.refused)
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
    let names = |expected: &[Lookahead]| -> Vec<String> {
        let name = |lookahead: &Lookahead| match *lookahead {
            Lookahead::Token(symbol) => alphabet.name(symbol).to_string(),
            Lookahead::End => "the end".to_string(),
        };
        expected.iter().map(name).collect()
    };
    if args.json {
        let mut value = json!({"file": file, "line": line});
        let (name, position, expected) = match verdict {
            Verdict::Accept => ("accept", None, None),
            Verdict::Incomplete { expected } => ("incomplete", None, Some(expected)),
            Verdict::Reject { position, expected } => ("reject", Some(position), Some(expected)),
            Verdict::Stopped { position, .. } => ("stopped", Some(position), None),
        };
        value["verdict"] = json!(name);
        if let Some(position) = position {
            value["position"] = json!(position);
        }
        if let Some(expected) = expected {
            value["expected"] = Value::from(names(expected));
        }
        if let Verdict::Stopped { limit, .. } = verdict {
            value["limit"] = json!(format!("{limit:?}").to_lowercase());
        }
        return print_json(&value);
    }
    let hint = |expected: &[Lookahead]| match names(expected).split_last() {
        None => String::new(),
        Some((one, [])) => format!(", expected {one}"),
        Some((last, others)) => format!(", expected {} or {last}", others.join(", ")),
    };
    let text = match verdict {
        Verdict::Accept => "accept".to_string(),
        Verdict::Incomplete { expected } => format!("incomplete{}", hint(expected)),
        Verdict::Reject { position, expected } => match refused {
            Some(token) => format!("reject at token {position}: unexpected {token}{}", hint(expected)),
            None => format!("reject after {position} tokens{}", hint(expected)),
        },
        Verdict::Stopped { position, limit } => {
            format!("stopped at token {position}: the limit on {} was reached", format!("{limit:?}").to_lowercase())
        }
    };
    writeln!(std::io::stdout(), "{file}:{line}: {text}")?;
    Ok(())
}
