//! Changes of a table's file that leave its parts fitting together, for the most part.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use safetensors::SafeTensors;

/// A table of numbers in a file.
struct Tensor {
    /// The bytes of the file that it takes.
    bytes: Range<usize>,
    columns: usize,
    /// The largest value that makes sense in each column.
    most: Vec<u32>,
}

/// The tables of numbers in a file.
struct Tensors {
    accepting: Tensor,
    reductions: Tensor,
    actions: Tensor,
    pushes: Tensor,
}

impl Tensors {
    fn of(file: &[u8]) -> Self {
        let (length, _) = SafeTensors::read_metadata(file).unwrap();
        let tensors = SafeTensors::deserialize(file).unwrap();
        let find = |name: &str, most: &[u32]| {
            let tensor = tensors.tensor(name).unwrap();
            // The data is a part of the file, which begins with the length of the header and the header.
            let start = tensor.data().as_ptr().addr() - file.as_ptr().addr();
            assert!(start >= length + 8);
            let columns = tensor.shape().get(1).copied().unwrap_or(1);
            let most = if most.len() == 1 { vec![most[0]; columns] } else { most.to_vec() };
            Tensor { bytes: start..start + tensor.data().len(), columns, most }
        };
        let rows = |name: &str| u32::try_from(tensors.tensor(name).unwrap().shape()[0]).unwrap();
        let symbols = u32::try_from(tensors.tensor("pushes").unwrap().shape()[1]).unwrap();
        Self {
            accepting: find("accepting", &[1]),
            reductions: find("reductions", &[5, symbols - 1]),
            actions: find("actions", &[rows("reductions")]),
            pushes: find("pushes", &[rows("accepting")]),
        }
    }
}

impl Tensor {
    fn rows(&self) -> usize {
        self.bytes.len() / 4 / self.columns.max(1)
    }

    fn at(&self, row: usize, column: usize) -> Range<usize> {
        let start = self.bytes.start + 4 * (row * self.columns + column);
        start..start + 4
    }

    /// Changes one or two entries, or a row.
    fn change(&self, file: &mut [u8], random: &mut ChaCha8Rng) {
        if self.rows() == 0 || self.columns == 0 {
            return;
        }
        let [row, other] = [(); 2].map(|()| random.random_range(0..self.rows()));
        let column = random.random_range(0..self.columns);
        let (to, from) = (self.at(row, column), self.at(other, column));
        match random.random_range(0..10) {
            // Another value that makes sense, most often that of another row.
            0..4 => file.copy_within(from, to.start),
            4 | 5 => {
                let value = random.random_range(0..=self.most[column]);
                file[to].copy_from_slice(&value.to_le_bytes());
            }
            // Nothing at all.
            6 => file[to].fill(0),
            7 => (0..4).for_each(|byte| file.swap(to.start + byte, from.start + byte)),
            8 => {
                let beside = self.at(row, random.random_range(0..self.columns));
                file.copy_within(beside, to.start);
            }
            _ => {
                let from = self.at(other, 0).start..self.at(other, 0).start + 4 * self.columns;
                file.copy_within(from, self.at(row, 0).start);
            }
        }
    }
}

/// Returns the file of a table after a few changes.
pub(crate) fn mutated(file: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let Tensors { accepting, reductions, actions, pushes } = Tensors::of(file);
    let mut file = file.to_vec();
    for _ in 0..random.random_range(1..5) {
        match random.random_range(0..20) {
            0..8 => pushes.change(&mut file, random),
            8..15 => actions.change(&mut file, random),
            15 | 16 => accepting.change(&mut file, random),
            17 | 18 => reductions.change(&mut file, random),
            _ => {
                let start = accepting.bytes.start.min(actions.bytes.start).min(pushes.bytes.start);
                let at = random.random_range(start..file.len());
                file[at] = random.random();
            }
        }
    }
    file
}
