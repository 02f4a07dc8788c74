//! The files of certificates.

use std::path::Path;

use anyhow::{Context, Result};
use echostack::Certificate;
use echostack::file::{MAX_BYTES, read_text};

use crate::output::save;

/// Reads a certificate from a file.
pub(crate) fn read(path: &Path) -> Result<Certificate> {
    let text = read_text(path, MAX_BYTES).context("could not read the certificate")?;
    Certificate::from_json(&text).with_context(|| format!("could not use {}", path.display()))
}

/// Writes a certificate to a file.
pub(crate) fn write(path: &Path, certificate: &Certificate) -> Result<()> {
    save(path, certificate.to_json())
}
