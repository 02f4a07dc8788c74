//! The checker of certificates, which searches for nothing and trusts nothing in a certificate.
//!
//! It takes the shape of the configurations and the tree of cells from the certificate. It verifies that the shape contains
//! the start and that no rule leads out of it; that the cells cover the shape, because a cell is only split into all
//! parts in which the shape has a configuration; and that the machine certainly takes the teacher's decision in each
//! cell. So, by induction on the number of decisions, the machine has the configurations that the rules lead to.

use super::certificate::{Decisions, PROVED, TwoStackCertificate, machine_digest, place, teacher_digest};
use super::cover::{Cell, MAX_DEPTH};
use super::machine::{Needed, TwoStackMachine, TwoStackReadout};
use super::rules::{Decided, Which, display, next_of};
use super::text::Teacher;
use crate::certify::bound::Scratch;
use crate::certify::{ARITHMETIC, CertifyError, refuse};
use crate::control::{Control, Poll, Stage};

/// Verifies that a certificate proves that the machine simulates the teacher on every input, for every number of steps. The
/// machine is first read back from the bytes of its file.
///
/// # Errors
/// [`CertifyError::Refused`] if the certificate does not prove this, with the rule or the entry where it fails;
/// [`CertifyError::Cancelled`] if the control asks to stop; the other errors if the machine cannot be bounded.
pub fn check(
    certificate: &TwoStackCertificate,
    machine: &TwoStackMachine,
    teacher: &Teacher,
    control: &dyn Control,
) -> Result<(), CertifyError> {
    let mut poll = Poll::new(control);
    let rules = teacher.rules();
    if certificate.arithmetic != ARITHMETIC {
        return refuse("it is for another arithmetic");
    }
    let bytes = machine.without_manifest().to_bytes()?;
    if certificate.machine != machine_digest(&bytes, &mut poll)? {
        return refuse("it is for another machine");
    }
    // The machine in the file is checked, however the one in memory was made.
    let machine = &TwoStackMachine::from_bytes(&bytes)?;
    if certificate.teacher != teacher_digest(teacher.source()) {
        return refuse("it is for another Turing machine, or for other rules");
    }
    let alphabet = rules.alphabet();
    if machine.alphabet() != alphabet || machine.outputs() != rules.outputs() {
        return Err(CertifyError::Alphabet);
    }
    let shape = &certificate.shape;
    let most = u32::try_from(alphabet.len()).map_or(u32::MAX, |count| count);
    let nexts = alphabet.terminals().len() + 1;
    let known = shape.pairs.iter().flatten().all(|&(above, below)| below <= most && (1..=most).contains(&above))
        && shape.tops.iter().all(|&(next, first, second)| (next as usize) < nexts && first <= most && second <= most);
    if !known {
        return refuse("its shape names a symbol that does not exist");
    }
    if let Some(missing) = shape.check(rules, &mut poll)? {
        return refuse(format!("its shape is not closed: {missing}"));
    }
    if certificate.cells.len() != nexts {
        return refuse("it does not have one tree of cells for each token and the end");
    }
    let mut checker =
        Checker { machine, teacher, decisions: Decisions::new(machine, &mut poll)?, scratch: Scratch::default() };
    for (next, tree) in certificate.cells.iter().enumerate() {
        poll.progress(Stage::Check, next, nexts);
        checker.tree(certificate, next, tree, &mut poll)?;
    }
    Ok(())
}

struct Checker<'a> {
    machine: &'a TwoStackMachine,
    teacher: &'a Teacher,
    decisions: Decisions,
    scratch: Scratch,
}

impl Checker<'_> {
    /// Verifies the cells before one lookahead. The letters of the tree must be exactly as many as it has cells.
    fn tree(
        &mut self,
        certificate: &TwoStackCertificate,
        next: usize,
        tree: &str,
        poll: &mut Poll<'_>,
    ) -> Result<(), CertifyError> {
        let mut waiting = vec![Cell::all(&certificate.shape, next as u32)];
        let mut letters = tree.chars();
        while let Some(cell) = waiting.pop() {
            poll.now()?;
            let which = match letters.next() {
                Some(PROVED) => {
                    self.cell(&cell, next)?;
                    continue;
                }
                Some('1') => Which::First,
                Some('2') => Which::Second,
                _ => return refuse("a tree of its cells is damaged"),
            };
            // Whole stacks have no parts, so splitting them would cover nothing.
            if cell.is_whole(which) {
                return refuse("it splits a cell by what lies beneath the bottom of a stack");
            }
            if cell.depth(which) == MAX_DEPTH {
                return refuse(format!("it tells cells apart by more than {MAX_DEPTH} symbols of a stack"));
            }
            waiting.extend(cell.split(&certificate.shape, which).into_iter().rev());
        }
        if letters.next().is_some() { refuse("a tree of its cells is damaged") } else { Ok(()) }
    }

    /// Verifies that the machine certainly decides as the teacher in a cell.
    fn cell(&mut self, cell: &Cell, next: usize) -> Result<(), CertifyError> {
        let (rules, suffixes) = (self.teacher.rules(), cell.suffixes());
        let alphabet = rules.alphabet();
        let Some(lookahead) = next_of(next, alphabet) else { return refuse("it names a token that does not exist") };
        let Decided::By(rule) = rules.decided(suffixes, lookahead) else {
            return refuse(format!("different rules decide in the cell {}", place(suffixes, next, alphabet)));
        };
        let decision = rules.decision(rule);
        let seen = self.decisions.see(suffixes);
        self.scratch.forget();
        for readout in TwoStackReadout::ALL {
            let certain = match self.machine.readouts[next].class(readout, decision) {
                Needed::Nothing => true,
                Needed::Missing => false,
                Needed::Class(class) => {
                    let head = Decisions::number(next, readout);
                    self.decisions.bounds.margin(head, class, &seen[0], &seen[1], &mut self.scratch).least > 0.
                }
            };
            if !certain {
                return refuse(format!(
                    "{} of the machine is not certain to follow {}, which says `{}`, on the stacks {}",
                    readout.name(),
                    rules.name(rule),
                    display(decision, alphabet),
                    place(suffixes, next, alphabet)
                ));
            }
        }
        Ok(())
    }
}
