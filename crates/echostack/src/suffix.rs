//! Suffixes of stacks and inputs, on which decisions depend: the topmost symbols of a stack, and the last tokens of an
//! input.
//!
//! Each of the two types represents a set: all stacks with these symbols on top, or all inputs that end with these
//! tokens. Symbols are in the order in which they were pushed or read, so the topmost symbol and the last token come
//! last.

use std::cmp::Ordering;
use std::fmt;

use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// The topmost symbols of a stack, with a flag that says whether they are the whole stack.
///
/// Suffixes that are not whole stacks come before those that are. Otherwise, suffixes are ordered by their symbols,
/// from the top of the stack down.
///
/// ```
/// use echostack::Alphabet;
/// use echostack::suffix::StackSuffix;
/// let alphabet = Alphabet::new(["a", "b"], ["S"])?;
/// let [a, s] = ["a", "S"].map(|name| alphabet.symbol(name).unwrap());
/// let suffix = StackSuffix::new(vec![a, s], false);
/// assert_eq!(suffix.display(&alphabet).to_string(), "... a S");
/// assert_eq!(suffix.longer(None).display(&alphabet).to_string(), "^ a S");
/// assert!(suffix.covers(&suffix.longer(Some(a))));
/// # Ok::<(), echostack::symbol::AlphabetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StackSuffix {
    symbols: Vec<SymbolId>,
    whole: bool,
}

impl StackSuffix {
    /// The suffix of every stack: no symbols are known.
    pub const ANY: Self = Self { symbols: Vec::new(), whole: false };

    /// The empty stack.
    pub const BOTTOM: Self = Self { symbols: Vec::new(), whole: true };

    /// Creates a suffix from its symbols, the topmost last. If `whole` is set, they are the whole stack.
    pub fn new(symbols: Vec<SymbolId>, whole: bool) -> Self {
        Self { symbols, whole }
    }

    /// Returns the symbols, the topmost last.
    pub fn symbols(&self) -> &[SymbolId] {
        &self.symbols
    }

    /// Returns the number of symbols.
    pub fn depth(&self) -> usize {
        self.symbols.len()
    }

    /// Returns whether the symbols are the whole stack.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Returns the topmost symbol, if one is known.
    pub fn top(&self) -> Option<SymbolId> {
        self.symbols.last().copied()
    }

    /// Returns the symbols from the top of the stack down.
    pub fn from_top(&self) -> impl ExactSizeIterator<Item = SymbolId> {
        self.symbols.iter().rev().copied()
    }

    /// Returns the suffix extended by the symbol `beneath` it, or by the bottom of the stack if that is `None`.
    #[must_use]
    pub fn longer(&self, beneath: Option<SymbolId>) -> Self {
        let symbols = beneath.into_iter().chain(self.symbols.iter().copied()).collect();
        Self { symbols, whole: beneath.is_none() }
    }

    /// Returns the topmost `depth` symbols, or all of them if there are no more than that.
    #[must_use]
    pub fn truncated(&self, depth: usize) -> Self {
        let beyond = self.symbols.len().saturating_sub(depth);
        Self { symbols: self.symbols[beyond..].to_vec(), whole: self.whole && beyond == 0 }
    }

    /// Returns the suffix after a push, of which the topmost `depth` symbols are kept.
    #[must_use]
    pub fn pushed(&self, symbol: SymbolId, depth: usize) -> Self {
        let mut pushed = self.truncated(depth.saturating_sub(1));
        pushed.symbols.push(symbol);
        pushed
    }

    /// Returns whether every stack that has the other suffix also has this one.
    pub fn covers(&self, other: &Self) -> bool {
        other.symbols.ends_with(&self.symbols)
            && (!self.whole || (other.whole && other.symbols.len() == self.symbols.len()))
    }

    /// Returns whether some stack has both suffixes.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.covers(other) || other.covers(self)
    }

    /// Returns whether a stack, given with its topmost symbol last, has this suffix.
    pub fn matches(&self, stack: &[SymbolId]) -> bool {
        stack.ends_with(&self.symbols) && (!self.whole || stack.len() == self.symbols.len())
    }

    /// Returns the longest suffix that all of these have in common, never marked as whole; [`ANY`](Self::ANY) if there
    /// are none.
    pub(crate) fn common<'a>(mut suffixes: impl Iterator<Item = &'a Self>) -> Self {
        let Some(first) = suffixes.next() else { return Self::ANY };
        let shared = |other: &Self| first.from_top().zip(other.from_top()).take_while(|(a, b)| a == b).count();
        let depth = suffixes.map(shared).min().unwrap_or(first.depth());
        Self { whole: false, ..first.truncated(depth) }
    }

    /// Displays the suffix by the names of its symbols, after `^` for the bottom of the stack or `...` for any symbols
    /// beneath.
    pub fn display<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        let beneath = if self.whole { "^" } else { "..." };
        Names { alphabet, before: Some(beneath), symbols: &self.symbols, after: None }
    }
}

impl Ord for StackSuffix {
    fn cmp(&self, other: &Self) -> Ordering {
        self.whole.cmp(&other.whole).then_with(|| self.from_top().cmp(other.from_top()))
    }
}

impl PartialOrd for StackSuffix {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The lookahead of an input and the last tokens before it, with a flag that says whether these are all tokens before
/// it.
///
/// ```
/// use echostack::suffix::InputSuffix;
/// use echostack::{Alphabet, Lookahead};
/// let alphabet = Alphabet::new(["a", "b"], ["S"])?;
/// let [a, b] = ["a", "b"].map(|name| alphabet.symbol(name).unwrap());
/// let suffix = InputSuffix::new(vec![a, b], Lookahead::End, true);
/// assert_eq!(suffix.display(&alphabet).to_string(), "^ a b #");
/// # Ok::<(), echostack::symbol::AlphabetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InputSuffix {
    before: Vec<SymbolId>,
    next: Lookahead,
    whole: bool,
}

impl InputSuffix {
    /// Creates a suffix from the tokens before the lookahead, the last token last, and the lookahead. If `whole` is
    /// set, the input begins with these tokens.
    pub fn new(before: Vec<SymbolId>, next: Lookahead, whole: bool) -> Self {
        Self { before, next, whole }
    }

    /// Returns the suffix of every input that has this lookahead.
    pub fn of(next: Lookahead) -> Self {
        Self { before: Vec::new(), next, whole: false }
    }

    /// Returns the lookahead.
    pub fn next(&self) -> Lookahead {
        self.next
    }

    /// Returns the tokens before the lookahead, the last token last.
    pub fn before(&self) -> &[SymbolId] {
        &self.before
    }

    /// Returns whether the input begins with these tokens, that is, whether they are all tokens before the lookahead.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Returns the suffix extended at its front by a token, or by the beginning of the input if that is `None`.
    #[must_use]
    pub fn longer(&self, token: Option<SymbolId>) -> Self {
        let before = token.into_iter().chain(self.before.iter().copied()).collect();
        Self { before, next: self.next, whole: token.is_none() }
    }

    /// Displays the suffix by the names of its tokens, with `^` for the beginning of the input and `#` for its end.
    pub fn display<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        Names { alphabet, before: self.whole.then_some("^"), symbols: &self.before, after: Some(self.next) }
    }
}

/// The names of symbols, displayed with spaces in between.
struct Names<'a> {
    alphabet: &'a Alphabet,
    before: Option<&'static str>,
    symbols: &'a [SymbolId],
    after: Option<Lookahead>,
}

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.before.map(str::to_string);
        let symbols = self.symbols.iter().map(|&symbol| self.alphabet.plain_name(symbol));
        let after =
            self.after.map(|next| next.token().map_or("#".to_string(), |token| self.alphabet.plain_name(token)));
        f.pad(&before.into_iter().chain(symbols).chain(after).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suffix(symbols: &[usize], whole: bool) -> StackSuffix {
        StackSuffix::new(symbols.iter().map(|&symbol| SymbolId::new(symbol)).collect(), whole)
    }

    #[test]
    fn a_suffix_covers_what_has_it_on_top() {
        let short = suffix(&[1, 2], false);
        assert!(short.covers(&suffix(&[0, 1, 2], false)) && short.covers(&suffix(&[1, 2], true)));
        assert!(!short.covers(&suffix(&[2], false)) && short.overlaps(&suffix(&[2], false)));
        let whole = suffix(&[1, 2], true);
        assert!(whole.covers(&whole) && !whole.covers(&short) && whole.overlaps(&short));
        assert!(!whole.overlaps(&suffix(&[0, 1, 2], false)) && !whole.overlaps(&suffix(&[2], true)));
        let symbols = [0, 1, 2].map(SymbolId::new);
        assert!(short.matches(&symbols) && !whole.matches(&symbols) && whole.matches(&symbols[1..]));
    }

    #[test]
    fn suffixes_are_compared_from_the_top_down() {
        let mut all = [suffix(&[0], true), suffix(&[0, 2], false), suffix(&[2, 0], false), suffix(&[0], false)];
        all.sort();
        assert_eq!(all, [suffix(&[0], false), suffix(&[2, 0], false), suffix(&[0, 2], false), suffix(&[0], true)]);
    }

    #[test]
    fn a_push_keeps_the_top() {
        let symbol = SymbolId::new(3);
        assert_eq!(StackSuffix::BOTTOM.pushed(symbol, 2), suffix(&[3], true));
        assert_eq!(suffix(&[1, 2], true).pushed(symbol, 2), suffix(&[2, 3], false));
        assert_eq!(suffix(&[1, 2], true).pushed(symbol, 3), suffix(&[1, 2, 3], true));
        let strings = [suffix(&[0, 1, 2], false), suffix(&[1, 1, 2], false)];
        assert_eq!(StackSuffix::common(strings.iter()), suffix(&[1, 2], false));
        assert_eq!(StackSuffix::common([suffix(&[1], true)].iter()), suffix(&[1], false));
    }
}
