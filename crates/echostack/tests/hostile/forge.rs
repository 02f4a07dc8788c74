//! Forged certificates, which make false claims about a machine and an automaton.
//!
//! Each forgery starts from an honest certificate, of the same machine for another automaton or of another machine for
//! the same automaton. It gets the digests of the pair in question, and is edited.

use echostack::automaton::Rule;
use echostack::recognize::View;
use echostack::{Automaton, Certificate, Machine, Oracle, Recognizer, Verdict, Word};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::subjects::{Subject, accepted, automaton_digest, constructed, machine_digest, oracle};

/// A list of entries, each of them a list of small numbers.
type Entries = Vec<Vec<i64>>;

/// A certificate in a form that can be edited: that of version 2, in which all fields are next to each other.
#[derive(Clone, Serialize, Deserialize)]
struct Form {
    certificate: u32,
    arithmetic: u32,
    machine: String,
    automaton: String,
    memory: u32,
    elements: Entries,
    controls: Entries,
    places: Entries,
    heads: Entries,
    unders: Entries,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    completions: Option<Entries>,
    cells: Vec<CellForm>,
}

#[derive(Clone, Serialize, Deserialize)]
struct CellForm {
    stack: Vec<i64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    whole: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    split: Entries,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    proved: Entries,
}

/// A machine and an automaton that differ on a word.
pub(crate) struct Pair {
    pub name: String,
    machine: Machine,
    oracle: Oracle,
    pub word: Word,
    pub verdicts: [Verdict; 2],
    digests: [String; 2],
    /// Honest certificates, of this machine or for this automaton.
    honest: Vec<Form>,
}

/// The length up to which all words are searched for a difference.
const SHORT: usize = 7;

fn words(symbols: usize) -> Vec<Word> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..SHORT {
        let until = all.len();
        for at in from..until {
            for symbol in 0..symbols {
                let mut longer: Vec<echostack::SymbolId> = all[at].clone();
                longer.push(echostack::SymbolId::new(symbol));
                all.push(longer);
            }
        }
        from = until;
    }
    all.into_iter().map(Word::Symbols).collect()
}

/// Returns the first word on which the two differ, and their verdicts.
fn difference(machine: &Machine, oracle: &Oracle) -> Option<(Word, [Verdict; 2])> {
    let terminals = machine.alphabet().terminals().len();
    words(terminals).into_iter().find_map(|word| {
        let ours = machine.judge(&word);
        let theirs = oracle.judge(&word);
        (ours != theirs).then_some((word, [ours, theirs]))
    })
}

/// Returns automata that differ from this one in one rule.
fn changed(automaton: &Automaton) -> Vec<Automaton> {
    let alphabet = automaton.alphabet();
    let mut all: Vec<Vec<Rule>> = Vec::new();
    for (at, rule) in automaton.rules().iter().enumerate() {
        let mut with = |rule: Option<Rule>| {
            let mut rules = automaton.rules().to_vec();
            rules.splice(at..=at, rule);
            all.push(rules);
        };
        with(None);
        with(Some(Rule { pop: rule.pop.saturating_sub(1), ..rule.clone() }));
        with(Some(Rule { anchored: !rule.anchored, ..rule.clone() }));
        for push in alphabet.nonterminals() {
            with(Some(Rule { push, ..rule.clone() }));
        }
        for lookahead in alphabet.lookaheads() {
            with(Some(Rule { lookahead: Some(lookahead), ..rule.clone() }));
        }
    }
    let make = |rules| Automaton::new(alphabet.clone(), rules, automaton.accepting().to_vec()).ok();
    all.into_iter().filter_map(make).collect()
}

fn form(subject: &Subject) -> Form {
    let mut json: serde_json::Value = serde_json::from_str(&subject.json()).unwrap();
    let mut flat = json["machine"].take();
    flat["certificate"] = 2.into();
    flat["automaton"] = json["automaton"].take();
    flat["machine"] = flat["digest"].take();
    serde_json::from_value(flat).unwrap()
}

/// Returns the machine with an intercept moved until some short word is judged differently.
fn flipped(subject: &Subject, head: &str, sign: f64) -> Option<Machine> {
    let name = format!("{head}.intercepts");
    let count = subject.model.floats(&name).len();
    (0..count).find_map(|at| {
        let mut step = 1e-3;
        while step < 1e4 {
            let mut model = subject.model.clone();
            model.floats_mut(&name)[at] += sign * step;
            let machine = model.machine().ok()?;
            if difference(&machine, &subject.oracle).is_some() {
                return Some(machine);
            }
            step *= 2.;
        }
        None
    })
}

/// Returns the pairs of one language.
fn pairs_of(language: &str, view: View) -> Vec<Pair> {
    let right = oracle(language);
    let Some(own) = constructed(language, &right, view) else { return Vec::new() };
    let mut pairs = Vec::new();
    let mut pair = |name: String, machine: Machine, oracle: &Oracle, honest: Vec<Form>| {
        let machine = machine;
        let Some((word, verdicts)) = difference(&machine, oracle) else { return };
        let digests = [machine_digest(&machine), automaton_digest(oracle.automaton())];
        pairs.push(Pair { name, machine, oracle: oracle.clone(), word, verdicts, digests, honest });
    };
    for (number, automaton) in changed(right.automaton()).into_iter().enumerate() {
        let Ok(wrong) = Oracle::strict(automaton) else { continue };
        let Some(other) = constructed(language, &wrong, view) else { continue };
        let honest = || vec![form(&own), form(&other)];
        let name = format!("{language} {view:?}, change {number}");
        pair(format!("{name}, wrong machine"), other.model.machine().unwrap(), &right, honest());
        pair(format!("{name}, wrong automaton"), own.model.machine().unwrap(), &wrong, honest());
    }
    for head in ["actions", "shift", "output"] {
        for sign in [1., -1.] {
            let Some(machine) = flipped(&own, head, sign) else { continue };
            pair(format!("{language} {view:?}, {head} by {sign}"), machine, &right, vec![form(&own)]);
        }
    }
    pairs
}

/// Returns pairs that are known to differ.
pub(crate) fn pairs() -> Vec<Pair> {
    let languages =
        [("anbn", View::Symbol), ("dyck1", View::Symbol), ("latch", View::Symbol), ("anbn", View::Reservoir)];
    languages.into_iter().flat_map(|(language, view)| pairs_of(language, view)).collect()
}

/// The result for a forgery.
pub(crate) enum Fate {
    /// It cannot be read as a certificate.
    Unreadable,
    /// It was rejected for this reason.
    Refused(String),
    /// It was accepted; a description of it.
    Accepted(String),
}

/// Makes and checks the forgery with this number.
pub(crate) fn forgery(pairs: &[Pair], seed: u64) -> Fate {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let pair = &pairs[random.random_range(0..pairs.len())];
    let mut form = pair.honest[random.random_range(0..pair.honest.len())].clone();
    let other = &pairs[random.random_range(0..pairs.len())];
    let [machine, automaton] = &pair.digests;
    // In some forgeries, only the cells are edited, so that the configurations of the right automaton stay correct.
    let cells_only = random.random_bool(0.3);
    for _ in 0..[0, 1, 1, 1, 2, 2, 3, 5, 8][random.random_range(0..9)] {
        if cells_only {
            edit_cells(&mut form.cells, &mut random);
        } else {
            edit(&mut form, pair, other, &mut random);
        }
    }
    (form.machine, form.automaton) = (machine.clone(), automaton.clone());
    let json = serde_json::to_string(&form).unwrap();
    let Ok(certificate) = Certificate::from_json(&json) else { return Fate::Unreadable };
    match accepted(&certificate, &pair.machine, &pair.oracle) {
        Ok(()) => Fate::Accepted(format!("{}: {:?} {:?}: {json}", pair.name, pair.word, pair.verdicts)),
        Err(why) => Fate::Refused(why.to_string()),
    }
}

/// Returns true if an unedited certificate is accepted for the pair that it was made for, so that the conversion to an
/// editable form does not invalidate it.
pub(crate) fn honest_is_accepted(language: &str) -> bool {
    let subject = constructed(language, &oracle(language), View::Symbol).unwrap();
    let json = serde_json::to_string(&form(&subject)).unwrap();
    let certificate = Certificate::from_json(&json).unwrap();
    accepted(&certificate, &subject.model.machine().unwrap(), &subject.oracle).is_ok()
}

fn edit(form: &mut Form, pair: &Pair, other: &Pair, random: &mut ChaCha8Rng) {
    match random.random_range(0..20) {
        0..8 => {
            let most = form.elements.len() + form.places.len() + 2;
            if let Some(list) = list(form, random) {
                edit_entries(list, most as i64, random);
            }
        }
        8..13 => edit_cells(&mut form.cells, random),
        13 => form.memory = random.random_range(0..5),
        14..17 => {
            // Parts of another certificate, mostly of one for the same machine or automaton.
            let from = if random.random_bool(0.7) { pair } else { other };
            let from = &from.honest[random.random_range(0..from.honest.len())];
            splice(form, from, random);
        }
        17 => {
            // One configuration is removed as if it could not occur, together with everything above it.
            if let Some(&[control, element, _]) =
                any(&form.heads, random).and_then(|head| <&[i64; 3]>::try_from(head.as_slice()).ok())
            {
                let by_control = random.random_bool(0.5);
                form.heads.retain(|head| if by_control { head[0] != control } else { head[1] != element });
                if !by_control {
                    form.unders.retain(|under| under[1] != element);
                }
            }
        }
        18 => {
            // A right answer is not required if its control is presented as another one.
            let count = form.controls.len();
            if count > 0 {
                form.controls.swap(random.random_range(0..count), random.random_range(0..count));
            }
        }
        _ => {
            // All decisions that are proved in some cell are claimed for the first cell alone.
            let all: Entries = form.cells.iter().flat_map(|cell| cell.proved.clone()).collect();
            form.cells.truncate(1);
            if let Some(cell) = form.cells.first_mut() {
                cell.proved.extend(all);
                cell.proved.dedup();
            }
        }
    }
}

fn any<'a, T>(list: &'a [T], random: &mut ChaCha8Rng) -> Option<&'a T> {
    if list.is_empty() { None } else { Some(&list[random.random_range(0..list.len())]) }
}

/// Picks one of the lists of configurations.
fn list<'f>(form: &'f mut Form, random: &mut ChaCha8Rng) -> Option<&'f mut Entries> {
    match random.random_range(0..6) {
        0 => Some(&mut form.elements),
        1 => Some(&mut form.controls),
        2 => Some(&mut form.places),
        3 => Some(&mut form.heads),
        4 => Some(&mut form.unders),
        _ => form.completions.as_mut(),
    }
}

fn edit_entries(list: &mut Entries, most: i64, random: &mut ChaCha8Rng) {
    if list.is_empty() {
        return;
    }
    let [a, b] = [(); 2].map(|()| random.random_range(0..list.len()));
    match random.random_range(0..7) {
        0 => {
            list.remove(a);
        }
        1 => list.insert(b, list[a].clone()),
        2 => list.swap(a, b),
        3 => list.truncate(a),
        4 => {
            let at = random.random_range(0..list[a].len().max(1));
            if let Some(number) = list[a].get_mut(at) {
                *number += if random.random_bool(0.5) { 1 } else { -1 };
            }
        }
        _ => {
            let at = random.random_range(0..list[a].len().max(1));
            let value = if random.random_bool(0.5) {
                list[b].get(at).copied().unwrap_or(0)
            } else {
                random.random_range(-1..most)
            };
            // A changed entry replaces the old one, or is added.
            let mut entry = list[a].clone();
            if let Some(number) = entry.get_mut(at) {
                *number = value;
            }
            if random.random_bool(0.7) { list[a] = entry } else { list.push(entry) }
        }
    }
}

fn edit_cells(cells: &mut Vec<CellForm>, random: &mut ChaCha8Rng) {
    if cells.is_empty() {
        return;
    }
    let [a, b] = [(); 2].map(|()| random.random_range(0..cells.len()));
    match random.random_range(0..9) {
        0 => {
            cells.remove(a);
        }
        1 => cells.insert(b, cells[a].clone()),
        2 => cells.swap(a, b),
        3 => cells.truncate(a + 1),
        4 => cells[a].whole = !cells[a].whole,
        5 => {
            if cells[a].stack.is_empty() || random.random_bool(0.3) {
                cells[a].stack.push(random.random_range(0..4));
            } else {
                let at = random.random_range(0..cells[a].stack.len());
                cells[a].stack[at] = random.random_range(0..4);
            }
        }
        6 => {
            // A claim about a longer stack suffix is moved to another cell, mostly to that of the shorter suffix.
            let Some(claim) = any(&cells[a].proved, random).cloned() else { return };
            let stack = &cells[a].stack;
            let shorter = if cells[a].whole { &stack[..] } else { &stack[..stack.len().saturating_sub(1)] };
            let parent = cells.iter().position(|cell| cell.stack == shorter && !cell.whole);
            let to = parent.filter(|_| random.random_bool(0.8)).unwrap_or(b);
            cells[a].proved.retain(|own| *own != claim);
            cells[to].proved.push(claim);
        }
        7 => {
            let claims = if random.random_bool(0.8) { &mut cells[a].proved } else { &mut cells[a].split };
            edit_entries(claims, 4, random);
        }
        _ => {
            let Some(claim) = any(&cells[a].proved, random).cloned() else { return };
            cells[a].split.push(claim);
        }
    }
}

fn splice(form: &mut Form, from: &Form, random: &mut ChaCha8Rng) {
    match random.random_range(0..9) {
        0 => form.elements.clone_from(&from.elements),
        1 => form.controls.clone_from(&from.controls),
        2 => form.places.clone_from(&from.places),
        3 => form.heads.clone_from(&from.heads),
        4 => form.unders.clone_from(&from.unders),
        5 => form.cells.clone_from(&from.cells),
        6 => form.completions.clone_from(&from.completions),
        7 => {
            // All configurations are replaced by those that are closed under the moves of the other automaton.
            let cells = std::mem::take(&mut form.cells);
            *form = Form { cells, ..from.clone() };
        }
        _ => {
            // The cells of both certificates are merged by their stacks.
            for cell in &from.cells {
                match form.cells.iter_mut().find(|own| own.stack == cell.stack && own.whole == cell.whole) {
                    Some(own) => {
                        let fresh: Entries =
                            cell.proved.iter().filter(|claim| !own.proved.contains(claim)).cloned().collect();
                        own.proved.extend(fresh);
                    }
                    None => form.cells.push(cell.clone()),
                }
            }
        }
    }
}
