//! `echostack check`: checks texts or words, from files or standard input, as a stream: in constant memory apart from
//! the stack.

use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use echostack::recognize::{self, Recovery};
use echostack::table::Lanes;
use echostack::{Alphabet, Limits, Model, Verdict};
use echostack_grammar::Judge;

use crate::certify;
use crate::output::note;
use crate::reading::{Names, Reading, open};
use crate::text::{Color, Paint, Report, hint, open_bytes, read_up_to, word_report};
use crate::{Outcome, open_judge, print_json};

/// Examples that are shown below the options.
const EXAMPLES: &str = "Examples:
  echostack check json.table data/*.json        which of these texts are valid?
  echostack check json.table --failures -       report only what is wrong with standard input
  echostack check json.table --errors 20 a.json report up to 20 mistakes in one text
  echostack check dyck1.safetensors --chars -   words of single characters, one per line

Exit code: 0 if everything is accepted, 1 if a word or text is rejected or incomplete, 2 if a file cannot be read or a
limit is reached.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model file or table file
    model: PathBuf,
    /// Texts if the model has a lexer, otherwise files with one word per line; `-` is standard input
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    input: Input,
    /// Print only what is not accepted
    #[arg(long, help_heading = "Output")]
    failures: bool,
    /// Report up to this number of mistakes in a text, by inserting and deleting tokens after each; the text is then read
    /// as a whole
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Output")]
    errors: NonZeroUsize,
    /// Print JSON, one line per word or text
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Whether to color the verdicts
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: Color,
}

/// The maximum length of a text in which several mistakes are reported, in bytes.
const MAX_RECOVERED: u64 = 1 << 26;

/// How the input is read.
#[derive(clap::Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct Input {
    /// Read tokens separated by white space, one word per line, even if the model has a lexer
    #[arg(long)]
    pub(crate) tokens: bool,
    /// Read every character as a token, instead of tokens separated by white space; implies --tokens
    #[arg(long)]
    pub(crate) chars: bool,
    /// Maximum number of symbols on the stack; a word that needs more is stopped. A table uses one or two bytes per
    /// symbol, a machine more
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth)]
    max_depth: usize,
    /// Maximum number of actions on one token, in addition to eight for each symbol on the stack; a word that needs more
    /// is stopped
    #[arg(long, value_name = "N", default_value_t = Limits::default().actions)]
    max_actions: u64,
    /// Certificate that the model must belong to; any other model, table or lexer is refused. `certify --check` verifies
    /// the certificate itself
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
}

impl Input {
    pub(crate) fn limits(&self) -> Limits {
        Limits { depth: self.max_depth, actions: self.max_actions, ..Limits::default() }
    }

    /// Opens the model, with its lexer if the input consists of texts.
    pub(crate) fn open(&self, model: &Path) -> Result<Judge> {
        let judge = open_judge(model, self.tokens || self.chars)?;
        if let Some(path) = &self.certificate {
            let belongs = judge.require(&certify::read(path)?);
            belongs.with_context(|| format!("{} does not belong to {}", path.display(), model.display()))?;
        }
        Ok(judge)
    }
}

/// The numbers of words or texts by outcome.
#[derive(Default)]
struct Counts {
    accepted: usize,
    rejected: usize,
    incomplete: usize,
    stopped: usize,
    unreadable: usize,
}

impl Counts {
    fn add(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Accept => &mut self.accepted,
            Verdict::Reject { .. } => &mut self.rejected,
            Verdict::Incomplete { .. } => &mut self.incomplete,
            Verdict::Stopped { .. } => &mut self.stopped,
        } += 1;
    }

    fn outcome(&self) -> Outcome {
        match self {
            Self { stopped: 1.., .. } | Self { unreadable: 1.., .. } => Outcome::Stopped,
            Self { rejected: 1.., .. } | Self { incomplete: 1.., .. } => Outcome::Rejected,
            _ => Outcome::Accepted,
        }
    }

    /// Returns a line such as `12 accepted, 1 rejected`, without the numbers that are 0.
    fn summary(&self) -> String {
        let Self { accepted, rejected, incomplete, stopped, unreadable } = self;
        let all = [
            (accepted, "accepted"),
            (rejected, "rejected"),
            (incomplete, "incomplete"),
            (stopped, "stopped at a limit"),
            (unreadable, "could not be read"),
        ];
        let some = all.iter().filter(|(count, what)| **count > 0 || *what == "accepted");
        some.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    }
}

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    let judge = args.input.open(&args.model)?;
    if args.errors.get() > 1 && !judge.has_lexer() {
        bail!("--errors is for texts: the model needs a lexer, and --tokens and --chars must be left out");
    }
    let paint = Paint::new(args.color);
    let mut counts = Counts::default();
    for path in &args.files {
        let checked = if judge.has_lexer() {
            text(args, quiet, &judge, path, paint, &mut counts)
        } else {
            open(path).and_then(|input| words(args, quiet, judge.model(), path, input, paint, &mut counts))
        };
        if let Err(error) = checked {
            // A closed pipe ends the run; a file that cannot be read does not.
            if crate::is_closed_pipe(&error) {
                return Err(error);
            }
            note(format_args!("echostack: {error:#}"));
            counts.unreadable += 1;
        }
    }
    let Counts { accepted, rejected, incomplete, stopped, unreadable } = counts;
    if !quiet && (args.files.len() > 1 || accepted + rejected + incomplete + stopped + unreadable > 1) {
        note(counts.summary());
    }
    Ok(counts.outcome())
}

/// Checks a text.
fn text(args: &Args, quiet: bool, judge: &Judge, path: &Path, paint: Paint, counts: &mut Counts) -> Result<()> {
    let name = path.display().to_string();
    let judgements = if args.errors.get() > 1 {
        let recovery = Recovery { mistakes: args.errors.get(), ..Recovery::default() };
        judge.judge_on(&read_up_to(path, MAX_RECOVERED)?, args.input.limits(), &recovery)
    } else {
        let judgement = judge.judge_stream(&mut open_bytes(path)?, args.input.limits());
        vec![judgement.with_context(|| format!("could not read {name}"))?]
    };
    let Some((first, others)) = judgements.split_first() else { return Ok(()) };
    counts.add(&first.verdict);
    if quiet || (args.failures && first.verdict.is_accept()) {
        return Ok(());
    }
    let report = |judgement| Report { judgement, alphabet: judge.alphabet(), file: &name, paint };
    if args.json {
        let mut value = report(first).to_json();
        if args.errors.get() > 1 {
            value["more"] = others.iter().map(|judgement| report(judgement).to_json()).collect();
        }
        return print_json(&value);
    }
    for judgement in &judgements {
        writeln!(std::io::stdout(), "{}", report(judgement).to_text())?;
    }
    Ok(())
}

/// Checks the words of a file, one per line. An empty file contains no words.
fn words(
    args: &Args,
    quiet: bool,
    model: &Model,
    path: &Path,
    mut input: impl BufRead,
    paint: Paint,
    counts: &mut Counts,
) -> Result<()> {
    let names = Names::new(model.alphabet(), args.input.chars);
    let name = path.display().to_string();
    let unreadable = || format!("could not read {name}");
    let mut lanes = model.table().map(|table| Lanes::new(table, args.input.limits()));
    // Whether the next lines are accepted, as far as that is known.
    let mut known = VecDeque::new();
    for line in 1_u64.. {
        if let Some(lanes) = lanes.as_mut().filter(|_| known.is_empty()) {
            let buffer = input.fill_buf().with_context(unreadable)?;
            let lines = buffer.iter().rposition(|&byte| byte == b'\n').map_or(&[][..], |last| &buffer[..=last]);
            known = accepted(&names, lanes, lines).with_context(unreadable)?;
        }
        let (verdict, refused, ended) = if known.pop_front() == Some(true) {
            input.skip_until(b'\n').with_context(unreadable)?;
            (Verdict::Accept, None, false)
        } else {
            let mut word = Reading::new(&names, model.scan(args.input.limits()));
            let ended = word.read(&mut input).with_context(unreadable)?;
            if ended && word.is_empty() {
                break;
            }
            let (verdict, refused) = word.finish();
            (verdict, refused, ended)
        };
        counts.add(&verdict);
        if !quiet && (!args.failures || !verdict.is_accept()) {
            if args.json {
                print_json(&word_report(model.alphabet(), (&name, line), &verdict, refused.as_deref()))?;
            } else {
                let told = tell_in(model.alphabet(), &verdict, refused.as_deref(), paint);
                writeln!(std::io::stdout(), "{name}:{line}: {told}")?;
            }
        }
        if ended {
            break;
        }
    }
    Ok(())
}

/// Judges whole lines side by side. Returns whether each is accepted.
fn accepted(names: &Names<'_>, lanes: &mut Lanes, lines: &[u8]) -> std::io::Result<VecDeque<bool>> {
    let (mut words, mut rest) = (Reading::new(names, Vec::new()), lines);
    let mut ends = vec![0];
    while !rest.is_empty() {
        words.read(&mut rest)?;
        ends.push(words.reader().len());
    }
    let (tokens, _) = words.finish();
    let outcomes: Vec<recognize::Outcome> = lanes.judge(ends.windows(2).map(|word| &tokens[word[0]..word[1]]));
    Ok(outcomes.into_iter().map(recognize::Outcome::is_accept).collect())
}

/// Describes a verdict in English. Tokens are counted from 1, like lines and columns.
pub(crate) fn tell(alphabet: &Alphabet, verdict: &Verdict, refused: Option<&str>) -> String {
    tell_in(alphabet, verdict, refused, Paint::new(Color::Never))
}

fn tell_in(alphabet: &Alphabet, verdict: &Verdict, refused: Option<&str>, paint: Paint) -> String {
    let number = verdict.position().map_or(0, |position| position + 1);
    let what = match verdict {
        Verdict::Accept => "accept".to_string(),
        Verdict::Incomplete { .. } => "incomplete".to_string(),
        Verdict::Reject { .. } => match refused {
            Some(token) => format!("reject at token {number}: unexpected {token}"),
            None => format!("reject at token {number}"),
        },
        Verdict::Stopped { limit, .. } => format!("stopped at token {number}: the limit on {limit} was reached"),
    };
    format!("{}{}", paint.verdict(verdict, what), hint(alphabet, verdict.expected(), str::to_string))
}
