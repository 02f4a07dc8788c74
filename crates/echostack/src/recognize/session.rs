//! Recognizers, their sessions, and the functions that judge words with them.

use rayon::prelude::*;

use super::event::{Event, Observer};
use super::verdict::{Limits, Verdict};
use crate::symbol::{Alphabet, Input, Lookahead, Word};

/// Where a session stands after a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The token was read; more can follow.
    Open,
    /// The token was refused, or one before it: the verdict is a rejection, and further tokens change nothing.
    Refused,
    /// A limit was reached, and further tokens change nothing.
    Stopped,
}

/// Something that judges words: an [`Oracle`](crate::Oracle), a [`Machine`](crate::Machine), a [`Table`](crate::Table) or a
/// [`Model`](crate::Model).
///
/// A recognizer never changes, and a clone is cheap because it shares the data. Each word is read in a [`Session`] of its
/// own, so one recognizer can serve many threads.
///
/// ```
/// use echostack::tasks::Task;
/// use echostack::{Oracle, Recognizer, Verdict};
/// let oracle = Oracle::strict(Task::Dyck1.automaton().unwrap())?;
/// assert_eq!(oracle.judge(&oracle.alphabet().word(["(", ")"])?), Verdict::Accept);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Recognizer: Clone + Send + Sync + 'static {
    /// The state of reading one word.
    type Session: Session;

    /// The symbols it reads and pushes.
    fn alphabet(&self) -> &Alphabet;

    /// Begins a word.
    fn start(&self, limits: Limits) -> Self::Session;

    /// Judges a word within the default limits.
    fn judge(&self, word: &Word) -> Verdict {
        self.judge_with(word, Limits::default(), &mut ())
    }

    /// Judges a word within these limits, while an observer sees each step.
    fn judge_with(&self, word: &Word, limits: Limits, watch: &mut dyn Observer) -> Verdict {
        read_word(self.start(limits), word, watch)
    }
}

/// The reading of one word. A session can be cloned and the copies go on independently.
pub trait Session: Clone + Send {
    /// Reads one input. An input outside the alphabet is refused at its position in both modes.
    fn feed(&mut self, input: Input<'_>, watch: &mut dyn Observer) -> Status;

    /// Ends the word.
    fn finish(self, watch: &mut dyn Observer) -> Verdict;

    /// Judges several words with a fresh session and an observer each. The verdicts and events are those of one word
    /// after the other; a session may take the words in turns to be faster.
    fn judge_together<W: Observer>(words: Vec<(Self, &Word, &mut W)>) -> Vec<Verdict> {
        words.into_iter().map(|(session, word, watch)| read_word(session, word, watch)).collect()
    }

    /// What could come next (in strict mode; empty in tolerant mode, which does not know). After a refusal: what could
    /// have stood there. A token on which a limit is reached is left out. Each one costs what reading it would.
    fn expected(&self) -> Vec<Lookahead>;
}

fn read_word<S: Session>(mut session: S, word: &Word, watch: &mut dyn Observer) -> Verdict {
    for input in word.inputs() {
        if session.feed(input, watch) != Status::Open {
            break;
        }
    }
    session.finish(watch)
}

/// How many words are judged together on one thread.
const WORDS_TOGETHER: usize = 32;

/// Judges many words on rayon's threads, with an observer each; neither depends on the number of threads.
pub fn watch_all<R: Recognizer, W: Observer + Send>(
    recognizer: &R,
    words: &[&Word],
    watches: &mut [W],
    limits: Limits,
) -> Vec<Verdict> {
    let chunks = words.par_chunks(WORDS_TOGETHER).zip(watches.par_chunks_mut(WORDS_TOGETHER));
    chunks
        .flat_map(|(words, watches)| {
            let words = words.iter().zip(watches).map(|(word, watch)| (recognizer.start(limits), *word, watch));
            R::Session::judge_together(words.collect())
        })
        .collect()
}

/// Judges many words on rayon's threads; the answer does not depend on their number.
pub fn judge_all<R: Recognizer>(recognizer: &R, words: &[Word], limits: Limits) -> Vec<Verdict> {
    watch_all(recognizer, &words.iter().collect::<Vec<_>>(), &mut vec![(); words.len()], limits)
}

/// Judges many words on the thread that calls; the answer is that of [`judge_all`].
pub fn judge_in_turn<R: Recognizer>(recognizer: &R, words: &[Word], limits: Limits) -> Vec<Verdict> {
    let chunk = |words: &[Word]| {
        let mut watches = vec![(); words.len()];
        let words = words.iter().zip(&mut watches).map(|(word, watch)| (recognizer.start(limits), word, watch));
        R::Session::judge_together(words.collect())
    };
    words.chunks(WORDS_TOGETHER).flat_map(chunk).collect()
}

/// The outputs on a word, one after the other (the paper's y_1 to y_{T+1}), and the verdict. After a refusal or a limit
/// the outputs end early.
pub fn outputs<R: Recognizer>(recognizer: &R, word: &Word, limits: Limits) -> (Vec<f64>, Verdict) {
    let mut all = Outputs::default();
    let verdict = recognizer.judge_with(word, limits, &mut all);
    (all.0, verdict)
}

/// Collects the outputs on a word.
#[derive(Clone, Debug, Default)]
pub struct Outputs(pub Vec<f64>);

impl Observer for Outputs {
    fn event(&mut self, _: u64, event: Event<'_>) {
        if let Event::Output { values } = event {
            self.0.extend_from_slice(values);
        }
    }
}
