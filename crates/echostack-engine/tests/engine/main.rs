//! The engine, as it is used: scripts of queries, files of every format, a cluster of real processes.

mod cluster;
mod common;
mod contexts;
mod score;
mod sql;
mod stores;
