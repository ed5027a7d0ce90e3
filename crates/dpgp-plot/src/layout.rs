//! Where the panels of a figure stand.

use super::canvas::text_width;
use super::picture::{Panel, Side, Ticks};
use super::spot::Rect;

/// The widths of a figure with one panel in a row, and with several.
const WIDTHS: [f64; 2] = [680.0, 1000.0];
/// The room at the right of a panel, for its x axis and for its y axis.
const RIGHT: f64 = 18.0;
const BOTTOM: f64 = 56.0;
const LEFT: f64 = 84.0;
/// Between the axes of a figure with one panel.
pub const WIDTH_OF_ONE: f64 = WIDTHS[0] - LEFT - RIGHT;
/// The room at the left of the names along a y axis: without a label, and with one.
const BESIDE_NAMES: [f64; 2] = [23.0, 50.0];
/// The size of the numbers and names along an axis.
pub const TICK_TEXT: f64 = 13.0;

/// How panels are put in rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    columns: Option<usize>,
    height: Height,
    /// The room for the titles of panels.
    top: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Height {
    /// Of a panel with all around it, in pixels.
    Pixels(f64),
    /// Between the axes, as a multiple of the width.
    Ratio(f64),
}

impl Layout {
    /// Panels that are so high, a fitting number in each row.
    pub const fn new(height: f64) -> Self {
        Self { columns: None, height: Height::Pixels(height), top: 40.0 }
    }

    /// Panels whose axes have this height by width.
    pub const fn shaped(ratio: f64) -> Self {
        Self { height: Height::Ratio(ratio), ..Self::new(0.0) }
    }

    /// With so many panels in a row, if that is given.
    #[must_use]
    pub const fn columns(self, columns: Option<usize>) -> Self {
        Self { columns, ..self }
    }

    /// With so much room for the titles of panels.
    #[must_use]
    pub const fn titles(self, top: f64) -> Self {
        Self { top, ..self }
    }

    /// The places of some panels, the first row at the top.
    pub fn arranged(&self, panels: &[Panel]) -> Arrangement {
        let count: usize = panels.iter().map(|panel| panel.span).sum();
        let fitting = if count <= 3 { count } else { (count as f64).sqrt().ceil() as usize };
        let columns = self.columns.unwrap_or(fitting).min(count).max(1);
        let left =
            panels.iter().flat_map(|panel| &panel.plots).map(|plot| left(&plot.y)).fold(LEFT, f64::max);
        let width = WIDTHS[usize::from(columns > 1)] + columns as f64 * (left - LEFT);
        let across = width / columns as f64;
        let height = match self.height {
            Height::Pixels(height) => height,
            Height::Ratio(ratio) => ratio * (across - left - RIGHT) + self.top + BOTTOM,
        };
        let mut slot = 0;
        let mut rects = Vec::with_capacity(panels.len());
        for panel in panels {
            rects.push(Rect {
                left: across * (slot % columns) as f64 + left,
                top: height * (slot / columns) as f64 + self.top,
                width: across * panel.span as f64 - left - RIGHT,
                height: height - self.top - BOTTOM,
            });
            slot += panel.span;
        }
        Arrangement {
            width,
            height: height * count.div_ceil(columns) as f64,
            label_offset: left - 26.0,
            rects,
        }
    }
}

/// The room for a y axis.
fn left(side: &Side) -> f64 {
    let Ticks::Names(names) = &side.ticks else { return LEFT };
    let longest = names.iter().map(|name| text_width(name, TICK_TEXT)).fold(0.0, f64::max);
    longest + BESIDE_NAMES[usize::from(!side.label.is_empty())]
}

/// The places of the panels of a figure.
#[derive(Debug, Clone)]
pub struct Arrangement {
    pub width: f64,
    /// Of all rows.
    pub height: f64,
    /// How far the label of a y axis stands at its left.
    pub label_offset: f64,
    /// Between the axes of each panel.
    pub rects: Vec<Rect>,
}
