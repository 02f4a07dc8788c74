//! The paper's nine tasks: six languages, latch, copy and repeat copy.

mod copy;
mod definition;
mod language;
mod long;
#[cfg(feature = "machine")]
mod params;
mod task;

pub use task::{Split, Task};
