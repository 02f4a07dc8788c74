//! Discrimination trees: which class a word belongs to, by the contexts in which it is valid.

use crate::ask::queries::Stop;
use crate::text::symbols::{Sym, Word};
use crate::text::teacher::Teacher;

/// A context: what stands before a word, and what stands after it.
pub(crate) type Context = (Word, Word);

/// A leaf of a tree, by the number of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LeafId(usize);

#[derive(Debug)]
enum Node<K> {
    Test { context: Context, yes: usize, no: usize },
    Leaf { class: Option<usize>, dead: bool, users: Vec<K> },
}

/// A binary tree of contexts, with classes of words as leaves. Each class has an *access word*, the first one that was
/// found. The leaf at which every context says no is *dead*, and has no access word. `K` names the decisions that depend
/// on a leaf.
#[derive(Debug)]
pub(crate) struct Tree<K> {
    nodes: Vec<Node<K>>,
    access: Vec<Word>,
}

impl<K> Tree<K> {
    pub(crate) fn new() -> Self {
        Self { nodes: vec![Node::Leaf { class: None, dead: true, users: Vec::new() }], access: Vec::new() }
    }

    /// Returns the number of classes.
    pub(crate) fn len(&self) -> usize {
        self.access.len()
    }

    pub(crate) fn access(&self, class: usize) -> &Word {
        &self.access[class]
    }

    /// Returns the class of a leaf; a dead leaf has none.
    pub(crate) fn class(&self, leaf: LeafId) -> Option<usize> {
        if let Node::Leaf { class, .. } = &self.nodes[leaf.0] { *class } else { None }
    }

    /// Returns all contexts.
    pub(crate) fn contexts(&self) -> impl Iterator<Item = &Context> {
        self.nodes.iter().filter_map(|node| if let Node::Test { context, .. } = node { Some(context) } else { None })
    }

    /// Notes that a decision depends on a leaf.
    pub(crate) fn note(&mut self, leaf: LeafId, user: K) {
        if let Node::Leaf { users, .. } = &mut self.nodes[leaf.0] {
            users.push(user);
        }
    }

    /// Returns the leaf of each word. A class without an access word takes the first word that reaches it. The words are
    /// asked about level by level, so that many queries can be asked at the same time.
    pub(crate) fn sift(&mut self, words: &[Word], teacher: &mut Teacher<'_>) -> Result<Vec<LeafId>, Stop> {
        let mut at = vec![0; words.len()];
        loop {
            let mut moving = Vec::new();
            let mut asked = Vec::new();
            for (number, word) in words.iter().enumerate() {
                if let Node::Test { context: (before, after), .. } = &self.nodes[at[number]] {
                    moving.push(number);
                    asked.push([before.as_slice(), word, after].concat());
                }
            }
            if moving.is_empty() {
                break;
            }
            let answers = teacher.members(&asked)?;
            for (number, answer) in moving.into_iter().zip(answers) {
                if let Node::Test { yes, no, .. } = &self.nodes[at[number]] {
                    at[number] = if answer { *yes } else { *no };
                }
            }
        }
        for (&leaf, word) in at.iter().zip(words) {
            if let Node::Leaf { class: class @ None, dead: false, .. } = &mut self.nodes[leaf] {
                *class = Some(self.access.len());
                self.access.push(word.clone());
            }
        }
        Ok(at.into_iter().map(LeafId).collect())
    }

    /// Splits a leaf by a context in which a word differs from those that were there. Returns the decisions that depend
    /// on the leaf, which have to be made again.
    pub(crate) fn split(
        &mut self,
        leaf: LeafId,
        context: Context,
        word: &[Sym],
        teacher: &mut Teacher<'_>,
    ) -> Result<Vec<K>, Stop> {
        let ask = |word: &[Sym], teacher: &mut Teacher<'_>| {
            teacher.member(&[context.0.as_slice(), word, context.1.as_slice()].concat())
        };
        let answer = ask(word, teacher)?;
        let Node::Leaf { class, dead, .. } = &self.nodes[leaf.0] else { return Err(Stop::Contradiction) };
        let (class, dead) = (*class, *dead);
        let old = match class {
            Some(class) => ask(&self.access[class], teacher)?,
            None => false,
        };
        // A dead leaf is split only by a word that is valid in the context.
        if old == answer {
            return Err(Stop::Contradiction);
        }
        let kept = self.nodes.len();
        self.nodes.push(Node::Leaf { class, dead, users: Vec::new() });
        self.nodes.push(Node::Leaf { class: None, dead: false, users: Vec::new() });
        let (yes, no) = if old { (kept, kept + 1) } else { (kept + 1, kept) };
        let before = std::mem::replace(&mut self.nodes[leaf.0], Node::Test { context, yes, no });
        self.sift(&[word.to_vec()], teacher)?;
        Ok(if let Node::Leaf { users, .. } = before { users } else { Vec::new() })
    }
}
