//! The search for a proof, which splits cells until the machine's decision in each is certain, or found to be wrong.

use std::fmt;

use super::bound::{Bounds, Sighting};
use super::cells::{Cells, Obligation, Task};
use super::certificate::{ARITHMETIC, Cell, Certificate, MachineProof, Named};
use super::check::check;
use super::digest::{automaton_digest, digest};
use super::error::CertifyError;
use super::example::{Examples, MAX_SUFFIX};
use super::provable::comparable;
use super::scale::WellScaled;
use super::walk::{StackWalk, Worker, side_by_side};
use crate::automaton::complete::Completion;
use crate::automaton::reach::{Reach, Strict, Witness};
use crate::automaton::summarize::complete;
use crate::automaton::{AutomatonError, Oracle};
use crate::control::{Cancelled, Control, Poll, Stage};
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
    max_cells: usize,
}

impl fmt::Debug for Prover<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prover").field("oracle", self.oracle).finish_non_exhaustive()
    }
}

impl<'a> Prover<'a> {
    /// The maximum number of cells that a search examines, unless [`Prover::with_max_cells`] says otherwise.
    pub const MAX_CELLS: usize = 1_000_000;

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
        Ok(Self { oracle, strict, memory, reach, witness, completions, max_cells: Self::MAX_CELLS })
    }

    /// Sets the maximum number of cells that a search examines. If it needs more, the result is [`Proof::Open`], with more
    /// cells examined than that.
    #[must_use]
    pub fn with_max_cells(self, max_cells: usize) -> Self {
        Self { max_cells, ..self }
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
        let search = Search {
            machine,
            strict: &self.strict,
            examples: Examples::new(&cells),
            cells,
            bounds,
            readouts,
            max_cells: self.max_cells,
            enough: MIN_EXERCISES.max(self.reach.tops.len() / TOPS_PER_EXERCISE),
        };
        let Findings { cells, open, exercises, examined } = search.run(root, control)?;
        if !open.is_empty() {
            return Ok(Proof::Open { cells: open, exercises: exercises.concat(), examined });
        }
        let elements = self.strict.elements().filter_map(|(on, symbol)| Some((on, symbol?))).collect();
        let proof = MachineProof {
            digest: digest(&machine.without_manifest().to_bytes()?, &mut Poll::new(control))?,
            arithmetic: ARITHMETIC,
            memory: self.memory,
            elements,
            reach: self.reach.clone(),
            completions: Some(self.completions.clone()),
            cells,
        };
        let automaton = automaton_digest(automaton);
        let certificate = Certificate { automaton, grammar: None, lexer: None, machine: Some(proof), table: None };
        check(&certificate, machine, self.oracle, control)?;
        Ok(Proof::Proved(Box::new(certificate)))
    }
}

/// A search.
struct Search<'p, 'a> {
    machine: &'p Machine,
    strict: &'p Strict<'a>,
    bounds: Bounds,
    cells: Cells,
    readouts: Vec<Readout>,
    examples: Examples,
    max_cells: usize,
    /// The number of exercises of one readout that ends the search.
    enough: usize,
}

/// What a search has found so far.
struct Findings {
    cells: Vec<Cell>,
    open: Vec<OpenCell>,
    /// The exercises, for each readout.
    exercises: Vec<Vec<Exercise>>,
    examined: usize,
}

/// What is found on one stack suffix.
struct Found {
    cell: Cell,
    /// One of the obligations.
    first: Option<Named>,
    /// The obligations that are passed on to longer suffixes.
    left: Vec<Task>,
    open: Vec<OpenCell>,
    exercises: Vec<Needed>,
    examined: usize,
}

/// An exercise that a readout needs.
struct Needed {
    head: usize,
    exercise: Exercise,
    /// Whether the machine knows the answer. Exercises with answers that it does not know are always kept.
    known: bool,
}

/// The outcome of examining an obligation.
enum Fate {
    Proved,
    SplitInput,
    SplitStack,
    Dropped,
}

impl<'p> Search<'p, '_> {
    fn run(&self, root: Vec<Obligation>, control: &'p dyn Control) -> Result<Findings, CertifyError> {
        let exercises = vec![Vec::new(); self.readouts.len()];
        let mut all = Findings { cells: Vec::new(), open: Vec::new(), exercises, examined: 0 };
        let mut walk = StackWalk::new(root);
        let own = |worker| (worker, Practice::new(self.machine));
        let mut workers: Vec<(Worker<'_>, Practice<'_>)> = Worker::all(control).into_iter().map(own).collect();
        loop {
            let tasks = walk.next_for(workers.len());
            if tasks.is_empty() {
                return Ok(all);
            }
            let (done, rest) = (all.cells.len(), tasks.len() + walk.waiting());
            workers.iter_mut().for_each(|(worker, _)| worker.poll.progress(Stage::Prove, done, done + rest));
            for found in
                side_by_side(&mut workers, tasks, |(worker, practice), task| self.examine(task, worker, practice))
            {
                let Found { cell, first, left, open, exercises, examined } = found?;
                if !all.open.is_empty() && all.exercises.iter().any(|exercises| exercises.len() >= self.enough) {
                    return Ok(all);
                }
                all.examined += examined;
                if all.examined > self.max_cells {
                    all.open.extend(first.map(|named| self.open(named, &cell.stack, [0.; 2])));
                    return Ok(all);
                }
                all.cells.push(cell);
                all.open.extend(open);
                for Needed { head, exercise, known } in exercises {
                    if !known || all.exercises[head].len() < self.enough {
                        all.exercises[head].push(exercise);
                    }
                }
                walk.go_on(left);
            }
        }
    }

    /// Examines all obligations of a stack suffix.
    fn examine(
        &self,
        (stack, mut obligations): Task,
        worker: &mut Worker<'_>,
        practice: &mut Practice<'_>,
    ) -> Result<Found, Cancelled> {
        let first = obligations.first().map(|obligation| (obligation.head, obligation.input.clone()));
        let cell = Cell { stack, split: Vec::new(), proved: Vec::new() };
        let (open, exercises) = (Vec::new(), Vec::new());
        let mut found = Found { cell, first, left: Vec::new(), open, exercises, examined: 0 };
        let sighting = self.bounds.stack(&found.cell.stack);
        worker.scratch.forget();
        let mut left = Vec::new();
        obligations.reverse();
        while let Some(obligation) = obligations.pop() {
            worker.poll.now()?;
            found.examined += 1;
            match self.fate(&obligation, &sighting, worker, practice, &mut found) {
                Fate::Dropped => {}
                Fate::Proved => found.cell.proved.push((obligation.head, obligation.input)),
                Fate::SplitStack => left.push(obligation),
                Fate::SplitInput => {
                    let mut parts = self.cells.split_input(self.strict, &obligation);
                    found.cell.split.push((obligation.head, obligation.input));
                    parts.reverse();
                    obligations.extend(parts);
                }
            }
        }
        found.left = self.cells.split_stack(&found.cell.stack, &left, &mut worker.poll)?;
        Ok(found)
    }

    /// Examines an obligation, and collects exercises if the machine is wrong or its margin is small.
    fn fate(
        &self,
        obligation: &Obligation,
        sighting: &Sighting,
        worker: &mut Worker<'_>,
        practice: &mut Practice<'_>,
        found: &mut Found,
    ) -> Fate {
        let (stack, head) = (&found.cell.stack, obligation.head);
        let mut leave = |margin| {
            found.open.push(self.open((head, obligation.input.clone()), stack, margin));
            Fate::Dropped
        };
        let Some(answer) = obligation.answer() else {
            return if stack.depth() < MAX_SUFFIX { Fate::SplitStack } else { leave([0.; 2]) };
        };
        let class = self.machine.class(self.readouts[head], answer);
        let Some(class) = class else {
            let exercise = self.examples.exercise(obligation, stack, answer);
            found.exercises.push(Needed { head, exercise, known: false });
            return leave([f64::NEG_INFINITY; 2]);
        };
        let (input, scratch) = (worker.inputs.see(&self.bounds, &obligation.input), &mut worker.scratch);
        scratch.turn_to(&obligation.input);
        let margin = self.bounds.lead(head, class, input, sighting, scratch);
        if margin.least > 0. {
            return Fate::Proved;
        }
        let mut wrong = false;
        if margin.middle < NEAR_MARGIN {
            // The center of a large cell may be far from any state that occurs, so look at one that does.
            let exercise = self.examples.exercise(obligation, stack, answer);
            let example = practice.decide(&self.bounds.heads()[head].1, &exercise);
            wrong = example.class != class || example.margin.is_nan() || example.margin.abs() < NO_MARGIN;
            // Votes are counted only where they can help: each pair of classes takes part, which is expensive.
            if !wrong && margin.middle <= 0. {
                let votes = self.bounds.votes(head, class, input, sighting, scratch);
                if votes.is_some_and(|margin| margin > 0.) {
                    return Fate::Proved;
                }
            }
            if wrong || example.margin < NEAR_MARGIN {
                found.exercises.push(Needed { head, exercise, known: true });
            }
        }
        let size = input.size();
        let known = obligation.input.is_whole() || self.machine.view() == View::Symbol;
        if wrong || (stack.is_whole() && known) || stack.depth().max(obligation.input.before().len()) >= MAX_SUFFIX {
            return leave([margin.least, margin.middle]);
        }
        if !known && (stack.is_whole() || size > sighting.size()) { Fate::SplitInput } else { Fate::SplitStack }
    }

    fn open(&self, (head, input): Named, stack: &StackSuffix, [margin, middle]: [f64; 2]) -> OpenCell {
        OpenCell { readout: self.readouts[head], input, stack: stack.clone(), margin, middle }
    }
}
