//! What the computation of states may take, and what its parts share.

/// A production with a position in it.
pub(crate) type Item = (usize, usize);

/// Why states are not computed to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooLarge {
    /// There are more states than asked for.
    States,
    /// They take too much memory or time.
    Work,
}

/// The maximum number of 64-bit words that are kept.
const MAX_KEPT: u64 = 1 << 26;
/// The maximum number of 64-bit words that are read.
const MAX_READ: u64 = 1 << 31;

/// What the computation has taken so far. Short grammars can ask for very much.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    kept: u64,
    read: u64,
}

impl Work {
    /// Counts words that are kept: a number of things, and the size of each.
    pub(crate) fn keep(&mut self, things: usize, size: usize) -> Result<(), TooLarge> {
        self.kept = self.kept.saturating_add((things as u64).saturating_mul(size as u64));
        if self.kept > MAX_KEPT { Err(TooLarge::Work) } else { self.read(things, size) }
    }

    /// Counts words that are read.
    pub(crate) fn read(&mut self, things: usize, size: usize) -> Result<(), TooLarge> {
        self.read = self.read.saturating_add((things as u64).saturating_mul(size as u64));
        if self.read > MAX_READ { Err(TooLarge::Work) } else { Ok(()) }
    }
}
