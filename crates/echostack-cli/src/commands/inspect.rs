//! `echostack inspect`: shows the contents of a model, a table, or any other file that echostack writes.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use echostack::certify::Size;
use echostack::file::{MAX_BYTES, read_text};
use echostack::machine::Readout;
use echostack::teach::{read_contexts, read_traces};
use echostack::turing::TwoStackMachine;
use echostack::{Alphabet, Automaton, Certificate, Machine, Model, SymbolId, Table, Trace};
use echostack_grammar::Subject;
use serde_json::{Map, Value, json};

use crate::outcome::Outcome;
use crate::output::{count, print_json};
use crate::session::{Opened, Session};
use crate::two_stacks;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Grammar (a folder, or NAME.y), table, machine, certificate, automaton, traces or contexts
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a file contains: fields of a JSON object, and lines of text.
#[derive(Default)]
struct Facts {
    fields: Map<String, Value>,
    lines: Vec<String>,
}

impl Facts {
    fn new(kind: &str) -> Self {
        let mut facts = Self::default();
        facts.field("kind", kind);
        facts
    }

    fn field(&mut self, key: &str, value: impl Into<Value>) {
        self.fields.insert(key.to_string(), value.into());
    }

    fn line(&mut self, key: &str, value: impl std::fmt::Display) {
        self.lines.push(format!("{key:10} {value}"));
    }

    /// Adds the names of the terminals and of the nonterminals.
    fn alphabet(&mut self, alphabet: &Alphabet) {
        let name = |symbol: SymbolId| alphabet.name(symbol).to_string();
        let names: [Vec<String>; 2] =
            [alphabet.terminals().map(name).collect(), alphabet.nonterminals().map(name).collect()];
        for ((key, verb), names) in [("terminals", "reads"), ("nonterminals", "pushes")].into_iter().zip(names) {
            self.line(verb, names.join(" "));
            self.field(key, names);
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let path = &args.file;
    let mut facts = match two_stacks::open(session, path)? {
        Some(machine) => of_two_stacks(&machine),
        None => of_file(path, session)?,
    };
    let bytes = if path.is_dir() { None } else { Some(std::fs::metadata(path)?.len()) };
    if args.json {
        bytes.into_iter().for_each(|bytes| facts.field("bytes", bytes));
        print_json(&facts.fields.into())?;
        return Ok(Outcome::Accepted);
    }
    let mut out = std::io::stdout().lock();
    if let Some(bytes) = bytes {
        writeln!(out, "{}: {bytes} bytes", path.display())?;
    }
    facts.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(Outcome::Accepted)
}

/// Returns the facts about a file that is not a machine with two stacks.
fn of_file(path: &Path, session: &Session) -> Result<Facts> {
    Ok(match session.open(path) {
        Ok(Opened { model, grammar: None }) => of_model(&model),
        Ok(Opened { model, grammar: Some(subject) }) => of_grammar(&subject, &model),
        Err(error) => match of_text(path)? {
            Some(facts) => facts,
            None => return Err(error),
        },
    })
}

/// Returns the facts about a machine with two stacks.
fn of_two_stacks(machine: &TwoStackMachine) -> Facts {
    let mut facts = Facts::new("machine with two stacks");
    facts.alphabet(machine.alphabet());
    let ([first, second], neurons) = (machine.centers(), machine.reservoir().neurons());
    facts.field("outputs", machine.outputs());
    facts.field("neurons", neurons);
    facts.field("centers", json!({"first": first, "second": second}));
    facts.field("manifest", json!(machine.manifest()));
    if !machine.outputs().is_empty() {
        facts.line("writes", machine.outputs().join(" "));
    }
    facts.line("neurons", neurons);
    facts.line("centers", format_args!("{first} for the first stack, {second} for the second"));
    machine.manifest().iter().for_each(|(key, value)| facts.line(key, settings(key, value)));
    facts.line("runs as", "the machine; `echostack run` shows a run");
    facts.line("certified", "not by this file; `echostack certify FILE --against TEACHER --check CERTIFICATE` says");
    facts
}

/// Returns the facts about a grammar, and about the table that it is compiled to.
fn of_grammar(subject: &Subject, model: &Model) -> Facts {
    let mut facts = Facts::new("grammar");
    facts.alphabet(model.alphabet());
    if let Some(grammar) = subject.grammar() {
        let (productions, states) = (grammar.table().productions().len(), grammar.table().states());
        facts.field("productions", productions);
        facts.field("parser_states", states);
        let (productions, states) = (count(productions, "production"), count(states, "parser state"));
        facts.line("grammar", format_args!("{productions}, {states}"));
    }
    let lexer = match subject.lexer() {
        Some(_) => "found, so texts are read",
        None => "none (NAME.l beside NAME.y, or lexer.l beside grammar.y), so tokens are read",
    };
    facts.line("lexer", lexer);
    facts.field("lexer", subject.lexer().is_some());
    model.table().into_iter().for_each(|table| add_table(&mut facts, table));
    facts.line("runs as", "the table, compiled when it is needed; no machine is trained");
    facts.line("certified", "no; `echostack certify GRAMMAR --against GRAMMAR -o CERTIFICATE` certifies the table");
    facts
}

fn of_model(model: &Model) -> Facts {
    let kind = if model.table().is_some() { "table" } else { "machine" };
    let mut facts = Facts::new(kind);
    facts.alphabet(model.alphabet());
    model.machine().into_iter().for_each(|machine| add_machine(&mut facts, machine));
    model.table().into_iter().for_each(|table| add_table(&mut facts, table));
    facts.field("manifest", json!(model.manifest()));
    model.manifest().iter().for_each(|(key, value)| facts.line(key, settings(key, value)));
    facts.line("runs as", format_args!("the {kind}"));
    facts.line("certified", "not by this file; `echostack certify FILE --against GRAMMAR --check CERTIFICATE` says");
    facts
}

/// Returns a value of a manifest for people: settings are recorded as Rust writes values, such as
/// `Cycle(Cycle { neurons: 256, signs: Seed(0) })`.
fn settings(key: &str, value: &str) -> String {
    let fields = value.split_once(" { ").and_then(|(kind, rest)| Some((kind, rest.rsplit_once(" }")?.0)));
    let Some((kind, fields)) = fields else { return value.to_string() };
    let kind = kind.split('(').next().unwrap_or_default().to_lowercase();
    let fields = fields.replace(": ", " ").replace(['_', '('], " ").replace(')', "");
    let fields = fields.replace("Seed", "seed").replace(".0,", ",");
    if kind == key { fields } else { format!("{kind}: {fields}") }
}

fn add_table(facts: &mut Facts, table: &Table) {
    let (actions, memory) = table.size();
    facts.field("states", table.states());
    facts.field("actions", actions);
    facts.field("memory", memory);
    let (states, actions) = (count(table.states(), "state"), count(actions, "action"));
    facts.line("table", format_args!("{states}, {actions} in {memory} bytes"));
}

fn add_machine(facts: &mut Facts, machine: &Machine) {
    let readouts = [Readout::Pop, Readout::Push, Readout::Shift, Readout::Output];
    let [pop, push, shift, output] = readouts.map(|readout| machine.support(readout));
    let (inputs, stacks) = machine.centers();
    let rows = machine.lessons().actions().len();
    let neurons = machine.reservoir().neurons();
    facts.field("mode", json!(machine.mode()));
    facts.field("lookahead", json!(machine.view()));
    facts.field("neurons", neurons);
    facts.field("support", json!({"pop": pop, "push": push, "shift": shift, "output": output}));
    facts.field("centers", json!({"input": inputs, "stack": stacks}));
    facts.field("contexts", rows);
    facts.line("mode", format_args!("{}, lookahead {}", machine.mode().name(), machine.view().name()));
    facts.line("neurons", neurons);
    facts.line("trained on", count(rows, "training row"));
    facts.line("support", format_args!("pop {pop}, push {push}, shift {shift}, output {output}"));
    facts.line("centers", format_args!("{inputs} for the input, {stacks} for the stack"));
}

/// Returns the facts about a file in JSON or JSON Lines, or `None` if it is none that echostack writes.
fn of_text(path: &Path) -> Result<Option<Facts>> {
    let Ok(text) = read_text(path, MAX_BYTES) else { return Ok(None) };
    let first = serde_json::Deserializer::from_str(&text).into_iter::<Value>().next();
    let Some(Ok(first)) = first else { return Ok(None) };
    let header = first.get("echostack").and_then(Value::as_str);
    let facts = match header {
        Some("traces") => of_traces(&text),
        Some("contexts") => of_contexts(&text),
        _ if first.get("certificate").is_some() => of_certificate(&text, path),
        _ if first.get("rules").is_some() => of_automaton(&text),
        _ => return Ok(None),
    };
    facts.map(Some).with_context(|| format!("could not use {}", path.display()))
}

fn of_certificate(text: &str, path: &Path) -> Result<Facts> {
    let certificate = Certificate::from_json(text)?;
    let Size { cells, stacks, depth, input, .. } = certificate.size();
    let mut facts = Facts::new("certificate");
    facts.field("cells", cells);
    facts.field("stacks", stacks);
    facts.field("depth", depth);
    facts.field("input", input);
    let parts = [
        ("machine", certificate.machine()),
        ("table", certificate.table()),
        ("automaton", Some(certificate.automaton())),
        ("grammar", certificate.grammar()),
        ("lexer", certificate.lexer()),
    ];
    for (name, digest) in parts {
        facts.field(name, digest);
    }
    if certificate.machine().is_some() {
        let proof = format_args!("certificate with {} on {}", count(cells, "cell"), count(stacks, "stack suffix"));
        facts.line("proof", proof);
    }
    for (name, digest) in parts.into_iter().filter_map(|(name, digest)| Some((name, digest?))) {
        facts.line(name, format_args!("sha256 {digest}"));
    }
    let path = path.display();
    facts.line("check it", format_args!("echostack certify MODEL --against AUTOMATON --check {path}"));
    Ok(facts)
}

fn of_automaton(text: &str) -> Result<Facts> {
    let automaton = Automaton::from_json(text)?;
    let mut facts = Facts::new("automaton");
    facts.alphabet(automaton.alphabet());
    facts.field("rules", automaton.rules().len());
    facts.line("automaton", count(automaton.rules().len(), "rule"));
    Ok(facts)
}

fn of_traces(text: &str) -> Result<Facts> {
    let (alphabet, traces) = read_traces(&mut text.as_bytes())?;
    let tokens: usize = traces.iter().map(|trace| trace.word().len()).sum();
    let refusals = traces.iter().filter(|trace| trace.is_refusal()).count();
    let accepted = traces.iter().filter(|trace| is_accepted(trace)).count();
    let mut facts = Facts::new("traces");
    facts.alphabet(&alphabet);
    facts.field("words", traces.len());
    facts.field("tokens", tokens);
    facts.field("accepted", accepted);
    facts.field("refusals", refusals);
    let (words, tokens) = (count(traces.len(), "word"), count(tokens, "token"));
    facts.line("traces", format_args!("{words} with {tokens}: {accepted} accepted, {refusals} with a refused token"));
    Ok(facts)
}

/// Returns whether the word of a trace is in the language.
fn is_accepted(trace: &Trace) -> bool {
    !trace.is_refusal() && trace.steps().last().is_some_and(|step| step.output[0] > 0.5)
}

fn of_contexts(text: &str) -> Result<Facts> {
    let file = read_contexts(&mut text.as_bytes())?;
    let mut facts = Facts::new("contexts");
    facts.alphabet(&file.alphabet);
    facts.field("contexts", file.contexts.len());
    facts.line("contexts", count(file.contexts.len(), "decision"));
    Ok(facts)
}
