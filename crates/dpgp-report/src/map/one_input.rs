//! The drawings of predictions along one input: a line between bands along numbers, bars with intervals for words.

use super::options::MapAxis;
use super::released_map::{MapCell, ReleasedMap};
use super::svg::{CENTRAL_95, label, scale, truncate_text};
use dpgp_plot::{
    BLACK, COLOURS, Colour, Layout, Mark, Panel, Pen, Picture, Plot, PlotAxis, PlotPoint, Scale, Swatch, Ticks,
    axis_margins, title_height,
};
use dpgp_release::ReleasedPoint;

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
/// The room below for the axis.
const BELOW: f64 = 56.0;
/// The most letters of a word beside its bar.
const MOST_LETTERS: usize = 22;

/// The private mean between the bands of the noise alone and of the whole interval.
pub(super) fn line(map: &ReleasedMap<'_>, width: f64) -> Picture {
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
        Swatch::Line(MEAN).means("private_mean"),
        Swatch::Area(NOISE).means("privacy noise alone: private_mean ± 1.96 noise_sd"),
        Swatch::Area(TOTAL).means(interval_legend_text(map)),
    ];
    let x = PlotAxis::with_fitting_ticks(scale(&map.x), label(map, &map.x, width - 32.0));
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
pub(super) fn bars(map: &ReleasedMap<'_>, width: f64) -> Picture {
    let words = map.x.words.len();
    let shown = map.cells.iter().flat_map(|cell| [cell.point.low, cell.point.high, cell.point.mean]);
    let x = PlotAxis {
        ticks: Ticks::Fitting { ends: None, lines: true },
        ..PlotAxis::with_fitting_ticks(value_scale(map, Scale::from_zero(shown)), "")
    };
    let names = map.x.words.iter().rev().map(|word| truncate_text(word, MOST_LETTERS)).collect();
    let y = PlotAxis::with_names(names, "");
    let mut marks = Vec::with_capacity(6 * words);
    for cell in &map.cells {
        let middle = bar_position(&map.x, cell);
        let ReleasedPoint { mean, noise_sd, low, high, .. } = cell.point;
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
        Swatch::Line(MEAN).means("private_mean"),
        Swatch::Line(NOISE_OF_BAR).means("privacy noise alone: private_mean ± 1.96 noise_sd"),
        Swatch::Line(INTERVAL).means(interval_legend_text(map)),
    ];
    Picture { legend, ..single_plot_picture(map, width, BAR_HEIGHT * words as f64, Plot::new(x, y, marks)) }
}

/// Where the middle of a bar stands, upwards.
pub(super) fn bar_position(axis: &MapAxis<'_>, cell: &MapCell) -> f64 {
    axis.words.len() as f64 - axis.places[cell.i]
}

/// One plot that is so high, below the name of its numbers.
fn single_plot_picture(map: &ReleasedMap<'_>, width: f64, height: f64, plot: Plot) -> Picture {
    let [left, right] = axis_margins(&plot.x, &plot.y);
    let inside = width - left - right;
    let top = title_height(&map.quantity_name(), inside);
    let layout = Layout::new(top + height + BELOW).with_title_height(top).with_fitted_width(width, inside);
    Picture { legend: Vec::new(), layout, panels: vec![Panel::new(map.quantity_name(), plot)] }
}

/// The scale of the numbers, unless the user has set both ends.
fn value_scale(map: &ReleasedMap<'_>, own: Scale) -> Scale {
    map.options.scale.map_or(own, |set| Scale::between(set.low, set.high))
}

fn curve_points(map: &ReleasedMap<'_>, value: fn(&ReleasedPoint) -> f64) -> Vec<PlotPoint> {
    map.cells.iter().map(|cell| PlotPoint::new(map.x.places[cell.i], value(&cell.point))).collect()
}
