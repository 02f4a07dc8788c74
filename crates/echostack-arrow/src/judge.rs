//! Judging columns of words, with the verdicts as a column.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, StructBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ListArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields};
use echostack::recognize::{Event, Judged, Observer, Outcome, Reduction};
use echostack::{Alphabet, Limits, Recognizer, Word};
use echostack_grammar::Judge;
use rayon::prelude::*;

use crate::words::Words;

/// The number of rows that a thread takes at a time.
const ROWS: usize = 1 << 10;

impl Words {
    /// Returns the verdict on each word or its outcome, or `None` where a row is null.
    pub fn judge<A: Judged>(&self, judge: &Judge, limits: Limits) -> Vec<Option<A>> {
        self.judge_rows(judge, 0..self.len(), limits)
    }

    /// Returns the same as [`Words::judge`]. Uses rayon's threads; the answers do not depend on their number.
    pub fn judge_all<A: Judged>(&self, judge: &Judge, limits: Limits) -> Vec<Option<A>> {
        let starts: Vec<usize> = (0..self.len()).step_by(ROWS).collect();
        let rows = |start: usize| start..(start + ROWS).min(self.len());
        starts.into_par_iter().flat_map_iter(|start| self.judge_rows(judge, rows(start), limits)).collect()
    }

    /// Returns the actions on the stack for each word, with nulls where a row is null, and the outcomes.
    pub fn actions(&self, judge: &Judge, limits: Limits) -> (ListArray, Vec<Option<Outcome>>) {
        let list = ListBuilder::new(StructBuilder::from_fields(action_fields(), 0));
        let mut actions = Actions { alphabet: judge.alphabet(), list };
        let one = |row: usize| {
            let word = self.get(row).map(|tokens| Word::Symbols(tokens.to_vec()));
            let outcome = word.map(|word| judge.model().answer_with(&word, limits, &mut actions));
            actions.list.append(outcome.is_some());
            outcome
        };
        let outcomes = (0..self.len()).map(one).collect();
        (actions.list.finish(), outcomes)
    }

    fn judge_rows<A: Judged>(&self, judge: &Judge, rows: Range<usize>, limits: Limits) -> Vec<Option<A>> {
        let present = rows.clone().filter_map(|row| self.get(row));
        let mut answers = judge.model().judge_slices(present, limits).into_iter();
        if answers.len() == rows.len() {
            // No row is null.
            return answers.map(Some).collect();
        }
        rows.map(|row| self.get(row).and_then(|_| answers.next())).collect()
    }
}

/// An observer that collects the actions of a model on its stack for each word.
struct Actions<'a> {
    alphabet: &'a Alphabet,
    list: ListBuilder<StructBuilder>,
}

impl Observer for Actions<'_> {
    fn event(&mut self, position: u64, event: Event<'_>) {
        let Event::Decide { reduction: Reduction { pop, push: Some(symbol) }, .. } = event else { return };
        if self.alphabet.is_state(symbol) {
            return;
        }
        let action = self.list.values();
        if let Some(positions) = action.field_builder::<UInt64Builder>(0) {
            positions.append_value(position);
        }
        if let Some(pops) = action.field_builder::<UInt32Builder>(1) {
            pops.append_value(pop);
        }
        if let Some(pushes) = action.field_builder::<StringBuilder>(2) {
            pushes.append_value(self.alphabet.name(symbol));
        }
        action.append(true);
    }

    fn reads_margins(&self) -> bool {
        false
    }
}

/// Returns the fields of an action: the position of the token on which it is taken, the number of symbols popped, and
/// the symbol pushed.
fn action_fields() -> Fields {
    Fields::from(vec![
        Field::new(POSITION, DataType::UInt64, true),
        Field::new("pop", DataType::UInt32, true),
        Field::new("push", DataType::Utf8, true),
    ])
}

/// Returns the type of the lists of [`Words::actions`].
pub fn action_list() -> DataType {
    DataType::new_list(DataType::Struct(action_fields()), true)
}

/// The name of the column that holds the verdict: accept, incomplete, reject or stopped.
pub const VERDICT: &str = "verdict";
/// The name of the column that holds the position of the token that cannot follow, or on which a limit was reached;
/// null if there is none.
pub const POSITION: &str = "position";

/// Returns the fields of [`verdicts`].
pub fn verdict_fields() -> Fields {
    Fields::from(vec![Field::new(VERDICT, DataType::Utf8, true), Field::new(POSITION, DataType::UInt64, true)])
}

/// Returns the outcomes as a column of verdicts with their positions, with nulls for `None`.
pub fn verdicts(all: &[Option<Outcome>]) -> StructArray {
    let mut names = StringBuilder::with_capacity(all.len(), all.len() * 6);
    let mut positions = UInt64Builder::with_capacity(all.len());
    for outcome in all {
        names.append_option(outcome.map(Outcome::name));
        positions.append_option(outcome.and_then(Outcome::position));
    }
    let nulls: NullBuffer = all.iter().map(Option::is_some).collect();
    StructArray::new(verdict_fields(), vec![Arc::new(names.finish()), Arc::new(positions.finish())], Some(nulls))
}
