//! The types of Parquet columns and their types in memory.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::schema::types::ColumnDescriptor;
use polars::prelude::DataType;

use super::parquet_notes::ParquetWriterNotes;
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
        Self { name: column.path().string(), holds, found, time: is_time_column(column) }
    }

    /// Whether it holds dates, times or spans of time.
    pub fn is_time(&self) -> bool {
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

fn is_time_column(column: &ColumnDescriptor) -> bool {
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
