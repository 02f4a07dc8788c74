//! The digests by which a certificate identifies what it is about.

use sha2::{Digest, Sha256};

use super::error::CertifyError;
use crate::automaton::Automaton;
use crate::control::{Cancelled, Poll};
use crate::digest::hex;
use crate::table::Table;

/// Returns the digest of a table's file without its manifest.
pub(crate) fn table_digest(table: &Table, poll: &mut Poll<'_>) -> Result<String, CertifyError> {
    Ok(digest(&table.without_manifest().to_bytes()?, poll)?)
}

/// Returns the digest of a text, such as that of a grammar or a lexer.
pub(crate) fn text_digest(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// Returns the SHA-256 of the bytes in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8], poll: &mut Poll<'_>) -> Result<String, Cancelled> {
    let mut hash = Sha256::new();
    for part in bytes.chunks(1 << 20) {
        poll.now()?;
        hash.update(part);
    }
    Ok(hex(&hash.finalize()))
}

/// Returns the digest of an automaton in its file format.
pub(super) fn automaton_digest(automaton: &Automaton) -> String {
    hex(&Sha256::digest(automaton.to_json()))
}
