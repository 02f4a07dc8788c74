//! `echostack run`: runs a machine with two stacks on one word, and shows the run as the tape of a Turing machine.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use echostack::recognize;
use echostack::turing::{RunDrawing, RunLimits};
use serde_json::json;

use crate::outcome::Outcome;
use crate::output::{print_json, save};
use crate::session::Session;
use crate::two_stacks;

const EXAMPLES: &str = "\
Examples:
  echostack learn --turing testdata/turing/increment.tm -o increment.safetensors
  echostack run increment.safetensors 1 0 1 1             each step: the state, and the tape with the head in brackets
  echostack run increment.safetensors 1 0 1 1 --svg increment.svg
  echostack run beaver.safetensors --frames 0             only how the run ends

Exit codes: 0 if the machine halts and accepts; 1 if it halts without accepting or refuses a token; 2 on an error, or if a
limit is reached.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Machine with two stacks, as saved by `echostack learn --turing`
    model: PathBuf,
    /// Tokens of the word
    word: Vec<String>,
    /// Maximum number of steps to show
    #[arg(long, value_name = "N", default_value_t = 100)]
    frames: usize,
    /// File to draw the run to, in SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Maximum number of actions
    #[arg(long, value_name = "N", default_value_t = RunLimits::default().actions)]
    max_actions: u64,
    /// Compute every decision, and do not look up those that cannot turn out differently
    #[arg(long)]
    no_memory: bool,
    /// Print JSON: the verdict, the number of actions, the output, and both stacks at the end
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let path = args.model.display();
    let machine = two_stacks::open(session, &args.model)?;
    let machine = machine.with_context(|| {
        format!("{path} is no machine with two stacks; `echostack check` judges words with other models")
    })?;
    let machine = if args.no_memory { machine.without_memory() } else { machine };
    let alphabet = machine.alphabet().clone();
    let word = two_stacks::word(&alphabet, args.word.iter().map(String::as_str))?;
    let mut drawing = RunDrawing::new(&alphabet, args.frames);
    let end = machine.run_with(&word, two_stacks::limits(args.max_actions), &mut drawing);
    if let Some(path) = &args.svg {
        save(path, drawing.to_svg())?;
    }
    let output: Vec<&str> = end.output.iter().map(|&number| machine.outputs()[number as usize].as_str()).collect();
    let [first, second] = end
        .stacks
        .each_ref()
        .map(|stack| -> Vec<String> { stack.iter().map(|&symbol| alphabet.plain_name(symbol)).collect() });
    if args.json {
        let position = match end.outcome {
            recognize::Outcome::Reject { position } | recognize::Outcome::Stopped { position, .. } => Some(position),
            _ => None,
        };
        print_json(&json!({
            "verdict": end.outcome.name(), "position": position, "actions": end.actions, "output": output,
            "first": first, "second": second,
        }))?;
    } else if !session.quiet {
        let mut out = std::io::stdout().lock();
        write!(out, "{}", drawing.to_text())?;
        let left_out = drawing.left_out();
        if left_out > 0 && args.frames > 0 {
            writeln!(out, "... and {left_out} more steps")?;
        }
        if !output.is_empty() {
            writeln!(out, "output: {}", output.join(" "))?;
        }
        writeln!(out, "{} after {} actions", two_stacks::tell(end.outcome), end.actions)?;
    }
    Ok(two_stacks::outcome(end.outcome))
}
