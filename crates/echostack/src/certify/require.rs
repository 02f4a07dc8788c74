//! The answers that a machine must give, and the exercises with which training for a proof begins.

use super::cells::Cells;
use super::error::CertifyError;
use super::example::{Examples, MAX_SUFFIX};
use super::prove::Prover;
use super::walk::StackWalk;
use crate::control::{Control, Poll, Stage};
use crate::machine::Readout;
use crate::suffix::StackSuffix;
use crate::symbol::Lookahead;
use crate::teach::{Answer, Exercise};

/// The answer that a readout must give before one token, on all stacks with one suffix.
pub(crate) struct Required {
    pub(crate) next: Lookahead,
    pub(crate) stack: StackSuffix,
    pub(crate) answer: Answer,
    /// An exercise on one of these stacks.
    exercise: Exercise,
}

/// The answers that a readout must give.
pub(crate) struct Answers {
    /// The answers, by the shortest stack suffixes that determine them. Those on the same suffix follow each other.
    pub(crate) required: Vec<Required>,
    /// Whether every answer is determined by some suffix.
    pub(crate) all: bool,
}

/// The number of lookaheads in the exercises on a stack suffix if the right answer is the same for all of them.
const LOOKAHEADS_PER_STACK: usize = 5;

impl Prover<'_> {
    /// Returns the answers that a readout must give.
    pub(crate) fn answers(&self, readout: Readout, control: &dyn Control) -> Result<Answers, CertifyError> {
        let mut poll = Poll::new(control);
        poll.progress(Stage::Prove, 0, 1);
        let terminals = self.oracle().automaton().alphabet().terminals().len();
        let (cells, root) = Cells::new(self.strict(), self.reach(), &[readout], terminals, &mut poll)?;
        let examples = Examples::new(&cells);
        let mut walk = StackWalk::new(root);
        let mut answers = Answers { required: Vec::new(), all: true };
        while let Some((stack, obligations)) = walk.next() {
            let mut left = Vec::new();
            for obligation in obligations {
                match obligation.answer() {
                    Some(answer) => answers.required.push(Required {
                        next: obligation.input.next(),
                        stack: stack.clone(),
                        answer,
                        exercise: examples.exercise(&obligation, &stack, answer),
                    }),
                    None if stack.is_whole() || stack.depth() >= MAX_SUFFIX => answers.all = false,
                    None => left.push(obligation),
                }
            }
            walk.go_on(cells.split_stack(&stack, &left, &mut poll)?);
        }
        Ok(answers)
    }

    /// Returns exercises on all answers that a machine must give: with every lookahead where the answer depends on it,
    /// and with a few where it does not, since a machine generalizes from them. Different stacks have different ones,
    /// lest the machine should take a lookahead for a sign of the stacks that it was taught with. The exercises have no
    /// tokens before the next one, and are meant for machines that do not see them.
    pub(crate) fn exercises(&self, control: &dyn Control) -> Result<Vec<Exercise>, CertifyError> {
        let mut exercises = Vec::new();
        for readout in [Readout::Pop, Readout::Shift, Readout::Output] {
            let Answers { required, .. } = self.answers(readout, control)?;
            for (number, same) in required.chunk_by(|a, b| a.stack == b.stack).enumerate() {
                let depends = same.iter().any(|one| one.answer != same[0].answer);
                let count = if depends { same.len() } else { same.len().min(LOOKAHEADS_PER_STACK) };
                let chosen = (0..count).map(|at| &same[(number + at * same.len() / count) % same.len()]);
                exercises.extend(chosen.map(|one| one.exercise.clone()));
            }
        }
        Ok(exercises)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::Oracle;
    use crate::automaton::Viability;
    use crate::recognize::{Reduction, View};
    use crate::tasks::Task;

    /// Returns what the rules say about an exercise.
    fn right(oracle: &Oracle, exercise: &Exercise) -> Answer {
        let automaton = oracle.automaton();
        let viability = Viability::new(automaton).unwrap();
        let pushed =
            |stack: &[_]| stack.iter().fold(viability.bottom(), |state, &symbol| viability.push(state, symbol));
        match (exercise.answer, exercise.next) {
            (Answer::Act(_), next) => Answer::Act(
                automaton
                    .rule(&exercise.stack, next)
                    .map_or(Reduction::NONE, |rule| Reduction { pop: rule.pop, push: Some(rule.push) }),
            ),
            (Answer::Shift(_), Lookahead::Token(token)) => {
                let longer = [&exercise.stack[..], &[token]].concat();
                Answer::Shift(viability.is_viable(pushed(&longer)))
            }
            (Answer::Shift(_), Lookahead::End) => Answer::Shift(false),
            (Answer::Output(_), _) => Answer::Output(automaton.accepts_stack(&exercise.stack)),
        }
    }

    #[test]
    fn exercises_have_the_answers_of_the_rules_and_cover_every_suffix() {
        for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
            let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
            let prover = Prover::new(&oracle, View::Symbol, &()).unwrap();
            let exercises = prover.exercises(&()).unwrap();
            for exercise in &exercises {
                assert_eq!(right(&oracle, exercise), exercise.answer, "{task}: {exercise:?}");
            }
            let known: HashSet<&Exercise> = exercises.iter().collect();
            for readout in [Readout::Pop, Readout::Shift, Readout::Output] {
                let Answers { required, all } = prover.answers(readout, &()).unwrap();
                assert!(all, "{task}");
                for same in required.chunk_by(|a, b| a.stack == b.stack) {
                    let taught = same.iter().filter(|one| known.contains(&one.exercise)).count();
                    let depends = same.iter().any(|one| one.answer != same[0].answer);
                    assert!(taught > 0 && (!depends || taught == same.len()), "{task}: {:?}", same[0].stack);
                    assert!(same.iter().all(|one| one.stack.matches(&one.exercise.stack)), "{task}");
                }
            }
        }
    }
}
