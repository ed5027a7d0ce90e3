//! The raw form of a whole spec.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SpecError;
use super::broken::RawBroken;
use super::claim::RawClaim;
use super::counterpart::Owner;
use super::figure::FigureSetting;
use super::layout::TableLayout;
use super::source::SourceText;
use super::value_table::ValueTable;
use super::words::ErratumWords;
use dpgp_number::OutOfRange;

/// The most repetitions of a cell.
const MOST_REPLICATES: u32 = 100_000;

/// What the experiment is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// One line that says what is measured.
    pub title: String,
    /// The paper's key, for example `smith2021`.
    #[serde(default)]
    pub paper: Option<String>,
    /// The table or figure of the paper.
    #[serde(default)]
    pub artefact: Option<String>,
    /// The seed of all random streams.
    #[serde(default = "one")]
    pub seed: u32,
    /// Independent repetitions (each with its own split and noise).
    #[serde(default = "one")]
    pub replicates: u32,
    /// How many rows there are, and of what, as captions say it: `287 women`.
    #[serde(default)]
    pub rows: Option<String>,
    /// Words to select experiments by.
    #[serde(default)]
    pub tags: Vec<String>,
}

fn one() -> u32 {
    1
}

/// Deviations as a spec writes them: for each sort what deviates, and what was done, and why.
pub(super) type Deviations = BTreeMap<DeviationKind, BTreeMap<String, String>>;

/// A point where the protocol is ambiguous, corrected or uses other data, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deviation {
    /// The sort of deviation.
    pub kind: DeviationKind,
    /// What deviates.
    pub about: String,
    /// What was done, and why.
    pub note: String,
}

/// Sorts of deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviationKind {
    /// The paper does not say; the best fit decided.
    Inferred,
    /// The paper is wrong; the correction is used or offered.
    Corrected,
    /// Other data than the paper's are used.
    StandIn,
    /// Numbers or statements that do not reproduce: what was tried, and what is known of the reason.
    Difference,
}

/// A spec as it is written. The sections of a cell stay tables, because a grid may complete them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub experiment: Meta,
    #[serde(default)]
    pub data: Option<toml::Table>,
    #[serde(default)]
    pub normalise: Option<toml::Value>,
    #[serde(default)]
    pub model: Option<toml::Table>,
    #[serde(default)]
    pub task: Option<toml::Table>,
    #[serde(default)]
    pub privacy: Option<toml::Table>,
    #[serde(default)]
    pub grid: toml::Table,
    #[serde(default)]
    pub axis: toml::Table,
    #[serde(default)]
    pub published: BTreeMap<String, ValueTable>,
    #[serde(default)]
    pub authors: BTreeMap<String, ValueTable>,
    #[serde(default)]
    pub reference: BTreeMap<String, ValueTable>,
    #[serde(default)]
    pub claim: Vec<RawClaim>,
    #[serde(default)]
    pub deviation: Deviations,
    #[serde(default)]
    pub erratum: Vec<ErratumWords>,
    #[serde(default)]
    pub broken: Vec<RawBroken>,
    #[serde(default)]
    pub table: Option<TableLayout>,
    #[serde(default)]
    pub figure: Option<FigureSetting>,
    #[serde(default)]
    pub figure_cells: toml::Table,
    #[serde(default)]
    #[allow(dead_code, reason = "read from the text again, see `quick`")]
    pub quick: toml::Table,
}

impl Document {
    /// Reads the raw form; unknown keys and wrong types fail here with their place.
    pub fn parse(source: &SourceText) -> Result<Self, SpecError> {
        let document: Self = toml::from_str(source.text()).map_err(|e| source.toml_error(&e))?;
        document.check(source)
    }

    /// Checks what is said of the experiment as a whole.
    pub fn check(self, source: &SourceText) -> Result<Self, SpecError> {
        let replicates = self.experiment.replicates;
        if !(1..=MOST_REPLICATES).contains(&replicates) {
            let problem = OutOfRange::new("from 1 to 100000", f64::from(replicates)).into();
            return Err(source.error(&["experiment", "replicates"], problem));
        }
        Ok(self)
    }

    /// The deviations, by their sorts.
    pub fn deviations(&self) -> Vec<Deviation> {
        let mut all = Vec::new();
        for (kind, notes) in &self.deviation {
            for (about, note) in notes {
                all.push(Deviation { kind: *kind, about: about.clone(), note: note.clone() });
            }
        }
        all
    }

    /// The tables of numbers of one owner.
    pub fn values(&self, owner: Owner) -> &BTreeMap<String, ValueTable> {
        match owner {
            Owner::Paper => &self.published,
            Owner::Authors => &self.authors,
            Owner::Reference => &self.reference,
        }
    }

    /// The sections of a cell as one table.
    pub fn base(&self) -> toml::Table {
        let tables =
            [("data", &self.data), ("model", &self.model), ("task", &self.task), ("privacy", &self.privacy)];
        let mut base = toml::Table::new();
        for (name, table) in tables {
            if let Some(table) = table {
                base.insert(name.to_owned(), toml::Value::Table(table.clone()));
            }
        }
        if let Some(normalise) = &self.normalise {
            base.insert("normalise".to_owned(), normalise.clone());
        }
        base
    }
}
