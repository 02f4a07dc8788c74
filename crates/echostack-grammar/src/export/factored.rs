//! Grammars without common beginnings, for tools that follow all alternatives at once.
//!
//! llama.cpp keeps a stack for each way to read a text. With `exp: item "^" exp | item`, it reads an item in two ways, and an
//! item inside of n parentheses in 2^n ways. `exp: item ("^" exp)?` derives the same texts, and there is one way.

use std::collections::BTreeSet;

use super::ebnf::{Alternative, Ebnf, Piece, visit};

/// How many rules are written into each other.
const DEPTH: usize = 8;

impl<T: Clone + Ord> Ebnf<T> {
    /// Writes what several alternatives begin with only once. An alternative that is only a rule, which nothing else refers
    /// to, is replaced by the alternatives of that rule if these begin like others.
    pub(super) fn factored(mut self) -> Self {
        let mut uses = vec![0; self.rules.len()];
        self.rules.iter().flatten().for_each(|pieces| visit(pieces, &mut |rule| uses[rule] += 1));
        uses[0] += 1;
        // The rules are replaced by those that were given, so that none is replaced by what depends on itself.
        self.rules = self.rules.iter().map(|all| self.factored_list(all, &uses)).collect();
        self.keep_reachable();
        self
    }

    /// Returns alternatives for the same texts, of which no two begin with the same piece.
    fn factored_list(&self, all: &[Alternative<T>], uses: &[usize]) -> Vec<Alternative<T>> {
        let opened = self.opened(all, uses, DEPTH);
        let begins = |all: &[Alternative<T>]| all.iter().map(|pieces| pieces.first().cloned()).collect::<BTreeSet<_>>();
        let all = if begins(&opened).len() < opened.len() { &opened } else { all };
        let mut groups: Vec<Vec<Alternative<T>>> = Vec::new();
        for pieces in all {
            let pieces: Alternative<T> = pieces.iter().map(|piece| self.factored_piece(piece, uses)).collect();
            match groups.iter_mut().find(|group| group[0].first() == pieces.first()) {
                Some(group) if group.contains(&pieces) => {}
                Some(group) => group.push(pieces),
                None => groups.push(vec![pieces]),
            }
        }
        groups.into_iter().map(|group| self.joined(group, uses)).collect()
    }

    /// Replaces alternatives that are only a choice, or a rule that nothing else refers to, by what they consist of.
    fn opened(&self, all: &[Alternative<T>], uses: &[usize], depth: usize) -> Vec<Alternative<T>> {
        let mut found = Vec::new();
        for pieces in all {
            match &pieces[..] {
                [Piece::Rule(rule)] if uses[*rule] == 1 && depth > 0 => {
                    found.extend(self.opened(&self.rules[*rule], uses, depth - 1));
                }
                [Piece::Choice(own)] if depth > 0 => found.extend(self.opened(own, uses, depth - 1)),
                _ => found.push(pieces.clone()),
            }
        }
        found
    }

    /// Returns one alternative for several that begin with the same piece and are different.
    fn joined(&self, mut group: Vec<Alternative<T>>, uses: &[usize]) -> Alternative<T> {
        if group.len() == 1 {
            return group.swap_remove(0);
        }
        let same = |own: &Alternative<T>| group[0].iter().zip(own).take_while(|(a, b)| a == b).count();
        let shared = group.iter().map(same).min().unwrap_or(0);
        let rests: Vec<Alternative<T>> = group.iter().map(|pieces| pieces[shared..].to_vec()).collect();
        let mut pieces = group.swap_remove(0);
        pieces.truncate(shared);
        pieces.push(Piece::Choice(self.factored_list(&rests, uses)));
        pieces
    }

    fn factored_piece(&self, piece: &Piece<T>, uses: &[usize]) -> Piece<T> {
        match piece {
            Piece::Choice(all) => Piece::Choice(self.factored_list(all, uses)),
            Piece::Many(all) => Piece::Many(self.factored_list(all, uses)),
            other => other.clone(),
        }
    }
}
