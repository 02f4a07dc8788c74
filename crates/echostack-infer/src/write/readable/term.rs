//! Expressions over symbols or sets of characters, and rewritings that keep their words.

use std::collections::BTreeSet;

/// An expression. Symbols and atoms, which are disjoint sets of characters, are numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Term {
    Symbol(usize),
    /// One of these atoms.
    Set(BTreeSet<usize>),
    Sequence(Vec<Term>),
    /// One of these, in ascending order.
    Choice(Vec<Term>),
    Optional(Box<Term>),
    Star(Box<Term>),
    Plus(Box<Term>),
    /// `List(x, s)` is `x (s x)*`.
    List(Box<Term>, Box<Term>),
}

impl Term {
    pub(super) const EMPTY: Self = Self::Sequence(Vec::new());

    /// Returns the parts of a sequence, or the term itself.
    pub(super) fn parts(&self) -> &[Self] {
        if let Self::Sequence(parts) = self { parts } else { std::slice::from_ref(self) }
    }

    fn into_parts(self) -> Vec<Self> {
        if let Self::Sequence(parts) = self { parts } else { vec![self] }
    }

    fn is_leaf(&self) -> bool {
        matches!(self, Self::Symbol(_) | Self::Set(_))
    }

    /// Returns the terms that this one consists of.
    pub(super) fn inner(&self) -> Vec<&Self> {
        match self {
            Self::Symbol(_) | Self::Set(_) => Vec::new(),
            Self::Sequence(parts) | Self::Choice(parts) => parts.iter().collect(),
            Self::Optional(part) | Self::Star(part) | Self::Plus(part) => vec![part],
            Self::List(item, between) => vec![item, between],
        }
    }

    /// Returns the symbols that occur.
    pub(super) fn symbols(&self) -> BTreeSet<usize> {
        match self {
            Self::Symbol(symbol) => BTreeSet::from([*symbol]),
            _ => self.inner().into_iter().flat_map(Self::symbols).collect(),
        }
    }

    /// Returns how hard an expression is to read. What may be missing is better at the end of a sequence.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Symbol(_) | Self::Set(_) => 1,
            Self::Sequence(parts) => {
                let late = match parts.first() {
                    Some(Self::Optional(part) | Self::Star(part)) => usize::from(!part.is_leaf()),
                    _ => 0,
                };
                parts.iter().map(Self::size).sum::<usize>() + late
            }
            _ => 1 + self.inner().into_iter().map(Self::size).sum::<usize>(),
        }
    }

    /// Returns the same term with every term inside it changed.
    pub(super) fn map_inner(self, change: &mut dyn FnMut(Self) -> Self) -> Self {
        let mut boxed = |part: Box<Self>| Box::new(change(*part));
        match self {
            Self::Symbol(_) | Self::Set(_) => self,
            Self::Optional(part) => Self::Optional(boxed(part)),
            Self::Star(part) => Self::Star(boxed(part)),
            Self::Plus(part) => Self::Plus(boxed(part)),
            Self::List(item, between) => Self::List(boxed(item), boxed(between)),
            Self::Sequence(parts) => Self::Sequence(parts.into_iter().map(change).collect()),
            Self::Choice(parts) => Self::Choice(parts.into_iter().map(change).collect()),
        }
    }
}

/// Which common parts of alternatives are taken out: `a b | a c` is `a (b | c)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factoring {
    pub(super) first: bool,
    pub(super) last: bool,
}

impl Factoring {
    pub(super) const ALL: [Self; 4] = [
        Self { first: true, last: true },
        Self { first: true, last: false },
        Self { first: false, last: true },
        Self { first: false, last: false },
    ];

    /// Returns one of the items.
    pub(super) fn choice(self, items: Vec<Term>) -> Term {
        let (mut flat, mut atoms, mut is_optional) = (Vec::new(), BTreeSet::new(), false);
        let all = items.into_iter().flat_map(|item| if let Term::Choice(parts) = item { parts } else { vec![item] });
        for part in all {
            let part = match part {
                Term::Optional(inner) => {
                    is_optional = true;
                    *inner
                }
                part => part,
            };
            let own = if let Term::Choice(parts) = part { parts } else { vec![part] };
            for part in own {
                match part {
                    Term::Sequence(parts) if parts.is_empty() => is_optional = true,
                    Term::Set(set) => atoms.extend(set),
                    part if !flat.contains(&part) => flat.push(part),
                    _ => {}
                }
            }
        }
        if !atoms.is_empty() {
            flat.insert(0, Term::Set(atoms));
        }
        if self.first {
            flat = self.factored(flat, true);
        }
        if self.last {
            flat = self.factored(flat, false);
        }
        flat = with_optional_ends(flat);
        flat.sort_unstable();
        let result = match flat.len() {
            0 => return Term::EMPTY,
            1 => flat.remove(0),
            _ => Term::Choice(flat),
        };
        if is_optional { optional(result) } else { result }
    }

    /// Takes common first or last parts out.
    fn factored(self, items: Vec<Term>, first: bool) -> Vec<Term> {
        let end = |item: &Term| {
            let parts = item.parts();
            if first { parts.first() } else { parts.last() }.cloned()
        };
        let mut groups: Vec<(Option<Term>, Vec<Term>)> = Vec::new();
        for item in items {
            let shared = end(&item);
            match groups.iter_mut().find(|(known, _)| *known == shared) {
                Some((_, group)) => group.push(item),
                None => groups.push((shared, vec![item])),
            }
        }
        let join = |(shared, mut group): (Option<Term>, Vec<Term>)| {
            let (Some(shared), true) = (shared, group.len() > 1) else { return group.swap_remove(0) };
            let rest = |item: &Term| {
                let parts = item.parts();
                sequence(if first { parts[1..].to_vec() } else { parts[..parts.len() - 1].to_vec() })
            };
            let rest = self.choice(group.iter().map(rest).collect());
            sequence(if first { vec![shared, rest] } else { vec![rest, shared] })
        };
        groups.into_iter().map(join).collect()
    }
}

/// Writes `a | b | x (a | b)` as `x? (a | b)`, and the same for what comes after.
fn with_optional_ends(items: Vec<Term>) -> Vec<Term> {
    for (at, item) in items.iter().enumerate() {
        let Term::Sequence(parts) = item else { continue };
        for first in [true, false] {
            let shared = if first { parts.first() } else { parts.last() };
            let Some(Term::Choice(own)) = shared else { continue };
            if !own.iter().all(|part| items.contains(part)) {
                continue;
            }
            let rest = if first { &parts[1..] } else { &parts[..parts.len() - 1] };
            let rest = optional(sequence(rest.to_vec()));
            let shared = Term::Choice(own.clone());
            let joined = sequence(if first { vec![shared, rest] } else { vec![rest, shared] });
            let others = items.iter().enumerate().filter(|(other, item)| *other != at && !own.contains(item));
            return std::iter::once(joined).chain(others.map(|(_, item)| item.clone())).collect();
        }
    }
    items
}

/// Returns the items one after the other. Lists are found: `x x*` is `x+`, and `x (s x)*` is a list.
pub(super) fn sequence(items: Vec<Term>) -> Term {
    let mut out = Vec::new();
    for part in items.into_iter().flat_map(Term::into_parts) {
        out.push(part);
        while joined(&mut out) {}
    }
    if out.len() == 1 { out.remove(0) } else { Term::Sequence(out) }
}

/// Finds a list at the end of a sequence.
fn joined(out: &mut Vec<Term>) -> bool {
    let count = out.len();
    let replace = |out: &mut Vec<Term>, from: usize, term: Term| {
        out.truncate(from);
        out.push(term);
        true
    };
    let list = |item: Vec<Term>, between: &[Term]| {
        let item = Box::new(sequence(item));
        if between.is_empty() { Term::Plus(item) } else { Term::List(item, Box::new(sequence(between.to_vec()))) }
    };
    match &out[count - 1] {
        Term::Star(inner) => {
            let body = inner.parts();
            // `x x*` is `x+`, and `x (s x)*` is a list.
            for item in (1..=body.len().min(count - 1)).rev() {
                if out[count - 1 - item..count - 1] == body[body.len() - item..] {
                    let term = list(body[body.len() - item..].to_vec(), &body[..body.len() - item]);
                    return replace(out, count - 1 - item, term);
                }
            }
        }
        // `t x (s t x)*`
        Term::List(item, between) if count > 1 && between.parts().last() == Some(&out[count - 2]) => {
            let between = between.parts();
            let term = list(vec![out[count - 2].clone(), (**item).clone()], &between[..between.len() - 1]);
            return replace(out, count - 2, term);
        }
        _ => {}
    }
    // `x (t s x)* t`
    if let Some(Term::List(item, between)) = count.checked_sub(2).map(|at| &out[at])
        && between.parts().first() == Some(&out[count - 1])
    {
        let term = list(vec![(**item).clone(), out[count - 1].clone()], &between.parts()[1..]);
        return replace(out, count - 2, term);
    }
    // `x* x` and `(x s)* x`
    let Some(at) = out[..count - 1].iter().rposition(|term| matches!(term, Term::Star(_))) else { return false };
    let Term::Star(inner) = &out[at] else { return false };
    let (body, after) = (inner.parts(), &out[at + 1..]);
    if !body.starts_with(after) {
        return false;
    }
    let term = list(after.to_vec(), &body[after.len()..]);
    replace(out, at, term)
}

pub(super) fn optional(term: Term) -> Term {
    match term {
        Term::Plus(inner) => Term::Star(inner),
        Term::Optional(_) | Term::Star(_) => term,
        term if term == Term::EMPTY => term,
        term => Term::Optional(Box::new(term)),
    }
}

pub(super) fn star(mut term: Term) -> Term {
    while let Term::Optional(inner) | Term::Star(inner) | Term::Plus(inner) = term {
        term = *inner;
    }
    if term == Term::EMPTY { term } else { Term::Star(Box::new(term)) }
}

#[cfg(test)]
pub(super) mod tests {
    use rand::RngExt;

    use super::*;

    /// Returns the words of a term of up to a length; a set counts as its atoms.
    pub(crate) fn words(term: &Term, length: usize) -> BTreeSet<Vec<usize>> {
        let join = |ones: &BTreeSet<Vec<usize>>, twos: &BTreeSet<Vec<usize>>| -> BTreeSet<Vec<usize>> {
            let all = ones.iter().flat_map(|one| twos.iter().map(move |two| [&one[..], two].concat()));
            all.filter(|word| word.len() <= length).collect()
        };
        let again = |step: &BTreeSet<Vec<usize>>| {
            let mut all = BTreeSet::from([Vec::new()]);
            for _ in 0..length {
                let longer = join(&all, step);
                all.extend(longer);
            }
            all
        };
        let empty = || BTreeSet::from([Vec::new()]);
        match term {
            Term::Symbol(symbol) => BTreeSet::from([vec![*symbol]]),
            Term::Set(atoms) => atoms.iter().map(|&atom| vec![atom]).collect(),
            Term::Sequence(parts) => parts.iter().fold(empty(), |all, part| join(&all, &words(part, length))),
            Term::Choice(parts) => parts.iter().flat_map(|part| words(part, length)).collect(),
            Term::Optional(part) => words(part, length).into_iter().chain(empty()).collect(),
            Term::Star(part) => again(&words(part, length)),
            Term::Plus(part) => join(&words(part, length), &again(&words(part, length))),
            Term::List(item, between) => {
                let item = words(item, length);
                join(&item, &again(&join(&words(between, length), &item)))
            }
        }
    }

    /// Every rewriting keeps the words: the plain constructors are the reference.
    #[test]
    fn rewritings_keep_the_words() {
        let mut random = crate::testing::random();
        for round in 0..3000 {
            let factoring = Factoring::ALL[round % 4];
            let mut all = vec![Term::EMPTY, Term::Symbol(0), Term::Symbol(1), Term::Symbol(2)];
            for _ in 0..6 {
                let mut any = || all[random.random_range(0..all.len())].clone();
                let (one, two, three) = (any(), any(), any());
                let (found, plain) = match random.random_range(0..4) {
                    0 => (star(one.clone()), Term::Star(Box::new(one))),
                    1 => (optional(one.clone()), Term::Optional(Box::new(one))),
                    2 => {
                        let parts = vec![one, two, three];
                        (sequence(parts.clone()), Term::Sequence(parts))
                    }
                    _ => {
                        let parts = vec![one, two, three];
                        (factoring.choice(parts.clone()), Term::Choice(parts))
                    }
                };
                assert_eq!(words(&found, 5), words(&plain, 5), "{plain:?} became {found:?}");
                if found.size() < 20 {
                    all.push(found);
                }
            }
        }
    }

    #[test]
    fn lists_are_found() {
        let [x, s, t] = [0, 1, 2].map(Term::Symbol);
        let list = |item: Term, between: Term| Term::List(Box::new(item), Box::new(between));
        let again = |parts: &[&Term]| star(sequence(parts.iter().copied().cloned().collect()));
        assert_eq!(sequence(vec![x.clone(), again(&[&x])]), Term::Plus(Box::new(x.clone())));
        assert_eq!(sequence(vec![x.clone(), again(&[&s, &x])]), list(x.clone(), s.clone()));
        assert_eq!(sequence(vec![again(&[&x, &s]), x.clone()]), list(x.clone(), s.clone()));
        let found = sequence(vec![x.clone(), again(&[&t, &s, &x]), t.clone()]);
        assert_eq!(found, list(sequence(vec![x.clone(), t.clone()]), s.clone()));
        let shared = Factoring::ALL[0].choice(vec![sequence(vec![x.clone(), s.clone()]), x.clone()]);
        assert_eq!(shared, sequence(vec![x, optional(s)]));
    }
}
