//! The traits of recognizers and their sessions, and functions that judge words with them.

use rayon::prelude::*;

use super::event::{Event, Observer};
use super::verdict::{Judged, Limits, Verdict};
use crate::symbol::{Alphabet, Input, Lookahead, Word};

/// The status of a session after a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The token was read; more can follow.
    Open,
    /// This token or an earlier one was refused. The verdict is a rejection, and further tokens change nothing.
    Refused,
    /// A limit was reached, and further tokens change nothing.
    Stopped,
}

/// Something that judges words: an [`Oracle`](crate::Oracle), a [`Machine`](crate::Machine), a [`Table`](crate::Table)
/// or a [`Model`](crate::Model).
///
/// A recognizer never changes, and cloning is cheap because clones share the data. Each word is read in its own
/// [`Session`], so one recognizer can serve many threads.
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

    /// Returns the alphabet of symbols that are read and pushed.
    fn alphabet(&self) -> &Alphabet;

    /// Begins a word within these limits.
    fn start(&self, limits: Limits) -> Self::Session;

    /// Judges a word within the default limits.
    fn judge(&self, word: &Word) -> Verdict {
        self.judge_with(word, Limits::default(), &mut ())
    }

    /// Judges a word within these limits, while an observer sees each step.
    fn judge_with(&self, word: &Word, limits: Limits, watch: &mut dyn Observer) -> Verdict {
        self.answer_with(word, limits, watch)
    }

    /// Judges a word as [`Recognizer::judge_with`], or returns only the outcome.
    fn answer_with<A: Judged>(&self, word: &Word, limits: Limits, watch: &mut dyn Observer) -> A {
        read_word(self.start(limits), word, watch)
    }
}

/// A session that reads one word. A session can be cloned, and the copies continue independently.
pub trait Session: Clone + Send {
    /// Reads one input and returns the status. An input outside the alphabet is refused at its position in both modes.
    fn feed(&mut self, input: Input<'_>, watch: &mut dyn Observer) -> Status;

    /// Ends the word and returns the verdict, or only its outcome.
    fn answer<A: Judged>(self, watch: &mut dyn Observer) -> A;

    /// Ends the word and returns the verdict.
    fn finish(self, watch: &mut dyn Observer) -> Verdict {
        self.answer(watch)
    }

    /// Judges several words, each with its own fresh session and observer. The answers and events are the same as if
    /// the words were read one after the other; an implementation may interleave the words to be faster.
    fn judge_together<W: Observer, A: Judged>(words: Vec<(Self, &Word, &mut W)>) -> Vec<A> {
        words.into_iter().map(|(session, word, watch)| read_word(session, word, watch)).collect()
    }

    /// Returns the lookaheads that could come next or, after a refusal, those that were possible instead. The list is
    /// empty in tolerant mode, which does not know them. A token on which a limit is reached is left out. All
    /// lookaheads are tried, each at the cost of reading it.
    fn expected(&self) -> Vec<Lookahead>;
}

fn read_word<S: Session, A: Judged>(mut session: S, word: &Word, watch: &mut dyn Observer) -> A {
    for input in word.inputs() {
        if session.feed(input, watch) != Status::Open {
            break;
        }
    }
    session.answer(watch)
}

/// The number of words that are judged together on one thread.
const WORDS_TOGETHER: usize = 32;

/// Judges many words on rayon's threads, each with its own observer. Neither the answers nor what the observers see
/// depends on the number of threads.
pub fn watch_all<R: Recognizer, W: Observer + Send, A: Judged>(
    recognizer: &R,
    words: &[&Word],
    watches: &mut [W],
    limits: Limits,
) -> Vec<A> {
    let chunks = words.par_chunks(WORDS_TOGETHER).zip(watches.par_chunks_mut(WORDS_TOGETHER));
    chunks
        .flat_map(|(words, watches)| {
            let words = words.iter().zip(watches).map(|(word, watch)| (recognizer.start(limits), *word, watch));
            R::Session::judge_together(words.collect())
        })
        .collect()
}

/// Judges many words on rayon's threads. The answers do not depend on the number of threads.
pub fn judge_all<R: Recognizer, A: Judged>(recognizer: &R, words: &[Word], limits: Limits) -> Vec<A> {
    watch_all(recognizer, &words.iter().collect::<Vec<_>>(), &mut vec![(); words.len()], limits)
}

/// Judges many words on the calling thread, with the same answers as [`judge_all`].
pub fn judge_serially<R: Recognizer, A: Judged>(recognizer: &R, words: &[Word], limits: Limits) -> Vec<A> {
    let chunk = |words: &[Word]| {
        let mut watches = vec![(); words.len()];
        let words = words.iter().zip(&mut watches).map(|(word, watch)| (recognizer.start(limits), word, watch));
        R::Session::judge_together(words.collect())
    };
    words.chunks(WORDS_TOGETHER).flat_map(chunk).collect()
}

/// Returns the outputs on a word, one after the other (the paper's y_1 to y_{T+1}), and the verdict. After a refusal or
/// a limit, the outputs end early.
pub fn outputs<R: Recognizer>(recognizer: &R, word: &Word, limits: Limits) -> (Vec<f64>, Verdict) {
    let mut all = Outputs::default();
    let verdict = recognizer.judge_with(word, limits, &mut all);
    (all.0, verdict)
}

/// An observer that collects the outputs on a word.
#[derive(Clone, Debug, Default)]
pub struct Outputs(pub Vec<f64>);

impl Observer for Outputs {
    fn event(&mut self, _: u64, event: Event<'_>) {
        if let Event::Output { values } = event {
            self.0.extend_from_slice(values);
        }
    }

    fn reads_margins(&self) -> bool {
        false
    }
}
