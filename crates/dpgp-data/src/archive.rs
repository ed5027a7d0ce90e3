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
/// [`PaperTableError::Unpacked`] for more than 1 GiB; [`PaperTableError::Body`] for an archive that cannot be read, or holds no CSV file.
pub(super) fn unzip_first_csv(file: File) -> Result<Vec<u8>, TableError> {
    read_first_csv(file, MOST_UNPACKED)
}

fn read_first_csv(archive: impl Read + Seek, most: u64) -> Result<Vec<u8>, TableError> {
    let mut archive = zip::ZipArchive::new(archive).map_err(archive_error)?;
    for place in 0..archive.len() {
        let entry = archive.by_index(place).map_err(archive_error)?;
        let name = entry.name().map_err(archive_error)?.to_string();
        if name.to_lowercase().ends_with(".csv") && !name.starts_with("__MACOSX") {
            return if entry.size() > most { Err(TableError::Unpacked(most >> 20)) } else { read_limited(entry, most) };
        }
    }
    Err(TableError::Body("the archive holds no CSV file".into()))
}

/// All bytes. An archive may hold more than it says.
fn read_limited(entry: impl Read, most: u64) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    entry.take(most + 1).read_to_end(&mut bytes).map_err(archive_error)?;
    if bytes.len() as u64 > most { Err(TableError::Unpacked(most >> 20)) } else { Ok(bytes) }
}

fn archive_error(cause: impl std::error::Error + Send + Sync + 'static) -> TableError {
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
pub(super) fn catch_decoding_panic<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
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
        assert_eq!(read_first_csv(archive(most), most as u64).unwrap().len(), most);
        let bomb = archive(most + 1);
        assert!(bomb.get_ref().len() < most / 100);
        assert!(matches!(read_first_csv(bomb, most as u64), Err(TableError::Unpacked(3))));
        let unsaid = read_limited(std::io::repeat(b'1'), most as u64);
        assert!(matches!(unsaid, Err(TableError::Unpacked(3))));
        assert!(read_first_csv(Cursor::new(b"no archive".to_vec()), 1).is_err());
    }
}
