//! Proofs that a machine is right on every word of every length.
//!
//! The way of a proof: which configurations the automaton can come to ([`crate::automaton`]), sets of states that contain
//! everything a machine can compute in them (`enclose`), bounds of its decisions on these sets (`bound`), and a search
//! for sets that are small enough (`prove`). What it finds is a [`Certificate`], which [`check`] verifies without a
//! search and without trusting anything in it.

pub(crate) mod bound;
pub(crate) mod cells;
mod check;
mod differ;
mod enclose;
mod file;
#[cfg(test)]
mod lemmas;
mod prove;
mod scale;

pub use check::{ProvedCell, check, check_each};
pub use differ::Difference;
pub use file::CertificateFileError;
pub(crate) use prove::Required;
pub use prove::{OpenCell, Proof, Prover};
pub(crate) use scale::WellScaled;

use std::any::Any;

use sha2::{Digest, Sha256};

use crate::automaton::complete::Completion;
use crate::automaton::reach::{ElementId, Reach};
use crate::automaton::{Automaton, AutomatonError};
use crate::control::{Cancelled, Poll};
use crate::file::FileError;
use crate::file::hex;
use crate::machine::{Machine, Readout};
use crate::recognize::Mode;
use crate::reservoir::{CycleReservoir, LegendreReservoir, MatrixReservoir};
use crate::symbol::SymbolId;
use cells::Look;

/// The version of the arithmetic that bounds are computed for: tanh, exp and sums as `simd` has them.
const ARITHMETIC: u32 = 1;

/// Why a machine cannot be proved right or wrong.
#[derive(Debug, thiserror::Error)]
pub enum CertifyError {
    /// The alphabets differ.
    #[error("the machine and the automaton have different symbols, so that no two of their stacks are equal")]
    Alphabet,
    /// The machine is tolerant.
    #[error(
        "the machine is tolerant; a proof is about a strict one, which rejects where a word goes wrong: learn it with --strict"
    )]
    Tolerant,
    /// The reservoir's type is not one of the library's.
    #[error(
        "the reservoir is of a type of your own, so its parts may not say what it computes; save the machine and read it back, and prove what was read"
    )]
    Foreign,
    /// A number of the machine is outside the range for which rounding is bounded.
    #[error("nothing can be proved of this machine: {what} is {given:e}, but must be {needed}")]
    Scale {
        /// Which number.
        what: String,
        /// The number.
        given: f64,
        /// What it must be.
        needed: &'static str,
    },
    /// The reservoir's states cannot be enclosed.
    #[error(
        "no enclosure of the states is known for this reservoir: it must forget, and its activation must be tanh unless it is a Legendre network"
    )]
    Reservoir,
    /// The output is a regression.
    #[error("the machine's output is a regression; a proof is about machines that accept or reject")]
    Regression,
    /// The automaton is too large, or says of a stack that cannot become a word that it can.
    #[error(transparent)]
    Automaton(AutomatonError),
    /// The machine has no file form.
    #[error(transparent)]
    File(#[from] FileError),
    /// The control asked to stop.
    #[error("the proof was cancelled")]
    Cancelled,
    /// A certificate does not hold.
    #[error("the certificate does not prove it: {0}")]
    Refused(String),
}

impl From<AutomatonError> for CertifyError {
    fn from(error: AutomatonError) -> Self {
        match error {
            AutomatonError::Cancelled => Self::Cancelled,
            error => Self::Automaton(error),
        }
    }
}

impl From<Cancelled> for CertifyError {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// A proof that a machine and an automaton agree on every word, in a form that can be [checked](check).
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    arithmetic: u32,
    /// Digests.
    machine: String,
    automaton: String,
    /// How many tokens before the next one are kept apart.
    memory: u32,
    /// For each element but the bottom one that it lies on, and its symbol.
    elements: Vec<(ElementId, SymbolId)>,
    reach: Reach,
    /// Why every reachable stack can become a word. Certificates of the first version do not say.
    completions: Option<Vec<Completion>>,
    cells: Vec<Cell>,
}

/// A part of the stack that is looked at, and what becomes of the obligations there. What is not named goes on to the longer
/// stacks.
#[derive(Clone, Debug, PartialEq, Default)]
struct Cell {
    /// The symbols, the topmost first.
    stack: Vec<SymbolId>,
    /// Whether the bottom is beneath them.
    whole: bool,
    /// Obligations that are split by the token before their look, one after the other.
    split: Vec<Named>,
    /// Obligations that are proved, after that.
    proved: Vec<Named>,
}

/// An obligation on a part of the stack: the number of its readout, and its look.
type Named = (usize, Look);

/// How large a certificate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The parts of the stack that are looked at.
    pub stacks: usize,
    /// The decisions that are proved on them.
    pub cells: usize,
    /// The most symbols of the stack that a decision needs.
    pub depth: usize,
    /// The most tokens of the input, the next one among them.
    pub input: usize,
    /// The elements: a symbol of the stack with all that decides what the automaton does when it is on top.
    pub elements: usize,
    /// The transitions of the automaton of reachable stacks.
    pub reach: usize,
    /// The completions, which show that each of these stacks can become a word; 0 in a certificate of the first version.
    pub completions: usize,
}

impl Certificate {
    /// How large it is.
    pub fn size(&self) -> Size {
        let proved = || self.cells.iter().flat_map(|cell| cell.proved.iter().map(move |(_, look)| (cell, look)));
        Size {
            stacks: self.cells.len(),
            cells: proved().count(),
            depth: proved().map(|(cell, _)| cell.stack.len()).max().unwrap_or(0),
            input: proved().map(|(_, look)| look.before.len() + 1).max().unwrap_or(0),
            elements: self.elements.len() + 1,
            reach: self.reach.heads.len() + self.reach.unders.len(),
            completions: self.completions.as_ref().map_or(0, Vec::len),
        }
    }
}

/// The bytes of a machine's file, without the manifest: what a proof is about. Their digest names the machine.
fn machine_bytes(machine: &Machine) -> Result<Vec<u8>, CertifyError> {
    let mut machine = machine.clone();
    machine.manifest_mut().clear();
    Ok(machine.to_bytes()?)
}

fn digest(bytes: &[u8], poll: &mut Poll<'_>) -> Result<String, Cancelled> {
    let mut hash = Sha256::new();
    for part in bytes.chunks(1 << 20) {
        poll.now()?;
        hash.update(part);
    }
    Ok(hex(&hash.finalize()))
}

/// The digest of an automaton, as its file has it.
fn automaton_digest(automaton: &Automaton) -> String {
    hex(&Sha256::digest(automaton.to_json()))
}

/// Whether a proof about these two can be tried at all.
fn comparable(machine: &Machine, automaton: &Automaton) -> Result<(), CertifyError> {
    if machine.alphabet() != automaton.alphabet() {
        return Err(CertifyError::Alphabet);
    }
    provable(machine)
}

/// Whether anything can be proved of a machine.
pub(crate) fn provable(machine: &Machine) -> Result<(), CertifyError> {
    if machine.mode() != Mode::Strict {
        return Err(CertifyError::Tolerant);
    }
    if !machine.heads().iter().any(|(readout, _)| *readout == Readout::Output) {
        return Err(CertifyError::Regression);
    }
    let reservoir: &dyn Any = &**machine.reservoir();
    let own =
        reservoir.is::<MatrixReservoir>() || reservoir.is::<CycleReservoir>() || reservoir.is::<LegendreReservoir>();
    if own { Ok(()) } else { Err(CertifyError::Foreign) }
}
