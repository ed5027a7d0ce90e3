//! What a Parquet file says of its columns: their types, with those that hold them in memory, and the notes that programs
//! leave in the footer. From the Arrow schema (base64 text of a FlatBuffers message), only the time-span columns are read: the
//! Parquet schema declares them as whole numbers.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::file::metadata::FileMetaData;
use parquet::schema::types::ColumnDescriptor;
use polars::prelude::DataType;
use serde_json::Value;

use super::table_error::TableError;

/// Type of a column by the schema.
pub(super) struct ParquetField {
    pub name: String,
    /// The type that holds its cells here; none if a table cannot hold them.
    pub holds: Option<DataType>,
    /// Its type in the words of the format.
    pub found: String,
    /// Whether it holds dates, times or spans of time.
    time: bool,
}

impl ParquetField {
    /// Type by the schema and the notes beside it.
    pub fn from_column(column: &ColumnDescriptor, notes: &ParquetWriterNotes) -> Self {
        if notes.durations.contains(&column.path().string()) {
            let found = format!("{} (DURATION)", column.physical_type());
            return Self { name: column.path().string(), holds: None, found, time: true };
        }
        let nested = column.max_rep_level() > 0 || column.path().parts().len() > 1;
        let holds = ParquetCellType::from_column(column).filter(|_| !nested).map(ParquetCellType::data_type);
        let found = format!("{}{}", if nested { "nested " } else { "" }, type_name(column));
        Self { name: column.path().string(), holds, found, time: is_temporal_column(column) }
    }

    /// Whether it holds dates, times or spans of time.
    pub fn is_temporal(&self) -> bool {
        self.time
    }

    /// Whether its cells are numbers.
    pub fn is_numeric(&self) -> bool {
        self.holds.as_ref().is_some_and(DataType::is_primitive_numeric)
    }

    /// The error for a column whose cells cannot be read, or are no numbers where numbers are needed.
    pub fn into_type_error(self) -> TableError {
        let Self { name: column, holds, found, time } = self;
        match (holds, time) {
            (Some(_), _) => TableError::NotNumeric { column, found },
            (None, true) => TableError::DateOrTime { column, found },
            (None, false) => TableError::ColumnType { column, found },
        }
    }
}

/// How the cells of a column that is not nested are read. Dates and times are numbers in the file, but not numbers of
/// anything that a spec names, so that they are not read at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParquetCellType {
    /// `DOUBLE` and `FLOAT`.
    Floating,
    /// Whole numbers with a sign.
    Signed,
    /// Whole numbers without one.
    Unsigned,
    /// Whole numbers of `10^-scale`.
    Decimal(u32),
    /// Text.
    Text,
}

impl ParquetCellType {
    pub fn from_column(column: &ColumnDescriptor) -> Option<Self> {
        use ConvertedType as C;
        use LogicalType as L;
        let known = [None, Some(&L::String), Some(&L::Enum)].contains(&column.logical_type_ref());
        if !known && !matches!(column.logical_type_ref(), Some(L::Integer(_) | L::Decimal(_))) {
            return None;
        }
        match (column.physical_type(), column.converted_type()) {
            (Type::DOUBLE | Type::FLOAT, C::NONE) => Some(Self::Floating),
            (Type::INT32 | Type::INT64, C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64) => Some(Self::Signed),
            (Type::INT32 | Type::INT64, C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64) => Some(Self::Unsigned),
            (Type::INT32 | Type::INT64, C::DECIMAL) => decimal_scale(column).map(Self::Decimal),
            (Type::FIXED_LEN_BYTE_ARRAY, C::DECIMAL) if (1..=16).contains(&column.type_length()) => {
                decimal_scale(column).map(Self::Decimal)
            }
            (Type::BYTE_ARRAY, C::NONE | C::UTF8 | C::ENUM) => Some(Self::Text),
            _ => None,
        }
    }

    /// The type that holds them.
    fn data_type(self) -> DataType {
        match self {
            Self::Floating | Self::Decimal(_) => DataType::Float64,
            Self::Signed => DataType::Int64,
            Self::Unsigned => DataType::UInt64,
            Self::Text => DataType::String,
        }
    }
}

/// Decimal places.
fn decimal_scale(column: &ColumnDescriptor) -> Option<u32> {
    let scale = match column.logical_type_ref() {
        Some(LogicalType::Decimal(decimal)) => decimal.scale,
        _ => column.type_scale(),
    };
    u32::try_from(scale).ok()
}

fn is_temporal_column(column: &ColumnDescriptor) -> bool {
    use ConvertedType as C;
    use LogicalType as L;
    let logical = matches!(column.logical_type_ref(), Some(L::Date | L::Time(_) | L::Timestamp(_)));
    let converted = [C::DATE, C::TIME_MILLIS, C::TIME_MICROS, C::TIMESTAMP_MILLIS, C::TIMESTAMP_MICROS];
    logical || converted.contains(&column.converted_type()) || column.physical_type() == Type::INT96
}

/// The type of a column, with what its cells stand for.
fn type_name(column: &ColumnDescriptor) -> String {
    let physical = column.physical_type();
    match (column.converted_type(), column.logical_type_ref()) {
        (ConvertedType::NONE, None) => physical.to_string(),
        // Types that came later have no name of the older kind.
        (ConvertedType::NONE, Some(logical)) => {
            let name = format!("{logical:?}").to_uppercase();
            format!("{physical} ({})", name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default())
        }
        (converted, _) => format!("{physical} ({converted})"),
    }
}

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
        notes.durations.extend(note("ARROW:schema").map(parse_arrow_duration_columns).unwrap_or_default());
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
fn parse_arrow_duration_columns(text: &str) -> Vec<String> {
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

    /// As pyarrow writes it: x double, trip duration[ns], d date32, dur_s duration[s], w string, n struct of q duration[us].
    const SCHEMA_OF_SIX: &str = "/////4ABAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAYAAAAgAQAA4AAAALQAAACEAAAAWAAAAAQAAAAI//\
    //AAABDRQAAAAYAAAABAAAAAEAAAAQAAAAAQAAAG4AAAC0////MP///wAAARIQAAAAFAAAAAQAAAAAAAAAAQAAAHEAAAAi////AAACAFj///8A\
    AAEFEAAAABgAAAAEAAAAAAAAAAEAAAB3AAAABAAEAAQAAACA////AAABEhAAAAAYAAAABAAAAAAAAAAFAAAAZHVyX3MAAAB2////AAAAAKz///\
    8AAAEIEAAAABQAAAAEAAAAAAAAAAEAAABkAAAAnv///wAAAADU////AAABEhAAAAAYAAAABAAAAAAAAAAEAAAAdHJpcAAAAADK////AAADABAA\
    FAAIAAYABwAMAAAAEAAQAAAAAAABAxAAAAAYAAAABAAAAAAAAAABAAAAeAAGAAgABgAGAAAAAAACAAAAAAA=";

    #[test]
    fn spans_of_time_are_found() {
        assert_eq!(parse_arrow_duration_columns(SCHEMA_OF_SIX), ["trip", "dur_s"]);
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
        assert!(parse_arrow_duration_columns("no base64").is_empty() && parse_arrow_duration_columns("").is_empty());
    }
}
