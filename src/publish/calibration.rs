//! Coverage of central intervals against their mass, beside the diagonal that it should follow.

use plotters::style::BLACK;

use super::axis::Axis;
use super::family::{draw as family, members};
use super::figure::FigureError;
use super::legend::Sample;
use super::palette::COLOURS;
use super::panels::{Layout, groups};
use super::pen::Pen;
use super::plot::Plot;
use super::report::Report;
use crate::spec::CalibrationFigure;

const HEIGHT: f64 = 270.0;

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &CalibrationFigure) -> Result<String, FigureError> {
    let mut panels = groups(report, setting.panels.as_deref(), Some(&setting.lines));
    panels.retain(|group| group.cells.iter().any(|cell| !members(report, *cell, &setting.metric).is_empty()));
    let unit = Axis::between((0.0, 1.0));
    let layout = Layout::new(panels.len(), setting.columns, HEIGHT);
    layout.draw(&report.experiment.meta.title, legend(report, setting), |canvas, i, rect| {
        let plot = Plot { canvas, rect, x: unit, y: unit };
        plot.axes(&panels[i].title, &setting.x_label, &setting.label)?;
        plot.line([(0.0, 0.0), (1.0, 1.0)], Pen::new(BLACK, 1.0).dashed())?;
        panels[i].cells.iter().try_for_each(|&cell| {
            family(&plot, &members(report, cell, &setting.metric), pen(report, setting, cell))
        })
    })
}

/// The pen of the line that a cell belongs to.
fn pen(report: &Report<'_>, setting: &CalibrationFigure, cell: usize) -> Pen {
    let axes = &report.experiment.axes;
    let line = axes.iter().position(|axis| axis.name == setting.lines).and_then(|axis| {
        let label = &report.experiment.cells[cell].labels()[axis];
        axes[axis].labels.iter().position(|other| other == label)
    });
    colour(line.unwrap_or(0))
}

fn colour(number: usize) -> Pen {
    Pen::new(COLOURS[number % COLOURS.len()], 2.0)
}

fn legend(report: &Report<'_>, setting: &CalibrationFigure) -> Vec<(Sample, String)> {
    let axis = report.experiment.axes.iter().find(|axis| axis.name == setting.lines);
    let labels = axis.into_iter().flat_map(|axis| &axis.labels).enumerate();
    let lines = labels.map(|(i, label)| (Sample::Line(colour(i)), label.clone()));
    let diagonal = (Sample::Line(Pen::new(BLACK, 1.0).dashed()), "calibrated".to_owned());
    lines
        .chain([diagonal, (Sample::Line(Pen::new(BLACK, 1.0)), "bars: two standard errors".to_owned())])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{drawn, experiment, lines_of, rows};
    use super::super::report::Report;
    use crate::spec::FigureSetting;
    use crate::task::Experiment;

    const FIGURE: &str = "metric = \"coverage\"\nlines = \"method\"\n\
                          x_label = \"mass\"\nlabel = \"coverage\"\n";

    fn showing(labels: &[&str]) -> Experiment {
        let figure = FigureSetting::Calibration(toml::from_str(FIGURE).unwrap());
        Experiment { figure: Some(figure), ..experiment(labels, "") }
    }

    #[test]
    fn a_line_for_each_method_beside_the_diagonal() {
        let experiment = showing(&["aware", "naive"]);
        let metrics = ["coverage/0.5", "coverage/0.9", "coverage-f/0.5", "rmse"];
        let values = rows(&experiment, &metrics, |cell, metric| 0.8 - 0.1 * (cell + metric) as f64);
        let svg = drawn("calibration", &Report::new(&experiment, values, Vec::new()));
        // A line and two bars in the panel, a sample in the legend; other families are left out.
        assert_eq!((lines_of(&svg, "#005FAA"), lines_of(&svg, "#C85000")), (4, 4));
        assert!(svg.contains("calibrated") && svg.contains("naive"));
    }

    #[test]
    fn nothing_to_show_is_an_empty_figure() {
        let experiment = showing(&["aware", "naive"]);
        drawn("calibration-empty", &Report::new(&experiment, Vec::new(), Vec::new()));
    }
}
