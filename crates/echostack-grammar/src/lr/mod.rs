//! The states of a grammar's parser, computed from its rules.
//!
//! What a parser accepts is defined by canonical LR(1) states and the precedences of the file, unless the file asks for
//! LALR(1). Canonical states are far too many to build. [`States`] has a few more states than an LALR(1) parser, and
//! accepts the same words as a canonical parser. It is built in three steps, one file each:
//!
//! 1. `lr0.rs` computes the LR(0) states, which know what can follow by the rules, but no lookaheads.
//! 2. `lookaheads.rs` computes the LALR(1) lookaheads, and on which of them states with the same items may have to be
//!    told apart: those with a conflict that a shift does not win.
//! 3. `states.rs` splits the LR(0) states accordingly, and argues why this suffices.
//!
//! `build.rs` makes the [table](table::LrTable) of these states, with what precedences leave of their choices;
//! `conflict.rs` explains the rest, and `markers.rs` finds those that only bison has. `live.rs` finds the stacks of the table
//! that can still become a word, and `encode.rs` writes the table as an automaton. `count.rs` counts and draws words of
//! it, and `probe.rs` finds a word for each of its entries.

pub(crate) mod build;
pub(crate) mod conflict;
pub(crate) mod count;
pub(crate) mod encode;
pub(crate) mod first;
pub(crate) mod live;
pub(crate) mod lookaheads;
pub(crate) mod lr0;
pub(crate) mod markers;
pub(crate) mod probe;
pub(crate) mod states;
pub(crate) mod table;
pub(crate) mod work;
