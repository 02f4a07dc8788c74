//! A hypothesis as finite automata over tokens and closed words, one for each module.

use std::collections::{BTreeMap, BTreeSet};

use super::boundaries::{Effect, Tokens};
use super::characters::{Characters, Mark};
use super::graph::Graph;
use super::names::{of_pattern, of_text};
use super::pieces::{Kind, Piece, gaps, literal, pieces, set, written};
use super::term::Term;
use super::way::Way;
use super::work::Work;
use crate::learn::automaton::Automaton;
use crate::learn::learner::{Closed, Module};
use crate::text::charset::CharSet;
use crate::text::symbols::Symbols;
use echostack::spelling::Names;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) name: String,
    /// Its regular expression, unless it was given.
    pub(super) pattern: Option<String>,
    /// A short text.
    pub(super) sample: String,
    /// Whether it has no other text.
    pub(super) is_literal: bool,
}

impl Token {
    /// Returns whether a reader knows a text of the token from its name.
    pub(super) fn says_enough(&self) -> bool {
        const KINDS: [&str; 8] = ["STRING", "NUMBER", "INTEGER", "DIGIT", "LETTER", "NEWLINE", "SPACE", "COMMENT"];
        self.is_literal && self.name == self.sample.trim() || KINDS.contains(&self.name.as_str())
    }
}

/// What leads from one state to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    Token(usize),
    /// A word of a module that belongs to one of these classes.
    Call(Module, BTreeSet<Closed>),
    /// A whole text.
    Whole,
}

/// Automata over tokens. Terms over their labels have the numbers of these as symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Net {
    pub(super) tokens: Vec<Token>,
    /// The regular expressions of what is skipped.
    pub(super) skipped: Vec<String>,
    /// The regular expressions of texts that are refused: tokens that must be apart, but are not.
    pub(super) traps: Vec<String>,
    /// Whether a carriage return is refused. Lexers skip one before a line feed if no rule matches it.
    pub(super) refuses_returns: bool,
    /// The token that is a run of white space.
    pub(super) run: Option<usize>,
    pub(super) labels: Vec<Label>,
    arcs: BTreeMap<usize, BTreeMap<usize, BTreeSet<usize>>>,
    starts: BTreeMap<Module, usize>,
    pub(super) openers: BTreeMap<Module, Vec<usize>>,
    /// The classes of the words that can be closed in a state, with the closers.
    closings: BTreeMap<usize, BTreeSet<(Closed, Vec<usize>)>>,
    accepting: BTreeSet<usize>,
}

impl Net {
    /// Finds tokens in a hypothesis over characters. Returns `None` if that is not possible in this way.
    pub(super) fn of_characters(characters: &Characters, way: Way, work: &Work) -> Option<Self> {
        let joined;
        let characters = if way.joined {
            joined = characters.joined();
            &joined
        } else {
            characters
        };
        let found = Tokens::find(characters, way, work)?;
        let mut pieces = pieces(&found, characters, work)?;
        pieces.sort_by_cached_key(|piece| match &piece.kind {
            Kind::Pattern(term) => (0, written(term, &characters.atoms)),
            Kind::Text(text) if text.starts_with(char::is_alphanumeric) => (1, text.clone()),
            Kind::Text(text) => (2, text.clone()),
            Kind::Run(letter) => (3, letter.to_string()),
        });
        // What changes nothing wherever it stands is skipped, too, such as a comment.
        let nothing: Effect = found.tracks.iter().copied().map(Some).collect();
        let skips = |piece: &Piece| !found.skipped.is_empty() && piece.effect == nothing;
        let (skipped, pieces): (Vec<Piece>, Vec<Piece>) = pieces.into_iter().partition(skips);
        let mut this = Self::default();
        let mut names = Names::numbered("_");
        names.take("Start");
        let (texts, patterns): (Vec<usize>, Vec<usize>) =
            (0..pieces.len()).partition(|&at| !matches!(pieces[at].kind, Kind::Pattern(_)));
        let mut taken = BTreeMap::new();
        for at in texts.into_iter().chain(patterns) {
            let (name, pattern, sample, is_literal) = match &pieces[at].kind {
                Kind::Text(text) => (of_text(text), literal(text), text.clone(), true),
                Kind::Run(letter) => {
                    (of_text(&letter.to_string()), literal(&letter.to_string()) + "+", letter.to_string(), false)
                }
                Kind::Pattern(term) => {
                    let sample = sample(term, &|symbol| least(symbol, characters));
                    (of_pattern(term, &sample, characters), written(term, &characters.atoms), sample, false)
                }
            };
            let token = Token { name: names.take(&name), pattern: Some(pattern), sample, is_literal };
            taken.insert(at, token);
        }
        this.tokens = taken.into_values().collect();
        this.run = pieces.iter().position(|piece| matches!(piece.kind, Kind::Run(_)));
        let spaces = found.skipped.iter().fold(CharSet::default(), |all, &atom| all.union(&characters.atoms[atom]));
        this.skipped.extend((!spaces.is_empty()).then(|| set(&spaces) + "+"));
        this.skipped.extend(skipped.iter().map(|piece| piece.expression(characters)));
        let begins = |letter: char| {
            let atoms = || found.arcs[found.start].keys().chain(&found.skipped);
            atoms().any(|&atom| characters.atoms[atom].contains(letter))
        };
        this.refuses_returns = begins('\n') && !begins('\r');
        for (piece, token) in pieces.iter().zip(&this.tokens) {
            let next = gaps(&token.sample, &found, characters);
            this.traps.extend((!next.is_empty()).then(|| piece.followed_by(next, characters)));
        }
        this.labels = (0..this.tokens.len()).map(Label::Token).collect();
        for (track, &rest) in found.tracks.iter().enumerate() {
            for (token, piece) in pieces.iter().enumerate() {
                let Some(target) = piece.effect[track] else { continue };
                match characters.marks[target] {
                    Mark::Open(module) => {
                        // A module that begins in several ways would need a rule for each.
                        if this.openers.insert(module, vec![token]).is_some_and(|known| known != [token]) {
                            return None;
                        }
                    }
                    Mark::Close(class, _) => {
                        this.closings.entry(rest).or_default().insert((class, vec![token]));
                    }
                    _ => _ = this.arcs.entry(rest).or_default().entry(target).or_default().insert(token),
                }
            }
        }
        for &rest in &found.tracks {
            let over = characters.over[rest].iter().map(|(&(module, class), to)| (module, class, found.rest[to]));
            this.add_calls(rest, over.collect());
        }
        for (&module, start) in &characters.starts {
            this.starts.insert(module, *found.rest.get(start)?);
        }
        let accepts = |rest: &usize| characters.marks[*rest] == Mark::Accepts;
        this.accepting = found.rest.values().copied().filter(accepts).collect();
        Some(this)
    }

    /// Takes the tokens of a hypothesis over given tokens.
    pub(super) fn of_given(automaton: &Automaton, symbols: &Symbols) -> Self {
        let mut this = Self::default();
        let mut numbers = BTreeMap::new();
        for (symbol, name, text) in symbols.tokens() {
            numbers.insert(symbol, this.tokens.len());
            let is_literal = name == text;
            this.tokens.push(Token { name: name.into(), pattern: None, sample: text.into(), is_literal });
        }
        this.labels = (0..this.tokens.len()).map(Label::Token).collect();
        let tokens = |symbol| -> Vec<usize> { symbols.expand(&[symbol]).iter().map(|base| numbers[base]).collect() };
        let mut states = BTreeMap::new();
        for module in automaton.modules() {
            automaton.live[module.at()].iter().for_each(|&state| _ = states.insert((module, state), states.len()));
        }
        let mut fresh = states.len();
        for (&place, &state) in &states {
            for (&symbol, &target) in automaton.plain(place) {
                let mut from = state;
                let parts = tokens(symbol);
                for (at, &token) in parts.iter().enumerate() {
                    let to = if at + 1 == parts.len() { states[&(place.0, target)] } else { fresh };
                    fresh += usize::from(at + 1 < parts.len());
                    this.arcs.entry(from).or_default().entry(to).or_default().insert(token);
                    from = to;
                }
            }
            let mut over = Vec::new();
            for (&class, &target) in automaton.over(place) {
                let modules: BTreeSet<Module> = automaton.closings[&class].iter().map(|way| way.0).collect();
                over.extend(modules.into_iter().map(|module| (module, class, states[&(place.0, target)])));
            }
            this.add_calls(state, over);
        }
        for (&class, ways) in &automaton.closings {
            for &(module, state, closer) in ways {
                let Some(&state) = states.get(&(module, state)) else { continue };
                this.closings.entry(state).or_default().insert((class, tokens(closer)));
            }
        }
        for module in automaton.modules() {
            let start = automaton.parts[module.at()].start.and_then(|start| states.get(&(module, start)));
            this.starts.extend(start.map(|&start| (module, start)));
            this.openers.extend(automaton.opener(module).map(|opener| (module, tokens(opener))));
        }
        let accepting = automaton.accepting.iter().filter_map(|&state| states.get(&(Module::TOP, state)));
        this.accepting = accepting.copied().collect();
        this
    }

    /// Adds the ways over closed words from a state.
    fn add_calls(&mut self, from: usize, over: Vec<(Module, Closed, usize)>) {
        let mut calls: BTreeMap<(usize, Module), BTreeSet<Closed>> = BTreeMap::new();
        over.into_iter().for_each(|(module, class, to)| _ = calls.entry((to, module)).or_default().insert(class));
        for ((to, module), classes) in calls {
            let symbol = self.symbol(Label::Call(module, classes));
            self.arcs.entry(from).or_default().entry(to).or_default().insert(symbol);
        }
    }

    /// Returns the number of a label.
    pub(super) fn symbol(&mut self, label: Label) -> usize {
        if let Some(known) = self.labels.iter().position(|known| *known == label) {
            return known;
        }
        self.labels.push(label);
        self.labels.len() - 1
    }

    /// Returns the states in which words of some classes can be closed, by closer.
    pub(super) fn finals(&self, classes: &BTreeSet<Closed>) -> BTreeMap<Vec<usize>, BTreeSet<usize>> {
        let mut finals: BTreeMap<Vec<usize>, BTreeSet<usize>> = BTreeMap::new();
        for (&state, ways) in &self.closings {
            for (_, closer) in ways.iter().filter(|(class, _)| classes.contains(class)) {
                finals.entry(closer.clone()).or_default().insert(state);
            }
        }
        finals
    }

    pub(super) fn accepting(&self) -> &BTreeSet<usize> {
        &self.accepting
    }

    /// Returns the automaton of a module up to some states.
    pub(super) fn graph(&self, module: Module, finals: &BTreeSet<usize>) -> Option<Graph> {
        let start = *self.starts.get(&module)?;
        let all = self.arcs.iter().flat_map(|(&from, out)| out.keys().copied().chain([from]));
        let end = all.chain(finals.iter().copied()).max().unwrap_or(0).max(start) + 1;
        let mut graph = Graph { start, end, ..Graph::default() };
        for (&from, out) in &self.arcs {
            for (&to, symbols) in out {
                symbols.iter().for_each(|&symbol| graph.add(from, Term::Symbol(symbol), to));
            }
        }
        finals.iter().for_each(|&state| graph.add(state, Term::EMPTY, end));
        graph.trim();
        graph.minimize();
        graph.arcs.contains_key(&graph.start).then_some(graph)
    }

    /// Returns the symbols before which a symbol can come.
    pub(super) fn before(&self, symbol: usize) -> BTreeSet<usize> {
        let has = |state: &usize| self.arcs.get(state).is_some_and(|out| out.values().any(|all| all.contains(&symbol)));
        let out = self.arcs.values().flatten().filter(|(to, _)| has(to));
        out.flat_map(|(_, symbols)| symbols.iter().copied()).collect()
    }
}

/// Returns the character of a set that is easiest to read.
fn least(atoms: &BTreeSet<usize>, characters: &Characters) -> String {
    let letters = atoms.iter().map(|&atom| characters.letter(atom));
    letters.min_by_key(|letter| (!letter.is_alphabetic(), *letter)).map_or(String::new(), String::from)
}

/// Returns a shortest text of a term over atoms.
fn sample(term: &Term, leaf: &dyn Fn(&BTreeSet<usize>) -> String) -> String {
    match term {
        Term::Symbol(_) | Term::Optional(_) | Term::Star(_) => String::new(),
        Term::Set(atoms) => leaf(atoms),
        Term::Sequence(parts) => parts.iter().map(|part| sample(part, leaf)).collect(),
        Term::Choice(parts) => {
            let texts = parts.iter().map(|part| sample(part, leaf));
            texts.min_by_key(|text| (text.len(), text.clone())).unwrap_or_default()
        }
        Term::Plus(part) | Term::List(part, _) => sample(part, leaf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{automaton, lists_learned};

    #[test]
    fn modules_are_automata_over_tokens() {
        let (hypothesis, _) = lists_learned();
        let characters = Characters::new(automaton(&hypothesis), &hypothesis.symbols);
        let mut net = Net::of_characters(&characters, Way::ALL[0], &Work::default()).unwrap();
        let names: Vec<&str> = net.tokens.iter().map(|token| token.name.as_str()).collect();
        assert_eq!(names, ["x", ",", "[", "]"]);
        assert_eq!((net.openers.len(), net.skipped.len(), net.run), (1, 0, None));
        let calls: Vec<usize> =
            (0..net.labels.len()).filter(|&symbol| matches!(net.labels[symbol], Label::Call(..))).collect();
        let Label::Call(module, classes) = net.labels[calls[0]].clone() else { panic!() };
        let finals = net.finals(&classes);
        assert_eq!(finals.keys().collect::<Vec<_>>(), [&vec![3]]);
        let graph = net.graph(module, &finals[&vec![3]]).unwrap();
        assert!(graph.out(graph.start).any(|(term, _)| *term == Term::Symbol(0)));
        assert!(net.graph(module, &BTreeSet::new()).is_none());
        // A list comes after a comma, and a comma after a list.
        assert!(net.before(calls[0]).contains(&1) && net.before(1).contains(&calls[0]));
        let whole = net.symbol(Label::Whole);
        assert_eq!((net.symbol(Label::Whole), net.symbol(Label::Token(0))), (whole, 0));
    }
}
