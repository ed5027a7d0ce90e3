//! Coverage of central intervals against their mass, beside the ideal diagonal, or along an axis of the grid: a panel for
//! each mass, with a line at the nominal coverage.

use super::*;
use dpgp_spec::CalibrationFigure;

const HEIGHT: f64 = 270.0;
const UNIT: Scale = Scale::between(0.0, 1.0);
const DIAGONAL: Pen = Pen::new(BLACK, 1.0).dashed();

impl PictureBuilder for CalibrationFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        if let Some(x) = self.x.as_deref().and_then(|name| report.axis_index(name)) {
            return Ok(coverage_picture(self, report, x));
        }
        let mut groups = group_cells_into_panels(report, self.panels.as_deref(), &[self.lines.as_str()]);
        groups.retain(|group| {
            group.cells.iter().any(|cell| !metric_family_estimates(report, *cell, &self.metric).is_empty())
        });
        let panels = groups.iter().map(|group| {
            let (x, y) = (PlotAxis::with_numbers(UNIT, &self.x_label), PlotAxis::with_grid_lines(UNIT, &self.label));
            Panel::new(&group.title, Plot::new(x, y, marks(self, report, group)))
        });
        let layout = Layout::new(HEIGHT).with_columns(self.columns);
        Ok(Picture { legend: legend(self, report), layout, panels: panels.collect() })
    }
}

fn marks(setting: &CalibrationFigure, report: &Report<'_>, group: &PanelCells) -> Vec<Mark> {
    let mut marks = vec![Mark::line([(0.0, 0.0), (1.0, 1.0)], DIAGONAL)];
    for &cell in &group.cells {
        let number = report.axis_index(&setting.lines).map_or(0, |axis| report.label_index(cell, axis));
        let points: Vec<PlottedEstimate> =
            metric_family_estimates(report, cell, &setting.metric).into_iter().map(|(point, _)| point).collect();
        marks.extend(line_with_error_bars(&points, method_pen(number)));
    }
    marks
}

fn legend(setting: &CalibrationFigure, report: &Report<'_>) -> Vec<LegendEntry> {
    let lines = method_legend(report, &setting.lines).into_iter();
    lines.chain([Swatch::Line(DIAGONAL).with_meaning("calibrated"), error_bar_legend()]).collect()
}

const COVERAGE_HEIGHT: f64 = 290.0;
const DOT: f64 = 3.0;
const RING: f64 = 5.0;
const NOMINAL: Pen = Pen::new(BLACK, 1.0).dashed();

/// A mass and the metric that is its coverage.
#[derive(Debug, Clone, PartialEq)]
struct NominalCoverage {
    metric: String,
    value: f64,
}

/// A picture with a row of panels for each group of cells, and in it a panel for each mass.
fn coverage_picture(setting: &CalibrationFigure, report: &Report<'_>, x: usize) -> Picture {
    let masses = nominal_coverages(report, &setting.metric);
    let rows: Vec<&ReportRow> =
        report.rows.iter().filter(|row| masses.iter().any(|mass| mass.metric == row.row.metric)).collect();
    let places: Vec<f64> = rows.iter().filter_map(|row| row.axis_value(x)).collect();
    let scale = Scale::covering_with_infinity(true, &places);
    let axis = report.experiment.axes[x].name.as_str();
    let mut panels = Vec::new();
    for group in group_cells_into_panels(report, setting.panels.as_deref(), &[axis, setting.lines.as_str()]) {
        for mass in &masses {
            let own = rows.iter().copied().filter(|row| row.row.metric == mass.metric);
            let own: Vec<&ReportRow> = own.filter(|row| group.cells.contains(&row.row.cell)).collect();
            let title = group.title_followed_by(&format!("{} %", format_four_digits_trimmed(100.0 * mass.value)));
            let (x_side, y_side) = (
                PlotAxis::with_numbers(scale, &setting.x_label).with_infinity_name(report.infinity_name(x)),
                PlotAxis::with_grid_lines(UNIT, &setting.label),
            );
            panels.push(Panel::new(title, Plot::new(x_side, y_side, coverage_marks(setting, report, &own, x, mass))));
        }
    }
    let nominal = [Swatch::Line(NOMINAL).with_meaning("nominal mass"), error_bar_legend()];
    let legend = method_legend(report, &setting.lines).into_iter().chain(nominal).chain(reference_owner_legend(&rows));
    Picture { legend: legend.collect(), layout: Layout::new(COVERAGE_HEIGHT).with_columns(Some(masses.len())), panels }
}

/// The masses that some cell has, in their order.
fn nominal_coverages(report: &Report<'_>, family: &str) -> Vec<NominalCoverage> {
    let mut masses: Vec<NominalCoverage> = Vec::new();
    for row in &report.rows {
        let metric = &row.row.metric;
        let mass =
            parse_family_member_number(metric, family).map(|value| NominalCoverage { metric: metric.clone(), value });
        masses.extend(mass.filter(|mass| !masses.contains(mass)));
    }
    masses
}

/// The nominal coverage, and a line for each label through some rows, with the numbers of others.
fn coverage_marks(
    setting: &CalibrationFigure,
    report: &Report<'_>,
    rows: &[&ReportRow],
    x: usize,
    mass: &NominalCoverage,
) -> Vec<Mark> {
    let mut marks = vec![Mark::Across(mass.value, NOMINAL)];
    let Some(lines) = report.axis_index(&setting.lines) else { return marks };
    for (number, label) in report.experiment.axes[lines].labels.iter().enumerate() {
        let own: Vec<&ReportRow> = rows.iter().copied().filter(|row| row.labels[lines] == *label).collect();
        let points: Vec<PlottedEstimate> =
            own.iter().filter_map(|row| Some(PlottedEstimate::new(row.axis_value(x)?, row))).collect();
        let dots: Vec<PlotPoint> = points.iter().map(|point| point.at).collect();
        let pen = method_pen(number);
        marks.extend(line_with_error_bars(&points, pen));
        marks.push(Mark::dots(&dots, DOT, pen.colour));
        let others = ReferenceValueOwner::ALL.map(|owner| (owner, reference_points(&own, x, owner)));
        marks.extend(others.map(|(owner, spots)| reference_mark(owner, spots, RING, pen.solid_hairline())));
    }
    marks
}

/// Whose numbers stand beside some rows.
fn reference_owner_legend(rows: &[&ReportRow]) -> Vec<LegendEntry> {
    let mut owners = ReferenceValueOwner::ALL.to_vec();
    owners
        .retain(|owner| rows.iter().flat_map(|row| row.reference_comparisons()).any(|j| j.counterpart.owner == *owner));
    owners.into_iter().map(|owner| reference_legend_entry(owner, RING, Pen::new(BLACK, 1.0))).collect()
}

/// The pen of the label at a place.
fn method_pen(number: usize) -> Pen {
    Pen::new(COLOURS[number % COLOURS.len()], 2.0)
}

/// The labels of the axis that has a line for each.
fn method_legend(report: &Report<'_>, lines: &str) -> Vec<LegendEntry> {
    let Some(axis) = report.axis_index(lines) else { return Vec::new() };
    let labels = report.experiment.axes[axis].labels.iter().enumerate();
    labels
        .map(|(number, label)| {
            Swatch::Line(method_pen(number)).with_meaning(report.display_label_with_axis(axis, label))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::figure::fabricated::{drawn, lines_of, rows, showing};
    use crate::report::Report;

    const FIGURE: &str = "[calibration]\nmetric = \"coverage\"\nlines = \"method\"\n\
                          x_label = \"mass\"\nlabel = \"coverage\"\n";

    #[test]
    fn a_line_for_each_method_beside_the_diagonal() {
        let experiment = showing(&["aware", "naive"], FIGURE);
        let metrics = ["coverage/0.5", "coverage/0.9", "coverage-f/0.5", "rmse"];
        let values = rows(&experiment, &metrics, |cell, metric| 0.8 - 0.1 * (cell + metric) as f64);
        let svg = drawn("calibration", &Report::new(&experiment, values, Vec::new()));
        // A line and two bars in the panel, a sample in the legend; other families are left out.
        assert_eq!((lines_of(&svg, "#005FAA"), lines_of(&svg, "#C85000")), (4, 4));
        assert!(svg.contains("calibrated") && svg.contains("naive"));
    }
}

#[cfg(test)]
mod coverage_tests {
    use crate::figure::fabricated::{drawn, experiment, lines_of, rows};
    use crate::report::Report;
    use dpgp_task::Experiment;

    #[test]
    fn a_panel_for_each_mass_and_a_line_for_each_method() {
        let grid = "[grid]\n\"privacy.epsilon\" = [1.0, 10.0, inf]\n";
        let figure = "[calibration]\nmetric = \"coverage\"\nlines = \"method\"\nx = \"epsilon\"\n\
                      x_label = \"epsilon\"\nlabel = \"coverage\"\n";
        let figure = Some(toml::from_str(figure).unwrap());
        let experiment = Experiment { figure, ..experiment(&["aware", "naive"], grid) };
        let metrics = ["coverage/0.5", "coverage/0.9", "coverage-f/0.5", "rmse"];
        let values = rows(&experiment, &metrics, |cell, metric| 0.9 - 0.1 * (cell + metric) as f64);
        let svg = drawn("coverage", &Report::new(&experiment, values, Vec::new()));
        // In each panel a line through the finite places and three bars; a sample in the legend.
        assert_eq!((lines_of(&svg, "#005FAA"), lines_of(&svg, "#C85000")), (2 * 4 + 1, 2 * 4 + 1));
        assert!(svg.contains("\n50 %\n") && svg.contains("\n90 %\n"));
        assert_eq!(svg.matches("\nprivacy\n").count(), 2, "a tick beyond the break of each panel");
    }
}
