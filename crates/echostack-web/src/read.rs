//! Reading a text, with each step on the way.

use echostack::recognize::{Event, Observer, Reduction};
use echostack::{Alphabet, Limits};
use echostack_grammar::Judge;
use serde::Serialize;

/// The maximum number of steps that are shown. A machine without a proof could go on forever.
const MAX_STEPS: usize = 100_000;

/// What a machine does on a text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The text after the last token, if no token begins there.
    pub rest: String,
    /// What the machine does, step by step, from the empty stack.
    pub steps: Vec<Step>,
    /// The verdict: `accept`, `reject`, `incomplete` or `stopped`.
    pub verdict: &'static str,
    /// The line and the column of the fault, from 1, unless the text is accepted.
    pub place: Option<[u64; 2]>,
    /// The reason for the verdict, in English.
    pub reason: String,
    /// What was expected instead, as `A, B or C`.
    pub expected: Option<String>,
}

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Token {
    /// The name, which is what the machine sees.
    pub name: String,
    /// The text.
    pub text: String,
}

/// One step of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The number of tokens before the one that the machine looks at.
    pub token: u64,
    /// What it does.
    #[serde(flatten)]
    pub action: Action,
}

/// What a machine does with its stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum Action {
    /// It pops some symbols and pushes one, or none.
    Reduce {
        /// The number of symbols to pop.
        pop: u32,
        /// The symbol to push.
        push: Option<String>,
        /// Whether that symbol is a state of the parser, and not one of the grammar's symbols.
        state: bool,
    },
    /// It pushes the token.
    Shift,
    /// It refuses the token.
    Refuse,
}

/// Reads a text.
pub fn read(judge: &Judge, text: &str) -> Reading {
    let tokens = judge.tokens(text);
    let mut watch = Watch { alphabet: judge.alphabet(), steps: Vec::new() };
    let judgement = judge.judge_tokens(text, &tokens, Limits::default(), &mut watch);
    let rest = tokens.1.and_then(|fault| text.get(fault.byte() as usize..));
    let token = |lexeme: &echostack_grammar::Lexeme<'_>| Token {
        name: lexeme.name.to_string(),
        text: text[lexeme.start..lexeme.end].to_string(),
    };
    Reading {
        tokens: tokens.0.iter().map(token).collect(),
        rest: rest.unwrap_or_default().to_string(),
        steps: watch.steps,
        verdict: judgement.verdict.name(),
        place: judgement.fault.as_ref().map(|fault| [fault.place.line, fault.place.column]),
        reason: judgement.reason(),
        expected: judgement.expected(),
    }
}

/// An observer that keeps each step.
struct Watch<'a> {
    alphabet: &'a Alphabet,
    steps: Vec<Step>,
}

impl Observer for Watch<'_> {
    fn event(&mut self, token: u64, event: Event<'_>) {
        let action = match event {
            Event::Decide { reduction: Reduction::NONE, .. } | Event::Output { .. } => return,
            Event::Decide { reduction: Reduction { pop, push }, .. } => Action::Reduce {
                pop,
                push: push.map(|symbol| self.alphabet.name(symbol).to_string()),
                state: push.is_some_and(|symbol| self.alphabet.is_state(symbol)),
            },
            Event::Shift { shifted: true, .. } => Action::Shift,
            Event::Shift { shifted: false, .. } => Action::Refuse,
        };
        self.steps.push(Step { token, action });
    }

    fn cancelled(&self) -> bool {
        self.steps.len() >= MAX_STEPS
    }

    fn reads_margins(&self) -> bool {
        false
    }
}
