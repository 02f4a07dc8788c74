//! Grammars and lexers in the notations of other tools.

mod bison;
mod error;
mod gbnf;
mod lark;
mod productions;
mod regex;
mod scanner;
mod spell;

use std::sync::Arc;

use echostack::automaton::{Part, WordGrammar};
use echostack::language::Language;
use echostack::recognize::Mode;
use echostack::{Alphabet, Oracle};

use self::bison::Parser;
pub use self::error::ExportError;
use self::productions::Productions;
use self::scanner::Scanner;
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
}

/// A grammar with its lexer, ready to be written in the notation of another tool.
#[derive(Debug)]
pub struct Export<'a> {
    productions: Productions,
    alphabet: Arc<Alphabet>,
    lexer: Option<&'a Lexer>,
}

impl<'a> Export<'a> {
    /// Prepares a grammar with its own rules. If conflicts were resolved, the rules alone have more words, so others are
    /// made from the automaton.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn of_grammar(grammar: &Grammar, lexer: Option<&'a Lexer>) -> Result<Self, ExportError> {
        if grammar.table().has_resolutions {
            let oracle = Oracle::new(grammar.automaton().clone(), Mode::Strict, &())?;
            return Self::of_oracle(&oracle, lexer);
        }
        let productions = Productions::of_table(grammar.table());
        Ok(Self { productions, alphabet: grammar.automaton().alphabet().clone(), lexer })
    }

    /// Prepares a grammar of exactly the words that a strict automaton accepts.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn of_oracle(oracle: &Oracle, lexer: Option<&'a Lexer>) -> Result<Self, ExportError> {
        let alphabet = oracle.automaton().alphabet().clone();
        let productions = Productions::of_words(&WordGrammar::new(oracle)?, &alphabet);
        Ok(Self { productions, alphabet, lexer })
    }

    /// Writes the grammar. The tool accepts exactly the texts that the lexer splits into words of the grammar. Without a
    /// lexer, each token is written as its name, with white space between tokens.
    ///
    /// # Errors
    /// If the notation cannot express the grammar or its lexer.
    pub fn write(&self, notation: Notation) -> Result<String, ExportError> {
        let Self { productions, alphabet, lexer } = self;
        match notation {
            Notation::Yacc => {
                let parser = if self.conflicts().lr1 { Parser::Glr } else { Parser::Lr1 };
                Ok(bison::bison(productions, alphabet, parser, lexer.is_some()))
            }
            Notation::Flex => Ok(bison::flex(lexer.ok_or(ExportError::NoLexer)?, alphabet)),
            Notation::Lark => {
                let parser = if self.conflicts().lalr { "earley" } else { "lalr" };
                lark::lark(productions, &Scanner::new(*lexer, alphabet)?, alphabet, parser)
            }
            Notation::Gbnf => {
                let scanner = Scanner::new(*lexer, alphabet)?;
                let spelled = spell::spell(productions, &scanner, alphabet, true)?;
                Ok(gbnf::gbnf(&spelled, &scanner))
            }
            Notation::Llguidance => {
                let scanner = Scanner::new(*lexer, alphabet)?;
                let mut spelled = spell::spell(productions, &scanner, alphabet, true)?;
                if !spelled.whole {
                    // llguidance takes the longest terminal that can follow. This is right if all terminals are whole
                    // tokens, or if all are single characters.
                    spelled = spell::spell(productions, &scanner, alphabet, false)?;
                }
                Ok(gbnf::llguidance(&spelled, &scanner))
            }
        }
    }

    fn conflicts(&self) -> Conflicts {
        let terminals = self.alphabet.terminals().len();
        let symbol = |part: &Part| match *part {
            Part::Token(token) => token.index(),
            Part::Nonterminal(number) => terminals + number,
        };
        let rules = self.productions.rules.iter().enumerate();
        let productions = rules.flat_map(|(number, own)| {
            own.iter()
                .map(move |parts| Production { left: terminals + number, right: parts.iter().map(symbol).collect() })
        });
        conflicts(terminals, self.productions.rules.len(), productions.collect())
    }
}
