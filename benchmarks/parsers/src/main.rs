//! Compares the speed of recognizers: a compiled table, LALRPOP, lrpar, and a loop written by hand.
//!
//! All of them read the same words, given as token numbers, and build nothing. `cargo run --release -- 100` runs 100
//! million tokens through each recognizer; an additional argument selects one recognizer by name.

use std::hint::black_box;
use std::time::Instant;

use cfgrammar::Span;
use cfgrammar::yacc::{YaccGrammar, YaccKind, YaccOriginalActionKind};
use echostack::extract::extract;
use echostack::language::{WordKind, draw};
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::symbol::Input;
use echostack::tasks::Task;
use echostack::{Limits, Manifest, Oracle, Params, Scanner, Study, SymbolId, Table};
use lrlex::{DefaultLexeme, DefaultLexerTypes};
use lrpar::{Lexeme, Lexer, NonStreamingLexer, RTParserBuilder, RecoveryKind};
use lrtable::Minimiser;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

lalrpop_util::lalrpop_mod!(
    #[allow(warnings, clippy::all)]
    dyck3
);
lalrpop_util::lalrpop_mod!(
    #[allow(warnings, clippy::all)]
    json
);

/// The tokens in the form that LALRPOP needs.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Token {
    T0,
    T1,
    T2,
    T3,
    T4,
    T5,
    T6,
    T7,
    T8,
}

const TOKENS: [Token; 9] =
    [Token::T0, Token::T1, Token::T2, Token::T3, Token::T4, Token::T5, Token::T6, Token::T7, Token::T8];

/// A word in the form that lrpar needs.
#[derive(Debug)]
struct Word<'a> {
    tokens: &'a [u8],
    /// The grammar's number for each token.
    numbers: &'a [u32],
}

type Types = DefaultLexerTypes<u32>;

impl Lexer<Types> for Word<'_> {
    fn iter<'a>(&'a self) -> Box<dyn Iterator<Item = Result<DefaultLexeme<u32>, lrlex::LRLexError>> + 'a> {
        let lexeme = |(at, &token): (usize, &u8)| Ok(DefaultLexeme::new(self.numbers[usize::from(token)], at, 1));
        Box::new(self.tokens.iter().enumerate().map(lexeme))
    }
}

impl<'a> NonStreamingLexer<'a, Types> for Word<'a> {
    fn span_str(&self, _: Span) -> &'a str {
        ""
    }

    fn span_lines_str(&self, _: Span) -> &'a str {
        ""
    }

    fn line_col(&self, _: Span) -> ((usize, usize), (usize, usize)) {
        ((0, 0), (0, 0))
    }
}

/// Decides whether three kinds of brackets are balanced, as a programmer would write it who needs nothing else.
fn by_hand(word: &[u8], stack: &mut Vec<u8>) -> bool {
    stack.clear();
    for &token in word {
        if token & 1 == 0 {
            stack.push(token);
        } else if stack.pop() != Some(token - 1) {
            return false;
        }
    }
    stack.is_empty() && !word.is_empty()
}

/// Runs through all words `passes` times, and returns the nanoseconds per token and the number of accepted words.
fn time(words: &[Vec<u8>], passes: usize, mut accepts: impl FnMut(&[u8]) -> bool) -> (f64, usize) {
    let tokens: usize = words.iter().map(Vec::len).sum();
    let start = Instant::now();
    let mut accepted = 0;
    for _ in 0..passes {
        accepted = words.iter().filter(|word| accepts(black_box(word))).count();
    }
    (start.elapsed().as_secs_f64() * 1e9 / (tokens * passes) as f64, accepted)
}

/// Trains a machine on the task and compiles it to a table.
fn compiled(task: Task) -> Result<Table, Box<dyn std::error::Error>> {
    let language = task.language().ok_or("not a task of symbols")?;
    let params = Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 256, 0) };
    let (machine, _) = Study::default().prove(&*language, &params.check()?, &(), &mut |_| {})?;
    let found = extract(&machine, &())?;
    Ok(Table::new(&found.oracle, Manifest::default())?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let millions: usize = std::env::args().nth(1).map_or(Ok(10), |text| text.parse())?;
    for (task, grammar) in [(Task::Dyck3, "dyck3"), (Task::Json, "json-tokens")] {
        let table = compiled(task)?;
        let oracle = Oracle::strict(task.automaton().ok_or("not a task of symbols")?)?;
        let language = task.language().ok_or("not a task of symbols")?;
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let (mut words, mut tokens) = (Vec::new(), 0);
        let wanted = (millions * 1_000_000).min(20_000_000);
        while tokens < wanted {
            let word = draw(&*language, &oracle, WordKind::Valid, 1..=1000, &mut random).ok_or("there are no words")?;
            let word: Vec<u8> = word
                .inputs()
                .map(|input| match input {
                    Input::Symbol(symbol) => symbol.index() as u8,
                    Input::Vector(_) => unreachable!("the task has symbols, not vectors"),
                })
                .collect();
            tokens += word.len();
            words.push(word);
        }
        let passes = (millions * 1_000_000).div_ceil(tokens);
        println!("{task}: {} words, {tokens} tokens, {passes} times; {} states", words.len(), table.states());

        let path = format!("{}/../../testdata/grammars/{grammar}/grammar.y", env!("CARGO_MANIFEST_DIR"));
        let kind = YaccKind::Original(YaccOriginalActionKind::NoAction);
        let yacc = YaccGrammar::<u32>::new_with_storaget(kind, &std::fs::read_to_string(path)?)
            .map_err(|_| "cannot read the grammar")?;
        let (_, states) = lrtable::from_yacc(&yacc, Minimiser::Pager)?;
        let alphabet = table.alphabet();
        let numbers: Vec<u32> = alphabet
            .terminals()
            .map(|token| yacc.token_idx(alphabet.name(token)).map(|number| number.0))
            .collect::<Option<_>>()
            .ok_or("the grammar lacks a token")?;

        let mut stack = Vec::new();
        let all: Vec<(&str, Box<dyn FnMut(&[u8]) -> bool>)> = vec![
            ("table", {
                let mut scanner = Scanner::new(&table, Limits::default());
                Box::new(move |word| {
                    scanner.read(word.iter().map(|&token| SymbolId::new(usize::from(token))));
                    scanner.finish().is_accept()
                })
            }),
            ("by hand", Box::new(move |word| by_hand(word, &mut stack))),
            ("LALRPOP", {
                let (dyck3, json) = (dyck3::SParser::new(), json::VParser::new());
                Box::new(move |word| {
                    let tokens =
                        word.iter().enumerate().map(|(at, &token)| Ok((at, TOKENS[usize::from(token)], at + 1)));
                    if task == Task::Dyck3 { dyck3.parse(tokens).is_ok() } else { json.parse(tokens).is_ok() }
                })
            }),
            ("lrpar", {
                let (yacc, states, numbers) = (&yacc, &states, &numbers);
                Box::new(move |word| {
                    let parser = RTParserBuilder::<u32, Types>::new(yacc, states).recoverer(RecoveryKind::None);
                    parser.parse_map(&Word { tokens: word, numbers }, &|_| (), &|_, _| ()).1.is_empty()
                })
            }),
        ];
        let mut table_time = f64::NAN;
        let only = std::env::args().nth(2);
        for (name, mut accepts) in all {
            if only.as_deref().is_some_and(|only| only != name) || (name == "by hand" && task != Task::Dyck3) {
                continue;
            }
            let (nanoseconds, accepted) = time(&words, passes, &mut accepts);
            assert_eq!(accepted, words.len(), "{name} is right on every word");
            if name == "table" {
                table_time = nanoseconds;
            }
            let (speed, ratio) = (1e3 / nanoseconds, nanoseconds / table_time);
            println!(
                "{name:8} {nanoseconds:7.2} ns per token, {speed:6.1} million tokens per second, {ratio:.2} of the table's time"
            );
        }
    }
    Ok(())
}
