//! The digests by which a certificate names its machine and its automaton.

use sha2::{Digest, Sha256};

use super::error::CertifyError;
use crate::automaton::Automaton;
use crate::control::{Cancelled, Poll};
use crate::digest::hex;
use crate::machine::Machine;

/// The bytes of a machine's file, without the manifest: what a proof is about. Their digest names the machine.
pub(super) fn machine_bytes(machine: &Machine) -> Result<Vec<u8>, CertifyError> {
    let mut machine = machine.clone();
    machine.manifest_mut().clear();
    Ok(machine.to_bytes()?)
}

pub(super) fn digest(bytes: &[u8], poll: &mut Poll<'_>) -> Result<String, Cancelled> {
    let mut hash = Sha256::new();
    for part in bytes.chunks(1 << 20) {
        poll.now()?;
        hash.update(part);
    }
    Ok(hex(&hash.finalize()))
}

/// The digest of an automaton, as its file has it.
pub(super) fn automaton_digest(automaton: &Automaton) -> String {
    hex(&Sha256::digest(automaton.to_json()))
}
