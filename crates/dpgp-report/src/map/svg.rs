//! A map as SVG: a line between bands or coloured cells, and the caption.

use minijinja::HtmlEscape;

use super::MapError;
use super::options::MapAxis;
use super::released_map::ReleasedMap;
use dpgp_data::shown_line;
use dpgp_number::text::brief;
use dpgp_plot::{
    COLOURS, Colour, GREY, Layout, LegendEntry, Mark, PLOT_GAP, Panel, Pen, Picture, Plot, PlotPoint,
    Rendered, Scale, Side, Swatch, Ticks, WIDTH_OF_ONE, ends, render_captioned, viridis,
};
use dpgp_release::ReleasedPoint;

/// Cells meet without seams; on a page its style says so.
const CRISP: &str = "<style>.cells polygon { shape-rendering: crispEdges }</style>\n";

/// A file of its own, with a title and a description for screen readers, and the caption below.
pub(super) fn file(map: &ReleasedMap<'_>, caption: &[String]) -> Result<String, MapError> {
    let Rendered { svg, .. } = render_captioned(&map.title(), &picture(map), caption)?;
    let (title, about) = (map.title(), caption.join(" "));
    let about = shown_line(&about);
    let head = format!("<title>{}</title>\n<desc>{}</desc>\n", HtmlEscape(&title), HtmlEscape(&about));
    Ok(marked(map, &svg).replacen('>', &format!(">\n{head}{CRISP}"), 1))
}

/// The drawing on a page, which has title and caption itself.
pub(super) fn drawing(map: &ReleasedMap<'_>) -> Result<Rendered, MapError> {
    let rendered = render_captioned("", &picture(map), &[])?;
    let name = format!("<svg aria-label=\"{}\" ", HtmlEscape(&map.title()));
    Ok(Rendered { svg: marked(map, &rendered.svg).replacen("<svg ", &name, 1), ..rendered })
}

fn marked(map: &ReleasedMap<'_>, svg: &str) -> String {
    let class = if map.y.is_some() { "cells" } else { "line" };
    svg.replacen("<svg ", &format!("<svg role=\"img\" class=\"{class}\" "), 1)
}

/// The 97.5 % point of the normal distribution, as of the intervals in the file.
pub(super) const CENTRAL_95: f64 = 1.959_963_984_540_054;
/// The meaning of both parts of the uncertainty.
const PARTS: &str = "The standard error combines gp_sd and noise_sd. gp_sd is the uncertainty of the model, including \
    its pull towards the prior mean (regularisation bias). noise_sd is the privacy noise.";
/// The note on a map whose cells are all hatched.
const NOTHING_SHOWN: &str = "Every cell is too uncertain to show, so there is no colour scale. More rows, a larger \
    epsilon or a longer lengthscale would show more; `dpgp predict --preview` estimates this in advance. The table and \
    the intervals remain valid.";

impl ReleasedMap<'_> {
    /// The guarantee of the numbers, and the parts that the picture leaves out.
    pub fn caption(&self) -> Vec<String> {
        let mut said: Vec<String> = self.in_plain_words().into_iter().chain(self.reach()).collect();
        let places: Vec<String> = self.places().collect();
        // A title of the user's own need not say it.
        if !places.is_empty() {
            said.push(format!("Drawn at {}.", places.join(", ")));
        }
        said.extend(self.released.statement.said.iter().cloned());
        if self.y.is_some() {
            let (masked, all) = (self.masked(), self.cells.len());
            let share = brief(100.0 * masked as f64 / all as f64);
            said.push(format!(
                "Hatched: {}; {masked} of {all} cells ({share} %).",
                self.mask.rule(&self.unit())
            ));
            if masked == all {
                said.push(NOTHING_SHOWN.to_owned());
            }
        }
        said.push(PARTS.to_owned());
        said.push(
            "The picture is drawn only from the numbers in the file and reveals nothing more.".to_owned(),
        );
        said
    }

    /// The definition of the guarantee: `P(S) <= e^epsilon P'(S) + delta` for every set S of outputs.
    fn in_plain_words(&self) -> Option<String> {
        let statement = &self.released.statement;
        let (epsilon, delta) = (statement.epsilon?, statement.delta?);
        let (factor, neighbours) = (brief(epsilon.exp()), statement.neighbours.as_deref()?);
        Some(format!(
            "Privacy: any conclusion from these numbers has at most {factor} times the probability, plus {delta:?}, \
             that it would have on neighbouring data ({neighbours})."
        ))
    }

    /// The half-widths of the shown intervals; none if no guarantee is claimed.
    fn reach(&self) -> Option<String> {
        self.released.statement.guarantee.as_ref()?;
        let seen = self.cells.iter().filter(|cell| !cell.is_masked);
        let mut sds: Vec<f64> = seen.map(|cell| CENTRAL_95 * cell.point.uncertainty()).collect();
        sds.sort_by(f64::total_cmp);
        let (half, most) = (sds.get(sds.len() / 2)?, sds.get(sds.len() * 9 / 10)?);
        let shown = if self.y.is_some() { "coloured cells" } else { "points" };
        Some(format!(
            "Accuracy: half of the {shown} have a 95 % interval of at most ±{}{}, nine tenths of at most ±{}. This assumes \
             that the model fits, above all its lengthscales. Single rows vary more.",
            brief(*half),
            self.unit(),
            brief(*most)
        ))
    }
}

/// The height of a panel with a line.
const LINE_HEIGHT: f64 = 420.0;
const MEAN: Pen = Pen::new(COLOURS[0], 2.25);
/// Opaque, so that they are the colours of the legend where they overlap.
const TOTAL: Colour = Colour(212, 227, 241, 1.0);
const NOISE: Colour = Colour(246, 208, 170, 1.0);
/// Uncertain cells, and the strokes through them.
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
    let y = Side::lines(Scale::covering(false, shown), map.quantity());
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

fn along(map: &ReleasedMap<'_>, value: fn(&ReleasedPoint) -> f64) -> Vec<PlotPoint> {
    map.cells.iter().map(|cell| PlotPoint::new(map.x.places[cell.i], value(&cell.point))).collect()
}

fn cells(map: &ReleasedMap<'_>, y: &MapAxis<'_>) -> Picture {
    let colours = colours(map);
    let height = WIDTH_OF_ONE * ratio(map, y);
    let share = BAR / (BAR + height);
    let hatching = Hatching::new(&map.x, y, height);
    let mut marks = Vec::with_capacity(map.cells.len());
    for cell in &map.cells {
        let from = PlotPoint::new(map.x.edges[cell.i], y.edges[cell.j]);
        let to = PlotPoint::new(map.x.edges[cell.i + 1], y.edges[cell.j + 1]);
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
    // A colour scale without coloured cells would mislead.
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
        Mark::tile(PlotPoint::new(from, 0.0), PlotPoint::new(from + width, 1.0), colour)
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
    fn new(x: &MapAxis<'_>, y: &MapAxis<'_>, height: f64) -> Self {
        let ([left, right], [bottom, top]) = (x.ends(), y.ends());
        let pixel = PlotPoint::new((right - left) / WIDTH_OF_ONE, (top - bottom) / height);
        Self { origin: PlotPoint::new(left, bottom), pixel }
    }

    /// The strokes `u - v = k APART` inside a cell, with u and v in pixels.
    fn add(&self, marks: &mut Vec<Mark>, from: PlotPoint, to: PlotPoint) {
        let [low, high] = [from, to].map(|at| {
            PlotPoint::new((at.x - self.origin.x) / self.pixel.x, (at.y - self.origin.y) / self.pixel.y)
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
    let hatched = Swatch::Hatched(PALE, HATCH).means(map.mask.rule(&map.unit()));
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
