//! The deep stack machine: the paper's machine with a GRU instead of the reservoir, trained as a whole.

use std::convert::Infallible;
use std::ops::Range;

use burn::tensor::{Tensor, activation::log_softmax};
use echostack::recognize::Reduction;
use echostack::symbol::Input;
use echostack::teach::{Follower, Instruction};
use echostack::{Alphabet, Limits, SymbolId, Trace, Word};

use crate::gru::{Gru, Reading};
use crate::maps::{Drawing, MapId, Pass, matrix, values};
use crate::network::Network;
use crate::regression::{encode, inputs};

/// The limits of a run: far more than any task needs, but small enough to stop a machine that pushes forever after a
/// short time. As in the library, the number of decisions on one token is bounded by a constant and by the depth of the
/// stack.
const LIMITS: Limits = Limits { depth: 1 << 14, actions: 64, actions_per_symbol: 8 };

/// The machine of Definition 4, with one GRU that reads both the input (state h) and the stack from the bottom (state
/// g), and one linear map that scores all decisions in the state (h, g): how many symbols to pop, which symbol to push,
/// whether to shift, and what to output.
pub struct StackMachine {
    terminals: usize,
    nonterminals: usize,
    gru: Gru,
    heads: MapId,
    columns: Columns,
}

/// The columns of the scores of each decision.
#[derive(Clone, Debug)]
struct Columns {
    /// Pop no symbol, one symbol, two symbols, and so on.
    pop: Range<usize>,
    /// Push nothing, or one of the nonterminals.
    push: Range<usize>,
    /// Do not shift the token, or shift it.
    shift: Range<usize>,
    output: Range<usize>,
}

impl Columns {
    fn new(pops: usize, pushes: usize, outputs: usize) -> Self {
        let (push, shift) = (pops + pushes, pops + pushes + 2);
        Self { pop: 0..pops, push: pops..push, shift: push..shift, output: shift..shift + outputs }
    }

    fn width(&self) -> usize {
        self.output.end
    }
}

/// The scores in all states on the way of a trace, one state per row, and their targets. If a row does not teach a
/// decision, its targets are zeros there; `teaches` is one wherever an output is taught.
struct Lesson {
    scores: Tensor<2>,
    targets: Tensor<2>,
    teaches: Tensor<2>,
}

impl StackMachine {
    /// Draws a machine for the given traces. It can pop as many symbols at once as the traces do.
    pub fn draw(drawing: &mut Drawing<'_>, alphabet: &Alphabet, units: usize, traces: &[&Trace]) -> Self {
        let steps = || traces.iter().flat_map(|trace| trace.steps());
        let pop = steps().flat_map(|step| &step.reductions).map(|reduction| reduction.pop).max().unwrap_or(0);
        let outputs = traces.first().map_or(0, |trace| trace.output_width());
        let (terminals, nonterminals) = (alphabet.terminals().len(), alphabet.nonterminals().len());
        let columns = Columns::new(pop as usize + 1, nonterminals + 1, outputs);
        Self {
            terminals,
            nonterminals,
            gru: Gru::draw(drawing, alphabet.len(), units),
            heads: drawing.linear(2 * units, columns.width()),
            columns,
        }
    }

    /// Returns what the GRU reads of each input of a word, and of each nonterminal. The reading of an input is the same
    /// in the word and on the stack.
    fn read(&self, pass: &mut Pass<'_>, word: &Word, steps: usize) -> (Vec<Reading>, Vec<Reading>) {
        let symbol = |number| Some(Input::Symbol(SymbolId::new(self.terminals + number)));
        let all = inputs(word).take(steps).chain((0..self.nonterminals).map(symbol));
        let mut readings = self.gru.read(pass, &encode(self.terminals + self.nonterminals, all));
        let nonterminals = readings.split_off(steps);
        (readings, nonterminals)
    }

    /// Runs a trace under teacher forcing (Algorithm 4): the taught decisions are taken, whatever the machine would
    /// decide. The states are computed one after the other, the scores all at once.
    fn force(&self, pass: &mut Pass<'_>, trace: &Trace) -> Lesson {
        let (word, nonterminals) = self.read(pass, trace.word(), trace.steps().len());
        let mut lead = Lead {
            machine: self,
            pass,
            word,
            nonterminals,
            step: 0,
            input: self.gru.start(),
            empty: self.gru.start(),
            inputs: Vec::new(),
            stacks: Vec::new(),
            targets: Vec::new(),
            teaches: Vec::new(),
        };
        let Ok(()) = trace.replay(&mut lead);
        let Lead { inputs, stacks, targets, teaches, .. } = lead;
        let states = Tensor::cat(vec![Tensor::cat(inputs, 0), Tensor::cat(stacks, 0)], 1);
        Lesson {
            scores: pass.apply(self.heads, states),
            targets: matrix(targets, self.columns.width()),
            teaches: matrix(teaches, self.columns.output.len()),
        }
    }

    /// Runs a word freely (Algorithm 2, with pop and push decided in the same state) until the end of the word or a
    /// limit, and returns the outputs up to there.
    fn run(&self, pass: &mut Pass<'_>, word: &Word) -> Vec<f64> {
        let Columns { pop, push, shift, output } = &self.columns;
        let (readings, nonterminals) = self.read(pass, word, word.len() + 1);
        let mut input = self.gru.start();
        let mut stack = vec![self.gru.start()];
        let mut outputs = Vec::new();
        for (position, next) in readings.iter().enumerate() {
            input = self.gru.step(pass, &input, next);
            let mut left = LIMITS.actions + LIMITS.actions_per_symbol * (stack.len() as u64 - 1);
            let scores = loop {
                let state = Tensor::cat(vec![input.clone(), top(&stack).clone()], 1);
                let scores = values(pass.apply(self.heads, state));
                let (popped, pushed) = (largest(&scores[pop.clone()]), largest(&scores[push.clone()]));
                if popped == 0 && pushed == 0 {
                    break scores;
                }
                if left == 0 || popped >= stack.len() || stack.len() > LIMITS.depth {
                    return outputs;
                }
                left -= 1;
                stack.truncate(stack.len() - popped);
                if let Some(number) = pushed.checked_sub(1) {
                    stack.push(self.gru.step(pass, top(&stack), &nonterminals[number]));
                }
            };
            outputs.extend(scores[output.clone()].iter().copied().map(f64::from));
            if position < word.len() && largest(&scores[shift.clone()]) == 1 {
                stack.push(self.gru.step(pass, top(&stack), next));
            }
        }
        outputs
    }
}

/// A machine that is led along one trace. It collects the states in which decisions are made, and their targets.
struct Lead<'m, 'p, 'w> {
    machine: &'m StackMachine,
    pass: &'p mut Pass<'w>,
    /// What the GRU reads of each input.
    word: Vec<Reading>,
    /// What the GRU reads of each nonterminal.
    nonterminals: Vec<Reading>,
    step: usize,
    /// The state of the input so far.
    input: Tensor<2>,
    /// The state of the empty stack.
    empty: Tensor<2>,
    inputs: Vec<Tensor<2>>,
    stacks: Vec<Tensor<2>>,
    targets: Vec<f32>,
    teaches: Vec<f32>,
}

impl Lead<'_, '_, '_> {
    /// Returns the index of a pushed symbol among the nonterminals.
    fn nonterminal(&self, symbol: SymbolId) -> Option<usize> {
        symbol.index().checked_sub(self.machine.terminals)
    }

    /// Returns the targets of the scores, with zeros where nothing is taught.
    fn target(&self, instruction: &Instruction<'_>) -> Vec<f32> {
        let Columns { pop, push, shift, output } = &self.machine.columns;
        let mut target = vec![0.; self.machine.columns.width()];
        if instruction.taught {
            let Reduction { pop: popped, push: pushed } = instruction.reduction;
            let pushed = pushed.and_then(|symbol| self.nonterminal(symbol));
            target[pop.start + popped as usize] = 1.;
            target[push.start + pushed.map_or(0, |number| number + 1)] = 1.;
            let values = instruction.output.into_iter().flatten();
            target[output.clone()].iter_mut().zip(values).for_each(|(to, &from)| *to = from as f32);
            if let Some(shifted) = instruction.shift {
                target[shift.start + usize::from(shifted)] = 1.;
            }
        }
        target
    }
}

impl Follower for Lead<'_, '_, '_> {
    type Element = Tensor<2>;
    type Error = Infallible;

    fn look(&mut self, step: usize, _: Option<Input<'_>>) -> Result<(), Infallible> {
        self.step = step;
        self.input = self.machine.gru.step(self.pass, &self.input, &self.word[step]);
        Ok(())
    }

    fn follow(&mut self, instruction: &Instruction<'_>, stack: &[Tensor<2>]) -> Result<(), Infallible> {
        self.inputs.push(self.input.clone());
        self.stacks.push(stack.last().unwrap_or(&self.empty).clone());
        self.targets.extend(self.target(instruction));
        let teaches = instruction.taught && instruction.output.is_some();
        self.teaches.extend(self.machine.columns.output.clone().map(|_| f32::from(u8::from(teaches))));
        Ok(())
    }

    fn push(&mut self, stack: &[Tensor<2>], input: Input<'_>) -> Result<Tensor<2>, Infallible> {
        let nonterminal = match input {
            Input::Symbol(symbol) => self.nonterminal(symbol),
            Input::Vector(_) => None,
        };
        let reading = nonterminal.map_or(&self.word[self.step], |number| &self.nonterminals[number]);
        Ok(self.machine.gru.step(self.pass, stack.last().unwrap_or(&self.empty), reading))
    }
}

/// Returns the state of the whole stack. The first element is the state of the empty stack.
fn top(stack: &[Tensor<2>]) -> &Tensor<2> {
    &stack[stack.len() - 1]
}

/// Returns the position of the largest score, or the first of them if several are equal.
fn largest(scores: &[f32]) -> usize {
    (1..scores.len()).fold(0, |best, at| if scores[at] > scores[best] { at } else { best })
}

impl Network for StackMachine {
    /// Returns the sum of the mean cross entropies of pop, push and shift and the mean squared error of the output,
    /// each taken over the decisions that teach it.
    fn loss(&self, pass: &mut Pass<'_>, trace: &Trace) -> Tensor<1> {
        let Columns { pop, push, shift, output } = &self.columns;
        let Lesson { scores, targets, teaches } = self.force(pass, trace);
        let taught = || trace.taught().map(|number| &trace.steps()[number]);
        let decisions: usize = taught().map(|step| step.reductions.len() + 1).sum();
        let shifts = trace.taught().filter(|&number| number < trace.word().len()).count();
        let part = |of: &Tensor<2>, columns: &Range<usize>| of.clone().slice_dim(1, columns.clone());
        let entropy = |columns: &Range<usize>, count: usize| {
            let right = part(&targets, columns) * log_softmax(part(&scores, columns), 1);
            right.sum().div_scalar(-(count.max(1) as f32))
        };
        let error = (part(&scores, output) - part(&targets, output)) * teaches;
        let error = error.square().sum().div_scalar((taught().count().max(1) * output.len()) as f32);
        entropy(pop, decisions) + entropy(push, decisions) + entropy(shift, shifts) + error
    }

    /// Returns the outputs of a free run. After a run has reached a limit, its outputs are NaN, which is never right.
    fn outputs(&self, pass: &mut Pass<'_>, word: &Word) -> Vec<f64> {
        let mut outputs = self.run(pass, word);
        outputs.resize((word.len() + 1) * self.columns.output.len(), f64::NAN);
        outputs
    }
}

#[cfg(test)]
mod tests {
    use echostack::tasks::{Split, Task};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::maps::{Maps, Teacher};

    fn machine(task: Task, traces: &[Trace]) -> (StackMachine, Maps) {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut drawing = Drawing::new(&mut random);
        let traces: Vec<_> = traces.iter().collect();
        let machine = StackMachine::draw(&mut drawing, &task.alphabet(), 16, &traces);
        (machine, drawing.finish())
    }

    /// Returns true if the score of the taught answer is the largest for each decision.
    fn is_right(machine: &StackMachine, lesson: &Lesson) -> bool {
        let width = machine.columns.width();
        let [scores, targets] = [&lesson.scores, &lesson.targets].map(|rows| values(rows.clone()));
        let Columns { pop, push, shift, .. } = &machine.columns;
        let mut rows = scores.chunks(width).zip(targets.chunks(width));
        rows.all(|(scores, targets)| {
            let mut taught = [pop, push, shift].into_iter().filter(|&columns| targets[columns.clone()].contains(&1.));
            taught.all(|columns| largest(&scores[columns.clone()]) == largest(&targets[columns.clone()]))
        })
    }

    #[test]
    fn a_free_run_with_right_decisions_is_the_forced_one() {
        let traces = Task::Anbn.examples(Split::Train, 20, 0);
        let (machine, mut maps) = machine(Task::Anbn, &traces);
        let teacher = Teacher::new(1e-2, 0.);
        for trace in traces.iter().cycle().take(200) {
            let mut pass = Pass::learning(&maps);
            let loss = machine.loss(&mut pass, trace);
            let gradients = pass.gradients(&loss);
            maps.learn(gradients, &teacher);
        }
        let mut right = 0;
        for trace in &traces {
            let lesson = machine.force(&mut Pass::new(&maps), trace);
            if !is_right(&machine, &lesson) {
                continue;
            }
            right += 1;
            let scores = values(lesson.scores.slice_dim(1, machine.columns.output.clone()));
            let settled = values(lesson.teaches).into_iter().map(|teaches| teaches == 1.);
            let forced: Vec<f64> =
                scores.into_iter().zip(settled).filter(|pair| pair.1).map(|pair| f64::from(pair.0)).collect();
            let free = machine.run(&mut Pass::new(&maps), trace.word());
            assert_eq!(free.len(), forced.len());
            let far = free.iter().zip(&forced).find(|(free, forced)| (*free - *forced).abs() > 1e-5);
            assert_eq!(far, None, "{}", trace.source());
        }
        assert!(right > traces.len() / 2, "only {right} traces are right");
    }

    #[test]
    fn a_machine_that_pops_or_pushes_without_end_is_stopped() {
        let traces = Task::Anbn.examples(Split::Train, 5, 0);
        let (machine, mut maps) = machine(Task::Anbn, &traces);
        for stuck in [machine.columns.pop.end - 1, machine.columns.push.end - 1] {
            let scores = (0..machine.columns.width()).map(|column| f32::from(u8::from(column == stuck)));
            maps.fix(machine.heads, scores.collect());
            let outputs = machine.outputs(&mut Pass::new(&maps), traces[0].word());
            assert_eq!(outputs.len(), traces[0].steps().len());
            assert!(outputs.iter().all(|output| output.is_nan()));
        }
    }
}
