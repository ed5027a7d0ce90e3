//! A pair of axes on the canvas: values become places, nothing is drawn outside.

use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{BLACK, RGBAColor};

use super::axis::Axis;
use super::canvas::{Canvas, wrapped};
use super::clip::{Point, Rect};
use super::figure::FigureError;
use super::palette::GRID;
use super::pen::{Pen, Stroke};

/// Pixels that an axis tick needs for its text, across and along.
const TICK_ROOM: (f64, f64) = (52.0, 30.0);
const SMALL: f64 = 13.0;
const LARGE: f64 = 14.0;

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

    /// A circle of so many pixels, if its centre lies inside.
    pub fn ring(&self, value: (f64, f64), radius: f64, pen: Pen) -> Result<(), FigureError> {
        let centre = self.at(value);
        if self.rect.holds(centre) { self.canvas.ring(centre, radius, pen) } else { Ok(()) }
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
        let bottom = self.rect.bottom();
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
        self.x_label(label)
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
        self.y_label(label)
    }

    fn y_label(&self, label: &str) -> Result<(), FigureError> {
        let lines = wrapped(label, LARGE, self.rect.height + 30.0);
        let middle = self.rect.top + self.rect.height / 2.0;
        lines.iter().rev().enumerate().try_for_each(|(i, line)| {
            self.canvas.upward(line, (self.rect.left - 58.0 - 17.0 * i as f64, middle), LARGE)
        })
    }

    fn x_label(&self, label: &str) -> Result<(), FigureError> {
        let middle = self.rect.left + self.rect.width / 2.0;
        self.canvas.text(label, (middle, self.rect.bottom() + 26.0), LARGE, (HPos::Center, VPos::Top))
    }

    /// Names at 1/2, 3/2, ... below the x axis, and its label.
    pub fn x_names(&self, names: &[String], label: &str) -> Result<(), FigureError> {
        for (i, name) in names.iter().enumerate() {
            let (x, y) = self.at((i as f64 + 0.5, self.y.low));
            self.canvas.text(name, (x, y + 7.0), SMALL, (HPos::Center, VPos::Top))?;
        }
        self.x_label(label)
    }

    /// Names at 1/2, 3/2, ... beside the y axis, and its label.
    pub fn y_names(&self, names: &[&str], label: &str) -> Result<(), FigureError> {
        for (i, name) in names.iter().enumerate() {
            let (x, y) = self.at((self.x.low, i as f64 + 0.5));
            self.canvas.text(name, (x - 7.0, y), SMALL, (HPos::Right, VPos::Center))?;
        }
        self.y_label(label)
    }
}

/// At least two ticks.
fn room(ticks: f64) -> usize {
    (ticks as usize).max(2)
}
