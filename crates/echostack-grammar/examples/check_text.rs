//! Checks a text, and says where it goes wrong.
//!
//!     cargo run --release --example check_text -- json.table data.json

use echostack_grammar::Judge;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [table, text] = std::array::from_fn(|at| std::env::args().nth(at + 1).unwrap_or_default());
    let text = std::fs::read_to_string(text)?;
    match Judge::open(table)?.check(&text) {
        Ok(()) => println!("valid"),
        Err(judgement) => println!("{judgement}"),
    }
    Ok(())
}
