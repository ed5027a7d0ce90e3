//! Data settings: columns, filters, drawn rows, missing cells and rows per person, with checks of the source.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{CheckResult, SettingError, check_dimension, check_range, fail};
use super::{ImagesSetting, MechanismSection, SourceSetting, SpecProblem, SplitSetting, TripsSetting};
use dpgp_accounting::PrivacyUnit;
use dpgp_data::suggest::closest_name;
use dpgp_data::{
    CellParsingRules, Comparison, DataError, Dataset, DatasetFormat, DatasetManifest, MissingCellPolicy, Separator,
};
use dpgp_number::Count;

/// Rows, columns and filters of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataSetting {
    /// The source of the rows.
    pub source: SourceSetting,
    /// Names of the input columns (public).
    #[schemars(default)]
    pub inputs: Vec<String>,
    /// Name of the target column (private). In `task.density`, it holds the number of records that each row stands
    /// for. Without a target, each row is then one record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Text columns to read as numbers: each text becomes its position in the list, counted from 0.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub encode: BTreeMap<String, Vec<String>>,
    /// What happens to a row of your own CSV or Parquet files that lacks a cell in a used column. A missing cell is empty, a
    /// null, `NA`, `NaN` or `null`. Where inputs are public, only rows with a missing input may be left out.
    #[serde(default, skip_serializing_if = "refuses_missing_cells")]
    pub missing: MissingCellPolicy,
    /// Only rows that meet all of these conditions are used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<FilterSetting>,
    /// The column, of text or numbers, that identifies the person of each row. If it is given, the guarantee covers all rows
    /// of one person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The maximum number of rows used per person, a public number. Further rows are left out. The noise grows with this
    /// number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_person: Option<Count>,
    /// How each replicate draws rows from those that pass the filters. Without this key, all of them are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<RowDrawSetting>,
}

fn refuses_missing_cells(missing: &MissingCellPolicy) -> bool {
    *missing == MissingCellPolicy::Refuse
}

impl DataSetting {
    /// The number of inputs of a row. For images, this is the number of pixels, which share one name.
    pub fn dimensions(&self) -> usize {
        match &self.source {
            SourceSetting::Images(images) => images.pixels(),
            _ => self.inputs.len(),
        }
    }

    /// Checks the split of a task that cuts all rows into folds. Test points that are generated stand in the data twice, with noise and
    /// without, so that a model trained on one would predict the other.
    ///
    /// # Errors
    /// [`SpecProblem::OutOfRange`] for too few folds; [`SpecProblem::Shape`] for generated test points, unless only these are tested.
    pub fn check_split(&self, path: &str, split: SplitSetting) -> CheckResult {
        split.check(path)?;
        match &self.source {
            SourceSetting::Synthetic(synthetic)
                if synthetic.test_rows() > 0 && !matches!(split, SplitSetting::Tail(_)) =>
            {
                let why = "has test points, but this task splits all rows into folds: generate no test points (0), or use `split.tail`";
                fail("data.source.synthetic", SpecProblem::Shape(why.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Whether a filter or quotas choose rows by their private target.
    pub fn selects_by_target(&self) -> bool {
        let quotas = matches!(self.draw, Some(RowDrawSetting::Quotas(_)));
        quotas || self.filters_by_target()
    }

    /// Whether a filter reads the target.
    pub fn filters_by_target(&self) -> bool {
        self.filter.iter().any(|filter| Some(&filter.column) == self.target.as_ref())
    }

    /// The column whose cells are read as targets. Without a target, this is the first input, which is read anyway. Its cells are
    /// then ignored as targets ([`DataSetting::counts_each_row`]).
    pub fn target_column(&self) -> &str {
        self.target.as_ref().or(self.inputs.first()).map_or("", String::as_str)
    }

    /// Whether each row counts as one record. Then there is no target column.
    pub fn counts_each_row(&self) -> bool {
        self.target.is_none()
    }

    /// The number of rows that a replicate uses, given the number that the data hold.
    pub fn drawn_row_count(&self, held: usize) -> usize {
        match (&self.source, &self.draw) {
            (SourceSetting::Synthetic(setting), _) => setting.rows(),
            (_, None) => held,
            (_, Some(RowDrawSetting::Rows(rows))) => held.min(rows.get()),
            (_, Some(RowDrawSetting::Quotas(quotas))) => quotas.iter().map(|quota| quota.rows).sum(),
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
    pub(super) fn check(&self, manifest: &DatasetManifest) -> CheckResult {
        if let Some(column) = self.target.as_ref().filter(|target| self.inputs.contains(target)) {
            return fail("data.inputs", SpecProblem::TargetIsInput { column: column.clone() });
        }
        if let Some(column) = self.encode.keys().find(|c| !self.inputs.contains(c) && self.target_column() != **c) {
            let why = "has codes, but the column is neither an input nor the target".to_owned();
            return fail(&format!("data.encode.{column}"), SpecProblem::Shape(why));
        }
        self.check_source(manifest)?;
        self.check_person()?;
        self.draw.as_ref().map_or(Ok(()), |draw| draw.check(self.dimensions()))
    }

    fn check_source(&self, manifest: &DatasetManifest) -> CheckResult {
        match &self.source {
            SourceSetting::Csv { separator, columns, .. } => {
                check_separator(*separator)?;
                columns.as_deref().map_or(Ok(()), check_column_names)
            }
            SourceSetting::Parquet { .. } => Ok(()),
            SourceSetting::Dataset(name) => check_table_dataset(name, manifest),
            SourceSetting::Inline(columns) => check_inline_columns(columns, self),
            SourceSetting::Synthetic(setting) => {
                check_dimension("data.inputs", setting.inputs(), self.inputs.len())?;
                setting.check()
            }
            SourceSetting::Images(setting) => check_images(setting, manifest),
            SourceSetting::Trips(setting) => check_trips(setting, manifest),
        }
    }
}

/// Fails unless the character can stand between cells.
fn check_separator(found: char) -> CheckResult {
    if Separator::is_allowed_char(found) {
        return Ok(());
    }
    fail("data.source.csv.separator", SpecProblem::BadSeparator { found })
}

/// Fails unless every column of files without a header has a name of its own.
fn check_column_names(names: &[String]) -> CheckResult {
    let path = "data.source.csv.columns";
    if names.is_empty() {
        return fail(path, SpecProblem::Empty);
    }
    for (place, name) in names.iter().enumerate() {
        if name.trim().is_empty() {
            return fail(path, SpecProblem::Shape(format!("column {} has no name", place + 1)));
        }
        // A name that is a number could guess a cell, because an error says that a first row holds the listed names.
        if name.trim().parse::<f64>().is_ok() {
            return fail(
                path,
                SpecProblem::Shape(format!(
                    "column {} is named {name:?}, which is a number; use a name with a letter",
                    place + 1
                )),
            );
        }
        if names[..place].contains(name) {
            return fail(path, SpecProblem::DuplicateValue { label: format!("{name:?}") });
        }
    }
    Ok(())
}

/// The dataset of a name, which must be in the manifest.
fn find_dataset<'a>(path: &str, name: &str, manifest: &'a DatasetManifest) -> Result<&'a Dataset, SettingError> {
    manifest.get(name).map_err(|_| {
        let hint = closest_name(name, manifest.names()).map(|n| format!(" (did you mean {n:?}?)")).unwrap_or_default();
        let known = manifest.names().collect::<Vec<_>>().join(", ");
        SettingError::new(path, SpecProblem::UnknownDataset { name: name.to_owned(), hint, known })
    })
}

/// Fails unless the dataset holds a table.
fn check_table_dataset(name: &str, manifest: &DatasetManifest) -> CheckResult {
    let path = "data.source.dataset";
    let mut files = find_dataset(path, name, manifest)?.files.iter();
    let problem = SpecProblem::NotATable { name: name.to_owned() };
    if files.any(|file| matches!(file.format, DatasetFormat::Csv(_))) { Ok(()) } else { fail(path, problem) }
}

fn check_images(setting: &ImagesSetting, manifest: &DatasetManifest) -> CheckResult {
    let dataset = find_dataset("data.source.images.dataset", &setting.dataset, manifest)?;
    for (key, name) in [("images", &setting.images), ("labels", &setting.labels)] {
        let file = dataset.files.iter().find(|file| file.path == *name);
        if file.is_none_or(|file| file.format != DatasetFormat::IdxGz) {
            let files: Vec<&str> = dataset.files.iter().map(|file| file.path.as_str()).collect();
            let why =
                format!("is not an array file of dataset {:?}; its files are: {}", dataset.name, files.join(", "));
            return fail(&format!("data.source.images.{key}"), SpecProblem::Shape(why));
        }
    }
    Ok(())
}

fn check_trips(setting: &TripsSetting, manifest: &DatasetManifest) -> CheckResult {
    let dataset = find_dataset("data.source.trips.dataset", &setting.dataset, manifest)?;
    let files = [("journeys", setting.journeys.as_ref()), ("stations", setting.stations.as_ref())];
    for (key, name) in files.into_iter().filter_map(|(key, name)| Some((key, name?))) {
        let file = dataset.files.iter().find(|file| file.path == *name);
        if file.is_none_or(|file| file.format == DatasetFormat::IdxGz) {
            let files: Vec<&str> = dataset.files.iter().map(|file| file.path.as_str()).collect();
            let why = format!("is not a table of dataset {:?}; its files are: {}", dataset.name, files.join(", "));
            return fail(&format!("data.source.trips.{key}"), SpecProblem::Shape(why));
        }
    }
    Ok(())
}

fn check_inline_columns(columns: &BTreeMap<String, Vec<f64>>, data: &DataSetting) -> CheckResult {
    let first = data.target_column();
    let rows = columns.get(first).map_or(0, Vec::len);
    let inputs = data.inputs.iter().map(|column| ("data.inputs", column));
    let filters = data.filter.iter().map(|filter| ("data.filter", &filter.column));
    let person = data.person.iter().map(|column| ("data.person", column));
    let others = inputs.chain(filters).chain(person);
    let target = data.target.iter().map(|column| ("data.target", column));
    for (place, column) in target.chain(others) {
        let path = format!("data.source.inline.{column}");
        match columns.get(column).map(Vec::len) {
            None => {
                let known = columns.keys().cloned().collect::<Vec<_>>().join(", ");
                return fail(place, SpecProblem::UnknownInline { column: column.clone(), known });
            }
            Some(0) => return fail(&path, SpecProblem::Empty),
            Some(found) if found != rows => {
                let target = first.to_owned();
                return fail(&path, SpecProblem::InlineRows { target, wanted: rows, found });
            }
            Some(_) => {}
        }
    }
    for (column, values) in columns {
        let path = format!("data.source.inline.{column}");
        values.iter().try_for_each(|value| check_range(&path, value.is_finite(), "finite", *value))?;
    }
    Ok(())
}

/// How each replicate draws rows, by a seeded random stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RowDrawSetting {
    /// This many rows, without replacement, in random order.
    Rows(Count),
    /// For each kind of row, as many rows as its quota, without replacement.
    Quotas(Vec<QuotaSetting>),
}

/// The number of rows to draw with a given target and given inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuotaSetting {
    /// The target of the rows.
    pub target: f64,
    /// The inputs of the rows.
    pub inputs: Vec<f64>,
    /// The number of rows.
    pub rows: usize,
}

impl RowDrawSetting {
    /// Checks the numbers, for data with this number of inputs.
    pub(super) fn check(&self, inputs: usize) -> CheckResult {
        match self {
            Self::Rows(_) => Ok(()),
            Self::Quotas(quotas) if quotas.is_empty() => fail("data.draw.quotas", SpecProblem::Empty),
            Self::Quotas(quotas) => quotas.iter().enumerate().try_for_each(|(i, quota)| {
                check_dimension(&format!("data.draw.quotas.{i}.inputs"), inputs, quota.inputs.len())
            }),
        }
    }
}

const PATH: &str = "data.missing";

/// Obligation: a guarantee holds for the rows of the files. `missing = "drop"` leaves out those that lack a cell, and
/// no release reveals how many.
///
/// *Proof.* Whether a row is left out depends on its own cells alone: rows are mapped one by one, each to itself or to none.
///
/// Where the target alone is private ([`PersonRowChoiceBasis::Inputs`]), whether a row is left out depends on its inputs, its person and
/// the columns of filters, all public and equal in neighbours. So neighbours keep the same rows, which differ in one target (or those
/// of one person), and the guarantee is the one for these rows; their number is public. A row that lacks nothing but the target is an
/// error: without it, the public inputs would be those of one row less, and tell that its target is missing.
///
/// Where records are private ([`PersonRowChoiceBasis::Record`]), a record that is added or removed is one that is kept, or none; one that is
/// replaced is replaced, added, removed or none, as with a filter. For every mechanism that is allowed, adding or removing a
/// record moves the release no further than replacing one does:
///
/// - sums `(A, sqrt(c) B)`, per class or not: a record that is uncorrelated with every inducing input adds nothing, so leaving a
///   record out changes them as much as replacing it with such a record does;
/// - moments: `FourierSensitivityRule` of the mechanism, with the number of rows, which is released with noise; the design takes the
///   number that `rows` says, a key that is needed then;
/// - histograms: 1, with either relation; a row whose number of records is missing counts as zero records.
///
/// A person's rows are those that are kept; whether one is depends on that row alone, so that neighbours use the same rows of all
/// others. Number of rows: that of the files is public, if records are replaced, and that of the rows that are kept is in no release.
/// Noisy gradients take the number of rows that are kept as public, and rows that `data.draw` chooses depend on it: both are
/// refused.
impl DataSetting {
    /// Whether rows that lack a cell are left out.
    pub fn drops_missing(&self) -> bool {
        self.missing == MissingCellPolicy::Drop
    }

    /// How the cells of a stream of rows are read.
    pub fn cell_rules(&self) -> CellParsingRules {
        CellParsingRules { missing: self.missing, codes: self.encode.clone() }
    }

    /// Whether every row is used. The number of rows that pass a filter or have no missing cell depends on private records, and
    /// the number of rows used per person depends on private data.
    pub fn keeps_all_rows(&self) -> bool {
        self.filter.is_empty() && self.person.is_none() && !self.drops_missing()
    }

    /// Adds a hint to an error in the user's own files: the key that leaves out rows with a missing cell, if it would help.
    pub fn with_drop_rows_hint(&self, error: DataError, chosen_by: PersonRowChoiceBasis) -> DataError {
        match (self.source.own_file(), self.missing, chosen_by) {
            (None, _, _) | (_, MissingCellPolicy::Drop, _) => error,
            (_, MissingCellPolicy::Refuse, PersonRowChoiceBasis::Inputs) => {
                error.suggest_dropping_rows(self.target.as_deref())
            }
            (_, MissingCellPolicy::Refuse, PersonRowChoiceBasis::Record) => error.suggest_dropping_rows(None),
        }
    }

    /// Checks that rows may be left out.
    pub(super) fn check_may_drop_rows(&self, mechanism: &impl MechanismSection) -> CheckResult {
        let why = if !self.drops_missing() {
            return Ok(());
        } else if self.source.own_file().is_none() {
            "\"drop\" works only with your own CSV and Parquet files (source.csv, source.parquet); other sources \
             have no missing cells"
                .to_owned()
        } else if self.draw.is_some() {
            "\"drop\" cannot be combined with data.draw: the drawn rows would depend on the number of dropped rows, which is private"
                .to_owned()
        } else if mechanism.needs_public_row_count() {
            let word = mechanism.spec_keyword();
            format!("\"drop\" cannot be combined with mechanism.{word}, which treats the number of rows as public")
        } else {
            return Ok(());
        };
        fail(PATH, SpecProblem::Shape(why))
    }
}

/// How many rows of each person are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonRowLimit<'d> {
    /// The column that identifies the person of each row.
    pub column: &'d str,
    /// The largest number of rows used of each person.
    pub rows: usize,
}

/// The cells that decide which rows of a person are used.
///
/// Obligation: where the inputs are public, which of them are used is public, too, and must not depend on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PersonRowChoiceBasis {
    /// The inputs, where the target alone is private.
    Inputs,
    /// The whole record, where it is private.
    Record,
}

impl DataSetting {
    /// How many rows of each person are used; none if rows do not belong to people.
    pub fn rows_per_person_limit(&self) -> Option<PersonRowLimit<'_>> {
        let (column, rows) = (self.person.as_deref()?, self.rows_per_person?.get());
        Some(PersonRowLimit { column, rows })
    }

    /// Protected unit of a guarantee about these data.
    pub fn privacy_unit(&self) -> PrivacyUnit {
        match self.rows_per_person_limit() {
            None => PrivacyUnit::Record,
            Some(PersonRowLimit { column, rows }) => {
                PrivacyUnit::Person { column: column.to_owned(), rows: rows as u64, records_per_row: 1 }
            }
        }
    }

    /// The comparisons for the columns after the target in a stream of rows: those of the filters and, if rows per
    /// person are limited or rows with missing cells are dropped, the one for the mark of the used rows.
    pub fn row_filter_comparisons(&self) -> Vec<(Comparison, f64)> {
        let filters = self.filter.iter().map(|filter| (filter.is, filter.value));
        let marked = self.rows_per_person_limit().is_some() || self.drops_missing();
        filters.chain(marked.then_some((Comparison::Equal, 1.0))).collect()
    }

    /// Checks the two keys, and that rows from this source can belong to people.
    pub(super) fn check_person(&self) -> CheckResult {
        let column = match (&self.person, self.rows_per_person) {
            (None, None) => return Ok(()),
            (Some(_), None) => return fail_missing_key("rows_per_person", "data.person"),
            (None, Some(_)) => return fail_missing_key("person", "data.rows_per_person"),
            (Some(column), Some(_)) => column,
        };
        let why = if self.inputs.contains(column) {
            "is an input; the column that identifies people cannot be an input"
        } else if Some(column) == self.target.as_ref() {
            "is the target; use the column that identifies people"
        } else if !self.source.can_hold_persons() {
            "cannot identify people in generated points, images or trips; use a table of rows"
        } else if self.draw.is_some() {
            "cannot be combined with data.draw, which draws rows at random across all people"
        } else {
            return Ok(());
        };
        fail("data.person", SpecProblem::Shape(format!("{column:?} {why}")))
    }
}

fn fail_missing_key(key: &'static str, by: &'static str) -> CheckResult {
    fail("data", SpecProblem::MissingKey { key, by })
}

impl SourceSetting {
    /// Whether the rows come from a table, which may say whose they are.
    fn can_hold_persons(&self) -> bool {
        match self {
            Self::Csv { .. } | Self::Parquet { .. } | Self::Inline(_) | Self::Dataset(_) => true,
            Self::Synthetic(_) | Self::Images(_) | Self::Trips(_) => false,
        }
    }
}
