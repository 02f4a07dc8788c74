//! Reading and writing of traces and contexts as JSON Lines, the format in which other programs can provide training
//! data (described in docs/format.md).

use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::corpus::{Context, Depth};
use super::exercise::{Answer, Exercise};
use super::trace::{Step, Trace, TraceError};
use crate::recognize::Reduction;
use crate::symbol::{Alphabet, AlphabetError, Input, Lookahead, SymbolId, UnknownToken, Word};

/// The reason why a file of traces or contexts could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceFileError {
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line is longer than [`MAX_LINE_BYTES`].
    #[error("line {0} is longer than {MAX_LINE_BYTES} bytes")]
    Long(usize),
    /// A line is not JSON of the right form.
    #[error("line {0}: {1}")]
    Json(usize, serde_json::Error),
    /// The first line is not a header of this version.
    #[error("the first line must be a header with \"echostack\": {0:?} and \"version\": 1")]
    Header(&'static str),
    /// The declared symbols do not form an alphabet.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
    /// A token is not a terminal.
    #[error("line {0}: {1}")]
    Token(usize, UnknownToken),
    /// A pushed symbol is not a declared nonterminal, or a symbol on the stack of a context is not declared.
    #[error("line {0}: {1:?} is pushed but not among the nonterminals")]
    Push(usize, String),
    /// A context does not have exactly one answer.
    #[error("line {0}: there must be one of \"act\", \"shift\" and \"accept\"; \"shift\" requires a next token")]
    Answer(usize),
    /// A trace is faulty.
    #[error("line {0}: {1}")]
    Trace(usize, TraceError),
}

/// The maximum length of a line in a file of traces or contexts, in bytes.
pub const MAX_LINE_BYTES: u64 = 1 << 28;

#[derive(Serialize, Deserialize)]
struct Header {
    echostack: String,
    version: u32,
    terminals: Vec<String>,
    nonterminals: Vec<String>,
    /// The nonterminals that are parser states, unless they are exactly the ones whose names begin with `#`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parser_states: Option<Vec<String>>,
    /// In a file of contexts, the depths of stack and input that a context keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stack: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<usize>,
}

const TRACES: &str = "traces";
const CONTEXTS: &str = "contexts";

impl Header {
    fn new(of: &str, alphabet: &Alphabet, depth: Option<Depth>) -> Self {
        let name = |symbol: SymbolId| alphabet.name(symbol).to_string();
        Self {
            echostack: of.into(),
            version: 1,
            terminals: alphabet.terminals().map(name).collect(),
            nonterminals: alphabet.nonterminals().map(name).collect(),
            parser_states: alphabet.unconventional_states(),
            stack: depth.map(|depth| depth.stack),
            before: depth.map(|depth| depth.before),
        }
    }

    fn parse(text: &str, of: &'static str) -> Result<Self, TraceFileError> {
        let header: Option<Self> = serde_json::from_str(text).ok();
        let header = header.filter(|header| header.echostack == of && header.version == 1);
        header.ok_or(TraceFileError::Header(of))
    }

    fn alphabet(self) -> Result<Arc<Alphabet>, TraceFileError> {
        Ok(Arc::new(Alphabet::from_file(self.terminals, self.nonterminals, self.parser_states)?))
    }
}

impl Alphabet {
    /// Returns the alphabet as the header line of a file of traces. In a Parquet file, this line is part of the
    /// metadata.
    pub fn to_trace_header(&self) -> String {
        serde_json::to_string(&Header::new(TRACES, self, None)).unwrap_or_default()
    }

    /// Returns the alphabet that the header of a file of traces declares.
    ///
    /// # Errors
    /// If the text is not such a header.
    pub fn from_trace_header(header: &str) -> Result<Arc<Self>, TraceFileError> {
        Header::parse(header, TRACES)?.alphabet()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    source: Option<String>,
    word: Tokens,
    steps: Vec<StepJson>,
    /// The range of steps that are trained on, with the end excluded. Defaults to all steps.
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

/// Writes traces: a header line, then one line per trace.
///
/// # Errors
/// If writing fails.
pub fn write_traces(out: &mut dyn Write, alphabet: &Alphabet, traces: &[Trace]) -> io::Result<()> {
    let name = |symbol: SymbolId| alphabet.name(symbol).to_string();
    writeln!(out, "{}", alphabet.to_trace_header())?;
    for trace in traces {
        let step = |step: &Step| StepJson {
            reductions: step.reductions.iter().map(|action| (action.pop, action.push.map(name))).collect(),
            output: step.output.clone(),
            shift: step.shift,
        };
        let word = match trace.word() {
            Word::Symbols(symbols) => Tokens::Names(symbols.iter().copied().map(name).collect()),
            Word::Vectors { .. } => Tokens::Vectors(
                trace
                    .word()
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
            source: Some(trace.source().to_string()),
            word,
            steps: trace.steps().iter().map(step).collect(),
            teach: (taught != (0..trace.steps().len())).then_some([taught.start, taught.end]),
        };
        writeln!(out, "{}", serde_json::to_string(&line)?)?;
    }
    Ok(())
}

/// The nonempty lines of a file, with their numbers.
struct Lines<R> {
    reader: R,
    number: usize,
    text: String,
}

impl<R: BufRead> Lines<R> {
    fn new(reader: R) -> Self {
        Self { reader, number: 0, text: String::new() }
    }

    /// Returns the next line with its number, or `None` at the end of the file.
    fn next(&mut self) -> Result<Option<(usize, &str)>, TraceFileError> {
        loop {
            self.text.clear();
            self.number += 1;
            let read = (&mut self.reader).take(MAX_LINE_BYTES).read_line(&mut self.text)?;
            match read as u64 {
                0 => return Ok(None),
                MAX_LINE_BYTES => return Err(TraceFileError::Long(self.number)),
                _ if self.text.trim().is_empty() => {}
                _ => return Ok(Some((self.number, &self.text))),
            }
        }
    }

    fn header(&mut self, of: &'static str) -> Result<Header, TraceFileError> {
        Header::parse(self.next()?.map_or("", |(_, text)| text), of)
    }
}

/// An iterator over the traces of a file. A trace without a source is named after its line.
pub struct TraceReader<R> {
    alphabet: Arc<Alphabet>,
    lines: Lines<R>,
}

impl<R> fmt::Debug for TraceReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceReader").field("alphabet", &self.alphabet).finish_non_exhaustive()
    }
}

impl<R: BufRead> TraceReader<R> {
    /// Reads the header of the file.
    ///
    /// # Errors
    /// If it is not a header of traces.
    pub fn new(reader: R) -> Result<Self, TraceFileError> {
        let mut lines = Lines::new(reader);
        Ok(Self { alphabet: lines.header(TRACES)?.alphabet()?, lines })
    }

    /// Returns the alphabet that the header declares.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<Trace, TraceFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, text) = match self.lines.next().transpose()? {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        let line = serde_json::from_str(text).map_err(|error| TraceFileError::Json(number, error));
        Some(line.and_then(|line| trace(&self.alphabet, number, line)))
    }
}

/// Reads all traces of a file.
///
/// # Errors
/// See [`TraceFileError`]. A fault in a line is reported with the number of the line.
pub fn read_traces(reader: &mut dyn BufRead) -> Result<(Arc<Alphabet>, Vec<Trace>), TraceFileError> {
    let reader = TraceReader::new(reader)?;
    Ok((reader.alphabet.clone(), reader.collect::<Result<_, _>>()?))
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

/// A file of contexts.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextFile {
    /// The symbols of the contexts.
    pub alphabet: Arc<Alphabet>,
    /// The part of a configuration that a context keeps.
    pub depth: Depth,
    /// The contexts.
    pub contexts: Vec<Context>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextJson {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    /// The next token, or `None` at the end of the word.
    next: Option<String>,
    stack: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    act: Option<(u32, Option<String>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shift: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accept: Option<bool>,
    #[serde(default = "once")]
    count: u64,
    #[serde(default)]
    source: Option<String>,
}

fn once() -> u64 {
    1
}

/// Writes contexts: a header line, then one line per context.
///
/// # Errors
/// If writing fails.
pub fn write_contexts(out: &mut dyn Write, file: &ContextFile) -> io::Result<()> {
    let ContextFile { alphabet, depth, contexts } = file;
    let name = |symbol: SymbolId| alphabet.name(symbol).to_string();
    let names = |symbols: &[SymbolId]| symbols.iter().copied().map(name).collect();
    writeln!(out, "{}", serde_json::to_string(&Header::new(CONTEXTS, alphabet, Some(*depth)))?)?;
    for Context { exercise: Exercise { before, next, stack, answer }, count, source } in contexts {
        let (mut act, mut shift, mut accept) = (None, None, None);
        match *answer {
            Answer::Act(Reduction { pop, push }) => act = Some((pop, push.map(name))),
            Answer::Shift(shifts) => shift = Some(shifts),
            Answer::Output(accepts) => accept = Some(accepts),
        }
        let line = ContextJson {
            before: names(before),
            next: next.token().map(name),
            stack: names(stack),
            act,
            shift,
            accept,
            count: *count,
            source: Some(source.to_string()),
        };
        writeln!(out, "{}", serde_json::to_string(&line)?)?;
    }
    Ok(())
}

/// Reads a file of contexts. A context without a source is named after its line.
///
/// # Errors
/// See [`TraceFileError`]. A fault in a line is reported with the number of the line.
pub fn read_contexts(reader: &mut dyn BufRead) -> Result<ContextFile, TraceFileError> {
    let mut lines = Lines::new(reader);
    let header = lines.header(CONTEXTS)?;
    let depth = header.stack.zip(header.before).map(|(stack, before)| Depth { stack, before });
    let depth = depth.ok_or(TraceFileError::Header(CONTEXTS))?;
    let alphabet = header.alphabet()?;
    let mut contexts = Vec::new();
    while let Some((number, text)) = lines.next()? {
        let line = serde_json::from_str(text).map_err(|error| TraceFileError::Json(number, error))?;
        contexts.push(context(&alphabet, number, line)?);
    }
    Ok(ContextFile { alphabet, depth, contexts })
}

fn context(alphabet: &Alphabet, number: usize, line: ContextJson) -> Result<Context, TraceFileError> {
    let tokens = |names: &[String]| match alphabet.word(names.iter().map(String::as_str)) {
        Ok(Word::Symbols(symbols)) => Ok(symbols),
        Ok(Word::Vectors { .. }) => Ok(Vec::new()),
        Err(error) => Err(TraceFileError::Token(number, error)),
    };
    let known = |name: &String| alphabet.symbol(name).ok_or_else(|| TraceFileError::Push(number, name.clone()));
    let pushed = |name: &String| {
        let symbol = known(name)?;
        let nonterminal = alphabet.is_nonterminal(symbol);
        nonterminal.then_some(symbol).ok_or_else(|| TraceFileError::Push(number, name.clone()))
    };
    let next = tokens(line.next.as_slice())?.first().map_or(Lookahead::End, |&token| Lookahead::Token(token));
    let answer = match (line.act, line.shift, line.accept) {
        (Some((pop, push)), None, None) => Answer::Act(Reduction { pop, push: push.as_ref().map(pushed).transpose()? }),
        (None, Some(shift), None) if next != Lookahead::End => Answer::Shift(shift),
        (None, None, Some(accept)) => Answer::Output(accept),
        _ => return Err(TraceFileError::Answer(number)),
    };
    let stack = line.stack.iter().map(known).collect::<Result<_, _>>()?;
    let source = line.source.unwrap_or_else(|| format!("line {number}")).into();
    let exercise = Exercise { before: tokens(&line.before)?, next, stack, answer };
    Ok(Context { exercise, count: line.count, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recognize::View;
    use crate::tasks::{Split, Task};
    use crate::teach::{Corpus, contradictions};

    #[test]
    fn contexts_come_back_as_they_were_and_faulty_ones_are_refused() {
        let (alphabet, depth) = (Task::Json.alphabet(), Depth { stack: 5, before: 2 });
        let mut corpus = Corpus::new(depth);
        Task::Json.examples(Split::Train, 50, 3).iter().for_each(|trace| corpus.add(trace).unwrap());
        let file = ContextFile { alphabet, depth, contexts: corpus.contexts() };
        let mut text = Vec::new();
        write_contexts(&mut text, &file).unwrap();
        assert_eq!(read_contexts(&mut &text[..]).unwrap(), file);
        assert!(read_traces(&mut &text[..]).unwrap_err().to_string().contains("\"traces\""));

        let header = r#"{"echostack": "contexts", "version": 1, "terminals": ["a"], "nonterminals": ["S"], "stack": 2, "before": 0}"#;
        let read = |line: &str| read_contexts(&mut format!("{header}\n\n{line}\n").as_bytes());
        let fault = |line: &str| read(line).unwrap_err().to_string();
        assert_eq!(*read(r#"{"next": "a", "stack": ["S"], "shift": true}"#).unwrap().contexts[0].source, *"line 3");
        assert!(fault(r#"{"next": null, "stack": [], "shift": true}"#).starts_with("line 3: there must be one of"));
        assert!(fault(r#"{"next": "a", "stack": []}"#).starts_with("line 3: there must be one of"));
        assert!(fault(r#"{"next": "S", "stack": [], "shift": true}"#).starts_with("line 3: token 0"));
        assert!(fault(r#"{"next": "a", "stack": ["b"], "shift": true}"#).contains("\"b\""));
        assert!(fault(r#"{"next": "a", "stack": [], "act": [0, "a"]}"#).contains("\"a\" is pushed"));
    }

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
        // Steps that are not trained on cannot contradict each other.
        let silent: Vec<Trace> = traces.into_iter().map(|trace| trace.teaching(1..9)).collect();
        assert_eq!(contradictions(&silent, View::Symbol, 10), []);
    }
}
