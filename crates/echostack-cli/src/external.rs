//! Runs the separate programs `echostack-engine` and `echostack-deep`. They are separate because they take long to
//! build. A program is looked up next to this one, and then in `PATH`.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::{Cli, Outcome};

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

/// Returns the path of a program.
pub(crate) fn program(name: &str) -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(name)).filter(|path| path.exists());
    beside.unwrap_or_else(|| name.into())
}

/// Returns the error message for a program that cannot be started.
pub(crate) fn missing(name: &str) -> String {
    format!(
        "could not start {name}; build it with `cargo build --release` in crates/{name}, and put it next to this program"
    )
}

/// Where the options of the engine's commands are explained, for those who do not have the engine.
pub(crate) const OPTIONS: &str = "The options are those of the program echostack-engine. If it is there, `--help` lists them; \
                                  docs/scale.md explains them and how to build it.";

/// Runs a command of `echostack-engine`, which reports its own errors. Options of all commands that were given before
/// the command's own arguments are passed on.
pub(crate) fn engine(command: &str, args: &Args, quiet: bool, threads: Option<usize>) -> Result<Outcome> {
    let name = "echostack-engine";
    let mut engine = Command::new(program(name));
    engine.args(quiet.then_some("--quiet"));
    engine.args(threads.map(|count| format!("--threads={count}")));
    let status = match engine.arg(command).args(&args.rest).status() {
        Err(error) if error.kind() == ErrorKind::NotFound && args.ask_for_help() => {
            let mut cli = Cli::command();
            cli.build();
            let help = cli.find_subcommand_mut(command).map(clap::Command::render_long_help);
            write!(std::io::stdout(), "{}\n{}\n", help.unwrap_or_default(), missing(name))?;
            return Ok(Outcome::Accepted);
        }
        status => status.with_context(|| missing(name))?,
    };
    Ok(if status.success() { Outcome::Accepted } else { Outcome::Stopped })
}
