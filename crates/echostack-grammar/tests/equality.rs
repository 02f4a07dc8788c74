//! Tests of the comparison of two grammars on all texts, with all short texts as the reference.
#![cfg(feature = "machine")]

use std::fmt::Write;
use std::path::Path;

use echostack_grammar::{Encoding, Equality, Grammar, GrammarLimits, Judge, Lexer, Subject, equality};
use rand::seq::{IndexedMutRandom, IndexedRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const LETTERS: &[u8] = b"ab()[]";
/// The length of the longest text that is compared.
const LONGEST: usize = 5;
/// Lexers with the tokens a, b, (, ), [ and ]. In the last two, the longest match matters.
const LEXERS: [&str; 4] =
    ["a \"a\"\nb \"b\"\n", "a \"a\"\nb|bb \"b\"\n", "ab? \"a\"\nb \"b\"\n", "aba|a \"a\"\nb \"b\"\n"];

/// A state of a random automaton: what comes after a, b, (...) and [...], and whether its module may end here.
#[derive(Clone)]
struct State {
    after: [Option<usize>; 4],
    ends: bool,
}

/// A module for the outermost level, and one for each kind of brackets. Each begins with its first state.
type Modules = [Vec<State>; 3];

fn random_modules(random: &mut ChaCha8Rng) -> Modules {
    std::array::from_fn(|_| {
        let count = random.random_range(1..=3);
        let state = |random: &mut ChaCha8Rng| State {
            after: std::array::from_fn(|_| random.random_bool(0.5).then(|| random.random_range(0..count))),
            ends: random.random_bool(0.5),
        };
        (0..count).map(|_| state(random)).collect()
    })
}

/// Changes one thing, which may or may not change the language.
fn changed(modules: &Modules, random: &mut ChaCha8Rng) -> Modules {
    let mut modules = modules.clone();
    let module = modules.choose_mut(random).unwrap();
    let count = module.len();
    let at = random.random_range(0..count);
    match random.random_range(0..4) {
        0 => module[at].ends ^= true,
        1 => module[at].after[random.random_range(0..4)] = Some(random.random_range(0..count)),
        2 => module[at].after[random.random_range(0..4)] = None,
        // A copy of a state changes nothing.
        _ => {
            let copy = module[at].clone();
            module.push(copy);
            let from = random.random_range(0..count);
            module[from].after.iter_mut().flatten().filter(|to| **to == at).for_each(|to| *to = count);
        }
    }
    modules
}

/// Returns the grammar of some modules: right-linear, or with lists on the left.
fn subject(modules: &Modules, is_left: bool, lexer: &str) -> Option<Subject> {
    let mut rules = String::from("%start S\n%%\n");
    let step = |kind: usize| ["'a'", "'b'", "'(' M1 ')'", "'[' M2 ']'"][kind];
    let name = |module: usize| if module == 0 { "S".to_string() } else { format!("M{module}") };
    for (number, module) in modules.iter().enumerate() {
        let state = |at: usize| format!("Q{number}_{at}");
        if is_left {
            // A rule derives the ways to its state.
            let ends = (0..module.len()).filter(|&at| module[at].ends).map(state).collect::<Vec<_>>();
            if ends.is_empty() {
                return None;
            }
            writeln!(rules, "{}: {};", name(number), ends.join(" | ")).unwrap();
            for to in 0..module.len() {
                let mut ways: Vec<String> = Vec::new();
                ways.extend((to == 0).then(String::new));
                for (from, own) in module.iter().enumerate() {
                    let kinds = (0..4).filter(|&kind| own.after[kind] == Some(to));
                    ways.extend(kinds.map(|kind| format!("{} {}", state(from), step(kind))));
                }
                if ways.is_empty() {
                    return None;
                }
                writeln!(rules, "{}: {};", state(to), ways.join(" | ")).unwrap();
            }
        } else {
            writeln!(rules, "{}: {};", name(number), state(0)).unwrap();
            for (at, own) in module.iter().enumerate() {
                let mut ways: Vec<String> = Vec::new();
                ways.extend(own.ends.then(String::new));
                ways.extend((0..4).filter_map(|kind| Some(format!("{} {}", step(kind), state(own.after[kind]?)))));
                if ways.is_empty() {
                    return None;
                }
                writeln!(rules, "{}: {};", state(at), ways.join(" | ")).unwrap();
            }
        }
    }
    let grammar = Grammar::new("random", &rules, Encoding::Auto).ok()?;
    let lexer = format!("%%\n{lexer}\\( \"(\"\n\\) \")\"\n\\[ \"[\"\n\\] \"]\"\n");
    Some(Subject::of_grammar(grammar, Some(Lexer::new(&lexer).unwrap())))
}

fn judge(subject: &Subject) -> Judge {
    Judge::new(subject.table(&()).unwrap().into()).unwrap()
}

/// Returns the first of all short texts that only one of two languages has.
fn first_difference(one: &Judge, two: &Judge) -> Option<String> {
    let mut texts = vec![String::new()];
    for length in 0..=LONGEST {
        if let Some(text) = texts.iter().find(|text| one.check(text).is_ok() != two.check(text).is_ok()) {
            return Some(text.clone());
        }
        if length < LONGEST {
            let longer =
                texts.iter().flat_map(|text| LETTERS.iter().map(move |&letter| format!("{text}{}", letter as char)));
            texts = longer.collect();
        }
    }
    None
}

/// Compares pairs of random automata; returns how many were equal, different, and not comparable.
fn compare(pairs: usize, seed: u64) -> [usize; 3] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut found = [0; 3];
    while found.iter().sum::<usize>() < pairs {
        let modules = random_modules(&mut random);
        let mut others = modules.clone();
        for _ in 0..random.random_range(0..3) {
            others = changed(&others, &mut random);
        }
        let lexers = [LEXERS.choose(&mut random).unwrap(), LEXERS.choose(&mut random).unwrap()];
        let lexers = if random.random_bool(0.7) { [lexers[0]; 2] } else { lexers };
        let mut made = |modules, lexer| subject(modules, random.random_bool(0.5), lexer);
        let (Some(one), Some(two)) = (made(&modules, lexers[0]), made(&others, lexers[1])) else { continue };
        let (judge_one, judge_two) = (judge(&one), judge(&two));
        let wanted = first_difference(&judge_one, &judge_two);
        let at = match equality(&one, &two, &()) {
            Equality::Equal => {
                assert_eq!(wanted, None, "{:?} {:?}", one.grammar(), two.grammar());
                0
            }
            Equality::Different { text, first } => {
                let verdicts = [&judge_one, &judge_two].map(|judge| judge.check(&text).is_ok());
                assert_eq!(verdicts, [first, !first], "{text:?}");
                assert!(wanted.is_some() || text.len() > LONGEST, "{text:?}");
                1
            }
            _ => 2,
        };
        found[at] += 1;
    }
    found
}

#[test]
fn random_automata_are_compared_as_all_short_texts_say() {
    let [equal, different, not_comparable] = compare(150, 1);
    assert!(equal > 30 && different > 30 && not_comparable < 8, "{equal} {different} {not_comparable}");
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_random_automata_are_compared() {
    eprintln!("equal, different, not comparable: {:?}", compare(1000, 2));
}

/// Returns a grammar of the tests.
fn shipped(name: &str) -> Subject {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata")).join(name);
    Subject::open_grammar(&path, Encoding::Auto).unwrap()
}

#[test]
fn json_is_compared_with_variants_of_itself() {
    let json = shipped("grammars/json");
    let lexer = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/grammars/json/lexer.l"));
    let lexer = lexer.unwrap();
    let variant = |rules: &str, lexer: &str| {
        let grammar = Grammar::new("variant", &format!("%start V\n%%\n{rules}\n"), Encoding::Auto).unwrap();
        Subject::of_grammar(grammar, Some(Lexer::new(lexer).unwrap()))
    };
    // Members are lists that are recursive on the right, and there are no names for values.
    let rules = "V: 'STRING' | 'NUMBER' | 'true' | 'false' | 'null' | '{' '}' | '{' M '}' | '[' ']' | '[' E ']';
        M: 'STRING' ':' V | 'STRING' ':' V ',' M; E: V | V ',' E;";
    assert_eq!(equality(&json, &variant(rules, &lexer), &()), Equality::Equal);
    // A comma is allowed in an empty list.
    let wrong = rules.replace("'[' ']'", "'[' ']' | '[' ',' ']'");
    let different = |text: &str| Equality::Different { text: text.into(), first: false };
    assert_eq!(equality(&json, &variant(&wrong, &lexer), &()), different("[,]"));
    // One more number.
    let longer = format!("{lexer}[+]1 \"NUMBER\"\n");
    assert_eq!(equality(&json, &variant(rules, &longer), &()), Equality::Different { text: "+1".into(), first: false });
}

/// What looks like an opener in one rule is none if it is not closed in another one, and an opener may be a plain token at
/// the end of what it opens.
#[test]
fn openers_are_those_that_are_closed() {
    let lexer = "%%\n[{] \"{\"\n[}] \"}\"\n\\< \"<\"\n[/] \"/\"\n\\> \">\"\na \"a\"\nb \"b\"\n";
    let subject = |rules: &str| {
        let grammar = Grammar::new("own", &format!("%start S\n%%\n{rules}\n"), Encoding::Auto).unwrap();
        Subject::of_grammar(grammar, Some(Lexer::new(lexer).unwrap()))
    };
    let left = subject("S: L E; L: E | L E; E: 'a' B 'b' | 'a' B | '/'; B: '{' L '}';");
    let right = subject("S: E L; L: E | E L; E: '/' | 'a' '{' L '}' | 'a' '{' L '}' 'b';");
    assert_eq!(equality(&left, &right, &()), Equality::Equal);
    let right = subject("S: E L; L: E | E L; E: '/' | 'a' '{' L '}' 'b';");
    assert!(matches!(equality(&left, &right, &()), Equality::Different { first: true, .. }));
    // A part that is not recursive has a closer of its own.
    let left = subject("S: 'a' | T; T: '<' S '>' | '<' A '/'; A: 'b';");
    let right = subject("S: '<' S '>' | 'a' | '<' A '/'; A: 'b';");
    assert_eq!(equality(&left, &right, &()), Equality::Equal);
    let left = subject("S: T 'a' '>' | U 'b' '>'; T: '<' 'a' '>' C '<' '/'; U: '<' 'b' '>' C '<' '/'; C: S | 'a';");
    let right = subject("S: T '>'; T: '<' 'b' '>' C '<' '/' 'b' | '<' 'a' '>' C '<' '/' 'a'; C: 'a' | S;");
    assert_eq!(equality(&left, &left, &()), Equality::Equal);
    assert_eq!(equality(&left, &right, &()), Equality::Equal);
    let right = subject("S: U 'b' '>' | T 'a' '>'; T: '<' 'a' '>' C '<' '/'; U: '<' 'b' '>' C '<' '/'; C: S | 'b';");
    let text = "<a>a</a>".to_string();
    assert_eq!(equality(&left, &right, &()), Equality::Different { text, first: true });
}

#[test]
fn what_cannot_be_compared_is_said() {
    let small = |rules: &str| {
        let grammar = Grammar::new("small", &format!("%start S\n%%\n{rules}\n"), Encoding::Auto).unwrap();
        Subject::of_grammar(grammar, Some(Lexer::new("%%\na \"a\"\nb \"b\"\nc \"c\"\n").unwrap()))
    };
    let palindromes = small("S: 'c' | 'a' S 'a' | 'b' S 'b';");
    let other = equality(&palindromes, &palindromes, &());
    // What opens may also close, as long as it does not in the same place.
    assert_eq!(other, Equality::Equal);
    let other = equality(&small("S: 'c' | 'a' S T; T: 'b';"), &palindromes, &());
    let Equality::Different { text, first } = other else { panic!("{other}") };
    assert_eq!((text.as_str(), first), ("aca", false));
    let nested = small("S: 'c' | 'a' S T; T: 'b';");
    let reason = "small: no tokens enclose what is recursive in S".to_string();
    // There are five classes of characters, so that all texts of eight characters would be too many.
    assert_eq!(equality(&nested, &nested, &()), Equality::NotComparable { reason, agree_to: Some(7) });
    let task = Subject::named("task:dyck1", Encoding::Auto, &GrammarLimits::default(), &()).unwrap();
    let other = equality(&task, &palindromes, &());
    let reason = "dyck1 is not a grammar".to_string();
    assert_eq!(other, Equality::NotComparable { reason, agree_to: None });
}

/// Rules that begin, or end, with two rules each that do so again have 2^40 ways, which share their states.
#[test]
fn rules_that_begin_alike_are_not_copied() {
    for is_left in [true, false] {
        let rules = |last: &str| -> String {
            let rule = |number: usize| {
                let inner = number - 1;
                if is_left {
                    format!("R{number}: R{inner} 'a' | R{inner} 'b';")
                } else {
                    format!("R{number}: 'a' R{inner} | 'b' R{inner};")
                }
            };
            let all: Vec<String> = (1..=40).rev().map(rule).collect();
            format!("%start R40\n%%\n{}\nR0: {last};\n", all.join("\n"))
        };
        let subject = |last: &str| {
            let grammar = Grammar::new("shared", &rules(last), Encoding::Auto).unwrap();
            Subject::of_grammar(grammar, Some(Lexer::new("%%\na \"a\"\nb \"b\"\n").unwrap()))
        };
        assert_eq!(equality(&subject("'a'"), &subject("'a'"), &()), Equality::Equal);
        let text = "a".repeat(41);
        assert!(
            matches!(equality(&subject("'a'"), &subject("'b'"), &()), Equality::Different { text: found, .. } if found.len() == text.len())
        );
    }
}

/// A lexer skips a carriage return before a line feed if no rule matches it. A rule for a token that the grammar does not have
/// matches it, too.
#[test]
fn a_token_that_no_rule_has_can_refuse_carriage_returns() {
    let subject = |rule: &str| {
        let grammar = Grammar::new("lines", "%start L\n%%\nL: 'x' | L 'x';\n", Encoding::Auto).unwrap();
        Subject::of_grammar(grammar, Some(Lexer::new(&format!("%%\nx \"x\"\n{rule}[\\n]+ ;\n")).unwrap()))
    };
    let (plain, refusing) = (subject(""), subject("\\r \"RETURN\"\n"));
    assert!(judge(&plain).check("x\r\n").is_ok() && judge(&refusing).check("x\r\n").is_err());
    assert_eq!(equality(&plain, &refusing, &()), Equality::Different { text: "x\r\n".into(), first: true });
    assert_eq!(equality(&refusing, &subject("[\\r] \"OTHER\"\n"), &()), Equality::Equal);
}
