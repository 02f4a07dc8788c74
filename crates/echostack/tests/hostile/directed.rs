//! Machines whose rounding errors all go one way, as near as we can come to what a proof allows for: one construction for each
//! allowance. Each has one number that makes the proof easier or harder, which is moved to where it only just holds.

use std::sync::Arc;

use echostack::extract::construct;
use echostack::recognize::{Mode, View};
use echostack::reservoir::{Drive, Random, Reservoir, ReservoirParams, Simd, encode};
use echostack::reservoir::{LegendreParts, LegendreReservoir};
use echostack::{Automaton, Machine, Oracle, Params};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::model::Model;
use super::mutate::{entries, set_entries, widen};
use super::subjects::{Subject, oracle};

/// Half the distance from 1 to the next number: the most that one rounding loses.
const HALF: f64 = f64::EPSILON / 2.;

/// Words of one or more a that are all kept on the stack and taken off at the end.
const DEEP: &str = r#"{"terminals": ["a"], "nonterminals": ["S"], "accepting": ["S"], "rules": [
    {"suffix": ["a", "S"], "lookahead": {"end": true}, "pop": 2, "push": "S"},
    {"suffix": ["a"], "lookahead": {"end": true}, "pop": 1, "push": "S"}]}"#;

/// A machine that errs for some values of one number, and is provable for others.
pub(crate) struct Directed {
    /// The allowance that it comes near to.
    pub name: &'static str,
    pub subject: Subject,
    pub model: Model,
    /// The number, and values with which it can and cannot be proved.
    pub tensor: String,
    pub at: usize,
    pub easy: f64,
    pub hard: f64,
}

impl Directed {
    /// The model with the hardest value that is still proved; `None` if none is.
    pub(crate) fn shaved(&self) -> Option<Model> {
        let with = |value: f64| {
            let mut model = self.model.clone();
            model.floats_mut(&self.tensor)[self.at] = value;
            model
        };
        let proved = |value: f64| self.subject.prove(&with(value).machine().unwrap()).is_some();
        let (mut good, mut bad) = (self.easy, self.hard);
        if !proved(good) {
            return None;
        }
        loop {
            let middle = f64::midpoint(good, bad);
            if middle == good || middle == bad {
                return Some(with(good));
            }
            if proved(middle) { good = middle } else { bad = middle }
        }
    }
}

/// All constructions; the seed draws what is free in them.
pub(crate) fn all(seed: u64) -> Vec<Directed> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    [terms, distances, linear, step, finish, clause].into_iter().map(|make| make(&mut random)).collect()
}

fn deep() -> Oracle {
    Oracle::strict(Automaton::from_json(DEEP).unwrap()).unwrap()
}

/// A machine of lists that is proved right: its readouts heed no neuron that is added.
fn base(name: &str, oracle: &Oracle, reservoir: ReservoirParams) -> Subject {
    let params = Params { reservoir, view: View::Symbol, mode: Mode::Strict, ..Params::default() };
    let (machine, _) = construct(oracle, &params.check().unwrap(), &()).unwrap();
    Subject::new(name.to_string(), oracle.clone(), &machine).unwrap()
}

fn random_base(name: &str, oracle: &Oracle) -> Subject {
    let small = Random { neurons: 16, radius: 0.2, density: 0.1, seed: 1, ..Random::default() };
    base(name, oracle, ReservoirParams::Random(small))
}

/// The state after a sequence of channels.
fn state(machine: &Machine, channels: &[usize]) -> Vec<f64> {
    encode(&**machine.reservoir(), Simd::default(), channels.iter().map(|&channel| Drive::Channel(channel)))
}

fn tanh(x: f64) -> f64 {
    let mut value = [x];
    Simd::default().tanh(&mut value);
    value[0]
}

/// Adds neurons that each have one input weight for all symbols; returns the number of the first.
fn add_neurons(model: &mut Model, inputs: &[f64], weights: &[(usize, usize, f64)]) -> usize {
    let (old, channels) = (model.neurons(), model.symbols());
    let mut input = model.floats("reservoir.input").to_vec();
    input.extend(inputs.iter().flat_map(|&weight| vec![weight; channels]));
    let mut all = entries(model);
    all.extend(weights.iter().map(|&(row, column, weight)| (old + row, old + column, weight)));
    set_entries(model, old + inputs.len(), all);
    model.set_floats("reservoir.input", channels, input);
    widen(model, old, &vec![0.; inputs.len()]);
    old
}

/// Adds a linear value; returns its number.
fn add_column(model: &mut Model, sides: [&[(usize, f64)]; 2]) -> u32 {
    let neurons = model.neurons();
    let columns = model.tensors["linear.stack"].shape[1];
    for (name, weights) in ["linear.input", "linear.stack"].into_iter().zip(sides) {
        let mut map = Vec::new();
        for (neuron, row) in model.floats(name).chunks_exact(columns).enumerate() {
            let own = weights.iter().find(|(at, _)| *at == neuron);
            map.extend(row.iter().copied().chain([own.map_or(0., |own| own.1)]));
        }
        assert_eq!(map.len(), neurons * (columns + 1));
        model.set_floats(name, columns + 1, map);
    }
    columns as u32
}

/// Conditions, each a linear value and what is added to it, and the class if all are above 0.
type Clause<'a> = (&'a [(u32, f64)], u32);

/// Replaces the shift readout, which always shifts, by a list; class 0 shifts, class 1 does not.
fn set_list(model: &mut Model, clauses: &[Clause<'_>], otherwise: u32) {
    model.header["shift"] = json!([true, false]);
    let rows = clauses.iter().flat_map(|(conditions, class)| [conditions.len() as u32, *class]).collect();
    let conditions = || clauses.iter().flat_map(|(conditions, _)| conditions.iter());
    model.set_integers("shift.clauses", 2, rows);
    model.set_integers("shift.otherwise", 0, vec![otherwise]);
    model.set_integers("shift.conditions", 0, conditions().map(|condition| condition.0).collect());
    model.set_floats("shift.intercepts", 0, conditions().map(|condition| condition.1).collect());
}

/// Replaces the shift readout by a vote with a kernel of its own: `centres` of the stack, and terms by their numbers.
fn set_votes(model: &mut Model, gamma: f64, centres: &[Vec<f64>], terms: &[(u32, f64)], intercept: f64) {
    let neurons = model.neurons();
    let input = state(&model.machine().unwrap(), &[0]);
    model.header["shift"] = json!([true, false]);
    model.set_floats("centres.input", neurons, input);
    model.set_floats("centres.stack", neurons, centres.concat());
    let count = centres.len() as u32;
    model.set_floats("kernel0.gamma", 0, vec![gamma]);
    model.set_integers("kernel0.input", 0, vec![0]);
    model.set_integers("kernel0.stack", 0, (0..count).collect());
    model.set_integers("kernel0.support", 2, (0..count).flat_map(|at| [0, at]).collect());
    model.set_integers("shift.kernel", 0, vec![0]);
    model.set_integers("shift.counts", 0, vec![terms.len() as u32]);
    model.set_integers("shift.support", 0, terms.iter().map(|term| term.0).collect());
    model.set_floats("shift.weights", 0, terms.iter().map(|term| term.1).collect());
    model.set_floats("shift.intercepts", 0, vec![intercept]);
}

/// A sum of a large term, many that are less than half of its last place, and the large one again, negated. The machine sums in
/// four parts and loses a quarter of them; whoever sums from the first to the last loses all.
fn terms(random: &mut ChaCha8Rng) -> Directed {
    let subject = random_base("terms", &oracle("aplus"));
    let mut model = subject.model.clone();
    let count = 4 * random.random_range(50..300) + 3;
    // No power of two: below one, numbers are twice as dense.
    let power = 2_f64.powi(random.random_range(10..40));
    let (large, tiny) = (1.5 * power, -0.49 * f64::EPSILON * power);
    let here = state(&model.machine().unwrap(), &[1]);
    let terms: Vec<(u32, f64)> = [(0, large)].into_iter().chain(vec![(0, tiny); count]).chain([(0, -large)]).collect();
    // So wide that what distances lose is nothing beside it.
    let easy = 1e4 * count as f64 * f64::EPSILON * large;
    set_votes(&mut model, 1e-6, &[here], &terms, easy);
    Directed { name: "terms", subject, model, tensor: "shift.intercepts".into(), at: 0, easy, hard: 0. }
}

/// |x|^2 + |y|^2 - 2 x y, as the program computes it.
fn distance(x: &[f64], y: &[f64]) -> f64 {
    let square = |v: &[f64]| v.iter().fold(0., |sum, &a| a.mul_add(a, sum));
    let product = x.iter().zip(y).fold(0., |sum: f64, (&a, &b)| a.mul_add(b, sum));
    (-2_f64).mul_add(product, square(x) + square(y)).max(0.)
}

/// A linear reservoir, and centres so close to one of its states that the distances from them are nothing but rounding.
struct Rounded {
    subject: Subject,
    /// The state that the machine computes.
    computed: f64,
    /// One that is farther from it than from the sum that stands for it in a proof, and one that is nearer to it.
    centres: [f64; 2],
}

fn rounded(random: &mut ChaCha8Rng) -> Rounded {
    // One neuron for each symbol. Of many such reservoirs the one is taken with which rounding does most.
    let mut best = (0., [0.; 2], 0, [0.; 2]);
    for _ in 0..2000 {
        let (weight, input) = (random.random_range(0.15..0.25), random.random_range(0.5..2.0));
        let depth = random.random_range(3..5);
        let computed = (0..depth).fold(0., |state: f64, _| weight * state + input);
        // The sum of what is left of each symbol, the oldest first.
        let mut echoes = vec![input];
        while echoes.len() < depth {
            echoes.push(weight * echoes[echoes.len() - 1]);
        }
        let summed: f64 = echoes.iter().rev().fold(0., |sum, echo| sum + echo);
        let mut found = [(0., computed); 2];
        for _ in 0..500 {
            let centre = computed * (1. + random.random_range(-1e-9..1e-9));
            let gain = (distance(&[computed], &[centre]) - distance(&[summed], &[centre])) / (computed * computed);
            found[0] = if gain > found[0].0 { (gain, centre) } else { found[0] };
            found[1] = if -gain > found[1].0 { (-gain, centre) } else { found[1] };
        }
        let gain = found[0].0 + found[1].0;
        if gain > best.0 {
            best = (gain, [weight, input], depth, found.map(|found| found.1));
        }
    }
    let (_, [weight, input], depth, centres) = best;
    let parts = LegendreParts { channels: 2, recurrent: vec![weight], input: vec![input] };
    let given: Arc<dyn Reservoir> = Arc::new(LegendreReservoir::new(parts).unwrap());
    let subject = base("distances", &deep(), ReservoirParams::Given(given));
    let computed = state(&subject.model.machine().unwrap(), &vec![0; depth])[0];
    Rounded { subject, computed, centres }
}

/// A term for a centre that rounding makes farther than it is in a proof, and one against a centre that it makes nearer.
fn distances(random: &mut ChaCha8Rng) -> Directed {
    let Rounded { subject, computed, centres } = rounded(random);
    let mut model = subject.model.clone();
    // As much as is allowed to be lost at all.
    let gamma = 5e-3 / (256. * (model.neurons() + 8) as f64 * HALF * computed * computed);
    let easy = 0.1;
    set_votes(&mut model, gamma, &centres.map(|centre| vec![centre, 0.]), &[(0, 1.), (1, -1.)], easy);
    Directed { name: "distances", subject, model, tensor: "shift.intercepts".into(), at: 0, easy, hard: 0. }
}

/// A kernel so narrow that rounding decides whether a state is in it: no allowance that is a part of its value is enough.
pub(crate) fn narrow(seed: u64) -> (Subject, Model) {
    let Rounded { subject, computed, centres: [_, nearer] } = rounded(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut model = subject.model.clone();
    let gamma = 20. / (HALF * computed * computed);
    let weight = -f64::exp(gamma * distance(&[computed], &[nearer]));
    set_votes(&mut model, gamma, &[vec![nearer, 0.]], &[(0, weight)], 0.5);
    (subject, model)
}

/// A linear value of a large weight and many that are half of its last place and a little more. With a fused multiplication each
/// one counts as a whole; a product that is rounded first is exactly half, and counts for nothing.
fn linear(random: &mut ChaCha8Rng) -> Directed {
    let subject = random_base("linear", &oracle("aplus"));
    let mut model = subject.model.clone();
    let large = 2_f64.powi(random.random_range(0..40));
    let half = HALF * large;
    let (mut inputs, mut weights) = (vec![50.], vec![large]);
    while inputs.len() < 600 {
        let input: f64 = random.random_range(0.5..2.0);
        let slack = 64. * f64::EPSILON * input;
        let (x, middle) = (tanh(input), f64::midpoint(tanh(input - slack), tanh(input + slack)));
        let weight = half / x;
        let found = [weight.next_down(), weight, weight.next_up()]
            .into_iter()
            .find(|&weight| weight.mul_add(x, -half) > 0. && weight * middle <= half);
        if let Some(weight) = found {
            inputs.push(input);
            weights.push(weight);
        }
    }
    let first = add_neurons(&mut model, &inputs, &[]);
    let map: Vec<(usize, f64)> = weights.iter().enumerate().map(|(at, &weight)| (first + at, weight)).collect();
    let column = add_column(&mut model, [&[], &map]);
    let easy = -large * (1. + 100_000. * HALF);
    set_list(&mut model, &[(&[(column, easy)], 1)], 0);
    Directed { name: "linear", subject, model, tensor: "shift.intercepts".into(), at: 0, easy, hard: -large * 0.5 }
}

/// A neuron whose sum is a small number, a large one, and the large one negated, the last two being its input weight and its
/// bias: the small number is lost, unless they are added to each other first.
fn step(random: &mut ChaCha8Rng) -> Directed {
    let subject = random_base("step", &deep());
    let mut model = subject.model.clone();
    let large = 2_f64.powi(47 - random.random_range(0..3));
    let small = 0.9 * HALF * large;
    // One that is always 1; one that is 1 if there were two symbols at least, else -1; the sum.
    let first = add_neurons(&mut model, &[50., -50., large], &[(1, 0, 100.), (2, 0, small)]);
    let mut bias = vec![0.; model.neurons()];
    bias[first + 2] = -large;
    model.set_floats("reservoir.bias", 0, bias);
    let sum = add_column(&mut model, [&[], &[(first + 2, -1.)]]);
    let two = add_column(&mut model, [&[], &[(first + 1, 1.)]]);
    let easy = -2.;
    set_list(&mut model, &[(&[(sum, easy), (two, -0.5)], 1)], 0);
    Directed { name: "step", subject, model, tensor: "shift.intercepts".into(), at: 0, easy, hard: 1. }
}

/// A leaky neuron that falls, rises and falls again until it is all but 0: what it has lost by rounding on the way is then all
/// there is.
fn finish(random: &mut ChaCha8Rng) -> Directed {
    const WAY: [f64; 8] = [-1., 1., 1., 1., 1., 1., -1., -1.];
    let end = |leak: f64| WAY.iter().fold(0., |state, to| (1. - leak) * state + leak * to);
    let (mut low, mut high) = (0.2, 0.25);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        (low, high) = if end(low) * end(middle) > 0. { (middle, high) } else { (low, middle) };
    }
    // How far the state is outside of its set, if a thousandth of what is allowed for a step were allowed.
    let outside = |leak: f64| {
        let keep = 1. - leak;
        let (mut state, mut centre, mut radius) = (0., 0., 0.);
        for to in WAY {
            state = keep * state + leak * to;
            let [low, high] = [-1., 1.].map(|side| keep * centre + side * (keep * radius) + leak * to);
            (centre, radius) = (f64::midpoint(low, high), (high - low) * 0.5 + 0.064 * f64::EPSILON);
        }
        (f64::abs(state - centre) - radius, f64::signum(state - centre))
    };
    let mut best = ((f64::NEG_INFINITY, 0.), 0.);
    let mut leak = low;
    for _ in 0..20_000 {
        leak += f64::from(random.random_range(-40_i32..=40)) * HALF;
        let found = outside(leak);
        best = if found.0 > best.0.0 { (found, leak) } else { best };
    }
    let ((_, sign), leak) = best;
    let small = Random { neurons: 16, radius: 0.2, density: 0.1, leak, seed: 1, ..Random::default() };
    let subject = base("finish", &deep(), ReservoirParams::Random(small));
    let mut model = subject.model.clone();
    // One that rises; one that falls four times and then rises, by the first; and one that goes the way, by the second.
    let first = add_neurons(&mut model, &[50., -580., -40.], &[(1, 0, 1000.), (2, 1, -400.)]);
    let columns = [sign, -1., 1.].map(|weight| add_column(&mut model, [&[], &[(first + 2, weight)]]));
    let easy = -1.;
    // Only where it is near 0.
    set_list(&mut model, &[(&[(columns[0], easy), (columns[1], 0.03), (columns[2], 0.03)], 1)], 0);
    Directed { name: "finish", subject, model, tensor: "shift.intercepts".into(), at: 0, easy, hard: 1. }
}

/// A large value of the input to which half of its last place is added by the stack, and a little more in the middle of a set
/// than on the state that the machine computes.
fn clause(random: &mut ChaCha8Rng) -> Directed {
    let subject = random_base("clause", &oracle("aplus"));
    let mut model = subject.model.clone();
    let large = 2_f64.powi(random.random_range(0..40));
    let half = HALF * large;
    let (input, weight) = loop {
        let input: f64 = random.random_range(0.5..6.0);
        let slack = 64. * f64::EPSILON * input;
        let (x, middle) = (tanh(input), f64::midpoint(tanh(input - slack), tanh(input + slack)));
        let mut weight = (half / x).next_up();
        while weight * x > half {
            weight = weight.next_down();
        }
        if weight * middle > half {
            break (input, weight);
        }
    };
    let first = add_neurons(&mut model, &[50., input], &[]);
    let sum = add_column(&mut model, [&[(first, large)], &[(first + 1, weight)]]);
    let empty = add_column(&mut model, [&[], &[(first, -1.)]]);
    let easy = -large * (1. - 1000. * HALF);
    set_list(&mut model, &[(&[(sum, easy)], 0), (&[(empty, 0.5)], 0)], 1);
    Directed { name: "clause", subject, model, tensor: "shift.intercepts".into(), at: 0, easy, hard: -2. * large }
}
