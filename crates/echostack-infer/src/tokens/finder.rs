//! Tokens as hypotheses: lexemes that the same contexts take are one token.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use echostack_grammar::Lexer;
use rand_chacha::ChaCha8Rng;

use super::context::{Context, Rules, fit, length};
use super::cut::{Cut, Kind};
use super::dfa::Dfa;
use super::given::Given;
use super::lexemes::Lexemes;
use crate::ask::queries::Stop;
use crate::text::teacher::Teacher;

/// The most contexts that lexemes are tried in.
const MAX_CONTEXTS: usize = 130;
/// Names that no example has.
pub(super) const FRESH: [&str; 2] = ["zq", "Kw"];
/// The signs that operators of two characters consist of.
const SIGNS: &str = "=<>!&|+-*/~^%?:.#$@";
/// The most rounds of tests.
const ROUNDS: usize = 8;
/// The number of queries after which tokens are not tested again.
const MOST_QUERIES: usize = 120_000;
/// The most valid texts with tokens that no example has.
const MAX_FURTHER: usize = 60;
/// The parts of the lexemes that may be in no token, and of the tests in which spaces may matter, in percent.
const MOST_UNKNOWN: usize = 30;
const MOST_SPACED: usize = 20;

/// What the tests of a round have found.
#[derive(Debug, Default)]
pub(super) struct Tested {
    pub(super) corrected: usize,
    pub(super) read: usize,
    pub(super) spaced: usize,
}

/// The lexemes of one kind of contexts.
#[derive(Debug)]
pub(super) struct Learned {
    pub(super) context: Context,
    pub(super) lexemes: Lexemes,
}

/// The tokens that were found so far, with what they are made of.
#[derive(Debug)]
pub(crate) struct Finder {
    pub(super) cut: Cut,
    pub(super) rules: Rules,
    /// The contexts of the examples, with the lexemes in them.
    pub(super) contexts: BTreeMap<Context, (Kind, String)>,
    /// The contexts in which words, signs and keywords are compared.
    pub(super) columns: Vec<Context>,
    pub(super) lexemes: BTreeMap<Kind, BTreeSet<String>>,
    pub(super) learned: Vec<Learned>,
    /// Contexts whose lexemes go on into their neighbors.
    pub(super) gone: BTreeSet<Context>,
    /// Valid texts with operators that no example has.
    pub(super) more: Vec<String>,
    pub(super) lexer: Option<Arc<Lexer>>,
    /// Pairs of lexemes that must not touch.
    pub(super) apart: BTreeSet<(String, String)>,
    /// The tokens that stand for two that touch, with the pairs of lexemes that they are made of. No rule uses them.
    pub(super) traps: BTreeMap<String, Vec<(String, String)>>,
    /// Some texts of each token, and which of the learned languages an open one is in.
    pub(super) texts_of: BTreeMap<String, Vec<String>>,
    pub(super) vectors: BTreeMap<String, Vec<bool>>,
    /// Lexemes of each token that were drawn from its automaton.
    pub(super) drawn: BTreeMap<String, Vec<String>>,
    /// The expressions of automata whose words are enclosed by something.
    pub(super) written: HashMap<(Dfa, &'static str), Option<String>>,
    /// The lexemes of the examples that are in no learned language.
    pub(super) unknown: usize,
    pub(super) notes: Vec<String>,
}

/// Returns a letter in the other case.
fn swapped(letter: char) -> char {
    if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
}

impl Finder {
    /// Finds the tokens of a language, besides some that were given, or says why there are none.
    pub(crate) fn find(
        examples: &[String],
        given: Option<Arc<Given>>,
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<Result<Self, String>, Stop> {
        let mut spent = vec![teacher.queries.asked];
        let Some(cut) = Cut::find(examples, given, teacher, random)? else {
            return Ok(Err("spaces can be inserted at few places only".to_string()));
        };
        let mut this = Self::new(cut, teacher)?;
        spent.push(teacher.queries.asked);
        this.find_words(teacher)?;
        this.find_operators(teacher)?;
        spent.push(teacher.queries.asked);
        this.learn(teacher, random)?;
        spent.push(teacher.queries.asked);
        this.make_tokens(teacher)?;
        let mut last = Tested::default();
        for _ in 0..ROUNDS {
            last = this.test(teacher, random)?;
            if last.corrected == 0 || teacher.queries.asked - spent[0] > MOST_QUERIES {
                break;
            }
            this.agree(teacher, random)?;
            this.make_tokens(teacher)?;
        }
        spent.push(teacher.queries.asked);
        let spent: Vec<usize> = spent.windows(2).map(|pair| pair[1] - pair[0]).collect();
        this.notes.push(format!(
            "tokens: {} queries for strings and spaces, {} for words and operators, {} for the lexemes of {} kinds of \
             contexts, {} for tests of the tokens",
            spent[0],
            spent[1],
            spent[2],
            this.learned.len(),
            spent[3]
        ));
        Ok(match this.lacks(&last) {
            Some(reason) => Err(reason),
            None => Ok(this),
        })
    }

    /// Corrects the tokens by texts that are misjudged. Returns whether there are other tokens now.
    pub(crate) fn correct(
        &mut self,
        texts: &[String],
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<bool, Stop> {
        let before = self.lexer.clone();
        if self.examine(texts, teacher, random)?.corrected == 0 {
            return Ok(false);
        }
        self.agree(teacher, random)?;
        self.make_tokens(teacher)?;
        let source = |lexer: &Option<Arc<Lexer>>| lexer.as_ref().map(|lexer| lexer.source().to_string());
        Ok(source(&self.lexer) != source(&before))
    }

    pub(crate) fn lexer(&self) -> Option<Arc<Lexer>> {
        self.lexer.clone()
    }

    /// Adds something to the report.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Returns what was found out, for the report.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    fn new(cut: Cut, teacher: &mut Teacher<'_>) -> Result<Self, Stop> {
        let mut lexemes: BTreeMap<Kind, BTreeSet<String>> = BTreeMap::new();
        let mut all = Vec::new();
        for (example, pieces) in cut.examples.iter().zip(&cut.lexemes) {
            for piece in pieces {
                let word = example[piece.start..piece.end].to_string();
                if word.chars().all(|letter| cut.skipped.contains(&letter)) {
                    continue;
                }
                lexemes.entry(piece.kind).or_default().insert(word.clone());
                all.push(((example[..piece.start].to_string(), example[piece.end..].to_string()), (piece.kind, word)));
            }
        }
        all.sort_by(|(one, _), (two, _)| (length(one), one).cmp(&(length(two), two)));
        all.dedup_by(|(one, _), (two, _)| one == two);
        all.truncate(MAX_CONTEXTS);
        let wide = |(before, after): &Context| (format!("{before} "), format!(" {after}"));
        let texts: Vec<String> = (all.iter())
            .map(|(context, (_, word))| {
                let (before, after) = wide(context);
                format!("{before}{word}{after}")
            })
            .collect();
        let spaced = teacher.all_valid(&texts)?.into_iter();
        let contexts: BTreeMap<Context, (Kind, String)> = all
            .into_iter()
            .zip(spaced)
            .map(|((context, lexeme), spaced)| (if spaced { wide(&context) } else { context }, lexeme))
            .collect();
        let mut rules = Rules { given: cut.given.clone(), ..Rules::default() };
        rules.reserved.extend(cut.comments.iter().map(|comment| comment.start));
        rules.reserved.extend(cut.quoted.iter().map(|quoted| quoted.quote));
        Ok(Self {
            columns: contexts.keys().cloned().collect(),
            cut,
            rules,
            contexts,
            lexemes,
            learned: Vec::new(),
            gone: BTreeSet::new(),
            more: Vec::new(),
            lexer: None,
            apart: BTreeSet::new(),
            traps: BTreeMap::new(),
            texts_of: BTreeMap::new(),
            vectors: BTreeMap::new(),
            drawn: BTreeMap::new(),
            written: HashMap::new(),
            unknown: 0,
            notes: Vec::new(),
        })
    }

    /// Returns in which of the columns each word is valid.
    pub(super) fn rows<T: AsRef<str>>(&self, words: &[T], teacher: &mut Teacher<'_>) -> Result<Vec<Vec<bool>>, Stop> {
        words
            .iter()
            .map(|word| {
                let texts: Vec<String> =
                    (self.columns.iter()).map(|(before, after)| format!("{before}{}{after}", word.as_ref())).collect();
                teacher.all_valid(&texts)
            })
            .collect()
    }

    /// Finds keywords: words that are not valid exactly where fresh names are.
    pub(super) fn find_words(&mut self, teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        let fresh = self.rows(&FRESH, teacher)?;
        let mut words: Vec<String> = self.lexemes.get(&Kind::Word).into_iter().flatten().cloned().collect();
        // Names that were given can be keywords; a word that was given on its own is a token already.
        let given = self.lexemes.get(&Kind::Given).into_iter().flatten();
        words.extend(given.filter(|word| self.rules.given.as_ref().is_some_and(|given| given.is_open(word))).cloned());
        for word in words {
            let row = self.rows(&[&word], teacher)?.remove(0);
            if (0..row.len()).any(|at| fresh.iter().all(|fresh| fresh[at] != row[at])) {
                self.reserve(&word, teacher)?;
            }
        }
        Ok(())
    }

    /// Makes a keyword of a word, in any case if that makes no difference: then it is written once.
    pub(super) fn reserve(&mut self, word: &str, teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        let lower = word.to_ascii_lowercase();
        let swapped: String = word.chars().map(swapped).collect();
        let capital = word[..1].to_ascii_uppercase() + &lower[1..];
        let rows = self.rows(&[word, &swapped, &capital], teacher)?;
        let any_case = rows[0] == rows[1] && rows[0] == rows[2] && swapped != word;
        self.rules.special.insert(if any_case { lower } else { word.to_string() }, any_case);
        Ok(())
    }

    /// Finds operators that no example has, in the places of those that examples have.
    pub(super) fn find_operators(&mut self, teacher: &mut Teacher<'_>) -> Result<(), Stop> {
        let quotes: Vec<char> = self.cut.quoted.iter().flat_map(|quoted| quoted.quote.chars()).collect();
        let ones =
            ('!'..='~').filter(|l| l.is_ascii_punctuation() && *l != '_' && !quotes.contains(l)).map(String::from);
        let twos = SIGNS.chars().flat_map(|one| SIGNS.chars().map(move |two| format!("{one}{two}")));
        let candidates: Vec<String> = ones.chain(twos).collect();
        let mut places: BTreeMap<&str, Vec<&Context>> = BTreeMap::new();
        let mut contexts: Vec<_> = self.contexts.iter().filter(|(_, (kind, _))| *kind == Kind::Sign).collect();
        contexts.sort_by_key(|(context, _)| length(context));
        for (context, (_, word)) in contexts {
            let places = places.entry(word).or_default();
            if places.len() < 2 {
                places.push(context);
            }
        }
        let mut found = self.lexemes.get(&Kind::Sign).cloned().unwrap_or_default();
        for context in places.values().flatten() {
            let is_open = |word: &&String| {
                !found.contains(*word)
                    && !self.rules.is_given(word)
                    && !word.chars().all(|letter| self.cut.skipped.contains(&letter))
                    && !self.rules.reserved.iter().any(|reserved| word.starts_with(reserved))
            };
            let open: Vec<&String> = candidates.iter().filter(is_open).collect();
            let valid = fit(context, &open, teacher)?;
            let open: Vec<&String> =
                open.into_iter().zip(valid).filter_map(|(word, yes)| yes.then_some(word)).collect();
            for word in open {
                let apart = word.len() > 1 && fit(context, &[format!("{} {}", &word[..1], &word[1..])], teacher)?[0];
                if !apart {
                    self.more.push(format!("{}{word}{}", context.0, context.1));
                    found.insert(word.clone());
                }
            }
        }
        self.lexemes.insert(Kind::Sign, found);
        Ok(())
    }

    /// Returns the lexemes of examples that are of an open class.
    pub(super) fn open_lexemes(&self) -> Vec<String> {
        let kinds = [Kind::Word, Kind::Number, Kind::Mixed];
        let all = kinds.iter().filter_map(|kind| self.lexemes.get(kind)).flatten();
        all.filter(|word| !self.rules.is_special(word)).cloned().collect()
    }

    /// Returns why the tokens do not explain the examples, if they do not.
    fn lacks(&self, tested: &Tested) -> Option<String> {
        let long = self.open_lexemes().iter().filter(|word| word.chars().count() > 1).count();
        if 100 * self.unknown > MOST_UNKNOWN * long {
            return Some(format!("{} of {long} words of the examples are in no token", self.unknown));
        }
        if 100 * tested.spaced > MOST_SPACED * (tested.spaced + tested.read) {
            let all = tested.spaced + tested.read;
            return Some(format!("spaces between tokens matter in {} of {all} tests", tested.spaced));
        }
        let unread = self.cut.examples.iter().find(|example| self.read(example).is_err());
        unread.map(|example| format!("the tokens that were found do not read the example {example:?}"))
    }

    /// Returns the examples, with valid texts for tokens that none of them has.
    pub(crate) fn texts(&self, teacher: &mut Teacher<'_>) -> Result<Vec<String>, Stop> {
        let names = |text: &String| -> Vec<String> {
            self.read(text).map(|tokens| tokens.into_iter().map(|(name, _)| name).collect()).unwrap_or_default()
        };
        let seen: BTreeSet<String> = self.cut.examples.iter().flat_map(names).collect();
        let mut further: Vec<String> = self.more.iter().take(20).cloned().collect();
        let mut contexts: Vec<&Context> = self.contexts.keys().collect();
        contexts.sort_by_key(|context| length(context));
        for (name, texts) in self.texts_of.iter().filter(|(name, _)| !seen.contains(*name)) {
            let Some(word) = texts.first() else { continue };
            let mut found = 0;
            for context in &contexts {
                let text = format!("{}{word}{}", context.0, context.1);
                if found < 5 && fit(context, &[word], teacher)?[0] && names(&text).contains(name) {
                    further.push(text);
                    found += 1;
                }
            }
        }
        let valid = teacher.all_valid(&further)?;
        let further = further.into_iter().zip(valid).filter(|(text, valid)| *valid && self.read(text).is_ok());
        let mut all = self.cut.examples.clone();
        for (text, _) in further {
            if all.len() < self.cut.examples.len() + MAX_FURTHER && !all.contains(&text) {
                all.push(text);
            }
        }
        Ok(all)
    }
}
