//! Machines with two stacks: against the tape, the rules and each other; proofs, forged certificates and damaged machines.
#![cfg(feature = "machine")]

use echostack::Word;
use echostack::recognize::Outcome;
use echostack::reservoir::ReservoirKind;
use echostack::symbol::SymbolId;
use echostack::turing::{
    RunLimits, Teacher, TwoStackCertificate, TwoStackLearned, TwoStackLearning, TwoStackMachine, TwoStackProof,
    TwoStackRun, check, prove,
};

fn teacher(name: &str) -> Teacher {
    let path = format!("{}/../../testdata/turing/{name}", env!("CARGO_MANIFEST_DIR"));
    Teacher::read(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn learn(teacher: &Teacher) -> TwoStackLearned {
    let learned = TwoStackLearning::default().learn(teacher, &()).unwrap();
    assert!(learned.certificate.is_some(), "{:?}", learned.open);
    learned
}

/// The tape that the stacks at the end of a run stand for, without blanks around it, by the numbers of its symbols.
fn tape(teacher: &Teacher, run: &TwoStackRun) -> Vec<usize> {
    let machine = teacher.machine().unwrap();
    let count = machine.symbols().len();
    let blank = machine.symbols().iter().position(|name| name == machine.blank()).unwrap();
    let [left, right] = &run.stacks;
    let cells = left.iter().chain(right.iter().rev()).map(|symbol| symbol.index());
    let cells: Vec<usize> = cells.filter(|&symbol| symbol < count).collect();
    let written = |cell: &usize| *cell != blank;
    match (cells.iter().position(written), cells.iter().rposition(written)) {
        (Some(first), Some(last)) => cells[first..=last].to_vec(),
        _ => Vec::new(),
    }
}

/// Compares a run of the machine with the tape and with the rules.
fn compare(teacher: &Teacher, machine: &TwoStackMachine, word: &[usize], steps: u64) {
    let tokens: Vec<SymbolId> = word.iter().map(|&token| SymbolId::new(token)).collect();
    let actions = steps + word.len() as u64 + 1;
    let limits = RunLimits { actions, ..RunLimits::default() };
    let run = machine.run(&Word::Symbols(tokens.clone()), limits);
    assert_eq!(run, teacher.rules().run(&tokens, limits));
    let Some(turing) = teacher.machine() else { return };
    let expected = turing.run(word, steps);
    assert_eq!(expected.accepts.is_none(), matches!(run.outcome, Outcome::Stopped { .. }), "{word:?}");
    if let Some(accepts) = expected.accepts {
        assert_eq!(run.outcome == Outcome::Accept, accepts, "{word:?}");
        assert_eq!(run.actions, expected.steps + word.len() as u64 + 1);
        assert_eq!(tape(teacher, &run), expected.cells, "{word:?}");
    }
    assert_eq!(run.output, expected.output);
}

fn all_words(tokens: usize, longest: usize) -> Vec<Vec<usize>> {
    let mut words = vec![vec![]];
    let mut at = 0;
    while at < words.len() {
        if words[at].len() < longest {
            (0..tokens).for_each(|token| words.push([&words[at][..], &[token]].concat()));
        }
        at += 1;
    }
    words
}

#[test]
fn busy_beavers_take_their_steps() {
    for (name, steps, ones) in [("busy-beaver-2.tm", 6, 4), ("busy-beaver-3.tm", 21, 5), ("busy-beaver-4.tm", 107, 13)]
    {
        let teacher = teacher(name);
        let TwoStackLearned { machine, .. } = learn(&teacher);
        let run = machine.run(&Word::Symbols(vec![]), RunLimits::default());
        assert_eq!((run.outcome, run.actions), (Outcome::Incomplete, steps + 1), "{name}");
        assert_eq!(
            tape(&teacher, &run).iter().filter(|&&cell| teacher.machine().unwrap().symbols()[cell] == "1").count(),
            ones
        );
        compare(&teacher, &machine, &[], steps);
        assert_eq!(machine.clone().memoized().run(&Word::Symbols(vec![]), RunLimits::default()), run);
    }
}

#[test]
fn a_machine_with_memory_does_the_same() {
    let TwoStackLearned { machine, .. } = learn(&teacher("busy-beaver-5.tm"));
    let limits = RunLimits { actions: 3_000, ..RunLimits::default() };
    let run = machine.run(&Word::Symbols(vec![]), limits);
    assert!(matches!(run.outcome, Outcome::Stopped { .. }));
    assert_eq!(machine.memoized().run(&Word::Symbols(vec![]), limits), run);
}

#[test]
fn machines_do_what_the_tape_does() {
    for (name, tokens, longest, steps) in [
        ("increment.tm", 2, 7, 1_000),
        ("anbncn.tm", 3, 5, 1_000),
        ("multiply.tm", 3, 4, 1_000),
        ("parity.tm", 2, 6, 1_000),
        ("anbncn.stacks", 3, 5, 1_000),
    ] {
        let teacher = teacher(name);
        let TwoStackLearned { machine, .. } = learn(&teacher);
        let machine = machine.memoized();
        for word in all_words(tokens, longest) {
            compare(&teacher, &machine, &word, steps);
        }
    }
}

#[test]
fn a_saved_machine_is_the_same() {
    let teacher = teacher("increment.tm");
    let TwoStackLearned { machine, certificate, .. } = learn(&teacher);
    let bytes = machine.to_bytes().unwrap();
    assert!(TwoStackMachine::is_two_stacks(&bytes));
    let read = TwoStackMachine::from_bytes(&bytes).unwrap();
    assert_eq!(read.to_bytes().unwrap(), bytes);
    let certificate = certificate.unwrap();
    let again = TwoStackCertificate::from_json(&certificate.to_json()).unwrap();
    assert_eq!(again, certificate);
    check(&again, &read, &teacher, &()).unwrap();
}

#[test]
fn a_machine_with_a_changed_entry_is_refused_by_name() {
    let teacher = teacher("increment.tm");
    let source = teacher.source().replace("carry 0 _ -> done 1 S", "carry 0 _ -> done 0 S");
    let changed = Teacher::read(&source).unwrap();
    let TwoStackLearned { machine, certificate, .. } = learn(&changed);
    let TwoStackProof::Open { cells, .. } = prove(&machine, &teacher, &()).unwrap() else { panic!("it is proved") };
    assert!(cells.iter().all(|cell| cell.wrong && cell.rule.contains("state carry and symbol")), "{cells:?}");
    // The checker names the entry, too, if the digest says that the certificate is for this teacher.
    let json = certificate.unwrap().to_json();
    let own = learn(&teacher).certificate.unwrap().to_json();
    let digest = |json: &str| json.split("\"teacher\":\"").nth(1).unwrap()[..64].to_string();
    let forged = TwoStackCertificate::from_json(&json.replace(&digest(&json), &digest(&own))).unwrap();
    let error = check(&forged, &machine, &teacher, &()).unwrap_err().to_string();
    assert!(error.contains("the entry for state carry and symbol"), "{error}");
}

#[test]
fn forged_certificates_are_refused() {
    let teacher = teacher("increment.tm");
    // A small machine, because it is read and bounded for each forgery.
    let learning = TwoStackLearning::default().with_reservoir(ReservoirKind::Cycle, 48, 0);
    let TwoStackLearned { machine, certificate, .. } = learning.learn(&teacher, &()).unwrap();
    let json = certificate.unwrap().to_json();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let refused = |value: &serde_json::Value| {
        let certificate = TwoStackCertificate::from_json(&value.to_string()).unwrap();
        check(&certificate, &machine, &teacher, &()).expect_err(&value.to_string()).to_string()
    };
    // Each part of the shape is needed.
    for part in ["first", "second", "tops"] {
        for at in 0..value["shape"][part].as_array().unwrap().len() {
            let mut forged = value.clone();
            forged["shape"][part].as_array_mut().unwrap().remove(at);
            refused(&forged);
        }
    }
    // So is each letter of the trees, and no other letter can take its place.
    for (tree, letters) in value["cells"].as_array().unwrap().iter().enumerate() {
        let letters = letters.as_str().unwrap();
        for at in 0..letters.len() {
            for other in ["", ".", "1", "2", "x"] {
                let mut text = letters.to_string();
                text.replace_range(at..=at, other);
                if text != letters {
                    let mut forged = value.clone();
                    forged["cells"][tree] = text.into();
                    // A cell that is split further than needed may still be covered.
                    let certificate = TwoStackCertificate::from_json(&forged.to_string()).unwrap();
                    assert!(check(&certificate, &machine, &teacher, &()).is_err(), "{forged}");
                }
            }
        }
        let mut forged = value.clone();
        forged["cells"][tree] = format!("{letters}.").into();
        refused(&forged);
    }
    for (key, other) in [("arithmetic", 2.into()), ("machine", "0".repeat(64).into()), ("teacher", "".into())] {
        let mut forged = value.clone();
        forged[key] = other;
        refused(&forged);
    }
    let mut forged = value.clone();
    forged["cells"].as_array_mut().unwrap().pop();
    refused(&forged);
    for (part, row) in
        [("first", vec![0, 99]), ("second", vec![99, 1]), ("tops", vec![9, 0, 0]), ("tops", vec![0, 99, 0])]
    {
        let mut forged = value.clone();
        forged["shape"][part].as_array_mut().unwrap().push(row.into());
        assert!(refused(&forged).contains("does not exist"));
    }
}

#[test]
fn mutated_machines_are_refused_or_do_the_same() {
    let teacher = teacher("busy-beaver-3.tm");
    let TwoStackLearned { machine, certificate, .. } = learn(&teacher);
    let json = certificate.unwrap().to_json();
    let bytes = machine.to_bytes().unwrap();
    let digest = |json: &str| json.split("\"machine\":\"").nth(1).unwrap()[..64].to_string();
    let (mut refused, mut kept) = (0, 0);
    // The numbers of the readouts are in the last part of the file.
    for at in (bytes.len() / 4..bytes.len()).step_by(bytes.len() / 150) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        let Ok(mutant) = TwoStackMachine::from_bytes(&damaged) else { continue };
        // The digest is forged, too: the checker has to find out by itself.
        let Ok(TwoStackProof::Proved(own)) = prove(&mutant, &teacher, &()) else {
            refused += 1;
            continue;
        };
        let own = own.to_json();
        let forged = TwoStackCertificate::from_json(&json.replace(&digest(&json), &digest(&own))).unwrap();
        if check(&forged, &mutant, &teacher, &()).is_ok() {
            compare(&teacher, &mutant, &[], 100);
            kept += 1;
        }
    }
    assert!(refused > 0 && kept > 0, "{refused} refused, {kept} kept");
}

#[test]
fn texts_are_read_strictly() {
    let start = "turing machine\ninput 0\nblank _\nstart a\n";
    let cases = [
        (String::new(), "the first line must be `turing machine` or `two stacks`"),
        ("turing machine\ninput 0\nstart a\na 0 -> a 0 R\n".into(), "there is no line `blank NAME`"),
        (format!("{start}a 0 -> a 0 X\n"), "line 5: \"X\" is no move; write L, R or S"),
        (
            format!("{start}a 0 -> a 0 R\na 0 -> a 0 L\n"),
            "line 6: there is already an entry for state \"a\" and symbol \"0\"",
        ),
        (format!("{start}a -> a 0 R\n"), "line 5: an entry needs at least one symbol to read before `->`"),
        (
            format!("{start}a 0 a 0 R\n"),
            "line 5: \"a\" begins neither a rule, which has `->`, nor one of: input, blank, start, accept",
        ),
        (format!("{start}a 0 -> 0 0 R\n"), "\"0\" is both a state and a symbol; rename one of them"),
        (format!("{start}start b\n"), "line 5: there is a second line `start`; put everything into one"),
        (
            "turing machine\ninput 0 0\nblank _\nstart a\na 0 -> a 0 R\n".into(),
            "line 2: an input symbol is named twice",
        ),
        (
            "turing machine\ninput 0\nblank 0\nstart a\na 0 -> a 0 R\n".into(),
            "line 3: the blank cannot be an input symbol",
        ),
        ("two stacks\ninput a\n".into(), "there are no rules"),
        (
            "two stacks\ninput a\nb | | a -> shift\n".into(),
            "line 3: \"b\" is not among the symbols; declare it in `input` or `symbols`",
        ),
        (
            "two stacks\ninput a\na | a -> shift\n".into(),
            "line 3: before `->` comes `FIRST | SECOND | NEXT`, where FIRST and SECOND may be empty",
        ),
        (
            "two stacks\ninput a\na | | * -> a |\n".into(),
            "the rule in line 3: it neither pops nor pushes, so it would be taken for ever",
        ),
        (
            "two stacks\ninput a\nsymbols a\n| | * -> a |\n".into(),
            "the symbol \"a\" is named twice; give every terminal and nonterminal its own name",
        ),
    ];
    for (text, message) in cases {
        let error = Teacher::read(&text).unwrap_err().to_string();
        assert!(error.ends_with(message), "{error:?} instead of {message:?}");
    }
    let long = format!("two stacks\ninput a\n{} | | * -> |\n", "a ".repeat(9));
    assert!(Teacher::read(&long).unwrap_err().to_string().contains("at most 8 symbols"));
    assert!(Teacher::read(&"x".repeat(2 << 20)).unwrap_err().to_string().contains("bytes"));
}
