//! Queries: each text is asked once, and what follows from an answer is not asked again.

pub(crate) mod positions;
pub(crate) mod queries;
