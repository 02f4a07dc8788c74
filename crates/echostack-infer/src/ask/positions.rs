//! Positions: where the oracle says that a text fails, nothing that begins like this text is valid.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use echostack_grammar::Lexer;

/// Beginnings of texts after which nothing is valid, as a tree of characters.
#[derive(Debug)]
pub(crate) struct Positions {
    /// The children of each node. A node without children is the end of a dead beginning; the first node is the root.
    nodes: Vec<HashMap<char, usize>>,
    valid: BTreeSet<Box<str>>,
}

/// A valid text begins like one that was said to fail there: the positions are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contradiction;

impl Positions {
    pub(crate) fn new() -> Self {
        Self { nodes: vec![HashMap::new()], valid: BTreeSet::new() }
    }

    /// Returns whether nothing that begins like this text can be valid.
    pub(crate) fn is_dead(&self, text: &str) -> bool {
        let mut node = 0;
        for letter in text.chars() {
            match self.nodes[node].get(&letter) {
                Some(&next) if self.nodes[next].is_empty() => return true,
                Some(&next) => node = next,
                None => return false,
            }
        }
        false
    }

    /// Notes that a text is valid.
    pub(crate) fn note_valid(&mut self, text: &str) -> Result<(), Contradiction> {
        self.valid.insert(text.into());
        if self.is_dead(text) { Err(Contradiction) } else { Ok(()) }
    }

    /// Notes that a text fails at a character, by its number. With a lexer, the token at this place is what fails.
    pub(crate) fn note_failure(&mut self, text: &str, at: usize, lexer: Option<&Lexer>) -> Result<(), Contradiction> {
        let Some((start, letter)) = text.char_indices().nth(at) else { return Ok(()) };
        let mut end = start + letter.len_utf8();
        if let Some(lexer) = lexer {
            // A token ends where something else begins, so the character after it belongs to the beginning, too.
            let tokens = lexer.tokens(text).0;
            let Some(token) = tokens.iter().find(|token| token.end > start) else { return Ok(()) };
            let Some(after) = text[token.end..].chars().next() else { return Ok(()) };
            end = token.end + after.len_utf8();
        }
        let dead = &text[..end];
        if self.is_dead(dead) {
            return Ok(());
        }
        let mut node = 0;
        for letter in dead.chars() {
            let fresh = self.nodes.len();
            node = *self.nodes[node].entry(letter).or_insert(fresh);
            if node == fresh {
                self.nodes.push(HashMap::new());
            }
        }
        self.nodes[node].clear();
        let next = self.valid.range::<str, _>((Bound::Included(dead), Bound::Unbounded)).next();
        if next.is_some_and(|text| text.starts_with(dead)) { Err(Contradiction) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_like_a_failure_is_dead() {
        let mut positions = Positions::new();
        positions.note_valid("(a)").unwrap();
        positions.note_failure("(a]b", 2, None).unwrap();
        assert!(positions.is_dead("(a]") && positions.is_dead("(a]]") && !positions.is_dead("(a)"));
        // The end of a text says nothing about longer ones.
        positions.note_failure("((a", 3, None).unwrap();
        assert!(!positions.is_dead("((a"));
        assert_eq!(positions.note_failure("(b", 0, None), Err(Contradiction));
        assert_eq!(positions.note_valid("(a]"), Err(Contradiction));
    }

    #[test]
    fn a_token_fails_as_a_whole() {
        let lexer = Lexer::new("%%\n[a-z]+ \"NAME\"\n[ ]+ ;\n").unwrap();
        let mut positions = Positions::new();
        positions.note_failure("if x", 0, Some(&lexer)).unwrap();
        assert!(positions.is_dead("if y") && !positions.is_dead("iffy y"));
    }
}
