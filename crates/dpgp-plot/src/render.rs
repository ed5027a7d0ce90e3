//! From a picture to SVG.

use super::canvas::{Canvas, FINE, sheet};
use super::foot::Foot;
use super::legend::Head;
use super::picture::{Panel, Picture};
use super::spot::Rect;
use super::stage::Stage;
use super::words::described;
use crate::PlotError;

/// The gap between plots of a panel that stand one below the other.
pub const PLOT_GAP: f64 = 26.0;
/// The room below the last row.
const FOOT: f64 = 6.0;

/// A picture between its title and a caption, as SVG text that says in words what it shows.
///
/// # Errors
/// [`PlotError`] if the drawing library fails.
pub fn render(title: &str, picture: &Picture, caption: &[String]) -> Result<String, PlotError> {
    Ok(described(render_captioned(title, picture, caption)?.svg, title, picture, caption))
}

/// A figure, and where its plots stand.
pub struct Rendered {
    /// SVG text.
    pub svg: String,
    /// Between the axes of each plot, in units of the view box.
    pub plots: Vec<Rect>,
}

/// A picture between its title and paragraphs of a caption.
///
/// # Errors
/// [`PlotError`] if the drawing library fails.
pub fn render_captioned(title: &str, picture: &Picture, caption: &[String]) -> Result<Rendered, PlotError> {
    let arrangement = picture.layout.arranged(&picture.panels);
    let head = Head::new(title, &picture.legend, arrangement.width);
    let foot = Foot::new(caption, arrangement.width);
    let below = head.height() + arrangement.height + FOOT;
    let panels = picture.panels.iter().zip(&arrangement.rects);
    let panels: Vec<(&Panel, Vec<Rect>)> = panels
        .map(|(panel, rect)| (panel, plot_rects(panel, Rect { top: head.height() + rect.top, ..*rect })))
        .collect();
    let svg = sheet(arrangement.width, below + foot.height(), |canvas| {
        head.paint(canvas)?;
        panels.iter().try_for_each(|(panel, rects)| paint(canvas, panel, rects, arrangement.label_offset))?;
        foot.paint(canvas, below)
    })?;
    let plots = panels.iter().flat_map(|(_, rects)| rects.iter().map(|rect| rect.times(FINE)));
    Ok(Rendered { svg, plots: plots.collect() })
}

/// The plots of a panel, one below the other.
fn plot_rects(panel: &Panel, rect: Rect) -> Vec<Rect> {
    let free = rect.height - PLOT_GAP * panel.plots.len().saturating_sub(1) as f64;
    let mut top = rect.top;
    let mut rects = Vec::with_capacity(panel.plots.len());
    for plot in &panel.plots {
        let own = Rect { top, height: plot.share * free, ..rect };
        rects.push(own);
        top = own.bottom() + PLOT_GAP;
    }
    rects
}

fn paint(canvas: &Canvas<'_>, panel: &Panel, rects: &[Rect], label_offset: f64) -> Result<(), PlotError> {
    for (i, (plot, rect)) in panel.plots.iter().zip(rects).enumerate() {
        let stage = Stage { canvas, plot, rect: *rect };
        stage.ground()?;
        stage.sides(label_offset)?;
        if i == 0 {
            stage.title(&panel.title)?;
        }
        stage.marks()?;
    }
    Ok(())
}
