//! Renders a picture to SVG, with its caption, and with a `title` and `desc` in words for screen readers. A plot maps
//! values to positions, clips to its rectangle, and draws contour lines with their levels.

use plotters::drawing::DrawingAreaErrorKind;
use thiserror::Error;

use super::canvas::{
    BLACK, Canvas, Colour, FINE, MarkShape, Pen, TextFormat, WHITE, paint_sheet, text_width, wrap_text,
};
use super::layout::PanelArrangement;
use super::legend::FigureHeader;
use super::picture::{Backdrop, Disc, DiscUnit, Mark, Panel, Picture, Plot, TextAnchor};
use super::surface::{PlotPoint, Rect, Surface};
use dpgp_data::escape_hidden_line;
use dpgp_number::text::format_four_digits_trimmed;

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
    Ok(add_description(render_with_plot_places(title, picture, caption)?.svg, title, picture, caption))
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
pub fn render_with_plot_places(
    title: &str,
    picture: &Picture,
    caption: &[String],
) -> Result<RenderedFigure, PlotError> {
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
        panels.iter().try_for_each(|(panel, rects)| paint_panel(canvas, panel, rects, &arrangement))?;
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

fn paint_panel(
    canvas: &Canvas<'_>,
    panel: &Panel,
    rects: &[Rect],
    arrangement: &PanelArrangement,
) -> Result<(), PlotError> {
    for (i, (plot, rect)) in panel.plots.iter().zip(rects).enumerate() {
        let stage = PlotArea { canvas, plot, rect: *rect };
        stage.draw_background()?;
        stage.draw_axes(arrangement.label_offset)?;
        if i == 0 {
            stage.draw_title_and_note(&panel.title, arrangement.notes)?;
        }
        stage.draw_marks()?;
        stage.draw_end_labels()?;
    }
    Ok(())
}

const TEXT: TextFormat = TextFormat::new(12.0, TextAnchor::TopLeft);
const LINE: f64 = 16.0;
const MARGIN: f64 = 16.0;
/// The room above and below the lines.
const ROOM: f64 = 8.0;

/// Paragraphs below a figure that is so wide.
struct FigureFooter {
    lines: Vec<String>,
}

impl FigureFooter {
    fn new(paragraphs: &[String], width: f64) -> Self {
        let lines = paragraphs.iter().flat_map(|text| wrap_text(text, TEXT.size, width - 2.0 * MARGIN));
        Self { lines: lines.collect() }
    }

    /// Its height; none without lines.
    fn height(&self) -> f64 {
        if self.lines.is_empty() { 0.0 } else { 2.0 * ROOM + LINE * self.lines.len() as f64 }
    }

    fn paint(&self, canvas: &Canvas<'_>, top: f64) -> Result<(), PlotError> {
        let mut lines = self.lines.iter().enumerate();
        lines.try_for_each(|(i, line)| canvas.text(line, PlotPoint::new(MARGIN, top + ROOM + LINE * i as f64), TEXT))
    }
}

/// The elements that name and describe a picture, the first of an SVG text; none without a title.
fn add_description(svg: String, title: &str, picture: &Picture, caption: &[String]) -> String {
    if title.is_empty() {
        return svg;
    }
    let words = format!(
        "<title>{}</title>\n<desc>{}</desc>\n",
        escape_xml(title),
        escape_xml(&describe_picture(picture, caption))
    );
    match svg.split_once('\n') {
        Some((root, marks)) => format!("{root}\n{words}{marks}"),
        None => svg,
    }
}

/// Describes the axes of each panel, its marks and the caption.
fn describe_picture(picture: &Picture, caption: &[String]) -> String {
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

    fn draw_background(&self) -> Result<(), PlotError> {
        match self.plot.backdrop {
            Backdrop::Filled(colour) => self.canvas.rectangle(self.rect, colour),
            Backdrop::Plain | Backdrop::Framed => Ok(()),
        }
    }

    fn draw_marks(&self) -> Result<(), PlotError> {
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
                self.points_inside(spots).try_for_each(|at| self.canvas.draw_mark_shape(at, *stroke, *arm, *pen))
            }
            Mark::Rug(values, pen) => self.rug(values, *pen),
            Mark::Rings(spots, radius, pen) => {
                self.points_inside(spots).try_for_each(|at| self.canvas.ring(at, *radius, *pen))
            }
            Mark::Discs(discs, unit) => self.discs(discs, *unit),
            Mark::Contours(surface, step, pen) => paint_contours(self, surface, *step, *pen),
            Mark::Words(words) => {
                let at = self.to_canvas(words.at);
                let font = TextFormat::new(WORDS, words.anchor).coloured(words.colour);
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
            .try_for_each(|foot| self.canvas.draw_mark_shape(foot.moved(0.0, -ABOVE_EDGE), MarkShape::Tick, RUG, pen))
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

const LEVEL: TextFormat = TextFormat::new(11.0, TextAnchor::Middle);
/// The room between two levels, upwards.
const APART: f64 = 18.0;

/// Draws the contours at the multiples of a step.
fn paint_contours(stage: &PlotArea<'_, '_>, surface: &Surface, step: f64, pen: Pen) -> Result<(), PlotError> {
    let mut taken = Vec::new();
    for level in surface.contour_levels(step) {
        let lines = surface.contour_lines(level);
        lines.iter().try_for_each(|line| stage.line(line, pen))?;
        if let Some(longest) = lines.iter().max_by_key(|line| line.len()) {
            label_contour_line(stage, longest, level, &mut taken)?;
        }
    }
    Ok(())
}

/// Writes a level on its line: as near the middle as other levels leave room.
fn label_contour_line(
    stage: &PlotArea<'_, '_>,
    line: &[PlotPoint],
    level: f64,
    taken: &mut Vec<PlotPoint>,
) -> Result<(), PlotError> {
    let text = format_four_digits_trimmed(level);
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
    stage.canvas.rectangle(ground, WHITE.with_opacity(0.8))?;
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
        let legend = vec![Swatch::None.with_meaning("mean & sd"), Swatch::None.with_meaning("")];
        Picture { legend, layout: Layout::new(100.0), panels }
    }

    #[test]
    fn axes_and_legend_are_told() {
        assert_eq!(describe_picture(&picture(), &[]), "(A) a: y < 1 by x. along x. Shown: mean & sd.");
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
