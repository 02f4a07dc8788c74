//! Frames: the stack of a table cut into pieces, so that a token is one look-up and at most one push or pop.
//!
//! The states on a stack recur. The stack is cut below some of them, so that without these, the graph of pushes has no
//! cycle; then there are only finitely many pieces. A piece is a *frame*, and a stack is a list of frame numbers. Where
//! every token that can follow leads to the same reduction, the reduction is made at once, before the token is known. So a
//! closing bracket pops its frame immediately, and most tokens take one [`Step`]: replace the topmost frame, push a
//! frame, or pop one and look at what it uncovers. The rest takes several: a *hop* is a step that reads no token. A frame
//! that would only pass on the result of the one above it, as in a list that recurs on its right, is left out.
//!
//! A step has no branches, and several words are run side by side ([`Lanes`](super::lanes::Lanes)), because each of them
//! alone would wait for its look-ups.
//!
//! Frames say which words are accepted, and where the others are refused. Expected tokens come from the plain table, which
//! judges such a word again, or from the stack of states, which can be recovered if no frame is left out ([`Keep::All`]).
//! Limits are not checked while frames run; [`Frames::longest`] and [`Frames::are_few`] say when they cannot be reached.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use super::rows::{Rows, State};
use crate::recognize::Limits;
use crate::symbol::{Lookahead, SymbolId};

/// The maximum number of decisions in one step.
const MAX_DECISIONS: usize = 64;

/// The maximum number of steps and of results. An index of 16 bits, with what is added to it, cannot miss them.
const INDEXES: usize = 1 << 16;
const STEPS: usize = INDEXES + (1 << 8);
const RESULTS: usize = INDEXES + INDEXES;

/// The maximum number of states and pushes that are looked at to find out where to cut.
const MAX_CUTTING: usize = 1 << 27;
/// The maximum number of steps in which frames are found.
const MAX_WORK: usize = 1 << 20;

/// What to do for a topmost frame and a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// The index of the result.
    pub(super) result: u16,
    /// For a pop, all ones: the number of the frame that is uncovered is added to the index. Otherwise zero.
    pub(super) selects: u16,
    /// The frame that is left below if one is pushed.
    pub(super) below: u16,
    /// The change of the stack's height: -1, 0 or 1, modulo 2^16.
    pub(super) change: u16,
}

impl Step {
    fn new(result: usize, below: usize, change: i16) -> Self {
        let selects = if change < 0 { u16::MAX } else { 0 };
        Self { result: result as u16, selects, below: below as u16, change: change as u16 }
    }
}

/// A table cut into frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frames {
    /// The steps, a row for each frame, with one for each token, for the end, and for anything else. Then a row for each
    /// hop.
    pub(super) steps: Box<[Step; STEPS]>,
    /// The beginnings of the rows that steps lead to.
    pub(super) results: Box<[u16; RESULTS]>,
    /// The beginning of the first row of a hop, if there are any.
    pub(super) hops: Option<u16>,
    /// The row after the end of a word that is accepted. It is a copy of the first row, so that the next word can begin.
    pub(super) accepted: u16,
    /// The row after a token that is refused, if that is the one that the plain table refuses.
    pub(super) refused: Option<u16>,
    /// The row of a word that was refused before its end, the first of those that are neither of frames nor of hops.
    special: u16,
    /// The row after a frame that is not known is uncovered, the last of these.
    pub(super) lost: u16,
    /// For each token, the row after it, if it is the same wherever the token is read.
    pub(super) after: Vec<Option<u16>>,
    /// The number of tokens.
    pub(super) terminals: usize,
    /// The contents of each frame.
    contents: Vec<Frame>,
    bounds: Bounds,
}

/// Which frames are on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// All of them, so that the stack of states can be recovered.
    All,
    /// All but those that only pass on a result.
    Needed,
}

/// What bounds the limits that a word can reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bounds {
    /// The maximum number of known states while a step is computed.
    rise: usize,
    /// The maximum number of frames that a token adds.
    pushes: usize,
    /// The maximum number of decisions in a step.
    decisions: usize,
    /// The maximum number of decisions for each symbol of a frame that is popped between two others.
    through: usize,
}

/// The lookaheads that a frame admits; `None` for all. The others were refused before the reductions that led to it.
pub(super) type Admitted = Option<BTreeSet<usize>>;

/// A piece of the stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) states: Vec<State>,
    pub(super) admitted: Admitted,
}

/// What is left to do when a whole frame is popped: pop some more symbols, push one, and continue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pending {
    pop: usize,
    push: SymbolId,
    then: Then,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Then {
    /// Read this lookahead.
    Read(usize),
    /// Make the reductions that do not depend on what comes.
    Settle(Admitted),
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Move {
    /// The topmost frame is replaced by these, of which there is at least one.
    Go(Vec<usize>),
    /// The topmost frame is popped.
    Pop(usize),
    Accept,
    Refuse,
}

/// Numbers for values, in the order in which they first occur.
#[derive(Debug)]
struct Numbers<T> {
    all: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    fn new() -> Self {
        Self { all: Vec::new(), numbers: HashMap::new() }
    }

    fn of(&mut self, value: T) -> usize {
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.all.push(value.clone());
            self.all.len() - 1
        })
    }
}

struct Builder<'a> {
    rows: &'a Rows,
    cut: Vec<bool>,
    /// The reduction of a state that is made whatever comes, and the lookaheads that are not refused before it.
    settled: Vec<Option<(usize, SymbolId, BTreeSet<usize>)>>,
    frames: Numbers<Frame>,
    pending: Numbers<Pending>,
    /// The frames that are left out, because they only pass on what is pending.
    passing: HashSet<Frame>,
    /// Whether a word is refused exactly at the token at which the plain table refuses it.
    exact: bool,
    bounds: Bounds,
    /// The number of steps that are left, of [`MAX_WORK`].
    left: usize,
}

impl Builder<'_> {
    fn lookahead(&self, look: usize) -> Lookahead {
        if look < self.rows.terminals { Lookahead::Token(SymbolId::new(look)) } else { Lookahead::End }
    }

    /// Reads a lookahead on top of known states.
    fn read(&mut self, mut known: Vec<State>, look: usize, decisions: &mut usize) -> Move {
        while *decisions < MAX_DECISIONS {
            *decisions += 1;
            let top = known[known.len() - 1];
            let Some(reduction) = self.rows.action(top, self.lookahead(look)) else {
                let next = self.lookahead(look).token().map(|token| self.rows.push(top, token));
                return match next {
                    Some(Some(state)) => {
                        known.push(state);
                        self.settle(known, None, decisions)
                    }
                    None if self.rows.accepting[usize::from(top)] => Move::Accept,
                    _ => Move::Refuse,
                };
            };
            let Some(push) = reduction.push else { break };
            match self.reduce(&mut known, reduction.pop as usize, push) {
                Reduced::Done => {}
                Reduced::Below(pop) => return self.pop(Pending { pop, push, then: Then::Read(look) }),
                Reduced::Never => break,
            }
        }
        self.give_up()
    }

    /// Makes the reductions that do not depend on what comes.
    fn settle(&mut self, mut known: Vec<State>, mut admitted: Admitted, decisions: &mut usize) -> Move {
        while *decisions < MAX_DECISIONS {
            *decisions += 1;
            let top = usize::from(known[known.len() - 1]);
            let Some((pop, push, admits)) = self.settled[top].clone() else {
                return self.go(known, admitted);
            };
            let admits = match admitted {
                Some(before) => before.intersection(&admits).copied().collect(),
                None => admits,
            };
            admitted = Some(admits).filter(|admits| admits.len() <= self.rows.terminals);
            match self.reduce(&mut known, pop, push) {
                Reduced::Done => {}
                Reduced::Below(pop) => return self.pop(Pending { pop, push, then: Then::Settle(admitted) }),
                Reduced::Never => break,
            }
        }
        self.give_up()
    }

    /// Refuses what the plain table may judge differently.
    fn give_up(&mut self) -> Move {
        self.exact = false;
        Move::Refuse
    }

    fn reduce(&mut self, known: &mut Vec<State>, pop: usize, push: SymbolId) -> Reduced {
        if pop >= known.len() {
            // Below the bottom, there is nothing.
            return if known[0] == 0 { Reduced::Never } else { Reduced::Below(pop - known.len()) };
        }
        known.truncate(known.len() - pop);
        let Some(state) = self.rows.push(known[known.len() - 1], push) else { return Reduced::Never };
        known.push(state);
        self.bounds.rise = self.bounds.rise.max(known.len() + 1);
        Reduced::Done
    }

    fn pop(&mut self, pending: Pending) -> Move {
        Move::Pop(self.pending.of(pending))
    }

    /// Continues with known states on top of the stack.
    fn go(&mut self, known: Vec<State>, mut admitted: Admitted) -> Move {
        self.bounds.rise = self.bounds.rise.max(known.len() + 1);
        // What is refused anyway need not be remembered.
        let looks = self.rows.terminals + 1;
        if let Some(admits) = &mut admitted {
            let refused: Vec<usize> =
                (0..looks).filter(|look| !admits.contains(look) && self.refuses(&known, *look)).collect();
            admits.extend(refused);
        }
        let admitted = admitted.filter(|admits| admits.len() < looks);
        let mut pieces: Vec<Vec<State>> = Vec::new();
        for state in known {
            match pieces.last_mut() {
                Some(piece) if !self.cut[usize::from(state)] => piece.push(state),
                _ => pieces.push(vec![state]),
            }
        }
        let last = pieces.len() - 1;
        self.bounds.pushes = self.bounds.pushes.max(last);
        let frame = |(at, states)| Frame { states, admitted: if at == last { admitted.clone() } else { None } };
        let mut frames: Vec<Frame> = pieces.into_iter().enumerate().map(frame).collect();
        let top = frames.pop();
        frames.retain(|frame| !self.passing.contains(frame));
        Move::Go(frames.into_iter().chain(top).map(|frame| self.frames.of(frame)).collect())
    }

    /// Returns whether known states are enough to refuse a lookahead.
    fn refuses(&self, known: &[State], look: usize) -> bool {
        let mut known = known.to_vec();
        for _ in 0..MAX_DECISIONS {
            let top = known[known.len() - 1];
            let Some(reduction) = self.rows.action(top, self.lookahead(look)) else {
                return match self.lookahead(look).token() {
                    Some(token) => self.rows.push(top, token).is_none(),
                    None => !self.rows.accepting[usize::from(top)],
                };
            };
            let (pop, Some(push)) = (reduction.pop as usize, reduction.push) else { return false };
            if pop >= known.len() {
                return false;
            }
            known.truncate(known.len() - pop);
            // The lookahead was refused before, and a table need not have a state for what would follow.
            let Some(state) = self.rows.push(known[known.len() - 1], push) else { return false };
            known.push(state);
        }
        false
    }

    /// Returns what follows when a frame is on top and a lookahead is read.
    fn step(&mut self, frame: usize, look: usize) -> Move {
        let Frame { states, admitted } = self.frames.all[frame].clone();
        if admitted.is_some_and(|admits| !admits.contains(&look)) {
            return Move::Refuse;
        }
        let mut decisions = 0;
        let step = self.read(states, look, &mut decisions);
        self.bounds.decisions = self.bounds.decisions.max(decisions);
        step
    }

    /// Returns what follows when the frame above this one is popped.
    fn uncover(&mut self, frame: usize, pending: usize) -> Move {
        let Pending { pop, push, then } = self.pending.all[pending].clone();
        let mut known = self.frames.all[frame].states.clone();
        let symbols = known.len();
        let mut decisions = 0;
        let step = match self.reduce(&mut known, pop, push) {
            Reduced::Never => self.give_up(),
            Reduced::Below(pop) => self.pop(Pending { pop, push, then }),
            Reduced::Done => match then {
                Then::Read(look) => self.read(known, look, &mut decisions),
                Then::Settle(admitted) => self.settle(known, admitted, &mut decisions),
            },
        };
        self.bounds.decisions = self.bounds.decisions.max(decisions);
        if matches!(step, Move::Pop(_)) {
            self.bounds.through = self.bounds.through.max(decisions.div_ceil(symbols));
        }
        step
    }
}

enum Reduced {
    Done,
    /// This many symbols below the known ones are popped as well.
    Below(usize),
    /// This does not happen, or the bottom of the stack would be popped.
    Never,
}

/// Returns the reduction of a state that is made whatever comes, unless the lookahead is refused.
fn settled(rows: &Rows, state: State) -> Option<(usize, SymbolId, BTreeSet<usize>)> {
    let mut same = None;
    let mut admits = BTreeSet::new();
    let looks = (0..rows.terminals).map(|token| Lookahead::Token(SymbolId::new(token))).chain([Lookahead::End]);
    for (number, look) in looks.enumerate() {
        let fits = match (rows.action(state, look), look.token()) {
            (Some(reduction), _) => {
                if same.is_some_and(|same| same != reduction) {
                    return None;
                }
                same = Some(reduction);
                admits.insert(number);
                false
            }
            (None, Some(token)) => rows.push(state, token).is_some(),
            (None, None) => rows.accepting[usize::from(state)],
        };
        if fits {
            return None;
        }
    }
    same.and_then(|same| Some((same.pop as usize, same.push?, admits)))
}

/// Chooses the states to cut below. Without them, the graph of pushes has no cycle. States that tokens lead to come first,
/// because they are pushed when something is opened.
///
/// Returns `None` if that takes too long, which happens for large tables, which would have too many frames anyway.
fn cuts(rows: &Rows, tops: &[Option<SymbolId>]) -> Option<Vec<bool>> {
    let mut graph = Graph::new(rows);
    let size = rows.states() + graph.to.iter().map(Vec::len).sum::<usize>();
    let mut left = MAX_CUTTING;
    let mut rest = graph.on_cycles();
    while !rest.is_empty() {
        let token = |state: &usize| tops[*state].is_some_and(|top| top.index() < rows.terminals);
        let tokens: Vec<usize> = rest.iter().copied().filter(token).collect();
        let best = if tokens.is_empty() { rest } else { tokens };
        left = left.checked_sub(best.len().saturating_mul(size))?;
        let best = best.into_iter().min_by_key(|&state| {
            graph.cut[state] = true;
            let left = graph.on_cycles().len();
            graph.cut[state] = false;
            (left, state)
        });
        best.into_iter().for_each(|state| graph.cut[state] = true);
        rest = graph.on_cycles();
    }
    Some(graph.cut)
}

/// The graph of pushes from state to state.
struct Graph {
    to: Vec<Vec<usize>>,
    from: Vec<Vec<usize>>,
    /// The states that are cut below. Pushes to them do not count.
    cut: Vec<bool>,
}

impl Graph {
    fn new(rows: &Rows) -> Self {
        let targets = |row: &[u32]| row.iter().filter(|to| **to > 0).map(|to| *to as usize - 1).collect();
        let to: Vec<Vec<usize>> = rows.pushes.chunks_exact(rows.symbols.max(1)).map(targets).collect();
        let mut from = vec![Vec::new(); to.len()];
        for (state, next) in to.iter().enumerate() {
            next.iter().for_each(|&next| from[next].push(state));
        }
        let cut = vec![false; to.len()];
        Self { to, from, cut }
    }

    /// Returns the states on cycles that do not contain cut states: those that remain when states without a way in or
    /// without a way out are removed again and again. (These may also connect two cycles, which does no harm.)
    fn on_cycles(&self) -> Vec<usize> {
        let alive = |next: &Vec<usize>| next.iter().filter(|&&state| !self.cut[state]).count();
        let mut ways = [&self.to, &self.from].map(|ways| ways.iter().map(alive).collect::<Vec<usize>>());
        let mut left: Vec<bool> = self.cut.clone();
        let mut leaving: Vec<usize> =
            (0..left.len()).filter(|&at| !left[at] && ways.iter().any(|ways| ways[at] == 0)).collect();
        leaving.iter().for_each(|&state| left[state] = true);
        while let Some(state) = leaving.pop() {
            for (side, next) in [(1, &self.to[state]), (0, &self.from[state])] {
                for &next in next {
                    ways[side][next] -= usize::from(!self.cut[next]);
                    if !left[next] && ways[side][next] == 0 {
                        left[next] = true;
                        leaving.push(next);
                    }
                }
            }
        }
        (0..left.len()).filter(|&state| !left[state]).collect()
    }
}

impl Frames {
    /// Cuts a table into frames. Returns `None` if there would be too many, or too many tokens for a byte.
    pub(super) fn new(rows: &Rows, keep: Keep) -> Option<Self> {
        if rows.terminals + 2 > 1 << u8::BITS {
            return None;
        }
        let tops = rows.tops()?;
        let cut = cuts(rows, &tops)?;
        let settled = (0..rows.states()).map(|state| settled(rows, state as State)).collect();
        let mut builder = Builder {
            rows,
            cut,
            settled,
            frames: Numbers::new(),
            pending: Numbers::new(),
            passing: HashSet::new(),
            exact: true,
            bounds: Bounds::default(),
            left: MAX_WORK,
        };
        let moves = loop {
            builder.frames = Numbers::new();
            builder.pending = Numbers::new();
            builder.frames.of(Frame { states: vec![0], admitted: None });
            let moves = Moves::new(&mut builder)?;
            let passing = moves.passing();
            if passing.is_empty() || keep == Keep::All {
                break moves;
            }
            builder.passing.extend(passing.into_iter().map(|frame| builder.frames.all[frame].clone()));
        };
        Layout::new(builder.frames.all.len(), rows.terminals).frames(&moves, &builder)
    }

    /// Returns whether a row is that of a step that reads no token.
    #[inline]
    pub(super) fn is_hop(&self, row: u16) -> bool {
        self.hops.is_some_and(|hops| row >= hops)
    }

    /// Returns whether a row is that of a word that was refused or has ended, or of a frame that is not known.
    #[inline]
    pub(super) fn is_special(&self, row: u16) -> bool {
        row.wrapping_sub(self.special) <= self.lost - self.special
    }

    /// Returns the number of the frame that is not known.
    pub(super) fn unknown(&self) -> u16 {
        self.contents.len() as u16
    }

    /// Returns the contents of the frame with this number.
    pub(super) fn frame(&self, number: u16) -> &Frame {
        &self.contents[usize::from(number)]
    }

    /// Returns the contents of the topmost frame, given its row.
    pub(super) fn topmost(&self, row: u16) -> &Frame {
        &self.contents[usize::from(row) / (self.terminals + 2)]
    }

    /// Returns whether this many frames have so few symbols that the next token cannot reach a limit.
    pub(super) fn are_few(&self, frames: usize, limits: Limits) -> bool {
        self.longest(limits).is_some()
            && frames.saturating_add(self.pushes() + 2).saturating_mul(self.bounds.rise.max(1)) <= limits.depth
    }

    /// Returns the maximum number of frames that a token adds to the stack.
    pub(super) fn pushes(&self) -> usize {
        self.bounds.pushes.max(1)
    }

    /// Returns the maximum number of tokens with which a word cannot reach a limit, or `None` if any word might.
    pub(super) fn longest(&self, limits: Limits) -> Option<usize> {
        let (Bounds { rise, decisions, through, .. }, pushes) = (self.bounds, self.pushes());
        // The plain table makes the reductions of two steps on one token; each frame on the stack has a symbol.
        let few = (decisions * (pushes + 4)) as u64 <= limits.actions && through as u64 <= limits.actions_per_symbol;
        (limits.depth / (pushes * rise.max(1))).checked_sub(2).filter(|_| few)
    }
}

/// All frames that occur, with what follows.
#[derive(Default)]
struct Moves {
    /// What follows for each frame and lookahead.
    steps: Vec<Vec<Move>>,
    /// What follows for what is pending when a frame is uncovered.
    uncovered: BTreeMap<(usize, usize), Move>,
    /// For each frame: those directly below it, those that take its place, and what is pending when it is popped.
    around: Vec<[BTreeSet<usize>; 3]>,
    /// What was added around frames and is not yet considered.
    added: Vec<(usize, usize, usize)>,
}

/// The sides of a frame.
const BELOW: usize = 0;
const NEXT: usize = 1;
const POPS: usize = 2;

impl Moves {
    /// Finds all frames. Returns `None` if there are too many.
    fn new(builder: &mut Builder<'_>) -> Option<Self> {
        let looks = builder.rows.terminals + 1;
        let mut this = Self::default();
        while this.steps.len() < builder.frames.all.len() {
            let frame = this.steps.len();
            let row: Vec<Move> = (0..looks).map(|look| builder.step(frame, look)).collect();
            row.iter().for_each(|to| this.note(frame, to));
            this.steps.push(row);
            builder.left = builder.left.checked_sub(looks)?;
            while let Some((frame, side, number)) = this.added.pop() {
                let around = &this.around[frame];
                builder.left = builder.left.checked_sub(1 + around.iter().map(BTreeSet::len).sum::<usize>())?;
                let all = |side: usize| this.around[frame][side].iter().copied().collect::<Vec<usize>>();
                if side == BELOW {
                    let (next, pops) = (all(NEXT), all(POPS));
                    next.into_iter().for_each(|next| this.add(next, BELOW, number));
                    pops.into_iter().for_each(|pending| this.uncover(builder, number, pending));
                } else {
                    for under in all(BELOW) {
                        if side == NEXT {
                            this.add(number, BELOW, under);
                        } else {
                            this.uncover(builder, under, number);
                        }
                    }
                }
            }
            if builder.frames.all.len() * looks > INDEXES {
                return None;
            }
        }
        Some(this)
    }

    /// Notes what follows when a frame is uncovered.
    fn uncover(&mut self, builder: &mut Builder<'_>, frame: usize, pending: usize) {
        if !self.uncovered.contains_key(&(pending, frame)) {
            let to = builder.uncover(frame, pending);
            self.note(frame, &to);
            self.uncovered.insert((pending, frame), to);
        }
    }

    /// Returns the frames that, when they are uncovered, only pass on what is pending. Such a frame need not be left on the
    /// stack: the one beneath it will do the same.
    fn passing(&self) -> BTreeSet<usize> {
        let passes = |(&(pending, _), to): (&(usize, usize), &Move)| *to == Move::Pop(pending);
        let (passing, others): (Vec<_>, Vec<_>) = self.uncovered.iter().partition(|pair| passes(*pair));
        let others: BTreeSet<usize> = others.into_iter().map(|((_, frame), _)| *frame).collect();
        passing.into_iter().map(|((_, frame), _)| *frame).filter(|frame| !others.contains(frame)).collect()
    }

    /// Returns the frame that is on top after a token, if it is the same wherever the token is read.
    fn after(&self, token: usize) -> Option<usize> {
        let mut moves: Vec<&Move> = self.steps.iter().map(|row| &row[token]).collect();
        let mut uncovered = BTreeSet::new();
        let mut after = None;
        while let Some(to) = moves.pop() {
            match to {
                Move::Go(frames) => {
                    let top = *frames.last()?;
                    if *after.get_or_insert(top) != top {
                        return None;
                    }
                }
                Move::Pop(pending) if uncovered.insert(*pending) => {
                    moves.extend(self.uncovered.range((*pending, 0)..(pending + 1, 0)).map(|(_, to)| to));
                }
                Move::Pop(_) | Move::Accept | Move::Refuse => {}
            }
        }
        after
    }

    /// Notes what can follow when this frame is on top.
    fn note(&mut self, frame: usize, to: &Move) {
        match to {
            Move::Go(frames) => {
                self.add(frame, NEXT, frames[0]);
                frames.windows(2).for_each(|pair| self.add(pair[1], BELOW, pair[0]));
            }
            Move::Pop(pending) => self.add(frame, POPS, *pending),
            Move::Accept | Move::Refuse => {}
        }
    }

    fn add(&mut self, frame: usize, side: usize, number: usize) {
        if self.around.len() <= frame {
            self.around.resize_with(frame + 1, Default::default);
        }
        if self.around[frame][side].insert(number) {
            self.added.push((frame, side, number));
        }
    }
}

/// The numbers of rows: first the frames, then one for a word that was refused before its end, two for words that have
/// ended, accepted or not, one for a frame that is not known, and then the hops.
struct Layout {
    frames: usize,
    terminals: usize,
    hops: Numbers<Hop>,
}

/// A step that reads no token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Hop {
    /// Pop another frame.
    Pop(usize),
    /// Push a frame, and continue with the others.
    Push(Vec<usize>),
}

/// Extends a list to a length that the compiler knows, unless it has more than all indexes of 16 bits.
fn indexed<T: Clone + Default, const N: usize>(values: Vec<T>) -> Option<Box<[T; N]>> {
    (values.len() <= INDEXES).then(|| boxed(values))
}

/// Extends a list, which is not longer, to a length that the compiler knows.
pub(super) fn boxed<T: Clone + Default, const N: usize>(mut values: Vec<T>) -> Box<[T; N]> {
    values.resize(N, T::default());
    values.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("the length is right"))
}

impl Layout {
    fn new(frames: usize, terminals: usize) -> Self {
        Self { frames, terminals, hops: Numbers::new() }
    }

    /// Returns the row of a word that is refused, at its end or before.
    fn refused(&self, at_end: bool) -> usize {
        if at_end { self.frames + 2 } else { self.frames }
    }

    fn accepted(&self) -> usize {
        self.frames + 1
    }

    fn lost(&self) -> usize {
        self.frames + 3
    }

    fn first_hop(&self) -> usize {
        self.frames + 4
    }

    fn hop(&mut self, hop: Hop) -> usize {
        self.first_hop() + self.hops.of(hop)
    }

    /// Returns the row that comes after a move without a pop or a push.
    fn row(&mut self, to: &Move, at_end: bool) -> usize {
        match to {
            Move::Go(frames) if frames.len() == 1 => frames[0],
            Move::Go(frames) => self.hop(Hop::Push(frames.clone())),
            Move::Pop(pending) => self.hop(Hop::Pop(*pending)),
            Move::Accept => self.accepted(),
            Move::Refuse => self.refused(at_end),
        }
    }

    fn frames(mut self, moves: &Moves, builder: &Builder<'_>) -> Option<Frames> {
        let ends = |pending: usize| builder.pending.all[pending].then == Then::Read(builder.rows.terminals);
        let Moves { steps, uncovered, .. } = moves;
        // The rows that moves lead to are known only after all hops are.
        let mut columns: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (&(pending, frame), to) in uncovered {
            let row = self.row(to, ends(pending));
            let refused = self.refused(ends(pending));
            let lost = self.lost();
            let column = || std::iter::repeat_n(refused, self.frames).chain([lost]).collect();
            columns.entry(pending).or_insert_with(column)[frame] = row;
        }
        steps.iter().flatten().for_each(|to| {
            if let Move::Go(frames) = to
                && frames.len() > 2
            {
                self.hop(Hop::Push(frames[1..].to_vec()));
            }
        });
        let mut at = 0;
        while at < self.hops.all.len() {
            if let Hop::Push(frames) = self.hops.all[at].clone()
                && frames.len() > 2
            {
                self.hop(Hop::Push(frames[1..].to_vec()));
            }
            at += 1;
        }
        let rows = self.first_hop() + self.hops.all.len();
        let width = self.terminals + 2;
        let begin = |row: usize| u16::try_from(row * width).ok();
        let mut results: Vec<u16> = (0..rows).map(begin).collect::<Option<_>>()?;
        let mut begins: BTreeMap<usize, usize> = BTreeMap::new();
        for (pending, column) in columns {
            begins.insert(pending, results.len());
            results.extend(column.into_iter().filter_map(begin));
        }
        let mut all = Vec::with_capacity(rows * width);
        let refuse = |at_end| Step::new(self.refused(at_end), 0, 0);
        let row = |row: &Vec<Move>| -> Vec<Step> {
            let read = row.iter().enumerate().map(|(look, to)| self.step(to, look == self.terminals, &begins));
            read.chain([refuse(false)]).collect()
        };
        let refused: Vec<Step> = (0..width).map(|look| refuse(look == self.terminals)).collect();
        steps.iter().for_each(|steps| all.extend(row(steps)));
        all.extend(refused);
        all.extend(row(&steps[0]));
        all.extend(row(&steps[0]));
        all.extend(std::iter::repeat_n(Step::new(self.lost(), 0, 0), width));
        for hop in &self.hops.all {
            let step = match hop {
                Hop::Pop(pending) => self.step(&Move::Pop(*pending), ends(*pending), &begins),
                Hop::Push(frames) => self.step(&Move::Go(frames.clone()), false, &begins),
            };
            all.extend(std::iter::repeat_n(step, width));
        }
        Some(Frames {
            steps: indexed(all)?,
            results: indexed(results)?,
            hops: if self.hops.all.is_empty() { None } else { begin(self.first_hop()) },
            accepted: begin(self.accepted())?,
            refused: begin(self.refused(false)).filter(|_| builder.exact),
            special: begin(self.refused(false))?,
            lost: begin(self.lost())?,
            after: (0..self.terminals).map(|token| moves.after(token).and_then(begin)).collect(),
            terminals: self.terminals,
            contents: builder.frames.all.clone(),
            bounds: builder.bounds,
        })
    }

    fn step(&self, to: &Move, at_end: bool, begins: &BTreeMap<usize, usize>) -> Step {
        let refuse = Step::new(self.refused(at_end), 0, 0);
        match to {
            Move::Go(frames) => match &frames[..] {
                [frame] => Step::new(*frame, 0, 0),
                [below, frame] => Step::new(*frame, *below, 1),
                [below, rest @ ..] => {
                    let hop = self.hops.numbers.get(&Hop::Push(rest.to_vec()));
                    hop.map_or(refuse, |hop| Step::new(self.first_hop() + hop, *below, 1))
                }
                [] => refuse,
            },
            // What is never uncovered has no column.
            Move::Pop(pending) => begins.get(pending).map_or(refuse, |&begin| Step::new(begin, 0, -1)),
            Move::Accept => Step::new(self.accepted(), 0, 0),
            Move::Refuse => refuse,
        }
    }
}
