//! What texts say about tokens, without any grammar.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::blame::{Fault, Mixed};
use super::context::{Context, fit, is_of_name};
use super::cut::{Kind, Piece};
use super::finder::{Finder, Tested};
use super::rules::Span;
use crate::ask::queries::Stop;
use crate::test::edits::redrawn;
use crate::text::teacher::Teacher;

/// The number of texts near the examples in a round of tests.
const TESTS: usize = 700;
/// The most languages of lexemes.
const MOST_LEARNED: usize = 20;

impl Finder {
    /// Returns texts near the examples, with edits of characters and of tokens.
    fn tests(&self, random: &mut ChaCha8Rng) -> Vec<String> {
        let read: Vec<(&String, Vec<&str>)> = (self.cut.examples.iter())
            .filter_map(|text| {
                Some((text, self.read(text).ok()?.into_iter().map(|(_, word)| word).collect::<Vec<_>>()))
            })
            .filter(|(_, words)| !words.is_empty())
            .collect();
        let mut letters: BTreeSet<char> = self.cut.examples.iter().flat_map(|text| text.chars()).collect();
        letters.extend("abcdefgh0179_-.XQ".chars());
        let letters: Vec<char> = letters.into_iter().collect();
        let flat: Vec<&str> = read.iter().flat_map(|(_, words)| words.iter().copied()).collect();
        let kinds: Vec<&Vec<String>> =
            self.drawn.values().chain(self.texts_of.values()).filter(|texts| !texts.is_empty()).collect();
        let mut tests = Vec::new();
        while tests.len() < TESTS {
            let Some((text, words)) = read.choose(random) else { break };
            let pick = random.random_range(0..7);
            if pick == 6 {
                tests.push(redrawn(text, random));
                continue;
            }
            if pick < 3 {
                let letters_of: Vec<char> = text.chars().collect();
                let at = random.random_range(0..=letters_of.len());
                let after = (at + usize::from(pick > 0)).min(letters_of.len());
                let letter = letters.choose(random).copied();
                tests.push(
                    letters_of[..at].iter().copied().chain(letter).chain(letters_of[after..].iter().copied()).collect(),
                );
                continue;
            }
            let at = random.random_range(0..words.len());
            let any = flat.choose(random).copied().unwrap_or_default();
            let middle: Vec<&str> = match (pick, random.random_range(0..3)) {
                (3, 0) => vec![any],
                (3, _) => kinds
                    .choose(random)
                    .and_then(|texts| texts.choose(random))
                    .map(String::as_str)
                    .into_iter()
                    .collect(),
                (4, 0) => vec![],
                (4, 1) => vec![words[at], words[at]],
                (4, _) => vec![words[at], any],
                _ => Vec::new(),
            };
            let after: Vec<&str> = if pick == 5 {
                let (_, other) = read.choose(random).map_or((text, words), |(text, words)| (text, words));
                other[random.random_range(0..other.len())..].to_vec()
            } else {
                words[at + 1..].to_vec()
            };
            tests.push([&words[..at], &middle, &after].concat().join(" "));
        }
        tests
    }

    /// Tests the tokens with the examples and texts near them.
    pub(super) fn test(&mut self, teacher: &mut Teacher<'_>, random: &mut ChaCha8Rng) -> Result<Tested, Stop> {
        let mut texts = self.cut.examples.clone();
        texts.extend(self.tests(random));
        self.examine(&texts, teacher, random)
    }

    /// Corrects what texts show to be wrong with the tokens. A valid text that cannot be read widens a token, or adds one; a
    /// token of which one lexeme is valid in a context and another is not is looked at there; and two tokens between which
    /// there must be a space must not touch.
    pub(super) fn examine(
        &mut self,
        texts: &[String],
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<Tested, Stop> {
        let (faults, read) = self.faults(texts, teacher)?;
        let mut tested = Tested { read, ..Tested::default() };
        let mut tried: BTreeMap<String, usize> = BTreeMap::new();
        for fault in faults {
            let corrected = match fault {
                Fault::Trapped(tokens) => self.free(&tokens),
                Fault::Unread { text, at } => {
                    if let Some(space) = self.space_at(&text, at) {
                        self.lexemes.entry(Kind::Sign).or_default().insert(space.to_string())
                    } else {
                        let piece = self.piece_at(&text, at, teacher)?;
                        self.widen(piece, &mut tried, teacher, random)?
                    }
                }
                Fault::Spaces { text, tokens, valid } => {
                    let (apart, joined) = self.touching(&text, &tokens, valid, teacher)?;
                    tested.spaced += usize::from(!apart);
                    self.widen(joined, &mut tried, teacher, random)? || apart
                }
                Fault::Lexeme(mixed) => self.separate(mixed, &mut tried, teacher, random)?,
            };
            tested.corrected += usize::from(corrected);
        }
        Ok(tested)
    }

    /// Returns whether a word has its answer in a context by itself, as keywords do: words that look like it have the other.
    fn is_reserved(&self, context: &Context, word: &str, valid: bool, teacher: &mut Teacher<'_>) -> Result<bool, Stop> {
        let is_word = word.chars().all(is_of_name) && !word.starts_with(char::is_numeric);
        if !is_word || self.rules.is_special(word) {
            return Ok(false);
        }
        let others = [format!("{word}q"), format!("q{word}"), format!("{word}{word}")];
        Ok(fit(context, &others, teacher)?.into_iter().all(|other| other != valid))
    }

    /// Corrects a token whose lexemes have two answers in a context. Returns whether anything changed.
    fn separate(
        &mut self,
        mixed: Mixed,
        tried: &mut BTreeMap<String, usize>,
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<bool, Stop> {
        let Mixed { context, name, word, plain, valid } = mixed;
        let both = [(&word, valid), (&plain, !valid)];
        for (string, valid) in both {
            if self.correct_strings(string, valid, teacher, random)? {
                return Ok(true);
            }
        }
        for (word, valid) in both {
            if self.is_reserved(&context, word, valid, teacher)? {
                if !self.columns.contains(&context) {
                    self.columns.push(context.clone());
                }
                self.reserve(word, teacher)?;
                return Ok(true);
            }
        }
        let tries = tried.entry(name.clone()).or_default();
        if !self.vectors.contains_key(&name) {
            let is_new = *tries < 6 && !self.columns.contains(&context);
            if is_new {
                *tries += 1;
                self.columns.push(context);
            }
            return Ok(is_new);
        }
        let mut learned = false;
        for at in 0..self.learned.len() {
            for (word, _) in both {
                learned |= self.correct_learned(at, word, teacher, random)?;
            }
        }
        if !learned && *tries < 2 && self.learned.len() < MOST_LEARNED {
            *tries += 1;
            let sample = if valid { word } else { plain };
            learned = self.learn_context(context, &[sample], teacher, random)?;
        }
        Ok(learned)
    }

    /// Returns the space of a valid text that the lexer does not read: one that is not skipped is a token, such as the line
    /// feed, which Python allows between brackets only.
    fn space_at(&self, text: &str, at: usize) -> Option<char> {
        let is_skipped = |letter: char| self.cut.skipped.contains(&letter);
        text[at..].trim_start_matches(is_skipped).chars().next().filter(|letter| letter.is_whitespace())
    }

    /// Returns the lexeme of a valid text that the lexer does not read, with its context.
    fn piece_at(&self, text: &str, at: usize, teacher: &mut Teacher<'_>) -> Result<Option<(Context, String)>, Stop> {
        let lexemes = self.cut.cut(text, teacher)?;
        let is_stuck = |piece: &&Piece| piece.start <= at && at < piece.end;
        let found = lexemes.iter().find(is_stuck).or_else(|| lexemes.iter().find(|piece| piece.start >= at));
        Ok(found.map(|piece| {
            let context = (text[..piece.start].to_string(), text[piece.end..].to_string());
            (context, text[piece.start..piece.end].to_string())
        }))
    }

    /// Spaces between tokens change the answer to a text. Returns whether two tokens were found that must not touch; or the
    /// lexeme that the lexer splits in two.
    fn touching(
        &mut self,
        text: &str,
        tokens: &[Span],
        valid: bool,
        teacher: &mut Teacher<'_>,
    ) -> Result<(bool, Option<(Context, String)>), Stop> {
        let pairs: Vec<&[Span]> = tokens.windows(2).filter(|pair| pair[0].end == pair[1].start).collect();
        let spaced: Vec<String> =
            pairs.iter().map(|pair| format!("{} {}", &text[..pair[0].end], &text[pair[0].end..])).collect();
        let answers = teacher.all_valid(&spaced)?;
        let Some(pair) = pairs.iter().zip(answers).find(|(_, answer)| *answer != valid).map(|(pair, _)| pair) else {
            return Ok((false, None));
        };
        if valid {
            return Ok((false, self.piece_at(text, pair[0].start, teacher)?));
        }
        // Other texts of the two tokens must not touch either, where they are read as these tokens.
        let some = |span: &Span| -> Vec<String> {
            let own = text[span.start..span.end].to_string();
            let others = self.texts_of.get(&span.name).into_iter().flatten().filter(|other| **other != own);
            std::iter::once(own.clone()).chain(others.take(2).cloned()).collect()
        };
        let (before, after) = (&text[..pair[0].start], &text[pair[1].end..]);
        for one in some(&pair[0]) {
            for two in some(&pair[1]) {
                let names: Vec<String> =
                    self.spans(&format!("{one}{two}")).unwrap_or_default().into_iter().map(|span| span.name).collect();
                if names != [pair[0].name.as_str(), pair[1].name.as_str()] {
                    continue;
                }
                let both = [format!("{before}{one}{two}{after}"), format!("{before}{one} {two}{after}")];
                if teacher.all_valid(&both)? == [true, true] {
                    return Ok((false, None));
                }
            }
        }
        let words = (text[pair[0].start..pair[0].end].to_string(), text[pair[1].start..pair[1].end].to_string());
        Ok((self.apart.insert(words), None))
    }

    /// Forgets that tokens must not touch which do so in a valid text. Returns whether there were some.
    fn free(&mut self, tokens: &[Span]) -> bool {
        let before = self.apart.len();
        for pair in tokens.iter().filter_map(|token| self.traps.get(&token.name)).flatten() {
            self.apart.remove(pair);
        }
        self.apart.len() < before
    }

    /// Corrects the forms of strings by one that is valid or not. Returns whether any was wrong.
    fn correct_strings(
        &mut self,
        word: &str,
        valid: bool,
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<bool, Stop> {
        for quoted in &mut self.cut.quoted {
            if quoted.correct((word, valid), teacher, random)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Learns from a lexeme that no token has. Returns whether anything changed.
    fn widen(
        &mut self,
        piece: Option<(Context, String)>,
        tried: &mut BTreeMap<String, usize>,
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<bool, Stop> {
        let Some((context, word)) = piece else { return Ok(false) };
        if self.correct_strings(&word, true, teacher, random)? {
            return Ok(true);
        }
        let is_known = self.rules.is_special(&word) || word.contains(char::is_whitespace);
        if is_known || self.rules.reserved.iter().any(|reserved| word.contains(reserved)) {
            return Ok(false);
        }
        if !word.chars().any(is_of_name) {
            self.more.push(format!("{}{word}{}", context.0, context.1));
            return Ok(self.lexemes.entry(Kind::Sign).or_default().insert(word));
        }
        let mut learned = false;
        for at in 0..self.learned.len() {
            learned |= self.correct_learned(at, &word, teacher, random)?;
        }
        let tries = tried.entry(String::new()).or_default();
        if !learned && *tries < 4 && self.learned.len() < MOST_LEARNED {
            *tries += 1;
            learned = self.learn_context(context, &[word], teacher, random)?;
        }
        Ok(learned)
    }
}
