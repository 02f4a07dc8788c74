//! The automaton as data: its symbols, its rules in order of precedence, and its accepting nonterminals.

use std::fmt;
use std::sync::Arc;

use super::error::AutomatonError;
use super::rule::{MAX_POP, Rule};
use super::viability::Viability;
use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// An LR(1) automaton: an alphabet, an ordered list of rules, and the accepting nonterminals.
///
/// ```
/// use echostack::{Alphabet, Automaton, Lookahead};
/// use echostack::automaton::Rule;
/// // a^n b^n, the paper's Equation (3): [(aSb, epsilon, 3, S), (a, b, 0, S)]
/// let alphabet = Alphabet::new(["a", "b"], ["S"])?;
/// let [a, b, s] = ["a", "b", "S"].map(|name| alphabet.symbol(name).unwrap());
/// let rules = vec![
///     Rule { anchored: false, suffix: vec![a, s, b], lookahead: None, pop: 3, push: s },
///     Rule { anchored: false, suffix: vec![a], lookahead: Some(Lookahead::Token(b)), pop: 0, push: s },
/// ];
/// let automaton = Automaton::new(alphabet, rules, vec![s])?;
/// assert_eq!(automaton.rule(&[a, a], Lookahead::Token(b)), Some(&automaton.rules()[1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Automaton {
    alphabet: Arc<Alphabet>,
    rules: Vec<Rule>,
    accepting: Vec<SymbolId>,
    /// For each symbol on top of the stack, and last for the empty stack: the rules that could match, in list order.
    by_top: Vec<Vec<u32>>,
    /// The viable stacks, if they were given instead of left to be computed.
    viability: Option<Arc<Viability>>,
}

impl Automaton {
    /// Creates an automaton. If several rules match, the first in the list is applied.
    ///
    /// # Errors
    /// If a rule or an accepting symbol does not fit the alphabet, or a rule pops more than [`MAX_POP`].
    pub fn new(
        alphabet: impl Into<Arc<Alphabet>>,
        rules: Vec<Rule>,
        accepting: Vec<SymbolId>,
    ) -> Result<Self, AutomatonError> {
        let alphabet = alphabet.into();
        for (number, rule) in rules.iter().enumerate() {
            check(&alphabet, number, rule)?;
        }
        if let Some(symbol) = accepting.iter().find(|&&symbol| !alphabet.is_nonterminal(symbol)) {
            return Err(AutomatonError::Accepting(symbol.index()));
        }
        let mut by_top = vec![Vec::new(); alphabet.len() + 1];
        for (number, rule) in rules.iter().enumerate() {
            match rule.suffix.last() {
                Some(top) => by_top[top.index()].push(number as u32),
                None if rule.anchored => by_top[alphabet.len()].push(number as u32),
                None => by_top.iter_mut().for_each(|list| list.push(number as u32)),
            }
        }
        Ok(Self { alphabet, rules, accepting, by_top, viability: None })
    }

    /// Sets the viable stacks, so that they need not be computed. An LR(1) table provides them.
    ///
    /// # Errors
    /// [`AutomatonError::Viable`] if their number of symbols is not that of the alphabet.
    pub fn with_viability(mut self, viability: Viability) -> Result<Self, AutomatonError> {
        if viability.symbols() != self.alphabet.len() {
            return Err(AutomatonError::Viable);
        }
        self.viability = Some(Arc::new(viability));
        Ok(self)
    }

    /// Returns the viable stacks, if they were given.
    pub fn viability(&self) -> Option<&Arc<Viability>> {
        self.viability.as_ref()
    }

    /// Returns the symbols.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// Returns the rules, in order of precedence.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the accepting nonterminals.
    pub fn accepting(&self) -> &[SymbolId] {
        &self.accepting
    }

    /// Returns the first rule that matches (line 4 of Algorithm 1).
    pub fn rule(&self, stack: &[SymbolId], lookahead: Lookahead) -> Option<&Rule> {
        let top = stack.last().map_or(self.alphabet.len(), |symbol| symbol.index());
        let candidates = self.by_top.get(top)?;
        candidates.iter().map(|&number| &self.rules[number as usize]).find(|rule| rule.matches(stack, lookahead))
    }

    /// Returns whether the stack consists of exactly one accepting nonterminal, the condition for accepting a word at
    /// its end.
    pub fn accepts_stack(&self, stack: &[SymbolId]) -> bool {
        matches!(stack, [symbol] if self.accepting.contains(symbol))
    }
}

fn check(alphabet: &Alphabet, number: usize, rule: &Rule) -> Result<(), AutomatonError> {
    let token = match rule.lookahead {
        Some(Lookahead::Token(symbol)) => Some(symbol),
        _ => None,
    };
    for symbol in rule.suffix.iter().copied().chain([rule.push]).chain(token) {
        if !alphabet.contains(symbol) {
            let (symbol, len) = (symbol.index(), alphabet.len());
            return Err(AutomatonError::UnknownSymbol { rule: number, symbol, len });
        }
    }
    if rule.pop > MAX_POP {
        return Err(AutomatonError::PopsTooMuch { rule: number, pop: rule.pop });
    }
    let wrong = |symbol, role, needed| {
        let name = alphabet.name(symbol).to_string();
        Err(AutomatonError::WrongKind { rule: number, name, role, needed })
    };
    match token {
        _ if alphabet.is_terminal(rule.push) => wrong(rule.push, "pushed symbol", "nonterminal"),
        Some(token) if !alphabet.is_terminal(token) => wrong(token, "lookahead", "terminal"),
        _ => Ok(()),
    }
}

/// Writes the rules in the paper's form, one per line: `(suffix, lookahead, pop, push)`, with `^` for the bottom of the
/// stack and `#` for the end of the word.
impl fmt::Display for Automaton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in &self.rules {
            let mut suffix: Vec<String> = rule.suffix.iter().map(|&symbol| self.alphabet.plain_name(symbol)).collect();
            if rule.anchored {
                suffix.insert(0, "^".to_string());
            }
            let lookahead = match rule.lookahead {
                None => "ε".to_string(),
                Some(Lookahead::End) => "#".to_string(),
                Some(Lookahead::Token(symbol)) => self.alphabet.plain_name(symbol),
            };
            let push = self.alphabet.plain_name(rule.push);
            writeln!(f, "({}, {lookahead}, {}, {push})", suffix.join(" "), rule.pop)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(suffix: &[usize], lookahead: Option<usize>, pop: u32, push: usize) -> Rule {
        let suffix = suffix.iter().map(|&s| SymbolId::new(s)).collect();
        let lookahead = lookahead.map(|s| Lookahead::Token(SymbolId::new(s)));
        Rule { anchored: false, suffix, lookahead, pop, push: SymbolId::new(push) }
    }

    #[test]
    fn faulty_rules_are_refused() {
        let alphabet = Arc::new(Alphabet::new(["a", "b"], ["S"]).unwrap());
        let refused = |rule| Automaton::new(alphabet.clone(), vec![rule], vec![SymbolId::new(2)]).unwrap_err();
        assert!(matches!(refused(rule(&[0, 9], None, 0, 2)), AutomatonError::UnknownSymbol { symbol: 9, .. }));
        assert!(matches!(refused(rule(&[0], None, 4097, 2)), AutomatonError::PopsTooMuch { pop: 4097, .. }));
        assert!(matches!(refused(rule(&[0], None, 1, 1)), AutomatonError::WrongKind { role: "pushed symbol", .. }));
        assert!(matches!(refused(rule(&[0], Some(2), 1, 2)), AutomatonError::WrongKind { role: "lookahead", .. }));
        let error = Automaton::new(alphabet.clone(), vec![], vec![SymbolId::new(0)]).unwrap_err();
        assert_eq!(error, AutomatonError::Accepting(0));
    }

    #[test]
    fn the_first_of_several_matching_rules_is_taken() {
        let alphabet = Alphabet::new(["a"], ["S", "T"]).unwrap();
        let mut anchored = rule(&[0], None, 1, 2);
        anchored.anchored = true;
        let anywhere = rule(&[], None, 0, 1);
        let automaton = Automaton::new(alphabet, vec![anchored.clone(), anywhere.clone()], vec![]).unwrap();
        let a = SymbolId::new(0);
        assert_eq!(automaton.rule(&[a], Lookahead::End), Some(&anchored));
        assert_eq!(automaton.rule(&[a, a], Lookahead::End), Some(&anywhere));
        assert_eq!(automaton.rule(&[], Lookahead::End), Some(&anywhere));
        assert_eq!(automaton.to_string(), "(^ a, ε, 1, T)\n(, ε, 0, S)\n");
    }
}
