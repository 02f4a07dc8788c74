//! The files of traces.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use echostack::teach::read_traces;
use echostack::{Alphabet, Trace};

/// Reads traces from a file.
pub(crate) fn open_traces(path: &Path) -> Result<(Arc<Alphabet>, Vec<Trace>)> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("could not read {name}"))?;
    let (alphabet, traces) = read_traces(&mut BufReader::new(file)).with_context(|| format!("could not use {name}"))?;
    ensure!(!traces.is_empty(), "{name} has no traces, only a header");
    Ok((alphabet, traces))
}
