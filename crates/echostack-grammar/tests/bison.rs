//! A comparison of random grammars with the parsers that bison makes of them, where precedences, `%expect` and
//! `%expect-rr` resolve conflicts and `%define lr.type` says which parser is meant.
//!
//! By default, few grammars are compared, as in CI; `ECHOSTACK_GRAMMARS=1000` is the full size.
#![cfg(feature = "machine")]

mod programs;
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use echostack::certify::Proof;
use echostack::control::Deadline;
use echostack::language::Language;
use echostack::recognize::{Mode, View, judge_all};
use echostack::reservoir::ReservoirKind;
use echostack::{Limits, Manifest, Oracle, Params, Study, SymbolId, Table, Verdict, Word};
use echostack_grammar::{Action, Encoding, Grammar, GrammarError, LrTable};
use programs::run;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use random::RandomGrammar;

/// The number of parsers in one C program, because compilers and linkers take most of their time to start.
const BATCH: usize = 25;
/// The types of parsers. Without a type, a grammar has to have the language of its LR(1) parser, as with ielr.
const TYPES: [&str; 4] = ["none", "lalr", "ielr", "canonical-lr"];
/// One of so many grammars is learned. The number is odd, so that each type of parsers has its share.
const LEARNED: usize = 9;
const PROOF_TIME: Duration = Duration::from_secs(20);
/// The number of grammars with differences that are shown.
const EXAMPLES: usize = 10;
const EXPECT: &str = "%expect 500\n%expect-rr 500\n";

const PROLOGUE: &str = "%{
extern const char *at;
static int yylex(void) { return *at >= 'a' ? 258 + (*at++ - 'a') : 0; }
static void yyerror(const char *message) { (void)message; }
%}
";
/// Reads lines with the number of a parser and a word, and prints whether the parser accepts the word.
const MAIN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
const char *at;
int main(void) {
    static char line[100];
    FILE *words = fopen("words", "r");
    while (fgets(line, sizeof line, words)) {
        int (*parser)() = parsers[strtol(line, (char **)&at, 10)];
        at++;
        putchar(parser() ? '0' : '1');
    }
    return 0;
}
"#;

/// A grammar that is compared.
struct Case {
    number: usize,
    grammar: RandomGrammar,
    lr_type: &'static str,
    /// What resolves its conflicts.
    kinds: BTreeSet<&'static str>,
    words: Vec<String>,
    /// The conflicts that are left, in words.
    conflicts: String,
    by_state: Grammar,
    /// The grammar in the suffix encoding, if it has one.
    by_suffix: Option<Grammar>,
}

fn read(yacc: &str) -> Result<Grammar, GrammarError> {
    Grammar::new("test", yacc, Encoding::State)
}

/// Returns the conflicts that are left, as a warning about fewer conflicts than expected counts them.
fn conflicts(grammar: &Grammar) -> String {
    let told: Vec<String> = grammar.warnings().iter().map(ToString::to_string).collect();
    let told = told.iter().find_map(|told| told.split_once("but the grammar has "));
    told.unwrap_or_else(|| panic!("no warning about\n{}", grammar.source())).1.to_string()
}

impl Case {
    /// Returns a random grammar, unless it is refused, or has no conflicts that could be resolved.
    fn new(number: usize, random: &mut ChaCha8Rng) -> Option<Self> {
        let grammar = RandomGrammar::new(random);
        let lr_type = TYPES[number % TYPES.len()];
        let declared = if lr_type == "none" { String::new() } else { format!("%define lr.type {lr_type}\n") };
        let expecting = read(&grammar.write(&format!("{declared}{EXPECT}"), true, |_| true)).ok()?;
        match read(&grammar.write("", false, |_| true)) {
            Err(GrammarError::Conflict(_)) => {}
            // Merged states may have conflicts that others do not have.
            Ok(_) if lr_type == "lalr" => {
                let merged = read(&grammar.write(EXPECT, false, |_| true)).ok()?;
                (conflicts(&merged) != "no conflict").then_some(())?;
            }
            _ => return None,
        }
        let (mut kinds, conflicts) = (grammar.kinds(), conflicts(&expecting));
        let by_state = read(&grammar.write(&declared, true, |_| true)).unwrap_or_else(|_| {
            kinds.extend(conflicts.contains("shift/reduce").then_some("expect"));
            kinds.extend(conflicts.contains("reduce/reduce").then_some("expect-rr"));
            expecting
        });
        let by_suffix = match Grammar::new("test", by_state.source(), Encoding::Suffix) {
            Err(GrammarError::NotBySuffix | GrammarError::LargeBySuffix) => None,
            other => Some(other.unwrap_or_else(|error| panic!("{error}\n{}", by_state.source()))),
        };
        let words = grammar.words(&by_state, random);
        Some(Self { number, grammar, lr_type, kinds, words, conflicts, by_state, by_suffix })
    }

    /// Writes the grammar for bison, without the numbers of expected conflicts, which would have to be exact.
    ///
    /// With nonterminals that no word needs, bison 3.8.2 violates an assertion for ielr, and makes parsers that refuse
    /// words without any conflict for canonical-lr. It gets them only for lalr, where it is right.
    fn for_bison(&self, lr_type: &str, prefix: usize) -> String {
        let head = format!("%define lr.type {lr_type}\n%define api.prefix {{g{prefix}_}}\n{PROLOGUE}");
        let names = self.by_state.table().names();
        let needed = |symbol: char| lr_type == "lalr" || names.contains(&symbol.to_string());
        self.grammar.write(&head, true, needed)
    }
}

/// Compiles bison's parsers for the grammars. Returns, for each, which words it accepts, and the number of conflicts in
/// its LALR(1) table, which is the one that echostack counts.
fn bison(folder: &Path, cases: &[Case]) -> Vec<(Vec<bool>, String)> {
    let bison = |text: &str, arguments: &[&str]| {
        std::fs::write(folder.join("test.y"), text).unwrap();
        run(folder, "bison", arguments, "").unwrap_or_else(|| panic!("bison refuses\n{text}")).1
    };
    let (mut names, mut lines, mut counts) = (Vec::new(), String::new(), Vec::new());
    for (at, case) in cases.iter().enumerate() {
        let lr_type = if case.lr_type == "none" { "ielr" } else { case.lr_type };
        bison(&case.for_bison(lr_type, at), &["-o", &format!("g{at}.c"), "test.y"]);
        let told = bison(&case.for_bison("lalr", at), &["-fsyntax-only", "test.y"]);
        let kinds = told.lines().filter(|line| line.contains("/reduce conflict"));
        let kinds = kinds.filter_map(|line| Some(line.split_once("warning: ")?.1.split_once(" [")?.0));
        let kinds = kinds.collect::<Vec<_>>().join(" and ");
        counts.push(if kinds.is_empty() { "no conflict".to_string() } else { kinds });
        names.push(format!("g{at}_parse"));
        case.words.iter().for_each(|word| writeln!(lines, "{at} {word}").unwrap());
    }
    let parsers = format!("int {}();\nint (*parsers[])() = {{{}}};", names.join("(), "), names.join(", "));
    std::fs::write(folder.join("main.c"), parsers + MAIN).unwrap();
    std::fs::write(folder.join("words"), lines).unwrap();
    let files = (0..cases.len()).map(|at| format!("g{at}.c")).collect::<Vec<_>>();
    let arguments = ["-w", "-O0", "-o", "test", "main.c"].into_iter().chain(files.iter().map(String::as_str));
    run(folder, "cc", &arguments.collect::<Vec<_>>(), "").expect("C that compiles");
    let (printed, _) = run(folder, "./test", &[], "").expect("a program that ends well");
    let mut verdicts = printed.bytes().map(|verdict| verdict == b'1');
    let accepted = |case: &Case| verdicts.by_ref().take(case.words.len()).collect();
    cases.iter().map(accepted).zip(counts).collect()
}

/// Follows an LR table on a word.
fn accepts(table: &LrTable, word: &[SymbolId]) -> bool {
    let (mut stack, mut at) = (vec![0], 0);
    loop {
        let state = stack[stack.len() - 1];
        match table.action(state, word.get(at).map_or(table.terminals(), |symbol| symbol.index())) {
            Action::Accept => return true,
            Action::Error => return false,
            Action::Shift(next) => {
                stack.push(next);
                at += 1;
            }
            Action::Reduce(number) => {
                let production = &table.productions()[number];
                stack.truncate(stack.len() - production.right.len());
                stack.push(table.next(stack[stack.len() - 1], production.left).unwrap());
            }
        }
    }
}

/// The differences that were found.
#[derive(Default)]
struct Report {
    /// The number of grammars in each group: those with a type of parser, or with a kind of precedence.
    groups: BTreeMap<String, usize>,
    /// For each kind of difference and each group, the numbers of grammars and of words.
    rows: BTreeMap<(String, String), [usize; 2]>,
    /// What is wrong with each grammar.
    examples: BTreeMap<usize, String>,
    words: usize,
    by_suffix: usize,
    proved: usize,
    open: usize,
}

impl Report {
    fn groups(case: &Case) -> impl Iterator<Item = String> {
        let kinds = case.kinds.iter().map(|kind| format!("%{kind}"));
        kinds.chain(["all".to_string(), format!("lr.type {}", case.lr_type)])
    }

    fn add(&mut self, what: &str, case: &Case, words: usize, told: &str) {
        for group in Self::groups(case) {
            let [grammars, sum] = self.rows.entry((what.to_string(), group)).or_default();
            (*grammars, *sum) = (*grammars + 1, *sum + words);
        }
        let example = self.examples.entry(case.number).or_insert_with(|| format!("\n{}", case.by_state.source()));
        writeln!(example, "{what}: {told}").unwrap();
    }

    /// Compares what is accepted with what should be.
    fn compare(&mut self, what: &str, case: &Case, words: &[&str], given: &[bool], wanted: &[bool]) {
        for (accepted, way) in [(true, "accepts too much"), (false, "loses words")] {
            let all = words.iter().zip(given.iter().zip(wanted));
            let differing = all.filter(|(_, (given, wanted))| given != wanted && **given == accepted);
            let differing: Vec<&str> = differing.map(|(word, _)| *word).collect();
            if !differing.is_empty() {
                let some = differing[..differing.len().min(3)].join(", ");
                let told = format!("{} of {} words, such as {some}", differing.len(), words.len());
                self.add(&format!("{what} {way}"), case, differing.len(), &told);
            }
        }
    }

    /// Judges the words of a grammar in every way.
    fn judge(&mut self, case: &Case, accepted: &[bool], count: &str) {
        Self::groups(case).for_each(|group| *self.groups.entry(group).or_default() += 1);
        self.words += case.words.len();
        self.by_suffix += usize::from(case.by_suffix.is_some());
        if case.conflicts != count {
            self.add("number of conflicts", case, 0, &format!("{} instead of {count}", case.conflicts));
        }
        // What no word needs is left out of the alphabet.
        let table = case.by_state.table();
        let symbol =
            |name: char| table.names()[..table.terminals()].iter().position(|other| *other == name.to_string());
        let symbols = |word: &str| word.chars().map(|name| symbol(name).map(SymbolId::new)).collect();
        let (mut names, mut words, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
        for (name, &accepted) in case.words.iter().zip(accepted) {
            if let Some(word) = symbols(name) {
                names.push(name.as_str());
                words.push(word);
                wanted.push(accepted);
            } else if accepted {
                self.add("LR table loses a token", case, 1, name);
            }
        }
        let by_table: Vec<bool> = words.iter().map(|word: &Vec<SymbolId>| accepts(table, word)).collect();
        self.compare("LR table", case, &names, &by_table, &wanted);
        let words: Vec<Word> = words.into_iter().map(Word::Symbols).collect();
        let is_accept = |verdicts: &[Verdict]| verdicts.iter().map(Verdict::is_accept).collect::<Vec<_>>();
        let mut known: Option<Vec<Verdict>> = None;
        for grammar in [Some(&case.by_state), case.by_suffix.as_ref()].into_iter().flatten() {
            let encoding = grammar.encoding();
            let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
            if let Err(error) = oracle.check_viable(&()) {
                self.add("viable stacks", case, 0, &format!("{encoding}: {error}"));
            }
            let verdicts: Vec<Verdict> = judge_all(&oracle, &words, Limits::default());
            let given = is_accept(&verdicts);
            self.compare(&format!("automaton by {encoding}"), case, &names, &given, &wanted);
            self.compare(&format!("automaton by {encoding}, unlike its LR table,"), case, &names, &given, &by_table);
            let compiled = Table::new(&oracle, Manifest::default()).unwrap();
            let by_compiled: Vec<Verdict> = judge_all(&compiled, &words, Limits::default());
            self.compare(&format!("compiled table by {encoding}"), case, &names, &is_accept(&by_compiled), &wanted);
            if verdicts != by_compiled {
                self.add("verdicts of automaton and compiled table", case, 0, encoding.name());
            }
            // The encodings are not visible in a verdict.
            if *known.get_or_insert_with(|| verdicts.clone()) != verdicts {
                self.add("verdicts of both encodings", case, 0, "position or expected tokens differ");
            }
        }
        if case.number.is_multiple_of(LEARNED) {
            let by_suffix = case.by_suffix.as_ref().filter(|_| (case.number / LEARNED / TYPES.len()).is_multiple_of(2));
            let grammar = by_suffix.unwrap_or(&case.by_state);
            let params = Params::provable(ReservoirKind::Cycle, 256, 0).adapted_to(grammar.automaton().alphabet());
            let params = Params { view: View::Symbol, mode: Mode::Strict, ..params }.check().unwrap();
            let limit = Deadline::new(PROOF_TIME, &());
            let Ok((machine, Proof::Proved(_))) = Study::default().prove(grammar, &params, &limit, &mut |_| {}) else {
                self.open += 1;
                return;
            };
            self.proved += 1;
            let given = is_accept(&judge_all(&machine, &words, Limits::default()));
            self.compare(&format!("proved machine by {}", grammar.encoding()), case, &names, &given, &wanted);
        }
    }

    fn print(&self) {
        let Self { words, by_suffix, proved, open, .. } = self;
        println!("{words} words; {by_suffix} grammars by suffix; {proved} machines proved, {open} proofs open");
        println!("grammars: {:?}", self.groups);
        println!("{:<64}{:<22}{:>8}{:>8}", "difference", "group", "grammars", "words");
        for ((what, group), [grammars, words]) in &self.rows {
            println!("{what:<64}{group:<22}{grammars:>8}{words:>8}");
        }
        println!("{} grammars have differences, for example:", self.examples.len());
        self.examples.iter().take(EXAMPLES).for_each(|(number, example)| println!("grammar {number}{example}"));
    }
}

#[test]
#[ignore = "needs bison and a C compiler"]
fn languages_and_conflicts_are_those_of_bison() {
    let size = std::env::var("ECHOSTACK_GRAMMARS").map_or(40, |size| size.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut seeds = ChaCha8Rng::seed_from_u64(20);
    let mut report = Report::default();
    let mut done = 0;
    while done < size {
        let mut cases = Vec::new();
        while cases.len() < BATCH.min(size - done) {
            // A grammar does not depend on how many numbers were drawn for those before it.
            let mut random = ChaCha8Rng::seed_from_u64(seeds.random());
            cases.extend(Case::new(done + cases.len(), &mut random));
        }
        for (case, (accepted, count)) in cases.iter().zip(bison(folder.path(), &cases)) {
            report.judge(case, &accepted, &count);
        }
        done += cases.len();
    }
    report.print();
    assert!(report.by_suffix > 0 && report.proved > 0);
    assert!(report.rows.is_empty(), "there are differences; see above");
}

/// Adds declarations, and actions before symbols of the productions. Returns the text, and the places of the actions.
fn with_actions(declarations: &str, plain: &str, random: &mut ChaCha8Rng) -> (String, Vec<String>) {
    let (mut text, mut places) = (declarations.to_string(), Vec::new());
    for line in plain.lines() {
        let (left, right) = line.split_once(':').unwrap_or((line, ""));
        let number = text.lines().count() + 1;
        let mut line = left.to_string() + if right.is_empty() { "" } else { ":" };
        let own = right.split_once('%').map_or(right, |(own, _)| own).len();
        for (at, letter) in right.char_indices() {
            if at < own && letter.is_alphabetic() && random.random_bool(0.2) {
                places.push(format!("{number}:{}", line.len() + 1));
                line += "{} ";
            }
            line.push(letter);
        }
        writeln!(text, "{line}").unwrap();
    }
    (text, places)
}

/// Returns the number of the first marker of an action that has a conflict, counted from 1, in bison's report.
fn first_marker(report: &str) -> Option<usize> {
    let states = report.split("\nState ").skip(1);
    let conflicting = states.flat_map(|state| {
        let entries = state.lines().filter(|line| line.contains("reduce using rule"));
        let entries: Vec<(&str, &str)> = entries.filter_map(|line| line.trim().split_once(' ')).collect();
        let lost: Vec<&str> = entries.iter().filter(|(_, what)| what.contains('[')).map(|&(token, _)| token).collect();
        entries.into_iter().filter(move |(token, _)| lost.contains(token)).map(|(_, what)| what)
    });
    conflicting.filter_map(|what| what.split_once('@')?.1.split_once(')')?.0.parse().ok()).min()
}

#[test]
#[ignore = "needs bison"]
fn actions_with_conflicts_are_those_of_bison() {
    let grammars = std::env::var("ECHOSTACK_GRAMMARS").map_or(100, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(41);
    let (mut compared, mut told) = (0, 0);
    while compared < grammars {
        let lr_type = TYPES[compared % TYPES.len()];
        let declared = if lr_type == "none" { String::new() } else { format!("%define lr.type {lr_type}\n") };
        let plain = RandomGrammar::new(&mut random).write("", true, |_| true);
        let (text, places) = with_actions(&declared, &plain, &mut random);
        // Without a line of its own, a declaration does not change the places.
        let Ok(grammar) = read(&text.replacen("%start S", "%expect 500 %expect-rr 500 %start S", 1)) else { continue };
        let warnings: Vec<String> = grammar.warnings().iter().map(ToString::to_string).collect();
        // Bison has mistakes with nonterminals that no word needs, unless the states are merged.
        let useless = |warning: &String| warning.contains("no word;") || warning.contains("cannot be reached");
        if places.is_empty() || warnings.iter().any(useless) {
            continue;
        }
        std::fs::write(folder.path().join("test.y"), &text).unwrap();
        let arguments = ["--report=states", "-o", "test.c", "test.y"];
        run(folder.path(), "bison", &arguments, "").unwrap_or_else(|| panic!("bison refuses\n{text}"));
        let report = std::fs::read_to_string(folder.path().join("test.output")).unwrap();
        let expected = first_marker(&report).map(|number| places[number - 1].as_str());
        let found = warnings.iter().find(|warning| warning.contains("this action inside of a production"));
        let found = found.map(|warning| warning.split_once(": ").unwrap().0);
        assert_eq!(found, expected, "{text}\n{report}");
        compared += 1;
        told += usize::from(found.is_some());
    }
    println!("{compared} grammars with actions inside of productions, {told} of them with a conflict at one");
    assert!(told > compared / 10 && told < compared);
}
