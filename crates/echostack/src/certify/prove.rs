//! The search for a proof, which splits cells until the machine's decision in each is certain, or found to be wrong.

use std::fmt;

use super::bound::{Bounds, Scratch, Sighting};
use super::cells::{Cells, InputSightings, Obligation, StackWalk};
use super::certificate::{ARITHMETIC, Cell, Certificate};
use super::check::check;
use super::digest::{automaton_digest, digest, machine_bytes};
use super::error::CertifyError;
use super::example::{Examples, MAX_SUFFIX};
use super::provable::comparable;
use super::scale::WellScaled;
use crate::automaton::complete::Completion;
use crate::automaton::reach::{Reach, Strict, Witness};
use crate::automaton::summarize::complete;
use crate::automaton::{AutomatonError, Oracle};
use crate::control::{Control, Poll, Stage};
use crate::machine::{Machine, Practice, Readout};
use crate::recognize::View;
use crate::suffix::{InputSuffix, StackSuffix};
use crate::teach::Exercise;

/// If the margin at the center of a cell is below this value, and so is the margin at a configuration that occurs in
/// the cell, that configuration becomes an exercise.
const NEAR_MARGIN: f64 = 0.3;
/// A decision with a margin nearer to 0 than this counts as wrong: the bounds lose as much to rounding, so no cell that
/// contains it can be proved, however small.
const NO_MARGIN: f64 = 1e-9;
/// The least number of exercises of one readout at which a search ends: enough to learn from.
const MIN_EXERCISES: usize = 400;
/// A search also needs one exercise for each group of this many tops of reachable stacks before it ends.
const TOPS_PER_EXERCISE: usize = 25;
/// The maximum number of cells that are examined.
const MAX_EXAMINED_CELLS: usize = 1_000_000;
/// The number of tokens before the next one by which reachable configurations are distinguished, if the machine sees
/// them.
const REMEMBERED_TOKENS: u32 = 2;

/// A cell in which the machine is not proved right.
#[derive(Clone, Debug)]
pub struct OpenCell {
    /// The readout.
    pub readout: Readout,
    /// The input suffix of the cell.
    pub input: InputSuffix,
    /// The stack suffix of the cell.
    pub stack: StackSuffix,
    /// The lower bound on the margin of the right answer, which is 0 or less. It is minus infinity if the machine does
    /// not know the answer at all.
    pub margin: f64,
    /// The margin at the center of the cell. If it is below 0, the machine is wrong there.
    pub middle: f64,
}

/// The result of a search for a proof.
#[derive(Debug)]
pub enum Proof {
    /// The machine is right on every word.
    Proved(Box<Certificate>),
    /// The machine is wrong on some word, or no proof was found.
    Open {
        /// The cells that are not proved.
        cells: Vec<OpenCell>,
        /// Decisions that the machine should be trained on.
        exercises: Vec<Exercise>,
        /// The number of cells that were examined.
        examined: usize,
    },
}

/// A strict automaton with its reachable configurations, against which machines are proved.
pub struct Prover<'a> {
    oracle: &'a Oracle,
    strict: Strict<'a>,
    memory: u32,
    reach: Reach,
    witness: Witness,
    completions: Vec<Completion>,
}

impl fmt::Debug for Prover<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prover").field("oracle", self.oracle).finish_non_exhaustive()
    }
}

impl<'a> Prover<'a> {
    /// Computes the reachable configurations of a strict automaton, for machines with this view of their input.
    ///
    /// # Errors
    /// [`AutomatonError::TooLarge`] if there are too many, [`AutomatonError::DeadEnd`] if a stack cannot become a word
    /// although the automaton continues with it, [`AutomatonError::Cancelled`] if the control asks to stop.
    pub fn new(oracle: &'a Oracle, view: View, control: &dyn Control) -> Result<Self, AutomatonError> {
        let memory = match view {
            View::Symbol => 0,
            View::Reservoir => REMEMBERED_TOKENS,
        };
        let mut strict = Strict::new(oracle, memory)?;
        let (reach, witness) = Reach::new(&mut strict, control)?;
        let completions = complete(&mut strict, (&reach, &witness), &mut Poll::new(control))?;
        Ok(Self { oracle, strict, memory, reach, witness, completions })
    }

    pub(super) fn oracle(&self) -> &Oracle {
        self.oracle
    }

    pub(super) fn strict(&self) -> &Strict<'a> {
        &self.strict
    }

    pub(super) fn reach(&self) -> &Reach {
        &self.reach
    }

    pub(super) fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Tries to prove that the machine agrees with the automaton on every word. A certificate that the search finds is
    /// returned only after [`check`] has accepted it.
    ///
    /// # Errors
    /// If the two cannot be compared, [`check`] refuses the certificate, or the control asks to stop.
    pub fn prove(&self, machine: &Machine, control: &dyn Control) -> Result<Proof, CertifyError> {
        let automaton = self.oracle.automaton();
        comparable(machine, automaton)?;
        let mut poll = Poll::new(control);
        poll.progress(Stage::Prove, 0, 1);
        let bounds = Bounds::new(&WellScaled::new(machine)?, &mut poll)?;
        let readouts: Vec<Readout> = bounds.heads().iter().map(|(readout, _)| *readout).collect();
        let terminals = machine.alphabet().terminals().len();
        let (cells, root) = Cells::new(&self.strict, &self.reach, &readouts, terminals, &mut poll)?;
        let mut search = Search {
            machine,
            practice: Practice::new(machine),
            strict: &self.strict,
            examples: Examples::new(&cells),
            cells,
            bounds,
            inputs: InputSightings::default(),
            open: Vec::new(),
            exercises: vec![Vec::new(); readouts.len()],
            readouts,
            enough: MIN_EXERCISES.max(self.reach.tops.len() / TOPS_PER_EXERCISE),
            examined: 0,
            poll,
        };
        let done = search.run(root)?;
        if !search.open.is_empty() {
            let Search { open, exercises, examined, .. } = search;
            return Ok(Proof::Open { cells: open, exercises: exercises.concat(), examined });
        }
        let elements = self.strict.elements().filter_map(|(on, symbol)| Some((on, symbol?))).collect();
        let certificate = Certificate {
            arithmetic: ARITHMETIC,
            machine: digest(&machine_bytes(machine)?, &mut Poll::new(control))?,
            automaton: automaton_digest(automaton),
            memory: self.memory,
            elements,
            reach: self.reach.clone(),
            completions: Some(self.completions.clone()),
            cells: done,
        };
        check(&certificate, machine, self.oracle, control)?;
        Ok(Proof::Proved(Box::new(certificate)))
    }
}

/// The state of a search.
struct Search<'p, 'a> {
    machine: &'p Machine,
    practice: Practice<'p>,
    strict: &'p Strict<'a>,
    bounds: Bounds<'p>,
    cells: Cells,
    readouts: Vec<Readout>,
    inputs: InputSightings,
    examples: Examples,
    open: Vec<OpenCell>,
    /// The exercises, for each readout.
    exercises: Vec<Vec<Exercise>>,
    /// The number of exercises of one readout that ends the search.
    enough: usize,
    examined: usize,
    poll: Poll<'p>,
}

/// The outcome of examining an obligation.
enum Fate {
    Proved,
    SplitInput,
    SplitStack,
    Dropped,
}

impl Search<'_, '_> {
    fn run(&mut self, root: Vec<Obligation>) -> Result<Vec<Cell>, CertifyError> {
        let mut done = Vec::new();
        let mut walk = StackWalk::new(root);
        let mut scratch = Scratch::default();
        while let Some((stack, mut obligations)) = walk.next() {
            if !self.open.is_empty() && self.exercises.iter().any(|exercises| exercises.len() >= self.enough) {
                break;
            }
            if self.examined > MAX_EXAMINED_CELLS {
                self.leave(&obligations[0], &stack, [0.; 2]);
                break;
            }
            self.poll.progress(Stage::Prove, done.len(), done.len() + walk.waiting() + 1);
            let sighting = self.bounds.stack(&stack);
            scratch.forget();
            let mut left = Vec::new();
            let (mut proved, mut split) = (Vec::new(), Vec::new());
            obligations.reverse();
            while let Some(obligation) = obligations.pop() {
                self.poll.now()?;
                let fate = self.fate(&obligation, &stack, &sighting, &mut scratch);
                match fate {
                    Fate::Dropped => {}
                    Fate::Proved => proved.push((obligation.head, obligation.input)),
                    Fate::SplitStack => left.push(obligation),
                    Fate::SplitInput => {
                        let mut parts = self.cells.split_input(self.strict, &obligation);
                        split.push((obligation.head, obligation.input));
                        parts.reverse();
                        obligations.extend(parts);
                    }
                }
            }
            walk.go_on(&self.cells, &stack, &left, &mut self.poll)?;
            done.push(Cell { stack, split, proved });
        }
        Ok(done)
    }

    /// Examines an obligation, and collects exercises if the machine is wrong or its margin is small.
    fn fate(
        &mut self,
        obligation: &Obligation,
        stack: &StackSuffix,
        sighting: &Sighting,
        scratch: &mut Scratch,
    ) -> Fate {
        self.examined += 1;
        let Some(answer) = obligation.answer() else {
            return if stack.depth() < MAX_SUFFIX { Fate::SplitStack } else { self.leave(obligation, stack, [0.; 2]) };
        };
        let class = self.machine.class(self.readouts[obligation.head], answer);
        let Some(class) = class else {
            let exercise = self.examples.exercise(obligation, stack, answer);
            self.exercises[obligation.head].push(exercise);
            return self.leave(obligation, stack, [f64::NEG_INFINITY; 2]);
        };
        let input = self.inputs.see(&self.bounds, &obligation.input);
        scratch.turn_to(&obligation.input);
        let margin = self.bounds.lead(obligation.head, class, input, sighting, scratch);
        if margin.least > 0. {
            return Fate::Proved;
        }
        let mut wrong = false;
        if margin.middle < NEAR_MARGIN {
            // The center of a large cell may be far from any state that occurs, so look at one that does.
            let exercise = self.examples.exercise(obligation, stack, answer);
            let example = self.practice.decide(self.bounds.heads()[obligation.head].1, &exercise);
            wrong = example.class != class || example.margin.is_nan() || example.margin.abs() < NO_MARGIN;
            // Votes are counted only where they can help: each pair of classes takes part, which is expensive.
            if !wrong && margin.middle <= 0. {
                let votes = self.bounds.votes(obligation.head, class, input, sighting, scratch);
                if votes.is_some_and(|margin| margin > 0.) {
                    return Fate::Proved;
                }
            }
            let near = wrong || example.margin < NEAR_MARGIN;
            if near && self.exercises[obligation.head].len() < self.enough {
                self.exercises[obligation.head].push(exercise);
            }
        }
        let size = input.size();
        let known = obligation.input.is_whole() || self.machine.view() == View::Symbol;
        if wrong || (stack.is_whole() && known) || stack.depth().max(obligation.input.before().len()) >= MAX_SUFFIX {
            return self.leave(obligation, stack, [margin.least, margin.middle]);
        }
        if !known && (stack.is_whole() || size > sighting.size()) { Fate::SplitInput } else { Fate::SplitStack }
    }

    /// Records an obligation as open.
    fn leave(&mut self, obligation: &Obligation, stack: &StackSuffix, margin: [f64; 2]) -> Fate {
        let readout = self.readouts[obligation.head];
        let (input, stack) = (obligation.input.clone(), stack.clone());
        let [margin, middle] = margin;
        self.open.push(OpenCell { readout, input, stack, margin, middle });
        Fate::Dropped
    }
}
