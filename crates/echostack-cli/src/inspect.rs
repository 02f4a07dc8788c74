//! `echostack inspect`: shows the contents of a model file or table file.

use std::path::PathBuf;

use anyhow::Result;
use echostack::machine::Readout;
use echostack::{Alphabet, Machine, SymbolId, Table};
use serde_json::{Map, Value, json};

use crate::{Outcome, load_model, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file or table file
    model: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let model = load_model(&args.model)?;
    let (terminals, nonterminals) = names(model.alphabet());
    let bytes = std::fs::metadata(&args.model)?.len();
    let facts = model.machine().map(of_machine).or(model.table().map(of_table));
    let (mut json, lines) = facts.unwrap_or_default();
    if args.json {
        json.insert("terminals".into(), json!(terminals));
        json.insert("nonterminals".into(), json!(nonterminals));
        json.insert("bytes".into(), json!(bytes));
        json.insert("manifest".into(), json!(model.manifest()));
        print_json(&json.into())?;
        return Ok(Outcome::Accepted);
    }
    println!("{}: {bytes} bytes", args.model.display());
    println!("reads      {}", terminals.join(" "));
    println!("pushes     {}", nonterminals.join(" "));
    lines.iter().for_each(|line| println!("{line}"));
    for (key, value) in model.manifest().iter() {
        println!("{key:10} {value}");
    }
    Ok(Outcome::Accepted)
}

/// Returns the names of the terminals and of the nonterminals.
fn names(alphabet: &Alphabet) -> (Vec<String>, Vec<String>) {
    let name = |symbol: SymbolId| alphabet.name(symbol).to_string();
    (alphabet.terminals().map(name).collect(), alphabet.nonterminals().map(name).collect())
}

/// The facts that only one kind of model has: fields of the JSON object, and lines of text.
type Facts = (Map<String, Value>, Vec<String>);

fn of_table(table: &Table) -> Facts {
    let (actions, memory) = table.size();
    let fields = [("states", json!(table.states())), ("actions", json!(actions)), ("memory", json!(memory))];
    let line = format!("table      {} states, {actions} actions in {memory} bytes", table.states());
    (fields.map(|(key, value)| (key.to_string(), value)).into_iter().collect(), vec![line])
}

fn of_machine(machine: &Machine) -> Facts {
    let readouts = [Readout::Pop, Readout::Push, Readout::Shift, Readout::Output];
    let [pop, push, shift, output] = readouts.map(|readout| machine.support(readout));
    let (inputs, stacks) = machine.centres();
    let contexts = machine.lessons().actions().len();
    let neurons = machine.reservoir().neurons();
    let fields = [
        ("mode", json!(machine.mode())),
        ("lookahead", json!(machine.view())),
        ("neurons", json!(neurons)),
        ("support", json!({"pop": pop, "push": push, "shift": shift, "output": output})),
        ("centres", json!({"input": inputs, "stack": stacks})),
        ("contexts", json!(contexts)),
    ];
    let lines = vec![
        format!("mode       {:?}, lookahead {:?}", machine.mode(), machine.view()),
        format!("neurons    {neurons}"),
        format!("trained on {contexts} distinct contexts"),
        format!("support    pop {pop}, push {push}, shift {shift}, output {output}"),
        format!("centers    {inputs} for the input, {stacks} for the stack"),
    ];
    (fields.map(|(key, value)| (key.to_string(), value)).into_iter().collect(), lines)
}
