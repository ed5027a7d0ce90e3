//! Rows, columns and filters of the data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Checked, dimension, fail};
use super::{DrawSetting, Problem, SourceSetting, origin};
use dpgp_data::{Comparison, Manifest, Missing};
use dpgp_number::Count;

/// Rows, columns and filters of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataSetting {
    /// The source of the rows.
    pub source: SourceSetting,
    /// Names of the input columns (public).
    pub inputs: Vec<String>,
    /// Name of the target column (private).
    pub target: String,
    /// Text columns that are read as numbers: each value's place in the list, from 0.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub encode: BTreeMap<String, Vec<String>>,
    /// What becomes of a row that lacks a cell of a column that is read, in CSV and Parquet files of the user's own: a cell that is
    /// empty, a null, or `NA`, `NaN` or `null`. Where inputs are public only rows without an input may be left out.
    #[serde(default, skip_serializing_if = "refuses")]
    pub missing: Missing,
    /// Only rows that pass all of these are used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<FilterSetting>,
    /// The column that says whose row it is, text or numbers: the guarantee is then about all rows of one person together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The most rows that are used of a person, a public number; noise grows with it. Others are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_person: Option<Count>,
    /// Rows that each replicate draws from those; all of them without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawSetting>,
}

fn refuses(missing: &Missing) -> bool {
    *missing == Missing::Refuse
}

impl DataSetting {
    /// The number of inputs of a row: of images their pixels, which one name stands for.
    pub fn dimensions(&self) -> usize {
        match &self.source {
            SourceSetting::Images(images) => images.pixels(),
            _ => self.inputs.len(),
        }
    }

    /// Whether rows are chosen by their private target, by a filter or by quotas.
    pub fn chosen_by_target(&self) -> bool {
        let quotas = matches!(self.draw, Some(DrawSetting::Quotas(_)));
        quotas || self.filter.iter().any(|filter| filter.column == self.target)
    }

    /// The rows that a replicate works on, of as many as the data hold.
    pub fn rows_drawn(&self, held: usize) -> usize {
        match (&self.source, &self.draw) {
            (SourceSetting::Synthetic(setting), _) => setting.rows(),
            (_, None) => held,
            (_, Some(DrawSetting::Rows(rows))) => held.min(rows.get()),
            (_, Some(DrawSetting::Quotas(quotas))) => quotas.iter().map(|quota| quota.rows).sum(),
        }
    }
}

/// A condition on one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterSetting {
    /// The column.
    pub column: String,
    /// The comparison.
    pub is: Comparison,
    /// The number that the column is compared with.
    pub value: f64,
}

impl DataSetting {
    /// Checks names and numbers against the manifest of datasets.
    pub(super) fn check(&self, manifest: &Manifest) -> Checked {
        if self.inputs.is_empty() {
            return fail("data.inputs", Problem::Empty);
        }
        if self.inputs.contains(&self.target) {
            return fail("data.inputs", Problem::TargetIsInput { column: self.target.clone() });
        }
        if let Some(column) = self.encode.keys().find(|c| !self.inputs.contains(c) && self.target != **c) {
            let why = "codes of a column that is neither an input nor the target".to_owned();
            return fail(&format!("data.encode.{column}"), Problem::Shape(why));
        }
        self.check_source(manifest)?;
        self.check_person()?;
        self.draw.as_ref().map_or(Ok(()), |draw| draw.check(self.dimensions()))
    }

    fn check_source(&self, manifest: &Manifest) -> Checked {
        match &self.source {
            SourceSetting::Csv { separator, columns, .. } => {
                origin::separator(*separator)?;
                columns.as_deref().map_or(Ok(()), origin::column_names)
            }
            SourceSetting::Parquet { .. } => Ok(()),
            SourceSetting::Dataset(name) => origin::table(name, manifest),
            SourceSetting::Inline(columns) => origin::inline(columns, self),
            SourceSetting::Synthetic(setting) => {
                dimension("data.inputs", setting.inputs(), self.inputs.len())?;
                setting.check()
            }
            SourceSetting::Images(setting) => origin::images(setting, manifest),
            SourceSetting::Trips(setting) => origin::trips(setting, manifest),
        }
    }
}
