//! The JSON Schema of the spec language, and the trait of task sections, which the language itself does not
//! know.

use std::collections::BTreeMap;
use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::claim::RawClaim;
use super::document::{Deviations, ErratumWords, Meta, RawBrokenGuarantee};
use super::figure::FigureSetting;
use super::value_table::{TableLayout, ValueTable};
use crate::setting::{
    CheckResult, DataSetting, MechanismSection, ModelSetting, NormaliseSetting, PrivacySetting, SpecCellSetting,
};
use dpgp_data::toml_schema;

/// An experiment: what is measured, on which data, with which model and mechanism, over which grid, and what the paper prints and
/// claims. The grid may set keys that a section requires.
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
    /// Dotted paths of a cell, each with the list of values that it takes.
    grid: Option<BTreeMap<String, Vec<Value>>>,
    /// Named axes: for each label, the dotted paths that it sets.
    axis: Option<BTreeMap<String, Labels>>,
    /// Numbers that the paper prints, in tables with one line per number.
    published: Option<BTreeMap<String, ValueTable>>,
    /// Numbers from files or code of the paper's authors that the paper does not print.
    authors: Option<BTreeMap<String, ValueTable>>,
    /// Numbers from an independent computation.
    reference: Option<BTreeMap<String, ValueTable>>,
    claim: Option<Vec<RawClaim>>,
    /// Deviations from the paper, by kind (left open, corrected, replaced or not reproduced): for each, what it is about, and
    /// what was done and why.
    deviation: Option<Deviations>,
    erratum: Option<Vec<ErratumWords>>,
    broken: Option<Vec<RawBrokenGuarantee>>,
    /// How the table is laid out for readers, as in the paper.
    table: Option<TableLayout>,
    figure: Option<FigureSetting>,
    /// The cells that the figure shows, by their labels on axes; without it, all cells.
    figure_cells: Option<Map<String, Value>>,
    /// The names that the figure uses for labels and axes of the grid and for metrics.
    figure_names: Option<BTreeMap<String, String>>,
    /// The settings that `--quick` changes.
    quick: Option<Map<String, Value>>,
}

/// The labels of an axis, each with the paths that it sets.
type Labels = BTreeMap<String, BTreeMap<String, Value>>;

/// Types that are always written in full; any other may be completed by the grid.
const COMPLETE: [&str; 5] = ["Meta", "ValueTable", "RawClaim", "ErratumWords", "RawBrokenGuarantee"];

/// The schema of a spec whose task section is a `T`.
pub fn schema<T: TaskSection>() -> Value {
    let mut schema = toml_schema::<SpecSchema<T, T::Mechanism>>();
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        let incomplete = definitions.iter_mut().filter(|(name, _)| !COMPLETE.contains(&name.as_str()));
        incomplete.for_each(|(_, definition)| drop_required_keys(definition, false));
    }
    schema
}

/// Drops what is required, but for the name of a variant.
fn drop_required_keys(schema: &mut Value, variant: bool) {
    match schema {
        Value::Object(fields) => {
            if !variant {
                fields.remove("required");
            }
            for (key, value) in fields {
                match value {
                    Value::Array(variants) if key == "oneOf" || key == "anyOf" => {
                        variants.iter_mut().for_each(|variant| drop_required_keys(variant, true));
                    }
                    value => drop_required_keys(value, false),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| drop_required_keys(value, false)),
        _ => {}
    }
}

/// What the rooms above measure, as a spec writes it.
pub trait TaskSection: Debug + Clone + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// What adds noise.
    type Mechanism: MechanismSection;

    /// Checks the section of a setting, and what it needs of the other sections.
    ///
    /// # Errors
    /// [`crate::setting::SettingError`] of the first value that is wrong.
    fn check(setting: &SpecCellSetting<Self>) -> CheckResult;

    /// Fills in what a spec with such a task need not have.
    fn fill_in(_spec: &mut toml::Table) {}

    /// The metrics that are measured with this number of replicates.
    fn metrics(&self, replicates: u32) -> Vec<String>;

    /// Those metrics that are compared with no printed number and by no check.
    fn secondary_metrics(&self) -> &[String] {
        &[]
    }

    /// The name of the erratum that is computed, for a task that computes one: an `[[erratum]]` describes it.
    fn erratum(&self) -> Option<&str>;

    /// Checks what depends on the number of rows that a replicate works on.
    ///
    /// # Errors
    /// [`crate::setting::SettingError`] where there are too few.
    fn check_rows(&self, rows: usize) -> CheckResult;
}
