//! A whole run: learning and tests by turns, checks of the result, and the report.

pub(crate) mod attempt;
mod best;
pub(crate) mod bound;
pub(crate) mod checks;
pub(crate) mod guess;
pub(crate) mod infer;
pub(crate) mod inference;
pub(crate) mod report;
pub(crate) mod rounds;
pub(crate) mod settings;
mod ways;
mod whole;
