//! Reference numbers as a spec writes them, one row each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::SpecProblem;
use super::claim::{ReadingMethod, SpreadKind};

/// A table of numbers: its columns, its rows, and the values that all rows share.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ValueTable {
    /// What each column holds: an axis, or one of `metric`, `value`, `spread`, `count`, `runs`, `precision`, `tolerance`, `effect`
    /// and `source`.
    pub columns: Vec<String>,
    /// One list for each number, with an entry for each column. An empty string ("") as an entry keeps the value in `all`.
    #[schemars(with = "Vec<Vec<serde_json::Value>>")]
    pub rows: Vec<Vec<Value>>,
    /// The values that all rows share.
    #[serde(default)]
    pub all: ValueEntry,
}

/// What is known about a number.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ValueEntry {
    /// The cell, by its labels on the axes.
    #[serde(default, rename = "where")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub cells: Table,
    /// The metric.
    #[serde(default)]
    pub metric: String,
    /// The number, in the units of the metric.
    #[serde(default)]
    pub value: Option<f64>,
    /// The spread of the number.
    #[serde(default)]
    pub spread: Option<f64>,
    #[serde(default)]
    pub spread_kind: SpreadKind,
    /// The number of folds, replicates or values over which the spread was computed.
    #[serde(default)]
    pub count: Option<u32>,
    /// The number of runs over which the value is averaged; 1 if not given.
    #[serde(default)]
    pub runs: Option<u32>,
    /// The unit of the last printed digit.
    #[serde(default)]
    pub precision: f64,
    /// The largest difference that counts as agreement, for formulas and for numbers read off a figure.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// The difference on which a conclusion of the paper rests. A wider interval is inconclusive.
    #[serde(default)]
    pub effect: Option<f64>,
    /// The setting that was chosen to fit these numbers. Agreement then proves nothing and is not counted.
    #[serde(default)]
    pub fitted: Option<String>,
    /// Where the number appears, for example `Table 1, row 2`.
    #[serde(default)]
    pub source: String,
    #[serde(default)]
    pub read: ReadingMethod,
}

impl ValueTable {
    /// One row with what the table says of all.
    ///
    /// # Errors
    /// [`SpecProblem::Shape`] if the row and the table differ in their columns, or an entry has the wrong type.
    pub fn parse_row(&self, row: &[Value]) -> Result<ValueEntry, SpecProblem> {
        if row.len() != self.columns.len() {
            let why = format!("the row has {} entries, but there are {} columns", row.len(), self.columns.len());
            return Err(SpecProblem::Shape(why));
        }
        let mut entry = self.all.clone();
        for (column, value) in self.columns.iter().zip(row) {
            if value.as_str() != Some("") {
                entry.set(column, value).map_err(|needed| {
                    SpecProblem::Shape(format!("`{column}` must be {needed}, found {}", value.type_str()))
                })?;
            }
        }
        match entry.value {
            Some(_) => Ok(entry),
            None => Err(SpecProblem::Shape("needs a `value`, in the table or as a column".to_owned())),
        }
    }
}

impl ValueEntry {
    /// Takes over what a column says; fails with what it should hold.
    fn set(&mut self, column: &str, value: &Value) -> Result<(), &'static str> {
        match column {
            "metric" => self.metric = text(value)?,
            "source" => self.source = text(value)?,
            "value" => self.value = Some(number(value)?),
            "spread" => self.spread = Some(number(value)?),
            "precision" => self.precision = number(value)?,
            "tolerance" => self.tolerance = Some(number(value)?),
            "effect" => self.effect = Some(number(value)?),
            "count" => self.count = Some(whole_number(value)?),
            "runs" => self.runs = Some(whole_number(value)?),
            axis => {
                self.cells.insert(axis.to_owned(), value.clone());
            }
        }
        Ok(())
    }
}

fn text(value: &Value) -> Result<String, &'static str> {
    value.as_str().map(str::to_owned).ok_or("text")
}

fn number(value: &Value) -> Result<f64, &'static str> {
    value.as_float().or(value.as_integer().map(|whole| whole as f64)).ok_or("a number")
}

fn whole_number(value: &Value) -> Result<u32, &'static str> {
    value.as_integer().and_then(|whole| u32::try_from(whole).ok()).ok_or("an integer")
}

/// A table as a paper lays it out: a metric, with some axes down the side and some across the top. Cells that differ on another
/// axis are in separate tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableLayout {
    /// The metric that is shown.
    pub metric: String,
    /// The axes whose labels run down the left side.
    pub rows: Vec<String>,
    /// The axes whose labels run across the top.
    pub columns: Vec<String>,
    /// Which number in each column is the best and is shown in bold. Without this key, no number is.
    #[serde(default)]
    pub best: Option<BestDirection>,
}

/// Which number is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BestDirection {
    /// The smallest, as for an error.
    Least,
    /// The largest, as for an accuracy.
    Greatest,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> ValueTable {
        toml::from_str(text).unwrap()
    }

    const TABLE: &str = "all = { source = 'Table 1', precision = 0.1 }\ncolumns = ['method', 'value', 'spread']\n\
                         rows = [['a', 13.3, 3.2], ['b', 7, '']]";

    #[test]
    fn rows_complete_what_the_table_says() {
        let table = table(TABLE);
        let [first, second] = [0, 1].map(|row| table.parse_row(&table.rows[row]).unwrap());
        assert_eq!((first.value, first.spread, first.precision), (Some(13.3), Some(3.2), 0.1));
        assert_eq!((second.value, second.spread, second.source.as_str()), (Some(7.0), None, "Table 1"));
        assert_eq!(second.cells["method"].as_str(), Some("b"));
    }

    #[test]
    fn rows_of_another_form_are_refused() {
        for (from, to, word) in [
            ("['b', 7, '']", "['b', 7]", "2 entries, but there are 3 columns"),
            ("13.3", "'x'", "`value` must be a number, found string"),
            ("'value'", "'other'", "needs a `value`"),
        ] {
            let table = table(&TABLE.replace(from, to));
            let problems = table.rows.iter().filter_map(|row| table.parse_row(row).err());
            let told: Vec<String> = problems.map(|problem| problem.to_string()).collect();
            assert!(told.iter().any(|text| text.contains(word)), "{word}: {told:?}");
        }
    }
}
