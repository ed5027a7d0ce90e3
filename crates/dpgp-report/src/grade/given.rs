//! The rows of a table that somebody else computed.

use std::collections::BTreeMap;

use csv::StringRecord;
use thiserror::Error;

use dpgp_data::csv_cell;
use dpgp_spec::{Axis, FIXED_COLUMNS, SpreadKind};
use dpgp_task::Experiment;

/// Why a table cannot be judged.
#[derive(Debug, Error)]
pub enum GradeError {
    /// It is no CSV.
    #[error("is no table: {0}")]
    Csv(#[from] csv::Error),
    /// Columns that say which cell a row is of, or its number.
    #[error("has no column {}; it needs metric, value and the axes of {experiment}", missing.join(", "))]
    MissingColumns {
        /// Their names.
        missing: Vec<String>,
        /// The experiment.
        experiment: String,
    },
    /// A field that should be a number.
    #[error("line {line}: {column} is no number: {found:?}")]
    NoNumber {
        /// Its line.
        line: u64,
        /// Its column.
        column: &'static str,
        /// What stands there.
        found: String,
    },
    /// A kind of spread that is none.
    #[error("line {line}: spread_kind is {found:?}, which is none of {}", SpreadKind::names())]
    NoKind {
        /// Its line.
        line: u64,
        /// What stands there.
        found: String,
    },
    /// A spread that is none.
    #[error("line {line}: spread is {found:?}, and no spread is negative")]
    NegativeSpread {
        /// Its line.
        line: u64,
        /// What stands there.
        found: f64,
    },
    /// An interval with one end, or whose ends are the wrong way round.
    #[error("line {line}: interval_low and interval_high are the ends of no interval")]
    NoInterval {
        /// Its line.
        line: u64,
    },
    /// An interval of another number.
    #[error("line {line}: value {value:?} lies outside its own interval, {low:?} to {high:?}")]
    Outside {
        /// Its line.
        line: u64,
        /// The number.
        value: f64,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// Two rows for one number.
    #[error("line {line} has the cell and the metric of a row above it")]
    Twice {
        /// The line of the second.
        line: u64,
    },
    /// No row is of the experiment.
    #[error("none of its {rows} rows is of a cell of {experiment}")]
    NoCell {
        /// How many rows it has.
        rows: usize,
        /// The experiment.
        experiment: String,
    },
}

/// A number with what its table says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Given {
    pub value: f64,
    pub spread: Option<f64>,
    pub spread_kind: SpreadKind,
    pub repeats: Option<u32>,
    /// Where another run lies, if the table says so.
    pub interval: Option<[f64; 2]>,
    pub line: u64,
}

/// All numbers of a table, by the index of their cell and their metric.
#[derive(Debug, Default)]
pub(super) struct GivenTable {
    pub numbers: BTreeMap<(usize, String), Given>,
    /// Rows of no cell of the experiment.
    pub unknown: usize,
    /// The first of them: its line, and its first label that no cell has.
    pub first_unknown: Option<String>,
}

impl GivenTable {
    /// Reads a table; other columns than those that are needed are left alone.
    pub fn read(text: &str, experiment: &Experiment) -> Result<Self, GradeError> {
        let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let columns = Columns { headings: reader.headers()?.clone() };
        let axes = columns.all_of(experiment)?;
        let (mut table, mut rows) = (Self::default(), 0);
        for record in reader.records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            rows += 1;
            let Some(cell) = cell_of(experiment, &axes, &record) else {
                table.unknown += 1;
                let found = || unknown_label(experiment, &axes, &record);
                table.first_unknown.get_or_insert_with(|| format!("line {line}{}", found()));
                continue;
            };
            let row = NumberedRow { columns: &columns, record: &record, line };
            let Some(value) = row.number("value")? else { continue };
            let metric = columns.field(&record, "metric").to_owned();
            if table.numbers.insert((cell, metric), row.given(value)?).is_some() {
                return Err(GradeError::Twice { line });
            }
        }
        if table.numbers.is_empty() {
            return Err(GradeError::NoCell { rows, experiment: experiment.name.clone() });
        }
        Ok(table)
    }
}

struct Columns {
    headings: StringRecord,
}

impl Columns {
    fn at(&self, name: &str) -> Option<usize> {
        self.headings.iter().position(|heading| heading.trim() == name || heading == csv_cell(name))
    }

    fn field<'a>(&self, record: &'a StringRecord, name: &str) -> &'a str {
        self.at(name).and_then(|at| record.get(at)).unwrap_or_default().trim()
    }

    /// The column of an axis: its name, or its whole path where a fixed column has the name.
    fn of_axis(&self, axis: &Axis) -> Option<usize> {
        let is_fixed = FIXED_COLUMNS.contains(&axis.name.as_str());
        self.at(&axis.path).filter(|_| is_fixed).or_else(|| self.at(&axis.name))
    }

    /// The columns of the axes. An axis with one label needs none.
    fn all_of(&self, experiment: &Experiment) -> Result<Vec<Option<usize>>, GradeError> {
        let needed = ["metric", "value"].into_iter().filter(|name| self.at(name).is_none());
        let mut missing: Vec<String> = needed.map(str::to_owned).collect();
        let axes: Vec<Option<usize>> = experiment.axes.iter().map(|axis| self.of_axis(axis)).collect();
        let without =
            experiment.axes.iter().zip(&axes).filter(|(axis, at)| axis.labels.len() > 1 && at.is_none());
        missing.extend(without.map(|(axis, _)| axis.name.clone()));
        if missing.is_empty() {
            return Ok(axes);
        }
        Err(GradeError::MissingColumns { missing, experiment: experiment.name.clone() })
    }
}

/// The cell whose labels a row has.
fn cell_of(experiment: &Experiment, axes: &[Option<usize>], record: &StringRecord) -> Option<usize> {
    experiment.cells.iter().position(|cell| {
        let mut labels = cell.labels().iter().zip(axes);
        labels.all(|(label, at)| at.is_none_or(|at| is_label(record.get(at).unwrap_or_default(), label)))
    })
}

/// The first label of a row that no cell of the experiment has, in words; nothing if each is one of some cell.
fn unknown_label(experiment: &Experiment, axes: &[Option<usize>], record: &StringRecord) -> String {
    let mut all = experiment.axes.iter().zip(axes).filter_map(|(axis, at)| Some((axis, record.get((*at)?)?)));
    let unknown = all.find(|(axis, found)| !axis.labels.iter().any(|label| is_label(found, label)));
    unknown.map_or(String::new(), |(axis, found)| format!(", {} = {found:?}", axis.name))
}

/// Numbers count by their value.
fn is_label(found: &str, label: &str) -> bool {
    let found = found.trim();
    match (found.parse::<f64>(), label.parse::<f64>()) {
        (Ok(found), Ok(label)) => found == label,
        _ => found == label || found == csv_cell(label),
    }
}

struct NumberedRow<'a> {
    columns: &'a Columns,
    record: &'a StringRecord,
    line: u64,
}

impl NumberedRow<'_> {
    /// A number; none where the field is empty.
    fn number(&self, column: &'static str) -> Result<Option<f64>, GradeError> {
        let found = self.columns.field(self.record, column);
        if found.is_empty() {
            return Ok(None);
        }
        let number = found.parse::<f64>().ok().filter(|number| !number.is_nan());
        let wrong = GradeError::NoNumber { line: self.line, column, found: found.to_owned() };
        number.map(Some).ok_or(wrong)
    }

    /// What a spread is of; that of the plainest tables where the field is empty.
    fn spread_kind(&self) -> Result<SpreadKind, GradeError> {
        let found = self.columns.field(self.record, "spread_kind");
        SpreadKind::named(found)
            .ok_or_else(|| GradeError::NoKind { line: self.line, found: found.to_owned() })
    }

    fn given(&self, value: f64) -> Result<Given, GradeError> {
        let repeats = self.number("repeats")?;
        let spread = self.number("spread")?;
        if let Some(found) = spread.filter(|spread| *spread < 0.0) {
            return Err(GradeError::NegativeSpread { line: self.line, found });
        }
        Ok(Given {
            value,
            spread,
            spread_kind: self.spread_kind()?,
            repeats: repeats.map(|repeats| repeats as u32),
            interval: self.interval()?,
            line: self.line,
        })
    }

    fn interval(&self) -> Result<Option<[f64; 2]>, GradeError> {
        match [self.number("interval_low")?, self.number("interval_high")?] {
            [None, None] => Ok(None),
            [Some(low), Some(high)] if low <= high => Ok(Some([low, high])),
            _ => Err(GradeError::NoInterval { line: self.line }),
        }
    }
}
