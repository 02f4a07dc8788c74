//! Lexers, which split texts into tokens.

use std::collections::HashMap;
use std::fmt;

use echostack::SymbolId;

use crate::dfa::{Dfa, TooLarge};
use crate::lex::{self, LexFile, StateChange};
use crate::place::Place;
use crate::tokenizer::{Found, LexFault, Tokenizer};

/// The reason why a lexer was rejected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LexerError(String);

impl LexerError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Creates an error at a byte of the lexer's text.
    pub(crate) fn at(source: &str, byte: usize, message: &str) -> Self {
        let place = Place::new(source, byte);
        Self(format!("{}:{}: {message}\n{}", place.line, place.column, place.excerpt()))
    }
}

/// A lexer: regular expressions, with the names of the tokens that they match.
///
/// At each place, the rule with the longest match counts, and among those the first one. All rules of a start state
/// form one deterministic automaton, so each byte is read once, however many rules there are.
///
/// ```
/// use echostack_grammar::Lexer;
/// let lexer = Lexer::new("%%\n[0-9]+ \"NUMBER\"\n\\+ \"+\"\n[ ]+ ;\n")?;
/// let (tokens, fault) = lexer.tokens("12 + 3");
/// let names: Vec<&str> = tokens.iter().map(|token| token.name).collect();
/// assert_eq!((names, fault), (vec!["NUMBER", "+", "NUMBER"], None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Lexer {
    source: String,
    names: Vec<String>,
    pub(crate) rules: Vec<Rule>,
    /// The automaton of each start state. The first one is the initial state.
    pub(crate) states: Vec<Dfa>,
    warnings: Vec<String>,
}

/// What happens when a rule matches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The number of the token's name; `None` if the text is skipped.
    pub(crate) name: Option<u32>,
    pub(crate) change: Option<StateChange>,
}

impl fmt::Debug for Lexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lexer").field("names", &self.names).finish_non_exhaustive()
    }
}

/// A piece of text that is one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme<'a> {
    /// The name of the terminal.
    pub name: &'a str,
    /// The position of its first byte in the text.
    pub start: usize,
    /// The position after its last byte.
    pub end: usize,
}

/// The tokens of a text up to the place where it cannot be split any further, and the reason, if there is one.
pub type Tokens<'a> = (Vec<Lexeme<'a>>, Option<LexFault>);

impl Lexer {
    /// Creates a lexer from its text in Lex syntax.
    ///
    /// # Errors
    /// If the text is not a valid lexer, or if its automaton is too large.
    pub fn new(source: &str) -> Result<Self, LexerError> {
        let LexFile { states, rules } = lex::read(source)?;
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut names = Vec::new();
        let mut number = |name| {
            *numbers.entry(name).or_insert_with(|| {
                names.push(str::to_string(name));
                names.len() as u32 - 1
            })
        };
        let known = rules.iter().map(|rule| Rule { name: rule.name.as_deref().map(&mut number), change: rule.change });
        let known: Vec<Rule> = known.collect();
        let mut matching = vec![false; rules.len()];
        let mut automata = Vec::new();
        for (number, state) in states.iter().enumerate() {
            let own = rules.iter().enumerate().filter(|(_, rule)| rule.applies(number, state));
            let own: Vec<_> = own.map(|(at, rule)| (at as u32, &rule.pattern)).collect();
            let dfa = Dfa::new(&own, &known).map_err(|TooLarge| {
                LexerError::new(
                    "the rules need an automaton of more than 16 MiB; shorten counted repetitions such as [a-z]{1,1000}",
                )
            })?;
            dfa.matching().iter().for_each(|&rule| matching[rule as usize] = true);
            automata.push(dfa);
        }
        let idle = rules.iter().zip(matching).filter(|(_, matches)| !matches);
        let warn = |(rule, _): (&lex::LexRule, _)| {
            let (line, text) = (Place::new(source, rule.span.start).line, &source[rule.span.clone()]);
            format!("{line}: the rule {text:?} never matches, because rules before it match all of its texts")
        };
        let warnings = idle.map(warn).collect();
        Ok(Self { source: source.to_string(), names, rules: known, states: automata, warnings })
    }

    /// Returns the text that the lexer was created from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the names of the tokens that the lexer produces.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns what is suspicious about the lexer: rules that never match.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Splits a text into tokens, up to the first place where no token begins.
    pub fn tokens(&self, text: &str) -> Tokens<'_> {
        let mut all = Vec::new();
        let mut keep = |Found { name, start, end }| {
            all.push(Lexeme { name: &self.names[name as usize], start: start as usize, end: end as usize });
        };
        let mut tokenizer = Tokenizer::new(self);
        let done = tokenizer.read(text.as_bytes(), &mut keep).and_then(|()| tokenizer.finish(&mut keep));
        (all, done.err())
    }

    /// Appends the symbols of a text's tokens, given the symbol of each name, up to the first place where no token
    /// begins.
    pub(crate) fn add_symbols(
        &self,
        text: &str,
        symbols: &[SymbolId],
        out: &mut Vec<SymbolId>,
    ) -> Result<(), LexFault> {
        let mut tokenizer = Tokenizer::new(self);
        tokenizer.read_symbols(text.as_bytes(), symbols, out)?;
        tokenizer.finish(&mut |found| out.push(symbols[found.name as usize]))
    }
}
