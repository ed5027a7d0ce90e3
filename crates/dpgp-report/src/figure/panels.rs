//! Panels: the groups of cells that share one, the words for their labels, axes and metrics, and the marks in them for
//! values with standard errors and for numbers from other sources.

use crate::report::{Report, ReportRow};
use dpgp_number::text::format_four_digits_trimmed;
use dpgp_plot::{BLACK, LegendEntry, Mark, MarkShape, Pen, PlotPoint, Swatch};
use dpgp_spec::ReferenceValueOwner;

/// The cells of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelCells {
    pub title: String,
    pub cells: Vec<usize>,
}

impl PanelCells {
    /// Its first cell: the only one, unless cells are overlaid.
    pub fn first_cell(&self) -> usize {
        self.cells[0]
    }

    /// Its title, then further words.
    pub fn title_followed_by(&self, words: &str) -> String {
        if self.title.is_empty() { words.to_owned() } else { format!("{}, {words}", self.title) }
    }
}

/// A panel for each combination of labels, except those of the axes `overlay`, among the cells that the report holds;
/// the axis `panels` orders them. Titles name what differs.
pub fn group_cells_into_panels(report: &Report<'_>, panels: Option<&str>, overlay: &[&str]) -> Vec<PanelCells> {
    let axes = &report.experiment.axes;
    let mut split: Vec<usize> = (0..axes.len()).filter(|axis| !overlay.contains(&axes[*axis].name.as_str())).collect();
    split.sort_by_key(|axis| Some(axes[*axis].name.as_str()) != panels);
    let mut cells: Vec<usize> = (0..report.experiment.cells.len()).filter(|cell| report.has_cell(*cell)).collect();
    cells.sort_by_cached_key(|cell| label_positions(report, &split, *cell));
    // A label that is the same everywhere adds nothing.
    split.retain(|axis| cells.iter().any(|cell| report.label(*cell, *axis) != report.label(cells[0], *axis)));
    let together = cells.chunk_by(|a, b| label_positions(report, &split, *a) == label_positions(report, &split, *b));
    together.map(|cells| PanelCells { title: panel_title(report, &split, cells[0]), cells: cells.to_vec() }).collect()
}

/// The groups that have a frame of this name in their first cell, each in a panel of its own.
pub fn group_cells_with_frame_into_panels(report: &Report<'_>, panels: Option<&str>, frame: &str) -> Vec<PanelCells> {
    let mut groups = group_cells_into_panels(report, panels, &[]);
    groups.retain(|group| report.frames_of(group.first_cell(), frame).next().is_some());
    groups
}

/// The places of a cell's labels on some axes.
fn label_positions(report: &Report<'_>, axes: &[usize], cell: usize) -> Vec<usize> {
    axes.iter().map(|axis| report.label_index(cell, *axis)).collect()
}

fn panel_title(report: &Report<'_>, axes: &[usize], cell: usize) -> String {
    let labels = axes.iter().map(|axis| report.display_label_with_axis(*axis, report.label(cell, *axis)));
    labels.collect::<Vec<_>>().join(", ")
}

impl Report<'_> {
    /// An axis or a metric in the words of the figure.
    pub fn display_name<'b>(&'b self, name: &'b str) -> &'b str {
        self.experiment.figure_names.get(name).map_or(name, String::as_str)
    }

    /// A label of an axis in the words of the figure. A number stands alone, and an infinite epsilon is no privacy.
    pub fn display_label(&self, axis: usize, label: &str) -> String {
        if let Some(words) = self.experiment.figure_names.get(label) {
            return words.clone();
        }
        match label.parse::<f64>() {
            Ok(f64::INFINITY) => self.infinity_name(axis).to_owned(),
            Ok(number) => format_four_digits_trimmed(number),
            Err(_) => label.to_owned(),
        }
    }

    /// The same, but a number is named by its axis.
    pub fn display_label_with_axis(&self, axis: usize, label: &str) -> String {
        let value = self.display_label(axis, label);
        let name = self.display_name(&self.experiment.axes[axis].name);
        if value.parse::<f64>().is_ok() { format!("{name} = {value}") } else { value }
    }

    /// What infinity is called on an axis.
    pub fn infinity_name(&self, axis: usize) -> &'static str {
        if self.experiment.axes[axis].name == "epsilon" { "no privacy" } else { "inf" }
    }

    /// Whether all labels of an axis are numbers.
    pub fn is_numeric(&self, axis: usize) -> bool {
        self.experiment.axes[axis].labels.iter().all(|label| label.parse::<f64>().is_ok())
    }
}

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
pub fn metric_family_estimates<'a>(
    report: &'a Report<'_>,
    cell: usize,
    family: &str,
) -> Vec<(PlottedEstimate, &'a ReportRow)> {
    let rows = report.rows.iter().filter(|row| row.row.cell == cell);
    let mut members: Vec<(PlottedEstimate, &ReportRow)> = rows
        .filter_map(|row| Some((PlottedEstimate::new(parse_family_member_number(&row.row.metric, family)?, row), row)))
        .collect();
    members.sort_by(|(a, _), (b, _)| a.at.x.total_cmp(&b.at.x));
    members
}

/// The number after the name of a family and a slash.
pub fn parse_family_member_number(metric: &str, family: &str) -> Option<f64> {
    metric.strip_prefix(family)?.strip_prefix('/')?.parse().ok()
}

/// A line through estimates, without their errors; one that stands at infinity is not joined to the others.
pub fn estimate_line(estimates: &[PlottedEstimate], pen: Pen) -> Mark {
    let finite = estimates.iter().map(|estimate| estimate.at).filter(|at| at.x.is_finite());
    Mark::line(finite, pen)
}

/// A line through estimates, and a bar of two standard errors at each.
pub fn line_with_error_bars(estimates: &[PlottedEstimate], pen: Pen) -> Vec<Mark> {
    let bars = estimates.iter().map(|estimate| Mark::line(estimate.error_bar_ends(), pen.solid_hairline()));
    std::iter::once(estimate_line(estimates, pen)).chain(bars).collect()
}

/// The legend of the bars.
pub fn error_bar_legend() -> LegendEntry {
    Swatch::Line(Pen::new(BLACK, 1.0)).with_meaning("bars: two standard errors")
}

/// Rings for a paper's numbers, squares for its authors' files, crosses for references.
pub fn reference_mark(owner: ReferenceValueOwner, spots: Vec<PlotPoint>, radius: f64, pen: Pen) -> Mark {
    match owner {
        ReferenceValueOwner::Paper => Mark::Rings(spots, radius, pen),
        ReferenceValueOwner::Authors => Mark::Strokes(spots, MarkShape::Square, radius, pen),
        ReferenceValueOwner::Reference => Mark::Strokes(spots, MarkShape::Times, radius, pen),
    }
}

/// The spots of one owner's numbers, at the places of some rows along an axis.
pub fn reference_points(rows: &[&ReportRow], axis: usize, owner: ReferenceValueOwner) -> Vec<PlotPoint> {
    let mut spots = Vec::new();
    for row in rows {
        let Some(place) = row.axis_value(axis) else { continue };
        let own = row.reference_comparisons().filter(|judged| judged.counterpart.owner == owner);
        spots.extend(own.map(|judged| PlotPoint::new(place, judged.counterpart.value)));
    }
    spots
}

/// The same in a legend.
pub fn reference_legend_entry(owner: ReferenceValueOwner, radius: f64, pen: Pen) -> LegendEntry {
    let swatch = match owner {
        ReferenceValueOwner::Paper => Swatch::Ring(radius, pen),
        ReferenceValueOwner::Authors => Swatch::Mark(MarkShape::Square, radius, pen),
        ReferenceValueOwner::Reference => Swatch::Mark(MarkShape::Times, radius, pen),
    };
    swatch.with_meaning(value_owner_legend_text(owner))
}

/// Says in a legend where the numbers of an owner come from.
pub fn value_owner_legend_text(owner: ReferenceValueOwner) -> &'static str {
    match owner {
        ReferenceValueOwner::Paper => "printed in the paper",
        ReferenceValueOwner::Authors => "the authors' files",
        ReferenceValueOwner::Reference => "our own reference",
    }
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::experiment;
    use super::*;

    #[test]
    fn numbers_stand_alone_or_are_named_by_their_axis() {
        let spec = "[grid]\n\"privacy.epsilon\" = [0.5, inf]\n[figure_names]\nmethod = \"way\"\nb = \"the other\"\n";
        let experiment = experiment(&["a", "b"], spec);
        let report = Report::new(&experiment, Vec::new(), Vec::new());
        let [epsilon, method] = ["epsilon", "method"].map(|name| report.axis_index(name).unwrap());
        assert_eq!(["0.5", "inf"].map(|label| report.display_label(epsilon, label)), ["0.5", "no privacy"]);
        assert_eq!(
            ["0.5", "inf"].map(|label| report.display_label_with_axis(epsilon, label)),
            ["epsilon = 0.5", "no privacy"]
        );
        assert_eq!(["a", "b"].map(|label| report.display_label_with_axis(method, label)), ["a", "the other"]);
        assert_eq!(report.display_name("method"), "way");
        assert!(report.is_numeric(epsilon) && !report.is_numeric(method));
    }
}
