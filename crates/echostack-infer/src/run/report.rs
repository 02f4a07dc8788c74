//! The report: what is known about an inferred language, each thing separately, and what is not.

use std::fmt::Write;
use std::path::Path;

use echostack::file::replace;
use serde_json::{Value, json};

use super::attempt::Ending;
use super::checks::{Checks, Exhaustive, Neighbors, Sample};
use super::infer::Inferred;
use crate::write::grammar::InferredGrammar;

/// The number of texts of each kind that are shown.
pub(crate) const SHOWN: usize = 10;
/// The length of the longest text that is shown, in characters.
const LONGEST: usize = 120;

/// What is known about a machine for the inferred grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proved {
    /// No machine was made.
    #[default]
    NotTried,
    /// A machine was proved.
    Yes,
    /// A machine was made, but not proved.
    No,
}

/// The names of the files in the folder of an inferred language.
pub const FILES: [&str; 5] = ["grammar.y", "lexer.l", "report.md", "answers.jsonl", "grammar.ebnf"];

pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(LONGEST).collect();
    let more = if short.len() < text.len() { " ..." } else { "" };
    format!("{short:?}{more}")
}

pub(crate) fn list(out: &mut String, texts: impl IntoIterator<Item = impl AsRef<str>>) {
    for text in texts.into_iter().take(SHOWN) {
        _ = writeln!(out, "- `{}`", shown(text.as_ref()).replace('`', "\\u{60}"));
    }
}

impl Inferred {
    /// Returns whether the language counts as learned: the run converged, and no check found a mistake.
    pub fn is_settled(&self) -> bool {
        *self.ending() == Ending::Settled
    }

    /// Returns the fraction of the held-out examples that are accepted, if there are any.
    pub fn recall(&self) -> Option<f64> {
        let accepted = self.held_out().iter().filter(|text| self.accepts(text)).count();
        (!self.held_out().is_empty()).then(|| accepted as f64 / self.held_out().len() as f64)
    }

    /// Returns the report in Markdown.
    pub fn report(&self, oracle: &str, proved: Proved) -> String {
        let mut out = String::new();
        _ = match self.ending() {
            Ending::Settled => writeln!(out, "# A language, learned from {} examples\n", self.examples().len()),
            Ending::NotSettled(reason) => writeln!(
                out,
                "# Not settled: the language below is a guess\n\nThe run did not converge: {reason}. The grammar is the best \
                 one so far.\n"
            ),
        };
        if let Some(language) = self.language() {
            tell_readable(&mut out, language);
        }
        self.tell_run(&mut out, oracle);
        self.tell_promises(&mut out, proved);
        self.tell_compared(&mut out);
        self.tell_open(&mut out);
        if let Some(language) = self.language() {
            tell_language(&mut out, language);
        }
        out
    }

    fn tell_run(&self, out: &mut String, oracle: &str) {
        let spent = self.spent();
        _ = writeln!(out, "| | |\n|---|---|\n| oracle | `{}` |", shown(oracle).replace('`', "\\u{60}"));
        _ = writeln!(out, "| examples | {} learned from, {} held out |", self.examples().len(), self.held_out().len());
        let seconds = self.time().as_secs_f64();
        _ = writeln!(
            out,
            "| queries | {}: {} for classes of characters, {} for openers and closers, {} to learn, {} in the last test, \
             {} in checks |",
            self.queries(),
            spent.classes,
            spent.tags,
            spent.learning,
            spent.last_test,
            spent.checks
        );
        _ = writeln!(
            out,
            "| queries until the hypothesis last changed | {}, without checks |",
            spent.until_last_change
        );
        _ = writeln!(out, "| answers from an earlier run | {} |", self.reused());
        _ = writeln!(out, "| answers from positions of failures, not asked | {} |", self.derived());
        _ = writeln!(
            out,
            "| time | {seconds:.1} s, {:.0} queries per second |",
            self.queries() as f64 / seconds.max(1e-9)
        );
        let over = if self.hypothesis.symbols.lexer().is_some() { "given tokens" } else { "characters" };
        _ = writeln!(out, "| states | {} over {over} |", self.states());
        if let Some(language) = self.language() {
            let (size, tokens) = (language.size(), language.files().tokens.len());
            let kind =
                if language.has_tokens() { "tokens" } else { "classes of characters, since no tokens were found" };
            _ = writeln!(
                out,
                "| grammar | {} rules, {} productions, {} symbols, {tokens} {kind} |",
                size.rules, size.productions, size.symbols
            );
        }
        _ = writeln!(out, "| set aside | {} texts without an answer |\n", self.set_aside());
    }

    fn tell_promises(&self, out: &mut String, proved: Proved) {
        _ = writeln!(
            out,
            "## What is known\nFive statements, each by itself. None of them says that the grammar equals the program.\n"
        );
        _ = writeln!(
            out,
            "1. **The machine and the grammar**: {}",
            match proved {
                Proved::Yes =>
                    "proved. The machine does what the grammar says, on all token sequences of all lengths. The lexer is \
                     trusted.",
                Proved::No => "not proved. A machine was made, but no proof was found.",
                Proved::NotTried =>
                    "no machine was made. `echostack learn --prove` with this folder makes and proves one.",
            }
        );
        let none = "not checked, because the run did not converge.";
        let (exhaustive, samples) = match self.checks() {
            Some(checks) => {
                let both = "the program and the grammar";
                (tell_exhaustive(&checks.exhaustive, both), checks.samples.iter().map(tell_sample).collect())
            }
            None => (none.to_string(), vec![none.to_string()]),
        };
        _ = writeln!(out, "2. **All short token strings**: {exhaustive}");
        _ = writeln!(out, "3. **Fresh texts**, drawn after learning, independently and with replacement:");
        samples.iter().for_each(|sample| _ = writeln!(out, "   - {sample}"));
        if let Some(checks) = self.checks().filter(|checks| checks.attempts > 1) {
            _ = writeln!(
                out,
                "   - This was attempt {}: mistakes of the attempts before were learned from, and the confidence accounts \
                 for that.",
                checks.attempts
            );
        }
        let recall = match self.recall() {
            Some(recall) => {
                format!("{recall:.3} on {} examples that were held out from the start.", self.held_out().len())
            }
            None => "not measured, because no examples were held out.".to_string(),
        };
        _ = writeln!(out, "4. **Recall**: {recall}");
        let near = match self.checks().map(|checks| &checks.neighbors) {
            None => none.to_string(),
            Some(None) => "not checked, because the tokens were given.".to_string(),
            Some(Some(near)) => neighbors(near, self.examples().len()),
        };
        _ = writeln!(out, "5. **Texts near the examples**: {near}\n");
    }

    fn tell_compared(&self, out: &mut String) {
        if self.compared().is_empty() {
            return;
        }
        _ = writeln!(
            out,
            "## Numbers that are compared\nThe grammar does not say this, or only digit by digit. Each statement is about these \
             texts with other numbers in one place, and agrees with all answers about them.\n"
        );
        self.compared().iter().for_each(|statement| _ = writeln!(out, "- {statement}"));
        out.push('\n');
    }

    fn tell_open(&self, out: &mut String) {
        _ = writeln!(out, "## What was tried, and what is left open");
        self.log().iter().for_each(|line| _ = writeln!(out, "- {line}"));
        let missed =
            |texts: &'_ [String]| -> Vec<String> { texts.iter().filter(|text| !self.accepts(text)).cloned().collect() };
        let (own, held_out) = (missed(self.examples()), missed(self.held_out()));
        let mistakes: Vec<&String> = self.checks().into_iter().flat_map(Checks::mistakes).collect();
        let failures: Vec<String> =
            self.failures().iter().map(|(text, failure)| format!("{text} ({failure})")).collect();
        let parts: [(&str, Vec<&str>); 7] = [
            ("Examples that the oracle rejects, which were left out", texts(self.rejected())),
            ("Examples with characters outside of ASCII, which were left out", texts(self.beyond_ascii())),
            ("Examples that the grammar rejects", texts(&own)),
            ("Held-out examples that the grammar rejects", texts(&held_out)),
            ("Texts that the grammar and the oracle judge differently", mistakes.iter().map(|t| t.as_str()).collect()),
            ("Valid texts in which openers and closers do not match", texts(self.unmatched())),
            ("Texts without an answer", texts(&failures)),
        ];
        for (title, found) in parts.iter().filter(|(_, found)| !found.is_empty()) {
            _ = writeln!(out, "\n{title} ({}):", found.len());
            list(out, found);
        }
        let strange = self.checks().map_or(&[][..], |checks| &checks.strange);
        if !strange.is_empty() {
            _ = writeln!(
                out,
                "\nTexts that are valid, but look unlike the examples. Does the program mean to accept them?"
            );
            list(out, strange);
        }
        out.push('\n');
    }

    /// Returns a summary as JSON.
    pub fn summary(&self, proved: Proved) -> Value {
        let reason = if let Ending::NotSettled(reason) = self.ending() { Some(reason) } else { None };
        let spent = self.spent();
        let checks = self.checks().map(|checks| {
            let samples: Vec<Value> = checks
                .samples
                .iter()
                .map(|sample| {
                    json!({
                        "distribution": sample.distribution, "count": sample.count, "mistakes": sample.mistakes.len(),
                        "bound": sample.bound(), "confidence": 1. - sample.delta,
                    })
                })
                .collect();
            json!({
                "attempts": checks.attempts,
                "neighbors": checks.neighbors.as_ref().map(|near| json!({
                    "examples": near.examples, "count": near.count, "mistakes": near.mistakes.len(),
                })),
                "length": checks.exhaustive.length, "strings": checks.exhaustive.strings,
                "unreadable": checks.exhaustive.unreadable, "mistakes": checks.exhaustive.mistakes.len(),
                "samples": samples,
            })
        });
        json!({
            "settled": self.is_settled(), "reason": reason, "examples": self.examples().len(),
            "held_out": self.held_out().len(), "recall": self.recall(), "queries": self.queries(),
            "reused": self.reused(), "derived": self.derived(), "set_aside": self.set_aside(), "seconds": self.time().as_secs_f64(),
            "until_last_change": spent.until_last_change,
            "spent": { "classes": spent.classes, "tags": spent.tags, "learning": spent.learning,
                "last_test": spent.last_test, "checks": spent.checks },
            "states": self.states(), "tokens": self.language().map(|language| language.files().tokens.len()),
            "checks": checks, "proved": match proved {
                Proved::NotTried => None,
                Proved::Yes => Some(true),
                Proved::No => Some(false),
            },
        })
    }

    /// Writes the grammar, the lexer and the report into a folder, which is created if it does not exist.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn save(&self, folder: &Path, oracle: &str, proved: Proved) -> std::io::Result<()> {
        save(folder, self.language(), &self.report(oracle, proved))
    }
}

/// Writes a language and its report into a folder, which is created if it does not exist.
pub(crate) fn save(folder: &Path, language: Option<&InferredGrammar>, report: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let write = |file: usize, text: &str| replace(&folder.join(FILES[file]), |out| out.write_all(text.as_bytes()));
    if let Some(language) = language {
        write(0, &language.files().grammar)?;
        write(1, &language.files().lexer)?;
        match &language.files().ebnf {
            Some(ebnf) => write(4, ebnf)?,
            // One of an earlier run would not be of this language.
            None => match std::fs::remove_file(folder.join(FILES[4])) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            },
        }
    }
    write(2, report)
}

/// Writes the grammar as people would write it, if there is such a form.
pub(crate) fn tell_readable(out: &mut String, language: &InferredGrammar) {
    let Some(ebnf) = &language.files().ebnf else { return };
    _ = writeln!(
        out,
        "```text\n{ebnf}```\nThis is exactly the language of the automaton that was learned: this was decided for texts of all \
         lengths. After each rule is a short text. Operators are one flat list, since valid and invalid texts do not show \
         which of them binds tighter.\n"
    );
}

/// Writes the tokens and the grammar of a language.
pub(crate) fn tell_language(out: &mut String, language: &InferredGrammar) {
    let files = language.files();
    _ = writeln!(out, "## Tokens\nEach token with a short text. The lexer has their full descriptions.\n");
    for (name, text) in &files.tokens {
        _ = writeln!(out, "- `{name}`: `{}`", shown(text).replace('`', "\\u{60}"));
    }
    _ = writeln!(out, "\n## Grammar\n```text\n{}```", files.grammar);
    if files.ebnf.is_none() {
        _ = writeln!(
            out,
            "\nThe grammar is the automaton, with a rule for each state: no other form was shown to be the same."
        );
    }
    if !language.refused().is_empty() {
        _ = writeln!(out, "\nForms of the grammar that were tried and not used:");
        language.refused().iter().for_each(|reason| _ = writeln!(out, "- {reason}"));
    }
}

fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// Tells on how many token strings all sides agree.
pub(crate) fn tell_exhaustive(found: &Exhaustive, sides: &str) -> String {
    let mut text = format!(
        "{sides} {} on all {} strings of up to {} tokens, with one text for each token",
        if found.mistakes.is_empty() { "agree".to_string() } else { format!("differ {} times", found.mistakes.len()) },
        found.strings - found.unreadable,
        found.length
    );
    if found.unreadable > 0 {
        _ = write!(
            text,
            "; {} more strings were not compared, because their text is read as other tokens",
            found.unreadable
        );
    }
    if found.set_aside > 0 {
        _ = write!(text, "; there is no answer to {} of them", found.set_aside);
    }
    text + "."
}

fn neighbors(near: &Neighbors, examples: usize) -> String {
    let mut text = format!(
        "the program and the grammar {} on all {} texts that differ in one character from {}",
        if near.mistakes.is_empty() { "agree".to_string() } else { format!("differ {} times", near.mistakes.len()) },
        near.count,
        if near.examples < examples {
            format!("{} short examples or parts of examples", near.examples)
        } else {
            "an example".into()
        },
    );
    if near.set_aside > 0 {
        _ = write!(text, "; the program gave no answer to {} of them", near.set_aside);
    }
    text + ". The character is left out, replaced or inserted: by every printable one of ASCII, a tab, a line feed, and one \
            of each class beyond ASCII."
}

/// Tells how many texts of a sample are judged differently, and what follows.
pub(crate) fn tell_sample(sample: &Sample) -> String {
    format!(
        "{} of {} are judged differently ({} are valid, {} without an answer), so with confidence {} fewer than {:.2} % of \
         such texts are. Drawn from: {}.",
        sample.mistakes.len(),
        sample.count,
        sample.valid,
        sample.set_aside,
        1. - sample.delta,
        100. * sample.bound(),
        sample.distribution
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::infer::infer;
    use crate::run::settings::Settings;
    use crate::testing::lists;

    fn inferred() -> Inferred {
        let examples = ["x", "[]", "[x,x]", "[[x]]", "[", "y"].map(String::from);
        infer(&examples, &lists, &Settings { tests: 500, ..Settings::default() }, &()).unwrap()
    }

    #[test]
    fn every_figure_of_the_report_is_that_of_the_run() {
        let inferred = inferred();
        assert!(inferred.is_settled());
        let report = inferred.report("a `program`", Proved::Yes);
        let (spent, summary) = (inferred.spent(), inferred.summary(Proved::Yes));
        assert!(report.starts_with("# A language, learned from 4 examples\n"));
        assert!(report.contains("| oracle | `\"a \\u{60}program\\u{60}\"` |"), "{report}");
        let steps = [spent.classes, spent.tags, spent.learning, spent.last_test, spent.checks];
        assert_eq!(steps.iter().sum::<usize>() + 6, inferred.queries(), "six examples come first: {spent:?}");
        for part in [
            format!("| queries | {}: ", inferred.queries()),
            format!("last changed | {}, without", spent.until_last_change),
            "Examples that the oracle rejects, which were left out (2):".to_string(),
        ] {
            assert!(report.contains(&part), "{part}: {report}");
        }
        assert_eq!(summary["queries"], inferred.queries());
        assert_eq!(summary["until_last_change"], spent.until_last_change);
        assert_eq!(inferred.recall(), None);
    }

    /// A text of the program cannot break the list that it is in.
    #[test]
    fn texts_are_shown_on_one_line() {
        let mut out = String::new();
        list(&mut out, ["a\n`b`", &"x".repeat(500)]);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], "- `\"a\\n\\u{60}b\\u{60}\"`");
        assert!(lines.len() == 2 && lines[1].len() < LONGEST + 20 && lines[1].ends_with(" ...`"));
        let mut out = String::new();
        list(&mut out, vec!["x"; SHOWN + 5]);
        assert_eq!(out.lines().count(), SHOWN);
    }

    #[test]
    fn files_are_written_and_can_be_read_again() {
        let (inferred, folder) = (inferred(), tempfile::tempdir().unwrap());
        inferred.save(folder.path(), "lists", Proved::NotTried).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let files = inferred.language().unwrap().files();
        assert_eq!((read(FILES[0]), read(FILES[1])), (files.grammar.clone(), files.lexer.clone()));
        assert_eq!(read(FILES[2]), inferred.report("lists", Proved::NotTried));
    }
}
