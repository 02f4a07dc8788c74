//! The answers of a machine to single exercises, without a run that leads to them.

use super::stack_machine::Machine;
use crate::readout::{Decision, DecisionScratch, Head, Side};
use crate::recognize::View;
use crate::reservoir::{Drive, encode};
use crate::simd::Simd;
use crate::symbol::SymbolId;
use crate::teach::Exercise;

/// Lets a machine answer exercises. The features of the last stack are kept, because exercises on the same stack often
/// follow each other.
pub(crate) struct Practice<'m> {
    machine: &'m Machine,
    stack: Option<Vec<SymbolId>>,
    stack_features: Vec<f64>,
    scratch: DecisionScratch,
}

impl<'m> Practice<'m> {
    pub(crate) fn new(machine: &'m Machine) -> Self {
        Self { machine, stack: None, stack_features: Vec::new(), scratch: DecisionScratch::default() }
    }

    /// Returns the decision of one of the machine's heads on an exercise.
    pub(crate) fn decide(&mut self, head: &Head, exercise: &Exercise) -> Decision {
        let drive = |symbol: &SymbolId| Drive::Channel(symbol.index());
        if self.stack.as_ref() != Some(&exercise.stack) {
            self.stack_features = self.features(Side::Stack, exercise.stack.iter().map(drive));
            self.stack = Some(exercise.stack.clone());
        }
        let seen;
        let input = match self.machine.view() {
            View::Symbol => self.machine.symbol_features(exercise.next),
            View::Reservoir => {
                let next = exercise.next.token().as_ref().map_or(Drive::Silence, drive);
                seen = self.features(Side::Input, exercise.before.iter().map(drive).chain([next]));
                &seen
            }
        };
        self.scratch.forget();
        head.decide(self.machine.projection(), input, &self.stack_features, &mut self.scratch)
    }

    /// Returns the features of the state after these inputs.
    fn features<'d>(&mut self, side: Side, drives: impl Iterator<Item = Drive<'d>>) -> Vec<f64> {
        let (simd, projection) = (Simd::default(), self.machine.projection());
        let state = encode(&**self.machine.reservoir(), simd, drives);
        let mut features = vec![0.; projection.width(side)];
        projection.project_all(simd, side, &mut [(&state, &mut features)], self.scratch.comparison());
        features
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::machine::{Params, Readout};
    use crate::recognize::Mode;
    use crate::reservoir::ReservoirKind;
    use crate::symbol::Lookahead;
    use crate::tasks::{Split, Task};
    use crate::teach::Answer;

    #[test]
    fn an_exercise_is_answered_as_its_states_are() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for view in [View::Symbol, View::Reservoir] {
            let params = Params { view, mode: Mode::Strict, ..Params::standard(ReservoirKind::Cycle, 32, 0) };
            let traces = Task::Json.examples(Split::Train, 30, 0);
            let machine = params.check().unwrap().fit(&Task::Json.alphabet(), &traces, &()).unwrap();
            let mut practice = Practice::new(&machine);
            let (terminals, symbols) = (machine.alphabet().terminals().len(), machine.alphabet().len());
            let mut seen = std::collections::HashSet::new();
            for _ in 0..500 {
                let mut draw = |among: usize| -> Vec<SymbolId> {
                    let length = random.random_range(0..4);
                    (0..length).map(|_| SymbolId::new(random.random_range(0..among))).collect()
                };
                let (before, stack) = (draw(terminals), draw(symbols));
                let next = match random.random_range(0..=terminals) {
                    token if token < terminals => Lookahead::Token(SymbolId::new(token)),
                    _ => Lookahead::End,
                };
                let state = |drives: Vec<Drive<'_>>| encode(&**machine.reservoir(), Simd::default(), drives);
                let channel = |symbol: &SymbolId| Drive::Channel(symbol.index());
                let input = match (view, next) {
                    (View::Symbol, Lookahead::End) => state(Vec::new()),
                    (View::Symbol, Lookahead::Token(token)) => state(vec![channel(&token)]),
                    (View::Reservoir, _) => {
                        let next = next.token().as_ref().map_or(Drive::Silence, channel);
                        state(before.iter().map(channel).chain([next]).collect())
                    }
                };
                let chosen = machine.choose(&input, &state(stack.iter().map(channel).collect()));
                let exercise = Exercise { before, next, stack, answer: Answer::Shift(true) };
                for (readout, head) in machine.heads() {
                    let answer = machine.answer(readout, practice.decide(head, &exercise).class).unwrap();
                    let same = match (readout, answer) {
                        (Readout::Pop, Answer::Act(act)) => act.pop == chosen.reduction.pop,
                        (Readout::Push, Answer::Act(act)) => act.push == chosen.reduction.push,
                        (Readout::Shift, Answer::Shift(shift)) => shift == chosen.shift,
                        (Readout::Output, Answer::Output(accepts)) => accepts == (chosen.output[0] > 0.5),
                        _ => false,
                    };
                    assert!(same, "{readout:?} {exercise:?}: {answer}, not {chosen:?}");
                    seen.insert(answer);
                }
            }
            assert!(seen.len() > 6, "{seen:?}");
        }
    }
}
