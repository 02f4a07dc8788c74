//! The type that takes the place of machines in a program that is built without them. It has no values.

use std::sync::Arc;

use crate::file::{self, FileError, MACHINE_KEY};
use crate::manifest::Manifest;
use crate::recognize::{Judged, Limits, Mode, Observer, Recognizer, Session, Status};
use crate::symbol::{Alphabet, Input, Lookahead};

/// A machine, of which there are none.
#[derive(Clone, Debug)]
pub(crate) enum Machine {}

impl Machine {
    /// Says why the bytes of a file are not a model that this program can run.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        Err(match file::header(MACHINE_KEY, bytes)? {
            Some(_) => FileError::NoMachines,
            None => FileError::NotAModel("it has no table".into()),
        })
    }

    pub(crate) fn memoized(self) -> Self {
        self
    }

    pub(crate) fn without_manifest(&self) -> Self {
        match *self {}
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        match *self {}
    }

    pub(crate) fn alphabet(&self) -> &Arc<Alphabet> {
        match *self {}
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        match *self {}
    }

    pub(crate) fn mode(&self) -> Mode {
        match *self {}
    }

    pub(crate) fn position(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn status(&self) -> Status {
        match *self {}
    }
}

impl Recognizer for Machine {
    type Session = Self;

    fn alphabet(&self) -> &Alphabet {
        match *self {}
    }

    fn start(&self, _: Limits) -> Self {
        match *self {}
    }
}

impl Session for Machine {
    fn feed(&mut self, _: Input<'_>, _: &mut dyn Observer) -> Status {
        match *self {}
    }

    fn answer<A: Judged>(self, _: &mut dyn Observer) -> A {
        match self {}
    }

    fn expected(&self) -> Vec<Lookahead> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Tensors;
    use crate::model::Model;

    #[test]
    fn a_file_with_a_machine_is_refused() {
        let bytes = |key: &str| Tensors::default().to_bytes(key, &"anything").unwrap();
        let refused = Model::from_bytes(&bytes(MACHINE_KEY)).unwrap_err().to_string();
        assert!(refused.starts_with("the file contains a machine, and this program was built without"), "{refused}");
        let refused = Model::from_bytes(&bytes("another")).unwrap_err().to_string();
        assert_eq!(refused, "this is not an echostack model: it has no table");
    }
}
