//! The check that nothing is missing from a list of configurations.

use std::collections::{HashMap, HashSet};

use super::error::{CertifyError, refuse};
use crate::automaton::reach::{ElementId, Move, PlaceId, Reach, System, Top, Under};
use crate::control::Poll;

/// Verifies that `reach` contains every configuration that a system can reach: the first one and, for each, all that
/// follow from it by one move.
pub(super) fn closed(
    reach: &Reach,
    system: &mut impl System,
    elements: usize,
    poll: &mut Poll<'_>,
) -> Result<(), CertifyError> {
    let places: HashMap<_, PlaceId> = reach.places.iter().copied().zip((1..).map(PlaceId::new)).collect();
    let inside =
        |element: ElementId, place: PlaceId| element.index() <= elements && place.index() <= reach.places.len();
    let tops: HashSet<Top> = reach.tops.iter().copied().collect();
    if !reach.unders.iter().all(|under| inside(under.element, under.beneath.max(under.place))) {
        return refuse("its list of configurations is damaged");
    }
    let beneath = reach.beneath();
    let unders: HashSet<Under> = reach.unders.iter().copied().collect();
    if !tops.contains(&Reach::START) {
        return refuse("the beginning of a word is missing from its configurations");
    }
    for top in &reach.tops {
        poll.step()?;
        if !inside(top.element, top.beneath) {
            return refuse("its list of configurations is damaged");
        }
        let follows = |phase, element, beneath| tops.contains(&Top { phase, element, beneath });
        for next in system.moves(top.phase, top.element) {
            let there = match next {
                Move::Stay(phase) => follows(phase, top.element, top.beneath),
                Move::Pop(phase) => {
                    let below = beneath.get(&top.beneath).map_or(&[][..], Vec::as_slice);
                    poll.steps(below.len())?;
                    below.iter().all(|under| follows(phase, under.element, under.beneath))
                }
                Move::Push(phase, element) => places.get(&(phase, element)).is_some_and(|&place| {
                    let under = Under { place, element: top.element, beneath: top.beneath };
                    follows(phase, element, place) && unders.contains(&under)
                }),
            };
            if !there {
                return refuse("a configuration that can follow is missing");
            }
        }
    }
    Ok(())
}
