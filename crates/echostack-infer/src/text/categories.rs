//! General categories of Unicode: outside of ASCII, programs tell these apart, and seldom their members.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, HirKind};

use super::charset::CharSet;

/// The names of all general categories, in groups. Surrogates are not characters.
const GROUPS: [(&str, &[&str]); 8] = [
    ("L", &["Lu", "Ll", "Lt", "Lm", "Lo"]),
    ("M", &["Mn", "Mc", "Me"]),
    ("Nd", &["Nd"]),
    ("", &["Nl", "No"]),
    ("P", &["Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"]),
    ("S", &["Sm", "Sc", "Sk", "So"]),
    ("Z", &["Zs", "Zl", "Zp"]),
    ("C", &["Cc", "Cf", "Co", "Cn"]),
];

/// A set of characters with a name.
#[derive(Clone, Debug)]
pub(crate) struct Category {
    /// The name, as in `\p{Lu}`.
    pub(crate) name: &'static str,
    /// All members.
    pub(crate) all: CharSet,
    /// The members outside of ASCII.
    pub(crate) beyond: CharSet,
}

impl Category {
    fn new(name: &'static str) -> Self {
        let all = members(name);
        Self { name, beyond: all.beyond_ascii(), all }
    }
}

/// Categories that programs often treat alike.
#[derive(Debug)]
pub(crate) struct Group {
    /// The group, if it has a name.
    whole: Option<Category>,
    categories: Vec<Category>,
}

impl Group {
    /// Returns the members outside of ASCII.
    pub(crate) fn beyond(&self) -> CharSet {
        self.categories.iter().fold(CharSet::default(), |all, category| all.union(&category.beyond))
    }
}

/// Returns all categories in their groups.
pub(crate) fn groups() -> &'static [Group] {
    static ALL: OnceLock<Vec<Group>> = OnceLock::new();
    ALL.get_or_init(|| {
        let group = |&(name, parts): &(&'static str, &[&'static str])| {
            let categories = parts.iter().map(|name| Category::new(name)).collect();
            Group { whole: (!name.is_empty()).then(|| Category::new(name)), categories }
        };
        GROUPS.iter().map(group).collect()
    })
}

/// Returns all categories.
pub(crate) fn categories() -> impl Iterator<Item = &'static Category> {
    groups().iter().flat_map(|group| &group.categories)
}

/// Returns the category of a character outside of ASCII.
pub(crate) fn category_of(letter: char) -> Option<&'static Category> {
    categories().find(|category| category.beyond.contains(letter))
}

/// Returns the categories and groups that a set without ASCII characters consists of, if it does.
pub(crate) fn named(set: &CharSet) -> Option<Vec<&'static Category>> {
    let mut found = Vec::new();
    let mut rest = set.clone();
    for group in groups() {
        let mut within = |category: &'static Category| {
            let is_within = category.beyond.without(&rest).is_empty() && !category.beyond.is_empty();
            if is_within {
                rest = rest.without(&category.beyond);
                found.push(category);
            }
            is_within
        };
        if !group.whole.as_ref().is_some_and(&mut within) {
            group.categories.iter().for_each(|category| _ = within(category));
        }
    }
    rest.is_empty().then_some(found)
}

fn members(name: &str) -> CharSet {
    let parsed = regex_syntax::parse(&format!(r"\p{{{name}}}"));
    match parsed.as_ref().map(regex_syntax::hir::Hir::kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        // A category with one member.
        Ok(HirKind::Literal(text)) => {
            std::str::from_utf8(&text.0).unwrap_or_default().chars().map(|l| (l, l)).collect()
        }
        // All categories that are named here are known to the library.
        _ => CharSet::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_are_all_characters_once() {
        let all = categories().fold(CharSet::default(), |all, category| all.union(&category.all));
        assert_eq!(all.ranges(), [('\0', char::MAX)]);
        assert_eq!(categories().map(|category| category.all.len()).sum::<usize>(), all.len());
        for group in groups().iter().filter(|group| group.whole.is_some()) {
            assert_eq!(group.whole.as_ref().unwrap().beyond, group.beyond());
        }
    }

    #[test]
    fn sets_have_names_if_they_consist_of_categories() {
        let names = |set: &CharSet| {
            named(set).map(|found| found.iter().map(|category| category.name).collect::<Vec<_>>().join(" "))
        };
        let (digits, letters) = (&groups()[2].beyond(), &groups()[0].beyond());
        assert_eq!(names(digits).unwrap(), "Nd");
        assert_eq!(names(&digits.union(letters)).unwrap(), "L Nd");
        assert_eq!(names(&letters.without(&members("Lo"))).unwrap(), "Lu Ll Lt Lm");
        assert_eq!(names(&CharSet::of('\u{e9}')), None);
        assert_eq!(category_of('\u{e9}').unwrap().name, "Ll");
    }
}
