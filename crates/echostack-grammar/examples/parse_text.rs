//! Parses a text to a tree, and prints each child of its root with the bytes that it covers.
//!
//!     cargo run --release --example parse_text -- json.table data.json

use echostack_grammar::Judge;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [table, text] = std::array::from_fn(|at| std::env::args().nth(at + 1).unwrap_or_default());
    let text = std::fs::read_to_string(text)?;
    let judge = Judge::open(table)?;
    let parsed = judge.parse(&text)?;
    println!("{parsed}");
    for node in parsed.root().children() {
        println!("{:?} {}", node.span(), node.kind());
    }
    Ok(())
}
