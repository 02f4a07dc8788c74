//! `echostack check`: judge texts, or words, one a line, from files or from a stream, in constant memory but for the stack.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use echostack::{Alphabet, Input, Limits, Machine, Observer, Recognizer, Session, Status, SymbolId, Verdict};
use echostack_grammar::Lexer;
use serde_json::{Value, json};

use crate::text::{self, expected_names, hint, lexer_of};
use crate::{Outcome, load, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The model file
    model: PathBuf,
    /// Texts, for a machine with a lexer, else files with one word a line; `-` is standard input
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    /// Files hold tokens separated by white space, one word a line, even if the machine has a lexer
    #[arg(long)]
    tokens: bool,
    /// Every character is a token, in place of tokens separated by white space; implies --tokens
    #[arg(long)]
    chars: bool,
    /// Print JSON, a line a word
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    let machine = Arc::new(load(&args.model)?);
    let lexer = if args.tokens || args.chars { None } else { lexer_of(&machine)? };
    let mut worst = Outcome::Accepted;
    for path in &args.files {
        let outcome = if let Some(lexer) = &lexer {
            whole(args, quiet, &machine, lexer, path)?
        } else if path == Path::new("-") {
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

/// Judges a text.
fn whole(args: &Args, quiet: bool, machine: &Arc<Machine>, lexer: &Lexer, path: &Path) -> Result<Outcome> {
    let bytes = text::read(path)?;
    let name = path.display().to_string();
    let alphabet = machine.alphabet();
    // What is no text is wrong at the first byte that is none.
    let (source, broken) = match std::str::from_utf8(&bytes) {
        Ok(source) => (source, None),
        Err(error) => (std::str::from_utf8(&bytes[..error.valid_up_to()])?, Some(error.valid_up_to())),
    };
    let mut lexed = lexer.tokens(source);
    lexed.1 = lexed.1.or(broken);
    let judged = text::judge(machine, &lexed, &mut ());
    if args.json {
        print_json(&judged.json(alphabet, &name, source))?;
    } else if !quiet {
        writeln!(std::io::stdout(), "{}", judged.tell(alphabet, &name, source))?;
    }
    Ok(Outcome::of(&judged.verdict))
}

/// Judges the words of one file. A file of no bytes is one empty word.
fn file(args: &Args, quiet: bool, machine: &Arc<Machine>, name: &str, mut reader: impl BufRead) -> Result<Outcome> {
    let mut worst = Outcome::Accepted;
    let mut line = 0;
    loop {
        line += 1;
        let mut word = Reading::new(machine, args.chars, ());
        let ended = word.read(&mut reader).with_context(|| format!("could not read {name}"))?;
        if ended && word.is_empty() && line > 1 {
            return Ok(worst);
        }
        let (verdict, refused, ()) = word.finish();
        if !quiet {
            report(args, machine.alphabet(), name, line, &verdict, refused.as_deref())?;
        }
        worst = worst.max(Outcome::of(&verdict));
        if ended {
            return Ok(worst);
        }
    }
}

/// The longest token that is kept; a longer one is no terminal anyway.
const MAX_TOKEN: usize = 1 << 16;

/// An observer that also hears of the tokens as they are written.
pub(crate) trait Watch: Observer {
    /// A token is about to be read.
    fn token(&mut self, _text: &str) {}
}

impl Watch for () {}

/// One line that is being read, byte by byte, without ever holding it.
pub(crate) struct Reading<'a, W> {
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
    watch: W,
}

impl<'a, W: Watch> Reading<'a, W> {
    pub(crate) fn new(machine: &'a Arc<Machine>, chars: bool, watch: W) -> Self {
        let session = machine.start(Limits::default());
        let alphabet = machine.alphabet();
        Self { alphabet, session, chars, token: Vec::new(), missing: 0, bytes: 0, refused: None, open: true, watch }
    }

    /// Whether nothing was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Reads up to the end of the line and says whether the input has ended.
    pub(crate) fn read(&mut self, reader: &mut impl BufRead) -> Result<bool> {
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
            self.watch.token(&String::from_utf8_lossy(&self.token));
            if self.session.feed(Input::Symbol(symbol), &mut self.watch) != Status::Open {
                self.open = false;
                self.refused = Some(String::from_utf8_lossy(&self.token).into_owned());
            }
        }
        self.token.clear();
    }

    pub(crate) fn finish(mut self) -> (Verdict, Option<String>, W) {
        (self.session.finish(&mut self.watch), self.refused, self.watch)
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
        let mut value = json!({"file": file, "line": line, "verdict": text::verdict_name(verdict)});
        if let Verdict::Reject { position, .. } | Verdict::Stopped { position, .. } = verdict {
            value["position"] = json!(position);
        }
        if let Verdict::Reject { expected, .. } | Verdict::Incomplete { expected } = verdict {
            value["expected"] = Value::from(expected_names(alphabet, expected, str::to_string));
        }
        if let Verdict::Stopped { limit, .. } = verdict {
            value["limit"] = json!(format!("{limit:?}").to_lowercase());
        }
        return print_json(&value);
    }
    writeln!(std::io::stdout(), "{file}:{line}: {}", tell(alphabet, verdict, refused))?;
    Ok(())
}

/// A verdict in words.
pub(crate) fn tell(alphabet: &Alphabet, verdict: &Verdict, refused: Option<&str>) -> String {
    let hint = |expected| hint(&expected_names(alphabet, expected, str::to_string));
    match verdict {
        Verdict::Accept => "accept".to_string(),
        Verdict::Incomplete { expected } => format!("incomplete{}", hint(expected)),
        Verdict::Reject { position, expected } => match refused {
            Some(token) => format!("reject at token {position}: unexpected {token}{}", hint(expected)),
            None => format!("reject after {position} tokens{}", hint(expected)),
        },
        Verdict::Stopped { position, limit } => {
            format!("stopped at token {position}: the limit on {} was reached", format!("{limit:?}").to_lowercase())
        }
    }
}
