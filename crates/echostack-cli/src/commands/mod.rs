//! The commands, one file or folder each: their options and examples (`Args`), and `run`. No command imports another.

pub(crate) mod certify;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod compile;
pub(crate) mod construct;
pub(crate) mod engine;
pub(crate) mod evaluate;
pub(crate) mod export;
pub(crate) mod extract;
pub(crate) mod infer;
pub(crate) mod inspect;
pub(crate) mod lab;
pub(crate) mod learn;
pub(crate) mod parse;
pub(crate) mod run;
pub(crate) mod sample;
pub(crate) mod tasks;
pub(crate) mod teach;
