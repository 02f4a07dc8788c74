//! The ways to find tokens.

/// What is done with white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spaces {
    /// It is skipped, and words need not be separated where it separates them.
    Skipped,
    /// It is skipped where it changes nothing else.
    SkippedStrictly,
    /// It is kept.
    Kept,
}

/// A way to find boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) spaces: Spaces,
    /// Where most characters lead back, they continue a token.
    pub(super) free: bool,
    /// A token never goes on where another one ends.
    pub(super) careful: bool,
    /// White space that must be there belongs to the mark or the keyword before it.
    pub(super) joined: bool,
}

impl Way {
    const fn new(spaces: Spaces) -> Self {
        Self { spaces, free: false, careful: false, joined: true }
    }

    const fn free(self) -> Self {
        Self { free: true, ..self }
    }

    /// All ways, the most readable first.
    pub(super) const ALL: [Self; 9] = [
        Self::new(Spaces::Skipped).free(),
        Self::new(Spaces::Skipped),
        Self::new(Spaces::SkippedStrictly).free(),
        Self::new(Spaces::SkippedStrictly),
        Self::new(Spaces::Kept).free(),
        Self::new(Spaces::Kept),
        Self { joined: false, ..Self::new(Spaces::Kept).free() },
        Self { joined: false, ..Self::new(Spaces::Kept) },
        Self { careful: true, joined: false, ..Self::new(Spaces::Kept) },
    ];

    /// Says how tokens are found.
    pub(super) fn describe(self) -> String {
        let mut parts = vec![match self.spaces {
            Spaces::Skipped => "white space skipped",
            Spaces::SkippedStrictly => "white space skipped, if that changes nothing else",
            Spaces::Kept => "nothing skipped",
        }];
        parts.extend(self.free.then_some("free text as one token"));
        parts.extend(self.careful.then_some("short tokens"));
        parts.extend((!self.joined).then_some("every space a token"));
        parts.join(", ")
    }
}
