//! Tags: which symbols open and which close, found by pumping.
//!
//! If u x z y v is valid, u xx z yy v and u xxx z yyy v are, and no uneven numbers of x and y are, then x opens
//! something that y closes. The tags are the simplest pairs of literals that explain all such patterns, and with which
//! all known words are well matched.

use std::collections::{BTreeSet, HashSet};

use super::symbols::{Sym, Symbols, Word, boundaries};
use super::teacher::Teacher;
use crate::ask::queries::Stop;

/// The length of the longest words whose parts are pumped.
const LONGEST: usize = 45;
/// The number of patterns that are taken from one word.
const EACH: usize = 8;
/// The number of spans that are tried, if all words are short and if some are long.
const SPANS: (usize, usize) = (6000, 30_000);
/// For a word with a symbol that no word before it has, so many times as many spans are tried.
const NEW_SYMBOLS: usize = 5;
/// The most patterns, known words, pairs of tags and further closers that are considered: a bound for oracles that answer
/// at random.
const MOST: (usize, usize, usize, usize) = (64, 300, 1000, 100);
/// One of so many words may stand in the way of tags that explain what others show, such as a string with a bracket in it.
const FEW: usize = 8;
/// The most spans that are asked about at the same time.
const MOST_AT_ONCE: usize = 64;

/// Openers and closers, as base words. Several openers may share a closer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags {
    pub(crate) calls: BTreeSet<Word>,
    pub(crate) returns: BTreeSet<Word>,
}

/// Two parts of a word that are repeated the same number of times.
type Pattern = (Word, Word);

impl Tags {
    fn with(&self, call: &Word, returns: &[&Word]) -> Option<Self> {
        let mut tags = self.clone();
        tags.calls.insert(call.clone());
        tags.returns.extend(returns.iter().copied().cloned());
        tags.calls.is_disjoint(&tags.returns).then_some(tags)
    }

    /// Returns the depth after a base word, and the lowest depth in it. Tags are read by longest match.
    fn depths(&self, word: &[Sym]) -> (i32, i32) {
        let (mut depth, mut lowest, mut at) = (0, 0, 0);
        while at < word.len() {
            let rest = &word[at..];
            let longest = |tags: &BTreeSet<Word>| tags.iter().filter(|t| rest.starts_with(t)).map(Vec::len).max();
            let (opens, closes) = (longest(&self.calls).unwrap_or(0), longest(&self.returns).unwrap_or(0));
            match opens.cmp(&closes) {
                std::cmp::Ordering::Greater => depth += 1,
                std::cmp::Ordering::Less => depth -= 1,
                std::cmp::Ordering::Equal => {}
            }
            lowest = lowest.min(depth);
            at += opens.max(closes).max(1);
        }
        (depth, lowest)
    }

    fn match_in(&self, word: &[Sym]) -> bool {
        self.depths(word) == (0, 0)
    }

    fn explain(&self, (open, close): &Pattern) -> bool {
        let (x, y) = (self.depths(open), self.depths(close));
        x.0 > 0 && x.1 == 0 && y.0 == -x.0
    }

    fn explained(&self, patterns: &[Pattern]) -> usize {
        patterns.iter().filter(|pattern| self.explain(pattern)).count()
    }
}

/// Finds the tags of a language from some of its base words. `spans` replaces the default number of spans to try.
pub(crate) fn infer(words: &[Word], teacher: &mut Teacher<'_>, spans: Option<usize>) -> Result<Tags, Stop> {
    let longest = words.iter().map(Vec::len).max().unwrap_or(0);
    let budget = spans.unwrap_or(if longest <= LONGEST { SPANS.0 } else { SPANS.1 });
    let (patterns, known) = pump(words, teacher, budget)?;
    explain(&teacher.symbols, &patterns, known, words.len() / FEW, &|| teacher.queries.check())
}

fn cuts(symbols: &Symbols, word: &[Sym]) -> Vec<usize> {
    boundaries(word.iter().map(|&symbol| symbols.look(symbol)))
}

/// A word, with the ends of the two parts that are pumped.
struct Span<'w> {
    word: &'w [Sym],
    ends: [usize; 4],
}

impl Span<'_> {
    fn parts(&self) -> (&[Sym], &[Sym]) {
        let [a, b, c, d] = self.ends;
        (&self.word[a..b], &self.word[c..d])
    }

    fn pumped(&self, opens: usize, closes: usize) -> Word {
        let [a, b, c, d] = self.ends;
        let (open, close) = self.parts();
        [&self.word[..a], &open.repeat(opens), &self.word[b..c], &close.repeat(closes), &self.word[d..]].concat()
    }

    /// Returns whether this span contains another.
    fn contains(&self, [a, b, c, d]: [usize; 4]) -> bool {
        self.ends[0] <= a && self.ends[1] >= b && self.ends[2] <= c && self.ends[3] >= d
    }
}

/// A word that is known to be valid, with the number of the word that it was made of.
type Known = (usize, Word);

/// Returns the patterns in the words, and all words that are known to be valid.
fn pump(words: &[Word], teacher: &mut Teacher<'_>, budget: usize) -> Result<(Vec<Pattern>, Vec<Known>), Stop> {
    let mut known: Vec<Known> = words.iter().cloned().enumerate().collect();
    let mut patterns: Vec<Pattern> = Vec::new();
    let (mut shapes, mut tried) = (HashSet::new(), 0);
    let mut seen: HashSet<Sym> = HashSet::new();
    let runs = |word: &Word| cuts(&teacher.symbols, word).len();
    let mut order: Vec<(usize, usize, &Word)> =
        words.iter().enumerate().map(|(origin, word)| (runs(word), origin, word)).collect();
    order.retain(|(.., word)| (2..=LONGEST).contains(&word.len()));
    order.sort_by_key(|(runs, _, word)| (*runs, word.len()));
    for (_, origin, word) in order {
        let shape: Vec<_> = word.iter().map(|&symbol| teacher.symbols.look(symbol)).collect();
        if !shapes.insert(shape) {
            continue;
        }
        // A word with a new symbol may need tags that no other word needs.
        let limit = if word.iter().all(|symbol| seen.contains(symbol)) { budget } else { NEW_SYMBOLS * budget };
        if tried > limit {
            continue;
        }
        seen.extend(word);
        let spans = spans(&cuts(&teacher.symbols, word));
        let mut here: Vec<[usize; 4]> = Vec::new();
        let (mut at, mut size) = (0, 1);
        while at < spans.len() && tried <= limit && here.len() < EACH {
            // What comes next, as long as nothing is found: these queries can be asked at the same time.
            let mut batch: Vec<Span<'_>> = Vec::new();
            while batch.len() < size && at < spans.len() && here.len() < EACH {
                let span = Span { word, ends: spans[at] };
                at += 1;
                if here.iter().any(|&ends| span.contains(ends)) {
                    continue;
                }
                let (open, close) = span.parts();
                if patterns.iter().any(|(x, y)| x == open && y == close) {
                    here.push(span.ends);
                } else {
                    batch.push(span);
                }
            }
            tried += batch.len();
            let twice: Vec<Word> = batch.iter().map(|span| span.pumped(2, 2)).collect();
            let answers = members(teacher, &twice)?;
            size = (size * 2).min(MOST_AT_ONCE);
            for (span, twice) in batch.iter().zip(answers) {
                let hidden = here.len() >= EACH || here.iter().any(|&ends| span.contains(ends));
                if !twice || hidden || !nests(teacher, span)? {
                    continue;
                }
                let (open, close) = span.parts();
                if open == close {
                    // A name that must be repeated, as in XML, neither opens nor closes.
                    continue;
                }
                size = 1;
                here.push(span.ends);
                if !patterns.iter().any(|(x, y)| x == open && y == close) {
                    patterns.push((open.to_vec(), close.to_vec()));
                    known.extend([2, 3].map(|count| (origin, span.pumped(count, count))));
                }
            }
        }
    }
    Ok((patterns, known))
}

/// Returns whether the parts can be repeated only the same number of times, if they can be repeated twice.
fn nests(teacher: &mut Teacher<'_>, span: &Span<'_>) -> Result<bool, Stop> {
    for (opens, closes, expected) in [(2, 1, false), (1, 2, false), (3, 3, true), (3, 2, false), (2, 3, false)] {
        let word = span.pumped(opens, closes);
        if members(teacher, &[word])?[0] != expected {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns which base words are in the language.
fn members(teacher: &mut Teacher<'_>, words: &[Word]) -> Result<Vec<bool>, Stop> {
    let texts: Vec<String> = words.iter().map(|word| teacher.symbols.render(word)).collect();
    teacher.all_valid(&texts)
}

/// Returns all pairs of parts of a word, the shortest first.
fn spans(cuts: &[usize]) -> Vec<[usize; 4]> {
    let count = cuts.len();
    let mut found = Vec::new();
    for a in 0..count - 1 {
        for b in a + 1..count {
            for c in b..count - 1 {
                found.extend((c + 1..count).map(|d| [cuts[a], cuts[b], cuts[c], cuts[d]]));
            }
        }
    }
    found.sort_by_key(|&ends| (ends[1] - ends[0] + ends[3] - ends[2], ends));
    found
}

/// Returns the parts of a word that consist of up to `most` runs.
fn pieces(symbols: &Symbols, word: &[Sym], most: usize) -> Vec<Word> {
    let cuts = cuts(symbols, word);
    let mut found: Vec<Word> = Vec::new();
    for size in 1..=most {
        for ends in cuts.windows(size + 1) {
            let piece = &word[ends[0]..ends[size]];
            if !found.iter().any(|known| known == piece) {
                found.push(piece.to_vec());
            }
        }
    }
    found
}

/// How well tags explain the patterns; the least is the best.
type Rank = (std::cmp::Reverse<usize>, bool, usize);

/// Returns tags with which all known words match and every pattern opens and closes, as far as there are any. The pair
/// that explains most is taken first. If there is no other way, a few words are set aside: at most `spare`, with what was
/// made of them.
fn explain(
    symbols: &Symbols,
    patterns: &[Pattern],
    mut all: Vec<Known>,
    mut spare: usize,
    check: &dyn Fn() -> Result<(), Stop>,
) -> Result<Tags, Stop> {
    let mut seen = HashSet::new();
    all.retain(|(_, word)| seen.insert(word.clone()));
    all.sort_by_key(|(_, word)| word.len());
    all.truncate(MOST.1);
    let mut tags = Tags::default();
    loop {
        let known: Vec<Word> = all.iter().map(|(_, word)| word.clone()).collect();
        let left: Vec<Pattern> =
            patterns.iter().filter(|pattern| !tags.explain(pattern)).take(MOST.0).cloned().collect();
        if left.is_empty() {
            return Ok(tags);
        }
        let some = &left[..left.len().min(16)];
        let best = pair(symbols, &tags, (&left, some), &known, check)?;
        let score = best.as_ref().map_or(0, |(rank, _)| rank.0.0);
        if score < some.len() {
            let mut found = None;
            for side in [Side::Openers, Side::Closers] {
                if found.is_none() {
                    let joint = several(symbols, &tags, &left, &known, side, check)?;
                    found = joint.filter(|joint| joint.explained(some) > score);
                }
            }
            if let Some(joint) = found {
                tags = joint;
                continue;
            }
        }
        if let Some((_, better)) = best {
            tags = better;
            continue;
        }
        let Some((better, aside)) = but_for_few(symbols, &tags, &left, &all, spare) else { return Ok(tags) };
        tags = better;
        spare -= aside.len();
        all.retain(|(origin, _)| !aside.contains(origin));
    }
}

/// Returns the tags with one more pair that explain most, and the words that do not match with them: at most `spare`.
fn but_for_few(
    symbols: &Symbols,
    tags: &Tags,
    left: &[Pattern],
    all: &[Known],
    spare: usize,
) -> Option<(Tags, BTreeSet<usize>)> {
    let found = options(symbols, left).into_iter().filter_map(|(call, close)| {
        let more = tags.with(&call, &[&close])?;
        let score = more.explained(left);
        let mut aside = BTreeSet::new();
        for (origin, word) in all.iter().filter(|_| score > 0) {
            if !more.match_in(word) {
                aside.insert(*origin);
            }
            if aside.len() > spare {
                return None;
            }
        }
        (score > 0).then_some(((std::cmp::Reverse(score), aside.len(), call.len() + close.len()), (more, aside)))
    });
    found.min_by_key(|(rank, _)| *rank).map(|(_, found)| found)
}

/// Returns pairs of an opener and a closer that could explain patterns.
fn options(symbols: &Symbols, left: &[Pattern]) -> Vec<(Word, Word)> {
    let mut options: Vec<(Word, Word)> = Vec::new();
    let mut seen = HashSet::new();
    for (x, y) in left {
        for call in pieces(symbols, x, 3) {
            for close in pieces(symbols, y, 3) {
                if seen.insert((call.clone(), close.clone())) {
                    options.push((call.clone(), close));
                }
            }
        }
    }
    options.truncate(MOST.2);
    options
}

fn unique(pieces: impl Iterator<Item = Word>) -> Vec<Word> {
    let mut seen = HashSet::new();
    pieces.filter(|piece| seen.insert(piece.clone())).collect()
}

/// Returns the tags with one more pair, and possibly one more closer, that explain most.
fn pair(
    symbols: &Symbols,
    tags: &Tags,
    (left, some): (&[Pattern], &[Pattern]),
    known: &[Word],
    check: &dyn Fn() -> Result<(), Stop>,
) -> Result<Option<(Rank, Tags)>, Stop> {
    let options = options(symbols, left);
    let parts = left.iter().flat_map(|(x, y)| [pieces(symbols, x, 2), pieces(symbols, y, 2)]).flatten();
    let pool = unique(parts.chain(known.iter().take(40).flat_map(|word| pieces(symbols, word, 2))));
    let mut best: Option<(Rank, Tags)> = None;
    for extra in std::iter::once(None).chain(pool.iter().take(MOST.3).map(Some)) {
        check()?;
        for (call, close) in &options {
            if extra.is_some_and(|extra| extra == call || extra == close) {
                continue;
            }
            let returns: Vec<&Word> = std::iter::once(close).chain(extra).collect();
            let Some(more) = tags.with(call, &returns) else { continue };
            if !known.iter().take(6).all(|word| more.match_in(word)) {
                continue;
            }
            let score = more.explained(some);
            let size = call.len() + close.len() + extra.map_or(0, Vec::len);
            let rank = (std::cmp::Reverse(score), extra.is_some(), size);
            let better = best.as_ref().is_none_or(|(known, _)| rank < *known);
            if score > 0 && better && known.iter().all(|word| more.match_in(word)) {
                best = Some((rank, more));
            }
        }
        if extra.is_none() && best.as_ref().is_some_and(|(rank, _)| rank.0.0 == some.len()) {
            break;
        }
    }
    Ok(best)
}

/// The most tags that are added to a pair.
const MOST_MORE: usize = 6;

/// What is added to a pair of tags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Further openers, which share the closer: `if` and `while` with `end`.
    Openers,
    /// Further closers, which share the opener: `</` and `/>` with `<`.
    Closers,
}

/// Returns tags in which several openers share a closer, or several closers an opener: one pair, and then the tags that
/// mend most of the words that do not match, until all do.
fn several(
    symbols: &Symbols,
    tags: &Tags,
    left: &[Pattern],
    known: &[Word],
    side: Side,
    check: &dyn Fn() -> Result<(), Stop>,
) -> Result<Option<Tags>, Stop> {
    let runs = if side == Side::Openers { 1 } else { 2 };
    let unmatched = |tags: &Tags| known.iter().filter(|word| !tags.match_in(word)).count();
    let mut best: Option<((usize, std::cmp::Reverse<usize>), Tags)> = None;
    let mut tried = HashSet::new();
    for (x, y) in left.iter().take(24) {
        for (close, call) in
            pieces(symbols, y, runs).iter().flat_map(|y| pieces(symbols, x, 1).into_iter().map(move |x| (y, x)))
        {
            if !tried.insert((call.clone(), close.clone())) {
                continue;
            }
            let Some(mut more) = tags.with(&call, &[close]) else { continue };
            check()?;
            let mut bad = unmatched(&more);
            for _ in 1..MOST_MORE {
                let broken = known.iter().filter(|word| !more.match_in(word)).take(12);
                let options: BTreeSet<Word> = broken.flat_map(|word| pieces(symbols, word, runs)).collect();
                let options = options.iter().filter_map(|piece| {
                    let with = match side {
                        Side::Openers => more.with(piece, &[]),
                        Side::Closers => more.with(&call, &[piece]),
                    };
                    let with = with.filter(|with| *with != more)?;
                    Some((unmatched(&with), with))
                });
                match options.min_by_key(|(count, _)| *count) {
                    Some((count, with)) if count < bad => (bad, more) = (count, with),
                    _ => break,
                }
            }
            if bad == 0 {
                let score = (more.explained(left), std::cmp::Reverse(more.calls.len() + more.returns.len()));
                if best.as_ref().is_none_or(|(known, _)| score > *known) {
                    best = Some((score, more));
                }
            }
        }
    }
    Ok(best.map(|(_, tags)| tags))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::queries::{Asking, Queries};
    use crate::text::charset::CharSet;

    fn found(oracle: fn(&str) -> bool, words: &[&str]) -> (Vec<String>, Vec<String>) {
        let mut teacher = Teacher::new(Queries::new(&oracle, Asking::default(), &()).unwrap());
        let letters: BTreeSet<char> = words.iter().flat_map(|word| word.chars()).collect();
        letters.iter().for_each(|&letter| _ = teacher.symbols.add_class(letter, CharSet::of(letter)));
        let words: Vec<Word> = words.iter().map(|word| teacher.symbols.base(word).unwrap()).collect();
        let tags = infer(&words, &mut teacher, None).unwrap();
        let text = |tags: &BTreeSet<Word>| tags.iter().map(|tag| teacher.symbols.render(tag)).collect();
        (text(&tags.calls), text(&tags.returns))
    }

    #[test]
    fn brackets_are_found() {
        let balanced = |text: &str| {
            let mut depth = 0;
            let valid = text.chars().all(|letter| {
                depth += match letter {
                    '(' => 1,
                    ')' => -1,
                    'x' => 0,
                    _ => return false,
                };
                depth >= 0
            });
            valid && depth == 0
        };
        let (calls, returns) = found(balanced, &["x", "(x)", "x(x)x"]);
        assert_eq!((calls, returns), (vec!["(".to_string()], vec![")".to_string()]));
    }

    /// Elements, empty elements and comments: `<` has three closers. The names of elements can be longer, but only if both
    /// are.
    #[test]
    fn an_opener_can_have_several_closers() {
        fn content(mut text: &str) -> &str {
            loop {
                let rest = if let Some(rest) = text.strip_prefix("<!--") {
                    rest.split_once("-->").map(|(_, rest)| rest)
                } else if let Some(rest) = text.strip_prefix("<a/>") {
                    Some(rest)
                } else if let Some(rest) = text.strip_prefix("<a>") {
                    content(rest).strip_prefix("</a>")
                } else if let Some(rest) = text.strip_prefix("<aa>") {
                    content(rest).strip_prefix("</aa>")
                } else if let Some(rest) = text.strip_prefix("<aaa>") {
                    content(rest).strip_prefix("</aaa>")
                } else {
                    text.strip_prefix('a')
                };
                match rest {
                    Some(rest) => text = rest,
                    None => return text,
                }
            }
        }
        let words = ["<a/>", "<a></a>", "<a>a</a>", "<a><a/></a>", "<!--a--><a/>", "<a><!--a--></a>"];
        let (calls, returns) = found(|text| content(text).is_empty(), &words);
        assert_eq!(calls, ["<"]);
        assert_eq!(returns.len(), 3, "{returns:?}");
    }

    /// One example has a bracket in a string, which has no partner.
    #[test]
    fn one_word_does_not_cost_all_tags() {
        fn list(text: &str) -> Option<&str> {
            let mut rest = text.strip_prefix('(')?;
            loop {
                if let Some(end) = rest.strip_prefix(')') {
                    return Some(end);
                }
                rest = rest
                    .strip_prefix('x')
                    .or_else(|| Some(rest.strip_prefix('"')?.split_once('"')?.1))
                    .or_else(|| list(rest))?;
            }
        }
        let words = ["()", "(x)", "((x)x)", "(())", "(\"x\")", "(x(x(x)))", "(\"x\"())", "(\"(\"x)"];
        let (calls, returns) = found(|text| list(text) == Some(""), &words);
        assert_eq!((calls, returns), (vec!["(".to_string()], vec![")".to_string()]));
    }

    #[test]
    fn a_flat_language_has_no_tags() {
        let flat = |text: &str| !text.is_empty() && text.chars().all(|letter| "xy".contains(letter));
        assert_eq!(found(flat, &["x", "xy", "yx"]), (vec![], vec![]));
    }
}
