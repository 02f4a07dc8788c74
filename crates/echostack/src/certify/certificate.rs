//! The data of a certificate.

use super::digest::text_digest;
use super::error::CertifyError;
use crate::automaton::complete::Completion;
use crate::automaton::reach::{ElementId, Reach};
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::SymbolId;

/// The version of the arithmetic that the bounds are computed for: tanh, exp and sums as implemented in `simd`.
pub(crate) const ARITHMETIC: u32 = 1;

/// Proofs about one automaton, in a form that can be checked. Each part is there or not:
///
/// - of a machine, that it agrees with the automaton on every word ([`check`](super::check));
/// - of a table, that it takes the same actions ([`check_table`](super::check_table));
/// - of a grammar, that the automaton follows its text ([`check_translation`](super::check_translation));
/// - of a lexer, that texts are split into tokens by this one.
///
/// Of the last three, a certificate contains no more than digests: what they say is computed again during the check.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The digest of the automaton.
    pub(super) automaton: String,
    /// The digests of the texts of the grammar and the lexer.
    pub(super) grammar: Option<String>,
    pub(super) lexer: Option<String>,
    pub(super) machine: Option<MachineProof>,
    /// The digest of the table.
    pub(super) table: Option<String>,
}

/// The part of a certificate about a machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MachineProof {
    /// The digest of the machine.
    pub(super) digest: String,
    pub(super) arithmetic: u32,
    /// The number of tokens before the next one by which configurations are distinguished.
    pub(super) memory: u32,
    /// For each element except the bottom, the element that it was first pushed on, and its symbol.
    pub(super) elements: Vec<(ElementId, SymbolId)>,
    pub(super) reach: Reach,
    /// Completions, which show that every reachable stack can become a word. `None` in format version 1.
    pub(super) completions: Option<Vec<Completion>>,
    pub(super) cells: Vec<Cell>,
}

/// A stack suffix, and how the obligations on it are settled. Obligations that are not named are passed on to the
/// longer suffixes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) stack: StackSuffix,
    /// Obligations that are split by the token before their input suffix, in this order.
    pub(super) split: Vec<Named>,
    /// Obligations that are proved after the splits.
    pub(super) proved: Vec<Named>,
}

/// The name of an obligation on a stack suffix: the number of its readout, and its input suffix.
pub(super) type Named = (usize, InputSuffix);

/// The size of the proof of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The number of stack suffixes that are examined.
    pub stacks: usize,
    /// The number of decisions that are proved on them.
    pub cells: usize,
    /// The maximum number of stack symbols that a decision needs.
    pub depth: usize,
    /// The maximum number of input tokens that a decision needs, including the next one.
    pub input: usize,
    /// The number of elements. An element is a symbol on the stack together with everything that determines what the
    /// automaton does when the symbol is on top.
    pub elements: usize,
    /// The number of transitions of the finite automaton that reads the reachable stacks.
    pub reach: usize,
    /// The number of completions, which show that each of these stacks can become a word. It is 0 in a certificate of
    /// format version 1.
    pub completions: usize,
}

impl Certificate {
    /// Adds the text of the grammar that the automaton follows.
    #[must_use]
    pub fn with_grammar(self, text: &str) -> Self {
        Self { grammar: Some(text_digest(text)), ..self }
    }

    /// Adds the text of the lexer that splits texts into tokens.
    #[must_use]
    pub fn with_lexer(self, text: &str) -> Self {
        Self { lexer: Some(text_digest(text)), ..self }
    }

    /// Returns the SHA-256 digest of the machine's file, as written with an empty manifest, in hexadecimal digits.
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_ref().map(|proof| proof.digest.as_str())
    }

    /// Returns the SHA-256 digest of the table's file, as written with an empty manifest, in hexadecimal digits.
    pub fn table(&self) -> Option<&str> {
        self.table.as_deref()
    }

    /// Returns the SHA-256 digest of the automaton's file, in hexadecimal digits.
    pub fn automaton(&self) -> &str {
        &self.automaton
    }

    /// Returns the SHA-256 digest of the grammar's text, in hexadecimal digits.
    pub fn grammar(&self) -> Option<&str> {
        self.grammar.as_deref()
    }

    /// Returns the SHA-256 digest of the lexer's text, in hexadecimal digits.
    pub fn lexer(&self) -> Option<&str> {
        self.lexer.as_deref()
    }

    /// Checks that the certificate names the grammar with this text, if it names one.
    ///
    /// # Errors
    /// [`CertifyError::Refused`] if it names another.
    pub fn check_grammar(&self, text: &str) -> Result<(), CertifyError> {
        match &self.grammar {
            Some(digest) if *digest != text_digest(text) => {
                Err(CertifyError::Refused("it is for a grammar with another text".into()))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the certificate names the lexer with this text, or that neither has a lexer.
    ///
    /// # Errors
    /// [`CertifyError::Refused`] if it does not.
    pub fn check_lexer(&self, text: Option<&str>) -> Result<(), CertifyError> {
        let why = match (&self.lexer, text) {
            (Some(digest), Some(text)) if *digest == text_digest(text) => return Ok(()),
            (None, None) => return Ok(()),
            (Some(_), Some(_)) => "it is for another lexer",
            (Some(_), None) => "it is for a lexer, but there is none",
            (None, Some(_)) => {
                "it says nothing about the lexer; write it again with a grammar folder that has the lexer"
            }
        };
        Err(CertifyError::Refused(why.into()))
    }

    /// Returns the size of the proof of a machine. If there is none, all numbers are 0.
    pub fn size(&self) -> Size {
        self.machine.as_ref().map(MachineProof::size).unwrap_or_default()
    }
}

impl MachineProof {
    fn size(&self) -> Size {
        let proved = || self.cells.iter().flat_map(|cell| cell.proved.iter().map(move |(_, input)| (cell, input)));
        Size {
            stacks: self.cells.len(),
            cells: proved().count(),
            depth: proved().map(|(cell, _)| cell.stack.depth()).max().unwrap_or(0),
            input: proved().map(|(_, input)| input.before().len() + 1).max().unwrap_or(0),
            elements: self.elements.len() + 1,
            reach: self.reach.tops.len() + self.reach.unders.len(),
            completions: self.completions.as_ref().map_or(0, Vec::len),
        }
    }
}
