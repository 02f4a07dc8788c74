//! Records of measurements: one line of JSON per finished cell, appended to a file that stays intact when a run is
//! killed.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::estimator::Choice;
use crate::spec::Specification;

/// A line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The specification that all other lines belong to. This is the first line.
    Specification {
        /// The version of echostack.
        version: String,
        /// The specification.
        specification: Specification,
    },
    /// A set of hyperparameters that was tried.
    Draw(Draw),
    /// A training and test with the best set of hyperparameters.
    Repeat(Repeat),
}

/// The experiment that a cell belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Unit {
    /// The task.
    pub task: String,
    /// The model.
    pub model: String,
    /// The number of training words.
    pub words: usize,
}

/// A set of hyperparameters, with its errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    /// The experiment.
    #[serde(flatten)]
    pub unit: Unit,
    /// The number of the draw.
    pub draw: usize,
    /// The hyperparameters.
    pub choice: Choice,
    /// The error on each data set.
    pub errors: Vec<f64>,
    /// The reason why the model could not be trained, if this happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The time that it took, in seconds.
    pub seconds: f64,
}

/// One training and test with the best hyperparameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    /// The experiment.
    #[serde(flatten)]
    pub unit: Unit,
    /// The number of the repeat.
    pub repeat: usize,
    /// The hyperparameters.
    pub choice: Choice,
    /// The seed of the data and of the model.
    pub seed: u64,
    /// The error on each test set.
    pub errors: BTreeMap<String, f64>,
    /// The root mean square error on each test set; for tasks with vectors only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub root_mean_square: BTreeMap<String, f64>,
    /// The fraction of words with a wrong verdict in each test set; for languages only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub wrong: BTreeMap<String, f64>,
    /// The reason why the model could not be trained, if this happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The time that training took, including the preparation of the model, in seconds.
    pub train_seconds: f64,
    /// The time that the first test took, in seconds. This is the test that the tables show.
    pub test_seconds: f64,
}

impl Line {
    /// Returns the key by which lines are sorted and found. It does not contain what was measured.
    pub(crate) fn key(&self) -> (Option<&Unit>, bool, usize) {
        match self {
            Self::Specification { .. } => (None, false, 0),
            Self::Draw(draw) => (Some(&draw.unit), false, draw.draw),
            Self::Repeat(repeat) => (Some(&repeat.unit), true, repeat.repeat),
        }
    }

    /// Returns the line with all times set to zero. Such lines must be equal in two runs.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        match &mut self {
            Self::Specification { .. } => {}
            Self::Draw(draw) => draw.seconds = 0.,
            Self::Repeat(repeat) => (repeat.train_seconds, repeat.test_seconds) = (0., 0.),
        }
        self
    }
}

/// The reason why a record cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The operating system reported an error.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// A line is not a valid line of a record.
    #[error("{path}, line {line}: {error}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
        /// The error in the line.
        error: serde_json::Error,
    },
    /// The file belongs to another experiment.
    #[error(
        "{0} is the record of another specification, or of another version; choose another file, or remove this one"
    )]
    Other(PathBuf),
}

/// The file of a record, open for appending lines.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    file: File,
    lines: Vec<Line>,
}

impl RecordFile {
    /// Opens the record of a specification, or creates it if it does not exist. An unfinished last line is removed.
    ///
    /// # Errors
    /// If the file cannot be read or written, if a line is not valid, or if the record belongs to another specification
    /// or version.
    pub fn open(path: &Path, specification: &Specification) -> Result<Self, RecordError> {
        let refused = |error| RecordError::Io { path: path.to_path_buf(), error };
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let mut file = options.open(path).map_err(refused)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(refused)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).map_err(refused)?;
        file.seek(SeekFrom::End(0)).map_err(refused)?;
        let mut this = Self { path: path.to_path_buf(), file, lines: parse(path, &text[..whole])? };
        let header =
            Line::Specification { version: env!("CARGO_PKG_VERSION").into(), specification: specification.clone() };
        match this.lines.first() {
            None => this.append(header)?,
            Some(first) if *first == header => {}
            Some(_) => return Err(RecordError::Other(this.path)),
        }
        Ok(this)
    }

    /// Returns all lines so far.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Appends a line.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&mut self, line: Line) -> Result<(), RecordError> {
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.flush());
        written.map_err(|error| RecordError::Io { path: self.path.clone(), error })?;
        self.lines.push(line);
        Ok(())
    }
}

fn parse(path: &Path, text: &str) -> Result<Vec<Line>, RecordError> {
    let line = |(number, text): (usize, &str)| {
        let wrong = |error| RecordError::Line { path: path.to_path_buf(), line: number + 1, error };
        serde_json::from_str(text).map_err(wrong)
    };
    text.lines().enumerate().map(line).collect()
}

/// Reads a finished record.
///
/// # Errors
/// If the file cannot be read, or if a line is not valid.
pub fn read(path: &Path) -> Result<Vec<Line>, RecordError> {
    let text = std::fs::read_to_string(path).map_err(|error| RecordError::Io { path: path.to_path_buf(), error })?;
    parse(path, &text)
}

/// Merges the parts of one experiment. The lines are sorted, and each cell occurs once.
///
/// # Errors
/// If a part cannot be read, or if two parts belong to different specifications.
pub fn merge(parts: &[PathBuf]) -> Result<Vec<Line>, RecordError> {
    let mut all: Vec<Line> = Vec::new();
    for part in parts {
        let lines = read(part)?;
        if all.first().is_some_and(|first| lines.first() != Some(first)) {
            return Err(RecordError::Other(part.clone()));
        }
        all.extend(lines);
    }
    all.sort_by(|a, b| a.key().cmp(&b.key()));
    all.dedup_by(|a, b| a.key() == b.key());
    Ok(all)
}
