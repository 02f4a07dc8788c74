//! Sequences of inputs, kept instead of the states they lead to because they are far smaller.

use crate::reservoir::Drive;

/// The index of a sequence of inputs in [`Histories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HistoryId(u32);

impl HistoryId {
    /// The empty sequence.
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number of the sequence, as stored in files. The empty sequence has number 0.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Sequences of inputs, stored as a tree: each sequence extends its parent by one input.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Histories {
    /// The parent of each sequence except the empty one: the sequence without its last input.
    pub(crate) parents: Vec<HistoryId>,
    /// The last input of each sequence except the empty one.
    pub(crate) last: Vec<HistoryInput>,
    /// The vectors among the inputs, `width` values each.
    pub(crate) vectors: Vec<f64>,
    pub(crate) width: usize,
}

/// An input that extends a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HistoryInput {
    Symbol(u32),
    Vector(u32),
    End,
}

impl Histories {
    /// Adds the sequence that extends `parent` by one input.
    pub(crate) fn add(&mut self, parent: HistoryId, drive: Drive<'_>) -> HistoryId {
        let last = match drive {
            Drive::Silence => HistoryInput::End,
            Drive::Channel(channel) => HistoryInput::Symbol(channel as u32),
            Drive::Values(values) => {
                self.width = values.len();
                self.vectors.extend_from_slice(values);
                HistoryInput::Vector((self.vectors.len() / values.len()) as u32 - 1)
            }
        };
        self.parents.push(parent);
        self.last.push(last);
        HistoryId(self.parents.len() as u32)
    }

    /// Returns the inputs of a sequence.
    pub(crate) fn drives(&self, mut id: HistoryId) -> Vec<Drive<'_>> {
        let mut all = Vec::new();
        while let Some(at) = id.index().checked_sub(1) {
            all.push(match self.last[at] {
                HistoryInput::End => Drive::Silence,
                HistoryInput::Symbol(channel) => Drive::Channel(channel as usize),
                HistoryInput::Vector(number) => {
                    Drive::Values(&self.vectors[number as usize * self.width..][..self.width])
                }
            });
            id = self.parents[at];
        }
        all.reverse();
        all
    }
}
