//! A pair of axes on the canvas: values become places, nothing is drawn outside.

use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{BLACK, RGBAColor};

use super::canvas::{Canvas, Pen, Stroke, wrapped};
use super::clip::{Point, Rect};
use super::figure::FigureError;
use super::palette::GRID;
use super::scale::Scale;

/// Pixels that an axis tick needs for its text, across and along.
const TICK_ROOM: (f64, f64) = (52.0, 30.0);
const SMALL: f64 = 13.0;
const LARGE: f64 = 14.0;

/// An axis: its scale, and the places where it begins and ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
}

impl Axis {
    /// A linear axis between two values.
    pub fn between((low, high): (f64, f64)) -> Self {
        Self { scale: Scale { log: false }, low, high }
    }

    /// An axis that shows some values, with a little room.
    pub fn of(log: bool, values: impl Iterator<Item = f64>) -> Self {
        let scale = Scale { log };
        let (low, high) = scale.range(values.map(|value| (value, 0.0)), false);
        Self { scale, low, high }
    }

    /// A linear axis from the least to the largest of some values, without room.
    pub fn tight(values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        Self::between(if low < high { (low, high) } else { (low.min(0.0), low.min(0.0) + 1.0) })
    }

    /// With a little room at both ends.
    pub fn roomy(self) -> Self {
        let room = 0.04 * (self.high - self.low);
        Self { low: self.low - room, high: self.high + room, ..self }
    }

    /// With ends that were asked for.
    pub fn within(self, least: Option<f64>, most: Option<f64>) -> Self {
        let place = |end: Option<f64>, found| end.map_or(found, |end| self.scale.place(end));
        Self { low: place(least, self.low), high: place(most, self.high), ..self }
    }

    /// Where a value stands: 0 at the beginning, 1 at the end.
    fn fraction(&self, value: f64) -> f64 {
        (self.scale.place(value) - self.low) / (self.high - self.low)
    }
}

/// A rectangle of the canvas with an x and a y axis.
pub(super) struct Plot<'a, 'b> {
    pub canvas: &'a Canvas<'b>,
    pub rect: Rect,
    pub x: Axis,
    pub y: Axis,
}

impl Plot<'_, '_> {
    /// Where a pair of values stands on the canvas.
    pub fn at(&self, (x, y): (f64, f64)) -> Point {
        let across = self.rect.left + self.rect.width * self.x.fraction(x);
        (across, self.rect.bottom() - self.rect.height * self.y.fraction(y))
    }

    /// A line through some values.
    pub fn line(&self, values: impl IntoIterator<Item = (f64, f64)>, pen: Pen) -> Result<(), FigureError> {
        let points: Vec<Point> = values.into_iter().map(|value| self.at(value)).collect();
        self.rect.line(&points).iter().try_for_each(|run| self.canvas.line(run, pen))
    }

    /// The area inside some values.
    pub fn area(
        &self,
        corners: impl IntoIterator<Item = (f64, f64)>,
        colour: RGBAColor,
    ) -> Result<(), FigureError> {
        let corners: Vec<Point> = corners.into_iter().map(|value| self.at(value)).collect();
        self.canvas.area(&self.rect.area(&corners), colour)
    }

    /// Marks at those values that lie inside.
    pub fn marks(
        &self,
        values: impl IntoIterator<Item = (f64, f64)>,
        stroke: Stroke,
        arm: f64,
        pen: Pen,
    ) -> Result<(), FigureError> {
        let mut points =
            values.into_iter().map(|value| self.at(value)).filter(|point| self.rect.holds(*point));
        points.try_for_each(|point| self.canvas.mark(point, stroke, arm, pen))
    }

    /// A disc of so many pixels, if its centre lies inside.
    pub fn disc(&self, value: (f64, f64), radius: f64, colour: RGBAColor) -> Result<(), FigureError> {
        let centre = self.at(value);
        if self.rect.holds(centre) { self.canvas.disc(centre, radius, colour) } else { Ok(()) }
    }

    /// The title above, and both axes with their labels.
    pub fn axes(&self, title: &str, x_label: &str, y_label: &str) -> Result<(), FigureError> {
        self.y_ticks(y_label, true)?;
        self.x_ticks(x_label)?;
        self.title(title)
    }

    /// The title above.
    pub fn title(&self, title: &str) -> Result<(), FigureError> {
        let middle = self.rect.left + self.rect.width / 2.0;
        let lines = wrapped(title, LARGE, self.rect.width + 40.0);
        let first = self.rect.top - 8.0 - 17.0 * (lines.len().max(1) - 1) as f64;
        lines.iter().enumerate().try_for_each(|(i, line)| {
            self.canvas.text(line, (middle, first + 17.0 * i as f64), LARGE, (HPos::Center, VPos::Bottom))
        })
    }

    /// The x axis below without ticks.
    pub fn x_line(&self) -> Result<(), FigureError> {
        let bottom = self.rect.bottom();
        self.canvas.line(&[(self.rect.left, bottom), (self.rect.right(), bottom)], Pen::new(BLACK, 1.0))
    }

    /// The x axis below, with its label.
    pub fn x_ticks(&self, label: &str) -> Result<(), FigureError> {
        let (bottom, middle) = (self.rect.bottom(), self.rect.left + self.rect.width / 2.0);
        let black = Pen::new(BLACK, 1.0);
        self.x_line()?;
        for place in self.x.scale.few_ticks(self.x.low, self.x.high, room(self.rect.width / TICK_ROOM.0)) {
            let fraction = (place - self.x.low) / (self.x.high - self.x.low);
            let x = self.rect.left + self.rect.width * fraction;
            self.canvas.line(&[(x, bottom), (x, bottom + 4.0)], black)?;
            self.canvas.text(
                &self.x.scale.tick(place),
                (x, bottom + 7.0),
                SMALL,
                (HPos::Center, VPos::Top),
            )?;
        }
        self.canvas.text(label, (middle, bottom + 26.0), LARGE, (HPos::Center, VPos::Top))
    }

    /// The y axis at the left, with its label and, if asked for, lines across.
    pub fn y_ticks(&self, label: &str, across: bool) -> Result<(), FigureError> {
        let left = self.rect.left;
        let black = Pen::new(BLACK, 1.0);
        for place in self.y.scale.few_ticks(self.y.low, self.y.high, room(self.rect.height / TICK_ROOM.1)) {
            let fraction = (place - self.y.low) / (self.y.high - self.y.low);
            let y = self.rect.bottom() - self.rect.height * fraction;
            if across {
                self.canvas.line(&[(left, y), (self.rect.right(), y)], Pen::new(GRID, 1.0))?;
            }
            self.canvas.line(&[(left - 4.0, y), (left, y)], black)?;
            self.canvas.text(
                &self.y.scale.tick(place),
                (left - 7.0, y),
                SMALL,
                (HPos::Right, VPos::Center),
            )?;
        }
        self.canvas.line(&[(left, self.rect.top), (left, self.rect.bottom())], black)?;
        let lines = wrapped(label, LARGE, self.rect.height + 30.0);
        let middle = self.rect.top + self.rect.height / 2.0;
        lines.iter().rev().enumerate().try_for_each(|(i, line)| {
            self.canvas.upward(line, (left - 58.0 - 17.0 * i as f64, middle), LARGE)
        })
    }
}

/// At least two ticks.
fn room(ticks: f64) -> usize {
    (ticks as usize).max(2)
}
