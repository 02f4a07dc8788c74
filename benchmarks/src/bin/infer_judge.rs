//! Says whether texts are in the language of a grammar: reads one JSON string per line, and writes true or false.
//!
//! ```text
//! cargo run --bin infer_judge -- FOLDER
//! ```
//!
//! FOLDER is what `echostack infer` wrote. No machine is made, so this is quick, also for a large grammar.

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;

use echostack::language::Language as _;
use echostack::{Oracle, Recognizer, Verdict};
use echostack_grammar::{Encoding, Grammar};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("give the folder of a grammar")?;
    let (grammar, lexer) = Grammar::open(Path::new(&folder), Encoding::Auto)?;
    let lexer = lexer.ok_or("the folder has no lexer")?;
    let oracle = Oracle::strict(grammar.automaton().clone())?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let (tokens, fault) = lexer.tokens(&text);
        let word = oracle.automaton().alphabet().word(tokens.iter().map(|token| token.name));
        let accepts = fault.is_none() && word.is_ok_and(|word| oracle.judge(&word) == Verdict::Accept);
        writeln!(out, "{accepts}")?;
    }
    Ok(())
}
