//! Groups of cells that share a panel.

use crate::report::Report;

/// The cells of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelCells {
    pub title: String,
    pub cells: Vec<usize>,
}

impl PanelCells {
    /// Its first cell: the only one, unless cells are overlaid.
    pub fn first_cell(&self) -> usize {
        self.cells[0]
    }
}

/// A panel for each combination of labels, except those of the axes `overlay`, among the cells that the report holds;
/// the axis `panels` orders them. Titles name what differs.
pub fn group_cells(report: &Report<'_>, panels: Option<&str>, overlay: &[&str]) -> Vec<PanelCells> {
    let axes = &report.experiment.axes;
    let mut split: Vec<usize> = (0..axes.len()).filter(|axis| !overlay.contains(&axes[*axis].name.as_str())).collect();
    split.sort_by_key(|axis| Some(axes[*axis].name.as_str()) != panels);
    let mut cells: Vec<usize> = (0..report.experiment.cells.len()).filter(|cell| report.has_cell(*cell)).collect();
    cells.sort_by_cached_key(|cell| label_positions(report, &split, *cell));
    // A label that is the same everywhere adds nothing.
    split.retain(|axis| cells.iter().any(|cell| report.label(*cell, *axis) != report.label(cells[0], *axis)));
    let together = cells.chunk_by(|a, b| label_positions(report, &split, *a) == label_positions(report, &split, *b));
    together.map(|cells| PanelCells { title: panel_title(report, &split, cells[0]), cells: cells.to_vec() }).collect()
}

/// The groups that have a frame of this name in their first cell, each in a panel of its own.
pub fn group_cells_with_frame(report: &Report<'_>, panels: Option<&str>, frame: &str) -> Vec<PanelCells> {
    let mut groups = group_cells(report, panels, &[]);
    groups.retain(|group| report.frames_of(group.first_cell(), frame).next().is_some());
    groups
}

/// The places of a cell's labels on some axes.
fn label_positions(report: &Report<'_>, axes: &[usize], cell: usize) -> Vec<usize> {
    axes.iter().map(|axis| report.label_position(cell, *axis)).collect()
}

fn panel_title(report: &Report<'_>, axes: &[usize], cell: usize) -> String {
    let labels = axes.iter().map(|axis| report.display_label_with_axis(*axis, report.label(cell, *axis)));
    labels.collect::<Vec<_>>().join(", ")
}
