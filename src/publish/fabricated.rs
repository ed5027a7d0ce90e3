//! Experiments and frames made up for the tests of figures, and what all figures must keep to.

use std::path::Path;

use super::figure::figure_svg;
use super::report::Report;
use crate::data::Manifest;
use crate::privacy::Certificate;
use crate::spec::SpreadKind;
use crate::task::Experiment;
use crate::task::{Frame, Row};

const BASE: &str = r#"
[experiment]
title = "A fabricated figure"
[data]
source.inline = { x = [0.0, 1.0, 2.0, 3.0], y = [0.0, 0.5, 1.0, 2.0] }
inputs = ["x"]
target = "y"
[model]
noise_variance = 1.0
kernel.eq = { variance = 1.0, lengthscale = 2.0 }
[task.regression]
split.contiguous = 2
draws = 3
[privacy]
epsilon = 1.0
delta = 0.01
change = 2.0
mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 }
"#;

/// An experiment with a bundled axis `method` that has these labels, and this figure.
pub(super) fn experiment(labels: &[&str], figure: &str) -> Experiment {
    let label =
        |(i, label): (usize, &&str)| format!("{label} = {{ \"model.noise_variance\" = {}.5 }}\n", i + 1);
    let axis: String = labels.iter().enumerate().map(label).collect();
    parsed(format!("{BASE}[axis.method]\n{axis}{figure}"))
}

/// An experiment whose metrics are families (`probability/...`), with this grid and figure.
pub(super) fn selection(rest: &str) -> Experiment {
    let (data, _) = BASE.split_once("[model]").unwrap();
    let task = "[task.selection]\ncandidates = [{ polynomial = 0 }]\nepsilon = 1.0\nsplit.contiguous = 2\n\
                sensitivity = \"published\"\n[privacy]\nepsilon = 1.0\ndelta = 0.01\nchange = 2.0\n\
                mechanism.cloaking = { objective = \"log-det\", rank_tolerance = 1e-8 }\n";
    parsed(format!("{data}{task}{rest}"))
}

fn parsed(text: String) -> Experiment {
    Experiment::parse("test", Path::new("test.toml"), text, &Manifest::shipped().unwrap()).unwrap()
}

/// The figure of some frames, each with the index of its cell; checked. Set DPGP_FIGURES to a folder to look at it.
pub(super) fn svg(name: &str, experiment: &Experiment, frames: Vec<(usize, Frame)>) -> String {
    drawn(name, &Report::new(experiment, Vec::new(), frames))
}

/// The figure of a report; checked.
pub(super) fn drawn(name: &str, report: &Report<'_>) -> String {
    let svg = figure_svg(report).unwrap().unwrap();
    if let Some(folder) = std::env::var_os("DPGP_FIGURES") {
        std::fs::write(Path::new(&folder).join(format!("{name}.svg")), &svg).unwrap();
    }
    check(&svg);
    svg
}

/// A row with a spread over five replicates.
pub(super) fn row(cell: usize, metric: &str, value: f64, spread: Option<f64>) -> Row {
    let (metric, certificate) = (metric.to_owned(), Certificate::none());
    Row {
        cell,
        metric,
        value,
        spread,
        spread_kind: SpreadKind::StandardError,
        repeats: 5,
        certificate,
        jitter: 0.0,
    }
}

/// Rows with these metrics for each cell, over four replicates, by the positions of cell and metric.
pub(super) fn rows(
    experiment: &Experiment,
    metrics: &[&str],
    value: impl Fn(usize, usize) -> f64,
) -> Vec<Row> {
    let row = |cell: usize, metric: usize| Row {
        cell,
        metric: metrics[metric].to_owned(),
        value: value(cell, metric),
        spread: Some(0.1),
        spread_kind: SpreadKind::SdReplicates,
        repeats: 4,
        certificate: Certificate::none(),
        jitter: 0.0,
    };
    let all =
        (0..experiment.cells.len()).flat_map(|cell| (0..metrics.len()).map(move |metric| (cell, metric)));
    all.map(|(cell, metric)| row(cell, metric)).collect()
}

/// How many elements of a kind there are.
pub(super) fn count(svg: &str, element: &str) -> usize {
    svg.matches(&format!("<{element} ")).count()
}

/// How many lines of a colour there are.
pub(super) fn lines_of(svg: &str, colour: &str) -> usize {
    svg.split('<')
        .filter(|e| {
            (e.starts_with("polyline") || e.starts_with("line"))
                && e.contains(&format!("stroke=\"{colour}\""))
        })
        .count()
}

/// Numbers from 0 to 1 that look random and are the same in each run.
pub(super) fn scattered(n: usize) -> impl Iterator<Item = f64> + Clone {
    (1..=n).map(|i| (i as f64 * 0.618_033_988_749_895 + (i * i) as f64 * 0.414_213_562).fract())
}

/// Numbers that look normal.
pub(super) fn normals(n: usize) -> impl Iterator<Item = f64> + Clone {
    scattered(12 * n)
        .collect::<Vec<_>>()
        .chunks(12)
        .map(|c| c.iter().sum::<f64>() - 6.0)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Nothing lies outside the canvas, and every number is finite.
fn check(svg: &str) {
    assert!(!svg.contains("NaN") && !svg.contains("inf\""), "a number is not finite");
    let (width, height) = size(svg);
    for element in svg.split('<').skip(2) {
        for (x, y) in corners(element) {
            let inside = (-1.0..=width + 1.0).contains(&x) && (-1.0..=height + 1.0).contains(&y);
            assert!(inside, "outside of {width} x {height}: {element}");
        }
    }
}

fn size(svg: &str) -> (f64, f64) {
    let view = svg.split("viewBox=\"0 0 ").nth(1).unwrap().split('"').next().unwrap();
    let (width, height) = view.split_once(' ').unwrap();
    (width.parse().unwrap(), height.parse().unwrap())
}

/// The outermost points of an element; of a text roughly.
fn corners(element: &str) -> Vec<(f64, f64)> {
    let number = |name: &str| attribute(element, name).and_then(|value| value.parse::<f64>().ok());
    match element.split(' ').next() {
        Some("polyline" | "polygon") => {
            let points = attribute(element, "points").unwrap().split_whitespace();
            points
                .map(|p| p.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap())
                .collect()
        }
        Some("circle") => {
            let (x, y, r) = (number("cx").unwrap(), number("cy").unwrap(), number("r").unwrap());
            vec![(x - r, y - r), (x + r, y + r)]
        }
        Some("rect") => {
            let (x, y) = (number("x").unwrap(), number("y").unwrap());
            vec![(x, y), (x + number("width").unwrap(), y + number("height").unwrap())]
        }
        Some("text") => text_corners(element),
        _ => Vec::new(),
    }
}

fn text_corners(element: &str) -> Vec<(f64, f64)> {
    let number = |name: &str| attribute(element, name).and_then(|value| value.parse::<f64>().ok()).unwrap();
    let (x, y, size) = (number("x"), number("y"), number("font-size"));
    let letters = element.split('>').nth(1).unwrap().trim().chars().count();
    let long = 0.5 * size * letters as f64 / 1.24;
    let (before, after) = match attribute(element, "text-anchor") {
        Some("middle") => (long / 2.0, long / 2.0),
        Some("end") => (long, 0.0),
        _ => (0.0, long),
    };
    let upward = attribute(element, "transform").is_some();
    if upward { vec![(x, y + before), (x, y - after)] } else { vec![(x - before, y), (x + after, y)] }
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    element.split_once(&format!(" {name}=\""))?.1.split('"').next()
}
