//! LR(1) parsers by their definition, for checking what was made of a grammar.
//!
//! Every state is a set of items with their lookaheads, and two sets are one state only if they are equal or, for
//! LALR(1), if they have the same items, whose lookaheads are then united. There are many more states than a parser
//! needs, but nothing has to be argued about them. Only [`precedence`](crate::precedence) and the reading of the file
//! are shared with what builds tables (`lr`).

use std::collections::{BTreeMap, HashMap, VecDeque};

use echostack::certify::{Parser, ParserAction};
use echostack::recognize::Reduction;
use echostack::{Control, Lookahead, SymbolId};

use crate::bits::{Bits, add, insert};
use crate::precedence::{Choices, remaining};
use crate::rules::{Merging, Rules};

/// The maximum number of 64-bit words that all states take.
const MAX_KEPT: u64 = 1 << 25;
/// The maximum number of words that are read in all.
const MAX_READ: u64 = 1 << 32;

/// A production and a position in it. The production after the last one is the start symbol alone.
type Item = (usize, usize);

/// The items from which a state began, each with its lookaheads.
type Kernel = BTreeMap<Item, Bits>;

/// An LR(1) parser. State 0 is the start state.
#[derive(Debug)]
pub(crate) struct Canonical<'a> {
    rules: &'a Rules,
    states: Vec<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What is done on each terminal and, as the last entry, at the end.
    actions: Vec<ParserAction>,
    edges: Vec<(SymbolId, usize)>,
    complete: Vec<usize>,
}

impl<'a> Canonical<'a> {
    /// Computes the parser of a grammar; `None` if it is too large, or the control asks to stop.
    pub(crate) fn new(rules: &'a Rules, control: &dyn Control) -> Option<Self> {
        let items = Items::new(rules);
        let mut end = items.none();
        insert(&mut end, rules.terminals);
        let mut known: Vec<Kernel> = vec![Kernel::from([((rules.productions.len(), 0), end)])];
        let mut numbers: HashMap<Kernel, usize> = HashMap::from([(items.key(&known[0]), 0)]);
        let mut this = Self { rules, states: vec![State::default()] };
        let mut open = VecDeque::from([0]);
        // For each state, whether it is open.
        let mut waits = vec![true];
        let (mut kept, mut read) = (0_u64, 0_u64);
        while let Some(number) = open.pop_front() {
            waits[number] = false;
            let closure = items.closure(&known[number]);
            read += (closure.len() * (items.width + 8)) as u64;
            let mut state = items.state(&closure);
            for (symbol, kernel) in items.successors(&closure) {
                read += (kernel.len() * (items.width + 8)) as u64;
                let fresh = known.len();
                let next = *numbers.entry(items.key(&kernel)).or_insert(fresh);
                if next == fresh {
                    kept += (2 * kernel.len() * (items.width + 8) + 16 * rules.names.len()) as u64;
                    known.push(kernel);
                    this.states.push(State::default());
                    open.push_back(next);
                    waits.push(true);
                } else if rules.merging == Merging::Lalr
                    && unite(&mut known[next], &kernel)
                    && !std::mem::replace(&mut waits[next], true)
                {
                    // What follows this state was computed without the new lookaheads.
                    open.push_back(next);
                }
                // A shift that a precedence removes leads nowhere.
                let removed = state.actions.get(symbol).is_some_and(|action| *action != ParserAction::Shift);
                if symbol >= rules.terminals || !removed {
                    state.edges.push((SymbolId::new(symbol), next));
                }
            }
            this.states[number] = state;
            if kept > MAX_KEPT || read > MAX_READ || control.cancelled() {
                return None;
            }
        }
        Some(this)
    }
}

/// Adds the lookaheads of another kernel with the same items. Returns whether there are new ones.
fn unite(kernel: &mut Kernel, other: &Kernel) -> bool {
    let mut grown = false;
    for (own, bits) in kernel.values_mut().zip(other.values()) {
        grown |= add(own, bits);
    }
    grown
}

impl Parser for Canonical<'_> {
    fn symbols(&self) -> usize {
        self.rules.names.len()
    }

    fn states(&self) -> usize {
        self.states.len()
    }

    fn production(&self, number: usize) -> Reduction {
        let production = &self.rules.productions[number];
        Reduction { pop: production.right.len() as u32, push: Some(SymbolId::new(production.left)) }
    }

    fn action(&self, state: usize, lookahead: Lookahead) -> ParserAction {
        self.states[state].actions[lookahead.token().map_or(self.rules.terminals, SymbolId::index)]
    }

    fn edges(&self, state: usize) -> &[(SymbolId, usize)] {
        &self.states[state].edges
    }

    fn complete(&self, state: usize) -> &[usize] {
        &self.states[state].complete
    }
}

/// The items of a grammar.
struct Items<'a> {
    rules: &'a Rules,
    /// The productions of each symbol.
    productions: Vec<Vec<usize>>,
    /// What can begin each symbol, and whether it can be empty.
    firsts: Vec<(Bits, bool)>,
    /// The number of words in a set of lookaheads.
    width: usize,
}

impl<'a> Items<'a> {
    fn new(rules: &'a Rules) -> Self {
        let mut productions = vec![Vec::new(); rules.names.len()];
        for (number, production) in rules.productions.iter().enumerate() {
            productions[production.left].push(number);
        }
        let width = (rules.terminals + 1).div_ceil(64);
        let mut this = Self { rules, productions, firsts: Vec::new(), width };
        this.firsts = vec![(this.none(), false); rules.names.len()];
        (0..rules.terminals).for_each(|terminal| insert(&mut this.firsts[terminal].0, terminal));
        // Whatever can begin a production can begin its left side. Repeat until that adds nothing.
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for production in &rules.productions {
                let (bits, empty) = this.first(&production.right);
                let own = &mut this.firsts[production.left];
                changed |= add(&mut own.0, &bits) || (empty && !own.1);
                own.1 |= empty;
            }
        }
        this
    }

    fn none(&self) -> Bits {
        vec![0; self.width].into_boxed_slice()
    }

    /// Returns what can begin a sequence of symbols, and whether it can be empty.
    fn first(&self, symbols: &[usize]) -> (Bits, bool) {
        let mut bits = self.none();
        for &symbol in symbols {
            let (own, empty) = &self.firsts[symbol];
            add(&mut bits, own);
            if !empty {
                return (bits, false);
            }
        }
        (bits, true)
    }

    fn right(&self, production: usize) -> &[usize] {
        let start = std::slice::from_ref(&self.rules.start);
        self.rules.productions.get(production).map_or(start, |production| &production.right)
    }

    /// Returns what tells states apart: all of a kernel or, for LALR(1), only its items.
    fn key(&self, kernel: &Kernel) -> Kernel {
        match self.rules.merging {
            Merging::Lalr => kernel.keys().map(|&item| (item, Bits::default())).collect(),
            Merging::Unstated | Merging::Canonical => kernel.clone(),
        }
    }

    /// Adds the items that can come next: for each item A: α . B β with lookaheads L, the productions of B, with
    /// whatever can begin β followed by L.
    fn closure(&self, kernel: &Kernel) -> Kernel {
        let mut all = kernel.clone();
        let mut open: Vec<Item> = kernel.keys().copied().collect();
        while let Some((production, at)) = open.pop() {
            let Some((&next, rest)) = self.right(production)[at..].split_first() else { continue };
            if next < self.rules.terminals {
                continue;
            }
            let (mut bits, empty) = self.first(rest);
            if empty {
                add(&mut bits, &all[&(production, at)]);
            }
            for &number in &self.productions[next] {
                let fresh = !all.contains_key(&(number, 0));
                let own = all.entry((number, 0)).or_insert_with(|| self.none());
                if add(own, &bits) || fresh {
                    open.push((number, 0));
                }
            }
        }
        all
    }

    /// Returns the kernels of the states that follow a state, by the symbol that leads there.
    fn successors(&self, closure: &Kernel) -> BTreeMap<usize, Kernel> {
        let mut all: BTreeMap<usize, Kernel> = BTreeMap::new();
        for (&(production, at), bits) in closure {
            if let Some(&next) = self.right(production).get(at) {
                all.entry(next).or_default().insert((production, at + 1), bits.clone());
            }
        }
        all
    }

    /// Returns what is done in a state.
    fn state(&self, closure: &Kernel) -> State {
        let mut choices = Choices::default();
        for (&(production, at), bits) in closure {
            match self.right(production).get(at) {
                Some(&next) if next < self.rules.terminals => _ = choices.shifts.insert(next),
                Some(_) => {}
                None => _ = choices.reductions.insert(production, bits.clone()),
            }
        }
        let acceptance = self.rules.productions.len();
        let action = |lookahead| {
            let remaining = remaining(self.rules, &choices, lookahead);
            match remaining.reduction() {
                Some(production) if production == acceptance => ParserAction::Accept,
                Some(production) => ParserAction::Reduce(production),
                None if remaining.forbidden => ParserAction::Forbid,
                None if remaining.shift => ParserAction::Shift,
                None => ParserAction::None,
            }
        };
        let actions = (0..=self.rules.terminals).map(action).collect();
        let complete = choices.reductions.keys().copied().filter(|&number| number < acceptance).collect();
        State { actions, edges: Vec::new(), complete }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    /// Returns whether a state reduces by two productions, on different lookaheads.
    fn reduces_by_both(state: &State, one: usize, other: usize) -> bool {
        [one, other].iter().all(|&number| state.actions.contains(&ParserAction::Reduce(number)))
    }

    #[test]
    fn states_with_the_same_items_are_merged_only_on_request() {
        let text = "%%\nS: 'a' A 'd' | 'b' B 'd' | 'a' B 'e' | 'b' A 'e'; A: 'c'; B: 'c';\n";
        let states = |text: &str| {
            let rules = crate::reading::rules(Source { file: None, text }).unwrap().0;
            let parser = Canonical::new(&rules, &()).unwrap();
            (parser.states(), parser.states.iter().filter(|state| reduces_by_both(state, 4, 5)).count())
        };
        // The two states after c: apart, each reduces by both productions. Together, the first production always wins.
        assert_eq!(states(text), (14, 2));
        assert_eq!(states(&format!("%define lr.type lalr\n%expect-rr 2\n{text}")), (13, 0));
    }
}
