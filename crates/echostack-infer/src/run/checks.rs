//! Checks of the inferred grammar against the oracle, after learning: what can be promised, and nothing more.

use std::collections::BTreeSet;

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::bound::error_bound;
use crate::ask::queries::{Queries, Stop};
use crate::learn::hypothesis::Hypothesis;
use crate::test::edits::{Edits, redrawn};
use crate::text::charset::CharSet;
use crate::text::symbols::Symbols;
use crate::tokens::Limits;
use crate::write::grammar::InferredGrammar;

/// The length of the longest texts that are drawn, in characters.
const LONGEST: usize = 60;
/// The most texts that are asked about at the same time.
const MOST_AT_ONCE: usize = 64;

/// All token strings up to a length: the oracle was asked about the text of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exhaustive {
    /// The length, in tokens.
    pub length: usize,
    /// The number of token strings.
    pub strings: usize,
    /// The number of those whose text is read as other tokens, which were not compared.
    pub unreadable: usize,
    /// The number of texts without an answer.
    pub set_aside: usize,
    /// The texts that the oracle judges differently.
    pub mistakes: Vec<String>,
}

/// A sample of texts, drawn independently after learning.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What the texts were drawn from.
    pub distribution: String,
    /// The number of texts with an answer.
    pub count: usize,
    /// The number of valid texts among them.
    pub valid: usize,
    /// The number of texts without an answer.
    pub set_aside: usize,
    /// The texts that the oracle judges differently.
    pub mistakes: Vec<String>,
    /// One minus the confidence of the bound.
    pub delta: f64,
}

impl Sample {
    /// Returns the bound on the probability that the oracle judges a text of this distribution differently.
    pub fn bound(&self) -> f64 {
        error_bound(self.count, self.mistakes.len(), self.delta)
    }
}

/// All texts that differ from an example in one character, which is left out, replaced or inserted: by each printable
/// character of ASCII, by a tab, a line feed, and one character beyond ASCII of each class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbors {
    /// The number of examples. Long ones are shrunk; if there are too many, the shortest count.
    pub examples: usize,
    /// The number of texts.
    pub count: usize,
    /// The number of texts without an answer.
    pub set_aside: usize,
    /// The texts that the oracle judges differently.
    pub mistakes: Vec<String>,
}

/// The results of all checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checks {
    /// Texts that differ from an example in one character; `None` if tokens were given.
    pub neighbors: Option<Neighbors>,
    /// How often the checks were made. Each time, mistakes were learned from.
    pub attempts: usize,
    /// All token strings up to a length.
    pub exhaustive: Exhaustive,
    /// Samples of texts.
    pub samples: Vec<Sample>,
    /// Valid texts that look unlike the examples.
    pub strange: Vec<String>,
}

impl Checks {
    /// Returns all texts that the oracle judges differently.
    pub fn mistakes(&self) -> impl Iterator<Item = &String> {
        let samples = self.samples.iter().flat_map(|sample| &sample.mistakes);
        let neighbors = self.neighbors.iter().flat_map(|neighbors| &neighbors.mistakes);
        neighbors.chain(&self.exhaustive.mistakes).chain(samples)
    }
}

/// How much is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    pub(crate) strings: usize,
    pub(crate) fresh: usize,
    pub(crate) delta: f64,
    /// Whether tokens were given, whose lexer says that spaces between them mean nothing.
    pub(crate) given: bool,
}

/// Checks a grammar.
pub(crate) fn check(
    (hypothesis, language): (&Hypothesis, &InferredGrammar),
    examples: &[String],
    queries: &mut Queries<'_>,
    amount: Amount,
    random: &mut ChaCha8Rng,
) -> Result<Checks, Stop> {
    let exhaustive = exhaust((language, &hypothesis.symbols), queries, amount.strings)?;
    let sizes: Vec<usize> = (0..amount.fresh).map(|_| random.random_range(1..=LONGEST)).collect();
    let drawn = hypothesis.draw(&sizes, random);
    let edits = Edits::new(examples, &hypothesis.symbols);
    let edited: Vec<String> = (0..amount.fresh).filter_map(|_| edits.any(examples, random)).collect();
    let varied: Vec<String> =
        (0..amount.fresh).filter_map(|_| Some(redrawn(examples.choose(random)?, random))).collect();
    let strange = strange(&drawn, examples);
    let unit = if hypothesis.symbols.lexer().is_some() { "token" } else { "character" };
    let from_grammar = format!(
        "texts drawn from the grammar: a random walk of about 1 to 60 {unit}s; they say nothing about valid texts that the \
         grammar rejects"
    );
    let from_examples = format!(
        "examples with one to three random edits: a {unit} or a part of an example inserted, left out, replaced, repeated \
         or swapped"
    );
    let from_digits = "examples with other digits, and in a fifth of them with other letters, too: some or all of them are \
                            replaced at random";
    let from_rules = "texts of up to 50 tokens, drawn from the rules of the grammar and of its tokens; they say nothing about \
                      valid texts that the grammar rejects";
    let mut by_rules = language.sample(amount.fresh, random.random());
    if amount.given {
        by_rules.iter_mut().for_each(|text| *text = hypothesis.symbols.respaced(text));
    }
    let mut distributions = vec![
        (from_grammar, drawn),
        (from_examples, edited),
        (from_digits.to_string(), varied),
        (from_rules.to_string(), by_rules),
    ];
    let limits = Limits::find(examples, queries, random)?;
    let at_limits: Vec<String> = (0..amount.fresh).map_while(|_| limits.draw(random)).collect();
    if !at_limits.is_empty() {
        let from_limits = "examples in which a number is the least or the greatest that is valid in its place, or one beyond, and \
                           another number has other digits";
        distributions.push((from_limits.to_string(), at_limits));
    }
    let mut samples = Vec::new();
    for (distribution, texts) in distributions {
        samples.push(sample(distribution, &texts, language, queries, amount.delta)?);
    }
    let mut checks = Checks { neighbors: None, attempts: 1, exhaustive, samples, strange };
    let wrong: Vec<String> = checks.mistakes().cloned().collect();
    checks.strange.retain(|text| !wrong.contains(text));
    Ok(checks)
}

/// The length of the longest examples whose neighbors are asked about, in characters.
const LONG: usize = 200;

/// Asks about the neighbors of examples: of the shortest, so that there are at most `most` texts. Long examples are left
/// out; `short` has what they were shrunk to. Of `others`, which no class has, one character beyond ASCII is tried.
pub(crate) fn neighbors(
    (hypothesis, language): (&Hypothesis, &InferredGrammar),
    (examples, short): (&[String], &[String]),
    others: &[CharSet],
    queries: &mut Queries<'_>,
    most: usize,
) -> Result<Neighbors, Stop> {
    let symbols = &hypothesis.symbols;
    let classes = symbols.in_use().into_iter().filter_map(|symbol| symbols.members(symbol));
    let beyond = classes.chain(others).filter_map(|class| class.ranges().iter().rev().find(|(_, to)| !to.is_ascii()));
    let mut letters: Vec<char> = (' '..='~').chain(['\t', '\n']).collect();
    letters.extend(beyond.map(|&(from, _)| from.max('\u{80}')));
    letters.sort_unstable();
    letters.dedup();
    let is_short = |text: &&String| text.chars().count() <= LONG;
    let mut from: Vec<&String> = examples.iter().filter(is_short).collect();
    if from.len() < examples.len() {
        from.extend(short.iter().filter(is_short));
    }
    from.sort_by_key(|text| (text.chars().count(), text.as_str()));
    from.dedup();
    let (mut found, mut texts) = (Neighbors::default(), BTreeSet::new());
    for example in from {
        let own: Vec<char> = example.chars().collect();
        if texts.len() + (2 * own.len() + 1) * letters.len() > most {
            break;
        }
        found.examples += 1;
        for at in 0..=own.len() {
            let [before, after] = [&own[..at], &own[at..]];
            let rest = after.get(1..);
            texts.extend(rest.map(|rest| [before, rest].concat()));
            for &letter in &letters {
                texts.extend(rest.map(|rest| [before, &[letter], rest].concat()));
                texts.insert([before, &[letter], after].concat());
            }
        }
    }
    let texts: Vec<String> = texts.into_iter().map(String::from_iter).collect();
    found.count = texts.len();
    (found.set_aside, _, found.mistakes) = compare(&texts, language, queries)?;
    Ok(found)
}

/// Asks about texts, some at a time. Returns the number of those without an answer and of valid ones, and the mistakes.
fn compare(
    texts: &[String],
    language: &InferredGrammar,
    queries: &mut Queries<'_>,
) -> Result<(usize, usize, Vec<String>), Stop> {
    let (mut set_aside, mut valid, mut mistakes) = (0, 0, Vec::new());
    for batch in texts.chunks(MOST_AT_ONCE) {
        for (text, answer) in batch.iter().zip(queries.ask_all(batch)?) {
            match answer {
                None => set_aside += 1,
                Some(answer) => {
                    valid += usize::from(answer);
                    if answer != language.accepts(text) {
                        mistakes.push(text.clone());
                    }
                }
            }
        }
    }
    Ok((set_aside, valid, mistakes))
}

fn sample(
    distribution: String,
    texts: &[String],
    language: &InferredGrammar,
    queries: &mut Queries<'_>,
    delta: f64,
) -> Result<Sample, Stop> {
    let (set_aside, valid, mistakes) = compare(texts, language, queries)?;
    let count = texts.len() - set_aside;
    Ok(Sample { distribution, count, valid, set_aside, mistakes, delta })
}

/// Asks about all token strings up to the greatest length for which there are at most `most`.
fn exhaust(
    (language, symbols): (&InferredGrammar, &Symbols),
    queries: &mut Queries<'_>,
    most: usize,
) -> Result<Exhaustive, Stop> {
    let tokens = &language.files().tokens;
    let mut found = Exhaustive::default();
    let mut layer: Vec<Vec<usize>> = vec![Vec::new()];
    loop {
        let mut texts = Vec::new();
        for string in &layer {
            let text = symbols.join(string.iter().map(|&token| tokens[token].1.as_str()));
            found.strings += 1;
            if language.reads_as(&text, string) { texts.push(text) } else { found.unreadable += 1 }
        }
        let (set_aside, _, mistakes) = compare(&texts, language, queries)?;
        found.set_aside += set_aside;
        found.mistakes.extend(mistakes);
        if tokens.is_empty() || found.strings + layer.len().saturating_mul(tokens.len()) > most {
            return Ok(found);
        }
        found.length += 1;
        let longer = |string: &Vec<usize>| {
            let string = string.clone();
            (0..tokens.len()).map(move |token| [string.as_slice(), &[token]].concat())
        };
        layer = layer.iter().flat_map(longer).collect();
    }
}

/// The number of strange texts that are shown.
const STRANGE: usize = 8;

/// Returns short texts with pairs of neighbouring characters that no example has.
fn strange(drawn: &[String], examples: &[String]) -> Vec<String> {
    let shape = |letter: char| match letter {
        letter if letter.is_ascii_alphabetic() => 'a',
        letter if letter.is_ascii_digit() => '0',
        letter => letter,
    };
    let pairs = |text: &str| -> std::collections::HashSet<(char, char)> {
        let letters: Vec<char> = text.chars().map(shape).collect();
        letters.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let mut known: std::collections::HashSet<(char, char)> = examples.iter().flat_map(|text| pairs(text)).collect();
    let mut sorted: Vec<&String> = drawn.iter().collect();
    sorted.sort_by_key(|text| (text.chars().count(), text.as_str()));
    let mut found = Vec::new();
    for text in sorted {
        let own = pairs(text);
        if found.len() < STRANGE && !own.is_subset(&known) {
            known.extend(own);
            found.push(text.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::queries::Asking;
    use crate::program::Program;
    use crate::testing::{LISTS, lists, lists_learned, random, texts};

    /// Lists in which `x` may also be in upper case, which is not learned.
    fn upper(text: &str) -> bool {
        lists(&text.replace('X', "x"))
    }

    fn learned() -> (Hypothesis, InferredGrammar) {
        let (hypothesis, _) = lists_learned();
        let language = InferredGrammar::of(&hypothesis, &[], "").unwrap();
        (hypothesis, language)
    }

    #[test]
    fn all_token_strings_of_a_length_are_compared() {
        let (hypothesis, language) = learned();
        let mut queries = Queries::new(&lists, Asking::default(), &()).unwrap();
        let found = exhaust((&language, &hypothesis.symbols), &mut queries, 100).unwrap();
        assert_eq!((found.length, found.strings, queries.asked), (3, 85, texts(LISTS, 3).len()));
        assert_eq!((found.unreadable, found.set_aside, found.mistakes.len()), (0, 0, 0));
        let not_one = |text: &str| lists(text) && text != "[x]";
        let mut queries = Queries::new(&not_one, Asking::default(), &()).unwrap();
        let found = exhaust((&language, &hypothesis.symbols), &mut queries, 100).unwrap();
        assert_eq!(found.mistakes, ["[x]"]);
    }

    /// The slow way: every text over the characters that is one edit away.
    #[test]
    fn all_texts_one_character_away_are_compared() {
        let (hypothesis, language) = learned();
        let examples: Vec<String> = ["x", "[x]"].map(String::from).to_vec();
        let mut queries = Queries::new(&upper, Asking::default(), &()).unwrap();
        let others = [[('\u{e0}', '\u{ff}')].into_iter().collect()];
        let both = (&hypothesis, &language);
        let found = neighbors(both, (&examples, &[]), &others, &mut queries, 10_000).unwrap();
        let letters: Vec<char> = (' '..='~').chain(['\t', '\n', '\u{e0}']).collect();
        let mut all: BTreeSet<String> = BTreeSet::new();
        for example in &examples {
            for at in 0..=example.len() {
                let (before, after) = example.split_at(at);
                let rest = after.get(1..);
                all.extend(rest.map(|rest| format!("{before}{rest}")));
                for letter in &letters {
                    all.insert(format!("{before}{letter}{after}"));
                    all.extend(rest.map(|rest| format!("{before}{letter}{rest}")));
                }
            }
        }
        assert_eq!((found.examples, found.count, queries.asked), (2, all.len(), all.len()));
        assert_eq!(found.mistakes, ["X", "[X]"]);
        // If there may be fewer, the shortest example counts.
        let found = neighbors(both, (&examples, &[]), &others, &mut queries, 300).unwrap();
        assert_eq!((found.examples, found.mistakes), (1, vec!["X".to_string()]));
        // What a long example was shrunk to stands for it.
        let long = vec![format!("[{}x]", "x,".repeat(LONG))];
        let found = neighbors(both, (&long, &examples[..1]), &others, &mut queries, 10_000).unwrap();
        assert_eq!((found.examples, found.mistakes), (1, vec!["X".to_string()]));
    }

    #[test]
    fn samples_find_mistakes_and_bound_them() {
        let (hypothesis, language) = learned();
        let examples = vec!["[x,x]".to_string()];
        let amount = Amount { strings: 10, fresh: 200, delta: 0.05, given: false };
        let checked = |oracle: &dyn Program| {
            let mut queries = Queries::new(oracle, Asking::default(), &()).unwrap();
            check((&hypothesis, &language), &examples, &mut queries, amount, &mut random()).unwrap()
        };
        let right = checked(&lists);
        assert_eq!((right.mistakes().count(), right.samples.len()), (0, 4));
        // What is drawn again from the rules counts, too.
        assert!(right.samples.iter().all(|sample| sample.count >= 200 && sample.bound() < 0.02));
        let flat = |text: &str| lists(text) && !text.contains("[[");
        let wrong = checked(&flat);
        assert!(wrong.mistakes().all(|text| text.contains("[[")) && wrong.samples[0].mistakes.len() > 10);
        assert!(wrong.samples[0].bound() > wrong.samples[0].mistakes.len() as f64 / 200.);
    }

    #[test]
    fn strange_texts_have_neighbors_that_no_example_has() {
        let drawn = ["[x]", "[[]]", "[x,x]", "[[[]]]"].map(String::from);
        assert_eq!(strange(&drawn, &["[x]".to_string()]), ["[[]]", "[x,x]"]);
    }
}
