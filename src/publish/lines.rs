//! A metric along an axis of the grid: lines with error bars, in panels.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::figure::FigureError;
use super::line::{Line, Panel, Point, panels};
use super::number::brief;
use super::palette::{COLOURS, FONT, GRID, mixed};
use super::report::Report;
use super::scale::Scale;
use crate::spec::LinesFigure;

const PANEL: (u32, u32) = (430, 330);
const HEAD: u32 = 74;
const LEGEND: u32 = 190;
/// The legend: pixels from one entry to the next, the entries that so fit, and the least pixels between two texts.
const ENTRY: i32 = 22;
const ENTRIES: usize = 12;
const TEXT: i32 = 15;
/// The last of the shades, the first being black.
const LIGHT: RGBColor = RGBColor(205, 205, 205);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &LinesFigure) -> Result<String, FigureError> {
    let panels = panels(report, setting);
    let mut svg = String::new();
    {
        let width = PANEL.0 * panels.len() as u32 + LEGEND;
        let area = SVGBackend::with_string(&mut svg, (width, PANEL.1 + HEAD)).into_drawing_area();
        let sheet = Sheet::new(setting, &panels);
        let drawn = sheet.paint(&area, &report.experiment.meta.title);
        drawn.and_then(|()| area.present().map_err(|e| FigureError::new(&e)))?;
    }
    Ok(svg)
}

/// What all panels share.
struct Sheet<'a> {
    setting: &'a LinesFigure,
    panels: &'a [Panel],
    scale: Scale,
    x: (f64, f64),
    y: (f64, f64),
}

impl<'a> Sheet<'a> {
    fn new(setting: &'a LinesFigure, panels: &'a [Panel]) -> Self {
        let points = || panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
        let scale = Scale { log: setting.log };
        let levels = setting.levels.iter().map(|level| (level.value, 0.0));
        let shown = |value: &f64| setting.least.is_none_or(|least| *value >= least);
        let published = points().filter_map(|p| p.published).filter(shown).map(|value| (value, 0.0));
        let y = Scale { log: false }
            .range(points().map(|p| (p.y, p.error)).chain(levels).chain(published), false);
        let y = (setting.least.unwrap_or(y.0), y.1);
        Self { setting, panels, scale, x: scale.range(points().map(|p| (p.x, 0.0)), false), y }
    }

    fn paint(&self, area: &Area<'_>, title: &str) -> Result<(), FigureError> {
        let error = |e: DrawingAreaErrorKind<std::io::Error>| FigureError::new(&e);
        area.fill(&WHITE).map_err(error)?;
        let style = (FONT, 17).into_font().color(&BLACK);
        area.draw_text(title, &style, (16, 14)).map_err(error)?;
        let (_, body) = area.split_vertically(HEAD - 28);
        for (number, panel) in self.panels.iter().enumerate() {
            let left = PANEL.0 * number as u32;
            let (_, rest) = body.split_horizontally(left);
            let (own, _) = rest.split_horizontally(PANEL.0);
            self.panel(&own, panel)?;
        }
        let (_, legend) = body.split_horizontally(PANEL.0 * self.panels.len() as u32);
        self.legend(&legend)
    }

    fn panel(&self, area: &Area<'_>, panel: &Panel) -> Result<(), FigureError> {
        let error = |e: DrawingAreaErrorKind<std::io::Error>| FigureError::new(&e);
        let mut chart = ChartBuilder::on(area)
            .margin_top(32)
            .margin_right(16)
            .x_label_area_size(52)
            .y_label_area_size(70)
            .build_cartesian_2d(self.x.0..self.x.1, self.y.0..self.y.1)
            .map_err(error)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .x_labels(0)
            .y_desc(&self.setting.label)
            .y_label_style((FONT, 13))
            .axis_desc_style((FONT, 14))
            .draw()
            .map_err(error)?;
        let text = (FONT, 13).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Top));
        let (_, bottom) = chart.backend_coord(&(self.x.0, self.y.0));
        let origin = area.get_base_pixel();
        let local = |(x, y): (i32, i32)| (x - origin.0, y - origin.1);
        for place in self.scale.ticks(self.x.0, self.x.1) {
            let (x, _) = chart.backend_coord(&(place, self.y.0));
            area.draw_text(&self.scale.tick(place), &text, local((x, bottom + 6))).map_err(error)?;
        }
        let (middle, _) = chart.backend_coord(&(0.5 * (self.x.0 + self.x.1), self.y.0));
        area.draw_text(&self.setting.x_label, &text, local((middle, bottom + 26))).map_err(error)?;
        let heading = (FONT, 14).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Top));
        area.draw_text(&panel.title, &heading, (local((middle, 0)).0, 10)).map_err(error)?;
        for level in &self.setting.levels {
            let ends = [(self.x.0, level.value), (self.x.1, level.value)];
            chart.draw_series(DashedLineSeries::new(ends, 6, 4, BLACK.stroke_width(1))).map_err(error)?;
        }
        for (line, colour) in self.coloured(panel) {
            let place = |p: &Point| (self.scale.place(p.x), p.y);
            let ends = line.points.iter().map(place);
            chart.draw_series(LineSeries::new(ends, colour.stroke_width(2))).map_err(error)?;
            let bars = line.points.iter().filter(|_| !self.setting.shades);
            chart
                .draw_series(bars.map(|p| {
                    let (x, y) = place(p);
                    ErrorBar::new_vertical(x, (y - p.error).max(self.y.0), y, y + p.error, colour.filled(), 8)
                }))
                .map_err(error)?;
            let published = line.points.iter().filter_map(|p| Some((self.scale.place(p.x), p.published?)));
            let published = published.filter(|(_, y)| *y >= self.y.0);
            let hollow = ShapeStyle { color: colour.into(), filled: false, stroke_width: 1 };
            chart.draw_series(published.map(|at| Circle::new(at, 5, hollow))).map_err(error)?;
        }
        Ok(())
    }

    fn legend(&self, area: &Area<'_>) -> Result<(), FigureError> {
        let error = |e: DrawingAreaErrorKind<std::io::Error>| FigureError::new(&e);
        let text = (FONT, 13).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        let lines: Vec<_> = self.panels.first().into_iter().flat_map(|panel| self.coloured(panel)).collect();
        let step = ENTRY.min((ENTRY * ENTRIES as i32) / lines.len().max(1) as i32).max(1);
        let mut y = 44;
        let mut below = y - ENTRY;
        for (line, colour) in lines {
            area.draw(&PathElement::new([(8, y), (32, y)], colour.stroke_width(2))).map_err(error)?;
            if y - below >= TEXT {
                area.draw_text(&line.label, &text, (40, y)).map_err(error)?;
                below = y;
            }
            y += step;
        }
        y = y.max(below + ENTRY);
        for level in &self.setting.levels {
            for x in [8, 18, 28] {
                area.draw(&PathElement::new([(x, y), (x + 6, y)], BLACK.stroke_width(1))).map_err(error)?;
            }
            area.draw_text(&level.label, &text, (40, y)).map_err(error)?;
            y += 22;
        }
        for note in self.notes() {
            area.draw_text(&note, &text, (8, y + 6)).map_err(error)?;
            y += 20;
        }
        Ok(())
    }

    /// The lines of a panel with their colours.
    fn coloured(&self, panel: &'a Panel) -> impl Iterator<Item = (&'a Line, RGBColor)> {
        let shades = self.setting.shades;
        let colours = panel.lines.iter().zip(COLOURS.into_iter().cycle());
        colours
            .map(move |(line, colour)| (line, if shades { mixed(BLACK, LIGHT, line.rank) } else { colour }))
    }

    fn notes(&self) -> Vec<String> {
        let lines = || self.panels.iter().flat_map(|panel| &panel.lines);
        let below: usize = lines().map(|line| line.below).sum();
        let widest = lines().flat_map(|line| &line.points).map(|point| point.error).fold(0.0, f64::max);
        let mut notes = vec![match self.setting.shades {
            true => format!(
                "standard error: {} at most",
                brief(format!("{widest:.1e}").parse().unwrap_or(widest))
            ),
            false => "bars: standard error".to_owned(),
        }];
        if lines().flat_map(|line| &line.points).any(|point| point.published.is_some()) {
            notes.push("rings: values to reproduce".to_owned());
        }
        if below > 0 {
            notes.push(format!("below {}: {below} not shown", self.y.0));
        }
        notes
    }
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
        assert!((10..20).contains(&texts), "only as many texts as fit: {texts}");
    }

    #[test]
    fn few_lines_have_colours_bars_and_texts() {
        let svg = figure("lines", 3, false);
        assert_eq!(lines_of(&svg, "#005FAA"), 2 + 3 * 3, "a line, its sample, and three strokes a bar");
        assert_eq!(svg.matches("lengthscale = ").count(), 3);
        assert!(svg.contains("bars: standard error"));
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
