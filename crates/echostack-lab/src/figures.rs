//! Draws the paper's figures, and one more for its Theorem 2.

use echostack::readout::least_squares;
use echostack::reservoir::{Cycle, Signs};
use echostack::reservoir::{Drive, ReservoirParams, Simd, encode};
use echostack::tasks::{Split, Task};
use echostack::teach::record;
use echostack::{Limits, Oracle, SymbolId, Trace, Word};
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{ColorMap, Heatmap, LegendPosition, LinePlot, ScatterPlot};
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::diagrams::{dynamics, recall};
use crate::drawing::{BLUE, GREEN, ORANGE, drawing};
pub use crate::drawing::{Drawing, FigureError};

/// Draws all figures.
///
/// # Errors
/// If a figure cannot be drawn.
pub fn all() -> Result<Vec<Drawing>, FigureError> {
    [
        ("dynamics", dynamics()?),
        ("states", states()?),
        ("recall", recall()?),
        ("tasks", tasks()),
        ("theorem-2", theorem()?),
    ]
    .into_iter()
    .map(|(name, scene)| drawing(name, &scene))
    .collect()
}

/// Draws example inputs and outputs of the three memory tasks.
fn tasks() -> Scene {
    let example = |task: Task, wanted: &dyn Fn(&Trace) -> bool| {
        let all = task.examples(Split::Train, 100, 0);
        let found = all.iter().position(wanted).unwrap_or(0);
        all[found].clone()
    };
    let latch = example(Task::Latch, &|trace| (20..30).contains(&trace.word().len()));
    let copy = example(Task::Copy, &|trace| trace.word().len() == 15);
    let repeat = example(Task::RepeatCopy, &|trace| (24..36).contains(&trace.word().len()));
    let Word::Symbols(bits) = latch.word() else { return render_multiple(Vec::new(), Layout::new((0., 1.), (0., 1.))) };
    let steps = |values: Vec<f64>, color: &str| {
        // A step lasts from one tick to the next, and so does the last one.
        let ends = values.last().copied();
        let points = values.into_iter().chain(ends).enumerate().map(|(at, y)| (at as f64, y)).collect::<Vec<_>>();
        vec![Plot::Line(LinePlot::new().with_data(points).with_step().with_color(color).with_stroke_width(2.5))]
    };
    let input = steps(bits.iter().map(|bit| bit.index() as f64).collect(), BLUE);
    let output = steps(latch.steps().iter().map(|step| step.output[0]).collect(), ORANGE);
    let inputs = |trace: &Trace| match trace.word() {
        Word::Vectors { width, values } => {
            picture(&values.chunks_exact(*width).map(<[f64]>::to_vec).collect::<Vec<_>>())
        }
        Word::Symbols(_) => Vec::new(),
    };
    let outputs = |trace: &Trace| picture(&trace.steps().iter().map(|step| step.output.clone()).collect::<Vec<_>>());
    let plots = vec![input, inputs(&copy), inputs(&repeat), output, outputs(&copy), outputs(&repeat)];
    let titles =
        ["latch: input", "copy: input", "repeat copy: input", "latch: output", "copy: output", "repeat copy: output"];
    let layouts = plots.iter().zip(titles).map(|(plots, title)| {
        let layout = Layout::auto_from_plots(plots).with_title(title).with_x_label("step");
        if title.starts_with("latch") {
            let last = latch.steps().len() as f64 + 1.;
            let layout = layout.with_y_label("bit").with_x_axis_min(0.).with_x_axis_max(last);
            layout.with_y_axis_min(-0.2).with_y_axis_max(1.2).with_y_tick_step(1.)
        } else {
            layout.with_y_label("channel").with_show_grid(false)
        }
    });
    let layouts = layouts.collect();
    Figure::new(2, 3)
        .with_title("The three memory tasks: an example of each, step by step")
        .with_title_size(20)
        .with_plots(plots)
        .with_layouts(layouts)
        .with_cell_size(380., 260.)
        .render()
}

/// Plots vectors over time, one per column.
fn picture(columns: &[Vec<f64>]) -> Vec<Plot> {
    let height = columns.first().map_or(0, Vec::len);
    let rows: Vec<Vec<f64>> = (0..height).map(|row| columns.iter().map(|column| column[row]).collect()).collect();
    vec![Plot::Heatmap(Heatmap::new().with_data(rows).with_color_map(ColorMap::Blues))]
}

/// Draws the reservoir states of stacks of up to ten symbols of a^n b^n along their first two principal components,
/// marked by the symbol on top of the stack, with lines that separate them. This is the paper's figure, with its
/// reservoir of five neurons. Whether two lines can separate the states depends on the signs of the input weights.
/// Signs are drawn at random, and the first ones for which it is possible are used.
fn states() -> Result<Scene, FigureError> {
    let mut first = None;
    for seed in 0..1000 {
        let plane = Plane::new(seed)?;
        if plane.lines.iter().zip([0, 1]).all(|(line, symbol)| plane.separates(line, symbol)) {
            return Ok(plane.draw());
        }
        first.get_or_insert(plane);
    }
    Ok(first.map_or_else(|| render_multiple(Vec::new(), Layout::new((0., 1.), (0., 1.))), |plane| plane.draw()))
}

/// Reservoir states, projected to a plane.
struct Plane {
    /// The symbol on top of each stack, and the projected state.
    points: Vec<(usize, (f64, f64))>,
    /// The lines x w0 + y w1 + w2 = 1/2 that separate each of the first two symbols from the others, by least squares.
    lines: Vec<[f64; 3]>,
}

impl Plane {
    fn new(seed: u64) -> Result<Self, FigureError> {
        let signs = Signs::Seed(seed);
        let cycle = Cycle { neurons: 5, input: 1., cycle: 0.5, jump: 0.25, jump_length: 2, signs, ..Cycle::default() };
        let reservoir = ReservoirParams::Cycle(cycle).build(3)?;
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let (mut tops, mut states) = (Vec::new(), Vec::new());
        for length in 1..=10 {
            for _ in 0..30 {
                let stack: Vec<usize> = (0..length).map(|_| random.random_range(0..3)).collect();
                let drives = stack.iter().map(|&symbol| Drive::Channel(symbol));
                states.push(encode(&*reservoir, Simd::default(), drives));
                tops.push(stack[length - 1]);
            }
        }
        let places = main_directions(&states);
        let x: Vec<f64> = places.iter().flat_map(|place| [place.0, place.1, 1.]).collect();
        let line = |symbol: usize| {
            let y: Vec<f64> = tops.iter().map(|top| f64::from(u8::from(*top == symbol))).collect();
            let weights = least_squares(&x, 3, &y, 1, 1e-9);
            weights.map_or([0., 1., 0.], |weights| [weights[0], weights[1], weights[2]])
        };
        let lines = [0, 1].map(line).to_vec();
        Ok(Self { points: tops.into_iter().zip(places).collect(), lines })
    }

    /// Returns whether a line has one symbol on one side, and all others on the other side.
    fn separates(&self, line: &[f64; 3], symbol: usize) -> bool {
        let value = |place: &(f64, f64)| line[0] * place.0 + line[1] * place.1 + line[2];
        self.points.iter().all(|(top, place)| (value(place) > 0.5) == (*top == symbol))
    }

    fn draw(&self) -> Scene {
        let kinds =
            [("a", GREEN, MarkerShape::Square), ("b", BLUE, MarkerShape::Triangle), ("S", ORANGE, MarkerShape::Circle)];
        let mut plots = Vec::new();
        for (symbol, (name, color, marker)) in kinds.into_iter().enumerate() {
            let of: Vec<_> = self.points.iter().filter(|(top, _)| *top == symbol).map(|(_, place)| *place).collect();
            let plot = ScatterPlot::new().with_data(of).with_color(color).with_marker(marker);
            plots
                .push(Plot::Scatter(plot.with_size(4.).with_marker_opacity(0.6).with_legend(format!("{name} on top"))));
        }
        let extent = |value: fn(&(f64, f64)) -> f64| {
            let values = self.points.iter().map(|(_, place)| value(place));
            values.fold((0_f64, 0_f64), |(low, high), value| (low.min(value), high.max(value)))
        };
        let ((left, right), (low, high)) = (extent(|place| place.0), extent(|place| place.1));
        for ([across, up, offset], name) in self.lines.iter().zip(["a", "b"]) {
            let place = |x: f64| (x, (0.5 - offset - across * x) / up);
            let grid = (0..=400).map(|at| place(left + (right - left) * f64::from(at) / 400.));
            let mut inside = grid.filter(|place| (low..=high).contains(&place.1));
            let inside: Vec<_> = inside.next().into_iter().chain(inside.next_back()).collect();
            let line = LinePlot::new().with_data(inside).with_color("#222222").with_legend(format!("separates {name}"));
            plots.push(Plot::Line(if name == "a" { line } else { line.with_dashed() }));
        }
        let layout = Layout::auto_from_plots(&plots)
            .with_title("Stacks of a^n b^n as states of five neurons, with signs chosen so that lines separate them")
            .with_title_size(15)
            .with_x_label("first principal component")
            .with_y_label("second principal component")
            .with_width(760.)
            .with_height(440.)
            .with_legend_position(LegendPosition::OutsideRightTop);
        render_multiple(plots, layout)
    }
}

/// Projects points to the two directions in which they vary most, which are found by power iteration.
fn main_directions(points: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let width = points[0].len();
    let mean: Vec<f64> =
        (0..width).map(|at| points.iter().map(|point| point[at]).sum::<f64>() / points.len() as f64).collect();
    let mut rest: Vec<Vec<f64>> =
        points.iter().map(|point| point.iter().zip(&mean).map(|(x, m)| x - m).collect()).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut values = Vec::new();
    for _ in 0..2 {
        let mut direction: Vec<f64> = (0..width).map(|at| 1. + at as f64).collect();
        for _ in 0..500 {
            let mut next = vec![0.; width];
            for point in &rest {
                let along = product(point, &direction);
                next.iter_mut().zip(point).for_each(|(sum, x)| *sum += along * x);
            }
            let length = product(&next, &next).sqrt().max(f64::MIN_POSITIVE);
            direction = next.iter().map(|x| x / length).collect();
        }
        let along: Vec<f64> = rest.iter().map(|point| product(point, &direction)).collect();
        for (point, along) in rest.iter_mut().zip(&along) {
            point.iter_mut().zip(&direction).for_each(|(x, d)| *x -= along * d);
        }
        values.push(along);
    }
    values[0].iter().zip(&values[1]).map(|(x, y)| (*x, *y)).collect()
}

/// Returns the stack of the palindrome automaton after a word.
fn stack_after(word: &[SymbolId]) -> Vec<SymbolId> {
    let Some(automaton) = Task::Palindrome.automaton() else { return Vec::new() };
    let oracle = Oracle::tolerant(automaton);
    let (trace, _) = record(&oracle, "a word", &Word::Symbols(word.to_vec()), Limits::default());
    let mut stack = Vec::new();
    let ahead = word.iter().map(Some).chain([None]);
    for (step, token) in trace.iter().flat_map(Trace::steps).zip(ahead) {
        for reduction in &step.reductions {
            stack.truncate(stack.len().saturating_sub(reduction.pop as usize));
            stack.extend(reduction.push);
        }
        stack.extend(token.filter(|_| step.shift));
    }
    stack
}

/// Draws the distance between the states of a^T $ a^T and b a^T $ a^T as T grows. A memory machine that is correct on
/// both words never recalls a state (by the proof of the theorem, figure `recall`), so its states are those of an echo
/// state network. The stack of a stack machine still holds the b.
fn theorem() -> Result<Scene, FigureError> {
    let alphabet = Task::Palindrome.alphabet();
    let reservoir = ReservoirParams::Cycle(Cycle { input: 0.1, cycle: 0.8, jump: 0.1, ..Cycle::default() })
        .build(alphabet.len())?;
    let symbol = |name: &str| alphabet.symbol(name).unwrap_or(SymbolId::UNKNOWN);
    let (a, b, center) = (symbol("a"), symbol("b"), symbol("$"));
    let state = |symbols: &[SymbolId]| {
        encode(&*reservoir, Simd::default(), symbols.iter().map(|symbol| Drive::Channel(symbol.index())))
    };
    let apart = |one: &[SymbolId], other: &[SymbolId]| {
        let squares = state(one).into_iter().zip(state(other)).map(|(x, y)| (x - y) * (x - y));
        squares.sum::<f64>().sqrt()
    };
    let (mut echo, mut stack) = (Vec::new(), Vec::new());
    for t in 1..=45_usize {
        let half = vec![a; t];
        let word = [half.as_slice(), &[center], &half].concat();
        let other = [&[b], word.as_slice()].concat();
        echo.push((t as f64, apart(&word, &other)));
        stack.push((t as f64, apart(&stack_after(&word), &stack_after(&other))));
    }
    let line = |data: Vec<(f64, f64)>, name: &str, color: &str| {
        LinePlot::new().with_data(data).with_color(color).with_stroke_width(3.).with_legend(name)
    };
    let plots = vec![Plot::Line(line(stack, "with a stack", ORANGE)), Plot::Line(line(echo, "without a stack", BLUE))];
    let layout = Layout::auto_from_plots(&plots)
        .with_log_y()
        .with_title("Only a stack remembers: states after a^T $ a^T with and without a b before it")
        .with_title_size(15)
        .with_x_label("number of letters a on each side of the center (T)")
        .with_y_label("distance of the two states")
        .with_width(820.)
        .with_height(440.)
        .with_legend_position(LegendPosition::OutsideRightTop);
    Ok(render_multiple(plots, layout))
}
