//! Which frames there are, and what follows each of them.
//!
//! The table is run on stacks of which only the topmost states are known. As long as a reduction pops only known
//! states, it is carried out. One that pops more is *pending*: the whole frame is popped, and what is left to do
//! depends on the frame beneath. In Dyck1 (see the [example](super)), the frame with the states 1 2 reads `)`. State 3
//! comes on top, whose reduction pops all three of them. So the frame is popped, and "pop nothing more, push S, and
//! settle" is pending. When frame 0 is uncovered, this leads to the states 0 4, which are frame 2.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use super::cuts::Settled;
use super::steps::{Admitted, Bounds, Frame, INDEXES};
use crate::symbol::{Lookahead, SymbolId};
use crate::table::rows::{Rows, State};

/// The maximum number of decisions in one step.
const MAX_DECISIONS: usize = 64;

/// The maximum number of steps in which frames are found.
const MAX_WORK: usize = 1 << 20;

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
pub(super) enum Move {
    /// The topmost frame is replaced by these, of which there is at least one.
    Go(Vec<usize>),
    /// The topmost frame is popped.
    Pop(usize),
    Accept,
    Refuse,
}

/// Numbers for values, in the order in which they first occur.
#[derive(Debug)]
pub(super) struct Numbers<T> {
    pub(super) all: Vec<T>,
    pub(super) numbers: HashMap<T, usize>,
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), numbers: HashMap::new() }
    }

    pub(super) fn of(&mut self, value: T) -> usize {
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.all.push(value.clone());
            self.all.len() - 1
        })
    }
}

/// What runs a table on stacks that are known in part, and numbers the frames that come about.
pub(super) struct Builder<'a> {
    rows: &'a Rows,
    cut: Vec<bool>,
    /// The reduction of each state that is made whatever comes.
    settled: Vec<Settled>,
    frames: Numbers<Frame>,
    pending: Numbers<Pending>,
    /// The frames that are left out, because they only pass on what is pending.
    passing: HashSet<Frame>,
    /// Whether a word is refused exactly at the token at which the plain table refuses it.
    pub(super) exact: bool,
    pub(super) bounds: Bounds,
    /// The number of steps that are left, of [`MAX_WORK`].
    left: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn new(rows: &'a Rows, cut: Vec<bool>, settled: Vec<Settled>) -> Self {
        Self {
            rows,
            cut,
            settled,
            frames: Numbers::new(),
            pending: Numbers::new(),
            passing: HashSet::new(),
            exact: true,
            bounds: Bounds::default(),
            left: MAX_WORK,
        }
    }

    /// Forgets all frames but the first, which is the empty stack.
    fn begin(&mut self) {
        // What is known of bounds, and whether words are refused exactly, is kept. It may be too careful then, but not
        // wrong.
        self.frames = Numbers::new();
        self.pending = Numbers::new();
        self.frames.of(Frame { states: vec![0], admitted: None });
    }

    /// Leaves these frames out from now on.
    pub(super) fn leave_out(&mut self, frames: BTreeSet<usize>) {
        // They are known by their contents, because their numbers change.
        self.passing.extend(frames.into_iter().map(|frame| self.frames.all[frame].clone()));
    }

    /// Returns the contents of all frames.
    pub(super) fn frames(&self) -> &[Frame] {
        &self.frames.all
    }

    /// Returns whether what is pending reads the end of the word.
    pub(super) fn ends(&self, pending: usize) -> bool {
        self.pending.all[pending].then == Then::Read(self.rows.terminals)
    }

    fn lookahead(&self, look: usize) -> Lookahead {
        if look < self.rows.terminals { Lookahead::Token(SymbolId::new(look)) } else { Lookahead::End }
    }

    /// Reads a lookahead on top of known states.
    fn read(&mut self, mut known: Vec<State>, look: usize, decisions: &mut usize) -> Move {
        // A table need not come from a grammar, and may reduce without end. So the number of decisions is limited.
        while *decisions < MAX_DECISIONS {
            *decisions += 1;
            let top = known[known.len() - 1];
            let Some(reduction) = self.rows.action(top, self.lookahead(look)) else {
                let next = self.lookahead(look).token().map(|token| self.rows.push(top, token));
                return match next {
                    Some(Some(state)) => {
                        known.push(state);
                        // Nothing is known about the next token yet, so all are admitted.
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
            // The plain table would refuse any other token before this reduction. After it, the token might fit, so it
            // is remembered that it does not.
            let admits = match admitted {
                Some(before) => before.intersection(&admits).copied().collect(),
                None => admits,
            };
            // All tokens and the end are one more than there are tokens. If all of them are admitted, there is nothing
            // to remember.
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
    fn go(&mut self, known: Vec<State>, admitted: Admitted) -> Move {
        self.bounds.rise = self.bounds.rise.max(known.len() + 1);
        let admitted = self.to_remember(&known, admitted);
        let mut pieces = self.pieces(known);
        self.bounds.pushes = self.bounds.pushes.max(pieces.len() - 1);
        // Only the topmost frame sees the next token.
        let top = pieces.pop().map(|states| Frame { states, admitted });
        let below = pieces.into_iter().map(|states| Frame { states, admitted: None });
        let below: Vec<Frame> = below.filter(|frame| !self.passing.contains(frame)).collect();
        Move::Go(below.into_iter().chain(top).map(|frame| self.frames.of(frame)).collect())
    }

    /// Returns which lookaheads are admitted on top of known states, without restricting those that are refused anyway.
    /// So there are fewer different frames.
    fn to_remember(&self, known: &[State], mut admitted: Admitted) -> Admitted {
        let looks = self.rows.terminals + 1;
        if let Some(admits) = &mut admitted {
            let refused: Vec<usize> =
                (0..looks).filter(|look| !admits.contains(look) && self.refuses(known, *look)).collect();
            admits.extend(refused);
        }
        admitted.filter(|admits| admits.len() < looks)
    }

    /// Cuts known states into pieces, of which there is at least one.
    fn pieces(&self, known: Vec<State>) -> Vec<Vec<State>> {
        // The first known state is never popped by a step that ends here. It is the bottom of the stack, or the stack
        // was cut below it when it was pushed.
        let mut pieces: Vec<Vec<State>> = Vec::new();
        for state in known {
            match pieces.last_mut() {
                Some(piece) if !self.cut[usize::from(state)] => piece.push(state),
                _ => pieces.push(vec![state]),
            }
        }
        pieces
    }

    /// Returns whether known states are enough to refuse a lookahead.
    fn refuses(&self, known: &[State], look: usize) -> bool {
        // The same as [`read`](Self::read), except that nothing is noted: if more has to be known, the answer is no.
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
        // A token may pop any number of frames in a row. The limit on what it may do grows with the depth of the stack,
        // so the decisions are divided among the symbols that are popped.
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

/// All frames that occur, with what follows.
#[derive(Default)]
pub(super) struct Moves {
    /// What follows for each frame and lookahead.
    pub(super) steps: Vec<Vec<Move>>,
    /// What follows for what is pending when a frame is uncovered.
    pub(super) uncovered: BTreeMap<(usize, usize), Move>,
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
    pub(super) fn new(builder: &mut Builder<'_>) -> Option<Self> {
        builder.begin();
        let looks = builder.rows.terminals + 1;
        let mut this = Self::default();
        // The list of frames grows while it is worked through.
        while this.steps.len() < builder.frames.all.len() {
            let frame = this.steps.len();
            let row: Vec<Move> = (0..looks).map(|look| builder.step(frame, look)).collect();
            row.iter().for_each(|to| this.note(frame, to));
            this.steps.push(row);
            builder.left = builder.left.checked_sub(looks)?;
            this.saturate(builder)?;
            if builder.frames.all.len() * looks > INDEXES {
                return None;
            }
        }
        Some(this)
    }

    /// Considers what was added, until nothing more follows from it. Returns `None` if that takes too long.
    ///
    /// It does not matter how a stack came about, but only which frames can be next to each other. This is how the
    /// reachable stacks of a pushdown system are found in general (Bouajjani, Esparza and Maler, 1997):
    ///
    /// - What is below a frame is also below a frame that takes its place.
    /// - What is pending when a frame is popped meets everything that can be below that frame.
    ///
    /// Both have two premises, so they are looked at whenever either of them is added.
    fn saturate(&mut self, builder: &mut Builder<'_>) -> Option<()> {
        while let Some((frame, side, number)) = self.added.pop() {
            let [below, next, pops] = self.around[frame].clone();
            builder.left = builder.left.checked_sub(1 + below.len() + next.len() + pops.len())?;
            match side {
                BELOW => {
                    next.into_iter().for_each(|next| self.add(next, BELOW, number));
                    pops.into_iter().for_each(|pending| self.uncover(builder, number, pending));
                }
                NEXT => below.into_iter().for_each(|under| self.add(number, BELOW, under)),
                _ => below.into_iter().for_each(|under| self.uncover(builder, under, number)),
            }
        }
        Some(())
    }

    /// Notes what follows when a frame is uncovered.
    fn uncover(&mut self, builder: &mut Builder<'_>, frame: usize, pending: usize) {
        if !self.uncovered.contains_key(&(pending, frame)) {
            let to = builder.uncover(frame, pending);
            // A frame that is uncovered is on top for a moment, so this is noted like any other step.
            self.note(frame, &to);
            self.uncovered.insert((pending, frame), to);
        }
    }

    /// Returns the frames that, when they are uncovered, only pass on what is pending. Such a frame need not be left on
    /// the stack: the one beneath it will do the same.
    pub(super) fn passing(&self) -> BTreeSet<usize> {
        let passes = |(&(pending, _), to): (&(usize, usize), &Move)| *to == Move::Pop(pending);
        let (passing, others): (Vec<_>, Vec<_>) = self.uncovered.iter().partition(|pair| passes(*pair));
        // A frame that also does anything else when it is uncovered has to stay.
        let others: BTreeSet<usize> = others.into_iter().map(|((_, frame), _)| *frame).collect();
        passing.into_iter().map(|((_, frame), _)| *frame).filter(|frame| !others.contains(frame)).collect()
    }

    /// Returns the frame that is on top after a token, if it is the same wherever the token is read.
    pub(super) fn after(&self, token: usize) -> Option<usize> {
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
                // What follows depends on the frame that is uncovered, which can be any of those that were found.
                Move::Pop(pending) if uncovered.insert(*pending) => {
                    moves.extend(self.uncovered.range((*pending, 0)..(pending + 1, 0)).map(|(_, to)| to));
                }
                // Where the token is refused, nothing comes after it.
                Move::Pop(_) | Move::Accept | Move::Refuse => {}
            }
        }
        after
    }

    /// Notes what can follow when this frame is on top.
    fn note(&mut self, frame: usize, to: &Move) {
        match to {
            Move::Go(frames) => {
                // The lowest of the new frames takes the place of this one. The others lie on each other.
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
