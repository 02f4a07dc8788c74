//! Judges words with a table, in a program that is built without machines.
//!
//!     cargo run --release -p echostack --no-default-features --example table_only -- anbn.table <words.txt
//!
//! The argument is the file of a table, as `echostack compile` writes it. Each line of standard input is a word: the
//! names of its tokens, separated by spaces.

use std::io::BufRead;

use echostack::{Model, Recognizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("give the file of a table")?;
    let model = Model::load(path)?;
    for line in std::io::stdin().lock().lines() {
        let word = model.alphabet().word(line?.split_whitespace())?;
        println!("{}", model.judge(&word).name());
    }
    Ok(())
}
