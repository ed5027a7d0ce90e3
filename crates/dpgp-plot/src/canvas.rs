//! The drawing sheet: shapes and text at fractions of a pixel, line styles and small marks, clipped to the plot. Other modules draw only
//! through it.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::mark::TextAnchor;
use super::palette;
use super::palette::Colour;
use super::surface::{PlotPoint, Rect};
use crate::PlotError;
use dpgp_data::escape_hidden_line;

/// Shapes stand on a raster so much finer than pixels: curves are smooth.
pub const FINE: f64 = 4.0;
/// The font of all text.
const FAMILY: &str = "sans-serif";

/// The style of a text.
#[derive(Debug, Clone, Copy)]
pub struct Font {
    /// In pixels.
    pub size: f64,
    anchor: TextAnchor,
    colour: Colour,
    upward: bool,
}

impl Font {
    pub const fn new(size: f64, anchor: TextAnchor) -> Self {
        Self { size, anchor, colour: palette::BLACK, upward: false }
    }

    pub const fn coloured(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// Text that reads upwards.
    pub const fn upward(self) -> Self {
        Self { upward: true, ..self }
    }
}

/// A sheet with pixels for units; y goes down.
pub struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Paints a white sheet of so many pixels; as SVG text.
pub fn paint_sheet(
    width: f64,
    height: f64,
    paint: impl FnOnce(&Canvas<'_>) -> Result<(), PlotError>,
) -> Result<String, PlotError> {
    let mut svg = String::new();
    let size = (to_raster_units(width) as u32, to_raster_units(height) as u32);
    {
        let canvas = Canvas { area: SVGBackend::with_string(&mut svg, size).into_drawing_area() };
        canvas.area.fill(&WHITE)?;
        paint(&canvas)?;
        canvas.area.present()?;
    }
    // The view box keeps the fine raster; the sheet itself is as large as was asked for.
    let raster = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    Ok(svg.replacen(&raster, &format!("width=\"{}\" height=\"{}\"", width.ceil(), height.ceil()), 1))
}

fn to_raster_units(pixels: f64) -> i32 {
    (FINE * pixels).round() as i32
}

fn to_raster_point(spot: PlotPoint) -> (i32, i32) {
    (to_raster_units(spot.x), to_raster_units(spot.y))
}

fn rgba(colour: Colour) -> RGBAColor {
    RGBAColor(colour.0, colour.1, colour.2, colour.3)
}

fn style(pen: Pen) -> ShapeStyle {
    rgba(pen.colour).stroke_width((FINE * pen.width).round() as u32)
}

impl Canvas<'_> {
    /// A line through some places.
    pub fn line(&self, spots: &[PlotPoint], pen: Pen) -> Result<(), PlotError> {
        match pen.dash {
            None => self.path(spots, pen),
            Some([on, off]) => dashes(spots, on, off).iter().try_for_each(|dash| self.path(dash, pen)),
        }
    }

    fn path(&self, spots: &[PlotPoint], pen: Pen) -> Result<(), PlotError> {
        let spots: Vec<(i32, i32)> = spots.iter().copied().map(to_raster_point).collect();
        Ok(self.area.draw(&PathElement::new(spots, style(pen)))?)
    }

    /// A filled area; nothing without corners.
    pub fn area(&self, corners: &[PlotPoint], colour: Colour) -> Result<(), PlotError> {
        if corners.is_empty() {
            return Ok(());
        }
        let corners: Vec<(i32, i32)> = corners.iter().copied().map(to_raster_point).collect();
        Ok(self.area.draw(&Polygon::new(corners, rgba(colour)))?)
    }

    /// A filled rectangle.
    pub fn rectangle(&self, rect: Rect, colour: Colour) -> Result<(), PlotError> {
        let ends = [PlotPoint::new(rect.left, rect.top), PlotPoint::new(rect.right(), rect.bottom())];
        Ok(self.area.draw(&Rectangle::new(ends.map(to_raster_point), rgba(colour).filled()))?)
    }

    /// The edges of a rectangle.
    pub fn outline(&self, rect: Rect, pen: Pen) -> Result<(), PlotError> {
        let (left, top, right, bottom) = (rect.left, rect.top, rect.right(), rect.bottom());
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        self.line(&corners.map(PlotPoint::from), pen)
    }

    /// A filled circle.
    pub fn disc(&self, centre: PlotPoint, radius: f64, colour: Colour) -> Result<(), PlotError> {
        Ok(self.area.draw(&Circle::new(to_raster_point(centre), to_raster_units(radius), rgba(colour).filled()))?)
    }

    /// A circle.
    pub fn ring(&self, centre: PlotPoint, radius: f64, pen: Pen) -> Result<(), PlotError> {
        Ok(self.area.draw(&Circle::new(to_raster_point(centre), to_raster_units(radius), style(pen)))?)
    }

    /// A small mark with arms of so many pixels.
    pub fn stroke(&self, at: PlotPoint, stroke: MarkShape, arm: f64, pen: Pen) -> Result<(), PlotError> {
        let upright = [at.moved(0.0, -arm), at.moved(0.0, arm)];
        match stroke {
            MarkShape::Tick => self.line(&upright, pen),
            MarkShape::Square => {
                let side = 2.0 * arm;
                self.outline(Rect { left: at.x - arm, top: at.y - arm, width: side, height: side }, pen)
            }
            MarkShape::Plus => {
                self.line(&upright, pen)?;
                self.line(&[at.moved(-arm, 0.0), at.moved(arm, 0.0)], pen)
            }
            MarkShape::Times => {
                self.line(&[at.moved(-arm, -arm), at.moved(arm, arm)], pen)?;
                self.line(&[at.moved(-arm, arm), at.moved(arm, -arm)], pen)
            }
        }
    }

    /// Text at a place.
    pub fn text(&self, text: &str, at: PlotPoint, font: Font) -> Result<(), PlotError> {
        let turn = if font.upward { FontTransform::Rotate270 } else { FontTransform::None };
        let style = (FAMILY, FINE * font.size).into_font().transform(turn).color(&rgba(font.colour));
        Ok(self.area.draw_text(&escape_hidden_line(text), &style.pos(position(font.anchor)), to_raster_point(at))?)
    }
}

fn position(anchor: TextAnchor) -> Pos {
    match anchor {
        TextAnchor::TopLeft => Pos::new(HPos::Left, VPos::Top),
        TextAnchor::Top => Pos::new(HPos::Center, VPos::Top),
        TextAnchor::Left => Pos::new(HPos::Left, VPos::Center),
        TextAnchor::Middle => Pos::new(HPos::Center, VPos::Center),
        TextAnchor::Right => Pos::new(HPos::Right, VPos::Center),
        TextAnchor::BottomLeft => Pos::new(HPos::Left, VPos::Bottom),
        TextAnchor::Bottom => Pos::new(HPos::Center, VPos::Bottom),
    }
}

/// Sizes of fonts are heights of lines, so many times the em.
const LINE_BY_EM: f64 = 1.24;

/// About the width of a text in pixels, in DejaVu Sans, the widest of the usual fonts.
pub fn text_width(text: &str, size: f64) -> f64 {
    size / LINE_BY_EM * text.chars().map(letter_width).sum::<f64>()
}

/// About the width of a letter in ems.
fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | ' ' | '.' | ',' | ':' | ';' | '\'' | '!' | '|' => 0.32,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '/' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '=' | '+' | '±' | '<' | '>' => 0.9,
        'A'..='Z' => 0.72,
        _ => 0.63,
    }
}

/// A text in lines that are not much wider than so many pixels.
pub fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
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

impl Rect {
    /// The distance of a point inside each edge; negative outside.
    fn edge_distances(&self, spot: PlotPoint) -> [f64; 4] {
        [spot.x - self.left, self.right() - spot.x, spot.y - self.top, self.bottom() - spot.y]
    }

    /// The part of a segment inside (Liang and Barsky): its ends, if there is any.
    fn clip_segment(&self, from: PlotPoint, to: PlotPoint) -> Option<[PlotPoint; 2]> {
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for (at_from, at_to) in self.edge_distances(from).into_iter().zip(self.edge_distances(to)) {
            if at_from < 0.0 && at_to < 0.0 {
                return None;
            }
            let crossing = at_from / (at_from - at_to);
            if at_from < 0.0 {
                enter = enter.max(crossing);
            } else if at_to < 0.0 {
                leave = leave.min(crossing);
            }
        }
        // The end itself where nothing is cut off: rounding would break a line into runs.
        let last = if leave == 1.0 { to } else { from.towards(to, leave) };
        (enter <= leave).then(|| [from.towards(to, enter), last])
    }

    /// The runs of a line inside.
    pub fn clip_line(&self, points: &[PlotPoint]) -> Vec<Vec<PlotPoint>> {
        let mut runs: Vec<Vec<PlotPoint>> = Vec::new();
        for ends in points.windows(2) {
            let Some([from, to]) = self.clip_segment(ends[0], ends[1]) else { continue };
            match runs.last_mut() {
                Some(run) if run.last() == Some(&from) => run.push(to),
                _ => runs.push(vec![from, to]),
            }
        }
        runs
    }

    /// The part of an area inside (Sutherland and Hodgman), edge by edge.
    pub fn clip_area(&self, corners: &[PlotPoint]) -> Vec<PlotPoint> {
        (0..4).fold(corners.to_vec(), |area, edge| self.clip_to_edge(&area, edge))
    }

    fn clip_to_edge(&self, corners: &[PlotPoint], edge: usize) -> Vec<PlotPoint> {
        let mut kept = Vec::with_capacity(corners.len());
        for (i, &to) in corners.iter().enumerate() {
            let from = corners[(i + corners.len() - 1) % corners.len()];
            let (at_from, at_to) = (self.edge_distances(from)[edge], self.edge_distances(to)[edge]);
            if (at_from < 0.0) != (at_to < 0.0) {
                kept.push(from.towards(to, at_from / (at_from - at_to)));
            }
            if at_to >= 0.0 {
                kept.push(to);
            }
        }
        kept
    }
}

/// The dashes of a line: so many pixels on, so many off.
pub fn dashes(points: &[PlotPoint], on: f64, off: f64) -> Vec<Vec<PlotPoint>> {
    let mut dashes = vec![points.first().copied().into_iter().collect::<Vec<_>>()];
    let (mut drawing, mut left) = (true, on);
    for ends in points.windows(2) {
        let (from, to) = (ends[0], ends[1]);
        let length = from.distance(to);
        let mut walked = 0.0;
        while length - walked > left {
            walked += left;
            let turn = from.towards(to, walked / length);
            match dashes.last_mut() {
                Some(dash) if drawing => dash.push(turn),
                _ => dashes.push(vec![turn]),
            }
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
        left -= length - walked;
        if let (true, Some(dash)) = (drawing, dashes.last_mut()) {
            dash.push(to);
        }
    }
    dashes.retain(|dash| dash.len() > 1);
    dashes
}

/// The style of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pen {
    /// Its colour.
    pub colour: Colour,
    /// Its width in pixels.
    pub width: f64,
    /// The pixels of a dash and of the gap after it.
    pub dash: Option<[f64; 2]>,
}

impl Pen {
    /// A pen for whole lines, its width in dots.
    pub const fn new(colour: Colour, width: f64) -> Self {
        Self { colour, width, dash: None }
    }

    /// The same, with dashes.
    pub const fn dashed(self) -> Self {
        Self { dash: Some([6.0, 4.0]), ..self }
    }

    /// The same, with dots.
    pub const fn dotted(self) -> Self {
        Self { dash: Some([self.width, 2.0 * self.width + 1.0]), ..self }
    }

    /// The same, with long dashes.
    pub const fn long_dashed(self) -> Self {
        Self { dash: Some([14.0, 4.0]), ..self }
    }

    /// A solid line of one pixel in the same colour.
    pub const fn thin(self) -> Self {
        Self::new(self.colour, 1.0)
    }
}

/// The shape of a small mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MarkShape {
    /// An upright cross.
    Plus,
    /// A diagonal cross.
    Times,
    /// A vertical stroke.
    Tick,
    /// The edges of a square.
    Square,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_the_size_asked_for_and_a_finer_raster() {
        let ends = [PlotPoint::new(0.0, 0.0), PlotPoint::new(100.0, 49.75)];
        let svg = paint_sheet(100.0, 50.0, |canvas| canvas.line(&ends, Pen::new(palette::BLACK, 1.0))).unwrap();
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

#[cfg(test)]
mod clip_tests {
    use super::*;

    const UNIT: Rect = Rect { left: 0.0, top: 0.0, width: 1.0, height: 1.0 };

    #[test]
    fn a_line_that_leaves_and_returns_has_two_runs() {
        let runs = UNIT.clip_line(&[(0.0, 0.5), (0.25, 0.5), (0.5, 2.5), (0.75, 0.5), (1.0, 0.5)].map(PlotPoint::from));
        let first = [(0.0, 0.5), (0.25, 0.5), (0.3125, 1.0)].map(PlotPoint::from).to_vec();
        let second = [(0.6875, 1.0), (0.75, 0.5), (1.0, 0.5)].map(PlotPoint::from).to_vec();
        assert_eq!(runs, [first, second]);
        assert!(
            UNIT.clip_line(&[(-1.0, 0.5), (0.5, 3.0)].map(PlotPoint::from)).is_empty(),
            "passes the corner outside"
        );
        let across = [(0.0, 0.5), (1.0, 0.5)].map(PlotPoint::from).to_vec();
        assert_eq!(UNIT.clip_line(&[(-1.0, 0.5), (3.0, 0.5)].map(PlotPoint::from)), [across]);
    }

    #[test]
    fn an_area_is_cut_at_the_edges() {
        let diamond = [(0.5, -0.5), (1.5, 0.5), (0.5, 1.5), (-0.5, 0.5)].map(PlotPoint::from);
        let corners = UNIT.clip_area(&diamond);
        let turn = |i: usize| {
            let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
            a.x * b.y - a.y * b.x
        };
        let doubled: f64 = (0..corners.len()).map(turn).sum();
        assert!((doubled - 2.0).abs() < 1e-12, "the diamond holds the unit square: {corners:?}");
        assert!(UNIT.clip_area(&[(2.0, 2.0), (3.0, 2.0), (3.0, 3.0)].map(PlotPoint::from)).is_empty());
        assert!(UNIT.clip_area(&[]).is_empty());
    }

    #[test]
    fn dashes_go_round_corners() {
        let found = dashes(&[(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)].map(PlotPoint::from), 4.0, 2.0);
        let first = [(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)].map(PlotPoint::from).to_vec();
        assert_eq!(found, [first, [(3.0, 3.0), (3.0, 4.0)].map(PlotPoint::from).to_vec()]);
        assert!(dashes(&[], 4.0, 2.0).is_empty());
    }
}
