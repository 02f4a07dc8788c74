//! Learning: runs of a teacher are recorded, a machine is trained on the decisions in them, and trained further until it is
//! proved.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::certificate::TwoStackCertificate;
use super::fit::{TwoStackExercise, fit};
use super::machine::TwoStackMachine;
use super::prove::{TwoStackOpenCell, TwoStackProof, prove_within};
use super::rules::{Decision, TwoStackRules, Which};
use super::run::{RuleStacks, RunLimits};
use super::shape::Shape;
use super::text::Teacher;
use crate::certify::CertifyError;
use crate::control::{Control, Poll, Stage};
use crate::machine::{FitError, ParamError, Params};
use crate::readout::{Outcome, Svm, at_rising_cost};
use crate::reservoir::{ReservoirKind, ReservoirParams};
use crate::symbol::{Lookahead, SymbolId};

/// How a machine with two stacks is taught.
#[derive(Clone, Debug)]
pub struct TwoStackLearning {
    /// The parameters of the reservoir.
    pub reservoir: ReservoirParams,
    /// The parameters of the support vector machines.
    pub svm: Svm,
    /// The number of words that the teacher is run on: half of them the shortest, the others random.
    pub words: usize,
    /// The maximum length of the words.
    pub max_length: usize,
    /// The maximum number of actions that are recorded on a word.
    pub actions: u64,
    /// The seed of the random words.
    pub seed: u64,
    /// The maximum number of rounds of training and proof.
    pub rounds: usize,
    /// Whether to search for a proof, and to learn from what is not proved yet.
    pub prove: bool,
}

impl Default for TwoStackLearning {
    fn default() -> Self {
        let Params { reservoir, svm, .. } = Params::provable(ReservoirKind::Cycle, 256, 0);
        Self { reservoir, svm, words: 200, max_length: 8, actions: 10_000, seed: 0, rounds: 30, prove: true }
    }
}

/// The reason why a machine could not be taught.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TwoStackLearnError {
    /// A parameter is out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The machine could not be trained.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The machine could not be compared with its teacher.
    #[error(transparent)]
    Certify(#[from] CertifyError),
}

/// A machine that was taught.
#[derive(Clone, Debug)]
pub struct TwoStackLearned {
    /// The machine.
    pub machine: TwoStackMachine,
    /// The proof that it simulates its teacher, if one was searched for and found.
    pub certificate: Option<TwoStackCertificate>,
    /// What is not proved, if a proof was searched for and not found.
    pub open: Vec<TwoStackOpenCell>,
    /// The number of words that the teacher was run on.
    pub words: usize,
    /// The number of distinct contexts in these runs.
    pub contexts: usize,
    /// The number of decisions that were added because they were not proved.
    pub added: usize,
    /// The number of rounds.
    pub rounds: usize,
}

/// The number of topmost symbols of each stack by which contexts in traces are told apart.
const CONTEXT: usize = 4;
/// The number of topmost symbols of each stack that are kept of a context. The state depends on more only in digits that no
/// decision can see.
const KEPT: usize = 48;

impl TwoStackLearning {
    /// Returns the same with a standard reservoir of this kind.
    #[must_use]
    pub fn with_reservoir(self, kind: ReservoirKind, neurons: usize, seed: u64) -> Self {
        Self { reservoir: Params::provable(kind, neurons, seed).reservoir, ..self }
    }

    /// Returns the words that a teacher is run on.
    pub fn words_for(&self, rules: &TwoStackRules) -> Vec<Vec<SymbolId>> {
        let terminals = rules.alphabet().terminals().len();
        let mut words = vec![Vec::new()];
        // The shortest words, in order: each is extended by each token.
        let mut at = 0;
        while terminals > 0 && at < words.len() && words.len() < self.words.div_ceil(2) {
            if words[at].len() == self.max_length {
                break;
            }
            for token in (0..terminals).map(SymbolId::new) {
                words.push([&words[at][..], &[token]].concat());
            }
            at += 1;
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        while terminals > 0 && words.len() < self.words {
            let length = random.random_range(0..=self.max_length);
            words.push((0..length).map(|_| SymbolId::new(random.random_range(0..terminals))).collect());
        }
        words.truncate(self.words.max(1));
        words
    }

    /// Runs a teacher on words, and returns the first decision in each context that occurs. A context is what is next and
    /// the topmost symbols of both stacks.
    pub fn record(&self, rules: &TwoStackRules, words: &[Vec<SymbolId>]) -> Vec<TwoStackExercise> {
        let mut seen: HashSet<(Lookahead, [Vec<SymbolId>; 2])> = HashSet::new();
        let mut exercises = Vec::new();
        for word in words {
            let limits = RunLimits { actions: self.actions, ..RunLimits::default() };
            rules.run_with(word, limits, &mut |stacks: &RuleStacks<'_>, next: Lookahead, decision: &Decision| {
                // One more symbol tells a short stack from the top of a longer one.
                if seen.insert((next, Which::BOTH.map(|which| last(stacks.of(which), CONTEXT + 1)))) {
                    let stacks = Which::BOTH.map(|which| last(stacks.of(which), KEPT));
                    exercises.push(TwoStackExercise { stacks, next, decision: decision.clone() });
                }
            });
        }
        exercises
    }

    /// Teaches a machine on words that are drawn for it.
    ///
    /// # Errors
    /// See [`TwoStackLearnError`].
    pub fn learn(&self, teacher: &Teacher, control: &dyn Control) -> Result<TwoStackLearned, TwoStackLearnError> {
        self.learn_from(teacher, &self.words_for(teacher.rules()), control)
    }

    /// Teaches a machine on these words. Unless [`TwoStackLearning::prove`] is off, it is trained on decisions that are not proved
    /// yet, until all are or the rounds are over.
    ///
    /// # Errors
    /// See [`TwoStackLearnError`].
    pub fn learn_from(
        &self,
        teacher: &Teacher,
        words: &[Vec<SymbolId>],
        control: &dyn Control,
    ) -> Result<TwoStackLearned, TwoStackLearnError> {
        let rules = teacher.rules();
        let params = Params { reservoir: self.reservoir.clone(), svm: self.svm, ..Params::default() };
        let params = params.check()?;
        let reservoir = params.params().reservoir.build(rules.alphabet().len()).map_err(FitError::from)?;
        control.progress(Stage::Collect, 0, words.len());
        let mut exercises = self.record(rules, words);
        let contexts = exercises.len();
        let shape = if self.prove {
            Some(Shape::new(rules, &mut Poll::new(control)).map_err(CertifyError::from)?)
        } else {
            None
        };
        let mut known: HashSet<TwoStackExercise> = exercises.iter().cloned().collect();
        at_rising_cost(self.svm.cost, |round, cost| {
            let svm = Svm { cost, ..self.svm };
            let mut machine = fit((rules.alphabet(), rules.outputs()), &reservoir, &exercises, svm, control)?;
            self.describe(&mut machine, teacher, svm);
            let mut learned = TwoStackLearned {
                machine,
                certificate: None,
                open: Vec::new(),
                words: words.len(),
                contexts,
                added: exercises.len() - contexts,
                rounds: round,
            };
            let Some(shape) = &shape else { return Ok(Outcome::Done(learned)) };
            match prove_within(&learned.machine, teacher, shape, control)? {
                TwoStackProof::Proved(certificate) => learned.certificate = Some(*certificate),
                TwoStackProof::Open { cells, exercises: more } => {
                    if round < self.rounds {
                        let before = exercises.len();
                        exercises.extend(more.into_iter().filter(|exercise| known.insert(exercise.clone())));
                        return Ok(if exercises.len() > before { Outcome::Open } else { Outcome::Stuck });
                    }
                    learned.open = cells;
                }
            }
            Ok(Outcome::Done(learned))
        })
    }

    /// Records in the manifest how the machine was made.
    fn describe(&self, machine: &mut TwoStackMachine, teacher: &Teacher, svm: Svm) {
        let manifest = machine.manifest_mut();
        manifest.set_version(env!("CARGO_PKG_VERSION"));
        manifest.set_reservoir(&self.reservoir);
        manifest.set_svm(svm);
        manifest.set_seed(self.seed);
        manifest.set("teacher", teacher.source());
    }
}

/// Returns the topmost symbols of a stack, at most this many.
fn last(stack: &[SymbolId], count: usize) -> Vec<SymbolId> {
    stack[stack.len().saturating_sub(count)..].to_vec()
}
