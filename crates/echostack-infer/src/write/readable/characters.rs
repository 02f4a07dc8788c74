//! A hypothesis as one automaton over atoms: disjoint sets of characters.
//!
//! Openers and closers of several characters are taken apart. Where a symbol of one character begins another that is
//! longer, the place after it is marked with where the shorter one leads.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::classes;
use crate::learn::automaton::{Automaton, Place};
use crate::learn::learner::{Closed, Module};
use crate::text::charset::CharSet;
use crate::text::symbols::{Sym, Symbols, Word};

/// A place, by its number.
pub(super) type Node = usize;

/// What is special about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    Nothing,
    /// The text can end.
    Accepts,
    /// An opener was read, and its module begins.
    Open(Module),
    /// A closer was read, and a word of this class is complete.
    Close(Closed, Sym),
    /// A symbol can end that begins another one.
    Ends(Node),
}

/// A hypothesis over atoms.
#[derive(Clone, Debug)]
pub(super) struct Characters {
    /// The characters of each atom.
    pub(super) atoms: Vec<CharSet>,
    pub(super) moves: Vec<BTreeMap<usize, Node>>,
    /// The places after closed words, by their modules and classes.
    pub(super) over: Vec<BTreeMap<(Module, Closed), Node>>,
    pub(super) marks: Vec<Mark>,
    pub(super) starts: BTreeMap<Module, Node>,
    /// The places in which structure is possible, and those in which something can be closed.
    pub(super) hubs: BTreeSet<Node>,
    pub(super) closers: BTreeSet<Node>,
}

/// A place before it has a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Place(Place),
    /// After the beginning of a symbol.
    Within(Place, Word),
    Open(Module),
    Close(Closed, Sym),
}

/// What a symbol does in a place.
type Effects = BTreeMap<Word, At>;

impl Characters {
    pub(super) fn new(automaton: &Automaton, symbols: &Symbols) -> Self {
        let mut used: BTreeSet<Sym> = BTreeSet::new();
        for module in automaton.modules() {
            used.extend(automaton.opener(module));
            used.extend(automaton.parts[module.at()].plain.iter().flat_map(|moves| moves.keys().copied()));
        }
        used.extend(automaton.closings.values().flatten().map(|&(.., closer)| closer));
        let base: BTreeSet<Sym> = symbols.expand(&used.into_iter().collect::<Vec<_>>()).into_iter().collect();
        let mut atoms = Vec::new();
        let mut atoms_of: BTreeMap<Sym, Vec<usize>> = BTreeMap::new();
        for symbol in base {
            for part in split(symbols.members(symbol).cloned().unwrap_or_default()) {
                atoms_of.entry(symbol).or_default().push(atoms.len());
                atoms.push(part);
            }
        }
        let mut this = Self {
            atoms,
            moves: Vec::new(),
            over: Vec::new(),
            marks: Vec::new(),
            starts: BTreeMap::new(),
            hubs: BTreeSet::new(),
            closers: BTreeSet::new(),
        };
        let mut numbers = BTreeMap::new();
        let mut open = Vec::new();
        for module in automaton.modules() {
            let Some(start) = automaton.parts[module.at()].start else { continue };
            if !automaton.live[module.at()].contains(&start) {
                continue;
            }
            let node = this.number(At::Place((module, start)), &mut numbers, &mut open);
            this.starts.insert(module, node);
            this.hubs.insert(node);
        }
        while let Some((node, at)) = open.pop() {
            this.fill((node, &at), (automaton, symbols), &atoms_of, &mut (&mut numbers, &mut open));
        }
        this.minimize();
        this
    }

    fn number(&mut self, at: At, numbers: &mut BTreeMap<At, Node>, open: &mut Vec<(Node, At)>) -> Node {
        if let Some(&node) = numbers.get(&at) {
            return node;
        }
        let node = self.moves.len();
        self.moves.push(BTreeMap::new());
        self.over.push(BTreeMap::new());
        self.marks.push(match at {
            At::Open(module) => Mark::Open(module),
            At::Close(class, closer) => Mark::Close(class, closer),
            At::Place(_) | At::Within(..) => Mark::Nothing,
        });
        numbers.insert(at.clone(), node);
        open.push((node, at));
        node
    }

    /// Adds the moves of a place.
    fn fill(
        &mut self,
        (node, at): (Node, &At),
        (automaton, symbols): (&Automaton, &Symbols),
        atoms_of: &BTreeMap<Sym, Vec<usize>>,
        (numbers, open): &mut (&mut BTreeMap<At, Node>, &mut Vec<(Node, At)>),
    ) {
        let (place, before): (Place, &[Sym]) = match at {
            At::Place(place) => (*place, &[]),
            At::Within(place, before) => (*place, before),
            At::Open(_) | At::Close(..) => return,
        };
        let effects = effects(automaton, symbols, place);
        if before.is_empty() {
            if place.0 == Module::TOP && automaton.accepting.contains(&place.1) {
                self.marks[node] = Mark::Accepts;
                self.hubs.insert(node);
            }
            for (&class, &target) in automaton.over(place) {
                let target = self.number(At::Place((place.0, target)), numbers, open);
                let modules: BTreeSet<Module> = automaton.closings[&class].iter().map(|way| way.0).collect();
                self.over[node].extend(modules.into_iter().map(|module| ((module, class), target)));
                self.hubs.extend([node, target]);
            }
            if effects.values().any(|effect| matches!(effect, At::Close(..))) {
                self.closers.insert(node);
            }
        } else if let Some(end) = effects.get(before) {
            self.marks[node] = Mark::Ends(self.number(end.clone(), numbers, open));
            self.hubs.insert(node);
        }
        let mut targets: BTreeMap<Sym, At> = BTreeMap::new();
        for (word, effect) in &effects {
            let Some((&next, rest)) = word.strip_prefix(before).and_then(<[Sym]>::split_first) else { continue };
            if rest.is_empty() {
                targets.entry(next).or_insert_with(|| effect.clone());
            } else {
                targets.insert(next, At::Within(place, word[..=before.len()].to_vec()));
            }
        }
        for (symbol, target) in targets {
            let target = self.number(target, numbers, open);
            self.moves[node].extend(atoms_of.get(&symbol).into_iter().flatten().map(|&atom| (atom, target)));
        }
    }

    /// Merges places that have the same future.
    fn minimize(&mut self) {
        #[derive(PartialEq, Eq, PartialOrd, Ord)]
        enum Label {
            Atom(usize),
            Over(Module, Closed),
            Ends,
        }
        let mut kinds = BTreeMap::new();
        let kind = |mark: &Mark| if let Mark::Ends(_) = mark { None } else { Some(*mark) };
        let first = self.marks.iter().map(|mark| {
            let next = kinds.len();
            *kinds.entry(kind(mark)).or_insert(next)
        });
        let block = classes(first.collect(), &|node, block| {
            let mut found: BTreeSet<(Label, usize)> =
                self.moves[node].iter().map(|(&atom, &to)| (Label::Atom(atom), block[to])).collect();
            found.extend(self.over[node].iter().map(|(&(module, class), &to)| (Label::Over(module, class), block[to])));
            if let Mark::Ends(to) = self.marks[node] {
                found.insert((Label::Ends, block[to]));
            }
            found
        });
        let count = block.iter().max().map_or(0, |most| most + 1);
        let (mut moves, mut over) = (vec![BTreeMap::new(); count], vec![BTreeMap::new(); count]);
        let mut marks = vec![Mark::Nothing; count];
        for (node, &own) in block.iter().enumerate() {
            moves[own] = self.moves[node].iter().map(|(&atom, &to)| (atom, block[to])).collect();
            over[own] = self.over[node].iter().map(|(&way, &to)| (way, block[to])).collect();
            marks[own] = match self.marks[node] {
                Mark::Ends(to) => Mark::Ends(block[to]),
                mark => mark,
            };
        }
        (self.moves, self.over, self.marks) = (moves, over, marks);
        self.starts.values_mut().for_each(|node| *node = block[*node]);
        self.hubs = self.hubs.iter().map(|&node| block[node]).collect();
        self.closers = self.closers.iter().map(|&node| block[node]).collect();
    }

    /// Returns the same automaton, in which white space that must come after a mark is within a token.
    ///
    /// What follows a closed word may be the same as what follows a mark: in `(a) b` and in `! b`, one space. The place
    /// between is then where a token ends because of the closed word. What leads to it by a character leads to a copy.
    pub(super) fn joined(&self) -> Self {
        let mut this = self.clone();
        for &node in &self.hubs {
            let moves = &self.moves[node];
            let Some((&atom, to)) = moves.first_key_value().filter(|_| moves.len() == 1) else { continue };
            let is_plain = self.marks[node] == Mark::Nothing && self.over[node].is_empty();
            if !is_plain || !self.is_space(atom) || !self.hubs.contains(to) {
                continue;
            }
            let copy = this.moves.len();
            let leads = |moves: &mut BTreeMap<usize, Node>| {
                moves.values_mut().filter(|to| **to == node).for_each(|to| *to = copy);
            };
            this.moves.iter_mut().for_each(leads);
            this.moves.push(moves.clone());
            this.over.push(BTreeMap::new());
            this.marks.push(Mark::Nothing);
        }
        this
    }

    /// Returns whether all characters of an atom are among some.
    pub(super) fn is_among(&self, atom: usize, letters: &str) -> bool {
        let ranges = self.atoms[atom].ranges();
        ranges.iter().all(|&(from, to)| u32::from(to) - u32::from(from) < 4 && (from..=to).all(|l| letters.contains(l)))
    }

    /// Returns whether all characters of an atom are white space, as Unicode has it, or separators of records.
    pub(super) fn is_space(&self, atom: usize) -> bool {
        let is_space = |letter: char| letter.is_whitespace() || ('\x1c'..='\x1f').contains(&letter);
        let ranges = self.atoms[atom].ranges();
        ranges.iter().all(|&(from, to)| u32::from(to) - u32::from(from) < 32 && (from..=to).all(is_space))
    }

    /// Returns whether an atom has what names consist of.
    pub(super) fn is_word(&self, atom: usize) -> bool {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || !letter.is_ascii();
        !self.is_space(atom) && self.atoms[atom].ranges().iter().all(|&(from, _)| is_word(from))
    }

    /// Returns the atom of a character.
    pub(super) fn atom_of(&self, letter: char) -> Option<usize> {
        self.atoms.iter().position(|atom| atom.contains(letter))
    }

    /// Returns the character that stands for an atom.
    pub(super) fn letter(&self, atom: usize) -> char {
        self.atoms[atom].representative(&BTreeSet::new())
    }
}

/// Returns what the symbols do that can be read in a place.
fn effects(automaton: &Automaton, symbols: &Symbols, place: Place) -> Effects {
    let mut effects = Effects::new();
    let mut add = |symbol: Sym, effect: At| _ = effects.insert(symbols.expand(&[symbol]), effect);
    for (&class, ways) in &automaton.closings {
        for &(module, state, closer) in ways {
            if (module, state) == place {
                add(closer, At::Close(class, closer));
            }
            if let Some(opener) = automaton.opener(module).filter(|_| automaton.over(place).contains_key(&class)) {
                add(opener, At::Open(module));
            }
        }
    }
    // A symbol that is plain in a place is plain there, whatever else it can be.
    for (&symbol, &target) in automaton.plain(place) {
        add(symbol, At::Place((place.0, target)));
    }
    effects
}

/// Splits a set such that letters, digits, white space, and what is not visible are not in one part with each other.
fn split(mut set: CharSet) -> Vec<CharSet> {
    const GROUPS: [(char, char); 9] = [
        ('0', '9'),
        ('A', 'Z'),
        ('a', 'z'),
        ('\t', '\t'),
        ('\n', '\n'),
        ('\r', '\r'),
        (' ', ' '),
        ('_', '_'),
        ('\u{80}', char::MAX),
    ];
    let mut parts = Vec::new();
    for group in GROUPS {
        let group: CharSet = [group].into_iter().collect();
        parts.push(set.intersection(&group));
        set = set.without(&group);
    }
    let hidden: CharSet = [('\0', '\x1f'), ('\x7f', '\x7f')].into_iter().collect();
    parts.extend([set.intersection(&hidden), set.without(&hidden)]);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LISTS, automaton, lists, lists_learned, texts};

    fn accepts(characters: &Characters, text: &str) -> bool {
        let mut open = Vec::new();
        let mut node = characters.starts[&Module::TOP];
        for letter in text.chars() {
            let to = characters.atom_of(letter).and_then(|atom| characters.moves[node].get(&atom));
            let Some(&to) = to else { return false };
            node = match characters.marks[to] {
                Mark::Open(module) => {
                    open.push((node, module));
                    characters.starts[&module]
                }
                Mark::Close(class, _) => {
                    let Some((outer, module)) = open.pop() else { return false };
                    let Some(&after) = characters.over[outer].get(&(module, class)) else { return false };
                    after
                }
                _ => to,
            };
        }
        open.is_empty() && characters.marks[node] == Mark::Accepts
    }

    #[test]
    fn the_automaton_over_atoms_judges_as_the_hypothesis() {
        let (hypothesis, _) = lists_learned();
        let characters = Characters::new(automaton(&hypothesis), &hypothesis.symbols);
        for text in texts(LISTS, 6) {
            assert_eq!(accepts(&characters, &text), lists(&text), "{text:?}");
        }
        assert!(!accepts(&characters, "y"));
    }

    #[test]
    fn a_space_after_a_mark_is_within_a_token() {
        let (hypothesis, _) = lists_learned();
        let mut characters = Characters::new(automaton(&hypothesis), &hypothesis.symbols);
        assert_eq!(characters.joined().moves, characters.moves);
        // A place between a mark or a closed word and a space, and the hub after the space.
        let (space, first, between, after) = (characters.atoms.len(), characters.moves.len(), 1, 2);
        characters.atoms.push([(' ', ' ')].into_iter().collect());
        let mark = characters.atom_of(',').unwrap();
        for (atom, to) in [(Some(mark), first + between), (Some(space), first + after), (None, 0)] {
            characters.moves.push(atom.map(|atom| (atom, to)).into_iter().collect());
            characters.over.push(BTreeMap::new());
            characters.marks.push(Mark::Nothing);
        }
        characters.hubs.extend([first, first + between, first + after]);
        let joined = characters.joined();
        let copy = joined.moves[first][&mark];
        assert_eq!(copy, characters.moves.len());
        assert_eq!(joined.moves[copy], characters.moves[first + between]);
        assert!(!joined.hubs.contains(&copy) && joined.hubs.contains(&(first + between)));
    }

    #[test]
    fn letters_digits_and_white_space_are_never_one_atom() {
        let all: CharSet = [('\0', char::MAX)].into_iter().collect();
        let parts = split(all);
        assert_eq!(parts.len(), 11);
        assert_eq!(parts.iter().map(CharSet::len).sum::<usize>(), 0x11_0000 - 0x800);
        let part = |letter: char| parts.iter().position(|part| part.contains(letter));
        assert!(part('a') == part('z') && part('a') != part('A') && part('1') != part('+') && part('\t') != part(' '));
    }
}
