//! Reads the table in a zip archive, and guards the decoding of damaged files.

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;

use super::table_error::TableError;

/// The most bytes that are unpacked: a small archive may hold any number of them.
const MOST_UNPACKED: u64 = 1 << 30;

/// The bytes of the first CSV file of an archive, those that the system of the archive adds apart.
///
/// # Errors
/// [`TableError::Unpacked`] for more than 1 GiB; [`TableError::Body`] for an archive that cannot be read, or holds no CSV file.
pub(super) fn unzipped(file: File) -> Result<Vec<u8>, TableError> {
    first_table(file, MOST_UNPACKED)
}

fn first_table(archive: impl Read + Seek, most: u64) -> Result<Vec<u8>, TableError> {
    let mut archive = zip::ZipArchive::new(archive).map_err(unreadable)?;
    for place in 0..archive.len() {
        let entry = archive.by_index(place).map_err(unreadable)?;
        let name = entry.name().map_err(unreadable)?.to_string();
        if name.to_lowercase().ends_with(".csv") && !name.starts_with("__MACOSX") {
            return if entry.size() > most {
                Err(TableError::Unpacked(most >> 20))
            } else {
                bounded(entry, most)
            };
        }
    }
    Err(TableError::Body("the archive holds no CSV file".into()))
}

/// All bytes. An archive may hold more than it says.
fn bounded(entry: impl Read, most: u64) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    entry.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most { Err(TableError::Unpacked(most >> 20)) } else { Ok(bytes) }
}

fn unreadable(cause: impl std::error::Error + Send + Sync + 'static) -> TableError {
    TableError::Body(Box::new(cause))
}

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread decodes a file. A panic is then an error of the file, and no bug of the program.
pub fn is_decoding() -> bool {
    DECODING.get()
}

/// Runs the library of the format on a file. The library has assertions where bytes do not fit each other, and a panic there is
/// the error of a damaged file.
///
/// Nobody sees what a panic leaves half done: all readers of a file end with its first error.
pub(super) fn decoded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let before = DECODING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(before);
    outcome.unwrap_or_else(|_| Err(ParquetError::General("its parts are inconsistent".to_owned())))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(bytes: usize) -> Cursor<Vec<u8>> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file("rows.csv", SimpleFileOptions::default()).unwrap();
        archive.write_all(&vec![b'1'; bytes]).unwrap();
        archive.finish().unwrap()
    }

    #[test]
    fn no_more_is_unpacked_than_the_limit() {
        let most = 3 << 20;
        assert_eq!(first_table(archive(most), most as u64).unwrap().len(), most);
        let bomb = archive(most + 1);
        assert!(bomb.get_ref().len() < most / 100);
        assert!(matches!(first_table(bomb, most as u64), Err(TableError::Unpacked(3))));
        let unsaid = bounded(std::io::repeat(b'1'), most as u64);
        assert!(matches!(unsaid, Err(TableError::Unpacked(3))));
        assert!(first_table(Cursor::new(b"no archive".to_vec()), 1).is_err());
    }
}
