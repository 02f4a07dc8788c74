//! Learning from the contexts of a corpus.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use echostack::recognize::View;
use echostack::study::practice;
use echostack::teach::{Answer, Context as Asked, Exercise, read_contexts};
use echostack::{Alphabet, Params};

use super::args::{Args, names, params};
use super::learned::{Assurance, Learned};
use crate::output::count;
use crate::progress::Bar;

/// Trains a machine on the contexts of a corpus. A state must depend only on the last symbols, as a context does, so
/// the recurrent weights are as weak as for proofs.
pub(super) fn learn(args: &Args, path: &Path, bar: &Bar) -> Result<Learned> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("could not read {name}"))?;
    let file = read_contexts(&mut BufReader::new(file)).with_context(|| format!("could not use {name}"))?;
    let view = if file.depth.before > 0 { View::Reservoir } else { View::Symbol };
    ensure!(
        args.lookahead.is_none_or(|asked| View::from(asked) == view),
        "--lookahead does not fit the contexts, which have {} of the input before the next one: leave it out",
        count(file.depth.before, "token")
    );
    let exercises = exercises(file.contexts, &file.alphabet, args.majority)?;
    let refuses = exercises.iter().any(|exercise| exercise.answer == Answer::Shift(false));
    let defaults = Params::provable(args.reservoir.into(), args.neurons, args.seed);
    let params = params(args, defaults, view, args.mode(refuses))?;
    let (machine, wrong) = practice(&params, &file.alphabet, &exercises, bar)?;
    ensure!(
        wrong == 0,
        "the machine still gives a wrong answer for {wrong} of the contexts; try more --neurons, or count longer contexts"
    );
    Ok(Learned { machine, words: None, assurance: Assurance::default() })
}

/// Returns the exercises of the contexts. Of contexts that contradict each other, the most frequent one is used if
/// `majority` is set; otherwise, contradictions are an error.
fn exercises(mut contexts: Vec<Asked>, alphabet: &Alphabet, majority: bool) -> Result<Vec<Exercise>> {
    contexts.sort_by(|a, b| a.exercise.cmp(&b.exercise));
    let found: Vec<[&Asked; 2]> = Asked::contradictions(&contexts).collect();
    if !found.is_empty() && !majority {
        let tell = |[a, b]: &[&Asked; 2]| {
            let place = |context: &Asked| {
                format!("count {}, first in {}: {}", context.count, context.source, context.exercise.answer)
            };
            let next = a.exercise.next.token().map_or("the end", |token| alphabet.name(token));
            let stack = names(alphabet, &a.exercise.stack);
            format!("with the stack [{stack}] before {next}\n  {}\n  {}", place(a), place(b))
        };
        bail!(
            "the contexts contradict each other (contradictions: {}); count longer contexts, or add --majority to use the most frequent answer:\n{}",
            found.len(),
            found.iter().take(3).map(tell).collect::<Vec<_>>().join("\n")
        );
    }
    let believed =
        contexts.chunk_by(Asked::contradicts).filter_map(|rivals| rivals.iter().max_by_key(|rival| rival.count));
    Ok(believed.map(|context| context.exercise.clone()).collect())
}
