//! The test grammars, for tests of several crates.

use std::path::{Path, PathBuf};

/// Returns the folders of all test grammars, in the order of their names.
pub(crate) fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars");
    let mut all: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    assert_eq!(all.len(), 13);
    all
}
