//! `echostack check`: checks texts or words, from files or standard input, as a stream: in constant memory apart from
//! the stack.

use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use echostack::recognize::{self, Recovery};
use echostack::table::Lanes;
use echostack::turing::{RunLimits, TwoStackMachine};
use echostack::{Model, Verdict, Word};
use echostack_grammar::Judge;
use serde_json::json;

use crate::input::Input;
use crate::outcome::{Outcome, is_closed_pipe};
use crate::output::{note, print_json};
use crate::reading::{Names, Reading, open};
use crate::session::Session;
use crate::text::{Color, Paint, Report, open_bytes, read_up_to, word_report};
use crate::two_stacks;
use crate::words::tell_in;

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
    /// Grammar (a folder, or NAME.y), table or machine
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

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    if let Some(machine) = two_stacks::open(session, &args.model)? {
        return with_two_stacks(args, session, &machine);
    }
    let judge = args.input.open(session, &args.model)?;
    if args.errors.get() > 1 && !judge.has_lexer() {
        bail!("--errors is for texts: the model needs a lexer, and --tokens and --chars must be left out");
    }
    let paint = Paint::new(args.color);
    let mut counts = Counts::default();
    for path in &args.files {
        let checked = if judge.has_lexer() {
            text(args, session, &judge, path, paint, &mut counts)
        } else {
            open(path).and_then(|input| words(args, session, judge.model(), path, input, paint, &mut counts))
        };
        if let Err(error) = checked {
            // A closed pipe ends the run; a file that cannot be read does not.
            if is_closed_pipe(&error) {
                return Err(error);
            }
            note(format_args!("echostack: {error:#}"));
            counts.unreadable += 1;
        }
    }
    let Counts { accepted, rejected, incomplete, stopped, unreadable } = counts;
    if !session.quiet && (args.files.len() > 1 || accepted + rejected + incomplete + stopped + unreadable > 1) {
        note(counts.summary());
    }
    Ok(counts.outcome())
}

/// Checks the words in the files, one per line, with a machine with two stacks.
fn with_two_stacks(args: &Args, session: &Session, machine: &TwoStackMachine) -> Result<Outcome> {
    let (mut worst, names) = (Outcome::Accepted, Names::new(machine.alphabet(), args.input.chars));
    for path in &args.files {
        let (mut input, name) = (open(path)?, path.display());
        for line in 1_u64.. {
            let mut word = Reading::new(&names, Vec::new());
            let ended = word.read(&mut input).with_context(|| format!("could not read {name}"))?;
            if ended && word.is_empty() {
                break;
            }
            let (tokens, _) = word.finish();
            let outcome = machine.run(&Word::Symbols(tokens), RunLimits::default()).outcome;
            worst = worst.max(two_stacks::outcome(outcome));
            if !session.quiet && (!args.failures || !outcome.is_accept()) {
                if args.json {
                    let name = name.to_string();
                    let (verdict, position) = (outcome.name(), outcome.position());
                    print_json(&json!({"file": name, "line": line, "verdict": verdict, "position": position}))?;
                } else {
                    writeln!(std::io::stdout(), "{name}:{line}: {}", two_stacks::tell(outcome))?;
                }
            }
            if ended {
                break;
            }
        }
    }
    Ok(worst)
}

/// Checks a text.
fn text(args: &Args, session: &Session, judge: &Judge, path: &Path, paint: Paint, counts: &mut Counts) -> Result<()> {
    let name = path.display().to_string();
    let judgements = if args.errors.get() > 1 {
        let recovery = Recovery { mistakes: args.errors.get(), ..Recovery::default() };
        judge.judge_with_recovery(&read_up_to(path, MAX_RECOVERED)?, args.input.limits(), &recovery)
    } else {
        let judgement = judge.judge_stream(&mut open_bytes(path)?, args.input.limits());
        vec![judgement.with_context(|| format!("could not read {name}"))?]
    };
    let Some((first, others)) = judgements.split_first() else { return Ok(()) };
    counts.add(&first.verdict);
    if session.quiet || (args.failures && first.verdict.is_accept()) {
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
    session: &Session,
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
        if !session.quiet && (!args.failures || !verdict.is_accept()) {
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
