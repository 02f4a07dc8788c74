//! Model files as named tensors and a header, which can be changed in any way that the format allows.

use std::collections::{BTreeMap, HashMap};

use echostack::Machine;
use echostack::file::FileError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::Value;

/// The key of the header in the metadata of the file.
const KEY: &str = "echostack";

/// The numbers of a tensor, row by row.
#[derive(Clone, Debug)]
pub(crate) enum Numbers {
    Floats(Vec<f64>),
    Integers(Vec<u32>),
}

/// A tensor: its shape and its numbers.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub shape: Vec<usize>,
    pub numbers: Numbers,
}

/// The parts of a model file.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub header: Value,
    pub tensors: BTreeMap<String, Tensor>,
}

impl Model {
    /// Returns the parts of a machine's model file, without its training set, which does not affect decisions.
    pub(crate) fn of(machine: &Machine) -> Self {
        let bytes = machine.to_bytes().unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let header = metadata.metadata().as_ref().unwrap()[KEY].clone();
        let mut header: Value = serde_json::from_str(&header).unwrap();
        header["manifest"] = serde_json::json!({});
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let tensor = |(name, view): (String, TensorView<'_>)| {
            let (data, mut shape) = (view.data(), view.shape().to_vec());
            let mut numbers = match view.dtype() {
                Dtype::F64 => Numbers::Floats(data.as_chunks().0.iter().map(|&x| f64::from_le_bytes(x)).collect()),
                _ => Numbers::Integers(data.as_chunks().0.iter().map(|&x| u32::from_le_bytes(x)).collect()),
            };
            if name.starts_with("lessons.") {
                shape[0] = 0;
                match &mut numbers {
                    Numbers::Floats(values) => values.clear(),
                    Numbers::Integers(values) => values.clear(),
                }
            }
            (name, Tensor { shape, numbers })
        };
        Self { header, tensors: file.tensors().into_iter().map(tensor).collect() }
    }

    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let data = |tensor: &Tensor| -> (Dtype, Vec<u8>) {
            match &tensor.numbers {
                Numbers::Floats(values) => (Dtype::F64, values.iter().flat_map(|x| x.to_le_bytes()).collect()),
                Numbers::Integers(values) => (Dtype::U32, values.iter().flat_map(|x| x.to_le_bytes()).collect()),
            }
        };
        let all: Vec<_> = self.tensors.iter().map(|(name, tensor)| (name, &tensor.shape, data(tensor))).collect();
        let views = all.iter().map(|(name, shape, (dtype, data))| {
            (name.as_str(), TensorView::new(*dtype, (*shape).clone(), data).expect("the shape fits the numbers"))
        });
        let metadata = HashMap::from([(KEY.to_string(), self.header.to_string())]);
        safetensors::serialize(views, Some(metadata)).unwrap()
    }

    /// Reads the machine from the file.
    pub(crate) fn machine(&self) -> Result<Machine, FileError> {
        Machine::from_bytes(&self.bytes())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    pub(crate) fn floats(&self, name: &str) -> &[f64] {
        match self.tensors.get(name).map(|tensor| &tensor.numbers) {
            Some(Numbers::Floats(values)) => values,
            _ => &[],
        }
    }

    pub(crate) fn integers(&self, name: &str) -> &[u32] {
        match self.tensors.get(name).map(|tensor| &tensor.numbers) {
            Some(Numbers::Integers(values)) => values,
            _ => &[],
        }
    }

    pub(crate) fn floats_mut(&mut self, name: &str) -> &mut [f64] {
        match self.tensors.get_mut(name).map(|tensor| &mut tensor.numbers) {
            Some(Numbers::Floats(values)) => values,
            _ => &mut [],
        }
    }

    /// Replaces a tensor of floats. `width` is the number of columns, or 0 for a plain list.
    pub(crate) fn set_floats(&mut self, name: &str, width: usize, values: Vec<f64>) {
        let shape = shape(values.len(), width);
        self.tensors.insert(name.to_string(), Tensor { shape, numbers: Numbers::Floats(values) });
    }

    /// Replaces a tensor of integers. `width` is the number of columns, or 0 for a plain list.
    pub(crate) fn set_integers(&mut self, name: &str, width: usize, values: Vec<u32>) {
        let shape = shape(values.len(), width);
        self.tensors.insert(name.to_string(), Tensor { shape, numbers: Numbers::Integers(values) });
    }

    /// Returns the names of all nonempty tensors of floats.
    pub(crate) fn float_names(&self) -> Vec<String> {
        let floats = |(_, tensor): &(&String, &Tensor)| matches!(&tensor.numbers, Numbers::Floats(x) if !x.is_empty());
        self.tensors.iter().filter(floats).map(|(name, _)| name.clone()).collect()
    }

    /// Returns the number of kernels, which is also the index of the next one.
    pub(crate) fn kernels(&self) -> u32 {
        self.tensors.keys().filter(|name| name.starts_with("kernel") && name.ends_with("gamma")).count() as u32
    }

    /// Returns the readouts that have tensors; readouts with a single class have none.
    pub(crate) fn heads(&self) -> Vec<&'static str> {
        let has = |head: &&str| self.has(&format!("{head}.intercepts"));
        ["pop", "push", "actions", "shift", "output"].into_iter().filter(has).collect()
    }

    /// Returns true if a readout is a list of clauses.
    pub(crate) fn is_list(&self, head: &str) -> bool {
        self.has(&format!("{head}.clauses"))
    }

    pub(crate) fn reservoir_kind(&self) -> &str {
        self.header["reservoir"]["kind"].as_str().unwrap()
    }

    /// Returns the number of neurons.
    pub(crate) fn neurons(&self) -> usize {
        match self.header["reservoir"]["neurons"].as_u64() {
            Some(neurons) => neurons as usize,
            None => self.floats("reservoir.input").len() * self.symbols(),
        }
    }

    /// Returns the number of symbols, terminals and nonterminals.
    pub(crate) fn symbols(&self) -> usize {
        ["terminals", "nonterminals"].map(|field| self.header[field].as_array().unwrap().len()).iter().sum()
    }
}

fn shape(count: usize, width: usize) -> Vec<usize> {
    match count.checked_div(width) {
        None => vec![count],
        Some(rows) => vec![rows, width],
    }
}
