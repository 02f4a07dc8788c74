//! Comparing machines with automata: what can be compared, and what is told about the result.

use std::io::Write;

use anyhow::{Result, bail};
use echostack::certify::{Difference, Proof};
use echostack::extract::ExtractError;
use echostack::recognize::Mode;
use echostack::{Alphabet, Control, Machine, Manifest, Prover, Verdict};
use echostack_grammar::{Encoding, Subject};

use crate::outcome::Outcome;
use crate::output::count;
use crate::progress::Bar;
use crate::words::{names, tell};

/// Checks that a machine has the same symbols as an automaton or traces. Actions are compared one by one, so even a
/// nonterminal with another name makes them different.
pub(crate) fn comparable(machine: &Alphabet, name: &str, automaton: &Alphabet) -> Result<()> {
    let names = |alphabet: &Alphabet| -> Vec<String> {
        alphabet.terminals().chain(alphabet.nonterminals()).map(|symbol| alphabet.name(symbol).to_string()).collect()
    };
    let (own, other) = (names(machine), names(automaton));
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|name| !those.contains(name)).take(10).cloned().collect()
    };
    let (extra, missing) = (only(&own, &other), only(&other, &own));
    let how = match (extra.is_empty(), missing.is_empty()) {
        (true, true) if machine == automaton => return Ok(()),
        (true, true) => "they are in another order".to_string(),
        (false, true) => format!("only the machine has {}", extra.join(" ")),
        (true, false) => format!("only {name} has {}", missing.join(" ")),
        (false, false) => {
            format!("only the machine has {}, and only {name} has {}", extra.join(" "), missing.join(" "))
        }
    };
    bail!(
        "the machine and {name} have different symbols: {how}. What is compared is every action, including the \
         nonterminal that is pushed, so both need the same terminals and nonterminals in the same order"
    )
}

/// Returns the encoding of the grammar that a model is compared with: the given one, else the one used in training.
pub(crate) fn encoding_of(manifest: &Manifest, asked: Option<Encoding>) -> Encoding {
    let taught = manifest.encoding().and_then(|name| name.parse().ok());
    asked.or(taught).unwrap_or(Encoding::Auto)
}

/// Prints a word on which a machine and an automaton differ, and the verdict of each.
pub(crate) fn tell_difference(out: &mut dyn Write, alphabet: &Alphabet, found: &Difference) -> Result<()> {
    let word: Vec<&str> = names(alphabet, &found.word).collect();
    writeln!(out, "the two differ on the word: {}", word.join(" "))?;
    for (who, verdict) in [("machine:  ", &found.machine), ("automaton:", &found.automaton)] {
        let refused = match verdict {
            Verdict::Reject { position, .. } => word.get(*position as usize).copied(),
            _ => None,
        };
        writeln!(out, "  {who} {}", tell(alphabet, verdict, refused))?;
    }
    Ok(())
}

/// Decides whether a machine does the same as an automaton on every word, and prints the answer.
pub(crate) fn equivalent(machine: &Machine, subject: &Subject, bar: &Bar, control: &dyn Control) -> Result<Outcome> {
    let oracle = subject.oracle(Mode::Strict, control)?;
    comparable(machine.alphabet(), subject.name(), subject.alphabet())?;
    subject.check_lexer_of(machine.manifest())?;
    let prover = Prover::new(&oracle, machine.view(), control)?;
    let proof = prover.prove(machine, control).and_then(|proof| subject.cover(proof, &oracle, control));
    bar.finish();
    let mut out = std::io::stdout();
    let Proof::Open { cells, .. } = proof? else {
        let covers = subject.coverage("machine", machine.manifest());
        writeln!(out, "equivalent: the machine does the same as {} on every word, {covers}", subject.name())?;
        return Ok(Outcome::Accepted);
    };
    let Some(found) = prover.difference(machine, &cells, control) else {
        let decisions = count(cells.len(), "decision");
        writeln!(
            out,
            "unknown: no word was found on which the two differ, but {decisions} could not be proved to be the same \
             (actions are compared, not only which words are accepted)"
        )?;
        return Ok(Outcome::Stopped);
    };
    tell_difference(&mut out, machine.alphabet(), &found)?;
    Ok(Outcome::Rejected)
}

/// Returns what was extracted from a machine. If it has no automaton, prints the reason and returns `None`.
pub(crate) fn explained<T>(found: Result<T, ExtractError>, machine: &Machine, bar: &Bar) -> Result<Option<T>> {
    bar.finish();
    let mut out = std::io::stdout();
    match found {
        Err(ExtractError::Refuses { automaton, difference }) => {
            write!(out, "{automaton}")?;
            writeln!(out, "not exact: the machine refuses a token after which the word could still be completed")?;
            if let Some(found) = difference {
                tell_difference(&mut out, machine.alphabet(), &found)?;
            }
            Ok(None)
        }
        Err(error @ (ExtractError::Open { .. } | ExtractError::NotLr1 | ExtractError::NoRule)) => {
            writeln!(out, "not exact: {error}")?;
            Ok(None)
        }
        other => Ok(Some(other?)),
    }
}
