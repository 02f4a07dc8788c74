//! Tests of grammars that are written for other tools. Those for Yacc are read back here; `tools/exports.py` compares all
//! of them with the tools themselves.
#![cfg(feature = "machine")]

use std::path::Path;

use echostack::certify::{Proof, check};
use echostack::extract::extract;
use echostack::language::{Language, Walks, WordKind, draw};
use echostack::recognize::{Mode, Outcome, View, judge_all};
use echostack::reservoir::ReservoirKind;
use echostack::tasks::Task;
use echostack::{Limits, Oracle, Params, Study, Word};
use echostack_grammar::{Encoding, Export, ExportError, Grammar, Lexer, Notation};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Returns all words up to a length that is chosen so that there are about `most` of them.
fn short_words(terminals: usize, most: usize) -> Vec<Word> {
    let mut words = vec![Vec::new()];
    let mut from = 0;
    while words.len() * terminals < most {
        let longer: Vec<Vec<usize>> = words[from..]
            .iter()
            .flat_map(|word| (0..terminals).map(move |token| [&word[..], &[token]].concat()))
            .collect();
        from = words.len();
        words.extend(longer);
    }
    words
        .into_iter()
        .map(|word| Word::from(word.into_iter().map(echostack::SymbolId::new).collect::<Vec<_>>()))
        .collect()
}

/// Asserts that grmtools reads the written grammar without conflicts, and that it has the same words.
fn read_back(name: &str, oracle: &Oracle) {
    let alphabet = oracle.automaton().alphabet();
    let written = Export::of_oracle(oracle, None).unwrap().write(Notation::Yacc).unwrap().text;
    let grammar =
        Grammar::new(name, &written, Encoding::State).unwrap_or_else(|error| panic!("{name}: {error}\n{written}"));
    let again = Oracle::strict(grammar.automaton().clone()).unwrap();
    let walks = Walks::new(name, oracle.clone());
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut words = short_words(alphabet.terminals().len(), 20_000);
    for number in 0..600 {
        words.extend(draw(&walks, oracle, WordKind::ALL[number % 3], 1..=40, &mut random));
    }
    // In the grammar that was read back, tokens are called by their identifiers.
    let declared = |name: &str| {
        let mut lines = written.lines().filter(|line| line.starts_with("%token "));
        let line = lines.find(|line| line.split_once(" \"").is_some_and(|(_, alias)| alias == format!("{name}\"")));
        line.and_then(|line| line.split(' ').nth(1)).unwrap_or_else(|| panic!("{name}\n{written}"))
    };
    let names = |word: &Word| -> Option<Word> {
        let tokens = word.inputs().map(|input| match input {
            echostack::symbol::Input::Symbol(symbol) => declared(alphabet.name(symbol)),
            echostack::symbol::Input::Vector(_) => unreachable!("words of symbols"),
        });
        grammar.automaton().alphabet().word(tokens).ok()
    };
    // A token that occurs in no production has no name in that grammar; words with such a token are wrong and are
    // skipped.
    let (known, renamed): (Vec<Word>, Vec<Word>) =
        words.into_iter().filter_map(|word| names(&word).map(|renamed| (word, renamed))).unzip();
    let wanted: Vec<Outcome> = judge_all(oracle, &known, Limits::default());
    let given: Vec<Outcome> = judge_all(&again, &renamed, Limits::default());
    let mut accepted = 0;
    for ((word, wanted), given) in known.iter().zip(&wanted).zip(&given) {
        assert_eq!(wanted.is_accept(), given.is_accept(), "{name}: {word:?}\n{written}");
        accepted += usize::from(wanted.is_accept());
    }
    assert!(accepted >= 200 && accepted < known.len(), "{name}: {accepted} of {} words accepted", known.len());
}

#[test]
fn machines_of_grammars_are_read_back() {
    for (name, most) in [("json", 20), ("arithmetic", 60), ("xml", 25), ("sexpr", 30)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars").join(name);
        let (grammar, _) = Grammar::open(&path, Encoding::Auto).unwrap();
        let params =
            Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 256, 0) };
        let study = Study { words: 20, ..Study::default() };
        let (machine, proof) = study.prove(&grammar, &params.check().unwrap(), &(), &mut |_| {}).unwrap();
        assert!(matches!(proof, Proof::Proved(_)), "{name}");
        let found = extract(&machine, &()).unwrap_or_else(|error| panic!("{name}: {error}"));
        check(&found.certificate, &machine, &found.oracle, &()).unwrap();
        let rules = found.oracle.automaton().rules().len();
        assert!(rules <= most, "{name}: {rules} rules\n{}", found.oracle.automaton());
    }
}

#[test]
fn the_papers_languages_are_written_for_yacc() {
    for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
        read_back(task.name(), &Oracle::strict(task.automaton().unwrap()).unwrap());
    }
}

#[test]
fn shipped_grammars_are_written_for_yacc() {
    for name in ["dyck1", "dyck3", "palindrome", "json-tokens", "json", "csv", "sexpr", "arithmetic", "xml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars").join(name);
        let (grammar, _) = Grammar::open(&path, Encoding::Auto).unwrap();
        read_back(name, &Oracle::strict(grammar.automaton().clone()).unwrap());
    }
}

/// Writes a grammar with its lexer in a notation.
fn written(grammar: &str, lexer: &str, notation: Notation) -> Result<String, ExportError> {
    let grammar = Grammar::new("small", grammar, Encoding::Auto).unwrap();
    Export::of_grammar(&grammar, Some(&Lexer::new(lexer).unwrap())).write(notation).map(|exported| exported.text)
}

#[test]
fn what_a_notation_cannot_express_is_refused() {
    let grammar = "%start S\n%%\nS: 'A' | S 'A' | S 'B';\n";
    let with = |lexer: &str, notation| written(grammar, lexer, notation);
    let states = "%x X\n%%\na \"A\"\n<INITIAL>b <X>\"B\"\n<X>c <INITIAL>;\n";
    for notation in [Notation::Lark, Notation::Gbnf, Notation::Llguidance] {
        let error = with(states, notation).unwrap_err();
        assert!(matches!(error, ExportError::StartStates(..)), "{error}");
    }
    let flex = with(states, Notation::Flex).unwrap();
    assert!(flex.contains("%x X\n") && flex.contains("BEGIN(INITIAL)"), "{flex}");
    // a+ must be tried before a, which is shorter, and a before a+, which has the same text.
    let error = with("%%\nab? \"A\"\na+c? \"B\"\n", Notation::Lark).unwrap_err();
    assert!(matches!(error, ExportError::Order(..)), "{error}");
    // The longer alternative is written first, because Lark takes the first one that matches.
    assert!(with("%%\na|ab \"A\"\nc \"B\"\n", Notation::Lark).unwrap().contains("A: /ab|a/\n"));
    let grammar = Grammar::new("small", grammar, Encoding::Auto).unwrap();
    assert_eq!(Export::of_grammar(&grammar, None).write(Notation::Flex), Err(ExportError::NoLexer));
}

#[test]
fn tokens_are_whole_for_llguidance_where_a_longer_match_is_a_token_that_can_come() {
    let lexer = "%%\nprint \"print\"\n[a-z]+ \"NAME\"\n= \"=\"\n; \";\"\n[ ]+ ;\n";
    let whole = |rules: &str| {
        let text = written(&format!("%start S\n%%\n{rules}\n"), lexer, Notation::Llguidance).unwrap();
        text.contains("%ignore")
    };
    // printx is a name. A name can begin a statement, too, so llguidance reads it as one.
    assert!(whole("S: T | S ';' T; T: 'print' 'NAME' | 'NAME' '=' 'NAME';"));
    // Here, only print can come. llguidance would read it, and then the name x.
    assert!(!whole("S: T | S ';' T; T: 'print' 'NAME';"));
    // Names can come in the same words, but not in the same places.
    let rules = "S: 'NAME' T; T: '=' 'print' 'NAME';";
    assert!(!whole(rules));
    let text = written(&format!("%start S\n%%\n{rules}\n"), lexer, Notation::Llguidance).unwrap();
    assert!(text.contains("\nNAME: /[a-z]+/ & ~/print/\n") && text.contains(" \"print\" "), "{text}");
    // A longer match that does not come about is given up, which llguidance does not do.
    let lexer = "%%\n[0-9]+ \"NUMBER\"\n[0-9]+[.][0-9]+ \"REAL\"\n[.] \".\"\n";
    let text = written("%start S\n%%\nS: 'REAL' | 'NUMBER' '.' '.' 'NUMBER';\n", lexer, Notation::Llguidance).unwrap();
    assert!(!text.contains("[0-9]+"), "{text}");
}

#[test]
fn the_longest_match_counts_in_a_grammar_over_characters() {
    // After <b, a name may not begin with ody, and directly after a name, there is no other.
    let lexer = "%%\n\\<b \"<b\"\n\\<body \"<body\"\n[a-z]+ \"NAME\"\n[ ]+ ;\n";
    let grammar = "%start S\n%%\nS: '<b' N | '<body' N;\nN: | N 'NAME';\n";
    let text = written(grammar, lexer, Notation::Gbnf).unwrap();
    let after = text.lines().find(|line| line.contains("[a-np-z]")).unwrap_or_else(|| panic!("{text}"));
    assert!(after.contains("\"o\"") || after.contains("[o]"), "{text}");
    // Where nothing can be confused, the rules are those of the grammar.
    let text =
        written("%start S\n%%\nS: 'a' | S ',' 'a';\n", "%%\na \"a\"\n, \",\"\n[ ]+ ;\n", Notation::Gbnf).unwrap();
    let expected = "root ::= ws s\nws ::= \"\" | skipped\ns ::= \"a\" ws (\",\" ws \"a\" ws)*\nskipped ::= \" \"+\n";
    assert_eq!(text, expected);
}

#[test]
fn the_empty_language_and_odd_names_are_written() {
    let none = r#"{"terminals": ["a"], "nonterminals": ["S"], "accepting": ["S"], "rules": []}"#;
    let oracle = Oracle::strict(echostack::Automaton::from_json(none).unwrap()).unwrap();
    let export = Export::of_oracle(&oracle, None).unwrap();
    assert!(export.write(Notation::Yacc).unwrap().text.ends_with("start\n    : \"a\" start\n    ;\n"));
    assert!(export.write(Notation::Lark).unwrap().text.contains("start: \"a\" start\n"));
    assert!(export.write(Notation::Gbnf).unwrap().text.starts_with("root ::= \"a\" root\n"));
    let odd = r#"{"terminals": ["\n", "\"", "\\", "é", "a_b", "A-B"], "nonterminals": ["S"], "accepting": ["S"],
        "rules": [{"suffix": ["\n", "\"", "\\", "é", "a_b", "A-B"], "lookahead": null, "pop": 6, "push": "S"}]}"#;
    let oracle = Oracle::strict(echostack::Automaton::from_json(odd).unwrap()).unwrap();
    let export = Export::of_oracle(&oracle, None).unwrap();
    let lark = export.write(Notation::Lark).unwrap().text;
    let quoted = r#"start: "\n" "\"" "\\" "é" "a_b" "A-B""#;
    assert!(lark.contains(quoted), "{lark}");
}
