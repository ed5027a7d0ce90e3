//! Files of rows and of sums, as bytes.

use std::path::Path;

use dpgp::data::rows::{RowFile, RowFilesReader, RowStream};
use dpgp::data::{
    CsvLayout, DataError, HmacKey, IdxArray, MissingCellPolicy, Table, describe_columns, read_user_table,
};
use rand::RngExt;
use rand_pcg::Pcg64;

use super::{steps, stream};
use crate::support::cli::Project;

const ROWS: &str = "x,y,who\n1,2.5,Ann\n-3e4,,\"Bob, \"\"B\"\"\"\n\n 7 ,1e-300,\"two\nlines\"\n";

/// Pieces of text that a reader of rows gives a meaning to.
const PIECES: [&[u8]; 10] =
    [b"\"", b"\n", b",", b"\r", b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"inf", b"1e999", b"\"\","];

/// Takes bytes away, writes others over them, repeats some, or cuts the end off.
pub fn damage(bytes: &mut Vec<u8>, stream: &mut Pcg64) {
    let at = stream.random_range(0..=bytes.len());
    let to = (at + stream.random_range(0..4)).min(bytes.len());
    match stream.random_range(0..5) {
        0 => drop(bytes.drain(at..to)),
        1 => bytes[at..to].iter_mut().for_each(|byte| *byte ^= 1 << stream.random_range(0..8)),
        2 => {
            let piece = PIECES[stream.random_range(0..PIECES.len())];
            drop(bytes.splice(at..to, piece.iter().copied()));
        }
        3 => {
            let again = bytes[at..to].to_vec();
            drop(bytes.splice(at..at, again));
        }
        _ => bytes.truncate(at),
    }
}

/// Reads rows in every way that there is.
fn read(path: &Path) -> Result<(), DataError> {
    let (files, columns) = ([RowFile::from_path(path)], ["x".to_owned()]);
    let types = describe_columns(path);
    let table: Result<Table, DataError> = read_user_table(path, &[]);
    let same = table.is_ok() == types.is_ok();
    assert!(same, "types and table disagree on whether {} is a table", path.display());
    let mut rows = RowFilesReader::open_fingerprinted(
        &files,
        &CsvLayout::default(),
        &columns,
        MissingCellPolicy::Refuse,
        &HmacKey::new(b"key"),
    )?;
    while rows.read(&mut [Vec::new()], 2)? > 0 {}
    let mut rows =
        RowFilesReader::open_with_persons(&files, &CsvLayout::default(), &columns, "who", MissingCellPolicy::Refuse)?;
    while rows.read_with_persons(&mut [Vec::new()], &mut Vec::new(), 2)? > 0 {}
    table?.numeric_column("y").map(drop)
}

#[test]
fn damaged_rows_are_read_or_refused() {
    let project = Project::empty();
    for step in 0..steps() {
        let (mut stream, mut bytes) = (stream(step), ROWS.as_bytes().to_vec());
        for _ in 0..stream.random_range(1..6) {
            damage(&mut bytes, &mut stream);
        }
        project.put("rows.csv", &bytes);
        if let Err(error) = read(&project.path("rows.csv")) {
            assert!(error.to_string().contains("rows.csv"), "{step}: {error}");
        }
    }
}

#[test]
fn damaged_arrays_are_read_or_refused() {
    let project = Project::empty();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, &[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6]).unwrap();
    let good = encoder.finish().unwrap();
    for step in 0..steps() {
        let (mut stream, mut bytes) = (stream(step), good.clone());
        damage(&mut bytes, &mut stream);
        project.put("array.gz", &bytes);
        if let Err(error) = IdxArray::read(&project.path("array.gz")) {
            assert!(error.to_string().contains("array.gz"), "{step}: {error}");
        }
    }
}
