//! Names by role, then by shape.

use echostack::spelling::{Case, identifier, spelled};

use super::characters::Characters;
use super::term::Term;

/// Returns the name of a token with one text: the text without spaces around it, if it can be written between quotes.
pub(super) fn of_text(text: &str) -> String {
    let bare = text.trim();
    let is_word = bare.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let is_mark = bare.chars().all(|letter| letter.is_ascii_punctuation() && !"'\"\\%".contains(letter));
    if !bare.is_empty() && (is_word || is_mark) {
        return bare.to_string();
    }
    identifier(if bare.is_empty() { text } else { bare }, Case::Upper)
}

/// Returns the name of a token with many texts, of which one is given.
pub(super) fn of_pattern(term: &Term, sample: &str, characters: &Characters) -> String {
    let (Some(first), Some(last)) = (sample.chars().next(), sample.chars().last()) else { return "TEXT".into() };
    let bare = sample.trim();
    if last == '\n' {
        return if first == '#' || first == '/' { "COMMENT" } else { "NEWLINE" }.into();
    }
    if sample.len() > 1 && first == last && "\"'`".contains(first) {
        return "STRING".into();
    }
    if let Term::Set(_) = term {
        return match first {
            _ if first.is_numeric() => "DIGIT",
            _ if first.is_alphabetic() => "LETTER",
            _ => "CHARACTER",
        }
        .into();
    }
    if is_finite(term) {
        let mut kinds: Vec<String> = Vec::new();
        for letter in bare.chars() {
            let kind = match letter {
                // More than one letter is a word.
                _ if letter.is_alphabetic() => match kinds.pop_if(|last| *last == "LETTER" || *last == "WORD") {
                    Some(_) => "WORD".to_string(),
                    None => "LETTER".to_string(),
                },
                _ if letter.is_numeric() => "DIGIT".to_string(),
                _ => spelled(letter).to_ascii_uppercase(),
            };
            if kinds.last() != Some(&kind) {
                kinds.push(kind);
            }
        }
        return if kinds.is_empty() { "TEXT".into() } else { kinds.join("_") };
    }
    let has_digits = bare.chars().any(char::is_numeric);
    if first.is_numeric() || "+-".contains(first) || first == '.' && has_digits {
        let is_plain = !bare.chars().any(char::is_alphabetic) && !uses(term, &['.', 'e', 'E'], characters);
        return if is_plain { "INTEGER" } else { "NUMBER" }.into();
    }
    if !bare.chars().any(char::is_alphabetic) {
        return "TEXT".into();
    }
    // What begins a name is part of what people call it: `$name`.
    let is_own = |letter: char| {
        letter.is_alphanumeric() || "+-".contains(letter) || letter == '_' && begins_with_letters(term, characters)
    };
    let sigil = bare.chars().next().filter(|&letter| !is_own(letter));
    match sigil {
        Some(letter) => spelled(letter).to_ascii_uppercase() + "_NAME",
        None if bare.contains(' ') => {
            let words = bare.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
            identifier(&words.collect::<Vec<_>>().join("_"), Case::Upper)
        }
        None => "NAME".into(),
    }
}

fn is_finite(term: &Term) -> bool {
    !matches!(term, Term::Star(_) | Term::Plus(_) | Term::List(..)) && term.inner().into_iter().all(is_finite)
}

/// Returns whether some characters occur in a term, each as one of the only characters of its set or in another case.
fn uses(term: &Term, letters: &[char], characters: &Characters) -> bool {
    match term {
        Term::Set(atoms) => {
            let count: usize = atoms.iter().map(|&atom| characters.atoms[atom].len()).sum();
            count <= 2
                && letters.iter().any(|&letter| atoms.iter().any(|&atom| characters.atoms[atom].contains(letter)))
        }
        _ => term.inner().into_iter().any(|part| uses(part, letters, characters)),
    }
}

fn begins_with_letters(term: &Term, characters: &Characters) -> bool {
    match term {
        Term::Set(atoms) => atoms.iter().any(|&atom| characters.atoms[atom].contains('a')),
        _ => term.inner().first().is_some_and(|part| begins_with_letters(part, characters)),
    }
}

/// Returns the name of what a token opens.
pub(super) fn of_opener(name: &str, after_name: bool) -> String {
    match name {
        "(" if after_name => "Arguments".into(),
        "(" => "Parens".into(),
        "[" => "Brackets".into(),
        "{" => "Braces".into(),
        "<" => "Angles".into(),
        _ => identifier(name, Case::Camel),
    }
}

/// Returns the name of several of something.
pub(super) fn plural(name: &str) -> String {
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches('_');
    match name.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::symbols::Symbols;
    use std::collections::BTreeSet;

    #[test]
    fn one_text_is_its_own_name() {
        for (text, name) in
            [("true", "true"), (" == ", "=="), ("\n", "NEWLINE"), ("\"", "DQUOTE"), ("\\/", "BACKSLASH_SLASH")]
        {
            assert_eq!(of_text(text), name);
        }
    }

    #[test]
    fn many_texts_are_named_after_what_they_look_like() {
        let mut characters = Characters::new(&crate::learn::automaton::Automaton::default(), &Symbols::default());
        let sets = ["0", "a", "\"", ".", "$", "-", "\n", "#"];
        characters.atoms = sets.iter().map(|set| set.chars().map(|letter| (letter, letter)).collect()).collect();
        let set = |at: usize| Term::Set(BTreeSet::from([at]));
        let plus = |at: usize| Term::Plus(Box::new(set(at)));
        let name = |parts: Vec<Term>, sample: &str| of_pattern(&Term::Sequence(parts), sample, &characters);
        assert_eq!(name(vec![plus(0)], "0"), "INTEGER");
        assert_eq!(name(vec![set(5), plus(0)], "-0"), "INTEGER");
        assert_eq!(name(vec![plus(0), set(3), plus(0)], "0.0"), "NUMBER");
        assert_eq!(name(vec![set(2), plus(1), set(2)], "\"a\""), "STRING");
        assert_eq!(name(vec![plus(1)], "a"), "NAME");
        assert_eq!(name(vec![set(4), plus(1)], "$a"), "DOLLAR_NAME");
        assert_eq!(name(vec![set(7), plus(1), set(6)], "#a\n"), "COMMENT");
        assert_eq!(name(vec![set(1), set(0)], "a0"), "LETTER_DIGIT");
        assert_eq!(name(vec![set(1), set(1), set(0)], "aa0"), "WORD_DIGIT");
        assert_eq!(of_pattern(&set(0), "0", &characters), "DIGIT");
    }

    #[test]
    fn rules_are_named_after_what_opens_them() {
        assert_eq!(["[", "{", "<", "if"].map(|name| of_opener(name, false)), ["Brackets", "Braces", "Angles", "If"]);
        assert_eq!((of_opener("(", false), of_opener("(", true)), ("Parens".to_string(), "Arguments".to_string()));
        assert_eq!(["Pair", "Entry", "Value_2", "Key"].map(plural), ["Pairs", "Entries", "Values", "Keys"]);
    }
}
