//! Splits a file in Yacc syntax into its tokens.

use super::code;
use crate::text::error::GrammarError;
use crate::text::source::Source;

/// A token of a file in Yacc syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// `%name`, without the percent sign.
    Directive(&'a str),
    /// `%%`
    Separator,
    /// The name of a symbol, or a word in a declaration.
    Name(&'a str),
    /// A name with a colon after it, which the reader tells from other names.
    Left(&'a str),
    /// What is between single quotes.
    Character(&'a str),
    /// What is between double quotes.
    Text(&'a str),
    /// A number.
    Number(&'a str),
    /// `<tag>`
    Tag,
    /// `{ code }`
    Code,
    /// `%{ code %}`
    Prologue,
    /// `%?{ code }`
    Predicate,
    /// `[name]`
    Reference,
    Colon,
    Bar,
    Semicolon,
    Equals,
    /// The end of the file.
    End,
}

/// A position in a file in Yacc syntax, from which the tokens are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner<'a> {
    source: Source<'a>,
    /// The position after the last token.
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(source: Source<'a>) -> Self {
        Self { source, at: 0 }
    }

    /// Goes to the end of the line.
    pub(crate) fn skip_line(&mut self, from: usize) {
        let text = self.source.text;
        self.at = text[from..].find('\n').map_or(text.len(), |end| from + end);
    }

    /// Reads a token. Returns it with the position of its first byte.
    pub(crate) fn next(&mut self) -> Result<(usize, Token<'a>), GrammarError> {
        let at = self.skip_space()?;
        let text = self.source.text;
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return Ok((at, Token::End)) };
        let error = |message: &str| self.source.error(at, message);
        let (token, end) = match first {
            ':' => (Token::Colon, at + 1),
            '|' => (Token::Bar, at + 1),
            ';' => (Token::Semicolon, at + 1),
            '=' => (Token::Equals, at + 1),
            '{' => (Token::Code, code::block(text, at).ok_or_else(|| error("this brace is not closed"))?),
            '[' => {
                let end = rest.find(']').ok_or_else(|| error("this bracket is not closed"))?;
                (Token::Reference, at + end + 1)
            }
            '<' => (Token::Tag, at + tag(rest).ok_or_else(|| error("this tag is not closed on its line"))?),
            '\'' | '"' => self.literal(at)?,
            // A string that is to be translated: _("text").
            '_' if rest.starts_with("_(\"") => {
                let (token, end) = self.literal(at + 2)?;
                let end = end + usize::from(text[end..].starts_with(')'));
                (token, end)
            }
            '%' => self.directive(at)?,
            '0'..='9' => {
                let length = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
                (Token::Number(&rest[..length]), at + length)
            }
            letter if is_name(letter) && letter != '-' => {
                let length = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
                (Token::Name(&rest[..length]), at + length)
            }
            letter => return Err(error(&format!("{letter:?} has no meaning in a grammar; write a token in quotes"))),
        };
        self.at = end;
        Ok((at, token))
    }

    /// Passes over space and comments, and returns the position after them.
    fn skip_space(&self) -> Result<usize, GrammarError> {
        let text = self.source.text;
        let mut at = self.at;
        loop {
            // A comma is space, as in bison, and so is a byte order mark.
            let is_space = |letter: char| letter.is_whitespace() || matches!(letter, ',' | '\u{feff}');
            at = text.len() - text[at..].trim_start_matches(is_space).len();
            let Some(end) = code::comment(text, at) else { return Ok(at) };
            if text[at..].starts_with("/*") && !text[at + 2..end].ends_with("*/") {
                return Err(self.source.error(at, "this comment is not closed"));
            }
            at = end;
        }
    }

    fn literal(&self, at: usize) -> Result<(Token<'a>, usize), GrammarError> {
        let text = self.source.text;
        let end =
            code::literal(text, at).ok_or_else(|| self.source.error(at, "this quote is not closed on its line"))?;
        match &text[at + 1..end - 1] {
            "" => {
                Err(self.source.error(at, "there is nothing between these quotes; write %empty in an empty production"))
            }
            inside if text[at..].starts_with('"') => Ok((Token::Text(inside), end)),
            inside => Ok((Token::Character(inside), end)),
        }
    }

    fn directive(&self, at: usize) -> Result<(Token<'a>, usize), GrammarError> {
        let rest = &self.source.text[at..];
        let unclosed = |message: &str| self.source.error(at, message);
        if rest.starts_with("%%") {
            return Ok((Token::Separator, at + 2));
        }
        if rest.starts_with("%{") {
            let end = code::prologue(self.source.text, at);
            return Ok((Token::Prologue, end.ok_or_else(|| unclosed("this %{ has no %}"))?));
        }
        if rest.starts_with("%?{") {
            let end = code::block(self.source.text, at + 2);
            return Ok((Token::Predicate, end.ok_or_else(|| unclosed("this brace is not closed"))?));
        }
        let length = rest[1..].find(|letter| !is_name(letter)).map_or(rest.len(), |length| length + 1);
        if length == 1 {
            return Err(unclosed("'%' has no meaning here: no name follows it"));
        }
        Ok((Token::Directive(&rest[1..length]), at + length))
    }
}

/// Returns whether names may contain a character. Names cannot begin with a digit or a hyphen.
fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-')
}

/// Returns the length of the tag at the beginning of a text, such as `<int>` or `<std::vector<int>>`.
fn tag(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = b' ';
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => return None,
            b'<' => depth += 1,
            // The > of an arrow, as in <value->number>, closes nothing.
            b'>' if before != b'-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
        before = byte;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
        let mut scanner = Scanner::new(Source { file: None, text });
        let mut all = Vec::new();
        loop {
            match scanner.next().map_err(|error| error.to_string())?.1 {
                Token::End => return Ok(all),
                token => all.push(token),
            }
        }
    }

    #[test]
    fn tokens_are_those_of_bison() {
        use Token::*;
        let text =
            "%token <a->b<c>> NUM 258 _(\"number\") '\\'' // comment\n%{ %} %?{} x-y.z[left]: /* * */ %empty {} | =;%%";
        let expected = [
            Directive("token"),
            Tag,
            Name("NUM"),
            Number("258"),
            Text("number"),
            Character("\\'"),
            Prologue,
            Predicate,
            Name("x-y.z"),
            Reference,
            Colon,
            Directive("empty"),
            Code,
            Bar,
            Equals,
            Semicolon,
            Separator,
        ];
        assert_eq!(tokens(text).unwrap(), expected);
        assert_eq!(tokens("\u{feff}a //"), Ok(vec![Name("a")]));
    }
}
