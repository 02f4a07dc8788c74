//! Model files of machines: safetensors files with a JSON header, described in docs/format.md. Nothing in a file is
//! ever executed.
//!
//! Everything is checked when a file is read: whatever it contains, the result is a machine that can run, or an error.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::readouts::{Actions, LabelledHead, Output, Readouts};
use super::stack_machine::Machine;
use crate::file::{self, FileError, MACHINE_KEY, Reader, Tensors, VERSION, damaged};
use crate::manifest::Manifest;
use crate::readout::{
    Clause, HalfParts, Head, Histories, HistoryId, HistoryInput, Lesson, Lessons, Pair, Projection, ProjectionParts,
    Side, StateId, Values,
};
use crate::recognize::{Mode, Reduction, View};
use crate::reservoir::{
    Activation, CycleParts, LegendreParts, MatrixParts, Recurrent, Reservoir, ReservoirParts, check_neurons,
};
use crate::symbol::{Alphabet, SymbolId};

/// The maximum number of values that may be computed from a file before its first use.
const MAX_SYMBOL_FEATURES: usize = 1 << 27;

/// The JSON header of a file: everything that is not in tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: u32,
    terminals: Vec<String>,
    nonterminals: Vec<String>,
    /// The nonterminals that are parser states; absent if these are exactly the ones whose names begin with `#`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parser_states: Option<Vec<String>>,
    view: View,
    mode: Mode,
    reservoir: ReservoirHeader,
    actions: ActionsHeader,
    /// The classes of the shift readout.
    shift: Vec<bool>,
    /// The classes of the output readout; `None` for a regression.
    output: Option<Vec<Vec<f64>>>,
    manifest: Manifest,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum ReservoirHeader {
    Matrix { neurons: usize, leak: f64, activation: Activation, sparse: bool },
    Cycle { neurons: usize, leak: f64, cycle: f64, jump: f64, jump_length: usize },
    Legendre { channels: usize },
}

/// The classes of the stack readouts. A push is the number of a nonterminal, counted from 0 among the nonterminals.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum ActionsHeader {
    Separate { pop: Vec<u32>, push: Vec<Option<usize>> },
    Joint { actions: Vec<(u32, Option<usize>)> },
}

impl Tensors {
    pub(crate) fn head(&mut self, name: &str, head: &Head) {
        if let Head::Votes { kernel, pairs, .. } = head {
            let terms = || pairs.iter().flat_map(|pair| &pair.terms);
            let count = terms().count();
            self.integers(format!("{name}.kernel"), &[1], [*kernel as u32]);
            self.integers(format!("{name}.counts"), &[pairs.len()], pairs.iter().map(|pair| pair.terms.len() as u32));
            self.floats(format!("{name}.intercepts"), &[pairs.len()], pairs.iter().map(|pair| pair.intercept));
            self.integers(format!("{name}.support"), &[count], terms().map(|term| term.0));
            self.floats(format!("{name}.weights"), &[count], terms().map(|term| term.1));
        }
        if let Head::List { clauses, otherwise } = head {
            let conditions = || clauses.iter().flat_map(|clause| &clause.conditions);
            let count = conditions().count();
            let rows = clauses.iter().flat_map(|clause| [clause.conditions.len() as u32, clause.class as u32]);
            self.integers(format!("{name}.clauses"), &[clauses.len(), 2], rows);
            self.integers(format!("{name}.otherwise"), &[1], [*otherwise as u32]);
            self.integers(format!("{name}.conditions"), &[count], conditions().map(|condition| condition.0));
            self.floats(format!("{name}.intercepts"), &[count], conditions().map(|condition| condition.1));
        }
    }
}

impl Reader<'_> {
    pub(crate) fn head(&self, name: &str, classes: usize, projection: &Projection) -> Result<Head, FileError> {
        match classes {
            0 => return damaged(format!("{name} has no classes")),
            1 => return Ok(Head::Constant(0)),
            _ => {}
        }
        if self.has(&format!("{name}.clauses")) {
            return self.list(name, classes, projection);
        }
        let [kernel] = self.integers(&format!("{name}.kernel"), 1)?[..] else {
            return damaged(format!("{name}.kernel must have one value"));
        };
        let Some(support) = projection.support(kernel as usize) else {
            return damaged(format!("{name} uses kernel {kernel}, which does not exist"));
        };
        let counts = self.integers(&format!("{name}.counts"), 1)?;
        let intercepts = self.floats(&format!("{name}.intercepts"), 1)?;
        let places = self.integers(&format!("{name}.support"), 1)?;
        let weights = self.floats(&format!("{name}.weights"), 1)?;
        let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let sound = Some(counts.len()) == classes.checked_mul(classes - 1).map(|twice| twice / 2)
            && intercepts.len() == counts.len()
            && total == places.len() as u64
            && weights.len() == places.len()
            && places.iter().all(|&place| (place as usize) < support);
        if !sound {
            return damaged(format!("the parts of {name} do not fit together"));
        }
        let mut terms = places.into_iter().zip(weights);
        let order = (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a as u32, b as u32)));
        let pairs = order.zip(counts.into_iter().zip(intercepts)).map(|((first, second), (count, intercept))| Pair {
            first,
            second,
            terms: terms.by_ref().take(count as usize).collect(),
            intercept,
        });
        Ok(Head::Votes { kernel: kernel as usize, classes, pairs: pairs.collect() })
    }

    fn list(&self, name: &str, classes: usize, projection: &Projection) -> Result<Head, FileError> {
        let rows = self.rows::<2>(&format!("{name}.clauses"))?;
        let [otherwise] = self.integers(&format!("{name}.otherwise"), 1)?[..] else {
            return damaged(format!("{name}.otherwise must have one value"));
        };
        let conditions = self.integers(&format!("{name}.conditions"), 1)?;
        let intercepts = self.floats(&format!("{name}.intercepts"), 1)?;
        let total: u64 = rows.iter().map(|&[count, _]| u64::from(count)).sum();
        let sound = total == conditions.len() as u64
            && intercepts.len() == conditions.len()
            && conditions.iter().all(|&number| (number as usize) < projection.linear_count())
            && rows.iter().all(|&[_, class]| (class as usize) < classes)
            && (otherwise as usize) < classes;
        if !sound {
            return damaged(format!("the parts of {name} do not fit together"));
        }
        let mut all = conditions.into_iter().zip(intercepts);
        let clause = |[count, class]: [u32; 2]| Clause {
            conditions: all.by_ref().take(count as usize).collect(),
            class: class as usize,
        };
        Ok(Head::List { clauses: rows.into_iter().map(clause).collect(), otherwise: otherwise as usize })
    }
}

impl Machine {
    /// Returns the machine as the bytes of a model file. The same machine gives the same bytes.
    ///
    /// # Errors
    /// [`FileError::Reservoir`] if the reservoir has a type that cannot be saved.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        let mut tensors = Tensors::default();
        let reservoir = write_reservoir(self.reservoir.parts().ok_or(FileError::Reservoir)?, &mut tensors);
        write_projection(&self.readouts.projection.parts(), self.reservoir.neurons(), &mut tensors);
        let number = |symbol: SymbolId| symbol.index() - self.alphabet.terminals().len();
        let actions = match &self.readouts.actions {
            Actions::Separate { pop, push } => {
                tensors.head("pop", &pop.head);
                tensors.head("push", &push.head);
                let push = push.labels.iter().map(|push| push.map(number)).collect();
                ActionsHeader::Separate { pop: pop.labels.clone(), push }
            }
            Actions::Joint(joint) => {
                tensors.head("actions", &joint.head);
                let label = |action: &Reduction| (action.pop, action.push.map(number));
                ActionsHeader::Joint { actions: joint.labels.iter().map(label).collect() }
            }
        };
        tensors.head("shift", &self.readouts.shift.head);
        let output = match &self.readouts.output {
            Output::Classes(classifier) => {
                tensors.head("output", &classifier.head);
                Some(classifier.labels.iter().map(|values| values.0.clone()).collect())
            }
            Output::Regression => None,
        };
        write_lessons(&self.lessons, &mut tensors);
        let names = |symbols: &mut dyn Iterator<Item = SymbolId>| -> Vec<String> {
            symbols.map(|symbol| self.alphabet.name(symbol).to_string()).collect()
        };
        let header = Header {
            version: VERSION,
            terminals: names(&mut self.alphabet.terminals()),
            nonterminals: names(&mut self.alphabet.nonterminals()),
            parser_states: self.alphabet.unconventional_states(),
            view: self.view,
            mode: self.mode,
            reservoir,
            actions,
            shift: self.readouts.shift.labels.clone(),
            output,
            manifest: Manifest::clone(&self.manifest),
        };
        tensors.to_bytes(MACHINE_KEY, &header)
    }

    /// Reads a machine from the bytes of a model file.
    ///
    /// # Errors
    /// If the bytes are not a model of this version, or if the model is damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        let (header, reader) = Reader::open(MACHINE_KEY, bytes)?;
        read_machine(header, &reader)
    }

    /// Writes a model file. An existing file is replaced atomically: as a whole, or not at all.
    ///
    /// # Errors
    /// If the operating system reports an error, or the reservoir has a type that cannot be saved.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        file::save(path.as_ref(), &self.to_bytes()?)
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// If the operating system reports an error, the file is not a model of this version, or the model is damaged.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::from_bytes(&file::read_within(path.as_ref(), file::MAX_BYTES)?)
    }
}

fn read_machine(header: Header, reader: &Reader<'_>) -> Result<Machine, FileError> {
    let alphabet = Alphabet::from_file(header.terminals, header.nonterminals, header.parser_states)
        .or_else(|error| damaged(error.to_string()))?;
    let reservoir = read_reservoir(&header.reservoir, reader)?;
    let neurons = reservoir.neurons();
    if reservoir.channels() != alphabet.len() {
        return damaged(format!("{} input channels for {} symbols", reservoir.channels(), alphabet.len()));
    }
    let projection = read_projection(neurons, reader)?;
    let terminals = alphabet.terminals().len();
    let symbol = |number: Option<usize>| match number {
        None => Ok(None),
        Some(number) if number < alphabet.len() - terminals => Ok(Some(SymbolId::new(terminals + number))),
        Some(number) => damaged(format!("it pushes nonterminal number {number}, which does not exist")),
    };
    let actions = match header.actions {
        ActionsHeader::Separate { pop, push } => Actions::Separate {
            pop: LabelledHead { head: reader.head("pop", pop.len(), &projection)?, labels: pop },
            push: LabelledHead {
                head: reader.head("push", push.len(), &projection)?,
                labels: push.into_iter().map(symbol).collect::<Result<_, _>>()?,
            },
        },
        ActionsHeader::Joint { actions } => Actions::Joint(LabelledHead {
            head: reader.head("actions", actions.len(), &projection)?,
            labels: actions
                .into_iter()
                .map(|(pop, push)| Ok(Reduction { pop, push: symbol(push)? }))
                .collect::<Result<_, FileError>>()?,
        }),
    };
    let shift = LabelledHead { head: reader.head("shift", header.shift.len(), &projection)?, labels: header.shift };
    let (output, width) = match header.output {
        Some(classes) => {
            let width = classes.first().map_or(0, Vec::len);
            let finite = classes.iter().flatten().all(|value| value.is_finite());
            if width == 0 || !finite || classes.iter().any(|values| values.len() != width) {
                return damaged("the output classes must be lists of finite values of the same length");
            }
            let head = reader.head("output", classes.len(), &projection)?;
            (Output::Classes(LabelledHead { head, labels: classes.into_iter().map(Values).collect() }), width)
        }
        None if projection.linear_count() == 0 => return damaged("a regression without outputs"),
        None => (Output::Regression, projection.linear_count()),
    };
    let features = projection.width(Side::Input).saturating_mul(terminals + 1);
    if features > MAX_SYMBOL_FEATURES {
        return damaged(format!("its symbols have {features} features; at most {MAX_SYMBOL_FEATURES} are supported"));
    }
    let lessons = read_lessons(&alphabet, width, reader)?;
    let readouts = Readouts { projection, actions, shift, output };
    let sight = (header.view, header.mode);
    Ok(Machine::new(Arc::new(alphabet), reservoir, sight, readouts, lessons, header.manifest))
}

pub(crate) fn write_reservoir(parts: ReservoirParts, tensors: &mut Tensors) -> ReservoirHeader {
    match parts {
        ReservoirParts::Matrix(parts) => {
            let (m, n) = (parts.neurons, parts.channels);
            tensors.floats("reservoir.input", &[m, n], parts.input);
            tensors.floats("reservoir.bias", &[parts.bias.len()], parts.bias);
            let sparse = match parts.recurrent {
                Recurrent::Dense(weights) => {
                    tensors.floats("reservoir.recurrent", &[m, m], weights);
                    false
                }
                Recurrent::Sparse(entries) => {
                    let places = entries.iter().flat_map(|&(row, column, _)| [row, column]);
                    tensors.integers("reservoir.places", &[entries.len(), 2], places);
                    tensors.floats("reservoir.recurrent", &[entries.len()], entries.iter().map(|entry| entry.2));
                    true
                }
            };
            ReservoirHeader::Matrix { neurons: m, leak: parts.leak, activation: parts.activation, sparse }
        }
        ReservoirParts::Cycle(parts) => {
            let CycleParts { neurons, columns, cycle, jump, jump_length, bias, leak } = parts;
            tensors.floats("reservoir.input", &[columns.len() / neurons, neurons], columns);
            tensors.floats("reservoir.bias", &[bias.len()], bias);
            ReservoirHeader::Cycle { neurons, leak, cycle, jump, jump_length }
        }
        ReservoirParts::Legendre(parts) => {
            let order = parts.input.len();
            tensors.floats("reservoir.input", &[order], parts.input);
            tensors.floats("reservoir.recurrent", &[order, order], parts.recurrent);
            ReservoirHeader::Legendre { channels: parts.channels }
        }
    }
}

pub(crate) fn read_reservoir(header: &ReservoirHeader, reader: &Reader<'_>) -> Result<Arc<dyn Reservoir>, FileError> {
    let parts = match *header {
        ReservoirHeader::Matrix { neurons, leak, activation, sparse } => {
            let Some(shape) = reader.shape("reservoir.input") else { return damaged("reservoir.input is missing") };
            let channels = shape.get(1).copied().unwrap_or(0);
            let recurrent = if sparse {
                let places = reader.rows::<2>("reservoir.places")?;
                let weights = reader.floats("reservoir.recurrent", 1)?;
                if places.len() != weights.len() {
                    return damaged("reservoir.places and reservoir.recurrent have different lengths");
                }
                Recurrent::Sparse(
                    places.iter().zip(weights).map(|(place, weight)| (place[0], place[1], weight)).collect(),
                )
            } else {
                Recurrent::Dense(reader.floats("reservoir.recurrent", neurons)?)
            };
            let input = reader.floats("reservoir.input", channels)?;
            let bias = reader.floats("reservoir.bias", 1)?;
            ReservoirParts::Matrix(MatrixParts { neurons, channels, input, recurrent, bias, leak, activation })
        }
        ReservoirHeader::Cycle { neurons, leak, cycle, jump, jump_length } => {
            let columns = reader.floats("reservoir.input", neurons)?;
            let bias = reader.floats("reservoir.bias", 1)?;
            ReservoirParts::Cycle(CycleParts { neurons, columns, cycle, jump, jump_length, bias, leak })
        }
        ReservoirHeader::Legendre { channels } => {
            let input = reader.floats("reservoir.input", 1)?;
            let recurrent = reader.floats("reservoir.recurrent", input.len())?;
            ReservoirParts::Legendre(LegendreParts { channels, recurrent, input })
        }
    };
    let built = parts.build().and_then(|reservoir| check_neurons(reservoir.neurons()).map(|()| reservoir));
    built.or_else(|error| damaged(format!("its reservoir: {error}")))
}

const SIDES: [&str; 2] = ["input", "stack"];

pub(crate) fn write_projection(parts: &ProjectionParts, neurons: usize, tensors: &mut Tensors) {
    for (side, half) in SIDES.iter().zip(&parts.halves) {
        tensors.floats(
            format!("centres.{side}"),
            &[half.centers.len() / neurons, neurons],
            half.centers.iter().copied(),
        );
        for (k, members) in half.members.iter().enumerate() {
            tensors.integers(format!("kernel{k}.{side}"), &[members.len()], members.iter().copied());
        }
        if half.linear.1 > 0 {
            tensors.floats(format!("linear.{side}"), &[neurons, half.linear.1], half.linear.0.iter().copied());
        }
    }
    for (k, (gamma, support)) in parts.kernels.iter().enumerate() {
        tensors.floats(format!("kernel{k}.gamma"), &[1], [*gamma]);
        tensors.integers(format!("kernel{k}.support"), &[support.len(), 2], support.iter().flatten().copied());
    }
}

pub(crate) fn read_projection(neurons: usize, reader: &Reader<'_>) -> Result<Projection, FileError> {
    let mut kernels = Vec::new();
    while reader.has(&format!("kernel{}.gamma", kernels.len())) {
        let k = kernels.len();
        let [gamma] = reader.floats(&format!("kernel{k}.gamma"), 1)?[..] else {
            return damaged(format!("kernel{k}.gamma must have one value"));
        };
        if gamma <= 0. {
            return damaged(format!("kernel{k}.gamma is {gamma}, but must be positive"));
        }
        kernels.push((gamma, reader.rows::<2>(&format!("kernel{k}.support"))?));
    }
    let half = |side: &str| -> Result<HalfParts, FileError> {
        let name = format!("linear.{side}");
        let outputs = reader.shape(&name).and_then(|shape| shape.get(1).copied()).unwrap_or(0);
        Ok(HalfParts {
            centers: reader.floats(&format!("centres.{side}"), neurons)?,
            members: (0..kernels.len())
                .map(|k| reader.integers(&format!("kernel{k}.{side}"), 1))
                .collect::<Result<_, _>>()?,
            linear: if outputs == 0 { (Vec::new(), 0) } else { (reader.floats(&name, outputs)?, outputs) },
        })
    };
    let parts = ProjectionParts { halves: [half(SIDES[0])?, half(SIDES[1])?], kernels };
    Projection::from_parts(neurons, parts).map_or_else(|| damaged("its kernels do not fit together"), Ok)
}

/// The code of the end of a word as the last input of a sequence. A symbol is coded as its number.
const END: u32 = u32::MAX;
/// The bit that is set in the code of a vector, together with the vector's number.
const VECTOR: u32 = 1 << 31;

fn write_lessons(lessons: &Lessons, tensors: &mut Tensors) {
    let histories = &lessons.histories;
    let last = histories.last.iter().map(|last| match *last {
        HistoryInput::Symbol(symbol) => symbol,
        HistoryInput::End => END,
        HistoryInput::Vector(number) => VECTOR | number,
    });
    tensors.integers("lessons.parents", &[histories.parents.len()], histories.parents.iter().map(|id| id.number()));
    tensors.integers("lessons.last", &[histories.last.len()], last);
    let width = histories.width.max(1);
    tensors.floats("lessons.vectors", &[histories.vectors.len() / width, width], histories.vectors.iter().copied());
    tensors.integers("lessons.inputs", &[lessons.inputs.len()], lessons.inputs.iter().map(|id| id.number()));
    tensors.integers("lessons.stacks", &[lessons.stacks.len()], lessons.stacks.iter().map(|id| id.number()));
    let place = |lesson: &Lesson| [lesson.input.index() as u32, lesson.stack.index() as u32];
    let actions = lessons.actions.rows.iter().zip(&lessons.actions.labels);
    let push = |action: &Reduction| action.push.map_or(0, |symbol| symbol.index() as u32 + 1);
    let actions = actions.flat_map(|(row, action)| [place(row)[0], place(row)[1], action.pop, push(action)]);
    tensors.integers("lessons.actions", &[lessons.actions.rows.len(), 4], actions);
    let shifts = lessons.shifts.rows.iter().zip(&lessons.shifts.labels);
    let shifts = shifts.flat_map(|(row, &shift)| [place(row)[0], place(row)[1], u32::from(shift)]);
    tensors.integers("lessons.shifts", &[lessons.shifts.rows.len(), 3], shifts);
    let mut outputs = |name: &str, rows: &[Lesson], values: &[&Values]| {
        let width = values.first().map_or(1, |values| values.0.len());
        tensors.integers(format!("lessons.{name}"), &[rows.len(), 2], rows.iter().flat_map(place));
        let all = values.iter().flat_map(|values| values.0.iter().copied());
        tensors.floats(format!("lessons.{name}.values"), &[rows.len(), width], all);
    };
    outputs("outputs", &lessons.outputs.rows, &lessons.outputs.labels.iter().collect::<Vec<_>>());
    let (rows, values): (Vec<Lesson>, Vec<&Values>) = lessons.steps.iter().map(|(row, values)| (*row, values)).unzip();
    outputs("steps", &rows, &values);
}

fn read_lessons(alphabet: &Alphabet, width: usize, reader: &Reader<'_>) -> Result<Lessons, FileError> {
    let terminals = alphabet.terminals().len();
    let ids = |name: &str| -> Result<Vec<HistoryId>, FileError> {
        Ok(reader.integers(name, 1)?.into_iter().map(HistoryId::new).collect())
    };
    let parents = ids("lessons.parents")?;
    let vectors = match reader.shape("lessons.vectors") {
        Some(shape) if shape.first() == Some(&0) => Vec::new(),
        _ => reader.floats("lessons.vectors", terminals)?,
    };
    let count = vectors.len() / terminals.max(1);
    let last: Vec<HistoryInput> = reader
        .integers("lessons.last", 1)?
        .into_iter()
        .map(|code| match code {
            END => Ok(HistoryInput::End),
            code if code & VECTOR != 0 && ((code & !VECTOR) as usize) < count => {
                Ok(HistoryInput::Vector(code & !VECTOR))
            }
            code if (code as usize) < alphabet.len() => Ok(HistoryInput::Symbol(code)),
            _ => damaged("lessons.last names an input that does not exist"),
        })
        .collect::<Result<_, _>>()?;
    let ordered = parents.iter().enumerate().all(|(at, parent)| parent.index() <= at);
    if parents.len() != last.len() || !ordered {
        return damaged("lessons.parents does not form a tree");
    }
    let mut lessons = Lessons::new();
    lessons.inputs = ids("lessons.inputs")?;
    lessons.stacks = ids("lessons.stacks")?;
    if lessons.inputs.iter().chain(&lessons.stacks).any(|id| id.index() > parents.len()) {
        return damaged("lessons.inputs or lessons.stacks names a sequence that does not exist");
    }
    let width_of_vectors = if vectors.is_empty() { 0 } else { terminals };
    lessons.histories = Histories { parents, last, vectors, width: width_of_vectors };
    let (inputs, stacks) = (lessons.inputs.len(), lessons.stacks.len());
    let place = |input: u32, stack: u32| {
        if (input as usize) < inputs && (stack as usize) < stacks {
            Ok(Lesson { input: StateId::new(input), stack: StateId::new(stack) })
        } else {
            damaged("a lesson names a state that does not exist")
        }
    };
    for [input, stack, pop, push] in reader.rows::<4>("lessons.actions")? {
        let push = push.checked_sub(1).map(|symbol| SymbolId::new(symbol as usize));
        if push.is_some_and(|symbol| !alphabet.is_nonterminal(symbol)) {
            return damaged("a lesson pushes a symbol that is not a nonterminal");
        }
        lessons.actions.add(place(input, stack)?, Reduction { pop, push });
    }
    for [input, stack, shift] in reader.rows::<3>("lessons.shifts")? {
        lessons.shifts.add(place(input, stack)?, shift != 0);
    }
    let outputs = |name: &str| -> Result<Vec<(Lesson, Values)>, FileError> {
        let rows = reader.rows::<2>(&format!("lessons.{name}"))?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let values = reader.floats(&format!("lessons.{name}.values"), width)?;
        if values.len() != rows.len() * width {
            return damaged(format!("lessons.{name} and its values have different lengths"));
        }
        let pairs = rows.iter().zip(values.chunks_exact(width));
        pairs.map(|(&[input, stack], values)| Ok((place(input, stack)?, Values(values.to_vec())))).collect()
    };
    for (row, values) in outputs("outputs")? {
        lessons.outputs.add(row, values);
    }
    lessons.steps = outputs("steps")?;
    Ok(lessons)
}
