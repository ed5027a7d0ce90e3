//! What stands below a figure.

use super::canvas::{Canvas, Font, wrapped};
use super::mark::Anchor;
use super::spot::Spot;
use crate::PlotError;

const TEXT: Font = Font::new(12.0, Anchor::TopLeft);
const LINE: f64 = 16.0;
const MARGIN: f64 = 16.0;
/// The room above and below the lines.
const ROOM: f64 = 8.0;

/// Paragraphs below a figure that is so wide.
pub struct Foot {
    lines: Vec<String>,
}

impl Foot {
    pub fn new(paragraphs: &[String], width: f64) -> Self {
        let lines = paragraphs.iter().flat_map(|text| wrapped(text, TEXT.size, width - 2.0 * MARGIN));
        Self { lines: lines.collect() }
    }

    /// Its height; none without lines.
    pub fn height(&self) -> f64 {
        if self.lines.is_empty() { 0.0 } else { 2.0 * ROOM + LINE * self.lines.len() as f64 }
    }

    pub fn paint(&self, canvas: &Canvas<'_>, top: f64) -> Result<(), PlotError> {
        let mut lines = self.lines.iter().enumerate();
        lines.try_for_each(|(i, line)| {
            canvas.text(line, Spot::new(MARGIN, top + ROOM + LINE * i as f64), TEXT)
        })
    }
}
