//! Proofs that a machine is right on every word of every length.
//!
//! A proof needs the configurations that the automaton can reach ([`crate::automaton`]), sets of states that contain
//! everything a machine can compute in them (`enclose`), bounds on its decisions on these sets (`bound`), and a search
//! for sets that are small enough (`prove`). The result of the search is a [`Certificate`], which [`check`] verifies
//! without a search and without trusting anything in it.

pub(crate) mod bound;
pub(crate) mod cells;
mod certificate;
mod check;
mod differ;
pub(crate) mod digest;
mod enclose;
mod error;
mod example;
mod file;
#[cfg(test)]
mod lemmas;
mod lockstep;
mod lookup;
mod provable;
mod prove;
mod require;
mod scale;
mod translation;
pub(crate) mod walk;

pub use certificate::{Certificate, Size};
pub use check::{ProvedCell, check, check_each};
pub use differ::Difference;
pub use error::CertifyError;
pub use file::CertificateFileError;
pub use lockstep::{Behavior, Comparison, check_table};
pub(crate) use provable::provable;
pub use prove::{OpenCell, Proof, Prover};
pub(crate) use require::Required;
pub(crate) use scale::WellScaled;
pub use translation::{Parser, ParserAction, Translation, check_translation};
