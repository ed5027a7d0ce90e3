//! Small Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

/// The cells of a column; none is a null.
pub enum Column {
    Double(Vec<Option<f64>>),
    Float(Vec<Option<f32>>),
    Int32(Vec<Option<i32>>),
    Int64(Vec<Option<i64>>),
    Boolean(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
}

impl Column {
    fn physical(&self) -> Physical {
        match self {
            Self::Double(_) => Physical::DOUBLE,
            Self::Float(_) => Physical::FLOAT,
            Self::Int32(_) => Physical::INT32,
            Self::Int64(_) => Physical::INT64,
            Self::Boolean(_) => Physical::BOOLEAN,
            Self::Text(_) => Physical::BYTE_ARRAY,
        }
    }

    fn rows(&self) -> usize {
        match self {
            Self::Double(cells) => cells.len(),
            Self::Float(cells) => cells.len(),
            Self::Int32(cells) => cells.len(),
            Self::Int64(cells) => cells.len(),
            Self::Boolean(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
        }
    }
}

/// Writes optional columns, so many rows in each group.
pub fn write_parquet(path: &Path, columns: &[(&str, Column)], group: usize) {
    let fields = columns.iter().map(|(name, column)| {
        let text = matches!(column, Column::Text(_)).then_some(LogicalType::String);
        let builder = Type::primitive_type_builder(name, column.physical());
        Arc::new(builder.with_repetition(Repetition::OPTIONAL).with_logical_type(text).build().unwrap())
    });
    let schema = Type::group_type_builder("rows").with_fields(fields.collect()).build().unwrap();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), Arc::new(schema), properties).unwrap();
    let rows = columns[0].1.rows();
    for first in (0..rows).step_by(group) {
        let range = first..rows.min(first + group);
        let mut rows = writer.next_row_group().unwrap();
        for (_, column) in columns {
            match column {
                Column::Double(cells) => put::<DoubleType>(&mut rows, &cells[range.clone()]),
                Column::Float(cells) => put::<FloatType>(&mut rows, &cells[range.clone()]),
                Column::Int32(cells) => put::<Int32Type>(&mut rows, &cells[range.clone()]),
                Column::Int64(cells) => put::<Int64Type>(&mut rows, &cells[range.clone()]),
                Column::Boolean(cells) => put::<BoolType>(&mut rows, &cells[range.clone()]),
                Column::Text(cells) => {
                    let cells = cells[range.clone()].iter();
                    let bytes: Vec<Option<ByteArray>> =
                        cells.map(|cell| cell.as_deref().map(ByteArray::from)).collect();
                    put::<ByteArrayType>(&mut rows, &bytes);
                }
            }
        }
        rows.close().unwrap();
    }
    writer.close().unwrap();
}

fn put<T: DataType>(rows: &mut SerializedRowGroupWriter<'_, File>, cells: &[Option<T::T>]) {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.iter().flatten().cloned().collect();
    let mut column = rows.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
}
