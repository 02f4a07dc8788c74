//! Certificates that a machine with two stacks simulates its teacher, and the bounds that they rest on.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::machine::{TwoStackMachine, TwoStackReadout};
use super::rules::Which;
use super::shape::{Shape, Top};
use crate::certify::bound::{Bounds, Sighting};
use crate::certify::{CertifyError, Scaled};
use crate::control::Poll;
use crate::suffix::StackSuffix;
use crate::symbol::Alphabet;

/// The version of the format.
const VERSION: u32 = 1;
/// The maximum size of a certificate that is read, in bytes.
pub const MAX_CERTIFICATE: usize = 1 << 28;

/// A proof that a machine with two stacks decides as its teacher does in every configuration that can occur, so that it
/// simulates the teacher on every input, for every number of steps. It does not say that a run ends.
///
/// [`check`](super::check) verifies it, and trusts nothing in it.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoStackCertificate {
    /// The digest of the teacher's text.
    pub(super) teacher: String,
    /// The digest of the machine.
    pub(super) machine: String,
    pub(super) arithmetic: u32,
    pub(super) shape: Shape,
    /// For each lookahead, the tree of its cells in preorder: [`PROVED`] for a cell that is proved, and `1` or `2` for one
    /// that is split by the first or the second stack.
    pub(super) cells: Vec<String>,
}

/// The letter of a cell that is proved.
pub(super) const PROVED: char = '.';

/// The reason why a text is not a certificate.
#[derive(Debug, thiserror::Error)]
#[error("this is not a certificate of a machine with two stacks: {0}")]
pub struct TwoStackCertificateError(String);

/// The form of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    two_stacks: u32,
    teacher: String,
    machine: String,
    arithmetic: u32,
    shape: ShapeForm,
    cells: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShapeForm {
    first: Vec<(Top, Top)>,
    second: Vec<(Top, Top)>,
    tops: Vec<(u32, Top, Top)>,
}

impl TwoStackCertificate {
    /// Returns the number of cells that are proved.
    pub fn cells(&self) -> usize {
        self.cells.iter().map(|tree| tree.matches(PROVED).count()).sum()
    }

    /// Returns whether a text begins like a certificate of a machine with two stacks.
    pub fn is_certificate(text: &str) -> bool {
        text.trim_start().strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with("\"two_stacks\""))
    }

    /// Returns the certificate as JSON.
    #[allow(clippy::missing_panics_doc, reason = "strings and numbers can always be written")]
    pub fn to_json(&self) -> String {
        let Shape { pairs: [first, second], tops } = &self.shape;
        let shape = ShapeForm {
            first: first.iter().map(|&(above, below)| (below, above)).collect(),
            second: second.iter().map(|&(above, below)| (below, above)).collect(),
            tops: tops.iter().copied().collect(),
        };
        let form = Form {
            two_stacks: VERSION,
            teacher: self.teacher.clone(),
            machine: self.machine.clone(),
            arithmetic: self.arithmetic,
            shape,
            cells: self.cells.clone(),
        };
        serde_json::to_string(&form).expect("strings and numbers can be written")
    }

    /// Reads a certificate. Whether it proves anything is for [`check`](super::check) to say.
    ///
    /// # Errors
    /// If the text is too long, not JSON, or of another form or version.
    pub fn from_json(text: &str) -> Result<Self, TwoStackCertificateError> {
        if text.len() > MAX_CERTIFICATE {
            return Err(TwoStackCertificateError(format!("it has more than {MAX_CERTIFICATE} bytes")));
        }
        let form: Form = serde_json::from_str(text).map_err(|error| TwoStackCertificateError(error.to_string()))?;
        if form.two_stacks != VERSION {
            return Err(TwoStackCertificateError(format!(
                "it has version {}, but {VERSION} is needed",
                form.two_stacks
            )));
        }
        let pairs = [form.shape.first, form.shape.second]
            .map(|pairs| pairs.into_iter().map(|(below, above)| (above, below)).collect::<BTreeSet<_>>());
        let shape = Shape { pairs, tops: form.shape.tops.into_iter().collect() };
        let Form { teacher, machine, arithmetic, cells, .. } = form;
        Ok(Self { teacher, machine, arithmetic, shape, cells })
    }
}

/// Returns the digest of a machine: that of its file without its manifest.
pub(super) fn machine_digest(bytes: &[u8], poll: &mut Poll<'_>) -> Result<String, CertifyError> {
    Ok(crate::certify::digest::digest(bytes, poll)?)
}

/// Returns the digest of a teacher's text.
pub(super) fn teacher_digest(source: &str) -> String {
    crate::certify::digest::text_digest(source)
}

/// The bounds on all decisions of a machine, with what they see of suffixes.
pub(super) struct Decisions {
    pub(super) bounds: Bounds<(usize, TwoStackReadout)>,
    seen: [HashMap<StackSuffix, Arc<Sighting>>; 2],
}

/// The maximum number of floating-point values of sightings that are kept for each stack.
const MAX_NUMBERS: usize = 1 << 24;

impl Decisions {
    pub(super) fn new(machine: &TwoStackMachine, poll: &mut Poll<'_>) -> Result<Self, CertifyError> {
        let of = |(next, readouts): (usize, &super::machine::Readouts)| {
            TwoStackReadout::ALL.map(|readout| ((next, readout), readouts.head(readout).clone()))
        };
        let heads = machine.readouts.iter().enumerate().flat_map(of).collect();
        let name = |(_, readout): &(usize, TwoStackReadout)| readout.name().to_string();
        let scaled = Scaled::new(&*machine.reservoir, &machine.projection, heads, name)?;
        let symbols = Some(machine.alphabet.len());
        Ok(Self { bounds: Bounds::over(&scaled, [symbols, symbols], poll)?, seen: Default::default() })
    }

    /// Returns the number of a readout before the lookahead with this number.
    pub(super) fn number(next: usize, readout: TwoStackReadout) -> usize {
        let place = TwoStackReadout::ALL.iter().position(|own| *own == readout);
        next * TwoStackReadout::ALL.len() + place.expect("all readouts are among them")
    }

    /// Returns what the readouts see of suffixes of both stacks.
    pub(super) fn see(&mut self, suffixes: [&StackSuffix; 2]) -> [Arc<Sighting>; 2] {
        Which::BOTH.map(|which| {
            let (suffix, seen) = (suffixes[which.index()], &mut self.seen[which.index()]);
            if let Some(known) = seen.get(suffix) {
                return known.clone();
            }
            let sighting = Arc::new(match which {
                Which::First => self.bounds.first_stack(suffix),
                Which::Second => self.bounds.stack(suffix),
            });
            if seen.len() * sighting.numbers() > MAX_NUMBERS {
                seen.clear();
            }
            seen.insert(suffix.clone(), sighting.clone());
            sighting
        })
    }
}

/// Displays a configuration.
pub(super) fn place(suffixes: [&StackSuffix; 2], next: usize, alphabet: &Alphabet) -> String {
    let name = super::rules::next_of(next, alphabet).and_then(crate::symbol::Lookahead::token);
    let name = name.map_or("the end".to_string(), |token| alphabet.plain_name(token));
    format!("{} | {} before {name}", suffixes[0].display(alphabet), suffixes[1].display(alphabet))
}
