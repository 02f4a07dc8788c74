//! The conflicts that bison has because of actions inside of productions.
//!
//! Bison replaces such an action by an empty nonterminal, its marker: to run the action in time, a parser must know which
//! production it is in. That can be too early to know, and is then a conflict. Actions are passed over here, so that the
//! grammar has no such conflict, and possibly more words than bison's parser accepts.

use std::collections::BTreeSet;

use super::states::States;
use super::work::TooLarge;
use crate::rules::precedence::{Remaining, remaining};
use crate::rules::{Production, Rules};

/// Returns the rules with a marker in the place of each action inside of a production. The markers are the last
/// nonterminals, and their productions the last productions, both in the order of the actions.
pub(crate) fn with_markers(rules: &Rules) -> Rules {
    let mut marked = rules.clone();
    for (number, action) in rules.actions.iter().enumerate().rev() {
        // Actions are in ascending order, so that those before this one are where they were.
        marked.productions[action.production].right.insert(action.before, rules.names.len() + number);
    }
    for (number, action) in rules.actions.iter().enumerate() {
        marked.names.push(format!("action {number}"));
        marked.places.push(action.place);
        marked.productions.push(Production { left: rules.names.len() + number, right: Vec::new() });
        marked.production_precedences.push(None);
    }
    marked
}

/// Returns where the first action is whose marker has a conflict, given the rules with markers and their states. As in
/// bison, states that cannot be reached once precedences are applied do not count.
pub(crate) fn conflict(marked: &Rules, states: &States<'_>) -> Result<Option<usize>, TooLarge> {
    let first_marker = marked.productions.len() - marked.actions.len();
    let mut conflicting: Option<usize> = None;
    let mut reached = vec![false; states.len()];
    let mut queue = vec![0];
    while let Some(state) = queue.pop() {
        if std::mem::replace(&mut reached[state], true) {
            continue;
        }
        let choices = states.choices(state)?;
        let mut shifts = BTreeSet::new();
        // Acceptance is the production after the last one, and no marker.
        let is_marker = |&production: &usize| (first_marker..marked.productions.len()).contains(&production);
        for lookahead in 0..=marked.terminals {
            let Remaining { shift, reductions, .. } = remaining(marked, &choices, lookahead);
            if reductions.len() + usize::from(shift) > 1 {
                let markers = reductions.into_iter().filter(is_marker).map(|marker| marker - first_marker);
                conflicting = conflicting.into_iter().chain(markers).min();
            }
            shifts.extend(shift.then_some(lookahead));
        }
        let kept = states.edges(state).filter(|(symbol, _)| *symbol >= marked.terminals || shifts.contains(symbol));
        queue.extend(kept.map(|(_, next)| next));
    }
    Ok(conflicting.map(|number| marked.actions[number].place))
}
