//! A plot on the sheet: maps values to positions, clips to the plot, and draws contour lines with their levels.

use super::canvas::{Canvas, Font, text_width};
use super::canvas::{MarkShape, Pen};
use super::mark::{Disc, DiscUnit, Mark, TextAnchor};
use super::palette::{BLACK, Colour, WHITE};
use super::picture::{Backdrop, Plot};
use super::surface::Surface;
use super::surface::{PlotPoint, Rect};
use crate::PlotError;
use dpgp_number::text::format_brief;

/// The size of words among the marks.
const WORDS: f64 = 13.0;
/// The half length of a stroke of a rug, and how far its middle stands above the edge.
const RUG: f64 = 7.0;
const ABOVE_EDGE: f64 = 8.0;
/// The strip that neighbouring tiles share.
const SHARED: f64 = 0.5;

/// The rectangle between a pair of axes.
pub struct PlotArea<'a, 'b> {
    pub canvas: &'a Canvas<'b>,
    pub plot: &'a Plot,
    pub rect: Rect,
}

impl PlotArea<'_, '_> {
    /// The place of a pair of values on the sheet.
    pub fn to_canvas(&self, value: PlotPoint) -> PlotPoint {
        let (x, y) = (self.plot.x.scale.fraction(value.x), self.plot.y.scale.fraction(value.y));
        PlotPoint::new(self.rect.left + self.rect.width * x, self.rect.bottom() - self.rect.height * y)
    }

    pub fn draw_background(&self) -> Result<(), PlotError> {
        match self.plot.backdrop {
            Backdrop::Filled(colour) => self.canvas.rectangle(self.rect, colour),
            Backdrop::Plain | Backdrop::Framed => Ok(()),
        }
    }

    pub fn draw_marks(&self) -> Result<(), PlotError> {
        self.plot.marks.iter().try_for_each(|mark| self.mark(mark))?;
        match self.plot.backdrop {
            Backdrop::Framed => self.canvas.outline(self.rect, Pen::new(BLACK, 1.0)),
            Backdrop::Plain | Backdrop::Filled(_) => Ok(()),
        }
    }

    fn mark(&self, mark: &Mark) -> Result<(), PlotError> {
        match mark {
            Mark::Line(spots, pen) => self.line(spots, *pen),
            Mark::Area(corners, colour) => {
                let corners: Vec<PlotPoint> = corners.iter().map(|corner| self.to_canvas(*corner)).collect();
                self.canvas.area(&self.rect.clip_area(&corners), *colour)
            }
            Mark::Tile(corners, colour) => self.tile(corners.map(|corner| self.to_canvas(corner)), *colour),
            Mark::Across(height, pen) => {
                let y = self.to_canvas(PlotPoint::new(0.0, *height)).y;
                self.draw_clipped_line(&[PlotPoint::new(self.rect.left, y), PlotPoint::new(self.rect.right(), y)], *pen)
            }
            Mark::Upright(place, pen) => {
                let x = self.to_canvas(PlotPoint::new(*place, 0.0)).x;
                self.draw_clipped_line(&[PlotPoint::new(x, self.rect.bottom()), PlotPoint::new(x, self.rect.top)], *pen)
            }
            Mark::Strokes(spots, stroke, arm, pen) => {
                self.points_inside(spots).try_for_each(|at| self.canvas.stroke(at, *stroke, *arm, *pen))
            }
            Mark::Rug(values, pen) => self.rug(values, *pen),
            Mark::Rings(spots, radius, pen) => {
                self.points_inside(spots).try_for_each(|at| self.canvas.ring(at, *radius, *pen))
            }
            Mark::Discs(discs, unit) => self.discs(discs, *unit),
            Mark::Contours(surface, step, pen) => paint_contours(self, surface, *step, *pen),
            Mark::Words(words) => {
                let at = self.to_canvas(words.at);
                let font = Font::new(WORDS, words.anchor).coloured(words.colour);
                if !self.rect.holds(at) {
                    return Ok(());
                }
                self.canvas.text(&words.text, at.moved(words.offset.x, words.offset.y), font)
            }
        }
    }

    /// A tile between two of its corners, wider and higher by what it shares with its neighbours.
    fn tile(&self, [from, to]: [PlotPoint; 2], colour: Colour) -> Result<(), PlotError> {
        let (left, top) = (from.x.min(to.x), from.y.min(to.y));
        let (right, bottom) = (from.x.max(to.x) + SHARED, from.y.max(to.y) + SHARED);
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)].map(PlotPoint::from);
        self.canvas.area(&self.rect.clip_area(&corners), colour)
    }

    /// A line through some values.
    pub fn line(&self, values: &[PlotPoint], pen: Pen) -> Result<(), PlotError> {
        let spots: Vec<PlotPoint> = values.iter().map(|value| self.to_canvas(*value)).collect();
        self.draw_clipped_line(&spots, pen)
    }

    fn draw_clipped_line(&self, spots: &[PlotPoint], pen: Pen) -> Result<(), PlotError> {
        self.rect.clip_line(spots).iter().try_for_each(|run| self.canvas.line(run, pen))
    }

    /// The places of those values that lie inside.
    fn points_inside(&self, values: &[PlotPoint]) -> impl Iterator<Item = PlotPoint> {
        values.iter().map(|value| self.to_canvas(*value)).filter(|spot| self.rect.holds(*spot))
    }

    fn rug(&self, values: &[f64], pen: Pen) -> Result<(), PlotError> {
        let bottom = self.rect.bottom();
        let feet = values.iter().map(|x| PlotPoint::new(self.to_canvas(PlotPoint::new(*x, 0.0)).x, bottom));
        feet.filter(|foot| self.rect.holds(*foot))
            .try_for_each(|foot| self.canvas.stroke(foot.moved(0.0, -ABOVE_EDGE), MarkShape::Tick, RUG, pen))
    }

    fn discs(&self, discs: &[Disc], unit: DiscUnit) -> Result<(), PlotError> {
        let unit = match unit {
            DiscUnit::Pixel => 1.0,
            DiscUnit::Cell(sides) => {
                let (from, to) = (self.to_canvas(PlotPoint::new(0.0, 0.0)), self.to_canvas(sides));
                (to.x - from.x).abs().min((to.y - from.y).abs())
            }
        };
        for disc in discs {
            let centre = self.to_canvas(disc.at);
            if self.rect.holds(centre) {
                let centre = centre.moved(unit * disc.offset.x, unit * disc.offset.y);
                self.canvas.disc(centre, unit * disc.radius, disc.colour)?;
            }
        }
        Ok(())
    }
}

const LEVEL: Font = Font::new(11.0, TextAnchor::Middle);
/// The room between two levels, upwards.
const APART: f64 = 18.0;

/// Draws the contours at the multiples of a step.
pub fn paint_contours(stage: &PlotArea<'_, '_>, surface: &Surface, step: f64, pen: Pen) -> Result<(), PlotError> {
    let mut taken = Vec::new();
    for level in surface.levels(step) {
        let lines = surface.contour_lines(level);
        lines.iter().try_for_each(|line| stage.line(line, pen))?;
        if let Some(longest) = lines.iter().max_by_key(|line| line.len()) {
            write_level(stage, longest, level, &mut taken)?;
        }
    }
    Ok(())
}

/// Writes a level on its line: as near the middle as other levels leave room.
fn write_level(
    stage: &PlotArea<'_, '_>,
    line: &[PlotPoint],
    level: f64,
    taken: &mut Vec<PlotPoint>,
) -> Result<(), PlotError> {
    let text = format_brief(level);
    let half = text_width(&text, LEVEL.size) / 2.0 + 2.0;
    let places = order_from_middle(line).into_iter().map(|value| stage.to_canvas(value));
    let free = places.into_iter().find(|at| {
        let corners = [at.moved(-half, -7.0), at.moved(half, 7.0)];
        corners.iter().all(|corner| stage.rect.holds(*corner))
            && taken.iter().all(|o| (o.x - at.x).abs() > 3.0 * half || (o.y - at.y).abs() > APART)
    });
    let Some(at) = free else { return Ok(()) };
    taken.push(at);
    let ground = Rect { left: at.x - half, top: at.y - 6.5, width: 2.0 * half, height: 13.0 };
    stage.canvas.rectangle(ground, WHITE.faint(0.8))?;
    stage.canvas.text(&text, at, LEVEL)
}

/// The spots of a line by their distance from its middle.
fn order_from_middle(line: &[PlotPoint]) -> Vec<PlotPoint> {
    let (before, after) = line.split_at(line.len() / 2);
    let mut order = Vec::with_capacity(line.len());
    let mut before = before.iter().rev();
    for spot in after {
        order.push(*spot);
        order.extend(before.next());
    }
    order.extend(before);
    order
}
