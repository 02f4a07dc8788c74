//! `echostack score`, `contexts`, `pack` and `cluster`, which the program `echostack-engine` carries out.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::builder::StyledStr;

use crate::external::{missing, program};
use crate::outcome::Outcome;
use crate::session::Session;

/// All remaining arguments, passed on unchanged.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<OsString>,
}

impl Args {
    fn ask_for_help(&self) -> bool {
        self.rest.iter().any(|argument| argument == "--help" || argument == "-h")
    }
}

/// Where the options of the engine's commands are explained, for those who do not have the engine.
pub(crate) const OPTIONS: &str = "The options are those of the program echostack-engine. If it is there, `--help` lists them; \
                                  docs/scale.md explains them and how to build it.";

/// Runs a command of `echostack-engine`, which reports its own errors. Options of all commands that were given before
/// the command's own arguments are passed on. `help` returns what is known about the command without the engine.
pub(crate) fn run(command: &str, args: &Args, session: &Session, help: impl FnOnce() -> StyledStr) -> Result<Outcome> {
    let name = "echostack-engine";
    ensure!(session.grammar_limits.is_none(), "`{command}` reads no grammar: leave out --grammar-limits");
    let mut engine = Command::new(program(name));
    engine.args(session.quiet.then_some("--quiet"));
    engine.args(session.threads.map(|count| format!("--threads={count}")));
    engine.args(session.model_limits.map(|limits| format!("--model-limits={limits}")));
    let status = match engine.arg(command).args(&args.rest).status() {
        Err(error) if error.kind() == ErrorKind::NotFound && args.ask_for_help() => {
            write!(std::io::stdout(), "{}\n{}\n", help(), missing(name))?;
            return Ok(Outcome::Accepted);
        }
        status => status.with_context(|| missing(name))?,
    };
    Ok(if status.success() { Outcome::Accepted } else { Outcome::Stopped })
}
