//! Strings: what encloses them, which letters may stand before them, and what they can contain.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;

use super::context::{Context, fit};
use super::dfa::{BEYOND, Dfa, known};
use super::lexemes::{Ended, Lexemes};
use crate::ask::queries::Stop;
use crate::text::teacher::Teacher;

/// What can enclose a string; the longer ones first.
const QUOTES: [&str; 5] = ["\"\"\"", "'''", "\"", "'", "`"];
/// What a string can contain, and a part of a structure cannot; most of it must be valid.
const JUNK: [&str; 6] = ["zq", "z q", "z,q)", "(z", "]z[", "z}{"];
/// Escapes with hexadecimal digits, and their number.
const ESCAPES: [(char, usize); 3] = [('x', 2), ('u', 4), ('U', 8)];
/// The most contents that are asked about to learn what strings contain. If that is not enough, they are guessed, by
/// single characters and escapes.
const MOST_CONTENTS: usize = 8000;
/// The length of the longest prefix of a string, such as the `b` of `b"x"`.
const LONGEST_PREFIX: usize = 2;

/// A form of strings: what encloses them, and what they contain.
#[derive(Debug)]
pub(super) struct Quoted {
    /// The letters of which one must stand before the first quote, without a space between them; nothing in most strings.
    pub(super) prefixes: Vec<String>,
    pub(super) quote: &'static str,
    pub(super) body: Dfa,
    /// Whether a quote that is written twice stands for itself.
    doubled: bool,
    /// Where contents were learned, and by what; nothing if they are guessed, because they are too many to be learned.
    learned: Option<(Context, Lexemes)>,
}

/// Finds all forms of strings in examples.
pub(super) fn find_strings(
    examples: &[String],
    teacher: &mut Teacher<'_>,
    random: &mut ChaCha8Rng,
) -> Result<Vec<Quoted>, Stop> {
    let mut all = Vec::new();
    for quote in QUOTES {
        all.extend(Quoted::find(quote, examples, teacher, random)?);
    }
    let prefixed = prefixed(&all, examples, teacher)?;
    // Those with a prefix come first: it is a part of them.
    all.splice(0..0, prefixed);
    Ok(all)
}

impl Quoted {
    /// Finds a string of an example that can have any content, and learns what such strings contain.
    fn find(
        quote: &'static str,
        examples: &[String],
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<Option<Self>, Stop> {
        let mut found = None;
        let mut contents = Vec::new();
        let mut sorted: Vec<&String> = examples.iter().collect();
        sorted.sort_by_key(|example| example.len());
        for example in sorted {
            for (start, end) in enclosed(quote, example) {
                if found.is_none() {
                    let texts = JUNK.map(|junk| format!("{}{junk}{}", &example[..start], &example[end..]));
                    if teacher.all_valid(&texts)?.into_iter().filter(|valid| *valid).count() + 1 >= JUNK.len() {
                        found = Some((example[..start].to_string(), example[end..].to_string()));
                    }
                }
                contents.push(example[start..end].to_string());
            }
        }
        let Some(place) = found else { return Ok(None) };
        let twice = [format!("z{quote}{quote}z"), format!("z{quote}z"), format!("z{quote} {quote}z")];
        let doubled = match fit(&place, &twice, teacher)?[..] {
            [twice, once, apart] => quote.len() == 1 && twice && !once && !apart,
            _ => false,
        };
        contents.extend(["z".to_string(), String::new()]);
        contents.extend(ESCAPES.map(|(letter, digits)| format!("\\{letter}{}41", "0".repeat(digits - 2))));
        contents.retain(|content| is_enclosed(quote, content, doubled));
        contents.sort_by(|one, two| (one.len(), one).cmp(&(two.len(), two)));
        contents.dedup();
        let valid = fit(&place, &contents, teacher)?;
        let samples = contents.into_iter().zip(valid).filter_map(|(content, valid)| valid.then_some(content)).collect();
        let mut member = |contents: &[String]| are_contents(contents, (quote, doubled), &place, teacher);
        let (body, learned) = match Lexemes::learn(alphabet(), samples, MOST_CONTENTS, &mut member, random) {
            Ok(learned) => (learned.automaton(), Some((place, learned))),
            Err(Ended::TooLarge) => (guess(quote, &place, doubled, teacher)?, None),
            Err(Ended::Stopped(stop)) => return Err(stop),
        };
        Ok(Some(Self { prefixes: Vec::new(), quote, body, doubled, learned }))
    }

    /// Returns a string of this form, which may not be valid.
    pub(super) fn example(&self) -> String {
        format!("{}{1}zq{1}", self.prefixes.first().map_or("", String::as_str), self.quote)
    }

    /// Returns the length of the string with which a text begins, if it does.
    pub(super) fn reads(&self, text: &str) -> Option<usize> {
        if self.prefixes.is_empty() {
            return self.reads_bare(text);
        }
        let with = |prefix: &String| Some(prefix.len() + self.reads_bare(text.strip_prefix(prefix.as_str())?)?);
        self.prefixes.iter().find_map(with)
    }

    /// Returns the string with a content.
    pub(super) fn with(&self, content: &str) -> String {
        format!("{}{1}{content}{1}", self.prefixes.first().map_or("", String::as_str), self.quote)
    }

    /// Learns from a string that is valid or not. What was guessed is widened by a valid one: its characters may be anywhere.
    /// Returns whether other strings are read now.
    pub(super) fn correct(
        &mut self,
        (string, valid): (&str, bool),
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<bool, Stop> {
        let content = |prefix: &str| string.strip_prefix(prefix)?.strip_prefix(self.quote)?.strip_suffix(self.quote);
        let prefixes = self.prefixes.iter().map(String::as_str).chain(self.prefixes.is_empty().then_some(""));
        let Some(content) = prefixes.into_iter().find_map(content) else { return Ok(false) };
        if self.body.accepts(content) == valid || !is_enclosed(self.quote, content, self.doubled) {
            return Ok(false);
        }
        let quoted = (self.quote, self.doubled);
        let Some((place, learned)) = &mut self.learned else {
            if valid {
                self.body = self.body.with_anywhere(content);
            }
            return Ok(valid);
        };
        let content: String = content.chars().map(known).collect();
        let mut member = |contents: &[String]| are_contents(contents, quoted, place, teacher);
        match learned.correct(&content, &mut member).and_then(|_| learned.refine(&mut member, random)) {
            Ok(()) | Err(Ended::TooLarge) => {}
            Err(Ended::Stopped(stop)) => return Err(stop),
        }
        let before = std::mem::replace(&mut self.body, learned.automaton());
        Ok(before != self.body)
    }

    fn reads_bare(&self, text: &str) -> Option<usize> {
        let rest = text.strip_prefix(self.quote)?;
        let ends = || {
            let is_last = |at: &usize| !(self.doubled && rest[at + self.quote.len()..].starts_with(self.quote));
            let all = rest.match_indices(self.quote).map(|(at, _)| at);
            all.filter(|&at| is_enclosed(self.quote, &rest[..at], self.doubled)).filter(is_last)
        };
        // What is not known as a content may be one all the same.
        let end = ends().find(|&at| self.body.accepts(&rest[..at])).or_else(|| ends().next())?;
        Some(end + 2 * self.quote.len())
    }
}

/// Returns which contents are valid in a place, and do not end the string.
fn are_contents(
    contents: &[String],
    (quote, doubled): (&str, bool),
    place: &Context,
    teacher: &mut Teacher<'_>,
) -> Result<Vec<bool>, Stop> {
    let within: Vec<&String> = contents.iter().filter(|content| is_enclosed(quote, content, doubled)).collect();
    let mut valid = fit(place, &within, teacher)?.into_iter();
    let answer = |content: &String| is_enclosed(quote, content, doubled) && valid.next().unwrap_or(false);
    Ok(contents.iter().map(answer).collect())
}

/// Returns the characters of which contents consist.
fn alphabet() -> Vec<char> {
    (' '..='~').chain(['\t', '\n', BEYOND]).collect()
}

/// Guesses what strings contain: the characters that can stand alone, and the escapes that can.
fn guess(quote: &str, place: &Context, doubled: bool, teacher: &mut Teacher<'_>) -> Result<Dfa, Stop> {
    let first = quote.chars().next().unwrap_or('"');
    // The states: between parts, after a backslash, and before so many hexadecimal digits; then, after one or two quotes.
    let (between, escaped, digits) = (0, 1, 2);
    let most_digits = 8;
    let quotes = digits + most_digits;
    let mut moves = vec![BTreeMap::new(); quotes + 2];
    let letters: Vec<char> = alphabet().into_iter().filter(|&letter| letter != first && letter != '\\').collect();
    let alone: Vec<String> = letters.iter().flat_map(|letter| [format!("{letter}"), format!("z{letter}z")]).collect();
    let valid = fit(place, &alone, teacher)?;
    let plain: Vec<char> = letters
        .iter()
        .zip(valid.chunks(2))
        .filter(|(_, valid)| valid[0] && valid[1])
        .map(|(letter, _)| *letter)
        .collect();
    moves[between].extend(plain.iter().map(|&letter| (letter, between)));
    if fit(place, &["z\\", "\\z"], teacher)? == [true, true] {
        moves[between].insert('\\', between);
    } else {
        let letters: Vec<char> = alphabet();
        let texts: Vec<String> =
            letters.iter().flat_map(|letter| [format!("\\{letter}z"), format!("z\\{letter}")]).collect();
        let valid = fit(place, &texts, teacher)?;
        let simple = letters.iter().zip(valid.chunks(2)).filter(|(_, valid)| valid[0] && valid[1]);
        moves[escaped].extend(simple.map(|(&letter, _)| (letter, between)));
        for (letter, count) in ESCAPES {
            let text = format!("\\{letter}{}41", "0".repeat(count - 2));
            if !moves[escaped].contains_key(&letter) && fit(place, &[text], teacher)? == [true] {
                moves[escaped].insert(letter, digits + most_digits - count);
            }
        }
        for (at, moves) in moves.iter_mut().enumerate().take(quotes).skip(digits) {
            let next = if at + 1 == quotes { between } else { at + 1 };
            moves.extend("0123456789abcdefABCDEF".chars().map(|digit| (digit, next)));
        }
        if !moves[escaped].is_empty() {
            moves[between].insert('\\', escaped);
        }
    }
    if doubled {
        moves[between].insert(first, quotes);
        moves[quotes].insert(first, between);
    } else if quote.len() == 3 {
        moves[between].insert(first, quotes);
        moves[quotes].insert(first, quotes + 1);
        for at in [quotes, quotes + 1] {
            let again = moves[between].clone();
            moves[at].extend(again.into_iter().filter(|(letter, _)| *letter != first));
        }
    }
    let mut accepting = vec![false; moves.len()];
    accepting[between] = fit(place, &[""], teacher)? == [true];
    let body = Dfa::new(moves, accepting);
    if body.is_empty() { Ok(Dfa::repeated(&plain)) } else { Ok(body) }
}

/// Finds the letters that can stand before strings: those with the same contents are one form.
fn prefixed(all: &[Quoted], examples: &[String], teacher: &mut Teacher<'_>) -> Result<Vec<Quoted>, Stop> {
    let mut found: Vec<Quoted> = Vec::new();
    for quoted in all {
        let Some((before, after)) = prefix_place(quoted, all, examples, teacher)? else { continue };
        let quote = quoted.quote;
        let are_prefixes = |prefixes: &[String], teacher: &mut Teacher<'_>| -> Result<Vec<String>, Stop> {
            let glued: Vec<String> =
                prefixes.iter().map(|prefix| format!("{before}{prefix}{quote}z{quote}{after}")).collect();
            let apart: Vec<String> =
                prefixes.iter().map(|prefix| format!("{before}{prefix} {quote}z{quote}{after}")).collect();
            let (glued, apart) = (teacher.all_valid(&glued)?, teacher.all_valid(&apart)?);
            let both = prefixes.iter().zip(glued.iter().zip(&apart));
            Ok(both.filter(|(_, (glued, apart))| **glued && !**apart).map(|(prefix, _)| prefix.clone()).collect())
        };
        let letters: Vec<char> = ('A'..='Z').chain('a'..='z').collect();
        let ones = are_prefixes(&letters.iter().map(char::to_string).collect::<Vec<_>>(), teacher)?;
        let longer: Vec<String> =
            ones.iter().flat_map(|one| letters.iter().map(move |letter| format!("{one}{letter}"))).collect();
        let mut prefixes = ones.clone();
        prefixes.extend(are_prefixes(&longer, teacher)?);
        for prefix in prefixes {
            let place = (format!("{before}{prefix}{quote}"), format!("{quote}{after}"));
            let body = guess(quote, &place, quoted.doubled, teacher)?;
            match found.iter_mut().find(|known| known.quote == quote && known.body == body) {
                Some(known) => known.prefixes.push(prefix),
                None => {
                    found.push(Quoted { prefixes: vec![prefix], quote, body, doubled: quoted.doubled, learned: None });
                }
            }
        }
    }
    Ok(found)
}

/// Returns what comes before and after a string with a prefix in an example, from which its prefix cannot be separated.
/// Strings of another form with a prefix show where one of this form can be, too.
fn prefix_place(
    quoted: &Quoted,
    all: &[Quoted],
    examples: &[String],
    teacher: &mut Teacher<'_>,
) -> Result<Option<Context>, Stop> {
    for example in examples {
        for other in all {
            for (at, _) in example.match_indices(other.quote) {
                let Some(length) = other.reads_bare(&example[at..]) else { continue };
                let letters = example[..at].chars().rev().take_while(char::is_ascii_alphabetic).count();
                if letters == 0 || letters > LONGEST_PREFIX {
                    continue;
                }
                let (before, prefix, after) =
                    (&example[..at - letters], &example[at - letters..at], &example[at + length..]);
                let string = format!("{0}z{0}", quoted.quote);
                let texts = [
                    format!("{before}{prefix}{string}{after}"),
                    format!("{before}{prefix} {string}{after}"),
                    format!("{before}{string}{after}"),
                ];
                if teacher.all_valid(&texts)?[..2] == [true, false] {
                    return Ok(Some((before.to_string(), after.to_string())));
                }
            }
        }
    }
    Ok(None)
}

/// Returns whether a content does not end the string in which it is.
fn is_enclosed(quote: &str, content: &str, doubled: bool) -> bool {
    let (mut rest, mut escaped) = (content, false);
    while let Some(letter) = rest.chars().next() {
        if !escaped && rest.starts_with(quote) {
            let Some(after) = rest.strip_prefix(quote).and_then(|rest| rest.strip_prefix(quote)).filter(|_| doubled)
            else {
                return false;
            };
            rest = after;
            continue;
        }
        escaped = letter == '\\' && !escaped;
        rest = &rest[letter.len_utf8()..];
    }
    quote.len() == 1 || !content.ends_with(&quote[..1])
}

/// Returns the contents of what looks like strings in a text, which are not empty, and not within longer quotes.
fn enclosed(quote: &str, text: &str) -> Vec<(usize, usize)> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = text[from..].find(quote) {
        let start = from + at + quote.len();
        let ends = text[start..].match_indices(quote).map(|(at, _)| start + at);
        let Some(end) = ends.into_iter().find(|&end| is_enclosed(quote, &text[start..end], false)) else { break };
        let first = &quote[..1];
        let is_longer = text[..from + at].ends_with(first) || text[end + quote.len()..].starts_with(first);
        if end > start && !is_longer {
            found.push((start, end));
        }
        from = end + quote.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::queries::{Asking, Queries};
    use crate::testing::random;

    fn found(valid: &dyn crate::program::Program, examples: &[&str]) -> Vec<Quoted> {
        let examples: Vec<String> = examples.iter().map(ToString::to_string).collect();
        let mut teacher = Teacher::new(Queries::new(valid, Asking::default(), &()).unwrap());
        find_strings(&examples, &mut teacher, &mut random()).unwrap()
    }

    /// A list of strings in which a backslash comes before a quote, a backslash or `n`, or before `u` and four digits.
    fn quoted(text: &str) -> bool {
        let string = r#""([^"\\\n]|\\["\\n]|\\u[0-9a-fA-F]{4})*""#;
        regex::Regex::new(&format!("^{string}(, {string})*$")).unwrap().is_match(text)
    }

    #[test]
    fn contents_are_learned() {
        let found = found(&quoted, &["\"a\"", "\"a\\n\", \"x, y\""]);
        assert_eq!(found.len(), 1);
        let reads = |text: &str| found[0].reads(text);
        assert_eq!(reads("\"a\\\"b\" x"), Some(6));
        assert_eq!(reads("a"), None);
        for content in ["", "a", "\\n", "\\u00e9", "\\\\", "\\u00g0", "\\x", "\n", "a\\"] {
            let valid = quoted(&format!("\"{content}\""));
            assert_eq!(found[0].body.accepts(content), valid, "{content:?}");
        }
    }

    /// As in Python: `b` or `r` in both cases may stand before a string, or both of them.
    #[test]
    fn prefixes_are_found() {
        fn prefixed(text: &str) -> bool {
            let string = r"(?:(?:b|B|r|R|br|bR|rb)?'[ -&(-\[\]-~]*')";
            regex::Regex::new(&format!(r"^\[ *{string}(?: *, *{string})* *\]$")).unwrap().is_match(text)
        }
        let found = found(&prefixed, &["['a b']", "[b'x', 'y']"]);
        assert_eq!(found.len(), 2, "{found:?}");
        let mut prefixes = found[0].prefixes.clone();
        prefixes.sort();
        assert_eq!(prefixes, ["B", "R", "b", "bR", "br", "r", "rb"]);
        assert_eq!((found[0].reads("rb'x' 1"), found[0].reads("'x'")), (Some(5), None));
    }

    #[test]
    fn three_quotes_are_longer_than_one() {
        assert_eq!(enclosed("\"", "\"a\" \"\"\"b\"\"\" \"c\""), [(1, 2), (13, 14)]);
        assert_eq!(enclosed("\"\"\"", "\"a\" \"\"\"b\"\"\" \"c\""), [(7, 8)]);
    }

    #[test]
    fn quotes_that_are_no_strings_are_left_alone() {
        fn minutes(text: &str) -> bool {
            regex::Regex::new("^[0-9]+'( ?[0-9]+')?$").unwrap().is_match(text)
        }
        assert!(found(&minutes, &["5'", "5' 30'"]).is_empty());
    }
}
