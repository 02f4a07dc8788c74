//! `echostack tasks`: lists the built-in tasks.

use std::io::Write;

use anyhow::Result;
use echostack::tasks::Task;

use crate::outcome::Outcome;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Show the rules of each task and the grammar that its words are drawn from
    #[arg(long)]
    rules: bool,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mut out = std::io::stdout().lock();
    for task in Task::ALL {
        let alphabet = task.alphabet();
        let names: Vec<&str> = alphabet.terminals().map(|symbol| alphabet.name(symbol)).collect();
        let automaton = task.automaton();
        if args.json {
            let json =
                |automaton: echostack::Automaton| serde_json::from_str::<serde_json::Value>(&automaton.to_json());
            let automaton = automaton.map(json).transpose()?;
            let value = serde_json::json!({
                "task": task.name(), "terminals": names, "automaton": automaton,
                "grammar": task.sampling_grammar(),
            });
            writeln!(out, "{value}")?;
            continue;
        }
        writeln!(out, "{:12} {}", task.name(), names.join(" "))?;
        if let (true, Some(automaton), Some(grammar)) = (args.rules, automaton, task.sampling_grammar()) {
            for line in automaton.to_string().lines().chain(grammar.lines()) {
                writeln!(out, "    {line}")?;
            }
        }
    }
    Ok(Outcome::Accepted)
}
