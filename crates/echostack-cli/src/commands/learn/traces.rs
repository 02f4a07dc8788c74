//! Learning from traces, with a proof that the machine follows rules that agree with every trace.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use echostack::extract::extract;
use echostack::file::read_text;
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::teach::{Contradiction, contradictions};
use echostack::{Alphabet, Control, Params, Trace, Word};
use echostack_grammar::Lexer;

use super::args::{Args, names, params};
use super::learned::{Assurance, Learned, Rules};
use crate::output::note;
use crate::progress::Bar;
use crate::session::Session;
use crate::traces::open_traces;

/// Reads a lexer from a file.
pub(super) fn open_lexer(session: &Session, path: &Path) -> Result<Lexer> {
    let name = path.display();
    let limits = session.grammar_limits();
    let source = read_text(path, limits.bytes).context("could not read the lexer")?;
    Lexer::new_within(&source, &limits).with_context(|| format!("could not use the lexer {name}"))
}

/// Checks that a lexer produces every terminal, and warns of tokens that are not terminals.
fn check_lexer(lexer: &Lexer, alphabet: &Alphabet) -> Result<()> {
    let terminals: Vec<&str> = alphabet.terminals().map(|symbol| alphabet.name(symbol)).collect();
    let produced = |name: &&str| lexer.names().iter().any(|known| known == name);
    let missing: Vec<&str> = terminals.iter().copied().filter(|name| !produced(name)).collect();
    ensure!(
        missing.is_empty(),
        "the lexer never produces {}, which the traces have as terminals: add rules for them",
        missing.join(" ")
    );
    for name in lexer.names().iter().filter(|name| !terminals.contains(&name.as_str())) {
        note(format_args!("echostack: the lexer produces {name}, which no trace contains: texts with it are rejected"));
    }
    Ok(())
}

pub(super) fn learn(
    args: &Args,
    path: &Path,
    lexer: Option<&Lexer>,
    (bar, control): (&Bar, &dyn Control),
) -> Result<Learned> {
    let (alphabet, traces) = open_traces(path)?;
    lexer.map_or(Ok(()), |lexer| check_lexer(lexer, &alphabet))?;
    let kind = ReservoirKind::from(args.reservoir);
    let mode = args.mode(traces.iter().any(Trace::is_refusal));
    let defaults = if args.must_prove() {
        let symbols = traces.iter().all(|trace| matches!(trace.word(), Word::Symbols(_)));
        ensure!(symbols, "the words of {} are vectors of numbers, which no rules describe", path.display());
        ensure!(
            mode == Mode::Strict,
            "no token is refused in {}, so the machine would accept or reject only at the end of a word, which cannot \
             be proved: add traces of wrong words that end where the word goes wrong",
            path.display()
        );
        Params::provable(kind, args.neurons, args.seed)
    } else {
        Params::standard(kind, args.neurons, args.seed)
    };
    let params = params(args, defaults, View::Symbol, mode)?;
    let found = contradictions(&traces, params.params().view, 3);
    if !found.is_empty() {
        let tell = |found: &Contradiction| {
            let place = |at: usize| {
                let (trace, step) = found.places[at];
                format!("{} (step {step}): {}", traces[trace].source(), found.actions[at])
            };
            format!("with the stack [{}]\n  {}\n  {}", names(&alphabet, &found.stack), place(0), place(1))
        };
        bail!("the traces contradict each other:\n{}", found.iter().map(tell).collect::<Vec<_>>().join("\n"));
    }
    let machine = params.fit(&alphabet, &traces, bar)?;
    let mut assurance = Assurance::default();
    if args.must_prove() {
        bar.begin("extracting the rules");
        assurance.rules = Some(Rules::new(extract(&machine, control), &traces)?);
    }
    Ok(Learned { machine, words: Some(traces.len()), assurance })
}
