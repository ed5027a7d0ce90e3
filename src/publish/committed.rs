//! Results that were published before, read back from their folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::claims::{ClaimOutcome, ClaimRow, check};
use super::folder::PublishError;
use super::verdict::Verdict;
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
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

impl Committed {
    /// Reads a result folder; none if it has no table.
    ///
    /// # Errors
    /// [`PublishError`] if the table cannot be read or is no CSV.
    pub fn read(folder: &Path) -> Result<Option<Self>, PublishError> {
        let Some(table) = optional(&folder.join("table.csv"))? else { return Ok(None) };
        let mut reader = csv::ReaderBuilder::new().from_reader(table.as_bytes());
        let broken = |cause| PublishError::NotATable { path: folder.join("table.csv"), cause };
        let headings = reader.headers().map_err(broken)?.iter().map(str::to_owned).collect();
        let rows: Result<Vec<Vec<String>>, csv::Error> =
            reader.records().map(|record| Ok(record?.iter().map(str::to_owned).collect())).collect();
        let manifest = optional(&folder.join("manifest.json"))?;
        Ok(Some(Self {
            headings,
            rows: rows.map_err(broken)?,
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
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
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
            let number = |column| self.field(row, column).parse::<f64>();
            if number("epsilon").is_ok_and(f64::is_finite) {
                guarantees.claimed += 1;
                let within = |(exact, claimed): (f64, f64)| exact <= claimed * (1.0 + 1e-9);
                guarantees.hold +=
                    usize::from(number("delta_exact").ok().zip(number("delta").ok()).is_some_and(within));
            }
        }
        guarantees
    }

    /// The claims of the spec, checked against the table.
    pub fn claims(&self, experiment: &Experiment) -> Vec<ClaimOutcome> {
        let labels: BTreeMap<String, &[String]> =
            experiment.cells.iter().map(|cell| (cell.id().short(), cell.labels())).collect();
        let row = |row: &'_ Vec<String>| {
            let labels = labels.get(self.field(row, "cell"))?;
            let value = self.field(row, "value").parse().ok()?;
            Some((*labels, self.field(row, "metric").to_owned(), value))
        };
        let rows: Vec<(&[String], String, f64)> = self.rows.iter().filter_map(row).collect();
        let rows: Vec<ClaimRow<'_>> =
            rows.iter().map(|(labels, metric, value)| ClaimRow { labels, metric, value: *value }).collect();
        experiment.claims.iter().map(|claim| check(claim, &rows)).collect()
    }
}

/// The text of a file; none if it is not there.
fn optional(path: &Path) -> Result<Option<String>, PublishError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(PublishError::Io { path: PathBuf::from(path), cause }),
    }
}
