//! The search for a word on which a machine and an automaton differ, after a proof has failed.

use std::collections::HashMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::prove::{OpenCell, Prover};
use crate::automaton::reach::{ElementId, Phase, PlaceId, Recalled, Sight, System, Under, way_down};
use crate::control::Control;
use crate::machine::{Machine, Readout};
use crate::recognize::{Limits, Recognizer, Session, Status, Verdict, judge_all};
use crate::symbol::{Input, Lookahead, SymbolId, Word};

/// A word on which a machine and an automaton differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The word.
    pub word: Word,
    /// The machine's verdict.
    pub machine: Verdict,
    /// The automaton's verdict.
    pub automaton: Verdict,
}

/// The maximum number of open cells for which words are constructed.
const MAX_CELLS: usize = 200;
/// The number of random continuations of the word that leads into a cell.
const CONTINUATIONS_PER_CELL: usize = 12;
/// The maximum number of tokens of a continuation.
const MAX_CONTINUATION_LENGTH: usize = 40;
/// The number of short words after which longer words are not tried.
const MAX_SHORT_WORDS: usize = 20_000;
/// The maximum length of short words. Without it, a language with few words would be searched for very long ones.
const MAX_SHORT_LENGTH: usize = 60;
/// The number of short words that are judged before the control is asked again whether to stop.
const WORDS_PER_BATCH: usize = 256;

impl Prover<'_> {
    /// Searches for a word on which the machine and the automaton differ, and returns the shortest one found. The
    /// search tries all short words, and words that lead into the open cells, with continuations. If the control asks
    /// to stop, the result is what was found until then.
    pub fn difference(&self, machine: &Machine, cells: &[OpenCell], control: &dyn Control) -> Option<Difference> {
        if let Some(found) = self.among_short_words(machine, control) {
            return Some(found);
        }
        let mut best: Option<Difference> = None;
        let mut keep = |found: Option<Difference>| {
            let length = |difference: &Difference| difference.word.len();
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| length(&found) < length(best))
            {
                best = Some(found);
            }
        };
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let step = cells.len().div_ceil(MAX_CELLS).max(1);
        let beneath = self.reach().beneath();
        for cell in cells.iter().step_by(step) {
            if control.cancelled() {
                break;
            }
            let Some(mut word) = self.word_into(cell, &beneath) else { continue };
            if let Lookahead::Token(token) = cell.input.next() {
                word.push(token);
            }
            keep(self.differ(machine, &Word::Symbols(word.clone())));
            for _ in (0..CONTINUATIONS_PER_CELL).take_while(|_| !control.cancelled()) {
                keep(self.continued(machine, &word, &mut random));
            }
        }
        best
    }

    /// Returns a difference on a shortest word, among words that the automaton does not reject before their last token.
    fn among_short_words(&self, machine: &Machine, control: &dyn Control) -> Option<Difference> {
        let mut level = vec![Word::Symbols(Vec::new())];
        let mut tried = 0;
        for _ in 0..=MAX_SHORT_LENGTH {
            if level.is_empty() || tried >= MAX_SHORT_WORDS {
                break;
            }
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for part in level.chunks(WORDS_PER_BATCH) {
                if control.cancelled() {
                    return None;
                }
                ours.extend(judge_all(machine, part, Limits::default()));
                theirs.extend(judge_all(self.oracle(), part, Limits::default()));
            }
            let (mut longer, mut differences) = (Vec::new(), Vec::new());
            for ((word, machine), automaton) in level.iter().zip(ours).zip(theirs) {
                if machine != automaton {
                    differences.push(Difference { word: word.clone(), machine, automaton });
                } else if matches!(automaton, Verdict::Accept | Verdict::Incomplete { .. })
                    && let Word::Symbols(symbols) = word
                {
                    let tokens = self.oracle().alphabet().terminals();
                    longer.extend(tokens.map(|token| Word::Symbols([&symbols[..], &[token]].concat())));
                }
            }
            // A word that only one of them accepts is more informative than one with different expected tokens.
            let plain = differences.iter().position(|found| found.machine.is_accept() != found.automaton.is_accept());
            if !differences.is_empty() {
                return Some(differences.swap_remove(plain.unwrap_or(0)));
            }
            tried += level.len();
            longer.truncate(MAX_SHORT_WORDS);
            level = longer;
        }
        None
    }

    /// Returns the difference on this word, if there is one.
    fn differ(&self, machine: &Machine, word: &Word) -> Option<Difference> {
        let (ours, theirs) = (machine.judge(word), self.oracle().judge(word));
        (ours != theirs).then(|| Difference { word: word.clone(), machine: ours, automaton: theirs })
    }

    /// Continues a word at random, by tokens that both expect, until they differ.
    fn continued(&self, machine: &Machine, word: &[SymbolId], random: &mut ChaCha8Rng) -> Option<Difference> {
        let (mut ours, mut theirs) = (machine.start(Limits::default()), self.oracle().start(Limits::default()));
        let mut word = word.to_vec();
        let feed = |ours: &mut <Machine as Recognizer>::Session, theirs: &mut _, token: SymbolId| {
            let input = Input::Symbol(token);
            (ours.feed(input, &mut ()), Session::feed(theirs, input, &mut ()))
        };
        for (at, &token) in word.iter().enumerate() {
            if feed(&mut ours, &mut theirs, token) != (Status::Open, Status::Open) {
                return self.differ(machine, &Word::Symbols(word[..=at].to_vec()));
            }
        }
        for _ in 0..MAX_CONTINUATION_LENGTH {
            let (a, b) = (ours.expected(), theirs.expected());
            if a != b {
                return self.differ(machine, &Word::Symbols(word));
            }
            let tokens: Vec<SymbolId> = b.iter().filter_map(|next| next.token()).collect();
            let &token = tokens.get(random.random_range(0..tokens.len().max(1)))?;
            word.push(token);
            if feed(&mut ours, &mut theirs, token) != (Status::Open, Status::Open) {
                return self.differ(machine, &Word::Symbols(word));
            }
        }
        None
    }

    /// Returns a short word that leads to a configuration of the cell, if the cell has one.
    fn word_into(&self, cell: &OpenCell, beneath: &HashMap<PlaceId, Vec<Under>>) -> Option<Vec<SymbolId>> {
        let symbols: Vec<Option<SymbolId>> = {
            let known = cell.stack.from_top().map(Some);
            if cell.stack.is_whole() { known.chain([None]).collect() } else { known.collect() }
        };
        let fits = |phase: Phase| {
            let ((Readout::Pop | Readout::Push, Phase::Reduce(sight))
            | (Readout::Shift | Readout::Output, Phase::Settled(sight))) = (cell.readout, phase)
            else {
                return false;
            };
            sight.next == cell.input.next() && self.remembers(sight, cell.input.before())
        };
        let tops = self.reach().tops.iter().filter(|top| fits(top.phase));
        let mut words = Vec::new();
        for &top in tops {
            let topmost = self.strict().symbol(top.element);
            if symbols.first().is_some_and(|&symbol| symbol != topmost) {
                continue;
            }
            let lower = symbols.get(1..).unwrap_or(&[]);
            let fits = |depth: usize, element: ElementId| lower[depth] == self.strict().symbol(element);
            if let Some(unders) = way_down(top, lower.len(), beneath, fits) {
                words.push(self.witness().word(top, &unders));
            }
        }
        words.into_iter().min_by_key(Vec::len)
    }

    /// Returns whether what is remembered of the input is consistent with these tokens before the next one.
    fn remembers(&self, sight: Sight, before: &[SymbolId]) -> bool {
        let same = |(back, &token): (usize, &SymbolId)| match self.strict().memory().recall(sight.recent, back) {
            Recalled::Forgotten => true,
            Recalled::Beginning => false,
            Recalled::Token(own) => own == token,
        };
        before.iter().rev().enumerate().all(same)
    }
}
