//! Where lexemes begin and end: strings, then places where white space or a comment can be inserted.

use std::sync::Arc;

use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::context::is_of_name;
use super::dfa::BEYOND;
use super::given::{Given, Reads};
use super::strings::{Quoted, find_strings};
use crate::ask::queries::Stop;
use crate::text::teacher::Teacher;

/// How comments begin and end.
const COMMENTS: [(&str, &str); 9] = [
    ("#", "\n"),
    ("//", "\n"),
    ("--", "\n"),
    (";", "\n"),
    ("%", "\n"),
    ("/*", "*/"),
    ("(:", ":)"),
    ("(*", "*)"),
    ("<!--", "-->"),
];
/// What can be skipped.
const SKIPPED: &str = " \t\n\r\u{c},;";
/// The number of places at which skipped text is tried, and the parts of them at which it must be valid, in percent.
const PLACES: usize = 40;
const MOST: (usize, usize) = (97, 80);
/// The least part of the places between two pieces at which a space can be inserted, in percent.
const LEAST: usize = 25;

/// What a piece of a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Space,
    String,
    Number,
    Word,
    Sign,
    /// Several pieces between which no space can be inserted.
    Mixed,
    /// A token that was given.
    Given,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A form of comments.
#[derive(Clone, Debug)]
pub(super) struct Comment {
    pub(super) start: &'static str,
    pub(super) end: &'static str,
    /// The characters that cannot be within.
    pub(super) without: Vec<char>,
}

/// How texts are cut into lexemes.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub(super) given: Option<Arc<Given>>,
    pub(super) quoted: Vec<Quoted>,
    /// The characters that can be inserted between any two lexemes.
    pub(super) skipped: Vec<char>,
    pub(super) comments: Vec<Comment>,
    /// The examples, without comments.
    pub(super) examples: Vec<String>,
    /// The lexemes of each of them.
    pub(super) lexemes: Vec<Vec<Piece>>,
}

impl Cut {
    /// Finds out how examples are cut. Returns nothing if spaces matter almost everywhere.
    pub(super) fn find(
        examples: &[String],
        given: Option<Arc<Given>>,
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<Option<Self>, Stop> {
        let mut quoted = find_strings(examples, teacher, random)?;
        quoted.retain(|quoted| given.as_ref().is_none_or(|given| given.token(&quoted.example()).is_none()));
        let mut this = Self { given, quoted, examples: examples.to_vec(), ..Self::default() };
        let places = this.places(teacher)?;
        for (start, end) in COMMENTS {
            let comment = format!("{start} ]z({end}");
            let is_given = this.given.as_ref().is_some_and(|given| given.skips(comment.trim_end()));
            if !is_given && share(&places, &format!(" {comment}"), teacher, random)? >= MOST.1 {
                let without = excluded(&places, (start, end), teacher)?;
                this.comments.push(Comment { start, end, without });
            }
        }
        for example in examples {
            let bare = this.without_comments(example);
            if bare != *example && teacher.valid(&bare)? {
                this.examples.retain(|known| known != example);
                this.examples.push(bare);
            }
        }
        let places = this.places(teacher)?;
        for letter in SKIPPED.chars() {
            if share(&places, &letter.to_string(), teacher, random)? >= MOST.0 {
                this.skipped.push(letter);
            }
        }
        let count = |text: &String| this.pieces(text).iter().filter(|piece| piece.kind != Kind::Space).count();
        let pieces: usize = this.examples.iter().map(|text| count(text).saturating_sub(1)).sum();
        if !this.skipped.contains(&' ') || 100 * places.len() < LEAST * pieces.max(1) {
            return Ok(None);
        }
        for at in 0..this.examples.len() {
            let lexemes = this.cut(&this.examples[at], teacher)?;
            this.lexemes.push(lexemes);
        }
        Ok(Some(this))
    }

    /// Returns the places between lexemes of the examples: what is before and after a space that can be inserted.
    fn places(&self, teacher: &mut Teacher<'_>) -> Result<Vec<(String, String)>, Stop> {
        let mut places = Vec::new();
        for example in &self.examples {
            for lexeme in self.cut(example, teacher)?.iter().rev().skip(1) {
                places.push((example[..lexeme.end].to_string(), example[lexeme.end..].to_string()));
            }
        }
        let spaced: Vec<String> = places.iter().map(|(before, after)| format!("{before} {after}")).collect();
        let valid = teacher.all_valid(&spaced)?;
        Ok(places.into_iter().zip(valid).filter_map(|(place, valid)| valid.then_some(place)).collect())
    }

    /// Returns the strings, numbers, words and signs of a text.
    pub(super) fn pieces(&self, text: &str) -> Vec<Piece> {
        let (mut pieces, mut start) = (Vec::new(), 0);
        while let Some(first) = text[start..].chars().next() {
            let rest = &text[start..];
            let run = |is: fn(char) -> bool| rest.find(|letter| !is(letter)).unwrap_or(rest.len());
            let given = self.given.as_ref().and_then(|given| given.reads(rest));
            let string = self.quoted.iter().find_map(|quoted| quoted.reads(rest));
            let (kind, length) = match (given, string) {
                (Some(Reads::Token(_, length)), _) => (Kind::Given, length),
                (Some(Reads::Skipped(length)), _) => (Kind::Space, length),
                (None, Some(length)) => (Kind::String, length),
                _ if first.is_whitespace() => (Kind::Space, run(char::is_whitespace)),
                _ if first.is_numeric() => (Kind::Number, run(char::is_numeric)),
                _ if first.is_alphabetic() || first == '_' => (Kind::Word, run(is_of_name)),
                _ => (Kind::Sign, first.len_utf8()),
            };
            pieces.push(Piece { kind, start, end: start + length });
            start += length;
        }
        pieces
    }

    /// Returns the lexemes of a valid text: runs of pieces between which no space can be inserted.
    pub(super) fn cut(&self, text: &str, teacher: &mut Teacher<'_>) -> Result<Vec<Piece>, Stop> {
        let pieces = self.pieces(text);
        let spaced: Vec<String> = pieces.iter().map(|p| format!("{} {}", &text[..p.start], &text[p.start..])).collect();
        let apart = teacher.all_valid(&spaced)?;
        let mut lexemes: Vec<Piece> = Vec::new();
        // A token that was given ends where it does, and a sign before it is not a part of it; but `5m` is one number.
        let is_given = |one: &Piece, two: &Piece| {
            one.kind == Kind::Given || (two.kind == Kind::Given && matches!(one.kind, Kind::Sign | Kind::Space))
        };
        for (piece, apart) in pieces.into_iter().zip(apart) {
            match lexemes.last_mut() {
                Some(last)
                    if piece.kind != Kind::Space && !is_given(last, &piece) && !apart && last.end == piece.start =>
                {
                    let signs = last.kind == Kind::Sign && piece.kind == Kind::Sign;
                    last.kind = if signs { Kind::Sign } else { Kind::Mixed };
                    last.end = piece.end;
                }
                _ if piece.kind == Kind::Space => {}
                _ => lexemes.push(piece),
            }
        }
        Ok(lexemes)
    }

    /// Returns a text in which its comments are skipped.
    fn without_comments(&self, text: &str) -> String {
        let (mut bare, mut start) = (String::new(), 0);
        while let Some(first) = text[start..].chars().next() {
            let rest = &text[start..];
            let comment = self.comments.iter().find(|comment| rest.starts_with(comment.start));
            let given = self.given.as_ref().and_then(|given| given.reads(rest));
            if let Some(Reads::Token(_, length) | Reads::Skipped(length)) = given {
                let is_comment = matches!(given, Some(Reads::Skipped(_))) && !rest[..length].trim().is_empty();
                bare.push_str(if is_comment { "\n" } else { &rest[..length] });
                start += length;
                continue;
            }
            let length = match (self.quoted.iter().find_map(|quoted| quoted.reads(rest)), comment) {
                (Some(length), _) => {
                    bare.push_str(&rest[..length]);
                    length
                }
                (None, Some(Comment { start: begin, end, .. })) => {
                    bare.push(if *end == "\n" { '\n' } else { ' ' });
                    rest[begin.len()..].find(end).map_or(rest.len(), |at| begin.len() + at + end.len())
                }
                (None, None) => {
                    bare.push(first);
                    first.len_utf8()
                }
            };
            start += length;
        }
        bare
    }
}

/// Returns the characters that comments cannot contain: for example, another one than a line feed may end them, too.
fn excluded(
    places: &[(String, String)],
    (start, end): (&str, &str),
    teacher: &mut Teacher<'_>,
) -> Result<Vec<char>, Stop> {
    let letters = || ('\0'..='\x7f').chain([BEYOND]).filter(|letter| !end.starts_with(*letter));
    for (before, after) in places {
        let with = |letter: &str| format!("{before} {start} z{letter}]z({end}{after}");
        if !teacher.valid(&with(""))? {
            continue;
        }
        let texts: Vec<String> = letters().map(|letter| with(&letter.to_string())).collect();
        let valid = teacher.all_valid(&texts)?;
        return Ok(letters().zip(valid).filter_map(|(letter, valid)| (!valid).then_some(letter)).collect());
    }
    Ok(Vec::new())
}

/// Returns at how many of some places a text can be inserted, in percent.
fn share(
    places: &[(String, String)],
    text: &str,
    teacher: &mut Teacher<'_>,
    random: &mut ChaCha8Rng,
) -> Result<usize, Stop> {
    let some: Vec<&(String, String)> = places.sample(random, PLACES).collect();
    let texts: Vec<String> = some.iter().map(|(before, after)| format!("{before}{text}{after}")).collect();
    let valid = teacher.all_valid(&texts)?.into_iter().filter(|valid| *valid).count();
    Ok(if some.is_empty() { 0 } else { 100 * valid / some.len() })
}
