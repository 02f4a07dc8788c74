//! Teacher forcing: a walk along a trace that carries out the taught actions, not those of a machine (Algorithm 4).

use super::trace::Trace;
use crate::recognize::Reduction;
use crate::symbol::Input;

/// The decision that a trace teaches in one configuration of input and stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction<'t> {
    /// The step, counted from 0.
    pub step: usize,
    /// Whether the step is trained on, or only leads to steps that are.
    pub taught: bool,
    /// The action on the stack. The last one of each step is [`Reduction::NONE`].
    pub reduction: Reduction,
    /// The output, if this action is the last one of its step.
    pub output: Option<&'t [f64]>,
    /// Whether the input is then shifted. `None` if this action is not the last one of its step, or at the end of the
    /// word, where there is nothing to shift.
    pub shift: Option<bool>,
}

/// A visitor of the steps of a trace, guided by [`Trace::replay`], which keeps the stack for it.
pub trait Follower {
    /// The representation of a symbol on the stack.
    type Element;
    /// The reason for ending the walk early.
    type Error;

    /// Receives the input of a step, or `None` at the end of the word.
    ///
    /// # Errors
    /// If the walk should end here.
    fn look(&mut self, step: usize, next: Option<Input<'_>>) -> Result<(), Self::Error>;

    /// Receives an instruction, and the stack before it is carried out. The top of the stack is last.
    ///
    /// # Errors
    /// If the walk should end here.
    fn follow(&mut self, instruction: &Instruction<'_>, stack: &[Self::Element]) -> Result<(), Self::Error>;

    /// Returns the element for an input that is shifted, or a nonterminal that is pushed, onto this stack.
    ///
    /// # Errors
    /// If the walk should end here.
    fn push(&mut self, stack: &[Self::Element], input: Input<'_>) -> Result<Self::Element, Self::Error>;
}

impl Trace {
    /// Walks along the trace. At each step, the follower looks at the input, then receives an instruction for each
    /// action on the stack and a last one for output and shift. Each instruction is carried out before the next one.
    ///
    /// # Errors
    /// Returns the first error of the follower, which ends the walk.
    pub fn replay<F: Follower>(&self, follower: &mut F) -> Result<(), F::Error> {
        let mut stack: Vec<F::Element> = Vec::new();
        let inputs = self.word().inputs().map(Some).chain([None]);
        for (number, (step, next)) in self.steps().iter().zip(inputs).enumerate() {
            follower.look(number, next)?;
            let taught = self.taught().contains(&number);
            for &reduction in &step.reductions {
                let action = Instruction { step: number, taught, reduction, output: None, shift: None };
                follower.follow(&action, &stack)?;
                stack.truncate(stack.len() - reduction.pop as usize);
                if let Some(symbol) = reduction.push {
                    stack.push(follower.push(&stack, Input::Symbol(symbol))?);
                }
            }
            let (output, shift) = (Some(&step.output[..]), next.map(|_| step.shift));
            let last = Instruction { step: number, taught, reduction: Reduction::NONE, output, shift };
            follower.follow(&last, &stack)?;
            if let (true, Some(input)) = (step.shift, next) {
                stack.push(follower.push(&stack, input)?);
            }
        }
        Ok(())
    }
}
