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

mod first;
mod lookaheads;
mod lr0;
mod states;
mod work;

pub(crate) use states::States;
pub(crate) use work::TooLarge;
