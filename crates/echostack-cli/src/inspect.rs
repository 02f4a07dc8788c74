//! `echostack inspect`: what is in a model file.

use std::path::PathBuf;

use anyhow::Result;
use echostack::Readout;
use serde_json::json;

use crate::{Outcome, load, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The model file
    model: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let machine = load(&args.model)?;
    let alphabet = machine.alphabet();
    let name = |symbol| alphabet.name(symbol).to_string();
    let terminals: Vec<String> = alphabet.terminals().map(name).collect();
    let nonterminals: Vec<String> = alphabet.nonterminals().map(name).collect();
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
