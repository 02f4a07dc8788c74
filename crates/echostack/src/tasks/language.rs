//! The symbolic tasks: the paper's rule lists (Table 1 and the latch rules), and the grammars that words are drawn from.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Task;
use super::long::Lengths;
use crate::automaton::{Automaton, Rule};
use crate::language::Language;
use crate::symbol::{Alphabet, Lookahead, SymbolId, Word};

/// A rule in the paper's form, a character for each symbol: suffix, lookahead (empty: any), pop, push.
type CharRule = (&'static str, &'static str, u32, char);

/// A production with its probability: nonterminal, probability, right side. Capitals are nonterminals.
pub(super) type Production = (char, f64, &'static str);

struct Definition {
    terminals: &'static str,
    nonterminals: &'static str,
    accepting: char,
    rules: &'static [CharRule],
    /// The first production's left side is the start symbol. Not the automaton's nonterminals.
    grammar: &'static [Production],
}

fn language(task: Task) -> Definition {
    match task {
        Task::Dyck1 => Definition {
            terminals: "()",
            nonterminals: "S",
            accepting: 'S',
            rules: &[("SS", "", 2, 'S'), ("(S)", "", 3, 'S'), ("(", ")", 0, 'S')],
            grammar: &[('S', 0.5, "(S)"), ('S', 0.25, "SS"), ('S', 0.25, "()")],
        },
        Task::Dyck2 => Definition {
            terminals: "()[]",
            nonterminals: "S",
            accepting: 'S',
            rules: &[
                ("SS", "", 2, 'S'),
                ("(S)", "", 3, 'S'),
                ("[S]", "", 3, 'S'),
                ("(", ")", 0, 'S'),
                ("[", "]", 0, 'S'),
            ],
            grammar: &[
                ('S', 0.25, "(S)"),
                ('S', 0.25, "[S]"),
                ('S', 0.25, "SS"),
                ('S', 0.125, "()"),
                ('S', 0.125, "[]"),
            ],
        },
        Task::Dyck3 => Definition {
            terminals: "()[]{}",
            nonterminals: "S",
            accepting: 'S',
            rules: &[
                ("SS", "", 2, 'S'),
                ("(S)", "", 3, 'S'),
                ("[S]", "", 3, 'S'),
                ("{S}", "", 3, 'S'),
                ("(", ")", 0, 'S'),
                ("[", "]", 0, 'S'),
                ("{", "}", 0, 'S'),
            ],
            grammar: &[
                ('S', 1. / 6., "(S)"),
                ('S', 1. / 6., "[S]"),
                ('S', 1. / 6., "{S}"),
                ('S', 0.25, "SS"),
                ('S', 1. / 12., "()"),
                ('S', 1. / 12., "[]"),
                ('S', 1. / 12., "{}"),
            ],
        },
        Task::Anbn => Definition {
            terminals: "ab",
            nonterminals: "S",
            accepting: 'S',
            // The table prints (a, b, epsilon, S) for the second; the paper's Equation (3) has it right.
            rules: &[("aSb", "", 3, 'S'), ("a", "b", 0, 'S')],
            grammar: &[('S', 0.96, "aSb"), ('S', 0.04, "ab")],
        },
        Task::Palindrome => Definition {
            terminals: "ab$",
            nonterminals: "S",
            accepting: 'S',
            rules: &[("aSa", "", 3, 'S'), ("bSb", "", 3, 'S'), ("$", "", 1, 'S')],
            grammar: &[('S', 0.48, "aSa"), ('S', 0.48, "bSb"), ('S', 0.04, "$")],
        },
        Task::Json => Definition {
            terminals: "{}[]nsk:,",
            nonterminals: "VOA",
            accepting: 'V',
            rules: &[
                ("{}", "", 2, 'V'),
                ("[]", "", 2, 'V'),
                ("{O}", "", 3, 'V'),
                ("[A]", "", 3, 'V'),
                ("n", "", 1, 'V'),
                ("s", "", 1, 'V'),
                ("k:V,O", "", 5, 'O'),
                ("k:V", "}", 3, 'O'),
                ("V,A", "", 3, 'A'),
                ("V", "]", 1, 'A'),
            ],
            grammar: &[
                ('V', 0.22, "n"),
                ('V', 0.22, "s"),
                ('V', 0.05, "{}"),
                ('V', 0.05, "[]"),
                ('V', 0.23, "{O}"),
                ('V', 0.23, "[A]"),
                ('O', 0.55, "k:V"),
                ('O', 0.45, "k:V,O"),
                ('A', 0.55, "V"),
                ('A', 0.45, "V,A"),
            ],
        },
        // The text lists no rule (1, epsilon, 1, S); without it every word that begins with 1 is judged wrongly.
        _ => Definition {
            terminals: "01",
            nonterminals: "SA",
            accepting: 'S',
            rules: &[
                ("S0", "", 2, 'S'),
                ("S1", "", 2, 'A'),
                ("A0", "", 2, 'A'),
                ("A1", "", 2, 'S'),
                ("0", "", 1, 'A'),
                ("1", "", 1, 'S'),
            ],
            // O: an odd number of ones follows; E: an even number, and at least one letter.
            grammar: &[
                ('O', 0.66, "0O"),
                ('O', 0.32, "1E"),
                ('O', 0.02, "1"),
                ('E', 0.66, "0E"),
                ('E', 0.32, "1O"),
                ('E', 0.02, "0"),
            ],
        },
    }
}

pub(super) fn automaton(task: Task) -> Automaton {
    let language = language(task);
    let names = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
    let alphabet = Alphabet::new(names(language.terminals), names(language.nonterminals)).expect("the names differ");
    let symbol = |name: char| alphabet.symbol(&name.to_string()).expect("rules use the alphabet");
    let rule = |&(suffix, lookahead, pop, push): &CharRule| Rule {
        anchored: false,
        suffix: suffix.chars().map(symbol).collect(),
        lookahead: lookahead.chars().next().map(|name| Lookahead::Token(symbol(name))),
        pop,
        push: symbol(push),
    };
    let rules = language.rules.iter().map(rule).collect();
    let accepting = vec![symbol(language.accepting)];
    Automaton::new(alphabet, rules, accepting).expect("the paper's rules are sound")
}

pub(super) fn describe(task: Task) -> String {
    let mut text = String::new();
    for (left, probability, right) in language(task).grammar {
        let spaced = right.chars().map(String::from).collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "{left} -> {spaced}  [{probability:.4}]");
    }
    text
}

/// How often a word is drawn again because its length is not in the range.
const DRAWS: usize = 1_000_000;
/// Words of at least so many letters are drawn by their length.
const LONG: usize = 500;
/// The longest word that is drawn by its length: the time grows with the square.
const LONGEST: usize = 20_000;

fn word(task: Task, random: &mut ChaCha8Rng, lengths: RangeInclusive<usize>) -> Option<Word> {
    let language = language(task);
    let index = |name: char| language.terminals.chars().position(|terminal| terminal == name);
    if (LONG..=LONGEST).contains(lengths.start()) {
        let word = long_words(task, language.grammar, (*lengths.end()).min(LONGEST)).word(random, lengths)?;
        return Some(Word::Symbols(word.chars().filter_map(index).map(SymbolId::new).collect()));
    }
    for _ in 0..DRAWS {
        let mut word = Vec::new();
        let mut open = vec![language.grammar[0].0];
        while let Some(symbol) = open.pop() {
            if let Some(terminal) = index(symbol) {
                word.push(SymbolId::new(terminal));
            } else {
                open.extend(draw(language.grammar, symbol, random).chars().rev());
            }
            // Every open symbol becomes one letter at least.
            if word.len() + open.len() > *lengths.end() {
                break;
            }
        }
        if open.is_empty() && lengths.contains(&word.len()) {
            return Some(Word::Symbols(word));
        }
    }
    None
}

/// The lengths of a task's words, at least up to this one. They are computed once.
fn long_words(task: Task, grammar: &'static [Production], longest: usize) -> Arc<Lengths> {
    static KNOWN: Mutex<BTreeMap<&'static str, (usize, Arc<Lengths>)>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match known.get(task.name()) {
        Some((length, lengths)) if *length >= longest => lengths.clone(),
        _ => {
            let lengths = Arc::new(Lengths::new(grammar, longest));
            known.insert(task.name(), (longest, lengths.clone()));
            lengths
        }
    }
}

/// A symbolic task as a language.
#[derive(Clone, Debug)]
pub(super) struct TaskLanguage {
    pub(super) task: Task,
    pub(super) automaton: Automaton,
}

impl fmt::Display for TaskLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.task.fmt(f)
    }
}

impl Language for TaskLanguage {
    fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    fn word(&self, random: &mut ChaCha8Rng, lengths: RangeInclusive<usize>) -> Option<Word> {
        word(self.task, random, lengths)
    }
}

fn draw(grammar: &[Production], left: char, random: &mut ChaCha8Rng) -> &'static str {
    let choices = grammar.iter().filter(|production| production.0 == left);
    let mut at = random.random::<f64>();
    let mut chosen = "";
    for &(_, probability, right) in choices {
        chosen = right;
        at -= probability;
        if at < 0. {
            break;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::automaton::Oracle;
    use crate::recognize::{Limits, judge};

    /// Words drawn by their length have the lengths and letters of words that are drawn until their length fits, and are
    /// in the language up to the greatest length.
    #[test]
    fn long_words_are_drawn_as_short_ones() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
            let definition = language(task);
            let lengths = Lengths::new(definition.grammar, 24);
            let count = 20_000;
            let mean = |words: Vec<(usize, usize)>| {
                let sum =
                    |of: fn(&(usize, usize)) -> usize| words.iter().map(of).sum::<usize>() as f64 / f64::from(count);
                (sum(|word| word.0), sum(|word| word.1))
            };
            let last = definition.terminals.chars().last().unwrap();
            let by_length = (0..count).map(|_| {
                let word = lengths.word(&mut random, 10..=24).unwrap();
                (word.len(), word.chars().filter(|letter| *letter == last).count())
            });
            let by_length = mean(by_length.collect());
            let last = SymbolId::new(definition.terminals.chars().count() - 1);
            let drawn = (0..count).map(|_| match word(task, &mut random, 10..=24) {
                Some(Word::Symbols(word)) => (word.len(), word.iter().filter(|letter| **letter == last).count()),
                _ => panic!("no word"),
            });
            let drawn = mean(drawn.collect());
            assert!((by_length.0 - drawn.0).abs() < 0.15, "{task} {by_length:?} {drawn:?}");
            assert!((by_length.1 - drawn.1).abs() < 0.1, "{task} {by_length:?} {drawn:?}");

            let oracle = Arc::new(Oracle::strict(automaton(task)).unwrap());
            for range in [500..=500 + 9, 9_800..=10_200] {
                let word = word(task, &mut random, range.clone()).unwrap();
                assert!(range.contains(&word.len()));
                assert!(judge(&oracle, &word, Limits::default(), &mut ()).is_accept(), "{task}");
            }
        }
    }

    #[test]
    fn probabilities_add_up() {
        for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
            let grammar = language(task).grammar;
            for (left, ..) in grammar {
                let sum: f64 = grammar.iter().filter(|p| p.0 == *left).map(|p| p.1).sum();
                assert!((sum - 1.).abs() < 1e-12, "{task} {left}");
            }
        }
    }
}
