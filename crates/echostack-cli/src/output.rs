//! What all commands need for their output: counts in English, messages, JSON, and files.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use echostack::file::replace;

/// Returns a number with a noun, which is in the plural unless the number is 1.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with(['s', 'x']) => "es",
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}

/// Prints a message to standard error. If nobody reads it any more, that is no reason to stop.
pub(crate) fn note(message: impl Display) {
    _ = writeln!(std::io::stderr(), "{message}");
}

/// Writes a file, as a whole or not at all.
pub(crate) fn save(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let written = replace(path, |out| out.write_all(content.as_ref()));
    written.with_context(|| format!("could not write {}", path.display()))
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    writeln!(std::io::stdout(), "{value}")?;
    Ok(())
}
