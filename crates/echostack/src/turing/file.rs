//! Model files of machines with two stacks, described in docs/format.md.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::machine::{Readouts, TwoStackMachine, TwoStackReadout};
use super::rules::{MAX_SUFFIX, Which};
use crate::file::{self, FileError, FileLimits, Reader, Tensors, VERSION, damaged};
use crate::machine::{
    LabelledHead, ReservoirHeader, read_projection, read_reservoir, write_projection, write_reservoir,
};
use crate::manifest::Manifest;
use crate::readout::Projection;
use crate::symbol::{Alphabet, SymbolId};

/// The key of the header in a file.
const KEY: &str = "echostack-two-stacks";

/// The JSON header of a file: everything that is not in tensors. The manifest comes last.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: u32,
    terminals: Vec<String>,
    nonterminals: Vec<String>,
    /// The nonterminals that are states of a Turing machine.
    states: Vec<String>,
    outputs: Vec<String>,
    reservoir: ReservoirHeader,
    /// The classes of the readouts, for each token and then for the end.
    readouts: Vec<ReadoutsHeader>,
    manifest: Manifest,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadoutsHeader {
    pop1: Vec<u32>,
    push1: Vec<Vec<usize>>,
    pop2: Vec<u32>,
    push2: Vec<Vec<usize>>,
    shift: Vec<bool>,
    output: Vec<Option<u32>>,
}

impl TwoStackMachine {
    /// Returns whether the bytes are the file of a machine with two stacks, as far as its header says.
    pub fn is_two_stacks(bytes: &[u8]) -> bool {
        file::header(KEY, bytes).is_ok_and(|header| header.is_some())
    }

    /// Returns the machine as the bytes of a model file. The same machine gives the same bytes.
    ///
    /// # Errors
    /// [`FileError::Reservoir`] if the reservoir has a type that cannot be saved.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        let mut tensors = Tensors::default();
        let reservoir = write_reservoir(self.reservoir.parts().ok_or(FileError::Reservoir)?, &mut tensors);
        write_projection(&self.projection.parts(), self.reservoir.neurons(), &mut tensors);
        for (next, readouts) in self.readouts.iter().enumerate() {
            for readout in TwoStackReadout::ALL {
                tensors.head(&tensor_name(next, readout), readouts.head(readout));
            }
        }
        let names = |symbols: &mut dyn Iterator<Item = SymbolId>| -> Vec<String> {
            symbols.map(|symbol| self.alphabet.name(symbol).to_string()).collect()
        };
        let words = |labels: &[Vec<SymbolId>]| -> Vec<Vec<usize>> {
            labels.iter().map(|word| word.iter().map(|symbol| symbol.index()).collect()).collect()
        };
        let classes = |readouts: &Readouts| ReadoutsHeader {
            pop1: readouts.pop[0].labels.clone(),
            push1: words(&readouts.push[0].labels),
            pop2: readouts.pop[1].labels.clone(),
            push2: words(&readouts.push[1].labels),
            shift: readouts.shift.labels.clone(),
            output: readouts.output.labels.clone(),
        };
        let header = Header {
            version: VERSION,
            terminals: names(&mut self.alphabet.terminals()),
            nonterminals: names(&mut self.alphabet.nonterminals()),
            states: names(&mut self.alphabet.nonterminals().filter(|&symbol| self.alphabet.is_state(symbol))),
            outputs: self.outputs.to_vec(),
            reservoir,
            readouts: self.readouts.iter().map(classes).collect(),
            manifest: Manifest::clone(&self.manifest),
        };
        tensors.to_bytes(KEY, &header)
    }

    /// Reads a machine from the bytes of a model file.
    ///
    /// # Errors
    /// If the bytes are not such a file of this version, or if it is damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        let (header, reader): (Header, Reader<'_>) = Reader::open(KEY, bytes)?;
        let alphabet = Alphabet::from_file(header.terminals, header.nonterminals, Some(header.states))
            .or_else(|error| damaged(error.to_string()))?;
        let reservoir = read_reservoir(&header.reservoir, &reader)?;
        if reservoir.channels() != alphabet.len() {
            return damaged(format!("{} input channels for {} symbols", reservoir.channels(), alphabet.len()));
        }
        let projection = read_projection(reservoir.neurons(), &reader)?;
        if header.readouts.len() != alphabet.terminals().len() + 1 {
            return damaged("it does not have readouts for each token and the end");
        }
        let outputs: Arc<[String]> = header.outputs.into();
        let read = |(next, classes)| read_readouts(next, classes, &alphabet, &outputs, &projection, &reader);
        let readouts = header.readouts.into_iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::new((Arc::new(alphabet), outputs), reservoir, projection, readouts, header.manifest))
    }

    /// Reads a machine from the bytes of a model file, within limits.
    ///
    /// # Errors
    /// Those of [`TwoStackMachine::from_bytes`], and [`FileError::Limit`].
    pub fn from_bytes_within(bytes: &[u8], limits: &FileLimits) -> Result<Self, FileError> {
        limits.check(bytes)?;
        Self::from_bytes(bytes)
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// If the file cannot be read, is not that of a machine with two stacks, or is damaged.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let limits = FileLimits::default();
        Self::from_bytes_within(&file::read_within(path.as_ref(), limits.bytes)?, &limits)
    }

    /// Writes a model file. An existing file is replaced atomically: as a whole, or not at all.
    ///
    /// # Errors
    /// If the operating system reports an error, or the reservoir has a type that cannot be saved.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        file::save(path.as_ref(), &self.to_bytes()?)
    }
}

/// Returns the beginning of the names of a readout's tensors.
fn tensor_name(next: usize, readout: TwoStackReadout) -> String {
    format!("next{next}.{}", readout.name())
}

fn read_readouts(
    next: usize,
    classes: ReadoutsHeader,
    alphabet: &Alphabet,
    outputs: &[String],
    projection: &Projection,
    reader: &Reader<'_>,
) -> Result<Readouts, FileError> {
    let head = |readout, classes| reader.head(&tensor_name(next, readout), classes, projection);
    let pop = |readout, labels: Vec<u32>| Ok(LabelledHead { head: head(readout, labels.len())?, labels });
    let push = |readout, words: Vec<Vec<usize>>| {
        if words.iter().flatten().any(|&symbol| symbol >= alphabet.len()) {
            return damaged("it pushes a symbol that does not exist");
        }
        if words.iter().any(|word| word.len() > MAX_SUFFIX) {
            return damaged(format!("it pushes more than {MAX_SUFFIX} symbols at once"));
        }
        let labels: Vec<Vec<SymbolId>> =
            words.into_iter().map(|word| word.into_iter().map(SymbolId::new).collect()).collect();
        Ok(LabelledHead { head: head(readout, labels.len())?, labels })
    };
    if classes.output.iter().flatten().any(|&output| output as usize >= outputs.len()) {
        return damaged("it writes an output symbol that does not exist");
    }
    let [first, second] = Which::BOTH;
    Ok(Readouts {
        pop: [pop(TwoStackReadout::Pop(first), classes.pop1)?, pop(TwoStackReadout::Pop(second), classes.pop2)?],
        push: [push(TwoStackReadout::Push(first), classes.push1)?, push(TwoStackReadout::Push(second), classes.push2)?],
        shift: LabelledHead { head: head(TwoStackReadout::Shift, classes.shift.len())?, labels: classes.shift },
        output: LabelledHead { head: head(TwoStackReadout::Output, classes.output.len())?, labels: classes.output },
    })
}
