//! What programs note in the footer of a Parquet file beside its schema.

use std::collections::BTreeSet;

use parquet::file::metadata::FileMetaData;
use serde_json::Value;

use super::arrow_schema::duration_columns;

/// What Arrow and pandas say of the columns.
#[derive(Debug, Default)]
pub(super) struct ParquetNotes {
    /// Columns of whole numbers that are spans of time.
    pub durations: BTreeSet<String>,
    /// Columns that number the rows.
    pub index: BTreeSet<String>,
}

impl ParquetNotes {
    /// What stands in a footer; nothing of what cannot be understood, which says nothing of a column.
    pub fn of(footer: &FileMetaData) -> Self {
        let note = |key: &str| {
            let notes = footer.key_value_metadata()?;
            notes.iter().find(|note| note.key == key)?.value.as_deref()
        };
        let mut notes = Self::default();
        notes.durations.extend(note("ARROW:schema").map(duration_columns).unwrap_or_default());
        if let Some(pandas) = note("pandas").and_then(|note| serde_json::from_str(note).ok()) {
            notes.read_pandas(&pandas);
        }
        notes
    }

    fn read_pandas(&mut self, pandas: &Value) {
        // A range without a column of its own is no text.
        self.index.extend(listed(pandas, "index_columns").filter_map(Value::as_str).map(str::to_owned));
        for column in listed(pandas, "columns") {
            let text = |key: &str| column.get(key).and_then(Value::as_str);
            let is_span = text("numpy_type")
                .is_some_and(|kind| kind.starts_with("timedelta64") || kind.starts_with("period["));
            let name = text("field_name").or_else(|| text("name")).filter(|_| is_span);
            self.durations.extend(name.map(str::to_owned));
        }
    }
}

fn listed<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pandas_names_its_index_and_its_spans_of_time() {
        let pandas = r#"{"index_columns": ["id", {"kind": "range", "name": null}], "columns": [
            {"name": "id", "field_name": "id", "numpy_type": "int64"},
            {"name": "trip", "field_name": "trip", "numpy_type": "timedelta64[ns]"},
            {"name": "month", "numpy_type": "period[M]"}, {"name": null}, 7]}"#;
        let mut notes = ParquetNotes::default();
        notes.read_pandas(&serde_json::from_str(pandas).unwrap());
        assert_eq!(notes.index.into_iter().collect::<Vec<_>>(), ["id"]);
        assert_eq!(notes.durations.into_iter().collect::<Vec<_>>(), ["month", "trip"]);
    }

    #[test]
    fn other_notes_say_nothing() {
        for pandas in ["null", "[]", "{\"index_columns\": 3, \"columns\": {}}"] {
            let mut notes = ParquetNotes::default();
            notes.read_pandas(&serde_json::from_str(pandas).unwrap());
            assert!(notes.index.is_empty() && notes.durations.is_empty());
        }
    }
}
