//! The marks of a map: a line between bands, or coloured cells.

use super::axis::MapAxis;
use super::caption::CENTRAL_95;
use super::released_map::ReleasedMap;
use dpgp_plot::{
    COLOURS, Colour, GREY, Layout, LegendEntry, Mark, PLOT_GAP, Panel, Pen, Picture, Plot, Scale, Side, Spot,
    Swatch, Ticks, WIDTH_OF_ONE, ends, viridis,
};
use dpgp_release::ReleasedPoint;

/// The height of a panel with a line.
const LINE_HEIGHT: f64 = 420.0;
const MEAN: Pen = Pen::new(COLOURS[0], 2.25);
/// Opaque, so that they are the colours of the legend where they overlap.
const TOTAL: Colour = Colour(212, 227, 241, 1.0);
const NOISE: Colour = Colour(246, 208, 170, 1.0);
/// Cells that say little, and the strokes through them.
const PALE: Colour = Colour(238, 238, 238, 1.0);
const HATCH: Pen = Pen::new(GREY, 0.75);
/// The pixels between them.
const APART: f64 = 9.0;
/// More strokes than any sheet has room for: coordinates beyond all reason have no more.
const MOST_STROKES: f64 = 300.0;
/// The height of the colour bar, the steps of it, and the room around the plots: for the bar's name, and for the axis.
const BAR: f64 = 16.0;
const STEPS: usize = 64;
const AROUND: f64 = 96.0;
/// The height by width of cells: of places on the earth, within these ends, as they are.
const RATIO: f64 = 0.75;
const RATIOS: [f64; 2] = [0.4, 1.25];

/// All but the title and the caption.
pub(super) fn picture(map: &ReleasedMap<'_>) -> Picture {
    match &map.y {
        None => line(map),
        Some(y) => cells(map, y),
    }
}

fn scale(axis: &MapAxis<'_>) -> Scale {
    let [from, to] = axis.ends();
    Scale::between(from, to)
}

fn line(map: &ReleasedMap<'_>) -> Picture {
    let [low, high] = [along(map, |point| point.low), along(map, |point| point.high)];
    let below = along(map, |point| point.mean - CENTRAL_95 * point.noise_sd);
    let above = along(map, |point| point.mean + CENTRAL_95 * point.noise_sd);
    let shown = [&low, &high, &below, &above].into_iter().flatten().map(|spot| spot.y);
    let y = Side::lines(Scale::of(false, shown), map.quantity());
    let marks = vec![
        Mark::band(&low, &high, TOTAL),
        Mark::band(&below, &above, NOISE),
        Mark::Line(along(map, |point| point.mean), MEAN),
    ];
    let legend = vec![
        Swatch::Line(MEAN).means("private_mean"),
        Swatch::Area(NOISE).means("privacy noise alone: private_mean ± 1.96 noise_sd"),
        Swatch::Area(TOTAL).means("95 % interval of the function: low to high"),
    ];
    let plot = Plot::new(Side::values(scale(&map.x), map.x.name.as_str()), y, marks);
    Picture { legend, layout: Layout::new(LINE_HEIGHT).titles(16.0), panels: vec![Panel::new("", plot)] }
}

fn along(map: &ReleasedMap<'_>, value: fn(&ReleasedPoint) -> f64) -> Vec<Spot> {
    map.cells.iter().map(|cell| Spot::new(map.x.places[cell.i], value(&cell.point))).collect()
}

fn cells(map: &ReleasedMap<'_>, y: &MapAxis<'_>) -> Picture {
    let colours = colours(map);
    let height = WIDTH_OF_ONE * ratio(map, y);
    let share = BAR / (BAR + height);
    let hatching = Hatching::new(&map.x, y, height);
    let mut marks = Vec::with_capacity(map.cells.len());
    for cell in &map.cells {
        let from = Spot::new(map.x.edges[cell.i], y.edges[cell.j]);
        let to = Spot::new(map.x.edges[cell.i + 1], y.edges[cell.j + 1]);
        if cell.is_masked {
            marks.push(Mark::tile(from, to, PALE));
            hatching.add(&mut marks, from, to);
        } else {
            marks.push(Mark::tile(from, to, viridis(colours.fraction(cell.point.mean))));
        }
    }
    let sides = [Side::values(scale(&map.x), map.x.name.as_str()), Side::values(scale(y), y.name.as_str())];
    let [x_side, y_side] = sides;
    let mut plots = vec![Plot { share: 1.0 - share, ..Plot::new(x_side, y_side, marks) }];
    // A scale of which no colour is on the map would only mislead.
    if map.masked() < map.cells.len() {
        let bar = Plot::new(Side::values(colours, ""), BARE, bar_marks(colours));
        plots.insert(0, Plot { share, ..bar });
    }
    let panel = Panel { title: map.quantity(), span: 1, plots };
    Picture {
        legend: legend(map),
        layout: Layout::new(BAR + PLOT_GAP + height + AROUND),
        panels: vec![panel],
    }
}

/// The upright side of the colour bar.
const BARE: Side =
    Side { scale: Scale::between(0.0, 1.0), label: String::new(), ticks: Ticks::Names(Vec::new()) };

/// From the least to the largest mean that is not masked.
fn colours(map: &ReleasedMap<'_>) -> Scale {
    let seen = map.cells.iter().filter(|cell| !cell.is_masked).map(|cell| cell.point.mean);
    Scale::tight(ends(seen).unwrap_or([0.0, 1.0]))
}

fn bar_marks(colours: Scale) -> Vec<Mark> {
    let width = (colours.high - colours.low) / STEPS as f64;
    let tiles = (0..STEPS).map(|step| {
        let from = colours.low + width * step as f64;
        let colour = viridis((step as f64 + 0.5) / STEPS as f64);
        Mark::tile(Spot::new(from, 0.0), Spot::new(from + width, 1.0), colour)
    });
    tiles.collect()
}

/// Oblique strokes, which go on from cell to cell.
struct Hatching {
    origin: Spot,
    /// The width and height of a pixel.
    pixel: Spot,
}

impl Hatching {
    fn new(x: &MapAxis<'_>, y: &MapAxis<'_>, height: f64) -> Self {
        let ([left, right], [bottom, top]) = (x.ends(), y.ends());
        let pixel = Spot::new((right - left) / WIDTH_OF_ONE, (top - bottom) / height);
        Self { origin: Spot::new(left, bottom), pixel }
    }

    /// The strokes `u - v = k APART` inside a cell, with u and v in pixels.
    fn add(&self, marks: &mut Vec<Mark>, from: Spot, to: Spot) {
        let [low, high] = [from, to].map(|at| {
            Spot::new((at.x - self.origin.x) / self.pixel.x, (at.y - self.origin.y) / self.pixel.y)
        });
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
    let hatched = Swatch::Hatched(PALE, HATCH).means(map.mask.rule());
    if map.masked() > 0 { vec![hatched] } else { Vec::new() }
}

fn ratio(map: &ReleasedMap<'_>, y: &MapAxis<'_>) -> f64 {
    if !map.is_earth {
        return RATIO;
    }
    let ([west, east], [south, north]) = (map.x.ends(), y.ends());
    let wide = (east - west) * (0.5 * (south + north)).to_radians().cos();
    let ratio = (north - south) / wide;
    if ratio.is_finite() { ratio.clamp(RATIOS[0], RATIOS[1]) } else { RATIO }
}
