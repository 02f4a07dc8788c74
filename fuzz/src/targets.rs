//! The targets. None of them may panic.

use std::io::Read;
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::Duration;

use arrow_array::builder::{FixedSizeListBuilder, Int32Builder, LargeListBuilder, ListBuilder, StringBuilder};
use arrow_array::builder::{StringDictionaryBuilder, UInt8Builder};
use arrow_array::types::UInt8Type;
use arrow_array::{Array, ArrayRef, StringArray, StringViewArray};
use echostack::certify::check;
use echostack::control::Budget;
use echostack::recognize::{Mode, Outcome, Recovery, Status, mistakes};
use echostack::symbol::Input;
use echostack::table::Lanes;
use echostack::teach::{read_contexts, read_traces, write_contexts, write_traces};
use echostack::turing::{self, RunLimits, Teacher, TwoStackMachine};
use echostack::{
    Automaton, Certificate, Limits, Manifest, Model, Oracle, Recognizer, Scanner, Session, SymbolId, Table, Verdict,
    Word,
};
use echostack_arrow::Words;
use echostack_grammar::{Encoding, Grammar, Judge, Judgement, Lexer};
use echostack_infer::program::{Pattern, Reply, split};

use crate::edit::Base;
use crate::fixtures::{
    AUTOMATA, CERTIFICATES, FLAT, JUDGES, MACHINES, SUBJECTS, Subjects, TABLES, TEACHERS, TRACES, TWO_STACKS,
    TwoStacks, digest, short_words, word,
};

/// A target, which gets bytes that nobody has checked.
pub type Target = fn(&[u8]);

/// All targets, by name.
pub const ALL: [(&str, Target); 13] = [
    ("model", model),
    ("table", table),
    ("certificate", certificate),
    ("grammar", grammar),
    ("lexer", lexer),
    ("automaton", automaton),
    ("two_stacks", two_stacks),
    ("traces", traces),
    ("words", words),
    ("stream", stream),
    ("recovery", recovery),
    ("arrow", arrow),
    ("answers", answers),
];

/// Small limits, so that a machine that loops or pushes without end is stopped soon.
const LIMITS: Limits = Limits { depth: 1 << 10, actions: 64, actions_per_symbol: 2 };

/// Returns a file: what follows the first byte as it is, or as edits of one of the bases.
fn file(bases: &[Base], data: &[u8]) -> Option<Vec<u8>> {
    let (&first, rest) = data.split_first()?;
    Some(match bases.get((usize::from(first) % (bases.len() + 1)).wrapping_sub(1)) {
        Some(base) => base.edited(rest),
        None => rest.to_vec(),
    })
}

/// The bytes of a machine or a table: a model that is read can be run and written, and comes back the same.
pub fn model(data: &[u8]) {
    static BASES: LazyLock<Vec<Base>> =
        LazyLock::new(|| MACHINES.iter().map(|bytes| Base::safetensors(bytes)).collect());
    let Some(bytes) = file(&BASES, data) else { return };
    let Ok(model) = Model::from_bytes(&bytes) else { return };
    let words: Vec<Word> = short_words(model.alphabet().terminals().len(), 12).into_iter().map(Word::Symbols).collect();
    let verdicts: Vec<Verdict> = words.iter().map(|word| model.judge_with(word, LIMITS, &mut ())).collect();
    if let Some(machine) = model.machine() {
        let again = Model::from_bytes(&machine.to_bytes().unwrap()).expect("what was written can be read");
        assert_eq!(words.iter().map(|word| again.judge_with(word, LIMITS, &mut ())).collect::<Vec<_>>(), verdicts);
        let exact = echostack::Machine::from_bytes(&bytes).unwrap();
        let without: Vec<Verdict> = words.iter().map(|word| exact.judge_with(word, LIMITS, &mut ())).collect();
        assert_eq!(without, verdicts, "the memory changes a verdict");
    }
    _ = Judge::new(model);
}

/// The bytes of a table: whatever is in it, all ways to run it agree.
pub fn table(data: &[u8]) {
    static BASES: LazyLock<Vec<Base>> = LazyLock::new(|| TABLES.iter().map(|bytes| Base::safetensors(bytes)).collect());
    let Some(bytes) = file(&BASES, data) else { return };
    let Ok(table) = Table::from_bytes(&bytes) else { return };
    assert!(Table::from_bytes(&table.to_bytes().unwrap()).is_ok(), "what was written can be read");
    let terminals = table.alphabet().terminals().len();
    let mut words = short_words(terminals, 60);
    words.push(word(data, terminals));
    // Within the usual limits, a word this long is read in segments, and so many tokens are worth computing frames.
    words.push(
        word(data, terminals.max(2) - 1)
            .into_iter()
            .cycle()
            .take(if data.len().is_multiple_of(32) { 5_000 } else { 400 })
            .collect(),
    );
    for limits in [LIMITS, Limits::default()] {
        all_agree(&table, &words, limits, |word| table.judge_with(&Word::Symbols(word.to_vec()), limits, &mut ()));
    }
}

/// Checks that a table judges words as an oracle does, in each of its ways.
fn all_agree(table: &Table, words: &[Vec<SymbolId>], limits: Limits, mut oracle: impl FnMut(&[SymbolId]) -> Verdict) {
    let verdicts: Vec<Verdict> = words.iter().map(|word| oracle(word)).collect();
    let mut scanner = Scanner::new(table, limits);
    for (word, verdict) in words.iter().zip(&verdicts) {
        let mut fresh = Scanner::new(table, limits);
        fresh.read(word);
        assert_eq!(fresh.finish(), *verdict, "scanner");
        scanner.read(word);
        assert_eq!(scanner.finish(), *verdict, "scanner, after other words");
        let mut session = table.start(limits);
        for part in word.chunks(7) {
            let status = scanner.read(part);
            _ = part.iter().all(|&token| session.feed(Input::Symbol(token), &mut ()) == Status::Open);
            assert_eq!((status, scanner.position()), (session.status(), session.position()), "scanner, a part");
        }
        assert_eq!(scanner.finish(), *verdict, "scanner, in parts");
    }
    let mut lanes = Lanes::new(table, limits);
    let repeated = || words.iter().cycle().take(3 * words.len()).map(Vec::as_slice);
    for _ in 0..2 {
        let found: Vec<Verdict> = lanes.judge(repeated());
        assert!(found.iter().eq(verdicts.iter().cycle().take(found.len())), "lanes");
    }
    let outcomes: Vec<Outcome> = lanes.judge(repeated());
    assert!(outcomes.iter().zip(verdicts.iter().cycle()).all(|(outcome, verdict)| *outcome == verdict.outcome()));
}

/// A certificate: the machine of the first certificate is not the one of another automaton, whatever is claimed.
pub fn certificate(data: &[u8]) {
    static BASES: LazyLock<Vec<Base>> = LazyLock::new(|| CERTIFICATES.iter().map(|text| Base::text(text)).collect());
    static DIGESTS: LazyLock<[String; 2]> = LazyLock::new(|| [digest(&SUBJECTS[0].oracle), digest(&FLAT)]);
    let Some(bytes) = file(&BASES, data) else { return };
    let Ok(text) = String::from_utf8(bytes) else { return };
    let budget = || Budget::new(200_000);
    if let Ok(honest) = Certificate::from_json(&text) {
        assert_eq!(Certificate::from_json(&honest.to_json()).unwrap().to_json(), honest.to_json());
        for subject in SUBJECTS.iter().take(CERTIFICATES.len()) {
            _ = check(&honest, &subject.machine, &subject.oracle, &budget());
        }
    }
    let [own, other] = &*DIGESTS;
    if let Ok(forged) = Certificate::from_json(&text.replace(own, other)) {
        let proved = check(&forged, &SUBJECTS[0].machine, &FLAT, &budget());
        assert!(proved.is_err(), "a machine was proved to do what it does not do");
    }
}

/// A grammar in Yacc's syntax: its automaton, in both encodings, accepts what its table accepts.
pub fn grammar(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for encoding in [Encoding::Suffix, Encoding::State] {
        let Ok(grammar) = Grammar::new("grammar", text, encoding) else { continue };
        let automaton = echostack::language::Language::automaton(&grammar).clone();
        let Ok(oracle) = Oracle::new(automaton, Mode::Strict, &Budget::new(20)) else { continue };
        for word in short_words(oracle.alphabet().terminals().len(), 20) {
            let tokens: Vec<usize> = word.iter().map(|token| token.index()).collect();
            let verdict = oracle.judge_with(&Word::Symbols(word), LIMITS, &mut ());
            let stopped = matches!(verdict, Verdict::Stopped { .. });
            assert!(stopped || verdict.is_accept() == grammar.table().accepts(&tokens), "{encoding}: {tokens:?}");
        }
    }
}

/// A lexer in Lex's syntax, up to a line `=====`, and a text that it splits, whole and in parts.
pub fn lexer(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (source, text) = text.split_once("\n=====\n").unwrap_or((text, "1 + (x * \"a\") <b/> -- 7.5e3"));
    let Ok(lexer) = Lexer::new(source) else { return };
    let (lexemes, fault) = lexer.tokens(text);
    let mut end = 0;
    for lexeme in &lexemes {
        assert!(lexeme.start >= end && lexeme.end > lexeme.start, "tokens overlap");
        assert!(text.get(lexeme.start..lexeme.end).is_some(), "a token ends within a character");
        end = lexeme.end;
    }
    assert!(fault.is_none_or(|fault| fault.byte() >= end as u64 && text.is_char_boundary(fault.byte() as usize)));
}

/// An automaton: if it is valid, its table judges words as the automaton does.
pub fn automaton(data: &[u8]) {
    static BASES: LazyLock<Vec<Base>> = LazyLock::new(|| AUTOMATA.iter().map(|text| Base::text(text)).collect());
    let Some(bytes) = file(&BASES, data) else { return };
    let Ok(text) = String::from_utf8(bytes) else { return };
    let Ok(automaton) = Automaton::from_json(&text) else { return };
    assert_eq!(Automaton::from_json(&automaton.to_json()).unwrap().to_json(), automaton.to_json());
    let Ok(oracle) = Oracle::new(automaton, Mode::Strict, &Budget::new(20)) else { return };
    let Ok(table) = Table::compile(&oracle, Manifest::default(), &Budget::new(20)) else { return };
    let terminals = oracle.alphabet().terminals().len();
    let mut words = short_words(terminals, 40);
    words.push(word(data, terminals));
    all_agree(&table, &words, LIMITS, |word| oracle.judge_with(&Word::Symbols(word.to_vec()), LIMITS, &mut ()));
}

/// Machines with two stacks. The first byte says whether the input is a teacher's text, a machine or a certificate.
pub fn two_stacks(data: &[u8]) {
    static TEXTS: LazyLock<Vec<Base>> = LazyLock::new(|| TEACHERS.iter().map(|text| Base::text(text)).collect());
    static FILES: LazyLock<Vec<Base>> = LazyLock::new(|| vec![Base::safetensors(&TWO_STACKS.bytes)]);
    static PROOFS: LazyLock<Vec<Base>> = LazyLock::new(|| vec![Base::text(&TWO_STACKS.certificate)]);
    let Some((&kind, rest)) = data.split_first() else { return };
    let bytes = match kind % 3 {
        0 => file(&TEXTS, rest),
        1 => file(&FILES, rest),
        _ => file(&PROOFS, rest),
    };
    let Some(bytes) = bytes else { return };
    if kind % 3 == 1 {
        return two_stack_machine(&bytes);
    }
    let Ok(text) = String::from_utf8(bytes) else { return };
    if kind % 3 == 0 {
        return two_stack_teacher(&text);
    }
    let TwoStacks { machine, teacher, other, digests, .. } = &*TWO_STACKS;
    let budget = || Budget::new(200_000);
    if let Ok(honest) = turing::TwoStackCertificate::from_json(&text) {
        assert_eq!(turing::TwoStackCertificate::from_json(&honest.to_json()).unwrap(), honest);
        _ = turing::check(&honest, machine, teacher, &budget());
    }
    if let Ok(forged) = turing::TwoStackCertificate::from_json(&text.replace(&digests[0], &digests[1])) {
        let proved = turing::check(&forged, machine, other, &budget());
        assert!(proved.is_err(), "a machine was proved to simulate another Turing machine");
    }
}

/// Small limits for runs with two stacks.
const RUN: RunLimits = RunLimits { actions: 500, depth: 200 };

/// A teacher: if it is a Turing machine, its rules do what it does on its tape.
fn two_stack_teacher(text: &str) {
    let Ok(teacher) = Teacher::read(text) else { return };
    let rules = teacher.rules();
    for word in short_words(rules.alphabet().terminals().len(), 12) {
        let run = rules.run(&word, RUN);
        let Some(machine) = teacher.machine() else { continue };
        let tokens: Vec<usize> = word.iter().map(|token| token.index()).collect();
        let steps = (RUN.actions).saturating_sub(word.len() as u64 + 1);
        let tape = machine.run(&tokens, steps);
        if let (Some(accepts), false) = (tape.accepts, matches!(run.outcome, Outcome::Stopped { .. })) {
            assert_eq!((accepts, &tape.output), (run.outcome.is_accept(), &run.output), "{tokens:?}");
            assert_eq!(tape.steps + word.len() as u64 + 1, run.actions, "{tokens:?}");
        }
    }
}

/// The bytes of a machine with two stacks: what is read can be run and written, and the memory changes no run.
fn two_stack_machine(bytes: &[u8]) {
    let Ok(machine) = TwoStackMachine::from_bytes(bytes) else { return };
    let again = TwoStackMachine::from_bytes(&machine.to_bytes().unwrap()).expect("what was written can be read");
    let quick = again.clone().memoized();
    for word in short_words(machine.alphabet().terminals().len(), 6).into_iter().map(Word::Symbols) {
        let run = machine.run(&word, RUN);
        assert_eq!(again.run(&word, RUN), run, "written and read");
        assert_eq!(quick.run(&word, RUN), run, "the memory changes a run");
    }
}

/// Traces and contexts: what is read can be written, and comes back the same.
pub fn traces(data: &[u8]) {
    static BASES: LazyLock<Vec<Base>> = LazyLock::new(|| TRACES.iter().map(|text| Base::text(text)).collect());
    let Some(bytes) = file(&BASES, data) else { return };
    if let Ok((alphabet, traces)) = read_traces(&mut bytes.as_slice()) {
        let mut written = Vec::new();
        write_traces(&mut written, &alphabet, &traces).unwrap();
        let (_, again) = read_traces(&mut written.as_slice()).expect("what was written can be read");
        assert_eq!(again, traces);
    }
    if let Ok(file) = read_contexts(&mut bytes.as_slice()) {
        let mut written = Vec::new();
        write_contexts(&mut written, &file).unwrap();
        let mut twice = Vec::new();
        write_contexts(&mut twice, &read_contexts(&mut written.as_slice()).expect("what was written can be read"))
            .unwrap();
        assert!(twice == written);
    }
}

/// A word against automaton, machine, machine with a memory, and table.
pub fn words(data: &[u8]) {
    let Some(([which, times], rest)) = data.split_first_chunk() else { return };
    let Subjects { oracle, machine, quick, table } = &SUBJECTS[usize::from(*which) % SUBJECTS.len()];
    let terminals = oracle.alphabet().terminals().len();
    let once = word(rest, terminals);
    let verdict = |word: &[SymbolId]| oracle.judge_with(&Word::Symbols(word.to_vec()), LIMITS, &mut ());
    let mut parts: Vec<Vec<SymbolId>> = once.chunks(9).map(<[SymbolId]>::to_vec).collect();
    // Now and then, a word that is long enough to be read in segments.
    if *times == 77 {
        parts.push(once.iter().copied().filter(|symbol| *symbol != SymbolId::UNKNOWN).cycle().take(6_000).collect());
    }
    parts.push(once);
    all_agree(table, &parts, LIMITS, verdict);
    for part in parts.iter().filter(|part| part.len() < 500) {
        let (word, verdict) = (Word::Symbols(part.clone()), verdict(part));
        assert_eq!(machine.judge_with(&word, LIMITS, &mut ()), verdict, "machine");
        assert_eq!(quick.judge_with(&word, LIMITS, &mut ()), verdict, "machine with a memory");
        // A copy of a session continues independently, and its expected tokens are those that can follow.
        let mut session = quick.start(LIMITS);
        for &symbol in part {
            let before = session.clone();
            if session.feed(Input::Symbol(symbol), &mut ()) != Status::Open {
                let expected = before.expected();
                assert!(
                    !expected.contains(&echostack::Lookahead::Token(symbol))
                        || session.clone().finish(&mut ()).limit().is_some()
                );
                break;
            }
        }
        assert_eq!(session.finish(&mut ()), verdict, "session");
    }
}

/// A reader that returns parts of the given lengths, again and again.
struct Parts<'a> {
    text: &'a [u8],
    lengths: std::iter::Cycle<std::slice::Iter<'a, u8>>,
}

impl Read for Parts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.lengths.next().map_or(1, |length| usize::from(*length) + 1);
        let length = length.min(buffer.len());
        self.text.read(&mut buffer[..length])
    }
}

/// Returns a judge, the lengths of parts, and a text.
fn text(data: &[u8]) -> Option<(&'static Judge, &[u8], &[u8])> {
    let (header, text) = data.split_first_chunk::<5>()?;
    let judge = &JUDGES[usize::from(header[0]) % JUDGES.len()];
    Some((judge, &header[1..], text))
}

/// A text that is read in parts: how it is cut does not matter.
pub fn stream(data: &[u8]) {
    let Some((judge, lengths, text)) = text(data) else { return };
    let whole = judge.judge_stream(&mut &*text, LIMITS).unwrap();
    for lengths in [lengths, &[]] {
        let parts = judge.judge_stream(&mut Parts { text, lengths: lengths.iter().cycle() }, LIMITS).unwrap();
        assert_eq!(parts.verdict, whole.verdict);
        // An excerpt shows what has been read of the line, so it may be shorter.
        let facts = |one: &Judgement| {
            one.fault.as_ref().map(|fault| (fault.byte, fault.kind.clone(), fault.place.line, fault.place.column))
        };
        assert_eq!(facts(&parts), facts(&whole));
    }
    if let Ok(text) = std::str::from_utf8(text) {
        assert_eq!(judge.judge_tokens(text, &judge.tokens(text), LIMITS, &mut ()), whole);
    }
}

/// A text in which all mistakes are looked for: the first one is the one that is found without looking further.
pub fn recovery(data: &[u8]) {
    let Some((judge, lengths, text)) = text(data) else { return };
    let recovery = Recovery {
        mistakes: usize::from(lengths[0] % 8) + 1,
        shifts: usize::from(lengths[1] % 5) + 1,
        edits: usize::from(lengths[2] % 7),
        steps: 2_000,
        time: Duration::from_secs(2),
    };
    let found = judge.judge_with_recovery(text, LIMITS, &recovery);
    assert_eq!(found[0], judge.judge_stream(&mut &*text, LIMITS).unwrap());
    assert!(found.len() <= recovery.mistakes);
    let bytes: Vec<u64> = found.iter().filter_map(|one| Some(one.fault.as_ref()?.byte)).collect();
    assert!(bytes.is_sorted() && bytes.last().is_none_or(|byte| *byte <= text.len() as u64), "{bytes:?}");
    let terminals = judge.alphabet().terminals().len();
    mistakes(judge.model(), &word(text, terminals), LIMITS, &recovery);
}

/// Columns of words: a row is judged as the word in it.
pub fn arrow(data: &[u8]) {
    let Some(([which, kind, from, width], rest)) = data.split_first_chunk() else { return };
    let judge = &JUDGES[usize::from(*which) % JUDGES.len()];
    let alphabet = judge.alphabet();
    let terminals = alphabet.terminals().len();
    // Rows end where a byte is 255, and are null if they end in 254.
    let rows: Vec<&[u8]> = rest.split(|byte| *byte == 255).collect();
    let name = |byte: &u8| match usize::from(*byte) % (terminals + 2) {
        number if number < terminals => Some(alphabet.name(SymbolId::new(number)).to_string()),
        number => (number == terminals).then(|| "no such token".to_string()),
    };
    let is_null = |row: &[u8]| row.last() == Some(&254);
    let text = |row: &&[u8]| (!is_null(row)).then(|| String::from_utf8_lossy(row).into_owned());
    let texts: Vec<Option<String>> = rows.iter().map(text).collect();
    let array: ArrayRef = match kind % 7 {
        0 => {
            let mut list = ListBuilder::new(StringBuilder::new());
            for row in &rows {
                row.iter().for_each(|byte| list.values().append_option(name(byte)));
                list.append(!is_null(row));
            }
            Arc::new(list.finish())
        }
        1 => {
            let mut list = LargeListBuilder::new(Int32Builder::new());
            for row in &rows {
                row.iter().for_each(|byte| list.values().append_value(i32::from(byte.cast_signed())));
                list.append(!is_null(row));
            }
            Arc::new(list.finish())
        }
        2 => {
            let width = usize::from(width % 5);
            let mut list = FixedSizeListBuilder::new(UInt8Builder::new(), width as i32);
            for row in &rows {
                (0..width).for_each(|at| list.values().append_option(row.get(at).copied()));
                list.append(!is_null(row));
            }
            Arc::new(list.finish())
        }
        3 => Arc::new(StringArray::from(texts)),
        4 => Arc::new(StringViewArray::from_iter(texts)),
        5 => {
            let mut list = StringDictionaryBuilder::<UInt8Type>::new();
            texts.iter().take(200).for_each(|text| list.append_option(text.as_deref()));
            Arc::new(list.finish())
        }
        _ => Arc::new(UInt8Builder::new().finish()),
    };
    let from = usize::from(*from) % (array.len() + 1);
    let array = array.slice(from, array.len() - from);
    let Ok(words) = Words::read(&array, judge) else {
        assert_eq!(kind % 7, 6);
        return;
    };
    let verdicts: Vec<Option<Verdict>> = words.judge(judge, LIMITS);
    assert_eq!(verdicts.len(), array.len());
    for (row, verdict) in verdicts.iter().enumerate() {
        assert_eq!(verdict.is_none(), array.is_null(row));
        let tokens = words.get(row);
        let again = tokens.map(|tokens| judge.model().judge_with(&Word::Symbols(tokens.to_vec()), LIMITS, &mut ()));
        assert_eq!(*verdict, again);
    }
    let (actions, outcomes) = words.actions(judge, LIMITS);
    assert_eq!(actions.len(), array.len());
    assert!(outcomes.iter().zip(&verdicts).all(|(a, b)| *a == b.as_ref().map(Verdict::outcome)));
}

/// What a program says that is asked about texts, and how it is called.
pub fn answers(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (line, rest) = text.split_once('\n').unwrap_or((&text, ""));
    _ = Reply::from_line(line);
    _ = split(line);
    if let Ok(pattern) = Pattern::new(line) {
        let (message, text) = rest.split_once('\n').unwrap_or((rest, ""));
        _ = pattern.find(message, text);
    }
}
