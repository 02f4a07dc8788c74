//! Parts of examples put in place of other parts.

use std::ops::{Range, RangeInclusive};

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::source::Source;
use super::tree::Tree;

/// The maximum number of replacements in a text.
const MOST: usize = 3;
/// The number of replacements that are tried for each of them.
const ATTEMPTS: usize = 20;

/// A text that was parsed.
#[derive(Clone)]
struct Example {
    text: String,
    word: Vec<usize>,
    /// The bytes of each token.
    spans: Vec<Range<usize>>,
    tree: Tree,
}

/// Valid texts, whose parts are exchanged.
pub(super) struct Examples {
    all: Vec<Example>,
    /// The nodes of each nonterminal: the number of the example, and of the node in its tree.
    nodes: Vec<Vec<(usize, usize)>>,
}

impl Example {
    fn parse(source: &Source<'_>, text: String) -> Option<Self> {
        let (tree, word, tokens) = source.parse(&text)?;
        let spans = tokens.iter().map(|token| token.start..token.end).collect();
        Some(Self { text, word, spans, tree })
    }

    /// Returns the bytes of some of its tokens. No tokens are at the end of the token before them.
    fn bytes(&self, tokens: &Range<usize>) -> Range<usize> {
        if tokens.is_empty() {
            let end = tokens.start.checked_sub(1).map_or(0, |before| self.spans[before].end);
            return end..end;
        }
        self.spans[tokens.start].start..self.spans[tokens.end - 1].end
    }
}

impl Examples {
    pub(super) fn new(source: &Source<'_>) -> Self {
        Self { all: Vec::new(), nodes: vec![Vec::new(); source.table.names.len()] }
    }

    /// Adds an example. Returns whether it is valid.
    pub(super) fn add(&mut self, source: &Source<'_>, text: &str) -> bool {
        let Some(example) = Example::parse(source, text.to_string()) else { return false };
        for (number, node) in example.tree.nodes.iter().enumerate() {
            self.nodes[source.table.productions[node.production].left].push((self.all.len(), number));
        }
        self.all.push(example);
        true
    }

    /// Draws an example in which some parts are replaced by parts of any example that belong to the same nonterminal.
    pub(super) fn draw(
        &self,
        source: &Source<'_>,
        random: &mut ChaCha8Rng,
        lengths: &RangeInclusive<usize>,
    ) -> Option<String> {
        let mut text = self.all.choose(random)?.clone();
        let mut changed = false;
        for _ in 0..random.random_range(1..=MOST) {
            let spliced = (0..ATTEMPTS).find_map(|_| self.splice(source, random, &text, *lengths.end()));
            let Some(spliced) = spliced else { continue };
            text = spliced;
            changed = true;
        }
        (changed && lengths.contains(&text.word.len())).then_some(text.text)
    }

    /// Replaces one part of a text.
    fn splice(&self, source: &Source<'_>, random: &mut ChaCha8Rng, text: &Example, most: usize) -> Option<Example> {
        let old = text.tree.nodes.choose(random)?;
        let &(number, node) = self.nodes[source.table.productions[old.production].left].choose(random)?;
        let other = &self.all[number];
        let new = &other.tree.nodes[node];
        let (before, after) = (&text.word[..old.tokens.start], &text.word[old.tokens.end..]);
        let word = [before, &other.word[new.tokens.clone()], after].concat();
        if word == text.word || word.len() > most {
            return None;
        }
        let (place, part) = (text.bytes(&old.tokens), &other.text[other.bytes(&new.tokens)]);
        let (before, after, blank) = (&text.text[..place.start], &text.text[place.end..], source.blank());
        // Neighboring tokens may run together.
        let glued = [["", ""], [blank, ""], ["", blank], [blank, blank]];
        let glued = glued.into_iter().map(|[left, right]| [before, left, part, right, after].concat());
        let text = glued.into_iter().find(|text| source.is_spelled(text, &word))?;
        // The resolution of conflicts may forbid the part in this place.
        Example::parse(source, text)
    }
}
