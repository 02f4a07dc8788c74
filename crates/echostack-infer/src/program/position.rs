//! Where a program says that a text fails: numbers in its messages, found by a pattern.

use std::sync::LazyLock;

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

/// How programs usually say where a text fails, in the order of trust: a number of characters, or a line and a column.
static USUAL: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = [
        r"(?i)\b(?:char|character|position|pos|offset|index)[ :=]{1,2}(\d+)",
        r"(?i)\bline[ :=]{1,2}(\d+)\W{1,3}(?:at )?col(?:umn)?[ :=]{1,2}(\d+)",
        r":(\d+):(\d+)(?::|\s|$)",
    ];
    patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
});

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
        match numbers(&self.0, message)? {
            (at, None) => Some(at),
            (line, Some(column)) => before(line, column.checked_sub(1)?, text),
        }
    }

    /// Returns the same for messages of the usual forms. Programs count columns and characters from 0 or from 1: they are
    /// taken to count from 0 here. If they do not, what is learned from the position is less, but not wrong.
    pub(super) fn find_usual(message: &str, text: &str) -> Option<usize> {
        match USUAL.iter().find_map(|regex| numbers(regex, message))? {
            (at, None) => Some(at),
            (line, Some(column)) => before(line, column, text),
        }
    }
}

/// Returns the number or the two numbers that a regular expression finds.
fn numbers(regex: &Regex, message: &str) -> Option<(usize, Option<usize>)> {
    let found = regex.captures(message)?;
    let number = |at: usize| -> Option<usize> { found.get(at)?.as_str().parse().ok() };
    Some((number(1)?, if found.len() == 2 { None } else { Some(number(2)?) }))
}

/// Returns the number of characters before a column of a line, which is counted from 1.
fn before(line: usize, column: usize, text: &str) -> Option<usize> {
    let lines = text.split_inclusive('\n').take(line.checked_sub(1)?);
    lines.map(|line| line.chars().count()).sum::<usize>().checked_add(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_one_or_two_groups() {
        assert!(matches!(Pattern::new("("), Err(PatternError::Regex(_))));
        assert_eq!(Pattern::new("at .*").unwrap_err(), PatternError::Groups(0));
        assert_eq!(Pattern::new(r"(\d+) (\d+) (\d+)").unwrap_err(), PatternError::Groups(3));
    }

    #[test]
    fn messages_of_any_kind_have_a_position_or_none() {
        let (at, both) = (Pattern::new(r"char (\d+)").unwrap(), Pattern::new(r"(\d+):(\d+)").unwrap());
        assert_eq!(at.find("error at char 7", ""), Some(7));
        assert_eq!(at.find("error", ""), None);
        assert_eq!(at.find("char 99999999999999999999999", ""), None);
        assert_eq!(both.find("1:1", "ab"), Some(0));
        // Characters are counted, not bytes.
        assert_eq!(both.find("2:2", "\u{e9}\u{e9}\nab"), Some(4));
        assert_eq!(both.find("0:1", "ab"), None);
        assert_eq!(both.find("1:0", "ab"), None);
        assert_eq!(both.find("2:18446744073709551615", "a\nb"), None);
    }

    #[test]
    fn positions_of_usual_messages_are_not_too_early() {
        let usual = |message: &str| Pattern::find_usual(message, "ab\ncdefgh");
        assert_eq!(usual("Expecting value: line 2 column 3 (char 5)"), Some(5));
        assert_eq!(usual("parse error at position 4"), Some(4));
        assert_eq!(usual("jq: error: at line 2, column 3"), Some(6));
        assert_eq!(usual("input.c:2:1: error: expected ';'"), Some(4));
        assert_eq!(usual("Unexpected token } in JSON at line 2, col: 2"), Some(5));
        for none in ["", "line 7", "syntax error", "10:20", "char x", "line 99999999999999999999, column 1"] {
            assert_eq!(usual(none), None, "{none}");
        }
    }
}
