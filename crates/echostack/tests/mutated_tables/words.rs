//! Words for a table that nobody knows the language of.

use echostack::recognize::Status;
use echostack::symbol::Input;
use echostack::{Limits, Lookahead, Recognizer, Session, SymbolId, Table};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Words of this many tokens are read in segments.
const LONG: usize = 1 << 12;

/// Returns a symbol, now and then one that is not a token.
fn any(table: &Table, random: &mut ChaCha8Rng) -> SymbolId {
    let alphabet = table.alphabet();
    match random.random_range(0..40) {
        0 => SymbolId::UNKNOWN,
        1 => SymbolId::new(random.random_range(0..alphabet.len())),
        _ => SymbolId::new(random.random_range(0..alphabet.terminals().len().max(1))),
    }
}

/// Returns a word that mostly follows the table, and in which other tokens come with this probability.
pub(crate) fn walk(table: &Table, length: usize, astray: f64, random: &mut ChaCha8Rng) -> Vec<SymbolId> {
    let mut session = table.start(Limits::default());
    let mut word = Vec::new();
    // In most words, the last of several places where the word may end is its end.
    let (mut end, ends) = (None, random.random_bool(0.6));
    while word.len() < length {
        let expected = session.expected();
        if ends && expected.contains(&Lookahead::End) {
            end = Some(word.len());
        }
        let fits: Vec<SymbolId> = expected.iter().filter_map(|next| next.token()).collect();
        let token = match fits.len() {
            0 => any(table, random),
            _ if random.random_bool(astray) => any(table, random),
            count => fits[random.random_range(0..count)],
        };
        word.push(token);
        if session.feed(Input::Symbol(token), &mut ()) != Status::Open {
            break;
        }
    }
    word.truncate(end.unwrap_or(word.len()));
    word
}

/// Returns the number of tokens that the table reads.
fn reads(table: &Table, word: &[SymbolId]) -> u64 {
    let mut session = table.start(Limits::default());
    word.iter().take_while(|&&token| session.feed(Input::Symbol(token), &mut ()) == Status::Open).count() as u64
}

/// Returns a long word: the beginning of a walk, then a piece of it many times, then another one many times. Of a few
/// such words, it is the one of which the table reads most.
pub(crate) fn long(table: &Table, random: &mut ChaCha8Rng) -> Vec<SymbolId> {
    let length = random.random_range(LONG..LONG + 2000);
    let walk = walk(table, 40, 0., random);
    let tries: Vec<Vec<SymbolId>> = (0..6).map(|_| pumped(&walk, length, random)).collect();
    let mut word = tries.into_iter().max_by_key(|word| reads(table, word)).unwrap_or_default();
    if !word.is_empty() && random.random_bool(0.3) {
        let at = random.random_range(0..word.len());
        word[at] = any(table, random);
    }
    word
}

/// Returns a word of this length from the pieces of another.
fn pumped(walk: &[SymbolId], length: usize, random: &mut ChaCha8Rng) -> Vec<SymbolId> {
    let mut cuts = [(); 4].map(|()| random.random_range(0..=walk.len()));
    cuts.sort_unstable();
    let [start, end, next, last] = cuts;
    let half = if random.random_bool(0.5) { length } else { length / 2 };
    let mut word = walk[..end].to_vec();
    if start < end {
        word.extend(walk[start..end].iter().cycle().take(half));
    }
    word.extend(&walk[end..last]);
    if next < last {
        word.extend(walk[next..last].iter().cycle().take(length.saturating_sub(word.len())));
    }
    word.extend(&walk[last..]);
    word
}
