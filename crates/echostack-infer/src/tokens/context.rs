//! Where lexemes stand, and which words are lexemes there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::given::Given;
use crate::ask::queries::Stop;
use crate::text::teacher::Teacher;
use crate::write::regex::Regex;

/// What stands before and after a lexeme.
pub(super) type Context = (String, String);

/// What is a lexeme in a context.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) given: Option<Arc<Given>>,
    /// Words that are tokens of their own, and whether that is so in any case.
    pub(super) special: BTreeMap<String, bool>,
    /// How comments begin, and what encloses strings.
    pub(super) reserved: Vec<&'static str>,
    /// Whether spaces are not tried within words, since some context takes words and no spaces in them.
    pub(super) relaxed: bool,
    /// Characters that no lexeme of a context has, since it would go on into its neighbor.
    pub(super) banned: BTreeMap<Context, BTreeSet<char>>,
}

impl Rules {
    pub(super) fn is_special(&self, word: &str) -> bool {
        let folded = |(special, any): (&String, &bool)| *any && special.eq_ignore_ascii_case(word);
        self.special.contains_key(word) || self.special.iter().any(folded)
    }

    /// Returns whether a word is one of a token that was given.
    pub(super) fn is_given(&self, word: &str) -> bool {
        self.given.as_ref().is_some_and(|given| given.token(word).is_some())
    }

    /// Returns which words are lexemes in a context: they are valid there, and no space can be inserted. Those that were
    /// given are not among them.
    pub(super) fn are_lexemes(
        &self,
        context: &Context,
        words: &[String],
        teacher: &mut Teacher<'_>,
    ) -> Result<Vec<bool>, Stop> {
        let banned = self.banned.get(context);
        let words: Vec<Option<String>> = (words.iter())
            .map(|word| {
                let is_open = word.chars().any(is_of_name)
                    && !self.is_given(word)
                    && !word
                        .chars()
                        .any(|letter| letter.is_whitespace() || banned.is_some_and(|b| b.contains(&letter)))
                    && !self.reserved.iter().any(|reserved| word.contains(reserved));
                is_open.then(|| if self.is_special(word) { format!("{word}q") } else { word.clone() })
            })
            .collect();
        let open: Vec<&String> = words.iter().flatten().collect();
        let valid = fit(context, &open, teacher)?;
        let open: Vec<&String> =
            open.into_iter().zip(valid).filter_map(|(word, valid)| valid.then_some(word)).collect();
        let mut owners = Vec::new();
        let mut split = Vec::new();
        for (number, word) in open.iter().enumerate() {
            let mut last: Option<char> = None;
            let mut first = true;
            for (at, letter) in word.char_indices() {
                // Within words that begin with a letter.
                let inner =
                    self.relaxed && last.is_some_and(is_of_name) && is_of_name(letter) && begins_as_name(&word[..at]);
                if !first && !inner {
                    owners.push(number);
                    split.push(format!("{} {}", &word[..at], &word[at..]));
                }
                (last, first) = (Some(letter), false);
            }
        }
        let mut whole = vec![true; open.len()];
        for (number, valid) in owners.into_iter().zip(fit(context, &split, teacher)?) {
            whole[number] &= !valid;
        }
        let lexemes: BTreeSet<&String> =
            open.into_iter().zip(whole).filter_map(|(word, whole)| whole.then_some(word)).collect();
        Ok(words.iter().map(|word| word.as_ref().is_some_and(|word| lexemes.contains(word))).collect())
    }

    /// Returns the expression of a word.
    pub(super) fn written(&self, word: &str) -> Regex {
        if self.special.get(word) != Some(&true) {
            return Regex::Text(word.to_string());
        }
        let either = |letter: char| {
            let both = [letter.to_ascii_uppercase(), letter.to_ascii_lowercase()];
            Regex::Class(both.map(|letter| (letter, letter)).into_iter().collect())
        };
        Regex::Sequence(word.chars().map(either).collect())
    }
}

/// Returns whether names consist of such characters.
pub(super) fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns whether the last run of letters, digits and underscores of a text begins with a letter or an underscore.
fn begins_as_name(text: &str) -> bool {
    let run = text.rsplit(|letter| !is_of_name(letter)).next();
    run.and_then(|run| run.chars().next()).is_some_and(|letter| !letter.is_numeric())
}

/// Returns which words are valid in a context.
pub(super) fn fit<T: AsRef<str>>(context: &Context, words: &[T], teacher: &mut Teacher<'_>) -> Result<Vec<bool>, Stop> {
    let texts: Vec<String> = words.iter().map(|word| format!("{}{}{}", context.0, word.as_ref(), context.1)).collect();
    teacher.all_valid(&texts)
}

pub(super) fn length((before, after): &Context) -> usize {
    before.len() + after.len()
}

/// Returns the end of a text, for a message.
pub(super) fn tail(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    letters[letters.len().saturating_sub(15)..].iter().collect()
}
