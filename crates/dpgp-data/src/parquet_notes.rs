//! Notes that programs leave in the footer of a Parquet file. From the Arrow schema (base64 text of a
//! FlatBuffers message), only the time-span columns are read: the Parquet schema declares them as whole
//! numbers.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::file::metadata::FileMetaData;
use serde_json::Value;

/// Notes of Arrow and pandas about the columns.
#[derive(Debug, Default)]
pub(super) struct ParquetNotes {
    /// Columns of whole numbers that are spans of time.
    pub durations: BTreeSet<String>,
    /// Columns that number the rows.
    pub index: BTreeSet<String>,
}

impl ParquetNotes {
    /// Reads the notes of a footer. Notes that cannot be understood are ignored.
    pub fn from_footer(footer: &FileMetaData) -> Self {
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

/// The number of the schema among the headers of a message.
const SCHEMA: u8 = 1;
/// The number of spans of time among the types.
const DURATION: u8 = 18;

/// The names of the columns that are spans of time; none of a text that is no such schema.
pub(super) fn duration_columns(text: &str) -> Vec<String> {
    STANDARD.decode(text.trim()).ok().and_then(|bytes| durations(&bytes)).unwrap_or_default()
}

fn durations(message: &[u8]) -> Option<Vec<String>> {
    // The message follows its length; newer writers put four bytes of ones first.
    let message = message.strip_prefix(&[0xff; 4]).unwrap_or(message).get(4..)?;
    let message = NotesTable::at(message, offset(message, 0)?)?;
    if message.byte(1)? != SCHEMA {
        return None;
    }
    let fields = message.table(2)?.reference(1)?;
    let bytes = message.bytes;
    let count = usize::try_from(number(bytes, fields)?).ok()?.min(bytes.len() / 4);
    let mut names = Vec::new();
    for entry in (0..count).map(|field| fields + 4 + 4 * field) {
        let field = NotesTable::at(bytes, offset(bytes, entry)?)?;
        if field.byte(2) == Some(DURATION) {
            names.push(field.text(0)?);
        }
    }
    Some(names)
}

/// A table of FlatBuffers: its fields stand where a list says that comes before or after it.
#[derive(Clone, Copy)]
struct NotesTable<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Where the list begins.
    list: usize,
}

impl<'b> NotesTable<'b> {
    fn at(bytes: &'b [u8], at: usize) -> Option<Self> {
        let back = i32::from_le_bytes(four(bytes, at)?);
        let list = usize::try_from(i64::try_from(at).ok()? - i64::from(back)).ok()?;
        Some(Self { bytes, at, list })
    }

    /// The place of a field, or none if the field is absent.
    fn field(self, number: usize) -> Option<usize> {
        let entry = 4 + 2 * number;
        if entry + 2 > usize::from(two(self.bytes, self.list)?) {
            return None;
        }
        match two(self.bytes, self.list + entry)? {
            0 => None,
            place => Some(self.at + usize::from(place)),
        }
    }

    fn byte(self, number: usize) -> Option<u8> {
        self.bytes.get(self.field(number)?).copied()
    }

    /// Where what a field refers to begins.
    fn reference(self, number: usize) -> Option<usize> {
        offset(self.bytes, self.field(number)?)
    }

    fn table(self, number: usize) -> Option<Self> {
        Self::at(self.bytes, self.reference(number)?)
    }

    fn text(self, field: usize) -> Option<String> {
        let at = self.reference(field)?;
        let length = usize::try_from(number(self.bytes, at)?).ok()?;
        let text = self.bytes.get(at + 4..)?.get(..length)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// The place that an offset at a place leads to.
fn offset(bytes: &[u8], at: usize) -> Option<usize> {
    at.checked_add(usize::try_from(number(bytes, at)?).ok()?)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    four(bytes, at).map(u32::from_le_bytes)
}

fn four(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn two(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
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

#[cfg(test)]
mod arrow_schema_tests {
    use super::*;

    /// As pyarrow writes it: x double, trip duration[ns], d date32, dur_s duration[s], w string, n struct of q duration[us].
    const SCHEMA_OF_SIX: &str = "/////4ABAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAYAAAAgAQAA4AAAALQAAACEAAAAWAAAAAQAAAAI//\
    //AAABDRQAAAAYAAAABAAAAAEAAAAQAAAAAQAAAG4AAAC0////MP///wAAARIQAAAAFAAAAAQAAAAAAAAAAQAAAHEAAAAi////AAACAFj///8A\
    AAEFEAAAABgAAAAEAAAAAAAAAAEAAAB3AAAABAAEAAQAAACA////AAABEhAAAAAYAAAABAAAAAAAAAAFAAAAZHVyX3MAAAB2////AAAAAKz///\
    8AAAEIEAAAABQAAAAEAAAAAAAAAAEAAABkAAAAnv///wAAAADU////AAABEhAAAAAYAAAABAAAAAAAAAAEAAAAdHJpcAAAAADK////AAADABAA\
    FAAIAAYABwAMAAAAEAAQAAAAAAABAxAAAAAYAAAABAAAAAAAAAABAAAAeAAGAAgABgAGAAAAAAACAAAAAAA=";

    #[test]
    fn spans_of_time_are_found() {
        assert_eq!(duration_columns(SCHEMA_OF_SIX), ["trip", "dur_s"]);
        // Older writers put the length first.
        let bytes = STANDARD.decode(SCHEMA_OF_SIX).unwrap();
        assert_eq!(durations(&bytes[4..]).unwrap(), ["trip", "dur_s"]);
    }

    /// A footer may say anything: what cannot be read says nothing, and nothing panics.
    #[test]
    fn damaged_schemas_are_read_without_a_panic() {
        let good = STANDARD.decode(SCHEMA_OF_SIX).unwrap();
        for cut in 0..good.len() {
            let _ = durations(&good[..cut]);
        }
        for place in 0..good.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[place] = byte;
                let _ = durations(&bad);
            }
        }
        assert!(duration_columns("no base64").is_empty() && duration_columns("").is_empty());
    }
}
