//! Resolves the names in a file in Yacc syntax: what is a terminal, what is a nonterminal, and what is neither.

use std::collections::{HashMap, HashSet};

use super::parser::{Symbol, Written, WrittenProduction, YaccFile};
use crate::rules::{InnerAction, Merging, Precedence, Production, Rules};
use crate::text::error::{GrammarError, Warning, list};
use crate::text::source::Source;

/// Returns the rules that a file describes, and what is worth a warning.
pub(crate) fn resolve(source: Source<'_>, file: &YaccFile) -> Result<(Rules, Vec<Warning>), GrammarError> {
    Resolver::new(source, file).rules()
}

struct Resolver<'a> {
    source: Source<'a>,
    file: &'a YaccFile,
    /// The symbol that each symbol stands for: aliases stand for their tokens.
    meant: Vec<usize>,
    /// The precedence of each symbol.
    precedences: Vec<Option<Precedence>>,
}

impl<'a> Resolver<'a> {
    fn new(source: Source<'a>, file: &'a YaccFile) -> Self {
        let find = |written: Written| file.numbers.get(&written).copied();
        let meant = file.symbols.iter().enumerate().map(|(number, symbol)| {
            let (alias, name) = match &symbol.written {
                Written::Name(_) => return number,
                Written::Character(name) => (None, name),
                Written::Text(name) => (file.aliases.get(name).copied(), name),
            };
            let declared = || find(Written::Name(name.clone())).filter(|&named| file.symbols[named].declared);
            alias.or_else(declared).or_else(|| find(Written::Character(name.clone()))).unwrap_or(number)
        });
        let meant: Vec<usize> = meant.collect();
        let mut precedences = vec![None; file.symbols.len()];
        for (symbol, &meant) in file.symbols.iter().zip(&meant) {
            precedences[meant] = precedences[meant].or(symbol.precedence);
        }
        Self { source, file, meant, precedences }
    }

    fn is_terminal(symbol: &Symbol) -> bool {
        symbol.declared || !matches!(symbol.written, Written::Name(_))
    }

    fn name(&self, number: usize) -> &'a str {
        match &self.file.symbols[number].written {
            Written::Name(name) | Written::Character(name) | Written::Text(name) => name,
        }
    }

    fn rules(&self) -> Result<(Rules, Vec<Warning>), GrammarError> {
        let error = |at, message: &str| Err(self.source.error(at, message));
        let file = self.file;
        let Some((start, at)) = file.start else {
            return error(self.source.text.len(), "the grammar has no rules; write one after the %%");
        };
        if file.symbols[start].rule.is_none() {
            return error(
                at,
                &format!(
                    "the start symbol {} has no rules; write one, or declare another start symbol",
                    self.name(start)
                ),
            );
        }
        let clash = file.symbols.iter().find_map(|symbol| symbol.rule.filter(|_| symbol.declared));
        if let Some(at) = clash {
            return error(
                at,
                "this symbol is declared as a token and cannot have rules; remove the declaration, or the rules",
            );
        }
        self.check_symbols()?;

        // Tokens have the order in which they are declared, or else occur in the rules.
        let parts = file.productions.iter().flat_map(|production| &production.right);
        let parts: Vec<usize> = parts.map(|&(symbol, _)| self.meant[symbol]).collect();
        let occurring: HashSet<usize> = parts.iter().copied().collect();
        let declared = file.tokens.iter().filter(|symbol| occurring.contains(symbol));
        let others = parts.iter().filter(|&&symbol| Self::is_terminal(&file.symbols[symbol]));
        let mut seen = HashSet::new();
        let mut order: Vec<usize> = declared.chain(others).copied().filter(|&symbol| seen.insert(symbol)).collect();
        let terminals = order.len();
        order.extend((0..file.symbols.len()).filter(|&symbol| file.symbols[symbol].rule.is_some()));
        order[terminals..].sort_unstable_by_key(|&symbol| file.symbols[symbol].rule);
        let numbers: HashMap<usize, usize> =
            order.iter().enumerate().map(|(number, &symbol)| (symbol, number)).collect();

        let mut names: Vec<String> = Vec::with_capacity(order.len());
        let mut taken: HashSet<String> = HashSet::new();
        for &symbol in &order {
            let mut name = self.name(symbol).to_string();
            // A nonterminal may have the same name as a literal.
            while !taken.insert(name.clone()) {
                name = format!("<{name}>");
            }
            names.push(name);
        }
        let number = |symbol: usize| numbers[&self.meant[symbol]];
        let productions = file.productions.iter().map(|production| Production {
            left: number(production.left),
            right: production.right.iter().map(|&(symbol, _)| number(symbol)).collect(),
        });
        let actions = file.productions.iter().enumerate().flat_map(|(production, written)| {
            let actions = written.actions.iter();
            actions.map(move |&(before, place)| InnerAction { production, before, place })
        });
        let rules = Rules {
            names,
            places: order.iter().map(|&symbol| file.symbols[symbol].rule.unwrap_or(file.symbols[symbol].at)).collect(),
            terminals,
            start: number(start),
            productions: productions.collect(),
            actions: actions.collect(),
            terminal_precedences: order[..terminals].iter().map(|&symbol| self.precedences[symbol]).collect(),
            production_precedences: self.production_precedences(),
            expected: file.expected,
            merging: file.merging.map_or(Merging::default(), |(merging, _)| merging),
        };
        Ok((rules, self.warnings()))
    }

    /// Checks that each symbol in the rules has a meaning.
    fn check_symbols(&self) -> Result<(), GrammarError> {
        let symbol = |&(number, at): &(usize, usize)| (&self.file.symbols[self.meant[number]], at);
        let mut unknown: Vec<&str> = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        let mut first = 0;
        for production in &self.file.productions {
            for (symbol, at) in production.right.iter().map(symbol) {
                let Written::Name(name) = &symbol.written else { continue };
                if symbol.end || name == "YYEOF" {
                    let message =
                        format!("{name} is the end of the input, which needs no token; remove it from the rule");
                    return Err(self.source.error(at, &message));
                }
                if symbol.rule.is_none() && !symbol.declared && seen.insert(name) {
                    first = if unknown.is_empty() { at } else { first };
                    unknown.push(name);
                }
            }
            if let Some((symbol, at)) = production.precedence.as_ref().map(symbol)
                && !Self::is_terminal(symbol)
            {
                return Err(self.source.error(at, "this is not a token; only tokens have a precedence"));
            }
        }
        let message = match &unknown[..] {
            [] => return Ok(()),
            [name] => {
                format!("{name} has no rules and is not declared as a token; write a rule, or declare %token {name}")
            }
            names => format!(
                "{} have no rules and are not declared as tokens; write rules, or declare them with %token",
                list(names)
            ),
        };
        Err(self.source.error(first, &message))
    }

    fn production_precedences(&self) -> Vec<Option<Precedence>> {
        let one = |production: &WrittenProduction| {
            if let Some((symbol, _)) = production.precedence {
                return self.precedences[self.meant[symbol]];
            }
            let meant = production.right.iter().rev().map(|&(symbol, _)| self.meant[symbol]);
            let last = meant.into_iter().find(|&symbol| Self::is_terminal(&self.file.symbols[symbol]))?;
            self.precedences[last].filter(|_| self.file.default_precedence)
        };
        self.file.productions.iter().map(one).collect()
    }

    /// Returns a warning about each literal that is another token in bison than the one that it stands for here.
    fn merged(&self) -> impl Iterator<Item = Warning> {
        let written = |number: usize| match &self.file.symbols[number].written {
            Written::Name(name) => name.clone(),
            Written::Character(name) => format!("'{name}'"),
            Written::Text(name) => format!("\"{name}\""),
        };
        let differs = |number: usize| match &self.file.symbols[number].written {
            Written::Name(_) => false,
            // Bison does not allow more than one character in single quotes.
            Written::Character(name) => name.chars().count() == 1,
            Written::Text(name) => !self.file.aliases.contains_key(name),
        };
        let literals = (0..self.meant.len()).filter(move |&number| self.meant[number] != number && differs(number));
        literals.map(move |number| {
            let (one, other) = (written(number), written(self.meant[number]));
            let message = format!("{one} and {other} are different tokens in bison, but one token here; rename one");
            self.source.warning(self.file.symbols[number].at, &message)
        })
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = self.merged().collect();
        let mut used: HashSet<usize> = HashSet::new();
        for (symbol, &meant) in self.file.symbols.iter().zip(&self.meant) {
            if symbol.used {
                used.insert(meant);
            }
        }
        let unused = |&&token: &&usize| {
            let special = matches!(self.name(token), "error" | "YYEOF" | "YYerror" | "YYUNDEF");
            !used.contains(&token) && !self.file.symbols[token].end && !special
        };
        let unused: Vec<usize> = self.file.tokens.iter().filter(unused).copied().collect();
        if let Some(&first) = unused.first() {
            let names: Vec<&str> = unused.iter().map(|&token| self.name(token)).collect();
            let message = match &names[..] {
                [name] => format!("{name} is declared as a token, but no rule uses it"),
                names => format!("{} are declared as tokens, but no rule uses them", list(names)),
            };
            warnings.push(self.source.warning(self.file.symbols[first].at, &message));
        }
        if let Some(&first) = self.file.errors.first() {
            let message = match self.file.errors.len() {
                1 => {
                    "the production with the token error is left out: error recovery is not part of the language".into()
                }
                count => format!(
                    "{count} productions with the token error are left out: error recovery is not part of the language"
                ),
            };
            warnings.push(self.source.warning(first, &message));
        }
        warnings
    }
}
