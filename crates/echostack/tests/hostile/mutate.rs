//! Changes to model files that the format allows, most of them hostile, some harmless.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::model::{Model, Numbers};
use super::subjects::Subject;

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A few numbers are changed slightly; such a machine is mostly still right.
    Nudge,
    /// A few numbers are changed by large amounts.
    Distort,
    /// A few numbers become huge, tiny, subnormal or a signed zero.
    Extreme,
    /// One of the reservoir's numbers in the header is changed: leak, cycle or jump.
    Header,
    /// A whole readout is scaled, so that squares of its weights overflow or underflow; it may be distorted first.
    Scale,
    /// The reservoir and the readouts are scaled against each other, which gives the same machine in other units.
    Units,
    /// Terms that cancel are added, with many tiny ones between them.
    Repeat,
    /// Pairs of huge terms that cancel are added.
    Cancel,
    /// A support vector far away is added, with a weight that compensates for the distance.
    Far,
    /// A support vector with a huge weight is added, where the exponential becomes 0.
    Flush,
    /// Neurons that detect a run of one symbol are added, and a sum that overflows after the run.
    Bomb,
    /// Neurons that detect a run of one symbol are added, and a readout is changed to be wrong after the run.
    Run,
    /// The reservoir is changed to forget slowly.
    Slow,
    /// A linear reservoir is changed so that its powers grow before they decay.
    Growth,
    /// An intercept is moved until the proof only just holds.
    ShaveIntercept,
    /// Any number is moved until the proof only just holds.
    ShaveNumber,
    /// A class is listed twice.
    Labels,
    /// Support vectors are listed several times, and terms are distributed over the copies.
    Members,
    /// Two other changes are made, one after the other.
    Two,
}

impl Kind {
    pub(crate) const ALL: [Self; 19] = [
        Self::Nudge,
        Self::Distort,
        Self::Extreme,
        Self::Header,
        Self::Scale,
        Self::Units,
        Self::Repeat,
        Self::Cancel,
        Self::Far,
        Self::Flush,
        Self::Bomb,
        Self::Run,
        Self::Slow,
        Self::Growth,
        Self::ShaveIntercept,
        Self::ShaveNumber,
        Self::Labels,
        Self::Members,
        Self::Two,
    ];
}

/// Numbers at the limits of the range of floats.
const EXTREMES: [f64; 24] = [
    1e300, -1e300, 1.7e308, -1.7e308, 1e150, -1e150, 1e170, 1e60, -1e60, 1e16, -1e16, 1e8, 1e-8, 1e-16, 1e-100, 1e-150,
    -1e-170, 1e-170, 1e-300, 1e-310, 5e-324, -5e-324, 0., -0.,
];

/// Factors for whole readouts.
const FACTORS: [f64; 13] =
    [1e-300, 1e-200, 1e-170, 1e-165, 1e-160, 1e-140, 1e-100, 1e-20, 1e8, 1e20, 1e100, 1e200, 1e300];

fn pick<'a, T>(all: &'a [T], random: &mut ChaCha8Rng) -> &'a T {
    &all[random.random_range(0..all.len())]
}

/// Draws a number from `low` to `high`, with all orders of magnitude equally likely.
fn size(low: f64, high: f64, random: &mut ChaCha8Rng) -> f64 {
    10_f64.powf(random.random_range(low.log10()..high.log10()))
}

fn sign(random: &mut ChaCha8Rng) -> f64 {
    if random.random_bool(0.5) { 1. } else { -1. }
}

/// Makes a mutant of a subject; `None` if the change does not apply to it.
pub(crate) fn mutate(kind: Kind, subject: &Subject, random: &mut ChaCha8Rng) -> Option<Model> {
    let mut model = subject.model.clone();
    change(kind, subject, &mut model, random)?;
    // A machine that is only just proved reveals an allowance that is too small.
    let shaved = matches!(kind, Kind::Nudge | Kind::ShaveIntercept | Kind::ShaveNumber);
    if !shaved && random.random_bool(0.3) && subject.holds_for(&model) {
        change(Kind::ShaveIntercept, subject, &mut model, random);
    }
    Some(model)
}

fn change(kind: Kind, subject: &Subject, model: &mut Model, random: &mut ChaCha8Rng) -> Option<()> {
    match kind {
        Kind::Nudge => {
            let scale = size(1e-16, 1e-2, random);
            for _ in 0..random.random_range(1..=20) {
                let number = any_number(model, random);
                *number += scale * random.random_range(-1.0..1.0) * number.abs().max(1e-3);
            }
        }
        Kind::Distort => {
            for _ in 0..random.random_range(1..=4) {
                let number = any_number(model, random);
                *number = *number * random.random_range(-3.0..3.0) + random.random_range(-1.0..1.0);
            }
        }
        Kind::Extreme => {
            for _ in 0..random.random_range(1..=3) {
                *any_number(model, random) = *pick(&EXTREMES, random);
            }
        }
        Kind::Header => {
            let field = match model.reservoir_kind() {
                "cycle" => *pick(&["leak", "cycle", "jump"], random),
                "matrix" => "leak",
                _ => return None,
            };
            let leaks = [1e-300, 5e-324, f64::EPSILON / 2., 1e-6, 1e-3, 0.1, 0.5, 0.999, 1. - f64::EPSILON];
            let old = model.header["reservoir"][field].as_f64()?;
            let new = match field {
                "leak" if random.random_bool(0.5) => *pick(&leaks, random),
                "leak" => (old * (1. - size(1e-16, 1e-1, random))).clamp(5e-324, 1.),
                _ if random.random_bool(0.3) => *pick(&EXTREMES, random),
                _ => old * (1. + sign(random) * size(1e-12, 3., random)),
            };
            model.header["reservoir"][field] = json!(new);
        }
        Kind::Scale => {
            let head = *pick(&model.heads(), random);
            if random.random_bool(0.7) {
                let strength = size(1e-3, 1., random);
                for (name, places) in own_numbers(model, head) {
                    let numbers = model.floats_mut(&name);
                    places.iter().for_each(|&at| numbers[at] *= 1. + strength * random.random_range(-1.0..1.0));
                }
            }
            let factor = *pick(&FACTORS, random);
            for (name, places) in own_numbers(model, head) {
                let numbers = model.floats_mut(&name);
                places.iter().for_each(|&at| numbers[at] *= factor);
            }
        }
        Kind::Units => {
            // The states of a linear network and the centers are scaled by `scale`, the kernels by its inverse square,
            // and the linear maps by `readout`.
            if model.reservoir_kind() != "legendre" {
                return None;
            }
            let (scale, readout) = (*pick(&FACTORS, random), *pick(&FACTORS, random));
            if random.random_bool(0.5) {
                change(Kind::Distort, subject, model, random)?;
            }
            for name in ["reservoir.input", "centres.input", "centres.stack"] {
                model.floats_mut(name).iter_mut().for_each(|x| *x *= scale);
            }
            let names = model.float_names();
            for name in names.iter().filter(|name| name.starts_with("kernel")) {
                model.floats_mut(name).iter_mut().for_each(|x| *x = *x / scale / scale);
            }
            for name in ["linear.input", "linear.stack"] {
                model.floats_mut(name).iter_mut().for_each(|x| *x *= readout);
            }
            for head in model.heads() {
                if model.is_list(head) {
                    model.floats_mut(&format!("{head}.intercepts")).iter_mut().for_each(|x| *x *= scale * readout);
                }
            }
        }
        Kind::Repeat => {
            let count = if random.random_bool(0.3) { size(3e4, 2e5, random) } else { size(100., 3e3, random) } as usize;
            let delta = sign(random) * size(0.01, 10., random);
            let large = delta.abs() / (0.75 * count as f64 * 0.24 * f64::EPSILON);
            let tiny = 0.24 * f64::EPSILON * large * delta.signum();
            let terms = [vec![large], vec![tiny; count], vec![-large]].concat();
            add_terms(model, &terms, false, random)?;
        }
        Kind::Cancel => {
            let huge = *pick(&[1e308, 1e300, 1e200, 1e17, 1e15, 1e10, 1e4], random);
            let terms: Vec<f64> = match random.random_range(0..4) {
                0 => vec![huge, -huge],
                1 => vec![huge, huge, -huge, -huge],
                2 => vec![huge, 1., -huge],
                _ => (0..random.random_range(2..12)).map(|_| huge * sign(random)).collect(),
            };
            let spread = random.random_bool(0.5);
            add_terms(model, &terms, spread, random)?;
        }
        Kind::Far => {
            let exponent = random.random_range(1.0..700.0);
            let weight = sign(random) * f64::exp(exponent) * size(1e-3, 10., random);
            add_support(model, size(10., 1e9, random), exponent, weight, random)?;
        }
        Kind::Flush => {
            // The exponent is close to 708 on some stack; the distance from a far center hardly depends on the stack.
            let exponent = 708. * (1. + sign(random) * size(1e-16, 1e-2, random));
            let weight = -size(1e290, 1.7e308, random);
            add_support(model, size(1e2, 1e7, random), exponent, weight, random)?;
        }
        Kind::Bomb => {
            // Each additional neuron makes all distances larger, so that machines with kernels tolerate only a few.
            let length = random.random_range(2..if model.has("kernel0.gamma") { 6 } else { 40 });
            let symbol = random.random_range(0..model.symbols());
            let huge = *pick(&[1.7e308, 1.7e308, 1e308, 1e300, 1e20], random);
            let run = add_run(model, symbol, length)?;
            add_bomb(model, &run, huge);
        }
        Kind::Run => {
            let length = random.random_range(1..if model.has("kernel0.gamma") { 6 } else { 60 });
            let symbol = random.random_range(0..model.symbols());
            let run = add_run(model, symbol, length)?;
            let last = run.last;
            if model.has("linear.stack") && !model.has("kernel0.gamma") {
                let columns = model.tensors["linear.stack"].shape[1];
                let column = random.random_range(0..columns);
                model.floats_mut("linear.stack")[last * columns + column] = sign(random) * size(0.01, 100., random);
            } else {
                // Some support vectors are changed to the value of the neuron after the run.
                let neurons = model.neurons();
                for row in model.floats_mut("centres.stack").chunks_exact_mut(neurons) {
                    row[last] = if random.random_bool(0.2) { random.random_range(-1.0..2.0) } else { row[last] };
                }
            }
        }
        Kind::Slow => {
            let factor = size(1.1, 8., random);
            match model.reservoir_kind() {
                "cycle" => {
                    for field in ["cycle", "jump"] {
                        let old = model.header["reservoir"][field].as_f64()?;
                        model.header["reservoir"][field] = json!(old * factor);
                    }
                    if random.random_bool(0.3) {
                        model.header["reservoir"]["leak"] = json!(size(1e-8, 0.9, random));
                    }
                }
                _ => model.floats_mut("reservoir.recurrent").iter_mut().for_each(|x| *x *= factor),
            }
            if random.random_bool(0.3) {
                let large = *pick(&[1., 30., 1e6, 1e300], random);
                let neurons = model.neurons();
                if model.reservoir_kind() != "legendre" {
                    let bias = (0..neurons).map(|_| if random.random_bool(0.1) { large } else { 0. }).collect();
                    model.set_floats("reservoir.bias", 0, bias);
                }
            }
        }
        Kind::Growth => {
            if model.reservoir_kind() != "legendre" {
                return None;
            }
            let order = model.floats("reservoir.input").len();
            let huge = *pick(&[2., 1e3, 1e8, 1e100, 1e200], random);
            let diagonal = *pick(&[0., 0., 1e-170, 0.1, 0.9, 0.999], random);
            let mut weights: Vec<f64> = model.floats("reservoir.recurrent").to_vec();
            match random.random_range(0..3) {
                // Only the last two neurons are changed; the others work as before.
                0 => {
                    for row in 0..order {
                        for column in [order - 1, order.saturating_sub(2)] {
                            weights[column * order + row] = 0.;
                            weights[row * order + column] = 0.;
                        }
                    }
                    weights[(order - 1) * order + order - 1] = diagonal;
                    weights[order.saturating_sub(2) * order + order - 1] = huge;
                }
                1 => {
                    for row in 0..order {
                        for column in 0..order {
                            weights[column * order + row] = match row {
                                _ if row == column => diagonal,
                                _ if row == column + 1 => huge,
                                _ => 0.,
                            };
                        }
                    }
                }
                _ => weights.iter_mut().for_each(|x| *x *= size(1., 3., random)),
            }
            model.set_floats("reservoir.recurrent", order, weights);
        }
        Kind::ShaveIntercept => {
            let head = *pick(&model.heads(), random);
            let name = format!("{head}.intercepts");
            let at = random.random_range(0..model.floats(&name).len());
            shave(subject, model, &name, at, sign(random));
        }
        Kind::ShaveNumber => {
            let (name, at) = any_place(model, random);
            shave(subject, model, &name, at, sign(random));
        }
        Kind::Labels => {
            let head = *pick(&model.heads(), random);
            if model.is_list(head) {
                return None;
            }
            let classes = labels(model, head).as_array()?.len();
            let twice = random.random_range(0..classes);
            let again = labels(model, head)[twice].clone();
            labels(model, head).as_array_mut()?.push(again);
            // The new class loses against all others, or wins where it should not.
            let wins = random.random_bool(0.3);
            add_class(model, head, classes, wins);
        }
        Kind::Members => {
            let head = *pick(&model.heads(), random);
            if model.is_list(head) {
                return None;
            }
            let kernel = model.integers(&format!("{head}.kernel"))[0];
            let support = model.integers(&format!("kernel{kernel}.support")).to_vec();
            let own = support.len() as u32 / 2;
            let copies = random.random_range(1..20);
            let more: Vec<u32> = support.iter().copied().cycle().take(support.len() * (copies + 1)).collect();
            model.set_integers(&format!("kernel{kernel}.support"), 2, more);
            let numbers = Numbers::Integers(
                model
                    .integers(&format!("{head}.support"))
                    .iter()
                    .map(|&place| place + own * random.random_range(0..=copies as u32))
                    .collect(),
            );
            model.tensors.get_mut(&format!("{head}.support"))?.numbers = numbers;
            if random.random_bool(0.5) {
                let terms = vec![size(1., 1e6, random); random.random_range(2..40)];
                let back: Vec<f64> = terms.iter().map(|x| -x).collect();
                add_terms(model, &[terms, back].concat(), true, random)?;
            }
        }
        Kind::Two => {
            for _ in 0..2 {
                let kinds = &Kind::ALL[..Kind::ALL.len() - 1];
                let kind = *pick(kinds, random);
                if !matches!(kind, Kind::ShaveIntercept | Kind::ShaveNumber) {
                    change(kind, subject, model, random);
                }
            }
        }
    }
    Some(())
}

fn any_place(model: &Model, random: &mut ChaCha8Rng) -> (String, usize) {
    let name = pick(&model.float_names(), random).clone();
    let at = random.random_range(0..model.floats(&name).len());
    (name, at)
}

fn any_number<'m>(model: &'m mut Model, random: &mut ChaCha8Rng) -> &'m mut f64 {
    let (name, at) = any_place(model, random);
    &mut model.floats_mut(&name)[at]
}

/// Returns the places of the numbers that only this readout uses. For a list, these include the columns of the linear
/// map in its conditions.
pub(crate) fn own_numbers(model: &Model, head: &str) -> Vec<(String, Vec<usize>)> {
    let all = |name: String| {
        let places = (0..model.floats(&name).len()).collect();
        (name, places)
    };
    let mut numbers = vec![all(format!("{head}.intercepts"))];
    if model.is_list(head) {
        let asked = model.integers(&format!("{head}.conditions"));
        for side in ["linear.input", "linear.stack"] {
            let columns = model.tensors[side].shape[1];
            let own = |at: &usize| asked.contains(&((at % columns) as u32));
            numbers.push((side.to_string(), (0..model.floats(side).len()).filter(own).collect()));
        }
    } else {
        numbers.push(all(format!("{head}.weights")));
    }
    numbers
}

/// Returns the classes of a readout.
fn labels<'m>(model: &'m mut Model, head: &str) -> &'m mut serde_json::Value {
    match head {
        "pop" | "push" => &mut model.header["actions"]["separate"][head],
        "actions" => &mut model.header["actions"]["joint"]["actions"],
        _ => &mut model.header[head],
    }
}

/// Adds a class to a readout that votes, as the last one and without terms.
fn add_class(model: &mut Model, head: &str, classes: usize, wins: bool) {
    let (counts, intercepts) =
        (model.integers(&format!("{head}.counts")).to_vec(), model.floats(&format!("{head}.intercepts")).to_vec());
    let (mut new_counts, mut new_intercepts) = (Vec::new(), Vec::new());
    let mut old = counts.into_iter().zip(intercepts);
    for first in 0..classes {
        for (count, intercept) in old.by_ref().take(classes - 1 - first) {
            new_counts.push(count);
            new_intercepts.push(intercept);
        }
        new_counts.push(0);
        new_intercepts.push(if wins { -1. } else { 1. });
    }
    model.set_integers(&format!("{head}.counts"), 0, new_counts);
    model.set_floats(&format!("{head}.intercepts"), 0, new_intercepts);
}

/// Adds terms to one pair of classes of a readout that votes: all for the same support vector, or each for a random
/// one.
fn add_terms(model: &mut Model, terms: &[f64], spread: bool, random: &mut ChaCha8Rng) -> Option<()> {
    let votes: Vec<&str> = model.heads().into_iter().filter(|head| !model.is_list(head)).collect();
    if votes.is_empty() {
        return None;
    }
    let head = *pick(&votes, random);
    let kernel = model.integers(&format!("{head}.kernel"))[0];
    let own = model.integers(&format!("kernel{kernel}.support")).len() as u32 / 2;
    let mut counts = model.integers(&format!("{head}.counts")).to_vec();
    let pair = random.random_range(0..counts.len());
    let end: u32 = counts[..=pair].iter().sum();
    counts[pair] += terms.len() as u32;
    let one = random.random_range(0..own);
    let mut support = model.integers(&format!("{head}.support")).to_vec();
    let mut weights = model.floats(&format!("{head}.weights")).to_vec();
    let places: Vec<u32> = terms.iter().map(|_| if spread { random.random_range(0..own) } else { one }).collect();
    support.splice(end as usize..end as usize, places);
    weights.splice(end as usize..end as usize, terms.iter().copied());
    model.set_integers(&format!("{head}.counts"), 0, counts);
    model.set_integers(&format!("{head}.support"), 0, support);
    model.set_floats(&format!("{head}.weights"), 0, weights);
    Some(())
}

/// Adds a support vector whose stack state is far away along one neuron, so that the exponent is `exponent` at the
/// empty stack. A readout with a kernel keeps its gamma and its terms, which determines the distance. A readout with a
/// single class gets a second class, which only the new term votes for, and its own kernel, with `away` as the
/// distance.
fn add_support(model: &mut Model, away: f64, exponent: f64, weight: f64, random: &mut ChaCha8Rng) -> Option<()> {
    let neurons = model.neurons();
    let constant = model.header["shift"].as_array()?.len() == 1 && random.random_bool(0.8);
    let votes: Vec<&str> = model.heads().into_iter().filter(|head| !model.is_list(head)).collect();
    let head = match votes[..] {
        _ if constant => "shift",
        [] => return None,
        _ => *pick(&votes, random),
    };
    let fresh = model.kernels();
    let kernel = if constant { fresh } else { model.integers(&format!("{head}.kernel"))[0] };
    let names = ["input", "stack", "support", "gamma"].map(|part| format!("kernel{kernel}.{part}"));
    let away = if constant { away } else { (exponent / model.floats(&names[3])[0]).sqrt() };
    let mut center = vec![0.; neurons];
    center[random.random_range(0..neurons)] = away * sign(random);
    let centers = [model.floats("centres.stack"), &center].concat();
    let place = (centers.len() / neurons - 1) as u32;
    model.set_floats("centres.stack", neurons, centers);
    let inputs = if constant || random.random_bool(0.5) {
        // The input state is the one before the first token, so that its factor is 1 there.
        let machine = model.machine().ok()?;
        let drive = [echostack::reservoir::Drive::Channel(0)];
        let state = echostack::reservoir::encode(&**machine.reservoir(), echostack::reservoir::Simd::default(), drive);
        let centers = [model.floats("centres.input"), &state].concat();
        let place = (centers.len() / neurons - 1) as u32;
        model.set_floats("centres.input", neurons, centers);
        [model.integers(&names[0]), &[place]].concat()
    } else {
        model.integers(&names[0]).to_vec()
    };
    let stacks = [model.integers(&names[1]), &[place]].concat();
    let new = [inputs.len() as u32 - 1, stacks.len() as u32 - 1];
    let support = [model.integers(&names[2]), &new].concat();
    let term = (support.len() / 2 - 1) as u32;
    model.set_integers(&names[0], 0, inputs);
    model.set_integers(&names[1], 0, stacks);
    model.set_integers(&names[2], 2, support);
    if constant {
        model.set_floats(&names[3], 0, vec![exponent / (away * away)]);
        let usual = model.header["shift"][0].as_bool()?;
        model.header["shift"] = json!([usual, !usual]);
        model.set_integers("shift.kernel", 0, vec![kernel]);
        model.set_integers("shift.counts", 0, vec![1]);
        model.set_integers("shift.support", 0, vec![term]);
        model.set_floats("shift.weights", 0, vec![weight]);
        model.set_floats("shift.intercepts", 0, vec![size(0.1, 10., random)]);
        return Some(());
    }
    let mut counts = model.integers(&format!("{head}.counts")).to_vec();
    let pair = random.random_range(0..counts.len());
    let end = counts[..=pair].iter().sum::<u32>() as usize;
    counts[pair] += 1;
    let mut terms = model.integers(&format!("{head}.support")).to_vec();
    let mut weights = model.floats(&format!("{head}.weights")).to_vec();
    terms.insert(end, term);
    weights.insert(end, weight * sign(random));
    model.set_integers(&format!("{head}.counts"), 0, counts);
    model.set_integers(&format!("{head}.support"), 0, terms);
    model.set_floats(&format!("{head}.weights"), 0, weights);
    Some(())
}

/// The neurons that were added to a matrix reservoir to detect a run of one symbol. `last` is 1 if the last symbols are
/// such a run, and -1 otherwise; `before` is the same for a run that is shorter by one. The neurons in `silent` are
/// always 0, and those in `ones` always 1.
pub(crate) struct Added {
    pub before: usize,
    pub last: usize,
    pub silent: [usize; 2],
    pub ones: [usize; 2],
}

/// Adds neurons, the k-th of which is 1 if the last k symbols are all this one. Returns `None` if the reservoir is not
/// a matrix reservoir.
pub(crate) fn add_run(model: &mut Model, symbol: usize, length: usize) -> Option<Added> {
    if model.reservoir_kind() != "matrix" || model.floats("reservoir.input").is_empty() {
        return None;
    }
    let (old, channels) = (model.neurons(), model.symbols());
    let neurons = old + length + 4;
    let mut input = model.floats("reservoir.input").to_vec();
    let own = |channel: usize, yes: f64, no: f64| if channel == symbol { yes } else { no };
    input.extend((0..channels).map(|channel| own(channel, 50., -50.)));
    for _ in 1..length {
        input.extend((0..channels).map(|channel| own(channel, -50., -1000.)));
    }
    input.extend((0..2 * channels).map(|_| 0.));
    input.extend((0..2 * channels).map(|_| 50.));
    let mut entries = entries(model);
    entries.extend((1..length).map(|k| (old + k, old + k - 1, 100.)));
    set_entries(model, neurons, entries);
    model.set_floats("reservoir.input", channels, input);
    let usual: Vec<f64> = (0..length).map(|_| -1.).chain([0., 0., 1., 1.]).collect();
    widen(model, old, &usual);
    let last = old + length - 1;
    let [silent, ones] = [[neurons - 4, neurons - 3], [neurons - 2, neurons - 1]];
    Some(Added { before: last.saturating_sub(1).max(old), last, silent, ones })
}

/// Adds a neuron whose sum, taken in four parts, is infinity minus infinity after a run of at least two symbols.
pub(crate) fn add_bomb(model: &mut Model, run: &Added, huge: f64) {
    let (old, channels) = (model.neurons(), model.symbols());
    // The first and fifth weights are in one part of the sum, the second and sixth in another.
    let places = [(run.before, huge), (run.last, -huge), (run.silent[0], 1.), (run.silent[1], 1.)];
    let places = places.into_iter().chain([(run.ones[0], huge), (run.ones[1], -huge)]);
    let mut entries = entries(model);
    entries.extend(places.map(|(column, weight)| (old, column, weight)));
    set_entries(model, old + 1, entries);
    let mut input = model.floats("reservoir.input").to_vec();
    input.extend(vec![0.; channels]);
    model.set_floats("reservoir.input", channels, input);
    widen(model, old, &[0.]);
}

/// Returns the recurrent weights as rows, columns and weights.
pub(crate) fn entries(model: &Model) -> Vec<(usize, usize, f64)> {
    let weights = model.floats("reservoir.recurrent");
    if model.header["reservoir"]["sparse"] == json!(true) {
        let places = model.integers("reservoir.places").as_chunks::<2>().0;
        return places.iter().zip(weights).map(|(&[row, column], &w)| (row as usize, column as usize, w)).collect();
    }
    let neurons = model.neurons();
    let present = weights.iter().enumerate().filter(|(_, weight)| **weight != 0.);
    present.map(|(at, &weight)| (at / neurons, at % neurons, weight)).collect()
}

/// Writes the recurrent weights of the given number of neurons in sparse form.
pub(crate) fn set_entries(model: &mut Model, neurons: usize, mut entries: Vec<(usize, usize, f64)>) {
    entries.sort_by_key(|&(row, column, _)| (row, column));
    let places = entries.iter().flat_map(|&(row, column, _)| [row as u32, column as u32]).collect();
    model.set_integers("reservoir.places", 2, places);
    model.set_floats("reservoir.recurrent", 0, entries.iter().map(|entry| entry.2).collect());
    model.header["reservoir"]["sparse"] = json!(true);
    model.header["reservoir"]["neurons"] = json!(neurons);
}

/// Widens all tensors that are as wide as a state by values for new neurons: `new` in centers, and 0 in linear maps and
/// the bias.
pub(crate) fn widen(model: &mut Model, old: usize, new: &[f64]) {
    let neurons = old + new.len();
    for side in ["input", "stack"] {
        let name = format!("centres.{side}");
        let rows = model.floats(&name).chunks_exact(old).flat_map(|row| row.iter().chain(new)).copied().collect();
        model.set_floats(&name, neurons, rows);
        let name = format!("linear.{side}");
        if model.has(&name) {
            let columns = model.tensors[&name].shape[1];
            let mut map = model.floats(&name).to_vec();
            map.extend(vec![0.; new.len() * columns]);
            model.set_floats(&name, columns, map);
        }
    }
    let bias = model.floats("reservoir.bias");
    if !bias.is_empty() {
        let wide = bias.iter().copied().chain(vec![0.; new.len()]).collect();
        model.set_floats("reservoir.bias", 0, wide);
    }
}

/// Moves a number up (1) or down (-1) as far as the proof holds, to within a few units in the last place.
pub(crate) fn shave(subject: &Subject, model: &mut Model, name: &str, at: usize, direction: f64) {
    let old = model.floats(name)[at];
    let mut holds = |distance: f64| {
        model.floats_mut(name)[at] = old + direction * distance;
        subject.holds_for(model)
    };
    let mut step = if old == 0. { 1e-4 } else { old.abs() * 0.1 };
    let (mut good, mut bad) = (0., f64::INFINITY);
    for _ in 0..50 {
        if holds(step) {
            good = step;
        } else {
            bad = step;
        }
        let next = if bad.is_finite() { f64::midpoint(good, bad) } else { 4. * step };
        if next == step || next > 1e6 * old.abs().max(1.) || bad - good < 1e-15 * old.abs() {
            break;
        }
        step = next;
    }
    model.floats_mut(name)[at] = old + direction * good;
}
