//! Numbered identifiers, with a separate type for each kind of thing so that two kinds cannot be confused.

/// Declares a type for the numbers of one kind of thing, counted from 0. Values can be created from an index, converted
/// to one, and compared; there is no arithmetic on them.
macro_rules! index {
    ($(#[$attribute:meta])* $visibility:vis $name:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visibility struct $name(u32);

        impl $name {
            /// Returns the number of the thing at this index.
            #[inline]
            pub(crate) const fn new(index: usize) -> Self {
                assert!(index <= u32::MAX as usize, "an index must fit in 32 bits");
                Self(index as u32)
            }

            /// Returns the index of the thing with this number.
            #[inline]
            pub(crate) const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

pub(crate) use index;
