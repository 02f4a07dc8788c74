//! Symbols: the alphabet of a machine, its tokens and its words.
//!
//! Terminals and nonterminals share one input space (the paper's n + K channels): symbol number `i` is encoded as one
//! on channel `i` and zero elsewhere. A real-valued input, as in the copy tasks, sets the values on the channels of the
//! terminals directly. The end of a word is not a symbol; a [`Lookahead`] is either a token or the end.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The number of a symbol in its [`Alphabet`]: terminals first, then nonterminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(u32);

impl SymbolId {
    /// A symbol that belongs to no alphabet, used for unknown tokens. It is refused at any position.
    pub const UNKNOWN: Self = Self(u32::MAX);

    /// Returns the symbol with this index.
    ///
    /// # Panics
    /// If the index does not fit in 32 bits; no [`Alphabet`] is that large.
    #[inline]
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("a symbol's index fits in 32 bits"))
    }

    /// Returns the position of the symbol in its alphabet, which is also its input channel.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The next thing a machine sees: a token of the word, or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lookahead {
    /// The next token.
    Token(SymbolId),
    /// The end of the word (the paper's `#`, encoded as the zero vector).
    End,
}

impl Lookahead {
    /// Returns the token, or `None` at the end of the word.
    pub fn token(self) -> Option<SymbolId> {
        match self {
            Self::Token(token) => Some(token),
            Self::End => None,
        }
    }
}

/// One input: a symbol, or a real-valued vector over the terminals' channels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input<'a> {
    /// A terminal symbol, encoded one-hot.
    Symbol(SymbolId),
    /// One value per terminal channel.
    Vector(&'a [f64]),
}

impl Input<'_> {
    /// Returns whether this is a terminal of the alphabet, or a vector with one finite value per terminal.
    pub fn fits(self, alphabet: &Alphabet) -> bool {
        match self {
            Self::Symbol(symbol) => alphabet.is_terminal(symbol),
            Self::Vector(values) => {
                let fits = values.len() == alphabet.terminals().len() && !values.is_empty();
                fits && values.iter().all(|value| value.is_finite())
            }
        }
    }
}

/// The maximum number of symbols in an alphabet.
pub const MAX_SYMBOLS: usize = 1 << 16;

/// The reason an alphabet was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AlphabetError {
    /// A name occurs twice, in the same list or once in each.
    #[error("the symbol {0:?} is named twice; give every terminal and nonterminal its own name")]
    Twice(String),
    /// A name is empty.
    #[error("symbol number {0} has an empty name; give it one")]
    Empty(usize),
    /// There are more than [`MAX_SYMBOLS`] symbols.
    #[error("{0} symbols were given; an alphabet has at most {MAX_SYMBOLS}")]
    TooMany(usize),
    /// A file lists a parser state that is not a nonterminal.
    #[error("the parser state {0:?} is not among the nonterminals")]
    State(String),
}

/// The named symbols of a machine: terminals, which are read, and nonterminals, which reductions push.
///
/// Nonterminals are nodes of parse trees, except for those that represent [parser states](Alphabet::with_states). Two
/// alphabets with the same symbols are equal, even if they differ in which nonterminals are parser states.
///
/// ```
/// use echostack::Alphabet;
/// let alphabet = Alphabet::new(["(", ")"], ["S"])?;
/// let open = alphabet.symbol("(").unwrap();
/// assert_eq!(alphabet.name(open), "(");
/// assert!(alphabet.is_terminal(open));
/// assert_eq!(alphabet.len(), 3);
/// # Ok::<(), echostack::symbol::AlphabetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Alphabet {
    names: Vec<Arc<str>>,
    terminals: usize,
    ids: HashMap<Arc<str>, SymbolId>,
    states: BTreeSet<SymbolId>,
}

impl PartialEq for Alphabet {
    fn eq(&self, other: &Self) -> bool {
        (self.terminals, &self.names) == (other.terminals, &other.names)
    }
}

impl Eq for Alphabet {}

/// The first character of a parser state's name, by convention. The convention only applies if a file does not say
/// which nonterminals are states.
const STATE_PREFIX: char = '#';

impl Alphabet {
    /// Creates an alphabet from terminals and nonterminals, in this order.
    ///
    /// # Errors
    /// If a name is empty or occurs twice, or if there are more than [`MAX_SYMBOLS`] names.
    pub fn new<S: Into<String>>(
        terminals: impl IntoIterator<Item = S>,
        nonterminals: impl IntoIterator<Item = S>,
    ) -> Result<Self, AlphabetError> {
        let mut names: Vec<Arc<str>> = terminals.into_iter().map(|s| s.into().into()).collect();
        let terminals = names.len();
        names.extend(nonterminals.into_iter().map(|s| Arc::from(s.into())));
        if names.len() > MAX_SYMBOLS {
            return Err(AlphabetError::TooMany(names.len()));
        }
        let mut ids = HashMap::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(AlphabetError::Empty(index));
            }
            if ids.insert(name.clone(), SymbolId::new(index)).is_some() {
                return Err(AlphabetError::Twice(name.to_string()));
            }
        }
        Ok(Self { names, terminals, ids, states: BTreeSet::new() })
    }

    /// Marks the nonterminals that are parser states and returns the alphabet. A parser state replaces the symbol on
    /// top of the stack and is not a node of a parse tree.
    #[must_use]
    pub fn with_states(mut self, is_state: impl Fn(SymbolId) -> bool) -> Self {
        self.states = self.nonterminals().filter(|&symbol| is_state(symbol)).collect();
        self
    }

    /// Creates the alphabet described in a file. If `states` is `None`, the nonterminals whose names begin with `#` are
    /// parser states.
    pub(crate) fn from_file(
        terminals: Vec<String>,
        nonterminals: Vec<String>,
        states: Option<Vec<String>>,
    ) -> Result<Self, AlphabetError> {
        let mut this = Self::new(terminals, nonterminals)?;
        this.states = match states {
            None => this.conventional_states(),
            Some(names) => names.into_iter().map(|name| this.state(name)).collect::<Result<_, _>>()?,
        };
        Ok(this)
    }

    fn state(&self, name: String) -> Result<SymbolId, AlphabetError> {
        let symbol = self.symbol(&name).filter(|&symbol| self.is_nonterminal(symbol));
        symbol.ok_or(AlphabetError::State(name))
    }

    fn conventional_states(&self) -> BTreeSet<SymbolId> {
        self.nonterminals().filter(|&symbol| self.name(symbol).starts_with(STATE_PREFIX)).collect()
    }

    /// Returns the names of the parser states, to be written to a file, or `None` if they are exactly the nonterminals
    /// whose names begin with `#`.
    pub(crate) fn unconventional_states(&self) -> Option<Vec<String>> {
        let names = || self.states.iter().map(|&symbol| self.name(symbol).to_string()).collect();
        (self.states != self.conventional_states()).then(names)
    }

    /// Returns the number of symbols, terminals and nonterminals together.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there are no symbols at all.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the terminals, in order.
    pub fn terminals(&self) -> impl ExactSizeIterator<Item = SymbolId> + use<> {
        (0..self.terminals).map(SymbolId::new)
    }

    /// Returns the nonterminals, in order.
    pub fn nonterminals(&self) -> impl ExactSizeIterator<Item = SymbolId> + use<> {
        (self.terminals..self.len()).map(SymbolId::new)
    }

    /// Returns the symbol with this name, or `None` if there is none.
    pub fn symbol(&self, name: &str) -> Option<SymbolId> {
        self.ids.get(name).copied()
    }

    /// Returns the name of a symbol of this alphabet.
    ///
    /// # Panics
    /// If the symbol's index is too large for this alphabet; check with [`Alphabet::contains`] first.
    pub fn name(&self, symbol: SymbolId) -> &str {
        &self.names[symbol.index()]
    }

    /// Returns whether the symbol is in this alphabet.
    pub fn contains(&self, symbol: SymbolId) -> bool {
        symbol.index() < self.len()
    }

    /// Returns whether the symbol is a terminal of this alphabet.
    pub fn is_terminal(&self, symbol: SymbolId) -> bool {
        symbol.index() < self.terminals
    }

    /// Returns whether the symbol is a nonterminal of this alphabet.
    pub fn is_nonterminal(&self, symbol: SymbolId) -> bool {
        self.contains(symbol) && !self.is_terminal(symbol)
    }

    /// Returns whether the symbol is a nonterminal that represents a parser state rather than a node of a parse tree.
    pub fn is_state(&self, symbol: SymbolId) -> bool {
        self.states.contains(&symbol)
    }

    /// Returns every lookahead: the terminals in order, then the end.
    pub fn lookaheads(&self) -> impl Iterator<Item = Lookahead> + use<> {
        self.terminals().map(Lookahead::Token).chain([Lookahead::End])
    }

    /// Returns the name of a symbol on one line, with control characters escaped as in a Rust string.
    ///
    /// # Panics
    /// If the symbol's index is too large for this alphabet.
    pub fn plain_name(&self, symbol: SymbolId) -> String {
        let plain =
            |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.into() };
        self.name(symbol).chars().map(plain).collect()
    }

    /// Returns lookaheads as `A, B or C`, each name as `show` shows it; `None` if there are none.
    ///
    /// # Panics
    /// If a symbol's index is too large for this alphabet.
    pub fn alternatives(&self, lookaheads: &[Lookahead], show: impl Fn(&str) -> String) -> Option<String> {
        let one = |next: &Lookahead| next.token().map_or("the end".to_string(), |token| show(self.name(token)));
        let names: Vec<String> = lookaheads.iter().map(one).collect();
        match names.split_last()? {
            (one, []) => Some(one.clone()),
            (last, others) => Some(format!("{} or {last}", others.join(", "))),
        }
    }

    /// Returns the word whose tokens have these names.
    ///
    /// # Errors
    /// The first name that is not a terminal.
    pub fn word<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Word, UnknownToken> {
        let symbols = names.into_iter().enumerate().map(|(position, name)| {
            self.symbol(name)
                .filter(|&symbol| self.is_terminal(symbol))
                .ok_or_else(|| UnknownToken { position, name: name.to_string() })
        });
        Ok(Word::Symbols(symbols.collect::<Result<_, _>>()?))
    }
}

/// A token that is not a terminal of the alphabet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("token {position} is {name:?}, which is not a terminal of this alphabet")]
pub struct UnknownToken {
    /// The position of the token in the word, counted from 0.
    pub position: usize,
    /// The token as given.
    pub name: String,
}

/// A word: a sequence of symbols, or of real-valued vectors.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// Terminal symbols.
    Symbols(Vec<SymbolId>),
    /// Vectors of the same width, stored one after the other. If the last one is too short, it counts as an input, too,
    /// but is refused.
    Vectors {
        /// The number of values per vector.
        width: usize,
        /// The values of all vectors.
        values: Vec<f64>,
    },
}

impl Word {
    /// Returns the number of inputs.
    pub fn len(&self) -> usize {
        match self {
            Self::Symbols(symbols) => symbols.len(),
            Self::Vectors { width, values } => values.len().div_ceil((*width).max(1)),
        }
    }

    /// Returns whether the word is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = Input<'_>> {
        (0..self.len()).filter_map(|position| self.get(position))
    }

    /// Returns the input at a position, or `None` past the end of the word.
    pub fn get(&self, position: usize) -> Option<Input<'_>> {
        match self {
            Self::Symbols(symbols) => symbols.get(position).copied().map(Input::Symbol),
            Self::Vectors { width, values } => values.chunks((*width).max(1)).nth(position).map(Input::Vector),
        }
    }
}

impl From<Vec<SymbolId>> for Word {
    fn from(symbols: Vec<SymbolId>) -> Self {
        Self::Symbols(symbols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        assert_eq!(Alphabet::new(["a", "a"], []).unwrap_err(), AlphabetError::Twice("a".into()));
        assert_eq!(Alphabet::new(["a"], ["a"]).unwrap_err(), AlphabetError::Twice("a".into()));
        assert_eq!(Alphabet::new(["a", ""], []).unwrap_err(), AlphabetError::Empty(1));
        let many = (0..=MAX_SYMBOLS).map(|i| i.to_string());
        assert_eq!(Alphabet::new(many, []).unwrap_err(), AlphabetError::TooMany(MAX_SYMBOLS + 1));
    }

    #[test]
    fn only_what_differs_from_the_convention_is_written() {
        let names = || (vec!["a".to_string(), "#".to_string()], vec!["S".to_string(), "#1".to_string()]);
        let read = |states| Alphabet::from_file(names().0, names().1, states);
        let conventional = read(None).unwrap();
        let [s, state] = ["S", "#1"].map(|name| conventional.symbol(name).unwrap());
        assert!(conventional.is_state(state) && !conventional.is_state(s));
        assert_eq!(conventional.unconventional_states(), None);
        let plain = Alphabet::new(names().0, names().1).unwrap();
        for is_state in [|_| false, |_| true, |symbol: SymbolId| symbol.index() == 2] {
            let alphabet = plain.clone().with_states(is_state);
            let written = alphabet.unconventional_states();
            assert!(written.is_some() && !alphabet.is_state(SymbolId::new(1)));
            assert_eq!(read(written).unwrap().states, alphabet.states);
        }
        assert_eq!(read(Some(vec!["#".into()])).unwrap_err(), AlphabetError::State("#".into()));
    }

    #[test]
    fn a_word_is_made_of_terminals() {
        let alphabet = Alphabet::new(["a", "b"], ["S"]).unwrap();
        assert_eq!(alphabet.word(["a", "b"]).unwrap().len(), 2);
        for bad in ["S", "c"] {
            let error = alphabet.word(["a", bad]).unwrap_err();
            assert_eq!(error, UnknownToken { position: 1, name: bad.into() });
        }
    }

    #[test]
    fn vectors_are_read_one_by_one() {
        let word = Word::Vectors { width: 2, values: vec![1., 2., 3., 4.] };
        let inputs: Vec<_> = word.inputs().collect();
        assert_eq!(inputs, [Input::Vector(&[1., 2.]), Input::Vector(&[3., 4.])]);
        assert!(Word::Vectors { width: 0, values: vec![] }.is_empty());
        let ragged = Word::Vectors { width: 2, values: vec![1., 2., 3.] };
        assert_eq!(ragged.inputs().nth(1), Some(Input::Vector(&[3.])));
    }
}
