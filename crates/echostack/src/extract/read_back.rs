//! Writes what a machine does as an automaton, and proves that the machine does the same.

use std::collections::{BTreeMap, BTreeSet};

use super::explore::{Explored, ExtractError, explore};
use super::graph::Graph;
use super::rules::{Situation, rule_list};
use crate::automaton::reach::{ElementId, Phase, Reach, System};
use crate::automaton::{Automaton, Oracle, Viability};
use crate::certify::{Certificate, Proof, Prover};
use crate::control::Control;
use crate::machine::Machine;
use crate::recognize::{Mode, Reduction};
use crate::suffix::StackSuffix;
use crate::symbol::{Lookahead, SymbolId};

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

/// Extracts the automaton from a strict machine. The result is exact: the certificate proves it.
///
/// # Errors
/// See [`ExtractError`].
pub fn extract(machine: &Machine, control: &dyn Control) -> Result<Extraction, ExtractError> {
    explore(machine, control, |explored, reach| explored.read_back(reach, control))
}

/// Returns an automaton that does the same as a strict machine on every word, with the proof that it does. Unlike that
/// of [`extract`], it has not only its rules but also its viable stacks from the machine. It is found in less time if
/// there are many rules, and even if the rules alone would allow more words.
///
/// # Errors
/// See [`ExtractError`].
pub fn replicate(machine: &Machine, control: &dyn Control) -> Result<(Oracle, Certificate), ExtractError> {
    explore(machine, control, |explored, reach| explored.replicate(reach, control))
}

impl Explored<'_> {
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

    /// Returns the reduction in each reachable situation, and the accepting nonterminals.
    fn decisions(&self, reach: &Reach) -> Result<(Decisions, Vec<SymbolId>), ExtractError> {
        let mut decisions = Decisions::new();
        let mut accepting = Vec::new();
        for top in &reach.tops {
            match top.phase {
                Phase::Reduce(sight) => {
                    let Some(&Some(reduction)) = self.reductions.get(&(sight, top.element)) else { continue };
                    if reduction.pop > 0 && reduction.push.is_none() {
                        return Err(ExtractError::NoRule);
                    }
                    let known = decisions.entry((sight.next, top.element)).or_insert(reduction);
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
        Ok((decisions, accepting))
    }

    /// Returns the situations of these decisions. `popped` gives what is known about the popped symbols.
    fn situations(
        &self,
        decisions: &Decisions,
        popped: impl Fn(&(Lookahead, ElementId)) -> StackSuffix,
    ) -> Vec<Situation> {
        let situation = |(place, &does): (&(Lookahead, ElementId), &Reduction)| {
            let stack = self.elements[place.1.index()].clone();
            Situation { next: place.0, stack, does, popped: popped(place) }
        };
        decisions.iter().map(situation).collect()
    }

    /// Writes the reachable decisions as rules and proves that the machine follows them.
    fn read_back(&self, reach: &Reach, control: &dyn Control) -> Result<Extraction, ExtractError> {
        let (decisions, accepting) = self.decisions(reach)?;
        let spelled = spelled(reach, self);
        let situations =
            self.situations(&decisions, |place| StackSuffix::common(spelled.get(place).into_iter().flatten()));
        let graph = Graph::new(&self.elements, reach, &situations, &accepting);
        let automaton = Automaton::new(self.machine.alphabet().clone(), rule_list(&situations), accepting)?;
        let productions = self.productions(&automaton, &situations, &spelled);
        let (oracle, certificate) = self.proved(automaton, control)?;
        Ok(Extraction { oracle, certificate, depth: self.depth, productions, graph })
    }

    /// Writes the reachable decisions as rules with viable stacks, and proves that the machine follows them.
    fn replicate(&self, reach: &Reach, control: &dyn Control) -> Result<(Oracle, Certificate), ExtractError> {
        let (decisions, accepting) = self.decisions(reach)?;
        let rules = rule_list(&self.situations(&decisions, |_| StackSuffix::ANY));
        let symbols = self.machine.alphabet().len();
        // The stacks that occur are viable. A symbol leads from one element to another if it was pushed there.
        let mut rows = vec![Vec::new(); self.elements.len()];
        for under in &reach.unders {
            let pushed = reach.places[under.place.index() - 1].1;
            if let Some(symbol) = self.symbol(pushed) {
                rows[under.element.index()].push((symbol, pushed.index()));
            }
        }
        let automaton = Automaton::new(self.machine.alphabet().clone(), rules, accepting)?;
        self.proved(automaton.with_viability(Viability::given(symbols, &rows)?)?, control)
    }

    /// Proves that the machine does the same as an automaton.
    fn proved(&self, automaton: Automaton, control: &dyn Control) -> Result<(Oracle, Certificate), ExtractError> {
        let oracle = Oracle::new(automaton, Mode::Strict, control)?;
        let prover = Prover::new(&oracle, self.machine.view(), control)?;
        match prover.prove(self.machine, control)? {
            Proof::Proved(certificate) => Ok((oracle, *certificate)),
            Proof::Open { cells, .. } => {
                let difference = prover.difference(self.machine, &cells, control).map(Box::new);
                Err(ExtractError::Refuses { automaton: Box::new(oracle.automaton().clone()), difference })
            }
        }
    }
}

/// The reductions, by lookahead and topmost element.
type Decisions = BTreeMap<(Lookahead, ElementId), Reduction>;

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
