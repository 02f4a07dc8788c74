//! Guessing a language from valid and invalid texts, without an oracle.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use echostack::Control;
use echostack::control::Stage;
use serde_json::{Value, json};

use super::bound::error_bound;
use super::infer::{InferError, distinct, hold_out, lexer_of};
use super::report::{list, save, tell_language, tell_readable};
use super::settings::Settings;
use crate::ask::queries::Stop;
use crate::learn::hypothesis::{Hypothesis, Model};
use crate::learn::merging::{Merging, brackets};
use crate::text::charset::CharSet;
use crate::text::symbols::{Symbols, Word};
use crate::write::grammar::InferredGrammar;

/// Ranges of characters that are one class, unless a valid and an invalid text differ in nothing else.
const RANGES: [(char, char); 3] = [('a', 'z'), ('A', 'Z'), ('0', '9')];

/// Texts that are known to be valid or not.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// The valid texts.
    pub valid: Vec<String>,
    /// The invalid texts.
    pub invalid: Vec<String>,
}

/// A language that fits all texts it was made from. Whether it fits any others is not known: it is a guess.
#[derive(Debug)]
pub struct Guess {
    language: InferredGrammar,
    states: usize,
    texts: Texts,
    held_out: Texts,
    delta: f64,
    brackets: Vec<(String, String)>,
    limit: Option<Duration>,
    time: Duration,
}

/// Guesses a language from valid and invalid texts. Of the settings, it uses the seed, the lexer, the fraction to hold
/// out, the confidence and the time limit.
///
/// ```
/// use echostack_infer::{Settings, guess};
/// let texts = |texts: &str| texts.split(' ').map(String::from).collect::<Vec<_>>();
/// let valid = texts("x () (x) (()) (x,x) ((x),x) (x,(x)) (x,x,x) ((),(x)) (x,())");
/// let invalid = texts(
///     "xx (,) (x x) (x,) (,x) x,x x() ()x ()() (x()) (()x) (xx) (x,x() (x,())x (x,()x) ((),)",
/// );
/// let guess = guess(&valid, &invalid, &Settings::default(), &())?;
/// assert!(guess.accepts("((),((x),x))"));
/// assert!(!guess.accepts("((),,x)"));
/// # Ok::<(), echostack_infer::InferError>(())
/// ```
///
/// # Errors
/// If there are no valid or no invalid texts, if a text is both, if the lexer does not read a valid text, if the texts are
/// too large, or if the control asks to stop.
pub fn guess(
    valid: &[String],
    invalid: &[String],
    settings: &Settings,
    control: &dyn Control,
) -> Result<Guess, InferError> {
    let began = Instant::now();
    let [mut valid, mut invalid] = [valid, invalid].map(distinct);
    if valid.is_empty() {
        return Err(InferError::NoExamples);
    }
    if invalid.is_empty() {
        return Err(InferError::NoInvalid);
    }
    let symbols = symbols((&valid, &invalid), settings)?;
    let held_out = Texts { valid: hold_out(&mut valid, settings), invalid: hold_out(&mut invalid, settings) };
    let texts = Texts { valid, invalid };
    let words = |texts: &[String]| -> Vec<Word> { texts.iter().filter_map(|text| symbols.base(text)).collect() };
    let (good, bad) = (words(&texts.valid), words(&texts.invalid));
    let check = || {
        if control.cancelled() {
            return Err(Stop::Cancelled);
        }
        if began.elapsed() > settings.asking.time { Err(Stop::Time(settings.asking.time)) } else { Ok(()) }
    };
    let pairs = brackets(&good, check)?;
    let text = |pair: (&_, &_)| (symbols.text(*pair.0), symbols.text(*pair.1));
    let brackets = pairs.iter().map(text).collect();
    let mut merging = Merging::new(&good, &bad, pairs).ok_or(InferError::TooLarge)?;
    let states = merging.states();
    let ended = merging.merge(|kept| {
        control.progress(Stage::Explore, kept, states);
        check()
    });
    let limit = match ended {
        Ok(()) => None,
        Err(Stop::Time(limit)) => Some(limit),
        Err(stop) => return Err(stop.into()),
    };
    let hypothesis = Hypothesis { symbols, model: Model::Modules(merging.automaton()) };
    let comment = format!("Guessed from {} valid and {} invalid texts.", texts.valid.len(), texts.invalid.len());
    // The grammar must judge the texts as the automaton does, which fits them all.
    let all = [&texts.valid[..], &texts.invalid].concat();
    let language = InferredGrammar::of(&hypothesis, &all, &comment).map_err(|_| InferError::TooLarge)?;
    let (states, delta) = (hypothesis.size(), settings.delta / 2.);
    Ok(Guess { language, states, texts, held_out, delta, brackets, limit, time: began.elapsed() })
}

/// Returns the tokens of the lexer that was given, or else classes of characters.
fn symbols((valid, invalid): (&[String], &[String]), settings: &Settings) -> Result<Symbols, InferError> {
    let symbols = if let Some(source) = &settings.lexer {
        Symbols::of_lexer(lexer_of(source, valid)?, valid)
    } else {
        let letters: BTreeSet<char> = valid.iter().flat_map(|text| text.chars()).collect();
        let mut ranges = Vec::new();
        for range in RANGES {
            ranges.push(range);
            if clash(&classes(&letters, &ranges), valid, invalid).is_some() {
                ranges.pop();
            }
        }
        classes(&letters, &ranges)
    };
    match clash(&symbols, valid, invalid) {
        Some(text) => Err(InferError::Both { text }),
        None => Ok(symbols),
    }
}

/// Returns symbols in which some ranges of characters are one class each, and every other character stands for itself.
fn classes(letters: &BTreeSet<char>, ranges: &[(char, char)]) -> Symbols {
    let mut symbols = Symbols::default();
    let within = |&(from, to): &(char, char), letter: char| (from..=to).contains(&letter);
    for range in ranges {
        if let Some(&letter) = letters.iter().find(|&&letter| within(range, letter)) {
            symbols.add_class(letter, [*range].into_iter().collect());
        }
    }
    for &letter in letters.iter().filter(|&&letter| !ranges.iter().any(|range| within(range, letter))) {
        symbols.add_class(letter, CharSet::of(letter));
    }
    symbols
}

/// Returns an invalid text that is the same word as a valid one.
fn clash(symbols: &Symbols, valid: &[String], invalid: &[String]) -> Option<String> {
    let words: HashSet<Word> = valid.iter().filter_map(|text| symbols.base(text)).collect();
    invalid.iter().find(|text| symbols.base(text).is_some_and(|word| words.contains(&word))).cloned()
}

impl Guess {
    /// Returns whether a text is in the guessed language.
    pub fn accepts(&self, text: &str) -> bool {
        self.language.accepts(text)
    }

    /// Returns the grammar and the lexer.
    pub fn language(&self) -> &InferredGrammar {
        &self.language
    }

    /// Returns the texts that the guess was made from.
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Returns the texts that were held out.
    pub fn held_out(&self) -> &Texts {
        &self.held_out
    }

    /// Returns the texts that the guess judges wrongly, of those that it was made from or of others.
    pub fn mistakes<'t>(&self, texts: &'t Texts) -> [Vec<&'t String>; 2] {
        [
            texts.valid.iter().filter(|text| !self.accepts(text)).collect(),
            texts.invalid.iter().filter(|text| self.accepts(text)).collect(),
        ]
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Returns the time that the guess took.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Returns the report in Markdown.
    pub fn report(&self) -> String {
        let mut out = "# A guess, not a learned language\n\nNo program was asked. The grammar below accepts all the valid texts \
                       that it was made from, and none of the invalid ones. Many other languages do, too. The only evidence \
                       for this one is the texts that were held out. With the program that tells valid from invalid texts, \
                       `echostack infer --oracle` can find the mistakes.\n\n| | |\n|---|---|\n"
            .to_string();
        let kinds = [("valid", "rejected"), ("invalid", "accepted")];
        for (name, texts) in [("texts", &self.texts), ("held out", &self.held_out)] {
            _ = writeln!(out, "| {name} | {} valid, {} invalid |", texts.valid.len(), texts.invalid.len());
        }
        let brackets: Vec<String> = self.brackets.iter().map(|(open, close)| format!("`{open} {close}`")).collect();
        let brackets = if brackets.is_empty() { "none".to_string() } else { brackets.join(", ") };
        _ = writeln!(out, "| brackets | {brackets} |\n| states | {} |", self.states());
        _ = writeln!(out, "| time | {:.1} s |\n", self.time.as_secs_f64());
        if let Some(limit) = self.limit {
            let seconds = limit.as_secs_f64();
            _ = writeln!(
                out,
                "The time limit of {seconds} seconds was reached while states could still be merged, so the grammar accepts \
                 less than it would otherwise.\n"
            );
        }
        _ = writeln!(out, "## Errors on the texts that were held out");
        let wrong = self.mistakes(&self.held_out);
        let counts = [self.held_out.valid.len(), self.held_out.invalid.len()];
        for (((kind, verdict), wrong), count) in kinds.iter().zip(&wrong).zip(counts) {
            if count == 0 {
                _ = writeln!(out, "- **{kind} texts**: not measured, because none were held out.");
                continue;
            }
            _ = writeln!(
                out,
                "- **{kind} texts**: {} of {count} are {verdict}. If the texts were drawn independently, then with confidence \
                 {} fewer than {:.1} % of such texts are.",
                wrong.len(),
                1. - self.delta,
                100. * error_bound(count, wrong.len(), self.delta)
            );
        }
        for ((kind, verdict), wrong) in kinds.iter().zip(&wrong).filter(|(_, wrong)| !wrong.is_empty()) {
            _ = writeln!(out, "\nHeld-out {kind} texts that are {verdict} ({}):", wrong.len());
            list(&mut out, wrong);
        }
        out.push('\n');
        tell_readable(&mut out, &self.language);
        tell_language(&mut out, &self.language);
        out
    }

    /// Returns a summary as JSON.
    pub fn summary(&self) -> Value {
        let counts = |texts: &Texts| {
            let [valid, invalid] = self.mistakes(texts).map(|wrong| wrong.len());
            json!({
                "valid": texts.valid.len(), "valid_rejected": valid,
                "invalid": texts.invalid.len(), "invalid_accepted": invalid,
            })
        };
        json!({
            "guess": true, "texts": counts(&self.texts), "held_out": counts(&self.held_out),
            "brackets": self.brackets, "states": self.states(), "tokens": self.language.files().tokens.len(),
            "complete": self.limit.is_none(), "seconds": self.time.as_secs_f64(),
        })
    }

    /// Writes the grammar, the lexer and the report into a folder, which is created if it does not exist.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn save(&self, folder: &Path) -> std::io::Result<()> {
        save(folder, Some(&self.language), &self.report())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &str) -> Vec<String> {
        texts.split(' ').map(String::from).collect()
    }

    #[test]
    fn a_guess_fits_its_texts() {
        let (valid, invalid) = (texts("x () (x) (()) (x,x) (x,(x))"), texts("xx (x x) (,) )( (x,"));
        let found = guess(&valid, &invalid, &Settings::default(), &()).unwrap();
        assert!(found.mistakes(found.texts()).iter().all(Vec::is_empty));
        assert_eq!((found.texts().valid.len(), found.held_out().valid.len()), (6, 0));
        let summary = found.summary();
        assert_eq!((&summary["guess"], &summary["brackets"][0][0]), (&json!(true), &json!("(")));
        assert!(found.report().contains("not measured, because none were held out"));
    }

    #[test]
    fn texts_that_contradict_each_other_are_refused() {
        let refused = |valid: &str, invalid: &str| {
            let texts = |own: &str| own.split_whitespace().map(String::from).collect::<Vec<_>>();
            guess(&texts(valid), &texts(invalid), &Settings::default(), &()).unwrap_err()
        };
        assert!(matches!(refused("", "x"), InferError::NoExamples));
        assert!(matches!(refused("x", ""), InferError::NoInvalid));
        assert!(matches!(refused("x y", "z y"), InferError::Both { text } if text == "y"));
    }

    /// Letters are one class, and digits are, unless an invalid text differs from a valid one in nothing else.
    #[test]
    fn ranges_are_one_class_unless_the_texts_say_otherwise() {
        let class = |invalid: &str| {
            let symbols = symbols((&texts("a1 b2"), &texts(invalid)), &Settings::default()).unwrap();
            (symbols.class_of('a') == symbols.class_of('b'), symbols.class_of('1') == symbols.class_of('2'))
        };
        assert_eq!(class("1a"), (true, true));
        assert_eq!(class("a3"), (true, false));
        assert_eq!(class("c1"), (false, true));
        assert_eq!(class("b1"), (false, false));
    }
}
