//! A tile for each label of an axis and each metric of a family, coloured by the value.

use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{BLACK, Color, RGBColor, WHITE};

use super::axis::Axis;
use super::canvas::Canvas;
use super::clip::Rect;
use super::figure::FigureError;
use super::legend::Sample;
use super::number::brief;
use super::palette::ramp;
use super::panels::{Group, Layout, groups, lettered};
use super::pen::Pen;
use super::plot::Plot;
use super::report::{Report, ReportRow};
use crate::spec::TilesFigure;

/// The height of a row of tiles, and of what stands around them.
const ROW: f64 = 44.0;
const AROUND: f64 = 96.0;
const LEGEND_STEPS: usize = 5;
const TEXT: f64 = 13.0;

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &TilesFigure) -> Result<String, FigureError> {
    let sheet = Sheet::new(report, setting);
    let height = AROUND + ROW * sheet.metrics.len() as f64;
    let layout = Layout::new(sheet.panels.len(), None, height);
    layout.draw(&report.experiment.meta.title, sheet.legend(), |canvas, i, rect| sheet.panel(canvas, i, rect))
}

/// What all panels share.
struct Sheet<'a> {
    setting: &'a TilesFigure,
    panels: Vec<Group>,
    /// The labels of the x axis, and its place among the axes.
    labels: &'a [String],
    axis: usize,
    /// The metrics of the family, the first lowest.
    metrics: Vec<&'a str>,
    rows: Vec<&'a ReportRow>,
    range: (f64, f64),
}

impl<'a> Sheet<'a> {
    fn new(report: &'a Report<'a>, setting: &'a TilesFigure) -> Self {
        let axes = &report.experiment.axes;
        let axis = axes.iter().position(|axis| axis.name == setting.x).unwrap_or(0);
        let labels = axes.get(axis).map_or(&[][..], |axis| &axis.labels);
        let rows: Vec<&ReportRow> =
            report.rows.iter().filter(|row| member(&row.row.metric, &setting.metric).is_some()).collect();
        let mut metrics: Vec<&str> = Vec::new();
        for row in &rows {
            if !metrics.contains(&row.row.metric.as_str()) {
                metrics.push(&row.row.metric);
            }
        }
        let values = || rows.iter().map(|row| row.row.value);
        let range = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let mut panels = groups(report, setting.panels.as_deref(), Some(&setting.x));
        panels.retain(|group| rows.iter().any(|row| group.cells.contains(&row.row.cell)));
        Self { setting, panels, labels, axis, metrics, rows, range }
    }

    fn panel(&self, canvas: &Canvas<'_>, i: usize, rect: Rect) -> Result<(), FigureError> {
        let group = &self.panels[i];
        let x = Axis::between((0.0, self.labels.len() as f64));
        let plot = Plot { canvas, rect, x, y: Axis::between((0.0, self.metrics.len() as f64)) };
        for row in self.rows.iter().filter(|row| group.cells.contains(&row.row.cell)) {
            self.tile(&plot, row)?;
        }
        canvas.outline(rect, Pen::new(BLACK, 1.0))?;
        let metrics: Vec<&str> =
            self.metrics.iter().filter_map(|metric| member(metric, &self.setting.metric)).collect();
        plot.title(&lettered(&group.title, i, self.panels.len()))?;
        plot.x_names(self.labels, &self.setting.x_label)?;
        plot.y_names(&metrics, &self.setting.y_label)
    }

    fn tile(&self, plot: &Plot<'_, '_>, row: &ReportRow) -> Result<(), FigureError> {
        let column = self.labels.iter().position(|label| *label == row.labels[self.axis]);
        let line = self.metrics.iter().position(|metric| *metric == row.row.metric);
        let (Some(column), Some(line)) = (column, line) else { return Ok(()) };
        let (left, low) = (column as f64, line as f64);
        let colour = ramp(self.fraction(row.row.value));
        let corners = [(left, low), (left + 1.0, low), (left + 1.0, low + 1.0), (left, low + 1.0)];
        plot.area(corners, colour.to_rgba())?;
        let text = brief(format!("{:.1e}", row.row.value).parse().unwrap_or(row.row.value));
        let middle = plot.at((left + 0.5, low + 0.5));
        plot.canvas.coloured(&text, middle, TEXT, (HPos::Center, VPos::Center), readable(colour))
    }

    fn fraction(&self, value: f64) -> f64 {
        let (least, most) = self.range;
        if most > least { (value - least) / (most - least) } else { 0.0 }
    }

    fn legend(&self) -> Vec<(Sample, String)> {
        let (least, most) = self.range;
        let entry = |i: usize| {
            let t = i as f64 / (LEGEND_STEPS - 1) as f64;
            let value = brief(format!("{:.2e}", least + t * (most - least)).parse().unwrap_or(least));
            let text = if i == 0 { format!("{}: {value}", self.setting.label) } else { value };
            (Sample::Area(ramp(t).to_rgba()), text)
        };
        if least <= most { (0..LEGEND_STEPS).map(entry).collect() } else { Vec::new() }
    }
}

/// What stands after the family's name in the name of a metric.
fn member<'a>(metric: &'a str, family: &str) -> Option<&'a str> {
    metric.strip_prefix(family)?.strip_prefix(['/', '@'])
}

/// Black on light colours and white on dark ones.
fn readable(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let light = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    if light > 140.0 { BLACK } else { WHITE }
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{count, drawn, row, selection};
    use super::*;

    const FIGURE: &str = "[grid]\n\"privacy.epsilon\" = [0.01, 0.1, 1.0, 10.0]\n[figure.tiles]\nx = \"epsilon\"\n\
                          metric = \"probability\"\nx_label = \"epsilon\"\ny_label = \"lengthscale (years)\"\n\
                          label = \"probability\"\n";

    #[test]
    fn each_label_and_metric_has_a_tile() {
        let experiment = selection(FIGURE);
        let tile = |cell: usize| {
            let fits =
                (0..5usize).map(move |k| (-((k as f64 - 4.0 + cell as f64).powi(2)) / 3.0).exp() / 3.0);
            fits.enumerate()
                .map(move |(k, value)| row(cell, &format!("probability@{}", 5u32.pow(k as u32)), value, None))
        };
        let other = [row(0, "probability", 900.0, None), row(0, "probability-sd@1", 900.0, None)];
        let rows = (0..4).flat_map(tile).chain(other).collect();
        let svg = drawn("tiles", &Report::new(&experiment, rows, Vec::new()));
        assert_eq!(count(&svg, "polygon"), 4 * 5);
        assert_eq!(svg.matches("\n625\n").count(), 1, "the tick of the last metric");
        assert!(!svg.contains("900"));
    }

    #[test]
    fn nothing_to_show_is_an_empty_figure() {
        let experiment = selection(FIGURE);
        drawn("tiles-empty", &Report::new(&experiment, Vec::new(), Vec::new()));
    }

    #[test]
    fn members_of_a_family() {
        let of = |metric| member(metric, "probability");
        assert_eq!(
            [of("probability@25"), of("probability/a"), of("probability"), of("probability-sd/a")],
            [Some("25"), Some("a"), None, None]
        );
    }
}
