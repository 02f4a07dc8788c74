//! From learned lexemes to a lexer: those that the same contexts take are one token.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use echostack::spelling::Names;
use echostack_grammar::{Lexeme, Lexer};
use rand_chacha::ChaCha8Rng;

use super::context::{fit, is_of_name, tail};
use super::cut::{Comment, Kind};
use super::dfa::{BEYOND, Dfa, Product};
use super::finder::Finder;
use crate::ask::queries::Stop;
use crate::text::charset::{CharSet, beyond_ascii};
use crate::text::teacher::Teacher;
use crate::write::contract::Token;
use crate::write::names::of_token;
use crate::write::readable::set;
use crate::write::regex::Regex;

/// The longest expression of a token.
const MAX_EXPRESSION: usize = 4000;
/// The number of texts of a token that no example has, very roughly.
const SOME: usize = 4;

/// The number of lexemes that are drawn from the automaton of a token.
const DRAWN: usize = 60;

/// A token that goes on into its neighbor: which of the learned languages it is in, and the signs at which it goes on.
struct TooFar {
    languages: Vec<bool>,
    letters: Vec<char>,
}

/// A token in a text.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) name: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// An open token: which of the learned languages it is in, and its expression.
#[derive(Debug)]
struct Atom {
    vector: Vec<bool>,
    dfa: Dfa,
    regex: String,
}

/// A rule of the lexer, with some of its texts.
#[derive(Debug)]
struct Rule {
    name: String,
    regex: String,
    texts: Vec<String>,
}

impl Finder {
    /// Makes tokens of the lexemes: those that the same contexts take are one token.
    pub(super) fn make_tokens(&mut self, teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        loop {
            let mut kept: Vec<(usize, Dfa)> = Vec::new();
            for (at, learned) in self.learned.iter().enumerate() {
                let automaton = learned.lexemes.automaton();
                if !automaton.is_empty() && !kept.iter().any(|(_, known)| *known == automaton) {
                    kept.push((at, automaton));
                }
            }
            let automata: Vec<&Dfa> = kept.iter().map(|(_, automaton)| automaton).collect();
            let Some(product) = Product::of(&automata) else {
                self.notes.push("a kind of context is left out: its lexemes overlap with all others".to_string());
                self.learned.pop();
                continue;
            };
            let atoms = self.atoms(&product);
            self.write(&atoms, teacher)?;
            let found = self.reads_too_far(teacher)?;
            let Some(TooFar { languages, letters }) = found else { return Ok(()) };
            // The first of the languages is to blame.
            let Some(at) = languages.iter().position(|accepts| *accepts) else { return Ok(()) };
            let blamed = self.learned.remove(kept[at].0);
            let banned = self.rules.banned.entry(blamed.context.clone()).or_default();
            banned.extend(letters.iter());
            if letters.is_empty() || banned.len() > 3 {
                self.notes.push(format!("lexemes after {:?} go on into their neighbors", tail(&blamed.context.0)));
                self.gone.insert(blamed.context);
                continue;
            }
            let mut random = rand::SeedableRng::seed_from_u64(0);
            if self.learn_context(blamed.context, &[], teacher, &mut random)? {
                self.agree(teacher, &mut random)?;
            }
        }
    }

    /// Returns the open tokens.
    fn atoms(&mut self, product: &Product) -> Vec<Atom> {
        let open = self.open_lexemes();
        let some = |vector: &[bool]| open.iter().filter(|word| product.accept(word) == Some(vector)).count();
        let mut vectors: Vec<&Vec<bool>> = product.accepting.iter().filter(|vector| vector.contains(&true)).collect();
        vectors.sort_by_key(|vector| {
            (std::cmp::Reverse(some(vector)), std::cmp::Reverse(vector.iter().filter(|yes| **yes).count()), *vector)
        });
        vectors.dedup();
        let mut before: BTreeSet<&[bool]> = BTreeSet::new();
        let mut atoms = Vec::new();
        for vector in vectors {
            // The longest match counts, then the first rule: what earlier rules take may be in this one, too, if its
            // expression is shorter then.
            let with_this = |other: &[bool]| other == vector.as_slice() || before.contains(other);
            let mut choices = vec![product.of_those(|other| other == vector.as_slice()), product.of_those(with_this)];
            for at in (0..vector.len()).filter(|&at| vector[at]) {
                let all = product.accepting.iter().filter(|other| other[at]);
                if all.clone().all(|other| with_this(other)) {
                    choices.push(product.of_those(|other| other[at]));
                }
            }
            before.insert(vector);
            let Some(dfa) = choices.into_iter().min_by_key(Dfa::size) else { continue };
            if let Some(regex) = self.expression(&dfa, "") {
                atoms.push(Atom { vector: vector.clone(), dfa, regex });
            }
        }
        atoms
    }

    /// Returns the expression of an automaton whose words are enclosed by something, unless it is too large.
    fn expression(&mut self, dfa: &Dfa, quote: &'static str) -> Option<String> {
        let known = self.written.entry((dfa.clone(), quote)).or_insert_with(|| dfa.written(quote));
        known.clone().filter(|regex| regex.len() <= MAX_EXPRESSION)
    }

    /// Writes the lexer: operators, keywords and other single lexemes, then strings, then the open tokens.
    fn write(&mut self, atoms: &[Atom], teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        let mut names = Names::numbered("_");
        self.rules.given.iter().flat_map(|given| given.names()).for_each(|name| _ = names.take(name));
        let mut rules = self.single_lexemes(atoms, &mut names, teacher)?;
        let singles = rules.len();
        rules.extend(self.strings(&mut names));
        self.vectors.clear();
        for atom in atoms {
            let rule = self.open_token(atom, &mut names);
            self.vectors.insert(rule.name.clone(), atom.vector.clone());
            rules.push(rule);
        }
        self.texts_of = rules.iter().map(|rule| (rule.name.clone(), rule.texts.clone())).collect();
        self.traps.clear();
        self.lexer = self.lexer_of(rules.split_at(singles), &[]);
        let traps = self.find_traps(&rules, &mut names);
        if !traps.is_empty() {
            self.lexer = self.lexer_of(rules.split_at(singles), &traps);
        }
        self.draw(&rules, atoms);
        Ok(())
    }

    /// Draws lexemes of tokens from their automata.
    fn draw(&mut self, rules: &[Rule], atoms: &[Atom]) {
        let mut random: ChaCha8Rng = rand::SeedableRng::seed_from_u64(0);
        let mut words: BTreeSet<String> = BTreeSet::new();
        for atom in atoms {
            words.extend((0..DRAWN).filter_map(|_| atom.dfa.draw(&mut random)));
        }
        for quoted in &self.cut.quoted {
            words.extend((0..DRAWN).filter_map(|_| quoted.body.draw(&mut random).map(|body| quoted.with(&body))));
        }
        self.drawn = rules.iter().map(|rule| (rule.name.clone(), Vec::new())).collect();
        for word in words {
            // What is read as another token belongs to that one.
            let name = match self.spans(&word).ok().as_deref() {
                Some([span]) if span.end == word.len() => span.name.clone(),
                _ => continue,
            };
            self.drawn.entry(name).or_default().push(word);
        }
    }

    /// Makes a lexer. What was given comes after operators and keywords, which can be names that were given.
    fn lexer_of(&mut self, (singles, open): (&[Rule], &[Rule]), traps: &[(String, String)]) -> Option<Arc<Lexer>> {
        let (mut first, mut last) = (String::new(), String::new());
        singles.iter().for_each(|rule| _ = writeln!(first, "{} \"{}\"", rule.regex, rule.name));
        open.iter().for_each(|rule| _ = writeln!(last, "{} \"{}\"", rule.regex, rule.name));
        traps.iter().for_each(|(regex, name)| _ = writeln!(last, "{regex} \"{name}\""));
        let given = self.rules.given.as_ref();
        let is_open = |letter: &char| given.is_none_or(|given| !given.skips(&letter.to_string()));
        let skipped: CharSet =
            self.cut.skipped.iter().filter(|letter| is_open(letter)).map(|&letter| (letter, letter)).collect();
        if !skipped.is_empty() {
            _ = writeln!(last, "{} ;", Regex::Plus(Box::new(Regex::Class(skipped))));
        }
        self.cut.comments.iter().for_each(|comment| _ = writeln!(last, "{} ;", of_comment(comment)));
        let lexer = given.map_or_else(|| format!("%%\n{first}{last}"), |given| given.with(&first, &last));
        match Lexer::new(&lexer) {
            Ok(lexer) => Some(Arc::new(lexer)),
            Err(error) => {
                self.notes.push(format!("the lexer cannot be used: {error}"));
                None
            }
        }
    }

    /// Returns the expressions and names of tokens that stand for two that must not touch: if they do, the longest match is
    /// a token that no rule uses.
    fn find_traps(&mut self, rules: &[Rule], names: &mut Names) -> Vec<(String, String)> {
        let mut pairs: BTreeMap<(String, String), Vec<(String, String)>> = BTreeMap::new();
        for words in &self.apart {
            let token = |word: &str| match self.spans(word).ok().as_deref() {
                Some([span]) => Some(span.name.clone()),
                _ => None,
            };
            if let (Some(one), Some(two)) = (token(&words.0), token(&words.1)) {
                pairs.entry((one, two)).or_default().push(words.clone());
            }
        }
        let regex = |name: &String| rules.iter().find(|rule| rule.name == *name).map(|rule| rule.regex.clone());
        let mut traps = Vec::new();
        for ((one, two), words) in pairs {
            let (Some(first), Some(second)) = (regex(&one), regex(&two)) else { continue };
            let name = names.take(&format!("{one}_touches_{two}"));
            traps.push((format!("({first})({second})"), name.clone()));
            self.traps.insert(name, words);
        }
        traps
    }

    /// Returns the rules of operators, keywords and lexemes that are in no learned language. Those that are valid in the
    /// same contexts are one token.
    fn single_lexemes(
        &mut self,
        atoms: &[Atom],
        names: &mut Names,
        teacher: &mut Teacher<'_>,
    ) -> Result<Vec<Rule>, Stop> {
        let mut single: BTreeSet<String> = self.lexemes.get(&Kind::Sign).cloned().unwrap_or_default();
        single.extend(self.rules.special.keys().cloned());
        let known = |word: &String| atoms.iter().any(|atom| atom.dfa.accepts(word));
        let unknown: Vec<String> = self.open_lexemes().into_iter().filter(|word| !known(word)).collect();
        self.unknown = unknown.iter().filter(|word| word.chars().count() > 1).count();
        single.extend(unknown);
        let single: Vec<String> = single.into_iter().collect();
        let mut alike: BTreeMap<Vec<bool>, Vec<String>> = BTreeMap::new();
        for (word, row) in single.iter().zip(self.rows(&single, teacher)?) {
            alike.entry(row).or_default().push(word.clone());
        }
        let mut groups: Vec<Vec<String>> = alike.into_values().collect();
        groups.sort();
        let rule = |texts: Vec<String>| {
            let either = |expression: &dyn Fn(&String) -> Regex| texts.iter().map(expression).reduce(Regex::or);
            let plain = either(&|word| Regex::Text(word.clone()))?;
            let regex = either(&|word| self.rules.written(word))?.to_string();
            let name = of_token(&Token { regex: plain, text: texts[0].clone(), given: Vec::new() });
            Some(Rule { name: names.take(&name), regex, texts })
        };
        Ok(groups.into_iter().filter_map(rule).collect())
    }

    /// Returns the rules of strings.
    fn strings(&mut self, names: &mut Names) -> Vec<Rule> {
        let mut rules = Vec::new();
        for at in 0..self.cut.quoted.len() {
            let (body, quote) = (self.cut.quoted[at].body.clone(), self.cut.quoted[at].quote);
            let Some(whole) = self.expression(&body, quote) else { continue };
            let quoted = &self.cut.quoted[at];
            let is_one = |text: &&String| quoted.reads(text) == Some(text.len());
            let mut texts: Vec<String> = self.lexemes.values().flatten().filter(is_one).cloned().collect();
            texts.extend(["zq", "7"].map(|body| quoted.with(body)));
            let (name, regex) = if quoted.prefixes.is_empty() {
                ("STRING", whole)
            } else {
                ("PREFIXED", format!("({})({whole})", quoted.prefixes.join("|")))
            };
            rules.push(Rule { name: names.take(name), regex, texts });
        }
        rules
    }

    /// Returns the rule of an open token.
    fn open_token(&self, atom: &Atom, names: &mut Names) -> Rule {
        let dfa = &atom.dfa;
        let mut texts: Vec<String> = self.open_lexemes().into_iter().filter(|word| dfa.accepts(word)).collect();
        let starts = |word: &String, is: fn(char) -> bool| word.trim_start_matches(['-', '+', '.']).starts_with(is);
        let name = match texts.first().cloned().or_else(|| dfa.shortest()) {
            Some(word) if starts(&word, |letter| letter.is_alphabetic() || letter == '_') => "NAME",
            Some(word) if starts(&word, char::is_numeric) => "NUMBER",
            _ => "WORD",
        };
        let all = self.learned.iter().flat_map(|learned| learned.lexemes.found());
        let further: BTreeSet<&str> = all.filter(|word| dfa.accepts(word) && !self.rules.is_special(word)).collect();
        let step = further.len().div_ceil(SOME).max(1);
        texts.extend(further.into_iter().step_by(step).map(String::from));
        Rule { name: names.take(name), regex: atom.regex.clone(), texts }
    }

    /// Splits a text into tokens. If it cannot be read, returns where.
    pub(super) fn spans(&self, text: &str) -> Result<Vec<Span>, usize> {
        let Some(lexer) = &self.lexer else { return Err(0) };
        let (tokens, fault) = lexer.tokens(text);
        match fault {
            None => {
                let span =
                    |token: &Lexeme<'_>| Span { name: token.name.to_string(), start: token.start, end: token.end };
                Ok(tokens.iter().map(span).collect())
            }
            Some(_) => Err(tokens.last().map_or(0, |token| token.end)),
        }
    }

    /// Splits a text into tokens, with their names.
    pub(super) fn read<'t>(&self, text: &'t str) -> Result<Vec<(String, &'t str)>, usize> {
        Ok(self.spans(text)?.into_iter().map(|span| (span.name, &text[span.start..span.end])).collect())
    }

    /// Returns a token that reads across the end of a lexeme of an example, where others of its kind are not valid.
    fn reads_too_far(&mut self, teacher: &mut Teacher<'_>) -> Result<Option<TooFar>, Stop> {
        for at in 0..self.cut.examples.len() {
            let example = self.cut.examples[at].clone();
            let Ok(tokens) = self.spans(&example) else { continue };
            let ends: Vec<(usize, usize)> = self.cut.lexemes[at].iter().map(|p| (p.start, p.end)).collect();
            for Span { name, start, end } in tokens {
                let Some(vector) = self.vectors.get(&name).filter(|_| !ends.contains(&(start, end))) else { continue };
                let texts: Vec<String> = self.texts_of[&name].iter().take(6).cloned().collect();
                let context = (format!("{} ", &example[..start]), format!(" {}", &example[end..]));
                if fit(&context, &texts, teacher)?.into_iter().all(|valid| valid) {
                    continue;
                }
                let inner = ends.iter().flat_map(|&(one, two)| [one, two]).filter(|&at| start < at && at < end);
                let near = inner.flat_map(|at| {
                    let (before, after) = (example[..at].chars().next_back(), example[at..].chars().next());
                    before.into_iter().chain(after)
                });
                let sign = |letter: &char| !is_of_name(*letter);
                let mut letters: Vec<char> = near.filter(sign).collect();
                if letters.is_empty() {
                    letters = example[start..end].chars().filter(sign).collect();
                }
                return Ok(Some(TooFar { languages: vector.clone(), letters }));
            }
        }
        Ok(None)
    }
}

/// Returns the expression of a comment.
fn of_comment(comment: &Comment) -> String {
    let start = Regex::Text(comment.start.to_string());
    let mut letters = comment.end.chars();
    let (first, second) = (letters.next(), letters.next());
    let beyond = |letter: char| if letter == BEYOND { beyond_ascii() } else { CharSet::of(letter) };
    let without = comment.without.iter().fold(CharSet::default(), |set, letter| set.union(&beyond(*letter)));
    let but = |letters: [Option<char>; 2]| {
        let others = letters.into_iter().flatten().fold(without.clone(), |set, letter| set.union(&CharSet::of(letter)));
        set(&[('\0', char::MAX)].into_iter().collect::<CharSet>().without(&others))
    };
    let Some((first, _)) = first.zip(second) else { return format!("{start}{}*", but([first, None])) };
    let rest = Regex::Text(comment.end[1..].to_string());
    let ends = Regex::Plus(Box::new(Regex::Class(CharSet::of(first))));
    format!("{start}({}|{ends}{})*{ends}{rest}", but([Some(first), None]), but([Some(first), second]))
}
