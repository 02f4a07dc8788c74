//! Trains a machine from annotations that your own code makes: no automaton and no grammar.
//!
//! The language is that of nested lists, such as `[ x [ x x ] ]`. The teacher below is a small hand-written parser that
//! records what it does to its stack.
//!
//!     cargo run --release --example own_teacher

use std::sync::Arc;

use echostack::recognize::{Mode, Reduction};
use echostack::teach::Step;
use echostack::{Alphabet, Params, Recognizer, SymbolId, Trace, Word};

/// The symbols of nested lists: items and lists are reduced to `Value`, what a list holds to `Values`.
struct Lists {
    alphabet: Arc<Alphabet>,
    open: SymbolId,
    close: SymbolId,
    item: SymbolId,
    value: SymbolId,
    values: SymbolId,
}

impl Lists {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let alphabet = Arc::new(Alphabet::new(["[", "]", "x"], ["Value", "Values"])?);
        let symbol = |name: &str| alphabet.symbol(name).ok_or("the alphabet lacks a symbol");
        let [open, close, item] = [symbol("[")?, symbol("]")?, symbol("x")?];
        let (value, values) = (symbol("Value")?, symbol("Values")?);
        Ok(Self { alphabet, open, close, item, value, values })
    }

    /// Reduces the stack before a token is read, or at the end, and returns the reductions.
    fn reductions(&self, stack: &mut Vec<SymbolId>) -> Vec<Reduction> {
        let mut done = Vec::new();
        loop {
            let (pop, push) = match stack[..] {
                // An item is a value, and so is a list with its brackets.
                [.., top] if top == self.item => (1, self.value),
                [.., open, values, close] if (open, values, close) == (self.open, self.values, self.close) => {
                    (3, self.value)
                }
                [.., open, close] if (open, close) == (self.open, self.close) => (2, self.value),
                // A value in a list joins the values before it.
                [.., values, value] if (values, value) == (self.values, self.value) => (2, self.values),
                [.., open, value] if (open, value) == (self.open, self.value) => (1, self.values),
                _ => return done,
            };
            stack.truncate(stack.len() - pop);
            stack.push(push);
            done.push(Reduction { pop: pop as u32, push: Some(push) });
        }
    }

    /// Returns true if a token can follow, or the word can end.
    fn fits(&self, stack: &[SymbolId], next: Option<SymbolId>) -> bool {
        let nested = stack.contains(&self.open);
        match next {
            None => *stack == [self.value],
            Some(token) if token == self.close => nested,
            Some(_) => nested || stack.is_empty(),
        }
    }

    /// Returns the trace of a word. A wrong word is annotated up to the token that cannot follow.
    fn trace(&self, word: &str) -> Result<Trace, Box<dyn std::error::Error>> {
        let tokens: Vec<SymbolId> = word.split(' ').filter_map(|name| self.alphabet.symbol(name)).collect();
        let (mut stack, mut steps) = (Vec::new(), Vec::new());
        for next in tokens.iter().copied().map(Some).chain([None]) {
            let reductions = self.reductions(&mut stack);
            let accepted = f64::from(u8::from(stack == [self.value]));
            let shift = next.is_some() && self.fits(&stack, next);
            steps.push(Step { reductions, output: vec![accepted], shift });
            if next.is_some() && !shift {
                break;
            }
            stack.extend(next);
        }
        Ok(Trace::new(&self.alphabet, word, Word::Symbols(tokens), steps)?)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let lists = Lists::new()?;
    let words = [
        "x",
        "[ ]",
        "[ x ]",
        "[ x x ]",
        "[ [ ] ]",
        "[ [ x ] x ]",
        "[ x [ x x ] [ ] x ]",
        "[ [ [ x ] ] ]",
        "[ [ ] [ ] ]",
        "]",
        "x x",
        "x ]",
        "x [",
        "[ ] ]",
        "[ ] x",
        "[ ] [",
        "[ x ] ]",
        "[ x ] x",
        "[ x ] [",
        "[ [ x ] ] ]",
    ];
    let traces = words.iter().map(|word| lists.trace(word)).collect::<Result<Vec<_>, _>>()?;
    let params = Params { mode: Mode::Strict, ..Params::default() };
    let machine = params.fit(&lists.alphabet, &traces)?;
    for word in ["[ x [ x [ x [ x ] ] x ] [ ] ]", "[ x [ x ] ] ]", "[ [ x ]"] {
        println!("{word}: {:?}", machine.judge(&machine.alphabet().word(word.split(' '))?));
    }
    Ok(())
}
