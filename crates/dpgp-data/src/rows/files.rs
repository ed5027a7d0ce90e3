//! The rows of several files, one after the other.

use std::path::Path;

use super::partitioned::{count, open};
use super::{Beside, FileRows, FileState, ReadColumns, RowFile, RowMeter, Rows};
use crate::DataError;
use crate::cell_rules::CellRules;
use crate::identity::{DataKey, Fingerprint, RowWitness};
use crate::person::PersonId;
use crate::text_layout::TextLayout;

/// Files of one table: Parquet by their ending, text otherwise.
pub struct Files {
    files: Vec<RowFile>,
    layout: TextLayout,
    columns: ReadColumns,
    open: Option<Box<dyn FileRows>>,
    next: usize,
    rows: Vec<u64>,
    witness: Option<RowWitness>,
    watched: Option<Watched>,
}

/// Who is told of the rows, and the bytes of each file.
struct Watched {
    meter: RowMeter,
    bytes: Vec<u64>,
}

impl Files {
    /// Opens every file once, so that a column that is missing in the last is known before the first is read. Where cells may be
    /// missing they are NaN.
    ///
    /// # Errors
    /// [`DataError`] for a file that cannot be read, lacks a column, or has one that its path names.
    pub fn open(
        files: &[RowFile],
        layout: &TextLayout,
        columns: &[String],
        rules: impl Into<CellRules>,
    ) -> Result<Self, DataError> {
        let (numbers, rules) = (columns.to_vec(), rules.into());
        Self::of(files, layout, ReadColumns { numbers, witnessed: false, person: None, rules })
    }

    /// The same; [`Files::read_persons`] also reads whose row each is, which a column of text or numbers says.
    ///
    /// # Errors
    /// As [`Files::open`].
    pub fn of_persons(
        files: &[RowFile],
        layout: &TextLayout,
        columns: &[String],
        person: &str,
        rules: impl Into<CellRules>,
    ) -> Result<Self, DataError> {
        let (numbers, person, rules) = (columns.to_vec(), Some(person.to_owned()), rules.into());
        Self::of(files, layout, ReadColumns { numbers, witnessed: false, person, rules })
    }

    fn of(files: &[RowFile], layout: &TextLayout, columns: ReadColumns) -> Result<Self, DataError> {
        for file in files {
            open(file, layout, &columns)?;
        }
        let (files, rows) = (files.to_vec(), vec![0; files.len()]);
        Ok(Self {
            files,
            layout: layout.clone(),
            columns,
            open: None,
            next: 0,
            rows,
            witness: None,
            watched: None,
        })
    }

    /// The same; the rows that are read, with all their columns, are remembered by their digests under a key.
    ///
    /// # Errors
    /// As [`Files::open`].
    pub fn witnessed(
        paths: &[RowFile],
        layout: &TextLayout,
        columns: &[String],
        rules: impl Into<CellRules>,
        key: &DataKey,
    ) -> Result<Self, DataError> {
        let mut files = Self::open(paths, layout, columns, rules)?;
        files.columns.witnessed = true;
        let seen = paths.first().map(|file| open(file, layout, &files.columns)).transpose()?;
        let read: Vec<&str> = columns.iter().map(String::as_str).collect();
        let seen = seen.map(|file| file.seen()).unwrap_or_default();
        files.witness = Some(RowWitness::new(key, &seen, &read).of_files(paths.len()));
        Ok(files)
    }

    /// Tells a meter of the rows that are read from here on.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn watched(mut self, meter: Option<RowMeter>) -> Result<Self, DataError> {
        let Some(meter) = meter else { return Ok(self) };
        let mut bytes = Vec::with_capacity(self.files.len());
        for file in &self.files {
            bytes.push(FileState::of(&file.path)?.bytes);
        }
        self.watched = Some(Watched { meter, bytes });
        Ok(self)
    }

    /// As [`Rows::read`], with the person of each row; none where that is missing and may be.
    ///
    /// # Errors
    /// As [`Rows::read`], and for a row without a person.
    pub fn read_persons(
        &mut self,
        columns: &mut [Vec<f64>],
        persons: &mut Vec<Option<PersonId>>,
        most: usize,
    ) -> Result<usize, DataError> {
        let done = self.take(most as u64, |from, most, witness| {
            let beside = Beside { witness, persons: Some(persons) };
            Ok(from.read(columns, most as usize, beside)? as u64)
        })?;
        self.tell(done);
        Ok(done as usize)
    }

    /// What the witness saw of the rows that were read, if there is one.
    pub fn fingerprint(self) -> Option<Fingerprint> {
        let files = self.files.len();
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
        (self.files.get(file).map_or(Path::new(""), |file| &file.path), row)
    }

    /// The rows of each file: by the footer of a Parquet file, by reading any other once.
    ///
    /// # Errors
    /// [`DataError`] for a file that cannot be read.
    pub fn count(&self) -> Result<Vec<u64>, DataError> {
        self.files.iter().map(|file| count(file, &self.layout)).collect()
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
                let Some(file) = self.files.get(self.next) else { break };
                let rows = open(file, &self.layout, &self.columns)?;
                if let Some(witness) = &mut self.witness {
                    witness.begin_file(self.next, &rows.seen());
                    file.show(witness, &self.columns.numbers);
                }
                self.open = Some(rows);
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
        self.tell(done);
        Ok(done as usize)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        self.take(rows, |from, rows, _| from.skip(rows))
    }
}

impl Files {
    /// Tells of so many more rows.
    fn tell(&mut self, rows: u64) {
        let (Some(Watched { meter, bytes }), Some(open)) = (&mut self.watched, &self.open) else { return };
        let (before, from) = bytes.split_at(self.next - 1);
        let [before, from] = [before, from].map(|some| some.iter().sum::<u64>() as f64);
        let read = before + open.share() * bytes[self.next - 1] as f64;
        meter.advance(rows, read / (before + from).max(1.0));
    }
}
