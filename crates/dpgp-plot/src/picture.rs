//! A figure before it is drawn: marks between axes, in panels below a legend.

use std::iter::zip;

use super::canvas::{Colour, MarkShape, Pen};
use super::layout::Layout;
use super::legend::{LegendEntry, LineEndLabel};
use super::scale::Scale;
use super::surface::{PlotPoint, Surface};

/// Everything that the renderer needs except the title.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The meaning of signs and colours.
    pub legend: Vec<LegendEntry>,
    /// Sizes, and panels in a row.
    pub layout: Layout,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
}

impl Picture {
    /// With a letter before the title of each panel, if there are several.
    #[must_use]
    pub fn with_panel_letters(mut self) -> Self {
        if self.panels.len() > 1 {
            for (panel, letter) in self.panels.iter_mut().zip('A'..='Z') {
                panel.title = format!("({letter}) {}", panel.title);
            }
        }
        self
    }
}

/// Plots below a title.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The title above it.
    pub title: String,
    /// Its width in columns of panels.
    pub span: usize,
    /// One below the other; most panels have one.
    pub plots: Vec<Plot>,
}

impl Panel {
    /// A panel with a title.
    pub fn new(title: impl Into<String>, plot: Plot) -> Self {
        Self { title: title.into(), span: 1, plots: vec![plot] }
    }
}

/// A pair of axes, and the marks between them.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The part of the height of its panel.
    pub share: f64,
    /// The ground behind the marks.
    pub backdrop: Backdrop,
    /// The horizontal axis.
    pub x: PlotAxis,
    /// The vertical axis.
    pub y: PlotAxis,
    /// The marks, the first at the bottom.
    pub marks: Vec<Mark>,
    /// The names of lines, at their ends.
    pub ends: Vec<LineEndLabel>,
    /// What the plot leaves out, above it.
    pub note: String,
}

impl Plot {
    /// A plot on a plain ground.
    pub fn new(x: PlotAxis, y: PlotAxis, marks: Vec<Mark>) -> Self {
        Self { share: 1.0, backdrop: Backdrop::Plain, x, y, marks, ends: Vec::new(), note: String::new() }
    }
}

/// The ground behind the marks, or the frame around them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Backdrop {
    /// Nothing.
    Plain,
    /// A frame around them.
    Framed,
    /// A ground of this colour.
    Filled(Colour),
}

/// An axis of a plot.
#[derive(Debug, Clone)]
pub struct PlotAxis {
    /// From values to places.
    pub scale: Scale,
    /// The quantity, with units.
    pub label: String,
    /// Its numbers.
    pub ticks: Ticks,
    /// What infinity is called.
    pub infinity: &'static str,
}

/// The ticks along an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Ticks {
    /// Numbers.
    Values,
    /// Numbers, and lines from edge to edge.
    Lines,
    /// As many numbers as have room along an x axis, between words at both ends if there are any, with or without lines from edge to edge.
    Fitting {
        /// The words at both ends.
        ends: Option<[String; 2]>,
        /// Whether there are lines.
        lines: bool,
    },
    /// Nothing.
    Bare,
    /// Names at 1/2, 3/2, ...
    Names(Vec<String>),
}

impl PlotAxis {
    /// An axis with numbers.
    pub fn with_numbers(scale: Scale, label: impl Into<String>) -> Self {
        Self { scale, label: label.into(), ticks: Ticks::Values, infinity: "inf" }
    }

    /// An axis with numbers, and lines across the plot.
    pub fn with_grid_lines(scale: Scale, label: impl Into<String>) -> Self {
        Self { ticks: Ticks::Lines, ..Self::with_numbers(scale, label) }
    }

    /// An axis with as many numbers as have room.
    pub fn with_fitting_ticks(scale: Scale, label: impl Into<String>) -> Self {
        Self { ticks: Ticks::Fitting { ends: None, lines: false }, ..Self::with_numbers(scale, label) }
    }

    /// With another word for infinity.
    #[must_use]
    pub fn with_infinity_name(self, infinity: &'static str) -> Self {
        Self { infinity, ..self }
    }

    /// An axis without numbers: the plot below shows them.
    pub fn without_ticks(scale: Scale) -> Self {
        Self { ticks: Ticks::Bare, ..Self::with_numbers(scale, "") }
    }

    /// An axis with a name in each of its rooms of width 1.
    pub fn with_category_names(names: Vec<String>, label: impl Into<String>) -> Self {
        let scale = Scale::between(0.0, names.len() as f64);
        Self { ticks: Ticks::Names(names), ..Self::with_numbers(scale, label) }
    }
}

/// One thing drawn between the axes, in their units. What lies outside is not drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line through some spots.
    Line(Vec<PlotPoint>, Pen),
    /// The area inside some corners.
    Area(Vec<PlotPoint>, Colour),
    /// The rectangle between two of its corners, one of many that meet: it reaches a little under the next, for no ground to
    /// show between them.
    Tile([PlotPoint; 2], Colour),
    /// A line from edge to edge, at a height.
    Across(f64, Pen),
    /// A line from edge to edge, at a place of the x axis.
    Upright(f64, Pen),
    /// Small marks with arms of so many pixels.
    Strokes(Vec<PlotPoint>, MarkShape, f64, Pen),
    /// Strokes on the lower edge.
    Rug(Vec<f64>, Pen),
    /// Circles of so many pixels.
    Rings(Vec<PlotPoint>, f64, Pen),
    /// Discs, all with radii and offsets in one unit.
    Discs(Vec<Disc>, DiscUnit),
    /// The contour lines of a surface at multiples of a step, with their levels.
    Contours(Surface, f64, Pen),
    /// Words.
    Words(TextLabel),
}

/// A filled circle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disc {
    /// Its centre.
    pub at: PlotPoint,
    /// The shift of its centre to the right and down.
    pub offset: PlotPoint,
    /// Its radius, in the unit of its mark.
    pub radius: f64,
    /// Its colour.
    pub colour: Colour,
}

/// The unit of the sizes of discs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DiscUnit {
    /// Dots of the picture.
    Pixel,
    /// The shorter side of a rectangle with these sides.
    Cell(PlotPoint),
}

/// A text at a spot.
#[derive(Debug, Clone, PartialEq)]
pub struct TextLabel {
    /// The text.
    pub text: String,
    /// The spot.
    pub at: PlotPoint,
    /// The shift to the right and down, in pixels.
    pub offset: PlotPoint,
    /// The point of the text that stands there.
    pub anchor: TextAnchor,
    /// Their colour.
    pub colour: Colour,
}

/// The point of a text, or of the box around it, that stands where it is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextAnchor {
    /// The upper left corner.
    TopLeft,
    /// The middle of the upper side.
    Top,
    /// The middle of the left side.
    Left,
    /// The centre.
    Middle,
    /// The middle of the right side.
    Right,
    /// The lower left corner.
    BottomLeft,
    /// The middle of the lower side.
    Bottom,
}

impl Mark {
    /// A line through some places.
    pub fn line<S: Into<PlotPoint>>(spots: impl IntoIterator<Item = S>, pen: Pen) -> Self {
        Self::Line(spots.into_iter().map(Into::into).collect(), pen)
    }

    /// An area between some corners.
    pub fn area<S: Into<PlotPoint>>(corners: impl IntoIterator<Item = S>, colour: Colour) -> Self {
        Self::Area(corners.into_iter().map(Into::into).collect(), colour)
    }

    /// The area between two curves over the same values of x.
    pub fn band(low: &[PlotPoint], high: &[PlotPoint], colour: Colour) -> Self {
        Self::Area(high.iter().chain(low.iter().rev()).copied().collect(), colour)
    }

    /// The rectangle between two of its corners.
    pub fn rectangle(from: PlotPoint, to: PlotPoint, colour: Colour) -> Self {
        Self::area([from, PlotPoint::new(to.x, from.y), to, PlotPoint::new(from.x, to.y)], colour)
    }

    /// Discs of so many pixels.
    pub fn dots(spots: &[PlotPoint], radius: f64, colour: Colour) -> Self {
        let offset = PlotPoint::new(0.0, 0.0);
        Self::Discs(spots.iter().map(|&at| Disc { at, offset, radius, colour }).collect(), DiscUnit::Pixel)
    }
}

/// The curve moved up by a multiple of another column.
pub fn shift_curve(curve: &[PlotPoint], factor: f64, column: &[f64]) -> Vec<PlotPoint> {
    zip(curve, column).map(|(spot, value)| spot.moved(0.0, factor * value)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::canvas::BLACK;
    use super::super::surface::points_from_columns;
    use super::*;

    #[test]
    fn a_band_goes_there_above_and_back_below() {
        let curve = points_from_columns(&[0.0, 1.0], &[5.0, 6.0]);
        let [low, high] = [-2.0, 2.0].map(|factor| shift_curve(&curve, factor, &[1.0, 2.0]));
        let corners = [(0.0, 7.0), (1.0, 10.0), (1.0, 2.0), (0.0, 3.0)];
        assert_eq!(Mark::band(&low, &high, BLACK), Mark::area(corners, BLACK));
        assert!(shift_curve(&curve, 2.0, &[]).is_empty(), "no such column");
    }
}
