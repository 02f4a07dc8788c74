//! Small machines that are proved right, from which the mutants are made.

use std::sync::Arc;

use echostack::certify::{CertifyError, Proof, check};
use echostack::control::Budget;
use echostack::extract::construct;
use echostack::language::{Language, Walks};
use echostack::machine::ActionReadout;
use echostack::readout::Svm;
use echostack::recognize::{Mode, View};
use echostack::reservoir::{Cycle, Legendre, Random, ReservoirParams, Signs};
use echostack::tasks::Task;
use echostack::{Automaton, Certificate, Machine, Oracle, Params, Prover, Study};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::model::Model;

/// An automaton for words of one or more a, the smallest one that does anything.
pub(crate) const APLUS: &str = r#"{"terminals": ["a"], "nonterminals": ["S"], "accepting": ["S"], "rules": [
    {"suffix": ["S", "a"], "lookahead": null, "pop": 2, "push": "S"},
    {"anchored": true, "suffix": ["a"], "lookahead": null, "pop": 1, "push": "S"}]}"#;

/// Returns the oracle of a language, by name.
pub(crate) fn oracle(language: &str) -> Oracle {
    let automaton = match language {
        "aplus" => Automaton::from_json(APLUS).unwrap(),
        task => task.parse::<Task>().unwrap().automaton().unwrap(),
    };
    Oracle::strict(automaton).unwrap()
}

/// The kind of readouts of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heads {
    Separate,
    Joint,
    Lists,
}

/// A machine that is proved right, and its proof.
pub(crate) struct Subject {
    pub name: String,
    pub oracle: Oracle,
    pub view: View,
    pub model: Model,
    /// The certificate as JSON, in two parts: before and after the machine's digest.
    certificate: [String; 2],
}

/// Checks a certificate. This is the only place where the checker is called.
pub(crate) fn accepted(certificate: &Certificate, machine: &Machine, oracle: &Oracle) -> Result<(), CertifyError> {
    check(certificate, machine, oracle, &())
}

/// Returns the digest of a machine without a manifest, as in certificates.
pub(crate) fn machine_digest(machine: &Machine) -> String {
    let mut machine = machine.clone();
    machine.manifest_mut().clear();
    echostack::digest::hex(&Sha256::digest(machine.to_bytes().unwrap()))
}

/// Returns the digest of an automaton, as in certificates.
pub(crate) fn automaton_digest(automaton: &Automaton) -> String {
    echostack::digest::hex(&Sha256::digest(automaton.to_json()))
}

impl Subject {
    pub(crate) fn new(name: String, oracle: Oracle, machine: &Machine) -> Option<Self> {
        let (view, model) = (machine.view(), Model::of(machine));
        let machine = model.machine().unwrap();
        let prover = Prover::new(&oracle, view, &()).unwrap();
        let Ok(Proof::Proved(certificate)) = prover.prove(&machine, &()) else { return None };
        let json = certificate.to_json();
        let (before, after) = json.split_once(&machine_digest(&machine)).unwrap();
        let certificate = [before.to_string(), after.to_string()];
        Some(Self { name, oracle, view, model, certificate })
    }

    /// Returns the certificate of this subject with the digest of another machine.
    pub(crate) fn certificate_for(&self, machine: &Machine) -> Certificate {
        let [before, after] = &self.certificate;
        Certificate::from_json(&format!("{before}{}{after}", machine_digest(machine))).unwrap()
    }

    /// Returns the certificate as JSON.
    pub(crate) fn json(&self) -> String {
        let digest = machine_digest(&self.model.machine().unwrap());
        self.certificate.join(&digest)
    }

    /// Returns true if this subject's certificate holds for a changed model. There is no search, so this is never slow.
    pub(crate) fn holds_for(&self, model: &Model) -> bool {
        model.machine().is_ok_and(|machine| accepted(&self.certificate_for(&machine), &machine, &self.oracle).is_ok())
    }

    /// Returns a certificate for a changed machine that the checker accepts: this subject's own, or one found by a
    /// search.
    pub(crate) fn prove(&self, machine: &Machine) -> Option<Certificate> {
        let own = self.certificate_for(machine);
        if accepted(&own, machine, &self.oracle).is_ok() {
            return Some(own);
        }
        if self.view == View::Reservoir {
            // A search that also splits by the input may take long, so only the subject's own certificate is tried.
            return None;
        }
        let prover = Prover::new(&self.oracle, self.view, &()).unwrap();
        let budget = Budget::new(20_000);
        let Ok(Proof::Proved(found)) = prover.prove(machine, &budget) else { return None };
        accepted(&found, machine, &self.oracle).is_ok().then_some(*found)
    }
}

/// Trains or constructs a machine; `None` if it is not proved.
fn subject(language: &str, reservoir: &ReservoirParams, view: View, heads: Heads) -> Option<Subject> {
    let oracle = oracle(language);
    let actions = if heads == Heads::Joint { ActionReadout::Joint } else { ActionReadout::Separate };
    let svm = Svm { cost: 1e4, gamma: 0.3, ..Svm::default() };
    let params = Params { reservoir: reservoir.clone(), view, mode: Mode::Strict, actions, svm, ..Params::default() };
    let params = params.check().unwrap();
    let machine = if heads == Heads::Lists {
        construct(&oracle, &params, &Budget::new(100_000)).ok()?.0
    } else {
        let words: Arc<dyn Language> = match language.parse::<Task>() {
            Ok(task) => task.language().unwrap(),
            Err(_) => Arc::new(Walks::new(language, oracle.clone())),
        };
        let study = Study { words: 40, lengths: 1..=20, rounds: 6, ..Study::default() };
        study.prove(&*words, &params, &Budget::new(100_000), &mut |_| {}).ok()?.0
    };
    let kind = match reservoir {
        ReservoirParams::Random(_) => "random",
        ReservoirParams::Cycle(_) => "cycle",
        ReservoirParams::Legendre(_) => "legendre",
        ReservoirParams::Given(_) => "given",
    };
    Subject::new(format!("{language} {kind} {view:?} {heads:?}"), oracle, &machine)
}

/// Constructs a machine from an automaton and proves it right; `None` if that fails.
pub(crate) fn constructed(name: &str, oracle: &Oracle, view: View) -> Option<Subject> {
    let signs = Signs::Seed(3);
    let cycle = Cycle { neurons: 32, cycle: 0.2, jump: 0.1, jump_length: 4, signs, ..Cycle::default() };
    let params = Params { reservoir: ReservoirParams::Cycle(cycle), view, mode: Mode::Strict, ..Params::default() };
    let (machine, _) = construct(oracle, &params.check().unwrap(), &Budget::new(100_000)).ok()?;
    Subject::new(name.to_string(), oracle.clone(), &machine)
}

/// Returns all subjects: four languages, three kinds of reservoir (one of them also with bias and leak), both views,
/// and all kinds of readouts, as far as such small machines are proved.
pub(crate) fn subjects() -> Vec<Subject> {
    let mut wanted = Vec::new();
    for language in ["aplus", "anbn", "dyck1", "latch"] {
        for kind in 0..4 {
            for view in [View::Symbol, View::Reservoir] {
                for heads in [Heads::Separate, Heads::Joint, Heads::Lists] {
                    wanted.push((language, kind, view, heads));
                }
            }
        }
    }
    let make = |(language, kind, view, heads)| {
        let neurons = if heads == Heads::Lists { 32 } else { 16 };
        let small = |signs| Cycle { neurons, cycle: 0.2, jump: 0.1, jump_length: 4, signs, ..Cycle::default() };
        let reservoir = match kind {
            0 => ReservoirParams::Random(Random { neurons, radius: 0.2, density: 0.1, seed: 1, ..Random::default() }),
            1 => ReservoirParams::Cycle(small(Signs::Seed(3))),
            // With a bias and a leak.
            2 => ReservoirParams::Cycle(Cycle { bias: 0.1, leak: 0.9, ..small(Signs::Seed(4)) }),
            _ => ReservoirParams::Legendre(Legendre { neurons: 2 * neurons, theta: 3. }),
        };
        subject(language, &reservoir, view, heads)
    };
    wanted.into_par_iter().filter_map(make).collect()
}
