//! Runs an automaton on a word, token by token (Algorithm 1).

use std::sync::Arc;

use super::error::AutomatonError;
use super::lr::Automaton;
use super::viability::{StackState, Viability};
use crate::control::Control;
use crate::recognize::{Limits, Mode, Recognizer, Reduction, Run, Stack};
use crate::symbol::{Alphabet, Input, Lookahead, SymbolId};
use crate::undo::UndoStack;

/// A recognizer that runs an automaton: the teacher of machines, and the reference they are measured against.
///
/// ```
/// use echostack::{Lookahead, Oracle, Recognizer, Verdict, tasks::Task};
/// let oracle = Oracle::strict(Task::Anbn.automaton().unwrap())?;
/// let alphabet = oracle.automaton().alphabet();
/// let verdict = |names: &str| {
///     let word = alphabet.word(names.split(' ')).unwrap();
///     oracle.judge(&word)
/// };
/// assert_eq!(verdict("a a b b"), Verdict::Accept);
/// let b = Lookahead::Token(alphabet.symbol("b").unwrap());
/// assert_eq!(verdict("a a b a"), Verdict::Reject { position: 3, expected: vec![b] });
/// assert_eq!(verdict("a a b"), Verdict::Incomplete { expected: vec![b] });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Oracle {
    automaton: Arc<Automaton>,
    /// The viable stacks, by which a strict oracle rejects tokens; `None` if the oracle is tolerant.
    viability: Option<Arc<Viability>>,
}

impl Oracle {
    /// Creates an oracle that shifts every token and judges the word at its end, as Algorithm 1 does.
    pub fn tolerant(automaton: Automaton) -> Self {
        Self { automaton: Arc::new(automaton), viability: None }
    }

    /// Creates an oracle that rejects a token as soon as no continuation can be accepted.
    ///
    /// # Errors
    /// [`AutomatonError::TooLarge`] if the table of viable stacks would be too large; never if the viable stacks were
    /// given.
    pub fn strict(automaton: Automaton) -> Result<Self, AutomatonError> {
        Self::new(automaton, Mode::Strict, &())
    }

    /// Creates an oracle in a mode, under a control, since the viable stacks of a strict one may take long to compute.
    ///
    /// # Errors
    /// As [`strict`](Self::strict), and [`AutomatonError::Cancelled`]; never in tolerant mode.
    pub fn new(automaton: Automaton, mode: Mode, control: &dyn Control) -> Result<Self, AutomatonError> {
        if mode == Mode::Tolerant {
            return Ok(Self::tolerant(automaton));
        }
        let viability = match automaton.viability() {
            Some(given) => given.clone(),
            None => Arc::new(Viability::compute(&automaton, control)?),
        };
        Ok(Self { automaton: Arc::new(automaton), viability: Some(viability) })
    }

    /// Returns the automaton.
    pub fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    /// Returns the viable stacks. A tolerant oracle, which does not use them, computes them if they were not given.
    pub(super) fn viable(&self) -> Result<Arc<Viability>, AutomatonError> {
        match &self.viability {
            Some(viability) => Ok(viability.clone()),
            None => Self::strict(Automaton::clone(&self.automaton))?.viable(),
        }
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        if self.viability.is_some() { Mode::Strict } else { Mode::Tolerant }
    }
}

impl Recognizer for Oracle {
    type Session = Run<OracleStack>;

    fn alphabet(&self) -> &Alphabet {
        self.automaton.alphabet()
    }

    fn start(&self, limits: Limits) -> Self::Session {
        let stack = OracleStack {
            oracle: self.clone(),
            symbols: UndoStack::default(),
            states: UndoStack::default(),
            lookahead: Lookahead::End,
            output: 0.,
        };
        Run::new(stack, limits)
    }
}

/// The state of an [`Oracle`] while it reads a word.
#[derive(Clone, Debug)]
pub struct OracleStack {
    oracle: Oracle,
    symbols: UndoStack<SymbolId>,
    /// In strict mode, the state of each prefix of the stack in [`Viability`].
    states: UndoStack<StackState>,
    lookahead: Lookahead,
    output: f64,
}

impl OracleStack {
    /// Returns the symbols on the stack, the topmost last.
    pub fn symbols(&self) -> &[SymbolId] {
        self.symbols.items()
    }

    /// Returns the state that the stack would have with this symbol pushed; `None` in tolerant mode.
    fn state_above(&self, symbol: SymbolId) -> Option<(&Viability, StackState)> {
        let viability = self.oracle.viability.as_ref()?;
        let beneath = self.states.items().last().copied().unwrap_or(viability.bottom());
        Some((viability, viability.push(beneath, symbol)))
    }

    fn push(&mut self, symbol: SymbolId) {
        if let Some((_, state)) = self.state_above(symbol) {
            self.states.push(state);
        }
        self.symbols.push(symbol);
    }
}

impl Stack for OracleStack {
    fn alphabet(&self) -> &Alphabet {
        self.oracle.automaton.alphabet()
    }

    fn mode(&self) -> Mode {
        self.oracle.mode()
    }

    fn admits(&self, input: Input<'_>) -> bool {
        matches!(input, Input::Symbol(symbol) if self.alphabet().is_terminal(symbol))
    }

    fn look(&mut self, next: Option<Input<'_>>, _: bool) {
        self.symbols.mark();
        self.states.mark();
        self.lookahead = match next {
            Some(Input::Symbol(token)) => Lookahead::Token(token),
            _ => Lookahead::End,
        };
    }

    fn decide(&mut self) -> (Reduction, f64) {
        let rule = self.oracle.automaton.rule(self.symbols(), self.lookahead);
        let reduction = rule.map(|rule| Reduction { pop: rule.pop, push: Some(rule.push) });
        (reduction.unwrap_or(Reduction::NONE), f64::INFINITY)
    }

    fn depth(&self) -> usize {
        self.symbols.len()
    }

    fn reduce(&mut self, reduction: Reduction) {
        let left = self.symbols.len() - reduction.pop as usize;
        self.symbols.truncate(left);
        if self.oracle.viability.is_some() {
            self.states.truncate(left);
        }
        reduction.push.into_iter().for_each(|symbol| self.push(symbol));
    }

    fn output(&mut self) -> (&[f64], bool) {
        let accepting = self.oracle.automaton.accepts_stack(self.symbols());
        self.output = f64::from(u8::from(accepting));
        (std::slice::from_ref(&self.output), accepting)
    }

    fn shifts(&mut self) -> (bool, f64) {
        let viable = match self.lookahead {
            Lookahead::Token(token) => {
                self.state_above(token).is_none_or(|(viability, state)| viability.is_viable(state))
            }
            Lookahead::End => false,
        };
        (viable, f64::INFINITY)
    }

    fn shift(&mut self) {
        if let Lookahead::Token(token) = self.lookahead {
            self.push(token);
        }
    }

    fn rewind(&mut self) {
        self.symbols.rewind();
        self.states.rewind();
    }
}
