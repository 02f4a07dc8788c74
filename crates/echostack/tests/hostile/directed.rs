//! Machines whose rounding errors all have the same direction, as close as possible to the errors that a proof allows
//! for. There is one construction for each allowance. In each, one number makes the proof easier or harder; it is moved
//! to where the proof only just holds.

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

/// Half the distance from 1 to the next number, which is the maximum error of one rounding.
const HALF: f64 = f64::EPSILON / 2.;

/// An automaton for words of one or more a, which keeps all of them on the stack and pops them at the end.
const DEEP: &str = r#"{"terminals": ["a"], "nonterminals": ["S"], "accepting": ["S"], "rules": [
    {"suffix": ["a", "S"], "lookahead": {"end": true}, "pop": 2, "push": "S"},
    {"suffix": ["a"], "lookahead": {"end": true}, "pop": 1, "push": "S"}]}"#;

/// A machine that is wrong for some values of one number, and provable for others.
pub(crate) struct Directed {
    /// The allowance that the machine comes close to.
    pub name: &'static str,
    pub subject: Subject,
    pub model: Model,
    /// The tensor of the number, its index, and values with which the machine can (`easy`) and cannot (`hard`) be
    /// proved.
    pub tensor: String,
    pub at: usize,
    pub easy: f64,
    pub hard: f64,
}

impl Directed {
    /// Returns the model with the hardest value that is still proved, or `None` if no value is.
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

/// Returns all constructions. The seed determines their free parameters.
pub(crate) fn all(seed: u64) -> Vec<Directed> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    [terms, distances, linear, step, finish, clause].into_iter().map(|make| make(&mut random)).collect()
}

fn deep() -> Oracle {
    Oracle::strict(Automaton::from_json(DEEP).unwrap()).unwrap()
}

/// Constructs a machine with lists as readouts that is proved right. Its readouts ignore neurons that are added later.
fn base(name: &str, oracle: &Oracle, reservoir: ReservoirParams) -> Subject {
    let params = Params { reservoir, view: View::Symbol, mode: Mode::Strict, ..Params::default() };
    let (machine, _) = construct(oracle, &params.check().unwrap(), &()).unwrap();
    Subject::new(name.to_string(), oracle.clone(), &machine).unwrap()
}

fn random_base(name: &str, oracle: &Oracle) -> Subject {
    let small = Random { neurons: 16, radius: 0.2, density: 0.1, seed: 1, ..Random::default() };
    base(name, oracle, ReservoirParams::Random(small))
}

/// Returns the state after a sequence of channels.
fn state(machine: &Machine, channels: &[usize]) -> Vec<f64> {
    encode(&**machine.reservoir(), Simd::default(), channels.iter().map(|&channel| Drive::Channel(channel)))
}

fn tanh(x: f64) -> f64 {
    let mut value = [x];
    Simd::default().tanh(&mut value);
    value[0]
}

/// Adds neurons, each with one input weight for all symbols, and returns the index of the first.
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

/// Adds a linear value and returns its index.
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

/// A list of conditions, and the class if all of them are above 0. A condition is the index of a linear value and an
/// intercept that is added to it.
type Clause<'a> = (&'a [(u32, f64)], u32);

/// Replaces the shift readout, which always shifts, by a list in which class 0 shifts and class 1 does not.
fn set_list(model: &mut Model, clauses: &[Clause<'_>], otherwise: u32) {
    model.header["shift"] = json!([true, false]);
    let rows = clauses.iter().flat_map(|(conditions, class)| [conditions.len() as u32, *class]).collect();
    let conditions = || clauses.iter().flat_map(|(conditions, _)| conditions.iter());
    model.set_integers("shift.clauses", 2, rows);
    model.set_integers("shift.otherwise", 0, vec![otherwise]);
    model.set_integers("shift.conditions", 0, conditions().map(|condition| condition.0).collect());
    model.set_floats("shift.intercepts", 0, conditions().map(|condition| condition.1).collect());
}

/// Replaces the shift readout by a vote with its own kernel, given the `centers` of the stack and the terms, each with
/// the index of its center.
fn set_votes(model: &mut Model, gamma: f64, centers: &[Vec<f64>], terms: &[(u32, f64)], intercept: f64) {
    let neurons = model.neurons();
    let input = state(&model.machine().unwrap(), &[0]);
    model.header["shift"] = json!([true, false]);
    model.set_floats("centres.input", neurons, input);
    model.set_floats("centres.stack", neurons, centers.concat());
    let count = centers.len() as u32;
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

/// Constructs a sum of a large term, many terms that are less than half a unit in its last place, and the large term
/// negated. The machine sums in four parts and loses a quarter of the small terms; a sum from first to last loses all
/// of them.
fn terms(random: &mut ChaCha8Rng) -> Directed {
    let subject = random_base("terms", &oracle("aplus"));
    let mut model = subject.model.clone();
    let count = 4 * random.random_range(50..300) + 3;
    // The large term is not a power of two, because numbers just below a power of two are twice as dense.
    let power = 2_f64.powi(random.random_range(10..40));
    let (large, tiny) = (1.5 * power, -0.49 * f64::EPSILON * power);
    let here = state(&model.machine().unwrap(), &[1]);
    let terms: Vec<(u32, f64)> = [(0, large)].into_iter().chain(vec![(0, tiny); count]).chain([(0, -large)]).collect();
    // The kernel is so wide that the rounding errors of distances are negligible.
    let easy = 1e4 * count as f64 * f64::EPSILON * large;
    set_votes(&mut model, 1e-6, &[here], &terms, easy);
    Directed { name: "terms", subject, model, tensor: "shift.intercepts".into(), at: 0, easy, hard: 0. }
}

/// Returns |x|^2 + |y|^2 - 2 x y, as the program computes it.
fn distance(x: &[f64], y: &[f64]) -> f64 {
    let square = |v: &[f64]| v.iter().fold(0., |sum, &a| a.mul_add(a, sum));
    let product = x.iter().zip(y).fold(0., |sum: f64, (&a, &b)| a.mul_add(b, sum));
    (-2_f64).mul_add(product, square(x) + square(y)).max(0.)
}

/// A linear reservoir, and centers so close to one of its states that their distances from it are only rounding errors.
struct Rounded {
    subject: Subject,
    /// The state that the machine computes.
    computed: f64,
    /// A center that is farther from this state than from the sum that represents it in a proof, and a center that is
    /// nearer.
    centers: [f64; 2],
}

fn rounded(random: &mut ChaCha8Rng) -> Rounded {
    // One neuron for each symbol. Of many such reservoirs, the one with the largest effect of rounding is taken.
    let mut best = (0., [0.; 2], 0, [0.; 2]);
    for _ in 0..2000 {
        let (weight, input) = (random.random_range(0.15..0.25), random.random_range(0.5..2.0));
        let depth = random.random_range(3..5);
        let computed = (0..depth).fold(0., |state: f64, _| weight * state + input);
        // The sum of what remains of each symbol, the oldest first.
        let mut echoes = vec![input];
        while echoes.len() < depth {
            echoes.push(weight * echoes[echoes.len() - 1]);
        }
        let summed: f64 = echoes.iter().rev().fold(0., |sum, echo| sum + echo);
        let mut found = [(0., computed); 2];
        for _ in 0..500 {
            let center = computed * (1. + random.random_range(-1e-9..1e-9));
            let gain = (distance(&[computed], &[center]) - distance(&[summed], &[center])) / (computed * computed);
            found[0] = if gain > found[0].0 { (gain, center) } else { found[0] };
            found[1] = if -gain > found[1].0 { (-gain, center) } else { found[1] };
        }
        let gain = found[0].0 + found[1].0;
        if gain > best.0 {
            best = (gain, [weight, input], depth, found.map(|found| found.1));
        }
    }
    let (_, [weight, input], depth, centers) = best;
    let parts = LegendreParts { channels: 2, recurrent: vec![weight], input: vec![input] };
    let given: Arc<dyn Reservoir> = Arc::new(LegendreReservoir::new(parts).unwrap());
    let subject = base("distances", &deep(), ReservoirParams::Given(given));
    let computed = state(&subject.model.machine().unwrap(), &vec![0; depth])[0];
    Rounded { subject, computed, centers }
}

/// Constructs a positive term for a center that rounding makes farther than it is in a proof, and a negative term for a
/// center that rounding makes nearer.
fn distances(random: &mut ChaCha8Rng) -> Directed {
    let Rounded { subject, computed, centers } = rounded(random);
    let mut model = subject.model.clone();
    // With this gamma, the allowance for distances is as large as it may be.
    let gamma = 5e-3 / (256. * (model.neurons() + 8) as f64 * HALF * computed * computed);
    let easy = 0.1;
    set_votes(&mut model, gamma, &centers.map(|center| vec![center, 0.]), &[(0, 1.), (1, -1.)], easy);
    Directed { name: "distances", subject, model, tensor: "shift.intercepts".into(), at: 0, easy, hard: 0. }
}

/// Constructs a kernel so narrow that rounding decides whether a state is in it. No allowance that is a fraction of the
/// kernel's value is sufficient.
pub(crate) fn narrow(seed: u64) -> (Subject, Model) {
    let Rounded { subject, computed, centers: [_, nearer] } = rounded(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut model = subject.model.clone();
    let gamma = 20. / (HALF * computed * computed);
    let weight = -f64::exp(gamma * distance(&[computed], &[nearer]));
    set_votes(&mut model, gamma, &[vec![nearer, 0.]], &[(0, weight)], 0.5);
    (subject, model)
}

/// Constructs a linear value with a large weight and many weights that are slightly more than half a unit in its last
/// place. With fused multiplication and addition, each of them counts as a whole unit; a product that is rounded first
/// is exactly half a unit, and counts for nothing.
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

/// Constructs a neuron whose sum is a small number, a large one, and the large one negated. The last two are its input
/// weight and its bias. The small number is lost, unless these two are added to each other first.
fn step(random: &mut ChaCha8Rng) -> Directed {
    let subject = random_base("step", &deep());
    let mut model = subject.model.clone();
    let large = 2_f64.powi(47 - random.random_range(0..3));
    let small = 0.9 * HALF * large;
    // A neuron that is always 1; a neuron that is 1 after at least two symbols, and -1 otherwise; the sum.
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

/// Constructs a leaky neuron that falls, rises and falls again until it is almost 0, so that its value consists only of
/// the rounding errors on the way.
fn finish(random: &mut ChaCha8Rng) -> Directed {
    const WAY: [f64; 8] = [-1., 1., 1., 1., 1., 1., -1., -1.];
    let end = |leak: f64| WAY.iter().fold(0., |state, to| (1. - leak) * state + leak * to);
    let (mut low, mut high) = (0.2, 0.25);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        (low, high) = if end(low) * end(middle) > 0. { (middle, high) } else { (low, middle) };
    }
    // The distance of the state from its set, if a thousandth of the allowance for a step were allowed.
    let outside = |leak: f64| {
        let keep = 1. - leak;
        let (mut state, mut center, mut radius) = (0., 0., 0.);
        for to in WAY {
            state = keep * state + leak * to;
            let [low, high] = [-1., 1.].map(|side| keep * center + side * (keep * radius) + leak * to);
            (center, radius) = (f64::midpoint(low, high), (high - low) * 0.5 + 0.064 * f64::EPSILON);
        }
        (f64::abs(state - center) - radius, f64::signum(state - center))
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
    // A neuron that rises; one that falls four times and then rises, driven by the first; and one that goes the way,
    // driven by the second.
    let first = add_neurons(&mut model, &[50., -580., -40.], &[(1, 0, 1000.), (2, 1, -400.)]);
    let columns = [sign, -1., 1.].map(|weight| add_column(&mut model, [&[], &[(first + 2, weight)]]));
    let easy = -1.;
    // The list applies only where the value is near 0.
    set_list(&mut model, &[(&[(columns[0], easy), (columns[1], 0.03), (columns[2], 0.03)], 1)], 0);
    Directed { name: "finish", subject, model, tensor: "shift.intercepts".into(), at: 0, easy, hard: 1. }
}

/// Constructs a large value of the input to which the stack adds half a unit in its last place, and slightly more at
/// the center of a set than on the state that the machine computes.
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
