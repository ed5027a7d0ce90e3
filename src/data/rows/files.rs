//! The rows of several files, one after the other.

use std::path::{Path, PathBuf};

use super::Rows;
use super::parquet::ParquetRows;
use super::text::TextRows;
use crate::data::DataError;
use crate::data::own::is_parquet;

/// Files of one table: Parquet by their ending, text with a header otherwise.
pub struct Files {
    paths: Vec<PathBuf>,
    separator: u8,
    columns: Vec<String>,
    open: Option<Box<dyn Rows>>,
    next: usize,
    rows: Vec<u64>,
}

impl Files {
    /// Opens every file once, so that a column that is missing in the last is known before the first is read.
    ///
    /// # Errors
    /// [`DataError`] for a file that cannot be read, or lacks a column.
    pub fn open(paths: &[PathBuf], separator: u8, columns: &[String]) -> Result<Self, DataError> {
        for path in paths {
            open(path, separator, columns)?;
        }
        let (paths, columns, rows) = (paths.to_vec(), columns.to_vec(), vec![0; paths.len()]);
        Ok(Self { paths, separator, columns, open: None, next: 0, rows })
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
        mut some: impl FnMut(&mut dyn Rows, u64) -> Result<u64, DataError>,
    ) -> Result<u64, DataError> {
        let mut done = 0;
        while done < most {
            let rows = match &mut self.open {
                Some(open) => some(open.as_mut(), most - done)?,
                None => 0,
            };
            if rows == 0 {
                let Some(path) = self.paths.get(self.next) else { break };
                self.open = Some(open(path, self.separator, &self.columns)?);
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
        let done = self.take(most as u64, |from, most| Ok(from.read(columns, most as usize)? as u64))?;
        Ok(done as usize)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        self.take(rows, |from, rows| from.skip(rows))
    }
}

fn open(path: &Path, separator: u8, columns: &[String]) -> Result<Box<dyn Rows>, DataError> {
    Ok(match is_parquet(path) {
        true => Box::new(ParquetRows::open(path, columns)?),
        false => Box::new(TextRows::open(path, separator, columns)?),
    })
}

fn count(path: &Path, separator: u8) -> Result<u64, DataError> {
    if is_parquet(path) { ParquetRows::count(path) } else { TextRows::count(path, separator) }
}
