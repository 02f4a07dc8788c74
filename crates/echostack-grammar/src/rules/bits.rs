//! Sets of lookaheads.

/// A set of lookaheads: one bit for each terminal, and one for the end of the input after them.
pub(crate) type Bits = Box<[u64]>;

/// Adds the elements of another set. Returns whether there are new ones.
pub(crate) fn add(bits: &mut [u64], others: &[u64]) -> bool {
    let mut new = 0;
    for (bits, others) in bits.iter_mut().zip(others) {
        new |= others & !*bits;
        *bits |= others;
    }
    new != 0
}

/// Returns whether a set has an element.
pub(crate) fn contains(bits: &[u64], element: usize) -> bool {
    bits[element / 64] >> (element % 64) & 1 == 1
}

/// Adds one element to a set.
pub(crate) fn insert(bits: &mut [u64], element: usize) {
    bits[element / 64] |= 1 << (element % 64);
}
