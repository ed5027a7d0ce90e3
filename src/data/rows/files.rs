//! The rows of several files, one after the other.

use std::path::{Path, PathBuf};

use super::parquet::ParquetRows;
use super::text::TextRows;
use super::{Beside, FileRows, ReadColumns, Rows};
use crate::data::DataError;
use crate::data::identity::{DataKey, Fingerprint, RowWitness};
use crate::data::own::is_parquet;
use crate::data::person::PersonId;

/// Files of one table: Parquet by their ending, text with a header otherwise.
pub struct Files {
    paths: Vec<PathBuf>,
    separator: u8,
    columns: ReadColumns,
    open: Option<Box<dyn FileRows>>,
    next: usize,
    rows: Vec<u64>,
    witness: Option<RowWitness>,
}

impl Files {
    /// Opens every file once, so that a column that is missing in the last is known before the first is read.
    ///
    /// # Errors
    /// [`DataError`] for a file that cannot be read, or lacks a column.
    pub fn open(paths: &[PathBuf], separator: u8, columns: &[String]) -> Result<Self, DataError> {
        Self::of(paths, separator, ReadColumns { numbers: columns.to_vec(), witnessed: false, person: None })
    }

    /// The same; [`Files::read_persons`] also reads whose row each is, which a column of text or numbers says.
    ///
    /// # Errors
    /// As [`Files::open`].
    pub fn of_persons(
        paths: &[PathBuf],
        separator: u8,
        columns: &[String],
        person: &str,
    ) -> Result<Self, DataError> {
        let person = Some(person.to_owned());
        Self::of(paths, separator, ReadColumns { numbers: columns.to_vec(), witnessed: false, person })
    }

    fn of(paths: &[PathBuf], separator: u8, columns: ReadColumns) -> Result<Self, DataError> {
        for path in paths {
            open(path, separator, &columns)?;
        }
        let (paths, rows) = (paths.to_vec(), vec![0; paths.len()]);
        Ok(Self { paths, separator, columns, open: None, next: 0, rows, witness: None })
    }

    /// The same; the rows that are read, with all their columns, are remembered by their digests under a key.
    ///
    /// # Errors
    /// As [`Files::open`].
    pub fn witnessed(
        paths: &[PathBuf],
        separator: u8,
        columns: &[String],
        key: &DataKey,
    ) -> Result<Self, DataError> {
        let mut files = Self::open(paths, separator, columns)?;
        files.columns.witnessed = true;
        let seen = paths.first().map(|path| open(path, separator, &files.columns)).transpose()?;
        let read: Vec<&str> = columns.iter().map(String::as_str).collect();
        let seen = seen.map(|file| file.seen()).unwrap_or_default();
        files.witness = Some(RowWitness::new(key, &seen, &read));
        Ok(files)
    }

    /// As [`Rows::read`], with the person of each row.
    ///
    /// # Errors
    /// As [`Rows::read`], and for a row without a person.
    pub fn read_persons(
        &mut self,
        columns: &mut [Vec<f64>],
        persons: &mut Vec<PersonId>,
        most: usize,
    ) -> Result<usize, DataError> {
        let done = self.take(most as u64, |from, most, witness| {
            let beside = Beside { witness, persons: Some(persons) };
            Ok(from.read(columns, most as usize, beside)? as u64)
        })?;
        Ok(done as usize)
    }

    /// What the witness saw of the rows that were read, if there is one.
    pub fn fingerprint(self) -> Option<Fingerprint> {
        let files = self.paths.len();
        self.witness.map(|witness| witness.fingerprint(files))
    }

    /// The rows of each file that were read or passed over so far.
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// The file that a row stands in, of those read or passed over so far, and how many rows of the file precede it.
    pub fn place(&self, row: u64) -> (&Path, u64) {
        let (mut file, mut row) = (0, row);
        while file + 1 < self.rows.len() && row >= self.rows[file] {
            row -= self.rows[file];
            file += 1;
        }
        (self.paths.get(file).map_or(Path::new(""), PathBuf::as_path), row)
    }

    /// The rows of each file: by the footer of a Parquet file, by reading any other once.
    ///
    /// # Errors
    /// [`DataError`] for a file that cannot be read.
    pub fn count(&self) -> Result<Vec<u64>, DataError> {
        self.paths.iter().map(|path| count(path, self.separator)).collect()
    }

    /// Takes from one file after the other until there is enough.
    fn take(
        &mut self,
        most: u64,
        mut some: impl FnMut(&mut dyn FileRows, u64, Option<&mut RowWitness>) -> Result<u64, DataError>,
    ) -> Result<u64, DataError> {
        let mut done = 0;
        while done < most {
            let rows = match &mut self.open {
                Some(open) => some(open.as_mut(), most - done, self.witness.as_mut())?,
                None => 0,
            };
            if rows == 0 {
                let Some(path) = self.paths.get(self.next) else { break };
                self.open = Some(open(path, self.separator, &self.columns)?);
                if let Some(witness) = &mut self.witness {
                    witness.begin_file(self.next);
                }
                self.next += 1;
                continue;
            }
            self.rows[self.next - 1] += rows;
            done += rows;
        }
        Ok(done)
    }
}

impl Rows for Files {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let done = self.take(most as u64, |from, most, witness| {
            Ok(from.read(columns, most as usize, Beside { witness, persons: None })? as u64)
        })?;
        Ok(done as usize)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        self.take(rows, |from, rows, _| from.skip(rows))
    }
}

fn open(path: &Path, separator: u8, columns: &ReadColumns) -> Result<Box<dyn FileRows>, DataError> {
    Ok(match is_parquet(path) {
        true => Box::new(ParquetRows::open(path, columns)?),
        false => Box::new(TextRows::open(path, separator, columns)?),
    })
}

fn count(path: &Path, separator: u8) -> Result<u64, DataError> {
    if is_parquet(path) { ParquetRows::count(path) } else { TextRows::count(path, separator) }
}
