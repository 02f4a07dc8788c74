//! How good guesses from valid and invalid words are.

use std::collections::BTreeSet;
use std::error::Error;

use echostack::Word;
use echostack::language::Language as _;
use echostack_benchmarks::measure::cpu_seconds;
use echostack_grammar::Grammar;
use echostack_infer::{Settings, guess};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The numbers of valid words, and as many invalid ones.
const SIZES: [usize; 4] = [30, 100, 300, 1000];
/// The number of fresh valid words, and of near misses.
const FRESH: (usize, usize) = (1000, 2000);
/// The length of the longest words.
const LONGEST: usize = 25;

/// Changes one to three tokens of a word.
fn edit(word: &[String], tokens: &[String], random: &mut ChaCha8Rng) -> Vec<String> {
    let mut word = word.to_vec();
    for _ in 0..random.random_range(1..=3) {
        let at = random.random_range(0..=word.len());
        let token = tokens.choose(random).cloned().unwrap_or_default();
        match random.random_range(0..3) {
            0 => word.insert(at, token),
            1 if at < word.len() => _ = word.remove(at),
            2 if at < word.len() => word[at] = token,
            _ => {}
        }
    }
    word
}

/// Prints a line for each number of words.
pub(crate) fn tell(
    name: &str,
    target: &Grammar,
    lexer: &str,
    valid: impl Fn(&str) -> bool,
    alphabet: &echostack::Alphabet,
) -> Result<(), Box<dyn Error>> {
    let tokens: Vec<String> = alphabet.terminals().map(|token| alphabet.name(token).to_string()).collect();
    for size in SIZES {
        let mut random = ChaCha8Rng::seed_from_u64(size as u64);
        let draw = |random: &mut ChaCha8Rng| -> Option<Vec<String>> {
            let Some(Word::Symbols(word)) = target.word(random, 0..=LONGEST) else { return None };
            Some(word.iter().map(|&token| alphabet.name(token).to_string()).collect())
        };
        let words: Vec<Vec<String>> = (0..size).filter_map(|_| draw(&mut random)).collect();
        let texts: Vec<String> = words.iter().map(|word| word.join(" ")).collect();
        let near = |words: &[Vec<String>], random: &mut ChaCha8Rng| -> Option<String> {
            Some(edit(words.choose(random)?, &tokens, random).join(" "))
        };
        let mut invalid: Vec<String> = (0..3 * size).filter_map(|_| near(&words, &mut random)).collect();
        invalid.retain(|text| !valid(text));
        invalid.truncate(size);
        let settings = Settings { lexer: Some(lexer.to_string()), hold_out: Some(0.2), ..Settings::default() };
        let before = cpu_seconds();
        let guess = guess(&texts, &invalid, &settings, &())?;
        let cpu = cpu_seconds() - before;
        let mut random = ChaCha8Rng::seed_from_u64(1_000_000 + size as u64);
        let fresh: Vec<Vec<String>> = (0..FRESH.0).filter_map(|_| draw(&mut random)).collect();
        let recall = fresh.iter().filter(|word| guess.accepts(&word.join(" "))).count() as f64 / fresh.len() as f64;
        let edited: BTreeSet<String> = (0..FRESH.1).filter_map(|_| near(&fresh, &mut random)).collect();
        let wrong = edited.iter().filter(|text| guess.accepts(text) != valid(text)).count();
        let held_out = guess.held_out();
        let [rejected, accepted] = guess.mistakes(held_out).map(|wrong| wrong.len());
        println!(
            "| {name} | {}, {} | {} | {rejected} of {}, {accepted} of {} | {recall:.3} | {wrong} of {} | {cpu:.2} |",
            guess.texts().valid.len(),
            guess.texts().invalid.len(),
            guess.states(),
            held_out.valid.len(),
            held_out.invalid.len(),
            edited.len(),
        );
    }
    Ok(())
}
