//! Numbers that identify things, each kind a type of its own, so that two kinds cannot be confused.

/// Declares a type for the numbers of one kind of thing, counted from 0. It can be made from an index and converted to
/// one, and compared; there is no arithmetic on it.
macro_rules! index {
    ($(#[$attribute:meta])* $visibility:vis $name:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visibility struct $name(u32);

        impl $name {
            /// The number of the thing at this index.
            #[inline]
            pub(crate) const fn new(index: usize) -> Self {
                assert!(index <= u32::MAX as usize, "numbers have 32 bits");
                Self(index as u32)
            }

            /// The index of the thing with this number.
            #[inline]
            pub(crate) const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

pub(crate) use index;
