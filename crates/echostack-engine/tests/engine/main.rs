//! The engine, as it is used: scripts of queries, files of every format, a cluster of real processes.

mod cluster;
mod common;
mod score;
mod sql;
