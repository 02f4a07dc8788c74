//! Symbols: classes of characters, and literals such as `</`.

use std::collections::HashMap;
use std::fmt;

use crate::charset::CharSet;

/// A symbol: a class of characters that can stand for each other, or a literal of several characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sym(u32);

impl Sym {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// A word of symbols. A *base word* has no literals.
pub(crate) type Word = Vec<Sym>;

/// What a character is to the eye: runs of letters and of digits belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Look {
    Letter,
    Digit,
    Other(char),
}

impl Look {
    pub(crate) fn of(letter: char) -> Self {
        match letter {
            letter if letter.is_alphabetic() => Self::Letter,
            letter if letter.is_numeric() => Self::Digit,
            letter => Self::Other(letter),
        }
    }

    /// Returns whether two neighbours belong to the same run.
    pub(crate) fn joins(self, next: Self) -> bool {
        self == next && !matches!(self, Self::Other(_))
    }
}

/// Returns the boundaries of runs of letters and of digits. Every other character stands alone.
pub(crate) fn boundaries(looks: impl IntoIterator<Item = Look>) -> Vec<usize> {
    let mut cuts = vec![0];
    let mut last: Option<Look> = None;
    let mut length = 0;
    for (at, look) in looks.into_iter().enumerate() {
        if last.is_some_and(|last| !last.joins(look)) {
            cuts.push(at);
        }
        last = Some(look);
        length = at + 1;
    }
    if length > 0 {
        cuts.push(length);
    }
    cuts
}

#[derive(Clone, Debug)]
enum Kind {
    Class { representative: char, members: CharSet },
    Literal { parts: Word, text: String },
}

/// All symbols of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    kinds: Vec<Kind>,
    /// The class of each range of characters, in ascending order.
    classes: Vec<(char, char, Sym)>,
    literals: HashMap<Word, Sym>,
    /// The literals that are read, the longest first.
    active: Vec<Sym>,
}

impl Symbols {
    fn add(&mut self, kind: Kind) -> Sym {
        self.kinds.push(kind);
        Sym(self.kinds.len() as u32 - 1)
    }

    /// Adds a class.
    pub(crate) fn add_class(&mut self, representative: char, members: CharSet) -> Sym {
        let symbol = self.add(Kind::Class { representative, members });
        self.index();
        symbol
    }

    /// Takes characters out of a class.
    pub(crate) fn shrink(&mut self, symbol: Sym, left: CharSet) {
        if let Kind::Class { members, .. } = &mut self.kinds[symbol.at()] {
            *members = left;
        }
        self.index();
    }

    fn index(&mut self) {
        self.classes.clear();
        for (number, kind) in self.kinds.iter().enumerate() {
            if let Kind::Class { members, .. } = kind {
                let symbol = Sym(number as u32);
                self.classes.extend(members.ranges().iter().map(|&(from, to)| (from, to, symbol)));
            }
        }
        self.classes.sort_unstable();
    }

    /// Sets the literals that are read.
    pub(crate) fn read_literals<'w>(&mut self, literals: impl Iterator<Item = &'w Word>) {
        self.active.clear();
        for parts in literals.filter(|parts| parts.len() > 1) {
            let symbol = if let Some(&symbol) = self.literals.get(parts) {
                symbol
            } else {
                let text = self.render(parts);
                let symbol = self.add(Kind::Literal { parts: parts.clone(), text });
                self.literals.insert(parts.clone(), symbol);
                symbol
            };
            self.active.push(symbol);
        }
        let length = |kind: &Kind| if let Kind::Literal { parts, .. } = kind { parts.len() } else { 1 };
        self.active.sort_by_key(|&symbol| (std::cmp::Reverse(length(&self.kinds[symbol.at()])), symbol));
    }

    /// Returns the symbol that a tag is: a literal, or a class.
    pub(crate) fn of_tag(&self, parts: &Word) -> Option<Sym> {
        if let [symbol] = parts[..] { Some(symbol) } else { self.literals.get(parts).copied() }
    }

    /// Returns the symbols that words consist of: all classes, then the literals that are read.
    pub(crate) fn in_use(&self) -> Vec<Sym> {
        let classes = (0..self.kinds.len()).filter(|&at| matches!(self.kinds[at], Kind::Class { .. }));
        let mut literals = self.active.clone();
        literals.sort_unstable();
        classes.map(|at| Sym(at as u32)).chain(literals).collect()
    }

    /// Returns the class of a character.
    pub(crate) fn class_of(&self, letter: char) -> Option<Sym> {
        let at = self.classes.partition_point(|&(_, to, _)| to < letter);
        self.classes.get(at).filter(|&&(from, ..)| from <= letter).map(|&(.., symbol)| symbol)
    }

    /// Returns the members of a class, or nothing for a literal.
    pub(crate) fn members(&self, symbol: Sym) -> Option<&CharSet> {
        if let Kind::Class { members, .. } = &self.kinds[symbol.at()] { Some(members) } else { None }
    }

    /// Returns the text of a symbol, with the representative of a class.
    pub(crate) fn text(&self, symbol: Sym) -> String {
        match &self.kinds[symbol.at()] {
            Kind::Class { representative, .. } => representative.to_string(),
            Kind::Literal { text, .. } => text.clone(),
        }
    }

    /// Returns how a class looks.
    pub(crate) fn look(&self, symbol: Sym) -> Look {
        match &self.kinds[symbol.at()] {
            Kind::Class { representative, .. } => Look::of(*representative),
            Kind::Literal { text, .. } => Look::of(text.chars().next().unwrap_or_default()),
        }
    }

    /// Returns the text of a word, with the representatives of its classes.
    pub(crate) fn render(&self, word: &[Sym]) -> String {
        let mut out = String::with_capacity(word.len());
        for &symbol in word {
            match &self.kinds[symbol.at()] {
                Kind::Class { representative, .. } => out.push(*representative),
                Kind::Literal { text, .. } => out.push_str(text),
            }
        }
        out
    }

    /// Returns the base word of a word.
    pub(crate) fn expand(&self, word: &[Sym]) -> Word {
        let mut out = Vec::with_capacity(word.len());
        for &symbol in word {
            match &self.kinds[symbol.at()] {
                Kind::Class { .. } => out.push(symbol),
                Kind::Literal { parts, .. } => out.extend_from_slice(parts),
            }
        }
        out
    }

    /// Returns the word that a base word is read as: the longest literal counts.
    pub(crate) fn lex(&self, base: &[Sym]) -> Word {
        if self.active.is_empty() {
            return base.to_vec();
        }
        let mut out = Vec::with_capacity(base.len());
        let mut at = 0;
        while at < base.len() {
            let literal = self.active.iter().find_map(|&symbol| match &self.kinds[symbol.at()] {
                Kind::Literal { parts, .. } if base[at..].starts_with(parts) => Some((symbol, parts.len())),
                _ => None,
            });
            let (symbol, length) = literal.unwrap_or((base[at], 1));
            out.push(symbol);
            at += length;
        }
        out
    }

    /// Returns the word that the word's own text is read as.
    pub(crate) fn relex(&self, word: &[Sym]) -> Word {
        if self.active.is_empty() { word.to_vec() } else { self.lex(&self.expand(word)) }
    }

    /// Returns the base word of a text, if every character has a class.
    pub(crate) fn base(&self, text: &str) -> Option<Word> {
        text.chars().map(|letter| self.class_of(letter)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read_by_longest_match() {
        let mut symbols = Symbols::default();
        let open = symbols.add_class('<', CharSet::of('<'));
        let slash = symbols.add_class('/', CharSet::of('/'));
        let letter = symbols.add_class('a', [('a', 'z')].into_iter().collect());
        let close = vec![open, slash];
        symbols.read_literals([&close, &vec![slash]].into_iter());
        let literal = symbols.of_tag(&close).unwrap();
        let word = symbols.lex(&symbols.base("<x</y").unwrap());
        assert_eq!(word, [open, letter, literal, letter]);
        assert_eq!(symbols.render(&word), "<a</a");
        assert_eq!(symbols.expand(&word), symbols.base("<a</a").unwrap());
        assert_eq!(symbols.relex(&[open, slash]), [literal]);
        assert_eq!(symbols.base("A"), None);
        assert_eq!(symbols.in_use(), [open, slash, letter, literal]);
    }

    #[test]
    fn runs_of_letters_and_digits_stay_together() {
        assert_eq!(boundaries("ab1 (c".chars().map(Look::of)), [0, 2, 3, 4, 5, 6]);
        assert_eq!(boundaries("".chars().map(Look::of)), [0]);
    }
}
