//! What was found, as JSON, as Markdown and as lines of text.

use std::fmt::Write;

use serde_json::{Value, json};

use super::kinds::Kind;
use super::known::VERSION;
use super::raw;
use super::run::{Disagreements, Statement};
use super::side::Vote;
use crate::run::report::{SHOWN, list, shown, tell_exhaustive, tell_sample};

impl Disagreements {
    /// Returns the names of the sides that say this about a text.
    fn sides_that(&self, kind: &Kind, vote: Vote) -> Vec<&str> {
        let names = self.sides.iter().zip(&kind.votes).filter(|(_, own)| **own == vote);
        names.map(|((name, _), _)| name.as_str()).collect()
    }

    /// Returns what was found as JSON: see docs/schemas/comparison.schema.json.
    pub fn to_json(&self) -> Value {
        let kinds: Vec<Value> = (self.kinds.iter())
            .map(|kind| {
                let said: Vec<Value> = (kind.said.iter())
                    .map(|said| json!({ "side": said.side, "at": said.at, "reason": said.reason }))
                    .collect();
                let mut told = json!({
                    "text": lossy(&kind.text), "shape": lossy(&kind.shape), "at": kind.at, "seen": kind.seen, "origin": kind.origin,
                    "known": kind.known,
                    "accepted_by": self.sides_that(kind, Vote::Yes),
                    "refused_by": self.sides_that(kind, Vote::No),
                    "no_answer": self.sides_that(kind, Vote::Nothing),
                    "said": said,
                });
                if raw::reserved(&kind.text).is_some() {
                    told["bytes"] = json!(raw::bytes(&kind.text));
                }
                told
            })
            .collect();
        let sides: Vec<Value> = self.sides.iter().map(|(name, what)| json!({ "name": name, "what": what })).collect();
        let compared = match &self.statement {
            Statement::Equal => json!({ "equal": true }),
            Statement::Compared { exhaustive, samples, undecided } => json!({
                "equal": false, "undecided": undecided, "length": exhaustive.length, "strings": exhaustive.strings,
                "differing": exhaustive.mistakes.len(),
                "samples": samples.iter().map(|sample| json!({
                    "distribution": sample.distribution, "count": sample.count, "differing": sample.mistakes.len(),
                    "bound": sample.bound(), "confidence": 1. - sample.delta,
                })).collect::<Vec<_>>(),
            }),
        };
        json!({
            "version": VERSION, "sides": sides, "kinds": kinds,
            "gone": self.gone.iter().map(|text| lossy(text)).collect::<Vec<_>>(), "statement": compared,
            "conclusion": self.conclusion(), "examples": self.examples, "queries": self.queries, "texts": self.texts,
            "left": self.left, "seconds": self.time.as_secs_f64(), "stopped": self.stopped,
        })
    }

    /// Returns what was found, in one sentence.
    pub fn conclusion(&self) -> String {
        let known = self.kinds.iter().filter(|kind| kind.known).count();
        let fresh = self.kinds.len() - known;
        let mut text = match (&self.statement, fresh, known) {
            (Statement::Equal, ..) => return "equal: the same texts, of all lengths".to_string(),
            (_, 0, 0) => "no disagreement was found".to_string(),
            (_, 0, known) => format!("no new disagreement was found: {} known", number(known, "kind is", "kinds are")),
            (_, fresh, 0) => format!("different: {} of disagreement", number(fresh, "kind", "kinds")),
            (_, fresh, known) => format!(
                "different: {} of disagreement, and {} known",
                number(fresh, "new kind", "new kinds"),
                number(known, "kind is", "kinds are")
            ),
        };
        if self.kinds.is_empty()
            && let Statement::Compared { exhaustive, samples, undecided } = &self.statement
        {
            if let Some(undecided) = undecided {
                _ = write!(text, "; {undecided}");
            }
            _ = write!(text, "; {}", tell_exhaustive(exhaustive, "the sides").trim_end_matches('.'));
            for sample in samples {
                _ = write!(text, "; {}", tell_sample(sample).trim_end_matches('.'));
            }
        }
        if let Some(stopped) = &self.stopped {
            _ = write!(text, "; {stopped}");
        }
        text
    }

    /// Returns a report in Markdown.
    pub fn report(&self) -> String {
        let names: Vec<String> = self.sides.iter().map(|(name, _)| format!("`{name}`")).collect();
        let mut out = format!("# {} compared\n\n| | |\n|---|---|\n", names.join(", "));
        for (name, what) in &self.sides {
            _ = writeln!(out, "| {what} | {} |", cell(name));
        }
        _ = writeln!(out, "| examples | {} |", self.examples);
        _ = writeln!(out, "| queries | {} for {} texts |", self.queries, self.texts);
        _ = writeln!(out, "| time | {:.1} s |", self.time.as_secs_f64());
        if let Some(stopped) = &self.stopped {
            _ = writeln!(out, "| stopped | {stopped} |");
        }
        for (title, known) in [("Kinds of disagreement", false), ("Kinds of disagreement that are known", true)] {
            let kinds: Vec<&Kind> = self.kinds.iter().filter(|kind| kind.known == known).collect();
            if kinds.is_empty() {
                continue;
            }
            _ = writeln!(out, "\n## {title}\n");
            _ = writeln!(
                out,
                "| text | accepted by | refused by | position | texts | found by |\n|---|---|---|---|---|---|"
            );
            for kind in &kinds {
                let refused = self.sides_that(kind, Vote::No).join(", ");
                let none = self.sides_that(kind, Vote::Nothing).join(", ");
                let refused = if none.is_empty() { refused } else { format!("{refused}; no answer: {none}") };
                _ = writeln!(
                    out,
                    "| {} | {} | {} | {} | {} | {} |",
                    cell(&kind.text),
                    self.sides_that(kind, Vote::Yes).join(", "),
                    refused,
                    kind.at,
                    kind.seen,
                    kind.origin
                );
            }
            let said = kinds.iter().flat_map(|kind| kind.said.iter().map(move |said| (kind, said)));
            let said: Vec<String> = said
                .filter_map(|(kind, said)| {
                    let at = said.at.map_or(String::new(), |at| format!(" at {at}"));
                    let reason = said.reason.as_ref()?;
                    Some(format!("- {}: `{}`{at}: {reason}", cell(&kind.text), said.side))
                })
                .collect();
            if !said.is_empty() {
                _ = writeln!(out, "\n{}", said.join("\n"));
            }
        }
        _ = writeln!(out, "\n## What is known\n\n{}.\n", self.conclusion().trim_end_matches('.'));
        if let Statement::Compared { exhaustive, samples, undecided } = &self.statement {
            if let Some(undecided) = undecided {
                _ = writeln!(out, "- {undecided}");
            }
            if exhaustive.strings > 0 {
                _ = writeln!(out, "- **All short token strings**: {}", tell_exhaustive(exhaustive, "the sides"));
            }
            samples.iter().for_each(|sample| _ = writeln!(out, "- **Fresh texts**: {}", tell_sample(sample)));
        }
        if self.left > 0 {
            _ = writeln!(
                out,
                "- {} more texts on which the sides disagree were not examined: give more queries.",
                self.left
            );
        }
        if !self.gone.is_empty() {
            _ = writeln!(out, "\nKnown texts on which the sides no longer disagree in this way ({}):", self.gone.len());
            list(&mut out, &self.gone);
        }
        for ((name, _), failures) in self.sides.iter().zip(&self.failures).filter(|(_, failures)| !failures.is_empty())
        {
            _ = writeln!(out, "\nTexts to which `{name}` gave no answer:");
            for (text, failure) in failures.iter().take(SHOWN) {
                _ = writeln!(out, "- {}: {failure}", cell(text));
            }
        }
        _ = writeln!(out, "\n## What was tried");
        self.log.iter().for_each(|line| _ = writeln!(out, "- {line}"));
        out
    }

    /// Returns the kinds as lines of text, each with what the sides say.
    pub fn table(&self) -> String {
        let mut out = String::new();
        for kind in &self.kinds {
            let known = if kind.known { " (known)" } else { "" };
            _ = writeln!(out, "{}{known}", short(&kind.text));
            for (vote, what) in
                [(Vote::Yes, "accepted by"), (Vote::No, "refused by"), (Vote::Nothing, "no answer from")]
            {
                let names = self.sides_that(kind, vote);
                if !names.is_empty() {
                    _ = writeln!(out, "  {what} {}", names.join(", "));
                }
            }
            for said in &kind.said {
                if let Some(reason) = &said.reason {
                    let at =
                        said.at.map_or(String::new(), |at| format!(" after {}", number(at, "character", "characters")));
                    _ = writeln!(out, "  {}{at}: {reason}", said.side);
                }
            }
            _ = writeln!(
                out,
                "  the sides agree up to character {}; {} seen, the first among {}",
                kind.at,
                number(kind.seen, "text", "texts"),
                kind.origin
            );
        }
        out
    }
}

/// Returns a text in which what is not UTF-8 is replaced.
fn lossy(text: &str) -> String {
    String::from_utf8_lossy(&raw::bytes(text)).into_owned()
}

fn number(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// Returns a text in a cell of a table in Markdown.
fn cell(text: &str) -> String {
    format!("`{}`", short(text).replace('`', "\\u{60}").replace('|', "\\u{7c}"))
}

/// Returns a text on one line, in which long repetitions are counted.
fn short(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let (mut parts, mut plain, mut at): (Vec<String>, String, usize) = (Vec::new(), String::new(), 0);
    while at < letters.len() {
        let length = letters[at..].iter().take_while(|letter| **letter == letters[at]).count();
        if length > 20 {
            if !plain.is_empty() {
                parts.push(shown(&std::mem::take(&mut plain)));
            }
            parts.push(format!("{:?} {length} times", letters[at].to_string()));
        } else {
            plain.extend(&letters[at..at + length]);
        }
        at += length;
    }
    if !plain.is_empty() || parts.is_empty() {
        parts.push(shown(&plain));
    }
    raw::shown(&parts.join(", "))
}
