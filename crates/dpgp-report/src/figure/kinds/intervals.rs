//! One line per cell: our value and spread, beside the numbers from other sources.

use super::*;
use dpgp_spec::{IntervalsFigure, ReferenceValue};

const OURS: Pen = Pen::new(COLOURS[0], 2.0);
const OTHERS: Pen = Pen::new(COLOURS[1], 2.0);
const BETWEEN: Pen = Pen::new(GREY, 1.0);
const RADIUS: f64 = 5.0;
/// The distance of our values above the middle of a line, and of the others below it.
const ASIDE: f64 = 0.14;
/// The height of a line, of what stands around them, and of that above them.
const ROW: f64 = 30.0;
const AROUND: f64 = 68.0;
const TOP: f64 = 12.0;

/// A value with its spread.
struct ValueWithSpread {
    value: f64,
    spread: f64,
}

impl ValueWithSpread {
    fn new(counterpart: &ReferenceValue) -> Self {
        Self { value: counterpart.value, spread: counterpart.spread.unwrap_or(0.0) }
    }

    fn ends(&self) -> [f64; 2] {
        [self.value - self.spread, self.value + self.spread]
    }

    fn bar(&self, height: f64, pen: Pen) -> Mark {
        Mark::line(self.ends().map(|end| (end, height)), pen)
    }
}

/// One line of the figure.
struct ValueComparisonRow {
    name: String,
    /// The place of its label on the axis of groups.
    group: usize,
    ours: ValueWithSpread,
    others: Vec<(ReferenceValueOwner, ValueWithSpread)>,
}

impl PictureBuilder for IntervalsFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        let mut lines: Vec<ValueComparisonRow> =
            self.metrics.iter().flat_map(|metric| metric_lines(self, report, metric)).collect();
        lines.sort_by_key(|line| line.group);
        // The first line stands highest.
        lines.reverse();
        let between = (1..lines.len()).filter(|&i| lines[i - 1].group != lines[i].group);
        let between = between.map(|i| Mark::Across(i as f64, BETWEEN));
        let own = lines.iter().enumerate().flat_map(|(i, line)| marks(line, i as f64 + 0.5));
        let marks = between.chain(own).collect();
        let names = lines.iter().map(|line| line.name.clone()).collect();
        let label =
            single_numeric_axis(report).map_or("", |axis| report.display_name(&report.experiment.axes[axis].name));
        let plot = Plot::new(
            PlotAxis::with_grid_lines(scale(self, &lines), &self.label),
            PlotAxis::with_category_names(names, label),
            marks,
        );
        let mut legend = vec![Swatch::Disc(RADIUS, OURS.colour).with_meaning("ours ± sd")];
        let shown =
            |owner: &ReferenceValueOwner| lines.iter().flat_map(|line| &line.others).any(|(other, _)| other == owner);
        legend.extend(
            ReferenceValueOwner::ALL
                .into_iter()
                .filter(shown)
                .map(|owner| reference_legend_entry(owner, RADIUS, OTHERS)),
        );
        let layout = Layout::new(AROUND + ROW * lines.len() as f64).with_title_height(TOP);
        Ok(Picture { legend, layout, panels: vec![Panel::new("", plot)] })
    }
}

/// The only axis, if its labels are numbers: they stand along it without its name.
fn single_numeric_axis(report: &Report<'_>) -> Option<usize> {
    (report.experiment.axes.len() == 1 && report.is_numeric(0)).then_some(0)
}

fn metric_lines(setting: &IntervalsFigure, report: &Report<'_>, metric: &str) -> Vec<ValueComparisonRow> {
    let rows = report.rows.iter().filter(|row| row.row.metric == metric);
    rows.map(|row| build_interval_line(setting, report, row)).collect()
}

fn build_interval_line(setting: &IntervalsFigure, report: &Report<'_>, row: &ReportRow) -> ValueComparisonRow {
    let metric = (setting.metrics.len() > 1).then(|| report.display_name(&row.row.metric).to_owned());
    let groups = setting.groups.as_deref().and_then(|name| report.axis_index(name));
    let axes = row.labels.iter().enumerate();
    let mut labels: Vec<String> = match single_numeric_axis(report) {
        Some(axis) => vec![report.display_label(axis, &row.labels[axis])],
        None => axes.map(|(axis, label)| report.display_label_with_axis(axis, label)).collect(),
    };
    if let Some(axis) = groups {
        labels[..=axis].rotate_right(1);
    }
    ValueComparisonRow {
        name: labels.into_iter().chain(metric).collect::<Vec<_>>().join(", "),
        group: groups.map_or(0, |axis| report.label_index(row.row.cell, axis)),
        ours: ValueWithSpread { value: row.row.value, spread: row.row.spread.unwrap_or(0.0) },
        others: row
            .reference_comparisons()
            .map(|judged| (judged.counterpart.owner, ValueWithSpread::new(&judged.counterpart)))
            .collect(),
    }
}

/// The range of all bars; from zero, unless the spec says otherwise. On a logarithmic scale a bar that reaches zero
/// stops at its value.
fn scale(setting: &IntervalsFigure, lines: &[ValueComparisonRow]) -> Scale {
    let spreads = lines.iter().flat_map(|line| line.others.iter().map(|(_, spread)| spread).chain([&line.ours]));
    let reached = spreads.flat_map(|s| s.ends().map(|end| if setting.log && end <= 0.0 { s.value } else { end }));
    if setting.log || setting.close { Scale::covering(setting.log, reached) } else { Scale::from_zero(reached) }
}

/// The spread as a bar and the value as a dot: filled for ours, by its owner for another.
fn marks(line: &ValueComparisonRow, height: f64) -> Vec<Mark> {
    let (above, below) = (height + ASIDE, height - ASIDE);
    let dot = Mark::dots(&[PlotPoint::new(line.ours.value, above)], RADIUS, OURS.colour);
    let mut marks = vec![line.ours.bar(above, OURS), dot];
    for (owner, other) in &line.others {
        let spot = vec![PlotPoint::new(other.value, below)];
        marks.extend([other.bar(below, OTHERS), reference_mark(*owner, spot, RADIUS, OTHERS)]);
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::{count, drawn, experiment, lines_of, row};

    #[test]
    fn each_row_has_a_name_a_bar_and_a_dot() {
        let figure = "[figure.intervals]\nmetrics = [\"rmse\"]\nlabel = \"RMSE (cm)\"\n";
        let label = "a-label-that-is-much-longer-than-the-room-beside-a-y-axis";
        let experiment = experiment(&["short", label], figure);
        let rows = vec![row(0, "rmse", 2.0, Some(0.5)), row(1, "rmse", 8.0, None), row(1, "mae", 90.0, None)];
        let svg = drawn("intervals", &Report::new(&experiment, rows, Vec::new()));
        assert_eq!((count(&svg, "circle"), lines_of(&svg, "#005FAA")), (2 + 1, 2), "a sample in the legend");
        assert!(svg.contains(label) && svg.contains("\n0\n") && !svg.contains("printed"));
        assert!(svg.find("short") < svg.find(label) || svg.contains("short"), "both are named");
    }
}
