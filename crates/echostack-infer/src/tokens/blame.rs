//! Which part of a text is to blame if it and the plain text of its tokens have different answers.
//!
//! The plain text has the same tokens: each is written with the one lexeme that stands for it, with spaces between them. If
//! the lexer is right, both have the same answer. If not, the way from one to the other has a step at which the answer
//! changes, which is found by binary search: either the spaces, or one lexeme.

use std::collections::{BTreeMap, BTreeSet};

use super::context::Context;
use super::finder::Finder;
use super::rules::Span;
use crate::ask::queries::Stop;
use crate::text::teacher::Teacher;

/// The most lexemes of a token, valid texts that cannot be read, and texts with spaces that matter that are blamed at a time.
const MOST_BLAMED: (usize, usize, usize) = (6, 25, 40);

/// What a text shows to be wrong.
#[derive(Debug)]
pub(super) enum Fault {
    /// A valid text cannot be read from so many bytes on.
    Unread { text: String, at: usize },
    /// A valid text has tokens that must not touch.
    Trapped(Vec<Span>),
    /// Spaces between the tokens change the answer, which is this one without them.
    Spaces { text: String, tokens: Vec<Span>, valid: bool },
    /// Two lexemes of a token have different answers.
    Lexeme(Mixed),
}

/// Two lexemes of a token that have different answers in a context.
#[derive(Debug)]
pub(super) struct Mixed {
    pub(super) context: Context,
    pub(super) name: String,
    pub(super) word: String,
    /// The lexeme that stands for the token.
    pub(super) plain: String,
    /// The answer with the first one.
    pub(super) valid: bool,
}

impl Finder {
    /// Returns what texts show to be wrong with the tokens, and the number of texts that were read.
    pub(super) fn faults(&self, texts: &[String], teacher: &mut Teacher<'_>) -> Result<(Vec<Fault>, usize), Stop> {
        let valid = teacher.all_valid(texts)?;
        let read: Vec<Result<Vec<Span>, usize>> = texts.iter().map(|text| self.spans(text)).collect();
        let plain = |(text, tokens): (&String, &Result<Vec<Span>, usize>)| {
            let words: Vec<&str> = tokens.as_ref().ok()?.iter().map(|token| self.plain(token, text)).collect();
            Some(words.join(" "))
        };
        let plain: Vec<Option<String>> = texts.iter().zip(&read).map(plain).collect();
        let asked: BTreeSet<&String> = plain.iter().flatten().collect();
        let asked: Vec<&String> = asked.into_iter().collect();
        let answers: BTreeMap<&String, bool> = asked.iter().copied().zip(teacher.all_valid(&asked)?).collect();
        let mut faults = Vec::new();
        let mut lexemes: BTreeMap<String, usize> = BTreeMap::new();
        let (mut unread, mut spaces) = (0, 0);
        for (((text, valid), tokens), plain) in texts.iter().zip(valid).zip(read).zip(&plain) {
            let tokens = match tokens {
                Ok(tokens) => tokens,
                Err(at) => {
                    if valid && unread < MOST_BLAMED.1 {
                        unread += 1;
                        faults.push(Fault::Unread { text: text.clone(), at });
                    }
                    continue;
                }
            };
            if tokens.iter().any(|token| self.traps.contains_key(&token.name)) {
                faults.extend(valid.then_some(Fault::Trapped(tokens)));
                continue;
            }
            let is_known = |token: &Span| lexemes.get(&token.name).is_some_and(|count| *count >= MOST_BLAMED.0);
            let same = plain.as_ref().is_none_or(|plain| answers[plain] == valid);
            if same || spaces >= MOST_BLAMED.2 || tokens.iter().all(is_known) {
                continue;
            }
            let fault = self.blame(text, tokens, valid, teacher)?;
            match &fault {
                Some(Fault::Lexeme(Mixed { name, .. })) => {
                    let count = lexemes.entry(name.clone()).or_default();
                    *count += 1;
                    if *count > MOST_BLAMED.0 {
                        continue;
                    }
                }
                Some(Fault::Spaces { .. }) => spaces += 1,
                _ => {}
            }
            faults.extend(fault);
        }
        Ok((faults, plain.iter().flatten().count()))
    }

    /// Returns the lexeme that stands for the token of another one.
    fn plain<'a>(&'a self, token: &Span, text: &'a str) -> &'a str {
        let first = self.texts_of.get(&token.name).and_then(|texts| texts.first());
        first.map_or(&text[token.start..token.end], String::as_str)
    }

    /// Finds the step from a text to its plain text at which the answer changes.
    fn blame(
        &self,
        text: &str,
        tokens: Vec<Span>,
        valid: bool,
        teacher: &mut Teacher<'_>,
    ) -> Result<Option<Fault>, Stop> {
        let words: Vec<&str> = tokens.iter().map(|token| &text[token.start..token.end]).collect();
        let plain: Vec<&str> = tokens.iter().map(|token| self.plain(token, text)).collect();
        if teacher.valid(&words.join(" "))? != valid {
            return Ok(Some(Fault::Spaces { text: text.to_string(), tokens, valid }));
        }
        let (mut low, mut high) = (0, words.len());
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            let mixed = [&plain[..middle], &words[middle..]].concat().join(" ");
            if teacher.valid(&mixed)? == valid { low = middle } else { high = middle }
        }
        if low == high || words[low] == plain[low] {
            return Ok(None);
        }
        let mut context = (plain[..low].join(" "), words[high..].join(" "));
        context.0.push_str(if low > 0 { " " } else { "" });
        context.1.insert_str(0, if high < words.len() { " " } else { "" });
        let (name, word, plain) = (tokens[low].name.clone(), words[low].to_string(), plain[low].to_string());
        Ok(Some(Fault::Lexeme(Mixed { context, name, word, plain, valid })))
    }
}
