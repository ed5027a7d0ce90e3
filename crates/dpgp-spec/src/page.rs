//! What is said of each table, figure and statement of a paper: `page.toml` beside its experiments.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Table;

use super::axis::label;
use super::coverage::CoverageError;
use super::{Axis, NamedSpec};

/// What readers of a paper are told of it, in its order and words. Counts and numbers of ours come from results.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperPage {
    /// The paper's key, as `experiment.paper` has it.
    pub paper: String,
    /// What was found, in one sentence.
    pub sentence: String,
    /// Its tables, figures and statements.
    #[serde(rename = "row")]
    pub rows: Vec<PlaceRow>,
    /// Errors in the paper that a reader meets, a paragraph each.
    #[serde(default)]
    pub errors: Vec<String>,
    /// What cannot be had, a sentence each.
    #[serde(default)]
    pub unavailable: Vec<String>,
}

/// A table, a figure or a statement of a paper.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlaceRow {
    /// Where it stands.
    pub place: String,
    /// What the paper says there, in its words and numbers.
    pub says: String,
    /// The experiment that it links to, and whose rows it is about.
    pub experiment: Option<String>,
    /// The printed numbers that decide.
    pub numbers: Vec<NumbersChosen>,
    /// The tests of statements that decide.
    pub claims: Vec<ClaimsChosen>,
    /// What ours is, with `{name}` for each of `values`; made of numbers and claims without it.
    pub ours: Option<String>,
    /// Numbers of ours.
    pub values: BTreeMap<String, ValueChosen>,
    /// The data, where more is to be said than whether they are the paper's.
    pub data: Option<String>,
    /// Which settings were chosen by us.
    pub chosen: Option<String>,
    /// What a reader must know of it where it is the same.
    pub note: Option<String>,
    /// Why it is different.
    pub because: Option<String>,
    /// What was tried where nobody knows why it is different.
    pub tried: Option<String>,
    /// Why nothing can be told.
    pub untold: Option<String>,
}

/// Some printed numbers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NumbersChosen {
    /// The experiment, if it is not that of the row.
    pub experiment: Option<String>,
    /// The metric, or `FAMILY/*`; any without it.
    pub metric: Option<String>,
    /// Labels of axes.
    pub cells: Table,
    /// Their spreads instead of the numbers.
    pub spreads: bool,
}

/// Some tests of statements of the paper.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClaimsChosen {
    /// A part of the paper's sentence.
    pub quote: String,
    /// A part of what is tested.
    pub text: String,
}

/// A number of ours.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ValueChosen {
    /// The experiment, if it is not that of the row.
    pub experiment: Option<String>,
    /// The metric.
    pub metric: String,
    /// Labels of axes.
    pub cells: Table,
    /// The column of the table; `value` without it.
    pub column: Option<String>,
    /// Decimals; four digits without them.
    pub decimals: Option<usize>,
}

impl PaperPage {
    /// Reads a file.
    ///
    /// # Errors
    /// [`CoverageError`] if it cannot be read, or says something else.
    pub fn read(file: &NamedSpec) -> Result<Self, CoverageError> {
        let text = file.text().map_err(|cause| CoverageError::new(&file.path, &cause))?;
        toml::from_str(&text).map_err(|cause| CoverageError::new(&file.path, &cause))
    }
}

impl NumbersChosen {
    /// Whether it means a metric.
    pub fn means(&self, metric: &str) -> bool {
        match self.metric.as_deref().map(|wanted| (wanted, wanted.strip_suffix('*'))) {
            None => true,
            Some((_, Some(family))) => metric.starts_with(family),
            Some((wanted, None)) => metric == wanted,
        }
    }
}

/// Whether a cell has the labels of a table; a name that is no axis has none.
pub fn has_labels<'a>(cells: &Table, axes: &'a [Axis], of: impl Fn(&'a Axis) -> &'a str) -> bool {
    cells.iter().all(|(name, value)| {
        axes.iter().find(|axis| axis.name == *name).is_some_and(|axis| of(axis) == label(value))
    })
}
