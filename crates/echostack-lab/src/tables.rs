//! The paper's tables, with our values next to the published ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use echostack::tasks::Task;

use crate::record::{Line, Repeat, Unit};

/// A value in a table: a mean and a standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// The number of repeats; 0 for published values.
    pub repeats: usize,
}

impl Figure {
    /// Returns the mean and standard deviation of some values, or `None` if there are none. Like numpy's, the deviation
    /// is that of the population.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
        (!values.is_empty()).then_some(Self { mean, deviation: variance.sqrt(), repeats: values.len() })
    }

    /// Returns whether the value is bold in the tables of errors, as in the paper: mean and deviation are below 1e-2. A
    /// single repeat has no deviation and is not bold.
    pub fn is_bold(&self) -> bool {
        self.mean < 1e-2 && self.deviation < 1e-2 && self.repeats > 1
    }

    /// Returns the value with this many digits after the decimal point, and with the number of repeats if it is ours.
    fn show(&self, digits: usize) -> String {
        let Self { mean, deviation, repeats } = *self;
        match repeats {
            0 => format!("{mean:.digits$} ± {deviation:.digits$}"),
            1 => format!("{mean:.digits$} (n = 1)"),
            _ => format!("{mean:.digits$} ± {deviation:.digits$} (n = {repeats})"),
        }
    }
}

/// The quantity that a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The mean absolute error on valid words.
    Error,
    /// The time for training and testing, in seconds.
    Seconds,
}

/// A table of the paper.
#[derive(Clone, Copy, Debug)]
pub struct ErrorTable {
    /// The name of its files, without extensions.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// The quantity that it shows.
    pub quantity: Quantity,
    tasks: &'static [Task],
    /// One line per model: its name, then the mean and deviation for each task. A star marks a bold value, and a dash a
    /// value that was not published.
    published: &'static str,
}

const MEMORY: &[Task] = &[Task::Latch, Task::Copy, Task::RepeatCopy];
const LANGUAGES: &[Task] = &[Task::Dyck1, Task::Dyck2, Task::Dyck3, Task::Anbn, Task::Palindrome, Task::Json];

/// The paper's tables: two of errors, two of times, and those of its appendix. The stack machines in Python are the
/// peer that the benchmarks compare with, on the same words (experiments/peer).
pub const TABLES: [ErrorTable; 6] = [
    ErrorTable {
        name: "memory-errors",
        title: "Mean absolute error on the three memory tasks",
        quantity: Quantity::Error,
        tasks: MEMORY,
        published: "
            rand-ESN 0.43 0.02  0.23 0.00  0.36 0.01
            CRJ-ESN  0.40 0.02  0.20 0.01  0.34 0.01
            LDN-ESN  0.42 0.01  0.22 0.00  0.30 0.01
            GRU     *0.00 0.00  0.22 0.00  0.32 0.01
            SRNN     0.30 0.03  0.21 0.01  0.36 0.01
            DSM     *0.00 0.00  0.23 0.01  0.33 0.02
            rand-RSM *0.00 0.00  0.36 0.03  0.40 0.01
            CRJ-RSM  0.35 0.02  0.22 0.00  0.08 0.01
            LDN-RSM *0.00 0.00 *0.00 0.00 *0.00 0.00
            RMM      - - -
            rand-RSM-Python - - -
            CRJ-RSM-Python - - -
            LDN-RSM-Python - - -",
    },
    ErrorTable {
        name: "language-errors",
        title: "Mean absolute error on the six languages",
        quantity: Quantity::Error,
        tasks: LANGUAGES,
        published: "
            rand-ESN 0.13 0.02 0.23 0.05 0.28 0.06 *0.00 0.00 *0.00 0.00 *0.01 0.00
            CRJ-ESN 0.11 0.01 0.12 0.02 0.14 0.03 *0.00 0.00 *0.01 0.00 0.01 0.00
            LDN-ESN 0.17 0.02 0.23 0.02 0.26 0.03 *0.00 0.00 0.07 0.01 0.10 0.01
            GRU 0.04 0.01 0.05 0.01 0.06 0.01 *0.00 0.00 *0.00 0.00 *0.00 0.00
            SRNN 0.02 0.03 *0.00 0.00 0.03 0.03 *0.00 0.00 0.05 0.14 0.08 0.16
            DSM *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00
            rand-RSM *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00
            CRJ-RSM *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00
            LDN-RSM *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00 *0.00 0.00
            rand-RSM-Python - - - - - -
            CRJ-RSM-Python - - - - - -
            LDN-RSM-Python - - - - - -",
    },
    ErrorTable {
        name: "memory-seconds",
        title: "Seconds for training and testing on the three memory tasks",
        quantity: Quantity::Seconds,
        tasks: MEMORY,
        published: "
            rand-ESN 1.17 0.12 0.48 0.01 0.32 0.01
            CRJ-ESN 0.76 0.11 0.11 0.01 0.18 0.01
            LDN-ESN 1.71 0.19 0.19 0.01 0.23 0.01
            GRU 97.1 4.1 108.3 12.2 191.5 74.4
            SRNN 295.0 12.4 314.5 24.4 536.3 113.5
            DSM 619.3 20.3 548.9 30.3 1045.4 211.6
            rand-RSM 10.25 0.62 5.20 0.14 9.61 0.65
            CRJ-RSM 51.27 5.16 4.11 0.14 7.78 0.38
            LDN-RSM 26.74 2.04 3.36 0.13 10.25 0.46
            RMM - - -
            rand-RSM-Python - - -
            CRJ-RSM-Python - - -
            LDN-RSM-Python - - -",
    },
    ErrorTable {
        name: "language-seconds",
        title: "Seconds for training and testing on the six languages",
        quantity: Quantity::Seconds,
        tasks: LANGUAGES,
        published: "
            rand-ESN 1.68 0.30 1.78 0.13 1.93 0.40 0.89 0.04 1.29 0.29 1.01 0.06
            CRJ-ESN 1.27 0.32 0.88 0.13 0.98 0.21 0.38 0.02 0.61 0.16 0.80 0.05
            LDN-ESN 2.27 0.29 1.28 0.10 1.22 0.26 0.92 0.12 1.04 0.32 0.95 0.15
            GRU 45.6 3.1 45.5 3.0 42.3 2.0 52.6 8.9 47.9 2.5 37.8 1.8
            SRNN 114.8 10.7 114.0 10.3 102.5 6.2 131.0 24.7 122.0 9.5 88.0 5.9
            DSM 285.0 31.3 282.1 30.8 249.1 17.7 270.3 37.5 290.3 27.0 217.6 17.3
            rand-RSM 11.52 0.72 16.64 1.40 17.80 1.78 4.01 0.08 6.09 0.42 13.16 1.18
            CRJ-RSM 11.08 0.69 15.06 1.14 17.08 1.61 4.15 0.07 7.06 0.50 11.42 0.99
            LDN-RSM 13.71 0.97 14.34 1.40 14.22 0.84 5.06 0.22 6.49 0.42 11.90 0.79
            rand-RSM-Python - - - - - -
            CRJ-RSM-Python - - - - - -
            LDN-RSM-Python - - - - - -",
    },
    ErrorTable {
        name: "large-errors",
        title: "Mean absolute error of echo state networks with 1,024 neurons (appendix)",
        quantity: Quantity::Error,
        tasks: &Task::ALL,
        published: "
            rand-ESN-1024 0.42 0.03 0.24 0.01 0.53 0.04 0.14 0.02 0.58 0.64 0.34 0.08 *0.00 0.00 *0.00 0.00 *0.00 0.00
            CRJ-ESN-1024 0.39 0.01 0.21 0.00 0.33 0.01 0.14 0.02 0.15 0.02 0.16 0.03 *0.00 0.00 *0.00 0.00 *0.00 0.00
            LDN-ESN-1024 0.43 0.01 0.22 0.00 0.31 0.01 0.18 0.02 0.23 0.02 0.27 0.03 *0.00 0.00 0.07 0.01 0.10 0.01",
    },
    ErrorTable {
        name: "large-seconds",
        title: "Seconds for training and testing echo state networks with 1,024 neurons (appendix)",
        quantity: Quantity::Seconds,
        tasks: &Task::ALL,
        published: "
            rand-ESN-1024 6.00 0.22 0.93 0.04 20.88 1.35 15.34 0.67 15.66 0.53 9.28 0.55 10.54 0.10 11.28 0.82 6.59 0.63
            CRJ-ESN-1024 1.43 0.06 0.20 0.03 1.61 0.22 1.71 0.10 1.81 0.15 1.76 0.11 0.89 0.01 1.15 0.31 1.78 0.26
            LDN-ESN-1024 12.85 0.44 0.38 0.03 3.83 0.18 13.33 0.84 8.15 0.41 6.29 0.54 8.73 0.08 6.48 0.42 4.03 0.26",
    },
];

/// A published value, and whether it is bold; `None` if nothing was published.
type Published = Option<(Figure, bool)>;

/// The number of training words in the paper.
const TRAINING_WORDS: usize = 100;

/// The test in the paper.
const TEST: &str = "valid";

/// Splits the repeats of records into those that were measured as in the paper, which its tables show, and others.
fn split(lines: &[Line]) -> [Vec<&Repeat>; 2] {
    let mut split = [Vec::new(), Vec::new()];
    let models: BTreeSet<&str> = TABLES.iter().flat_map(ErrorTable::published).map(|(model, _)| model).collect();
    let mut like_paper = true;
    for line in lines {
        match line {
            Line::Specification { specification, .. } => like_paper = specification.unlike_paper().is_empty(),
            Line::Draw(_) => {}
            Line::Repeat(repeat) => {
                let Unit { words, task, model } = &repeat.unit;
                let in_table = models.contains(model.as_str()) && task.parse::<Task>().is_ok();
                let shown = like_paper && in_table && *words == TRAINING_WORDS;
                split[usize::from(!shown)].push(repeat);
            }
        }
    }
    split
}

/// Returns whether records have results that the paper's tables do not show.
pub fn has_others(lines: &[Line]) -> bool {
    let [shown, others] = split(lines);
    !others.is_empty() || shown.iter().any(|repeat| repeat.errors.keys().any(|test| test != TEST))
}

impl ErrorTable {
    /// Returns the models in order, each with the published values for all tasks.
    pub fn published(&self) -> Vec<(&'static str, Vec<Published>)> {
        let row = |line: &'static str| {
            let mut words = line.split_whitespace();
            let model = words.next()?;
            let mut figures = Vec::new();
            while let Some(word) = words.next() {
                if word == "-" {
                    figures.push(None);
                    continue;
                }
                let mean = word.trim_start_matches('*').parse().ok()?;
                let deviation = words.next()?.parse().ok()?;
                figures.push(Some((Figure { mean, deviation, repeats: 0 }, word.starts_with('*'))));
            }
            Some((model, figures))
        };
        self.published.lines().filter_map(row).collect()
    }

    /// Returns the measured values, by model and task.
    fn measured(&self, repeats: &[&Repeat]) -> BTreeMap<(String, String), Figure> {
        let mut values: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
        for repeat in repeats.iter().filter(|repeat| repeat.failed.is_none()) {
            let value = match self.quantity {
                Quantity::Error => repeat.errors.get(TEST).copied(),
                Quantity::Seconds => Some(repeat.train_seconds + repeat.test_seconds),
            };
            values.entry((repeat.unit.model.clone(), repeat.unit.task.clone())).or_default().extend(value);
        }
        values.into_iter().filter_map(|(key, values)| Some((key, Figure::of(&values)?))).collect()
    }

    /// Returns all cells of the table. Only what was measured as in the paper is shown.
    pub fn cells(&self, lines: &[Line]) -> Vec<Cell> {
        let [shown, _] = split(lines);
        let measured = self.measured(&shown);
        let mut cells = Vec::new();
        for (model, published) in self.published() {
            for (task, published) in self.tasks.iter().zip(published) {
                let ours = measured.get(&(model.to_string(), task.name().to_string())).copied();
                cells.push(Cell { model, task: *task, ours, published });
            }
        }
        cells
    }

    /// Returns the number of digits after the decimal point.
    fn digits(&self, mean: f64) -> usize {
        match self.quantity {
            Quantity::Error => 2,
            Quantity::Seconds if mean < 1. => 3,
            Quantity::Seconds if mean < 100. => 2,
            Quantity::Seconds => 1,
        }
    }

    fn show(&self, figure: Figure) -> String {
        figure.show(self.digits(figure.mean))
    }

    /// Returns the table as Markdown. Each cell has our value and, below it, the published value and the difference.
    pub fn markdown(&self, lines: &[Line]) -> String {
        let cells = self.cells(lines);
        let mut text = format!("## {}\n\n| model |", self.title);
        self.tasks.iter().for_each(|task| write!(text, " {task} |").unwrap_or_default());
        text.push_str("\n|---|");
        text.push_str(&"---|".repeat(self.tasks.len()));
        for row in cells.chunks(self.tasks.len()) {
            write!(text, "\n| {} |", row[0].model).unwrap_or_default();
            for cell in row {
                let ours = match cell.ours {
                    None => "not run".to_string(),
                    Some(ours) if self.quantity == Quantity::Error && ours.is_bold() => {
                        format!("**{}**", self.show(ours))
                    }
                    Some(ours) => self.show(ours),
                };
                let published = match (cell.published, cell.difference()) {
                    (None, _) => "not published".to_string(),
                    (Some((published, bold)), difference) => {
                        let shown = self.show(published);
                        let shown = if bold { format!("**{shown}**") } else { shown };
                        let digits = self.digits(published.mean);
                        let difference = difference.map_or(String::new(), |value| format!(", {value:+.digits$}"));
                        format!("paper {shown}{difference}")
                    }
                };
                write!(text, " {ours}<br>{published} |").unwrap_or_default();
            }
        }
        text.push('\n');
        if self.quantity == Quantity::Error {
            write!(text, "\n{ROUNDING}\n").unwrap_or_default();
        }
        text
    }

    /// Returns the table as CSV, one line per cell.
    pub fn csv(&self, lines: &[Line]) -> String {
        let mut text =
            "model,task,mean,deviation,repeats,published mean,published deviation,published bold\n".to_string();
        for cell in self.cells(lines) {
            let ours = cell.ours.map_or(",,0".into(), csv);
            let published =
                cell.published.map_or(",,".into(), |(f, bold)| format!("{},{},{bold}", f.mean, f.deviation));
            writeln!(text, "{},{},{ours},{published}", cell.model, cell.task).unwrap_or_default();
        }
        text
    }

    /// Returns the table as LaTeX, in the paper's form, with the published values in parentheses. It needs the packages
    /// booktabs and bm.
    pub fn latex(&self, lines: &[Line]) -> String {
        let columns = "c".repeat(self.tasks.len());
        let mut text =
            format!("% {}; published values in parentheses\n\\begin{{tabular}}{{l{columns}}}\nmodel", self.title);
        self.tasks.iter().for_each(|task| write!(text, " & {task}").unwrap_or_default());
        text.push_str(" \\\\\n\\midrule\n");
        let math = |figure: Figure, bold: bool| {
            let digits = self.digits(figure.mean);
            let Figure { mean, deviation, repeats } = figure;
            let deviation = if repeats == 1 { String::new() } else { format!(" \\pm {deviation:.digits$}") };
            let inner = format!("{mean:.digits$}{deviation}");
            let inner = if bold { format!("\\bm{{{inner}}}") } else { inner };
            if repeats == 0 { format!("${inner}$") } else { format!("${inner}$, $n = {repeats}$") }
        };
        for row in self.cells(lines).chunks(self.tasks.len()) {
            text.push_str(row[0].model);
            for cell in row {
                let errors = self.quantity == Quantity::Error;
                let ours = cell.ours.map_or("--".into(), |ours| math(ours, errors && ours.is_bold()));
                let published = cell.published.map_or("--".into(), |(figure, bold)| math(figure, bold));
                write!(text, " & {ours} ({published})").unwrap_or_default();
            }
            text.push_str(" \\\\\n");
        }
        text.push_str("\\end{tabular}\n");
        text
    }
}

/// How the outputs of models are compared with the right ones, for the tables of errors.
const ROUNDING: &str = "Outputs of GRU, SRNN and DSM are rounded to 0 or 1 on latch and the languages; stack machines \
                        classify there. Outputs of echo state networks and memory machines are compared as they are, \
                        and so are all outputs on copy and repeat copy.";

/// Returns the columns of a value in a CSV file: mean, deviation (empty for a single repeat), and repeats.
fn csv(figure: Figure) -> String {
    let Figure { mean, deviation, repeats } = figure;
    if repeats == 1 { format!("{mean},,1") } else { format!("{mean},{deviation},{repeats}") }
}

/// A cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The model.
    pub model: &'static str,
    /// The task.
    pub task: Task,
    /// The measured value; `None` if the experiment was not run.
    pub ours: Option<Figure>,
    /// The published value, and whether it is bold; `None` if nothing was published.
    pub published: Published,
}

impl Cell {
    /// Returns our mean minus the published one, if both exist.
    pub fn difference(&self) -> Option<f64> {
        Some(self.ours?.mean - self.published?.0.mean)
    }
}

/// The measure of a model's performance on a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The mean absolute error over the steps of words.
    Error,
    /// The root of the mean squared error over the steps of words; for tasks with vectors only.
    RootMeanSquare,
    /// The fraction of words with a wrong verdict.
    Wrong,
}

impl Measure {
    /// All measures.
    pub const ALL: [Self; 3] = [Self::Error, Self::RootMeanSquare, Self::Wrong];

    fn title(self) -> &'static str {
        match self {
            Self::Error => "Mean absolute error over the steps of words",
            Self::RootMeanSquare => "Root mean square error over the steps of words",
            Self::Wrong => "Fraction of words with a wrong verdict",
        }
    }

    fn of(self, repeat: &Repeat) -> &BTreeMap<String, f64> {
        match self {
            Self::Error => &repeat.errors,
            Self::RootMeanSquare => &repeat.root_mean_square,
            Self::Wrong => &repeat.wrong,
        }
    }
}

/// Returns all measured values by task, model, number of training words and test.
pub fn summary(lines: &[Line], measure: Measure) -> BTreeMap<(Unit, String), Figure> {
    let mut values: BTreeMap<(Unit, String), Vec<f64>> = BTreeMap::new();
    for line in lines {
        let Line::Repeat(repeat) = line else { continue };
        for (test, value) in measure.of(repeat) {
            values.entry((repeat.unit.clone(), test.clone())).or_default().push(*value);
        }
    }
    values.into_iter().filter_map(|(key, values)| Some((key, Figure::of(&values)?))).collect()
}

/// Returns the summary as Markdown: a table for each measure, test and number of training words, with a row for each
/// model, and the repeats that failed, which are not in the means.
pub fn summary_markdown(lines: &[Line]) -> String {
    let mut text = String::new();
    for measure in Measure::ALL {
        let summary = summary(lines, measure);
        let mut tables: BTreeMap<_, BTreeMap<(&str, &str), Figure>> = BTreeMap::new();
        for ((unit, test), figure) in &summary {
            tables.entry((test.as_str(), unit.words)).or_default().insert((&unit.model, &unit.task), *figure);
        }
        for ((test, words), cells) in tables {
            let title = measure.title();
            write!(text, "## {title}: test \"{test}\", {words} training words\n\n").unwrap_or_default();
            write_table(&mut text, &cells);
        }
    }
    write_failures(&mut text, lines);
    text
}

/// Lists the models and tasks with failed repeats, each with the reason of the first one.
fn write_failures(text: &mut String, lines: &[Line]) {
    let mut all: BTreeMap<(&str, &str), (usize, usize, &str)> = BTreeMap::new();
    for line in lines {
        let Line::Repeat(repeat) = line else { continue };
        let (failed, repeats, why) = all.entry((&repeat.unit.model, &repeat.unit.task)).or_default();
        *repeats += 1;
        if let Some(reason) = &repeat.failed {
            *failed += 1;
            *why = if why.is_empty() { reason } else { why };
        }
    }
    all.retain(|_, (failed, _, _)| *failed > 0);
    if all.is_empty() {
        return;
    }
    text.push_str("Failed repeats, which are not in the means:\n");
    for ((model, task), (failed, repeats, why)) in all {
        writeln!(text, "- {model} on {task}: {failed} of {repeats}, {why}").unwrap_or_default();
    }
    text.push('\n');
}

/// Writes a table with a row for each model and a column for each task.
fn write_table(text: &mut String, cells: &BTreeMap<(&str, &str), Figure>) {
    let tasks: BTreeSet<&str> = cells.keys().map(|(_, task)| *task).collect();
    let models: BTreeSet<&str> = cells.keys().map(|(model, _)| *model).collect();
    text.push_str("| model |");
    tasks.iter().for_each(|task| write!(text, " {task} |").unwrap_or_default());
    write!(text, "\n|---|{}", "---|".repeat(tasks.len())).unwrap_or_default();
    for model in models {
        write!(text, "\n| {model} |").unwrap_or_default();
        for task in &tasks {
            let shown = match cells.get(&(model, *task)) {
                None => "no result".to_string(),
                Some(figure) => figure.show(3),
            };
            write!(text, " {shown} |").unwrap_or_default();
        }
    }
    text.push_str("\n\n");
}

/// Returns the summary as CSV, one line per cell.
pub fn summary_csv(lines: &[Line]) -> String {
    let mut text = "measure,task,model,training words,test,mean,deviation,repeats\n".to_string();
    for measure in Measure::ALL {
        for ((unit, test), figure) in summary(lines, measure) {
            let Unit { task, model, words } = unit;
            writeln!(text, "{measure:?},{task},{model},{words},{test},{}", csv(figure)).unwrap_or_default();
        }
    }
    text
}

/// Returns the cells whose errors differ from the published ones by more than 0.05, and the cells that are bold in the
/// paper but not here.
pub fn departures(lines: &[Line]) -> Vec<Cell> {
    let tables = TABLES.iter().filter(|table| table.quantity == Quantity::Error);
    let differs = |cell: &Cell| {
        let not_bold = |(ours, (_, bold)): (Figure, (Figure, bool))| bold && !ours.is_bold() && ours.repeats > 1;
        let not_bold = cell.ours.zip(cell.published).is_some_and(not_bold);
        cell.difference().is_some_and(|difference| difference.abs() > 0.05) || not_bold
    };
    tables.flat_map(|table| table.cells(lines)).filter(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_are_complete() {
        for table in TABLES {
            let rows = table.published();
            assert_eq!(rows.len(), table.published.trim().lines().count(), "{}", table.name);
            assert!(rows.iter().all(|(_, figures)| figures.len() == table.tasks.len()), "{}", table.name);
        }
        let languages = TABLES[1].published();
        assert_eq!(languages[1].0, "CRJ-ESN");
        assert_eq!(languages[1].1[4], Some((Figure { mean: 0.01, deviation: 0., repeats: 0 }, true)));
        assert_eq!(TABLES[4].published()[0].1[4].map(|(figure, _)| figure.deviation), Some(0.64));
    }

    #[test]
    fn means_and_deviations() {
        let figure = Figure::of(&[1., 2., 3., 6.]).unwrap();
        assert_eq!((figure.mean, figure.repeats), (3., 4));
        assert!((figure.deviation - 3.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!(Figure::of(&[]), None);
        assert!(!figure.is_bold() && !Figure::of(&[0.009]).unwrap().is_bold());
        assert!(Figure::of(&[0.009, 0.008]).unwrap().is_bold());
        assert_eq!(figure.show(1), "3.0 ± 1.9 (n = 4)");
        assert_eq!(Figure::of(&[0.25]).unwrap().show(2), "0.25 (n = 1)");
    }
}
