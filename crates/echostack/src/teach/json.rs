//! Traces as JSON Lines, described in docs/format.md: what any other source of teaching writes.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Step, Trace, TraceError};
use crate::recognize::Reduction;
use crate::symbol::{Alphabet, AlphabetError, Input, SymbolId, UnknownToken, Word};

/// Why a file of traces could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line is longer than [`MAX_LINE`].
    #[error("line {0} is longer than {MAX_LINE} bytes")]
    Long(usize),
    /// A line is no JSON of the right form.
    #[error("line {0}: {1}")]
    Json(usize, serde_json::Error),
    /// The first line is no header of this version.
    #[error("the first line must be a header with \"echostack\": \"traces\" and \"version\": 1")]
    Header,
    /// The symbols are faulty.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
    /// A token is no terminal.
    #[error("line {0}: {1}")]
    Token(usize, UnknownToken),
    /// A pushed symbol is not declared.
    #[error("line {0}: {1:?} is pushed but not among the nonterminals")]
    Push(usize, String),
    /// A trace is faulty.
    #[error("line {0}: {1}")]
    Trace(usize, TraceError),
}

/// The longest line of a trace file, in bytes.
pub const MAX_LINE: u64 = 1 << 28;

#[derive(Serialize, Deserialize)]
struct Header {
    echostack: String,
    version: u32,
    terminals: Vec<String>,
    nonterminals: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    source: Option<String>,
    word: Tokens,
    steps: Vec<StepJson>,
    /// The steps that teach, from and to (excluded); all of them without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    teach: Option<[usize; 2]>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Tokens {
    Names(Vec<String>),
    Vectors(Vec<Vec<f64>>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepJson {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reductions: Vec<(u32, Option<String>)>,
    output: Vec<f64>,
    #[serde(default)]
    shift: bool,
}

/// Writes traces: a header line, then a line a trace.
///
/// # Errors
/// If writing fails.
pub fn write_traces(out: &mut dyn Write, alphabet: &Alphabet, traces: &[Trace]) -> io::Result<()> {
    let name = |symbol: SymbolId| alphabet.name(symbol).to_string();
    let header = Header {
        echostack: "traces".into(),
        version: 1,
        terminals: alphabet.terminals().map(name).collect(),
        nonterminals: alphabet.nonterminals().map(name).collect(),
    };
    writeln!(out, "{}", serde_json::to_string(&header)?)?;
    for trace in traces {
        let step = |step: &Step| StepJson {
            reductions: step.reductions.iter().map(|action| (action.pop, action.push.map(name))).collect(),
            output: step.output.clone(),
            shift: step.shift,
        };
        let word = match &trace.word {
            Word::Symbols(symbols) => Tokens::Names(symbols.iter().copied().map(name).collect()),
            Word::Vectors { .. } => Tokens::Vectors(
                trace
                    .word
                    .inputs()
                    .map(|input| match input {
                        Input::Vector(values) => values.to_vec(),
                        Input::Symbol(_) => Vec::new(),
                    })
                    .collect(),
            ),
        };
        let taught = trace.taught();
        let line = Line {
            source: Some(trace.source.to_string()),
            word,
            steps: trace.steps.iter().map(step).collect(),
            teach: (taught != (0..trace.steps.len())).then_some([taught.start, taught.end]),
        };
        writeln!(out, "{}", serde_json::to_string(&line)?)?;
    }
    Ok(())
}

/// Reads traces. A trace without a source is named after its line.
///
/// # Errors
/// See [`TraceFileError`]; each names the line.
pub fn read_traces(reader: &mut dyn BufRead) -> Result<(Arc<Alphabet>, Vec<Trace>), TraceFileError> {
    let mut number = 0;
    let mut text = String::new();
    let mut next = |text: &mut String| -> Result<Option<usize>, TraceFileError> {
        text.clear();
        number += 1;
        let read = (&mut *reader).take(MAX_LINE).read_line(text)?;
        if read as u64 == MAX_LINE {
            return Err(TraceFileError::Long(number));
        }
        Ok((read > 0).then_some(number))
    };
    next(&mut text)?;
    let header: Header = serde_json::from_str(&text).map_err(|_| TraceFileError::Header)?;
    if header.echostack != "traces" || header.version != 1 {
        return Err(TraceFileError::Header);
    }
    let alphabet = Arc::new(Alphabet::new(header.terminals, header.nonterminals)?);
    let mut traces = Vec::new();
    while let Some(number) = next(&mut text)? {
        if text.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(&text).map_err(|error| TraceFileError::Json(number, error))?;
        traces.push(trace(&alphabet, number, line)?);
    }
    Ok((alphabet, traces))
}

fn trace(alphabet: &Alphabet, number: usize, line: Line) -> Result<Trace, TraceFileError> {
    let word = match line.word {
        Tokens::Names(names) => {
            alphabet.word(names.iter().map(String::as_str)).map_err(|error| TraceFileError::Token(number, error))?
        }
        Tokens::Vectors(vectors) => {
            Word::Vectors { width: vectors.first().map_or(0, Vec::len), values: vectors.concat() }
        }
    };
    let push = |name: String| alphabet.symbol(&name).ok_or(TraceFileError::Push(number, name));
    let mut steps = Vec::with_capacity(line.steps.len());
    for StepJson { reductions, output, shift } in line.steps {
        let reductions = reductions
            .into_iter()
            .map(|(pop, name)| Ok(Reduction { pop, push: name.map(push).transpose()? }))
            .collect::<Result<_, TraceFileError>>()?;
        steps.push(Step { reductions, output, shift });
    }
    let source = line.source.unwrap_or_else(|| format!("line {number}"));
    let trace = Trace::new(alphabet, source, word, steps).map_err(|error| TraceFileError::Trace(number, error))?;
    Ok(match line.teach {
        Some([from, to]) => trace.teaching(from..to),
        None => trace,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recognize::View;
    use crate::tasks::{Split, Task};
    use crate::teach::contradictions;

    #[test]
    fn traces_come_back_as_they_were() {
        for task in Task::ALL {
            let mut traces = task.examples(Split::Train, 5, 3);
            traces[0] = traces[0].clone().teaching(1..2);
            let mut text = Vec::new();
            write_traces(&mut text, &task.alphabet(), &traces).unwrap();
            let (alphabet, again) = read_traces(&mut &text[..]).unwrap();
            assert_eq!(again, traces, "{task}");
            assert_eq!(alphabet.terminals().len(), task.alphabet().terminals().len());
            assert_eq!(contradictions(&again, View::Reservoir, 10), []);
        }
    }

    #[test]
    fn faulty_files_are_refused_with_the_line() {
        let header = r#"{"echostack": "traces", "version": 1, "terminals": ["a"], "nonterminals": ["S"]}"#;
        let fault = |line: &str| read_traces(&mut format!("{header}\n{line}\n").as_bytes()).unwrap_err().to_string();
        assert!(read_traces(&mut &b"{}"[..]).unwrap_err().to_string().contains("header"));
        assert!(fault(r#"{"word": ["b"], "steps": []}"#).starts_with("line 2: token 0 is \"b\""));
        assert!(
            fault(r#"{"word": [], "steps": [{"output": [1], "reductions": [[0, "T"]]}]}"#).contains("\"T\" is pushed")
        );
        assert!(fault(r#"{"word": [], "steps": [{"output": [1], "reductions": [[3, "S"]]}]}"#).contains("pops 3"));
        assert!(fault("7").starts_with("line 2: "));
        assert!(fault(r#"{"word": [[1, 2], [3]], "steps": [{"output": [1]}]}"#).starts_with("line 2: "));
    }

    #[test]
    fn contradictions_name_both_sources() {
        let header = r#"{"echostack": "traces", "version": 1, "terminals": ["a"], "nonterminals": ["S"]}"#;
        let refuse = r#"{"source": "first", "word": ["a"], "steps": [{"output": [0]}]}"#;
        let accept =
            r#"{"source": "second", "word": ["a"], "steps": [{"output": [0], "shift": true}, {"output": [1]}]}"#;
        let read = |text: String| read_traces(&mut text.as_bytes()).unwrap().1;
        let traces = read(format!("{header}\n{refuse}\n{accept}\n{accept}\n"));
        let found = contradictions(&traces, View::Symbol, 10);
        assert_eq!(found.len(), 2, "each with the first");
        assert_eq!(found[0].places, [(0, 0), (1, 0)]);
        assert_eq!(found[0].actions, ["output [0.0], refuse", "output [0.0], shift"]);
        // What only leads somewhere claims nothing.
        let silent: Vec<Trace> = traces.into_iter().map(|trace| trace.teaching(1..9)).collect();
        assert_eq!(contradictions(&silent, View::Symbol, 10), []);
    }
}
