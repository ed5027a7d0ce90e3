//! The head of a figure: its title, and what its marks mean.

use plotters::style::RGBAColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Canvas, text_width, wrapped};
use super::clip::{Point, Rect};
use super::figure::FigureError;
use super::pen::{Pen, Stroke};

const TITLE: f64 = 17.0;
const TITLE_LINE: f64 = 22.0;
const TEXT: f64 = 13.0;
const LINE: f64 = 22.0;
const MARGIN: f64 = 16.0;
/// The width of a sample, and the room behind the text after it.
const SAMPLE: f64 = 26.0;
const GAP: f64 = 24.0;

/// What stands before an explanation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sample {
    /// A piece of a line.
    Line(Pen),
    /// A piece of an area.
    Area(RGBAColor),
    /// A mark with arms of so many pixels.
    Mark(Stroke, f64, Pen),
    /// A disc of so many pixels.
    Disc(f64, RGBAColor),
    /// A circle of so many pixels.
    Ring(f64, Pen),
    /// Nothing: the text stands alone.
    None,
    /// A disc of so many pixels on a ground of its own.
    Framed(f64, RGBAColor, RGBAColor),
}

impl Sample {
    /// The room that it takes.
    fn room(self) -> f64 {
        if matches!(self, Self::None) { 0.0 } else { SAMPLE + 8.0 }
    }

    /// Drawn to the right of a point.
    fn paint(self, canvas: &Canvas<'_>, (x, y): Point) -> Result<(), FigureError> {
        let middle = (x + SAMPLE / 2.0, y);
        match self {
            Self::Line(pen) => canvas.line(&[(x, y), (x + SAMPLE, y)], pen),
            Self::Area(colour) => {
                canvas.rectangle(Rect { left: x, top: y - 6.0, width: SAMPLE, height: 12.0 }, colour)
            }
            Self::Mark(stroke, arm, pen) => canvas.mark(middle, stroke, arm, pen),
            Self::Disc(radius, colour) => canvas.disc(middle, radius, colour),
            Self::Ring(radius, pen) => canvas.ring(middle, radius, pen),
            Self::None => Ok(()),
            Self::Framed(radius, colour, ground) => {
                let side = SAMPLE - 4.0;
                let square = Rect { left: x + 2.0, top: y - side / 2.0, width: side, height: side };
                canvas.rectangle(square, ground)?;
                canvas.disc(middle, radius, colour)
            }
        }
    }
}

/// The head of a figure that is so wide.
pub(super) struct Head {
    width: f64,
    title: Vec<String>,
    entries: Vec<(Sample, String)>,
}

impl Head {
    pub fn new(title: &str, entries: Vec<(Sample, String)>, width: f64) -> Self {
        Self { width, title: wrapped(title, TITLE, width - 2.0 * MARGIN), entries }
    }

    /// Where each entry begins; an entry that does not fit begins a new line.
    fn places(&self) -> Vec<Point> {
        let (mut x, mut y) = (MARGIN, 14.0 + TITLE_LINE * self.title.len() as f64 + LINE / 2.0);
        let place = |(sample, text): &(Sample, String)| {
            let wide = sample.room() + text_width(text, TEXT) + GAP;
            if x > MARGIN && x + wide - GAP / 2.0 > self.width {
                (x, y) = (MARGIN, y + LINE);
            }
            x += wide;
            (x - wide, y)
        };
        self.entries.iter().map(place).collect()
    }

    /// Its height.
    pub fn height(&self) -> f64 {
        let last = self.places().last().map_or(14.0 + TITLE_LINE * self.title.len() as f64, |place| place.1);
        last + LINE / 2.0 + 4.0
    }

    pub fn paint(&self, canvas: &Canvas<'_>) -> Result<(), FigureError> {
        for (i, line) in self.title.iter().enumerate() {
            let at = (MARGIN, 12.0 + TITLE_LINE * i as f64);
            canvas.text(line, at, TITLE, (HPos::Left, VPos::Top))?;
        }
        for ((sample, text), (x, y)) in self.entries.iter().zip(self.places()) {
            sample.paint(canvas, (x, y))?;
            canvas.text(text, (x + sample.room(), y), TEXT, (HPos::Left, VPos::Center))?;
        }
        Ok(())
    }
}
