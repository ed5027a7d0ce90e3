//! The sheet that a figure is drawn on: shapes and text at fractions of a pixel.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::clip::{Point, Rect, dashes};
use super::figure::FigureError;
use super::palette::FONT;
use super::pen::{Pen, Stroke};

/// Shapes stand on a raster so much finer than pixels: curves are smooth.
const FINE: f64 = 4.0;

/// A sheet with pixels for units; y goes down.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Paints a white sheet of so many pixels; as SVG text.
pub(super) fn sheet(
    (width, height): (f64, f64),
    paint: impl FnOnce(&Canvas<'_>) -> Result<(), FigureError>,
) -> Result<String, FigureError> {
    let mut svg = String::new();
    let size = (fine(width) as u32, fine(height) as u32);
    {
        let canvas = Canvas { area: SVGBackend::with_string(&mut svg, size).into_drawing_area() };
        let painted = checked(canvas.area.fill(&WHITE)).and_then(|()| paint(&canvas));
        painted.and_then(|()| checked(canvas.area.present()))?;
    }
    let raster = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    Ok(svg.replacen(&raster, &format!("width=\"{}\" height=\"{}\"", width.ceil(), height.ceil()), 1))
}

fn checked(drawn: Result<(), DrawingAreaErrorKind<std::io::Error>>) -> Result<(), FigureError> {
    drawn.map_err(|error| FigureError::new(&error))
}

fn fine(pixels: f64) -> i32 {
    (FINE * pixels).round() as i32
}

fn raster((x, y): Point) -> (i32, i32) {
    (fine(x), fine(y))
}

impl Canvas<'_> {
    /// A line through some points.
    pub fn line(&self, points: &[Point], pen: Pen) -> Result<(), FigureError> {
        match pen.dash {
            None => self.path(points, pen),
            Some((on, off)) => dashes(points, on, off).iter().try_for_each(|dash| self.path(dash, pen)),
        }
    }

    fn path(&self, points: &[Point], pen: Pen) -> Result<(), FigureError> {
        let points: Vec<(i32, i32)> = points.iter().copied().map(raster).collect();
        let style = pen.colour.stroke_width((FINE * pen.width).round() as u32);
        checked(self.area.draw(&PathElement::new(points, style)))
    }

    /// A filled area.
    pub fn area(&self, corners: &[Point], colour: RGBAColor) -> Result<(), FigureError> {
        let corners: Vec<(i32, i32)> = corners.iter().copied().map(raster).collect();
        if corners.is_empty() { Ok(()) } else { checked(self.area.draw(&Polygon::new(corners, colour))) }
    }

    /// A filled rectangle.
    pub fn rectangle(&self, rect: Rect, colour: RGBAColor) -> Result<(), FigureError> {
        let ends = [raster((rect.left, rect.top)), raster((rect.right(), rect.bottom()))];
        checked(self.area.draw(&Rectangle::new(ends, colour.filled())))
    }

    /// The edges of a rectangle.
    pub fn outline(&self, rect: Rect, pen: Pen) -> Result<(), FigureError> {
        let (left, top, right, bottom) = (rect.left, rect.top, rect.right(), rect.bottom());
        self.line(&[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], pen)
    }

    /// A filled circle.
    pub fn disc(&self, centre: Point, radius: f64, colour: RGBAColor) -> Result<(), FigureError> {
        checked(self.area.draw(&Circle::new(raster(centre), fine(radius), colour.filled())))
    }

    /// A circle.
    pub fn ring(&self, centre: Point, radius: f64, pen: Pen) -> Result<(), FigureError> {
        let style = pen.colour.stroke_width((FINE * pen.width).round() as u32);
        checked(self.area.draw(&Circle::new(raster(centre), fine(radius), style)))
    }

    /// A small mark with arms of so many pixels.
    pub fn mark(&self, (x, y): Point, stroke: Stroke, arm: f64, pen: Pen) -> Result<(), FigureError> {
        let upright = [(x, y - arm), (x, y + arm)];
        match stroke {
            Stroke::Tick => self.line(&upright, pen),
            Stroke::Plus => {
                self.line(&upright, pen)?;
                self.line(&[(x - arm, y), (x + arm, y)], pen)
            }
            Stroke::Times => {
                self.line(&[(x - arm, y - arm), (x + arm, y + arm)], pen)?;
                self.line(&[(x - arm, y + arm), (x + arm, y - arm)], pen)
            }
        }
    }

    /// Text of a size in pixels; the anchor says which of its points stands there.
    pub fn text(&self, text: &str, at: Point, size: f64, anchor: (HPos, VPos)) -> Result<(), FigureError> {
        self.written(text, at, size, anchor, BLACK, FontTransform::None)
    }

    /// Text in a colour.
    pub fn coloured(
        &self,
        text: &str,
        at: Point,
        size: f64,
        anchor: (HPos, VPos),
        colour: RGBColor,
    ) -> Result<(), FigureError> {
        self.written(text, at, size, anchor, colour, FontTransform::None)
    }

    /// Text that reads upwards, centred.
    pub fn upward(&self, text: &str, at: Point, size: f64) -> Result<(), FigureError> {
        self.written(text, at, size, (HPos::Center, VPos::Center), BLACK, FontTransform::Rotate270)
    }

    fn written(
        &self,
        text: &str,
        at: Point,
        size: f64,
        (across, along): (HPos, VPos),
        colour: RGBColor,
        transform: FontTransform,
    ) -> Result<(), FigureError> {
        let font = (FONT, FINE * size).into_font().transform(transform).color(&colour);
        checked(self.area.draw_text(text, &font.pos(Pos::new(across, along)), raster(at)))
    }
}

/// About the width of a text in pixels.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    0.55 * size * text.chars().count() as f64
}

/// A text in lines that are not much wider than so many pixels.
pub(super) fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(word, size) + size / 2.0 <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_the_size_asked_for_and_a_finer_raster() {
        let svg =
            sheet((100.0, 50.0), |canvas| canvas.line(&[(0.0, 0.0), (100.0, 49.75)], Pen::new(BLACK, 1.0)));
        let svg = svg.unwrap();
        assert!(svg.starts_with("<svg width=\"100\" height=\"50\" viewBox=\"0 0 400 200\""), "{svg}");
        assert!(svg.contains("points=\"0,0 400,199 \""), "{svg}");
    }

    #[test]
    fn long_texts_wrap_between_words() {
        assert_eq!(wrapped("one two three", 10.0, 50.0), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 10.0, 5.0), ["unbreakable"]);
        assert!(wrapped("", 10.0, 50.0).is_empty());
    }
}
