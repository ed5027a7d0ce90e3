//! Values with their standard errors, as points of a line.

use crate::report::{Report, ReportRow};
use dpgp_plot::{BLACK, LegendEntry, Mark, Pen, PlotPoint, Swatch};

/// Standard errors that a bar shows on either side.
const BARS: f64 = 2.0;

/// A value with its standard error at a place of the x axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlottedEstimate {
    pub at: PlotPoint,
    pub error: f64,
}

impl PlottedEstimate {
    pub fn new(x: f64, row: &ReportRow) -> Self {
        Self { at: PlotPoint::new(x, row.row.value), error: row.standard_error() }
    }

    /// The same, divided by another value.
    pub fn divide_by(self, unit: f64) -> Self {
        Self { at: PlotPoint::new(self.at.x, self.at.y / unit), error: self.error / unit }
    }

    /// The ends of its bar.
    pub fn error_bar_ends(&self) -> [PlotPoint; 2] {
        [-BARS, BARS].map(|factor| self.at.moved(0.0, factor * self.error))
    }
}

/// The members of a family in a cell, the metrics NAME/NUMBER, by their number, each with its row.
pub fn family_estimates<'a>(
    report: &'a Report<'_>,
    cell: usize,
    family: &str,
) -> Vec<(PlottedEstimate, &'a ReportRow)> {
    let rows = report.rows.iter().filter(|row| row.row.cell == cell);
    let mut members: Vec<(PlottedEstimate, &ReportRow)> = rows
        .filter_map(|row| Some((PlottedEstimate::new(member_number(&row.row.metric, family)?, row), row)))
        .collect();
    members.sort_by(|(a, _), (b, _)| a.at.x.total_cmp(&b.at.x));
    members
}

fn member_number(metric: &str, family: &str) -> Option<f64> {
    metric.strip_prefix(family)?.strip_prefix('/')?.parse().ok()
}

/// A line through estimates, without their errors; one that stands at infinity is not joined to the others.
pub fn estimate_line(estimates: &[PlottedEstimate], pen: Pen) -> Mark {
    let finite = estimates.iter().map(|estimate| estimate.at).filter(|at| at.x.is_finite());
    Mark::line(finite, pen)
}

/// A line through estimates, and a bar of two standard errors at each.
pub fn line_with_error_bars(estimates: &[PlottedEstimate], pen: Pen) -> Vec<Mark> {
    let bars = estimates.iter().map(|estimate| Mark::line(estimate.error_bar_ends(), pen.thin()));
    std::iter::once(estimate_line(estimates, pen)).chain(bars).collect()
}

/// The legend of the bars.
pub fn error_bar_legend() -> LegendEntry {
    Swatch::Line(Pen::new(BLACK, 1.0)).means("bars: two standard errors")
}
