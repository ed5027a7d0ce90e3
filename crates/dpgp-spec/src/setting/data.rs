//! Rows, columns and filters of the data.
//!
//! The checks of where rows come from: the manifest must know the files, inline columns must fit each other.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Checked, Fault, dimension, fail, range};
use super::{DrawSetting, ImagesSetting, Problem, SourceSetting, TripsSetting};
use dpgp_data::suggest::closest;
use dpgp_data::{Comparison, Dataset, Format, Manifest, Missing, Separator};
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
                check_separator(*separator)?;
                columns.as_deref().map_or(Ok(()), column_names)
            }
            SourceSetting::Parquet { .. } => Ok(()),
            SourceSetting::Dataset(name) => table(name, manifest),
            SourceSetting::Inline(columns) => inline(columns, self),
            SourceSetting::Synthetic(setting) => {
                dimension("data.inputs", setting.inputs(), self.inputs.len())?;
                setting.check()
            }
            SourceSetting::Images(setting) => images(setting, manifest),
            SourceSetting::Trips(setting) => trips(setting, manifest),
        }
    }
}

/// Fails unless the character can stand between cells.
pub(super) fn check_separator(found: char) -> Checked {
    if Separator::may_be(found) {
        return Ok(());
    }
    fail("data.source.csv.separator", Problem::BadSeparator { found })
}

/// Fails unless every column of files without a header has a name of its own.
pub(super) fn column_names(names: &[String]) -> Checked {
    let path = "data.source.csv.columns";
    if names.is_empty() {
        return fail(path, Problem::Empty);
    }
    for (place, name) in names.iter().enumerate() {
        if name.trim().is_empty() {
            return fail(path, Problem::Shape(format!("column {} has no name", place + 1)));
        }
        // A name that is a number guesses a cell: that a first row holds the very names is told.
        if name.trim().parse::<f64>().is_ok() {
            return fail(
                path,
                Problem::Shape(format!(
                    "column {} is called {name:?}, which is a number; a name has a letter",
                    place + 1
                )),
            );
        }
        if names[..place].contains(name) {
            return fail(path, Problem::DuplicateValue { label: format!("{name:?}") });
        }
    }
    Ok(())
}

/// The dataset of a name, which must be in the manifest.
fn known<'a>(path: &str, name: &str, manifest: &'a Manifest) -> Result<&'a Dataset, Fault> {
    manifest.get(name).map_err(|_| {
        let hint =
            closest(name, manifest.names()).map(|n| format!(" (did you mean {n:?}?)")).unwrap_or_default();
        let known = manifest.names().collect::<Vec<_>>().join(", ");
        Fault::new(path, Problem::UnknownDataset { name: name.to_owned(), hint, known })
    })
}

/// Fails unless the dataset holds a table.
pub(super) fn table(name: &str, manifest: &Manifest) -> Checked {
    let path = "data.source.dataset";
    let mut files = known(path, name, manifest)?.files.iter();
    let problem = Problem::NotATable { name: name.to_owned() };
    if files.any(|file| matches!(file.format, Format::Csv(_))) { Ok(()) } else { fail(path, problem) }
}

pub(super) fn images(setting: &ImagesSetting, manifest: &Manifest) -> Checked {
    let dataset = known("data.source.images.dataset", &setting.dataset, manifest)?;
    for (key, name) in [("images", &setting.images), ("labels", &setting.labels)] {
        let file = dataset.files.iter().find(|file| file.path == *name);
        if file.is_none_or(|file| file.format != Format::IdxGz) {
            let files: Vec<&str> = dataset.files.iter().map(|file| file.path.as_str()).collect();
            let why = format!(
                "is no file of arrays in dataset {:?}; its files are: {}",
                dataset.name,
                files.join(", ")
            );
            return fail(&format!("data.source.images.{key}"), Problem::Shape(why));
        }
    }
    Ok(())
}

pub(super) fn trips(setting: &TripsSetting, manifest: &Manifest) -> Checked {
    let dataset = known("data.source.trips.dataset", &setting.dataset, manifest)?;
    let files = [("journeys", setting.journeys.as_ref()), ("stations", setting.stations.as_ref())];
    for (key, name) in files.into_iter().filter_map(|(key, name)| Some((key, name?))) {
        let file = dataset.files.iter().find(|file| file.path == *name);
        if file.is_none_or(|file| file.format == Format::IdxGz) {
            let files: Vec<&str> = dataset.files.iter().map(|file| file.path.as_str()).collect();
            let why =
                format!("is no table of dataset {:?}; its files are: {}", dataset.name, files.join(", "));
            return fail(&format!("data.source.trips.{key}"), Problem::Shape(why));
        }
    }
    Ok(())
}

pub(super) fn inline(columns: &BTreeMap<String, Vec<f64>>, data: &DataSetting) -> Checked {
    let rows = columns.get(&data.target).map_or(0, Vec::len);
    let inputs = data.inputs.iter().map(|column| ("data.inputs", column));
    let filters = data.filter.iter().map(|filter| ("data.filter", &filter.column));
    let person = data.person.iter().map(|column| ("data.person", column));
    let others = inputs.chain(filters).chain(person);
    for (place, column) in std::iter::once(("data.target", &data.target)).chain(others) {
        let path = format!("data.source.inline.{column}");
        match columns.get(column).map(Vec::len) {
            None => {
                let known = columns.keys().cloned().collect::<Vec<_>>().join(", ");
                return fail(place, Problem::UnknownInline { column: column.clone(), known });
            }
            Some(0) => return fail(&path, Problem::Empty),
            Some(found) if found != rows => {
                let target = data.target.clone();
                return fail(&path, Problem::InlineRows { target, wanted: rows, found });
            }
            Some(_) => {}
        }
    }
    for (column, values) in columns {
        let path = format!("data.source.inline.{column}");
        values.iter().try_for_each(|value| range(&path, value.is_finite(), "finite", *value))?;
    }
    Ok(())
}
