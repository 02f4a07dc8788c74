//! Embeds a recognizer in a program: a grammar becomes a table in memory, which checks standard input as it arrives.
//!
//!     echo '{"a": [1, 2}' | cargo run --release --example embed -- testdata/grammars/json
//!
//! The argument is a folder with a grammar and a lexer, or the file of a model or table, which loads faster.

use std::path::PathBuf;

use echostack::recognize::Mode;
use echostack::{Limits, Lookahead, Manifest, Table};
use echostack_grammar::{Encoding, Judge, Subject};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path: PathBuf = std::env::args_os().nth(1).ok_or("give a folder with a grammar, or a table")?.into();
    let judge = if path.is_dir() {
        let subject = Subject::open_grammar(&path, Encoding::Auto)?;
        let mut manifest = Manifest::default();
        // The lexer travels with the table.
        subject.note(&mut manifest);
        Judge::new(Table::new(&subject.oracle(Mode::Strict, &())?, manifest)?.into())?
    } else {
        Judge::open(&path)?
    };

    // The text is never in memory as a whole, and the first mistake is found as soon as it is read.
    let judgement = judge.judge_stream(&mut std::io::stdin().lock(), Limits::default())?;
    match &judgement.fault {
        None => println!("valid"),
        Some(fault) => {
            let name = |next: &Lookahead| next.token().map_or("the end", |token| judge.alphabet().name(token));
            let expected: Vec<&str> = judgement.verdict.expected().iter().map(name).collect();
            let expected = expected.join(" or ");
            println!("{}:{}: {:?}, expected {expected}", fault.place.line, fault.place.column, fault.kind);
            std::process::exit(1);
        }
    }
    Ok(())
}
