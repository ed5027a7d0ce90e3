//! The title and legend of a figure, and names beside the ends of lines, so far apart that none covers another.

use std::iter::{repeat_n, zip};

use super::canvas::{Canvas, Colour, MarkShape, Pen, TextFormat, ramp_colour, text_width, wrap_text};
use super::picture::TextAnchor;
use super::render::PlotArea;
use super::surface::{PlotPoint, Rect};
use crate::PlotError;

const TITLE: TextFormat = TextFormat::new(17.0, TextAnchor::TopLeft);
const TITLE_LINE: f64 = 22.0;
const TEXT: TextFormat = TextFormat::new(13.0, TextAnchor::Left);
const LINE: f64 = 22.0;
/// From line to line of one entry.
const WRAPPED_LINE: f64 = 16.0;
const MARGIN: f64 = 16.0;
/// The width of a swatch, and the room behind the text after it.
const SWATCH: f64 = 26.0;
const GAP: f64 = 24.0;
/// The width of a bar of colours, and their number.
const BAR: f64 = 150.0;
const STEPS: u32 = 50;
/// The pixels between the strokes of a hatched swatch.
const APART: f64 = 7.0;

/// The sign before an explanation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Swatch {
    /// A piece of a line.
    Line(Pen),
    /// A piece of an area.
    Area(Colour),
    /// The colours of [`ramp_colour`], the lowest at the left.
    Bar,
    /// A piece of an area with oblique strokes.
    Hatched(Colour, Pen),
    /// A mark with arms of so many pixels.
    Mark(MarkShape, f64, Pen),
    /// A disc of so many pixels.
    Disc(f64, Colour),
    /// A disc of so many pixels on a ground of its own.
    Framed(f64, Colour, Colour),
    /// A circle of so many pixels.
    Ring(f64, Pen),
    /// Nothing: the text stands alone.
    None,
}

/// A swatch and its meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct LegendEntry {
    /// The sign.
    pub swatch: Swatch,
    /// Its meaning.
    pub text: String,
}

impl Swatch {
    /// This sign with its meaning.
    pub fn with_meaning(self, text: impl Into<String>) -> LegendEntry {
        LegendEntry { swatch: self, text: text.into() }
    }

    /// The room that it takes.
    fn swatch_width(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Bar => BAR + 8.0,
            _ => SWATCH + 8.0,
        }
    }

    /// Drawn to the right of a place.
    fn paint(self, canvas: &Canvas<'_>, at: PlotPoint) -> Result<(), PlotError> {
        let middle = at.moved(SWATCH / 2.0, 0.0);
        match self {
            Self::Line(pen) => canvas.line(&[at, at.moved(SWATCH, 0.0)], pen),
            Self::Area(colour) => canvas.rectangle(swatch_rect(at), colour),
            // Each colour goes on to the right end, under the next ones, so that nothing shows between them.
            Self::Bar => (0..STEPS).try_for_each(|step| {
                let part = f64::from(step) / f64::from(STEPS);
                let rest = Rect { left: at.x + BAR * part, width: BAR * (1.0 - part), ..swatch_rect(at) };
                canvas.rectangle(rest, ramp_colour(part + 0.5 / f64::from(STEPS)))
            }),
            Self::Hatched(colour, pen) => {
                let Rect { left, top, width, height } = swatch_rect(at);
                canvas.rectangle(swatch_rect(at), colour)?;
                let feet = (0..).map(|k| left + APART * f64::from(k)).take_while(|x| x + height <= left + width);
                for x in feet {
                    canvas.line(&[PlotPoint::new(x, top + height), PlotPoint::new(x + height, top)], pen)?;
                }
                Ok(())
            }
            Self::Mark(stroke, arm, pen) => canvas.draw_mark_shape(middle, stroke, arm, pen),
            Self::Disc(radius, colour) => canvas.disc(middle, radius, colour),
            Self::Ring(radius, pen) => canvas.ring(middle, radius, pen),
            Self::None => Ok(()),
            Self::Framed(radius, colour, ground) => {
                let side = SWATCH - 4.0;
                let square = Rect { left: at.x + 2.0, top: at.y - side / 2.0, width: side, height: side };
                canvas.rectangle(square, ground)?;
                canvas.disc(middle, radius, colour)
            }
        }
    }
}

/// The area of a swatch to the right of a place.
fn swatch_rect(at: PlotPoint) -> Rect {
    Rect { left: at.x, top: at.y - 6.0, width: SWATCH, height: 12.0 }
}

/// The head of a figure that is so wide.
pub struct FigureHeader<'a> {
    width: f64,
    title: Vec<String>,
    entries: Vec<WrappedLegendEntry<'a>>,
}

/// An entry in lines.
struct WrappedLegendEntry<'a> {
    swatch: &'a Swatch,
    lines: Vec<String>,
}

impl WrappedLegendEntry<'_> {
    /// Its width.
    fn entry_width(&self) -> f64 {
        let widest = self.lines.iter().map(|line| text_width(line, TEXT.size)).fold(0.0, f64::max);
        self.swatch.swatch_width() + widest + GAP
    }

    /// The height of the lines after its first.
    fn extra_height(&self) -> f64 {
        WRAPPED_LINE * self.lines.len().saturating_sub(1) as f64
    }
}

impl<'a> FigureHeader<'a> {
    pub fn new(title: &str, entries: &'a [LegendEntry], width: f64) -> Self {
        let entries = entries.iter().map(|LegendEntry { swatch, text }| {
            let free = width - MARGIN - swatch.swatch_width();
            // Spaces of an entry that fits are kept.
            let fits = text_width(text, TEXT.size) <= free;
            let lines = if fits { vec![text.clone()] } else { wrap_text(text, TEXT.size, free) };
            WrappedLegendEntry { swatch, lines }
        });
        Self { width, title: wrap_text(title, TITLE.size, width - 2.0 * MARGIN), entries: entries.collect() }
    }

    fn title_bottom(&self) -> f64 {
        14.0 + TITLE_LINE * self.title.len() as f64
    }

    /// The start of each entry; an entry that does not fit begins a new line.
    fn entry_positions(&self) -> Vec<PlotPoint> {
        let mut next = PlotPoint::new(MARGIN, self.title_bottom() + LINE / 2.0);
        let mut places = Vec::with_capacity(self.entries.len());
        let mut tallest: f64 = 0.0;
        for entry in &self.entries {
            let wide = entry.entry_width();
            if next.x > MARGIN && next.x + wide - GAP / 2.0 > self.width {
                next = PlotPoint::new(MARGIN, next.y + LINE + tallest);
                tallest = 0.0;
            }
            places.push(next);
            tallest = tallest.max(entry.extra_height());
            next.x += wide;
        }
        places
    }

    /// Its height.
    pub fn height(&self) -> f64 {
        let places = self.entry_positions();
        let feet = places.iter().zip(&self.entries).map(|(place, entry)| place.y + entry.extra_height());
        feet.fold(self.title_bottom(), f64::max) + LINE / 2.0 + 4.0
    }

    pub fn paint(&self, canvas: &Canvas<'_>) -> Result<(), PlotError> {
        for (i, line) in self.title.iter().enumerate() {
            canvas.text(line, PlotPoint::new(MARGIN, 12.0 + TITLE_LINE * i as f64), TITLE)?;
        }
        for (entry, at) in self.entries.iter().zip(self.entry_positions()) {
            entry.swatch.paint(canvas, at)?;
            for (i, line) in entry.lines.iter().enumerate() {
                canvas.text(line, at.moved(entry.swatch.swatch_width(), WRAPPED_LINE * i as f64), TEXT)?;
            }
        }
        Ok(())
    }
}

const LABEL_SIZE: f64 = 12.5;
/// The distance of two names.
const LABEL_GAP: f64 = 14.5;
/// The room between the axes and the samples of lines, which a thin line crosses, the width of a sample, and the room beyond the
/// names.
const LEADER: f64 = 14.0;
const SAMPLE: f64 = 20.0;
const BEYOND: f64 = 10.0;

/// The name of a line at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct LineEndLabel {
    /// Its name.
    pub text: String,
    /// The end of the line. A line that ends outside the axes has no name.
    pub at: PlotPoint,
    /// The pen of the line.
    pub pen: Pen,
}

/// The room that names take beside the axes.
pub fn end_label_width(ends: &[LineEndLabel]) -> f64 {
    let widest = ends.iter().map(|end| text_width(&end.text, LABEL_SIZE)).fold(0.0, f64::max);
    if ends.is_empty() { 0.0 } else { LEADER + SAMPLE + 4.0 + widest + BEYOND }
}

impl PlotArea<'_, '_> {
    /// The names at the right, each with a sample of its line and a thin line from the end of it.
    pub fn draw_end_labels(&self) -> Result<(), PlotError> {
        let ends = self.plot.ends.iter().map(|end| (self.to_canvas(end.at), end));
        let mut ends: Vec<(PlotPoint, &LineEndLabel)> = ends.filter(|(at, _)| self.rect.holds(*at)).collect();
        ends.sort_by(|(a, _), (b, _)| a.y.total_cmp(&b.y));
        let heights: Vec<f64> = ends.iter().map(|(at, _)| at.y).collect();
        let right = self.rect.right();
        for ((at, end), y) in zip(ends, separate_heights(&heights, LABEL_GAP, [self.rect.top, self.rect.bottom()])) {
            let sample = PlotPoint::new(right + LEADER, y);
            let leader = [at, PlotPoint::new(right + 1.0, at.y), sample];
            self.canvas.line(&leader, Pen::new(end.pen.colour.with_opacity(0.6), 0.75))?;
            self.canvas.line(&[sample, sample.moved(SAMPLE, 0.0)], end.pen)?;
            let font = TextFormat::new(LABEL_SIZE, TextAnchor::Left).coloured(end.pen.colour);
            self.canvas.text(&end.text, sample.moved(SAMPLE + 4.0, 0.0), font)?;
        }
        Ok(())
    }
}

/// The heights `y` nearest to some increasing heights `h` that are so far apart and between two ends.
///
/// `y` minimises `sum (y_i - h_i)^2` subject to `y_{i+1} - y_i >= apart`. With `z_i = y_i - i apart` and `e_i = h_i - i apart`, `z` is the
/// isotonic regression of `e`, which pooling adjacent violators finds; with bounds it is cut off there (Barlow et al. 1972). More
/// heights than there is room for go on below.
fn separate_heights(heights: &[f64], apart: f64, [top, bottom]: [f64; 2]) -> Vec<f64> {
    let mut pools: Vec<TouchingLabelBlock> = Vec::new();
    for (i, height) in heights.iter().enumerate() {
        let mut pool = TouchingLabelBlock { sum: height - apart * i as f64, count: 1 };
        while let Some(above) = pools.pop_if(|above| above.mean() > pool.mean()) {
            pool = TouchingLabelBlock { sum: above.sum + pool.sum, count: above.count + pool.count };
        }
        pools.push(pool);
    }
    let last = bottom - apart * heights.len().saturating_sub(1) as f64;
    let means = pools.iter().flat_map(|pool| repeat_n(pool.mean(), pool.count));
    means.enumerate().map(|(i, mean)| mean.min(last).max(top) + apart * i as f64).collect()
}

/// Neighbours that stand as near together as they may.
struct TouchingLabelBlock {
    sum: f64,
    count: usize,
}

impl TouchingLabelBlock {
    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry that is too long for the sheet has lines below each other, and the next one begins below them.
    #[test]
    fn a_long_entry_wraps() {
        let long = Swatch::None.with_meaning("word ".repeat(40));
        let entries = [long, Swatch::None.with_meaning("short")];
        let head = FigureHeader::new("", &entries, 300.0);
        let lines = head.entries[0].lines.len();
        assert!(lines > 3 && head.entries[0].lines.iter().all(|line| text_width(line, TEXT.size) <= 284.0));
        let [first, second] = head.entry_positions()[..] else { panic!("two entries") };
        assert!(second.y - first.y > WRAPPED_LINE * (lines - 1) as f64 && second.x == first.x);
        assert!(head.height() > second.y);
    }
}

#[cfg(test)]
mod ends_tests {
    use super::*;

    const ENDS: [f64; 2] = [0.0, 100.0];

    #[test]
    fn names_that_have_room_stay_where_they_are() {
        assert_eq!(separate_heights(&[10.0, 30.0, 90.0], 10.0, ENDS), [10.0, 30.0, 90.0]);
        assert!(separate_heights(&[], 10.0, ENDS).is_empty());
    }

    /// Around their mean: 50 - 10, 50 and 50 + 10. The fourth, at 61, is too near to the third, and all four move by the mean of
    /// 40, 40, 40, 31 less their places.
    #[test]
    fn names_at_one_height_spread_around_it() {
        assert_eq!(separate_heights(&[50.0, 50.0, 50.0], 10.0, ENDS), [40.0, 50.0, 60.0]);
        let mean = (50.0 + 40.0 + 30.0 + 31.0) / 4.0;
        let pooled = [mean, mean + 10.0, mean + 20.0, mean + 30.0];
        assert_eq!(separate_heights(&[50.0, 50.0, 50.0, 61.0], 10.0, ENDS), pooled);
    }

    #[test]
    fn names_stay_between_the_ends_and_go_on_below_without_room() {
        assert_eq!(separate_heights(&[0.0, 0.0], 10.0, ENDS), [0.0, 10.0]);
        assert_eq!(separate_heights(&[100.0, 100.0], 10.0, ENDS), [90.0, 100.0]);
        assert_eq!(separate_heights(&[50.0, 50.0, 50.0], 80.0, ENDS), [0.0, 80.0, 160.0]);
    }
}
