//! The contour lines of a surface, with their levels written on them.

use super::canvas::{Font, text_width};
use super::mark::Anchor;
use super::palette::WHITE;
use super::pen::Pen;
use super::spot::{Rect, Spot};
use super::stage::Stage;
use super::surface::Surface;
use crate::PlotError;
use dpgp_number::text::brief;

const LEVEL: Font = Font::new(11.0, Anchor::Middle);
/// The room between two levels, upwards.
const APART: f64 = 18.0;

/// Draws the contours at the multiples of a step.
pub fn paint(stage: &Stage<'_, '_>, surface: &Surface, step: f64, pen: Pen) -> Result<(), PlotError> {
    let mut taken = Vec::new();
    for level in surface.levels(step) {
        let lines = surface.lines(level);
        lines.iter().try_for_each(|line| stage.line(line, pen))?;
        if let Some(longest) = lines.iter().max_by_key(|line| line.len()) {
            write_level(stage, longest, level, &mut taken)?;
        }
    }
    Ok(())
}

/// Writes a level on its line: as near the middle as other levels leave room.
fn write_level(
    stage: &Stage<'_, '_>,
    line: &[Spot],
    level: f64,
    taken: &mut Vec<Spot>,
) -> Result<(), PlotError> {
    let text = brief(level);
    let half = text_width(&text, LEVEL.size) / 2.0 + 2.0;
    let places = from_the_middle(line).into_iter().map(|value| stage.at(value));
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
fn from_the_middle(line: &[Spot]) -> Vec<Spot> {
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
