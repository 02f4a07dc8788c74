//! The file format of certificates: JSON with lists of small numbers, explained in `docs/certificates.md`.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::certificate::{Cell, Certificate, MachineProof, Named};
use crate::automaton::complete::Outcome;
use crate::automaton::reach::{ElementId, History, Phase, PlaceId, Reach, Sight, Top, Under};
use crate::index::index;
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::{Lookahead, MAX_SYMBOLS, SymbolId};

/// The reason why a text is not a certificate. The message says what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CertificateFileError(#[from] FileFault);

#[derive(Debug, thiserror::Error)]
enum FileFault {
    /// The text is not JSON of the right form.
    #[error("this is not a certificate: {0}")]
    Json(#[from] serde_json::Error),
    /// The format version is unknown.
    #[error("the certificate has format version {0}; this program reads versions 1 to {FORMAT}")]
    Version(u32),
    /// The fields do not match the stated version.
    #[error("the certificate is damaged: format version 2 requires completions, and version 1 does not allow them")]
    Completions,
    /// Nothing is claimed.
    #[error("the certificate is damaged: it says nothing about a machine or a table")]
    Nothing,
    /// A number is not valid in its place.
    #[error("the certificate is damaged: {0} is not a valid {1}")]
    Damaged(i64, &'static str),
}

/// The format version that is written. Version 1 had no completions; versions 1 and 2 were only about machines.
const FORMAT: u32 = 3;

/// The number that stands for the end of a word among the numbers of tokens.
const END: i64 = -1;

/// The kind that stands for an accepted word among the phases.
const ACCEPTED: i64 = 4;

index! {
    /// The number of a phase in the list of phases of a certificate.
    #[derive(Serialize, Deserialize)]
    PhaseId
}

/// The beginning of every certificate.
#[derive(Deserialize)]
struct Version {
    certificate: u32,
}

/// A certificate of version 3: the automaton, and named parts.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    certificate: u32,
    automaton: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grammar: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lexer: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<MachineForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table: Option<Digest>,
}

/// A part of which only the digest is kept.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Digest {
    digest: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineForm {
    digest: String,
    arithmetic: u32,
    memory: u32,
    elements: Vec<(ElementId, u32)>,
    /// The phases. Each is a list of its kind, history, next token, number of symbols left to pop, and symbol to push,
    /// as far as the kind has them. [`ACCEPTED`] is a kind without any of them.
    controls: Vec<Vec<i64>>,
    places: Vec<(PhaseId, ElementId)>,
    heads: Vec<(PhaseId, ElementId, PlaceId)>,
    unders: Vec<(PlaceId, ElementId, PlaceId)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    completions: Option<Vec<(PhaseId, ElementId, PhaseId)>>,
    cells: Vec<CellForm>,
}

/// A certificate of version 1 or 2, which is about a machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OldForm {
    certificate: u32,
    arithmetic: u32,
    machine: String,
    automaton: String,
    memory: u32,
    elements: Vec<(ElementId, u32)>,
    controls: Vec<Vec<i64>>,
    places: Vec<(PhaseId, ElementId)>,
    heads: Vec<(PhaseId, ElementId, PlaceId)>,
    unders: Vec<(PlaceId, ElementId, PlaceId)>,
    completions: Option<Vec<(PhaseId, ElementId, PhaseId)>>,
    cells: Vec<CellForm>,
}

impl OldForm {
    fn renewed(self) -> Result<Form, FileFault> {
        if self.completions.is_some() != (self.certificate > 1) {
            return Err(FileFault::Completions);
        }
        let Self { certificate, arithmetic, machine, automaton, memory, elements, controls, .. } = self;
        let Self { places, heads, unders, completions, cells, .. } = self;
        let digest = machine;
        let machine =
            MachineForm { digest, arithmetic, memory, elements, controls, places, heads, unders, completions, cells };
        Ok(Form { certificate, automaton, grammar: None, lexer: None, machine: Some(machine), table: None })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CellForm {
    /// The symbols of the stack suffix, topmost first.
    stack: Vec<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    whole: bool,
    /// The obligations that are split. Each is a list of its readout, the next token, the tokens before it, last one
    /// first, and [`END`] if the word begins with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    split: Vec<Vec<i64>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    proved: Vec<Vec<i64>>,
}

fn number(symbol: SymbolId) -> u32 {
    symbol.index() as u32
}

fn next_number(next: Lookahead) -> i64 {
    match next {
        Lookahead::Token(token) => i64::from(number(token)),
        Lookahead::End => END,
    }
}

fn phase_numbers(phase: Phase) -> Vec<i64> {
    let seen = |sight: Sight| [sight.recent.index() as i64, next_number(sight.next)];
    match phase {
        Phase::Next(recent) => vec![0, recent.index() as i64],
        Phase::Reduce(sight) => [&[1][..], &seen(sight)].concat(),
        Phase::Pop(sight, left, push) => [&[2][..], &seen(sight), &[i64::from(left), i64::from(number(push))]].concat(),
        Phase::Settled(sight) => [&[3][..], &seen(sight)].concat(),
    }
}

fn symbol(value: i64) -> Result<SymbolId, FileFault> {
    match usize::try_from(value) {
        Ok(index) if index < MAX_SYMBOLS => Ok(SymbolId::new(index)),
        _ => Err(FileFault::Damaged(value, "symbol")),
    }
}

fn look_at(value: i64) -> Result<Lookahead, FileFault> {
    if value == END { Ok(Lookahead::End) } else { symbol(value).map(Lookahead::Token) }
}

fn small(value: i64) -> Result<u32, FileFault> {
    u32::try_from(value).map_err(|_| FileFault::Damaged(value, "unsigned 32-bit number"))
}

fn history(value: i64) -> Result<History, FileFault> {
    small(value).map(|number| History::new(number as usize))
}

fn outcome(numbers: &[i64]) -> Result<Outcome, FileFault> {
    if numbers == [ACCEPTED] { Ok(None) } else { phase(numbers).map(Some) }
}

fn phase(numbers: &[i64]) -> Result<Phase, FileFault> {
    let sight = |recent: i64, next: i64| -> Result<Sight, FileFault> {
        Ok(Sight { recent: history(recent)?, next: look_at(next)? })
    };
    match *numbers {
        [0, recent] => Ok(Phase::Next(history(recent)?)),
        [1, recent, next] => Ok(Phase::Reduce(sight(recent, next)?)),
        [2, recent, next, left, push] => Ok(Phase::Pop(sight(recent, next)?, small(left)?, symbol(push)?)),
        [3, recent, next] => Ok(Phase::Settled(sight(recent, next)?)),
        _ => Err(FileFault::Damaged(numbers.first().copied().unwrap_or(END), "control")),
    }
}

fn name_numbers((head, input): &Named) -> Vec<i64> {
    let before = input.before().iter().rev().map(|&token| i64::from(number(token)));
    let start = [*head as i64, next_number(input.next())];
    start.into_iter().chain(before).chain(input.is_whole().then_some(END)).collect()
}

fn name(numbers: &[i64]) -> Result<Named, FileFault> {
    let [head, next, before @ ..] = numbers else {
        return Err(FileFault::Damaged(numbers.len() as i64, "obligation length"));
    };
    let (before, whole) = match before {
        [before @ .., END] => (before, true),
        _ => (before, false),
    };
    let mut before = before.iter().map(|&token| symbol(token)).collect::<Result<Vec<_>, _>>()?;
    before.reverse();
    let input = InputSuffix::new(before, look_at(*next)?, whole);
    Ok((small(*head)? as usize, input))
}

impl Certificate {
    /// Returns the certificate as JSON.
    ///
    /// # Panics
    /// Never: numbers and strings can always be serialized.
    pub fn to_json(&self) -> String {
        let part = |digest: &Option<String>| digest.clone().map(|digest| Digest { digest });
        let form = Form {
            certificate: FORMAT,
            automaton: self.automaton.clone(),
            grammar: part(&self.grammar),
            lexer: part(&self.lexer),
            machine: self.machine.as_ref().map(MachineProof::form),
            table: part(&self.table),
        };
        serde_json::to_string(&form).expect("numbers and strings can be serialized")
    }

    /// Reads a certificate from JSON.
    ///
    /// # Errors
    /// If the text is not a certificate. [`check`](super::check) verifies whether its claims are true.
    pub fn from_json(text: &str) -> Result<Self, CertificateFileError> {
        Ok(Self::read(text)?)
    }

    fn read(text: &str) -> Result<Self, FileFault> {
        let form: Form = match serde_json::from_str::<Version>(text)?.certificate {
            1 | 2 => serde_json::from_str::<OldForm>(text)?.renewed()?,
            FORMAT => serde_json::from_str(text)?,
            other => return Err(FileFault::Version(other)),
        };
        if form.machine.is_none() && form.table.is_none() {
            return Err(FileFault::Nothing);
        }
        let part = |digest: Option<Digest>| digest.map(|part| part.digest);
        Ok(Self {
            automaton: form.automaton,
            grammar: part(form.grammar),
            lexer: part(form.lexer),
            machine: form.machine.map(MachineProof::read).transpose()?,
            table: part(form.table),
        })
    }
}

impl MachineProof {
    fn form(&self) -> MachineForm {
        let mut phases: Vec<Vec<i64>> = Vec::new();
        let mut numbers: HashMap<Outcome, PhaseId> = HashMap::new();
        let mut place = |phase: Outcome| {
            *numbers.entry(phase).or_insert_with(|| {
                phases.push(phase.map_or(vec![ACCEPTED], phase_numbers));
                PhaseId::new(phases.len() - 1)
            })
        };
        let places = self.reach.places.iter().map(|&(phase, element)| (place(Some(phase)), element)).collect();
        let heads = self.reach.tops.iter().map(|top| (place(Some(top.phase)), top.element, top.beneath)).collect();
        let completions = self.completions.as_ref().map(|all| {
            all.iter().map(|&(phase, element, outcome)| (place(Some(phase)), element, place(outcome))).collect()
        });
        let unders = self.reach.unders.iter().map(|under| (under.place, under.element, under.beneath)).collect();
        let cell = |cell: &Cell| {
            let names = |list: &[Named]| list.iter().map(name_numbers).collect();
            let stack = cell.stack.from_top().map(number).collect();
            CellForm { stack, whole: cell.stack.is_whole(), split: names(&cell.split), proved: names(&cell.proved) }
        };
        MachineForm {
            digest: self.digest.clone(),
            arithmetic: self.arithmetic,
            memory: self.memory,
            elements: self.elements.iter().map(|&(on, symbol)| (on, number(symbol))).collect(),
            cells: self.cells.iter().map(cell).collect(),
            controls: phases,
            places,
            heads,
            unders,
            completions,
        }
    }

    fn read(form: MachineForm) -> Result<Self, FileFault> {
        let phases: Vec<Outcome> = form.controls.iter().map(|numbers| outcome(numbers)).collect::<Result<_, _>>()?;
        let no_phase = |number: PhaseId| FileFault::Damaged(number.index() as i64, "control");
        let find_outcome = |number: PhaseId| phases.get(number.index()).copied().ok_or(no_phase(number));
        let find = |number: PhaseId| find_outcome(number)?.ok_or(no_phase(number));
        let mut reach = Reach::default();
        for (phase, element) in form.places {
            reach.places.push((find(phase)?, element));
        }
        for (phase, element, beneath) in form.heads {
            reach.tops.push(Top { phase: find(phase)?, element, beneath });
        }
        let under = |(place, element, beneath)| Under { place, element, beneath };
        reach.unders = form.unders.into_iter().map(under).collect();
        let completion = |&(phase, element, outcome): &(PhaseId, ElementId, PhaseId)| -> Result<_, FileFault> {
            Ok((find(phase)?, element, find_outcome(outcome)?))
        };
        let completions =
            form.completions.map(|all| all.iter().map(completion).collect::<Result<_, _>>()).transpose()?;
        let known = |value: u32| symbol(i64::from(value));
        let mut elements = Vec::new();
        for (on, symbol) in form.elements {
            elements.push((on, known(symbol)?));
        }
        let mut cells = Vec::new();
        for CellForm { stack, whole, split, proved } in form.cells {
            let mut symbols = stack.into_iter().map(known).collect::<Result<Vec<_>, _>>()?;
            symbols.reverse();
            let names = |list: &[Vec<i64>]| list.iter().map(|numbers| name(numbers)).collect::<Result<Vec<Named>, _>>();
            let stack = StackSuffix::new(symbols, whole);
            cells.push(Cell { stack, split: names(&split)?, proved: names(&proved)? });
        }
        let MachineForm { digest, arithmetic, memory, .. } = form;
        Ok(Self { digest, arithmetic, memory, elements, reach, completions, cells })
    }
}
