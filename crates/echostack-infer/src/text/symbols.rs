//! Symbols: classes of characters or given tokens, and literals of several of these, such as `</`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use echostack_grammar::Lexer;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::charset::CharSet;

/// The most different texts of a given token that are kept.
const MAX_TEXTS: usize = 8;

/// A symbol: a class of characters that can stand for each other, a given token, or a literal of several of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sym(u32);

impl Sym {
    /// The bottom of a stack, which is no symbol of a text.
    pub(crate) const BOTTOM: Self = Self(u32::MAX);

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
    Token(Sym),
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
        self == next && matches!(self, Self::Letter | Self::Digit)
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
    Class {
        representative: char,
        members: CharSet,
    },
    /// A given token, with texts of the examples. The first and shortest one represents the others.
    Token {
        name: String,
        texts: Vec<String>,
    },
    Literal {
        parts: Word,
        text: String,
    },
}

/// The lexer that was given, and the tokens that it finds in the examples.
#[derive(Clone, Debug)]
struct Given {
    lexer: Arc<Lexer>,
    tokens: HashMap<String, Sym>,
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
    given: Option<Given>,
    /// What is written between symbols: a space, if the lexer that was given skips it.
    separator: &'static str,
}

impl Symbols {
    /// Returns the tokens of a lexer that occur in some texts.
    pub(crate) fn of_lexer(lexer: Arc<Lexer>, texts: &[String]) -> Self {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for text in texts {
            for token in lexer.tokens(text).0 {
                found.entry(token.name).or_default().push(&text[token.start..token.end]);
            }
        }
        let mut this = Self { separator: if skips_spaces(&lexer) { " " } else { "" }, ..Self::default() };
        let mut tokens = HashMap::new();
        for (name, mut texts) in found {
            texts.sort_unstable_by_key(|text| (text.len(), *text));
            texts.dedup();
            let texts = texts.into_iter().take(MAX_TEXTS).map(String::from).collect();
            tokens.insert(name.to_string(), this.add(Kind::Token { name: name.to_string(), texts }));
        }
        this.given = Some(Given { lexer, tokens });
        this
    }

    /// Returns a text with what is written between symbols, and nothing else, between its tokens.
    pub(crate) fn respaced(&self, text: &str) -> String {
        let Some(lexer) = self.lexer() else { return text.to_string() };
        self.join(lexer.tokens(text).0.iter().map(|token| &text[token.start..token.end]))
    }

    /// Returns the lexer, if it was given.
    pub(crate) fn lexer(&self) -> Option<&Lexer> {
        self.given.as_ref().map(|given| &*given.lexer)
    }

    /// Returns the given tokens, in the order of their names, each with its name and a shortest text.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = (Sym, &str, &str)> {
        self.kinds.iter().enumerate().filter_map(|(at, kind)| match kind {
            Kind::Token { name, texts } => Some((Sym(at as u32), name.as_str(), texts[0].as_str())),
            _ => None,
        })
    }

    /// Returns the names of the given tokens that a symbol consists of.
    pub(crate) fn names(&self, symbol: Sym) -> Vec<&str> {
        match &self.kinds[symbol.at()] {
            Kind::Class { .. } => Vec::new(),
            Kind::Token { name, .. } => vec![name],
            Kind::Literal { parts, .. } => parts.iter().flat_map(|&part| self.names(part)).collect(),
        }
    }

    /// Joins the texts of symbols.
    pub(crate) fn join<T: AsRef<str>>(&self, texts: impl IntoIterator<Item = T>) -> String {
        let mut out = String::new();
        for text in texts {
            if !out.is_empty() {
                out.push_str(self.separator);
            }
            out.push_str(text.as_ref());
        }
        out
    }

    /// Draws a text of a word: any members of its classes, any texts of its tokens.
    pub(crate) fn draw(&self, word: &[Sym], random: &mut ChaCha8Rng) -> String {
        self.join(word.iter().map(|&symbol| match &self.kinds[symbol.at()] {
            Kind::Class { members, .. } => members.draw(random).map_or(String::new(), String::from),
            Kind::Token { texts, .. } => texts.choose(random).cloned().unwrap_or_default(),
            Kind::Literal { text, .. } => text.clone(),
        }))
    }

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

    /// Takes characters out of all classes. A class without members stays, with its representative.
    pub(crate) fn leave_out(&mut self, characters: &CharSet, seen: &BTreeSet<char>) {
        for kind in &mut self.kinds {
            if let Kind::Class { representative: letter, members } = kind {
                *members = members.without(characters);
                if !members.contains(*letter) && !members.is_empty() {
                    *letter = members.representative(seen);
                }
            }
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

    /// Returns whether texts can be read as words with a symbol: its class has members, or its literal is read.
    pub(crate) fn is_in_use(&self, symbol: Sym) -> bool {
        match &self.kinds[symbol.at()] {
            Kind::Class { members, .. } => !members.is_empty(),
            Kind::Token { .. } => true,
            Kind::Literal { .. } => self.active.contains(&symbol),
        }
    }

    /// Returns the symbols that words consist of: all classes with members, or tokens, then the literals that are read.
    pub(crate) fn in_use(&self) -> Vec<Sym> {
        let is_literal = |symbol: &Sym| matches!(self.kinds[symbol.at()], Kind::Literal { .. });
        let all = (0..self.kinds.len() as u32).map(Sym);
        let classes = all.filter(|symbol| !is_literal(symbol) && self.is_in_use(*symbol));
        let mut literals = self.active.clone();
        literals.sort_unstable();
        classes.chain(literals).collect()
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
            Kind::Token { texts, .. } => texts[0].clone(),
            Kind::Literal { text, .. } => text.clone(),
        }
    }

    /// Returns how a symbol looks.
    pub(crate) fn look(&self, symbol: Sym) -> Look {
        match &self.kinds[symbol.at()] {
            Kind::Class { representative, .. } => Look::of(*representative),
            Kind::Token { .. } => Look::Token(symbol),
            Kind::Literal { text, .. } => Look::of(text.chars().next().unwrap_or_default()),
        }
    }

    /// Returns the text of a word, with the representatives of its classes.
    pub(crate) fn render(&self, word: &[Sym]) -> String {
        let mut out = String::with_capacity(word.len());
        for (at, &symbol) in word.iter().enumerate() {
            if at > 0 {
                out.push_str(self.separator);
            }
            match &self.kinds[symbol.at()] {
                Kind::Class { representative, .. } => out.push(*representative),
                Kind::Token { texts, .. } => out.push_str(&texts[0]),
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
                Kind::Class { .. } | Kind::Token { .. } => out.push(symbol),
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

    /// Returns whether a base word ends with the beginning of a literal.
    pub(crate) fn ends_within_literal(&self, base: &[Sym]) -> bool {
        self.active.iter().any(|&symbol| match &self.kinds[symbol.at()] {
            Kind::Literal { parts, .. } => (1..parts.len()).any(|length| base.ends_with(&parts[..length])),
            _ => false,
        })
    }

    /// Returns the word that the word's own text is read as.
    pub(crate) fn relex(&self, word: &[Sym]) -> Word {
        if self.given.is_some() && self.separator.is_empty() {
            return self.lex(&self.base(&self.render(word)).unwrap_or_default());
        }
        if self.active.is_empty() { word.to_vec() } else { self.lex(&self.expand(word)) }
    }

    /// Returns the base word of a text, if every character has a class, or every token occurs in an example.
    pub(crate) fn base(&self, text: &str) -> Option<Word> {
        let Some(Given { lexer, tokens }) = &self.given else {
            return text.chars().map(|letter| self.class_of(letter)).collect();
        };
        let (found, fault) = lexer.tokens(text);
        let word = found.iter().map(|token| tokens.get(token.name).copied()).collect();
        if fault.is_none() { word } else { None }
    }
}

fn skips_spaces(lexer: &Lexer) -> bool {
    let (tokens, fault) = lexer.tokens(" ");
    tokens.is_empty() && fault.is_none()
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
