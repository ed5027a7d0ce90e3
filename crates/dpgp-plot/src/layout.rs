//! The arrangement of the panels of a figure, with their axes and titles.

use super::canvas::{Font, Pen, text_width, wrapped};
use super::mark::Anchor;
use super::palette::{BLACK, GRID};
use super::picture::{Panel, Side, Ticks};
use super::stage::PlotArea;
use super::surface::{PlotPoint, Rect};
use crate::PlotError;

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

/// The arrangement of panels in rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    columns: Option<usize>,
    height: Height,
    /// The room for the titles of panels.
    top: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Height {
    /// The height of a panel with its surroundings, in pixels.
    Pixels(f64),
    /// The height between the axes, as a multiple of the width.
    Ratio(f64),
}

impl Layout {
    /// A layout with panels of this height, and as many in a row as fit.
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
    /// The height of all rows.
    pub height: f64,
    /// The distance of a y axis's label to its left.
    pub label_offset: f64,
    /// The rectangle between the axes of each panel.
    pub rects: Vec<Rect>,
}

/// Pixels that a tick needs for its text, along the x axis and along the y axis.
const TICK_ROOM: [f64; 2] = [52.0, 30.0];
const LABEL: f64 = 14.0;
const LABEL_LINE: f64 = 17.0;
const AXIS: Pen = Pen::new(BLACK, 1.0);
const ACROSS: Pen = Pen::new(GRID, 1.0);
const BELOW: Font = Font::new(TICK_TEXT, Anchor::Top);
const BESIDE: Font = Font::new(TICK_TEXT, Anchor::Right);

impl PlotArea<'_, '_> {
    /// The y axis at the left, its label so far from it, then the x axis below.
    pub fn sides(&self, label_offset: f64) -> Result<(), PlotError> {
        self.y_side()?;
        self.y_label(label_offset)?;
        self.x_side()?;
        if self.plot.x.label.is_empty() {
            return Ok(());
        }
        let below = PlotPoint::new(self.rect.centre().x, self.rect.bottom() + 26.0);
        self.canvas.text(&self.plot.x.label, below, Font::new(LABEL, Anchor::Top))
    }

    fn x_side(&self) -> Result<(), PlotError> {
        let (left, bottom) = (self.rect.left, self.rect.bottom());
        if let Ticks::Names(names) = &self.plot.x.ticks {
            return names.iter().enumerate().try_for_each(|(i, name)| {
                let x = self.at(PlotPoint::new(i as f64 + 0.5, 0.0)).x;
                self.canvas.text(name, PlotPoint::new(x, bottom + 7.0), BELOW)
            });
        }
        self.x_line()?;
        if self.plot.x.ticks == Ticks::Bare {
            return Ok(());
        }
        for tick in self.plot.x.scale.ticks(room(self.rect.width / TICK_ROOM[0])) {
            let foot = PlotPoint::new(left + self.rect.width * tick.fraction, bottom);
            if self.plot.x.ticks == Ticks::Lines {
                self.canvas.line(&[foot, PlotPoint::new(foot.x, self.rect.top)], ACROSS)?;
            }
            self.canvas.line(&[foot, foot.moved(0.0, 4.0)], AXIS)?;
            self.canvas.text(&tick.text, foot.moved(0.0, 7.0), BELOW)?;
        }
        Ok(())
    }

    /// The line of the x axis; between two oblique strokes where it is broken.
    fn x_line(&self) -> Result<(), PlotError> {
        let bottom = self.rect.bottom();
        let mut ends = vec![self.rect.left];
        if let Some(gap) = self.plot.x.scale.gap() {
            ends.extend(gap.map(|fraction| self.rect.left + self.rect.width * fraction));
        }
        for x in &ends[1..] {
            let at = PlotPoint::new(*x, bottom);
            self.canvas.line(&[at.moved(-2.5, 6.0), at.moved(2.5, -6.0)], AXIS)?;
        }
        ends.push(self.rect.right());
        ends.chunks(2).try_for_each(|ends| {
            self.canvas.line(&[ends[0], ends[1]].map(|x| PlotPoint::new(x, bottom)), AXIS)
        })
    }

    fn y_side(&self) -> Result<(), PlotError> {
        let (left, bottom) = (self.rect.left, self.rect.bottom());
        if let Ticks::Names(names) = &self.plot.y.ticks {
            return names.iter().enumerate().try_for_each(|(i, name)| {
                let y = self.at(PlotPoint::new(0.0, i as f64 + 0.5)).y;
                self.canvas.text(name, PlotPoint::new(left - 7.0, y), BESIDE)
            });
        }
        for tick in self.plot.y.scale.ticks(room(self.rect.height / TICK_ROOM[1])) {
            let foot = PlotPoint::new(left, bottom - self.rect.height * tick.fraction);
            if self.plot.y.ticks == Ticks::Lines {
                self.canvas.line(&[foot, PlotPoint::new(self.rect.right(), foot.y)], ACROSS)?;
            }
            self.canvas.line(&[foot.moved(-4.0, 0.0), foot], AXIS)?;
            self.canvas.text(&tick.text, foot.moved(-7.0, 0.0), BESIDE)?;
        }
        self.canvas.line(&[PlotPoint::new(left, self.rect.top), PlotPoint::new(left, bottom)], AXIS)
    }

    fn y_label(&self, offset: f64) -> Result<(), PlotError> {
        let lines = wrapped(&self.plot.y.label, LABEL, self.rect.height + 30.0);
        let nearest = PlotPoint::new(self.rect.left - offset, self.rect.centre().y);
        let font = Font::new(LABEL, Anchor::Middle).upward();
        let mut lines = lines.iter().rev().enumerate();
        lines.try_for_each(|(i, line)| {
            self.canvas.text(line, nearest.moved(-LABEL_LINE * i as f64, 0.0), font)
        })
    }

    /// The title of the panel above.
    pub fn title(&self, title: &str) -> Result<(), PlotError> {
        let lines = wrapped(title, LABEL, self.rect.width + 40.0);
        let above = 8.0 + LABEL_LINE * (lines.len().max(1) - 1) as f64;
        let first = PlotPoint::new(self.rect.centre().x, self.rect.top - above);
        let font = Font::new(LABEL, Anchor::Bottom);
        let mut lines = lines.iter().enumerate();
        lines.try_for_each(|(i, line)| self.canvas.text(line, first.moved(0.0, LABEL_LINE * i as f64), font))
    }
}

/// At least two ticks.
fn room(ticks: f64) -> usize {
    (ticks as usize).max(2)
}
