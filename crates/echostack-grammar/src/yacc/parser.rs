//! Reads grammars in Yacc syntax, as they are written for Yacc, bison and grmtools.
//!
//! Only what determines the language is read: tokens and their aliases, precedences, the start symbol, the numbers of
//! expected conflicts, and the rules. Code and everything that concerns code is passed over.

use std::collections::HashMap;

use super::code::literal_name;
use super::tokens::{Scanner, Token};
use crate::rules::{Associativity, Expected, Merging, Precedence};
use crate::text::error::GrammarError;
use crate::text::source::Source;

/// The declarations that say nothing about the language. Underscores may be written in place of the hyphens.
const PASSED_OVER: &str = "actiontype avoid-insert code debug defines destructor epp error-verbose \
    expect-unused file-prefix fixed-output-files grmtools header ident initial-action language lex-param locations \
    name-prefix no-lines nterm output param parse-generics parse-param printer pure-parser \
    require token-table type union verbose yacc";

/// What a file in Yacc syntax says about a language. Symbols have numbers in the order in which they first occur.
#[derive(Debug, Default)]
pub(crate) struct YaccFile {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) numbers: HashMap<Written, usize>,
    /// The symbols that literals in double quotes are aliases for.
    pub(crate) aliases: HashMap<String, usize>,
    /// The symbols that are declared with `%token`, in this order.
    pub(crate) tokens: Vec<usize>,
    /// The start symbol, and where it is written.
    pub(crate) start: Option<(usize, usize)>,
    pub(crate) expected: Expected,
    /// The value of `%define lr.type`, and where it is written.
    pub(crate) merging: Option<(Merging, usize)>,
    pub(crate) productions: Vec<WrittenProduction>,
    /// Whether productions without `%prec` have the precedence of their last terminal. As in bison, what is declared last
    /// holds for all of them.
    pub(crate) default_precedence: bool,
    /// Where the token `error` is written in each production that contains it. These productions are left out.
    pub(crate) errors: Vec<usize>,
}

/// A symbol as it is written: a name, or a literal in single or double quotes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Written {
    Name(String),
    Character(String),
    Text(String),
}

/// What the file says about a symbol.
#[derive(Debug)]
pub(crate) struct Symbol {
    pub(crate) written: Written,
    /// Where it occurs first.
    pub(crate) at: usize,
    /// Where its first rule is.
    pub(crate) rule: Option<usize>,
    /// Whether it is declared as a token.
    pub(crate) declared: bool,
    /// Whether it is declared as the token with the number 0, which is the end of the input.
    pub(crate) end: bool,
    pub(crate) precedence: Option<Precedence>,
    /// Whether it occurs in a rule.
    pub(crate) used: bool,
}

/// A production as it is written.
#[derive(Debug)]
pub(crate) struct WrittenProduction {
    pub(crate) left: usize,
    /// The symbols on the right side, and where they are written.
    pub(crate) right: Vec<(usize, usize)>,
    /// The actions after which something follows: the number of symbols before each one, and where it is written.
    pub(crate) actions: Vec<(usize, usize)>,
    /// The symbol of `%prec`, and where it is written.
    pub(crate) precedence: Option<(usize, usize)>,
}

/// Reads a grammar.
pub(crate) fn read(source: Source<'_>) -> Result<YaccFile, GrammarError> {
    let mut reader = Reader {
        source,
        scanner: Scanner::new(source),
        token: Token::End,
        at: 0,
        levels: 0,
        default_precedence: true,
        file: YaccFile::default(),
    };
    reader.advance()?;
    reader.declarations()?;
    reader.rules()?;
    reader.file.default_precedence = reader.default_precedence;
    Ok(reader.file)
}

struct Reader<'a> {
    source: Source<'a>,
    scanner: Scanner<'a>,
    /// The token that is read next, and its position.
    token: Token<'a>,
    at: usize,
    /// The number of levels of precedence so far.
    levels: usize,
    default_precedence: bool,
    file: YaccFile,
}

impl Reader<'_> {
    fn advance(&mut self) -> Result<(), GrammarError> {
        (self.at, self.token) = self.scanner.next()?;
        if let Token::Name(name) = self.token {
            // The semicolon before a rule is optional. What begins a rule is a name with a colon after it.
            let mut scanner = self.scanner;
            let (_, mut next) = scanner.next()?;
            if next == Token::Reference {
                (_, next) = scanner.next()?;
            }
            if next == Token::Colon {
                self.token = Token::Left(name);
            }
        }
        Ok(())
    }

    fn error<T>(&self, at: usize, message: &str) -> Result<T, GrammarError> {
        Err(self.source.error(at, message))
    }

    /// Returns an error that says what is missing before the next token.
    fn expected<T>(&self, what: &str) -> Result<T, GrammarError> {
        let rest = &self.source.text[self.at..];
        let found = match self.token {
            Token::End => "the file ends here".to_string(),
            Token::Directive(name) => format!("%{name} is here"),
            Token::Separator => "%% is here".to_string(),
            Token::Name(word) | Token::Left(word) | Token::Number(word) => format!("{word} is here"),
            _ => rest.chars().next().map_or_else(String::new, |letter| format!("{letter:?} is here")),
        };
        self.error(self.at, &format!("{found}, where {what} is expected"))
    }

    /// Reads a symbol, if there is one. Returns its number.
    fn symbol(&mut self) -> Result<Option<usize>, GrammarError> {
        let written = match self.token {
            Token::Name(name) => Written::Name(name.to_string()),
            Token::Character(inside) => Written::Character(literal_name(inside)),
            Token::Text(inside) => Written::Text(literal_name(inside)),
            _ => return Ok(None),
        };
        let number = self.occurrence(written);
        self.advance()?;
        Ok(Some(number))
    }

    /// Returns the number of a symbol that occurs here.
    fn occurrence(&mut self, written: Written) -> usize {
        let YaccFile { symbols, numbers, .. } = &mut self.file;
        let fresh = symbols.len();
        let number = *numbers.entry(written.clone()).or_insert(fresh);
        if number == fresh {
            let (at, rule, precedence) = (self.at, None, None);
            symbols.push(Symbol { written, at, rule, declared: false, end: false, precedence, used: false });
        }
        number
    }

    fn number(&mut self) -> Result<usize, GrammarError> {
        let Token::Number(digits) = self.token else { return self.expected("a number") };
        let Ok(number) = digits.parse() else { return self.expected("a smaller number") };
        self.advance()?;
        Ok(number)
    }

    fn declarations(&mut self) -> Result<(), GrammarError> {
        loop {
            match self.token {
                Token::Separator => return self.advance(),
                Token::Directive(name) => self.declaration(name)?,
                Token::Prologue | Token::Semicolon => self.advance()?,
                Token::End => {
                    return self.error(self.at, "the file ends before its rules, which begin after a line %%");
                }
                _ => return self.expected("a declaration, which begins with %, or the %% before the rules"),
            }
        }
    }

    fn declaration(&mut self, name: &str) -> Result<(), GrammarError> {
        let at = self.at;
        self.advance()?;
        let associativity = match name.replace('_', "-").as_str() {
            "token" | "term" => return self.token_declaration(),
            "left" => Associativity::Left,
            "right" => Associativity::Right,
            "nonassoc" | "binary" => Associativity::Nonassoc,
            "precedence" => Associativity::Undefined,
            "start" => return self.start_declaration(),
            "expect" => {
                self.file.expected.shift_reduce = Some((self.number()?, at));
                return Ok(());
            }
            "expect-rr" => {
                self.file.expected.reduce_reduce = Some((self.number()?, at));
                return Ok(());
            }
            "default-prec" => {
                self.default_precedence = true;
                return Ok(());
            }
            "no-default-prec" => {
                self.default_precedence = false;
                return Ok(());
            }
            "glr-parser" | "nondeterministic-parser" => {
                self.file.expected.glr = true;
                return Ok(());
            }
            "define" => return self.definition(),
            "skeleton" => {
                let is_glr = |file: &str| file.rsplit('/').next().is_some_and(|name| name.starts_with("glr"));
                self.file.expected.glr |= matches!(self.token, Token::Text(file) if is_glr(file));
                return self.pass_over();
            }
            // In grmtools, the rest of the line is Rust.
            "actiontype" | "parse-param" | "parse-generics" if self.token != Token::Code => {
                self.scanner.skip_line(at);
                return self.advance();
            }
            other if PASSED_OVER.split(' ').any(|known| known == other) => return self.pass_over(),
            _ => {
                let message =
                    format!("the declaration %{name} is not known; remove it if it does not affect the language");
                return self.error(at, &message);
            }
        };
        self.precedence_declaration(associativity)
    }

    /// Reads the definition of a variable, of which only `lr.type` says something about the language.
    fn definition(&mut self) -> Result<(), GrammarError> {
        if self.token != Token::Name("lr.type") {
            return self.pass_over();
        }
        self.advance()?;
        let at = self.at;
        let merging = match self.token {
            Token::Name("lalr") | Token::Text("lalr") => Merging::Lalr,
            Token::Name("ielr" | "canonical-lr") | Token::Text("ielr" | "canonical-lr") => Merging::Canonical,
            _ => return self.expected("lalr, ielr or canonical-lr"),
        };
        if self.file.merging.replace((merging, at)).is_some() {
            return self.error(at, "lr.type is already defined; remove one of the two definitions");
        }
        self.advance()
    }

    /// Passes over the rest of a declaration.
    fn pass_over(&mut self) -> Result<(), GrammarError> {
        use Token::{Directive, End, Left, Prologue, Semicolon, Separator};
        while !matches!(self.token, Directive(_) | Left(_) | Prologue | Separator | Semicolon | End) {
            self.advance()?;
        }
        Ok(())
    }

    fn token_declaration(&mut self) -> Result<(), GrammarError> {
        // The symbol that a following literal is an alias for.
        let mut named: Option<usize> = None;
        loop {
            match self.token {
                Token::Tag => {
                    named = None;
                    self.advance()?;
                }
                Token::Number(digits) => {
                    let Some(token) = named else { return self.expected("a token") };
                    self.file.symbols[token].end = is_zero(digits);
                    self.advance()?;
                }
                Token::Text(inside) if named.is_some() => {
                    if named.is_some_and(|token| self.is_error(token)) {
                        return self.error(
                            self.at,
                            "the token for error recovery cannot have another name here; remove it, and write error",
                        );
                    }
                    let alias = named.take().and_then(|token| self.file.aliases.insert(literal_name(inside), token));
                    if alias.is_some() {
                        return self.error(self.at, "this literal already stands for another token; write another one");
                    }
                    self.advance()?;
                }
                _ => {
                    let Some(token) = self.symbol()? else { return Ok(()) };
                    self.file.symbols[token].declared = true;
                    self.file.tokens.push(token);
                    named = Some(token);
                }
            }
        }
    }

    fn precedence_declaration(&mut self, associativity: Associativity) -> Result<(), GrammarError> {
        let precedence = Some(Precedence { level: self.levels, associativity });
        self.levels += 1;
        let mut named = None;
        loop {
            let at = self.at;
            if let Some(token) = self.symbol()? {
                named = Some(token);
                self.file.symbols[token].declared = true;
                if std::mem::replace(&mut self.file.symbols[token].precedence, precedence).is_some() {
                    return self.error(at, "this token already has a precedence; remove one of the two declarations");
                }
            } else if let Token::Number(digits) = self.token {
                let Some(token) = named else { return self.expected("a token") };
                self.file.symbols[token].end |= is_zero(digits);
                self.advance()?;
            } else if self.token == Token::Tag {
                self.advance()?;
            } else {
                return Ok(());
            }
        }
    }

    fn start_declaration(&mut self) -> Result<(), GrammarError> {
        let at = self.at;
        let Some(symbol) = self.symbol()? else { return self.expected("the start symbol") };
        if self.file.start.replace((symbol, at)).is_some_and(|(known, _)| known != symbol) {
            return self.error(at, "the grammar already has a start symbol; remove one of the two declarations");
        }
        if matches!(self.token, Token::Name(_)) {
            return self
                .error(self.at, "only one start symbol is possible; add one that has a production for each of these");
        }
        Ok(())
    }

    fn rules(&mut self) -> Result<(), GrammarError> {
        loop {
            match self.token {
                // What follows a second %% is code.
                Token::End | Token::Separator => return Ok(()),
                Token::Semicolon | Token::Prologue => self.advance()?,
                Token::Directive(name) => self.declaration(name)?,
                Token::Left(name) => self.rule(name)?,
                _ => return self.expected("a rule, which begins with the name of a nonterminal and a colon,"),
            }
        }
    }

    fn rule(&mut self, name: &str) -> Result<(), GrammarError> {
        if name == "error" {
            return self
                .error(self.at, "error is the token for error recovery and cannot have rules; choose another name");
        }
        let left = self.occurrence(Written::Name(name.to_string()));
        self.file.symbols[left].rule.get_or_insert(self.at);
        self.file.start.get_or_insert((left, self.at));
        while self.token != Token::Colon {
            self.advance()?;
        }
        loop {
            // The colon, or a bar.
            self.advance()?;
            self.production(left)?;
            while self.token == Token::Semicolon {
                self.advance()?;
            }
            if self.token != Token::Bar {
                return Ok(());
            }
        }
    }

    fn production(&mut self, left: usize) -> Result<(), GrammarError> {
        let mut right = Vec::new();
        let mut precedence = None;
        let mut empty = None;
        // The last action so far. It is inside of the production if a symbol or another action follows.
        let mut action = None;
        let mut actions = Vec::new();
        loop {
            let at = self.at;
            match self.token {
                Token::Name(_) | Token::Character(_) | Token::Text(_) => {
                    actions.extend(action.take());
                    right.extend(self.symbol()?.map(|symbol| (symbol, at)));
                }
                Token::Code => {
                    actions.extend(action.replace((right.len(), at)));
                    self.advance()?;
                }
                Token::Tag | Token::Reference => self.advance()?,
                Token::Directive("empty") => {
                    empty = Some(at);
                    self.advance()?;
                }
                Token::Directive("prec") => {
                    self.advance()?;
                    let at = self.at;
                    let Some(symbol) = self.symbol()? else { return self.expected("a token") };
                    if precedence.replace((symbol, at)).is_some() {
                        return self.error(at, "this production already has a %prec; remove one of the two");
                    }
                }
                // These choose among readings, but do not change which words have one.
                Token::Directive("dprec" | "merge") => {
                    self.advance()?;
                    if !matches!(self.token, Token::Number(_) | Token::Tag) {
                        return self.expected("a number or a tag");
                    }
                    self.advance()?;
                }
                Token::Directive(name @ ("expect" | "expect-rr")) => {
                    let message = format!("%{name} is not supported in rules; declare the sum before the first %%");
                    return self.error(at, &message);
                }
                Token::Predicate => {
                    let message = "predicates are not supported: code would decide about the language; remove this one";
                    return self.error(at, message);
                }
                Token::Bar
                | Token::Semicolon
                | Token::Separator
                | Token::Directive(_)
                | Token::Left(_)
                | Token::End => break,
                _ => return self.expected("a symbol, an action, '|' or ';'"),
            }
        }
        if let Some(at) = empty.filter(|_| !right.is_empty()) {
            return self.error(at, "%empty is in a production that is not empty; remove it, or the symbols");
        }
        right.iter().chain(&precedence).for_each(|&(symbol, _)| self.file.symbols[symbol].used = true);
        if let Some(&(_, at)) = right.iter().find(|(symbol, _)| self.is_error(*symbol)) {
            self.file.errors.push(at);
        } else {
            self.file.productions.push(WrittenProduction { left, right, actions, precedence });
        }
        Ok(())
    }

    /// Returns whether a symbol is the token for error recovery.
    fn is_error(&self, symbol: usize) -> bool {
        matches!(&self.file.symbols[symbol].written, Written::Name(name) if name == "error" || name == "YYerror")
    }
}

/// Returns whether the number of a token is 0, which stands for the end of the input.
fn is_zero(digits: &str) -> bool {
    digits.trim_start_matches("0x").trim_start_matches("0X").bytes().all(|digit| digit == b'0')
}
