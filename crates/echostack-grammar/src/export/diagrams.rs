//! Grammars for people: the W3C's EBNF, and railroad diagrams.

use std::fmt::Write;

use echostack::spelling::{Case, Names, as_written, identifier};
use echostack::{Alphabet, SymbolId};
use railroad::{
    Choice, Diagram, Empty, End, Node, NonTerminal, Repeat, Sequence, Start, Stylesheet, Terminal, VerticalGrid,
};

use super::ebnf::{Alternative, Ebnf, Piece, Style};
use super::productions::Productions;
use super::regex::{self, Dialect};
use super::scanner::{Scanner, literal};

/// The names of a grammar's rules, and of the tokens that are not written as their text.
struct Named {
    grammar: Ebnf<SymbolId>,
    rules: Vec<String>,
    tokens: Vec<Option<String>>,
}

impl Named {
    fn new(productions: &Productions, scanner: &Scanner, alphabet: &Alphabet) -> Self {
        let grammar = productions.ebnf().with_repetition();
        let mut names = Names::numbered("_");
        let rules = grammar.names.iter().map(|name| names.take(&as_written(name))).collect();
        let text = |token: SymbolId| {
            let mut rules = scanner.rules_of(token);
            let only = rules.next().filter(|_| rules.next().is_none())?;
            literal(&scanner.rules[only].pattern)
        };
        let tokens = alphabet.terminals().map(|token| {
            let name = identifier(alphabet.name(token), Case::Upper);
            text(token).is_none().then(|| names.take(&name))
        });
        let tokens = tokens.collect();
        Self { grammar, rules, tokens }
    }
}

/// Writes a grammar in the W3C's EBNF. Tokens with a single text are written as that text.
pub(super) fn w3c(productions: &Productions, scanner: &Scanner, alphabet: &Alphabet) -> String {
    let Named { grammar, rules, tokens } = Named::new(productions, scanner, alphabet);
    let token = |token: &SymbolId| match &tokens[token.index()] {
        Some(name) => name.clone(),
        None => patterns(*token, scanner),
    };
    let style = Style { names: &rules, token: &token, empty: "/* empty */" };
    let mut out = String::new();
    for (name, alternatives) in rules.iter().zip(&grammar.rules) {
        let all = style.alternatives(alternatives);
        let _ = writeln!(out, "{name} ::= {}", all.join(&format!("\n{:1$}| ", "", name.chars().count() + 3)));
    }
    let named: Vec<(SymbolId, &String)> =
        alphabet.terminals().zip(&tokens).filter_map(|(token, name)| Some((token, name.as_ref()?))).collect();
    if !named.is_empty() {
        out.push_str("\n/* tokens: the longest match counts, and among those the first */\n");
    }
    for (token, name) in named {
        let _ = writeln!(out, "{name} ::= {}", patterns(token, scanner));
    }
    let skipped: Vec<String> =
        (scanner.rules.iter()).filter(|rule| rule.skip).map(|rule| regex::write(&rule.pattern, Dialect::W3c)).collect();
    if !skipped.is_empty() {
        let _ = writeln!(out, "\n/* skipped between tokens */\nSKIPPED ::= {}", skipped.join(" | "));
    }
    out
}

/// Writes the expressions of a token.
fn patterns(token: SymbolId, scanner: &Scanner) -> String {
    let all = scanner.rules_of(token).map(|rule| regex::write(&scanner.rules[rule].pattern, Dialect::W3c));
    all.collect::<Vec<_>>().join(" | ")
}

/// Draws a grammar as railroad diagrams, one below the other.
pub(super) fn svg(productions: &Productions, scanner: &Scanner, alphabet: &Alphabet) -> String {
    let Named { grammar, rules, tokens } = Named::new(productions, scanner, alphabet);
    let drawing = Drawing { rules: &rules, tokens: &tokens, alphabet };
    let mut all: VerticalGrid<Box<dyn Node>> = VerticalGrid::default();
    for (name, alternatives) in rules.iter().zip(&grammar.rules) {
        let mut line: Sequence<Box<dyn Node>> = Sequence::default();
        line.push(Box::new(Start));
        line.push(drawing.choice(alternatives));
        line.push(Box::new(End));
        all.push(Box::new(railroad::Comment::new(name.clone())));
        all.push(Box::new(line));
    }
    Diagram::new_with_stylesheet(all, &Stylesheet::Light).to_string()
}

/// How the parts of a grammar are drawn.
struct Drawing<'a> {
    rules: &'a [String],
    tokens: &'a [Option<String>],
    alphabet: &'a Alphabet,
}

impl Drawing<'_> {
    fn choice(&self, all: &[Alternative<SymbolId>]) -> Box<dyn Node> {
        if let [only] = all {
            return self.sequence(only);
        }
        let mut choice: Choice<Box<dyn Node>> = Choice::default();
        all.iter().for_each(|pieces| _ = choice.push(self.sequence(pieces)));
        Box::new(choice)
    }

    fn sequence(&self, pieces: &[Piece<SymbolId>]) -> Box<dyn Node> {
        match pieces {
            [] => Box::new(Empty),
            [only] => self.piece(only),
            all => {
                let mut line: Sequence<Box<dyn Node>> = Sequence::default();
                all.iter().for_each(|piece| _ = line.push(self.piece(piece)));
                Box::new(line)
            }
        }
    }

    fn piece(&self, piece: &Piece<SymbolId>) -> Box<dyn Node> {
        match piece {
            Piece::Token(token) => match &self.tokens[token.index()] {
                Some(name) => Box::new(NonTerminal::new(name.clone())),
                None => Box::new(Terminal::new(self.alphabet.name(*token).to_string())),
            },
            Piece::Rule(rule) => Box::new(NonTerminal::new(self.rules[*rule].clone())),
            Piece::Choice(all) => self.choice(all),
            // Nothing, or once with a way back.
            Piece::Many(all) => Box::new(Repeat::new(Box::new(Empty) as Box<dyn Node>, self.choice(all))),
        }
    }
}
