//! Families of metrics along an axis of the grid: a line for each member of a family.

use plotters::style::BLACK;

use super::axis::Axis;
use super::family::{Point, draw as family, members};
use super::figure::FigureError;
use super::legend::Sample;
use super::palette::COLOURS;
use super::panels::{Group, Layout, groups, lettered};
use super::pen::Pen;
use super::plot::Plot;
use super::report::Report;
use crate::spec::ProbabilitiesFigure;

const HEIGHT: f64 = 300.0;
/// Lines and dashes tell the families' members apart also without colours.
const STYLES: [fn(Pen) -> Pen; 3] = [|pen| pen, Pen::dashed, Pen::dotted];

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &ProbabilitiesFigure) -> Result<String, FigureError> {
    let Some(axis) = report.experiment.axes.iter().position(|axis| axis.name == setting.x) else {
        return Layout::new(0, None, HEIGHT).draw(
            &report.experiment.meta.title,
            Vec::new(),
            |_, _, _| Ok(()),
        );
    };
    let groups = groups(report, None, Some(&setting.x));
    let panels: Vec<Panel> = groups.iter().flat_map(|group| panels(report, setting, axis, group)).collect();
    let places = panels.iter().flat_map(|panel| panel.lines.iter().flat_map(|(_, points)| points));
    let x = Axis::of(true, places.map(|point| point.x));
    let y = Axis::between((0.0, 1.0)).roomy();
    let bars = (Sample::Line(Pen::new(BLACK, 1.0)), "bars: two standard errors".to_owned());
    let mut legend: Vec<(Sample, String)> = Vec::new();
    for panel in panels.iter().take(setting.metrics.len()) {
        let entry = |(i, (number, _)): (usize, &(f64, Vec<Point>))| {
            (Sample::Line(pen(panel.family, i)), format!("{} = {number}", panel.name))
        };
        legend.extend(panel.lines.iter().enumerate().map(entry));
    }
    legend.push(bars);
    let layout = Layout::new(panels.len(), Some(setting.metrics.len()), HEIGHT);
    layout.draw(&report.experiment.meta.title, legend, |canvas, i, rect| {
        let panel = &panels[i];
        let plot = Plot { canvas, rect, x, y };
        plot.axes(&lettered(&panel.title, i, panels.len()), &setting.x_label, &setting.label)?;
        let mut lines = panel.lines.iter().enumerate();
        lines.try_for_each(|(i, (_, points))| family(&plot, points, pen(panel.family, i)))
    })
}

/// A family in the cells that differ in the axis alone.
struct Panel {
    title: String,
    /// The family's name and its place in the setting.
    name: String,
    family: usize,
    /// The number of each member, and its points along the axis.
    lines: Vec<(f64, Vec<Point>)>,
}

fn panels(report: &Report<'_>, setting: &ProbabilitiesFigure, axis: usize, group: &Group) -> Vec<Panel> {
    let panel = |(place, name): (usize, &String)| {
        let mut lines: Vec<(f64, Vec<Point>)> = Vec::new();
        for &cell in &group.cells {
            let Some(x) = along(report, axis, cell) else { continue };
            for member in members(report, cell, name) {
                let point = Point { x, ..member };
                match lines.iter_mut().find(|(number, _)| *number == member.x) {
                    Some((_, points)) => points.push(point),
                    None => lines.push((member.x, vec![point])),
                }
            }
        }
        let title = [group.title.as_str(), name].into_iter().filter(|part| !part.is_empty());
        let title = title.collect::<Vec<_>>().join(", ");
        Panel { title, name: name.clone(), family: place, lines }
    };
    setting.metrics.iter().enumerate().map(panel).filter(|panel| !panel.lines.is_empty()).collect()
}

/// Where a cell stands on the axis; nowhere if its label is no positive finite number.
fn along(report: &Report<'_>, axis: usize, cell: usize) -> Option<f64> {
    let x: f64 = report.experiment.cells[cell].labels()[axis].parse().ok()?;
    (x > 0.0 && x.is_finite()).then_some(x)
}

fn pen(family: usize, member: usize) -> Pen {
    let colour = COLOURS[(3 * family + member) % COLOURS.len()];
    STYLES[member % STYLES.len()](Pen::new(colour, 2.0))
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{drawn, experiment, lines_of, rows};
    use super::super::report::Report;
    use crate::spec::FigureSetting;
    use crate::task::Experiment;

    const FIGURE: &str = "metrics = [\"lengthscale\", \"noise-sd\"]\nx = \"method\"\n\
                          x_label = \"epsilon\"\nlabel = \"probability\"\n";

    fn showing(labels: &[&str]) -> Experiment {
        let figure = FigureSetting::Probabilities(toml::from_str(FIGURE).unwrap());
        Experiment { figure: Some(figure), ..experiment(labels, "") }
    }

    #[test]
    fn a_panel_for_each_family_and_a_line_for_each_member() {
        let experiment = showing(&["1", "10", "inf"]);
        let metrics = ["lengthscale/1", "lengthscale/3", "noise-sd/0.1", "both"];
        let values = rows(&experiment, &metrics, |cell, metric| 0.2 * (cell + metric) as f64);
        let svg = drawn("probabilities", &Report::new(&experiment, values, Vec::new()));
        // A solid line with two bars, and a sample; the label `inf` has no place on the axis.
        assert_eq!(lines_of(&svg, "#005FAA"), 1 + 2 + 1);
        for text in ["(A) lengthscale", "(B) noise-sd", "lengthscale = 3", "noise-sd = 0.1"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn nothing_to_show_is_an_empty_figure() {
        let experiment = showing(&["1", "10"]);
        drawn("probabilities-empty", &Report::new(&experiment, Vec::new(), Vec::new()));
    }
}
