//! `echostack sample --texts`: texts of a grammar, for those who test a program that reads them.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use echostack::file::{MAX_BYTES, read_text};
use echostack_grammar::{Cover, Coverage, SampledText, Subject, TextKind, TextParams, TextSampler};
use serde_json::{Value, json};

use crate::outcome::Outcome;
use crate::output::{count, note};

const HEADING: &str = "Texts";
/// The number of words and texts by default.
pub(super) const COUNT: usize = 100;
/// The maximum number of tokens of a text that is to use something, by default.
const MOST_TOKENS: usize = 10_000;
/// The file that says where the mistakes are.
const MISTAKES: &str = "mistakes.jsonl";

#[derive(clap::Args)]
#[command(next_help_heading = HEADING)]
#[group(skip)]
pub(crate) struct Args {
    /// Write texts instead of names of tokens, none of them twice. A near miss is a valid text after one small edit,
    /// and is not valid: --json and -o say where. In a terminal, a line `---` follows each text; elsewhere, a NUL byte
    /// does, as for `xargs -0`
    #[arg(long, conflicts_with_all = ["all", "chars"])]
    pub(super) texts: bool,
    /// Write few valid texts that use every production of the grammar, or every pair: a production in a place on the
    /// right side of another one. At the end, a line says how many were used, and with --json also which were not, and
    /// why
    #[arg(long, requires = "texts", value_parser = covers(), conflicts_with = "examples")]
    cover: Option<Cover>,
    /// Valid texts whose parts --kind spliced exchanges: a folder with a file for each
    #[arg(long, requires = "texts", value_name = "FOLDER")]
    examples: Option<PathBuf>,
    /// Minimum number of characters of a text
    #[arg(long, requires = "texts", value_name = "N", default_value_t = 0)]
    min_chars: usize,
    /// Maximum number of characters of a text
    #[arg(long, requires = "texts", value_name = "N")]
    max_chars: Option<usize>,
    /// Write each text to a file of its own in this new folder, and the places of the mistakes of near misses to
    /// mistakes.jsonl in it
    #[arg(long, short, requires = "texts", value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Print a line of JSON for each text: the text (or its file), whether it is valid, the edit, and the place of the
    /// first mistake as `check --json` has it (`byte` counts from 0, `line` and `column` from 1)
    #[arg(long, requires = "texts")]
    json: bool,
}

fn covers() -> impl TypedValueParser<Value = Cover> {
    PossibleValuesParser::new(Cover::ALL.map(Cover::name)).try_map(|name| name.parse::<Cover>())
}

impl Args {
    /// Returns the maximum number of tokens by default, if it is another one than for words. What is to be used may
    /// need long texts, and parts of examples are as long as they are.
    pub(super) fn longest(&self) -> Option<usize> {
        (self.cover.is_some() || self.examples.is_some()).then_some(MOST_TOKENS)
    }
}

/// Where texts are written to.
struct Output<'a> {
    args: &'a Args,
    quiet: bool,
    is_terminal: bool,
    written: usize,
    /// The file with the places of the mistakes, once there is one.
    mistakes: Option<BufWriter<File>>,
}

impl<'a> Output<'a> {
    fn new(args: &'a Args, quiet: bool) -> Result<Self> {
        if let Some(folder) = &args.output {
            create_empty(folder)?;
        }
        Ok(Self { args, quiet, is_terminal: std::io::stdout().is_terminal(), written: 0, mistakes: None })
    }

    /// Returns whether texts are printed with a NUL byte after each.
    fn ends_with_nul(&self) -> bool {
        !self.args.json && self.args.output.is_none() && !self.is_terminal
    }

    /// Returns whether a reader can tell where the text ends.
    fn can_write(&self, text: &SampledText) -> bool {
        !(self.ends_with_nul() && text.text.contains('\0'))
    }

    /// Writes a text, so that a reader sees it at once.
    fn write(&mut self, text: &SampledText) -> Result<()> {
        ensure!(self.can_write(text), "a text has a NUL byte, so it cannot end with one: add --json or -o FOLDER");
        self.written += 1;
        let mut out = std::io::stdout().lock();
        if let Some(folder) = &self.args.output {
            let name = format!("{:06}.txt", self.written);
            let path = folder.join(&name);
            // These files are new, and easily made again: there is no need to wait for the disk.
            std::fs::write(&path, &text.text).with_context(|| format!("could not write {}", path.display()))?;
            if text.mistake.is_some() {
                let mistakes = match &mut self.mistakes {
                    Some(mistakes) => mistakes,
                    none => none.insert(BufWriter::new(File::create(folder.join(MISTAKES))?)),
                };
                writeln!(mistakes, "{}", line("file", &name, text))?;
            }
            if self.args.json {
                writeln!(out, "{}", line("file", &path.display().to_string(), text))?;
            }
        } else if self.args.json {
            writeln!(out, "{}", line("text", &text.text, text))?;
        } else {
            let end = match (self.is_terminal, text.text.ends_with('\n')) {
                (false, _) => "\0",
                (true, true) => "---\n",
                (true, false) => "\n---\n",
            };
            write!(out, "{}{end}", text.text)?;
        }
        Ok(out.flush()?)
    }

    /// Says which files were written.
    fn close(&mut self) -> Result<()> {
        let Some(folder) = &self.args.output else { return Ok(()) };
        let (written, folder) = (count(self.written, "text"), folder.display());
        match &mut self.mistakes {
            Some(mistakes) => {
                mistakes.flush()?;
                self.note(format_args!(
                    "wrote {written} to {folder}, and the places of the mistakes to {folder}/{MISTAKES}"
                ));
            }
            None => self.note(format_args!("wrote {written} to {folder}")),
        }
        Ok(())
    }

    /// Says what the texts have used.
    fn finish(&self, coverage: &Coverage) -> Result<()> {
        if self.args.json {
            let Coverage { what, reached, total, forbidden, unwritable, missing } = coverage;
            let line = json!({
                "cover": what.name(), "reached": reached, "total": total,
                "forbidden": forbidden, "unwritable": unwritable, "missing": missing,
            });
            writeln!(std::io::stdout(), "{line}")?;
        }
        self.note(format_args!("{}: {coverage}", count(self.written, "text")));
        for (list, kind) in [(&coverage.unwritable, "unwritable"), (&coverage.missing, "not found")] {
            list.iter().take(10).for_each(|one| self.note(format_args!("{kind}: {one}")));
        }
        Ok(())
    }

    fn note(&self, message: impl Display) {
        if !self.quiet {
            note(message);
        }
    }
}

/// Creates a folder, so that nothing else is among the texts in it.
fn create_empty(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
    let mut entries = std::fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    ensure!(entries.next().is_none(), "{} is not empty: give a new folder", folder.display());
    Ok(())
}

/// Returns what is known about a text as a line of JSON, in which the member `key` says which text it is.
fn line(key: &str, which: &str, text: &SampledText) -> Value {
    let mut line = json!({ key: which, "valid": text.mistake.is_none() });
    if let Some((edit, fault)) = &text.mistake {
        line["edit"] = edit.name().into();
        line["byte"] = fault.byte.into();
        line["line"] = fault.place.line.into();
        line["column"] = fault.place.column.into();
    }
    line
}

/// Returns the kind of texts.
fn text_kind(args: &Args, given: &str) -> Result<TextKind> {
    let Some(kind) = TextKind::ALL.into_iter().find(|kind| kind.name() == given) else {
        bail!("--kind {given} draws words of tokens, not texts: leave out --texts, or take --kind near-miss");
    };
    let is_spliced = kind == TextKind::Spliced;
    ensure!(!is_spliced || args.examples.is_some(), "--kind spliced needs valid texts: add --examples FOLDER");
    ensure!(is_spliced || args.examples.is_none(), "--examples is for --kind spliced, but the kind is {kind}");
    ensure!(args.cover.is_none() || kind == TextKind::Valid, "--cover writes valid texts, but the kind is {kind}");
    Ok(kind)
}

/// Writes texts of a grammar.
pub(super) fn run(
    args: &Args,
    subject: &Subject,
    kind: &str,
    tokens: RangeInclusive<usize>,
    number: Option<usize>,
    seed: u64,
    quiet: bool,
) -> Result<Outcome> {
    let Some(grammar) = subject.grammar() else {
        bail!("--texts needs a grammar, but {} is none; give a folder, or NAME.y", subject.name())
    };
    let characters = args.min_chars..=args.max_chars.unwrap_or(usize::MAX);
    ensure!(!characters.is_empty(), "--min-chars is larger than --max-chars");
    let kind = text_kind(args, kind)?;
    let mut output = Output::new(args, quiet)?;
    let params = TextParams { kind, tokens: tokens.clone(), characters, seed, ..TextParams::default() };
    let mut texts = TextSampler::new(grammar, subject.lexer(), params);
    if let Some(what) = args.cover {
        let mut covering = texts.cover(what)?;
        for text in covering.by_ref().take(number.unwrap_or(usize::MAX)) {
            output.write(&text)?;
        }
        output.close()?;
        output.finish(&covering.coverage())?;
        return Ok(Outcome::Accepted);
    }
    if let Some(folder) = &args.examples {
        add_examples(&mut texts, folder)?;
    }
    let number = number.unwrap_or(COUNT);
    while output.written < number {
        let Some(text) = texts.next() else { break };
        // Another one takes its place.
        if output.can_write(&text) {
            output.write(&text)?;
        }
    }
    output.close()?;
    if output.written < number {
        let (from, to) = tokens.into_inner();
        let found = match output.written {
            0 => format!("no {kind} text was found"),
            written => format!("no more than {} were found", count(written, &format!("{kind} text"))),
        };
        let message = format!("{found} with {from} to {to} tokens and the numbers of characters asked for");
        ensure!(output.written > 0, message);
        note(message);
    }
    Ok(Outcome::Accepted)
}

/// Reads the examples in a folder, in the order of their names. Those that are not valid are left out.
fn add_examples(texts: &mut TextSampler<'_>, folder: &Path) -> Result<()> {
    let unreadable = || format!("could not read {}", folder.display());
    let entries = std::fs::read_dir(folder).with_context(unreadable)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>().with_context(unreadable)?;
    paths.retain(|path| path.is_file());
    paths.sort();
    let mut added = 0;
    for path in &paths {
        let text = read_text(path, MAX_BYTES)?;
        match texts.add_example(&text) {
            Ok(()) => added += 1,
            Err(fault) => {
                let (line, column) = (fault.place.line, fault.place.column);
                note(format_args!("{}:{line}:{column}: this example is not valid, and is left out", path.display()));
            }
        }
    }
    ensure!(added > 0, "{} has no valid examples among {}", folder.display(), count(paths.len(), "file"));
    Ok(())
}
