//! Compares a table with an automaton, action by action.
//!
//! Table and automaton run in lockstep on all words at once: an element of the stack is a pair of what the automaton
//! knows about the stack and the table's state for the same stack of symbols. The configurations that the pairs can reach
//! are computed like those of the automaton alone (`automaton/reach.rs`), and it is checked that nothing is missing from
//! them. In each, on each lookahead, both must do the same: the same reduction, the same shift or none, the same output.
//! Then, by induction over the actions, they have the same stack and take the same actions on every word.

use std::collections::HashMap;

use super::certificate::Certificate;
use super::closed::closed;
use super::digest::{automaton_digest, table_digest};
use super::error::CertifyError;
use crate::automaton::Oracle;
use crate::automaton::reach::{ElementId, Memory, Phase, Reach, Sight, Strict, System, Top, way_down};
use crate::control::{Control, Poll};
use crate::recognize::Reduction;
use crate::symbol::{Alphabet, Lookahead, SymbolId, Word};
use crate::table::{State, Table};

/// The result of comparing a table with an automaton.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Comparison {
    /// They take the same actions on every word. The certificate says so.
    Equal {
        /// The certificate of the table.
        certificate: Box<Certificate>,
        /// The number of configurations in which actions were compared.
        configurations: usize,
    },
    /// They act differently.
    Differs {
        /// A word after which they do.
        word: Word,
        /// What comes next then.
        next: Lookahead,
        /// What the table does.
        table: Behavior,
        /// What the automaton does.
        automaton: Behavior,
    },
    /// They have different symbols, so that their actions cannot be compared.
    NotComparable,
}

/// What a table or an automaton does with a stack on a lookahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// It pops and pushes.
    Reduce(Reduction),
    /// It shifts the token, or accepts the word at its end.
    GoOn,
    /// It refuses the token, or does not accept the word at its end.
    Refuse,
    /// It has no state for what was pushed.
    Lost,
}

/// Compares a table with a strict automaton.
///
/// # Errors
/// [`CertifyError::Automaton`] if there is too much to compare, [`CertifyError::Cancelled`] if the control asks to stop.
pub fn check_table(table: &Table, oracle: &Oracle, control: &dyn Control) -> Result<Comparison, CertifyError> {
    let automaton = oracle.automaton();
    if table.alphabet() != automaton.alphabet() {
        return Ok(Comparison::NotComparable);
    }
    // The table in the file is compared, however the one in memory was made.
    let table = &Table::from_bytes(&table.to_bytes()?)?;
    let mut both = Lockstep::new(table, oracle)?;
    let (reach, witness) = Reach::new(&mut both, control)?;
    let (elements, mut poll) = (both.elements.len() - 1, Poll::new(control));
    closed(&reach, &mut both, elements, &mut poll)?;
    let mut configurations = 0;
    let mut first: Option<(usize, Comparison)> = None;
    let beneath = reach.beneath();
    for &top in &reach.tops {
        poll.step()?;
        let Some((next, behaviors)) = both.behaviors(top) else { continue };
        configurations += 1;
        if behaviors[0] == behaviors[1] {
            continue;
        }
        let word = way_down(top, 0, &beneath, |_, _| true).map(|unders| witness.word(top, &unders)).unwrap_or_default();
        if first.as_ref().is_none_or(|(length, _)| word.len() < *length) {
            let (length, word) = (word.len(), Word::Symbols(word));
            first = Some((length, Comparison::Differs { word, next, table: behaviors[0], automaton: behaviors[1] }));
        }
    }
    if let Some((_, differs)) = first {
        return Ok(differs);
    }
    let certificate = Certificate {
        automaton: automaton_digest(automaton),
        grammar: None,
        lexer: None,
        machine: None,
        table: Some(table_digest(table, &mut poll)?),
    };
    Ok(Comparison::Equal { certificate: Box::new(certificate), configurations })
}

/// A table and an automaton as one pushdown system, which moves as the automaton does.
struct Lockstep<'t, 'a> {
    table: &'t Table,
    strict: Strict<'a>,
    /// What the automaton knows about a stack, and the table's state, unless the table has none.
    elements: Vec<(ElementId, Option<State>)>,
    numbers: HashMap<(ElementId, Option<State>), ElementId>,
}

impl<'t, 'a> Lockstep<'t, 'a> {
    fn new(table: &'t Table, oracle: &'a Oracle) -> Result<Self, CertifyError> {
        let bottom = (ElementId::BOTTOM, Some(0));
        let (elements, numbers) = (vec![bottom], HashMap::from([(bottom, ElementId::BOTTOM)]));
        Ok(Self { table, strict: Strict::new(oracle, 0)?, elements, numbers })
    }

    /// Returns what both do in a configuration, the table first; `None` if nothing is decided there.
    fn behaviors(&self, top: Top) -> Option<(Lookahead, [Behavior; 2])> {
        let (element, state) = self.elements[top.element.index()];
        let next = match top.phase {
            Phase::Reduce(sight) | Phase::Settled(sight) => sight.next,
            Phase::Next(_) | Phase::Pop(..) => return None,
        };
        let own = match self.strict.reduction(element, next) {
            Reduction::NONE => Behavior::going_on(match next {
                Lookahead::Token(token) => self.strict.shifts(element, token),
                Lookahead::End => self.strict.accepts(element),
            }),
            reduction => Behavior::Reduce(reduction),
        };
        let rows = self.table.rows();
        let done = match state.map(|state| (state, rows.action(state, next))) {
            None => Behavior::Lost,
            Some((_, Some(reduction))) => Behavior::Reduce(reduction),
            Some((state, None)) => Behavior::going_on(match next {
                Lookahead::Token(token) => rows.push(state, token).is_some(),
                Lookahead::End => rows.accepting[state as usize],
            }),
        };
        Some((next, [done, own]))
    }
}

impl Behavior {
    fn going_on(goes_on: bool) -> Self {
        if goes_on { Self::GoOn } else { Self::Refuse }
    }
}

impl System for Lockstep<'_, '_> {
    fn alphabet(&self) -> &Alphabet {
        self.strict.alphabet()
    }

    fn memory(&self) -> Memory {
        self.strict.memory()
    }

    fn symbol(&self, element: ElementId) -> Option<SymbolId> {
        self.strict.symbol(self.elements[element.index()].0)
    }

    fn push(&mut self, on: ElementId, symbol: SymbolId) -> ElementId {
        let (element, state) = self.elements[on.index()];
        let pushed = state.and_then(|state| self.table.rows().push(state, symbol));
        let pair = (self.strict.push(element, symbol), pushed);
        let fresh = ElementId::new(self.elements.len());
        let number = *self.numbers.entry(pair).or_insert(fresh);
        if number == fresh {
            self.elements.push(pair);
        }
        number
    }

    fn decide(&mut self, sight: Sight, top: ElementId) -> Option<Reduction> {
        self.strict.decide(sight, self.elements[top.index()].0)
    }

    fn goes_on(&mut self, sight: Sight, top: ElementId) -> bool {
        self.strict.goes_on(sight, self.elements[top.index()].0)
    }
}
