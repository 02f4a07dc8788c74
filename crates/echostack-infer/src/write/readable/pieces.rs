//! The tokens: texts with the same effect that also look alike, as regular expressions that people would write.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::boundaries::{Effect, Tokens};
use super::characters::Characters;
use super::eliminate::expressions;
use super::graph::{Cover, Graph};
use super::term::Term;
use super::work::Work;
use crate::text::charset::CharSet;
use crate::write::regex::{Regex, escaped};

/// The most texts that are tokens by themselves, and how many steps are made to find them.
const MAX_TEXTS: usize = 8;
const MAX_STEPS: usize = 400;
/// The most single letters or digits that are tokens by themselves.
const MAX_LETTERS: usize = 2;

/// A token.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) effect: Effect,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// One text.
    Text(String),
    /// A run of one character of white space.
    Run(char),
    /// An expression over atoms.
    Pattern(Term),
}

impl Piece {
    /// Returns a regular expression for this token.
    pub(super) fn expression(&self, characters: &Characters) -> String {
        match &self.kind {
            Kind::Pattern(term) => written(term, &characters.atoms),
            Kind::Text(text) => literal(text),
            Kind::Run(letter) => literal(&letter.to_string()) + "+",
        }
    }

    /// Returns a regular expression for this token and one of some atoms.
    pub(super) fn followed_by(&self, atoms: BTreeSet<usize>, characters: &Characters) -> String {
        let last = Term::Set(atoms);
        match &self.kind {
            Kind::Pattern(term) => written(&Term::Sequence(vec![term.clone(), last]), &characters.atoms),
            Kind::Text(text) => literal(text) + &written(&last, &characters.atoms),
            Kind::Run(letter) => literal(&letter.to_string()) + "+" + &written(&last, &characters.atoms),
        }
    }
}

/// How a text begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Beginning {
    Quote,
    Number,
    Word,
    Sign(usize),
}

/// Returns the tokens: first those with one text, then the others. Returns `None` if an expression is too large.
pub(super) fn pieces(tokens: &Tokens, characters: &Characters, work: &Work) -> Option<Vec<Piece>> {
    let finder = Finder { tokens, characters, work };
    let mut beginnings: BTreeMap<Beginning, BTreeSet<usize>> = BTreeMap::new();
    for &atom in tokens.arcs[tokens.start].keys() {
        beginnings.entry(finder.beginning(atom)).or_default().insert(atom);
    }
    let mut effects: BTreeMap<&Effect, BTreeSet<usize>> = BTreeMap::new();
    for (node, effect) in tokens.effects.iter().enumerate() {
        if let Some(effect) = effect {
            effects.entry(effect).or_default().insert(node);
        }
    }
    let (mut pieces, mut patterns, mut words) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (effect, nodes) in effects {
        let mut many = Vec::new();
        for firsts in beginnings.values() {
            let Some(texts) = finder.texts(firsts, &nodes) else {
                many.push(firsts.clone());
                continue;
            };
            for text in texts {
                words.extend(finder.run(&text));
                let mut letters = text.chars();
                let single = letters.next().filter(|_| letters.next().is_none());
                let is_run = |letter: char| characters.atom_of(letter).is_some_and(|atom| tokens.runs.contains(&atom));
                let kind = match single.filter(|&letter| is_run(letter)) {
                    Some(letter) => Kind::Run(letter),
                    None => Kind::Text(text),
                };
                pieces.push(Piece { effect: effect.clone(), kind });
            }
        }
        patterns.extend(finder.alike(many, &nodes).into_iter().map(|firsts| (effect, firsts, nodes.clone())));
    }
    for (effect, firsts, nodes) in patterns {
        // Tokens with one text come first in the lexer, so that the others need not leave these texts out.
        let own = finder.pattern(&firsts, &nodes)?;
        let wider = finder.pattern(&firsts, &nodes.union(&words).copied().collect());
        let term = wider.filter(|wider| wider.size() < own.size()).unwrap_or(own);
        pieces.push(Piece { effect: effect.clone(), kind: Kind::Pattern(term) });
    }
    Some(pieces)
}

struct Finder<'a> {
    tokens: &'a Tokens,
    characters: &'a Characters,
    work: &'a Work,
}

impl Finder<'_> {
    fn beginning(&self, atom: usize) -> Beginning {
        let first = self.characters.atoms[atom].ranges().first().map_or(' ', |&(from, _)| from);
        match first {
            '"' | '\'' | '`' => Beginning::Quote,
            '0'..='9' | '+' | '-' | '.' => Beginning::Number,
            _ if self.characters.is_word(atom) => Beginning::Word,
            _ => Beginning::Sign(atom),
        }
    }

    /// Returns the node after a text.
    fn run(&self, text: &str) -> Option<usize> {
        text.chars().try_fold(self.tokens.start, |node, letter| {
            self.tokens.arcs[node].get(&self.characters.atom_of(letter)?).copied()
        })
    }

    /// Returns the nodes from which one of some can be reached, and these.
    fn leading(&self, nodes: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut live = nodes.clone();
        loop {
            let arcs = self.tokens.arcs.iter().enumerate();
            let leads = arcs.filter(|(node, arcs)| !live.contains(node) && arcs.values().any(|to| live.contains(to)));
            let more: Vec<usize> = leads.map(|(node, _)| node).collect();
            if more.is_empty() {
                return live;
            }
            live.extend(more);
        }
    }

    /// Joins the beginnings of texts that go on alike: what differs only in its first character is one kind of token.
    fn alike(&self, many: Vec<BTreeSet<usize>>, nodes: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
        let live = self.leading(nodes);
        let after = |firsts: &BTreeSet<usize>| -> BTreeSet<usize> {
            let arcs = self.tokens.arcs[self.tokens.start]
                .iter()
                .filter(|(atom, to)| firsts.contains(atom) && live.contains(to));
            arcs.map(|(_, &to)| to).collect()
        };
        let mut groups: Vec<(BTreeSet<usize>, BTreeSet<usize>)> = Vec::new();
        for firsts in many {
            let mut group = (after(&firsts), firsts);
            while let Some(at) = groups.iter().position(|(known, _)| !known.is_disjoint(&group.0)) {
                let (targets, firsts) = groups.remove(at);
                group.0.extend(targets);
                group.1.extend(firsts);
            }
            groups.push(group);
        }
        groups.into_iter().map(|(_, firsts)| firsts).collect()
    }

    /// Returns all texts that begin with one of some atoms and lead to one of some nodes, if they are few.
    fn texts(&self, firsts: &BTreeSet<usize>, nodes: &BTreeSet<usize>) -> Option<Vec<String>> {
        let live = self.leading(nodes);
        let (mut found, mut steps) = (BTreeSet::new(), 0);
        let mut open = vec![(self.tokens.start, String::new())];
        while let Some((node, text)) = open.pop() {
            steps += 1;
            if steps > MAX_STEPS {
                return None;
            }
            for (atom, to) in self.tokens.arcs[node].iter().filter(|(_, to)| live.contains(to)) {
                if text.is_empty() && !firsts.contains(atom) {
                    continue;
                }
                let letters = &self.characters.atoms[*atom];
                if letters.len() > MAX_TEXTS {
                    return None;
                }
                open.extend((0..letters.len()).filter_map(|at| Some((*to, format!("{text}{}", letters.nth(at)?)))));
            }
            if !text.is_empty() && nodes.contains(&node) {
                found.insert(text);
            }
        }
        let is_letter = |text: &&String| text.chars().count() == 1 && text.chars().all(char::is_alphanumeric);
        let letters = found.iter().filter(is_letter).count();
        (found.len() <= MAX_TEXTS && letters <= MAX_LETTERS).then(|| found.into_iter().collect())
    }

    /// Returns an expression for all texts that begin with one of some atoms and lead to one of some nodes.
    fn pattern(&self, firsts: &BTreeSet<usize>, nodes: &BTreeSet<usize>) -> Option<Term> {
        let live = self.leading(nodes);
        let count = self.tokens.arcs.len();
        // The start may be within a token, too, where any atom can follow.
        let mut graph = Graph { start: count, end: count + 1, ..Graph::default() };
        for &node in &live {
            let mut sets: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for (&atom, &to) in self.tokens.arcs[node].iter().filter(|(_, to)| live.contains(to)) {
                sets.entry(to).or_default().insert(atom);
            }
            for (to, atoms) in sets {
                if node == self.tokens.start {
                    let first: BTreeSet<usize> = atoms.intersection(firsts).copied().collect();
                    if !first.is_empty() {
                        graph.add(graph.start, Term::Set(first), to);
                    }
                }
                graph.add(node, Term::Set(atoms), to);
            }
            if nodes.contains(&node) {
                graph.add(node, Term::EMPTY, graph.end);
            }
        }
        graph.trim();
        graph.minimize();
        expressions(&graph, &[], &[Cover::Shared, Cover::Loops], self.work).into_iter().next()
    }
}

/// Returns the atoms that must not follow a text without a space.
pub(super) fn gaps(text: &str, tokens: &Tokens, characters: &Characters) -> BTreeSet<usize> {
    let end = |&track: &usize| {
        text.chars().try_fold(track, |place, letter| {
            let atom = characters.atom_of(letter)?;
            characters.moves[place].get(&atom).copied()
        })
    };
    tokens.tracks.iter().filter_map(end).filter_map(|place| tokens.gaps.get(&place)).flatten().copied().collect()
}

/// Writes an expression over atoms for a lexer.
pub(super) fn written(term: &Term, atoms: &[CharSet]) -> String {
    let atom = |part: &Term| {
        let text = written(part, atoms);
        match part {
            Term::Set(_) => text,
            _ => format!("({text})"),
        }
    };
    let within = |part: &Term| if let Term::Choice(_) = part { atom(part) } else { written(part, atoms) };
    match term {
        Term::Symbol(_) => String::new(),
        Term::Set(own) => set(&own.iter().fold(CharSet::default(), |set, &at| set.union(&atoms[at]))),
        Term::Sequence(parts) => {
            let mut out = String::new();
            let mut rest = &parts[..];
            while let Some(first) = rest.first() {
                let same = rest.iter().take_while(|part| *part == first).count();
                if same > 2 {
                    _ = write!(out, "{}{{{same}}}", atom(first));
                } else {
                    out += &within(first).repeat(same);
                }
                rest = &rest[same..];
            }
            out
        }
        Term::Choice(parts) => parts.iter().map(|part| written(part, atoms)).collect::<Vec<_>>().join("|"),
        Term::Optional(part) => atom(part) + "?",
        Term::Star(part) => atom(part) + "*",
        Term::Plus(part) => atom(part) + "+",
        Term::List(item, between) => {
            let item = within(item);
            format!("{item}({}{item})*", within(between))
        }
    }
}

/// Writes a set of characters, by what is not in it if that is shorter.
pub(crate) fn set(set: &CharSet) -> String {
    let own = Regex::Class(set.clone()).to_string();
    let all: CharSet = [('\0', char::MAX)].into_iter().collect();
    let others = all.without(set);
    if others.is_empty() || !set.contains(char::MAX) {
        return own;
    }
    let text = Regex::Class(others).to_string();
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(&text);
    if inner.len() + 3 < own.len() { format!("[^{inner}]") } else { own }
}

/// Writes one text for a lexer.
pub(super) fn literal(text: &str) -> String {
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{automaton, lists_learned};
    use crate::write::readable::way::Way;

    #[test]
    fn single_texts_are_tokens() {
        let (hypothesis, _) = lists_learned();
        let characters = Characters::new(automaton(&hypothesis), &hypothesis.symbols);
        let tokens = Tokens::find(&characters, Way::ALL[0], &Work::default()).unwrap();
        let found = pieces(&tokens, &characters, &Work::default()).unwrap();
        let texts: BTreeSet<&str> = found
            .iter()
            .map(|piece| match &piece.kind {
                Kind::Text(text) => text.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(texts, BTreeSet::from(["[", "]", ",", "x"]));
    }

    #[test]
    fn expressions_are_written_for_lexers() {
        let (hypothesis, _) = lists_learned();
        let characters = Characters::new(automaton(&hypothesis), &hypothesis.symbols);
        let atom = |letter: char| Term::Set([characters.atom_of(letter).unwrap()].into());
        let boxed = |term: Term| Box::new(term);
        for (term, expected) in [
            (Term::Sequence(vec![atom('x'); 4]), "x{4}"),
            (Term::Sequence(vec![atom('x'); 2]), "xx"),
            (Term::Star(boxed(Term::Sequence(vec![atom('['), atom(']')]))), "(\\[\\])*"),
            (Term::Optional(boxed(atom(','))), ",?"),
            (Term::List(boxed(atom('x')), boxed(atom(','))), "x(,x)*"),
            (Term::Sequence(vec![atom('x'), Term::Choice(vec![atom('['), atom(']')])]), "x(\\[|\\])"),
        ] {
            assert_eq!(written(&term, &characters.atoms), expected);
        }
        let all: CharSet = [('\0', char::MAX)].into_iter().collect();
        assert_eq!(set(&all.without(&[('"', '"'), ('\0', '\x1f')].into_iter().collect())), "[^\\x00-\\x1f\\\"]");
        assert_eq!(literal("a+"), "a\\+");
    }
}
