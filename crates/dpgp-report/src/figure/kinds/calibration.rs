//! Coverage of central intervals against their mass, beside the ideal diagonal, or along an axis.

use super::super::prelude::*;
use super::coverage::{coverage_picture, method_legend, method_pen};
use dpgp_spec::CalibrationFigure;

const HEIGHT: f64 = 270.0;
const UNIT: Scale = Scale::between(0.0, 1.0);
const DIAGONAL: Pen = Pen::new(BLACK, 1.0).dashed();

impl PictureBuilder for CalibrationFigure {
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError> {
        if let Some(x) = self.x.as_deref().and_then(|name| report.axis(name)) {
            return Ok(coverage_picture(self, report, x));
        }
        let mut groups = group_cells(report, self.panels.as_deref(), &[self.lines.as_str()]);
        groups.retain(|group| group.cells.iter().any(|cell| !family_estimates(report, *cell, &self.metric).is_empty()));
        let panels = groups.iter().map(|group| {
            let (x, y) = (PlotAxis::with_numbers(UNIT, &self.x_label), PlotAxis::with_grid_lines(UNIT, &self.label));
            Panel::new(&group.title, Plot::new(x, y, marks(self, report, group)))
        });
        let layout = Layout::new(HEIGHT).columns(self.columns);
        Ok(Picture { legend: legend(self, report), layout, panels: panels.collect() })
    }
}

fn marks(setting: &CalibrationFigure, report: &Report<'_>, group: &PanelCells) -> Vec<Mark> {
    let mut marks = vec![Mark::line([(0.0, 0.0), (1.0, 1.0)], DIAGONAL)];
    for &cell in &group.cells {
        let number = report.axis(&setting.lines).map_or(0, |axis| report.label_position(cell, axis));
        let points: Vec<PlottedEstimate> =
            family_estimates(report, cell, &setting.metric).into_iter().map(|(point, _)| point).collect();
        marks.extend(line_with_error_bars(&points, method_pen(number)));
    }
    marks
}

fn legend(setting: &CalibrationFigure, report: &Report<'_>) -> Vec<LegendEntry> {
    let lines = method_legend(report, &setting.lines).into_iter();
    lines.chain([Swatch::Line(DIAGONAL).means("calibrated"), error_bar_legend()]).collect()
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
