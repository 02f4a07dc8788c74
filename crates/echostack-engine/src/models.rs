//! Models under the names that queries use for them.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use echostack::Model;
use echostack::digest::hex;
use echostack::file;
use echostack::file::{FileError, FileLimits};
use echostack_grammar::{Encoding, Judge, JudgeError, Subject};
use sha2::{Digest, Sha256};

/// A set of models, each with a name. Two sets are equal if they have the same names for the same bytes.
#[derive(Clone, Debug, Default)]
pub struct Models {
    limits: FileLimits,
    named: BTreeMap<String, Named>,
}

/// A model in a set of [`Models`].
#[derive(Clone, Debug)]
pub(crate) struct Named {
    digest: [u8; 32],
    address: Option<String>,
    judge: Arc<Judge>,
}

impl Named {
    pub(crate) fn new(bytes: &[u8], address: Option<String>, limits: &FileLimits) -> Result<Self, JudgeError> {
        let judge = Judge::new(Model::from_bytes_within(bytes, limits)?).map_err(JudgeError::Lexer)?;
        Ok(Self { digest: Sha256::digest(bytes).into(), address, judge: Arc::new(judge) })
    }

    pub(crate) fn open(path: &Path, limits: &FileLimits) -> Result<Self, JudgeError> {
        let refused = |error| FileError::Io { path: path.to_path_buf(), error };
        let path = std::path::absolute(path).map_err(refused)?;
        // A grammar is compiled to the same table wherever it is read.
        let bytes = if Subject::is_grammar(&path) {
            Subject::open_grammar(&path, Encoding::Auto)?.table(&())?.to_bytes()?
        } else {
            file::read_within(&path, limits.bytes)?
        };
        Self::new(&bytes, Some(path.to_string_lossy().into_owned()), limits)
    }

    /// Returns the same model with another address.
    pub(crate) fn at(self, address: &str) -> Self {
        Self { address: Some(address.into()), ..self }
    }

    /// Returns the SHA-256 digest of the model's file, in hexadecimal digits.
    pub(crate) fn digest(&self) -> String {
        hex(&self.digest)
    }

    /// Returns the address at which other processes can read the model.
    pub(crate) fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }
}

impl Models {
    /// Creates an empty set whose models must be within the limits.
    pub fn within(limits: FileLimits) -> Self {
        Self { limits, named: BTreeMap::new() }
    }

    /// Adds a model, given as the bytes of its file, and replaces a model of the same name. On a cluster, the model
    /// also needs an address: the path of the file on every machine.
    ///
    /// # Errors
    /// If the bytes are not a model, or exceed the limits.
    pub fn add(&mut self, name: &str, bytes: &[u8], address: Option<String>) -> Result<(), JudgeError> {
        self.insert(name, Named::new(bytes, address, &self.limits)?);
        Ok(())
    }

    /// Adds a model from a file. On a cluster, all machines must have the file under the same path.
    ///
    /// # Errors
    /// If the file cannot be read, is not a model, or exceeds the limits.
    pub fn open(&mut self, name: &str, path: &Path) -> Result<(), JudgeError> {
        self.insert(name, Named::open(path, &self.limits)?);
        Ok(())
    }

    pub(crate) fn insert(&mut self, name: &str, model: Named) {
        self.named.insert(name.into(), model);
    }

    /// Returns the model with the given name.
    pub fn get(&self, name: &str) -> Option<&Arc<Judge>> {
        self.named.get(name).map(|named| &named.judge)
    }

    /// Returns the SHA-256 digest of a model's file, in hexadecimal digits.
    pub fn digest(&self, name: &str) -> Option<String> {
        self.named.get(name).map(Named::digest)
    }

    /// Returns the names of the models, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(String::as_str)
    }

    pub(crate) fn named(&self) -> impl Iterator<Item = (&String, &Named)> {
        self.named.iter()
    }

    /// Returns the names and digests, which define equality.
    fn digests(&self) -> impl Iterator<Item = (&String, &[u8; 32])> {
        self.named.iter().map(|(name, named)| (name, &named.digest))
    }
}

impl PartialEq for Models {
    fn eq(&self, other: &Self) -> bool {
        self.digests().eq(other.digests())
    }
}

impl Eq for Models {}

impl Hash for Models {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digests().for_each(|named| named.hash(state));
    }
}
