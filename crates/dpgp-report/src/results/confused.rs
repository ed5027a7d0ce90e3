//! The power of the verdicts: how often a number of another method would agree, too.

use super::committed::Committed;
use dpgp_task::Experiment;

/// How often a number would agree if it were that of another method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confused {
    /// Rows where it would.
    pub swapped: usize,
    /// Rows that have another method beside them.
    pub rows: usize,
}

impl Confused {
    /// Over the rows of an experiment that differ in the first named axis alone, which is that of methods.
    pub fn of(experiment: &Experiment, committed: &Committed) -> Self {
        let Some(lines) = Lines::of(experiment, committed) else { return Self::default() };
        let mut confused = Self::default();
        for row in &lines.printed {
            let others = lines.others(row);
            let [Ok(low), Ok(high)] =
                ["interval_low", "interval_high"].map(|end| committed.field(row, end).parse::<f64>())
            else {
                continue;
            };
            if !others.is_empty() {
                confused.rows += 1;
                confused.swapped += usize::from(others.iter().any(|value| (low..=high).contains(value)));
            }
        }
        confused
    }
}

/// The printed rows of an experiment, and what the rows of one line have in common.
struct Lines<'a> {
    committed: &'a Committed,
    printed: Vec<&'a [String]>,
    /// The columns other than that of methods.
    common: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    /// None without an axis of methods.
    fn of(experiment: &'a Experiment, committed: &'a Committed) -> Option<Self> {
        let methods = experiment.axes.iter().find(|axis| axis.is_bundle())?;
        let names = experiment.axes.iter().map(|axis| axis.name.as_str());
        let common = names.filter(|name| *name != methods.name).chain(["metric"]).collect();
        let rows = committed.rows.iter().map(Vec::as_slice);
        let printed = rows.filter(|row| !committed.field(row, "published").is_empty()).collect();
        Some(Self { committed, printed, common })
    }

    /// What is printed of the other methods in the line of a row.
    fn others(&self, row: &[String]) -> Vec<f64> {
        let line = self.printed.iter().filter(|other| **other != row && self.is_one_line(other, row));
        line.filter_map(|other| self.committed.field(other, "published").parse().ok()).collect()
    }

    fn is_one_line(&self, one: &[String], other: &[String]) -> bool {
        let mut columns = self.common.iter();
        columns.all(|column| self.committed.field(one, column) == self.committed.field(other, column))
    }
}
