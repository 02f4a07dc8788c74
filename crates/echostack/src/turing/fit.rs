//! Training: from single decisions to the readouts of a machine with two stacks.

use std::collections::HashSet;
use std::sync::Arc;

use super::machine::{Readouts, TwoStackMachine};
use super::rules::{Change, Decision, TwoStackStep, Which, next_number};
use crate::control::{Control, Stage};
use crate::machine::{FitError, KernelBuilder, LabelledHead, classify};
use crate::manifest::Manifest;
use crate::readout::{Distances, Head, KernelParts, Lesson, Projection, States, Svm, scale};
use crate::reservoir::{Drive, Reservoir, encode};
use crate::simd::Simd;
use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// A single decision to learn: what is right on these stacks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TwoStackExercise {
    /// The symbols on the first and on the second stack, the topmost last.
    pub stacks: [Vec<SymbolId>; 2],
    /// What is next.
    pub next: Lookahead,
    /// The right decision.
    pub decision: Decision,
}

/// Trains a machine on exercises.
pub(super) fn fit(
    (alphabet, outputs): (&Arc<Alphabet>, &[String]),
    reservoir: &Arc<dyn Reservoir>,
    exercises: &[TwoStackExercise],
    svm: Svm,
    control: &dyn Control,
) -> Result<TwoStackMachine, FitError> {
    if exercises.is_empty() {
        return Err(FitError::NoTraces);
    }
    let mut states = [States::new(reservoir.neurons()), States::new(reservoir.neurons())];
    let mut rows: Vec<Vec<(Lesson, &Decision)>> = vec![Vec::new(); alphabet.terminals().len() + 1];
    let mut seen = HashSet::new();
    for exercise in exercises {
        let [input, stack] = Which::BOTH.map(|which| {
            let drives = exercise.stacks[which.index()].iter().map(|symbol| Drive::Channel(symbol.index()));
            states[which.index()].intern(&encode(&**reservoir, Simd::default(), drives))
        });
        // States that differ in too little to be told apart are one row.
        let lesson = Lesson { input, stack };
        if seen.insert((exercise.next, lesson)) {
            rows[next_number(exercise.next, alphabet)].push((lesson, &exercise.decision));
        }
    }
    let sides = states.each_ref().map(|states| Distances::new(states, Simd::default()));
    let mut kernels = Vec::new();
    let mut readouts = Vec::new();
    for (done, rows) in rows.iter().enumerate() {
        control.progress(Stage::Train, done, alphabet.terminals().len() + 1);
        let trainer = Trainer { states: &states, sides: [&sides[0], &sides[1]], svm, control };
        readouts.push(trainer.train(rows, &mut kernels)?);
    }
    let projection = Projection::new(&states[0], &states[1], &kernels, [(Vec::new(), 0), (Vec::new(), 0)]);
    let names = (alphabet.clone(), outputs.into());
    Ok(TwoStackMachine::new(names, reservoir.clone(), projection, readouts, Manifest::default()))
}

struct Trainer<'a> {
    states: &'a [States; 2],
    sides: [&'a Distances<'a>; 2],
    svm: Svm,
    control: &'a dyn Control,
}

impl Trainer<'_> {
    /// Trains the readouts for one lookahead. All of them except shift share a kernel.
    fn train(&self, rows: &[(Lesson, &Decision)], kernels: &mut Vec<KernelParts>) -> Result<Readouts, FitError> {
        let none = Change::default();
        let change = |decision: &Decision, which: Which| match &decision.step {
            TwoStackStep::Act(changes) => changes[which.index()].clone(),
            TwoStackStep::Rest(_) => none.clone(),
        };
        let lessons: Vec<Lesson> = rows.iter().map(|(lesson, _)| *lesson).collect();
        let pops = Which::BOTH.map(|which| rows.iter().map(|(_, own)| change(own, which).pop).collect::<Vec<_>>());
        let pushes = Which::BOTH.map(|which| rows.iter().map(|(_, own)| change(own, which).push).collect::<Vec<_>>());
        let outputs: Vec<_> = rows.iter().map(|(_, own)| own.output).collect();
        let gamma = self.svm.gamma * scale(&self.states[0], &self.states[1], &lessons);
        let mut kernel = KernelBuilder::new(kernels, gamma, &lessons);
        let mut head =
            |labels: &[Vec<SymbolId>], otherwise| self.head(&mut kernel, (&lessons, gamma), labels, otherwise);
        let push = [head(&pushes[0], Vec::new())?, head(&pushes[1], Vec::new())?];
        let mut head = |labels: &[u32]| self.head(&mut kernel, (&lessons, gamma), labels, 0);
        let pop = [head(&pops[0])?, head(&pops[1])?];
        let output = self.head(&mut kernel, (&lessons, gamma), &outputs, None)?;
        let rests = rows.iter().filter_map(|(lesson, own)| match own.step {
            TwoStackStep::Rest(shift) => Some((*lesson, shift)),
            TwoStackStep::Act(_) => None,
        });
        let (lessons, shifts): (Vec<Lesson>, Vec<bool>) = rests.unzip();
        let gamma = self.svm.gamma * scale(&self.states[0], &self.states[1], &lessons);
        let mut kernel = KernelBuilder::new(kernels, gamma, &lessons);
        let shift = self.head(&mut kernel, (&lessons, gamma), &shifts, false)?;
        Ok(Readouts { pop, push, shift, output })
    }

    /// Trains one readout. If there are no rows, it always gives the same answer.
    fn head<L: Clone + Ord + Sync>(
        &self,
        kernel: &mut KernelBuilder<'_>,
        (lessons, gamma): (&[Lesson], f64),
        labels: &[L],
        otherwise: L,
    ) -> Result<LabelledHead<L>, FitError> {
        if lessons.is_empty() {
            return Ok(LabelledHead { labels: vec![otherwise], head: Head::Constant(0) });
        }
        let sides = (self.sides[0], self.sides[1]);
        Ok(kernel.add(classify((lessons, labels), sides, (gamma, self.svm), self.control, &|_| {})?))
    }
}
