//! The second learner: reductions over given tokens, for languages without visible brackets.
//!
//! A *reduction* replaces `from` at the end of the stack by the smaller `to`, unless one of some tokens comes next. It is
//! correct if no context tells the two apart. Correct reductions preserve membership, so a word is judged by what it
//! reduces to: its *normal form*, which is looked up in a finite list. If a word is misjudged, a binary search over its
//! own reductions finds one that did not preserve membership (Rivest and Schapire), which is then restricted.
//!
//! `to` is a beginning of `from` and one more token, so every reduction is a rule of the paper's form: it pops some
//! symbols and pushes one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use echostack::automaton::{self, Automaton};
use echostack::spelling::Names;
use echostack::{Alphabet, Lookahead, SymbolId};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::draw::mutate;
use crate::ask::queries::Stop;
use crate::text::symbols::{Sym, Symbols, Word};
use crate::text::teacher::Teacher;

/// The length of the longest handles.
const LONGEST: usize = 8;
/// The most contexts in which two handles are compared.
const MAX_CONTEXTS: usize = 30;
/// The length of the longest valid words whose parts are remembered, and their number.
const REMEMBERED: (usize, usize) = (30, 4000);
/// The most contexts that are remembered for a handle.
const MAX_REMEMBERED: usize = 400;
/// The length of the longest words that are tested.
const LONGEST_TEST: usize = 80;
/// The most steps for one word.
const MAX_STEPS: usize = 500;
/// The most words that are asked about at the same time.
const MOST_AT_ONCE: usize = 64;

/// The next token; nothing is the end.
type Next = Option<Sym>;
/// What stands before and after a handle.
type Context = (Word, Word);

/// A reduction.
#[derive(Clone, Debug)]
struct Rule {
    from: Word,
    to: Word,
    /// What comes next in contexts in which the two were alike.
    before: BTreeSet<Next>,
    /// What comes next in contexts that tell the two apart.
    not_before: BTreeSet<Next>,
}

/// Reductions, and the normal forms that are accepted. All words begin with [`Sym::BOTTOM`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Reductions {
    rules: HashMap<Word, Vec<Rule>>,
    accepted: BTreeSet<Word>,
}

/// A form of a word, and the reduction that led to it: what it replaced, and what stood around it.
struct Form {
    word: Word,
    reduced: Option<(Word, Word, Next)>,
}

/// Short words come first.
fn size(word: &Word) -> (usize, &Word) {
    (word.len(), word)
}

/// Returns the number of symbols at the beginning that two words share.
fn shared(one: &[Sym], two: &[Sym]) -> usize {
    one.iter().zip(two).take_while(|(a, b)| a == b).count()
}

fn with_bottom(word: &[Sym]) -> Word {
    [&[Sym::BOTTOM], word].concat()
}

impl Reductions {
    fn matching(&self, stack: &[Sym], next: Next) -> Option<&Rule> {
        (1..=LONGEST.min(stack.len())).rev().find_map(|length| {
            let rules = self.rules.get(&stack[stack.len() - length..])?;
            rules.iter().find(|rule| !rule.not_before.contains(&next))
        })
    }

    /// Reduces a word, and returns all its forms.
    fn forms(&self, word: &Word) -> Vec<Form> {
        let mut forms = vec![Form { word: word.clone(), reduced: None }];
        let (mut stack, mut at) = (Vec::new(), 0);
        loop {
            let next = word.get(at).copied();
            if let Some(rule) = self.matching(&stack, next) {
                stack.truncate(stack.len() - rule.from.len());
                stack.extend_from_slice(&rule.to);
                let reduced = Some((rule.from.clone(), rule.to.clone(), next));
                forms.push(Form { word: [stack.as_slice(), &word[at..]].concat(), reduced });
            } else if let Some(token) = next {
                stack.push(token);
                at += 1;
            } else {
                return forms;
            }
        }
    }

    fn normal(&self, word: &Word) -> Word {
        self.forms(word).pop().map_or_else(Vec::new, |form| form.word)
    }

    /// Returns whether a word, which begins with the bottom, is accepted.
    fn judge(&self, word: &Word) -> bool {
        self.accepted.contains(&self.normal(word))
    }

    /// Returns whether a word is accepted.
    pub(crate) fn accepts(&self, word: &[Sym]) -> bool {
        self.judge(&with_bottom(word))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.accepted.is_empty()
    }

    /// Returns the number of reductions and of accepted normal forms.
    pub(crate) fn len(&self) -> usize {
        self.rules.values().map(Vec::len).sum::<usize>() + self.accepted.len()
    }

    /// Returns all reductions, short ones first.
    fn all(&self) -> Vec<&Rule> {
        let mut all: Vec<&Rule> = self.rules.values().flatten().collect();
        all.sort_by_key(|rule| (size(&rule.from), size(&rule.to)));
        all
    }

    /// Draws a word of very roughly this many tokens, by reductions backwards.
    pub(crate) fn draw(&self, length: usize, random: &mut ChaCha8Rng) -> Option<Word> {
        let accepted: Vec<&Word> = self.accepted.iter().collect();
        let word = self.expand((*accepted.choose(random)?).clone(), length, &mut HashMap::new(), random);
        Some(word[1..].to_vec())
    }

    /// Applies reductions backwards, those that were used least first.
    fn expand(&self, mut word: Word, length: usize, used: &mut HashMap<Word, usize>, random: &mut ChaCha8Rng) -> Word {
        let rules = self.all();
        for _ in 0..200 {
            if word.len() >= length || rules.is_empty() {
                break;
            }
            let some: Vec<&&Rule> = rules.sample(random, 3).collect();
            let Some(rule) = some.into_iter().min_by_key(|rule| used.get(&rule.from).copied().unwrap_or(0)) else {
                break;
            };
            let places = places(&word, rule);
            if let Some(&at) = places.choose(random) {
                word.splice(at..at + rule.to.len(), rule.from.iter().copied());
                *used.entry(rule.from.clone()).or_default() += 1;
            } else if random.random_bool(0.05) {
                break;
            }
        }
        word
    }

    /// Returns the automaton of the reductions over the given tokens, or `None` if it is too large. A token that
    /// reductions push becomes a nonterminal as soon as it is on the stack.
    pub(crate) fn automaton(&self, symbols: &Symbols) -> Option<Automaton> {
        let (tokens, terminals): (Vec<Sym>, Vec<&str>) =
            symbols.tokens().map(|(symbol, name, _)| (symbol, name)).unzip();
        let pushed: BTreeSet<Sym> = self.all().iter().filter_map(|rule| rule.to.last().copied()).collect();
        let mut names = Names::numbered("_").without(terminals.iter().copied());
        let mut nonterminals: Vec<String> =
            pushed.iter().map(|&symbol| names.take(&format!("<{}>", symbols.names(symbol).concat()))).collect();
        nonterminals.push(names.take("<word>"));
        let read: HashMap<Sym, SymbolId> = tokens.iter().copied().zip((0..).map(SymbolId::new)).collect();
        let reduced: HashMap<Sym, SymbolId> = pushed.iter().copied().zip((tokens.len()..).map(SymbolId::new)).collect();
        let whole = SymbolId::new(tokens.len() + pushed.len());
        let stacked = |symbol: &Sym| *reduced.get(symbol).unwrap_or(&read[symbol]);
        let ahead = |next: Next| next.map_or(Lookahead::End, |token| Lookahead::Token(read[&token]));

        let mut rules: Vec<automaton::Rule> = Vec::new();
        for symbol in &pushed {
            let (suffix, push) = (vec![read[symbol]], reduced[symbol]);
            rules.push(automaton::Rule { anchored: false, suffix, lookahead: None, pop: 1, push });
        }
        // The first rule that fits counts, so long reductions come before short ones.
        for rule in self.all().into_iter().rev() {
            let Some(push) = rule.to.last() else { continue };
            let anchored = rule.from.first() == Some(&Sym::BOTTOM);
            let applied = automaton::Rule {
                anchored,
                suffix: rule.from[usize::from(anchored)..].iter().map(stacked).collect(),
                lookahead: None,
                pop: (rule.from.len() + 1 - rule.to.len()) as u32,
                push: reduced[push],
            };
            if rule.not_before.is_empty() {
                rules.push(applied);
                continue;
            }
            let all = tokens.iter().map(|&token| Some(token)).chain([None]);
            let allowed = all.filter(|next| !rule.not_before.contains(next));
            rules.extend(allowed.map(|next| automaton::Rule { lookahead: Some(ahead(next)), ..applied.clone() }));
        }
        for form in &self.accepted {
            let suffix: Vec<SymbolId> = form[1..].iter().map(stacked).collect();
            let pop = suffix.len() as u32;
            rules.push(automaton::Rule { anchored: true, suffix, lookahead: Some(Lookahead::End), pop, push: whole });
        }
        let terminals = terminals.into_iter().map(str::to_string);
        // Every name is given once and every rule is over these symbols, so there can only be too many.
        let alphabet = Alphabet::new(terminals, nonterminals).ok()?;
        Automaton::new(alphabet, rules, vec![whole]).ok()
    }
}

/// Returns where a reduction can be applied backwards.
fn places(word: &Word, rule: &Rule) -> Vec<usize> {
    let fits = |&at: &usize| {
        let end = at + rule.to.len();
        let anchored = rule.from.first() == Some(&Sym::BOTTOM);
        word[at..].starts_with(&rule.to) && (at > 0 || anchored) && !rule.not_before.contains(&word.get(end).copied())
    };
    (0..word.len()).filter(fits).collect()
}

/// What comes next where two handles are alike, and where they are not.
type Alike = (BTreeSet<Next>, BTreeSet<Next>);

/// Learns reductions.
#[derive(Debug, Default)]
pub(crate) struct Reducer {
    pub(crate) found: Reductions,
    /// What comes next where a pair of handles was told apart.
    refuted: HashMap<(Word, Word), BTreeSet<Next>>,
    /// Valid words, in the order in which they were found.
    valid: Vec<Word>,
    known: HashSet<Word>,
    /// For each handle, a shortest context for each pair of two symbols before and two after it.
    contexts: HashMap<Word, BTreeMap<Context, Context>>,
    /// Handles that nothing can stand for.
    failed: HashSet<(Word, Next)>,
    /// The tokens of normal forms.
    tokens: BTreeSet<Sym>,
}

impl Reducer {
    fn member(&mut self, word: &Word, teacher: &mut Teacher<'_>) -> Result<bool, Stop> {
        Ok(self.members(std::slice::from_ref(word), teacher)?[0])
    }

    /// Returns which words are in the language.
    fn members(&mut self, words: &[Word], teacher: &mut Teacher<'_>) -> Result<Vec<bool>, Stop> {
        let is_word = |word: &Word| word.first() == Some(&Sym::BOTTOM) && !word[1..].contains(&Sym::BOTTOM);
        let asked: Vec<Word> = words.iter().filter(|word| is_word(word)).map(|word| word[1..].to_vec()).collect();
        let mut answers = teacher.members(&asked)?.into_iter();
        let answers: Vec<bool> = words.iter().map(|word| is_word(word) && answers.next().unwrap_or(false)).collect();
        for (word, _) in words.iter().zip(&answers).filter(|(word, valid)| **valid && word.len() <= REMEMBERED.0) {
            self.remember(word);
        }
        Ok(answers)
    }

    fn remember(&mut self, word: &Word) {
        if self.valid.len() >= REMEMBERED.1 || !self.known.insert(word.clone()) {
            return;
        }
        self.valid.push(word.clone());
        for length in 0..=LONGEST.min(word.len()) {
            for at in usize::from(length == 0)..=word.len() - length {
                let end = at + length;
                let near = (word[at.saturating_sub(2)..at].to_vec(), word[end..word.len().min(end + 2)].to_vec());
                let contexts = self.contexts.entry(word[at..end].to_vec()).or_default();
                let longer = |(left, right): &Context| left.len() + right.len() > word.len() - length;
                if contexts.len() < MAX_REMEMBERED && contexts.get(&near).is_none_or(longer) {
                    contexts.insert(near, (word[..at].to_vec(), word[end..].to_vec()));
                }
            }
        }
    }

    /// Returns contexts of a handle: first one for each token that comes next, then the others, short ones first.
    fn contexts_of(&self, handle: &Word) -> Vec<Context> {
        let mut all: Vec<&Context> = self.contexts.get(handle).into_iter().flat_map(BTreeMap::values).collect();
        all.sort_by_key(|(left, right)| left.len() + right.len());
        let mut seen: HashSet<Next> = HashSet::new();
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for context in all {
            if seen.insert(context.1.first().copied()) { first.push(context) } else { rest.push(context) }
        }
        first.into_iter().chain(rest).take(MAX_CONTEXTS).cloned().collect()
    }

    /// Returns what comes next where two handles are alike, and where they are not. Returns `None` if they never are.
    fn alike(&mut self, from: &Word, to: &Word, teacher: &mut Teacher<'_>) -> Result<Option<Alike>, Stop> {
        let mut apart = self.refuted.get(&(from.clone(), to.clone())).cloned().unwrap_or_default();
        let mut alike: BTreeSet<Next> = BTreeSet::new();
        let mut misses = 0;
        for (here, other) in [(from, to), (to, from)] {
            for (left, right) in self.contexts_of(here) {
                let next = right.first().copied();
                if apart.contains(&next) {
                    continue;
                }
                if self.member(&[left.as_slice(), other, &right].concat(), teacher)? {
                    alike.insert(next);
                } else {
                    apart.insert(next);
                    misses += 1;
                    if here == from && misses >= 2 && alike.is_subset(&apart) {
                        return Ok(None);
                    }
                }
            }
            if alike.is_subset(&apart) {
                return Ok(None);
            }
        }
        Ok(Some((&alike - &apart, apart)))
    }

    /// Returns what may stand for a handle: a beginning of it, and one more token.
    fn candidates(&self, from: &Word) -> Vec<Word> {
        let anchored = usize::from(from.first() == Some(&Sym::BOTTOM));
        let mut found: BTreeSet<Word> = BTreeSet::new();
        for at in anchored..from.len() {
            let words = self.tokens.iter().map(|&token| [&from[..at], &[token]].concat());
            found.extend(words.filter(|to| size(to) < size(from)));
        }
        found.into_iter().collect()
    }

    /// Simple reductions cost less: short, with little that stays, and with few exceptions.
    fn cost(from: &Word, to: &Word, exceptions: usize) -> usize {
        let same = shared(from, to);
        let stays = match same {
            0 => 0,
            _ if same == to.len() => 10,
            _ => 20 * same,
        };
        10 * from.len() + stays + if exceptions > 0 { 20 + 2 * exceptions } else { 0 }
    }

    /// Finds the simplest reduction that applies to a normal form. Returns whether there is one.
    fn reduce(&mut self, form: &Word, teacher: &mut Teacher<'_>) -> Result<bool, Stop> {
        let mut best: Option<(usize, Rule)> = None;
        for length in 1..=LONGEST.min(form.len()) {
            if best.as_ref().is_some_and(|(cost, _)| *cost <= 10 * length) {
                break;
            }
            for at in 0..=form.len() - length {
                // Answers that are known cost time, too.
                teacher.queries.check()?;
                let (from, next) = (form[at..at + length].to_vec(), form.get(at + length).copied());
                if from == [Sym::BOTTOM] || self.failed.contains(&(from.clone(), next)) {
                    continue;
                }
                let mut candidates = self.candidates(&from);
                candidates.sort_by_key(|to| Self::cost(&from, to, 0));
                let mut found = false;
                for to in candidates {
                    if best.as_ref().is_some_and(|(cost, _)| *cost <= Self::cost(&from, &to, 0)) {
                        found = true;
                        break;
                    }
                    let word = [&form[..at], &to, &form[at + length..]].concat();
                    if !self.member(&word, teacher)? {
                        continue;
                    }
                    let Some((before, not_before)) = self.alike(&from, &to, teacher)? else { continue };
                    if before.contains(&next) {
                        found = true;
                        let cost = Self::cost(&from, &to, not_before.len());
                        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                            best = Some((cost, Rule { from: from.clone(), to, before, not_before }));
                        }
                    }
                }
                if !found {
                    self.failed.insert((from, next));
                }
            }
        }
        let Some((_, rule)) = best else { return Ok(false) };
        self.found.rules.entry(rule.from.clone()).or_default().push(rule);
        self.failed.clear();
        Ok(true)
    }

    /// Learns reductions until a valid word is accepted.
    fn absorb(&mut self, word: &Word, teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        for _ in 0..MAX_STEPS {
            let form = self.found.normal(word);
            if self.found.accepted.contains(&form) {
                break;
            }
            if !self.member(&form, teacher)? {
                self.blame(word, teacher)?;
                continue;
            }
            self.tokens.extend(form[1..].iter().copied());
            if !self.reduce(&form, teacher)? {
                self.found.accepted.insert(form);
                break;
            }
        }
        Ok(())
    }

    /// Learns from all valid words, and reduces the accepted forms again.
    fn absorb_all(&mut self, words: &[Word], teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        let mut words: Vec<Word> = words.to_vec();
        words.sort_by(|one, two| size(one).cmp(&size(two)));
        words.iter().try_for_each(|word| self.absorb(word, teacher))?;
        let mut accepted = BTreeSet::new();
        for form in self.found.accepted.clone() {
            let form = self.found.normal(&form);
            if self.member(&form, teacher)? {
                accepted.insert(form);
            }
        }
        self.found.accepted = accepted;
        Ok(())
    }

    /// Finds a reduction of a word that did not preserve membership, and restricts it.
    fn blame(&mut self, word: &Word, teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        let forms = self.found.forms(word);
        let truth = self.member(word, teacher)?;
        let (mut low, mut high) = (0, forms.len() - 1);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.member(&forms[middle].word, teacher)? == truth { low = middle } else { high = middle }
        }
        let Some((from, to, next)) = &forms[high].reduced else { return Err(Stop::Contradiction) };
        self.refuted.entry((from.clone(), to.clone())).or_default().insert(*next);
        if let Some(rules) = self.found.rules.get_mut(from) {
            for rule in rules.iter_mut().filter(|rule| rule.to == *to) {
                rule.not_before.insert(*next);
                rule.before.remove(next);
            }
            rules.retain(|rule| !rule.before.is_empty());
            if rules.is_empty() {
                self.found.rules.remove(from);
            }
        }
        self.failed.clear();
        Ok(())
    }

    /// Learns from a word that is misjudged.
    pub(crate) fn mend(&mut self, word: &[Sym], teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        let word = with_bottom(word);
        for _ in 0..MAX_STEPS {
            teacher.queries.check()?;
            let truth = self.member(&word, teacher)?;
            if self.found.judge(&word) == truth {
                return Ok(());
            }
            let form = self.found.normal(&word);
            if self.member(&form, teacher)? != truth {
                self.blame(&word, teacher)?;
            } else if truth {
                self.absorb(&word, teacher)?;
            } else {
                self.found.accepted.remove(&form);
            }
        }
        Ok(())
    }

    /// Learns from valid words, and tests until a whole round finds nothing. Returns whether it did, and the number of
    /// queries of the last round.
    pub(crate) fn learn(
        &mut self,
        words: &[Word],
        (tests, rounds): (usize, usize),
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<(bool, usize), Stop> {
        let examples: Vec<Word> = words.iter().map(|word| with_bottom(word)).collect();
        self.absorb_all(&examples, teacher)?;
        for _ in 0..rounds {
            teacher.queries.check()?;
            let before = teacher.queries.asked;
            let Some(wrong) = self.test(tests, teacher, random)? else {
                return Ok((true, teacher.queries.asked - before));
            };
            self.mend(&wrong[1..], teacher)?;
            self.absorb_all(&examples, teacher)?;
        }
        Ok((false, 0))
    }

    /// Returns a word that is misjudged, if a test finds one.
    fn test(&mut self, tests: usize, teacher: &mut Teacher<'_>, random: &mut ChaCha8Rng) -> Result<Option<Word>, Stop> {
        let letters: Vec<Sym> = teacher.symbols.in_use();
        let mut words = self.pairs(&letters, tests);
        let accepted: Vec<Word> = self.found.accepted.iter().cloned().collect();
        let tails: Vec<Word> = self.valid.iter().map(|word| word[1..].to_vec()).collect();
        let mut used = HashMap::new();
        for number in 0..tests {
            let base = match number % 10 {
                0..3 => tails.choose(random).cloned(),
                3..9 => accepted.choose(random).map(|form| {
                    let length = random.random_range(3..40);
                    self.found.expand(form.clone(), length, &mut used, random)[1..].to_vec()
                }),
                _ => Some((0..random.random_range(0..9)).filter_map(|_| letters.choose(random).copied()).collect()),
            };
            let Some(base) = base else { continue };
            let word = if matches!(number % 10, 3..6 | 9) { base } else { mutate(&base, &letters, &tails, random) };
            words.push(with_bottom(&word));
        }
        words.retain(|word| word.len() <= LONGEST_TEST);
        let (mut at, mut count) = (0, 1);
        while at < words.len() {
            let batch = &words[at..words.len().min(at + count)];
            let answers = self.members(batch, teacher)?;
            let wrong = batch.iter().zip(answers).find(|(word, answer)| self.found.judge(word) != *answer);
            if let Some((word, _)) = wrong {
                return Ok(Some(word.clone()));
            }
            (at, count) = (at + count, (count * 2).min(MOST_AT_ONCE));
        }
        Ok(None)
    }

    /// Returns words for pairs of reductions, one applied backwards after the other, each with every token after it: a
    /// reduction that lacks an exception is found only by a word that needs it.
    fn pairs(&self, letters: &[Sym], most: usize) -> Vec<Word> {
        let rules = self.found.all();
        let mut layer: Vec<Word> = self.found.accepted.iter().cloned().collect();
        let mut found: Vec<Word> = layer.clone();
        let mut seen: HashSet<Word> = found.iter().cloned().collect();
        for _ in 0..3 {
            let mut next = Vec::new();
            for word in &layer {
                for rule in &rules {
                    for at in places(word, rule) {
                        let end = at + rule.from.len();
                        let mut longer = word.clone();
                        longer.splice(at..at + rule.to.len(), rule.from.iter().copied());
                        for &letter in letters {
                            let mut odd = longer.clone();
                            odd.insert(end.min(odd.len()), letter);
                            found.extend(Some(odd).filter(|odd| seen.insert(odd.clone())));
                        }
                        if seen.insert(longer.clone()) {
                            found.push(longer.clone());
                            next.push(longer);
                        }
                        if found.len() >= 4 * most {
                            return found;
                        }
                    }
                }
            }
            layer = next;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use echostack::{Oracle, Recognizer, Verdict};
    use echostack_grammar::Lexer;

    use super::*;
    use crate::ask::queries::{Asking, Queries};
    use crate::testing::{random, texts};

    fn palindrome(text: &str) -> bool {
        let tokens: Vec<&str> = text.split_whitespace().collect();
        tokens.len() % 2 == 1
            && tokens.iter().eq(tokens.iter().rev())
            && tokens[tokens.len() / 2] == "c"
            && tokens.iter().filter(|token| **token == "c").count() == 1
    }

    fn learned() -> (Reductions, Symbols) {
        let lexer = Arc::new(Lexer::new("%%\na \"a\"\nb \"b\"\nc \"c\"\n[ ]+ ;\n").unwrap());
        let examples: Vec<String> = ["c", "a c a", "b a c a b"].map(String::from).to_vec();
        let symbols = Symbols::of_lexer(lexer, &examples);
        let queries = Queries::new(&palindrome, Asking::default(), &()).unwrap();
        let mut teacher = Teacher { symbols, ..Teacher::new(queries) };
        let words: Vec<Word> = examples.iter().map(|text| teacher.symbols.base(text).unwrap()).collect();
        let mut reducer = Reducer::default();
        assert!(reducer.learn(&words, (500, 60), &mut teacher, &mut random()).unwrap().0);
        (reducer.found, teacher.symbols)
    }

    /// The reductions, and their automaton, which is made from rules of the paper's form.
    #[test]
    fn palindromes_are_reduced_to_their_middle() {
        let (found, symbols) = learned();
        let oracle = Oracle::strict(found.automaton(&symbols).unwrap()).unwrap();
        for text in texts("abc", 7) {
            let spaced: Vec<String> = text.chars().map(String::from).collect();
            let spaced = spaced.join(" ");
            let word = symbols.base(&spaced).unwrap();
            assert_eq!(found.accepts(&word), palindrome(&spaced), "{spaced:?}");
            let word = oracle.automaton().alphabet().word(spaced.split_whitespace()).unwrap();
            assert_eq!(oracle.judge(&word) == Verdict::Accept, palindrome(&spaced), "{spaced:?}");
        }
        assert!(!found.is_empty() && found.len() < 8, "{}", found.len());
    }

    #[test]
    fn drawn_words_are_accepted() {
        let (found, _) = learned();
        let mut random = random();
        let drawn: Vec<Word> = (1..50).map(|length| found.draw(length, &mut random).unwrap()).collect();
        assert!(drawn.iter().all(|word| found.accepts(word)));
        assert!(drawn.iter().any(|word| word.len() > 10));
    }

    /// A reduction backwards is a reduction forwards.
    #[test]
    fn places_are_where_a_reduction_can_be_applied_backwards() {
        let (found, symbols) = learned();
        let word = |text: &str| with_bottom(&symbols.base(text).unwrap());
        for rule in found.all() {
            for word in ["c", "a c a", "b c", "a b c b a"].map(word) {
                for at in places(&word, rule) {
                    let mut longer = word.clone();
                    longer.splice(at..at + rule.to.len(), rule.from.iter().copied());
                    assert!(longer.len() > word.len() || rule.from.len() == rule.to.len());
                    assert_eq!(found.judge(&longer), found.judge(&word));
                }
            }
        }
    }
}
