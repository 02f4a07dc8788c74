//! Forged certificates about grammars, lexers and tables.
//!
//! A forger changes one thing, and then makes everything else fit as well as possible: a certificate that names a wrong
//! table has the right digest of that table. Each check is run on its own, so that it is known which forgeries would be
//! accepted without it.

use std::collections::BTreeMap;

use echostack::certify::{Comparison, check_table};
use echostack::digest::hex;
use echostack::recognize::Mode;
use echostack::{Automaton, Certificate, Manifest, Model, Oracle, Recognizer, SymbolId, Table, Verdict, Word};
use echostack_grammar::{Encoding, Grammar, Judge, Lexer, Subject};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

const NONASSOC: &str = "%start S\n%nonassoc '<'\n%%\nS: E '<' 'z' | 'x' E;\nE: E '<' E | 'n';\n";
const TEMPLATES: &str = "%start S\n%nonassoc '<' '>'\n%left '+'\n%%\nS: 't' '<' E '>' | E;\n\
                         E: E '<' E | E '>' E | E '+' E | 'n';\n";
const LISTS: &str = "%%\nS: '[' L ']' | 'n';\nL: %empty | M;\nM: S | M ',' S;\n";
const LEXER: &str = "%%\n[a-z] \"n\"\n[ ]+ ;\n";

/// A grammar, and a table that is certified to follow it.
struct Case {
    text: &'static str,
    subject: Subject,
    oracle: Oracle,
    table: Table,
    certificate: Certificate,
}

fn subject(text: &str, encoding: Encoding) -> Subject {
    Subject::of_grammar(Grammar::new("test", text, encoding).unwrap(), Some(Lexer::new(LEXER).unwrap()))
}

fn compiled(oracle: &Oracle) -> Option<Table> {
    let mut manifest = Manifest::default();
    manifest.set_lexer(LEXER);
    Table::new(oracle, manifest).ok()
}

impl Case {
    fn new(text: &'static str, encoding: Encoding) -> Self {
        let subject = subject(text, encoding);
        let oracle = subject.oracle(Mode::Strict, &()).unwrap();
        let table = compiled(&oracle).unwrap();
        let Ok(Comparison::Equal { certificate, .. }) = check_table(&table, &oracle, &()) else {
            panic!("a table does what its automaton does")
        };
        let certificate = subject.named_in(*certificate);
        Self { text, subject, oracle, table, certificate }
    }
}

/// What somebody claims.
struct Claim {
    oracle: Oracle,
    table: Table,
    certificate: Certificate,
}

/// Returns the checks that refuse a claim.
fn refusing(case: &Case, claim: &Claim) -> Vec<&'static str> {
    let Claim { oracle, table, certificate } = claim;
    let model = Model::from(table.clone());
    let named = hex(&Sha256::digest(oracle.automaton().to_json()));
    let checks: [(&str, &dyn Fn() -> bool); 6] = [
        ("automaton", &|| certificate.automaton() == named),
        ("grammar", &|| certificate.check_grammar(case.text).is_ok()),
        ("translation", &|| case.subject.check_translation(oracle, &()).is_ok()),
        ("table", &|| model.check_certificate(certificate).is_ok()),
        ("actions", &|| matches!(check_table(table, oracle, &()), Ok(Comparison::Equal { .. }))),
        ("lexer", &|| {
            let bound = Judge::new(model.clone()).is_ok_and(|judge| judge.check_certificate(certificate).is_ok());
            // The digest of the table counts as a check of its own.
            bound || model.check_certificate(certificate).is_err()
        }),
    ];
    checks.into_iter().filter(|(_, check)| !check()).map(|(name, _)| name).collect()
}

/// Changes an automaton in one place.
fn changed_automaton(random: &mut ChaCha8Rng, automaton: &Automaton) -> Option<Automaton> {
    let mut json: serde_json::Value = serde_json::from_str(&automaton.to_json()).unwrap();
    let names: Vec<serde_json::Value> =
        ["terminals", "nonterminals"].iter().flat_map(|key| json[key].as_array().unwrap().clone()).collect();
    let name = names.choose(random).unwrap().clone();
    let rules = json["rules"].as_array_mut().unwrap();
    let at = random.random_range(0..rules.len());
    match random.random_range(0..6) {
        0 => _ = rules.remove(at),
        1 => rules[at]["pop"] = random.random_range(0..4).into(),
        2 => rules[at]["push"] = name,
        3 => rules[at]["lookahead"] = name,
        kind => {
            let rows = json["viable"].as_array_mut()?;
            let (from, to) = (random.random_range(0..rows.len()), random.random_range(0..rows.len()));
            let row = rows[from].as_object_mut()?;
            if kind == 4 {
                let key = row.keys().nth(random.random_range(0..row.len().max(1)))?.clone();
                row.remove(&key);
            } else {
                row.insert(name.as_str()?.to_string(), to.into());
            }
        }
    }
    Automaton::from_json(&json.to_string()).ok()
}

/// Changes a number in a table.
fn changed_table(random: &mut ChaCha8Rng, table: &Table) -> Option<Table> {
    let mut bytes = table.to_bytes().unwrap();
    let head = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let at = head + 4 * random.random_range(0..(bytes.len() - head) / 4);
    bytes[at..at + 4].copy_from_slice(&random.random_range(0..table.states() as u32 + 1).to_le_bytes());
    Table::from_bytes(&bytes).ok()
}

/// Returns a certificate with another text in place of one.
fn replaced(certificate: &Certificate, old: &str, new: &str) -> Certificate {
    Certificate::from_json(&certificate.to_json().replace(old, new)).unwrap()
}

/// Makes a forgery of a kind.
fn forged(random: &mut ChaCha8Rng, case: &Case, kind: &str) -> Option<Claim> {
    let Case { oracle, table, certificate, .. } = case;
    let honest = || Claim { oracle: oracle.clone(), table: table.clone(), certificate: certificate.clone() };
    Some(match kind {
        "another automaton" => {
            let oracle = Oracle::strict(changed_automaton(random, oracle.automaton())?).ok()?;
            let table = compiled(&oracle)?;
            let Ok(Comparison::Equal { certificate, .. }) = check_table(&table, &oracle, &()) else { return None };
            Claim { certificate: case.subject.named_in(*certificate), oracle, table }
        }
        "another table" => {
            let other = changed_table(random, table)?;
            let digest = Model::from(other.clone()).digest().unwrap();
            let certificate = replaced(certificate, certificate.table()?, &digest);
            Claim { table: other, certificate, ..honest() }
        }
        "an unnamed table" => Claim { table: changed_table(random, table)?, ..honest() },
        "another grammar" => {
            let text = format!("{}// {}\n", case.text, random.random::<u32>());
            Claim { certificate: certificate.clone().with_grammar(&text), ..honest() }
        }
        "another lexer" => {
            let mut manifest = table.manifest().clone();
            manifest.set_lexer(format!("%%\n[a-z{}] \"n\"\n[ ]+ ;\n", random.random_range(0..10)));
            Claim { table: Table::new(oracle, manifest).ok()?, ..honest() }
        }
        _ => {
            let digest = hex(&Sha256::digest(random.random::<u64>().to_le_bytes()));
            Claim { certificate: replaced(certificate, certificate.automaton(), &digest), ..honest() }
        }
    })
}

/// Returns whether a table accepts another word than the grammar's own, among all short words.
fn differs(case: &Case, table: &Table) -> bool {
    let tokens: Vec<SymbolId> = table.alphabet().terminals().collect();
    let mut words: Vec<Vec<SymbolId>> = vec![Vec::new()];
    let mut at = 0;
    while words.len() < 2000 {
        let longer: Vec<_> = tokens.iter().map(|&token| [&words[at][..], &[token]].concat()).collect();
        words.extend(longer);
        at += 1;
    }
    words
        .into_iter()
        .map(Word::Symbols)
        .any(|word| (table.judge(&word) == Verdict::Accept) != (case.table.judge(&word) == Verdict::Accept))
}

#[test]
fn forged_certificates_of_grammars_lexers_and_tables_are_refused() {
    let count = std::env::var("ECHOSTACK_FORGERIES").ok().and_then(|count| count.parse().ok()).unwrap_or(1200);
    let encodings = [Encoding::Suffix, Encoding::State];
    let cases: Vec<Case> = [NONASSOC, TEMPLATES, LISTS]
        .into_iter()
        .flat_map(|text| encodings.map(|encoding| Case::new(text, encoding)))
        .collect();
    for case in &cases {
        let honest =
            Claim { oracle: case.oracle.clone(), table: case.table.clone(), certificate: case.certificate.clone() };
        assert_eq!(refusing(case, &honest), [""; 0]);
    }
    let kinds =
        ["another automaton", "another table", "an unnamed table", "another grammar", "another lexer", "another name"];
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let (mut made, mut harmless) = (0, 0);
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut only: BTreeMap<&str, usize> = BTreeMap::new();
    while made < count {
        let (case, kind) = (cases.choose(&mut random).unwrap(), *kinds.choose(&mut random).unwrap());
        let Some(claim) = forged(&mut random, case, kind) else { continue };
        made += 1;
        match refusing(case, &claim)[..] {
            [] => {
                // What is accepted must do what the grammar says: the change was one that no word can show.
                let same = claim.table.to_bytes().unwrap() == case.table.to_bytes().unwrap();
                assert!(same || ["another automaton", "another table"].contains(&kind), "{kind}");
                assert!(!differs(case, &claim.table), "{kind}: {}", claim.oracle.automaton().to_json());
                harmless += 1;
            }
            [one] => *only.entry(one).or_default() += 1,
            _ => {}
        }
        *refused.entry(kind).or_default() += 1;
    }
    println!("{made} forgeries, by kind {refused:?}; {harmless} changed nothing and were accepted, no other");
    println!("refused by one check alone, and so accepted without it: {only:?}");
    for check in ["grammar", "translation", "actions", "lexer"] {
        assert!(only.get(check).is_some_and(|&count| count * 50 > made), "{check}: {only:?}");
    }
}
