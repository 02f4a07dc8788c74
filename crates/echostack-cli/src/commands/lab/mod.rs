//! `echostack lab`: experiments and benchmarks.

mod bench;
mod reproduce;
mod work;

use anyhow::Result;
use clap::Subcommand;

use crate::outcome::Outcome;
use crate::session::Session;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the paper's experiments and compare the results with the published ones
    Reproduce(reproduce::Args),
    /// Write a work item for `lab bench`: an automaton, a reservoir, 100 training words and 100 longer test words
    Work(work::Args),
    /// Train and test as specified by a work item, and print the error and the times
    Bench(bench::Args),
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    match &args.command {
        Command::Reproduce(args) => reproduce::run(args, session),
        Command::Work(args) => work::run(args),
        Command::Bench(args) => bench::run(args),
    }
}
