//! Results that were published before, read back from their folder.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::error::PublishError;
use crate::publish::table::Verdict;
use crate::publish::table::claims::{ClaimOutcome, ClaimRow, check};
use crate::spec::Identity;
use crate::task::Experiment;

/// The contents of a result folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// The columns of the table.
    pub headings: Vec<String>,
    /// The rows of the table.
    pub rows: Vec<Vec<String>>,
    /// The figure, if there is one.
    pub figure: Option<String>,
    /// The manifest, if it can be read.
    pub manifest: Option<Value>,
}

/// How many rows have each verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct VerdictCounts {
    /// Within the uncertainties.
    pub agrees: usize,
    /// Outside.
    pub differs: usize,
    /// Too few repeats.
    pub inconclusive: usize,
    /// Of other data.
    pub stand_in: usize,
    /// Nothing published.
    pub unpublished: usize,
}

/// How many rows claim privacy, and for how many of them the exact delta is known and within the claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Guarantees {
    /// Rows with a finite epsilon.
    pub claimed: usize,
    /// Rows whose exact delta is within the claim.
    pub hold: usize,
}

impl VerdictCounts {
    /// Adds those of other rows.
    pub(in crate::publish) fn add(&mut self, other: Self) {
        self.agrees += other.agrees;
        self.differs += other.differs;
        self.inconclusive += other.inconclusive;
        self.stand_in += other.stand_in;
        self.unpublished += other.unpublished;
    }
}

impl Committed {
    /// Reads a result folder; none if it has no table.
    ///
    /// # Errors
    /// [`PublishError`] if the table cannot be read or is no CSV.
    pub fn read(folder: &Path) -> Result<Option<Self>, PublishError> {
        let Some(table) = optional(&folder.join("table.csv"))? else { return Ok(None) };
        let (headings, rows) = parsed(&table)
            .map_err(|cause| PublishError::NotATable { path: folder.join("table.csv"), cause })?;
        let manifest = optional(&folder.join("manifest.json"))?;
        Ok(Some(Self {
            headings,
            rows,
            figure: optional(&folder.join("figure.svg"))?,
            manifest: manifest.and_then(|text| serde_json::from_str(&text).ok()),
        }))
    }

    /// A field of a row; empty if there is no such column.
    pub fn field<'a>(&self, row: &'a [String], column: &str) -> &'a str {
        let at = self.headings.iter().position(|heading| heading == column);
        at.and_then(|at| row.get(at)).map_or("", String::as_str)
    }

    /// Whether the results are of another version of the spec.
    pub fn is_stale(&self, experiment: &Experiment) -> bool {
        let digest = self.manifest.as_ref().and_then(|m| m.get("spec_sha256")).and_then(Value::as_str);
        digest != Some(&Identity::of(experiment.source.text()).to_string())
    }

    /// The verdicts, counted.
    pub fn counts(&self) -> VerdictCounts {
        let mut counts = VerdictCounts::default();
        for row in &self.rows {
            let verdict = self.field(row, "verdict");
            let count = match Verdict::named(verdict) {
                Some(Verdict::Agrees) => &mut counts.agrees,
                Some(Verdict::Differs) => &mut counts.differs,
                Some(Verdict::Inconclusive) => &mut counts.inconclusive,
                Some(Verdict::StandIn) => &mut counts.stand_in,
                Some(Verdict::None) | None => &mut counts.unpublished,
            };
            *count += 1;
        }
        counts
    }

    /// The guarantees, counted.
    pub fn guarantees(&self) -> Guarantees {
        let mut guarantees = Guarantees::default();
        for row in &self.rows {
            let [epsilon, exact, claimed] =
                ["epsilon", "delta_exact", "delta"].map(|column| self.field(row, column).parse::<f64>());
            if epsilon.is_ok_and(f64::is_finite) {
                guarantees.claimed += 1;
                let within =
                    exact.is_ok_and(|exact| claimed.is_ok_and(|claimed| exact <= claimed * (1.0 + 1e-9)));
                guarantees.hold += usize::from(within);
            }
        }
        guarantees
    }

    /// The claims of the spec, checked against the table.
    pub fn claims(&self, experiment: &Experiment) -> Vec<ClaimOutcome> {
        let labels: BTreeMap<String, &[String]> =
            experiment.cells.iter().map(|cell| (cell.id().short(), cell.labels())).collect();
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let labels = labels.get(self.field(row, "cell"));
            let (Some(labels), Ok(value)) = (labels, self.field(row, "value").parse()) else { continue };
            rows.push(ClaimRow { labels, metric: self.field(row, "metric"), value });
        }
        experiment.claims.iter().map(|claim| check(claim, &rows)).collect()
    }
}

/// The headings and the rows of a table.
fn parsed(table: &str) -> Result<(Vec<String>, Vec<Vec<String>>), csv::Error> {
    let mut reader = csv::ReaderBuilder::new().from_reader(table.as_bytes());
    let headings = reader.headers()?.iter().map(str::to_owned).collect();
    let rows = reader.records().map(|record| Ok(record?.iter().map(str::to_owned).collect()));
    Ok((headings, rows.collect::<Result<_, csv::Error>>()?))
}

/// The text of a file; none if it is not there.
fn optional(path: &Path) -> Result<Option<String>, PublishError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(PublishError::io(path, cause)),
    }
}
