//! Extracts the automaton that a machine implements.
//!
//! The machine is explored as a pushdown system whose elements are the topmost few symbols of the stack. A decision
//! that is the same for all stacks with these symbols on top ([`Bounds`]) becomes a move of the system. A decision that
//! is not stays open: the exploration does not continue from there, and is repeated with one more symbol of the stack,
//! or with one more token of the input. When no decision is open, the reachable decisions are written as rules, and the
//! machine is proved to follow them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::graph::Graph;
use super::rules::{Situation, rule_list};
use crate::automaton::reach::{ElementId, Memory, Phase, Reach, Recalled, Sight, System};
use crate::automaton::{Automaton, AutomatonError, Oracle};
use crate::certify::bound::{Bounds, Scratch, Sighting};
use crate::certify::cells::InputSightings;
use crate::certify::{Certificate, CertifyError, Difference, Proof, Prover, WellScaled, provable};
use crate::control::{Control, Poll};
use crate::machine::{Machine, Readout};
use crate::recognize::{Reduction, View};
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::{Alphabet, Lookahead, SymbolId};
use crate::teach::Answer;

/// The reason why no automaton could be extracted from a machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The machine cannot be compared with automata.
    #[error(transparent)]
    Certify(#[from] CertifyError),
    /// The automaton is too large or otherwise unsuitable.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
    /// A decision of the machine depends on more of its input than the next token.
    #[error(
        "on some stacks, the machine's decision depends on more of its input than the next token, which no LR(1) \
         rule can express"
    )]
    NotLr1,
    /// The machine does something that no rule can express.
    #[error(
        "the machine pops without pushing, or accepts with a stack that is not a single symbol, which no rule \
         can express"
    )]
    NoRule,
    /// Some decisions remained open.
    #[error("{} decisions remain open even with {depth} symbols of the stack; the first is {}", open.len(), open[0])]
    Open {
        /// The number of stack symbols that were considered.
        depth: usize,
        /// The open decisions.
        open: Vec<Undecided>,
    },
    /// The rules were found, but the machine does not agree with their automaton: it rejects a token after which the
    /// word could still be completed.
    #[error(
        "the machine follows rules, but is not a strict automaton: it rejects a token after which a word could still \
         be completed"
    )]
    Refuses {
        /// The automaton of the rules.
        automaton: Box<Automaton>,
        /// A word on which the machine and the automaton differ, if one was found.
        difference: Option<Box<Difference>>,
    },
}

/// A decision that is not the same for all stacks with the same suffix.
#[derive(Clone, Debug)]
pub struct Undecided {
    /// The lookahead.
    pub next: Lookahead,
    /// The stack suffix.
    pub stack: StackSuffix,
    alphabet: Arc<Alphabet>,
}

impl std::fmt::Display for Undecided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let next = InputSuffix::of(self.next);
        write!(f, "on the stack {} before {}", self.stack.display(&self.alphabet), next.display(&self.alphabet))
    }
}

/// The automaton that a machine implements.
#[derive(Debug)]
pub struct Extraction {
    /// The automaton, ready to run.
    pub oracle: Oracle,
    /// The proof that the machine agrees with the automaton on every word.
    pub certificate: Certificate,
    /// The number of stack symbols that were considered.
    pub depth: usize,
    /// The productions that the reductions correspond to, in the order of the rules: each is a nonterminal and the
    /// symbols that it replaces.
    pub productions: Vec<(SymbolId, Vec<SymbolId>)>,
    graph: Graph,
}

impl Extraction {
    /// Returns the automaton as a graph in Graphviz's DOT language: the stack suffixes, the actions on each, and the
    /// symbols that lead from one to another.
    pub fn dot(&self) -> String {
        self.graph.dot(self.oracle.automaton().alphabet())
    }
}

/// The maximum number of stack symbols in an element.
const MAX_STACK_SUFFIX: usize = 12;
/// The maximum number of tokens before the next one that are remembered.
const MAX_REMEMBERED_TOKENS: u32 = 5;

/// Extracts the automaton from a strict machine. The result is exact: the certificate proves it.
///
/// # Errors
/// See [`ExtractError`].
pub fn extract(machine: &Machine, control: &dyn Control) -> Result<Extraction, ExtractError> {
    provable(machine)?;
    let bounds = Bounds::new(&WellScaled::new(machine)?, &mut Poll::new(control))?;
    let (mut depth, mut tokens) = (1, u32::from(machine.view() == View::Reservoir));
    loop {
        if control.cancelled() {
            return Err(CertifyError::Cancelled.into());
        }
        let terminals = machine.alphabet().terminals().len();
        let memory = Memory::new(terminals, tokens).ok_or(AutomatonError::TooLarge)?;
        let mut explored = Explored::new(machine, &bounds, depth, memory);
        let (reach, _) = Reach::new(&mut explored, control)?;
        if explored.open.is_empty() {
            return explored.read_back(&reach, control);
        }
        // A decision is attributed to the larger of its two sets, inputs or stacks; extend the one that leaves more
        // open.
        let input_is_larger =
            explored.open.iter().filter(|open| open.input_is_larger).count() * 2 > explored.open.len();
        match input_is_larger {
            true if tokens < MAX_REMEMBERED_TOKENS => tokens += 1,
            _ if depth < MAX_STACK_SUFFIX => depth += 1,
            _ => {
                let open = explored.open.iter().map(|open| explored.undecided(open)).collect();
                return Err(ExtractError::Open { depth, open });
            }
        }
    }
}

/// A decision that could not be determined.
struct Open {
    next: Lookahead,
    element: ElementId,
    input_is_larger: bool,
}

/// A machine as a pushdown system whose elements are stack suffixes.
struct Explored<'m> {
    machine: &'m Machine,
    bounds: &'m Bounds<'m>,
    depth: usize,
    memory: Memory,
    elements: Vec<StackSuffix>,
    ids: HashMap<StackSuffix, ElementId>,
    sightings: Vec<Option<Sighting>>,
    /// The approximate number of floating-point numbers in the sightings.
    numbers: usize,
    inputs: InputSightings,
    scratch: Scratch,
    /// The reductions that have been asked for; `None` if the decision is open.
    reductions: HashMap<(Sight, ElementId), Option<Reduction>>,
    /// The outputs and shifts that have been asked for; `None` if one of the decisions is open.
    settled: HashMap<(Sight, ElementId), Option<(bool, bool)>>,
    open: Vec<Open>,
}

impl<'m> Explored<'m> {
    fn new(machine: &'m Machine, bounds: &'m Bounds<'m>, depth: usize, memory: Memory) -> Self {
        Self {
            machine,
            bounds,
            depth,
            memory,
            elements: vec![StackSuffix::BOTTOM],
            ids: HashMap::from([(StackSuffix::BOTTOM, ElementId::BOTTOM)]),
            sightings: vec![None],
            numbers: 0,
            inputs: InputSightings::default(),
            scratch: Scratch::default(),
            reductions: HashMap::new(),
            settled: HashMap::new(),
            open: Vec::new(),
        }
    }

    /// Returns the suffix of the input that the machine sees, as far as it is remembered.
    fn input(&self, sight: Sight) -> InputSuffix {
        let mut input = InputSuffix::of(sight.next);
        while self.machine.view() == View::Reservoir && !input.is_whole() {
            match self.memory.recall(sight.recent, input.before().len()) {
                Recalled::Token(token) => input = input.longer(Some(token)),
                Recalled::Beginning => input = input.longer(None),
                Recalled::Forgotten => break,
            }
        }
        input
    }

    /// Returns the answers of the given readouts, if they are the same on all stacks with this suffix; otherwise
    /// records the decision as open.
    fn answers(&mut self, sight: Sight, element: ElementId, readouts: &[Readout]) -> Option<Vec<Answer>> {
        let input = self.input(sight);
        let place = element.index();
        if self.numbers > InputSightings::MAX_NUMBERS {
            self.numbers = 0;
            self.sightings.iter_mut().for_each(|sighting| *sighting = None);
        }
        let stack = &*self.sightings[place].get_or_insert_with(|| {
            let sighting = self.bounds.stack(&self.elements[place]);
            self.numbers += sighting.numbers();
            sighting
        });
        let input = self.inputs.see(self.bounds, &input);
        let mut answers = Vec::new();
        self.scratch.forget();
        for (number, (readout, _)) in self.bounds.heads().iter().enumerate() {
            if readouts.contains(readout) {
                let Some(class) = self.bounds.certain(number, input, stack, &mut self.scratch) else {
                    let input_is_larger = input.size() > stack.size();
                    self.open.push(Open { next: sight.next, element, input_is_larger });
                    return None;
                };
                answers.push(self.machine.answer(*readout, class)?);
            }
        }
        Some(answers)
    }

    fn reduction(&mut self, sight: Sight, element: ElementId) -> Option<Reduction> {
        if let Some(&known) = self.reductions.get(&(sight, element)) {
            return known;
        }
        let answers = self.answers(sight, element, &[Readout::Pop, Readout::Push]);
        // Separate readouts give half of the answer each: the pop comes from the first, the push from the last.
        let found = answers.and_then(|answers| match (answers.first(), answers.last()) {
            (Some(Answer::Act(first)), Some(Answer::Act(last))) => Some(Reduction { pop: first.pop, push: last.push }),
            _ => None,
        });
        self.reductions.insert((sight, element), found);
        found
    }

    /// Returns whether the output means acceptance, and whether the token is shifted; `None` if that is open.
    fn settled(&mut self, sight: Sight, element: ElementId) -> Option<(bool, bool)> {
        if let Some(&known) = self.settled.get(&(sight, element)) {
            return known;
        }
        let asked: &[Readout] =
            if sight.next == Lookahead::End { &[Readout::Output] } else { &[Readout::Output, Readout::Shift] };
        let found = self.answers(sight, element, asked).map(|answers| {
            let output = answers.contains(&Answer::Output(true));
            (output, answers.contains(&Answer::Shift(true)))
        });
        self.settled.insert((sight, element), found);
        found
    }

    fn undecided(&self, open: &Open) -> Undecided {
        let (next, stack) = (open.next, self.elements[open.element.index()].clone());
        Undecided { next, stack, alphabet: self.machine.alphabet().clone() }
    }

    /// Returns the productions that the reductions of each rule correspond to.
    fn productions(
        &self,
        automaton: &Automaton,
        situations: &[Situation],
        spelled: &Spelled,
    ) -> Vec<(SymbolId, Vec<SymbolId>)> {
        let mut out = Vec::new();
        for rule in automaton.rules() {
            let suffix = StackSuffix::new(rule.suffix.clone(), false);
            for Situation { next, stack, does: reduction, .. } in situations {
                let element = self.ids[stack];
                // The rule's suffix may be longer than the suffix considered, because it also shows popped symbols.
                let shown = suffix.depth().min(stack.depth());
                let ends = suffix.from_top().take(shown).eq(stack.from_top().take(shown));
                let same = (reduction.pop, reduction.push) == (rule.pop, Some(rule.push));
                if !ends || !same || rule.lookahead.is_some_and(|wanted| wanted != *next) {
                    continue;
                }
                for string in spelled.get(&(*next, element)).into_iter().flatten() {
                    let production = (rule.push, string.symbols().to_vec());
                    if !out.contains(&production) {
                        out.push(production);
                    }
                }
            }
        }
        out
    }

    /// Writes the reachable decisions as rules and proves that the machine follows them.
    fn read_back(self, reach: &Reach, control: &dyn Control) -> Result<Extraction, ExtractError> {
        let mut situations: BTreeMap<(Lookahead, ElementId), Reduction> = BTreeMap::new();
        let mut accepting = Vec::new();
        for top in &reach.tops {
            match top.phase {
                Phase::Reduce(sight) => {
                    let Some(&Some(reduction)) = self.reductions.get(&(sight, top.element)) else { continue };
                    if reduction.pop > 0 && reduction.push.is_none() {
                        return Err(ExtractError::NoRule);
                    }
                    let known = situations.entry((sight.next, top.element)).or_insert(reduction);
                    if *known != reduction {
                        return Err(ExtractError::NotLr1);
                    }
                }
                Phase::Settled(sight) if sight.next == Lookahead::End => {
                    if let Some(&Some((true, _))) = self.settled.get(&(sight, top.element)) {
                        let stack = &self.elements[top.element.index()];
                        match stack.symbols() {
                            [symbol] if stack.is_whole() => accepting.push(*symbol),
                            _ => return Err(ExtractError::NoRule),
                        }
                    }
                }
                _ => {}
            }
        }
        accepting.sort_unstable();
        accepting.dedup();
        let spelled = spelled(reach, &self);
        let situation = |(&(next, element), &reduction): (&(Lookahead, ElementId), &Reduction)| {
            let stack = self.elements[element.index()].clone();
            let popped = StackSuffix::common(spelled.get(&(next, element)).into_iter().flatten());
            Situation { next, stack, does: reduction, popped }
        };
        let situations: Vec<Situation> = situations.iter().map(situation).collect();
        let graph = Graph::new(&self.elements, reach, &situations);
        let rules = rule_list(&situations);
        let alphabet = self.machine.alphabet().clone();
        let automaton = Automaton::new(alphabet, rules, accepting)?;
        let productions = self.productions(&automaton, &situations, &spelled);
        let oracle = Oracle::controlled(automaton, control)?;
        let prover = Prover::new(&oracle, self.machine.view(), control)?;
        match prover.prove(self.machine, control)? {
            Proof::Proved(certificate) => {
                let depth = self.depth;
                Ok(Extraction { oracle, certificate: *certificate, depth, productions, graph })
            }
            Proof::Open { cells, .. } => {
                let difference = prover.difference(self.machine, &cells, control).map(Box::new);
                Err(ExtractError::Refuses { automaton: Box::new(oracle.automaton().clone()), difference })
            }
        }
    }
}

/// The strings that each reduction pops.
type Spelled = BTreeMap<(Lookahead, ElementId), BTreeSet<StackSuffix>>;

/// The maximum number of strings that are listed for one reduction.
const MAX_STRINGS: usize = 1000;

fn spelled(reach: &Reach, system: &Explored<'_>) -> Spelled {
    let beneath = reach.beneath();
    let mut out = Spelled::new();
    for top in &reach.tops {
        let Phase::Reduce(sight) = top.phase else { continue };
        let Some(&Some(Reduction { pop, push: Some(_) })) = system.reductions.get(&(sight, top.element)) else {
            continue;
        };
        let strings = out.entry((sight.next, top.element)).or_default();
        let mut paths = BTreeSet::from([(StackSuffix::ANY, top.element, top.beneath)]);
        while let Some((string, element, place)) = paths.pop_first() {
            if strings.len() + paths.len() > MAX_STRINGS {
                strings.clear(); // too many to have much in common, or to be read by anyone
                break;
            }
            if string.depth() == pop as usize {
                strings.insert(string);
            } else if let Some(symbol) = system.symbol(element) {
                let longer = string.longer(Some(symbol));
                let under = beneath.get(&place).into_iter().flatten();
                paths.extend(under.map(|under| (longer.clone(), under.element, under.beneath)));
            }
        }
    }
    out
}

impl System for Explored<'_> {
    fn symbol(&self, element: ElementId) -> Option<SymbolId> {
        self.elements[element.index()].top()
    }

    fn alphabet(&self) -> &Alphabet {
        self.machine.alphabet()
    }

    fn memory(&self) -> Memory {
        self.memory
    }

    fn push(&mut self, on: ElementId, symbol: SymbolId) -> ElementId {
        let suffix = self.elements[on.index()].pushed(symbol, self.depth);
        let fresh = ElementId::new(self.elements.len());
        let id = *self.ids.entry(suffix.clone()).or_insert(fresh);
        if id == fresh {
            self.elements.push(suffix);
            self.sightings.push(None);
        }
        id
    }

    fn decide(&mut self, sight: Sight, top: ElementId) -> Option<Reduction> {
        self.reduction(sight, top)
    }

    fn goes_on(&mut self, sight: Sight, top: ElementId) -> bool {
        self.settled(sight, top).is_some_and(|(_, shifts)| shifts)
    }
}
