//! The inputs that a campaign begins with, from `testdata`.

use serde::Deserialize;

use crate::fixtures::{AUTOMATA, CERTIFICATES, GRAMMARS, MACHINES, TABLES, TEACHERS, TRACES, TWO_STACKS};

/// The texts in a `cases.toml`.
#[derive(Deserialize)]
struct Cases {
    accept: Vec<String>,
    reject: Vec<Rejected>,
}

#[derive(Deserialize)]
struct Rejected {
    text: String,
}

/// Returns the texts of a grammar.
fn texts(cases: &str) -> Vec<String> {
    let cases: Cases = toml::from_str(cases).unwrap();
    cases.accept.into_iter().chain(cases.reject.into_iter().map(|one| one.text)).collect()
}

/// Returns the inputs for a target.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    // Files as they are, and no edits of each base.
    let whole = |files: &mut dyn Iterator<Item = Vec<u8>>| {
        let files: Vec<Vec<u8>> = files.collect();
        let raw = files.iter().filter(|file| file.len() < 20_000).map(|file| [&[0], file.as_slice()].concat());
        raw.chain((1..=files.len()).map(|base| vec![base as u8, 0, 0, 0, b' ', 0, 0])).collect::<Vec<_>>()
    };
    let of_text = |prefix: &dyn Fn(u8) -> Vec<u8>| {
        let grammars = GRAMMARS.iter().enumerate();
        let inputs = grammars.flat_map(|(number, (_, _, cases))| {
            texts(cases).into_iter().map(move |text| (number as u8, text.into_bytes()))
        });
        inputs.map(|(number, text)| [prefix(number), text].concat()).collect::<Vec<_>>()
    };
    match target {
        "model" => whole(&mut MACHINES.iter().map(|file| file.to_vec())),
        "table" => whole(&mut TABLES.iter().cloned()),
        "certificate" => whole(&mut CERTIFICATES.iter().map(|file| file.as_bytes().to_vec())),
        "automaton" => whole(&mut AUTOMATA.iter().map(|file| file.as_bytes().to_vec())),
        "two_stacks" => {
            let files: [Vec<Vec<u8>>; 3] = [
                TEACHERS.iter().map(|text| text.as_bytes().to_vec()).collect(),
                vec![TWO_STACKS.bytes.clone()],
                vec![TWO_STACKS.certificate.clone().into_bytes()],
            ];
            let kinds = files.into_iter().enumerate();
            let seeds = kinds.flat_map(|(kind, files)| {
                whole(&mut files.into_iter()).into_iter().map(move |seed| [&[kind as u8], &seed[..]].concat())
            });
            seeds.collect()
        }
        "traces" => whole(&mut TRACES.iter().map(|file| file.as_bytes().to_vec())),
        "grammar" => GRAMMARS.iter().map(|(yacc, _, _)| yacc.as_bytes().to_vec()).collect(),
        "lexer" => {
            let pair = |(_, lexer, cases): &(&str, &str, &str)| format!("{lexer}\n=====\n{}", texts(cases)[0]);
            GRAMMARS.iter().map(|grammar| pair(grammar).into_bytes()).collect()
        }
        "words" => {
            let words: [&[u8]; 5] =
                [&[0, 0, 1, 1, 0, 1], &[0, 0, 0, 1, 1, 1], &[2, 1, 2, 0, 3, 0], &[0, 1, 1, 0, 0], &[0, 1, 2, 1, 0]];
            words.iter().enumerate().map(|(which, word)| [&[which as u8, 1], *word].concat()).collect()
        }
        "stream" => of_text(&|number| vec![number, 0, 2, 1, 4]),
        "recovery" => of_text(&|number| vec![number, 5, 2, 3, 0]),
        "arrow" => (0..7).flat_map(|kind| of_text(&|number| vec![number, kind, 0, 3])).collect(),
        "answers" => {
            let lines = [
                "true",
                "false",
                "{\"valid\": false, \"at\": 3}",
                "python3 -m parser \"a b\" 'c'",
                "line (?<line>[0-9]+) column (?<column>[0-9]+)\nerror in line 1 column 2\nab",
                "at (?<byte>[0-9]+)\nerror at 1\néa",
            ];
            lines.iter().map(|line| line.as_bytes().to_vec()).collect()
        }
        _ => Vec::new(),
    }
}
