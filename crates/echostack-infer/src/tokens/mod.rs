//! Tokens that are inferred before there is a grammar: where lexemes begin and end, which languages they are, and which of
//! them are one token.

mod blame;
mod context;
mod cut;
mod dfa;
mod examine;
mod finder;
mod given;
mod intervals;
mod lexemes;
mod limits;
mod open;
mod rules;
mod strings;
#[cfg(test)]
mod tests;

pub(crate) use finder::Finder;
pub(crate) use given::Given;
pub(crate) use intervals::compared_numbers;
pub(crate) use limits::Limits;
