//! Plots the measured errors as curves, against the length of words and against the number of training words.

use std::collections::{BTreeMap, BTreeSet};

use echostack::language::WordKind;
use kuva::plot::LinePlot;
use kuva::render::figure::Figure;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use crate::figures::{Drawing, FigureError, drawing};
use crate::record::Line;
use crate::tables::{Measure, summary};
use crate::test_set::TestSet;

/// The curves of the models on each task: positions on the x-axis, in increasing order, and the errors there.
type Panels = BTreeMap<String, BTreeMap<String, Vec<(f64, f64)>>>;

/// The number of panels in a row of a figure.
const ACROSS: usize = 3;

/// Draws the curves for which the records have enough points.
///
/// # Errors
/// If a figure cannot be drawn.
pub fn all(lines: &[Line]) -> Result<Vec<Drawing>, FigureError> {
    let lengths = by_length(lines);
    let words = by_training_words(lines);
    let curves = [("lengths", lengths, "tokens in a word"), ("training-words", words, "training words")];
    curves
        .into_iter()
        .filter(|(_, panels, _)| !panels.is_empty())
        .map(|(name, panels, across)| draw(name, &panels, across))
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
    let points = errors.iter().filter_map(|((unit, test), figure)| {
        Some((&unit.task, &unit.model, (*places.get(test.as_str())?, figure.mean)))
    });
    panels(points)
}

/// Returns the errors on the test that the tables show, against the number of training words.
fn by_training_words(lines: &[Line]) -> Panels {
    let errors = summary(lines, Measure::Error);
    let points = errors
        .iter()
        .filter(|((_, test), _)| test == "valid")
        .map(|((unit, _), figure)| (&unit.task, &unit.model, (unit.words as f64, figure.mean)));
    panels(points)
}

fn panels<'a>(points: impl Iterator<Item = (&'a String, &'a String, (f64, f64))>) -> Panels {
    let mut panels = Panels::new();
    for (task, model, point) in points {
        panels.entry(task.clone()).or_default().entry(model.clone()).or_default().push(point);
    }
    let curves = panels.values_mut().flat_map(BTreeMap::values_mut);
    curves.for_each(|points| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let places = |points: &Vec<(f64, f64)>| points.iter().map(|point| point.0.to_bits()).collect::<BTreeSet<_>>().len();
    panels.retain(|_, curves| curves.values().any(|points| places(points) > 2));
    panels
}

/// Draws a panel for each task, with a shared legend.
fn draw(name: &'static str, panels: &Panels, across: &str) -> Result<Drawing, FigureError> {
    let models: BTreeSet<&String> = panels.values().flat_map(BTreeMap::keys).collect();
    let highest = panels.values().flat_map(BTreeMap::values).flatten().fold(0.1_f64, |most, point| most.max(point.1));
    let mut plots = Vec::new();
    let mut layouts = Vec::new();
    for (task, curves) in panels {
        let curve = |model: &&String| {
            let points = curves.get(*model)?.clone();
            let line = LinePlot::new().with_data(points).with_color(color(model)).with_legend(model.as_str());
            let line = line.with_stroke_width(2.);
            Some(Plot::Line(if model.ends_with("1024") { line.with_dashed() } else { line }))
        };
        let curves: Vec<Plot> = models.iter().filter_map(curve).collect();
        let layout = Layout::auto_from_plots(&curves)
            .with_title(task.as_str())
            .with_x_label(across)
            .with_y_label("error")
            .with_log_x()
            .with_x_tick_format(TickFormat::Integer)
            .with_y_axis_min(0.)
            .with_y_axis_max(highest * 1.05);
        plots.push(curves);
        layouts.push(layout);
    }
    let scene = Figure::new(plots.len().div_ceil(ACROSS), plots.len().min(ACROSS))
        .with_plots(plots)
        .with_layouts(layouts)
        .with_cell_size(380., 260.)
        .with_shared_legend()
        .render();
    drawing(name, &scene)
}

/// Returns the color of a model: a color for each kind of model, with a shade for each kind of reservoir.
fn color(model: &str) -> &'static str {
    let shade = ["rand", "CRJ", "LDN"].iter().position(|kind| model.starts_with(kind)).unwrap_or(1);
    match model {
        _ if model.contains("RSM") => ["#f4a259", "#d9730d", "#8a4300"][shade],
        _ if model.contains("ESN") => ["#9cc4e4", "#1f6fb4", "#0b3c66"][shade],
        "GRU" => "#2e8b57",
        "SRNN" => "#8e44ad",
        "DSM" => "#c2185b",
        _ => "#222222",
    }
}
