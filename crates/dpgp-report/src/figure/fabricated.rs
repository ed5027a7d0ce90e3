//! Made-up experiments and frames for the tests of figures, and checks that every figure must pass.

use std::path::Path;

use super::kinds::figure_svg;
use crate::report::Report;
use dpgp_accounting::Certificate;
use dpgp_data::DatasetManifest;
use dpgp_plot::PlotPoint;
use dpgp_spec::SpreadKind;
use dpgp_task::{Experiment, FigureTable, MetricSummary};

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
pub fn experiment(labels: &[&str], figure: &str) -> Experiment {
    let axis = labels.iter().zip(1..).map(|(label, i)| format!("{label} = {{ \"model.noise_variance\" = {i}.5 }}\n"));
    let text = format!("{BASE}[axis.method]\n{}{figure}", axis.collect::<String>());
    Experiment::parse("test", Path::new("test.toml"), text, &DatasetManifest::load_shipped().unwrap()).unwrap()
}

/// The same with a figure of metrics that its task may not measure.
pub fn showing(labels: &[&str], figure: &str) -> Experiment {
    Experiment { figure: Some(toml::from_str(figure).unwrap()), ..experiment(labels, "") }
}

/// The figure of some frames, each with the index of its cell; checked. Set DPGP_FIGURES to a folder to look at it.
pub fn svg(name: &str, experiment: &Experiment, frames: Vec<(usize, FigureTable)>) -> String {
    drawn(name, &Report::new(experiment, Vec::new(), frames))
}

/// The figure of a report; checked.
pub fn drawn(name: &str, report: &Report<'_>) -> String {
    let svg = figure_svg(report).unwrap().unwrap();
    if let Some(folder) = std::env::var_os("DPGP_FIGURES") {
        std::fs::write(Path::new(&folder).join(format!("{name}.svg")), &svg).unwrap();
    }
    check(&svg);
    // Only marks are counted, not the words before them.
    svg.split_once("</desc>\n").map_or(svg.clone(), |(_, marks)| marks.to_owned())
}

/// A frame from its name and the names of its columns, and its rows.
pub fn example_table<const N: usize>(words: &str, rows: &[[f64; N]]) -> FigureTable {
    let mut words = words.split_whitespace();
    let frame = FigureTable::new(words.next().unwrap());
    let columns = words.enumerate();
    columns.fold(frame, |frame, (i, column)| frame.with_column(column, rows.iter().map(|row| row[i])))
}

/// A row with a spread over five replicates.
pub fn row(cell: usize, metric: &str, value: f64, spread: Option<f64>) -> MetricSummary {
    MetricSummary {
        cell,
        metric: metric.to_owned(),
        value,
        spread,
        spread_kind: SpreadKind::StandardError,
        repeats: 5,
        replicates: vec![value; 5],
        fold_spreads: Vec::new(),
        certificate: Certificate::none(),
        jitter: 0.0,
        undefined: None,
    }
}

/// Rows with these metrics for each cell, over four replicates, by the positions of cell and metric.
pub fn rows(experiment: &Experiment, metrics: &[&str], value: impl Fn(usize, usize) -> f64) -> Vec<MetricSummary> {
    let cells = 0..experiment.cells.len();
    let all = cells.flat_map(|cell| (0..metrics.len()).map(move |metric| (cell, metric)));
    all.map(|(cell, metric)| MetricSummary {
        spread_kind: SpreadKind::SdReplicates,
        repeats: 4,
        ..row(cell, metrics[metric], value(cell, metric), Some(0.1))
    })
    .collect()
}

/// The number of elements of a kind.
pub fn count(svg: &str, element: &str) -> usize {
    svg.matches(&format!("<{element} ")).count()
}

/// The number of lines of a colour.
pub fn lines_of(svg: &str, colour: &str) -> usize {
    svg.split('<')
        .filter(|e| (e.starts_with("polyline") || e.starts_with("line")) && e.contains(&format!("stroke=\"{colour}\"")))
        .count()
}

/// Nothing lies outside the canvas, and every number is finite.
fn check(svg: &str) {
    assert!(!svg.contains("NaN") && !svg.contains("inf\""), "a number is not finite");
    let view = svg.split("viewBox=\"0 0 ").nth(1).unwrap().split('"').next().unwrap();
    let size = spot(view, ' ');
    for element in svg.split('<').skip(2) {
        for PlotPoint { x, y } in corners(element) {
            let inside = (-1.0..=size.x + 1.0).contains(&x) && (-1.0..=size.y + 1.0).contains(&y);
            assert!(inside, "outside of {view}: {element}");
        }
    }
}

fn spot(text: &str, between: char) -> PlotPoint {
    let (x, y) = text.split_once(between).unwrap();
    PlotPoint::new(x.parse().unwrap(), y.parse().unwrap())
}

/// The outermost points of an element; of a text roughly.
fn corners(element: &str) -> Vec<PlotPoint> {
    match element.split(' ').next() {
        Some("polyline" | "polygon") => {
            let points = attribute(element, "points").unwrap().split_whitespace();
            points.map(|point| spot(point, ',')).collect()
        }
        Some("circle") => {
            let [x, y, r] = ["cx", "cy", "r"].map(|name| number(element, name));
            vec![PlotPoint::new(x - r, y - r), PlotPoint::new(x + r, y + r)]
        }
        Some("rect") => {
            let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| number(element, name));
            vec![PlotPoint::new(x, y), PlotPoint::new(x + width, y + height)]
        }
        Some("text") => {
            let at = ["x", "y", "font-size"].map(|name| number(element, name));
            let letters = element.split('>').nth(1).unwrap().trim().chars().count();
            text_corners(element, PlotPoint::new(at[0], at[1]), 0.5 * at[2] * letters as f64 / 1.24)
        }
        _ => Vec::new(),
    }
}

fn text_corners(element: &str, at: PlotPoint, long: f64) -> Vec<PlotPoint> {
    let before = match attribute(element, "text-anchor") {
        Some("middle") => long / 2.0,
        Some("end") => long,
        _ => 0.0,
    };
    let ends = [-before, long - before];
    let upward = attribute(element, "transform").is_some();
    ends.map(|end| if upward { at.moved(0.0, -end) } else { at.moved(end, 0.0) }).to_vec()
}

fn number(element: &str, name: &str) -> f64 {
    attribute(element, name).unwrap().parse().unwrap()
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    element.split_once(&format!(" {name}=\""))?.1.split('"').next()
}
