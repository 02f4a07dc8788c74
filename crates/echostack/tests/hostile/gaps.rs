//! Model files with finite numbers that an earlier checker wrongly called proved. They are made again here from
//! machines that are right.

use echostack::extract::construct;
use echostack::language::Walks;
use echostack::readout::Svm;
use echostack::recognize::{Mode, View};
use echostack::reservoir::{Cycle, Drive, Random, ReservoirParams, Signs, Simd, encode};
use echostack::{Params, Study};
use serde_json::json;

use super::model::Model;
use super::mutate::{add_bomb, add_run, own_numbers, shave};
use super::subjects::{Subject, constructed, oracle};

/// Makes a neuron whose sum is infinity minus infinity once the topmost `length` symbols of the stack are all a.
pub(crate) fn bomb(length: usize) -> (Subject, Model) {
    let oracle = oracle("anbn");
    let random = Random { neurons: 64, radius: 0.2, density: 0.02, ..Random::default() };
    let reservoir = ReservoirParams::Random(random);
    let params = Params { reservoir, view: View::Symbol, mode: Mode::Strict, ..Params::default() };
    let (machine, _) = construct(&oracle, &params.check().unwrap(), &()).unwrap();
    let subject = Subject::new("bomb".into(), oracle, &machine).unwrap();
    let mut model = subject.model.clone();
    let run = add_run(&mut model, 0, length).unwrap();
    add_bomb(&mut model, &run, 1.7e308);
    (subject, model)
}

/// The number of neurons of the machines that learned words of one or more a.
const NEURONS: usize = 32;

fn aplus() -> Subject {
    let oracle = oracle("aplus");
    let cycle = Cycle { neurons: NEURONS, cycle: 0.2, jump: 0.1, signs: Signs::Seed(0), ..Cycle::default() };
    let svm = Svm { cost: 1e4, gamma: 0.3, ..Svm::default() };
    let reservoir = ReservoirParams::Cycle(cycle);
    let params = Params { reservoir, view: View::Symbol, mode: Mode::Strict, svm, ..Params::default() };
    let walks = Walks::new("aplus", oracle.clone());
    let study = Study { words: 20, lengths: 1..=20, ..Study::default() };
    let (machine, _) = study.prove(&walks, &params.check().unwrap(), &(), &mut |_| {}).unwrap();
    Subject::new("aplus".into(), oracle, &machine).unwrap()
}

/// Makes a pair of classes that uses the same support vector many times, with a large weight, `count` tiny weights, and
/// the large weight negated. The tiny weights sum to `delta`, but a sum from first to last loses all of them.
pub(crate) fn repeated(count: usize, delta: f64, place: u32) -> (Subject, Model) {
    let subject = aplus();
    let mut model = subject.model.clone();
    let large = delta.abs() / (0.75 * count as f64 * 0.24 * f64::EPSILON);
    let tiny = 0.24 * f64::EPSILON * large * delta.signum();
    // The two large weights must be in the same one of the four parts in which the program sums.
    let mut weights = model.floats("output.weights").to_vec();
    let mut support = model.integers("output.support").to_vec();
    while !weights.len().is_multiple_of(4) {
        weights.push(0.);
        support.push(place);
    }
    weights.push(large);
    weights.extend(vec![tiny; count]);
    while !weights.len().is_multiple_of(4) {
        weights.push(0.);
    }
    weights.push(-large);
    support.resize(weights.len(), place);
    model.set_integers("output.counts", 0, vec![weights.len() as u32]);
    model.set_floats("output.weights", 0, weights);
    model.set_integers("output.support", 0, support);
    (subject, model)
}

/// Returns the number of support vectors of the output readout of that machine.
pub(crate) fn places() -> u32 {
    let model = aplus().model;
    let kernel = model.integers("output.kernel")[0];
    model.integers(&format!("kernel{kernel}.support")).len() as u32 / 2
}

/// Replaces the shift readout, which always shifts, by a vote with one term of weight -1e308 for a center of the stack.
fn one_term(model: &mut Model, gamma: f64, center: &[f64]) {
    let kernel = model.kernels();
    let machine = model.machine().unwrap();
    let before = encode(&**machine.reservoir(), Simd::default(), [Drive::Channel(0)]);
    for (side, center) in [("input", &before[..]), ("stack", center)] {
        let centers = [model.floats(&format!("centres.{side}")), center].concat();
        model.set_integers(&format!("kernel{kernel}.{side}"), 0, vec![(centers.len() / NEURONS - 1) as u32]);
        model.set_floats(&format!("centres.{side}"), NEURONS, centers);
    }
    model.set_floats(&format!("kernel{kernel}.gamma"), 0, vec![gamma]);
    model.set_integers(&format!("kernel{kernel}.support"), 2, vec![0, 0]);
    model.set_integers("shift.kernel", 0, vec![kernel]);
    model.set_integers("shift.counts", 0, vec![1]);
    model.set_integers("shift.support", 0, vec![0]);
    model.set_floats("shift.weights", 0, vec![-1e308]);
    model.set_floats("shift.intercepts", 0, vec![1.]);
    model.header["shift"] = json!([true, false]);
}

/// Returns the state of the stack S, and the first two neurons that are above 0 in this state.
fn state_of_s(model: &Model) -> (Vec<f64>, [usize; 2]) {
    let machine = model.machine().unwrap();
    let state = encode(&**machine.reservoir(), Simd::default(), [Drive::Channel(1)]);
    let mut above = (0..NEURONS).filter(|&neuron| state[neuron] > 0.);
    let neurons = [above.next().unwrap(), above.next().unwrap()];
    (state, neurons)
}

/// Makes an exponent that is slightly less than 708 on the stack S, and more than 708 at the center of the set that
/// represents this stack.
pub(crate) fn flush_of_a_set() -> (Subject, Model) {
    let subject = aplus();
    let mut model = subject.model.clone();
    let (state, [neuron, _]) = state_of_s(&model);
    let mut center = vec![0.; NEURONS];
    center[neuron] = 1e5;
    let distance: f64 = state.iter().zip(&center).map(|(x, y)| (x - y) * (x - y)).sum();
    one_term(&mut model, 707.9995 / distance, &center);
    (subject, model)
}

/// Makes an exponent that is 708 on the stack S, and one rounding more at the center of the set that represents this
/// stack.
pub(crate) fn flush_by_one_rounding() -> (Subject, Model) {
    let subject = aplus();
    let mut model = subject.model.clone();
    let (_, [first, second]) = state_of_s(&model);
    let tanh = |x: f64| {
        let mut value = [x];
        Simd::default().tanh(&mut value);
        value[0]
    };
    // The center of the set: the sum is widened by its maximum rounding error, for the one or two weights that lead to
    // a neuron.
    let jumps = |neuron: usize| i32::from(neuron.is_multiple_of(16));
    let middle = |neuron: usize, input: f64, largest: f64| {
        let sum = 0.2 + 0.1 * f64::from(jumps(neuron)) + largest;
        let slack = 8. * f64::from(9 + jumps(neuron)) * f64::EPSILON * sum;
        f64::midpoint(tanh(input - slack), tanh(input + slack))
    };
    let distance = |x: &[f64], y: &[f64]| {
        let square = |v: &[f64]| v.iter().fold(0., |sum, &a| a.mul_add(a, sum));
        let product = x.iter().zip(y).fold(0., |sum: f64, (&a, &b)| a.mul_add(b, sum));
        (-2_f64).mul_add(product, square(x) + square(y))
    };
    let inputs = model.floats("reservoir.input").to_vec();
    let (mut state, _) = state_of_s(&model);
    let largest = |neuron: usize, input: f64| input.abs().max(inputs[neuron].abs());
    let mut middles: Vec<f64> = (0..NEURONS)
        .map(|neuron| middle(neuron, inputs[NEURONS + neuron], largest(neuron, inputs[NEURONS + neuron])))
        .collect();
    let mut center = vec![0.; NEURONS];
    center[first] = 1e5;
    let mut input = inputs[NEURONS + first];
    loop {
        input = input.next_up();
        (state[first], middles[first]) = (tanh(input), middle(first, input, largest(first, input)));
        if state[first] <= middles[first] {
            continue;
        }
        // Search for a place where the distance of the state has just been rounded to the next number, but that of the
        // center of the set has not.
        center[second] = 0.;
        let beginning = distance(&state, &center);
        let (mut low, mut high) = (0., 1e-5);
        for _ in 0..40 {
            let half = f64::midpoint(low, high);
            center[second] = half;
            if distance(&state, &center) < beginning { high = half } else { low = half }
        }
        let near = (-4000..4000).map(|step| low + f64::from(step) * 2e-15).find(|&place| {
            center[second] = place;
            distance(&state, &center) < distance(&middles, &center)
        });
        if let Some(place) = near {
            center[second] = place;
            break;
        }
    }
    model.floats_mut("reservoir.input")[NEURONS + first] = input;
    let [own, other] = [distance(&state, &center), distance(&middles, &center)];
    let mut gamma = 708. / own * (1. - 20. * f64::EPSILON);
    while gamma * own > 708. || gamma * other <= 708. {
        gamma = gamma.next_up();
        assert!(gamma * own <= 709., "no gamma distinguishes the two");
    }
    one_term(&mut model, gamma, &center);
    (subject, model)
}

/// Makes readouts whose weights are so small that their squares are 0, so that a set of states looks like a point when
/// it is measured by the length of the weights or of a gradient. Each intercept is moved as far as the proof holds.
pub(crate) fn tiny(factor: f64) -> Vec<(Subject, Model)> {
    let subjects = || [constructed("anbn", &oracle("anbn"), View::Symbol).unwrap(), aplus()];
    let mut all = Vec::new();
    for number in 0..subjects().len() {
        let subject = || subjects().into_iter().nth(number).unwrap();
        let own = subject();
        for head in own.model.heads() {
            let name = format!("{head}.intercepts");
            for (at, direction) in (0..own.model.floats(&name).len()).flat_map(|at| [(at, 1.), (at, -1.)]) {
                let mut model = own.model.clone();
                for (tensor, places) in own_numbers(&model, head) {
                    let numbers = model.floats_mut(&tensor);
                    places.iter().for_each(|&at| numbers[at] *= factor);
                }
                shave(&own, &mut model, &name, at, direction);
                all.push((subject(), model));
            }
        }
    }
    all
}
