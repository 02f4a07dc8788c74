//! Tokens that were given: a part of a lexer, of which the rest is found. What is given is kept as it is.

use std::fmt::Write as _;

use echostack_grammar::{Lexer, LexerError};

/// What a rule that was given reads at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads<'g> {
    Token(&'g str, usize),
    /// Some bytes that are skipped.
    Skipped(usize),
}

/// A part of a lexer.
#[derive(Debug)]
pub(crate) struct Given {
    lexer: Lexer,
    /// What comes before its rules, and its rules.
    declared: String,
    rules: String,
}

impl Given {
    /// Reads a part of a lexer. Returns nothing if no further rules can stand beside its own.
    pub(crate) fn new(source: &str) -> Result<Option<Self>, LexerError> {
        let lexer = Lexer::new(source)?;
        let mut parts = source.splitn(3, "%%\n");
        let (declared, rules) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let this = Self { declared: declared.to_string(), rules: rules.to_string(), lexer };
        let keeps = |extended: &Lexer| this.lexer.names().iter().all(|name| extended.names().contains(name));
        let adds = |extended: &Lexer| extended.tokens("q").0.first().is_some_and(|token| token.name == "added");
        let extended = Lexer::new(&this.with("q \"added\"\n", "q+ \"further\"\n"));
        Ok(extended.is_ok_and(|extended| keeps(&extended) && adds(&extended)).then_some(this))
    }

    /// Returns the names of the tokens.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.lexer.names().iter().map(String::as_str)
    }

    /// Returns a whole lexer, with rules before and after those that were given.
    pub(super) fn with(&self, before: &str, after: &str) -> String {
        let mut lexer = format!("{}%%\n{before}{}", self.declared, self.rules);
        if !lexer.ends_with('\n') {
            lexer.push('\n');
        }
        _ = write!(lexer, "{after}");
        lexer
    }

    /// Returns what is read at the beginning of a text.
    pub(super) fn reads(&self, text: &str) -> Option<Reads<'_>> {
        let (tokens, fault) = self.lexer.tokens(text);
        match (tokens.first(), fault) {
            (Some(token), _) if token.start == 0 => {
                self.names().find(|name| *name == token.name).map(|name| Reads::Token(name, token.end))
            }
            (Some(token), _) => Some(Reads::Skipped(token.start)),
            (None, Some(fault)) => usize::try_from(fault.byte()).ok().filter(|at| *at > 0).map(Reads::Skipped),
            (None, None) => (!text.is_empty()).then_some(Reads::Skipped(text.len())),
        }
    }

    /// Returns the token that a text is as a whole.
    pub(super) fn token(&self, text: &str) -> Option<&str> {
        match self.reads(text) {
            Some(Reads::Token(name, length)) if length == text.len() => Some(name),
            _ => None,
        }
    }

    /// Returns whether a text is skipped as a whole.
    pub(super) fn skips(&self, text: &str) -> bool {
        self.reads(text) == Some(Reads::Skipped(text.len()))
    }

    /// Returns whether a text is one of a token such as names: it can go on in any way. Such a text can still be a keyword.
    pub(super) fn is_open(&self, text: &str) -> bool {
        let token = self.token(text);
        token.is_some()
            && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
            && self.token(&format!("{text}q")) == token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_reads_tokens_and_skipped_text() {
        let given = Given::new("%%\nnull \"null\"\n[a-z]+ \"NAME\"\n#[^\\n]* ;\n[ \\n]+ ;\n").unwrap().unwrap();
        assert_eq!(given.reads("abc = 1"), Some(Reads::Token("NAME", 3)));
        assert_eq!(given.reads("  # abc\n= 1"), Some(Reads::Skipped(8)));
        assert_eq!((given.reads("= 1"), given.reads("")), (None, None));
        assert_eq!((given.token("abc"), given.token("abc d"), given.token("null")), (Some("NAME"), None, Some("null")));
        assert!(given.skips(" # x") && !given.skips("# x\ny"));
        assert_eq!(["abc", "null", "=", ""].map(|text| given.is_open(text)), [true, false, false, false]);
    }

    #[test]
    fn rules_are_added_before_and_after() {
        let given = Given::new("%%\n[a-z]+ \"NAME\"").unwrap().unwrap();
        let lexer = Lexer::new(&given.with("if \"if\"\n", "[0-9]+ \"NUMBER\"\n[ ]+ ;\n")).unwrap();
        let names: Vec<&str> = lexer.tokens("if a 1 iffy").0.iter().map(|token| token.name).collect();
        assert_eq!(names, ["if", "NAME", "NUMBER", "NAME"]);
    }

    #[test]
    fn what_is_no_lexer_is_refused() {
        assert!(Given::new("%%\n[a-z \"NAME\"\n").is_err());
    }
}
