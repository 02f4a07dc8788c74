//! `echostack inspect`: what is in the file of a model or of a table.

use std::path::PathBuf;

use anyhow::Result;
use echostack::{Alphabet, Machine, Model, Readout, SymbolId, Table};
use serde_json::json;

use crate::{Outcome, load_model, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file of a model, or of a table
    model: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    match load_model(&args.model)? {
        Model::Machine(machine) => inspect_machine(args, &machine),
        Model::Table(table) => inspect_table(args, &table),
    }
}

/// The names of the terminals and of the nonterminals.
fn names(alphabet: &Alphabet) -> (Vec<String>, Vec<String>) {
    let name = |symbol: SymbolId| alphabet.name(symbol).to_string();
    (alphabet.terminals().map(name).collect(), alphabet.nonterminals().map(name).collect())
}

fn inspect_table(args: &Args, table: &Table) -> Result<Outcome> {
    let (terminals, nonterminals) = names(table.alphabet());
    let bytes = std::fs::metadata(&args.model)?.len();
    let (actions, memory) = table.size();
    if args.json {
        print_json(&json!({
            "terminals": terminals, "nonterminals": nonterminals, "states": table.states(), "actions": actions,
            "memory": memory, "bytes": bytes, "manifest": table.manifest(),
        }))?;
        return Ok(Outcome::Accepted);
    }
    println!("{}: {bytes} bytes", args.model.display());
    println!("reads      {}", terminals.join(" "));
    println!("pushes     {}", nonterminals.join(" "));
    println!("table      {} states, {actions} actions in {memory} bytes", table.states());
    for (key, value) in table.manifest() {
        println!("{key:10} {value}");
    }
    Ok(Outcome::Accepted)
}

fn inspect_machine(args: &Args, machine: &Machine) -> Result<Outcome> {
    let (terminals, nonterminals) = names(machine.alphabet());
    let readouts = [Readout::Pop, Readout::Push, Readout::Shift, Readout::Output];
    let support = readouts.map(|readout| machine.support(readout));
    let (inputs, stacks) = machine.centres();
    let contexts = machine.lessons().actions().len();
    let bytes = std::fs::metadata(&args.model)?.len();
    if args.json {
        print_json(&json!({
            "terminals": terminals, "nonterminals": nonterminals,
            "mode": format!("{:?}", machine.mode()).to_lowercase(),
            "lookahead": format!("{:?}", machine.view()).to_lowercase(),
            "neurons": machine.reservoir().neurons(),
            "support": {"pop": support[0], "push": support[1], "shift": support[2], "output": support[3]},
            "centres": {"input": inputs, "stack": stacks}, "contexts": contexts, "bytes": bytes,
            "manifest": machine.manifest(),
        }))?;
        return Ok(Outcome::Accepted);
    }
    println!("{}: {bytes} bytes", args.model.display());
    println!("reads      {}", terminals.join(" "));
    println!("pushes     {}", nonterminals.join(" "));
    println!("mode       {:?}, lookahead {:?}", machine.mode(), machine.view());
    println!("neurons    {}", machine.reservoir().neurons());
    println!("taught on  {contexts} distinct contexts");
    println!("support    pop {}, push {}, shift {}, output {}", support[0], support[1], support[2], support[3]);
    println!("centres    {inputs} of the input, {stacks} of the stack");
    for (key, value) in machine.manifest() {
        println!("{key:10} {value}");
    }
    Ok(Outcome::Accepted)
}
