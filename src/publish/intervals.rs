//! One line per cell: our value and spread beside the published ones.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::figure::FigureError;
use super::palette::{COLOURS, FONT, GRID};
use super::report::{Report, ReportRow};
use super::scale::Scale;
use crate::spec::IntervalsFigure;

const OURS: RGBColor = COLOURS[0];
const PUBLISHED: RGBColor = COLOURS[1];
const PLOT: u32 = 560;
const LEAST_LABELS: u32 = 160;
/// About the width of a character of a row label.
const CHARACTER: u32 = 8;
const ROW: u32 = 30;
const HEAD: u32 = 76;
const FOOT: u32 = 60;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

type Bar = PathElement<(f64, f64)>;
type Dot = Circle<(f64, f64), i32>;

/// A value with its spread.
type Interval = (f64, f64);

/// One line of the figure.
struct Line {
    label: String,
    ours: Interval,
    published: Option<Interval>,
}

/// Draws the figure as SVG text.
pub(super) fn draw(report: &Report<'_>, setting: &IntervalsFigure) -> Result<String, FigureError> {
    let lines = lines(report, setting);
    let mut svg = String::new();
    {
        let height = HEAD + FOOT + ROW * lines.len() as u32;
        let longest = lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0) as u32;
        let labels = (CHARACTER * longest + 24).max(LEAST_LABELS);
        let area = SVGBackend::with_string(&mut svg, (labels + PLOT, height)).into_drawing_area();
        let sheet = Sheet { title: &report.experiment.meta.title, setting, lines: &lines, labels };
        let drawn = paint(&area, &sheet);
        drawn.and_then(|()| area.present().map_err(|e| FigureError::new(&e)))?;
    }
    Ok(svg)
}

fn lines(report: &Report<'_>, setting: &IntervalsFigure) -> Vec<Line> {
    let of_metric = |metric: &String| {
        let rows: Vec<&ReportRow> = report.rows.iter().filter(|row| row.row.metric == *metric).collect();
        rows.into_iter().map(|row| line(report, row, setting.metrics.len() > 1))
    };
    setting.metrics.iter().flat_map(of_metric).collect()
}

fn line(report: &Report<'_>, row: &ReportRow, name_metric: bool) -> Line {
    let metric = name_metric.then(|| row.row.metric.clone());
    let published = row.published.as_ref().map(|p| (p.value, p.spread.unwrap_or(0.0)));
    Line {
        label: report.labels(row).chain(metric).collect::<Vec<_>>().join(", "),
        ours: (row.row.value, row.row.spread.unwrap_or(0.0)),
        published,
    }
}

/// What is painted, and how wide its labels are.
struct Sheet<'a> {
    title: &'a str,
    setting: &'a IntervalsFigure,
    lines: &'a [Line],
    labels: u32,
}

fn paint(area: &Area<'_>, sheet: &Sheet<'_>) -> Result<(), FigureError> {
    let Sheet { title, setting, lines, labels } = *sheet;
    let error = |e: DrawingAreaErrorKind<std::io::Error>| FigureError::new(&e);
    area.fill(&WHITE).map_err(error)?;
    let scale = Scale { log: setting.log };
    let intervals = lines.iter().flat_map(|line| [Some(line.ours), line.published]).flatten();
    let (low, high) = scale.range(intervals, !setting.close);
    let rows = -0.5..lines.len() as f64 - 0.5;
    let mut chart = ChartBuilder::on(area)
        .margin_top(HEAD)
        .margin_right(24)
        .x_label_area_size(FOOT)
        .y_label_area_size(labels)
        .build_cartesian_2d(low..high, rows.clone())
        .map_err(error)?;
    chart.configure_mesh().disable_mesh().x_labels(0).y_labels(0).draw().map_err(error)?;
    let text = (FONT, 14).into_font().color(&BLACK);
    let (_, bottom) = chart.backend_coord(&(low, rows.start));
    for place in scale.ticks(low, high) {
        chart
            .draw_series([PathElement::new([(place, rows.start), (place, rows.end)], GRID)])
            .map_err(error)?;
        let (x, _) = chart.backend_coord(&(place, 0.0));
        let style = text.clone().pos(Pos::new(HPos::Center, VPos::Top));
        area.draw_text(&scale.tick(place), &style, (x, bottom + 8)).map_err(error)?;
    }
    let style = text.clone().pos(Pos::new(HPos::Center, VPos::Top));
    let middle = (labels + PLOT / 2) as i32;
    area.draw_text(&setting.label, &style, (middle, bottom + 32)).map_err(error)?;
    for (i, line) in lines.iter().enumerate() {
        let y = (lines.len() - 1 - i) as f64;
        let (_, pixel) = chart.backend_coord(&(low, y));
        let style = text.clone().pos(Pos::new(HPos::Right, VPos::Center));
        area.draw_text(&line.label, &style, (labels as i32 - 10, pixel)).map_err(error)?;
        let ours = marks(&scale, line.ours, y + 0.14, OURS, true);
        let published = line.published.map(|p| marks(&scale, p, y - 0.14, PUBLISHED, false));
        for (bar, point) in [Some(ours), published].into_iter().flatten() {
            chart.draw_series([bar]).map_err(error)?;
            chart.draw_series([point]).map_err(error)?;
        }
    }
    heading(area, title, labels as i32)
}

/// The spread as a bar and the value as a dot: filled for ours, hollow for the published one.
fn marks(scale: &Scale, (value, spread): Interval, y: f64, colour: RGBColor, filled: bool) -> (Bar, Dot) {
    let ends = vec![(scale.place(value - spread), y), (scale.place(value + spread), y)];
    let style = ShapeStyle { color: colour.into(), filled, stroke_width: 2 };
    (PathElement::new(ends, colour.stroke_width(2)), Circle::new((scale.place(value), y), 5, style))
}

fn heading(area: &Area<'_>, title: &str, left: i32) -> Result<(), FigureError> {
    let error = |e: DrawingAreaErrorKind<std::io::Error>| FigureError::new(&e);
    let style = |size: i32, colour: &RGBColor| (FONT, size).into_font().color(colour);
    area.draw_text(title, &style(17, &BLACK), (16, 14)).map_err(error)?;
    let legend = [(OURS, true, "ours ± sd"), (PUBLISHED, false, "published ± sd")];
    for ((colour, filled, text), x) in legend.into_iter().zip([left, left + 150]) {
        let shape = ShapeStyle { color: colour.into(), filled, stroke_width: 2 };
        area.draw(&Circle::new((x, 54), 5, shape)).map_err(error)?;
        area.draw_text(text, &style(14, &colour), (x + 12, 47)).map_err(error)?;
    }
    Ok(())
}
