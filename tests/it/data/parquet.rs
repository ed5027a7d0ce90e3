//! Parquet files, by both readers: of whole tables, and of rows in pieces.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use dpgp::data::rows::{RowFile, RowFilesReader, RowStream};
use dpgp::data::{CsvLayout, DataError, MissingCellPolicy, Table};
use parquet::data_type::{DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// Writes a file with this schema, whose one row group a function fills.
fn write(path: &Path, columns: &str, fill: impl Fn(&mut SerializedRowGroupWriter<'_, File>)) {
    let schema = Arc::new(parse_message_type(&format!("message rows {{ {columns} }}")).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    fill(&mut group);
    group.close().unwrap();
    writer.close().unwrap();
}

fn put<T: DataType>(group: &mut SerializedRowGroupWriter<'_, File>, values: &[T::T]) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
}

/// The numbers of a column as rows in pieces.
fn in_pieces(path: &Path, column: &str) -> Result<Vec<f64>, DataError> {
    let mut files = RowFilesReader::open(
        &[RowFile::from_path(path)],
        &CsvLayout::default(),
        &[column.to_owned()],
        MissingCellPolicy::Refuse,
    )?;
    let mut columns = [Vec::new()];
    while files.read(&mut columns, 2)? > 0 {}
    let [numbers] = columns;
    Ok(numbers)
}

/// The same as a whole table.
fn in_a_table(path: &Path, column: &str) -> Result<Vec<f64>, DataError> {
    Table::read_parquet(path, &[column])?.numeric_column(column)
}

#[test]
fn numbers_are_those_that_the_schema_means() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let schema = "required int32 price (DECIMAL(9, 2)); required int64 long (DECIMAL(18, 4)); \
                  required fixed_len_byte_array(16) wide (DECIMAL(38, 3)); \
                  required fixed_len_byte_array(3) narrow (DECIMAL(6, 1)); \
                  required int32 u8 (INTEGER(8, false)); required int32 u32 (INTEGER(32, false)); \
                  required int64 u64 (INTEGER(64, false)); required int64 plain;";
    write(&path, schema, |group| {
        put::<Int32Type>(group, &[1999, -5, 0]);
        put::<Int64Type>(group, &[12_345_678, -1, 1 << 53]);
        let wide = [1_234_567_890_123_456_789_012_i128, -1, 500];
        put::<FixedLenByteArrayType>(group, &wide.map(|n| FixedLenByteArray::from(n.to_be_bytes().to_vec())));
        let narrow = [[0x00, 0x00, 0x0f], [0xff, 0xff, 0xf1], [0x01, 0x86, 0xa0]];
        put::<FixedLenByteArrayType>(group, &narrow.map(|n| FixedLenByteArray::from(n.to_vec())));
        put::<Int32Type>(group, &[0, 200, 255]);
        put::<Int32Type>(group, &[1, -1, i32::MIN]);
        put::<Int64Type>(group, &[1, -1, i64::MIN]);
        put::<Int64Type>(group, &[1, -1, 7]);
    });
    for (column, expected) in [
        ("price", [19.99, -0.05, 0.0]),
        ("long", [1234.5678, -0.0001, 900_719_925_474.099_2]),
        ("wide", [1_234_567_890_123_456_789.012, -0.001, 0.5]),
        ("narrow", [1.5, -1.5, 10_000.0]),
        ("u8", [0.0, 200.0, 255.0]),
        ("u32", [1.0, 4_294_967_295.0, 2_147_483_648.0]),
        ("u64", [1.0, 18_446_744_073_709_551_615.0, 9_223_372_036_854_775_808.0]),
        ("plain", [1.0, -1.0, 7.0]),
    ] {
        assert_eq!(in_pieces(&path, column).unwrap(), expected, "{column}");
        assert_eq!(in_a_table(&path, column).unwrap(), expected, "{column}");
    }
}

/// A day is the number of days since 1970 in the file, and no number that a spec speaks of.
#[test]
fn dates_and_times_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    for (column, found) in [
        ("required int32 t (DATE);", "INT32 (DATE)"),
        ("required int32 t (TIME(MILLIS, true));", "INT32 (TIME_MILLIS)"),
        ("required int64 t (TIMESTAMP(MICROS, true));", "INT64 (TIMESTAMP_MICROS)"),
        ("required int64 t (TIMESTAMP(NANOS, false));", "INT64 (TIMESTAMP)"),
        ("required int96 t;", "INT96"),
    ] {
        write(&path, &format!("required double x; {column}"), |group| {
            put::<DoubleType>(group, &[1.0]);
            match column.split(' ').nth(1) {
                Some("int32") => put::<Int32Type>(group, &[17_000]),
                Some("int64") => put::<Int64Type>(group, &[17_000]),
                _ => put::<parquet::data_type::Int96Type>(group, &[Default::default()]),
            }
        });
        let expected = format!("the column \"t\" holds dates or times ({found})");
        for read in [in_pieces, in_a_table] {
            let error = read(&path, "t").unwrap_err();
            assert!(error.to_string().contains(&expected) && error.exit_code() == 2, "{error}");
            assert_eq!(read(&path, "x").unwrap(), [1.0], "other columns can be read");
        }
    }
}

#[test]
fn a_name_of_two_columns_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, "required double x; required double y; required double y;", |group| {
        (0..3).for_each(|_| put::<DoubleType>(group, &[1.0]));
    });
    for read in [in_pieces, in_a_table] {
        let error = read(&path, "x").unwrap_err();
        assert!(error.to_string().contains("the column \"y\" occurs twice"), "{error}");
    }
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "x,y,y\n1,2,3\n").unwrap();
    assert!(in_pieces(&path, "x").unwrap_err().to_string().contains("the column \"y\" occurs twice"));
}
