//! From a picture to SVG.

use super::canvas::{Canvas, sheet};
use super::legend::Head;
use super::picture::{Panel, Picture};
use super::spot::Rect;
use super::stage::Stage;
use crate::publish::figure::error::FigureError;

/// The gap between plots of a panel that stand one below the other.
const GAP: f64 = 26.0;
/// The room below the last row.
const FOOT: f64 = 6.0;

/// A picture below its title, as SVG text.
///
/// # Errors
/// [`FigureError`] if the drawing library fails.
pub fn render(title: &str, picture: &Picture) -> Result<String, FigureError> {
    let arrangement = picture.layout.arranged(&picture.panels);
    let head = Head::new(title, &picture.legend, arrangement.width);
    let height = head.height() + arrangement.height + FOOT;
    sheet(arrangement.width, height, |canvas| {
        head.paint(canvas)?;
        let mut panels = picture.panels.iter().zip(&arrangement.rects);
        panels.try_for_each(|(panel, rect)| {
            let rect = Rect { top: head.height() + rect.top, ..*rect };
            paint(canvas, panel, rect, arrangement.label_offset)
        })
    })
}

fn paint(canvas: &Canvas<'_>, panel: &Panel, rect: Rect, label_offset: f64) -> Result<(), FigureError> {
    let free = rect.height - GAP * panel.plots.len().saturating_sub(1) as f64;
    let mut top = rect.top;
    for (i, plot) in panel.plots.iter().enumerate() {
        let stage = Stage { canvas, plot, rect: Rect { top, height: plot.share * free, ..rect } };
        stage.ground()?;
        stage.sides(label_offset)?;
        if i == 0 {
            stage.title(&panel.title)?;
        }
        stage.marks()?;
        top = stage.rect.bottom() + GAP;
    }
    Ok(())
}
