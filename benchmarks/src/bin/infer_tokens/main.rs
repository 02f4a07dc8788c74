//! Infers languages whose tokens are given, with both learners, and compares the results with the grammars that the
//! oracles follow:
//!
//! ```text
//! cargo run --release --bin infer_tokens -- [NAME...] [--learner modules|reductions] [--prefixes N] [--log] [--guess]
//!     [--outcomes]
//! ```
//!
//! The learned and the given language have the same number of words of each length (modulo 2^128; both automata are
//! deterministic, so words can be counted), and the same tokens can follow each viable prefix, for all prefixes up to a
//! length. Where both have visible brackets, it is also decided whether they have the same texts. With `--guess`, no oracle is
//! asked: languages are guessed from valid and invalid words. With `--outcomes`, no machine is learned, and a line of JSON is
//! printed for each run, with what does not depend on the computer.

mod guesses;

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Duration;

use echostack::automaton::{Part, WordGrammar};
use echostack::language::Language as _;
use echostack::recognize::{Limits, Session, Status};
use echostack::symbol::Input;
use echostack::{Lookahead, Manifest, Oracle, Recognizer, Table, Word};
use echostack_benchmarks::measure::{self, cpu_seconds};
use echostack_grammar::{Encoding, Grammar, Lexer, Subject, equality};
use echostack_infer::{Ending, Inferred, Settings, infer};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The number of examples, and the length of the longest.
const EXAMPLES: (usize, usize) = (60, 25);
/// The number of words that are drawn. After the first examples, only those with a new token become examples.
const DRAWN: usize = 20_000;
/// The length of the longest words that are counted.
const COUNTED: usize = 60;

/// Grammars in Yacc syntax.
const GRAMMARS: [(&str, &str); 8] = [
    (
        "arithmetic",
        "E: T | E '+' T | E '-' T; T: F | T '*' F; F: 'n' | 'x' | '(' E ')' | '-' F | 'f' '(' ')' | 'f' '(' A ')'; \
         A: E | A ',' E;",
    ),
    ("s-expressions", "S: 'a' | '(' ')' | '(' L ')' | '(' L '.' S ')' | 'quote' S; L: S | L S;"),
    (
        "json",
        "V: 's' | 'n' | '[' ']' | '[' L ']' | '{' '}' | '{' M '}'; L: V | L ',' V; M: 's' ':' V | M ',' 's' ':' V;",
    ),
    ("anbn", "S: 'a' 'b' | 'a' S 'b';"),
    ("palindromes", "S: 'c' | 'a' S 'a' | 'b' S 'b';"),
    ("dangling else", "S: 'x' | 'if' 'c' 'then' S | 'if' 'c' 'then' T 'else' S; T: 'x' | 'if' 'c' 'then' T 'else' T;"),
    ("lambda", "S: 'x' | 'fn' 'x' '.' S | P A | P 'fn' 'x' '.' S; P: 'x' | '(' S ')' | P A; A: 'x' | '(' S ')';"),
    (
        "while",
        "P: S | P ';' S; S: 'x' ':=' E | 'while' B 'do' '{' P '}' | 'if' B 'then' '{' P '}' 'else' '{' P '}' | \
         'if' B 'then' '{' P '}' | 'skip'; E: A | E '+' A; A: 'n' | 'x' | '(' E ')'; B: C | B 'and' C; \
         C: 'true' | E '<' E | 'not' C | '[' B ']';",
    ),
];

const BRACKETS: [(&str, &str); 6] = [("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("do", "end"), ("begin", "stop")];

/// Returns the grammar of a language.
fn grammar(name: &str) -> Option<String> {
    let rules = match name.strip_prefix("dyck") {
        Some(kinds) => {
            let kinds: usize = kinds.parse().ok().filter(|kinds| (1..=6).contains(kinds))?;
            let pairs: Vec<String> =
                BRACKETS[..kinds].iter().map(|(open, close)| format!("S '{open}' S '{close}'")).collect();
            format!("S: %empty | {};", pairs.join(" | "))
        }
        None => GRAMMARS.iter().find(|(known, _)| *known == name)?.1.to_string(),
    };
    let start = rules.split(':').next()?.to_string();
    Some(format!("%start {start}\n%%\n{rules}\n"))
}

/// Returns a lexer in which each token is written as its name, with spaces between tokens.
fn lexer<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let escaped = |name: &str| -> String {
        name.chars()
            .flat_map(|letter| (!letter.is_alphanumeric()).then_some('\\').into_iter().chain([letter]))
            .collect()
    };
    let rules: Vec<String> = names.map(|name| format!("{} \"{name}\"\n", escaped(name))).collect();
    format!("%%\n{}[ ]+ ;\n", rules.concat())
}

/// Counts the words of each length, modulo 2^128.
fn counts(oracle: &Oracle) -> Result<Vec<u128>, Box<dyn Error>> {
    let productions = WordGrammar::new(oracle)?.productions;
    let mut counts: Vec<Vec<u128>> = vec![vec![0; COUNTED + 1]; productions.len()];
    for length in 0..=COUNTED {
        loop {
            let mut changed = false;
            for (number, own) in productions.iter().enumerate() {
                let total = own.iter().fold(0_u128, |sum, parts| sum.wrapping_add(ways(parts, length, &counts)));
                changed |= counts[number][length] != total;
                counts[number][length] = total;
            }
            if !changed {
                break;
            }
        }
    }
    Ok(counts.swap_remove(0))
}

/// Counts the words of one length that some symbols derive.
fn ways(parts: &[Part], length: usize, counts: &[Vec<u128>]) -> u128 {
    let mut sums = vec![0_u128; length + 1];
    sums[0] = 1;
    for part in parts {
        sums = (0..=length)
            .map(|total| match part {
                Part::Token(_) => total.checked_sub(1).map_or(0, |rest| sums[rest]),
                Part::Nonterminal(number) => (0..=total)
                    .fold(0_u128, |sum, own| sum.wrapping_add(counts[*number][own].wrapping_mul(sums[total - own]))),
            })
            .collect();
    }
    sums[length]
}

/// Compares what can follow, for all viable prefixes up to a length. Returns their number, or a prefix after which the
/// two differ, or nothing if there are more than `most`.
struct Compare<'a> {
    tables: [&'a Table; 2],
    most: usize,
    seen: usize,
}

impl Compare<'_> {
    fn expected(&self, which: usize, session: &<Table as Recognizer>::Session) -> BTreeSet<Option<String>> {
        let alphabet = self.tables[which].alphabet();
        let name = |next: Lookahead| match next {
            Lookahead::Token(token) => Some(alphabet.name(token).to_string()),
            Lookahead::End => None,
        };
        session.expected().into_iter().map(name).collect()
    }

    fn walk(
        &mut self,
        sessions: [&<Table as Recognizer>::Session; 2],
        prefix: &mut Vec<String>,
        left: usize,
    ) -> Result<bool, String> {
        self.seen += 1;
        if self.seen > self.most {
            return Ok(false);
        }
        let expected = self.expected(0, sessions[0]);
        let other = self.expected(1, sessions[1]);
        if expected != other {
            let names = |names: &BTreeSet<Option<String>>| -> String {
                names.iter().map(|name| name.as_deref().unwrap_or("the end")).collect::<Vec<_>>().join(" ")
            };
            return Err(format!("{}`: `{}`, not `{}", prefix.join(" "), names(&expected), names(&other)));
        }
        if left == 0 {
            return Ok(true);
        }
        for name in expected.into_iter().flatten() {
            let mut next = [sessions[0].clone(), sessions[1].clone()];
            for (which, session) in next.iter_mut().enumerate() {
                let token = self.tables[which].alphabet().symbol(&name).ok_or("a token is missing")?;
                if session.feed(Input::Symbol(token), &mut ()) != Status::Open {
                    return Err(prefix.join(" "));
                }
            }
            prefix.push(name);
            if !self.walk([&next[0], &next[1]], prefix, left - 1)? {
                return Ok(false);
            }
            prefix.pop();
        }
        Ok(true)
    }
}

fn compare(learned: &Oracle, target: &Oracle, most: usize) -> Result<String, Box<dyn Error>> {
    let tables = [Table::new(learned, Manifest::default())?, Table::new(target, Manifest::default())?];
    let mut best = (0, 0);
    for length in 1..=COUNTED {
        let mut compare = Compare { tables: [&tables[0], &tables[1]], most, seen: 0 };
        let sessions = tables.each_ref().map(|table| table.start(Limits::default()));
        match compare.walk([&sessions[0], &sessions[1]], &mut Vec::new(), length) {
            Ok(true) => best = (length, compare.seen),
            Ok(false) => break,
            Err(prefix) => return Ok(format!("**different** after `{prefix}`")),
        }
    }
    let [one, two] = [counts(learned)?, counts(target)?];
    if let Some(length) = (0..=COUNTED).find(|&length| one[length] != two[length]) {
        return Ok(format!("**different**: {} and {} words of length {length}", one[length], two[length]));
    }
    Ok(format!(
        "equal up to length {}: all {} viable prefixes; as many words of each length up to {COUNTED}",
        best.0, best.1
    ))
}

/// What the command line asks for.
struct Options {
    /// Whether only one learner is wanted: the one of reductions, or the one of modules.
    reductions: Option<bool>,
    prefixes: usize,
    log: bool,
    guess: bool,
    outcomes: bool,
}

fn options() -> Result<(Options, Vec<String>), Box<dyn Error>> {
    let mut names = Vec::new();
    let mut options = Options { reductions: None, prefixes: 10_000_000, log: false, guess: false, outcomes: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--learner" => {
                options.reductions = match arguments.next().as_deref() {
                    Some("modules") => Some(false),
                    Some("reductions") => Some(true),
                    _ => return Err("--learner needs `modules` or `reductions`".into()),
                }
            }
            "--prefixes" => options.prefixes = arguments.next().ok_or("--prefixes needs a number")?.parse()?,
            "--log" => options.log = true,
            "--guess" => options.guess = true,
            "--outcomes" => options.outcomes = true,
            _ => names.push(argument),
        }
    }
    if names.is_empty() {
        names = (2..=6).map(|kinds| format!("dyck{kinds}")).collect();
        names.extend(GRAMMARS.iter().map(|(name, _)| name.to_string()));
    }
    Ok((options, names))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (options, names) = options()?;
    if options.guess {
        println!(
            "| language | valid and invalid words | states | held out: valid rejected, invalid accepted | recall | near misses misjudged | CPU s |"
        );
    } else if !options.outcomes {
        println!(
            "| language | learner | queries: learning, last test, checks | size | ending | machine | compared with the target | CPU s |"
        );
    }
    if options.guess || !options.outcomes {
        println!("{}|", "|---".repeat(if options.guess { 7 } else { 8 }));
    }
    for name in &names {
        let rules = grammar(name).ok_or("there is no such language")?;
        let target = Grammar::new(name, &rules, Encoding::Auto)?;
        let oracle = Oracle::strict(target.automaton().clone())?;
        let alphabet = oracle.alphabet();
        let valid = |text: &str| {
            let word = alphabet.word(text.split(' ').filter(|token| !token.is_empty()));
            word.is_ok_and(|word| oracle.judge(&word).is_accept())
        };
        let source = lexer(alphabet.terminals().map(|token| alphabet.name(token)));
        if options.guess {
            guesses::tell(name, &target, &source, valid, alphabet)?;
            continue;
        }
        let examples = examples(&target, alphabet);
        for reductions in [false, true] {
            if options.reductions.is_some_and(|wanted| wanted != reductions) {
                continue;
            }
            let mut settings =
                Settings { lexer: Some(source.clone()), reductions, hold_out: Some(0.), ..Settings::default() };
            settings.asking.queries = 300_000;
            settings.asking.time = Duration::from_secs(120);
            if options.log {
                examples.iter().for_each(|example| eprintln!("  {example}"));
            }
            let before = cpu_seconds();
            let inferred = infer(&examples, &valid, &settings, &())?;
            if options.log {
                inferred.log().iter().for_each(|line| eprintln!("  {line}"));
            }
            let subject = Grammar::new(name, &rules, Encoding::Auto)?;
            let subject = Subject::of_grammar(subject, Some(Lexer::new(&source)?));
            tell((name, reductions), &inferred, (&oracle, &subject), &options, before)?;
        }
    }
    Ok(())
}

/// Draws examples until all tokens occur.
fn examples(target: &Grammar, alphabet: &echostack::Alphabet) -> Vec<String> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut examples: BTreeSet<String> = BTreeSet::new();
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    for _ in 0..DRAWN {
        let Some(Word::Symbols(word)) = target.word(&mut random, 0..=EXAMPLES.1) else { break };
        let tokens: Vec<&str> = word.iter().map(|&token| alphabet.name(token)).collect();
        if examples.len() < EXAMPLES.0 || !tokens.iter().all(|token| shown.contains(token)) {
            examples.insert(tokens.join(" "));
            shown.extend(tokens);
        }
    }
    examples.into_iter().collect()
}

fn tell(
    (name, reductions): (&str, bool),
    inferred: &Inferred,
    (target, subject): (&Oracle, &Subject),
    options: &Options,
    before: f64,
) -> Result<(), Box<dyn Error>> {
    let cpu = cpu_seconds() - before;
    let (ending, settled) = match inferred.ending() {
        Ending::Settled => ("settled".to_string(), true),
        Ending::NotSettled(reason) => (format!("not settled: {reason}"), false),
    };
    let (mut proof, mut compared, mut same) = (String::new(), String::new(), String::new());
    if let Some(language) = inferred.language().filter(|_| settled) {
        if !options.outcomes {
            proof = measure::prove(language)?.1;
        }
        let grammar = Grammar::new("learned", &language.files().grammar, Encoding::Auto)?;
        same = equality(&language.subject(name)?, subject, &()).to_string();
        compared = compare(&Oracle::strict(grammar.automaton().clone())?, target, options.prefixes)?;
    }
    let spent = inferred.spent();
    let learner = if reductions { "reductions" } else { "modules" };
    if options.outcomes {
        let outcome = serde_json::json!({
            "case": format!("{name}, {learner}"),
            "ending": ending,
            "queries": inferred.queries(),
            "size": inferred.states(),
            "equality": same,
            "compared": compared,
        });
        println!("{outcome}");
        return Ok(());
    }
    println!(
        "| {name} | {learner} | {}: {}, {}, {} | {} | {ending} | {proof} | {same}; {compared} | {cpu:.1} |",
        inferred.queries(),
        spent.classes + spent.tags + spent.learning,
        spent.last_test,
        spent.checks,
        inferred.states(),
    );
    Ok(())
}
