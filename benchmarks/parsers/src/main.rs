//! Compares the speed of recognizers: a compiled table, LALRPOP, lrpar, and loops written by hand.
//!
//! All of them read the same words, given as token numbers, and build nothing. `cargo run --release -- 2 5` draws two
//! million tokens of each language and runs all recognizers in turns, five times. The times are CPU times per token: the
//! median, the smallest and the largest. A third argument selects one language by name.
//!
//! `cargo run --release -- compare 100 dyck3` judges 100 million tokens of one language by frames, by the plain table and
//! by the automaton, and counts the differences.

use std::hint::black_box;
use std::path::Path;

use cfgrammar::Span;
use cfgrammar::yacc::{YaccGrammar, YaccKind, YaccOriginalActionKind};
use echostack::language::{Language, WordKind, draw};
use echostack::recognize::Outcome;
use echostack::table::Lanes;
use echostack::tasks::Task;
use echostack::{Limits, Manifest, Oracle, Recognizer, Scanner, SymbolId, Table, Verdict, Word};
use echostack_grammar::{Encoding, Grammar};
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
struct Tokens<'a> {
    tokens: &'a [u8],
    /// The grammar's number for each token.
    numbers: &'a [u32],
}

type Types = DefaultLexerTypes<u32>;

impl Lexer<Types> for Tokens<'_> {
    fn iter<'a>(&'a self) -> Box<dyn Iterator<Item = Result<DefaultLexeme<u32>, lrlex::LRLexError>> + 'a> {
        let lexeme = |(at, &token): (usize, &u8)| Ok(DefaultLexeme::new(self.numbers[usize::from(token)], at, 1));
        Box::new(self.tokens.iter().enumerate().map(lexeme))
    }
}

impl<'a> NonStreamingLexer<'a, Types> for Tokens<'a> {
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
fn dyck3_by_hand(word: &[u8], stack: &mut Vec<u8>) -> bool {
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

/// The same for the paper's JSON, as a loop that knows what it expects next.
fn json_by_hand(word: &[u8], stack: &mut Vec<u8>) -> bool {
    const OPEN: u8 = 0;
    const CLOSE: u8 = 1;
    const BEGIN: u8 = 2;
    const END: u8 = 3;
    const NUMBER: u8 = 4;
    const STRING: u8 = 5;
    const KEY: u8 = 6;
    const COLON: u8 = 7;
    const COMMA: u8 = 8;
    enum Next {
        Value,
        FirstValue,
        Key,
        FirstKey,
        Colon,
        More,
    }
    stack.clear();
    let mut next = Next::Value;
    for &token in word {
        next = match (next, token) {
            (Next::Value | Next::FirstValue, NUMBER | STRING) => Next::More,
            (Next::Value | Next::FirstValue, OPEN) => {
                stack.push(CLOSE);
                Next::FirstKey
            }
            (Next::Value | Next::FirstValue, BEGIN) => {
                stack.push(END);
                Next::FirstValue
            }
            (Next::FirstKey | Next::More, CLOSE) | (Next::FirstValue | Next::More, END) => {
                if stack.pop() != Some(token) {
                    return false;
                }
                Next::More
            }
            (Next::Key | Next::FirstKey, KEY) => Next::Colon,
            (Next::Colon, COLON) => Next::Value,
            (Next::More, COMMA) => match stack.last() {
                Some(&CLOSE) => Next::Key,
                Some(_) => Next::Value,
                None => return false,
            },
            _ => return false,
        };
    }
    matches!(next, Next::More) && stack.is_empty()
}

/// Returns the CPU nanoseconds of this process so far.
fn cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Counts the accepted words.
type Count<'a> = Box<dyn FnMut() -> usize + 'a>;

/// Returns the number of words that are accepted one by one.
fn each<'a>(words: &'a [Vec<u8>], mut accepts: impl FnMut(&[u8]) -> bool + 'a) -> Count<'a> {
    Box::new(move || words.iter().filter(|word| accepts(black_box(word))).count())
}

fn measure(
    name: &str,
    language: &dyn Language,
    millions: f64,
    rounds: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let oracle = Oracle::strict(language.automaton().clone())?;
    let table = Table::new(&oracle, Manifest::default())?;
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let (mut words, mut tokens) = (Vec::new(), 0);
    while (tokens as f64) < millions * 1e6 {
        let word = draw(language, &oracle, WordKind::Valid, 1..=200, &mut random).ok_or("there are no words")?;
        let Word::Symbols(word) = word else { return Err("not a language of symbols".into()) };
        tokens += word.len();
        words.push(word);
    }
    let numbers = |word: &Vec<SymbolId>| word.iter().map(|token| token.index() as u8).collect::<Vec<u8>>();
    let bytes: Vec<Vec<u8>> = words.iter().map(numbers).collect();
    println!("\n{name}: {} words, {tokens} tokens; {} states", words.len(), table.states());

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars").join(name);
    let kind = YaccKind::Original(YaccOriginalActionKind::NoAction);
    let yacc = YaccGrammar::<u32>::new_with_storaget(kind, &std::fs::read_to_string(folder.join("grammar.y"))?)
        .map_err(|_| "cannot read the grammar")?;
    let (_, states) = lrtable::from_yacc(&yacc, Minimiser::Pager)?;
    let alphabet = table.alphabet();
    let numbers: Vec<u32> = alphabet
        .terminals()
        .map(|token| yacc.token_idx(alphabet.name(token)).map(|number| number.0))
        .collect::<Option<_>>()
        .ok_or("the grammar lacks a token")?;

    let mut all: Vec<(&str, Count<'_>)> = vec![
        ("table, one word at a time", {
            let mut scanner = Scanner::new(&table, Limits::default());
            let words = &words;
            Box::new(move || {
                let accepts = |word: &&Vec<SymbolId>| {
                    scanner.read(black_box(word));
                    scanner.finish().is_accept()
                };
                words.iter().filter(accepts).count()
            })
        }),
        ("table, frames", {
            let (mut lanes, words) = (Lanes::new(&table, Limits::default()), &words);
            Box::new(move || {
                let outcomes: Vec<Outcome> = lanes.judge(black_box(words).iter().map(Vec::as_slice));
                outcomes.iter().filter(|outcome| outcome.is_accept()).count()
            })
        }),
        ("lrpar", {
            let (yacc, states, numbers) = (&yacc, &states, &numbers);
            each(&bytes, move |tokens| {
                let parser = RTParserBuilder::<u32, Types>::new(yacc, states).recoverer(RecoveryKind::None);
                parser.parse_map(&Tokens { tokens, numbers }, &|_| (), &|_, _| ()).1.is_empty()
            })
        }),
    ];
    let lexed = |word: &[u8]| -> Vec<_> {
        word.iter().enumerate().map(|(at, &token)| Ok((at, TOKENS[usize::from(token)], at + 1))).collect()
    };
    let mut stack = Vec::new();
    match name {
        "dyck3" => {
            let parser = dyck3::SParser::new();
            all.push(("LALRPOP", each(&bytes, move |word| parser.parse(lexed(word)).is_ok())));
            all.push(("by hand", each(&bytes, move |word| dyck3_by_hand(word, &mut stack))));
        }
        "json-tokens" => {
            let parser = json::VParser::new();
            all.push(("LALRPOP", each(&bytes, move |word| parser.parse(lexed(word)).is_ok())));
            all.push(("by hand", each(&bytes, move |word| json_by_hand(word, &mut stack))));
        }
        _ => {}
    }
    let mut times = vec![Vec::new(); all.len()];
    for _ in 0..rounds {
        for ((name, count), times) in all.iter_mut().zip(&mut times) {
            let start = cpu();
            assert_eq!(count(), words.len(), "{name} is right on every word");
            times.push((cpu() - start) / tokens as f64);
        }
    }
    let first = times[0].clone();
    for ((name, _), times) in all.iter().zip(times) {
        let ratios = times.iter().zip(&first).map(|(time, first)| time / first).collect();
        println!("{name:26} {} ns per token, {} of the first", spread(times), spread(ratios));
    }
    Ok(())
}

/// Returns the median, with the smallest and the largest value in brackets.
fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    format!("{:6.2} [{:.2} to {:.2}]", values[values.len() / 2], values[0], values[values.len() - 1])
}

/// Judges words of all kinds by frames, by the plain table and by the automaton, and compares the verdicts with their
/// positions and expected tokens.
fn compare(name: &str, language: &dyn Language, millions: f64) -> Result<(), Box<dyn std::error::Error>> {
    let oracle = Oracle::strict(language.automaton().clone())?;
    let table = Table::new(&oracle, Manifest::default())?;
    let mut lanes = Lanes::new(&table, Limits::default());
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut words, mut tokens, mut accepted, mut different) = (0, 0, 0, 0);
    while (tokens as f64) < millions * 1e6 {
        let kinds = (0..1 << 10).map(|number| if number % 3 == 0 { WordKind::NearMiss } else { WordKind::Valid });
        let drawn = kinds.map(|kind| draw(language, &oracle, kind, 1..=200, &mut random));
        let all: Vec<Word> = drawn.collect::<Option<_>>().ok_or("there are no words")?;
        let symbols = all.iter().map(|word| if let Word::Symbols(symbols) = word { symbols.as_slice() } else { &[] });
        let verdicts: Vec<Verdict> = lanes.judge(symbols);
        for (word, verdict) in all.iter().zip(verdicts) {
            let plain = table.judge(word);
            different += usize::from(plain != verdict || oracle.judge(word) != verdict);
            accepted += usize::from(plain.is_accept());
            tokens += word.len();
        }
        words += all.len();
    }
    println!("{name}: {words} words, {accepted} accepted, {tokens} tokens; {different} differences");
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let compares = arguments.next_if_eq("compare").is_some();
    let millions: f64 = arguments.next().map_or(Ok(2.), |text| text.parse())?;
    let rounds: usize = if compares { 0 } else { arguments.next().map_or(Ok(5), |text| text.parse())? };
    let only = arguments.next();
    let run = |name: &str, language: &dyn Language| match compares {
        true => compare(name, language, millions),
        false => measure(name, language, millions, rounds),
    };
    for name in ["dyck3", "json-tokens", "json", "xml", "sexpr", "arithmetic", "lua"] {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let task = match name {
            "dyck3" => Task::Dyck3.language(),
            "json-tokens" => Task::Json.language(),
            _ => None,
        };
        match task {
            Some(language) => run(name, &*language)?,
            None => {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars").join(name);
                let encoding = if name == "lua" { Encoding::State } else { Encoding::Auto };
                run(name, &Grammar::open(&folder, encoding)?.0)?;
            }
        }
    }
    Ok(())
}
