//! Programs of their own that do what takes long to build: they lie beside this one, or are found as programs are.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::Outcome;

/// All that follows, as it is.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<OsString>,
}

/// Where a program is.
pub(crate) fn program(name: &str) -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(name)).filter(|path| path.exists());
    beside.unwrap_or_else(|| name.into())
}

/// What to say if it is not there.
pub(crate) fn missing(name: &str) -> String {
    format!(
        "could not start {name}; `cargo build --release` in crates/{name} makes it, and it belongs beside this program"
    )
}

/// Runs a command of the program for many words, which tells what goes wrong itself.
pub(crate) fn engine(command: &str, args: &Args) -> Result<Outcome> {
    let name = "echostack-engine";
    let status = Command::new(program(name)).arg(command).args(&args.rest).status();
    let status = status.with_context(|| missing(name))?;
    Ok(if status.success() { Outcome::Accepted } else { Outcome::Stopped })
}
