//! Command lines, split into the program and its arguments without a shell.

/// The reason why a command line cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// There is no program in the line.
    #[error("the command of the oracle is empty; give a program and its arguments")]
    Empty,
    /// A quotation mark is not closed.
    #[error("the command `{0}` has a quotation mark that is not closed")]
    Quote(String),
}

/// Splits a command line into the program and its arguments. Arguments are separated by spaces; single and double
/// quotation marks keep spaces, and a backslash outside of single quotation marks keeps the next character. No shell is
/// involved.
///
/// ```
/// use echostack_infer::program::split;
/// assert_eq!(split("lint --flag 'two words' {}")?, ["lint", "--flag", "two words", "{}"]);
/// # Ok::<(), echostack_infer::program::LineError>(())
/// ```
///
/// # Errors
/// If the line is empty, or if a quotation mark is not closed.
pub fn split(line: &str) -> Result<Vec<String>, LineError> {
    let mut arguments: Vec<String> = Vec::new();
    let mut current: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (mark, Some(open)) if mark == open => quote = None,
            ('\\', None | Some('"')) => current.get_or_insert_default().extend(letters.next()),
            ('\'' | '"', None) => {
                quote = Some(letter);
                current.get_or_insert_default();
            }
            (space, None) if space.is_whitespace() => arguments.extend(current.take()),
            _ => current.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(LineError::Quote(line.to_string()));
    }
    arguments.extend(current);
    if arguments.is_empty() { Err(LineError::Empty) } else { Ok(arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_as_a_shell_would() {
        let cases: [(&str, &[&str]); 4] = [
            ("a  b", &["a", "b"]),
            (r#"python3 -c "print('x y')""#, &["python3", "-c", "print('x y')"]),
            (r"a\ b '' c", &["a b", "", "c"]),
            (r#"'a"b' "c\"d""#, &["a\"b", "c\"d"]),
        ];
        for (line, expected) in cases {
            assert_eq!(split(line).unwrap(), expected);
        }
        assert_eq!(split("  "), Err(LineError::Empty));
        assert_eq!(split("a 'b"), Err(LineError::Quote("a 'b".to_string())));
    }
}
