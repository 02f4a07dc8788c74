//! Plots the measured errors as curves, against the length of words and against the number of training words.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use echostack::language::WordKind;
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::figure::Figure;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use crate::drawing::{Drawing, FigureError, drawing};
use crate::record::Line;
use crate::tables::{Figure as Measured, Measure, summary};
use crate::test_set::TestSet;

/// The curves of the models on each task: positions on the x-axis, in increasing order, and the errors there.
type Panels = BTreeMap<String, BTreeMap<String, Vec<(f64, Measured)>>>;

/// The number of panels in a row, if each task has only one.
const ACROSS: usize = 3;

/// The most models that share a panel; more are divided into families.
const TOGETHER: usize = 4;

/// Errors up to this one are drawn at the bottom of a panel, which is labeled accordingly.
const LOWEST: f64 = 1e-5;

/// Draws the curves for which the records have enough points.
///
/// # Errors
/// If a figure cannot be drawn.
pub fn all(lines: &[Line]) -> Result<Vec<Drawing>, FigureError> {
    let lengths = by_length(lines);
    let words = by_training_words(lines);
    let curves = [
        ("lengths", lengths, "Error on valid words, by their length", "tokens in a word"),
        ("training-words", words, "Error on valid words, by the number of words trained on", "training words"),
    ];
    curves
        .into_iter()
        .filter(|(_, panels, _, _)| !panels.is_empty())
        .map(|(name, panels, title, across)| draw(name, &panels, title, across))
        .collect()
}

/// Returns the errors on valid words, against the middle of the range of lengths of each test.
fn by_length(lines: &[Line]) -> Panels {
    let tests = lines.iter().filter_map(|line| match line {
        Line::Specification { specification, .. } => Some(&specification.tests),
        _ => None,
    });
    let valid = tests.flatten().filter(|test| test.kind == WordKind::Valid);
    let middle = |test: &TestSet| f64::midpoint(test.lengths.0 as f64, test.lengths.1 as f64);
    let places: BTreeMap<&str, f64> = valid.map(|test| (test.name.as_str(), middle(test))).collect();
    let errors = summary(lines, Measure::Error);
    let points = errors
        .iter()
        .filter_map(|((unit, test), figure)| Some((&unit.task, &unit.model, (*places.get(test.as_str())?, *figure))));
    panels(points)
}

/// Returns the errors on the test that the tables show, against the number of training words.
fn by_training_words(lines: &[Line]) -> Panels {
    let errors = summary(lines, Measure::Error);
    let points = errors
        .iter()
        .filter(|((_, test), _)| test == "valid")
        .map(|((unit, _), figure)| (&unit.task, &unit.model, (unit.words as f64, *figure)));
    panels(points)
}

fn panels<'a>(points: impl Iterator<Item = (&'a String, &'a String, (f64, Measured))>) -> Panels {
    let mut panels = Panels::new();
    for (task, model, point) in points {
        panels.entry(task.clone()).or_default().entry(model.clone()).or_default().push(point);
    }
    let curves = panels.values_mut().flat_map(BTreeMap::values_mut);
    curves.for_each(|points| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let places =
        |points: &Vec<(f64, Measured)>| points.iter().map(|point| point.0.to_bits()).collect::<BTreeSet<_>>().len();
    panels.retain(|_, curves| curves.values().any(|points| places(points) > 2));
    panels
}

/// Draws small panels with a shared legend. If there are many models, each row is a task and each column a family of
/// models; otherwise, each panel is a task.
fn draw(name: &'static str, panels: &Panels, title: &str, across: &str) -> Result<Drawing, FigureError> {
    let models: BTreeSet<&String> = panels.values().flat_map(BTreeMap::keys).collect();
    let mut columns: Vec<Option<Family>> = vec![None];
    if models.len() > TOGETHER {
        columns = models.iter().map(|model| Some(Family::of(model))).collect::<BTreeSet<_>>().into_iter().collect();
    }
    let all = || panels.values().flat_map(BTreeMap::values).flatten();
    let most = all().fold(1_f64, |most, point| most.max(point.1.mean + point.1.deviation));
    let (first, last) = all().fold((f64::MAX, 0_f64), |(first, last), point| (first.min(point.0), last.max(point.0)));
    let repeats = all().map(|point| point.1.repeats).max().unwrap_or(1);
    let mut plots = Vec::new();
    let mut layouts = Vec::new();
    for (task, curves) in panels {
        for column in &columns {
            let shown = curves.iter().filter(|(model, _)| column.is_none_or(|column| Family::of(model) == column));
            let drawn: Vec<Plot> = shown.flat_map(|(model, points)| curve(model, points, column.is_some())).collect();
            let caption = column.map_or_else(|| task.clone(), |column| format!("{task}: {}", column.name()));
            let layout = Layout::auto_from_plots(&drawn)
                .with_title(caption)
                .with_title_size(14)
                .with_tick_size(11)
                .with_label_size(12)
                .with_x_label(across)
                .with_y_label("error")
                .with_log_x()
                .with_log_y()
                .with_x_tick_format(TickFormat::Custom(Arc::new(power_of_ten)))
                .with_y_tick_format(TickFormat::Custom(Arc::new(fraction)))
                .with_x_axis_min(first / 1.6)
                .with_x_axis_max(last * 1.6)
                .with_y_axis_min(LOWEST * 0.6)
                .with_y_axis_max(most);
            plots.push(drawn);
            layouts.push(layout);
        }
    }
    let wide = if columns.len() == 1 { ACROSS.min(plots.len()) } else { columns.len() };
    let scene = Figure::new(plots.len().div_ceil(wide), wide)
        .with_title(format!("{title}: mean ± deviation of up to {repeats} repeats"))
        .with_title_size(17)
        .with_plots(plots)
        .with_layouts(layouts)
        .with_cell_size(330., 230.)
        .with_shared_legend_bottom()
        .render();
    drawing(name, &scene)
}

/// Draws the curve of a model with markers and error bars. Models stand a little apart, so that equal errors can be seen.
fn curve(model: &str, points: &[(f64, Measured)], in_family: bool) -> [Plot; 2] {
    let (color, marker, shift) = style(model, in_family);
    let place = |x: f64, y: f64| (x * shift, y.max(LOWEST));
    let line = points.iter().map(|(x, figure)| place(*x, figure.mean)).collect::<Vec<_>>();
    let bars: Vec<(f64, f64)> = points
        .iter()
        .map(|(_, Measured { mean, deviation, .. })| {
            let middle = mean.max(LOWEST);
            (middle - (mean - deviation).max(LOWEST).min(middle), (mean + deviation).max(middle) - middle)
        })
        .collect();
    [
        Plot::Line(LinePlot::new().with_data(line.clone()).with_color(color).with_stroke_width(1.5)),
        Plot::Scatter(
            ScatterPlot::new()
                .with_data(line)
                .with_y_err_asymmetric(bars)
                .with_color(color)
                .with_marker(marker)
                .with_size(4.5)
                .with_legend(if in_family { member(model) } else { model }),
        ),
    ]
}

/// Formats a tick of the y-axis. What is drawn at the bottom may be 0.
fn fraction(value: f64) -> String {
    match value {
        _ if value < LOWEST * 1.01 => "≤ 1e-5".into(),
        _ if value < 0.005 => format!("{value:e}"),
        _ => format!("{value}"),
    }
}

/// Formats a tick of the x-axis. There is room only for the powers of ten.
fn power_of_ten(value: f64) -> String {
    let power = value.log10();
    if (power - power.round()).abs() < 1e-9 { format!("{value:.0}") } else { String::new() }
}

/// A family of models, in the order of the columns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    StackMachine,
    EchoState,
    LargeEchoState,
    Others,
}

impl Family {
    fn of(model: &str) -> Self {
        match model {
            _ if model.contains("RSM") => Self::StackMachine,
            _ if model.ends_with("ESN-1024") => Self::LargeEchoState,
            _ if model.contains("ESN") => Self::EchoState,
            _ => Self::Others,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::StackMachine => "stack machines",
            Self::EchoState => "echo state networks",
            Self::LargeEchoState => "echo state, 1,024",
            Self::Others => "deep and memory",
        }
    }
}

/// Returns the name of a model within its family.
fn member(model: &str) -> &str {
    match model {
        _ if !model.contains("RSM") && !model.contains("ESN") => model,
        _ if model.starts_with("rand") => "random reservoir",
        _ if model.starts_with("CRJ") => "cycle with jumps",
        _ => "Legendre network",
    }
}

/// Returns the color of a model, its marker, and the factor by which it is moved along the x-axis. The colors are those of
/// Okabe and Ito, which people with any kind of color vision can tell apart.
fn style(model: &str, in_family: bool) -> (&'static str, MarkerShape, f64) {
    let styles = [
        ("#0072b2", MarkerShape::Circle, 0.86),
        ("#d55e00", MarkerShape::Square, 1.),
        ("#009e73", MarkerShape::Triangle, 1.16),
        ("#cc79a7", MarkerShape::Diamond, 0.74),
        ("#000000", MarkerShape::Cross, 0.86),
        ("#e69f00", MarkerShape::Circle, 1.08),
    ];
    let number = match model {
        "GRU" => 3,
        "SRNN" => 4,
        "SRNN-sigmoid" => 5,
        "DSM" => 2,
        "RMM" => 1,
        _ if !in_family => usize::from(model.contains("RSM")),
        _ => ["rand", "CRJ", "LDN"].iter().position(|kind| model.starts_with(kind)).unwrap_or(1),
    };
    styles[number]
}
