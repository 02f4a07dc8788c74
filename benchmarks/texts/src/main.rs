//! Measures the lexer beside logos and lrlex, and checking JSON texts beside serde_json, in MB per second of CPU time.
//!
//!     cargo run --release -- FILE [ROUNDS]
//!
//! All programs read the same text from memory, in turns, and must find the same number of tokens.

use std::fs;
use std::time::Duration;

use echostack::recognize::Mode;
use echostack::{Limits, Manifest, Table};
use echostack_grammar::{Encoding, Judge, Subject};
use logos::Logos;
use lrlex::{DefaultLexerTypes, LRNonStreamingLexerDef, LexerDef};
use lrpar::Lexer as _;
use serde::de::IgnoredAny;

/// The tokens of JSON, as logos compiles them into a program.
#[derive(Logos)]
#[logos(skip r"[ \t\n\r]+")]
enum Token {
    #[regex(r#""([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]))*""#)]
    String,
    #[regex(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("null")]
    Null,
    #[token("{")]
    BraceOpen,
    #[token("}")]
    BraceClose,
    #[token("[")]
    BracketOpen,
    #[token("]")]
    BracketClose,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
}

/// Returns the CPU time of this process so far.
fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/schedstat").unwrap();
    Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let text = fs::read_to_string(arguments.next().expect("give a file with JSON text")).unwrap();
    let rounds: usize = arguments.next().map_or(5, |rounds| rounds.parse().unwrap());
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/grammars/json");
    let subject = Subject::open_grammar(folder.as_ref(), Encoding::Auto).unwrap();
    let judge = Judge::new(subject.table(&()).unwrap().into()).unwrap();
    let source = fs::read_to_string(format!("{folder}/lexer.l")).unwrap();
    let mut lrlex = LRNonStreamingLexerDef::<DefaultLexerTypes<u32>>::from_str(&source).unwrap();
    let names: Vec<String> = lrlex.iter_rules().filter_map(|rule| rule.name().map(str::to_string)).collect();
    lrlex.set_rule_ids(&names.iter().enumerate().map(|(at, name)| (name.as_str(), at as u32)).collect());

    let mut symbols = Vec::new();
    // lrlex keeps every token; a text of the first megabytes is enough to know its speed.
    let short = &text[..text.len().min(10_000_000)];
    let mut own = |text: &str| {
        symbols.clear();
        judge.add_symbols(text, &mut symbols);
        symbols.len()
    };
    let by_logos = |text: &str| Token::lexer(text).filter(Result::is_ok).count();
    assert_eq!(own(&text), by_logos(&text));
    let mut speeds: Vec<(&str, Vec<f64>)> = Vec::new();
    let mut measure = |name: &'static str, bytes: usize, work: &mut dyn FnMut() -> usize| {
        let start = cpu();
        let count = std::hint::black_box(work());
        let speed = bytes as f64 / 1e6 / (cpu() - start).as_secs_f64();
        assert!(count > 0);
        match speeds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(speed),
            None => speeds.push((name, vec![speed])),
        }
    };
    for round in 0..rounds {
        measure("tokens: echostack", text.len(), &mut || own(&text));
        measure("tokens: logos", text.len(), &mut || by_logos(&text));
        if round < 2 {
            measure("tokens: lrlex", short.len(), &mut || lrlex.lexer(short).iter().count());
        }
        measure("verdict: echostack", text.len(), &mut || {
            usize::from(judge.judge_stream(&mut text.as_bytes(), Limits::default()).unwrap().verdict.is_accept())
        });
        measure("verdict: serde_json", text.len(), &mut || {
            usize::from(serde_json::from_str::<IgnoredAny>(&text).is_ok())
        });
    }
    println!("| {} bytes | MB/s, median | minimum | maximum |\n|---|---|---|---|", text.len());
    for (name, mut all) in speeds {
        all.sort_by(f64::total_cmp);
        println!("| {name} | {:.0} | {:.0} | {:.0} |", all[all.len() / 2], all[0], all[all.len() - 1]);
    }
}
