//! Checks that an automaton accepts the words that an LR parser accepts.
//!
//! A certificate compares a machine with an automaton. For a grammar, somebody made the automaton from the grammar's
//! rules, and this file checks the result, whoever made it and however: it compares the automaton with a [`Parser`],
//! which the caller computes from the grammar's text, by its definition.
//!
//! # What is checked
//!
//! Parser and automaton are followed along the same stacks of grammar symbols. Each stack leads to a state of the parser
//! and to an element of the automaton, which determines what the automaton does. There are finitely many such pairs. In
//! each pair, and on each lookahead t:
//!
//! - where the parser shifts t, the automaton has no rule, and shifts t, or t leads to a dead end (see below);
//! - where the parser reduces by A: α, the automaton pops as many symbols as α has, and pushes A;
//! - where the parser accepts, the automaton has no rule, and accepts;
//! - where a precedence forbids t, the automaton has no rule, and refuses t;
//! - where the parser has no action, the automaton does not shift t or accept. It may reduce, if the production is
//!   complete in the parser's state.
//!
//! With the state encoding, the automaton's stack holds parser states in place of symbols. A symbol that was just pushed
//! is replaced by a parser state, whatever comes next; the pair is that of the stack after this.
//!
//! # Why this suffices
//!
//! *What the automaton accepts, the parser accepts.* Follow the automaton on a word. As long as it does what the parser
//! does, both have the same stack. Suppose that it reduces by A: α, on a lookahead t for which the parser has no action.
//! The reductions after that are complete in the parser's states, too. If t were shifted or accepted in the end, the
//! parser would shift or accept it in that state. Then the stack with A in place of α, continued by t, is the beginning
//! of a sentential form, so t is a lookahead of A: α for this stack by the definition of LR(1) items, and the parser
//! would have an action. So t is refused.
//!
//! *What the parser accepts, the automaton accepts.* Follow the parser on a word that it accepts. The automaton does the
//! same in each step, because no stack on the way is a dead end.
//!
//! A *dead end* is a stack from which the parser cannot accept any word. Only the resolution of conflicts makes dead
//! ends. If the automaton shifts wherever the parser does, nothing has to be known about them. Otherwise, the stacks that
//! are not dead ends are computed from the pairs (`automaton/viable.rs`), and the automaton must shift to exactly these.

use std::collections::{HashMap, HashSet};

use super::error::CertifyError;
use crate::automaton::reach::{ElementId, Strict, System};
use crate::automaton::{Oracle, StackState, Viability};
use crate::control::{Control, Poll, Stage};
use crate::recognize::Reduction;
use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// What an LR parser does in a state on a lookahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParserAction {
    /// Read the token.
    Shift,
    /// Reduce by the production with this number.
    Reduce(usize),
    /// Accept the word.
    Accept,
    /// Refuse the token, because a precedence forbids it.
    Forbid,
    /// Refuse the token, because nothing can be done.
    None,
}

/// An LR parser. Its symbols are those of the automaton that it is compared with: terminals, then nonterminals. State 0
/// is the start state.
pub trait Parser {
    /// Returns the number of terminals and nonterminals.
    fn symbols(&self) -> usize;

    /// Returns the number of states.
    fn states(&self) -> usize;

    /// Returns the number of symbols on the right side of a production, and the symbol on its left side.
    fn production(&self, number: usize) -> Reduction;

    /// Returns what is done in a state on a lookahead.
    fn action(&self, state: usize, lookahead: Lookahead) -> ParserAction;

    /// Returns the state after each symbol that can be pushed in a state.
    fn edges(&self, state: usize) -> &[(SymbolId, usize)];

    /// Returns the productions that are complete in a state.
    fn complete(&self, state: usize) -> &[usize];
}

/// The size of a checked translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The number of states of the parser.
    pub states: usize,
    /// The number of pairs of a parser state and an element of the automaton that were compared.
    pub pairs: usize,
    /// Whether the parser has dead ends, which the automaton avoids.
    pub dead_ends: bool,
}

/// The maximum number of pairs.
const MAX_PAIRS: usize = 1 << 22;

/// Checks that a strict automaton accepts the words that a parser accepts.
///
/// # Errors
/// [`CertifyError::Translation`] if it may not; [`CertifyError::Automaton`] if there is too much to compare;
/// [`CertifyError::Cancelled`] if the control asks to stop.
pub fn check_translation(
    parser: &dyn Parser,
    oracle: &Oracle,
    control: &dyn Control,
) -> Result<Translation, CertifyError> {
    let alphabet = oracle.automaton().alphabet();
    let states = alphabet.nonterminals().filter(|&symbol| alphabet.is_state(symbol)).count();
    if alphabet.len() != parser.symbols() + states {
        return refuse("they have different symbols");
    }
    let strict = Strict::new(oracle, 0)?;
    let mut pairs = Pairs { parser, strict, has_states: states > 0, all: Vec::new(), numbers: HashMap::new() };
    pairs.explore(control)?;
    let dead_ends = pairs.all.iter().any(|pair| !pair.refused.is_empty());
    if dead_ends {
        pairs.check_dead_ends(oracle, control)?;
    }
    Ok(Translation { states: parser.states(), pairs: pairs.all.len(), dead_ends })
}

fn refuse<T>(why: impl Into<String>) -> Result<T, CertifyError> {
    Err(CertifyError::Translation(why.into()))
}

/// A state of the parser and an element of the automaton, after the same stack of symbols.
struct Pair {
    state: usize,
    element: ElementId,
    /// The pair below and the symbol that was pushed on it when this pair was found, for messages.
    from: Option<(usize, SymbolId)>,
    /// The tokens that the parser shifts and the automaton does not.
    refused: Vec<SymbolId>,
    /// The symbols that can be pushed, the symbols that the automaton's stack then has, and the pairs after that.
    next: Vec<(SymbolId, SymbolId, usize)>,
}

struct Pairs<'p, 'a> {
    parser: &'p dyn Parser,
    strict: Strict<'a>,
    /// Whether the automaton's stack holds parser states.
    has_states: bool,
    all: Vec<Pair>,
    numbers: HashMap<(usize, ElementId), usize>,
}

impl Pairs<'_, '_> {
    fn reach(&mut self, state: usize, element: ElementId, from: Option<(usize, SymbolId)>) -> usize {
        let fresh = self.all.len();
        let number = *self.numbers.entry((state, element)).or_insert(fresh);
        if number == fresh {
            self.all.push(Pair { state, element, from, refused: Vec::new(), next: Vec::new() });
        }
        number
    }

    /// Finds all pairs, and compares what is done in each.
    fn explore(&mut self, control: &dyn Control) -> Result<(), CertifyError> {
        let lookaheads: Vec<Lookahead> = self.strict.alphabet().lookaheads().collect();
        let mut poll = Poll::new(control);
        self.reach(0, ElementId::BOTTOM, None);
        let mut at = 0;
        while at < self.all.len() {
            poll.progress(Stage::Check, at, self.all.len());
            poll.steps(lookaheads.len())?;
            for &lookahead in &lookaheads {
                self.compare(at, lookahead)?;
            }
            let state = self.all[at].state;
            for &(symbol, to) in self.parser.edges(state) {
                let (pushed, element) = self.push(at, symbol, &lookaheads)?;
                let next = self.reach(to, element, Some((at, symbol)));
                self.all[at].next.push((symbol, pushed, next));
            }
            if self.all.len() > MAX_PAIRS {
                return Err(crate::automaton::AutomatonError::TooLarge.into());
            }
            at += 1;
        }
        Ok(())
    }

    /// Returns the element after a symbol is pushed, and the symbol that is then on top of the automaton's stack.
    fn push(
        &mut self,
        pair: usize,
        symbol: SymbolId,
        lookaheads: &[Lookahead],
    ) -> Result<(SymbolId, ElementId), CertifyError> {
        let on = self.all[pair].element;
        let element = self.strict.push(on, symbol);
        if !self.has_states {
            return Ok((symbol, element));
        }
        // The symbol is replaced by a parser state before anything else is decided.
        let Reduction { pop: 1, push: Some(state) } = self.strict.reduction(element, Lookahead::End) else {
            return self.differs(pair, None, "the symbol pushed next is not replaced by a parser state");
        };
        let replaced = self.strict.reduction(element, Lookahead::End);
        let always = lookaheads.iter().all(|&next| self.strict.reduction(element, next) == replaced);
        if !always || !self.strict.alphabet().is_state(state) {
            return self.differs(pair, None, "the symbol pushed next is not always replaced by a parser state");
        }
        Ok((state, self.strict.push(on, state)))
    }

    /// Compares what is done in a pair on a lookahead.
    fn compare(&mut self, pair: usize, lookahead: Lookahead) -> Result<(), CertifyError> {
        let Pair { state, element, .. } = self.all[pair];
        let own = self.strict.reduction(element, lookahead);
        let goes_on = own == Reduction::NONE
            && match lookahead {
                Lookahead::Token(token) => self.strict.shifts(element, token),
                Lookahead::End => self.strict.accepts(element),
            };
        let differs = |why: &str| self.differs(pair, Some(lookahead), why);
        match (self.parser.action(state, lookahead), lookahead) {
            (ParserAction::Shift, Lookahead::Token(token)) if own == Reduction::NONE => {
                if !goes_on {
                    self.all[pair].refused.push(token);
                }
                Ok(())
            }
            (ParserAction::Accept, Lookahead::End) if goes_on => Ok(()),
            (ParserAction::Reduce(number), _) if own == self.parser.production(number) => Ok(()),
            (ParserAction::Forbid | ParserAction::None, _) if own == Reduction::NONE && !goes_on => Ok(()),
            (ParserAction::None, _) if own != Reduction::NONE => {
                let mut complete = self.parser.complete(state).iter();
                if complete.any(|&number| self.parser.production(number) == own) {
                    return Ok(());
                }
                differs("the automaton reduces by a production that is not complete there")
            }
            (ParserAction::Shift, _) => differs("the parser shifts, but the automaton does not"),
            (ParserAction::Accept, _) => differs("the parser accepts, but the automaton does not"),
            (ParserAction::Reduce(_), _) => differs("the parser reduces, but the automaton does something else"),
            (ParserAction::Forbid, _) => differs("a precedence forbids it, but the automaton goes on"),
            (ParserAction::None, _) => differs("the parser has no action, but the automaton goes on"),
        }
    }

    /// Returns the error that parser and automaton differ in a pair.
    fn differs<T>(&self, pair: usize, lookahead: Option<Lookahead>, why: &str) -> Result<T, CertifyError> {
        let alphabet: &Alphabet = self.strict.alphabet();
        let mut stack = Vec::new();
        let mut at = pair;
        while let Some((below, symbol)) = self.all[at].from {
            stack.push(alphabet.plain_name(symbol));
            at = below;
        }
        stack.push("^".to_string());
        stack.reverse();
        let next = match lookahead {
            None => String::new(),
            Some(Lookahead::End) => ", at the end of the word".to_string(),
            Some(Lookahead::Token(token)) => format!(", before {}", alphabet.plain_name(token)),
        };
        refuse(format!("with the stack {}{next}, {why}", stack.join(" ")))
    }

    /// Checks that the automaton shifts to exactly those stacks that are not dead ends.
    fn check_dead_ends(&self, oracle: &Oracle, control: &dyn Control) -> Result<(), CertifyError> {
        let alphabet = self.strict.alphabet();
        // A symbol that is still to be replaced by a parser state leads to one more state.
        let top = self.all.len();
        let mut rows: Vec<Vec<(SymbolId, usize)>> = Vec::with_capacity(top + 1);
        for pair in &self.all {
            let mut row = Vec::new();
            for &(symbol, pushed, next) in &pair.next {
                if symbol != pushed {
                    row.push((symbol, top));
                }
                row.push((pushed, next));
            }
            rows.push(row);
        }
        rows.push(Vec::new());
        let live = Viability::given(alphabet.len(), &rows)?.trimmed(oracle.automaton(), control)?;
        let mut poll = Poll::new(control);
        let mut todo = vec![(0, live.bottom())];
        let mut seen: HashSet<(usize, StackState)> = todo.iter().copied().collect();
        while let Some((at, stack)) = todo.pop() {
            let pair = &self.all[at];
            poll.steps(pair.next.len())?;
            for &(symbol, pushed, next) in &pair.next {
                let is_live = live.is_viable(live.push(stack, symbol));
                if alphabet.is_terminal(symbol) && is_live == pair.refused.contains(&symbol) {
                    let why = if is_live {
                        "the automaton refuses the token, but a word with it can be accepted"
                    } else {
                        "the automaton shifts the token, but no word with it can be accepted"
                    };
                    return self.differs(at, Some(Lookahead::Token(symbol)), why);
                }
                let above = live.push(stack, pushed);
                if live.is_viable(above) && seen.insert((next, above)) {
                    todo.push((next, above));
                }
            }
        }
        Ok(())
    }
}
