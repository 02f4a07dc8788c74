//! Learns a grammar, proves the machine correct on every word, and saves the grammar's table.
//!
//!     cargo run --release --example prove_grammar -- testdata/grammars/json json.table

use std::path::Path;

use echostack_grammar::{Encoding, Learning, Subject};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [grammar, table] = std::array::from_fn(|at| std::env::args().nth(at + 1).unwrap_or_default());
    let subject = Subject::open_grammar(Path::new(&grammar), Encoding::Auto)?;
    let learned = subject.learn(&Learning::default(), &())?;
    println!("{learned}");
    subject.table(&())?.save(table)?;
    Ok(())
}
