//! Parse trees of words, with the productions that the parser used.

use std::ops::Range;

use crate::lr::table::LrTable;

/// A node of a [`Tree`].
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) production: usize,
    /// The nodes of the symbols on the right side; `None` for a token.
    pub(super) children: Vec<Option<usize>>,
    /// The tokens that it covers.
    pub(super) tokens: Range<usize>,
}

/// The parse tree of a word. Children come before their parent, and the root is the last node.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
}

impl Tree {
    /// Parses a word. If it is not a word of the grammar, returns the number of tokens before the mistake.
    pub(super) fn parse(table: &LrTable, word: &[usize]) -> Result<Self, usize> {
        let (mut states, mut nodes) = (vec![0], Vec::new());
        // The symbols on the stack, each with its first token.
        let mut symbols: Vec<(Option<usize>, usize)> = Vec::new();
        for (at, lookahead) in word.iter().copied().chain([table.terminals]).enumerate() {
            let mut reduced = |production: usize| {
                let length = table.productions[production].right.len();
                let children = symbols.split_off(symbols.len().saturating_sub(length));
                let first = children.first().map_or(at, |&(_, first)| first);
                symbols.push((Some(nodes.len()), first));
                let children = children.into_iter().map(|(child, _)| child).collect();
                nodes.push(Node { production, children, tokens: first..at });
            };
            if !table.read(&mut states, lookahead, &mut reduced) {
                return Err(at);
            }
            symbols.push((None, at));
        }
        Ok(Self { nodes })
    }

    /// Returns the positions that each production of the tree is used at, with the production.
    pub(super) fn uses(&self) -> impl Iterator<Item = (Option<(usize, usize)>, usize)> {
        let root = self.nodes.last().map(|root| (None, root.production));
        let children = self.nodes.iter().flat_map(move |node| {
            let children = node.children.iter().enumerate();
            let below = children.filter_map(|(place, child)| Some((place, self.nodes.get((*child)?)?)));
            below.map(|(place, child)| (Some((node.production, place)), child.production))
        });
        root.into_iter().chain(children)
    }
}
