//! A map as SVG with the caption: coloured cells, or a drawing of predictions along one input, which is a line between
//! bands along numbers and bars with intervals for words.

use minijinja::HtmlEscape;

use super::MapError;
use super::options::MapAxis;
use super::released_map::{MapCell, ReleasedMap};
use dpgp_data::escape_hidden_line;
use dpgp_plot::{
    BLACK, COLOURS, Colour, GREY, Layout, LegendEntry, Mark, PLOT_GAP, Panel, Pen, Picture, Plot, PlotAxis, PlotPoint,
    Rect, RenderedFigure, Scale, Swatch, Ticks, WHITE, left_and_right_margins, letters_that_fit, min_max,
    render_with_plot_places, title_height, viridis,
};
use dpgp_release::PredictionsFilePoint;

/// The width of a file of its own, and of a drawing on a page, which is a little wider than a phone.
const WIDE: f64 = 680.0;
const NARROW: f64 = 460.0;

/// A file of its own, with a title and a description for screen readers, and the caption below.
pub(super) fn render_svg(map: &ReleasedMap<'_>, caption: &[String]) -> Result<String, MapError> {
    let RenderedFigure { svg, .. } = render_with_plot_places(&map.title(), &picture(map, WIDE)?, caption)?;
    let (title, about) = (map.title(), caption.join(" "));
    let about = escape_hidden_line(&about);
    let head = format!("<title>{}</title>\n<desc>{}</desc>\n", HtmlEscape(&title), HtmlEscape(&about));
    Ok(add_image_role(&svg).replacen('>', &format!(">\n{head}"), 1))
}

/// The drawing on a page, which has title and caption itself.
pub(super) fn render_for_page(map: &ReleasedMap<'_>) -> Result<RenderedFigure, MapError> {
    let rendered = render_with_plot_places("", &picture(map, NARROW)?, &[])?;
    let name = format!("<svg aria-label=\"{}\" ", HtmlEscape(&map.title()));
    Ok(RenderedFigure { svg: add_image_role(&rendered.svg).replacen("<svg ", &name, 1), ..rendered })
}

fn add_image_role(svg: &str) -> String {
    svg.replacen("<svg ", "<svg role=\"img\" ", 1)
}

/// The 97.5 % point of the normal distribution, as of the intervals in the file.
pub(super) const CENTRAL_95: f64 = 1.959_963_984_540_054;

/// Uncertain cells, and the strokes through them.
const PALE: Colour = Colour(238, 238, 238, 1.0);
const HATCH: Pen = Pen::new(GREY, 0.75);
/// The pixels between them.
const APART: f64 = 9.0;
/// More strokes than any sheet has room for: a limit for absurd coordinates.
const MOST_STROKES: f64 = 300.0;
/// The height of the colour bar, the steps of it, and the room below the plots for the axis.
const BAR: f64 = 16.0;
const STEPS: usize = 64;
const BELOW: f64 = 56.0;
/// The height by width of cells: of places on the earth, within these ends, as they are.
const RATIO: f64 = 0.75;
const RATIOS: [f64; 2] = [0.1, 5.0];
/// The most height of cells by the width of the sheet. Cells that would be taller are narrower.
const TALLEST: f64 = 0.95;
/// Lines over the cells: dark on a light ground, to be seen on all colours.
const OUTLINE: Pen = Pen::new(BLACK, 1.0);
const AROUND_OUTLINE: Pen = Pen::new(WHITE, 2.5);
/// Corners of a line that are nearer than so many pixels are one.
const SAME: f64 = 0.4;

/// All but the title and the caption, on a sheet that is so wide.
fn picture(map: &ReleasedMap<'_>, width: f64) -> Result<Picture, MapError> {
    match &map.y {
        Some(y) => cells_picture(map, y, width),
        None if map.x.words.is_empty() => Ok(line_picture(map, width)),
        None => Ok(bars_picture(map, width)),
    }
}

fn scale(axis: &MapAxis<'_>) -> Scale {
    let [from, to] = axis.ends();
    Scale::between(from, to)
}

/// The name of an axis, cut to so many pixels; coordinates on the earth are in degrees.
fn axis_label(map: &ReleasedMap<'_>, axis: &MapAxis<'_>, pixels: f64) -> String {
    let unit = if map.is_earth { " (°)" } else { "" };
    truncate_text(&axis.name, letters_that_fit(pixels).saturating_sub(unit.chars().count())) + unit
}

/// A text of at most so many letters.
fn truncate_text(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

fn cells_picture(map: &ReleasedMap<'_>, y: &MapAxis<'_>, width: f64) -> Result<Picture, MapError> {
    let (colours, ratio) = (colour_scale(map), aspect_ratio(map, y));
    let ends = map.options.scale.map(|scale| scale.end_labels());
    let bar = PlotAxis { ticks: Ticks::Fitting { ends, lines: false }, ..PlotAxis::with_fitting_ticks(colours, "") };
    let tallest = TALLEST * width;
    let mut y_side = PlotAxis::with_numbers(scale(y), y.name.as_str());
    let x_side = PlotAxis::with_fitting_ticks(scale(&map.x), axis_label(map, &map.x, width - 32.0));
    let rooms = [left_and_right_margins(&x_side, &y_side), left_and_right_margins(&bar, &y_side)];
    let free = width - rooms[0][0].max(rooms[1][0]) - rooms[0][1].max(rooms[1][1]);
    let height = (free * ratio).min(tallest);
    let inside = height / ratio;
    y_side.label = axis_label(map, y, height);
    let share = BAR / (BAR + height);
    let mut marks = Vec::with_capacity(map.cells.len());
    let hatching = Hatching::new(&map.x, y, PlotPoint::new(inside, height));
    for cell in &map.cells {
        let from = PlotPoint::new(map.x.edges[cell.i], y.edges[cell.j]);
        let to = PlotPoint::new(map.x.edges[cell.i + 1], y.edges[cell.j + 1]);
        if cell.is_masked {
            marks.push(Mark::Tile([from, to], PALE));
            hatching.add_strokes_in_cell(&mut marks, from, to);
        } else {
            marks.push(Mark::Tile([from, to], viridis(colours.fraction(cell.point.mean))));
        }
    }
    marks.extend(outline_marks(map, y, PlotPoint::new(inside, height))?);
    let mut plots = vec![Plot { share: 1.0 - share, ..Plot::new(x_side, y_side, marks) }];
    // A colour scale without coloured cells would mislead.
    if map.masked_count() < map.cells.len() {
        let bar = Plot::new(bar, blank_axis(), colour_bar_marks(colours));
        plots.insert(0, Plot { share, ..bar });
    }
    let top = title_height(&map.quantity_name(), inside);
    let layout = Layout::new(top + BAR + PLOT_GAP + height + BELOW)
        .with_title_height(top)
        .with_single_panel_widths(width, inside);
    let panel = Panel { title: map.quantity_name(), span: 1, plots };
    Ok(Picture { legend: legend(map), layout, panels: vec![panel] })
}

/// The lines of an outline inside the map, whose cells have this size in pixels.
fn outline_marks(map: &ReleasedMap<'_>, y: &MapAxis<'_>, size: PlotPoint) -> Result<Vec<Mark>, MapError> {
    let Some(outline) = &map.options.outline else { return Ok(Vec::new()) };
    let ([west, east], [south, north]) = (map.x.ends(), y.ends());
    let window = Rect { left: west, top: south, width: east - west, height: north - south };
    let pixel = PlotPoint::new(window.width / size.x, window.height / size.y);
    let runs: Vec<Vec<PlotPoint>> = outline.lines.iter().flat_map(|line| window.clip_line(line)).collect();
    if runs.is_empty() {
        let (path, ends) = (outline.path.clone(), [west, east, south, north]);
        return Err(MapError::OutlineElsewhere { path, ends });
    }
    let runs: Vec<Vec<PlotPoint>> = runs.into_iter().map(|run| simplify_line(run, pixel)).collect();
    let drawn = |pen: Pen| runs.iter().map(move |run| Mark::Line(run.clone(), pen));
    Ok(drawn(AROUND_OUTLINE).chain(drawn(OUTLINE)).collect())
}

/// A line without the corners that nobody could tell apart.
fn simplify_line(run: Vec<PlotPoint>, pixel: PlotPoint) -> Vec<PlotPoint> {
    let last = run.len().saturating_sub(1);
    let mut kept: Vec<PlotPoint> = Vec::with_capacity(run.len());
    for (i, spot) in run.into_iter().enumerate() {
        let is_apart =
            |before: &PlotPoint| ((spot.x - before.x) / pixel.x).hypot((spot.y - before.y) / pixel.y) >= SAME;
        if i == last || kept.last().is_none_or(is_apart) {
            kept.push(spot);
        }
    }
    kept
}

/// The upright side of the colour bar.
fn blank_axis() -> PlotAxis {
    PlotAxis { ticks: Ticks::Names(Vec::new()), ..PlotAxis::with_numbers(Scale::between(0.0, 1.0), "") }
}

/// From the least to the largest mean that is not masked, unless the user has set both ends.
fn colour_scale(map: &ReleasedMap<'_>) -> Scale {
    if let Some(set) = map.options.scale {
        return Scale::between(set.low, set.high);
    }
    let seen = map.cells.iter().filter(|cell| !cell.is_masked).map(|cell| cell.point.mean);
    Scale::tight(min_max(seen).unwrap_or([0.0, 1.0]))
}

fn colour_bar_marks(colours: Scale) -> Vec<Mark> {
    let width = (colours.high - colours.low) / STEPS as f64;
    let tiles = (0..STEPS).map(|step| {
        let from = colours.low + width * step as f64;
        let colour = viridis((step as f64 + 0.5) / STEPS as f64);
        Mark::Tile([PlotPoint::new(from, 0.0), PlotPoint::new(from + width, 1.0)], colour)
    });
    tiles.collect()
}

/// Oblique strokes, which go on from cell to cell.
struct Hatching {
    origin: PlotPoint,
    /// The width and height of a pixel.
    pixel: PlotPoint,
}

impl Hatching {
    /// Strokes over cells that together have this size in pixels.
    fn new(x: &MapAxis<'_>, y: &MapAxis<'_>, size: PlotPoint) -> Self {
        let ([left, right], [bottom, top]) = (x.ends(), y.ends());
        let pixel = PlotPoint::new((right - left) / size.x, (top - bottom) / size.y);
        Self { origin: PlotPoint::new(left, bottom), pixel }
    }

    /// The strokes `u - v = k APART` inside a cell, with u and v in pixels.
    fn add_strokes_in_cell(&self, marks: &mut Vec<Mark>, from: PlotPoint, to: PlotPoint) {
        let [low, high] = [from, to]
            .map(|at| PlotPoint::new((at.x - self.origin.x) / self.pixel.x, (at.y - self.origin.y) / self.pixel.y));
        let first = ((low.x - high.y) / APART).ceil().max(-MOST_STROKES) as i32;
        let last = ((high.x - low.y) / APART).floor().min(MOST_STROKES) as i32;
        for offset in (first..=last).map(|k| APART * f64::from(k)) {
            let ends = [low.x.max(low.y + offset), high.x.min(high.y + offset)];
            let ends = ends.map(|u| self.origin.moved(self.pixel.x * u, self.pixel.y * (u - offset)));
            marks.push(Mark::Line(ends.to_vec(), HATCH));
        }
    }
}

fn legend(map: &ReleasedMap<'_>) -> Vec<LegendEntry> {
    let hatched = Swatch::Hatched(PALE, HATCH).with_meaning(map.mask.describe_rule(&map.unit_suffix()));
    if map.masked_count() > 0 { vec![hatched] } else { Vec::new() }
}

fn aspect_ratio(map: &ReleasedMap<'_>, y: &MapAxis<'_>) -> f64 {
    if !map.is_earth {
        return RATIO;
    }
    let ([west, east], [south, north]) = (map.x.ends(), y.ends());
    let wide = (east - west) * (0.5 * (south + north)).to_radians().cos();
    let ratio = (north - south) / wide;
    if ratio.is_finite() { ratio.clamp(RATIOS[0], RATIOS[1]) } else { RATIO }
}

const MEAN: Pen = Pen::new(COLOURS[0], 2.25);
/// Opaque, so that they are the colours of the legend where they overlap.
const TOTAL: Colour = Colour(212, 227, 241, 1.0);
const NOISE: Colour = Colour(246, 208, 170, 1.0);
const INTERVAL: Pen = Pen::new(BLACK, 1.5);
const NOISE_OF_BAR: Pen = Pen::new(COLOURS[1], 4.0);
/// Half the height of a bar and of the stroke at each end of an interval, where words are 1 apart.
const HALF_BAR: f64 = 0.32;
const HALF_END: f64 = 0.16;
/// The height between the axes, as a part of the width of the sheet and one more that does not depend on it.
const LINE_HEIGHT: [f64; 2] = [0.3, 150.0];
/// The height of a bar with the gap to the next.
const BAR_HEIGHT: f64 = 34.0;
/// The most letters of a word beside its bar.
const MOST_LETTERS: usize = 22;

/// The private mean between the bands of the noise alone and of the whole interval.
fn line_picture(map: &ReleasedMap<'_>, width: f64) -> Picture {
    let [low, high] = [curve_points(map, |point| point.low), curve_points(map, |point| point.high)];
    let below = curve_points(map, |point| point.mean - CENTRAL_95 * point.noise_sd);
    let above = curve_points(map, |point| point.mean + CENTRAL_95 * point.noise_sd);
    let shown = [&low, &high, &below, &above].into_iter().flatten().map(|spot| spot.y);
    let y = PlotAxis::with_grid_lines(value_scale(map, Scale::covering(false, shown)), "");
    let marks = vec![
        Mark::band(&low, &high, TOTAL),
        Mark::band(&below, &above, NOISE),
        Mark::Line(curve_points(map, |point| point.mean), MEAN),
    ];
    let legend = vec![
        Swatch::Line(MEAN).with_meaning("private_mean"),
        Swatch::Area(NOISE).with_meaning("privacy noise alone: private_mean ± 1.96 noise_sd"),
        Swatch::Area(TOTAL).with_meaning(interval_legend_text(map)),
    ];
    let x = PlotAxis::with_fitting_ticks(scale(&map.x), axis_label(map, &map.x, width - 32.0));
    let height = LINE_HEIGHT[0] * width + LINE_HEIGHT[1];
    Picture { legend, ..single_plot_picture(map, width, height, Plot::new(x, y, marks)) }
}

/// Names the interval in a legend.
fn interval_legend_text(map: &ReleasedMap<'_>) -> &'static str {
    match map.released.statement.counts {
        true => "95 % interval of the exact count: low to high",
        false => "95 % interval of the function: low to high",
    }
}

/// A bar for each word, the first at the top, with the noise alone and the whole interval.
fn bars_picture(map: &ReleasedMap<'_>, width: f64) -> Picture {
    let words = map.x.words.len();
    let shown = map.cells.iter().flat_map(|cell| [cell.point.low, cell.point.high, cell.point.mean]);
    let x = PlotAxis {
        ticks: Ticks::Fitting { ends: None, lines: true },
        ..PlotAxis::with_fitting_ticks(value_scale(map, Scale::from_zero(shown)), "")
    };
    let names = map.x.words.iter().rev().map(|word| truncate_text(word, MOST_LETTERS)).collect();
    let y = PlotAxis::with_category_names(names, "");
    let mut marks = Vec::with_capacity(6 * words);
    for cell in &map.cells {
        let middle = bar_position(&map.x, cell);
        let PredictionsFilePoint { mean, noise_sd, low, high, .. } = cell.point;
        let ends = [(0.0, middle - HALF_BAR), (mean, middle + HALF_BAR)].map(PlotPoint::from);
        let across = |from: f64, to: f64, pen: Pen| Mark::line([(from, middle), (to, middle)], pen);
        let end = |at: f64| Mark::line([(at, middle - HALF_END), (at, middle + HALF_END)], INTERVAL);
        let noise = CENTRAL_95 * noise_sd;
        marks.push(Mark::Tile([ends[0], ends[1]], TOTAL));
        marks.push(Mark::line([(mean, middle - HALF_BAR), (mean, middle + HALF_BAR)], MEAN));
        marks.push(across(mean - noise, mean + noise, NOISE_OF_BAR));
        marks.extend([across(low, high, INTERVAL), end(low), end(high)]);
    }
    let legend = vec![
        Swatch::Line(MEAN).with_meaning("private_mean"),
        Swatch::Line(NOISE_OF_BAR).with_meaning("privacy noise alone: private_mean ± 1.96 noise_sd"),
        Swatch::Line(INTERVAL).with_meaning(interval_legend_text(map)),
    ];
    Picture { legend, ..single_plot_picture(map, width, BAR_HEIGHT * words as f64, Plot::new(x, y, marks)) }
}

/// Where the middle of a bar stands, upwards.
fn bar_position(axis: &MapAxis<'_>, cell: &MapCell) -> f64 {
    axis.words.len() as f64 - axis.places[cell.i]
}

/// One plot that is so high, below the name of its numbers.
fn single_plot_picture(map: &ReleasedMap<'_>, width: f64, height: f64, plot: Plot) -> Picture {
    let [left, right] = left_and_right_margins(&plot.x, &plot.y);
    let inside = width - left - right;
    let top = title_height(&map.quantity_name(), inside);
    let layout = Layout::new(top + height + BELOW).with_title_height(top).with_single_panel_widths(width, inside);
    Picture { legend: Vec::new(), layout, panels: vec![Panel::new(map.quantity_name(), plot)] }
}

/// The scale of the numbers, unless the user has set both ends.
fn value_scale(map: &ReleasedMap<'_>, own: Scale) -> Scale {
    map.options.scale.map_or(own, |set| Scale::between(set.low, set.high))
}

fn curve_points(map: &ReleasedMap<'_>, value: fn(&PredictionsFilePoint) -> f64) -> Vec<PlotPoint> {
    map.cells.iter().map(|cell| PlotPoint::new(map.x.places[cell.i], value(&cell.point))).collect()
}
