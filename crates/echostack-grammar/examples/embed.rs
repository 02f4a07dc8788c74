//! Embeds a recognizer in a program: a grammar becomes a table in memory, which checks standard input as it arrives.
//!
//!     echo '{"a": [1, 2}' | cargo run --release --example embed -- testdata/grammars/json
//!
//! The argument is a folder with a grammar and a lexer, or the file of a model or table, which loads faster.

use std::path::PathBuf;

use echostack::Limits;
use echostack_grammar::{Encoding, Judge, Subject};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path: PathBuf = std::env::args_os().nth(1).ok_or("give a folder with a grammar, or a table")?.into();
    let judge = if path.is_dir() {
        Judge::new(Subject::open_grammar(&path, Encoding::Auto)?.table(&())?.into())?
    } else {
        Judge::open(&path)?
    };

    // The text is never in memory as a whole, and the first mistake is found as soon as it is read.
    let judgement = judge.judge_stream(&mut std::io::stdin().lock(), Limits::default())?;
    println!("{judgement}");
    std::process::exit(i32::from(!judgement.verdict.is_accept()))
}
