//! The copy and repeat copy tasks, with real-valued inputs and a teaching signal that does not come from an automaton.
//!
//! There are eight channels of bits, and one channel that is -1 during the input and 1 on the end token. While the copy
//! is read out, all channels are 0. Every input is shifted. At an end token, the stack is brought to a fixed length
//! (20; for repeat copy, 10). First, an earlier end token and everything above it are popped, one element per decision.
//! Then placeholders are pushed, one per decision. The element to output is then always at the same depth, where a
//! linear readout of the stack's state finds it.

use std::sync::Arc;

use rand::{Rng, RngExt};

use crate::recognize::Reduction;
use crate::symbol::{Alphabet, SymbolId, Word};
use crate::teach::{Step, Trace};

const BITS: usize = 8;
const WIDTH: usize = BITS + 1;

pub(super) fn alphabet() -> Arc<Alphabet> {
    let bits = (1..=BITS).map(|bit| format!("bit{bit}"));
    let alphabet = Alphabet::new(bits.chain(["end".to_string()]), ["S".to_string()]);
    Arc::new(alphabet.expect("the names differ"))
}

/// Draws an example with one copy of up to 20 vectors or, given `repeats`, with 1 to `repeats` copies of up to 10
/// vectors.
pub(super) fn example(random: &mut impl Rng, repeats: Option<usize>, number: usize) -> Trace {
    let longest = if repeats.is_some() { 10 } else { 20 };
    let length = random.random_range(1..=longest);
    let copies = repeats.map_or(1, |most| random.random_range(1..=most));
    let bits: Vec<[f64; BITS]> =
        (0..length).map(|_| std::array::from_fn(|_| f64::from(random.random::<u8>() & 1))).collect();
    let mut draft = Draft { values: Vec::new(), steps: Vec::new() };
    for bits in &bits {
        draft.add(bits, -1., Vec::new(), &[0.; BITS]);
    }
    let one = |pop, push| Reduction { pop, push };
    let placeholder = SymbolId::new(WIDTH);
    for copy in 0..copies {
        let reductions = match copy {
            0 => vec![one(0, Some(placeholder)); longest - length],
            _ => vec![one(1, None); length + 1],
        };
        draft.add(&[0.; BITS], 1., reductions, &[0.; BITS]);
        for bits in &bits {
            draft.add(&[0.; BITS], 0., Vec::new(), bits);
        }
    }
    draft.steps.push(Step { reductions: Vec::new(), output: vec![0.; BITS], shift: false });
    let name = if repeats.is_some() { "repeat-copy" } else { "copy" };
    let word = Word::Vectors { width: WIDTH, values: draft.values };
    Trace::new(&alphabet(), format!("{name} example {number}"), word, draft.steps).expect("the stack never runs out")
}

/// A trace under construction.
struct Draft {
    values: Vec<f64>,
    steps: Vec<Step>,
}

impl Draft {
    fn add(&mut self, bits: &[f64; BITS], end: f64, reductions: Vec<Reduction>, output: &[f64; BITS]) {
        self.values.extend_from_slice(bits);
        self.values.push(end);
        self.steps.push(Step { reductions, output: output.to_vec(), shift: true });
    }
}
