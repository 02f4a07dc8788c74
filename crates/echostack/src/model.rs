//! Whatever can judge words and be kept in a file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::file::{self, FileError};
use crate::machine::Machine;
use crate::table::Table;

/// A machine or a table, from a file.
#[derive(Debug)]
pub enum Model {
    /// A machine, as it was learned.
    Machine(Arc<Machine>),
    /// A table, as it was compiled.
    Table(Arc<Table>),
}

impl Model {
    /// Reads the file of a machine or of a table.
    ///
    /// # Errors
    /// If the system refuses, or the file is of another version, damaged, or something else.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::from_bytes(&file::read(path.as_ref())?)
    }

    /// Reads the bytes of such a file.
    ///
    /// # Errors
    /// If they are of another version, damaged, or something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        Ok(if Table::is_table(bytes) {
            Self::Table(Arc::new(Table::from_bytes(bytes)?))
        } else {
            Self::Machine(Arc::new(Machine::from_bytes(bytes)?))
        })
    }

    /// What is known of its origin; `lexer`: the lexer file, if it is for texts.
    pub fn manifest(&self) -> &BTreeMap<String, String> {
        match self {
            Self::Machine(machine) => machine.manifest(),
            Self::Table(table) => table.manifest(),
        }
    }
}
