//! The lines that a figure of a metric along an axis has, by panel.

use super::family::{Point, standard_error};
use super::report::{Report, ReportRow, named};
use crate::spec::LinesFigure;

/// The points of one label.
pub(super) struct Line {
    pub label: String,
    /// Its place among the labels: counted from 0, and 0 for the first to 1 for the last.
    pub place: usize,
    pub rank: f64,
    pub points: Vec<Point>,
    /// What is published, by place.
    pub published: Vec<(f64, f64)>,
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
        let one = |(place, label): (usize, &String)| {
            let own = || rows.iter().filter(|row| row.labels[line] == *label);
            let shown = |value: f64| setting.least.is_none_or(|least| value >= least);
            let (points, below): (Vec<Point>, Vec<Point>) =
                own().filter_map(|row| point(row, x)).partition(|point| shown(point.value));
            Line {
                label: format!("{} = {label}", setting.lines),
                place,
                rank: place as f64 / last,
                points,
                published: own().filter_map(|row| published(row, x)).filter(|(_, y)| shown(*y)).collect(),
                below: below.len(),
            }
        };
        let lines =
            axes[line].labels.iter().enumerate().map(one).filter(|line| !line.points.is_empty()).collect();
        Panel { lines, title: split.map_or(title.clone(), |axis| named(&axes[axis], &title)) }
    };
    titles.into_iter().map(panel).filter(|panel| !panel.lines.is_empty()).collect()
}

/// The point of a row; none where the label is no finite number.
fn point(row: &ReportRow, x: usize) -> Option<Point> {
    Some(Point { x: place(row, x)?, value: row.row.value, error: standard_error(row) })
}

fn published(row: &ReportRow, x: usize) -> Option<(f64, f64)> {
    Some((place(row, x)?, row.published.as_ref()?.value))
}

fn place(row: &ReportRow, x: usize) -> Option<f64> {
    row.labels[x].parse::<f64>().ok().filter(|x| x.is_finite())
}
