//! Tests that generated recognizers of texts, two of them in one program, give the same verdict, place and expected
//! tokens as `check`, whatever the parts that a text is read in. `ECHOSTACK_TEXTS` is the number of texts for each
//! grammar.

mod texts;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use echostack::language::Language;
use echostack::table::{Prefix, SourceLanguage};
use echostack::{Limits, Lookahead, Manifest, Oracle, Table, Verdict};
use echostack_grammar::{Encoding, FaultKind, Grammar, Judge, Judgement, Subject};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A C program that reads texts, each after the number of its grammar and its length, checks them in parts of random
/// size, and prints a line for each. FIRST and SECOND are the recognizers, and PART is the maximum size of a part.
const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include "first.h"
#include "second.h"

static unsigned long seed = 1;

static size_t draw(size_t most)
{
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return (size_t)(seed >> 8) % (most + 1);
}

#define CHECK(p, P) \
    static p##state p##stack[1 << 18]; \
    static uint8_t p##kept[P##KEPT]; \
    static void p##line(const char *bytes, size_t length) \
    { \
        static const char *const verdicts[] = {"accept", "incomplete", "reject", "full"}; \
        static const char *const faults[] = {"none", "token", "end", "no token", "not UTF-8", "limit"}; \
        size_t at = 0, token; \
        p##text text, whole; \
        p##verdict verdict; \
        verdict = p##check(&whole, bytes, length, p##stack, 1 << 18, p##kept, sizeof p##kept); \
        p##text_begin(&text, p##stack, 1 << 18, p##kept, sizeof p##kept); \
        while (at < length) { \
            size_t part = draw(length - at < PART ? length - at : PART); \
            if (!p##text_read(&text, bytes + at, part)) \
                break; \
            at += part; \
        } \
        if (p##text_end(&text) != verdict || text.fault != whole.fault || text.place.byte != whole.place.byte) \
            printf("the whole text differs: "); \
        printf("%s", verdicts[verdict]); \
        if (verdict != P##ACCEPT) { \
            printf("\t%lu\t%s\t%lu\t%lu\t%lu", (unsigned long)text.reader.position, faults[text.fault], \
                   (unsigned long)text.place.byte, (unsigned long)text.place.line, (unsigned long)text.place.column); \
            if (text.fault == P##FAULT_TOKEN) \
                printf("\t%s", p##name(text.unexpected)); \
            for (token = 0; token <= P##TOKENS; token++) \
                if (p##fits(&text.reader, token)) \
                    printf("\t%s", token < P##TOKENS ? p##tokens[token] : "$"); \
        } \
        printf("\n"); \
    }

CHECK(first_, FIRST_)
CHECK(second_, SECOND_)

int main(void)
{
    int which;
    while ((which = getchar()) != EOF) {
        size_t length = 0, i;
        char *bytes;
        for (i = 0; i < 4; i++)
            length |= (size_t)getchar() << (8 * i);
        bytes = malloc(length + 1);
        if (bytes == NULL || fread(bytes, 1, length, stdin) != length)
            return 1;
        if (which == 0)
            first_line(bytes, length);
        else
            second_line(bytes, length);
        free(bytes);
    }
    return 0;
}
"#;

/// A Rust program that does what [`C`] does.
const RUST: &str = r#"
#![deny(warnings)]
mod first;
mod second;
use std::io::{Read, Write};

struct Random(u64);

impl Random {
    fn draw(&mut self, most: usize) -> usize {
        self.0 = (self.0 * 1103515245 + 12345) & 0x7fffffff;
        (self.0 >> 8) as usize % (most + 1)
    }
}

macro_rules! line {
    ($name:ident, $text:expr, $random:expr, $out:expr) => {{
        use $name::*;
        let (mut stack, mut kept) = (vec![0; 1 << 18], [0; KEPT]);
        let whole = check($text, &mut stack, &mut kept);
        let whole = (whole.verdict(), whole.fault());
        let mut reader = TextReader::new(&mut stack, &mut kept);
        let mut rest: &[u8] = $text;
        while !rest.is_empty() {
            let (part, more) = rest.split_at($random.draw(rest.len().min(PART)));
            if !reader.read(part) {
                break;
            }
            rest = more;
        }
        let verdict = reader.finish();
        if (verdict, reader.fault()) != whole {
            write!($out, "the whole text differs: ").unwrap();
        }
        let position = match verdict {
            Verdict::Reject { position } | Verdict::Full { position } => position,
            _ => $text.len() as u64,
        };
        write!($out, "{}", match verdict {
            Verdict::Accept => "accept",
            Verdict::Incomplete => "incomplete",
            Verdict::Reject { .. } => "reject",
            Verdict::Full { .. } => "full",
        }).unwrap();
        if let Some(Fault { kind, place }) = reader.fault() {
            let word = match kind {
                FaultKind::Token(_) => "token",
                FaultKind::End => "end",
                FaultKind::NoToken => "no token",
                FaultKind::NotUtf8 => "not UTF-8",
                FaultKind::Limit => "limit",
            };
            write!($out, "\t{position}\t{word}\t{}\t{}\t{}", place.byte, place.line, place.column).unwrap();
            if let FaultKind::Token(token) = kind {
                write!($out, "\t{}", name(token).unwrap()).unwrap();
            }
            for token in reader.expected() {
                write!($out, "\t{}", name(token).unwrap_or("$")).unwrap();
            }
        }
        writeln!($out).unwrap();
    }};
}

fn main() {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).unwrap();
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let (mut rest, mut random) = (&input[..], Random(1));
    while let Some((&which, more)) = rest.split_first() {
        let (length, more) = more.split_at(4);
        let (text, more) = more.split_at(u32::from_le_bytes(length.try_into().unwrap()) as usize);
        match which {
            0 => line!(first, text, random, out),
            _ => line!(second, text, random, out),
        }
        rest = more;
    }
}
"#;

fn judge(folder: &Path) -> Judge {
    let subject = Subject::open_grammar(folder, Encoding::Auto).unwrap();
    Judge::new(subject.table(&()).unwrap().into()).unwrap()
}

fn small(grammar: &str, lexer: &str) -> Judge {
    let grammar = Grammar::new("small", grammar, Encoding::Auto).unwrap();
    let mut manifest = Manifest::default();
    manifest.set_lexer(lexer);
    let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
    Judge::new(Table::new(&oracle, manifest).unwrap().into()).unwrap()
}

/// Returns the line that the programs print for a text. `check` has no position for texts that end too early.
fn line(judge: &Judge, text: &[u8]) -> String {
    let Judgement { verdict, fault, .. } = judge.judge_stream(&mut &text[..], Limits::default()).unwrap();
    let mut line = verdict.name().to_string();
    let Some(fault) = fault else { return line };
    let kind = match fault.kind {
        FaultKind::Token { .. } => "token",
        FaultKind::End => "end",
        FaultKind::NoToken(_) => "no token",
        FaultKind::NotUtf8(_) => "not UTF-8",
        _ => "limit",
    };
    let position = verdict.position().map_or("-".to_string(), |position| position.to_string());
    write!(line, "\t{position}\t{kind}\t{}\t{}\t{}", fault.byte, fault.place.line, fault.place.column).unwrap();
    if let FaultKind::Token { name, .. } = fault.kind {
        write!(line, "\t{name}").unwrap();
    }
    assert!(!matches!(verdict, Verdict::Stopped { .. }));
    for next in verdict.expected() {
        let name = if let Lookahead::Token(token) = next { judge.alphabet().name(*token) } else { "$" };
        write!(line, "\t{name}").unwrap();
    }
    line
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("this test needs {command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// The C compilers that are there: gcc or another `cc`, and clang.
fn compilers() -> Vec<&'static str> {
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    let all: Vec<&str> = ["gcc", "clang"].into_iter().filter(there).collect();
    if all.is_empty() { vec!["cc"] } else { all }
}

/// Writes and compiles all programs with these two recognizers. Returns their names.
fn compile(folder: &Path, judges: [&Judge; 2], part: usize) -> Vec<String> {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    for (judge, name) in judges.into_iter().zip(["first", "second"]) {
        let prefix: Prefix = format!("{name}_").parse().unwrap();
        let c = judge.source(SourceLanguage::C, &prefix).unwrap().unwrap();
        write(&format!("{name}.h"), &c.header().unwrap());
        write(&format!("{name}.c"), &c.code(Some(&format!("{name}.h"))));
        write(&format!("{name}.rs"), &judge.source(SourceLanguage::Rust, &prefix).unwrap().unwrap().code(None));
    }
    write("main.c", &format!("#define PART {part}\n{C}"));
    write("main.rs", &format!("{RUST}\nconst PART: usize = {part};\n"));
    write("lib.rs", "#![no_std]\n#![deny(warnings)]\npub mod first;\npub mod second;\n");
    let mut programs = Vec::new();
    for compiler in compilers() {
        let mut command = Command::new(compiler);
        command.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-O2"]);
        succeed(command.args(["-o", compiler, "main.c", "first.c", "second.c"]).current_dir(folder));
        // Without a library, as in firmware.
        let mut command = Command::new(compiler);
        command.args(["-std=c99", "-ffreestanding", "-Wall", "-Werror", "-c", "first.c", "second.c"]);
        succeed(command.current_dir(folder));
        programs.push(compiler.to_string());
    }
    for (kind, name) in [("lib", "lib"), ("bin", "main")] {
        let mut rustc = Command::new("rustc");
        rustc.args(["-O", "--edition", "2021", "--crate-type", kind, "--crate-name", name]);
        succeed(rustc.current_dir(folder).arg(format!("{name}.rs")));
    }
    programs.push("main".to_string());
    programs
}

fn run(folder: &Path, program: &str, input: &[u8]) -> Vec<String> {
    let mut program = Command::new(folder.join(program)).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = program.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = program.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}

/// Replaces the position of a text that ends too early, which only generated recognizers give.
fn without_position(line: &str) -> String {
    let mut fields: Vec<&str> = line.split('\t').collect();
    if fields[0] == "incomplete" {
        fields[1] = "-";
    }
    fields.join("\t")
}

/// Compares the generated recognizers with the judges on texts, which come with the number of their judge.
fn compare(judges: [&Judge; 2], texts: &[(usize, Vec<u8>)], part: usize) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut input = Vec::new();
    for (which, text) in texts {
        input.push(*which as u8);
        input.extend((text.len() as u32).to_le_bytes());
        input.extend(text);
    }
    let wanted: Vec<String> = texts.iter().map(|(which, text)| line(judges[*which], text)).collect();
    for program in compile(folder.path(), judges, part) {
        let given = run(folder.path(), &program, &input);
        assert_eq!(given.len(), wanted.len(), "{program}");
        for ((given, wanted), (_, text)) in given.iter().zip(&wanted).zip(texts) {
            let text = String::from_utf8_lossy(&text[..text.len().min(1000)]);
            assert_eq!(&without_position(given), wanted, "{program} {text:?}");
        }
    }
    wanted
}

#[test]
fn texts_are_checked_as_by_check() {
    let count: usize = std::env::var("ECHOSTACK_TEXTS").map_or(300, |count| count.parse().unwrap());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars");
    for names in [["json", "xml"], ["csv", "sexpr"], ["arithmetic", "lua"]] {
        let judges = names.map(|name| judge(&root.join(name)));
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let makers = names.map(|name| texts::Maker::new(&root.join(name)));
        let all: Vec<(usize, Vec<u8>)> =
            (0..2 * count).map(|number| (number % 2, makers[number % 2].draw(number % 4 >= 2, &mut random))).collect();
        let lines = compare([&judges[0], &judges[1]], &all, 40);
        for (which, name) in names.iter().enumerate() {
            let own = || lines.iter().zip(&all).filter(|(_, (number, _))| *number == which).map(|(line, _)| line);
            let number = |verdict: &str| own().filter(|line| line.starts_with(verdict)).count();
            let [accepted, incomplete, rejected] = ["accept", "incomplete", "reject"].map(number);
            println!("{name}: {count} texts: {accepted} accepted, {incomplete} incomplete, {rejected} rejected");
            assert!(accepted * 5 >= count * 2 && (incomplete + rejected) * 5 >= count, "{name}");
            for kind in ["\ttoken\t", "\tend\t", "\tno token\t", "\tnot UTF-8\t"] {
                let found = own().any(|line| line.contains(kind));
                // Every text of tokens is CSV, apart from a quoted field next to another field.
                assert!(found || count < 300 || *name == "csv", "{name}: no text with{kind}");
            }
        }
    }
}

/// Start states, matches that must be given up, carriage returns of all kinds, tokens that no word has, and names that are
/// no identifiers, in random texts of their characters.
#[test]
fn lexers_of_all_kinds_are_generated() {
    let comments = small(
        "%start S\n%%\nS: | S 'self' | S 'SELF' | S '\u{e9}';\n",
        "%x C D\n%%\nself \"self\"\ns \"SELF\"\n\u{e9} \"\u{e9}\"\n\\* \"\\\"?*/\"\n\\{ <+C>;\n<C>\\{ <+C>;\n\
         <C>\\} <-C>;\n<C>\\[ <+D>\"SELF\"\n<C>s ;\n<D>\\] <-D>;\n<D>! <INITIAL>;\n<D>s+ \"self\"\n",
    );
    let returns = small(
        "%start S\n%%\nS: | S 'a' | S 'b' | S 'n' | S 'm' | S 'r';\n",
        "%%\na \"a\"\na*b \"b\"\n\\n \"n\"\n\\r\\na\\r \"m\"\n\\r\\r\\r \"r\"\n",
    );
    let letters = [
        &["self", "s", "\u{e9}", "*", "{", "}", "[", "]", "!", "\r\n", "\u{2003}"][..],
        &["a", "b", "\n", "\r", "\r\n"],
    ];
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut all = Vec::new();
    for number in 0..4000 {
        let letters = letters[number % 2];
        let text: String =
            (0..random.random_range(0..14)).map(|_| letters[random.random_range(0..letters.len())]).collect();
        all.push((number % 2, text.into_bytes()));
    }
    // Deep start states, and a text that would be read again too often.
    all.push((0, ["{".repeat(20_000), "[!self".to_string()].concat().into_bytes()));
    all.push((0, "{".repeat(70_000).into_bytes()));
    all.push((1, ["a".repeat(60_000), "c".to_string()].concat().into_bytes()));
    all.push((1, "a".repeat(60_000).into_bytes()));
    all.push((1, "a".repeat(1000).into_bytes()));
    let lines = compare([&comments, &returns], &all, 3);
    let number = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    for (what, least) in [("accept", 500), ("\ttoken\t", 100), ("\tno token\t", 500), ("\tlimit\t", 3)] {
        assert!(number(what) >= least, "{what}: {}", number(what));
    }
}
