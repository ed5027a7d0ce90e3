//! Reads committed results back from their folders.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::checks::PublishError;
use super::counts::VerdictCounts;
use crate::table::claims::ClaimOutcome;
use crate::table::{NumberVerdict, read_claims};
use dpgp_data::shipped_text;
use dpgp_fs::read_text_unless_outside_link;
use dpgp_spec::{ExperimentAxis, FIXED_COLUMNS, ReferenceValueOwner, TextDigest};
use dpgp_task::Experiment;

/// The contents of a result folder.
#[derive(Debug, Clone, PartialEq)]
pub struct CommittedResults {
    /// The columns of the table.
    pub headings: Vec<String>,
    /// The rows of the table.
    pub rows: Vec<Vec<String>>,
    /// The claims with their outcomes.
    pub claims: Vec<ClaimOutcome>,
    /// The figure, if there is one.
    pub figure: Option<String>,
    /// The manifest, if it can be read.
    pub manifest: Option<Value>,
}

/// Rows that claim privacy, counted by their exact delta.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeltaCheckCounts {
    /// Rows whose exact delta is within the claim.
    pub within: usize,
    /// Rows whose exact delta exceeds the claim.
    pub exceeded: usize,
    /// Rows with an unknown exact delta.
    pub unknown: usize,
}

impl CommittedResults {
    /// Reads a result folder; none if it has no table.
    ///
    /// # Errors
    /// [`PublishError`] if the table cannot be read or is no CSV.
    pub fn read(folder: &Path) -> Result<Option<Self>, PublishError> {
        Self::read_with(folder, read_if_present)
    }

    /// The shipped results of an experiment, without figures; none if there are none.
    ///
    /// # Errors
    /// As [`CommittedResults::read`].
    pub fn read_shipped(experiment: &Experiment) -> Result<Option<Self>, PublishError> {
        let folder = Path::new("results").join(experiment.relative_results_folder());
        Self::read_with(&folder, |path| Ok(path.to_str().and_then(shipped_text).map(str::to_owned)))
    }

    fn read_with(
        folder: &Path,
        text: impl Fn(&Path) -> Result<Option<String>, PublishError>,
    ) -> Result<Option<Self>, PublishError> {
        let path = folder.join("table.csv");
        let Some(table) = text(&path)? else { return Ok(None) };
        let (headings, rows) = parse_table(&table).map_err(|cause| PublishError::NotATable { path, cause })?;
        let manifest = text(&folder.join("manifest.json"))?;
        let path = folder.join("claims.csv");
        let claims = text(&path)?.map(|text| read_claims(&text)).transpose();
        Ok(Some(Self {
            claims: claims.map_err(|cause| PublishError::NotATable { path, cause })?.unwrap_or_default(),
            headings,
            rows,
            figure: text(&folder.join("figure.svg"))?,
            manifest: manifest.and_then(|text| serde_json::from_str(&text).ok()),
        }))
    }

    /// A field of a row; empty if the column is missing.
    pub fn field<'a>(&self, row: &'a [String], column: &str) -> &'a str {
        let at = self.headings.iter().position(|heading| heading == column);
        at.and_then(|at| row.get(at)).map_or("", String::as_str)
    }

    /// The label of a row on an axis. Where a fixed column has the name of the axis, its whole path is the name of the column,
    /// which is left out where both would say the same in every row.
    pub fn label<'a>(&self, row: &'a [String], axis: &ExperimentAxis) -> &'a str {
        let is_fixed = FIXED_COLUMNS.contains(&axis.name.as_str());
        let column = if is_fixed && self.headings.contains(&axis.path) { &axis.path } else { &axis.name };
        self.field(row, column)
    }

    /// Whether the results belong to another version of the spec. A spec that holds rows has no digest in its results,
    /// which would let anyone check a guess of them, so their freshness is unknown.
    pub fn is_stale(&self, experiment: &Experiment) -> bool {
        match self.manifest.as_ref().and_then(|manifest| manifest.get("spec_sha256")) {
            Some(Value::Null) => false,
            digest => {
                digest.and_then(Value::as_str) != Some(&TextDigest::of_text(experiment.source.text()).to_string())
            }
        }
    }

    /// The verdicts on the numbers of an owner, counted.
    pub fn verdict_counts(&self, owner: ReferenceValueOwner) -> VerdictCounts {
        let column = match owner {
            ReferenceValueOwner::Paper => "verdict",
            ReferenceValueOwner::Authors => "authors_verdict",
            ReferenceValueOwner::Reference => "reference_verdict",
        };
        VerdictCounts::count(self.rows.iter().map(|row| self.field(row, column)))
    }

    /// The verdicts on the spreads that the paper prints; one that replicates cannot judge counts as such.
    pub fn spread_verdict_counts(&self) -> VerdictCounts {
        let printed = self.rows.iter().filter(|row| !self.field(row, "published_spread").is_empty());
        VerdictCounts::count(printed.map(|row| match self.field(row, "spread_verdict") {
            "" => NumberVerdict::NotJudged.name(),
            verdict => verdict,
        }))
    }

    /// The guarantees, counted.
    pub fn guarantee_counts(&self) -> DeltaCheckCounts {
        let mut guarantees = DeltaCheckCounts::default();
        for row in &self.rows {
            let [epsilon, exact, claimed] =
                ["epsilon", "delta_exact", "delta"].map(|column| self.field(row, column).parse::<f64>());
            if !epsilon.is_ok_and(f64::is_finite) {
                continue;
            }
            match (exact, claimed) {
                (Ok(exact), Ok(claimed)) if exact <= claimed * (1.0 + 1e-9) => guarantees.within += 1,
                (Ok(_), Ok(_)) => guarantees.exceeded += 1,
                _ => guarantees.unknown += 1,
            }
        }
        guarantees
    }
}

/// The headings and the rows of a table.
fn parse_table(table: &str) -> Result<(Vec<String>, Vec<Vec<String>>), csv::Error> {
    let mut reader = csv::ReaderBuilder::new().from_reader(table.as_bytes());
    let headings = reader.headers()?.iter().map(str::to_owned).collect();
    let rows = reader.records().map(|record| Ok(record?.iter().map(str::to_owned).collect()));
    Ok((headings, rows.collect::<Result<_, csv::Error>>()?))
}

/// The text of a file; none if it is not there.
fn read_if_present(path: &Path) -> Result<Option<String>, PublishError> {
    match read_text_unless_outside_link(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(PublishError::io(path, cause)),
    }
}

/// A folder of results, and whether shipped results replace missing ones.
#[derive(Debug, Clone, Copy)]
pub struct ResultsSource<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// Whether its experiments are the shipped ones.
    pub is_shipped: bool,
}

impl ResultsSource<'_> {
    /// The results of an experiment, if there are any.
    ///
    /// # Errors
    /// [`PublishError`] if a table there cannot be read.
    pub fn read(&self, experiment: &Experiment) -> Result<Option<CommittedResults>, PublishError> {
        let found = CommittedResults::read(&self.folder.join(experiment.relative_results_folder()))?;
        match found {
            None if self.is_shipped => CommittedResults::read_shipped(experiment),
            found => Ok(found),
        }
    }
}

/// The folder of experiments that reproduce no paper.
pub const BEYOND: &str = "beyond";

/// An experiment and its result folder.
#[derive(Debug)]
pub struct ExperimentResults<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its results, if there are any.
    pub committed: Option<CommittedResults>,
}

impl<'a> ExperimentResults<'a> {
    /// Reads the results of experiments by paper; those that reproduce none belong to `beyond`.
    ///
    /// # Errors
    /// [`PublishError`] if a table there cannot be read.
    pub fn read_by_paper(
        results: &ResultsSource<'_>,
        experiments: &'a [Experiment],
    ) -> Result<BTreeMap<&'a str, Vec<Self>>, PublishError> {
        let mut papers: BTreeMap<&str, Vec<Self>> = BTreeMap::new();
        for experiment in experiments {
            let committed = results.read(experiment)?;
            let paper = experiment.meta.paper.as_deref().unwrap_or(BEYOND);
            papers.entry(paper).or_default().push(Self { experiment, committed });
        }
        Ok(papers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::experiment;

    /// The whole path is a column's name only where its last part is the name of a column that every table has.
    #[test]
    fn labels_stand_under_the_name_or_the_path() {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let committed = CommittedResults {
            headings: owned(&["epsilon", "privacy.epsilon", "scale", "model.scale"]),
            rows: Vec::new(),
            claims: Vec::new(),
            figure: None,
            manifest: None,
        };
        let row = owned(&["1", "2", "3", "4"]);
        let mut axis = experiment(&["a", "b"], "").axes.remove(0);
        for (name, path, label) in
            [("epsilon", "privacy.epsilon", "2"), ("scale", "model.scale", "3"), ("epsilon", "gone", "1")]
        {
            (axis.name, axis.path) = (name.to_owned(), path.to_owned());
            assert_eq!(committed.label(&row, &axis), label, "{path}");
        }
    }

    /// Only what is not there is no result.
    #[test]
    fn what_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(CommittedResults::read(folder.path()).unwrap(), None);
        std::fs::create_dir(folder.path().join("table.csv")).unwrap();
        assert!(CommittedResults::read(folder.path()).is_err());
    }
}
