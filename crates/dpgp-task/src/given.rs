//! Numbers that others computed: a table of replicates in place of a computation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::Value;

use super::{AuditableCertificate, CellMeasurements, MeasurableTask, ReplicateJob, TaskError, TaskRequirements};
use dpgp_mechanisms::CellSections;
use dpgp_spec::setting::rules::fail;
use dpgp_spec::setting::{CheckResult, SpecProblem};

/// Numbers that others computed, with a method that need not run here. Their axes and metrics are those of the printed
/// numbers, unless this section gives them. `dpgp grade TABLE.csv` compares a table with the printed numbers once. If
/// `table` is set, `dpgp run` compares that table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenNumbersTask {
    /// The table, a CSV file beside the spec. Its columns are `metric`, `value`, one for each axis, and `replicate` if
    /// there are several replicates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The metrics of the table.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// The axes; the grid sets their labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub with: BTreeMap<String, Value>,
}

/// Why a table does not give the numbers of a cell.
#[derive(Debug, Error)]
pub enum GivenNumbersError {
    /// The spec names no table.
    #[error(
        "has no task and no table of numbers: to compare a table, use `dpgp grade TABLE.csv --experiment SPEC`; to run the spec, \
         set task.given.table"
    )]
    NoTable,
    /// It cannot be read.
    #[error("task.given.table {table:?} cannot be read: {cause}")]
    Io {
        /// The path as the spec writes it.
        table: String,
        /// The system's reason.
        cause: std::io::Error,
    },
    /// It is no table.
    #[error("task.given.table is not CSV: {0}")]
    Csv(#[from] csv::Error),
    /// A column is missing.
    #[error("task.given.table has no column {0:?}")]
    MissingColumn(String),
    /// A value is no number.
    #[error("line {line} of task.given.table: {column} is not a finite number: {found:?}")]
    NoNumber {
        /// Its line.
        line: u64,
        /// Its column.
        column: &'static str,
        /// The text found there.
        found: String,
    },
    /// A cell has another number of rows than of replicates.
    #[error(
        "task.given.table has {found} rows of {metric:?} for this cell, but experiment.replicates is {replicates}: both must \
         equal the number of runs"
    )]
    Replicates {
        /// The metric.
        metric: String,
        /// How many rows there are.
        found: usize,
        /// How many there should be.
        replicates: u32,
    },
}

impl GivenNumbersTask {
    /// The numbers of this cell in a table, of one replicate. Rows are replicates in the order of the column `replicate`, or of the table.
    ///
    /// ```
    /// use dpgp_task::GivenNumbersTask;
    /// let task: GivenNumbersTask = toml::from_str("metrics = [\"rmse\"]\nwith = { method = \"ridge\" }")?;
    /// let table = "method,metric,replicate,value\nridge,rmse,2,0.7\nlasso,rmse,1,0.9\nridge,rmse,1,0.5\n";
    /// assert_eq!(task.read_measurements(table, 0, 2)?.metrics[0].values, [0.5]);
    /// assert!(task.read_measurements(table, 0, 3).is_err()); // there are two
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GivenNumbersError`].
    pub fn read_measurements(
        &self,
        table: &str,
        replicate: u32,
        replicates: u32,
    ) -> Result<CellMeasurements, GivenNumbersError> {
        let mut reader = csv::Reader::from_reader(table.trim_start_matches('\u{feff}').as_bytes());
        let headings = reader.headers()?.clone();
        let column = |name: &str| headings.iter().position(|heading| heading.trim() == name);
        let needed = |name: &str| column(name).ok_or_else(|| GivenNumbersError::MissingColumn(name.to_owned()));
        let (metric, value, order) = (needed("metric")?, needed("value")?, column("replicate"));
        let mut axes = Vec::with_capacity(self.with.len());
        for (name, label) in &self.with {
            axes.push((needed(name)?, label_text(label)));
        }
        let mut numbers: BTreeMap<&str, Vec<(f64, f64)>> =
            self.metrics.iter().map(|metric| (metric.as_str(), Vec::new())).collect();
        for record in reader.records() {
            let record = record?;
            let field = |at: usize| record.get(at).unwrap_or_default().trim();
            let Some(values) = numbers.get_mut(field(metric)) else { continue };
            if axes.iter().any(|(at, label)| !is_same_label(field(*at), label)) {
                continue;
            }
            let line = record.position().map_or(0, csv::Position::line);
            let number = |column: &'static str, at: usize| {
                let parsed = field(at).parse::<f64>().ok().filter(|number| number.is_finite());
                parsed.ok_or_else(|| GivenNumbersError::NoNumber { line, column, found: field(at).to_owned() })
            };
            let place = order.map_or(Ok(0.0), |at| number("replicate", at))?;
            values.push((place, number("value", value)?));
        }
        let mut measured = Vec::with_capacity(self.metrics.len());
        for name in &self.metrics {
            let mut values = numbers.remove(name.as_str()).unwrap_or_default();
            values.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            match values.get(replicate as usize) {
                Some((_, value)) if values.len() == replicates as usize => measured.push((name.clone(), *value)),
                _ => {
                    let (metric, found) = (name.clone(), values.len());
                    return Err(GivenNumbersError::Replicates { metric, found, replicates });
                }
            }
        }
        Ok(AuditableCertificate::without_claim().into_measurements(0.0, measured))
    }
}

/// A label as a table writes it.
fn label_text(label: &Value) -> String {
    label.as_str().map_or_else(|| label.to_string(), str::to_owned)
}

/// Whether a field of a table is the label of an axis. Numbers count by their value.
///
/// ```
/// use dpgp_task::is_same_label;
/// assert!(is_same_label(" 1.0", "1") && is_same_label("ridge", "ridge") && !is_same_label("1.5", "1"));
/// ```
pub fn is_same_label(found: &str, label: &str) -> bool {
    let found = found.trim();
    match (found.parse::<f64>(), label.parse::<f64>()) {
        (Ok(found), Ok(label)) => found == label,
        _ => found == label,
    }
}

impl TaskRequirements for GivenNumbersTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        if self.metrics.is_empty() {
            return fail("task.given.metrics", SpecProblem::Empty);
        }
        if setting.model.is_some() || setting.privacy.epsilon.get().is_finite() {
            let why = "are not read by task.given: dpgp does not compute these numbers";
            return fail("task.given", SpecProblem::Shape(format!("[model] and [privacy] {why}")));
        }
        Ok(())
    }

    fn needs_inputs(&self) -> bool {
        false
    }

    fn can_count_rows(&self) -> bool {
        true
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        self.metrics.clone()
    }
}

impl MeasurableTask for GivenNumbersTask {
    fn measure_cells(&self, _: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        Err(TaskError::NeedsFolder)
    }
}
