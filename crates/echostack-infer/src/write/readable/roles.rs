//! What an expression is for, by its shape.

use super::net::{Label, Net};
use super::term::Term;

/// What an expression is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Text,
    /// Operands with operators between them.
    Operation,
    Operator,
    Signs,
    /// Several of the same kind.
    Several,
    LineEnd,
    Line,
    Name,
    Keyword,
    Letter,
    Value,
    /// Something that is true or false.
    Condition,
    /// One of several that begin with keywords.
    Statement,
    Pair,
    Entry,
    Part,
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "Text",
            Self::Operation => "Expression",
            Self::Operator => "Operator",
            Self::Signs => "Signs",
            Self::Several => "Items",
            Self::LineEnd => "LineEnd",
            Self::Line => "Line",
            Self::Name => "Name",
            Self::Keyword => "Keyword",
            Self::Letter => "Letter",
            Self::Value => "Value",
            Self::Condition => "Condition",
            Self::Statement => "Statement",
            Self::Pair => "Pair",
            Self::Entry => "Entry",
            Self::Part => "Part",
        }
    }
}

/// What is written between things that are compared.
const COMPARISONS: [&str; 7] = ["==", "!=", "<>", "<", ">", "<=", ">="];

/// Returns what an expression is for.
pub(super) fn role(term: &Term, is_start: bool, net: &Net) -> Role {
    let sample = |term: &Term| match term {
        Term::Symbol(symbol) => net.tokens.get(*symbol).map(|token| token.sample.trim()),
        _ => None,
    };
    match term {
        Term::List(_, between) if is_operator(between, net) => Role::Operation,
        _ if is_start && !matches!(term, Term::Choice(_)) => Role::Text,
        Term::Plus(item) if sample(item).is_some_and(|text| ["-", "+", "~", "!"].contains(&text)) => Role::Signs,
        Term::List(..) | Term::Plus(_) => Role::Several,
        Term::Choice(parts) => {
            if is_operator(term, net) {
                return Role::Operator;
            }
            if is_line_end(term, net) {
                return Role::LineEnd;
            }
            let compares = |part: &Term| sample(part).is_some_and(|text| COMPARISONS.contains(&text));
            if parts.iter().any(|part| part.parts().len() == 3 && compares(&part.parts()[1])) {
                return Role::Condition;
            }
            if parts.iter().any(|part| part.parts().len() > 1 && is_keyword(&part.parts()[0], net)) {
                return Role::Statement;
            }
            if !parts.iter().any(|part| matches!(part, Term::Symbol(_) | Term::Choice(_))) {
                return Role::Entry;
            }
            role_of_set(term, net)
        }
        Term::Sequence(parts) => {
            let is_pair = |part: &Term| sample(part).is_some_and(|text| [":", "=", "=>", "->", ":="].contains(&text));
            if parts.len() <= 4 && parts.iter().skip(1).any(is_pair) {
                return Role::Pair;
            }
            if parts.last().is_some_and(|last| is_line_end(last, net)) {
                return Role::Line;
            }
            Role::Part
        }
        _ => Role::Part,
    }
}

/// Returns whether a symbol is a word that is no operator.
fn is_keyword(term: &Term, net: &Net) -> bool {
    let Term::Symbol(symbol) = term else { return false };
    net.tokens.get(*symbol).is_some_and(|token| {
        let text = token.sample.trim();
        let is_word = text.len() > 1 && text.chars().all(char::is_alphabetic);
        token.is_literal && is_word && !["not", "and", "or", "in", "is"].contains(&text.to_lowercase().as_str())
    })
}

fn role_of_set(term: &Term, net: &Net) -> Role {
    let mut tokens = Vec::new();
    for symbol in term.symbols() {
        match &net.labels[symbol] {
            Label::Token(token) => tokens.push(&net.tokens[*token]),
            Label::Call(..) | Label::Whole => return Role::Value,
        }
    }
    let is_name = |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let is_value = |name: &str| ["STRING", "NUMBER", "INTEGER", "DIGIT"].iter().any(|kind| name.starts_with(kind));
    if !tokens.iter().all(|token| is_name(&token.name) && !is_value(&token.name)) {
        return Role::Value;
    }
    if tokens.iter().any(|token| !token.is_literal) {
        return if tokens.iter().any(|token| token.name == "NAME") { Role::Name } else { Role::Value };
    }
    if tokens.iter().any(|token| token.name.len() > 1) { Role::Keyword } else { Role::Letter }
}

/// Returns whether all symbols are marks that are operators, not separators.
fn is_operator(term: &Term, net: &Net) -> bool {
    let is_mark = |symbol: usize| match &net.labels[symbol] {
        Label::Token(token) => {
            let text = net.tokens[*token].sample.trim();
            let is_mark = text.chars().all(|letter| letter.is_ascii_punctuation() && !"_\"'`()[]{}".contains(letter));
            !text.is_empty() && is_mark && ![",", ";", ":", "."].contains(&text)
        }
        Label::Call(..) | Label::Whole => false,
    };
    let is_flat = match term {
        Term::Symbol(_) => true,
        Term::Choice(parts) => parts.iter().all(|part| matches!(part, Term::Symbol(_))),
        _ => false,
    };
    is_flat && term.symbols().into_iter().all(is_mark)
}

fn is_line_end(term: &Term, net: &Net) -> bool {
    let ends = |symbol: usize| net.tokens.get(symbol).is_some_and(|token| token.sample.ends_with('\n'));
    let symbols = term.symbols();
    !symbols.is_empty() && symbols.into_iter().all(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::readable::net::Token;

    #[test]
    fn shapes_have_roles() {
        let texts = ["+", "*", ",", ":", "a", "true", "\n", "x", "=="];
        let token =
            |text: &str| Token { name: text.into(), pattern: None, sample: text.into(), is_literal: text != "a" };
        let mut net = Net::default();
        net.tokens.extend(texts.map(token));
        net.tokens[4].name = "NAME".into();
        net.labels.extend((0..texts.len()).map(Label::Token));
        let symbol = Term::Symbol;
        let boxed = |at: usize| Box::new(symbol(at));
        for (term, expected) in [
            (Term::List(boxed(4), boxed(0)), Role::Operation),
            (Term::List(boxed(4), boxed(2)), Role::Several),
            (Term::Choice(vec![symbol(0), symbol(1)]), Role::Operator),
            (Term::Choice(vec![symbol(4), symbol(5)]), Role::Name),
            (Term::Choice(vec![symbol(5), symbol(7)]), Role::Keyword),
            (Term::Sequence(vec![symbol(4), symbol(3), symbol(5)]), Role::Pair),
            (Term::Sequence(vec![symbol(4), symbol(6)]), Role::Line),
            (Term::Plus(boxed(0)), Role::Signs),
            (Term::Choice(vec![symbol(4), Term::Sequence(vec![symbol(5), symbol(4)])]), Role::Statement),
            (Term::Choice(vec![symbol(5), Term::Sequence(vec![symbol(4), symbol(8), symbol(4)])]), Role::Condition),
            (Term::Sequence(vec![symbol(4), symbol(4)]), Role::Part),
        ] {
            assert_eq!(role(&term, false, &net), expected, "{term:?}");
        }
        assert_eq!(role(&Term::Sequence(vec![symbol(4), symbol(4)]), true, &net), Role::Text);
        assert_eq!(Role::Text.name(), "Text");
    }
}
