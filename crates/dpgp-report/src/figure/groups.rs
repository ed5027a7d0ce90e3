//! Groups of cells that share a panel.

use crate::report::Report;

/// The cells of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub title: String,
    pub cells: Vec<usize>,
}

impl Group {
    /// Its first cell: the only one, unless cells are overlaid.
    pub fn cell(&self) -> usize {
        self.cells[0]
    }
}

/// A panel for each combination of labels, except those of the axes `overlay`, among the cells that the report holds;
/// the axis `panels` orders them. Titles name what differs.
pub fn groups(report: &Report<'_>, panels: Option<&str>, overlay: &[&str]) -> Vec<Group> {
    let axes = &report.experiment.axes;
    let mut split: Vec<usize> =
        (0..axes.len()).filter(|axis| !overlay.contains(&axes[*axis].name.as_str())).collect();
    split.sort_by_key(|axis| Some(axes[*axis].name.as_str()) != panels);
    let mut cells: Vec<usize> =
        (0..report.experiment.cells.len()).filter(|cell| report.holds(*cell)).collect();
    cells.sort_by_cached_key(|cell| ranks(report, &split, *cell));
    // A label that is the same everywhere adds nothing.
    split.retain(|axis| cells.iter().any(|cell| report.label(*cell, *axis) != report.label(cells[0], *axis)));
    let together = cells.chunk_by(|a, b| ranks(report, &split, *a) == ranks(report, &split, *b));
    together.map(|cells| Group { title: title(report, &split, cells[0]), cells: cells.to_vec() }).collect()
}

/// The groups that have a frame of this name in their first cell, each in a panel of its own.
pub fn groups_with(report: &Report<'_>, panels: Option<&str>, frame: &str) -> Vec<Group> {
    let mut groups = groups(report, panels, &[]);
    groups.retain(|group| report.frames_of(group.cell(), frame).next().is_some());
    groups
}

/// The places of a cell's labels on some axes.
fn ranks(report: &Report<'_>, axes: &[usize], cell: usize) -> Vec<usize> {
    axes.iter().map(|axis| report.rank(cell, *axis)).collect()
}

fn title(report: &Report<'_>, axes: &[usize], cell: usize) -> String {
    let labels = axes.iter().map(|axis| report.said(*axis, report.label(cell, *axis)));
    labels.collect::<Vec<_>>().join(", ")
}
