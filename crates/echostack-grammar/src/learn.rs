//! From a subject to a machine that is proved or tested.

use std::fmt;

use echostack::automaton::AutomatonError;
use echostack::certify::{CertifyError, Proof};
use echostack::extract::{ConstructError, construct};
use echostack::language::Language;
use echostack::machine::{Checked, ParamError};
use echostack::readout::Svm;
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::study::{ProofRound, Round, StudyError};
use echostack::{Certificate, Control, Machine, Params, Study};

use crate::subject::{Subject, SubjectError};

/// How a subject is learned.
///
/// ```
/// use echostack_grammar::{Encoding, Grammar, Learning, Subject};
/// let grammar = Grammar::new("lists", "%start L\n%%\nL: '[' ']' | '[' E ']';\nE: 'x' | E ',' 'x';\n", Encoding::Auto)?;
/// let learned = Subject::of_grammar(grammar, None).learn(&Learning { neurons: 64, ..Learning::default() }, &())?;
/// assert!(learned.to_string().starts_with("proved correct on every word, of any length, with "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Learning {
    /// Whether the machine is to be proved or tested.
    pub goal: Goal,
    /// The words to train and test on, the number of rounds, and the seed of words and weights.
    pub study: Study,
    /// The kind of reservoir.
    pub reservoir: ReservoirKind,
    /// The number of neurons.
    pub neurons: usize,
    /// Whether the machine rejects a word at the first token that cannot follow. Only strict machines can be proved.
    pub mode: Mode,
    /// What the machine sees of its input; `None` for the next token in strict mode, and everything in tolerant mode.
    pub view: Option<View>,
    /// The cost of the support vector machines; `None` for what suits the goal.
    pub cost: Option<f64>,
    /// The width of their kernel; `None` for what suits the goal.
    pub gamma: Option<f64>,
    /// The parameters of the machine; if given, the six fields before this one are not used.
    pub params: Option<Params>,
}

impl Default for Learning {
    fn default() -> Self {
        Self {
            goal: Goal::default(),
            study: Study::default(),
            reservoir: ReservoirKind::Cycle,
            neurons: 256,
            mode: Mode::Strict,
            view: None,
            cost: None,
            gamma: None,
            params: None,
        }
    }
}

/// What is to be known about a machine when it has been learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// It is proved correct on every word; a machine without a proof is not tested.
    Proof,
    /// It is proved; if no proof is found, it is tested on fresh words.
    #[default]
    ProofOrTest,
    /// It is tested on fresh words, unless the study asks for none.
    Test,
}

/// The reason why a subject could not be learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// The subject cannot be learned.
    #[error(transparent)]
    Subject(#[from] SubjectError),
    /// The parameters are invalid.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// Training failed, or no proof can be searched for.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// No machine can be constructed.
    #[error(transparent)]
    Construct(#[from] ConstructError),
    /// A proof does not extend to the text of the grammar.
    #[error(transparent)]
    Certify(#[from] CertifyError),
}

/// What happens while a subject is learned.
#[derive(Debug)]
#[non_exhaustive]
pub enum LearnEvent<'a> {
    /// A round of training that ended with a search for a proof.
    Searched(&'a ProofRound),
    /// A round of training that ended with a test.
    Tested(&'a Round),
    /// No proof is possible, so the machine is only tested.
    NoProof(&'a StudyError),
}

/// The last test of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// The number of fresh words.
    pub words: usize,
    /// The number of words on which the machine made a mistake.
    pub wrong: usize,
}

/// A machine that was learned or constructed, and what is known about it. It is displayed as a sentence that says
/// whether the machine is proved or tested.
#[derive(Debug)]
#[non_exhaustive]
pub struct Learned {
    /// The machine, with a manifest that says what it was made for.
    pub machine: Machine,
    /// The number of training words, if it was trained on words.
    pub words: Option<usize>,
    /// The result of the search for a proof, if there was one. A proof covers the text of the grammar.
    pub proof: Option<Proof>,
    /// The last test, if there was one.
    pub test: Option<Test>,
    /// The rounds that ended with a test.
    pub rounds: Vec<Round>,
    /// What a proof covers, and what is trusted: a part of a sentence.
    pub covers: String,
}

impl Learned {
    /// Returns the certificate, if the machine is proved.
    pub fn certificate(&self) -> Option<&Certificate> {
        match &self.proof {
            Some(Proof::Proved(certificate)) => Some(certificate),
            _ => None,
        }
    }
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |number: usize| if number == 1 { "" } else { "s" };
        match &self.proof {
            Some(Proof::Proved(certificate)) => {
                let (cells, covers) = (certificate.size().cells, &self.covers);
                let s = plural(cells);
                return write!(f, "proved correct on every word, of any length, with {cells} cell{s}, {covers}");
            }
            Some(Proof::Open { cells, examined, .. }) => {
                let s = plural(*examined);
                write!(f, "not proved: {} of {examined} cell{s} still open", cells.len())?;
                f.write_str(" (`echostack certify` shows them)")?;
                if self.test.is_some() {
                    f.write_str("; tested instead: ")?;
                }
            }
            None if self.test.is_none() => f.write_str("neither proved nor tested")?,
            None => {}
        }
        if let Some(Test { words, wrong }) = self.test {
            write!(f, "{wrong} of {words} fresh word{} wrong", plural(words))?;
        }
        match self.rounds.len() {
            0 => Ok(()),
            rounds => write!(f, " after {rounds} round{}", plural(rounds)),
        }
    }
}

impl Subject {
    /// Learns the subject: trains a machine until it is proved or has passed a test, as the settings say.
    ///
    /// # Errors
    /// See [`LearnError`].
    pub fn learn(&self, learning: &Learning, control: &dyn Control) -> Result<Learned, LearnError> {
        self.learn_with(learning, control, &mut |_| {})
    }

    /// Learns the subject, and reports each round.
    ///
    /// # Errors
    /// See [`LearnError`].
    pub fn learn_with(
        &self,
        learning: &Learning,
        control: &dyn Control,
        report: &mut dyn FnMut(LearnEvent<'_>),
    ) -> Result<Learned, LearnError> {
        let language = &**self.require_language()?;
        if learning.goal != Goal::Test {
            self.check_lexer()?;
            match self.prove(language, learning, control, report) {
                Err(LearnError::Study(error)) if learning.goal == Goal::ProofOrTest && rules_out_proofs(&error) => {
                    report(LearnEvent::NoProof(&error));
                }
                ended => return ended,
            }
        }
        let study = &learning.study;
        let params = learning.params(|| Params::standard(learning.reservoir, learning.neurons, study.seed))?;
        let mut tell = |round: &Round| report(LearnEvent::Tested(round));
        let (machine, mut rounds) = study.learn(language, &params, control, &mut tell)?;
        let words = rounds.last().map(|round| round.traces);
        rounds.retain(|round| round.tested > 0);
        let test = rounds.last().map(|round| Test { words: round.tested, wrong: round.wrong });
        Ok(Learned { test, rounds, ..self.learned(machine, words, None, Some(study.seed)) })
    }

    /// Trains until the machine is proved correct. If it is not, although no proof is required, tests it.
    fn prove(
        &self,
        language: &dyn Language,
        learning: &Learning,
        control: &dyn Control,
        report: &mut dyn FnMut(LearnEvent<'_>),
    ) -> Result<Learned, LearnError> {
        let study = &learning.study;
        let defaults =
            || Params::provable(learning.reservoir, learning.neurons, study.seed).adapted_to(self.alphabet());
        let params = learning.params(defaults)?;
        let mut tell = |round: &ProofRound| report(LearnEvent::Searched(round));
        let (machine, proof) = study.prove(language, &params, control, &mut tell)?;
        let tests = matches!(proof, Proof::Open { .. }) && learning.goal == Goal::ProofOrTest && study.tests > 0;
        let test = if tests { Some(study.test(language, &machine, control)?) } else { None };
        let test = test.map(|(words, wrong)| Test { words, wrong: wrong.len() });
        // The viable stacks of the oracle may take long, and only a proof needs them.
        let proof = match proof {
            Proof::Proved(_) => self.cover(proof, &self.oracle(Mode::Strict, control)?, control)?,
            open @ Proof::Open { .. } => open,
        };
        // A machine that sees only the next token is trained on exercises, not on words.
        let words = (params.params().view != View::Symbol).then_some(study.words);
        Ok(Learned { test, ..self.learned(machine, words, Some(proof), Some(study.seed)) })
    }

    /// Constructs a machine for the subject, without training, and searches for a proof.
    ///
    /// # Errors
    /// See [`LearnError`].
    pub fn construct(&self, params: Params, control: &dyn Control) -> Result<Learned, LearnError> {
        self.check_lexer()?;
        let oracle = self.oracle(Mode::Strict, control)?;
        let (machine, proof) = construct(&oracle, &params.check()?, control)?;
        let proof = self.cover(proof, &oracle, control)?;
        Ok(self.learned(machine, None, Some(proof), None))
    }

    fn learned(&self, mut machine: Machine, words: Option<usize>, proof: Option<Proof>, seed: Option<u64>) -> Learned {
        let manifest = machine.manifest_mut();
        if let Some(seed) = seed {
            manifest.set_seed(seed);
        }
        if let Some(words) = words {
            manifest.set_word_count(words);
        }
        self.describe_in(manifest);
        let covers = self.coverage("machine", machine.manifest());
        Learned { machine, words, proof, test: None, rounds: Vec::new(), covers }
    }
}

impl Learning {
    /// Returns the parameters: the given ones, or the defaults with the changes that the settings make.
    fn params(&self, defaults: impl FnOnce() -> Params) -> Result<Checked, ParamError> {
        if let Some(params) = &self.params {
            return params.clone().check();
        }
        let (mode, defaults) = (self.mode, defaults());
        let view = if mode == Mode::Strict { View::Symbol } else { View::Reservoir };
        let cost = self.cost.unwrap_or(defaults.svm.cost);
        let gamma = self.gamma.unwrap_or(defaults.svm.gamma);
        Params { view: self.view.unwrap_or(view), mode, svm: Svm { cost, gamma, ..defaults.svm }, ..defaults }.check()
    }
}

/// Returns whether an error means that no proof can be searched for, although a machine can still be trained.
fn rules_out_proofs(error: &StudyError) -> bool {
    match error {
        StudyError::Certify(why) => !matches!(why, CertifyError::Cancelled),
        StudyError::Automaton(why) => !matches!(why, AutomatonError::Cancelled),
        _ => false,
    }
}
