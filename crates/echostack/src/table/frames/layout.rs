//! Frames and what follows them, written down as steps.
//!
//! A step can push or pop one frame, and leads to a row. Whatever is more than that takes hops. Suppose that a token
//! replaces the topmost frame by the frames 4, 5 and 6. Its step leaves 4 below and leads to the row of a hop, "push 5
//! and 6", whose step leaves 5 below and leads to the row of frame 6. Or suppose that a token pops the topmost frame
//! and, if frame 7 is uncovered, pops that as well. Then, in the column of results that the first pop selects from, the
//! entry of frame 7 is the row of a hop that pops.

use std::collections::BTreeMap;

use super::moves::{Builder, Move, Moves, Numbers};
use super::steps::{Frame, Frames, Step, indexed};

/// The numbers of rows: first the frames, then one for a word that was refused before its end, two for words that have
/// ended, accepted or not, one for a frame that is not known, and then the hops.
pub(super) struct Layout {
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

/// For each thing that can be pending, the row that follows when each frame is uncovered.
type Columns = BTreeMap<usize, Vec<usize>>;

/// Where the column of each thing that can be pending begins among the results.
type Begins = BTreeMap<usize, usize>;

impl Layout {
    pub(super) fn new(frames: &[Frame], terminals: usize) -> Self {
        Self { frames: frames.len(), terminals, hops: Numbers::new() }
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

    /// Returns the number of rows, once all hops are known.
    fn rows(&self) -> usize {
        self.first_hop() + self.hops.all.len()
    }

    /// Returns the number of steps in a row: one for each token, one for the end, and one for anything else.
    fn width(&self) -> usize {
        self.terminals + 2
    }

    /// Returns where a row begins, unless there are too many.
    fn begin(&self, row: usize) -> Option<u16> {
        u16::try_from(row * self.width()).ok()
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

    /// Lays everything out. Returns `None` if there are too many rows or results.
    pub(super) fn frames(mut self, moves: &Moves, builder: &Builder<'_>) -> Option<Frames> {
        // The order matters. Results begin with the rows, so all hops must be known before there are results; and steps
        // refer to results.
        let columns = self.columns(moves, builder);
        self.number_pushes(moves);
        let (results, begins) = self.results(columns)?;
        let steps = self.steps(moves, builder, &begins);
        Some(Frames {
            steps: indexed(steps)?,
            results: indexed(results)?,
            hops: if self.hops.all.is_empty() { None } else { self.begin(self.first_hop()) },
            accepted: self.begin(self.accepted())?,
            refused: self.begin(self.refused(false)).filter(|_| builder.exact),
            special: self.begin(self.refused(false))?,
            lost: self.begin(self.lost())?,
            after: (0..self.terminals).map(|token| moves.after(token).and_then(|row| self.begin(row))).collect(),
            terminals: self.terminals,
            contents: builder.frames().to_vec(),
            bounds: builder.bounds,
        })
    }

    /// Returns the columns, and numbers the hops that follow a pop.
    fn columns(&mut self, moves: &Moves, builder: &Builder<'_>) -> Columns {
        let mut columns = Columns::new();
        for (&(pending, frame), to) in &moves.uncovered {
            let at_end = builder.ends(pending);
            let row = self.row(to, at_end);
            columns.entry(pending).or_insert_with(|| self.column(at_end))[frame] = row;
        }
        columns
    }

    /// Returns a column for frames that are never uncovered. The one after the last frame is not known: a segment of a
    /// long word begins on top of it.
    fn column(&self, at_end: bool) -> Vec<usize> {
        let mut column = vec![self.refused(at_end); self.frames];
        column.push(self.lost());
        column
    }

    /// Numbers the hops that push more than one frame: those after a token, then those after other hops.
    fn number_pushes(&mut self, moves: &Moves) {
        for to in moves.steps.iter().flatten() {
            if let Move::Go(frames) = to {
                self.number_rest(frames);
            }
        }
        // A hop can add another one to the list, which is shorter by a frame.
        let mut at = 0;
        while at < self.hops.all.len() {
            if let Hop::Push(frames) = self.hops.all[at].clone() {
                self.number_rest(&frames);
            }
            at += 1;
        }
    }

    /// Numbers the hop that continues after the first of these frames is pushed, if more than one is left.
    fn number_rest(&mut self, frames: &[usize]) {
        if frames.len() > 2 {
            self.hop(Hop::Push(frames[1..].to_vec()));
        }
    }

    /// Returns the results: first all rows, so that the result of a step without a pop is the number of its row, and
    /// then the columns.
    fn results(&self, columns: Columns) -> Option<(Vec<u16>, Begins)> {
        let mut results: Vec<u16> = (0..self.rows()).map(|row| self.begin(row)).collect::<Option<_>>()?;
        let mut begins = Begins::new();
        for (pending, column) in columns {
            begins.insert(pending, results.len());
            // Columns have only rows that begin at a number of 16 bits, as all of them do by now.
            results.extend(column.into_iter().filter_map(|row| self.begin(row)));
        }
        Some((results, begins))
    }

    /// Returns the steps of all rows, in the order of their numbers.
    fn steps(&self, moves: &Moves, builder: &Builder<'_>, begins: &Begins) -> Vec<Step> {
        let mut all = Vec::with_capacity(self.rows() * self.width());
        for row in &moves.steps {
            all.extend(self.frame_row(row, begins));
        }
        // Once a token is refused, so is everything up to the end of the word. After the end, another word begins.
        all.extend((0..self.width()).map(|look| self.refuse(look == self.terminals)));
        all.extend(self.frame_row(&moves.steps[0], begins));
        all.extend(self.frame_row(&moves.steps[0], begins));
        all.extend(std::iter::repeat_n(Step::new(self.lost(), 0, 0), self.width()));
        for hop in &self.hops.all {
            let step = match hop {
                Hop::Pop(pending) => self.step(&Move::Pop(*pending), builder.ends(*pending), begins),
                Hop::Push(frames) => self.step(&Move::Go(frames.clone()), false, begins),
            };
            // The same in every column: whoever runs the steps need not know that no token is read.
            all.extend(std::iter::repeat_n(step, self.width()));
        }
        all
    }

    /// Returns the row of a frame, given what follows for each lookahead.
    fn frame_row(&self, row: &[Move], begins: &Begins) -> Vec<Step> {
        let read = row.iter().enumerate().map(|(look, to)| self.step(to, look == self.terminals, begins));
        read.chain([self.refuse(false)]).collect()
    }

    fn refuse(&self, at_end: bool) -> Step {
        Step::new(self.refused(at_end), 0, 0)
    }

    fn step(&self, to: &Move, at_end: bool, begins: &Begins) -> Step {
        let refuse = self.refuse(at_end);
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
