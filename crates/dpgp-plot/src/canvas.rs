//! The drawing sheet: shapes and text at fractions of a pixel, line styles and small marks, and the colours that all figures
//! share. Other modules draw only through it.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::picture::TextAnchor;
use super::surface::{PlotPoint, Rect};
use crate::PlotError;
use dpgp_data::escape_hidden_line;

/// Shapes stand on a raster so much finer than pixels: curves are smooth.
pub const FINE: f64 = 4.0;
/// The font of all text.
const FAMILY: &str = "sans-serif";

/// The style of a text.
#[derive(Debug, Clone, Copy)]
pub struct TextFormat {
    /// In pixels.
    pub size: f64,
    anchor: TextAnchor,
    colour: Colour,
    upward: bool,
}

impl TextFormat {
    pub const fn new(size: f64, anchor: TextAnchor) -> Self {
        Self { size, anchor, colour: BLACK, upward: false }
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
        canvas.area.fill(&plotters::style::WHITE)?;
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

fn stroke_style(pen: Pen) -> ShapeStyle {
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
        Ok(self.area.draw(&PathElement::new(spots, stroke_style(pen)))?)
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
        Ok(self.area.draw(&Circle::new(to_raster_point(centre), to_raster_units(radius), stroke_style(pen)))?)
    }

    /// A small mark with arms of so many pixels.
    pub fn draw_mark_shape(&self, at: PlotPoint, stroke: MarkShape, arm: f64, pen: Pen) -> Result<(), PlotError> {
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
    pub fn text(&self, text: &str, at: PlotPoint, font: TextFormat) -> Result<(), PlotError> {
        let turn = if font.upward { FontTransform::Rotate270 } else { FontTransform::None };
        let style = (FAMILY, FINE * font.size).into_font().transform(turn).color(&rgba(font.colour));
        Ok(self.area.draw_text(
            &escape_hidden_line(text),
            &style.pos(anchor_position(font.anchor)),
            to_raster_point(at),
        )?)
    }
}

fn anchor_position(anchor: TextAnchor) -> Pos {
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
pub fn wrap_text(text: &str, size: f64, width: f64) -> Vec<String> {
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

/// Cuts a line into dashes of `on` pixels with gaps of `off` pixels.
fn dashes(points: &[PlotPoint], on: f64, off: f64) -> Vec<Vec<PlotPoint>> {
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
    pub const fn solid_hairline(self) -> Self {
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

/// Red, green, blue and how far a colour covers what lies behind it, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Colour(pub u8, pub u8, pub u8, pub f64);

impl Colour {
    const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self(red, green, blue, 1.0)
    }

    /// The same colour with this opacity, from 0 to 1.
    pub const fn with_opacity(self, opacity: f64) -> Self {
        Self(self.0, self.1, self.2, opacity)
    }

    /// The opaque colour that looks the same on white.
    pub fn on_white(self) -> Self {
        interpolate_colours(WHITE, self, self.3)
    }

    /// Black on light colours and white on dark ones.
    pub fn contrasting_colour(self) -> Self {
        let light = 0.299 * f64::from(self.0) + 0.587 * f64::from(self.1) + 0.114 * f64::from(self.2);
        if light > 140.0 { BLACK } else { WHITE }
    }
}

/// Colours that colour-blind readers can tell apart, by decreasing contrast with white.
pub const COLOURS: [Colour; 7] = [
    Colour::rgb(0, 95, 170),
    Colour::rgb(200, 80, 0),
    Colour::rgb(0, 130, 95),
    Colour::rgb(170, 60, 130),
    Colour::rgb(95, 95, 95),
    Colour::rgb(190, 140, 0),
    Colour::rgb(60, 160, 220),
];
/// Black.
pub const BLACK: Colour = Colour::rgb(0, 0, 0);
/// White.
pub const WHITE: Colour = Colour::rgb(255, 255, 255);
/// A second red beside [`COLOURS`], for one of two classes.
pub const RED: Colour = Colour::rgb(215, 40, 40);
/// Lines behind the data.
pub const GRID: Colour = Colour::rgb(215, 215, 215);
/// Lines that matter less.
pub const GREY: Colour = Colour::rgb(140, 140, 140);
/// A ground on which black and white can be seen.
pub const GROUND: Colour = Colour::rgb(135, 135, 135);
/// Lines that must be seen on colours.
pub const DARK: Colour = Colour::rgb(90, 90, 90);

/// From low to high values, evenly darker to lighter and distinct for colour-blind readers.
const RAMP: [Colour; 5] = [
    Colour::rgb(20, 30, 110),
    Colour::rgb(110, 40, 150),
    Colour::rgb(200, 70, 115),
    Colour::rgb(240, 135, 60),
    Colour::rgb(250, 210, 70),
];

/// Nine even steps of viridis (Smith and van der Walt, Matplotlib 2015): equal steps look equally far apart, in grey and to
/// colour-blind readers, too.
const VIRIDIS: [Colour; 9] = [
    Colour::rgb(68, 1, 84),
    Colour::rgb(71, 45, 123),
    Colour::rgb(59, 82, 139),
    Colour::rgb(44, 114, 142),
    Colour::rgb(33, 145, 140),
    Colour::rgb(40, 174, 128),
    Colour::rgb(94, 201, 98),
    Colour::rgb(173, 220, 48),
    Colour::rgb(253, 231, 37),
];

/// The colour of a fraction from 0 to 1.
pub fn ramp_colour(fraction: f64) -> Colour {
    interpolate_palette(&RAMP, fraction)
}

/// The same by a map of colours that is perceptually uniform.
pub fn viridis(fraction: f64) -> Colour {
    interpolate_palette(&VIRIDIS, fraction)
}

fn interpolate_palette(colours: &[Colour], fraction: f64) -> Colour {
    let place = fraction.clamp(0.0, 1.0) * (colours.len() - 1) as f64;
    let step = (place as usize).min(colours.len() - 2);
    interpolate_colours(colours[step], colours[step + 1], place - step as f64)
}

/// The colour a fraction of the way from one to another.
fn interpolate_colours(from: Colour, to: Colour, t: f64) -> Colour {
    Colour::rgb(mix_channel(from.0, to.0, t), mix_channel(from.1, to.1, t), mix_channel(from.2, to.2, t))
}

fn mix_channel(from: u8, to: u8, t: f64) -> u8 {
    (f64::from(from) + t * (f64::from(to) - f64::from(from))).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_the_size_asked_for_and_a_finer_raster() {
        let ends = [PlotPoint::new(0.0, 0.0), PlotPoint::new(100.0, 49.75)];
        let svg = paint_sheet(100.0, 50.0, |canvas| canvas.line(&ends, Pen::new(BLACK, 1.0))).unwrap();
        assert!(svg.starts_with("<svg width=\"100\" height=\"50\" viewBox=\"0 0 400 200\""), "{svg}");
        assert!(svg.contains("points=\"0,0 400,199 \""), "{svg}");
    }

    #[test]
    fn long_texts_wrap_between_words() {
        assert_eq!(wrap_text("one two three", 10.0, 50.0), ["one two", "three"]);
        assert_eq!(wrap_text("unbreakable", 10.0, 5.0), ["unbreakable"]);
        assert!(wrap_text("", 10.0, 50.0).is_empty());
    }

    #[test]
    fn dashes_go_round_corners() {
        let found = dashes(&[(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)].map(PlotPoint::from), 4.0, 2.0);
        let first = [(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)].map(PlotPoint::from).to_vec();
        assert_eq!(found, [first, [(3.0, 3.0), (3.0, 4.0)].map(PlotPoint::from).to_vec()]);
        assert!(dashes(&[], 4.0, 2.0).is_empty());
    }
}

#[cfg(test)]
mod palette_tests {
    use super::*;

    #[test]
    fn the_ramp_goes_from_end_to_end() {
        assert_eq!(
            [ramp_colour(-1.0), ramp_colour(0.0), ramp_colour(0.5), ramp_colour(1.0)],
            [RAMP[0], RAMP[0], RAMP[2], RAMP[4]]
        );
        assert_eq!(ramp_colour(0.125), Colour::rgb(65, 35, 130));
    }

    #[test]
    fn a_faint_colour_on_white_is_between_them() {
        assert_eq!(Colour(0, 100, 255, 0.2).on_white(), Colour::rgb(204, 224, 255));
        assert_eq!([BLACK.with_opacity(0.0).on_white(), BLACK.on_white()], [WHITE, BLACK]);
    }

    /// The lightness L* of CIE 1976, from 0 to 100.
    fn lightness(colour: Colour) -> f64 {
        let [r, g, b] = [colour.0, colour.1, colour.2].map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        116.0 * (0.2126 * r + 0.7152 * g + 0.0722 * b).cbrt() - 16.0
    }

    #[test]
    fn viridis_grows_lighter_in_even_steps() {
        let shades: Vec<f64> = (0..17).map(|step| lightness(viridis(f64::from(step) / 16.0))).collect();
        let steps = shades.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.clone().all(|step| (3.5..6.5).contains(&step)), "{:?}", steps.collect::<Vec<_>>());
    }
}
