//! What is certain in the cells of a running machine, by the bounds of proofs.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::bound::{Bounds, Scratch, Sighting};
use super::scale::WellScaled;
use crate::control::Poll;
use crate::machine::{Certain, Certainty, Machine, Readout};
use crate::readout::Side;
use crate::reservoir::{Recurrent, ReservoirParts};
use crate::suffix::{InputSuffix, StackSuffix};

impl Machine {
    /// Returns this machine with a memory of decisions that cannot turn out differently. Words are then read faster:
    /// many times as fast if most of their contexts have occurred before.
    ///
    /// All verdicts, actions and outputs stay the same. Clones share the memory, which takes up at most a few dozen
    /// megabytes. An observer that [reads margins](crate::recognize::Observer::reads_margins) makes the machine compute
    /// every decision.
    ///
    /// ```
    /// use echostack::{Machine, Oracle, Params, Recognizer, Verdict};
    /// use echostack::tasks::Task;
    /// use echostack::teach::record;
    ///
    /// let oracle = Oracle::tolerant(Task::Anbn.automaton().unwrap());
    /// let alphabet = oracle.automaton().alphabet().clone();
    /// let word = |n: usize| alphabet.word([vec!["a"; n], vec!["b"; n]].concat()).unwrap();
    /// let traces: Vec<_> =
    ///     (1..=10).filter_map(|n| record(&oracle, "example", &word(n), Default::default()).0).collect();
    /// let machine: Machine = Params::default().check()?.fit(&alphabet, &traces, &())?.memoized();
    /// assert_eq!(machine.judge(&word(50_000)), Verdict::Accept);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn memoized(self) -> Self {
        if self.has_memory() {
            return self;
        }
        let source = Bounded {
            machine: self.clone(),
            bounds: OnceLock::new(),
            inputs: Sightings(Mutex::default()),
            stacks: Sightings(Mutex::default()),
        };
        self.with_certain(source)
    }
}

/// A machine with the bounds on its decisions, once they are needed.
struct Bounded {
    machine: Machine,
    /// The bounds, or `None` if the machine cannot be bounded.
    bounds: OnceLock<Option<Bounds>>,
    inputs: Sightings<InputSuffix>,
    stacks: Sightings<StackSuffix>,
}

impl fmt::Debug for Bounded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Bounded").finish_non_exhaustive()
    }
}

/// What the readouts see of suffixes, kept because many cells have the same suffix on one side.
struct Sightings<S>(Mutex<HashMap<S, Arc<Sighting>>>);

impl<S: Eq + Hash + Clone> Sightings<S> {
    /// The maximum number of floating-point values that are kept: 8 MiB.
    const MAX_NUMBERS: usize = 1 << 20;

    fn see(&self, suffix: &S, see: impl FnOnce(&S) -> Sighting) -> Arc<Sighting> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(suffix) {
            return known.clone();
        }
        let sighting = Arc::new(see(suffix));
        let mut seen = lock();
        if seen.len() * sighting.numbers() > Self::MAX_NUMBERS {
            seen.clear();
        }
        seen.insert(suffix.clone(), sighting.clone());
        sighting
    }
}

impl Certain for Bounded {
    fn preparation(&self) -> usize {
        let machine = &self.machine;
        // The set of all states is found in some rounds, in each of which every symbol is tried.
        let weights = match machine.reservoir().parts() {
            Some(ReservoirParts::Cycle(parts)) => 3 * parts.neurons,
            Some(ReservoirParts::Legendre(parts)) => 8 * parts.recurrent.len(),
            Some(ReservoirParts::Matrix(parts)) => match &parts.recurrent {
                Recurrent::Dense(weights) => weights.len(),
                Recurrent::Sparse(entries) => entries.len(),
            },
            None => return usize::MAX,
        };
        let (inputs, stacks) = machine.centers();
        let decision = machine.reservoir().neurons() * (1 + inputs + stacks);
        64 + 500 * weights * machine.alphabet().len() / decision
    }

    fn certain(&self, input: &InputSuffix, stack: &StackSuffix, known: &[(Readout, usize)]) -> Option<Certainty> {
        let bounds = self.bounds.get_or_init(|| {
            let scaled = WellScaled::new(&self.machine).ok()?;
            Bounds::new(&scaled, &mut Poll::new(&())).ok()
        });
        let bounds = bounds.as_ref()?;
        let seen = self.inputs.see(input, |suffix| bounds.input(suffix));
        let beneath = self.stacks.see(stack, |suffix| bounds.stack(suffix));
        let mut scratch = Scratch::default();
        let mut classes = known.to_vec();
        for (number, (readout, _)) in bounds.heads().iter().enumerate() {
            if known.iter().all(|(own, _)| own != readout) {
                let class = bounds.certain(number, &seen, &beneath, &mut scratch);
                classes.extend(class.map(|class| (*readout, class)));
            }
        }
        let is_input = stack.is_whole() || (!input.is_whole() && seen.size() > beneath.size());
        Some(Certainty { classes, wider: if is_input { Side::Input } else { Side::Stack } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{ActionReadout, Params};
    use crate::recognize::{Event, Limits, Mode, Observer, Recognizer, Reduction, Verdict, View, watch_all};
    use crate::reservoir::ReservoirKind;
    use crate::study::Study;
    use crate::symbol::{SymbolId, Word};
    use crate::tasks::{Split, Task};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// What a session did, without margins.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Done(Vec<(u64, Step)>);

    #[derive(Clone, Debug, PartialEq)]
    enum Step {
        Decide(Reduction),
        Shift(bool),
        Output(Vec<f64>),
    }

    impl Observer for Done {
        fn event(&mut self, position: u64, event: Event<'_>) {
            let step = match event {
                Event::Decide { reduction, .. } => Step::Decide(reduction),
                Event::Shift { shifted, .. } => Step::Shift(shifted),
                Event::Output { values } => Step::Output(values.to_vec()),
            };
            self.0.push((position, step));
        }

        fn reads_margins(&self) -> bool {
            false
        }
    }

    /// Words of the task, random words, and one that is longer than what a session keeps.
    fn words(task: Task, random: &mut ChaCha8Rng) -> Vec<Word> {
        let terminals = task.alphabet().terminals().len();
        let lengths: Vec<usize> = (0..30).map(|_| random.random_range(0..60)).chain([3_000]).collect();
        let words = task.examples(Split::Test, 30, 0).into_iter().map(|trace| trace.word().clone());
        let random = lengths.into_iter().map(|length| {
            Word::Symbols((0..length).map(|_| SymbolId::new(random.random_range(0..terminals))).collect())
        });
        words.chain(random).collect()
    }

    /// Machines of every kind. They are taught on few words, so that some decisions are wrong or have a small margin.
    fn machines(task: Task) -> Vec<Machine> {
        let mut machines = Vec::new();
        for kind in ReservoirKind::ALL {
            for view in [View::Symbol, View::Reservoir] {
                for actions in [ActionReadout::Joint, ActionReadout::Separate] {
                    let params = Params { view, actions, ..task.params(kind, 48, 1) }.check().unwrap();
                    machines.push(params.fit(&task.alphabet(), &task.examples(Split::Train, 10, 1), &()).unwrap());
                }
                if let Some(language) = task.language() {
                    let teacher = crate::Oracle::strict(language.automaton().clone()).unwrap();
                    let traces = Study { words: 20, ..Study::default() }.begin(&*language, &teacher).unwrap();
                    for params in [Params::standard(kind, 48, 2), Params::provable(kind, 256, 2)] {
                        let params = Params { view, mode: Mode::Strict, ..params }.check().unwrap();
                        machines.push(params.fit(&task.alphabet(), &traces, &()).unwrap());
                    }
                }
            }
        }
        machines
    }

    #[test]
    fn a_machine_with_memory_does_the_same() {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let limits = Limits { depth: 500, actions: 50, ..Limits::default() };
        for task in [Task::Dyck1, Task::Json, Task::Latch, Task::RepeatCopy] {
            let words = words(task, &mut random);
            let words: Vec<&Word> = words.iter().collect();
            let (mut all, mut computed) = (0, 0);
            for machine in machines(task) {
                let memory = machine.clone().memoized();
                // The memory fills up in the first round and is full in the second.
                for _ in 0..2 {
                    let mut done = [vec![Done::default(); words.len()], vec![Done::default(); words.len()]];
                    let exact: Vec<Verdict> = watch_all(&machine, &words, &mut done[0], limits);
                    let before = memory.computed();
                    let looked_up: Vec<Verdict> = watch_all(&memory, &words, &mut done[1], limits);
                    computed += memory.computed() - before;
                    all += done[0]
                        .iter()
                        .flat_map(|done| &done.0)
                        .filter(|(_, step)| matches!(step, Step::Decide(_)))
                        .count();
                    assert!(exact == looked_up && done[0] == done[1], "{task} {:?}", machine.manifest());
                }
                let mut margins = [Vec::new(), Vec::new()];
                for (machine, margins) in [&machine, &memory].into_iter().zip(&mut margins) {
                    machine.judge_with(words[0], limits, &mut |_: u64, event: Event<'_>| {
                        if let Event::Decide { margin, .. } | Event::Shift { margin, .. } = event {
                            margins.push(margin.to_bits());
                        }
                    });
                }
                assert_eq!(margins[0], margins[1]);
            }
            assert!(
                computed < all / 4 * 3 || !task.is_symbolic(),
                "{task}: {computed} of {all} decisions were computed"
            );
        }
    }
}
