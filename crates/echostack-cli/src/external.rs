//! Runs the separate programs `echostack-engine` and `echostack-deep`. They are separate because they take long to
//! build. A program is looked up next to this one, and then in `PATH`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::Outcome;

/// All remaining arguments, passed on unchanged.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<OsString>,
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

/// Runs a command of `echostack-engine`, which reports its own errors.
pub(crate) fn engine(command: &str, args: &Args) -> Result<Outcome> {
    let name = "echostack-engine";
    let status = Command::new(program(name)).arg(command).args(&args.rest).status();
    let status = status.with_context(|| missing(name))?;
    Ok(if status.success() { Outcome::Accepted } else { Outcome::Stopped })
}
