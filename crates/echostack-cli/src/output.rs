//! What all commands need for their output: counts in English, messages, JSON, and files.

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use echostack::file::{check_replaceable, replace};

/// Returns a number with a noun, which is in the plural unless the number is 1.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with(['s', 'x']) => "es",
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}

/// Returns how many percent of the total are done, rounded down, so that 100 means everything.
pub(crate) fn percent(done: usize, total: usize) -> usize {
    if total == 0 { 100 } else { (done as f64 / total as f64 * 100.).floor() as usize }
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

/// Checks that a file can be written, before the work that it is for begins. The file itself stays as it is.
pub(crate) fn try_output<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    paths.into_iter().try_for_each(|path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            bail!("could not write {}: there is no folder {}", path.display(), folder.display());
        }
        check_replaceable(path).with_context(|| format!("could not write {}", path.display()))
    })
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    writeln!(std::io::stdout(), "{value}")?;
    Ok(())
}
