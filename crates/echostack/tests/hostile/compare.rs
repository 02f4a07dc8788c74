//! Compares a machine that is called proved with its automaton, decision by decision, in the configurations that the
//! automaton can reach according to the certificate.

use echostack::automaton::Viability;
use echostack::machine::Choices;
use echostack::recognize::{Event, Reduction, Status, View};
use echostack::reservoir::{Drive, Simd};
use echostack::symbol::Input;
use echostack::{Certificate, Limits, Lookahead, Machine, Oracle, Recognizer, Session, SymbolId};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

/// The maximum depth of the stacks, and the maximum length of the words, that are drawn.
const DEEPEST: usize = 500;
/// The length up to which all words are tried.
const SHORT: usize = 8;

/// A difference between the machine and the automaton.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "it is printed as a whole")]
pub(crate) struct Different {
    pub stack: Vec<SymbolId>,
    pub next: Lookahead,
    pub what: String,
}

/// The parts of a certificate that say which configurations can occur.
#[derive(Deserialize)]
struct Reachable {
    elements: Vec<(u32, u32)>,
    controls: Vec<Vec<i64>>,
    heads: Vec<(u32, u32, u32)>,
    unders: Vec<(u32, u32, u32)>,
}

/// The kind of decision in a configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Action,
    OutputAndShift,
}

/// The automaton's answers, computed in the obvious way.
struct Answers<'o> {
    oracle: &'o Oracle,
    viability: Viability,
}

impl Answers<'_> {
    fn action(&self, stack: &[SymbolId], next: Lookahead) -> Reduction {
        let rule = self.oracle.automaton().rule(stack, next);
        rule.map_or(Reduction::NONE, |rule| Reduction { pop: rule.pop, push: Some(rule.push) })
    }

    fn shifts(&self, stack: &[SymbolId], token: SymbolId) -> bool {
        let push = |state, &symbol: &SymbolId| self.viability.push(state, symbol);
        let state = stack.iter().chain([&token]).fold(self.viability.bottom(), push);
        self.viability.is_viable(state)
    }

    /// Returns what the machine does wrong on this stack, if anything.
    fn compare(&self, stack: &[SymbolId], next: Lookahead, asked: Asked, choices: &Choices) -> Option<Different> {
        let what = match asked {
            Asked::Action => {
                let right = self.action(stack, next);
                (choices.reduction != right).then(|| format!("{:?} for {right:?}", choices.reduction))
            }
            Asked::OutputAndShift => {
                let accepts = self.oracle.automaton().accepts_stack(stack);
                let shift = next.token().map(|token| self.shifts(stack, token));
                let output = choices.output[0] > 0.5;
                if output != accepts {
                    Some(format!("output {output} for {accepts}"))
                } else if shift.is_some_and(|shift| shift != choices.shift) {
                    Some(format!("shift {} for {}", choices.shift, !choices.shift))
                } else {
                    None
                }
            }
        };
        what.map(|what| Different { stack: stack.to_vec(), next, what })
    }
}

/// Compares a machine that is called proved with its automaton, on all short words and in at least `count`
/// configurations that are drawn at random. Returns the first difference.
pub(crate) fn compare(
    machine: &Machine,
    oracle: &Oracle,
    certificate: &Certificate,
    count: usize,
    random: &mut ChaCha8Rng,
) -> Option<Different> {
    let viability = Viability::new(oracle.automaton()).unwrap();
    let answers = Answers { oracle, viability };
    short_words(machine, oracle).or_else(|| match machine.view() {
        View::Symbol => configurations(machine, &answers, certificate, count, random),
        View::Reservoir => runs(machine, &answers, count, random),
    })
}

fn step(machine: &Machine, from: &[f64], next: Lookahead) -> Vec<f64> {
    let drive = next.token().map_or(Drive::Silence, |token| Drive::Channel(token.index()));
    let mut to = vec![0.; from.len()];
    machine.reservoir().step(Simd::default(), from, drive, &mut to);
    to
}

fn push(machine: &Machine, from: &[f64], symbol: SymbolId) -> Vec<f64> {
    step(machine, from, Lookahead::Token(symbol))
}

/// Walks upward from the bottom of the stack through the configurations listed in the certificate, with long runs
/// wherever they have cycles. Each stack on the way is compared before one of the tokens with which it is listed.
fn configurations(
    machine: &Machine,
    answers: &Answers<'_>,
    certificate: &Certificate,
    count: usize,
    random: &mut ChaCha8Rng,
) -> Option<Different> {
    let certificate: serde_json::Value = serde_json::from_str(&certificate.to_json()).unwrap();
    let reach: Reachable = serde_json::from_value(certificate["machine"].clone()).unwrap();
    let symbol = |element: u32| SymbolId::new(reach.elements[element as usize - 1].1 as usize);
    let places = 1 + reach.unders.iter().map(|under| under.0.max(under.2)).max().unwrap_or(0) as usize;
    let mut above: Vec<Vec<(usize, u32)>> = vec![Vec::new(); places];
    for &(place, element, beneath) in &reach.unders {
        above[beneath as usize].push((place as usize, element));
    }
    let mut tops: Vec<Vec<(u32, Asked, Lookahead)>> = vec![Vec::new(); places];
    for &(control, element, beneath) in &reach.heads {
        let asked = match reach.controls[control as usize][..] {
            [1, _, next] => (Asked::Action, next),
            [3, _, next] => (Asked::OutputAndShift, next),
            _ => continue,
        };
        let next = usize::try_from(asked.1).map_or(Lookahead::End, |next| Lookahead::Token(SymbolId::new(next)));
        tops[beneath as usize].push((element, asked.0, next));
    }
    // The places from which the walk can continue forever.
    let mut endless = vec![true; places];
    for _ in 0..places {
        for place in 0..places {
            endless[place] &= above[place].iter().any(|&(next, _)| endless[next]);
        }
    }
    let zero = vec![0.; machine.reservoir().neurons()];
    let inputs: Vec<(Lookahead, Vec<f64>)> = machine
        .alphabet()
        .lookaheads()
        .map(|next| (next, if next == Lookahead::End { zero.clone() } else { step(machine, &zero, next) }))
        .collect();
    let mut compared = 0;
    while compared < count {
        let most = [4, 12, 60, DEEPEST][random.random_range(0..4)];
        let depth = random.random_range(0..=most);
        let (mut stack, mut state) = (Vec::new(), zero.clone());
        // The bottom of the stack has no symbol. It comes first, from the place below it.
        let mut place = 0;
        let mut run = 0;
        loop {
            let here = &tops[place];
            // All listed configurations on short stacks and at the end of the walk, and one of them on the way.
            let all = stack.len() < 3 || stack.len() + 2 > depth;
            let chosen = random.random_range(0..here.len().max(1));
            for (_, &(element, asked, next)) in here.iter().enumerate().filter(|(at, _)| all || *at == chosen) {
                let (mut longer, mut top) = (stack.clone(), state.clone());
                if element != 0 {
                    longer.push(symbol(element));
                    top = push(machine, &state, symbol(element));
                }
                let input = &inputs.iter().find(|input| input.0 == next)?.1;
                compared += 1;
                let different = answers.compare(&longer, next, asked, &machine.choose(input, &top));
                if different.is_some() {
                    return different;
                }
            }
            let edges = &above[place];
            if stack.len() >= depth || edges.is_empty() {
                break;
            }
            let again = edges.iter().find(|edge| edge.0 == place).filter(|_| run > 0);
            let on: Vec<&(usize, u32)> = edges.iter().filter(|edge| endless[edge.0]).collect();
            let &(next, element) = match again {
                Some(edge) => edge,
                None if !on.is_empty() && random.random_bool(0.9) => on[random.random_range(0..on.len())],
                None => &edges[random.random_range(0..edges.len())],
            };
            run = if run > 0 { run - 1 } else { [0, 3, 40, DEEPEST][random.random_range(0..4)] };
            if element != 0 {
                stack.push(symbol(element));
                state = push(machine, &state, symbol(element));
            }
            place = next;
        }
    }
    None
}

/// Runs words through the automaton, with long runs of each token, and compares the decisions on the way, before every
/// token.
fn runs(machine: &Machine, answers: &Answers<'_>, count: usize, random: &mut ChaCha8Rng) -> Option<Different> {
    let zero = vec![0.; machine.reservoir().neurons()];
    let all: Vec<Lookahead> = machine.alphabet().lookaheads().collect();
    let mut compared = 0;
    while compared < count {
        let most = [8, 40, DEEPEST][random.random_range(0..3)];
        let length = random.random_range(1..=most);
        let mut input = zero.clone();
        let (mut stack, mut states) = (Vec::new(), vec![zero.clone()]);
        let mut last = None;
        for _ in 0..length {
            // The first decision before every token is compared; then one of the tokens that can follow is read.
            let mut can_follow = Vec::new();
            for &next in &all {
                let seen = step(machine, &input, next);
                let action = answers.action(&stack, next);
                let asked = if action == Reduction::NONE { Asked::OutputAndShift } else { Asked::Action };
                let choices = machine.choose(&seen, &states[stack.len()]);
                let different = answers.compare(&stack, next, Asked::Action, &choices);
                let different = different.or_else(|| answers.compare(&stack, next, asked, &choices));
                if different.is_some() {
                    return different;
                }
                compared += 1;
                if action != Reduction::NONE || next.token().is_some_and(|token| answers.shifts(&stack, token)) {
                    can_follow.push(next);
                }
            }
            let next = match last {
                Some(last) if random.random_bool(0.8) && can_follow.contains(&last) => last,
                _ if can_follow.is_empty() => break,
                _ => can_follow[random.random_range(0..can_follow.len())],
            };
            last = Some(next);
            let seen = step(machine, &input, next);
            loop {
                let choices = machine.choose(&seen, &states[stack.len()]);
                compared += 1;
                if let Some(different) = answers.compare(&stack, next, Asked::Action, &choices) {
                    return Some(different);
                }
                let Reduction { pop, push: pushed } = answers.action(&stack, next);
                let Some(pushed) = pushed else {
                    if let Some(different) = answers.compare(&stack, next, Asked::OutputAndShift, &choices) {
                        return Some(different);
                    }
                    break;
                };
                let Some(depth) = stack.len().checked_sub(pop as usize) else { break };
                stack.truncate(depth);
                states.truncate(depth + 1);
                states.push(push(machine, &states[depth], pushed));
                stack.push(pushed);
            }
            let Some(token) = next.token().filter(|&token| answers.shifts(&stack, token)) else { break };
            states.push(push(machine, &states[stack.len()], token));
            stack.push(token);
            input = seen;
        }
    }
    None
}

/// An event on a token, without its margin.
#[derive(Debug, PartialEq)]
enum Done {
    Decided(Reduction),
    Put(bool),
    Shifted(bool),
}

fn done(all: &mut Vec<Done>) -> impl FnMut(u64, Event<'_>) {
    |_, event| {
        all.push(match event {
            Event::Decide { reduction, .. } => Done::Decided(reduction),
            Event::Output { values } => Done::Put(values[0] > 0.5),
            Event::Shift { shifted, .. } => Done::Shifted(shifted),
        });
    }
}

/// Compares all words up to a length, in sessions as users run them. A word that is rejected is not continued.
fn short_words(machine: &Machine, oracle: &Oracle) -> Option<Different> {
    let mut open = vec![(Vec::new(), machine.start(Limits::default()), oracle.start(Limits::default()))];
    let tokens: Vec<SymbolId> = machine.alphabet().terminals().collect();
    while let Some((word, ours, theirs)) = open.pop() {
        let different = |word: &[SymbolId], next, what| Some(Different { stack: word.to_vec(), next, what });
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let (one, other) = (ours.clone().finish(&mut done(&mut a)), theirs.clone().finish(&mut done(&mut b)));
        if (&one, a) != (&other, b) {
            return different(&word, Lookahead::End, format!("the word: {one:?} for {other:?}"));
        }
        for &token in tokens.iter().filter(|_| word.len() < SHORT) {
            let (mut ours, mut theirs) = (ours.clone(), theirs.clone());
            let (mut a, mut b) = (Vec::new(), Vec::new());
            let one = ours.feed(Input::Symbol(token), &mut done(&mut a));
            let other = theirs.feed(Input::Symbol(token), &mut done(&mut b));
            if (one, &a) != (other, &b) {
                return different(&word, Lookahead::Token(token), format!("the word: {a:?} for {b:?}"));
            }
            if one == Status::Open {
                open.push(([&word[..], &[token]].concat(), ours, theirs));
            }
        }
    }
    None
}
