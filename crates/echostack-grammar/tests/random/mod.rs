//! Random grammars with many conflicts and random precedences, and words on which parsers for them are compared.
//! Nonterminals are capital letters, and terminals are small ones.

use std::collections::BTreeSet;
use std::fmt::Write;

use echostack::Word;
use echostack::language::Language;
use echostack_grammar::Grammar;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

/// A token that no rule contains, so that `%prec` can give a production a precedence that no operator has.
const LENDER: char = 'p';
const KINDS: [&str; 4] = ["left", "right", "nonassoc", "precedence"];

/// The shapes of the right sides of a nonterminal, which always has the first one: t is a terminal, n a nonterminal, x
/// the nonterminal itself, and ? any symbol. A number is the same terminal wherever it is.
type Shapes = &'static [&'static str];
const OPERATORS: Shapes = &["t", "t", "xtx", "xtx", "xtx", "tx", "xt", "txt", "xx", "xtxt"];
/// A nonterminal in several contexts, so that a parser comes to the same items with different lookaheads.
const CONTEXTS: Shapes = &["tnt", "tnt", "tnt", "tn", "ntt", "nt", "n", "ttt", "ntn", "tnnt"];
/// Contexts that tell A from B, even if both read the same, but not in merged states.
const CROSSED: Shapes = &["0A2", "0B3", "1B2", "1A3"];
const SHORT: Shapes = &["t", "t", "tt", "tt", "tn", "ttn", "ttt", ""];
const ANY: Shapes = &["??", "?", "??", "???", "????", ""];

/// The maximum number of words that are all words up to some length, and the maximum length.
const SHORT_WORDS: (usize, usize) = (3000, 12);
const LONGER_WORDS: usize = 500;
const LONGEST: usize = 30;

pub(crate) struct RandomGrammar {
    terminals: Vec<char>,
    /// The productions: the left side, the right side, and the token whose precedence it has, if it is another one.
    productions: Vec<(char, String, Option<char>)>,
    /// The declarations of precedences, from the lowest level to the highest, each with its tokens.
    levels: Vec<(&'static str, Vec<char>)>,
}

impl RandomGrammar {
    pub(crate) fn new(random: &mut ChaCha8Rng) -> Self {
        let terminals: Vec<char> = ('a'..='e').take(random.random_range(1..=5)).collect();
        let nonterminals = &['S', 'A', 'B', 'C'][..random.random_range(1..=4)];
        let one = |random: &mut ChaCha8Rng, of: &[char]| of[random.random_range(0..of.len())];
        let numbered = [(); 4].map(|()| one(random, &terminals));
        let mut productions: Vec<(char, String, Option<char>)> = Vec::new();
        for (number, &left) in nonterminals.iter().enumerate() {
            if left > 'A' && random.random_bool(0.25) {
                let same = productions.clone().into_iter().filter(|(other, ..)| *other == nonterminals[number - 1]);
                productions.extend(same.map(|(_, right, precedence)| (left, right, precedence)));
                continue;
            }
            let shapes = match (left, random.random_range(0..7)) {
                ('S', 6) => CROSSED,
                ('S', 0..3) | (_, 0) => CONTEXTS,
                (_, 1 | 3) => OPERATORS,
                (_, 2 | 4) => SHORT,
                _ => ANY,
            };
            let more = random.random_range(0..=3);
            let more: Vec<_> = shapes[1..].sample(random, more).collect();
            for shape in shapes[..1].iter().chain(more) {
                let symbol = |kind: char| match kind {
                    'x' => left,
                    'A' | 'B' => kind,
                    '?' if random.random_bool(0.4) => one(random, nonterminals),
                    'n' => one(random, nonterminals),
                    _ => kind.to_digit(10).map_or_else(|| one(random, &terminals), |digit| numbered[digit as usize]),
                };
                let right = shape.chars().map(symbol).collect();
                let lender = if random.random_bool(0.5) { LENDER } else { one(random, &terminals) };
                productions.push((left, right, random.random_bool(0.15).then_some(lender)));
            }
        }
        let mut tokens = [&terminals[..], &[LENDER]].concat();
        tokens.shuffle(random);
        tokens.truncate(random.random_range(0..=tokens.len() * 2));
        let mut levels: Vec<(&str, Vec<char>)> = Vec::new();
        for token in tokens {
            match levels.last_mut() {
                Some((_, shared)) if random.random_bool(0.4) => shared.push(token),
                _ => levels.push((KINDS[random.random_range(0..KINDS.len())], vec![token])),
            }
        }
        Self { terminals, productions, levels }
    }

    /// Returns the kinds of precedences that are declared, and `prec` if productions have their own.
    pub(crate) fn kinds(&self) -> BTreeSet<&'static str> {
        let own = self.productions.iter().any(|(.., precedence)| precedence.is_some()) && !self.levels.is_empty();
        self.levels.iter().map(|(kind, _)| *kind).chain(own.then_some("prec")).collect()
    }

    /// Writes the grammar after further declarations, with or without the levels of precedence, and only with productions
    /// of symbols that are kept.
    pub(crate) fn write(&self, declarations: &str, levels: bool, keeps: impl Fn(char) -> bool) -> String {
        let spaced = |symbols: &[char]| symbols.iter().flat_map(|symbol| [' ', *symbol]).collect::<String>();
        let mut text = format!("{declarations}%token a b c d e p\n%start S\n");
        for (kind, tokens) in self.levels.iter().filter(|_| levels) {
            writeln!(text, "%{kind}{}", spaced(tokens)).unwrap();
        }
        text += "%%\n";
        for (left, right, precedence) in &self.productions {
            if keeps(*left) && right.chars().all(&keeps) {
                let precedence = precedence.map(|token| format!(" %prec {token}")).unwrap_or_default();
                writeln!(text, "{left}:{}{precedence};", spaced(&right.chars().collect::<Vec<_>>())).unwrap();
            }
        }
        text
    }

    /// Returns all words up to some length, and longer ones: words and derivations (which precedences may forbid), each
    /// as they are and with one edit, and random words.
    pub(crate) fn words(&self, grammar: &Grammar, random: &mut ChaCha8Rng) -> Vec<String> {
        let (mut words, mut length, mut last) = (vec![String::new()], 0, 0);
        while length < SHORT_WORDS.1 && words.len() + (words.len() - last) * self.terminals.len() <= SHORT_WORDS.0 {
            let longer = |word: &String| self.terminals.iter().map(|next| format!("{word}{next}")).collect::<Vec<_>>();
            let longer: Vec<String> = words[last..].iter().flat_map(longer).collect();
            (last, length) = (words.len(), length + 1);
            words.extend(longer);
        }
        let mut more = BTreeSet::new();
        for number in 0..LONGER_WORDS * 4 {
            let drawn = match number % 5 {
                0 | 1 => grammar.word(random, 1..=LONGEST).map(|word| name(grammar, &word)),
                2 | 3 => self.derive(random),
                _ => Some((0..random.random_range(0..LONGEST)).filter_map(|_| self.terminals.choose(random)).collect()),
            };
            let drawn = drawn.map(|word| if number % 2 == 0 { word } else { self.edited(word, random) });
            more.extend(drawn.filter(|word| word.len() > length));
            if more.len() == LONGER_WORDS {
                break;
            }
        }
        words.extend(more);
        words
    }

    /// Derives a word by random productions, unless it gets too long.
    fn derive(&self, random: &mut ChaCha8Rng) -> Option<String> {
        let (mut word, mut rest) = (String::new(), vec!['S']);
        for _ in 0..LONGEST * 4 {
            let Some(symbol) = rest.pop() else { return Some(word) };
            if symbol.is_lowercase() {
                word.push(symbol);
                continue;
            }
            let productions: Vec<_> = self.productions.iter().filter(|(left, ..)| *left == symbol).collect();
            rest.extend(productions.choose(random)?.1.chars().rev());
            if word.len() + rest.len() > LONGEST {
                break;
            }
        }
        None
    }

    fn edited(&self, mut word: String, random: &mut ChaCha8Rng) -> String {
        let (at, kind) = (random.random_range(0..=word.len()), random.random_range(0..3));
        if kind > 0 && at < word.len() {
            word.remove(at);
        }
        if kind < 2 {
            word.insert(at, *self.terminals.choose(random).unwrap());
        }
        word
    }
}

/// Returns the names of the tokens of a word, which are letters.
fn name(grammar: &Grammar, word: &Word) -> String {
    let Word::Symbols(symbols) = word else { unreachable!("words of symbols") };
    symbols.iter().map(|symbol| grammar.table().names()[symbol.index()].as_str()).collect()
}
