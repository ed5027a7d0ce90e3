//! How lines and small marks are drawn.

use super::palette::Colour;

/// How a line is drawn.
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

    /// A solid line of one pixel in the same colour.
    pub const fn thin(self) -> Self {
        Self::new(self.colour, 1.0)
    }
}

/// The shape of a small mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stroke {
    /// An upright cross.
    Plus,
    /// A diagonal cross.
    Times,
    /// A vertical stroke.
    Tick,
    /// The edges of a square.
    Square,
}
