//! Metrics that are named NAME/NUMBER, as the points of a line.

use super::figure::FigureError;
use super::pen::Pen;
use super::plot::Plot;
use super::report::{Report, ReportRow};
use crate::spec::SpreadKind;

/// How many standard errors a bar shows on either side.
const BARS: f64 = 2.0;

/// A value with its standard error at a place of the x axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub x: f64,
    pub value: f64,
    pub error: f64,
}

/// The members of a family in a cell, by their number.
pub(super) fn members(report: &Report<'_>, cell: usize, family: &str) -> Vec<Point> {
    let member = |row: &ReportRow| {
        let number = row.row.metric.strip_prefix(family)?.strip_prefix('/')?.parse().ok()?;
        Some(Point { x: number, value: row.row.value, error: standard_error(row) })
    };
    let mut members: Vec<Point> =
        report.rows.iter().filter(|row| row.row.cell == cell).filter_map(member).collect();
    members.sort_by(|a, b| a.x.total_cmp(&b.x));
    members
}

/// The standard error of the mean over replicates; zero where there is no spread.
pub(super) fn standard_error(row: &ReportRow) -> f64 {
    let spread = row.row.spread.unwrap_or(0.0);
    match row.row.spread_kind {
        SpreadKind::StandardError | SpreadKind::None => spread,
        SpreadKind::SdFolds | SpreadKind::SdReplicates => spread / (row.row.repeats.max(1) as f64).sqrt(),
    }
}

/// A line through points, with bars of two standard errors.
pub(super) fn draw(plot: &Plot<'_, '_>, points: &[Point], pen: Pen) -> Result<(), FigureError> {
    plot.line(points.iter().map(|point| (point.x, point.value)), pen)?;
    let bar = Pen { width: 1.0, dash: None, ..pen };
    points.iter().try_for_each(|point| {
        let reach = BARS * point.error;
        plot.line([(point.x, point.value - reach), (point.x, point.value + reach)], bar)
    })
}
