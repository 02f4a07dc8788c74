//! FLaRe, a benchmark of formal languages for neural networks (Butoi et al., ICLR 2025), with machines that are taught by
//! a grammar and proved.
//!
//! The networks of the benchmark learn from labeled words. Our machines are taught by a grammar, so the results are not
//! comparable as results of learning; they show that the machines are right on the published words, which prove nothing
//! by themselves, and how long learning and proof take. The benchmark has 18 languages. The ten that are regular or
//! deterministic context-free have grammars here, and the other eight have none, because they have no LR(1) grammar.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use echostack::recognize::{Outcome, Session, judge_all};
use echostack::symbol::{Input, Lookahead, SymbolId};
use echostack::{Limits, Machine, Recognizer, Word};
use echostack_grammar::{Encoding, Goal, Grammar, GrammarError, LearnError, Learning, Subject};
use rayon::prelude::*;
use serde::Deserialize;

/// A language of the benchmark.
#[derive(Clone, Copy, Debug)]
pub struct FlareLanguage {
    /// The name, which is also that of its folder.
    pub name: &'static str,
    /// Whether the language is regular. If not, it is deterministic context-free.
    pub is_regular: bool,
    /// The grammar that teaches it.
    pub grammar: &'static str,
}

macro_rules! languages {
    ($($name:literal $is_regular:literal),* $(,)?) => {
        /// The languages that have a grammar.
        pub const LANGUAGES: &[FlareLanguage] = &[$(FlareLanguage {
            name: $name,
            is_regular: $is_regular,
            grammar: include_str!(concat!("../flare/", $name, ".y")),
        }),*];
    };
}

languages![
    "even-pairs" true,
    "repeat-01" true,
    "parity" true,
    "cycle-navigation" true,
    "modular-arithmetic-simple" true,
    "first" true,
    "dyck-2-3" false,
    "majority" false,
    "marked-reversal" false,
    "stack-manipulation" false,
];

/// The reason why the benchmark could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlareError {
    /// A file cannot be read.
    #[error("{path}: {error}; give the folder of the published benchmark, which has a folder for each language")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}, line {line}: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A grammar is invalid.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// A machine could not be taught.
    #[error(transparent)]
    Learn(#[from] LearnError),
}

/// The number of cases that were right, of all cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Right {
    /// The number of right cases.
    pub right: usize,
    /// The number of all cases.
    pub of: usize,
}

impl Right {
    fn add(&mut self, is_right: bool) {
        self.right += usize::from(is_right);
        self.of += 1;
    }
}

impl std::fmt::Display for Right {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.of == 0 { formatter.write_str("none") } else { write!(formatter, "{} of {}", self.right, self.of) }
    }
}

/// The result on one language.
#[derive(Clone, Debug)]
pub struct FlareResult {
    /// The language.
    pub language: FlareLanguage,
    /// The number of cells of the proof, or `None` if the machine is not proved.
    pub cells: Option<usize>,
    /// The elapsed time of learning and proof together, in seconds.
    pub seconds: f64,
    /// Verdicts on the words of the test set, of up to 500 tokens.
    pub test: Right,
    /// Verdicts on the words of the training set and of all other sets.
    pub others: Right,
    /// Positions of the validation sets at which the expected tokens are the published next symbols.
    pub next_symbols: Right,
}

impl FlareResult {
    /// Returns whether the machine is proved, and agrees with the labels of all published words.
    pub fn is_right(&self) -> bool {
        let all = [self.test, self.others];
        self.cells.is_some() && all.iter().all(|right| right.right == right.of)
    }
}

/// Teaches a language, proves the machine, and compares it with the published files in `data`.
///
/// # Errors
/// If a file is missing or not valid.
pub fn run(language: &FlareLanguage, data: &Path) -> Result<FlareResult, FlareError> {
    let start = Instant::now();
    let subject = Subject::of_grammar(Grammar::new(language.name, language.grammar, Encoding::Auto)?, None);
    let learned = subject.learn(&Learning { goal: Goal::Proof, ..Learning::default() }, &())?;
    let seconds = start.elapsed().as_secs_f64();
    let cells = learned.certificate().map(|certificate| certificate.size().cells);
    let machine = learned.machine.memoized();
    let folder = data.join(language.name);
    let [mut test, mut others, mut next_symbols] = [Right::default(); 3];
    for set in sets(&folder)? {
        let words = Words::read(&set, &machine)?;
        let right = if set.ends_with("test") { &mut test } else { &mut others };
        let outcomes: Vec<Outcome> = judge_all(&machine, &words.words, Limits::default());
        outcomes
            .iter()
            .zip(&words.labels)
            .for_each(|(outcome, label)| right.add((*outcome == Outcome::Accept) == *label));
        if set.ends_with("validation-short") || set.ends_with("validation-long") {
            words.compare_next_symbols(&set.join("next-symbols.jsonl"), &machine, &mut next_symbols)?;
        }
    }
    Ok(FlareResult { language: *language, cells, seconds, test, others, next_symbols })
}

/// Returns the folders of all sets of a language that have words.
fn sets(folder: &Path) -> Result<Vec<PathBuf>, FlareError> {
    let datasets = folder.join("datasets");
    let refused = |error| FlareError::Io { path: datasets.clone(), error };
    let entries = std::fs::read_dir(&datasets).map_err(refused)?;
    let mut sets: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(refused)?;
    sets.sort();
    sets.insert(0, folder.to_path_buf());
    sets.retain(|set| set.join("main.tok").exists());
    Ok(sets)
}

/// The words of a set and their labels.
struct Words {
    words: Vec<Word>,
    labels: Vec<bool>,
}

/// The next symbols after a prefix of a word.
#[derive(Deserialize)]
struct Next {
    /// The symbols, separated by blanks.
    s: String,
    /// Whether the word may end.
    e: bool,
}

fn read_text(path: &Path) -> Result<String, FlareError> {
    std::fs::read_to_string(path).map_err(|error| FlareError::Io { path: path.to_path_buf(), error })
}

impl Words {
    /// Reads a set. Tokens that are not in the alphabet of the machine become unknown tokens.
    fn read(folder: &Path, machine: &Machine) -> Result<Self, FlareError> {
        let symbol = |name: &str| machine.alphabet().symbol(name).unwrap_or(SymbolId::UNKNOWN);
        let word = |line: &str| Word::Symbols(line.split_whitespace().map(symbol).collect());
        let words: Vec<Word> = read_text(&folder.join("main.tok"))?.lines().map(word).collect();
        let path = folder.join("labels.txt");
        let text = read_text(&path)?;
        let label = |(number, line): (usize, &str)| match line.trim() {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(FlareError::Line { path: path.clone(), line: number + 1, reason: "a label is 0 or 1".into() }),
        };
        let labels: Vec<bool> = text.lines().enumerate().map(label).collect::<Result<_, _>>()?;
        if labels.len() != words.len() {
            let reason = format!("there are {} labels, but {} words", labels.len(), words.len());
            return Err(FlareError::Line { path, line: labels.len(), reason });
        }
        Ok(Self { words, labels })
    }

    /// Compares the expected tokens before each token of the valid words, and at their ends, with the published ones.
    fn compare_next_symbols(&self, path: &Path, machine: &Machine, right: &mut Right) -> Result<(), FlareError> {
        let text = read_text(path)?;
        let valid: Vec<&Word> =
            self.words.iter().zip(&self.labels).filter(|(_, label)| **label).map(|(word, _)| word).collect();
        let wrong = |line: usize, reason: String| FlareError::Line { path: path.to_path_buf(), line: line + 1, reason };
        if text.lines().count() != valid.len() {
            return Err(wrong(0, format!("there must be one line for each of {} valid words", valid.len())));
        }
        let one = |(number, (line, word)): (usize, (&str, &&Word))| {
            let published: Vec<Next> = serde_json::from_str(line).map_err(|error| wrong(number, error.to_string()))?;
            if published.len() != word.len() + 1 {
                return Err(wrong(number, format!("there must be {} positions", word.len() + 1)));
            }
            let mut right = Right::default();
            let mut session = machine.start(Limits::default());
            for (at, published) in published.iter().enumerate() {
                let mut wanted: Vec<Lookahead> = published
                    .s
                    .split_whitespace()
                    .map(|name| Lookahead::Token(machine.alphabet().symbol(name).unwrap_or(SymbolId::UNKNOWN)))
                    .chain(published.e.then_some(Lookahead::End))
                    .collect();
                wanted.sort_unstable();
                let mut given = session.expected();
                given.sort_unstable();
                right.add(given == wanted);
                if let Some(Input::Symbol(symbol)) = word.get(at) {
                    session.feed(Input::Symbol(symbol), &mut ());
                }
            }
            Ok(right)
        };
        let lines: Vec<(usize, (&str, &&Word))> = text.lines().zip(&valid).enumerate().collect();
        for one in lines.into_par_iter().map(one).collect::<Result<Vec<Right>, FlareError>>()? {
            right.right += one.right;
            right.of += one.of;
        }
        Ok(())
    }
}

/// Returns the results as a table in Markdown.
pub fn markdown(results: &[FlareResult]) -> String {
    let mut text = "\
| language | class | learned and proved, s | cells | test words right | other words right | next symbols right |
|---|---|---|---|---|---|---|
"
    .to_string();
    for FlareResult { language, cells, seconds, test, others, next_symbols } in results {
        let class = if language.is_regular { "regular" } else { "deterministic context-free" };
        let cells = cells.map_or("not proved".into(), |cells| cells.to_string());
        let name = language.name;
        writeln!(text, "| {name} | {class} | {seconds:.2} | {cells} | {test} | {others} | {next_symbols} |")
            .unwrap_or_default();
    }
    text.push_str(NOTE);
    text
}

/// What a reader must know about the table.
const NOTE: &str = "
Each machine was taught by a grammar and proved to follow it on all words. The networks of the benchmark learned from
labels. By their authors (Butoi et al., Training Neural Networks as Recognizers of Formal Languages, ICLR 2025, Figure 1),
an RNN, an LSTM and a transformer generalized perfectly to long words only on regular languages and on majority.

Next symbols are compared at each position of the valid words in the validation sets. For stack-manipulation, the
published ones depend on the length of the word that they belong to: after the first operation, PUSH is left out where
one more push would make that word longer. They also contain POP at the beginning, where there is nothing to pop.
";

/// Returns the results as CSV, one line per language.
pub fn csv(results: &[FlareResult]) -> String {
    let mut text =
        "language,regular,seconds,cells,test right,test words,other right,other words,next symbols right,positions\n"
            .to_string();
    for FlareResult { language, cells, seconds, test, others, next_symbols } in results {
        let cells = cells.map_or(String::new(), |cells| cells.to_string());
        let counts = [test, others, next_symbols].map(|right| format!("{},{}", right.right, right.of)).join(",");
        writeln!(text, "{},{},{seconds},{cells},{counts}", language.name, language.is_regular).unwrap_or_default();
    }
    text
}

#[cfg(test)]
mod tests {
    use echostack::recognize::Mode;

    use super::*;

    /// A language as a plain function.
    type Rule = fn(&[&str]) -> bool;

    const RULES: &[(&str, Rule)] = &[
        ("even-pairs", |word| word.first() == word.last()),
        ("repeat-01", |word| {
            word.len() % 2 == 0 && word.iter().enumerate().all(|(at, token)| *token == ["0", "1"][at % 2])
        }),
        ("parity", |word| word.iter().filter(|token| **token == "1").count() % 2 == 1),
        ("first", |word| word.first() == Some(&"1")),
        ("majority", |word| {
            let ones = word.iter().filter(|token| **token == "1").count();
            2 * ones > word.len()
        }),
        ("marked-reversal", |word| {
            let mark = word.len() / 2;
            word.iter().filter(|token| **token == "#").count() == 1
                && word.get(mark) == Some(&"#")
                && word.iter().eq(word.iter().rev())
        }),
        ("dyck-2-3", |word| {
            let mut open = Vec::new();
            for token in word {
                match token.strip_prefix('(') {
                    Some(kind) => open.push(kind),
                    None if open.pop() == token.strip_prefix(')') && token.starts_with(')') => {}
                    None => return false,
                }
                if open.len() > 3 {
                    return false;
                }
            }
            open.is_empty()
        }),
        ("cycle-navigation", |word| {
            let Some((place, steps)) = word.split_last() else { return false };
            let step = |token: &&str| ["=", ">", "", "", "<"].iter().position(|own| own == token);
            let places: Option<Vec<usize>> = steps.iter().map(step).collect();
            places.is_some_and(|places| place.parse() == Ok(places.iter().sum::<usize>() % 5))
        }),
        ("modular-arithmetic-simple", |word| {
            let [first, rest @ .., "=", value] = word else { return false };
            let Ok(mut sum) = first.parse::<i32>() else { return false };
            for pair in rest.chunks(2) {
                let [operator, number] = pair else { return false };
                let Ok(number) = number.parse::<i32>() else { return false };
                sum = match *operator {
                    "+" => sum + number,
                    "-" => sum - number,
                    "*" => sum * number,
                    _ => return false,
                }
                .rem_euclid(5);
            }
            value.parse() == Ok(sum)
        }),
        ("stack-manipulation", |word| {
            let Some(mark) = word.iter().position(|token| *token == "#") else { return false };
            let (mut stack, mut tokens, mut operated) = (Vec::new(), word[..mark].iter(), false);
            while let Some(token) = tokens.next() {
                match *token {
                    "POP" if stack.pop().is_some() => operated = true,
                    "PUSH" => match tokens.next() {
                        Some(bit @ (&"0" | &"1")) => {
                            operated = true;
                            stack.push(*bit);
                        }
                        _ => return false,
                    },
                    bit @ ("0" | "1") if !operated => stack.push(bit),
                    _ => return false,
                }
            }
            word[mark + 1..].iter().eq(stack.iter().rev())
        }),
    ];

    #[test]
    fn grammars_are_right_on_all_short_words() {
        for language in LANGUAGES {
            let (_, rule) = RULES.iter().find(|(name, _)| *name == language.name).unwrap();
            let grammar = Grammar::new(language.name, language.grammar, Encoding::Auto).unwrap();
            let oracle = Subject::of_grammar(grammar, None).oracle(Mode::Strict, &()).unwrap();
            let alphabet = oracle.alphabet().clone();
            let names: Vec<&str> = alphabet.terminals().map(|symbol| alphabet.name(symbol)).collect();
            let mut words: Vec<Vec<&str>> = vec![vec![]];
            let mut accepted = 0;
            // All words up to the length at which there are more than 40,000 of them.
            while words.len() <= 40_000 {
                for word in &words {
                    let judged = oracle.judge(&alphabet.word(word.iter().copied()).unwrap()).is_accept();
                    assert_eq!(judged, rule(word), "{}: {word:?}", language.name);
                    accepted += usize::from(judged);
                }
                words = words.iter().flat_map(|word| names.iter().map(|name| [&word[..], &[*name]].concat())).collect();
            }
            assert!(accepted > 4, "{}", language.name);
        }
    }

    #[test]
    fn results_count_what_the_files_say() {
        let folder = tempfile::tempdir().unwrap();
        let language = LANGUAGES.iter().find(|language| language.name == "parity").unwrap();
        assert!(run(language, folder.path()).unwrap_err().to_string().contains("folder of the published benchmark"));
        let write = |set: &str, name: &str, text: &str| {
            let set = folder.path().join("parity").join(set);
            std::fs::create_dir_all(&set).unwrap();
            std::fs::write(set.join(name), text).unwrap();
        };
        for set in ["", "datasets/test", "datasets/validation-long"] {
            write(set, "main.tok", "0 1\n1 1\n1 2\n");
            // The last label of the test set is wrong.
            write(set, "labels.txt", if set == "datasets/test" { "1\n0\n1\n" } else { "1\n0\n0\n" });
        }
        let next = r#"[{"s":"0 1","e":false},{"s":"0 1","e":false},{"s":"0","e":true}]"#;
        write("datasets/validation-long", "next-symbols.jsonl", &format!("{next}\n"));
        let result = run(language, folder.path()).unwrap();
        assert!(result.cells.is_some() && !result.is_right());
        assert_eq!(result.test, Right { right: 2, of: 3 });
        assert_eq!(result.others, Right { right: 6, of: 6 });
        // After 0 1, both symbols are possible.
        assert_eq!(result.next_symbols, Right { right: 2, of: 3 });
        let shown = markdown(&[result]);
        assert!(shown.contains("| 2 of 3 | 6 of 6 | 2 of 3 |"), "{shown}");
        write("datasets/test", "labels.txt", "1\n0\n");
        assert!(run(language, folder.path()).unwrap_err().to_string().contains("there are 2 labels, but 3 words"));
        write("datasets/test", "labels.txt", "1\n0\nyes\n");
        assert!(run(language, folder.path()).unwrap_err().to_string().contains("line 3: a label is 0 or 1"));
    }
}
