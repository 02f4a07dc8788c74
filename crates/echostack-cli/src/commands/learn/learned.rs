//! The result of `echostack learn`, and what is known about it: whether it is proved, tested, or neither.

use anyhow::Result;
use echostack::automaton::AutomatonError;
use echostack::certify::{CertifyError, Proof};
use echostack::extract::{ExtractError, Extraction};
use echostack::study::{ProofRound, Round};
use echostack::teach::{Departure, departures};
use echostack::{Certificate, Limits, Machine, Trace};
use echostack_grammar::Test;
use serde_json::{Value, json};

use crate::outcome::Outcome;
use crate::output::{count, note};

/// The result of training.
pub(super) struct Learned {
    pub(super) machine: Machine,
    /// The number of training words, which is not known if the machine learned from contexts.
    pub(super) words: Option<usize>,
    pub(super) assurance: Assurance,
}

/// The reasons to believe that a machine is correct.
#[derive(Default)]
pub(super) struct Assurance {
    /// The result of the search for a proof, if there was one.
    pub(super) proof: Option<Proof>,
    /// The rules that a machine learned from traces, if they were to be proved.
    pub(super) rules: Option<Rules>,
    /// The rounds of the search for a proof.
    pub(super) searched: Vec<ProofRound>,
    /// The rounds that ended with a test.
    pub(super) rounds: Vec<Round>,
    /// The last test.
    pub(super) test: Option<Test>,
    /// What the library says about a machine that learned a language.
    pub(super) message: String,
}

impl Assurance {
    pub(super) fn certificate(&self) -> Option<&Certificate> {
        match (&self.proof, &self.rules) {
            (Some(Proof::Proved(certificate)), _) => Some(certificate),
            (_, Some(rules)) => rules.certificate(),
            _ => None,
        }
    }

    /// Adds the fields of the JSON summary.
    pub(super) fn add_to(&self, value: &mut Value) {
        let test = |round: &Round| {
            let Round { traces, rows, tested, wrong } = round;
            json!({"traces": traces, "rows": rows, "tested": tested, "wrong": wrong})
        };
        let search = |round: &ProofRound| {
            let ProofRound { exercises, rows, open, examined, cost } = round;
            json!({"exercises": exercises, "rows": rows, "open": open, "cells": examined, "cost": cost})
        };
        value["rounds"] = self.searched.iter().map(search).chain(self.rounds.iter().map(test)).collect();
        if let Some(Test { words, wrong }) = self.test {
            value["tested"] = words.into();
            value["wrong"] = wrong.into();
        }
        if self.proof.is_some() || self.rules.is_some() {
            let certificate = self.certificate();
            value["proved"] = certificate.is_some().into();
            value["cells"] = certificate.map(|certificate| certificate.size().cells).into();
        }
        if let Some(Proof::Open { cells, .. }) = &self.proof {
            value["open"] = cells.len().into();
        }
        if let Some(rules) = &self.rules {
            rules.add_to(value);
        }
    }

    /// Tells what is known, and returns the outcome of the command. What went wrong is told even if the rest is not.
    pub(super) fn tell(&self, must_prove: bool, quiet: bool) -> Outcome {
        if let Some(rules) = &self.rules {
            return rules.tell(quiet);
        }
        let passed = self.test.map(|test| test.wrong == 0);
        let good = match &self.proof {
            Some(Proof::Proved(_)) => true,
            Some(Proof::Open { .. }) => passed.unwrap_or(!must_prove),
            None if passed != Some(false) => return Outcome::Accepted,
            None => false,
        };
        if !good {
            note(format_args!("echostack: {}; try more --rounds or --neurons", self.message));
            return Outcome::Rejected;
        }
        if !quiet {
            note(&self.message);
        }
        Outcome::Accepted
    }
}

/// What is proved about a machine that learned from traces: it follows rules, and these agree with the traces.
pub(super) struct Rules {
    /// The rules, or the reason why there are none.
    found: Result<Extraction, ExtractError>,
    traces: usize,
    /// The number of traces that the rules depart from, and the first of them with its source.
    departing: usize,
    first: Option<(String, Departure)>,
}

impl Rules {
    pub(super) fn new(found: Result<Extraction, ExtractError>, traces: &[Trace]) -> Result<Self> {
        if let Err(
            error @ (ExtractError::Certify(CertifyError::Cancelled)
            | ExtractError::Automaton(AutomatonError::Cancelled)),
        ) = found
        {
            return Err(error.into());
        }
        let mut rules = Self { found, traces: traces.len(), departing: 0, first: None };
        if let Ok(found) = &rules.found {
            let departing = departures(&found.oracle, traces, Limits::default());
            rules.departing = departing.len();
            rules.first = departing.into_iter().next().map(|first| (traces[first.trace].source().to_string(), first));
        }
        Ok(rules)
    }

    /// Returns the certificate, if everything is proved.
    fn certificate(&self) -> Option<&Certificate> {
        self.found.as_ref().ok().filter(|_| self.departing == 0).map(|found| &found.certificate)
    }

    fn add_to(&self, value: &mut Value) {
        let rules = self.found.as_ref().map(|found| found.oracle.automaton().rules().len());
        value["rules"] = json!(rules.ok());
        value["agreeing"] = json!(rules.ok().map(|_| self.traces - self.departing));
    }

    fn tell(&self, quiet: bool) -> Outcome {
        let found = match &self.found {
            Ok(found) => found,
            Err(error) => {
                note(format_args!("echostack: not proved: {error}; more traces may settle it"));
                return Outcome::Rejected;
            }
        };
        let rules = count(found.oracle.automaton().rules().len(), "rule");
        let follows = format!("the machine follows {rules} on every word, of any length");
        if let Some((source, first)) = &self.first {
            note(format_args!(
                "echostack: not proved: {follows}, but they depart from {} of {}, first in step {} of {source}",
                self.departing,
                count(self.traces, "trace"),
                first.step
            ));
            return Outcome::Rejected;
        }
        if !quiet {
            let (cells, traces) = (count(found.certificate.size().cells, "cell"), count(self.traces, "trace"));
            note(format_args!("proved with {cells}: {follows}; the rules agree with every step of the {traces}"));
        }
        Outcome::Accepted
    }
}
