//! The models, automata, certificates and grammars that the targets begin with. They are those of `testdata`.

use std::sync::LazyLock;

use echostack::turing::{Teacher, TwoStackLearning, TwoStackMachine};
use echostack::{Automaton, Machine, Manifest, Oracle, SymbolId, Table};
use echostack_grammar::{Encoding, Grammar, Judge, Lexer, Subject};
use sha2::{Digest, Sha256};

/// Includes a file of `testdata/files/0.1`.
macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../testdata/files/0.1/", $name))
    };
}

macro_rules! text {
    ($name:literal) => {
        include_str!(concat!("../../testdata/files/0.1/", $name))
    };
}

/// The machines.
pub const MACHINES: [&[u8]; 6] = [
    file!("dyck1.safetensors"),
    file!("anbn.safetensors"),
    file!("csv.safetensors"),
    file!("latch.safetensors"),
    file!("palindrome.constructed.safetensors"),
    file!("copy.safetensors"),
];

/// The automata of the first machines.
pub const AUTOMATA: [&str; 5] = [
    text!("dyck1.automaton.json"),
    text!("anbn.automaton.json"),
    text!("csv.automaton.json"),
    text!("latch.automaton.json"),
    text!("palindrome.automaton.json"),
];

/// The certificates of the first machines.
pub const CERTIFICATES: [&str; 3] =
    [text!("dyck1.certificate.json"), text!("anbn.certificate.json"), text!("csv.certificate.json")];

/// Turing machines, and rules with two stacks.
pub const TEACHERS: [&str; 4] = [
    include_str!("../../testdata/turing/increment.tm"),
    include_str!("../../testdata/turing/busy-beaver-3.tm"),
    include_str!("../../testdata/turing/parity.tm"),
    include_str!("../../testdata/turing/anbncn.stacks"),
];

/// A machine with two stacks that is proved.
#[derive(Debug)]
pub struct TwoStacks {
    /// The machine.
    pub machine: TwoStackMachine,
    /// Its file.
    pub bytes: Vec<u8>,
    /// The Turing machine that it simulates.
    pub teacher: Teacher,
    /// The certificate.
    pub certificate: String,
    /// A Turing machine with the same symbols and states, and one entry that differs.
    pub other: Teacher,
    /// The digests of both, as in certificates.
    pub digests: [String; 2],
}

/// The machine that is taught and proved for the target `two_stacks`.
pub static TWO_STACKS: LazyLock<TwoStacks> = LazyLock::new(|| {
    let teacher = Teacher::read(TEACHERS[0]).unwrap();
    let other = Teacher::read(&TEACHERS[0].replace("carry 0 _ -> done 1 S", "carry 0 _ -> done 0 S")).unwrap();
    let learned = TwoStackLearning::default().learn(&teacher, &()).unwrap();
    let digests = [&teacher, &other].map(|teacher| echostack::digest::hex(&Sha256::digest(teacher.source())));
    let certificate = learned.certificate.unwrap().to_json();
    let machine = learned.machine;
    TwoStacks { bytes: machine.to_bytes().unwrap(), machine, teacher, certificate, other, digests }
});

/// Files with traces.
pub const TRACES: [&str; 3] = [text!("dyck1.traces.jsonl"), text!("copy.traces.jsonl"), text!("csv.traces.jsonl")];

/// Includes the grammar and the lexer of a folder in `testdata/grammars`.
macro_rules! grammar {
    ($name:literal) => {
        (
            include_str!(concat!("../../testdata/grammars/", $name, "/grammar.y")),
            include_str!(concat!("../../testdata/grammars/", $name, "/lexer.l")),
            include_str!(concat!("../../testdata/grammars/", $name, "/cases.toml")),
        )
    };
}

/// Grammars, lexers, and texts with what is wrong with them.
pub const GRAMMARS: [(&str, &str, &str); 5] =
    [grammar!("json"), grammar!("xml"), grammar!("arithmetic"), grammar!("lua"), grammar!("csv")];

/// A language in all the forms that must agree.
#[derive(Debug)]
pub struct Subjects {
    /// The automaton.
    pub oracle: Oracle,
    /// The machine, which is proved to do the same.
    pub machine: Machine,
    /// The same machine with a memory.
    pub quick: Machine,
    /// The automaton as a table.
    pub table: Table,
}

/// The languages with automata.
pub static SUBJECTS: LazyLock<Vec<Subjects>> = LazyLock::new(|| {
    let subject = |(automaton, machine): (&&str, &&[u8])| {
        let oracle = Oracle::strict(Automaton::from_json(automaton).unwrap()).unwrap();
        let machine = Machine::from_bytes(machine).unwrap();
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        Subjects { oracle, quick: machine.clone().memoized(), machine, table }
    };
    AUTOMATA.iter().zip(&MACHINES).map(subject).collect()
});

/// Tables as files: one with states that fit in a byte, and one with a lexer.
pub static TABLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut files = vec![file!("csv.table.safetensors").to_vec()];
    files.extend(SUBJECTS.iter().map(|subject| subject.table.to_bytes().unwrap()));
    files.extend(JUDGES.iter().take(3).map(|judge| judge.model().table().unwrap().to_bytes().unwrap()));
    files
});

/// Tables with the lexers of their grammars. The lexer of the last one is left out, so that it reads characters.
pub static JUDGES: LazyLock<Vec<Judge>> = LazyLock::new(|| {
    let judge = |(yacc, lex, _): &(&str, &str, &str)| {
        let grammar = Grammar::new("grammar", yacc, Encoding::Auto).unwrap();
        let subject = Subject::of_grammar(grammar, Some(Lexer::new(lex).unwrap()));
        Judge::new(subject.table(&()).unwrap().into()).unwrap()
    };
    let characters = Judge::without_lexer(SUBJECTS[0].table.clone().into());
    GRAMMARS.iter().map(judge).chain([characters]).collect()
});

/// An automaton over the symbols of the first machine, which differs from the one that the machine was proved for: it
/// does not allow nesting.
pub static FLAT: LazyLock<Oracle> = LazyLock::new(|| {
    let flat = r#"{"terminals": ["(", ")"], "nonterminals": ["S"], "accepting": ["S"], "rules": [
        {"suffix": ["S", "(", ")"], "lookahead": null, "pop": 3, "push": "S"},
        {"anchored": true, "suffix": ["(", ")"], "lookahead": null, "pop": 2, "push": "S"}]}"#;
    Oracle::strict(Automaton::from_json(flat).unwrap()).unwrap()
});

/// Returns the digest of an automaton, as in certificates.
pub fn digest(oracle: &Oracle) -> String {
    echostack::digest::hex(&Sha256::digest(oracle.automaton().to_json()))
}

/// Returns a word of the symbols that bytes stand for. One byte in each round of the alphabet stands for no symbol.
pub fn word(bytes: &[u8], terminals: usize) -> Vec<SymbolId> {
    let symbol = |byte: &u8| match usize::from(*byte) % (terminals + 1) {
        number if number == terminals => SymbolId::UNKNOWN,
        number => SymbolId::new(number),
    };
    bytes.iter().map(symbol).collect()
}

/// Returns all words up to a length, but not more than a number of them.
pub fn short_words(terminals: usize, most: usize) -> Vec<Vec<SymbolId>> {
    let mut all: Vec<Vec<SymbolId>> = vec![Vec::new()];
    let mut at = 0;
    while terminals > 0 && all.len() < most {
        for symbol in 0..terminals.min(most - all.len()) {
            let mut longer = all[at].clone();
            longer.push(SymbolId::new(symbol));
            all.push(longer);
        }
        at += 1;
    }
    all
}
