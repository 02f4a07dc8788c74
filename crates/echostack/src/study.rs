//! Iterative learning: train a machine, test it on fresh words, add its mistakes to the training data, and train again.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::automaton::{AutomatonError, Oracle};
use crate::certify::{CertifyError, Proof, Prover};
use crate::control::{Control, Stage};
use crate::language::{Language, WordKind, draw};
use crate::machine::{Checked, Choices, FitError, Machine};
use crate::readout::{Lesson, Outcome, at_rising_cost};
use crate::recognize::{Event, Limits, Mode, Observer, Recognizer, Reduction, Verdict, View, watch_all};
use crate::symbol::{Alphabet, Lookahead, Word};
use crate::teach::{Exercise, Step, Trace, record};

/// The settings for learning a language.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// The number of words drawn at the beginning, in addition to the words that cover the language.
    pub words: usize,
    /// The fraction of drawn words that are negative examples: near misses and random words, half each.
    pub negatives: f64,
    /// The range of lengths of drawn words.
    pub lengths: RangeInclusive<usize>,
    /// The number of fresh words, a third of each kind, that the machine must judge correctly in a row; 0 for no test.
    pub tests: usize,
    /// The range of lengths of fresh words.
    pub test_lengths: RangeInclusive<usize>,
    /// The maximum number of times that the machine is trained.
    pub rounds: usize,
    /// The seed for drawing all words.
    pub seed: u64,
}

impl Default for Study {
    fn default() -> Self {
        Self { words: 100, negatives: 0.5, lengths: 1..=50, tests: 10_000, test_lengths: 1..=200, rounds: 30, seed: 0 }
    }
}

/// The report of one round of [`Study::learn`].
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The number of traces that the machine was trained on.
    pub traces: usize,
    /// The number of distinct training rows of the stack readouts.
    pub rows: usize,
    /// The number of fresh words that the machine was tested on.
    pub tested: usize,
    /// The number of fresh words on which the machine made a mistake.
    pub wrong: usize,
}

/// The report of one round of [`Study::prove`].
#[derive(Clone, Debug, PartialEq)]
pub struct ProofRound {
    /// The number of distinct training rows of the stack readouts.
    pub rows: usize,
    /// The number of exercises that the machine was trained on.
    pub exercises: usize,
    /// The cost of the support vector machines.
    pub cost: f64,
    /// The number of cells that were examined; 0 if the machine is proved correct.
    pub examined: usize,
    /// The number of cells that stayed open; 0 if the machine is proved correct.
    pub open: usize,
}

/// The reason a study could not begin or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// Training failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The automaton of the language cannot be used.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
    /// A proof cannot be attempted.
    #[error(transparent)]
    Certify(#[from] CertifyError),
    /// The language has no words of the requested lengths.
    #[error("{language} has no {kind} words with {} to {} tokens; ask for other lengths", lengths.start(), lengths.end())]
    NoWords {
        /// The language.
        language: String,
        /// The kind of words that were to be drawn.
        kind: WordKind,
        /// The requested lengths.
        lengths: RangeInclusive<usize>,
    },
}

/// The number of mistakes that ends a test early, because they are enough to learn from.
const MAX_WRONG_WORDS: usize = 100;
/// The number of words that are tested at once.
const WORDS_PER_BATCH: usize = 300;

impl Study {
    /// Returns the traces that a study begins with.
    ///
    /// # Errors
    /// If the language has no words of the requested lengths.
    pub fn begin(&self, language: &dyn Language, teacher: &Oracle) -> Result<Vec<Trace>, StudyError> {
        self.begin_with(language, teacher, &())
    }

    fn begin_with(
        &self,
        language: &dyn Language,
        teacher: &Oracle,
        control: &dyn Control,
    ) -> Result<Vec<Trace>, StudyError> {
        let mut traces = self.examples(language, teacher, control)?;
        if teacher.mode() == Mode::Strict {
            for (number, word) in language.probes().iter().enumerate() {
                let (trace, _) = record(teacher, format!("{language} probe {number}"), word, Limits::default());
                traces.extend(trace.map(|trace| trace.teaching(word.len().saturating_sub(1)..word.len())));
            }
        }
        Ok(traces)
    }

    /// Returns the traces of the covering words and the drawn words.
    fn examples(
        &self,
        language: &dyn Language,
        teacher: &Oracle,
        control: &dyn Control,
    ) -> Result<Vec<Trace>, StudyError> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let limits = Limits::default();
        let mut traces: Vec<Trace> = Vec::new();
        for (number, word) in language.covering().iter().enumerate() {
            traces.extend(record(teacher, format!("{language} covering word {number}"), word, limits).0);
        }
        for (kind, count) in WordKind::shares(self.words, self.negatives) {
            for number in 0..count {
                if control.cancelled() {
                    return Err(FitError::Cancelled.into());
                }
                let word = draw(language, teacher, kind, self.lengths.clone(), &mut random);
                let word = word.ok_or_else(|| no_words(language, kind, &self.lengths))?;
                traces.extend(record(teacher, format!("{language} {kind} word {number}"), &word, limits).0);
            }
        }
        Ok(traces)
    }

    /// Learns a language until a test finds no mistake or the rounds are used up. `report` is called after each round.
    /// Returns the last machine and all rounds. The machine has passed its test if the last round has no wrong word.
    ///
    /// # Errors
    /// See [`StudyError`].
    pub fn learn(
        &self,
        language: &dyn Language,
        params: &Checked,
        control: &dyn Control,
        report: &mut dyn FnMut(&Round),
    ) -> Result<(Machine, Vec<Round>), StudyError> {
        let automaton = language.automaton();
        let teacher = Oracle::new(automaton.clone(), params.params().mode, control)?;
        let mut traces = self.begin_with(language, &teacher, control)?;
        // Each test continues where the last one ended, so every word is fresh.
        let mut random = self.test_words();
        let mut rounds = Vec::new();
        loop {
            let machine = params.fit(automaton.alphabet(), &traces, control)?;
            let (tested, wrong) = self.test_with(language, &teacher, &machine, &mut random, control)?;
            let rows = machine.lessons().actions().len();
            rounds.push(Round { traces: traces.len(), rows, tested, wrong: wrong.len() });
            report(&rounds[rounds.len() - 1]);
            if wrong.is_empty() || rounds.len() >= self.rounds.max(1) {
                return Ok((machine, rounds));
            }
            let number = rounds.len();
            traces.extend(wrong.iter().flat_map(|word| corrections(&teacher, &machine, word, number)));
        }
    }

    /// Learns a language until the machine is proved correct on every word or the rounds are used up. If the machine sees
    /// only the next token of its input, it is trained on exercises that cover all decisions of the automaton, and
    /// otherwise on words. Each decision that the proof search finds to be wrong or doubtful becomes a further exercise.
    /// Tests and the language's probes are not used, because the search itself finds what must be taught.
    ///
    /// # Errors
    /// See [`StudyError`].
    pub fn prove(
        &self,
        language: &dyn Language,
        params: &Checked,
        control: &dyn Control,
        report: &mut dyn FnMut(&ProofRound),
    ) -> Result<(Machine, Proof), StudyError> {
        let teacher = Oracle::new(language.automaton().clone(), Mode::Strict, control)?;
        let prover = Prover::new(&teacher, params.params().view, control)?;
        // The exercises cover what a machine sees if that is the next token. What else it sees of its input is in words.
        let (traces, mut exercises) = match params.params().view {
            View::Symbol => (Vec::new(), prover.exercises(control)?),
            View::Reservoir => (self.examples(language, &teacher, control)?, Vec::new()),
        };
        let mut known: HashSet<Exercise> = exercises.iter().cloned().collect();
        at_rising_cost(params.params().svm.cost, |round, cost| {
            let params = params.clone().with_cost(cost);
            let machine = params.fit_with(language.automaton().alphabet(), &traces, &exercises, control)?;
            let proof = prover.prove(&machine, control)?;
            let (open, examined) = match &proof {
                Proof::Proved(_) => (0, 0),
                Proof::Open { cells, examined, .. } => (cells.len(), *examined),
            };
            report(&ProofRound {
                rows: machine.lessons().actions().len(),
                exercises: exercises.len(),
                cost: params.params().svm.cost,
                examined,
                open,
            });
            Ok(match proof {
                Proof::Open { exercises: found, .. } if round < self.rounds => {
                    let before = exercises.len();
                    exercises.extend(found.into_iter().filter(|exercise| known.insert(exercise.clone())));
                    if exercises.len() == before { Outcome::Stuck } else { Outcome::Open }
                }
                proof => Outcome::Done((machine, proof)),
            })
        })
    }

    /// Tests a machine on fresh words. Returns the number of words, and those on which the machine made a mistake; a
    /// hundred of them end the test early.
    ///
    /// # Errors
    /// See [`StudyError`].
    pub fn test(
        &self,
        language: &dyn Language,
        machine: &Machine,
        control: &dyn Control,
    ) -> Result<(usize, Vec<Word>), StudyError> {
        let teacher = Oracle::new(language.automaton().clone(), machine.mode(), control)?;
        self.test_with(language, &teacher, machine, &mut self.test_words(), control)
    }

    /// Returns the generator of test words, which is independent of the one of training words.
    fn test_words(&self) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(1);
        random
    }

    fn test_with(
        &self,
        language: &dyn Language,
        teacher: &Oracle,
        machine: &Machine,
        random: &mut ChaCha8Rng,
        control: &dyn Control,
    ) -> Result<(usize, Vec<Word>), StudyError> {
        let (mut tested, mut wrong) = (0, Vec::new());
        while tested < self.tests && wrong.len() < MAX_WRONG_WORDS {
            let count = WORDS_PER_BATCH.min(self.tests - tested);
            let mut words = Vec::with_capacity(count);
            for number in 0..count {
                let kind = WordKind::ALL[number % WordKind::ALL.len()];
                let word = draw(language, teacher, kind, self.test_lengths.clone(), random);
                words.push(word.ok_or_else(|| no_words(language, kind, &self.test_lengths))?);
            }
            let given = actions(machine, &words, control);
            let wanted = actions(teacher, &words, control);
            if control.cancelled() {
                return Err(FitError::Cancelled.into());
            }
            let differing = words.into_iter().zip(wanted.iter().zip(&given));
            wrong.extend(differing.filter(|(_, (wanted, given))| wanted != given).map(|(word, _)| word));
            tested += count;
            control.progress(Stage::Test, tested, self.tests);
        }
        Ok((tested, wrong))
    }
}

/// The maximum number of times that a machine is trained on exercises, each time at a higher cost.
const MAX_PRACTICE_ROUNDS: usize = 9;

/// Trains a machine on exercises alone. Exercises do not contradict each other, so the machine should answer all of
/// them correctly: as long as it does not, it is trained again at ten times the cost. Returns the machine and the
/// number of its wrong answers.
///
/// # Errors
/// See [`FitError`].
pub fn practice(
    params: &Checked,
    alphabet: &Arc<Alphabet>,
    exercises: &[Exercise],
    control: &dyn Control,
) -> Result<(Machine, usize), FitError> {
    at_rising_cost(params.params().svm.cost, |round, cost| {
        let machine = params.clone().with_cost(cost).fit_with(alphabet, &[], exercises, control)?;
        let wrong = mistakes(&machine);
        let done = wrong == 0 || round == MAX_PRACTICE_ROUNDS;
        Ok(if done { Outcome::Done((machine, wrong)) } else { Outcome::Stuck })
    })
}

/// Returns the number of its own lessons that a machine answers wrongly.
fn mistakes(machine: &Machine) -> usize {
    let lessons = machine.lessons();
    // Most pairs of states are lessons of several readouts, and the choices on one pair answer all of these lessons.
    let mut known: HashMap<Lesson, Choices> = HashMap::new();
    let mut wrong = |lesson: Lesson, differs: &dyn Fn(&Choices) -> bool| {
        differs(known.entry(lesson).or_insert_with(|| {
            let (input, stack) = lessons.states(&**machine.reservoir(), lesson);
            machine.choose(&input, &stack)
        }))
    };
    let actions =
        lessons.actions().filter(|&(lesson, action)| wrong(lesson, &|chosen| chosen.reduction != action)).count();
    let shifts = lessons.shifts().filter(|&(lesson, shift)| wrong(lesson, &|chosen| chosen.shift != shift)).count();
    let outputs =
        lessons.outputs().filter(|&(lesson, output)| wrong(lesson, &|chosen| chosen.output != output)).count();
    actions + shifts + outputs
}

/// Returns the verdict on each word, with all actions that led to it. If a machine reaches the right verdict by other
/// actions than the teacher, it is wrong on some other word, or does something that a teacher never does.
fn actions<R: Recognizer>(judge: &R, words: &[Word], control: &dyn Control) -> Vec<(Vec<Taken>, Verdict)> {
    let words: Vec<&Word> = words.iter().collect();
    let mut taken = vec![Actions { taken: Vec::new(), control }; words.len()];
    let verdicts = watch_all(judge, &words, &mut taken, Limits::default());
    taken.into_iter().map(|actions| actions.taken).zip(verdicts).collect()
}

/// An action that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Decide(Reduction),
    Shift(bool),
}

/// Collects the actions on a word.
#[derive(Clone)]
struct Actions<'c> {
    taken: Vec<Taken>,
    control: &'c dyn Control,
}

impl Observer for Actions<'_> {
    fn event(&mut self, _: u64, event: Event<'_>) {
        match event {
            Event::Decide { reduction, .. } => self.taken.push(Taken::Decide(reduction)),
            Event::Shift { shifted, .. } => self.taken.push(Taken::Shift(shifted)),
            Event::Output { .. } => {}
        }
    }

    fn cancelled(&self) -> bool {
        self.control.cancelled()
    }

    fn reads_margins(&self) -> bool {
        false
    }
}

fn no_words(language: &dyn Language, kind: WordKind, lengths: &RangeInclusive<usize>) -> StudyError {
    StudyError::NoWords { language: language.to_string(), kind, lengths: lengths.clone() }
}

/// Returns traces that teach what the machine did differently from the teacher: the first step of the word on which
/// they differ or, if there is none, the tokens that only one of them expects after it.
fn corrections(teacher: &Oracle, machine: &Machine, word: &Word, round: usize) -> Vec<Trace> {
    let source = format!("mistake of round {round}");
    let taught = |word: &Word| record(teacher, source.clone(), word, Limits::default());
    let (Some(wanted), verdict) = taught(word) else { return Vec::new() };
    let (given, given_verdict) = record(machine, "", word, Limits::default());
    let Some(given) = given else { return vec![wanted] };
    let differs = |(wanted, given): (&Step, &Step)| wanted != given;
    if let Some(step) = wanted.steps().iter().zip(given.steps()).position(differs) {
        return vec![wanted.teaching(step..step + 1)];
    }
    let Word::Symbols(symbols) = word else { return vec![wanted] };
    let (here, there) = (verdict.expected(), given_verdict.expected());
    let disputed = here.iter().chain(there).filter(|next| here.contains(next) != there.contains(next));
    let beginning = &symbols[..symbols.len().min(wanted.steps().len() - 1)];
    let probe = |next: &Lookahead| match *next {
        Lookahead::Token(token) => Word::Symbols([beginning, &[token]].concat()),
        Lookahead::End => Word::Symbols(beginning.to_vec()),
    };
    let last = beginning.len();
    disputed.filter_map(|next| taught(&probe(next)).0).map(|trace| trace.teaching(last..last + 1)).collect()
}
