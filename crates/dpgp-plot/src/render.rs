//! Renders a picture to SVG, with its caption, and with a `title` and `desc` in words for screen readers.

use plotters::drawing::DrawingAreaErrorKind;
use thiserror::Error;

use super::canvas::{Canvas, FINE, Font, paint_sheet, wrapped};
use super::layout::PanelArrangement;
use super::legend::FigureHeader;
use super::mark::TextAnchor;
use super::picture::{Panel, Picture};
use super::stage::PlotArea;
use super::surface::{PlotPoint, Rect};
use dpgp_data::escape_hidden_line;

/// The group around the caption of a figure.
pub const CAPTION_GROUP: &str = "<g class=\"caption\">";
/// The gap between plots of a panel that stand one below the other.
pub const PLOT_GAP: f64 = 26.0;
/// The room below the last row.
const FOOT: f64 = 6.0;

/// A picture between its title and a caption, as SVG text that says in words what it shows.
///
/// # Errors
/// [`PlotError`] if the drawing library fails.
pub fn render(title: &str, picture: &Picture, caption: &[String]) -> Result<String, PlotError> {
    Ok(add_description(render_captioned(title, picture, caption)?.svg, title, picture, caption))
}

/// A figure and the places of its plots.
pub struct RenderedFigure {
    /// SVG text.
    pub svg: String,
    /// Between the axes of each plot, in units of the view box.
    pub plots: Vec<Rect>,
}

/// A picture between its title and paragraphs of a caption.
///
/// # Errors
/// [`PlotError`] if the drawing library fails.
pub fn render_captioned(title: &str, picture: &Picture, caption: &[String]) -> Result<RenderedFigure, PlotError> {
    let arrangement = picture.layout.arrange_panels(&picture.panels);
    let head = FigureHeader::new(title, &picture.legend, arrangement.width);
    let foot = FigureFooter::new(caption, arrangement.width);
    let below = head.height() + arrangement.height + FOOT;
    let panels = picture.panels.iter().zip(&arrangement.rects);
    let panels: Vec<(&Panel, Vec<Rect>)> = panels
        .map(|(panel, rect)| (panel, plot_rects(panel, Rect { top: head.height() + rect.top, ..*rect })))
        .collect();
    let svg = paint_sheet(arrangement.width, below + foot.height(), |canvas| {
        head.paint(canvas)?;
        panels.iter().try_for_each(|(panel, rects)| paint(canvas, panel, rects, &arrangement))?;
        foot.paint(canvas, below)
    })?;
    let plots = panels.iter().flat_map(|(_, rects)| rects.iter().map(|rect| rect.times(FINE)));
    Ok(RenderedFigure { svg: group_caption_texts(svg, foot.lines.len()), plots: plots.collect() })
}

/// The last so many texts, those of the caption, in a group of their own: a page may say them in its own letters.
fn group_caption_texts(svg: String, lines: usize) -> String {
    let first = lines.checked_sub(1).and_then(|before| svg.rmatch_indices("<text ").nth(before));
    let Some((at, _)) = first else { return svg };
    let (above, caption) = svg.split_at(at);
    format!("{above}{CAPTION_GROUP}\n{}", caption.replacen("</svg>", "</g>\n</svg>", 1))
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

fn paint(canvas: &Canvas<'_>, panel: &Panel, rects: &[Rect], arrangement: &PanelArrangement) -> Result<(), PlotError> {
    for (i, (plot, rect)) in panel.plots.iter().zip(rects).enumerate() {
        let stage = PlotArea { canvas, plot, rect: *rect };
        stage.draw_background()?;
        stage.draw_axes(arrangement.label_offset)?;
        if i == 0 {
            stage.title(&panel.title, arrangement.notes)?;
        }
        stage.draw_marks()?;
        stage.draw_end_labels()?;
    }
    Ok(())
}

const TEXT: Font = Font::new(12.0, TextAnchor::TopLeft);
const LINE: f64 = 16.0;
const MARGIN: f64 = 16.0;
/// The room above and below the lines.
const ROOM: f64 = 8.0;

/// Paragraphs below a figure that is so wide.
pub struct FigureFooter {
    lines: Vec<String>,
}

impl FigureFooter {
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
        lines.try_for_each(|(i, line)| canvas.text(line, PlotPoint::new(MARGIN, top + ROOM + LINE * i as f64), TEXT))
    }
}

/// The elements that name and describe a picture, the first of an SVG text; none without a title.
pub(super) fn add_description(svg: String, title: &str, picture: &Picture, caption: &[String]) -> String {
    if title.is_empty() {
        return svg;
    }
    let words =
        format!("<title>{}</title>\n<desc>{}</desc>\n", escape_xml(title), escape_xml(&description(picture, caption)));
    match svg.split_once('\n') {
        Some((root, marks)) => format!("{root}\n{words}{marks}"),
        None => svg,
    }
}

/// Describes the axes of each panel, its marks and the caption.
fn description(picture: &Picture, caption: &[String]) -> String {
    let mut sentences: Vec<String> = picture.panels.iter().flat_map(describe_axes).collect();
    let mut shown: Vec<&str> = Vec::new();
    let ends = picture.panels.iter().flat_map(|panel| &panel.plots).flat_map(|plot| &plot.ends);
    let meanings = picture.legend.iter().map(|entry| &entry.text);
    for text in ends.map(|end| &end.text).chain(meanings).filter(|text| !text.is_empty()) {
        if !shown.contains(&text.as_str()) {
            shown.push(text);
        }
    }
    if !shown.is_empty() {
        sentences.push(format!("Shown: {}", shown.join("; ")));
    }
    let sentences = sentences.iter().map(|sentence| format!("{sentence}.")).chain(caption.iter().cloned());
    sentences.collect::<Vec<_>>().join(" ")
}

/// "A: y by x", for each plot of a panel whose axes have names.
fn describe_axes(panel: &Panel) -> Vec<String> {
    let x = panel.plots.iter().map(|plot| plot.x.label.as_str()).rfind(|label| !label.is_empty());
    let mut sentences = Vec::new();
    for plot in &panel.plots {
        let y = plot.y.label.as_str();
        let axes = match x {
            Some(x) if !y.is_empty() => format!("{y} by {x}"),
            Some(x) => format!("along {x}"),
            None => y.to_owned(),
        };
        let parts: Vec<&str> = [panel.title.as_str(), &axes].into_iter().filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            sentences.push(parts.join(": "));
        }
        if !plot.note.is_empty() {
            sentences.push(plot.note.clone());
        }
    }
    sentences.dedup();
    sentences
}

/// A text as the contents of an element.
fn escape_xml(text: &str) -> String {
    escape_hidden_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The drawing library refused.
#[derive(Debug, Error)]
#[error("the figure could not be drawn: {0}")]
pub struct PlotError(#[from] DrawingAreaErrorKind<std::io::Error>);

#[cfg(test)]
mod tests {
    use super::super::{Layout, Plot, PlotAxis, Scale, Swatch};
    use super::*;

    fn picture() -> Picture {
        let [x, y, bare] = ["x", "y < 1", ""].map(|label| PlotAxis::with_numbers(Scale::between(0.0, 1.0), label));
        let panels = vec![
            Panel::new("(A) a", Plot::new(x.clone(), y, Vec::new())),
            Panel::new("", Plot::new(x, bare, Vec::new())),
        ];
        let legend = vec![Swatch::None.means("mean & sd"), Swatch::None.means("")];
        Picture { legend, layout: Layout::new(100.0), panels }
    }

    #[test]
    fn axes_and_legend_are_told() {
        assert_eq!(description(&picture(), &[]), "(A) a: y < 1 by x. along x. Shown: mean & sd.");
    }

    #[test]
    fn words_come_first_in_the_sheet_and_are_escaped() {
        let svg = render("a < b", &picture(), &["n: 3 & more.".to_owned()]).unwrap();
        let (root, rest) = svg.split_once('\n').unwrap();
        assert!(root.starts_with("<svg ") && root.ends_with('>'));
        assert!(rest.starts_with("<title>a &lt; b</title>\n<desc>(A) a: y &lt; 1 by x. along x."), "{rest}");
        assert!(!render("", &picture(), &[]).unwrap().contains("<title>"));
    }

    #[test]
    fn the_caption_is_a_group_at_the_end() {
        let caption = ["one".to_owned(), "two".to_owned()];
        let svg = render("", &picture(), &caption).unwrap();
        let (marks, group) = svg.split_once(CAPTION_GROUP).unwrap();
        assert!(marks.contains("mean &amp; sd") && !marks.contains("\none\n"), "{marks}");
        assert!(group.contains("\none\n") && group.contains("\ntwo\n") && group.ends_with("</g>\n</svg>\n"), "{group}");
        assert!(!render("", &picture(), &[]).unwrap().contains("<g "));
    }
}
