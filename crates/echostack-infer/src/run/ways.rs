//! The ways to learn a language: over tokens that are found first, and over characters; and which of them to keep.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::attempt::{Attempt, Ending};
use super::checks::Checks;
use super::settings::Settings;
use crate::ask::queries::{Queries, Stop};
use crate::learn::hypothesis::Hypothesis;
use crate::test::edits::Edits;
use crate::text::shrink::{are_many, shrink, smaller};
use crate::text::symbols::Symbols;
use crate::text::teacher::Teacher;
use crate::tokens::{Finder, Given};

/// The parts of the limits after which to stop learning over tokens, and over characters, as long as nothing has settled.
const SHARES: [f64; 2] = [0.4, 0.7];
/// How often tokens are corrected by what was misjudged.
const REVISIONS: usize = 8;
/// The number of texts near the examples on which hypotheses are compared, and the sizes of those that are drawn.
const NEAR: usize = 1000;
const DRAWN: [usize; 200] = [12; 200];
/// The length of the longest examples in which tokens are looked for, and of all of them; others are decomposed first.
const LONG: (usize, usize) = (1000, 20_000);
/// The length of the longest misjudged texts that tokens are corrected by as they are. Some of the others are made smaller.
const SMALL: (usize, usize) = (200, 10);

/// Learns over tokens that are found first, and if that does not settle, over characters, too. The better one of them gets
/// what is left of the limits: what was asked before is not asked again.
pub(crate) fn learn_both_ways<'a>(
    mut teacher: Teacher<'a>,
    (valid, held_out): (&[String], &[String]),
    given: Option<&Arc<Given>>,
    settings: &Settings,
    random: &mut ChaCha8Rng,
) -> (Result<Attempt, Stop>, Queries<'a>) {
    teacher.queries.limit(SHARES[0]);
    let mut parts = valid.to_vec();
    let found = loop {
        let tried = decompose(valid, &mut teacher).and_then(|short| {
            parts = short;
            Finder::find(&parts, given.cloned(), &mut teacher, random)
        });
        match tried {
            Ok(found) => break found,
            Err(Stop::Positions) => teacher.queries.forget_positions(),
            Err(stop) if stop.has_result() => break Err("no tokens were found in time".to_string()),
            Err(stop) => return (Err(stop), teacher.queries),
        }
    };
    let mut finder = match found {
        Ok(finder) => finder,
        Err(reason) => {
            teacher.queries.limit(1.);
            let (attempt, queries) = Attempt::make(Teacher::new(teacher.queries), valid, settings);
            return (attempt.map(|attempt| attempt.telling([format!("{reason}, so characters are used")])), queries);
        }
    };
    let near = match near(valid, &parts, &mut teacher, random) {
        Ok(near) => near,
        Err(stop) => return (Err(stop), teacher.queries),
    };
    let (tokens, mut queries) = over_tokens((&mut finder, valid), teacher.queries, &near, settings, random);
    let tokens = match tokens {
        Ok(attempt) if attempt.is_settled() && accepts_all(&attempt, valid, held_out) => return (Ok(attempt), queries),
        Ok(attempt) => Some(attempt),
        Err(stop) if stop.has_result() => None,
        Err(stop) => return (Err(stop), queries),
    };
    queries.lexer = None;
    queries.limit(SHARES[1]);
    let (characters, mut queries) = Attempt::make(Teacher::new(queries), valid, settings);
    let (tokens, characters) = match (tokens, characters) {
        (Some(tokens), Ok(characters)) => (tokens, characters),
        (Some(tokens), Err(stop)) if stop.has_result() => return (Ok(tokens), queries),
        (_, characters) => return (characters, queries),
    };
    // What each of them draws shows what it accepts too much.
    let mut all = near;
    queries.limit(1.);
    for attempt in [&tokens, &characters] {
        let drawn = attempt.hypothesis.draw(&DRAWN, random);
        match queries.ask_all(&drawn) {
            Ok(answers) => all.extend(drawn.into_iter().zip(answers).filter_map(|(text, valid)| Some((text, valid?)))),
            Err(Stop::Positions) => queries.forget_positions(),
            Err(stop) if stop.has_result() => break,
            Err(stop) => return (Err(stop), queries),
        }
    }
    let wrong = [&tokens, &characters].map(|attempt| attempt.misjudged(&all).count());
    let told = format!(
        "of {} texts near the examples, {} are misjudged over tokens, and {} over characters",
        all.len(),
        wrong[0],
        wrong[1]
    );
    let told_of_tokens: Vec<String> = finder.notes().iter().cloned().chain([told.clone()]).collect();
    // Tokens are easier to read, so characters must be better.
    if characters.is_settled() || wrong[1] < wrong[0] {
        if characters.is_settled() || !characters.ran_out {
            return (Ok(characters.telling(told_of_tokens)), queries);
        }
        let (longer, queries) = Attempt::make(Teacher::new(queries), valid, settings);
        return (longer.map(|longer| longer.telling(told_of_tokens)), queries);
    }
    if !tokens.ran_out {
        return (Ok(tokens.telling([told])), queries);
    }
    let (longer, queries) = over_tokens((&mut finder, valid), queries, &all, settings, random);
    let longer = longer.ok().filter(|longer| longer.misjudged(&all).count() <= wrong[0]);
    (Ok(longer.unwrap_or(tokens).telling([told])), queries)
}

fn accepts_all(attempt: &Attempt, valid: &[String], held_out: &[String]) -> bool {
    valid.iter().chain(held_out).all(|text| attempt.hypothesis.accepts(text))
}

/// Returns short texts that show what long or many examples show, or the examples if they are neither.
fn decompose(valid: &[String], teacher: &mut Teacher<'_>) -> Result<Vec<String>, Stop> {
    let is_large = are_many(valid)
        || valid.iter().map(String::len).sum::<usize>() > LONG.1
        || valid.iter().any(|text| text.len() > LONG.0);
    if is_large { shrink(valid, teacher) } else { Ok(valid.to_vec()) }
}

/// Returns the examples, and texts near what they were decomposed into, with their answers.
fn near(
    valid: &[String],
    parts: &[String],
    teacher: &mut Teacher<'_>,
    random: &mut ChaCha8Rng,
) -> Result<Vec<(String, bool)>, Stop> {
    let characters = Symbols::default();
    let edits = Edits::new(parts, &characters);
    let mut near: Vec<String> = valid.to_vec();
    near.extend((0..NEAR).filter_map(|_| edits.any(parts, random)));
    let answers = loop {
        match teacher.queries.ask_all(&near) {
            Err(Stop::Positions) => teacher.queries.forget_positions(),
            answers => break answers?,
        }
    };
    Ok(near.into_iter().zip(answers).filter_map(|(text, valid)| Some((text, valid?))).collect())
}

/// Learns over tokens. As long as what is misjudged corrects the tokens, learns again.
fn over_tokens<'a>(
    (finder, valid): (&mut Finder, &[String]),
    mut queries: Queries<'a>,
    near: &[(String, bool)],
    settings: &Settings,
    random: &mut ChaCha8Rng,
) -> (Result<Attempt, Stop>, Queries<'a>) {
    let mut best: Option<Attempt> = None;
    for revision in 0..REVISIONS {
        let mut teacher = Teacher::new(queries);
        let mut texts = match finder.texts(&mut teacher) {
            Ok(texts) => texts,
            Err(Stop::Positions) => {
                teacher.queries.forget_positions();
                queries = teacher.queries;
                continue;
            }
            Err(stop) => return (best.ok_or(stop), teacher.queries),
        };
        let Some(lexer) = finder.lexer() else {
            return (best.ok_or(Stop::Contradiction), teacher.queries);
        };
        // Those that the tokens do not read correct the tokens.
        let known: BTreeSet<&String> = texts.iter().collect();
        let is_whole = |text: &&String| !known.contains(text) && lexer.tokens(text).1.is_none();
        let whole: Vec<String> = valid.iter().filter(is_whole).cloned().collect();
        texts.extend(whole);
        let asked = teacher.queries.asked;
        let count = lexer.names().len();
        teacher.read_tokens(Arc::clone(&lexer), &texts);
        let (attempt, mut after) = Attempt::make(teacher, &texts, settings);
        after.lexer = None;
        let attempt = match attempt {
            Ok(attempt) => attempt,
            Err(stop) => return (best.ok_or(stop), after),
        };
        let mistakes = attempt.checks.iter().flat_map(Checks::mistakes);
        let misjudged: Vec<String> = mistakes.chain(attempt.misjudged(near)).cloned().collect();
        finder.note(tell((count, asked, revision), &attempt, &misjudged));
        let attempt = attempt.telling(finder.notes().to_vec());
        let ended = attempt.ran_out || (attempt.is_settled() && misjudged.is_empty());
        let wrong = |attempt: &Attempt| (!attempt.is_settled(), attempt.misjudged(near).count());
        let is_better = best.as_ref().is_none_or(|best| wrong(&attempt) <= wrong(best));
        let hypothesis = attempt.hypothesis.clone();
        if is_better {
            best = Some(attempt);
        }
        let mut teacher = Teacher::new(after);
        let corrected = if ended {
            Ok(false)
        } else {
            let small = small(misjudged, &hypothesis, &mut teacher);
            small.and_then(|small| finder.correct(&small, &mut teacher, random))
        };
        queries = teacher.queries;
        match corrected {
            Ok(true) => {}
            Err(Stop::Positions) => queries.forget_positions(),
            Err(stop) if !stop.has_result() => return (Err(stop), queries),
            _ => break,
        }
    }
    (best.ok_or(Stop::Contradiction), queries)
}

/// Makes long texts smaller that a hypothesis misjudges, as long as it does.
fn small(texts: Vec<String>, hypothesis: &Hypothesis, teacher: &mut Teacher<'_>) -> Result<Vec<String>, Stop> {
    let (mut small, long): (Vec<String>, Vec<String>) = texts.into_iter().partition(|text| text.len() <= SMALL.0);
    for text in long.into_iter().take(SMALL.1) {
        let answer = teacher.valid(&text)?;
        small.push(smaller(&text, answer, &|text| hypothesis.accepts(text) != answer, teacher)?);
    }
    Ok(small)
}

/// Tells what was learned over tokens that were corrected so many times.
fn tell((count, asked, revision): (usize, usize, usize), attempt: &Attempt, misjudged: &[String]) -> String {
    let ending = match &attempt.ending {
        Ending::Settled => "settled",
        Ending::NotSettled(reason) => reason,
    };
    let wrong = misjudged.first().map_or(String::new(), |text| {
        format!("; {} texts that were looked at are misjudged, such as {text:?}", misjudged.len())
    });
    format!(
        "{count} tokens were found after {asked} queries, and corrected {revision} times; over them: {ending}{wrong}"
    )
}
