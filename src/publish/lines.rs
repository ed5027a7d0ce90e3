//! A metric along an axis of the grid: lines with error bars, in panels.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::figure::FigureError;
use super::palette::{COLOURS, FONT, GRID};
use super::report::{Report, ReportRow};
use super::scale::Scale;
use crate::spec::{LinesFigure, SpreadKind};

const PANEL: (u32, u32) = (430, 330);
const HEAD: u32 = 74;
const LEGEND: u32 = 190;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A point with its error bar, and what is published there.
struct Point {
    x: f64,
    y: f64,
    error: f64,
    published: Option<f64>,
}

/// The points of one label.
struct Line {
    label: String,
    points: Vec<Point>,
    /// Points that lie below the axis.
    below: usize,
}

struct Panel {
    title: String,
    lines: Vec<Line>,
}

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

fn panels(report: &Report<'_>, setting: &LinesFigure) -> Vec<Panel> {
    let axes = &report.experiment.axes;
    let position = |name: &str| axes.iter().position(|axis| axis.name == name);
    let (Some(x), Some(line)) = (position(&setting.x), position(&setting.lines)) else { return Vec::new() };
    let split = setting.panels.as_deref().and_then(position);
    let titles = split.map_or_else(|| vec![String::new()], |axis| axes[axis].labels.clone());
    let panel = |title: String| {
        let here = |row: &&ReportRow| split.is_none_or(|axis| row.labels[axis] == title);
        let rows: Vec<&ReportRow> =
            report.rows.iter().filter(|row| row.row.metric == setting.metric).filter(here).collect();
        let one = |label: &String| {
            let points = rows.iter().filter(|row| row.labels[line] == *label).filter_map(|row| point(row, x));
            let (points, below): (Vec<Point>, Vec<Point>) =
                points.partition(|point| setting.least.is_none_or(|least| point.y >= least));
            Line { label: format!("{} = {label}", setting.lines), points, below: below.len() }
        };
        let lines = axes[line].labels.iter().map(one).filter(|line| !line.points.is_empty()).collect();
        Panel { lines, title }
    };
    titles.into_iter().map(panel).collect()
}

/// The point of a row; none where the label is no finite number. Its bar is the standard error.
fn point(row: &ReportRow, x: usize) -> Option<Point> {
    let x = row.labels[x].parse::<f64>().ok().filter(|x| x.is_finite())?;
    let spread = row.row.spread.unwrap_or(0.0);
    let error = match row.row.spread_kind {
        SpreadKind::StandardError | SpreadKind::None => spread,
        SpreadKind::SdFolds | SpreadKind::SdReplicates => spread / (row.row.repeats.max(1) as f64).sqrt(),
    };
    Some(Point { x, y: row.row.value, error, published: row.published.as_ref().map(|p| p.value) })
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
        for (line, colour) in panel.lines.iter().zip(COLOURS.into_iter().cycle()) {
            let place = |p: &Point| (self.scale.place(p.x), p.y);
            let ends = line.points.iter().map(place);
            chart.draw_series(LineSeries::new(ends, colour.stroke_width(2))).map_err(error)?;
            chart
                .draw_series(line.points.iter().map(|p| {
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
        let labels = self.panels.first().into_iter().flat_map(|panel| &panel.lines);
        let mut y = 44;
        for (line, colour) in labels.zip(COLOURS.into_iter().cycle()) {
            area.draw(&PathElement::new([(8, y), (32, y)], colour.stroke_width(2))).map_err(error)?;
            area.draw_text(&line.label, &text, (40, y)).map_err(error)?;
            y += 22;
        }
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

    fn notes(&self) -> Vec<String> {
        let lines = || self.panels.iter().flat_map(|panel| &panel.lines);
        let below: usize = lines().map(|line| line.below).sum();
        let mut notes = vec!["bars: standard error".to_owned()];
        if lines().flat_map(|line| &line.points).any(|point| point.published.is_some()) {
            notes.push("rings: values to reproduce".to_owned());
        }
        if below > 0 {
            notes.push(format!("below {}: {below} not shown", self.y.0));
        }
        notes
    }
}
