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
pub(super) struct ParquetWriterNotes {
    /// Columns of whole numbers that are spans of time.
    pub durations: BTreeSet<String>,
    /// Columns that number the rows.
    pub index: BTreeSet<String>,
}

impl ParquetWriterNotes {
    /// Reads the notes of a footer. Notes that cannot be understood are ignored.
    pub fn from_footer(footer: &FileMetaData) -> Self {
        let note = |key: &str| {
            let notes = footer.key_value_metadata()?;
            notes.iter().find(|note| note.key == key)?.value.as_deref()
        };
        let mut notes = Self::default();
        notes.durations.extend(note("ARROW:schema").map(duration_columns).unwrap_or_default());
        if let Some(pandas) = note("pandas").and_then(|note| serde_json::from_str(note).ok()) {
            notes.read_pandas_metadata(&pandas);
        }
        notes
    }

    fn read_pandas_metadata(&mut self, pandas: &Value) {
        // A range without a column of its own is no text.
        self.index.extend(json_array_items(pandas, "index_columns").filter_map(Value::as_str).map(str::to_owned));
        for column in json_array_items(pandas, "columns") {
            let text = |key: &str| column.get(key).and_then(Value::as_str);
            let is_span =
                text("numpy_type").is_some_and(|kind| kind.starts_with("timedelta64") || kind.starts_with("period["));
            let name = text("field_name").or_else(|| text("name")).filter(|_| is_span);
            self.durations.extend(name.map(str::to_owned));
        }
    }
}

fn json_array_items<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// The number of the schema among the headers of a message.
const SCHEMA: u8 = 1;
/// The number of spans of time among the types.
const DURATION: u8 = 18;

/// The names of the columns that are spans of time; none of a text that is no such schema.
pub(super) fn duration_columns(text: &str) -> Vec<String> {
    STANDARD.decode(text.trim()).ok().and_then(|bytes| decode_duration_columns(&bytes)).unwrap_or_default()
}

fn decode_duration_columns(message: &[u8]) -> Option<Vec<String>> {
    // The message follows its length; newer writers put four bytes of ones first.
    let message = message.strip_prefix(&[0xff; 4]).unwrap_or(message).get(4..)?;
    let message = FlatBufferTable::from_offset(message, follow_offset(message, 0)?)?;
    if message.byte_field(1)? != SCHEMA {
        return None;
    }
    let fields = message.table_field(2)?.reference_target(1)?;
    let bytes = message.bytes;
    let count = usize::try_from(read_u32(bytes, fields)?).ok()?.min(bytes.len() / 4);
    let mut names = Vec::new();
    for entry in (0..count).map(|field| fields + 4 + 4 * field) {
        let field = FlatBufferTable::from_offset(bytes, follow_offset(bytes, entry)?)?;
        if field.byte_field(2) == Some(DURATION) {
            names.push(field.text_field(0)?);
        }
    }
    Some(names)
}

/// A table of FlatBuffers: its fields stand where a list says that comes before or after it.
#[derive(Clone, Copy)]
struct FlatBufferTable<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Where the list begins.
    list: usize,
}

impl<'b> FlatBufferTable<'b> {
    fn from_offset(bytes: &'b [u8], at: usize) -> Option<Self> {
        let back = i32::from_le_bytes(read_four_bytes(bytes, at)?);
        let list = usize::try_from(i64::try_from(at).ok()? - i64::from(back)).ok()?;
        Some(Self { bytes, at, list })
    }

    /// The place of a field, or none if the field is absent.
    fn field_offset(self, number: usize) -> Option<usize> {
        let entry = 4 + 2 * number;
        if entry + 2 > usize::from(read_u16(self.bytes, self.list)?) {
            return None;
        }
        match read_u16(self.bytes, self.list + entry)? {
            0 => None,
            place => Some(self.at + usize::from(place)),
        }
    }

    fn byte_field(self, number: usize) -> Option<u8> {
        self.bytes.get(self.field_offset(number)?).copied()
    }

    /// Where what a field refers to begins.
    fn reference_target(self, number: usize) -> Option<usize> {
        follow_offset(self.bytes, self.field_offset(number)?)
    }

    fn table_field(self, number: usize) -> Option<Self> {
        Self::from_offset(self.bytes, self.reference_target(number)?)
    }

    fn text_field(self, field: usize) -> Option<String> {
        let at = self.reference_target(field)?;
        let length = usize::try_from(read_u32(self.bytes, at)?).ok()?;
        let text = self.bytes.get(at + 4..)?.get(..length)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// The place that an offset at a place leads to.
fn follow_offset(bytes: &[u8], at: usize) -> Option<usize> {
    at.checked_add(usize::try_from(read_u32(bytes, at)?).ok()?)
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    read_four_bytes(bytes, at).map(u32::from_le_bytes)
}

fn read_four_bytes(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
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
        let mut notes = ParquetWriterNotes::default();
        notes.read_pandas_metadata(&serde_json::from_str(pandas).unwrap());
        assert_eq!(notes.index.into_iter().collect::<Vec<_>>(), ["id"]);
        assert_eq!(notes.durations.into_iter().collect::<Vec<_>>(), ["month", "trip"]);
    }

    #[test]
    fn other_notes_say_nothing() {
        for pandas in ["null", "[]", "{\"index_columns\": 3, \"columns\": {}}"] {
            let mut notes = ParquetWriterNotes::default();
            notes.read_pandas_metadata(&serde_json::from_str(pandas).unwrap());
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
        assert_eq!(decode_duration_columns(&bytes[4..]).unwrap(), ["trip", "dur_s"]);
    }

    /// A footer may say anything: what cannot be read says nothing, and nothing panics.
    #[test]
    fn damaged_schemas_are_read_without_a_panic() {
        let good = STANDARD.decode(SCHEMA_OF_SIX).unwrap();
        for cut in 0..good.len() {
            let _ = decode_duration_columns(&good[..cut]);
        }
        for place in 0..good.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[place] = byte;
                let _ = decode_duration_columns(&bad);
            }
        }
        assert!(duration_columns("no base64").is_empty() && duration_columns("").is_empty());
    }
}
