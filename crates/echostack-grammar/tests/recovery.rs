//! Several mistakes in one text: compared with lrpar's recovery on words with random edits. `ECHOSTACK_EDITED` is the
//! number of words for each grammar, and `ECHOSTACK_SEED` the seed.
#![cfg(feature = "machine")]

mod texts;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use cfgrammar::NewlineCache;
use cfgrammar::yacc::{YaccGrammar, YaccKind, YaccOriginalActionKind};
use echostack::certify::Proof;
use echostack::language::Language;
use echostack::recognize::{Mode, Recovery, View, mistakes};
use echostack::reservoir::ReservoirKind;
use echostack::symbol::Input;
use echostack::tasks::Task;
use echostack::{Limits, Manifest, Oracle, Params, Recognizer, Study, SymbolId, Table, Verdict, Word};
use echostack_grammar::{Encoding, Grammar, Judge, Subject};
use lrlex::{DefaultLexeme, DefaultLexerTypes, LRNonStreamingLexer};
use lrpar::{LexParseError, Lexeme as _, RTParserBuilder, RecoveryKind};
use lrtable::{Minimiser, from_yacc};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn symbols(word: &Word) -> Vec<SymbolId> {
    let symbol = |input: Input<'_>| if let Input::Symbol(symbol) = input { symbol } else { unreachable!() };
    word.inputs().map(symbol).collect()
}

/// Edits a word at random, at as many different places. If `mistakes` is true, each of the edits alone is a mistake;
/// otherwise, some may lead to another word of the language. Returns `None` if no such edits are found.
fn edited(
    table: &Table,
    word: &[SymbolId],
    count: usize,
    mistakes: bool,
    random: &mut ChaCha8Rng,
) -> Option<Vec<SymbolId>> {
    let mut edits: BTreeMap<usize, (usize, SymbolId)> = BTreeMap::new();
    let apply = |edits: &BTreeMap<usize, (usize, SymbolId)>| {
        let mut word = word.to_vec();
        // From the last place to the first, so that places stay what they are.
        for (&at, &(kind, token)) in edits.iter().rev() {
            match kind {
                0 if at < word.len() => _ = word.remove(at),
                1 if at < word.len() => word[at] = token,
                _ => word.insert(at, token),
            }
        }
        word
    };
    let terminals = table.alphabet().terminals().len();
    for _ in 0..100 {
        let at = random.random_range(0..=word.len());
        let edit = (random.random_range(0..3), SymbolId::new(random.random_range(0..terminals)));
        let alone = Word::from(apply(&BTreeMap::from([(at, edit)])));
        if !mistakes || !table.judge(&alone).is_accept() {
            edits.entry(at).or_insert(edit);
        }
        if edits.len() == count {
            return Some(apply(&edits));
        }
    }
    None
}

#[test]
fn mistakes_are_counted_at_least_as_well_as_by_lrpar() {
    let count: usize = std::env::var("ECHOSTACK_EDITED").map_or(100, |count| count.parse().unwrap());
    let seed: u64 = std::env::var("ECHOSTACK_SEED").map_or(8, |seed| seed.parse().unwrap());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars");
    let (mut all_ours, mut all_theirs) = (0, 0);
    for name in ["json", "xml", "csv", "sexpr", "arithmetic", "lua"] {
        let folder = root.join(name);
        let (grammar, _) = Grammar::open(&folder, Encoding::State).unwrap();
        let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        let source = std::fs::read_to_string(folder.join("grammar.y")).unwrap();
        let kind = YaccKind::Original(YaccOriginalActionKind::NoAction);
        let yacc = YaccGrammar::<u32>::new_with_storaget(kind, &source).unwrap();
        let (_, states) = from_yacc(&yacc, Minimiser::Pager).unwrap();
        let parser =
            RTParserBuilder::<u32, DefaultLexerTypes<u32>>::new(&yacc, &states).recoverer(RecoveryKind::CPCTPlus);
        let maker = texts::Maker::new(&folder);
        let token = |symbol: &SymbolId| yacc.token_idx(table.alphabet().name(*symbol)).unwrap().as_storaget();
        let recovery = Recovery { mistakes: 100, ..Recovery::default() };
        for all_wrong in [true, false] {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let (mut done, mut ours, mut theirs, mut both) = (0, 0, 0, 0);
            let (mut our_time, mut their_time) = (Duration::ZERO, Duration::ZERO);
            while done < count {
                let edits = 1 + done % 3;
                let word = symbols(&maker.word(60, &mut random));
                let Some(word) = edited(&table, &word, edits, all_wrong, &mut random) else { continue };
                let verdict = table.judge(&Word::from(word.clone()));
                if verdict.is_accept() {
                    continue; // the mistakes make up for each other
                }
                done += 1;
                let start = Instant::now();
                let found = mistakes(&table, &word, Limits::default(), &recovery);
                our_time += start.elapsed();
                assert_eq!(found[0].verdict, verdict, "{name} {word:?}");

                let text = "x".repeat(word.len());
                let lexemes =
                    word.iter().map(token).enumerate().map(|(at, token)| Ok(DefaultLexeme::new(token, at, 1)));
                let lexer = LRNonStreamingLexer::new(&text, lexemes.collect(), NewlineCache::new());
                let start = Instant::now();
                let (_, errors) = parser.parse_map(&lexer, &|_| (), &|_, _| ());
                their_time += start.elapsed();
                let LexParseError::ParseError(first) = &errors[0] else { unreachable!("there are no lexical errors") };
                // lrpar's tables have no default reductions, so its first position is the right one, too.
                let position = match &verdict {
                    Verdict::Reject { position, .. } => *position as usize,
                    _ => word.len(),
                };
                assert_eq!(first.lexeme().span().start(), position, "{name} {word:?}");
                ours += usize::from(found.len() == edits);
                theirs += usize::from(errors.len() == edits);
                both += usize::from(found.len() == edits && errors.len() == edits);
            }
            let what = if all_wrong { "each edit a mistake" } else { "any edits" };
            let [our_time, their_time] = [our_time, their_time].map(|time| time.as_secs_f64());
            println!("{name}, {what}: right in {ours} of {count} (lrpar: {theirs}, both: {both})");
            println!("    {our_time:.1} s (lrpar: {their_time:.1} s)");
            all_ours += ours;
            all_theirs += theirs;
        }
    }
    println!("together: {all_ours} (lrpar: {all_theirs})");
    assert!(all_ours >= all_theirs);
}

fn json() -> Judge {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars/json");
    let subject = Subject::open_grammar(&root, Encoding::Auto).unwrap();
    Judge::new(subject.table(&()).unwrap().into()).unwrap()
}

/// Returns the lines and columns of all mistakes.
fn places(judge: &Judge, text: &[u8], mistakes: usize) -> Vec<(u64, u64)> {
    let recovery = Recovery { mistakes, ..Recovery::default() };
    let found = judge.judge_with_recovery(text, Limits::default(), &recovery);
    assert_eq!(found[0], judge.judge_stream(&mut &*text, Limits::default()).unwrap());
    found.iter().filter_map(|one| one.fault.as_ref()).map(|fault| (fault.place.line, fault.place.column)).collect()
}

#[test]
fn all_mistakes_of_a_text_are_found() {
    let judge = json();
    let text = b"{\n  \"name\" \"echostack\",\n  \"list\": [1, 2 3],\n  \"more\": {\"a\": true,}\n}\n";
    assert_eq!(places(&judge, text, 10), [(2, 10), (3, 17), (4, 22)]);
    assert_eq!(places(&judge, text, 2), [(2, 10), (3, 17)]);
    assert_eq!(places(&judge, text, 1), [(2, 10)]);
    assert_eq!(places(&judge, b"[1, 2]", 10), []);
    // Text that no token begins with, an end that comes too early, and text that is not UTF-8.
    assert_eq!(places(&judge, b"[1, 2 @@@ 3,\n nul, 4, [5", 10), [(1, 7), (2, 2), (2, 12)]);
    assert_eq!(places(&judge, b"[1, 2 3,\n 4, \xff 5 6]", 10), [(1, 7), (2, 5)]);
}

/// Texts that are made to take as long as possible.
#[test]
fn recovery_is_bounded() {
    let judge = json();
    let start = Instant::now();
    for text in ["[".repeat(100_000), "]".repeat(100_000), "@ ".repeat(50_000), "{ [ } ".repeat(20_000)] {
        let found = judge.judge_with_recovery(
            text.as_bytes(),
            Limits::default(),
            &Recovery { mistakes: 1000, ..Recovery::default() },
        );
        assert!(!found.is_empty() && found.len() <= 1000);
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    println!("{:?}", start.elapsed());
}

/// A machine recovers from mistakes as its table does.
#[test]
fn machines_recover_like_tables() {
    let task = Task::Dyck2;
    let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
    let table = Table::new(&oracle, Manifest::default()).unwrap();
    let params = Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 256, 0) };
    let study = Study { words: 20, ..Study::default() };
    let (machine, proof) = study.prove(&*task.language().unwrap(), &params.check().unwrap(), &(), &mut |_| {}).unwrap();
    assert!(matches!(proof, Proof::Proved(_)));
    let recovery = Recovery { steps: 10_000, time: Duration::from_secs(600), ..Recovery::default() };
    let mut random = ChaCha8Rng::seed_from_u64(9);
    for _ in 0..50 {
        let word: Vec<SymbolId> =
            (0..random.random_range(0..30)).map(|_| SymbolId::new(random.random_range(0..4))).collect();
        let found = mistakes(&table, &word, Limits::default(), &recovery);
        assert_eq!(mistakes(&machine, &word, Limits::default(), &recovery), found);
        assert_eq!(mistakes(&oracle, &word, Limits::default(), &recovery), found);
    }
}
