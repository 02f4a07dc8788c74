//! Discrimination trees: which class a word belongs to, by the contexts in which it is valid.

use std::collections::BTreeMap;

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
    /// How many words with a last symbol were found not to be dead by each node.
    exits: BTreeMap<(usize, Option<Sym>), usize>,
}

impl<K> Tree<K> {
    pub(crate) fn new() -> Self {
        Self {
            nodes: vec![Node::Leaf { class: None, dead: true, users: Vec::new() }],
            access: Vec::new(),
            exits: BTreeMap::new(),
        }
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
        let mut live = vec![false; words.len()];
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
                    if answer && !live[number] {
                        let last = words[number].last().copied();
                        *self.exits.entry((at[number], last)).or_default() += 1;
                    }
                    at[number] = if answer { *yes } else { *no };
                    live[number] |= answer;
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

    /// Returns which words are probably not dead: one of `most` contexts says yes, those first that did so for words with the
    /// same last symbol.
    pub(crate) fn probably_live(
        &self,
        words: &[Word],
        most: usize,
        teacher: &mut Teacher<'_>,
    ) -> Result<Vec<bool>, Stop> {
        // Dead words are those for which all of these say no.
        let (mut spine, mut at) = (Vec::new(), 0);
        while let Node::Test { no, .. } = &self.nodes[at] {
            spine.push(at);
            at = *no;
        }
        let mut orders: BTreeMap<Option<Sym>, Vec<usize>> = BTreeMap::new();
        let mut live = vec![spine.len() <= most; words.len()];
        for turn in 0..most.min(spine.len()) {
            let (mut numbers, mut asked) = (Vec::new(), Vec::new());
            for (number, word) in words.iter().enumerate().filter(|(number, _)| !live[*number]) {
                let last = word.last().copied();
                let order = orders.entry(last).or_insert_with(|| {
                    let mut order = spine.clone();
                    order.sort_by_key(|&node| {
                        std::cmp::Reverse(self.exits.get(&(node, last)).copied().unwrap_or_default())
                    });
                    order
                });
                if let Node::Test { context: (before, after), .. } = &self.nodes[order[turn]] {
                    numbers.push(number);
                    asked.push([before.as_slice(), word, after].concat());
                }
            }
            if numbers.is_empty() {
                break;
            }
            for (number, answer) in numbers.into_iter().zip(teacher.members(&asked)?) {
                live[number] = answer;
            }
        }
        Ok(live)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LISTS, lists, teacher, word};

    #[test]
    fn words_that_no_context_tells_apart_are_one_class() {
        let mut teacher = teacher(&lists, LISTS);
        let of = |teacher: &Teacher<'_>, texts: &[&str]| -> Vec<Word> {
            texts.iter().map(|text| word(teacher, text)).collect()
        };
        let mut tree: Tree<u8> = Tree::new();
        let words = of(&teacher, &["x", "[]", "[x]", ",", "]"]);
        let leaves = tree.sift(&words, &mut teacher).unwrap();
        assert!(leaves.iter().all(|&leaf| leaf == leaves[0] && tree.class(leaf).is_none()));
        tree.note(leaves[0], 7);
        // Items end a list, and nothing else does.
        let context = (word(&teacher, "["), word(&teacher, "]"));
        assert_eq!(tree.split(leaves[0], context.clone(), &words[0], &mut teacher).unwrap(), [7]);
        let leaves = tree.sift(&words, &mut teacher).unwrap();
        let classes: Vec<Option<usize>> = leaves.iter().map(|&leaf| tree.class(leaf)).collect();
        assert_eq!(classes, [Some(0), Some(0), Some(0), None, None]);
        assert_eq!((tree.len(), tree.access(0), tree.contexts().count()), (1, &words[0], 1));
        // The same context tells nothing more apart.
        assert!(matches!(tree.split(leaves[1], context, &words[1], &mut teacher), Err(Stop::Contradiction)));
        assert_eq!(tree.probably_live(&words, 4, &mut teacher).unwrap(), [true; 5]);
    }

    /// With few contexts, a word that only another one accepts seems to be dead.
    #[test]
    fn few_contexts_find_most_words_that_are_not_dead() {
        let mut teacher = teacher(&lists, LISTS);
        let mut tree: Tree<()> = Tree::new();
        for (before, middle, after) in [("", "x", ""), ("[", "x,", "x]"), ("", "[", "]")] {
            let [before, middle, after] = [before, middle, after].map(|text| word(&teacher, text));
            let leaf = tree.sift(std::slice::from_ref(&middle), &mut teacher).unwrap()[0];
            assert_eq!(tree.class(leaf), None);
            tree.split(leaf, (before, after), &middle, &mut teacher).unwrap();
        }
        let words: Vec<Word> = ["x", "x,", "[x", ",", "]"].map(|text| word(&teacher, text)).to_vec();
        let leaves = tree.sift(&words, &mut teacher).unwrap();
        let all: Vec<bool> = leaves.into_iter().map(|leaf| tree.class(leaf).is_some()).collect();
        assert_eq!(all, [true, true, true, false, false]);
        let few = tree.probably_live(&words, 2, &mut teacher).unwrap();
        assert!(few.iter().zip(&all).all(|(few, all)| *all || !few), "{few:?}");
        assert!(few.iter().filter(|few| **few).count() >= 2, "{few:?}");
        // If there are no more contexts than may be tried, nothing is saved by trying them first.
        assert_eq!(tree.probably_live(&words, 3, &mut teacher).unwrap(), [true; 5]);
    }
}
