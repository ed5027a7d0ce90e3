//! A metric along an axis of the grid: lines with error bars, in panels.

use plotters::style::{BLACK, RGBColor};

use super::axis::Axis;
use super::family::draw as family;
use super::figure::FigureError;
use super::legend::Sample;
use super::line::{Line, Panel, panels};
use super::number::brief;
use super::palette::{COLOURS, mixed};
use super::panels::Layout;
use super::pen::Pen;
use super::plot::Plot;
use super::report::Report;
use crate::spec::LinesFigure;

const HEIGHT: f64 = 390.0;
/// Radii of the points and of the rings around them, in pixels.
const DOT: f64 = 3.5;
const RING: f64 = 5.5;
/// The last of the shades, the first being black.
const LIGHT: RGBColor = RGBColor(205, 205, 205);
/// The most shades that the legend names.
const SHADES: usize = 8;

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &LinesFigure) -> Result<String, FigureError> {
    let panels = panels(report, setting);
    let sheet = Sheet { setting, panels: &panels };
    let (x, y) = (sheet.x(), sheet.y());
    Layout::new(panels.len(), None, HEIGHT).draw(
        &report.experiment.meta.title,
        sheet.legend(),
        |canvas, i, rect| {
            let plot = Plot { canvas, rect, x, y };
            plot.axes(&panels[i].title, &setting.x_label, &setting.label)?;
            sheet.levels(&plot)?;
            sheet.coloured(&panels[i]).try_for_each(|(line, pen)| sheet.line(&plot, line, pen))
        },
    )
}

/// What all panels share.
struct Sheet<'a> {
    setting: &'a LinesFigure,
    panels: &'a [Panel],
}

impl<'a> Sheet<'a> {
    fn lines(&self) -> impl Iterator<Item = &'a Line> {
        self.panels.iter().flat_map(|panel| &panel.lines)
    }

    fn x(&self) -> Axis {
        Axis::of(self.setting.log, self.lines().flat_map(|line| &line.points).map(|point| point.x))
    }

    /// From the least to the largest of all that is drawn.
    fn y(&self) -> Axis {
        let points = self.lines().flat_map(|line| &line.points);
        let ends = points.flat_map(|p| [p.value - p.error, p.value, p.value + p.error]);
        let levels = self.setting.levels.iter().map(|level| level.value);
        let published = self.lines().flat_map(|line| &line.published).map(|(_, value)| *value);
        let shown = ends.chain(levels).chain(published).filter(|v| *v > 0.0 || !self.setting.log_y);
        Axis::of(self.setting.log_y, shown).within(self.setting.least, None)
    }

    fn levels(&self, plot: &Plot<'_, '_>) -> Result<(), FigureError> {
        let (from, to) = (plot.rect.left, plot.rect.right());
        self.setting.levels.iter().try_for_each(|level| {
            let height = plot.rect.bottom() - plot.rect.height * plot.y.fraction(level.value);
            plot.canvas.line(&[(from, height), (to, height)], level_pen())
        })
    }

    fn line(&self, plot: &Plot<'_, '_>, line: &Line, pen: Pen) -> Result<(), FigureError> {
        if self.setting.shades {
            plot.line(line.points.iter().map(|point| (point.x, point.value)), pen)?;
        } else {
            family(plot, &line.points, pen)?;
            line.points.iter().try_for_each(|point| plot.disc((point.x, point.value), DOT, pen.colour))?;
        }
        line.published.iter().try_for_each(|at| plot.ring(*at, RING, Pen { width: 1.0, dash: None, ..pen }))
    }

    fn legend(&self) -> Vec<(Sample, String)> {
        let mut entries: Vec<(Sample, String)> = Vec::new();
        for (line, pen) in self.panels.iter().flat_map(|panel| self.coloured(panel)) {
            if entries.iter().all(|(_, label)| *label != line.label) {
                entries.push((Sample::Line(pen), line.label.clone()));
            }
        }
        let every = if self.setting.shades { entries.len().div_ceil(SHADES).max(1) } else { 1 };
        let last = entries.len().saturating_sub(1);
        let kept = entries.into_iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last);
        let levels = self.setting.levels.iter().map(|level| (Sample::Line(level_pen()), level.label.clone()));
        kept.map(|(_, entry)| entry).chain(levels).chain(self.notes()).collect()
    }

    /// The lines of a panel with their pens; a second round of colours is dashed.
    fn coloured(&self, panel: &'a Panel) -> impl Iterator<Item = (&'a Line, Pen)> {
        let shades = self.setting.shades;
        panel.lines.iter().map(move |line| {
            let round = line.place / COLOURS.len();
            let pen = match shades {
                true => Pen::new(mixed(BLACK, LIGHT, line.rank), 1.5),
                false => Pen::new(COLOURS[line.place % COLOURS.len()], 2.0),
            };
            (line, if shades || round == 0 { pen } else { pen.dashed() })
        })
    }

    fn notes(&self) -> Vec<(Sample, String)> {
        let thin = Pen::new(BLACK, 1.0);
        let below: usize = self.lines().map(|line| line.below).sum();
        let widest = self.lines().flat_map(|line| &line.points).map(|p| p.error).fold(0.0, f64::max);
        let mut notes = Vec::new();
        if self.setting.shades {
            let widest = brief(format!("{widest:.1e}").parse().unwrap_or(widest));
            notes.push((Sample::None, format!("standard error: {widest} at most")));
        } else if widest > 0.0 {
            notes.push((Sample::Line(thin), "bars: two standard errors".to_owned()));
        }
        if self.lines().any(|line| !line.published.is_empty()) {
            notes.push((Sample::Ring(RING, thin), "values to reproduce".to_owned()));
        }
        if let Some(least) = self.setting.least.filter(|_| below > 0) {
            notes.push((Sample::None, format!("below {least}: {below} not shown")));
        }
        notes
    }
}

fn level_pen() -> Pen {
    Pen::new(BLACK, 1.0).dashed()
}

#[cfg(test)]
mod tests {
    use super::super::fabricated::{drawn, experiment, lines_of, row};
    use super::*;

    /// A row for each cell of an axis of numbers and an axis of lines.
    fn figure(name: &str, lines: usize, shades: bool) -> String {
        let axis: Vec<String> = (1..=lines).map(|i| format!("{}.0", 4 * i)).collect();
        let grid = format!(
            "[grid]\n\"privacy.epsilon\" = [0.25, 0.5, 1.0]\n\"model.kernel.eq.lengthscale\" = [{}]\n",
            axis.join(", ")
        );
        let settings = "metric = \"rmse\"\nx = \"epsilon\"\nlines = \"lengthscale\"\nx_label = \"epsilon\"\n\
                        label = \"RMSE\"\nlog = true\n";
        let figure = format!("{grid}[figure.lines]\n{settings}shades = {shades}\n");
        let experiment = experiment(&["only"], &figure);
        let value = |cell: usize| 1.0 + (cell / lines) as f64 * 0.2 + (cell % lines) as f64 * 0.05;
        let rows =
            (0..experiment.cells.len()).map(|cell| row(cell, "rmse", value(cell), Some(0.02))).collect();
        drawn(name, &Report::new(&experiment, rows, Vec::new()))
    }

    #[test]
    fn shades_go_from_black_to_light_grey_without_bars() {
        let svg = figure("lines-shades", 40, true);
        assert_eq!(lines_of(&svg, "#CDCDCD"), 2, "the last line and its sample");
        assert!(svg.contains("lengthscale = 4\n") && svg.contains("standard error: 0.02 at most"));
        let texts = svg.matches("lengthscale = ").count();
        assert!((5..12).contains(&texts), "only some of them are named: {texts}");
    }

    #[test]
    fn few_lines_have_colours_bars_and_texts() {
        let svg = figure("lines", 3, false);
        assert_eq!(lines_of(&svg, "#005FAA"), 2 + 3, "a line, its sample, and a bar at each point");
        assert_eq!(svg.matches("lengthscale = ").count(), 3);
        assert!(svg.contains("bars: two standard errors"));
    }

    #[test]
    fn panels_of_numbers_are_named_by_their_axis() {
        let grid = "[grid]\n\"privacy.epsilon\" = [0.5, 1.0]\n\"model.kernel.eq.lengthscale\" = [1.0, 2.0]\n";
        let settings = "metric = \"rmse\"\nx = \"lengthscale\"\nlines = \"method\"\npanels = \"epsilon\"\n\
                        x_label = \"x\"\nlabel = \"y\"\n";
        let experiment = experiment(&["only"], &format!("{grid}[figure.lines]\n{settings}"));
        let half: Vec<usize> = (0..4).filter(|c| experiment.cells[*c].labels()[0] == "0.5").collect();
        let rows = half.into_iter().map(|cell| row(cell, "rmse", 1.0 + cell as f64, None)).collect();
        let svg = drawn("lines-panels", &Report::new(&experiment, rows, Vec::new()));
        assert!(
            svg.contains("epsilon = 0.5") && !svg.contains("epsilon = 1\n"),
            "a panel without lines is left out"
        );
    }
}
