//! Rules in place of automata: equal expressions share a rule, sets of interchangeable symbols are rules, and so are lists.

use std::collections::{BTreeMap, BTreeSet};

use echostack::spelling::Names;

use super::eliminate::{Known, expressions};
use super::graph::Cover;
use super::names::{of_opener, plural};
use super::net::{Label, Net};
use super::roles::{Role, role};
use super::term::{Term, sequence};
use super::work::Work;
use crate::learn::learner::Module;

/// The most rules.
const MAX_RULES: usize = 500;
/// The most productions of one rule.
const MAX_BODIES: usize = 64;

/// A symbol of a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    Token(usize),
    Rule(usize),
}

/// A rule, as productions and as an expression.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) bodies: Vec<Vec<Item>>,
    pub(super) term: Term,
    /// Whether people see the rule. Most lists are written where they are used.
    pub(super) is_shown: bool,
}

impl Rule {
    /// Returns whether the rule is a list, which is recursive only because Yacc has no other way to say so.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.term, Term::List(..) | Term::Plus(_))
    }
}

/// A part of the automata: a module up to some states.
pub(super) type Part = (Module, BTreeSet<usize>);

/// The rules of a language.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub(super) all: Vec<Rule>,
    pub(super) start: usize,
    /// The rule of each expression, and of each symbol that is a call.
    pub(super) named: BTreeMap<Term, usize>,
    pub(super) calls: BTreeMap<usize, usize>,
}

/// Something is too large.
#[derive(Debug)]
pub(super) struct TooLarge;

/// Finds the rules of a language.
pub(super) struct Finder<'a> {
    net: &'a Net,
    work: &'a Work,
    whole: usize,
    known: Vec<Known>,
    found: BTreeMap<Part, Vec<Term>>,
    /// Sets of symbols that have a name.
    unions: BTreeSet<Term>,
}

impl<'a> Finder<'a> {
    /// Finds expressions for all parts.
    pub(super) fn new(net: &'a Net, whole: usize, work: &'a Work) -> Result<Self, TooLarge> {
        let mut this = Self { net, work, whole, known: Vec::new(), found: BTreeMap::new(), unions: BTreeSet::new() };
        let top: Part = (Module::TOP, net.accepting().clone());
        this.rules(&BTreeMap::new())?;
        let is_symbol = matches!(this.found[&top].first(), Some(Term::Symbol(_)));
        if let Some(graph) = net.graph(top.0, &top.1).filter(|_| !is_symbol) {
            // A whole text may occur within a text.
            this.known.push(Known::new(Term::Symbol(whole), &graph, work));
            this.found.retain(|part, _| *part == top);
        }
        let rules = this.rules(&BTreeMap::new())?;
        let is_union = |term: &&Term| match term {
            Term::Choice(parts) => parts.len() > 2 && parts.iter().all(|part| matches!(part, Term::Symbol(_))),
            _ => false,
        };
        this.unions = rules.named.keys().filter(is_union).cloned().collect();
        Ok(this)
    }

    /// Returns the parts for which there are several expressions, with the number of these.
    pub(super) fn parts(&self) -> Vec<(Part, usize)> {
        self.found.iter().map(|(part, found)| (part.clone(), found.len())).collect()
    }

    /// Writes the rules, with the expressions of these numbers; the others are the smallest ones.
    pub(super) fn rules(&mut self, picks: &BTreeMap<Part, usize>) -> Result<Rules, TooLarge> {
        let mut writer = Writer {
            finder: self,
            picks,
            rules: Rules::default(),
            start: Term::EMPTY,
            names: Names::numbered("_"),
            hints: BTreeMap::new(),
        };
        writer.start = writer.expression(&(Module::TOP, writer.finder.net.accepting().clone()))?;
        let start = writer.start.clone();
        let items = match start {
            Term::Symbol(_) => writer.inline(&start)?,
            _ => vec![Item::Rule(writer.named(&start)?)],
        };
        if let [Item::Rule(rule)] = items[..] {
            writer.rules.start = rule;
        } else {
            let name = writer.names.take("Text");
            writer.rules.start = writer.rules.all.len();
            writer.rules.all.push(Rule { name, bodies: vec![items], term: start, is_shown: true });
        }
        Ok(writer.rules)
    }

    fn expressions(&mut self, part: &Part) -> Result<&Vec<Term>, TooLarge> {
        if !self.found.contains_key(part) {
            let graph = self.net.graph(part.0, &part.1).ok_or(TooLarge)?;
            let covers = [Cover::Residual, Cover::Shared, Cover::Loops];
            let found = expressions(&graph, &self.known, &covers, self.work);
            let found = found.into_iter().map(|term| self.separated(term)).collect();
            self.found.insert(part.clone(), found);
        }
        self.found.get(part).filter(|found| !found.is_empty()).ok_or(TooLarge)
    }

    /// Writes `(s x)+` as `s x (s x)*`, with a list, if s is a separator. A token for runs of white space does not repeat.
    fn separated(&self, term: Term) -> Term {
        let is_separator = |part: &Term| match part {
            Term::Symbol(symbol) => {
                self.net.tokens.get(*symbol).is_some_and(|token| [",", ";"].contains(&token.sample.trim()))
            }
            _ => false,
        };
        let list = |inner: &Term| match inner.parts() {
            [between, rest @ ..] if !rest.is_empty() && is_separator(between) => {
                let item = Box::new(sequence(rest.to_vec()));
                Some(Term::Sequence(vec![between.clone(), Term::List(item, Box::new(between.clone()))]))
            }
            _ => None,
        };
        let is_run = |inner: &Term| matches!(inner, Term::Symbol(symbol) if Some(*symbol) == self.net.run);
        match term {
            Term::Sequence(parts) => sequence(parts.into_iter().map(|part| self.separated(part)).collect()),
            Term::Star(inner) if is_run(&inner) => Term::Optional(inner),
            Term::Plus(inner) if is_run(&inner) => *inner,
            Term::Star(inner) => {
                let inner = self.separated(*inner);
                list(&inner).map_or_else(|| Term::Star(Box::new(inner.clone())), |list| Term::Optional(Box::new(list)))
            }
            Term::Plus(inner) => {
                let inner = self.separated(*inner);
                list(&inner).unwrap_or_else(|| Term::Plus(Box::new(inner.clone())))
            }
            term => term.map_inner(&mut |part| self.separated(part)),
        }
    }

    /// Uses the largest set of symbols that has a name within a larger choice.
    fn united(&self, term: Term) -> Term {
        let term = term.map_inner(&mut |part| self.united(part));
        let Term::Choice(parts) = &term else { return term };
        let is_part = |union: &&Term| {
            union.inner().len() < parts.len() && union.inner().into_iter().all(|part| parts.contains(part))
        };
        let Some(best) = self.unions.iter().filter(is_part).max_by_key(|union| union.inner().len()) else {
            return term;
        };
        let rest = parts.iter().filter(|part| !best.inner().contains(part)).cloned();
        let mut parts: Vec<Term> = rest.chain([self.united(best.clone())]).collect();
        parts.sort_unstable();
        Term::Choice(parts)
    }
}

struct Writer<'f, 'a> {
    finder: &'f mut Finder<'a>,
    picks: &'f BTreeMap<Part, usize>,
    rules: Rules,
    start: Term,
    names: Names,
    /// The names of expressions that are known from where they occur.
    hints: BTreeMap<Term, String>,
}

impl Writer<'_, '_> {
    fn expression(&mut self, part: &Part) -> Result<Term, TooLarge> {
        let pick = self.picks.get(part).copied().unwrap_or(0);
        let found = self.finder.expressions(part)?;
        let term = found[pick.min(found.len() - 1)].clone();
        Ok(self.finder.united(term))
    }

    fn reserve(&mut self, name: &str, term: Term) -> Result<usize, TooLarge> {
        if self.rules.all.len() >= MAX_RULES {
            return Err(TooLarge);
        }
        let name = self.names.take(name);
        self.rules.all.push(Rule { name, bodies: Vec::new(), term, is_shown: true });
        Ok(self.rules.all.len() - 1)
    }

    /// Returns the rule of a closed word.
    fn call(&mut self, symbol: usize) -> Result<usize, TooLarge> {
        if let Some(&rule) = self.rules.calls.get(&symbol) {
            return Ok(rule);
        }
        let net = self.finder.net;
        let Label::Call(module, classes) = &net.labels[symbol] else { return Err(TooLarge) };
        let opener = net.openers.get(module).ok_or(TooLarge)?;
        let is_name = |symbol: &usize| net.tokens.get(*symbol).is_some_and(|token| token.name.ends_with("NAME"));
        let before = net.before(symbol);
        let names: Vec<&str> = opener.iter().map(|&token| net.tokens[token].name.as_str()).collect();
        let name = of_opener(&names.join("_"), !before.is_empty() && before.iter().all(is_name));
        let rule = self.reserve(&name, Term::EMPTY)?;
        self.rules.calls.insert(symbol, rule);
        let mut terms = Vec::new();
        let symbols = |tokens: &[usize]| tokens.iter().map(|&token| Term::Symbol(token)).collect::<Vec<_>>();
        for (closer, finals) in net.finals(classes) {
            if net.graph(*module, &finals).is_none() {
                continue;
            }
            let body = self.expression(&(*module, finals))?;
            terms.push(Term::Sequence([symbols(opener), body.parts().to_vec(), symbols(&closer)].concat()));
        }
        let mut bodies = Vec::new();
        for term in &terms {
            bodies.extend(self.alternatives(term)?);
        }
        let term = if terms.len() == 1 { terms.remove(0) } else { Term::Choice(terms) };
        self.rules.all[rule].bodies = unique(bodies);
        self.rules.all[rule].term = term.clone();
        self.rules.named.insert(term, rule);
        Ok(rule)
    }

    /// Returns the productions of an expression.
    fn alternatives(&mut self, term: &Term) -> Result<Vec<Vec<Item>>, TooLarge> {
        match term {
            Term::Choice(parts) => {
                let mut bodies = Vec::new();
                for part in parts {
                    match part {
                        Term::Choice(_) => bodies.push(self.inline(part)?),
                        _ => bodies.extend(self.alternatives(part)?),
                    }
                }
                return Ok(bodies);
            }
            Term::Optional(inner) => {
                let mut bodies = vec![Vec::new()];
                bodies.extend(self.alternatives(inner)?);
                return Ok(bodies);
            }
            Term::Star(inner) => {
                return Ok(vec![Vec::new(), vec![Item::Rule(self.named(&Term::Plus(inner.clone()))?)]]);
            }
            _ => {}
        }
        let parts = term.parts();
        let is_wide = |part: &&Term| matches!(part, Term::Optional(_) | Term::Star(_) | Term::Choice(_));
        let expands = parts.iter().filter(is_wide).count() < 2;
        let mut bodies: Vec<Vec<Item>> = vec![Vec::new()];
        for part in parts {
            let (inner, is_optional) = match part {
                Term::Star(inner) => (Term::Plus(inner.clone()), true),
                Term::Optional(inner) => ((**inner).clone(), true),
                part => (part.clone(), false),
            };
            let mut ways = if is_optional { vec![Vec::new()] } else { Vec::new() };
            match &inner {
                Term::Choice(own) if expands && !self.rules.named.contains_key(&inner) && !is_set(own) => {
                    ways.extend(self.alternatives(&inner)?);
                }
                _ => ways.push(self.inline(&inner)?),
            }
            bodies = bodies.iter().flat_map(|body| ways.iter().map(move |way| [&body[..], way].concat())).collect();
            if bodies.len() > MAX_BODIES {
                return Err(TooLarge);
            }
        }
        Ok(bodies)
    }

    /// Returns the symbols that stand for an expression within a production.
    fn inline(&mut self, term: &Term) -> Result<Vec<Item>, TooLarge> {
        match term {
            Term::Symbol(symbol) if *symbol == self.finder.whole => {
                let start = self.start.clone();
                if let Term::Symbol(_) = start {
                    self.inline(&start)
                } else {
                    Ok(vec![Item::Rule(self.named(&start)?)])
                }
            }
            Term::Symbol(symbol) => Ok(vec![match self.finder.net.labels[*symbol] {
                Label::Token(token) => Item::Token(token),
                Label::Call(..) | Label::Whole => Item::Rule(self.call(*symbol)?),
            }]),
            Term::Sequence(parts) if !parts.iter().any(|part| matches!(part, Term::Optional(_) | Term::Star(_))) => {
                let mut items = Vec::new();
                for part in parts {
                    items.extend(self.inline(part)?);
                }
                Ok(items)
            }
            term => Ok(vec![Item::Rule(self.named(term)?)]),
        }
    }

    /// Returns the rule of an expression.
    fn named(&mut self, term: &Term) -> Result<usize, TooLarge> {
        if let Some(&rule) = self.rules.named.get(term) {
            return Ok(rule);
        }
        let name = self.name(term);
        let rule = self.reserve(&name, term.clone())?;
        self.rules.named.insert(term.clone(), rule);
        let is_operation = role(term, false, self.finder.net) == Role::Operation;
        self.rules.all[rule].is_shown = *term == self.start || is_operation || !self.rules.all[rule].is_list();
        let bodies = match term {
            Term::Plus(item) | Term::List(item, _) => {
                let is_rule = match &**item {
                    Term::Choice(_) => true,
                    Term::Symbol(_) => false,
                    _ => matches!(term, Term::List(..)),
                };
                let own = if is_rule { vec![Item::Rule(self.named(item)?)] } else { self.inline(item)? };
                let between = if let Term::List(_, between) = term { self.inline(between)? } else { Vec::new() };
                vec![own.clone(), [&[Item::Rule(rule)][..], &between, &own].concat()]
            }
            _ => self.alternatives(term)?,
        };
        self.rules.all[rule].bodies = unique(bodies);
        Ok(rule)
    }

    /// Returns a name for an expression.
    fn name(&mut self, term: &Term) -> String {
        // What may come several times before one other thing.
        if let Term::Sequence(parts) = term
            && let [Term::Star(item), _] = &parts[..]
        {
            self.hints.entry((**item).clone()).or_insert_with(|| "Prefix".into());
        }
        if let Some(hint) = self.hints.get(term) {
            return hint.clone();
        }
        let found = role(term, *term == self.start, self.finder.net);
        if let (Role::Operation, Term::List(item, _)) = (found, term) {
            self.hints.entry((**item).clone()).or_insert_with(|| "Operand".into());
        }
        let (Role::Several, Term::Plus(item) | Term::List(item, _)) = (found, term) else { return found.name().into() };
        let one = match self.rules.named.get(&**item) {
            Some(&rule) => self.rules.all[rule].name.clone(),
            None if matches!(**item, Term::Symbol(_)) => "Item".into(),
            None => self.name(item),
        };
        plural(&one)
    }
}

/// Returns whether all of some terms are symbols.
fn is_set(parts: &[Term]) -> bool {
    parts.iter().all(|part| matches!(part, Term::Symbol(_)))
}

fn unique(bodies: Vec<Vec<Item>>) -> Vec<Vec<Item>> {
    let mut seen = BTreeSet::new();
    bodies.into_iter().filter(|body| seen.insert(body.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{automaton, lists_learned};
    use crate::write::readable::characters::Characters;
    use crate::write::readable::way::Way;

    #[test]
    fn lists_have_a_rule_for_brackets_and_one_for_what_is_in_them() {
        let (hypothesis, _) = lists_learned();
        let characters = Characters::new(automaton(&hypothesis), &hypothesis.symbols);
        let mut net = Net::of_characters(&characters, Way::ALL[0], &Work::default()).unwrap();
        let whole = net.symbol(Label::Whole);
        let work = Work::default();
        let mut finder = Finder::new(&net, whole, &work).unwrap();
        let rules = finder.rules(&BTreeMap::new()).unwrap();
        let sizes: BTreeMap<&str, usize> =
            rules.all.iter().map(|rule| (rule.name.as_str(), rule.bodies.len())).collect();
        assert_eq!(sizes, BTreeMap::from([("Value", 2), ("Brackets", 2), ("Items", 2)]), "{rules:?}");
        assert_eq!(rules.all[rules.start].name, "Value");
        assert!(finder.parts().iter().all(|(_, count)| *count > 0));
    }
}
