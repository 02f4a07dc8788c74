//! Pictures of runs: both stacks as the tape of a Turing machine, one line for each step, as text and as SVG.

use std::fmt::Write as _;

use super::machine::MachineStacks;
use super::rules::{Decision, TwoStackStep, Which};
use super::run::{Decider, Watcher};
use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// A configuration of a run, before a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The number of decisions before it.
    pub number: u64,
    /// The first and the second stack, the topmost symbol last.
    pub stacks: [Vec<SymbolId>; 2],
    /// What is next.
    pub next: Lookahead,
    /// The decision.
    pub decision: Decision,
}

/// The configurations of a run, as far as they are kept.
#[derive(Clone, Debug)]
pub struct RunDrawing<'a> {
    alphabet: &'a Alphabet,
    frames: Vec<Frame>,
    /// The maximum number of frames.
    most: usize,
    /// The number of decisions that were watched.
    seen: u64,
}

impl<'m> Watcher<MachineStacks<'m>> for RunDrawing<'_> {
    fn decided(&mut self, stacks: &MachineStacks<'m>, next: Lookahead, decision: &Decision) {
        if self.frames.len() < self.most {
            let both = Which::BOTH.map(|which| stacks.symbols(which));
            self.frames.push(Frame { number: self.seen, stacks: both, next, decision: decision.clone() });
        }
        self.seen += 1;
    }
}

/// The maximum number of cells of a line. What is farther from the head is left out.
const WIDEST: usize = 61;
/// The width and the height of a cell in a picture.
const CELL: (usize, usize) = (22, 22);

impl<'a> RunDrawing<'a> {
    /// Prepares a drawing of at most this many configurations, for [`TwoStackMachine::run_with`](super::TwoStackMachine::run_with).
    pub fn new(alphabet: &'a Alphabet, most: usize) -> Self {
        Self { alphabet, frames: Vec::new(), most, seen: 0 }
    }

    /// Returns the configurations.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Returns the number of decisions that were watched and not kept.
    pub fn left_out(&self) -> u64 {
        self.seen - self.frames.len() as u64
    }

    /// Splits a configuration into what is left of the head, the control (if the topmost symbol of the first stack is a
    /// state), and the head with what is right of it.
    fn tape(&self, frame: &Frame) -> (Vec<SymbolId>, Option<SymbolId>, Vec<SymbolId>) {
        let [mut left, mut right] = frame.stacks.clone();
        right.reverse();
        let control = left.last().copied().filter(|&top| self.alphabet.is_state(top));
        if control.is_some() {
            left.pop();
        }
        (left, control, right)
    }

    /// Returns the number of symbols left of the head that are shown, and in all.
    fn columns(&self) -> (usize, usize) {
        let sides = self.frames.iter().map(|frame| {
            let (left, _, right) = self.tape(frame);
            (left.len(), right.len().max(1))
        });
        let (left, right) = sides.fold((0, 1), |(a, b), (left, right)| (a.max(left), b.max(right)));
        (left.min(WIDEST / 2), left.min(WIDEST / 2) + right.min(WIDEST / 2 + 1))
    }

    /// Returns what a decision does, in a few words.
    fn told(&self, frame: &Frame) -> String {
        match (&frame.decision.step, frame.next) {
            (TwoStackStep::Rest(true), Lookahead::End) => "accepts".to_string(),
            (TwoStackStep::Rest(false), Lookahead::End) => "halts".to_string(),
            (TwoStackStep::Rest(true), Lookahead::Token(token)) => {
                format!("shifts {}", self.alphabet.plain_name(token))
            }
            (TwoStackStep::Rest(false), Lookahead::Token(token)) => {
                format!("refuses {}", self.alphabet.plain_name(token))
            }
            (TwoStackStep::Act(_), _) => String::new(),
        }
    }

    /// Returns the run as text: one line for each configuration, with the state in its own column and the head in brackets.
    /// Cells that are not on a stack are shown as `·`.
    pub fn to_text(&self) -> String {
        let (before, columns) = self.columns();
        let name = |symbol: Option<SymbolId>| symbol.map_or("·".into(), |symbol| self.alphabet.plain_name(symbol));
        let length = |text: &str| text.chars().count();
        let symbols = || self.alphabet.terminals().chain(self.alphabet.nonterminals());
        let tape = symbols().filter(|&symbol| !self.alphabet.is_state(symbol));
        let width = tape.map(|symbol| length(&name(Some(symbol)))).max().unwrap_or(1);
        let states = symbols().filter(|&symbol| self.alphabet.is_state(symbol));
        let state_width = states.map(|symbol| length(&name(Some(symbol)))).max().unwrap_or(0);
        let mut text = String::new();
        for frame in &self.frames {
            let (left, control, right) = self.tape(frame);
            let control = control.map_or(String::new(), |state| name(Some(state)));
            _ = write!(text, "{:>6}  {control:state_width$}  ", frame.number);
            for column in 0..columns {
                let symbol = match column.checked_sub(before) {
                    Some(place) => right.get(place),
                    None => (before - column).checked_sub(1).and_then(|back| left.iter().rev().nth(back)),
                };
                let shown = format!("{:^width$}", name(symbol.copied()));
                if column == before {
                    _ = write!(text, "[{shown}]");
                } else {
                    _ = write!(text, " {shown} ");
                }
            }
            let told = self.told(frame);
            text.push_str(if told.is_empty() { "" } else { "  " });
            text.push_str(&told);
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }

    /// Returns the run as a picture in SVG: one row for each configuration, the first stack left of the head in blue, the
    /// second stack from the head on in green, and the state at the head.
    pub fn to_svg(&self) -> String {
        let (before, columns) = self.columns();
        let symbols = || self.alphabet.terminals().chain(self.alphabet.nonterminals());
        let longest = symbols().filter(|&symbol| !self.alphabet.is_state(symbol));
        let longest = longest.map(|symbol| self.alphabet.plain_name(symbol).chars().count()).max().unwrap_or(1);
        let states = symbols().filter(|&symbol| self.alphabet.is_state(symbol));
        let longest_state = states.map(|symbol| self.alphabet.plain_name(symbol).chars().count()).max().unwrap_or(0);
        let (cell, row) = (CELL.0.max(8 * longest + 8), CELL.1);
        let left = 60 + 8 * longest_state;
        let (width, height) = (left + columns * cell + 110, (self.frames.len() + 2) * row);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"monospace\" font-size=\"13\">\n<title>A run of a machine with two stacks</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        let mut write = |x: usize, y: usize, anchor: &str, color: &str, words: &str| {
            let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"{color}\">{words}</text>");
        };
        write(40, 15, "end", "#666666", "step");
        write(left + before * cell, 15, "end", "#2a5d9c", "first stack ");
        write(left + before * cell + 4, 15, "start", "#2f7d4f", " second stack");
        let mut boxes = String::new();
        for (line, frame) in self.frames.iter().enumerate() {
            let (first, control, second) = self.tape(frame);
            let y = (line + 1) * row;
            write(40, y + 15, "end", "#666666", &frame.number.to_string());
            if let Some(state) = control {
                write(52, y + 15, "start", "#a03030", &self.alphabet.plain_name(state));
            }
            for column in 0..columns {
                let (symbol, fill) = match column.checked_sub(before) {
                    Some(place) => (second.get(place), "#dff0e4"),
                    None => (first.iter().rev().nth(before - column - 1), "#dfe9f5"),
                };
                let x = left + column * cell;
                let head = column == before && control.is_some();
                let fill = if symbol.is_none() { "#f6f6f6" } else { fill };
                let border = if head { "stroke=\"#a03030\" stroke-width=\"2\"" } else { "stroke=\"#ffffff\"" };
                _ = writeln!(
                    boxes,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" {border}/>",
                    x + 1,
                    y + 1,
                    cell - 2,
                    row - 2
                );
                if let Some(&symbol) = symbol {
                    let words = self.alphabet.plain_name(symbol).replace('&', "&amp;").replace('<', "&lt;");
                    let (x, y) = (x + cell / 2, y + 15);
                    _ = writeln!(boxes, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{words}</text>");
                }
            }
            write(left + columns * cell + 8, y + 15, "start", "#666666", &self.told(frame));
        }
        svg + &boxes + "</svg>\n"
    }
}
