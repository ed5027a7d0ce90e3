//! Which cells share a panel, and where the panels stand.

use super::canvas::{Canvas, sheet};
use super::clip::Rect;
use super::figure::FigureError;
use super::legend::{Head, Sample};
use super::report::{Report, named};

/// The widths of a figure with one panel in a row, and with several.
const WIDTHS: (f64, f64) = (680.0, 1000.0);
/// The room for the title of a panel, for what stands at its right, for its x axis and for its y axis.
const MARGINS: (f64, f64, f64, f64) = (40.0, 18.0, 56.0, 84.0);

/// The cells of a panel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub title: String,
    pub cells: Vec<usize>,
}

/// A panel for each combination of labels but those of the axis `overlay` among the cells that the report holds; the axis
/// `panels` orders them. Titles name what differs.
pub(super) fn groups(report: &Report<'_>, panels: Option<&str>, overlay: Option<&str>) -> Vec<Group> {
    let axes = &report.experiment.axes;
    let position = |name: Option<&str>| axes.iter().position(|axis| Some(axis.name.as_str()) == name);
    let (first, over) = (position(panels), position(overlay));
    let mut split: Vec<usize> = (0..axes.len()).filter(|axis| Some(*axis) != over).collect();
    split.sort_by_key(|axis| Some(*axis) != first);
    let key = |cell: usize| -> Vec<usize> {
        let labels = report.experiment.cells[cell].labels();
        let rank =
            |axis: &usize| axes[*axis].labels.iter().position(|label| *label == labels[*axis]).unwrap_or(0);
        split.iter().map(rank).collect()
    };
    let mut cells: Vec<usize> =
        (0..report.experiment.cells.len()).filter(|cell| report.holds(*cell)).collect();
    cells.sort_by_key(|cell| key(*cell));
    let label = |cell: usize, axis: usize| &report.experiment.cells[cell].labels()[axis];
    let varies = |axis: usize| cells.iter().any(|cell| label(*cell, axis) != label(cells[0], axis));
    let title = |cell: usize| {
        let several = split.iter().filter(|axis| varies(**axis));
        let text = |axis: &usize| named(&axes[*axis], label(cell, *axis));
        several.map(text).collect::<Vec<_>>().join(", ")
    };
    let together = cells.chunk_by(|a, b| key(*a) == key(*b));
    together.map(|cells| Group { title: title(cells[0]), cells: cells.to_vec() }).collect()
}

/// Panels of one size in rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    count: usize,
    columns: usize,
    height: f64,
}

impl Layout {
    /// So many panels, so many to a row (or a fitting number), each so high.
    pub fn new(count: usize, columns: Option<usize>, height: f64) -> Self {
        let fitting = if count <= 3 { count } else { (count as f64).sqrt().ceil() as usize };
        Self { count, columns: columns.unwrap_or(fitting).min(count).max(1), height }
    }

    /// So many panels whose axes have this height by width.
    pub fn shaped(count: usize, ratio: f64) -> Self {
        let layout = Self::new(count, None, 0.0);
        let (top, right, bottom, left) = MARGINS;
        let width = layout.width() / layout.columns as f64 - left - right;
        Self { height: ratio * width + top + bottom, ..layout }
    }

    pub fn width(&self) -> f64 {
        if self.columns == 1 { WIDTHS.0 } else { WIDTHS.1 }
    }

    fn total(&self) -> f64 {
        self.height * self.count.div_ceil(self.columns) as f64
    }

    /// The rectangle between the axes of a panel, below a head that is so high.
    pub fn plot(&self, panel: usize, head: f64) -> Rect {
        let width = self.width() / self.columns as f64;
        let (top, right, bottom, left) = MARGINS;
        Rect {
            left: width * (panel % self.columns) as f64 + left,
            top: head + self.height * (panel / self.columns) as f64 + top,
            width: width - left - right,
            height: self.height - top - bottom,
        }
    }

    /// Draws the head and then each panel, between whose axes a rectangle is left.
    pub fn draw(
        &self,
        title: &str,
        entries: Vec<(Sample, String)>,
        mut panel: impl FnMut(&Canvas<'_>, usize, Rect) -> Result<(), FigureError>,
    ) -> Result<String, FigureError> {
        let head = Head::new(title, entries, self.width());
        sheet((self.width(), head.height() + self.total() + 6.0), |canvas| {
            head.paint(canvas)?;
            (0..self.count).try_for_each(|i| panel(canvas, i, self.plot(i, head.height())))
        })
    }
}

/// The title of a panel, with its letter if there are several.
pub(super) fn lettered(title: &str, panel: usize, count: usize) -> String {
    match char::from_u32('A' as u32 + panel as u32) {
        Some(letter) if count > 1 && panel < 26 => format!("({letter}) {title}"),
        _ => title.to_owned(),
    }
}
