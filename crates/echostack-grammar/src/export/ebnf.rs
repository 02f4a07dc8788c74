//! Grammars with repetition in place of left recursion, for tools that cannot read the latter.
//!
//! # How
//!
//! A rule `A: A x | y` derives y, followed by any number of x, and becomes `A: y x*`. This is the usual case. In general,
//! let C be a set of rules, each of which can begin with any of the others. Leave the empty text aside: every rule, and
//! every rest of an alternative that may be empty, is replaced by one that derives the same texts without the empty one,
//! where that comes first. Then an alternative of A in C begins with something outside of C (it is a *seed* y of A), or
//! with a rule B in C: it is a *step* from B to A by the rest x. A text of A is a seed of some B, and then the texts of
//! steps that lead from B to A. So
//!
//! - A becomes, for each B, `y tail(B, A)` with the seeds y of B, and
//! - tail(B, A) becomes `x tail(D, A)` for each step from B to D by x, and may be empty if B is A.
//!
//! A step by a rest that is empty leads from B to D without a text; it is followed at once. Nothing here begins with a
//! rule of C any more, except for what stands after a text that is not empty. So each transformation keeps the language,
//! and no left recursion remains.

use std::collections::{BTreeMap, BTreeSet};

/// A part of an alternative, over tokens of some kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Piece<T> {
    /// A token.
    Token(T),
    /// What another rule derives.
    Rule(usize),
    /// One of these alternatives.
    Choice(Vec<Alternative<T>>),
    /// Any number of these alternatives, one after the other.
    Many(Vec<Alternative<T>>),
}

/// An alternative of a rule.
pub(super) type Alternative<T> = Vec<Piece<T>>;

/// A grammar whose rules may contain repetition. Rule 0 is the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ebnf<T> {
    pub(super) names: Vec<String>,
    pub(super) rules: Vec<Vec<Alternative<T>>>,
}

/// How a tool writes grammars with repetition. Parentheses, `|` and `*` mean the same in all of them.
pub(super) struct Style<'a, T> {
    pub(super) names: &'a [String],
    pub(super) token: &'a dyn Fn(&T) -> String,
    /// How an empty alternative is written.
    pub(super) empty: &'a str,
}

impl<T> Style<'_, T> {
    /// Writes the alternatives of a rule.
    pub(super) fn alternatives(&self, all: &[Alternative<T>]) -> Vec<String> {
        all.iter().map(|pieces| self.sequence(pieces)).collect()
    }

    fn sequence(&self, pieces: &[Piece<T>]) -> String {
        if pieces.is_empty() {
            return self.empty.to_string();
        }
        pieces.iter().map(|piece| self.piece(piece)).collect::<Vec<_>>().join(" ")
    }

    fn piece(&self, piece: &Piece<T>) -> String {
        match piece {
            Piece::Token(token) => (self.token)(token),
            Piece::Rule(rule) => self.names[*rule].clone(),
            Piece::Choice(all) => {
                let some: Vec<String> =
                    all.iter().filter(|pieces| !pieces.is_empty()).map(|pieces| self.sequence(pieces)).collect();
                let optional = if some.len() < all.len() { "?" } else { "" };
                format!("({}){optional}", some.join(" | "))
            }
            Piece::Many(all) => match &all[..] {
                [pieces] if matches!(pieces[..], [Piece::Rule(_)]) => format!("{}*", self.sequence(pieces)),
                all => format!("({})*", self.alternatives(all).join(" | ")),
            },
        }
    }
}

/// The maximum number of rules that are added.
const MAX_RULES: usize = 10_000;

/// There would be too many rules.
#[derive(Debug)]
pub(super) struct TooMany;

/// Which left recursion a tool can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// None.
    Nothing,
    /// A rule whose alternatives begin with the rule itself.
    Direct,
}

impl<T: Clone + Ord> Ebnf<T> {
    /// Replaces left recursion that a tool cannot read by repetition. No token may be empty, and there must be no
    /// repetition yet.
    pub(super) fn without_left_recursion(mut self, reads: Reads) -> Result<Self, TooMany> {
        loop {
            let nullable = self.nullable();
            let mut components = self.components(&nullable).into_iter();
            let Some(component) = components.find(|component| !self.is_plain(component, &nullable)) else { break };
            self.unwind(&component, &nullable)?;
        }
        if reads == Reads::Nothing {
            self = self.with_repetition();
        }
        self.keep_reachable();
        Ok(self)
    }

    /// Writes rules of the form `A: A x | y` as `y x*`, where this is possible, to be read by people.
    pub(super) fn with_repetition(mut self) -> Self {
        let nullable = self.nullable();
        for component in self.components(&nullable) {
            if self.is_plain(&component, &nullable) {
                self.repeat(component[0]);
            }
        }
        self
    }

    /// Returns which rules derive the empty text.
    fn nullable(&self) -> Vec<bool> {
        let mut nullable = vec![false; self.rules.len()];
        loop {
            let next: Vec<bool> =
                self.rules.iter().map(|own| own.iter().any(|pieces| may_be_empty(pieces, &nullable))).collect();
            if next == nullable {
                return nullable;
            }
            nullable = next;
        }
    }

    /// Returns the rules that an alternative of a rule can begin with.
    fn begins(&self, rule: usize, nullable: &[bool]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for pieces in &self.rules[rule] {
            for piece in pieces {
                found.extend(match piece {
                    Piece::Rule(other) => Some(*other),
                    _ => None,
                });
                if !piece_may_be_empty(piece, nullable) {
                    break;
                }
            }
        }
        found
    }

    /// Returns the sets of rules that can begin with each other.
    fn components(&self, nullable: &[bool]) -> Vec<Vec<usize>> {
        let begins: Vec<BTreeSet<usize>> = (0..self.rules.len()).map(|rule| self.begins(rule, nullable)).collect();
        let reached = |from: usize| {
            let mut seen: BTreeSet<usize> = begins[from].clone();
            let mut open: Vec<usize> = seen.iter().copied().collect();
            while let Some(rule) = open.pop() {
                open.extend(begins[rule].iter().copied().filter(|&next| seen.insert(next)));
            }
            seen
        };
        let reached: Vec<BTreeSet<usize>> = (0..self.rules.len()).map(reached).collect();
        let mut found: Vec<Vec<usize>> = Vec::new();
        for rule in (0..self.rules.len()).filter(|&rule| reached[rule].contains(&rule)) {
            let own: Vec<usize> =
                reached[rule].iter().copied().filter(|&other| reached[other].contains(&rule)).collect();
            if own[0] == rule {
                found.push(own);
            }
        }
        found
    }

    /// Returns whether left recursion is that of a single rule, whose alternatives begin with it, and can be repeated.
    fn is_plain(&self, component: &[usize], nullable: &[bool]) -> bool {
        let &[rule] = component else { return false };
        let is_plain = |pieces: &Alternative<T>| match pieces.split_first() {
            Some((Piece::Rule(first), rest)) if *first == rule => {
                // What is repeated must not be empty. If nothing need come before it, it must not begin with the rule.
                !(may_be_empty(rest, nullable) || nullable[rule] && begin_with(rest, rule, nullable))
            }
            _ => !begin_with(pieces, rule, nullable),
        };
        self.rules[rule].iter().all(is_plain)
    }

    /// Writes `A: A x | y` as `y x*`.
    fn repeat(&mut self, rule: usize) {
        let (mut seeds, mut steps) = (Vec::new(), Vec::new());
        for pieces in std::mem::take(&mut self.rules[rule]) {
            match pieces.split_first() {
                Some((Piece::Rule(first), rest)) if *first == rule => steps.push(rest.to_vec()),
                _ => seeds.push(pieces),
            }
        }
        let many = Piece::Many(steps);
        self.rules[rule] = match seeds.len() {
            1 => vec![seeds.swap_remove(0).into_iter().chain([many]).collect()],
            _ => vec![vec![Piece::Choice(seeds), many]],
        };
    }

    /// Replaces the left recursion of a set of rules, as described above.
    fn unwind(&mut self, component: &[usize], nullable: &[bool]) -> Result<(), TooMany> {
        let member = |rule: usize| component.binary_search(&rule).is_ok();
        let mut filled = Filled { rules: BTreeMap::new(), nullable };
        for &rule in component.iter().filter(|&&rule| nullable[rule]) {
            let number = self.add(&format!("{}_filled", self.names[rule]))?;
            filled.rules.insert(rule, number);
        }
        // For each member, its seeds, and the steps from it: where they lead, and by what.
        let mut seeds: BTreeMap<usize, Vec<Alternative<T>>> = BTreeMap::new();
        let mut steps: BTreeMap<usize, Vec<(usize, Alternative<T>)>> = BTreeMap::new();
        let mut leaps: BTreeMap<usize, BTreeSet<usize>> =
            component.iter().map(|&rule| (rule, BTreeSet::from([rule]))).collect();
        for &rule in component {
            for pieces in self.rules[rule].clone() {
                for at in 0..pieces.len() {
                    let rest = &pieces[at + 1..];
                    match &pieces[at] {
                        Piece::Rule(other) if member(*other) => {
                            let filled = self.filled_sequence(rest, &mut filled)?;
                            steps.entry(*other).or_default().extend(filled.into_iter().map(|by| (rule, by)));
                            if may_be_empty(rest, nullable) {
                                leaps.entry(*other).or_default().insert(rule);
                            }
                        }
                        first => {
                            let first = self.filled(first, &mut filled)?;
                            let all = first.into_iter().map(|first| [&[first], rest].concat());
                            seeds.entry(rule).or_default().extend(all);
                        }
                    }
                    if !piece_may_be_empty(&pieces[at], nullable) {
                        break;
                    }
                }
            }
        }
        // What leads on without a text is followed at once.
        loop {
            let next: BTreeMap<usize, BTreeSet<usize>> =
                leaps.iter().map(|(&from, to)| (from, to.iter().flat_map(|to| leaps[to].clone()).collect())).collect();
            if next == leaps {
                break;
            }
            leaps = next;
        }
        let mut tails: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for &from in component {
            for &to in component {
                let name = format!("{}_tail", self.names[to]);
                tails.insert((from, to), self.add(&name)?);
            }
        }
        for (&(from, to), &tail) in &tails {
            let mut own: Vec<Alternative<T>> = Vec::new();
            for via in &leaps[&from] {
                for (next, by) in steps.get(via).into_iter().flatten() {
                    own.push(by.iter().cloned().chain([Piece::Rule(tails[&(*next, to)])]).collect());
                }
            }
            if leaps[&from].contains(&to) {
                own.push(Vec::new());
            }
            own.dedup();
            self.rules[tail] = own;
        }
        for &rule in component {
            let mut own: Vec<Alternative<T>> = Vec::new();
            for (from, seeds) in &seeds {
                let tail = Piece::Rule(tails[&(*from, rule)]);
                own.extend(seeds.iter().map(|seed| seed.iter().cloned().chain([tail.clone()]).collect()));
            }
            if let Some(&number) = filled.rules.get(&rule) {
                self.rules[number] = own;
                own = vec![vec![Piece::Rule(number)], Vec::new()];
            }
            self.rules[rule] = own;
        }
        self.drop_barren();
        Ok(())
    }

    fn add(&mut self, name: &str) -> Result<usize, TooMany> {
        if self.rules.len() >= MAX_RULES {
            return Err(TooMany);
        }
        let mut unique = name.to_string();
        let mut number = 2;
        while self.names.contains(&unique) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        self.names.push(unique);
        self.rules.push(Vec::new());
        Ok(self.rules.len() - 1)
    }

    /// Returns a piece that derives what this one does, without the empty text; `None` if there is nothing else.
    fn filled(&mut self, piece: &Piece<T>, filled: &mut Filled<'_>) -> Result<Option<Piece<T>>, TooMany> {
        match piece {
            Piece::Rule(rule) if filled.nullable[*rule] => {
                if let Some(&known) = filled.rules.get(rule) {
                    return Ok(Some(Piece::Rule(known)));
                }
                let number = self.add(&format!("{}_filled", self.names[*rule]))?;
                filled.rules.insert(*rule, number);
                let mut own = Vec::new();
                for pieces in self.rules[*rule].clone() {
                    own.extend(self.filled_sequence(&pieces, filled)?);
                }
                self.rules[number] = own;
                Ok(Some(Piece::Rule(number)))
            }
            other => Ok(Some(other.clone())),
        }
    }

    /// Returns alternatives that derive what a sequence does, without the empty text.
    fn filled_sequence(
        &mut self,
        pieces: &[Piece<T>],
        filled: &mut Filled<'_>,
    ) -> Result<Vec<Alternative<T>>, TooMany> {
        let mut found = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            let first = self.filled(piece, filled)?;
            found.extend(first.into_iter().map(|first| [&[first], &pieces[at + 1..]].concat()));
            if !piece_may_be_empty(piece, filled.nullable) {
                break;
            }
        }
        Ok(found)
    }

    /// Removes alternatives that derive no text at all, which rules for tails may have.
    fn drop_barren(&mut self) {
        let mut good = vec![false; self.rules.len()];
        let derives = |pieces: &Alternative<T>, good: &[bool]| {
            pieces.iter().all(|piece| if let Piece::Rule(rule) = piece { good[*rule] } else { true })
        };
        loop {
            let next: Vec<bool> =
                self.rules.iter().map(|own| own.iter().any(|pieces| derives(pieces, &good))).collect();
            if next == good {
                break;
            }
            good = next;
        }
        for own in &mut self.rules {
            own.retain(|pieces| derives(pieces, &good));
        }
    }

    /// Removes rules that derive only the empty text from where they are used.
    pub(super) fn without_empty_rules(mut self) -> Self {
        loop {
            let empty: Vec<bool> =
                self.rules.iter().map(|own| matches!(&own[..], [pieces] if pieces.is_empty())).collect();
            let is_empty = |piece: &Piece<T>| matches!(piece, Piece::Rule(rule) if empty[*rule]);
            let count = |rules: &[Vec<Alternative<T>>]| rules.iter().flatten().map(Vec::len).sum::<usize>();
            let before = count(&self.rules);
            self.rules.iter_mut().flatten().for_each(|pieces| pieces.retain(|piece| !is_empty(piece)));
            if before == count(&self.rules) {
                self.keep_reachable();
                return self;
            }
        }
    }

    /// Removes the rules that are not reachable from the start, and renumbers the others.
    pub(super) fn keep_reachable(&mut self) {
        let mut order = vec![0];
        let mut numbers = BTreeMap::from([(0, 0)]);
        let mut at = 0;
        while at < order.len() {
            for pieces in &self.rules[order[at]] {
                visit(pieces, &mut |rule| {
                    numbers.entry(rule).or_insert_with(|| {
                        order.push(rule);
                        order.len() - 1
                    });
                });
            }
            at += 1;
        }
        // The order of the rules stays as it is.
        order.sort_unstable();
        let numbers: BTreeMap<usize, usize> = order.iter().enumerate().map(|(to, &from)| (from, to)).collect();
        self.names = order.iter().map(|&rule| self.names[rule].clone()).collect();
        self.rules = order.iter().map(|&rule| renumbered(&self.rules[rule], &numbers)).collect();
    }
}

/// Rules that derive what others do, without the empty text.
struct Filled<'a> {
    rules: BTreeMap<usize, usize>,
    nullable: &'a [bool],
}

/// Returns whether an alternative can begin with a rule.
fn begin_with<T: PartialEq>(pieces: &[Piece<T>], rule: usize, nullable: &[bool]) -> bool {
    for piece in pieces {
        if *piece == Piece::Rule(rule) {
            return true;
        }
        if !piece_may_be_empty(piece, nullable) {
            return false;
        }
    }
    false
}

fn may_be_empty<T>(pieces: &[Piece<T>], nullable: &[bool]) -> bool {
    pieces.iter().all(|piece| piece_may_be_empty(piece, nullable))
}

fn piece_may_be_empty<T>(piece: &Piece<T>, nullable: &[bool]) -> bool {
    match piece {
        Piece::Token(_) => false,
        // Rules that were added later are not empty where this is asked.
        Piece::Rule(rule) => nullable.get(*rule).copied().unwrap_or(false),
        Piece::Choice(all) => all.iter().any(|pieces| may_be_empty(pieces, nullable)),
        Piece::Many(_) => true,
    }
}

/// Calls a function with each rule that an alternative refers to.
pub(super) fn visit<T>(pieces: &[Piece<T>], found: &mut impl FnMut(usize)) {
    for piece in pieces {
        match piece {
            Piece::Token(_) => {}
            Piece::Rule(rule) => found(*rule),
            Piece::Choice(all) | Piece::Many(all) => all.iter().for_each(|pieces| visit(pieces, found)),
        }
    }
}

fn renumbered<T: Clone>(all: &[Alternative<T>], numbers: &BTreeMap<usize, usize>) -> Vec<Alternative<T>> {
    let piece = |piece: &Piece<T>| match piece {
        Piece::Token(token) => Piece::Token(token.clone()),
        Piece::Rule(rule) => Piece::Rule(numbers[rule]),
        Piece::Choice(all) => Piece::Choice(renumbered(all, numbers)),
        Piece::Many(all) => Piece::Many(renumbered(all, numbers)),
    };
    all.iter().map(|pieces| pieces.iter().map(piece).collect()).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashSet;

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    pub(in super::super) type Letters = Ebnf<char>;

    /// Returns all texts up to a length that a grammar derives, by computing the sets of all rules until they are complete.
    pub(in super::super) fn texts(grammar: &Letters, longest: usize) -> BTreeSet<String> {
        let mut sets: Vec<BTreeSet<String>> = vec![BTreeSet::new(); grammar.rules.len()];
        loop {
            let next: Vec<BTreeSet<String>> = grammar.rules.iter().map(|own| choice(own, &sets, longest)).collect();
            if next == sets {
                return sets.swap_remove(0);
            }
            sets = next;
        }
    }

    fn choice(all: &[Alternative<char>], sets: &[BTreeSet<String>], longest: usize) -> BTreeSet<String> {
        all.iter().flat_map(|pieces| sequence(pieces, sets, longest)).collect()
    }

    fn sequence(pieces: &[Piece<char>], sets: &[BTreeSet<String>], longest: usize) -> BTreeSet<String> {
        let mut found = BTreeSet::from([String::new()]);
        for piece in pieces {
            let next: BTreeSet<String> = match piece {
                Piece::Token(letter) => BTreeSet::from([letter.to_string()]),
                Piece::Rule(rule) => sets[*rule].clone(),
                Piece::Choice(all) => choice(all, sets, longest),
                Piece::Many(all) => {
                    let one = choice(all, sets, longest);
                    let mut many = BTreeSet::from([String::new()]);
                    loop {
                        let more = joined(&many, &one, longest);
                        let before = many.len();
                        many.extend(more);
                        if many.len() == before {
                            break many;
                        }
                    }
                }
            };
            found = joined(&found, &next, longest);
        }
        found
    }

    fn joined(first: &BTreeSet<String>, second: &BTreeSet<String>, longest: usize) -> BTreeSet<String> {
        let pairs = first.iter().flat_map(|first| second.iter().map(move |second| format!("{first}{second}")));
        pairs.filter(|text| text.len() <= longest).collect()
    }

    /// Returns whether any rule can begin with itself, as llama.cpp sees it: repetition is a rule of its own.
    fn is_left_recursive(grammar: &Letters) -> bool {
        let mut plain = grammar.clone();
        let mut at = 0;
        while at < plain.rules.len() {
            let mut added: Vec<Vec<Alternative<char>>> = Vec::new();
            let count = plain.rules.len();
            for pieces in &mut plain.rules[at] {
                for piece in pieces {
                    let (mut all, many) = match piece {
                        Piece::Choice(all) => (all.clone(), false),
                        Piece::Many(all) => (all.clone(), true),
                        _ => continue,
                    };
                    let number = count + added.len();
                    if many {
                        all.iter_mut().for_each(|pieces| pieces.push(Piece::Rule(number)));
                        all.push(Vec::new());
                    }
                    added.push(all);
                    *piece = Piece::Rule(number);
                }
            }
            plain.names.extend(added.iter().map(|_| String::new()));
            plain.rules.extend(added);
            at += 1;
        }
        let nullable = plain.nullable();
        !plain.components(&nullable).is_empty()
    }

    fn random_grammar(random: &mut ChaCha8Rng) -> Letters {
        let count = random.random_range(1..=4);
        let rules = (0..count).map(|_| {
            let alternatives = (0..random.random_range(1..4)).map(|_| {
                let pieces = (0..random.random_range(0..4)).map(|_| {
                    if random.random_bool(0.6) {
                        Piece::Rule(random.random_range(0..count))
                    } else {
                        Piece::Token(*[&'a', &'b', &'c'][random.random_range(0..3)])
                    }
                });
                pieces.collect()
            });
            alternatives.collect()
        });
        let rules = rules.collect();
        Ebnf { names: (0..count).map(|number| format!("r{number}")).collect(), rules }
    }

    #[test]
    fn the_language_stays_the_same_and_no_left_recursion_remains() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let (mut recursive, mut languages) = (0, HashSet::new());
        for _ in 0..3000 {
            let grammar = random_grammar(&mut random);
            let before = texts(&grammar, 5);
            recursive += usize::from(is_left_recursive(&grammar));
            let after = grammar.clone().without_left_recursion(Reads::Nothing).unwrap();
            assert!(!is_left_recursive(&after), "{grammar:?}\n{after:?}");
            assert_eq!(texts(&after, 5), before, "{grammar:?}\n{after:?}");
            assert_eq!(texts(&grammar.clone().with_repetition(), 5), before, "{grammar:?}");
            let factored = after.factored();
            assert!(!is_left_recursive(&factored), "{grammar:?}\n{factored:?}");
            assert_eq!(texts(&factored, 5), before, "{grammar:?}\n{factored:?}");
            let direct = grammar.clone().without_left_recursion(Reads::Direct).unwrap();
            assert_eq!(texts(&direct, 5), before, "{grammar:?}\n{direct:?}");
            languages.insert(before);
        }
        assert!(recursive > 1000 && languages.len() > 500, "{recursive} {}", languages.len());
    }

    #[test]
    fn lists_become_repetition() {
        let list = Ebnf {
            names: vec!["list".into()],
            rules: vec![vec![vec![Piece::Token('x')], vec![Piece::Rule(0), Piece::Token(','), Piece::Token('x')]]],
        };
        let written = list.without_left_recursion(Reads::Nothing).unwrap();
        let step = vec![Piece::Token(','), Piece::Token('x')];
        assert_eq!(written.rules, vec![vec![vec![Piece::Token('x'), Piece::Many(vec![step])]]]);
    }
}
