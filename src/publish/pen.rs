//! How lines and marks are drawn.

use plotters::style::{Color, RGBAColor};

/// How a line is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pen {
    pub colour: RGBAColor,
    /// Its width in pixels.
    pub width: f64,
    /// The pixels of a dash and of the gap after it.
    pub dash: Option<(f64, f64)>,
}

impl Pen {
    pub fn new(colour: impl Color, width: f64) -> Self {
        Self { colour: colour.to_rgba(), width, dash: None }
    }

    pub fn dashed(self) -> Self {
        Self { dash: Some((6.0, 4.0)), ..self }
    }

    pub fn dotted(self) -> Self {
        Self { dash: Some((self.width, 2.0 * self.width + 1.0)), ..self }
    }
}

/// The shape of a mark.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stroke {
    /// An upright cross.
    Plus,
    /// A diagonal cross.
    Times,
    /// A vertical stroke.
    Tick,
}
