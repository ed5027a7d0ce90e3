//! Files of rows that are damaged: an error that names the file, whatever byte is another.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dpgp::data::rows::{RowFile, RowFilesReader, RowStream};
use dpgp::data::{CsvLayout, DataError, HmacKey, MissingCellPolicy, Table};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::support::cli::Project;

/// Rows of numbers, some of them missing, and of words, in two row groups.
fn written(compression: Compression, version: WriterVersion) -> Vec<u8> {
    let schema = "message rows { required double x; optional int64 n; optional binary who (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).set_writer_version(version);
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).unwrap();
    for group in [0, 1] {
        let mut rows = writer.next_row_group().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        let x: Vec<f64> = (0..20).map(|row| f64::from(row * 7 % 5 + group)).collect();
        column.typed::<DoubleType>().write_batch(&x, None, None).unwrap();
        column.close().unwrap();
        let levels: Vec<i16> = (0..20).map(|row| i16::from(row % 4 != 0)).collect();
        let mut column = rows.next_column().unwrap().unwrap();
        let n: Vec<i64> = (0..15).collect();
        column.typed::<Int64Type>().write_batch(&n, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        let who: Vec<ByteArray> = (0..20).map(|row| ["Ann", "Bob", "Eve"][row % 3].into()).collect();
        column.typed::<ByteArrayType>().write_batch(&who, Some(&[1; 20]), None).unwrap();
        column.close().unwrap();
        rows.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

/// Reads a file in every way that there is, all rows of it.
fn read(path: &Path) -> Result<(), DataError> {
    let (files, columns) = ([RowFile::from_path(path)], ["x".to_owned()]);
    let mut rows = RowFilesReader::open_fingerprinted(
        &files,
        &CsvLayout::default(),
        &columns,
        MissingCellPolicy::Refuse,
        &HmacKey::new(b"key"),
    )?;
    while rows.read(&mut [Vec::new()], 7)? > 0 {}
    let mut rows = RowFilesReader::open(&files, &CsvLayout::default(), &columns, MissingCellPolicy::Refuse)?;
    rows.skip(rows.count_rows_per_file()?[0].saturating_sub(3))?;
    rows.read(&mut [Vec::new()], 9)?;
    Table::read_whole_parquet(path, &[])?;
    let mut rows =
        RowFilesReader::open_with_persons(&files, &CsvLayout::default(), &columns, "who", MissingCellPolicy::Refuse)?;
    while rows.read_with_persons(&mut [Vec::new()], &mut Vec::new(), 7)? > 0 {}
    Ok(())
}

/// What a byte differs by where it is damaged.
const FLIPS: [u8; 6] = [0x01, 0x02, 0x10, 0x40, 0x80, 0xff];

/// The same bytes but for one.
fn damaged(good: &[u8], place: usize, by: u8) -> Vec<u8> {
    let mut bad = good.to_vec();
    bad[place] ^= by;
    bad
}

/// Every byte of a file is once another, in forms of the format that are decoded by different code. Some of it is decoded by
/// assertions, which must not end the program.
#[test]
fn damaged_parquet_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    let mut refused = 0;
    for (compression, version) in [
        (Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0),
        (Compression::SNAPPY, WriterVersion::PARQUET_2_0),
        (Compression::ZSTD(Default::default()), WriterVersion::PARQUET_1_0),
    ] {
        let good = written(compression, version);
        for place in 0..good.len() {
            std::fs::write(&path, damaged(&good, place, FLIPS[place % 6])).unwrap();
            let start = Instant::now();
            if let Err(error) = read(&path) {
                assert!(error.to_string().contains("rows.parquet"), "{place}: {error}");
                refused += 1;
            }
            assert!(start.elapsed() < Duration::from_secs(5), "{compression:?} {place}");
        }
        for cut in (0..good.len()).step_by(7) {
            std::fs::write(&path, &good[..cut]).unwrap();
            assert!(matches!(read(&path), Err(DataError::Table { .. })), "{cut}");
        }
    }
    assert!(refused > 500, "{refused}");
}

/// A footer that claims fewer rows than there are would hide some of them.
#[test]
fn footers_count_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    let good = written(Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
    std::fs::write(&path, &good).unwrap();
    read(&path).unwrap();
    // 40 rows, as a number of either sign is written, after the type of a list's successor: field 3, a long number.
    let place = good.windows(2).rposition(|window| window == [0x16, 80]).unwrap();
    let mut bad = good;
    bad[place + 1] = 40;
    std::fs::write(&path, &bad).unwrap();
    let message = read(&path).unwrap_err().to_string();
    assert!(message.contains("the rows of its row groups do not add up to its number of rows"), "{message}");
}

/// Counts records by x.
const SPEC: &str = r#"experiment.title = "damaged"
data = { source.parquet.path = "rows.parquet", inputs = ["x"], target = "n" }
task.density = { bins = [{ from = 0.0, to = 8.0, bins = 4 }], test = [{ from = 0.0, to = 8.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.histogram.relation = "add-remove" }
"#;

/// Writes a file on which an assertion of the decoder fails where it reads the column `x`; whether there is one.
fn wrote_refuted(path: &Path) -> bool {
    let good = written(Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
    for case in 0..6 * good.len() {
        std::fs::write(path, damaged(&good, case / 6, FLIPS[case % 6])).unwrap();
        let rows = RowFilesReader::open(
            &[RowFile::from_path(path)],
            &CsvLayout::default(),
            &["x".to_owned()],
            MissingCellPolicy::Refuse,
        );
        let read = rows.and_then(|mut rows| rows.read(&mut [Vec::new()], 99));
        if read.is_err_and(|error| error.to_string().contains("its parts are inconsistent")) {
            return true;
        }
    }
    false
}

/// The program ends with the error of a file, and not as it ends at a bug, where an assertion of the decoder fails.
#[test]
fn assertions_of_the_decoder_are_no_bugs() {
    let project = Project::new();
    project.write("s.toml", SPEC);
    assert!(wrote_refuted(&project.path("rows.parquet")));
    let run = project.dpgp(&["stats", "s.toml", "rows.parquet", "--out", "sums.json"]).expect(2);
    assert!(run.err.contains("rows.parquet: cannot be read as a Parquet file"), "{}", run.err);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    assert!(!project.path("sums.json").exists());
}
