//! Defines completions, which show that every reachable stack can still be completed to a word, and verifies lists of
//! them.
//!
//! A [`Completion`] (p, e, q) states that from phase p with element e on top, whatever lies below it, some input leads
//! to phase q with e popped and the rest of the stack untouched; without q, that some input leads to acceptance. Each
//! completion is justified by one move of the automaton and by completions that come before it in the list, so no
//! justification is circular. `summarize.rs` finds completions; nothing here depends on how it does so.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::AutomatonError;
use super::reach::{ElementId, History, Move, Phase, Reach, Sight, Strict, System, Top};
use crate::control::{Cancelled, Poll};
use crate::symbol::Lookahead;

/// A phase with an element on top.
pub(crate) type Goal = (Phase, ElementId);

/// The phase that follows when the element of a goal is popped; `None` if the word has been accepted.
pub(crate) type Outcome = Option<Phase>;

/// A goal and an outcome that some input leads to.
pub(crate) type Completion = (Phase, ElementId, Outcome);

/// Returns a phase without its memory of the input, on which no move depends.
pub(crate) fn forget(phase: Phase) -> Phase {
    let seen = |sight: Sight| Sight { recent: History::EMPTY, ..sight };
    match phase {
        Phase::Next(_) => Phase::Next(History::EMPTY),
        Phase::Reduce(sight) => Phase::Reduce(seen(sight)),
        Phase::Pop(sight, left, push) => Phase::Pop(seen(sight), left, push),
        Phase::Settled(sight) => Phase::Settled(seen(sight)),
    }
}

/// Returns whether the word ends here and is accepted.
pub(crate) fn accepts(strict: &Strict<'_>, phase: Phase, element: ElementId) -> bool {
    matches!(phase, Phase::Settled(Sight { next: Lookahead::End, .. })) && strict.accepts(element)
}

/// Returns whether each completion in a list follows from those before it. All elements must be known to `strict`.
pub(crate) fn justified(list: &[Completion], strict: &mut Strict<'_>, poll: &mut Poll<'_>) -> Result<bool, Cancelled> {
    let mut earlier: HashMap<Goal, HashSet<Outcome>> = HashMap::new();
    for &(phase, element, outcome) in list {
        let moves = strict.moves(phase, element);
        poll.steps(1 + moves.len())?;
        let before = |phase, element| earlier.get(&(forget(phase), element));
        let leads = |phase, element| before(phase, element).is_some_and(|all| all.contains(&outcome));
        let follows = |next: Move| match next {
            Move::Pop(phase) => outcome == Some(forget(phase)),
            Move::Stay(phase) => leads(phase, element),
            // The pushed element is popped first; then, unless the word has been accepted, the element itself.
            Move::Push(phase, pushed) => before(phase, pushed).into_iter().flatten().any(|&between| match between {
                Some(phase) => leads(phase, element),
                None => outcome.is_none(),
            }),
        };
        let accepted = outcome.is_none() && accepts(strict, phase, element);
        if !accepted && !moves.into_iter().any(follows) {
            return Ok(false);
        }
        earlier.entry((phase, element)).or_default().insert(outcome);
    }
    Ok(true)
}

/// The maximum number of phases in all claims together.
const MAX_CLAIMED_PHASES: usize = 1 << 25;

/// An element of a stack, and the phases that some input leads to with that element on top.
type Claim = (Vec<Phase>, ElementId);

/// Walks down every reachable stack on which a token is to be read, and checks that the completions in the list lead to
/// acceptance. If they do not for some stack, returns its upper elements, the topmost last. Calls `visit` with each
/// claim.
pub(crate) fn stuck(
    list: &[Completion],
    reach: &Reach,
    poll: &mut Poll<'_>,
    visit: &mut dyn FnMut(&Claim),
) -> Result<Option<Vec<ElementId>>, AutomatonError> {
    let mut outcomes: HashMap<Goal, Vec<Outcome>> = HashMap::new();
    for &(phase, element, outcome) in list {
        poll.step()?;
        outcomes.entry((phase, element)).or_default().push(outcome);
    }
    let beneath = elements_beneath(reach, poll)?;
    let next = |top: &&Top| forget(top.phase) == Phase::Next(History::EMPTY);
    // Each claim, with the index of the one above it.
    let mut claims: Vec<(Claim, Option<usize>)> = Vec::new();
    let mut known: HashSet<Claim> = HashSet::new();
    for top in reach.tops.iter().filter(next) {
        let claim = (vec![Phase::Next(History::EMPTY)], top.element);
        if known.insert(claim.clone()) {
            claims.push((claim, None));
        }
    }
    let (mut at, mut size) = (0, 0_usize);
    while at < claims.len() {
        let (phases, element) = claims[at].0.clone();
        visit(&claims[at].0);
        let mut after: BTreeSet<Outcome> = BTreeSet::new();
        for phase in phases {
            let all = outcomes.get(&(phase, element)).map_or(&[][..], Vec::as_slice);
            poll.steps(1 + all.len())?;
            after.extend(all);
        }
        if !after.contains(&None) {
            let after: Vec<Phase> = after.into_iter().flatten().collect();
            if after.is_empty() || element == ElementId::BOTTOM {
                let above = std::iter::successors(Some(at), |&at| claims[at].1);
                return Ok(Some(above.map(|at| claims[at].0.1).collect()));
            }
            for &lower in beneath.get(&element).into_iter().flatten() {
                poll.steps(after.len())?;
                let claim = (after.clone(), lower);
                if known.insert(claim.clone()) {
                    size += after.len();
                    claims.push((claim, Some(at)));
                }
            }
            if size > MAX_CLAIMED_PHASES {
                return Err(AutomatonError::TooLarge);
            }
        }
        at += 1;
    }
    Ok(None)
}

/// Returns, for each element, those that lie directly below it in some reachable stack.
pub(crate) fn elements_beneath(
    reach: &Reach,
    poll: &mut Poll<'_>,
) -> Result<HashMap<ElementId, BTreeSet<ElementId>>, Cancelled> {
    let mut all: HashMap<ElementId, BTreeSet<ElementId>> = HashMap::new();
    for under in &reach.unders {
        poll.step()?;
        if let Some(&(_, above)) = reach.places.get(under.place.index().wrapping_sub(1)) {
            all.entry(above).or_default().insert(under.element);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {

    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::automaton::reach::tests::random_automaton;
    use crate::automaton::summarize::{complete, summaries};
    use crate::automaton::{Automaton, Oracle, Viability};
    use crate::recognize::{Recognizer, Verdict};
    use crate::symbol::{SymbolId, Word};
    use crate::tasks::Task;

    /// Returns the automaton with all stacks given as viable, which is far too many.
    fn generous(automaton: Automaton) -> Automaton {
        let symbols = automaton.alphabet().len();
        let all = (0..symbols).map(|symbol| (SymbolId::new(symbol), 0)).collect();
        automaton.with_viability(Viability::given(symbols, &[all]).unwrap()).unwrap()
    }

    /// Draws random automata, and leaves out those with a rule that can obviously loop.
    fn automata(count: usize) -> Vec<Automaton> {
        let mut random = ChaCha8Rng::seed_from_u64(17);
        let drawn = std::iter::repeat_with(|| random_automaton(&mut random)).take(count);
        drawn.filter(|one| !one.rules().iter().any(|rule| rule.pop <= 1 && rule.lookahead.is_none())).collect()
    }

    fn completed(oracle: &Oracle) -> Result<usize, AutomatonError> {
        let mut strict = Strict::new(oracle, 0)?;
        let (reach, witness) = Reach::new(&mut strict, &())?;
        let mut poll = Poll::new(&());
        let list = complete(&mut strict, (&reach, &witness), &mut poll)?;
        assert!(justified(&list, &mut strict, &mut poll).unwrap());
        assert_eq!(stuck(&list, &reach, &mut poll, &mut |_| {})?, None);
        Ok(list.len())
    }

    /// Returns whether a continuation of at most `longest` tokens is accepted, by trying all of them.
    fn goes_on(oracle: &Oracle, word: &mut Vec<SymbolId>, longest: usize) -> bool {
        if oracle.judge(&Word::Symbols(word.clone())) == Verdict::Accept {
            return true;
        }
        let tokens: Vec<SymbolId> = oracle.automaton().alphabet().terminals().collect();
        longest > 0
            && tokens.into_iter().any(|token| {
                word.push(token);
                let found = goes_on(oracle, word, longest - 1);
                word.pop();
                found
            })
    }

    /// Returns the words of at most `longest` tokens that a strict oracle accepts or finds incomplete.
    fn open_words(oracle: &Oracle, longest: usize) -> Vec<Vec<SymbolId>> {
        let mut all: Vec<Vec<SymbolId>> = vec![Vec::new()];
        let mut at = 0;
        while at < all.len() {
            let word = all[at].clone();
            at += 1;
            for token in oracle.automaton().alphabet().terminals().filter(|_| word.len() < longest) {
                let longer = [&word[..], &[token]].concat();
                let verdict = oracle.judge(&Word::Symbols(longer.clone()));
                if matches!(verdict, Verdict::Accept | Verdict::Incomplete { .. }) {
                    all.push(longer);
                }
            }
        }
        all
    }

    #[test]
    fn every_stack_of_the_tasks_can_be_completed() {
        for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
            let automaton = task.automaton().unwrap();
            assert!(completed(&Oracle::strict(automaton).unwrap()).unwrap() > 10, "{task}");
        }
    }

    #[test]
    fn stacks_can_be_completed_exactly_where_a_search_finds_a_continuation() {
        let (mut good, mut bad, mut short, mut long) = (0, 0, 0, 0);
        for automaton in automata(4000) {
            let tolerant = Oracle::tolerant(automaton.clone());
            // If the viable stacks are computed, all can be completed, unless the language is empty.
            let Ok(strict) = Oracle::strict(automaton.clone()) else { continue };
            let viability = strict.viable().unwrap();
            if viability.is_viable(viability.bottom()) {
                completed(&strict).unwrap();
                good += 1;
                for mut word in open_words(&strict, 3) {
                    if goes_on(&tolerant, &mut word, 5) { short += 1 } else { long += 1 }
                }
            }
            // If they are given, some cannot be completed; then there is a word that shows it.
            let all = Oracle::strict(generous(automaton.clone())).unwrap();
            match completed(&all) {
                Err(AutomatonError::DeadEnd { word: Some(word), .. }) => {
                    let Word::Symbols(mut word) = automaton.alphabet().word(word.split_whitespace()).unwrap() else {
                        panic!("words consist of symbols")
                    };
                    assert!(!goes_on(&tolerant, &mut word, 6), "{word:?} can be completed in\n{automaton}");
                    bad += 1;
                }
                Err(AutomatonError::NoWords) => assert!(!viability.is_viable(viability.bottom()), "{automaton}"),
                other => assert!(other.is_ok(), "{other:?} in\n{automaton}"),
            }
        }
        // Some stacks only have continuations that are longer than those tried.
        assert!(good > 100 && bad > 100 && short > 20 * long, "{good} {bad} {short} {long}");
    }

    #[test]
    fn no_list_shows_that_a_dead_stack_can_be_completed() {
        let mut random = ChaCha8Rng::seed_from_u64(18);
        let mut tried = 0;
        for automaton in automata(1500) {
            let oracle = Oracle::strict(generous(automaton)).unwrap();
            let mut strict = Strict::new(&oracle, 0).unwrap();
            let Ok((reach, _)) = Reach::new(&mut strict, &()) else { continue };
            let mut poll = Poll::new(&());
            let list = summaries(&mut strict, &reach, &mut poll).unwrap();
            assert!(justified(&list, &mut strict, &mut poll).unwrap());
            if stuck(&list, &reach, &mut poll, &mut |_| {}).unwrap().is_none() {
                continue;
            }
            let elements = strict.elements().count();
            let phases: Vec<Phase> = list.iter().flat_map(|one| [Some(one.0), one.2]).flatten().collect();
            for _ in 0..30 {
                let mut forged = list.clone();
                // Forged completions that claim acceptance are the most useful ones, at the front or anywhere else.
                for _ in 0..random.random_range(1..4) {
                    let phase = |random: &mut ChaCha8Rng| match phases.len() {
                        0 => Phase::Next(History::EMPTY),
                        count => phases[random.random_range(0..count)],
                    };
                    let from = if random.random_bool(0.5) { Phase::Next(History::EMPTY) } else { phase(&mut random) };
                    let outcome = if random.random_bool(0.5) { None } else { Some(phase(&mut random)) };
                    let place = random.random_range(0..=forged.len());
                    forged.insert(place, (from, ElementId::new(random.random_range(0..elements)), outcome));
                }
                if random.random_bool(0.3) {
                    forged.shuffle(&mut random);
                }
                let passes = justified(&forged, &mut strict, &mut poll).unwrap()
                    && stuck(&forged, &reach, &mut poll, &mut |_| {}).unwrap().is_none();
                assert!(!passes);
                tried += 1;
            }
        }
        assert!(tried > 1000, "{tried}");
    }

    #[test]
    fn two_completions_that_follow_from_each_other_are_refused() {
        let oracle = Oracle::strict(Task::Dyck1.automaton().unwrap()).unwrap();
        let mut strict = Strict::new(&oracle, 0).unwrap();
        let (reach, _) = Reach::new(&mut strict, &()).unwrap();
        let mut poll = Poll::new(&());
        let list = summaries(&mut strict, &reach, &mut poll).unwrap();
        // A list in which a completion precedes one that it follows from is rejected. Many swaps cause this.
        let mut refused = 0;
        for at in 1..list.len() {
            let mut turned = list.clone();
            turned.swap(at - 1, at);
            refused += usize::from(!justified(&turned, &mut strict, &mut poll).unwrap());
        }
        let reversed: Vec<Completion> = list.iter().rev().copied().collect();
        assert!(!justified(&reversed, &mut strict, &mut poll).unwrap());
        assert!(refused > 5, "{refused}");
    }
}
