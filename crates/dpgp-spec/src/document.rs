//! The raw form of a whole spec, with its errata and declared breaks of privacy, and its JSON Schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as JsonValue};
use toml::{Table, Value};

use super::claim::{RawClaim, ReferenceValueOwner};
use super::figure::FigureSetting;
use super::section::SourceText;
use super::setting::{DataSetting, ModelSetting, NormaliseSetting, PrivacySetting, SpecProblem};
use super::value_table::{TableLayout, ValueTable};
use super::{CellSelector, SpecError, TaskSection};
use dpgp_data::suggest::closest_name;
use dpgp_data::toml_schema;
use dpgp_number::OutOfRangeError;

/// The most repetitions of a cell.
const MOST_REPLICATES: u32 = 100_000;

/// The task of a spec without one.
const GIVEN: &str = "given";

/// Adds a value to a list that lacks it.
fn push_if_absent(list: &mut Value, value: Value) {
    if let Value::Array(list) = list
        && !list.contains(&value)
    {
        list.push(value);
    }
}

/// The title of the experiment, its paper, its seed and its replicates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// One line that says what is measured.
    pub title: String,
    /// The paper's key, for example `smith2021`.
    #[serde(default)]
    pub paper: Option<String>,
    /// The table or figure of the paper that the experiment is about.
    #[serde(default)]
    pub artefact: Option<String>,
    /// The seed of all random streams.
    #[serde(default = "one")]
    pub seed: u32,
    /// The number of independent repetitions, each with its own split and noise.
    #[serde(default = "one")]
    pub replicates: u32,
    /// The number of rows and what they are, as shown in captions, for example `287 women`.
    #[serde(default)]
    pub rows: Option<String>,
    /// Words by which experiments can be selected.
    #[serde(default)]
    pub tags: Vec<String>,
}

fn one() -> u32 {
    1
}

/// Deviations as a spec writes them: for each kind, what deviates, what was done, and why.
pub(super) type RawProtocolDeviations = BTreeMap<DeviationKind, BTreeMap<String, String>>;

/// A point where the protocol is ambiguous, corrected or uses other data, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProtocolDeviation {
    /// The kind of deviation.
    pub kind: DeviationKind,
    /// What deviates.
    pub about: String,
    /// What was done, and why.
    pub note: String,
}

/// Kinds of deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviationKind {
    /// The paper does not say; the best fit decided.
    Inferred,
    /// The paper is wrong; the correction is used or offered.
    Corrected,
    /// Data other than the paper's are used.
    StandIn,
    /// Numbers or statements are not reproduced: what was tried, and what is known about the reason.
    Difference,
}

/// A spec as it is written. The sections of a cell stay tables, because a grid may complete them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSpec {
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
    pub deviation: RawProtocolDeviations,
    #[serde(default)]
    pub erratum: Vec<ErratumWords>,
    #[serde(default)]
    pub broken: Vec<RawBrokenGuarantee>,
    #[serde(default)]
    pub table: Option<TableLayout>,
    #[serde(default)]
    pub figure: Option<FigureSetting>,
    #[serde(default)]
    pub figure_cells: toml::Table,
    #[serde(default)]
    pub figure_names: BTreeMap<String, String>,
    #[serde(default)]
    #[allow(dead_code, reason = "read from the text again, see `quick`")]
    pub quick: toml::Table,
}

impl RawSpec {
    /// Reads the raw form. Unknown keys and wrong types fail here, with their position.
    pub fn parse(source: &SourceText) -> Result<Self, SpecError> {
        let document: Self = toml::from_str(source.text()).map_err(|e| source.toml_error(&e))?;
        document.check_and_fill_in(source)
    }

    /// Checks the keys about the experiment as a whole, and fills in what follows from printed numbers.
    pub fn check_and_fill_in(mut self, source: &SourceText) -> Result<Self, SpecError> {
        self.derive_task_from_printed_numbers();
        let replicates = self.experiment.replicates;
        if !(1..=MOST_REPLICATES).contains(&replicates) {
            let problem = OutOfRangeError::new("from 1 to 100000", f64::from(replicates)).into();
            return Err(source.error(&["experiment", "replicates"], problem));
        }
        self.check_command_axes(source)?;
        Ok(self)
    }

    /// An axis over the values passed to a program names one of their keys: a misspelt one would be an additional key, which no
    /// program reads.
    fn check_command_axes(&self, source: &SourceText) -> Result<(), SpecError> {
        let told = self.task.as_ref().and_then(|task| task.get("command")?.get("with")?.as_table());
        let Some(told) = told else { return Ok(()) };
        for path in self.grid.keys() {
            let Some(key) = path.strip_prefix("task.command.with.") else { continue };
            let first = key.split('.').next().unwrap_or(key);
            if !told.contains_key(first) {
                let near = closest_name(first, told.keys().map(String::as_str));
                let hint = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                let why = format!("task.command.with has no {first:?}{hint}");
                return Err(source.error(&["grid", path], SpecProblem::Shape(why)));
            }
        }
        Ok(())
    }

    /// A spec without a task is about numbers that others computed. Its axes and metrics are those of the printed numbers.
    fn derive_task_from_printed_numbers(&mut self) {
        let is_bare = self.task.is_none() && self.data.is_none() && self.model.is_none() && !self.published.is_empty();
        if !is_bare && self.task.as_ref().is_none_or(|task| !task.contains_key(GIVEN)) {
            return;
        }
        let task = self.task.get_or_insert_default();
        let given = task.entry(GIVEN).or_insert_with(|| Table::new().into());
        let Some(given) = given.as_table_mut() else { return };
        // Axes keep the order of the columns.
        let (mut axes, mut metrics) = (Table::new(), Value::Array(Vec::new()));
        for table in [&self.published, &self.authors, &self.reference].into_iter().flat_map(BTreeMap::values) {
            // Rows that are wrong are told of with their place afterwards.
            for entry in table.rows.iter().filter_map(|row| table.parse_row(row).ok()) {
                push_if_absent(&mut metrics, entry.metric.into());
                for (axis, label) in entry.cells {
                    push_if_absent(axes.entry(axis).or_insert(Value::Array(Vec::new())), label);
                }
            }
        }
        given.entry("metrics").or_insert(metrics);
        if self.grid.is_empty() && self.axis.is_empty() && !given.contains_key("with") {
            let first = axes.iter().filter_map(|(axis, labels)| Some((axis.clone(), labels.get(0)?.clone())));
            given.insert("with".to_owned(), Value::Table(first.collect()));
            let grid = axes.into_iter().map(|(axis, labels)| (format!("task.{GIVEN}.with.{axis}"), labels));
            self.grid.extend(grid);
        }
    }

    /// The deviations, by kind.
    pub fn deviations(&self) -> Vec<ProtocolDeviation> {
        let mut all = Vec::new();
        for (kind, notes) in &self.deviation {
            for (about, note) in notes {
                all.push(ProtocolDeviation { kind: *kind, about: about.clone(), note: note.clone() });
            }
        }
        all
    }

    /// The tables of numbers from one owner.
    pub fn value_tables(&self, owner: ReferenceValueOwner) -> &BTreeMap<String, ValueTable> {
        match owner {
            ReferenceValueOwner::Paper => &self.published,
            ReferenceValueOwner::Authors => &self.authors,
            ReferenceValueOwner::Reference => &self.reference,
        }
    }

    /// The sections of a cell as one table.
    pub fn base_sections(&self) -> toml::Table {
        let tables = [("data", &self.data), ("model", &self.model), ("task", &self.task), ("privacy", &self.privacy)];
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

/// What an erratum finds about a statement, from most to least serious.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErratumKind {
    /// False as printed.
    Error,
    /// True, but looser than necessary by some factor.
    Loose,
    /// Not proved, or not stated.
    Gap,
    /// Not a statement of the paper: our own protocol, or the code of others.
    Remark,
}

/// An erratum in words. Its numbers are computed by the cell whose `task.errata.erratum` names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErratumWords {
    /// The name by which `task.errata.erratum` refers to the erratum.
    pub name: String,
    /// The paper's key.
    pub paper: String,
    /// What the erratum finds about the statement.
    pub kind: ErratumKind,
    /// Where the paper makes the statement, by the paper's own section and equation numbers. For a remark, whose statement
    /// it is.
    pub place: String,
    /// The paper's own words at that place. Only a remark may omit this quote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The statement that is tested, in our words.
    pub statement: String,
    /// The counter-example.
    pub example: String,
    /// The correct statement.
    pub correction: String,
    /// The effect of the erratum on the paper's tables and figures.
    pub effect: String,
}

impl ErratumWords {
    /// Whether it accuses a paper without quoting it.
    pub(super) fn lacks_required_quote(&self) -> bool {
        let quoted = self.quote.as_deref().is_some_and(|quote| !quote.trim().is_empty());
        self.kind != ErratumKind::Remark && !quoted
    }
}

/// Cells whose guarantee, as published, does not hold, and why.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBrokenGuarantee {
    /// The cells, by their labels on the axes.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub cells: Table,
    /// Why the guarantee does not hold.
    pub note: String,
}

/// Cells whose guarantee does not hold: an audit passes if it finds this, and fails if it does not.
#[derive(Debug, Clone)]
pub struct BrokenGuarantee {
    /// The cells.
    pub cells: CellSelector,
    /// Why the guarantee does not hold.
    pub note: String,
}

/// An experiment: what is measured, on which data, with which model and mechanism, over which grid, and what the paper prints and
/// claims. A key that a section requires may be set by the grid instead.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "dpgp experiment")]
#[allow(dead_code, reason = "only its schema is used")]
struct SpecSchema<T, M> {
    experiment: Meta,
    data: Option<DataSetting>,
    normalise: Option<NormaliseSetting>,
    model: Option<ModelSetting>,
    task: Option<T>,
    privacy: Option<PrivacySetting<M>>,
    /// Dotted paths of keys, each with the list of values that the key takes.
    grid: Option<BTreeMap<String, Vec<JsonValue>>>,
    /// Named axes: for each label of an axis, the values that it sets, by dotted path.
    axis: Option<BTreeMap<String, PathValuesByLabel>>,
    /// Numbers that the paper prints, in tables with one line per number.
    published: Option<BTreeMap<String, ValueTable>>,
    /// Numbers from files or code of the paper's authors that the paper does not print.
    authors: Option<BTreeMap<String, ValueTable>>,
    /// Numbers from an independent computation.
    reference: Option<BTreeMap<String, ValueTable>>,
    claim: Option<Vec<RawClaim>>,
    /// Deviations from the paper, by kind: `inferred` (the paper leaves it open), `corrected`, `stand-in` (other data) or
    /// `difference` (not reproduced). For each deviation, what it is about, and what was done and why.
    deviation: Option<RawProtocolDeviations>,
    erratum: Option<Vec<ErratumWords>>,
    broken: Option<Vec<RawBrokenGuarantee>>,
    /// How the table is laid out for readers, as in the paper.
    table: Option<TableLayout>,
    figure: Option<FigureSetting>,
    /// The cells that the figure shows, by their labels on the axes. Without this table, all cells are shown.
    figure_cells: Option<Map<String, JsonValue>>,
    /// The names that the figure uses for axes of the grid, their labels and metrics.
    figure_names: Option<BTreeMap<String, String>>,
    /// The settings that `--quick` changes, with the values that it uses.
    quick: Option<Map<String, JsonValue>>,
}

/// The labels of an axis, each with the paths that it sets.
type PathValuesByLabel = BTreeMap<String, BTreeMap<String, JsonValue>>;

/// Types that are always written in full; any other may be completed by the grid.
const COMPLETE: [&str; 5] = ["Meta", "ValueTable", "RawClaim", "ErratumWords", "RawBrokenGuarantee"];

/// The schema of a spec whose task section is a `T`.
pub fn schema<T: TaskSection>() -> JsonValue {
    let mut schema = toml_schema::<SpecSchema<T, T::Mechanism>>();
    if let Some(definitions) = schema.get_mut("$defs").and_then(JsonValue::as_object_mut) {
        let incomplete = definitions.iter_mut().filter(|(name, _)| !COMPLETE.contains(&name.as_str()));
        incomplete.for_each(|(_, definition)| drop_required_keys(definition, false));
    }
    schema
}

/// Drops what is required, but for the name of a variant.
fn drop_required_keys(schema: &mut JsonValue, variant: bool) {
    match schema {
        JsonValue::Object(fields) => {
            if !variant {
                fields.remove("required");
            }
            for (key, value) in fields {
                match value {
                    JsonValue::Array(variants) if key == "oneOf" || key == "anyOf" => {
                        variants.iter_mut().for_each(|variant| drop_required_keys(variant, true));
                    }
                    value => drop_required_keys(value, false),
                }
            }
        }
        JsonValue::Array(list) => list.iter_mut().for_each(|value| drop_required_keys(value, false)),
        _ => {}
    }
}
