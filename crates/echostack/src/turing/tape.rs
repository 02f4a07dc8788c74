//! Turing machines: their tables, their runs on a tape, and the rules with two stacks that simulate them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::error::TextError;
use super::rules::{Change, Decision, TwoStackRule, TwoStackRules, TwoStackRulesError, TwoStackStep};
use crate::suffix::StackSuffix;
use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// Where the head goes after an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// One cell to the left.
    Left,
    /// One cell to the right.
    Right,
    /// Nowhere.
    Stay,
}

/// An entry of the table of a Turing machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of the next state.
    pub state: usize,
    /// The number of the symbol that is written.
    pub write: usize,
    /// The move of the head.
    pub direction: Move,
    /// The number of the output symbol that is written to the output, if any.
    pub output: Option<u32>,
    /// The line of the text that the entry was read from.
    pub line: usize,
}

/// A Turing machine with one tape that is infinite on both sides. It halts where its table has no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuringMachine {
    /// The names of the tape symbols, those of the input first.
    pub(super) symbols: Vec<String>,
    /// The number of input symbols.
    pub(super) input: usize,
    pub(super) blank: usize,
    pub(super) states: Vec<String>,
    pub(super) start: usize,
    pub(super) accepting: BTreeSet<usize>,
    pub(super) outputs: Vec<String>,
    /// The entries, by state and symbol.
    pub(super) table: BTreeMap<(usize, usize), Entry>,
}

/// The end of a run of a Turing machine on its tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tape {
    /// The tape, by the numbers of its symbols, without the blanks around it.
    pub cells: Vec<usize>,
    /// The number of steps that were taken.
    pub steps: u64,
    /// Whether the machine halted, and if so, whether it accepts.
    pub accepts: Option<bool>,
    /// The numbers of the output symbols that were written.
    pub output: Vec<u32>,
}

impl TuringMachine {
    /// Returns the number of entries of the table.
    pub fn entries(&self) -> usize {
        self.table.len()
    }

    /// Returns the names of the states.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// Returns the names of the tape symbols, those of the input first.
    pub fn symbols(&self) -> &[String] {
        &self.symbols
    }

    /// Returns the name of the blank.
    pub fn blank(&self) -> &str {
        &self.symbols[self.blank]
    }

    /// Runs the machine on a word of input symbols, by their numbers, for at most this many steps. This is what a machine
    /// with two stacks is compared with: it has a tape and a head, and no stacks.
    pub fn run(&self, word: &[usize], most_steps: u64) -> Tape {
        let mut cells: Vec<usize> = if word.is_empty() { vec![self.blank] } else { word.to_vec() };
        let (mut head, mut state, mut steps, mut output) = (0, self.start, 0, Vec::new());
        let accepts = loop {
            let Some(entry) = self.table.get(&(state, cells[head])) else {
                break Some(self.accepting.contains(&state));
            };
            if steps == most_steps {
                break None;
            }
            steps += 1;
            output.extend(entry.output);
            (cells[head], state) = (entry.write, entry.state);
            match entry.direction {
                Move::Stay => {}
                Move::Right => {
                    head += 1;
                    if head == cells.len() {
                        cells.push(self.blank);
                    }
                }
                Move::Left if head > 0 => head -= 1,
                Move::Left => {
                    // The tape grows to the left by as much as it is long, so that each cell is moved once on average.
                    let more = cells.len();
                    cells.splice(0..0, std::iter::repeat_n(self.blank, more));
                    head = more - 1;
                }
            }
        };
        let written = |cell: &usize| *cell != self.blank;
        let (first, last) = (cells.iter().position(written), cells.iter().rposition(written));
        let cells = first.zip(last).map_or(Vec::new(), |(first, last)| cells[first..=last].to_vec());
        Tape { cells, steps, accepts, output }
    }

    /// Returns the rules with two stacks that simulate the machine: R(T) in docs/two-stacks.md.
    ///
    /// # Errors
    /// If a name is not valid, or if there are too many rules.
    pub(super) fn rules(&self) -> Result<TwoStackRules, TextError> {
        let (input, rest) = self.symbols.split_at(self.input);
        let names = rest.iter().chain(&self.states).cloned();
        let alphabet = Alphabet::new(input.iter().cloned(), names)?;
        let first_state = self.symbols.len();
        let alphabet = Arc::new(alphabet.with_states(|symbol| symbol.index() >= first_state));
        // Each state and symbol has a rule or, if the head goes left, one for each symbol that it may come to.
        let left = |entry: &&Entry| entry.direction == Move::Left;
        let most = self.states.len().saturating_mul(self.symbols.len() + 1);
        let most = most.saturating_add(self.table.values().filter(left).count().saturating_mul(self.symbols.len() + 1));
        if most > super::rules::MAX_RULES {
            return Err(TwoStackRulesError::TooMany(most).into());
        }
        let mut writer = Writer { rules: Vec::new() };
        let token: Arc<str> = "loading the word".into();
        let rewind: Arc<str> = "rewinding the word".into();
        for symbol in (0..self.input).map(SymbolId::new) {
            let rest = Decision { step: TwoStackStep::Rest(true), output: None };
            writer.rule(Lookahead::Token(symbol), [StackSuffix::ANY, StackSuffix::ANY], rest, &token);
        }
        for symbol in (0..self.input).map(SymbolId::new) {
            writer.act([any(&[symbol]), StackSuffix::ANY], [(1, vec![]), (0, vec![symbol])], None, &rewind);
        }
        let state = |number: usize| SymbolId::new(first_state + number);
        let start = vec![state(self.start)];
        writer.act([StackSuffix::BOTTOM, StackSuffix::ANY], [(0, start), (0, vec![])], None, &"the start".into());
        for q in 0..self.states.len() {
            for a in 0..self.symbols.len() {
                // What is under the head is on top of the second stack, or the stack is empty, which means a blank.
                writer.entry(self, (q, a), any(&[SymbolId::new(a)]), 1, &state);
                if a == self.blank {
                    writer.entry(self, (q, a), StackSuffix::BOTTOM, 0, &state);
                }
            }
        }
        Ok(TwoStackRules::new(alphabet, self.outputs.clone(), writer.rules)?)
    }
}

fn any(symbols: &[SymbolId]) -> StackSuffix {
    StackSuffix::new(symbols.to_vec(), false)
}

struct Writer {
    rules: Vec<TwoStackRule>,
}

impl Writer {
    fn rule(&mut self, next: Lookahead, suffixes: [StackSuffix; 2], decision: Decision, name: &Arc<str>) {
        self.rules.push(TwoStackRule { suffixes, next: Some(next), decision, name: name.clone() });
    }

    /// Adds an action at the end of the word, given what it pops and pushes on each stack.
    fn act(
        &mut self,
        suffixes: [StackSuffix; 2],
        changes: [(u32, Vec<SymbolId>); 2],
        output: Option<u32>,
        name: &Arc<str>,
    ) {
        let step = TwoStackStep::Act(changes.map(|(pop, push)| Change { pop, push }));
        self.rule(Lookahead::End, suffixes, Decision { step, output }, name);
    }

    /// Adds the rules for a state and a symbol, for one suffix of the second stack that says that this symbol is under the
    /// head. `under` is the number of symbols there.
    fn entry(
        &mut self,
        machine: &TuringMachine,
        (q, a): (usize, usize),
        second: StackSuffix,
        under: u32,
        state: &dyn Fn(usize) -> SymbolId,
    ) {
        let of = format!("state {} and symbol {}", machine.states[q], machine.symbols[a]);
        let Some(Entry { state: p, write, direction, output, line }) = machine.table.get(&(q, a)) else {
            let name: Arc<str> = format!("halting in {of}").into();
            let decision = Decision { step: TwoStackStep::Rest(machine.accepting.contains(&q)), output: None };
            return self.rule(Lookahead::End, [any(&[state(q)]), second], decision, &name);
        };
        let name: Arc<str> = format!("the entry for {of} (line {line})").into();
        let (p, b, blank) = (state(*p), SymbolId::new(*write), SymbolId::new(machine.blank));
        match direction {
            Move::Right => {
                self.act([any(&[state(q)]), second], [(1, vec![b, p]), (under, vec![])], *output, &name);
            }
            Move::Stay => self.act([any(&[state(q)]), second], [(1, vec![p]), (under, vec![b])], *output, &name),
            Move::Left => {
                for c in (0..machine.symbols.len()).map(SymbolId::new) {
                    let changes = [(2, vec![p]), (under, vec![b, c])];
                    self.act([any(&[c, state(q)]), second.clone()], changes, *output, &name);
                }
                let bottom = StackSuffix::new(vec![state(q)], true);
                self.act([bottom, second], [(1, vec![p]), (under, vec![b, blank])], *output, &name);
            }
        }
    }
}
