//! The lines that a figure of a metric along an axis has, by panel.

use super::report::{Report, ReportRow, named};
use crate::spec::{LinesFigure, SpreadKind};

/// A point with its error bar, and what is published there.
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
    pub error: f64,
    pub published: Option<f64>,
}

/// The points of one label.
pub(super) struct Line {
    pub label: String,
    /// Its place among the labels: 0 for the first, 1 for the last.
    pub rank: f64,
    pub points: Vec<Point>,
    /// Points that lie below the axis.
    pub below: usize,
}

/// The lines of a panel.
pub(super) struct Panel {
    pub title: String,
    pub lines: Vec<Line>,
}

/// The panels of a figure that have lines; none if it names an axis that is not there.
pub(super) fn panels(report: &Report<'_>, setting: &LinesFigure) -> Vec<Panel> {
    let axes = &report.experiment.axes;
    let position = |name: &str| axes.iter().position(|axis| axis.name == name);
    let (Some(x), Some(line)) = (position(&setting.x), position(&setting.lines)) else { return Vec::new() };
    let split = setting.panels.as_deref().and_then(position);
    let titles = split.map_or_else(|| vec![String::new()], |axis| axes[axis].labels.clone());
    let panel = |title: String| {
        let here = |row: &&ReportRow| split.is_none_or(|axis| row.labels[axis] == title);
        let rows: Vec<&ReportRow> =
            report.rows.iter().filter(|row| row.row.metric == setting.metric).filter(here).collect();
        let last = axes[line].labels.len().saturating_sub(1).max(1) as f64;
        let one = |(rank, label): (usize, &String)| {
            let points = rows.iter().filter(|row| row.labels[line] == *label).filter_map(|row| point(row, x));
            let (points, below): (Vec<Point>, Vec<Point>) =
                points.partition(|point| setting.least.is_none_or(|least| point.y >= least));
            Line {
                label: format!("{} = {label}", setting.lines),
                rank: rank as f64 / last,
                points,
                below: below.len(),
            }
        };
        let lines =
            axes[line].labels.iter().enumerate().map(one).filter(|line| !line.points.is_empty()).collect();
        Panel { lines, title: split.map_or(title.clone(), |axis| named(&axes[axis], &title)) }
    };
    titles.into_iter().map(panel).filter(|panel| !panel.lines.is_empty()).collect()
}

/// The point of a row; none where the label is no finite number. Its bar is the standard error.
fn point(row: &ReportRow, x: usize) -> Option<Point> {
    let x = row.labels[x].parse::<f64>().ok().filter(|x| x.is_finite())?;
    let spread = row.row.spread.unwrap_or(0.0);
    let error = match row.row.spread_kind {
        SpreadKind::StandardError | SpreadKind::None => spread,
        SpreadKind::SdFolds | SpreadKind::SdReplicates => spread / (row.row.repeats.max(1) as f64).sqrt(),
    };
    Some(Point { x, y: row.row.value, error, published: row.published.as_ref().map(|p| p.value) })
}
