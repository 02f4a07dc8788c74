//! The checker, which verifies a certificate without any search and trusts nothing in it.
//!
//! The checker takes only claims from the certificate, and verifies each of them: a list of configurations that is
//! closed under the automaton's moves, completions that show that each of them can become a word, and, for each cell,
//! the decisions that are certain there. It computes labels, sets and bounds itself.

use std::collections::HashMap;

use super::bound::{Bounds, Sighting};
use super::cells::{Cells, Obligation, Task};
use super::certificate::{ARITHMETIC, Cell, Certificate, MachineProof, Named};
use super::closed::closed;
use super::digest::{automaton_digest, digest};
use super::error::{CertifyError, refuse};
use super::provable::comparable;
use super::scale::WellScaled;
use super::walk::{StackWalk, Worker, side_by_side};
use crate::automaton::Oracle;
use crate::automaton::complete::{justified, stuck};
use crate::automaton::reach::{Phase, Strict, System};
use crate::automaton::summarize::summaries;
use crate::control::{Control, Poll, Stage};
use crate::machine::{Machine, Readout};
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::Alphabet;
use crate::teach::Answer;

/// A proved decision: in all configurations of a cell, the machine gives this answer, which is the right one.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvedCell {
    /// The readout.
    pub readout: Readout,
    /// The input suffix of the cell.
    pub input: InputSuffix,
    /// The stack suffix of the cell.
    pub stack: StackSuffix,
    /// The answer.
    pub answer: Answer,
    /// A lower bound on how far the answer is ahead of any other.
    pub margin: f64,
}

/// Verifies that a certificate proves that the machine agrees with the strict automaton on every word. The machine is
/// first read back from the bytes of its file, and must have one of the library's own reservoirs.
///
/// # Errors
/// [`CertifyError::Refused`] if the certificate does not prove this; [`CertifyError::Cancelled`] if the control asks to
/// stop; the other errors if the machine and the automaton cannot be compared.
pub fn check(
    certificate: &Certificate,
    machine: &Machine,
    oracle: &Oracle,
    control: &dyn Control,
) -> Result<(), CertifyError> {
    check_each(certificate, machine, oracle, control, &mut |_| {})
}

/// Verifies a certificate as [`check`] does, and reports each verified cell. If the certificate is refused in the end,
/// the cells reported before that prove nothing.
///
/// # Errors
/// The errors of [`check`].
pub fn check_each(
    certificate: &Certificate,
    machine: &Machine,
    oracle: &Oracle,
    control: &dyn Control,
    report: &mut dyn FnMut(ProvedCell),
) -> Result<(), CertifyError> {
    let automaton = oracle.automaton();
    comparable(machine, automaton)?;
    let Some(proof) = &certificate.machine else { return refuse("it says nothing about a machine") };
    if certificate.table.is_some() {
        return refuse("it is also about a table, which is not checked together with a machine");
    }
    let mut poll = Poll::new(control);
    poll.progress(Stage::Check, 0, proof.cells.len());
    if proof.arithmetic != ARITHMETIC {
        return refuse("it is for another arithmetic");
    }
    let bytes = machine.without_manifest().to_bytes()?;
    if proof.digest != digest(&bytes, &mut poll)? {
        return refuse("it is for another machine");
    }
    // The machine in the file is checked, however the one in memory was made.
    let machine = &Machine::from_bytes(&bytes)?;
    if certificate.automaton != automaton_digest(automaton) {
        return refuse("it is for another automaton");
    }
    let mut strict = Strict::new(oracle, proof.memory)?;
    for (number, &(on, symbol)) in proof.elements.iter().enumerate() {
        poll.step()?;
        // Each element must be new, and pushed on one that is already known.
        let known = on.index() <= number && automaton.alphabet().contains(symbol);
        if !known || strict.push(on, symbol).index() != number + 1 {
            return refuse("its list of elements is damaged");
        }
    }
    let completions = proof.completions.iter().flatten();
    let phases = proof.reach.places.iter().map(|place| place.0);
    let phases = phases.chain(proof.reach.tops.iter().map(|top| top.phase));
    let mut phases = phases.chain(completions.flat_map(|&(phase, _, outcome)| [Some(phase), outcome]).flatten());
    if !phases.all(|phase| known(phase, automaton.alphabet())) {
        return refuse("it names a symbol that the automaton does not have");
    }
    closed(&proof.reach, &mut strict, proof.elements.len(), &mut poll)?;
    completable(proof, &mut strict, &mut poll)?;
    let bounds = Bounds::new(&WellScaled::new(machine)?, &mut poll)?;
    let readouts: Vec<Readout> = bounds.heads().iter().map(|(readout, _)| *readout).collect();
    let terminals = machine.alphabet().terminals().len();
    let (cells, root) = Cells::new(&strict, &proof.reach, &readouts, terminals, &mut poll)?;
    let walk = Walk { machine, strict: &strict, cells, bounds, readouts };
    walk.run(root, &proof.cells, control, report)
}

/// Returns whether all symbols of a phase belong to the alphabet.
fn known(phase: Phase, alphabet: &Alphabet) -> bool {
    let (sight, push) = match phase {
        Phase::Next(_) => return true,
        Phase::Reduce(sight) | Phase::Settled(sight) => (sight, None),
        Phase::Pop(sight, _, push) => (sight, Some(push)),
    };
    sight.next.token().is_none_or(|token| alphabet.is_terminal(token))
        && push.is_none_or(|push| alphabet.contains(push))
}

/// Verifies that every configuration in which a token is to be read can be continued to a word that is accepted.
fn completable(proof: &MachineProof, strict: &mut Strict<'_>, poll: &mut Poll<'_>) -> Result<(), CertifyError> {
    let found; // for a certificate of format version 1, which has no completions
    let list = if let Some(list) = &proof.completions {
        list
    } else {
        found = summaries(strict, &proof.reach, poll)?;
        &found
    };
    let elements = proof.elements.len();
    if !list.iter().all(|&(_, element, _)| element.index() <= elements) || !justified(list, strict, poll)? {
        return refuse("a completion does not follow from those before it");
    }
    match stuck(list, &proof.reach, poll, &mut |_| {})? {
        None => Ok(()),
        Some(_) => refuse("a stack is not shown to be the beginning of a word"),
    }
}

/// The walk over all stack suffixes of a certificate.
struct Walk<'c, 'a> {
    machine: &'c Machine,
    strict: &'c Strict<'a>,
    cells: Cells,
    bounds: Bounds,
    readouts: Vec<Readout>,
}

impl Walk<'_, '_> {
    /// Visits all stack suffixes in the order of their length. Each must be the next one in the certificate.
    fn run(
        &self,
        root: Vec<Obligation>,
        cells: &[Cell],
        control: &dyn Control,
        report: &mut dyn FnMut(ProvedCell),
    ) -> Result<(), CertifyError> {
        let (mut cells, total) = (cells.iter(), cells.len());
        let mut walk = StackWalk::new(root);
        let mut workers = Worker::all(control);
        loop {
            let done = total - cells.len();
            let tasks: Vec<_> = walk.next_for(workers.len()).into_iter().map(|task| (task, cells.next())).collect();
            if tasks.is_empty() {
                break;
            }
            workers.iter_mut().for_each(|worker| worker.poll.progress(Stage::Check, done, total));
            for verified in side_by_side(&mut workers, tasks, |worker, (task, cell)| self.verify(task, cell, worker)) {
                let (proved, left) = verified?;
                proved.into_iter().for_each(&mut *report);
                walk.go_on(left);
            }
        }
        if cells.next().is_some() { refuse("it has cells that are not needed") } else { Ok(()) }
    }

    /// Verifies the claims about one stack suffix. Returns what is proved on it, and the obligations that it leaves to
    /// longer suffixes.
    fn verify(
        &self,
        (stack, obligations): Task,
        cell: Option<&Cell>,
        worker: &mut Worker<'_>,
    ) -> Result<(Vec<ProvedCell>, Vec<Task>), CertifyError> {
        let Some(cell) = cell.filter(|cell| cell.stack == stack) else { return refuse("a cell is missing") };
        let (proved, left) = self.cell(cell, obligations, worker)?;
        if stack.is_whole() && !left.is_empty() {
            return refuse("a cell is left open");
        }
        Ok((proved, self.cells.split_stack(&stack, &left, &mut worker.poll)?))
    }

    /// Verifies the claims of a cell. Returns what is proved in it, and the obligations that are not.
    fn cell(
        &self,
        cell: &Cell,
        obligations: Vec<Obligation>,
        worker: &mut Worker<'_>,
    ) -> Result<(Vec<ProvedCell>, Vec<Obligation>), CertifyError> {
        let named = |one: Obligation| ((one.head, one.input.clone()), one);
        let mut left: HashMap<Named, Obligation> = obligations.into_iter().map(named).collect();
        let take = |left: &mut HashMap<Named, Obligation>, name: &Named| match left.remove(name) {
            Some(obligation) => Ok(obligation),
            None => refuse("it proves what is not asked"),
        };
        for name in &cell.split {
            let obligation = take(&mut left, name)?;
            if obligation.input.is_whole() {
                return refuse("it splits an input that is already whole");
            }
            worker.poll.steps(obligation.items.len())?;
            for part in self.cells.split_input(self.strict, &obligation) {
                let (name, part) = named(part);
                if left.insert(name, part).is_some() {
                    return refuse("it splits a decision into one that exists already");
                }
            }
        }
        let mut proved = Vec::new();
        if !cell.proved.is_empty() {
            let stack = self.bounds.stack(&cell.stack);
            worker.scratch.forget();
            for name in &cell.proved {
                let obligation = take(&mut left, name)?;
                proved.push(self.certain(cell, obligation, &stack, worker)?);
            }
        }
        Ok((proved, left.into_values().collect()))
    }

    /// Verifies that the right answer is the same in the whole cell, and that the machine gives it there.
    fn certain(
        &self,
        cell: &Cell,
        obligation: Obligation,
        stack: &Sighting,
        worker: &mut Worker<'_>,
    ) -> Result<ProvedCell, CertifyError> {
        worker.poll.now()?;
        let Some(answer) = obligation.answer() else { return refuse("a cell has two right answers") };
        let readout = self.readouts[obligation.head];
        let Some(class) = self.machine.class(readout, answer) else {
            return refuse("the machine does not know an answer");
        };
        let input = worker.inputs.see(&self.bounds, &obligation.input);
        worker.scratch.turn_to(&obligation.input);
        let margin = self.bounds.margin(obligation.head, class, input, stack, &mut worker.scratch);
        if margin.least.is_nan() || margin.least <= 0. {
            return refuse("a decision is not certain where it should be");
        }
        Ok(ProvedCell { readout, input: obligation.input, stack: cell.stack.clone(), answer, margin: margin.least })
    }
}
