//! Fuzz targets for everything that echostack reads from strangers.
//!
//! A target is a function of bytes that must neither panic nor run for long, whatever the bytes are. Where two parts of
//! echostack must agree, the target compares them. libFuzzer calls the targets (`fuzz_targets/`), and so does the
//! example `campaign`, which needs no nightly toolchain and replays the same inputs in CI.

pub mod edit;
pub mod fixtures;
pub mod seeds;
pub mod targets;
