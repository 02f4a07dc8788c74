//! How large the LR(1) table of a grammar becomes. Short grammars can have exponentially many states, and grmtools cannot
//! be interrupted while it computes them, so they are counted here first.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::rules::Rules;

/// The maximum size of all kernels together, and of the closure of one, in 64-bit words.
const MAX_KEPT: u64 = 1 << 26;
/// The maximum number of words that are read to compute and compare kernels.
const MAX_READ: u64 = 1 << 31;
/// The maximum number of items that grmtools goes through: all items of a state for each symbol that may follow.
const MAX_VISITED: u64 = 1 << 32;
/// The words that an item of a kernel takes in addition to its lookaheads: its position, which is also part of a key, and
/// what an allocation costs.
const ITEM: usize = 8;

/// A set of lookaheads: one bit for each terminal, and one for the end of the input.
type Bits = Box<[u64]>;

/// A production with a position in it.
type Item = (usize, usize);

/// The items from which a state began, in order, with their lookaheads.
type Kernel = Vec<(Item, Bits)>;

/// Why the states are not counted to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooLarge {
    /// There are more states than asked for.
    States,
    /// They take too much memory or time.
    Work,
}

/// Counts the LR(1) states of a grammar, which are merged as Pager does where that causes no conflict. States that a
/// later merger makes unreachable are counted, too.
pub(crate) fn count_states(rules: &Rules, most: usize) -> Result<usize, TooLarge> {
    let mut states = States::new(rules)?;
    let end = (0..states.width).map(|word| u64::from(word == rules.terminals / 64) << (rules.terminals % 64)).collect();
    // The production after the last one is the start symbol alone.
    states.reach(vec![((rules.productions.len(), 0), end)])?;
    while let Some(state) = states.open.pop_front() {
        states.is_open[state] = false;
        for kernel in states.successors(state)? {
            states.reach(kernel)?;
        }
        if states.kernels.len() > most {
            return Err(TooLarge::States);
        }
    }
    Ok(states.kernels.len())
}

/// What can begin a sequence of symbols.
#[derive(Clone, Debug)]
struct First {
    bits: Bits,
    /// Whether the sequence derives the empty word.
    nullable: bool,
}

struct States<'a> {
    rules: &'a Rules,
    /// The productions of each symbol.
    productions: Vec<Vec<usize>>,
    /// The number of words in a set of lookaheads.
    width: usize,
    /// What can begin the rest of each production after each position.
    rests: Vec<Vec<First>>,
    kernels: Vec<Kernel>,
    /// The states with the same items.
    alike: HashMap<Vec<Item>, Vec<usize>>,
    /// The states whose successors are to be computed, and whether a state is one of them.
    open: VecDeque<usize>,
    is_open: Vec<bool>,
    /// The size of all kernels, in words, how many words have been read, and how many items grmtools goes through.
    kept: u64,
    read: u64,
    visited: u64,
}

impl<'a> States<'a> {
    fn new(rules: &'a Rules) -> Result<Self, TooLarge> {
        let mut productions = vec![Vec::new(); rules.names.len()];
        for (number, production) in rules.productions.iter().enumerate() {
            productions[production.left].push(number);
        }
        let width = (rules.terminals + 1).div_ceil(64);
        Ok(Self {
            rules,
            productions,
            width,
            rests: rests(rules, width)?,
            kernels: Vec::new(),
            alike: HashMap::new(),
            open: VecDeque::new(),
            is_open: Vec::new(),
            kept: 0,
            read: 0,
            visited: 0,
        })
    }

    /// Returns the right side of a production, or the start symbol.
    fn right(&self, production: usize) -> &'a [usize] {
        let rules = self.rules;
        rules.productions.get(production).map_or(std::slice::from_ref(&rules.start), |production| &production.right)
    }

    /// Adds the lookaheads that a nonterminal has at a position, followed by `after`. Returns whether they are new.
    fn look_ahead(&self, (production, at): Item, after: &[u64], bits: &mut [u64]) -> bool {
        match self.rests.get(production) {
            Some(rests) => {
                let first = &rests[at + 1];
                let added = add(bits, &first.bits);
                (first.nullable && add(bits, after)) || added
            }
            None => add(bits, after),
        }
    }

    /// Returns the nonterminals that a state may go on with, and the lookaheads of their productions.
    fn closure(&mut self, state: usize) -> Result<BTreeMap<usize, Bits>, TooLarge> {
        let mut closure: BTreeMap<usize, Bits> = BTreeMap::new();
        let mut open = self.kernels[state].clone();
        let mut items = open.len();
        while let Some(((production, at), after)) = open.pop() {
            let next = self.right(production).get(at).filter(|&&next| next >= self.rules.terminals);
            let Some(&next) = next else { continue };
            let fresh = !closure.contains_key(&next);
            let bits = closure.entry(next).or_insert_with(|| vec![0; self.width].into_boxed_slice());
            if self.look_ahead((production, at), &after, bits) || fresh {
                let productions = &self.productions[next];
                items += productions.len();
                count(&mut 0, [items, ITEM + self.width], MAX_KEPT)?;
                open.extend(productions.iter().map(|&production| ((production, 0), bits.clone())));
            }
        }
        count(&mut self.read, [items, self.width], MAX_READ)?;
        Ok(closure)
    }

    /// Returns the kernels of the states that follow a state.
    fn successors(&mut self, state: usize) -> Result<Vec<Kernel>, TooLarge> {
        let closure = self.closure(state)?;
        let begun = self.kernels[state].iter().map(|(item, bits)| (*item, bits));
        let added = closure.iter().flat_map(|(nonterminal, bits)| {
            self.productions[*nonterminal].iter().map(move |&production| ((production, 0), bits))
        });
        let mut successors: BTreeMap<usize, Kernel> = BTreeMap::new();
        let mut items = 0;
        for ((production, at), bits) in begun.chain(added) {
            items += 1;
            if let Some(&next) = self.right(production).get(at) {
                successors.entry(next).or_default().push(((production, at + 1), bits.clone()));
            }
        }
        count(&mut self.visited, [items, successors.len()], MAX_VISITED)?;
        let mut successors: Vec<Kernel> = successors.into_values().collect();
        successors.iter_mut().for_each(|kernel| kernel.sort_unstable_by_key(|(item, _)| *item));
        Ok(successors)
    }

    /// Merges the kernel with that of a state, or adds a state for it.
    fn reach(&mut self, kernel: Kernel) -> Result<(), TooLarge> {
        let alike = self.alike.entry(kernel.iter().map(|(item, _)| *item).collect()).or_default();
        for &state in alike.iter() {
            count(&mut self.read, [self.width, kernel.len(), kernel.len()], MAX_READ)?;
            if are_compatible(&self.kernels[state], &kernel) {
                let mut grown = false;
                for ((_, own), (_, bits)) in self.kernels[state].iter_mut().zip(&kernel) {
                    grown |= add(own, bits);
                }
                if grown && !std::mem::replace(&mut self.is_open[state], true) {
                    self.open.push_back(state);
                }
                return Ok(());
            }
        }
        count(&mut self.kept, [ITEM + self.width, kernel.len()], MAX_KEPT)?;
        alike.push(self.kernels.len());
        self.open.push_back(self.kernels.len());
        self.is_open.push(true);
        self.kernels.push(kernel);
        Ok(())
    }
}

/// Adds a product to a counter.
fn count<const N: usize>(counter: &mut u64, factors: [usize; N], most: u64) -> Result<(), TooLarge> {
    *counter += factors.map(|factor| factor as u64).iter().product::<u64>();
    if *counter > most { Err(TooLarge::Work) } else { Ok(()) }
}

/// Adds the elements of another set. Returns whether there are new ones.
fn add(bits: &mut [u64], others: &[u64]) -> bool {
    let mut new = 0;
    for (bits, others) in bits.iter_mut().zip(others) {
        new |= others & !*bits;
        *bits |= others;
    }
    new != 0
}

fn intersect(some: &[u64], others: &[u64]) -> bool {
    some.iter().zip(others).any(|(some, others)| some & others != 0)
}

/// Returns whether two kernels with the same items are weakly compatible (Pager 1977): merging them causes no conflict
/// that neither of them has.
fn are_compatible(some: &Kernel, others: &Kernel) -> bool {
    let pairs = (0..some.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.into_iter().all(|(i, j)| {
        let crossing = intersect(&some[i].1, &others[j].1) || intersect(&some[j].1, &others[i].1);
        !crossing || intersect(&some[i].1, &some[j].1) || intersect(&others[i].1, &others[j].1)
    })
}

/// Returns what can begin the rest of each production, from each position on.
fn rests(rules: &Rules, width: usize) -> Result<Vec<Vec<First>>, TooLarge> {
    let positions: usize = rules.productions.iter().map(|production| production.right.len() + 1).sum();
    let kept = [positions + rules.names.len(), ITEM + width];
    count(&mut 0, kept, MAX_KEPT)?;
    let nothing = |nullable| First { bits: vec![0; width].into_boxed_slice(), nullable };
    let mut firsts = vec![nothing(false); rules.names.len()];
    for (terminal, first) in firsts[..rules.terminals].iter_mut().enumerate() {
        first.bits[terminal / 64] |= 1 << (terminal % 64);
    }
    let mut read = 0;
    let mut changed = true;
    while std::mem::take(&mut changed) {
        count(&mut read, kept, MAX_READ)?;
        for production in &rules.productions {
            let mut own = nothing(true);
            for &symbol in &production.right {
                add(&mut own.bits, &firsts[symbol].bits);
                own.nullable = firsts[symbol].nullable;
                if !own.nullable {
                    break;
                }
            }
            let first = &mut firsts[production.left];
            changed |= add(&mut first.bits, &own.bits) || (own.nullable && !first.nullable);
            first.nullable |= own.nullable;
        }
    }
    let all = |right: &[usize]| {
        let mut rests = vec![nothing(true)];
        for &symbol in right.iter().rev() {
            let mut rest = firsts[symbol].clone();
            if rest.nullable {
                let after = &rests[rests.len() - 1];
                add(&mut rest.bits, &after.bits);
                rest.nullable = after.nullable;
            }
            rests.push(rest);
        }
        rests.reverse();
        rests
    };
    Ok(rules.productions.iter().map(|production| all(&production.right)).collect())
}
