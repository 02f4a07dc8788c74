//! Lexers compared with lrlex, and texts read in parts compared with texts read at once.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use echostack::language::Language;
use echostack::{Limits, Manifest, Oracle, SymbolId, Table};
use echostack_grammar::{Encoding, FaultKind, Grammar, Judge, Judgement, LexFault, Lexer, Subject};
use lrlex::{DefaultLexerTypes, LRNonStreamingLexerDef, LexerDef};
use lrpar::{Lexeme as _, Lexer as _};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod grammars;

/// The lexer of lrlex: the slow reference, which tries one rule after the other.
struct Reference {
    definition: LRNonStreamingLexerDef<DefaultLexerTypes<u32>>,
    names: Vec<String>,
}

impl Reference {
    fn new(source: &str) -> Self {
        let mut definition = LRNonStreamingLexerDef::<DefaultLexerTypes<u32>>::from_str(source).unwrap();
        let names: Vec<String> = definition.iter_rules().filter_map(|rule| rule.name().map(str::to_string)).collect();
        let numbers: HashMap<&str, u32> =
            names.iter().enumerate().map(|(at, name)| (name.as_str(), at as u32)).collect();
        definition.set_rule_ids(&numbers);
        Self { definition, names }
    }

    fn tokens(&self, text: &str) -> (Vec<(&str, usize, usize)>, Option<u64>) {
        let mut all = Vec::new();
        for lexeme in self.definition.lexer(text).iter() {
            match lexeme {
                Ok(lexeme) => {
                    let span = lexeme.span();
                    all.push((self.names[lexeme.tok_id() as usize].as_str(), span.start(), span.end()));
                }
                Err(error) => return (all, Some(lrpar::LexError::span(&error).start() as u64)),
            }
        }
        (all, None)
    }
}

/// Returns pieces of texts: names of tokens, and parts of tokens of all kinds.
fn pieces<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let others = [
        "\"a\\\"b\"",
        "'x y'",
        "12",
        "3.5e-7",
        "name",
        "--c\n",
        "<!-- -->",
        "\r\n",
        "&amp;",
        "#",
        " ",
        "\n",
        "\t",
        "\"",
        "\u{e9}t\u{e9}",
        "\u{65e5}\u{672c}",
        "\\u00e9",
        "tru",
        "1e",
        "..",
        "</",
        "\u{feff}",
    ];
    names.chain(others).map(str::to_string).collect()
}

/// Draws a text: pieces of the language's tokens, such a text with damage, or random bytes as far as they are UTF-8.
fn draw(random: &mut ChaCha8Rng, pieces: &[String]) -> String {
    let count = random.random_range(0..12);
    let mut text: String = (0..count).map(|_| pieces[random.random_range(0..pieces.len())].as_str()).collect();
    match random.random_range(0..3) {
        0 => text,
        1 => {
            for _ in 0..random.random_range(1..4) {
                let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                let at = places[random.random_range(0..places.len())];
                let letter = ['"', '\\', 'e', '0', '.', '<', '\u{1}', '\u{e9}', '\u{65e5}', '\n', '-', '/'];
                match text[at..].chars().next() {
                    Some(_) if random.random_bool(0.5) => _ = text.remove(at),
                    _ => text.insert(at, letter[random.random_range(0..letter.len())]),
                }
            }
            text
        }
        _ => {
            let mut bytes = vec![0; random.random_range(0..40)];
            random.fill_bytes(&mut bytes);
            // Half of the bytes are ASCII, so that texts get past their first character.
            bytes.iter_mut().for_each(|byte| *byte &= if *byte & 1 == 0 { 0x7f } else { 0xff });
            String::from_utf8_lossy(&bytes).into_owned()
        }
    }
}

/// Returns whether a text is one of those that are split differently on purpose: it has a byte order mark, or a
/// carriage return before a line feed that lrlex cannot read.
fn on_purpose(text: &str, fault: Option<u64>) -> bool {
    let rest = fault.and_then(|at| text.get(at as usize..)).unwrap_or_default();
    text.starts_with('\u{feff}') || rest.starts_with("\r\n")
}

/// At full size, with `ECHOSTACK_TEXTS=1000000`, this takes a minute.
#[test]
fn lexers_split_texts_like_lrlex() {
    let texts = std::env::var("ECHOSTACK_TEXTS").map_or(20_000, |count| count.parse().unwrap());
    let all: Vec<_> = grammars::folders().into_iter().filter(|folder| folder.join("lexer.l").exists()).collect();
    assert!(all.len() >= 12, "{all:?}");
    let (mut compared, mut faulty, mut excepted) = (0, 0, 0);
    for (number, folder) in all.iter().enumerate() {
        let source = std::fs::read_to_string(folder.join("lexer.l")).unwrap();
        let (lexer, reference) = (Lexer::new(&source).unwrap(), Reference::new(&source));
        assert_eq!(lexer.names(), reference.names);
        let pieces = pieces(lexer.names().iter().map(String::as_str));
        let mut random = ChaCha8Rng::seed_from_u64(number as u64);
        for _ in 0..texts / all.len() {
            let text = draw(&mut random, &pieces);
            let (wanted, fault) = reference.tokens(&text);
            if on_purpose(&text, fault) {
                excepted += 1;
                continue;
            }
            let (given, own_fault) = lexer.tokens(&text);
            let given: Vec<_> = given.iter().map(|lexeme| (lexeme.name, lexeme.start, lexeme.end)).collect();
            assert_eq!((given, own_fault.map(LexFault::byte)), (wanted, fault), "{}: {text:?}", folder.display());
            compared += 1;
            faulty += usize::from(fault.is_some());
        }
    }
    println!(
        "{compared} texts split alike by {} lexers, {faulty} of them up to a fault; {excepted} excepted",
        all.len()
    );
    assert!(faulty > compared / 10 && faulty < compared);
    assert!(excepted < compared / 50, "{excepted} of {compared}");
}

/// The fast way of reading many tokens finds the same tokens as the way that also knows where they are.
#[test]
fn long_texts_have_the_same_symbols_either_way() {
    for (number, folder) in grammars::folders().iter().filter(|folder| !folder.ends_with("lua")).enumerate() {
        let judge = judge(folder);
        let alphabet = judge.alphabet();
        let pieces = pieces(alphabet.terminals().map(|token| alphabet.name(token)));
        let mut random = ChaCha8Rng::seed_from_u64(number as u64);
        for _ in 0..20 {
            let good = |piece: &&String| judge.tokens(piece).1.is_none();
            let pieces: Vec<&String> = pieces.iter().filter(good).collect();
            let mut text = String::new();
            while text.len() < 30_000 {
                let piece = pieces[random.random_range(0..pieces.len())];
                text += &piece.repeat(if random.random_bool(0.01) { 500 } else { 1 });
            }
            let mut symbols = Vec::new();
            judge.add_symbols(&text, &mut symbols);
            let (tokens, fault) = judge.tokens(&text);
            let unknown = SymbolId::UNKNOWN;
            let wanted = tokens.iter().map(|token| alphabet.symbol(token.name).unwrap_or(unknown));
            assert!(symbols.into_iter().eq(wanted.chain(fault.map(|_| unknown))), "{}", folder.display());
        }
    }
}

/// A source of bytes that come in parts.
struct Parts<'a> {
    rest: &'a [u8],
    random: ChaCha8Rng,
}

impl Read for Parts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.random.random_range(1..=7).min(self.rest.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest = &self.rest[count..];
        Ok(count)
    }
}

fn judge(folder: &Path) -> Judge {
    let subject = Subject::open_grammar(folder, Encoding::Auto).unwrap();
    Judge::new(subject.table(&()).unwrap().into()).unwrap()
}

#[test]
fn a_text_read_in_parts_is_judged_like_one_read_at_once() {
    let limits = Limits::default();
    for (number, folder) in grammars::folders().iter().filter(|folder| !folder.ends_with("lua")).enumerate() {
        let judge = judge(folder);
        let pieces = pieces(judge.alphabet().terminals().map(|token| judge.alphabet().name(token)));
        let mut random = ChaCha8Rng::seed_from_u64(number as u64);
        for seed in 0..300 {
            let text = draw(&mut random, &pieces).repeat(random.random_range(1..3));
            let whole = judge.judge_tokens(&text, &judge.tokens(&text), limits, &mut ());
            let mut parts = Parts { rest: text.as_bytes(), random: ChaCha8Rng::seed_from_u64(seed) };
            let streamed = judge.judge_stream(&mut parts, limits).unwrap();
            assert_eq!(streamed.verdict, whole.verdict, "{text:?}");
            let told = |judgement: &Judgement| {
                let fault = judgement.fault.as_ref()?;
                Some((fault.place.line, fault.place.column, fault.byte, fault.kind.clone()))
            };
            assert_eq!(told(&streamed), told(&whole), "{text:?}");
            assert_eq!(judge.judge_stream(&mut text.as_bytes(), limits).unwrap(), whole);
        }
    }
}

fn small(lexer: &str) -> Lexer {
    Lexer::new(lexer).unwrap()
}

fn names<'a>(lexer: &'a Lexer, text: &'a str) -> (Vec<(&'a str, &'a str)>, Option<LexFault>) {
    let (tokens, fault) = lexer.tokens(text);
    (tokens.iter().map(|token| (token.name, &text[token.start..token.end])).collect(), fault)
}

#[test]
fn the_longest_match_counts_and_then_the_first_rule() {
    let lexer = small("%%\nif \"IF\"\n[a-z]+ \"NAME\"\n[0-9]+ \"INT\"\n[0-9]+\\.[0-9]+ \"FLOAT\"\n\\. \".\"\n[ ]+ ;\n");
    assert_eq!(names(&lexer, "if ifs").0, [("IF", "if"), ("NAME", "ifs")]);
    // The longer match that seemed possible does not come about, so the lexer goes back to the end of the shorter one.
    assert_eq!(names(&lexer, "1.5 1.x").0, [("FLOAT", "1.5"), ("INT", "1"), (".", "."), ("NAME", "x")]);
    assert_eq!(names(&lexer, "a !"), (vec![("NAME", "a")], Some(LexFault::NoToken(2))));
    // In lrlex, an alternation takes its first alternative that matches; here, and in Lex, the longest one.
    assert_eq!(names(&small("%%\na|ab \"A\"\nb \"B\"\n"), "ab").0, [("A", "ab")]);
}

#[test]
fn start_states_select_the_rules() {
    let lexer = small(
        "%x COMMENT\n%%\na \"a\"\n/\\* <+COMMENT>;\n<COMMENT>/\\* <+COMMENT>;\n<COMMENT>\\*/ <-COMMENT>;\n<COMMENT>. ;\n",
    );
    assert_eq!(names(&lexer, "a/* a /* a */ a */a").0, [("a", "a"), ("a", "a")]);
    assert_eq!(names(&lexer, "*/"), (vec![], Some(LexFault::NoToken(0))));
}

#[test]
fn byte_order_marks_and_carriage_returns_are_skipped() {
    let lexer = small("%%\na \"a\"\n\\n \"NL\"\n");
    let (tokens, fault) = lexer.tokens("\u{feff}a\r\na\n");
    assert_eq!((tokens.iter().map(|token| token.start).collect::<Vec<_>>(), fault), (vec![3, 5, 6, 7], None));
    assert_eq!(names(&lexer, "a\ra"), (vec![("a", "a")], Some(LexFault::NoToken(1))));
    assert_eq!(names(&lexer, "a\r"), (vec![("a", "a")], Some(LexFault::NoToken(1))));
    // A lexer that has a rule for them reads them itself.
    assert_eq!(names(&small("%%\n\\r\\n \"CRLF\"\n"), "\r\n").0, [("CRLF", "\r\n")]);
}

/// A rule may begin with a carriage return and a line feed, and not match in the end.
#[test]
fn carriage_returns_are_skipped_wherever_a_text_is_cut() {
    let grammar = "%start S\n%%\nS: | S 'a' | S 'n' | S 'm';\n";
    let grammar = Grammar::new("lines", grammar, Encoding::Auto).unwrap();
    let mut manifest = Manifest::default();
    manifest.set_lexer("%%\na \"a\"\n\\n \"n\"\n\\r\\na\\r \"m\"\n");
    let table = Table::new(&Oracle::strict(grammar.automaton().clone()).unwrap(), manifest).unwrap();
    let judge = Judge::new(table.into()).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for seed in 0..2000 {
        let text: String = (0..10).map(|_| ['a', '\n', '\r'][random.random_range(0..3)]).collect();
        let whole = judge.judge_tokens(&text, &judge.tokens(&text), Limits::default(), &mut ());
        let mut parts = Parts { rest: text.as_bytes(), random: ChaCha8Rng::seed_from_u64(seed) };
        assert_eq!(judge.judge_stream(&mut parts, Limits::default()).unwrap().verdict, whole.verdict, "{text:?}");
    }
    assert!(judge.tokens("a\r\n").1.is_none());
    assert!(judge.tokens("a\r\na").1.is_none());
}

#[test]
fn limits_end_a_text_that_would_take_forever() {
    // Each a is a token, but until the end of the text, it could become a longer one.
    let lexer = small("%%\na \"a\"\na*b \"b\"\n");
    let text = "a".repeat(1000);
    assert_eq!(names(&lexer, &text).0.len(), 1000);
    let text = ["a".repeat(60_000), "c".to_string()].concat();
    assert!(matches!(names(&lexer, &text).1, Some(LexFault::Limit(_))));
}

#[test]
fn texts_that_are_not_utf_8_are_reported_where_they_go_wrong() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars/json");
    let judge = judge(&folder);
    let fault = |text: &[u8]| {
        let fault = judge.judge_stream(&mut &*text, Limits::default()).unwrap().fault.unwrap();
        (fault.place.line, fault.place.column, fault.byte, fault.kind)
    };
    assert_eq!(fault(b"[1,\n \"a\xffb\"]"), (2, 4, 7, FaultKind::NotUtf8(0xff)));
    assert_eq!(fault(b"[\"\xe6\x97"), (1, 3, 2, FaultKind::NotUtf8(0xe6)));
    assert_eq!(fault(b"\xff\xfe[\0]\0"), (1, 1, 0, FaultKind::NotUtf8(0xff)));
    // What is wrong before it is reported first.
    assert_eq!(fault(b"[1 2, \xff]").3, FaultKind::Token { name: "NUMBER".into(), text: "2".into() });
}

/// A source that must not be read any further after its last part.
struct Slow<'a>(Vec<&'a [u8]>);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        assert!(!self.0.is_empty(), "the fault was in the parts before");
        let part = self.0.remove(0);
        buffer[..part.len()].copy_from_slice(part);
        Ok(part.len())
    }
}

#[test]
fn a_fault_is_found_as_soon_as_it_is_read() {
    let judge = judge(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars/json"));
    for parts in
        [vec!["[1, 2,\n 3 4,"], vec!["[1, 2,\n 3 4", ","], vec!["[1, 2,\n 3", " 4 "], vec!["[1, 2,\n 3 ]", "]", " "]]
    {
        let mut input = Slow(parts.iter().map(|part| part.as_bytes()).collect());
        let fault = judge.judge_stream(&mut input, Limits::default()).unwrap().fault.unwrap();
        assert_eq!(fault.place.line, 2, "{parts:?}");
    }
}
