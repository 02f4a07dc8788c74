//! Recovery from mistakes in a word, so that more than the first one can be reported.
//!
//! After a token that cannot follow, a search looks for the smallest repair: a few tokens that are inserted or deleted, so
//! that the recognizer can go on for at least a few tokens. An insertion and a deletion at the same place replace a token.
//! Of all repairs with the fewest edits, the one is taken with which the recognizer gets furthest. This is how CPCT+
//! chooses (Diekmann and Tratt, "Don't Panic! Better, Fewer, Syntax Errors for LR Parsers", ECOOP 2020). Unlike CPCT+, the
//! search needs nothing except [`Session`], so it works for machines too, and the parts of a repair that are at different
//! places are different mistakes.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::session::{Recognizer, Session, Status};
use super::verdict::{Limits, Verdict};
use crate::symbol::{Input, Lookahead, SymbolId};

/// How mistakes are repaired, and how much work that may take.
///
/// The time is only a safeguard: if it is not reached, the result depends on nothing but the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The maximum number of mistakes that are reported.
    pub mistakes: usize,
    /// The number of tokens that must fit after a repair.
    pub shifts: usize,
    /// The maximum number of edits in one repair.
    pub edits: usize,
    /// The maximum number of steps for a word: tokens that are tried, and copies of sessions.
    pub steps: u64,
    /// The maximum time for a word.
    pub time: Duration,
}

impl Default for Recovery {
    fn default() -> Self {
        Self { mistakes: 10, shifts: 3, edits: 6, steps: 1 << 20, time: Duration::from_secs(2) }
    }
}

/// An edit of a word that repairs a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Insert this token before the one at the position.
    Insert(u64, SymbolId),
    /// Delete the token at the position.
    Delete(u64),
}

impl Edit {
    /// Returns the number of tokens of the word before the edit, and after it.
    fn span(self) -> (usize, usize) {
        match self {
            Self::Insert(place, _) => (place as usize, place as usize),
            Self::Delete(place) => (place as usize, place as usize + 1),
        }
    }
}

/// A mistake in a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The verdict on the word up to here, with earlier mistakes repaired. Positions are those of the given word.
    pub verdict: Verdict,
    /// The edits with which the word was read on. Empty if there was no need to read on, or if no repair was found.
    pub repair: Vec<Edit>,
}

/// Returns the mistakes in a word. The first one is what the recognizer says of the word itself; there are none if it is
/// accepted. After a mistake for which no repair is found, and after a limit, nothing more is reported. In tolerant mode,
/// there is at most one mistake.
///
/// ```
/// use echostack::recognize::{Recovery, mistakes};
/// use echostack::{Limits, Oracle, tasks::Task};
/// let oracle = Oracle::strict(Task::Dyck2.automaton().unwrap())?;
/// let alphabet = oracle.automaton().alphabet();
/// let word: Vec<_> = "( ] ) [ ( ] ) ] ( )".split(' ').map(|name| alphabet.symbol(name).unwrap()).collect();
/// let found = mistakes(&oracle, &word, Limits::default(), &Recovery::default());
/// let positions: Vec<_> = found.iter().map(|mistake| mistake.verdict.position()).collect();
/// assert_eq!(positions, [Some(1), Some(5)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn mistakes<R: Recognizer>(recognizer: &R, word: &[SymbolId], limits: Limits, recovery: &Recovery) -> Vec<Mistake> {
    let mut all: Vec<Mistake> = Vec::new();
    let mut search = Search { word, recovery, steps: 0, deadline: None };
    // The session after the last edit, and the number of tokens of the word that it has read or skipped.
    let (mut session, mut at) = (recognizer.start(limits), 0);
    // The rest of the last repair, from the last edit to the first.
    let mut edits: Vec<Edit> = Vec::new();
    while all.len() < recovery.mistakes {
        let until = edits.last().map_or(word.len(), |edit| edit.span().0);
        let mut ahead = session.clone();
        let reached = at + search.read(&mut ahead, at, until);
        let next = word.get(reached).filter(|_| reached == until);
        let fits = next.is_some_and(|&token| ahead.feed(Input::Symbol(token), &mut ()) == Status::Open);
        if !fits {
            let verdict = match ahead.finish(&mut ()) {
                Verdict::Accept => break,
                Verdict::Reject { expected, .. } => Verdict::Reject { position: reached as u64, expected },
                Verdict::Stopped { limit, .. } => Verdict::Stopped { position: reached as u64, limit },
                incomplete @ Verdict::Incomplete { .. } => incomplete,
            };
            let goes_on = !verdict.expected().is_empty();
            all.push(Mistake { verdict, repair: Vec::new() });
            if !goes_on || all.len() == recovery.mistakes {
                break;
            }
        }
        // Go there again, without the token that cannot follow.
        search.read(&mut session, at, reached);
        at = reached;
        if edits.is_empty() {
            search.deadline = search.deadline.or_else(|| Instant::now().checked_add(recovery.time));
            let Some(found) = search.repair(&session, reached) else { break };
            edits = found.edits;
            edits.reverse();
        }
        // Perform the edits up to the next token that is read, or that is in no word at all: it is a mistake of its own.
        let is_strange = |edit: Edit| {
            let token = word.get(edit.span().0).filter(|_| matches!(edit, Edit::Delete(_)));
            token.is_some_and(|&token| !recognizer.alphabet().is_terminal(token))
        };
        while let Some(edit) = edits.pop_if(|edit| edit.span().0 == at && (at == reached || !is_strange(*edit))) {
            at = edit.span().1;
            if let Edit::Insert(_, token) = edit {
                session.feed(Input::Symbol(token), &mut ());
            }
            all.last_mut().into_iter().for_each(|mistake| mistake.repair.push(edit));
        }
    }
    all
}

/// The number of tokens that are read to find out which repair gets furthest.
const MAX_AHEAD: usize = 250;
/// The maximum number of nodes of the search that are kept if they have the same cost, position and expected tokens.
const MAX_ALIKE: usize = 4;
/// The number of tokens for which copying a session counts as one step.
const TOKENS_PER_STEP: u64 = 64;

/// A search for repairs.
struct Search<'a> {
    word: &'a [SymbolId],
    recovery: &'a Recovery,
    /// The number of steps taken.
    steps: u64,
    deadline: Option<Instant>,
}

/// A word that is partly repaired: the edits, and the number of tokens of the word that are read or skipped.
///
/// The session is not kept: stacks may be deep, and there may be many nodes.
#[derive(Clone, Debug)]
struct Node {
    at: usize,
    edits: Vec<Edit>,
}

/// The nodes that one more edit leads to.
#[derive(Default)]
struct Found {
    /// Those after which enough tokens fit.
    good: Vec<Node>,
    others: Vec<Node>,
}

/// The reason a search ends without a result: a limit.
struct Exhausted;

impl Search<'_> {
    /// Reads tokens up to the first one that cannot follow, at most up to `end`, and returns their number.
    fn read(&self, session: &mut impl Session, at: usize, end: usize) -> usize {
        let tokens = &self.word[at..end.min(self.word.len())];
        let stop = tokens.iter().position(|&token| session.feed(Input::Symbol(token), &mut ()) != Status::Open);
        stop.unwrap_or(tokens.len())
    }

    /// Returns the session of a node, given the one before the mistake.
    fn replay<S: Session>(&self, before: &S, from: usize, node: &Node) -> S {
        let mut session = before.clone();
        let mut at = from;
        for &edit in &node.edits {
            let (before, after) = edit.span();
            self.read(&mut session, at, before);
            at = after;
            if let Edit::Insert(_, token) = edit {
                session.feed(Input::Symbol(token), &mut ());
            }
        }
        self.read(&mut session, at, node.at);
        session
    }

    /// Counts steps at a position of the word, where copying a session takes longer the deeper its stack may be.
    fn count(&mut self, steps: usize, at: usize) -> Result<(), Exhausted> {
        self.steps += steps as u64 + at as u64 / TOKENS_PER_STEP;
        let late = self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        if late || self.steps > self.recovery.steps { Err(Exhausted) } else { Ok(()) }
    }

    /// Returns the best repair, given the session before a token that cannot follow, or before an end that comes too
    /// early.
    fn repair<S: Session>(&mut self, before: &S, from: usize) -> Option<Node> {
        let mut open = vec![Node { at: from, edits: Vec::new() }];
        for _ in 0..self.recovery.edits {
            let mut found = Found::default();
            let mut alike: HashMap<(usize, Vec<Lookahead>), usize> = HashMap::new();
            for node in open {
                let session = self.replay(before, from, &node);
                let expected = session.expected();
                let steps = expected.len() + node.edits.len() * (1 + self.recovery.shifts);
                let same = alike.entry((node.at, expected.clone())).or_insert(0);
                *same += 1;
                let done = self.count(steps, from);
                // If a limit is reached, the repairs found so far are better than none.
                if done.is_err() || *same <= MAX_ALIKE && self.expand(&session, &node, &expected, &mut found).is_err() {
                    found.others.clear();
                    break;
                }
            }
            if !found.good.is_empty() {
                return self.best(before, from, found.good);
            }
            open = found.others;
        }
        None
    }

    /// Adds all nodes that are one edit away from a node.
    fn expand<S: Session>(
        &mut self,
        session: &S,
        node: &Node,
        expected: &[Lookahead],
        found: &mut Found,
    ) -> Result<(), Exhausted> {
        let place = node.at as u64;
        let inside = node.at < self.word.len();
        if inside {
            self.add(session.clone(), node, node.at + 1, Edit::Delete(place), found)?;
        }
        // Insertions come before deletions; the other order would be the same repair.
        if matches!(node.edits.last(), Some(Edit::Delete(last)) if last + 1 == place) {
            return Ok(());
        }
        for token in expected.iter().filter_map(|next| next.token()) {
            let mut edited = session.clone();
            edited.feed(Input::Symbol(token), &mut ());
            self.add(edited, node, node.at, Edit::Insert(place, token), found)?;
        }
        Ok(())
    }

    /// Adds the node after an edit. If not enough tokens fit, another edit may follow before or after each of those that
    /// do.
    fn add<S: Session>(
        &mut self,
        mut session: S,
        from: &Node,
        at: usize,
        edit: Edit,
        found: &mut Found,
    ) -> Result<(), Exhausted> {
        self.count(2 + self.recovery.shifts, at)?;
        let edits: Vec<Edit> = from.edits.iter().copied().chain([edit]).collect();
        let count = self.read(&mut session, at, at + self.recovery.shifts);
        let ended = at + count == self.word.len() && session.finish(&mut ()).is_accept();
        if ended || count >= self.recovery.shifts {
            found.good.push(Node { at, edits });
        } else {
            found.others.extend((at..=at + count).map(|at| Node { at, edits: edits.clone() }));
        }
        Ok(())
    }

    /// Returns the first of the nodes from which the most tokens fit.
    fn best<S: Session>(&mut self, before: &S, from: usize, good: Vec<Node>) -> Option<Node> {
        let mut best: Option<(usize, Node)> = None;
        for node in good {
            let mut ahead = self.replay(before, from, &node);
            let end = node.at + MAX_AHEAD;
            let mut reached = node.at + self.read(&mut ahead, node.at, end);
            // The end of the word is the last that can fit.
            if reached == self.word.len() && ahead.finish(&mut ()).is_accept() {
                reached += 1;
            }
            let steps = reached - node.at;
            if best.as_ref().is_none_or(|(most, _)| reached > *most) {
                best = Some((reached, node));
            }
            if self.count(steps, from).is_err() {
                break;
            }
        }
        best.map(|(_, node)| node)
    }
}
