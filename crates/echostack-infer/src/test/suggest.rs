//! Suggestions: words on which two parts of the hypothesis that are alike might also agree.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::probe::{Group, Probe};
use crate::ask::queries::Stop;
use crate::learn::automaton::{Automaton, Configuration, Place};
use crate::learn::learner::{Module, State};
use crate::text::symbols::{Sym, Word};

/// The maximum number of pairs of states that are compared to tell two states apart.
const MAX_PAIRS: usize = 400;
/// The maximum number of suggestions.
const MAX_FOUND: usize = 400_000;
/// The maximum number of symbols that are read to find them.
const MAX_WORK: usize = 100_000_000;

/// Collects suggestions.
struct Suggestions<'p, 'a> {
    probe: &'p Probe<'a>,
    seen: HashSet<Word>,
    found: Vec<Word>,
    /// The number of symbols that were read.
    work: usize,
    /// Words that tell two states of a module apart.
    apart: HashMap<(Module, State, State), Option<Word>>,
    /// Returns an error if the run must stop.
    check: &'p dyn Fn() -> Result<(), Stop>,
}

/// The suggestions of a hypothesis.
#[derive(Debug)]
pub(crate) struct Suggested {
    /// Fresh words, short ones first.
    pub(crate) words: Vec<Word>,
    /// Whether the search was cut off, because the hypothesis is too large.
    pub(crate) cut: bool,
}

/// Returns all suggestions that are fresh.
pub(crate) fn suggestions(
    probe: &Probe<'_>,
    symbols: &[Sym],
    fresh: &dyn Fn(&Word) -> bool,
    check: &dyn Fn() -> Result<(), Stop>,
) -> Result<Suggested, Stop> {
    let mut this =
        Suggestions { probe, seen: HashSet::new(), found: Vec::new(), work: 0, apart: HashMap::new(), check };
    this.siblings(symbols)?;
    this.merges()?;
    let mut cut = false;
    for group in probe.groups() {
        cut |= group.cut;
        this.splices(&group)?;
        if this.work > MAX_WORK {
            break;
        }
    }
    cut |= this.work > MAX_WORK || this.found.len() >= MAX_FOUND;
    let mut found = this.found;
    found.retain(fresh);
    found.sort_by_key(Vec::len);
    Ok(Suggested { words: found, cut })
}

/// Words in alphabetical order, so that what they share at the beginning is read only once.
struct Sorted<'w> {
    words: &'w [Word],
    /// The number of each word, and the number of symbols that it shares with the one before it.
    order: Vec<(usize, usize)>,
}

impl<'w> Sorted<'w> {
    fn new(words: &'w [Word]) -> Self {
        let mut numbers: Vec<usize> = (0..words.len()).collect();
        numbers.sort_by_key(|&number| &words[number]);
        let mut last: &[Sym] = &[];
        let mut order = Vec::with_capacity(words.len());
        for number in numbers {
            let word = &words[number];
            order.push((number, word.iter().zip(last).take_while(|(one, two)| one == two).count()));
            last = word;
        }
        Self { words, order }
    }

    /// Returns the state of a module after each word, as [`Automaton::run`] does. Counts the symbols that are read.
    fn run(&self, automaton: &Automaton, place: Place, work: &mut usize) -> Vec<Option<State>> {
        let mut ends = vec![None; self.words.len()];
        // The configurations after each symbol of a word, up to where it cannot be read.
        let mut path: Vec<Configuration> = vec![(Vec::new(), place)];
        let mut stuck = false;
        for &(number, shared) in &self.order {
            *work += 1;
            if stuck && shared >= path.len() {
                continue;
            }
            path.truncate(shared + 1);
            stuck = false;
            for &symbol in &self.words[number][shared..] {
                *work += 1;
                let Some(next) = path.last().and_then(|last| automaton.step(last.clone(), symbol)) else {
                    stuck = true;
                    break;
                };
                path.push(next);
            }
            ends[number] = path.last().filter(|(open, _)| !stuck && open.is_empty()).map(|(_, (_, state))| *state);
        }
        ends
    }
}

impl Suggestions<'_, '_> {
    fn add(&mut self, word: Word) {
        if self.found.len() < MAX_FOUND && self.seen.insert(word.clone()) {
            self.found.push(word);
        }
    }

    /// Two symbols lead to the same state in some places: where only one of them is possible, ask about the other.
    fn siblings(&mut self, symbols: &[Sym]) -> Result<(), Stop> {
        let automaton = self.probe.automaton;
        let mut same: HashMap<(Sym, Sym), usize> = HashMap::new();
        for &place in &self.probe.places {
            let mut by_target: BTreeMap<State, Vec<Sym>> = BTreeMap::new();
            for (&symbol, &target) in automaton.plain(place) {
                by_target.entry(target).or_default().push(symbol);
            }
            for group in by_target.values() {
                for &one in group {
                    group.iter().filter(|&&two| two != one).for_each(|&two| *same.entry((one, two)).or_default() += 1);
                }
            }
        }
        for &place in &self.probe.places {
            (self.check)()?;
            let live = automaton.plain(place);
            for &dead in symbols.iter().filter(|symbol| !live.contains_key(symbol)) {
                let mut near: Vec<(usize, Sym)> =
                    live.keys().filter_map(|&symbol| Some((*same.get(&(dead, symbol))?, symbol))).collect();
                near.sort_by_key(|&(count, symbol)| (std::cmp::Reverse(count), symbol));
                for (_, symbol) in near.into_iter().take(2) {
                    if let Some(end) = self.probe.end(place, live[&symbol]) {
                        self.add(self.probe.word_from(place, &[&[dead], end]));
                    }
                }
            }
        }
        Ok(())
    }

    /// Two states of a module share a way on: they may share the others, too.
    fn merges(&mut self) -> Result<(), Stop> {
        let ways: Vec<(Place, Vec<(Word, State)>)> =
            self.probe.places.iter().map(|&place| (place, self.probe.moves(place))).collect();
        for (one, from) in &ways {
            (self.check)()?;
            let mut first: Vec<(State, &Word)> = Vec::new();
            for (word, target) in from {
                if !first.iter().any(|(known, _)| known == target) {
                    first.push((*target, word));
                }
            }
            for (two, other) in ways.iter().filter(|(two, _)| two.0 == one.0 && two != one) {
                let other: HashMap<&Word, State> = other.iter().map(|(word, target)| (word, *target)).collect();
                let shares = from.iter().any(|(word, target)| other.get(word) == Some(target));
                if !shares && self.probe.end(*one, one.1) != self.probe.end(*two, two.1) {
                    continue;
                }
                for &(target, word) in first.iter().filter(|(_, word)| !other.contains_key(word)) {
                    if let Some(end) = self.probe.end(*two, target) {
                        self.add(self.probe.word_from(*two, &[word, end]));
                    }
                }
            }
        }
        Ok(())
    }

    /// Words that can stand for each other in one place should in others. Where one of them is not possible, ask about
    /// it; where they lead to different states, ask whether what tells these apart does so at home, too.
    fn splices(&mut self, group: &Group) -> Result<(), Stop> {
        let probe = self.probe;
        let (automaton, home) = (probe.automaton, group.home);
        let sorted = Sorted::new(&group.words);
        for &place in &probe.places {
            let mut reached: Vec<(State, &Word)> = Vec::new();
            let mut dead: Vec<&Word> = Vec::new();
            (self.check)()?;
            if self.work > MAX_WORK {
                return Ok(());
            }
            let ends = sorted.run(automaton, place, &mut self.work);
            for (word, end) in group.words.iter().zip(ends) {
                match end {
                    None => dead.push(word),
                    Some(target) if probe.end(place, target).is_some() => {
                        if !reached.iter().any(|(known, _)| *known == target) {
                            reached.push((target, word));
                        }
                    }
                    Some(_) => {}
                }
            }
            let mut ends: Vec<&Word> = Vec::new();
            for (target, _) in &reached {
                let end = probe.end(place, *target).filter(|end| ends.len() < 3 && !ends.contains(end));
                ends.extend(end);
            }
            for word in dead {
                for end in &ends {
                    self.add(probe.word_from(place, &[word, end]));
                }
            }
            for (number, &(target, one)) in reached.iter().enumerate() {
                for &(other, two) in &reached[..number] {
                    let Some(here) = automaton.run(home, one) else { continue };
                    if automaton.run(home, two) != Some(here) {
                        continue;
                    }
                    let Some(apart) = self.apart(place.0, target, other) else { continue };
                    let end = automaton.run((home.0, here), &apart).and_then(|state| probe.end(home, state));
                    let Some(end) = end else { continue };
                    for middle in [one, two] {
                        self.add(probe.word_from(home, &[middle, &apart, end]));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns a short well-matched word that is possible from only one of two states of a module.
    fn apart(&mut self, module: Module, one: State, two: State) -> Option<Word> {
        let key = (module, one.min(two), one.max(two));
        if let Some(known) = self.apart.get(&key) {
            return known.clone();
        }
        let mut seen: HashSet<(State, State)> = HashSet::from([(one, two)]);
        let mut waiting: VecDeque<(Word, State, State)> = VecDeque::from([(Vec::new(), one, two)]);
        let mut found = None;
        'search: while let Some((word, a, b)) = waiting.pop_front() {
            if seen.len() >= MAX_PAIRS {
                break;
            }
            let (left, right) = (self.probe.moves((module, a)), self.probe.moves((module, b)));
            let target = |moves: &[(Word, State)], step: &Word| {
                moves.iter().find(|(word, _)| word == step).map(|(_, target)| *target)
            };
            for (step, _) in left.iter().chain(&right) {
                let longer = [word.as_slice(), step].concat();
                let (Some(a), Some(b)) = (target(&left, step), target(&right, step)) else {
                    found = Some(longer);
                    break 'search;
                };
                if a != b && seen.insert((a, b)) {
                    waiting.push_back((longer, a, b));
                }
            }
        }
        self.apart.insert(key, found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::automaton::Automaton as Hypothesized;
    use crate::learn::learner::ALL;
    use crate::testing::{LISTS, automaton, lists, lists_learned, teacher, texts, untaught, word};

    /// The slow way: each word is read from the beginning.
    #[test]
    fn sorted_words_lead_where_each_of_them_does() {
        let (hypothesis, _) = lists_learned();
        let automaton = automaton(&hypothesis);
        let base = |text: &String| hypothesis.symbols.lex(&hypothesis.symbols.base(text).unwrap());
        let words: Vec<Word> = texts(LISTS, 5).iter().map(base).collect();
        for module in automaton.modules() {
            for &state in &automaton.live[module.at()] {
                let mut work = 0;
                let ends = Sorted::new(&words).run(automaton, (module, state), &mut work);
                let slow: Vec<Option<State>> = words.iter().map(|word| automaton.run((module, state), word)).collect();
                assert_eq!(ends, slow);
                assert!(work < words.iter().map(Vec::len).sum());
            }
        }
    }

    /// Where a list can be is known only from the beginning, so the hypothesis misses that it can be an item, too.
    #[test]
    fn what_can_stand_for_each_other_in_one_place_is_tried_in_others() {
        let mut teacher = teacher(&lists, LISTS);
        let mut learner = untaught(&teacher);
        for text in ["x", "[]", "[x]", "[x,x]"] {
            learner.learn_from(&word(&teacher, text), &mut teacher).unwrap();
        }
        let automaton = Hypothesized::freeze(&mut learner, ALL, &mut teacher).unwrap();
        let probe = Probe::new(&automaton, &learner);
        let symbols = teacher.symbols.in_use();
        let found = suggestions(&probe, &symbols, &|_| true, &|| Ok(())).unwrap();
        assert!(!found.cut && found.words.is_sorted_by_key(Vec::len));
        let short: Vec<Word> = texts(LISTS, 5).iter().map(|text| word(&teacher, text)).collect();
        let judge =
            |automaton: &Automaton, word: &Word| automaton.accepts(word) == lists(&teacher.symbols.render(word));
        let right = short.iter().all(|word| judge(&automaton, word));
        let tells = found.words.iter().any(|word| !judge(&automaton, word));
        assert!(right || tells, "wrong, and no suggestion shows it");
        let none = suggestions(&probe, &symbols, &|_| false, &|| Ok(())).unwrap();
        assert!(none.words.is_empty());
        assert!(suggestions(&probe, &symbols, &|_| true, &|| Err(Stop::Cancelled)).is_err());
    }
}
