//! The lines of a table for people: labels, numbers and a reference to the guarantee.

use super::notes::GuaranteeNotes;
use super::terminal::{HEADINGS, cells};
use crate::report::{Report, ReportRow};

/// Headings and cells, and the guarantees that the cells refer to.
pub(super) struct Lines {
    pub headings: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub notes: GuaranteeNotes,
}

impl Lines {
    /// Of the first rows of a report; columns that are empty in all of them are left out.
    pub fn new(report: &Report<'_>, most: usize) -> Self {
        let axes = report.axis_columns(&HEADINGS);
        let names = axes.iter().map(|(_, name)| *name);
        let headings = names.chain(HEADINGS).chain(["guarantee"]).map(str::to_owned).collect();
        let mut lines = Self { headings, rows: Vec::new(), notes: GuaranteeNotes::default() };
        for row in report.rows.iter().take(most) {
            lines.add(row, &axes);
        }
        lines.drop_empty_columns();
        lines
    }

    fn add(&mut self, row: &ReportRow, axes: &[(usize, &str)]) {
        let labels = axes.iter().map(|(axis, _)| row.labels[*axis].clone());
        let guarantee = self.notes.reference(&row.row.certificate.to_string());
        self.rows.push(labels.chain(cells(row)).chain([guarantee]).collect());
    }

    fn drop_empty_columns(&mut self) {
        for column in (0..self.headings.len()).rev() {
            if !self.rows.is_empty() && self.rows.iter().all(|row| row[column].is_empty()) {
                self.headings.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
    }
}
