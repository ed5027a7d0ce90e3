//! Marks that a plot can show.

use std::iter::zip;

use super::canvas::{MarkShape, Pen};
use super::palette::Colour;
use super::surface::PlotPoint;
use super::surface::Surface;

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
    use super::super::palette::BLACK;
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
