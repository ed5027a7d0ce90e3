//! The arrangement of the panels of a figure, with their axes and titles.

use super::canvas::{BLACK, DARK, GRID, Pen, TextFormat, text_width, wrap_text};
use super::legend::end_label_width;
use super::picture::{Panel, PlotAxis, TextAnchor, Ticks};
use super::render::PlotArea;
use super::scale::{Scale, Tick};
use super::surface::{PlotPoint, Rect};
use crate::PlotError;

/// The widths of a figure with one panel in a row, and with several.
const WIDTHS: [f64; 2] = [680.0, 1000.0];
/// The room at the right of a panel, for its x axis and for its y axis.
const RIGHT: f64 = 18.0;
const BOTTOM: f64 = 56.0;
const LEFT: f64 = 84.0;
/// The room at the left of the names along a y axis: without a label, and with one.
const BESIDE_NAMES: [f64; 2] = [23.0, 50.0];
/// The size of the numbers and names along an axis.
const TICK_TEXT: f64 = 13.0;

/// The arrangement of panels in rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    columns: Option<usize>,
    height: PanelHeight,
    /// The room for the titles of panels.
    top: f64,
    fitted: Option<SinglePanelWidths>,
}

/// The widths of a figure of one panel: of all of it, and between its axes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SinglePanelWidths {
    all: f64,
    inside: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum PanelHeight {
    /// The height of a panel with its surroundings, in pixels.
    Pixels(f64),
    /// The height between the axes, as a multiple of the width.
    Ratio(f64),
}

impl Layout {
    /// A layout with panels of this height, and as many in a row as fit.
    pub const fn new(height: f64) -> Self {
        Self { columns: None, height: PanelHeight::Pixels(height), top: 40.0, fitted: None }
    }

    /// A layout with panels whose axes have this ratio of height to width.
    pub const fn with_aspect_ratio(ratio: f64) -> Self {
        Self { height: PanelHeight::Ratio(ratio), ..Self::new(0.0) }
    }

    /// With so many panels in a row, if that is given.
    #[must_use]
    pub const fn with_columns(self, columns: Option<usize>) -> Self {
        Self { columns, ..self }
    }

    /// With so much room for the titles of panels.
    #[must_use]
    pub const fn with_title_height(self, top: f64) -> Self {
        Self { top, ..self }
    }

    /// A figure of one panel that is so wide, and so wide between its axes. Its numbers have as much room as they need.
    #[must_use]
    pub const fn with_single_panel_widths(self, all: f64, inside: f64) -> Self {
        Self { fitted: Some(SinglePanelWidths { all, inside }), ..self }
    }

    /// The places of some panels, the first row at the top.
    pub fn arrange_panels(&self, panels: &[Panel]) -> PanelArrangement {
        if let (Some(fitted), [panel]) = (self.fitted, panels) {
            return self.arrange_single_panel(fitted, panel);
        }
        let count: usize = panels.iter().map(|panel| panel.span).sum();
        let fitting = if count <= 3 { count } else { (count as f64).sqrt().ceil() as usize };
        let columns = self.columns.unwrap_or(fitting).min(count).max(1);
        let plots = || panels.iter().flat_map(|panel| &panel.plots);
        let left = plots().map(|plot| left_margin(&plot.y)).fold(LEFT, f64::max);
        let right = plots().map(|plot| end_label_width(&plot.ends)).fold(RIGHT, f64::max);
        let width = WIDTHS[usize::from(columns > 1)] + columns as f64 * (left - LEFT);
        let across = width / columns as f64;
        let between = |panel: &Panel| across * panel.span as f64 - left - right;
        let notes = panels.iter().map(|panel| note_height(panel, between(panel))).fold(0.0, f64::max);
        let top = self.top + notes;
        let height = match self.height {
            PanelHeight::Pixels(height) => height + notes,
            PanelHeight::Ratio(ratio) => ratio * (across - left - right) + top + BOTTOM,
        };
        let mut slot = 0;
        let mut rects = Vec::with_capacity(panels.len());
        for panel in panels {
            rects.push(Rect {
                left: across * (slot % columns) as f64 + left,
                top: height * (slot / columns) as f64 + top,
                width: between(panel),
                height: height - top - BOTTOM,
            });
            slot += panel.span;
        }
        PanelArrangement {
            width,
            height: height * count.div_ceil(columns) as f64,
            label_offset: left - 26.0,
            notes,
            rects,
        }
    }

    /// One panel in the middle of the room that its axes leave.
    fn arrange_single_panel(
        &self,
        SinglePanelWidths { all, inside }: SinglePanelWidths,
        panel: &Panel,
    ) -> PanelArrangement {
        let rooms = panel.plots.iter().map(|plot| left_and_right_margins(&plot.x, &plot.y));
        let [left, right] = rooms.fold([0.0f64; 2], |most, own| [0, 1].map(|side| most[side].max(own[side])));
        let height = match self.height {
            PanelHeight::Pixels(height) => height,
            PanelHeight::Ratio(ratio) => ratio * inside + self.top + BOTTOM,
        };
        let free = (all - left - right - inside).max(0.0);
        let rect = Rect { left: left + free / 2.0, top: self.top, width: inside, height: height - self.top - BOTTOM };
        PanelArrangement {
            width: all,
            height,
            label_offset: left - LABEL_LINE / 2.0 - 2.0,
            notes: 0.0,
            rects: vec![rect],
        }
    }
}

/// The room at the left and at the right of a plot that its numbers and the name of its y axis need, however long they are.
pub fn left_and_right_margins(x: &PlotAxis, y: &PlotAxis) -> [f64; 2] {
    let (across, upward) =
        (half_longest_tick_text_width(x), tick_texts(y, MOST_UPWARD).map(|text| text_width(&text, TICK_TEXT)));
    let beside = upward.fold(0.0, f64::max) + TICK_GAP;
    let label = if y.label.is_empty() { 0.0 } else { LABEL_LINE + 2.0 };
    [(beside + 6.0 + label).max(across + 4.0), RIGHT.max(across + 4.0)]
}

/// More ticks than a y axis and an x axis have. Fewer ticks have no longer texts.
const MOST_UPWARD: usize = 20;
const MOST_ACROSS: usize = 12;
/// From an axis to the texts of its ticks.
const TICK_GAP: f64 = 7.0;

/// Half the width of the longest text below an x axis.
fn half_longest_tick_text_width(x: &PlotAxis) -> f64 {
    tick_texts(x, MOST_ACROSS).map(|text| text_width(&text, TICK_TEXT) / 2.0).fold(0.0, f64::max)
}

/// The texts beside the ticks of a side, of so many ticks at most.
fn tick_texts(side: &PlotAxis, most: usize) -> impl Iterator<Item = String> {
    let texts: Vec<String> = match &side.ticks {
        Ticks::Names(names) => names.clone(),
        Ticks::Bare => Vec::new(),
        Ticks::Values | Ticks::Lines => side.scale.ticks(most).into_iter().map(|tick| tick.text).collect(),
        Ticks::Fitting { ends, .. } => {
            let inner = side.scale.ticks(most).into_iter().map(|tick| tick.text);
            inner.chain(ends.iter().flatten().cloned()).collect()
        }
    };
    texts.into_iter()
}

/// As many ticks along so many pixels as have room for their texts, between the words at both ends if there are any.
fn fit_ticks(scale: &Scale, pixels: f64, ends: Option<&[String; 2]>) -> Vec<Tick> {
    let at_ends = |[low, high]: &[String; 2]| {
        [(0.0, low), (1.0, high)].map(|(fraction, text)| Tick { fraction, text: text.clone() })
    };
    let at_ends: Vec<Tick> = ends.map(|ends| at_ends(ends).to_vec()).unwrap_or_default();
    let are_apart = |ticks: &[Tick]| ticks.windows(2).all(|pair| has_gap_between(&pair[0], &pair[1], pixels));
    for most in (2..=at_least_two(pixels / TICK_ROOM[0])).rev() {
        let mut ticks = scale.ticks(most);
        ticks.retain(|tick| at_ends.iter().all(|end| has_gap_between(end, tick, pixels)));
        if are_apart(&ticks) {
            ticks.extend(at_ends);
            return ticks;
        }
    }
    at_ends
}

/// Whether the texts of two ticks leave a gap between them.
fn has_gap_between(one: &Tick, other: &Tick, pixels: f64) -> bool {
    let halves = [one, other].map(|tick| text_width(&tick.text, TICK_TEXT) / 2.0);
    (other.fraction - one.fraction).abs() * pixels >= halves[0] + halves[1] + TEXT_GAP
}

/// The least gap between the texts of two ticks.
const TEXT_GAP: f64 = 10.0;

const NOTE: TextFormat = TextFormat::new(12.0, TextAnchor::BottomLeft).coloured(DARK);
const NOTE_LINE: f64 = 15.0;

/// The lines of a note above a plot that is so wide.
fn note_lines(note: &str, width: f64) -> Vec<String> {
    wrap_text(note, NOTE.size, width)
}

/// The height of the note of a panel that is so wide.
fn note_height(panel: &Panel, width: f64) -> f64 {
    let lines = panel.plots.first().map_or(0, |plot| note_lines(&plot.note, width).len());
    NOTE_LINE * lines as f64
}

/// The room for a y axis.
fn left_margin(side: &PlotAxis) -> f64 {
    let Ticks::Names(names) = &side.ticks else { return LEFT };
    let longest = names.iter().map(|name| text_width(name, TICK_TEXT)).fold(0.0, f64::max);
    longest + BESIDE_NAMES[usize::from(!side.label.is_empty())]
}

/// The places of the panels of a figure.
#[derive(Debug, Clone)]
pub struct PanelArrangement {
    pub width: f64,
    /// The height of all rows.
    pub height: f64,
    /// The distance of a y axis's label to its left.
    pub label_offset: f64,
    /// The height of the notes between panels and their titles.
    pub notes: f64,
    /// The rectangle between the axes of each panel.
    pub rects: Vec<Rect>,
}

/// Pixels that a tick needs for its text, along the x axis and along the y axis.
const TICK_ROOM: [f64; 2] = [52.0, 30.0];
const TICK_LINE: f64 = 14.0;
/// The tick at infinity.
const INFINITE: &str = "inf";
const LABEL: f64 = 14.0;
const LABEL_LINE: f64 = 17.0;
const AXIS: Pen = Pen::new(BLACK, 1.0);
const ACROSS: Pen = Pen::new(GRID, 1.0);
const BELOW: TextFormat = TextFormat::new(TICK_TEXT, TextAnchor::Top);
const BESIDE: TextFormat = TextFormat::new(TICK_TEXT, TextAnchor::Right);

impl PlotArea<'_, '_> {
    /// The y axis at the left, its label so far from it, then the x axis below.
    pub fn draw_axes(&self, label_offset: f64) -> Result<(), PlotError> {
        self.draw_y_axis()?;
        self.draw_y_label(label_offset)?;
        self.draw_x_axis()?;
        if self.plot.x.label.is_empty() {
            return Ok(());
        }
        let below = PlotPoint::new(self.rect.centre().x, self.rect.bottom() + 26.0);
        self.canvas.text(&self.plot.x.label, below, TextFormat::new(LABEL, TextAnchor::Top))
    }

    fn draw_x_axis(&self) -> Result<(), PlotError> {
        let (left, bottom) = (self.rect.left, self.rect.bottom());
        if let Ticks::Names(names) = &self.plot.x.ticks {
            return names.iter().enumerate().try_for_each(|(i, name)| {
                let x = self.to_canvas(PlotPoint::new(i as f64 + 0.5, 0.0)).x;
                self.canvas.text(name, PlotPoint::new(x, bottom + TICK_GAP), BELOW)
            });
        }
        self.draw_x_line()?;
        if self.plot.x.ticks == Ticks::Bare {
            return Ok(());
        }
        let (scale, width) = (&self.plot.x.scale, self.rect.width);
        let (ticks, has_lines) = match &self.plot.x.ticks {
            Ticks::Fitting { ends, lines } => (fit_ticks(scale, width, ends.as_ref()), *lines),
            other => (scale.ticks(at_least_two(width / TICK_ROOM[0])), *other == Ticks::Lines),
        };
        for tick in ticks {
            let foot = PlotPoint::new(left + width * tick.fraction, bottom);
            if has_lines {
                self.canvas.line(&[foot, PlotPoint::new(foot.x, self.rect.top)], ACROSS)?;
            }
            self.canvas.line(&[foot, foot.moved(0.0, 4.0)], AXIS)?;
            let is_infinite = tick.text == INFINITE;
            let lines: Vec<&str> =
                if is_infinite { self.plot.x.infinity.split(' ').collect() } else { vec![&tick.text] };
            for (i, word) in lines.into_iter().enumerate() {
                self.canvas.text(word, foot.moved(0.0, TICK_GAP + TICK_LINE * i as f64), BELOW)?;
            }
        }
        Ok(())
    }

    /// The line of the x axis; between two oblique strokes where it is broken.
    fn draw_x_line(&self) -> Result<(), PlotError> {
        let bottom = self.rect.bottom();
        let mut ends = vec![self.rect.left];
        if let Some(gap) = self.plot.x.scale.axis_break() {
            ends.extend(gap.map(|fraction| self.rect.left + self.rect.width * fraction));
        }
        for x in &ends[1..] {
            let at = PlotPoint::new(*x, bottom);
            self.canvas.line(&[at.moved(-2.5, 6.0), at.moved(2.5, -6.0)], AXIS)?;
        }
        ends.push(self.rect.right());
        ends.chunks(2)
            .try_for_each(|ends| self.canvas.line(&[ends[0], ends[1]].map(|x| PlotPoint::new(x, bottom)), AXIS))
    }

    fn draw_y_axis(&self) -> Result<(), PlotError> {
        let (left, bottom) = (self.rect.left, self.rect.bottom());
        if let Ticks::Names(names) = &self.plot.y.ticks {
            return names.iter().enumerate().try_for_each(|(i, name)| {
                let y = self.to_canvas(PlotPoint::new(0.0, i as f64 + 0.5)).y;
                self.canvas.text(name, PlotPoint::new(left - TICK_GAP, y), BESIDE)
            });
        }
        for tick in self.plot.y.scale.ticks(at_least_two(self.rect.height / TICK_ROOM[1])) {
            let foot = PlotPoint::new(left, bottom - self.rect.height * tick.fraction);
            if self.plot.y.ticks == Ticks::Lines {
                self.canvas.line(&[foot, PlotPoint::new(self.rect.right(), foot.y)], ACROSS)?;
            }
            self.canvas.line(&[foot.moved(-4.0, 0.0), foot], AXIS)?;
            self.canvas.text(&tick.text, foot.moved(-TICK_GAP, 0.0), BESIDE)?;
        }
        self.canvas.line(&[PlotPoint::new(left, self.rect.top), PlotPoint::new(left, bottom)], AXIS)
    }

    fn draw_y_label(&self, offset: f64) -> Result<(), PlotError> {
        let lines = wrap_text(&self.plot.y.label, LABEL, self.rect.height + 30.0);
        let nearest = PlotPoint::new(self.rect.left - offset, self.rect.centre().y);
        let font = TextFormat::new(LABEL, TextAnchor::Middle).upward();
        let mut lines = lines.iter().rev().enumerate();
        lines.try_for_each(|(i, line)| self.canvas.text(line, nearest.moved(-LABEL_LINE * i as f64, 0.0), font))
    }

    /// The title of the panel above, and its note between them, which has so much room.
    pub fn draw_title_and_note(&self, title: &str, notes: f64) -> Result<(), PlotError> {
        for (i, line) in note_lines(&self.plot.note, self.rect.width).iter().enumerate() {
            let below_title = self.rect.top - notes + NOTE_LINE * (i + 1) as f64;
            self.canvas.text(line, PlotPoint::new(self.rect.left, below_title - 6.0), NOTE)?;
        }
        let lines = title_lines(title, self.rect.width);
        let above = 8.0 + notes + LABEL_LINE * (lines.len().max(1) - 1) as f64;
        let first = PlotPoint::new(self.rect.centre().x, self.rect.top - above);
        let font = TextFormat::new(LABEL, TextAnchor::Bottom);
        let mut lines = lines.iter().enumerate();
        lines.try_for_each(|(i, line)| self.canvas.text(line, first.moved(0.0, LABEL_LINE * i as f64), font))
    }
}

/// The title of a panel that is so wide between its axes, in lines.
fn title_lines(title: &str, inside: f64) -> Vec<String> {
    wrap_text(title, LABEL, inside + 40.0)
}

/// The room that the title of a panel needs.
pub fn title_height(title: &str, inside: f64) -> f64 {
    23.0 + LABEL_LINE * (title_lines(title, inside).len().max(1) - 1) as f64
}

/// How many characters of an axis name fit beside an axis of this length.
pub fn letters_that_fit(pixels: f64) -> usize {
    (pixels / text_width("x", LABEL)) as usize
}

/// At least two ticks.
fn at_least_two(ticks: f64) -> usize {
    (ticks as usize).max(2)
}

#[cfg(test)]
mod tests {
    use super::super::{Panel, Plot};
    use super::*;

    fn side(low: f64, high: f64) -> PlotAxis {
        PlotAxis::with_fitting_ticks(Scale::between(low, high), "name")
    }

    /// The words of both ends stand there, and no number touches them or another one.
    #[test]
    fn numbers_have_room() {
        for (low, high, pixels) in [(-74.04, -73.93, 360.0), (0.0, 1e6, 200.0), (1234.5, 1234.9, 120.0)] {
            for ends in [None, Some(["<= 1234.5678".to_owned(), ">= 1234.5678".to_owned()])] {
                let mut ticks = fit_ticks(&Scale::between(low, high), pixels, ends.as_ref());
                assert!(
                    !ticks.is_empty() && ends.iter().flatten().all(|end| ticks.iter().any(|tick| tick.text == *end))
                );
                ticks.sort_by(|a, b| a.fraction.total_cmp(&b.fraction));
                assert!(ticks.windows(2).all(|pair| has_gap_between(&pair[0], &pair[1], pixels)), "{ticks:?}");
            }
        }
    }

    /// The panel is as wide as was asked for, in the middle of what is left, and the name of the axis is beside its numbers.
    #[test]
    fn a_fitted_panel_holds_its_numbers() {
        let panel = Panel::new("", Plot::new(side(0.0, 1.0), side(-0.000_123_45, 0.000_123_45), Vec::new()));
        let found =
            Layout::new(300.0).with_single_panel_widths(460.0, 200.0).arrange_panels(std::slice::from_ref(&panel));
        let [left, right] = left_and_right_margins(&panel.plots[0].x, &panel.plots[0].y);
        let rect = found.rects[0];
        assert_eq!((found.width, rect.width), (460.0, 200.0));
        assert!(((rect.left - left) - (460.0 - right - rect.right())).abs() < 1e-9, "{rect:?}");
        let longest =
            tick_texts(&panel.plots[0].y, MOST_UPWARD).map(|text| text_width(&text, TICK_TEXT)).fold(0.0, f64::max);
        assert!(longest > 40.0 && found.label_offset - LABEL_LINE / 2.0 >= longest + TICK_GAP, "{found:?}");
        assert!(found.label_offset + LABEL_LINE / 2.0 <= left);
    }
}
