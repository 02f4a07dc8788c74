//! Words as they are shown: the names of their tokens, and verdicts on them in English.

use echostack::symbol::Input;
use echostack::{Alphabet, Verdict, Word};

use crate::text::{Color, Paint, hint};

/// Returns the names of a word's tokens. Tokens that are vectors have no name and are skipped.
pub(crate) fn names<'a>(alphabet: &'a Alphabet, word: &'a Word) -> impl Iterator<Item = &'a str> {
    word.inputs().filter_map(|input| match input {
        Input::Symbol(symbol) => Some(alphabet.name(symbol)),
        Input::Vector(_) => None,
    })
}

/// Describes a verdict in English. Tokens are counted from 1, like lines and columns.
pub(crate) fn tell(alphabet: &Alphabet, verdict: &Verdict, refused: Option<&str>) -> String {
    tell_in(alphabet, verdict, refused, Paint::new(Color::Never))
}

/// Describes a verdict like [`tell`], in colors.
pub(crate) fn tell_in(alphabet: &Alphabet, verdict: &Verdict, refused: Option<&str>, paint: Paint) -> String {
    let number = verdict.position().map_or(0, |position| position + 1);
    let what = match verdict {
        Verdict::Accept => "accept".to_string(),
        Verdict::Incomplete { .. } => "incomplete".to_string(),
        Verdict::Reject { .. } => match refused {
            Some(token) => format!("reject at token {number}: unexpected {token}"),
            None => format!("reject at token {number}"),
        },
        Verdict::Stopped { limit, .. } => format!("stopped at token {number}: the limit on {limit} was reached"),
    };
    let expected = alphabet.alternatives(verdict.expected(), str::to_string);
    format!("{}{}", paint.verdict(verdict, what), hint(expected))
}
