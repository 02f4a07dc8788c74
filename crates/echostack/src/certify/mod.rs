//! Proofs that a machine is right on every word of every length.
//!
//! A proof needs the configurations that the automaton can reach ([`crate::automaton`]), sets of states that contain
//! everything a machine can compute in them (`enclose`), bounds on its decisions on these sets (`bound`), and a search
//! for sets that are small enough (`prove`). The result of the search is a [`Certificate`], which [`check`] verifies
//! without a search and without trusting anything in it.

#[cfg(feature = "machine")]
pub(crate) mod bound;
#[cfg(feature = "machine")]
pub(crate) mod cells;
mod certificate;
#[cfg(feature = "machine")]
mod check;
mod closed;
#[cfg(feature = "machine")]
mod differ;
pub(crate) mod digest;
#[cfg(feature = "machine")]
mod enclose;
mod error;
#[cfg(feature = "machine")]
mod example;
mod file;
#[cfg(all(test, feature = "machine"))]
mod lemmas;
mod lockstep;
#[cfg(feature = "machine")]
mod lookup;
#[cfg(feature = "machine")]
mod provable;
#[cfg(feature = "machine")]
mod prove;
#[cfg(feature = "machine")]
mod require;
#[cfg(feature = "machine")]
mod scale;
mod translation;
#[cfg(feature = "machine")]
pub(crate) mod walk;

pub use certificate::{Certificate, Size};
pub use error::CertifyError;
pub use file::CertificateFileError;
pub use lockstep::{Behavior, Comparison, check_table};
pub use translation::{Parser, ParserAction, Translation, check_translation};
#[cfg(feature = "machine")]
pub(crate) use {
    certificate::ARITHMETIC,
    error::refuse,
    provable::provable,
    require::Required,
    scale::{Scaled, WellScaled},
};
#[cfg(feature = "machine")]
pub use {
    check::{ProvedCell, check, check_each},
    differ::Difference,
    prove::{OpenCell, Proof, Prover},
};
