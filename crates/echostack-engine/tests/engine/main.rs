//! Tests of the engine as it is used: scripts of queries, files of every format, and a cluster of real processes.

mod cluster;
mod common;
mod contexts;
mod hostile;
mod score;
mod sql;
mod stores;
