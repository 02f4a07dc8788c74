//! Grammars and lexers in the notations of other tools.

mod antlr;
mod bison;
mod chars;
mod diagrams;
mod ebnf;
mod error;
mod factored;
mod gbnf;
mod lark;
mod level_names;
mod leveled;
mod levels;
mod llguidance;
mod productions;
mod regex;
mod regions;
mod same_actions;
mod scanner;
mod scans;
mod spell;
mod variants;

use std::sync::Arc;

use echostack::automaton::{Part, WordGrammar};
use echostack::language::Language;
use echostack::recognize::Mode;
use echostack::{Alphabet, Oracle};

use self::bison::{Parser, Precedences};
pub use self::error::ExportError;
pub(crate) use self::productions::Productions;
use self::scanner::Scanner;
use self::spell::Tokens;
use crate::grammar::Grammar;
use crate::lex::lexer::Lexer;
use crate::lr::build::{Conflicts, conflicts};
use crate::rules::Production;

/// The notation that a grammar is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// A grammar for bison and related tools.
    Yacc,
    /// The lexer for flex, which belongs to [`Notation::Yacc`].
    Flex,
    /// A grammar for the Python package Lark, with the options in its first line.
    Lark,
    /// GBNF, which constrains the output of a language model.
    Gbnf,
    /// The dialect of Lark that llguidance reads, which constrains the output of a language model.
    Llguidance,
    /// A combined grammar for ANTLR 4.
    Antlr,
    /// The W3C's EBNF, for people.
    Ebnf,
    /// Railroad diagrams in SVG, for people.
    Svg,
}

/// A grammar in the notation of another tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The text of the file.
    pub text: String,
    /// How it differs from the grammar as it was written, and why: clauses for a sentence.
    pub remarks: Vec<String>,
}

/// Rules without conflicts, and a lexer with one start state: what tools without precedences and start states read.
pub(crate) struct Recognized {
    pub(crate) productions: Productions,
    pub(crate) scanner: Scanner,
    /// The tokens of both.
    pub(crate) alphabet: Arc<Alphabet>,
    /// How they differ from the grammar as it was written.
    remarks: Vec<String>,
}

/// A grammar with its lexer, ready to be written in the notation of another tool.
#[derive(Debug)]
pub struct Export<'a> {
    alphabet: Arc<Alphabet>,
    lexer: Option<&'a Lexer>,
    /// The grammar as it was written, if there is one.
    grammar: Option<&'a Grammar>,
    /// The rules of the automaton, if there is no grammar.
    productions: Option<Productions>,
}

impl<'a> Export<'a> {
    /// Prepares a grammar with its own rules and names.
    pub fn of_grammar(grammar: &'a Grammar, lexer: Option<&'a Lexer>) -> Self {
        let alphabet = grammar.automaton().alphabet().clone();
        Self { alphabet, lexer, grammar: Some(grammar), productions: None }
    }

    /// Prepares a grammar of exactly the words that a strict automaton accepts.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn of_oracle(oracle: &Oracle, lexer: Option<&'a Lexer>) -> Result<Self, ExportError> {
        let alphabet = oracle.automaton().alphabet().clone();
        let productions = Some(Productions::of_words(&WordGrammar::new(oracle)?, &alphabet));
        Ok(Self { alphabet, lexer, grammar: None, productions })
    }

    /// Writes the grammar. The tool accepts exactly the texts that the lexer splits into words of the grammar. Without a
    /// lexer, each token is written as its name, with white space between tokens.
    ///
    /// # Errors
    /// If the notation cannot express the grammar or its lexer.
    pub fn write(&self, notation: Notation) -> Result<Exported, ExportError> {
        let (alphabet, lexer) = (&self.alphabet, self.lexer);
        let plain = |text| Ok(Exported { text, remarks: Vec::new() });
        match (notation, self.grammar) {
            (Notation::Flex, _) => return plain(bison::flex(lexer.ok_or(ExportError::NoLexer)?, alphabet)),
            (Notation::Yacc, Some(grammar)) => {
                let productions = Productions::of_table(grammar.table());
                let precedences = Precedences::new(grammar, &productions);
                let parser = if grammar.table().has_resolutions { Parser::Resolved } else { Parser::Lr1 };
                return plain(bison::bison(&productions, alphabet, parser, lexer.is_some(), &precedences));
            }
            _ => {}
        }
        let Recognized { productions, scanner, alphabet, mut remarks } = self.recognized()?;
        let scanner = scanner.without_foreign()?;
        let alphabet = &alphabet;
        let text = match notation {
            Notation::Yacc | Notation::Flex => {
                let parser = if conflicts_of(&productions, alphabet).lr1 { Parser::Glr } else { Parser::Lr1 };
                bison::bison(&productions, alphabet, parser, lexer.is_some(), &Precedences::default())
            }
            Notation::Lark => {
                let parser = if conflicts_of(&productions, alphabet).lalr { "earley" } else { "lalr" };
                lark::lark(&productions, &scanner, alphabet, parser)?
            }
            Notation::Gbnf => {
                let spelled = spell::spell(&productions, &scanner, alphabet, Tokens::Whole)?;
                remarks.extend(spelled.remark());
                gbnf::gbnf(spelled)?
            }
            Notation::Llguidance => {
                if let Some(text) = llguidance::tokens(&productions, &scanner, alphabet) {
                    return Ok(Exported { text, remarks });
                }
                // llguidance takes the longest terminal that can follow. This is right if all terminals are whole
                // tokens and none of them has to be given up for a shorter one, or if all are single characters.
                let mut whole = None;
                if llguidance::reads_contexts(&productions, &scanner) {
                    whole = Some(spell::spell(&productions, &scanner, alphabet, Tokens::Expressions)?);
                }
                let spelled = match whole.filter(|spelled| spelled.whole) {
                    Some(spelled) => spelled,
                    None => spell::spell(&productions, &scanner, alphabet, Tokens::Letters)?,
                };
                remarks.extend(spelled.remark());
                gbnf::llguidance(&spelled)
            }
            Notation::Antlr => antlr::antlr(&productions, &scanner, alphabet, "Exported")?,
            Notation::Ebnf => diagrams::w3c(&productions, &scanner, alphabet),
            Notation::Svg => diagrams::svg(&productions, &scanner, alphabet),
        };
        Ok(Exported { text, remarks })
    }

    /// Returns rules without conflicts, and the lexer with one start state.
    pub(crate) fn recognized(&self) -> Result<Recognized, ExportError> {
        let (productions, remarks) = self.productions()?;
        let (scanner, alphabet) = Scanner::new(self.lexer, &self.alphabet)?;
        let productions = match scanner.end {
            Some(end) => productions.with_end(end),
            None => productions,
        };
        Ok(Recognized { productions, scanner, alphabet, remarks })
    }

    /// Returns rules without conflicts: those of the grammar if it has none, those of its levels, or those of its
    /// automaton.
    fn productions(&self) -> Result<(Productions, Vec<String>), ExportError> {
        let Some(grammar) = self.grammar else {
            return Ok((self.productions.clone().unwrap_or_default(), Vec::new()));
        };
        if !grammar.table().has_resolutions {
            return Ok((Productions::of_table(grammar.table()), Vec::new()));
        }
        match levels::levels(grammar.table()) {
            Ok(levels) => Ok((levels, vec!["precedences are written as levels".into()])),
            Err(why) => {
                let oracle = Oracle::new(grammar.automaton().clone(), Mode::Strict, &())?;
                let words = WordGrammar::new(&oracle).map_err(|_| ExportError::Levels(why.to_string()))?;
                let remark = format!("the rules were computed from the parser, because {why}");
                Ok((Productions::of_words(&words, &self.alphabet), vec![remark]))
            }
        }
    }
}

/// Finds out whether rules have conflicts.
fn conflicts_of(productions: &Productions, alphabet: &Alphabet) -> Conflicts {
    let terminals = alphabet.terminals().len();
    let symbol = |part: &Part| match *part {
        Part::Token(token) => token.index(),
        Part::Nonterminal(number) => terminals + number,
    };
    let rules = productions.rules.iter().enumerate();
    let count = productions.rules.len();
    let all = rules.flat_map(|(number, own)| {
        own.iter().map(move |parts| Production { left: terminals + number, right: parts.iter().map(symbol).collect() })
    });
    conflicts(terminals, count, all.collect())
}
