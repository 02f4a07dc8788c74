//! The search for a proof that a machine with two stacks decides as its teacher.

use std::fmt;

use super::certificate::{Decisions, PROVED, TwoStackCertificate, machine_digest, place, teacher_digest};
use super::check::check;
use super::cover::{Cell, MAX_DEPTH};
use super::fit::TwoStackExercise;
use super::machine::{Needed, TwoStackMachine, TwoStackReadout};
use super::rules::{Decided, TwoStackRules, Which, next_of};
use super::shape::Shape;
use super::text::Teacher;
use crate::certify::ARITHMETIC;
use crate::certify::CertifyError;
use crate::certify::bound::Scratch;
use crate::control::{Control, Poll, Stage};
use crate::suffix::StackSuffix;

/// The number of exercises after which a search ends, because the machine has to be trained again anyway.
const ENOUGH: usize = 400;

/// A cell in which a machine is not proved to decide as its teacher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoStackOpenCell {
    /// The topmost symbols of both stacks, and what is next.
    pub place: String,
    /// The rule of the teacher that decides there.
    pub rule: String,
    /// Whether the machine decides otherwise on an example. If not, it is only uncertain.
    pub wrong: bool,
}

impl fmt::Display for TwoStackOpenCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.wrong { "the machine decides otherwise" } else { "the decision is not certain" };
        write!(f, "{what} on the stacks {}, against {}", self.place, self.rule)
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub enum TwoStackProof {
    /// The machine simulates the teacher.
    Proved(Box<TwoStackCertificate>),
    /// Some cells are open.
    Open {
        /// The cells, or the first of them.
        cells: Vec<TwoStackOpenCell>,
        /// Decisions to train the machine on.
        exercises: Vec<TwoStackExercise>,
    },
}

/// Tries to prove that a machine simulates its teacher. A certificate is returned only after [`check`] has accepted it.
///
/// # Errors
/// If the two cannot be compared, the machine cannot be bounded, or the control asks to stop.
pub fn prove(
    machine: &TwoStackMachine,
    teacher: &Teacher,
    control: &dyn Control,
) -> Result<TwoStackProof, CertifyError> {
    let mut poll = Poll::new(control);
    let shape = Shape::new(teacher.rules(), &mut poll)?;
    prove_within(machine, teacher, &shape, control)
}

/// Does the same, given the shape of the configurations of the rules.
pub(super) fn prove_within(
    machine: &TwoStackMachine,
    teacher: &Teacher,
    shape: &Shape,
    control: &dyn Control,
) -> Result<TwoStackProof, CertifyError> {
    if machine.alphabet() != teacher.rules().alphabet() || machine.outputs() != teacher.rules().outputs() {
        return Err(CertifyError::Alphabet);
    }
    let mut poll = Poll::new(control);
    let mut search = Search {
        machine,
        rules: teacher.rules(),
        shape,
        decisions: Decisions::new(machine, &mut poll)?,
        scratch: Scratch::default(),
        open: Vec::new(),
        exercises: Vec::new(),
    };
    let nexts = machine.alphabet().terminals().len() + 1;
    let mut cells = Vec::new();
    for next in 0..nexts {
        poll.progress(Stage::Prove, next, nexts);
        cells.push(search.tree(next, &mut poll)?);
    }
    let Search { open, exercises, .. } = search;
    if !open.is_empty() {
        return Ok(TwoStackProof::Open { cells: open, exercises });
    }
    let certificate = TwoStackCertificate {
        teacher: teacher_digest(teacher.source()),
        machine: machine_digest(&machine.without_manifest().to_bytes()?, &mut poll)?,
        arithmetic: ARITHMETIC,
        shape: shape.clone(),
        cells,
    };
    check(&certificate, machine, teacher, control)?;
    Ok(TwoStackProof::Proved(Box::new(certificate)))
}

struct Search<'a> {
    machine: &'a TwoStackMachine,
    rules: &'a TwoStackRules,
    shape: &'a Shape,
    decisions: Decisions,
    scratch: Scratch,
    open: Vec<TwoStackOpenCell>,
    exercises: Vec<TwoStackExercise>,
}

/// The outcome of looking at a cell.
enum Fate {
    Proved,
    Split(Which),
    Open,
}

impl Search<'_> {
    /// Proves all cells before a lookahead, and returns their tree.
    fn tree(&mut self, next: usize, poll: &mut Poll<'_>) -> Result<String, CertifyError> {
        let mut tree = String::new();
        let mut waiting = vec![Cell::all(self.shape, next as u32)];
        while let Some(cell) = waiting.pop() {
            poll.now()?;
            match self.fate(&cell, next) {
                Fate::Proved => tree.push(PROVED),
                Fate::Split(which) => {
                    tree.push(if which == Which::First { '1' } else { '2' });
                    waiting.extend(cell.split(self.shape, which).into_iter().rev());
                }
                Fate::Open if self.exercises.len() >= ENOUGH => break,
                Fate::Open => {}
            }
        }
        Ok(tree)
    }

    fn fate(&mut self, cell: &Cell, next: usize) -> Fate {
        let suffixes = cell.suffixes();
        // Nothing is certain on all stacks, so the tops are told apart first.
        if let Some(which) = Which::BOTH.into_iter().find(|which| *suffixes[which.index()] == StackSuffix::ANY) {
            // Before most tokens, however, all configurations have the same decision.
            let constant = TwoStackReadout::ALL
                .iter()
                .all(|readout| matches!(self.machine.readouts[next].head(*readout), crate::readout::Head::Constant(_)));
            if !constant {
                return Fate::Split(which);
            }
        }
        let Some(lookahead) = next_of(next, self.rules.alphabet()) else { return Fate::Open };
        let rule = match self.rules.decided(suffixes, lookahead) {
            Decided::By(rule) => rule,
            Decided::Open(which) => return Fate::Split(which),
        };
        let decision = self.rules.decision(rule);
        let seen = self.decisions.see(suffixes);
        self.scratch.forget();
        let mut certain = true;
        for readout in TwoStackReadout::ALL {
            certain = match self.machine.readouts[next].class(readout, decision) {
                Needed::Nothing => true,
                Needed::Missing => false,
                Needed::Class(class) => {
                    let head = Decisions::number(next, readout);
                    self.decisions.bounds.margin(head, class, &seen[0], &seen[1], &mut self.scratch).least > 0.
                }
            };
            if !certain {
                break;
            }
        }
        if certain {
            return Fate::Proved;
        }
        // An example is the suffix as a whole stack.
        let wrong = self.machine.decide(suffixes.map(StackSuffix::symbols), lookahead) != *decision;
        let can_split = |which: &Which| {
            let suffix = suffixes[which.index()];
            !suffix.is_whole() && suffix.depth() < MAX_DEPTH
        };
        let order = if seen[0].size() > seen[1].size() { Which::BOTH } else { [Which::Second, Which::First] };
        if !wrong && let Some(which) = order.into_iter().find(can_split) {
            return Fate::Split(which);
        }
        self.exercises.push(TwoStackExercise {
            stacks: suffixes.map(|suffix| suffix.symbols().to_vec()),
            next: lookahead,
            decision: decision.clone(),
        });
        let rule = self.rules.name(rule).to_string();
        self.open.push(TwoStackOpenCell { place: place(suffixes, next, self.rules.alphabet()), rule, wrong });
        Fate::Open
    }
}
