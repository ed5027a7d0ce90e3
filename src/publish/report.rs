//! The rows of an experiment beside what was published.

use std::collections::BTreeMap;

use super::claims::{ClaimOutcome, ClaimRow, check};
use super::number::exact;
use super::verdict::Verdict;
use crate::spec::{Axis, DeviationKind, FIXED_COLUMNS, Published};
use crate::task::Experiment;
use crate::task::{Frame, Row};

/// A row with its labels, its published value and the verdict.
#[derive(Debug, Clone)]
pub struct ReportRow {
    /// The cell's identity.
    pub cell_id: String,
    /// The cell's label on each axis.
    pub labels: Vec<String>,
    /// The result.
    pub row: Row,
    /// What the paper prints.
    pub published: Option<Published>,
    /// Whether they agree.
    pub verdict: Verdict,
}

impl ReportRow {
    fn for_claims(&self) -> ClaimRow<'_> {
        ClaimRow { labels: &self.labels, metric: &self.row.metric, value: self.row.value }
    }
}

/// Everything that a table, a figure or a page shows of one experiment.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its rows, in grid order.
    pub rows: Vec<ReportRow>,
    /// What its figure shows beyond them: the index of a cell, and a frame of it, in grid order.
    pub frames: Vec<(usize, Frame)>,
    /// Its claims, checked.
    pub claims: Vec<ClaimOutcome>,
}

impl<'a> Report<'a> {
    /// Puts the rows beside the published values.
    pub fn new(experiment: &'a Experiment, rows: Vec<Row>, frames: Vec<(usize, Frame)>) -> Self {
        let stand_in = experiment.deviations.iter().any(|d| d.kind == DeviationKind::StandIn);
        let known = experiment.published.iter().map(|p| ((p.cell, p.metric.as_str()), p));
        let known: BTreeMap<(usize, &str), &Published> = known.collect();
        let report_row = |row: Row| {
            let published = known.get(&(row.cell, row.metric.as_str())).map(|p| (*p).clone());
            let cell = &experiment.cells[row.cell];
            ReportRow {
                cell_id: cell.id().short(),
                labels: cell.labels().to_vec(),
                verdict: published
                    .as_ref()
                    .map_or(Verdict::None, |p| Verdict::new(&row, p, stand_in, experiment.quick)),
                published,
                row,
            }
        };
        let rows: Vec<ReportRow> = rows.into_iter().map(report_row).collect();
        let seen: Vec<ClaimRow<'_>> = rows.iter().map(ReportRow::for_claims).collect();
        let claims = experiment.claims.iter().map(|claim| check(claim, &seen)).collect();
        Self { experiment, rows, frames, claims }
    }

    /// The labels of a row; a number is named by its axis.
    pub fn labels(&self, row: &ReportRow) -> impl Iterator<Item = String> {
        let axes = self.experiment.axes.iter().zip(&row.labels);
        axes.map(|(axis, label)| named(axis, label)).collect::<Vec<_>>().into_iter()
    }

    /// The part of it that its figure shows.
    pub(super) fn shown(&self) -> Self {
        let Self { experiment, rows, frames, claims } = self;
        let selects = |cell: usize| experiment.figure_cells.selects(experiment.cells[cell].labels());
        Self {
            experiment,
            rows: rows.iter().filter(|row| selects(row.row.cell)).cloned().collect(),
            frames: frames.iter().filter(|(cell, _)| selects(*cell)).cloned().collect(),
            claims: claims.clone(),
        }
    }

    /// Whether it holds a row or a frame of a cell.
    pub(super) fn holds(&self, cell: usize) -> bool {
        self.rows.iter().any(|row| row.row.cell == cell) || self.frames.iter().any(|(of, _)| *of == cell)
    }

    /// The frames of a cell that have this name.
    pub fn frames_of<'b>(&'b self, cell: usize, name: &'b str) -> impl Iterator<Item = &'b Frame> {
        let wanted = move |(of, frame): &&(usize, Frame)| *of == cell && frame.name == name;
        self.frames.iter().filter(wanted).map(|(_, frame)| frame)
    }

    /// The largest jitter that a factorisation of any row needed; zero if none did.
    pub fn jitter(&self) -> f64 {
        self.rows.iter().map(|row| row.row.jitter).fold(0.0, f64::max)
    }

    /// The axes that get a column of their own: all but those that one of the `shown` columns repeats, row by row.
    pub fn axis_columns(&self, shown: &[&str]) -> Vec<(usize, &str)> {
        let repeated = |i: usize, name: &str| {
            shown.contains(&name)
                && self.rows.iter().all(|row| shown_value(row, name) == Some(row.labels[i].clone()))
        };
        let axes = self.experiment.axes.iter().enumerate();
        axes.filter(|(i, axis)| !repeated(*i, &axis.name))
            .map(|(i, axis)| {
                (i, if FIXED_COLUMNS.contains(&axis.name.as_str()) { &*axis.path } else { &*axis.name })
            })
            .collect()
    }
}

/// A label as text; a number is named by its axis.
pub(super) fn named(axis: &Axis, label: &str) -> String {
    match label.parse::<f64>() {
        Ok(_) => format!("{} = {label}", axis.name),
        Err(_) => label.to_owned(),
    }
}

/// What the columns that an axis may share show of a row, as a label.
fn shown_value(row: &ReportRow, column: &str) -> Option<String> {
    let certificate = &row.row.certificate;
    match column {
        "epsilon" => Some(exact(certificate.epsilon())),
        "delta" => certificate.delta().map(exact),
        _ => None,
    }
}
