//! Where a program says that a text fails: numbers in its messages, found by a pattern.

use regex::Regex;

/// The reason why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It is not a regular expression.
    #[error("the pattern for positions is not a regular expression: {0}")]
    Regex(String),
    /// It does not have one or two groups.
    #[error(
        "the pattern for positions has {0} groups, but needs one, for the number of characters before the failure, or two, \
         for a line and a column"
    )]
    Groups(usize),
}

/// A pattern that finds the position of a failure in the messages of a program.
///
/// With one group, it is the number of characters before the one that fails. With two groups, these are a line and a
/// column, both counted from 1.
///
/// ```
/// use echostack_infer::program::Pattern;
/// let pattern = Pattern::new(r"line (\d+), column (\d+)")?;
/// assert_eq!(pattern.find("error in line 2, column 3", "ab\ncd]"), Some(5));
/// # Ok::<(), echostack_infer::program::PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Creates a pattern from a regular expression.
    ///
    /// # Errors
    /// If it is not a regular expression with one or two groups.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        let regex = Regex::new(pattern).map_err(|error| PatternError::Regex(error.to_string()))?;
        match regex.captures_len() - 1 {
            1 | 2 => Ok(Self(regex)),
            groups => Err(PatternError::Groups(groups)),
        }
    }

    /// Returns the number of characters before the one that fails, if a message says so.
    pub fn find(&self, message: &str, text: &str) -> Option<usize> {
        let found = self.0.captures(message)?;
        let number = |at: usize| -> Option<usize> { found.get(at)?.as_str().parse().ok() };
        let first = number(1)?;
        if found.len() == 2 {
            return Some(first);
        }
        let (line, column) = (first.checked_sub(1)?, number(2)?.checked_sub(1)?);
        let before: usize = text.split_inclusive('\n').take(line).map(|line| line.chars().count()).sum();
        before.checked_add(column)
    }
}
