//! The rows of several local or cloud files in sequence, with columns from their paths, and addresses of files in a cloud.

use std::path::{Path, PathBuf};

use super::parquet::ParquetRows;
use super::text::TextRows;
use super::{
    FileRows, FileState, PathPartition, RequestedColumns, RowFile, RowProgressBar, RowSideOutputs, RowStream, cloud,
};
use crate::DataError;
use crate::identity::{HmacKey, RowFingerprinter, RowsFingerprint};
use crate::missing::{CellParsingRules, MissingCellPolicy};
use crate::own::is_parquet;
use crate::person::PersonId;
use crate::table_error::{TableCellError, TableError};
use crate::text::CsvLayout;

/// Files of one table: Parquet by their ending, text otherwise.
pub struct RowFilesReader {
    files: Vec<RowFile>,
    layout: CsvLayout,
    columns: RequestedColumns,
    open: Option<Box<dyn FileRows>>,
    next: usize,
    rows: Vec<u64>,
    witness: Option<RowFingerprinter>,
    watched: Option<ReadProgress>,
}

/// Observer of the rows and of the bytes of each file.
struct ReadProgress {
    meter: RowProgressBar,
    bytes: Vec<u64>,
}

impl RowFilesReader {
    /// Opens every file once, so that a column that is missing in the last is known before the first is read. Where cells may be
    /// missing they are NaN.
    ///
    /// # Errors
    /// [`DataError`] for a file that cannot be read, lacks a column, or has one that its path names.
    pub fn open(
        files: &[RowFile],
        layout: &CsvLayout,
        columns: &[String],
        rules: impl Into<CellParsingRules>,
    ) -> Result<Self, DataError> {
        let (numbers, rules) = (columns.to_vec(), rules.into());
        Self::open_columns(files, layout, RequestedColumns { numbers, rules, ..Default::default() })
    }

    /// The same; [`RowFilesReader::read_with_persons`] also reads whose row each is, which a column of text or numbers says.
    ///
    /// # Errors
    /// As [`RowFilesReader::open`].
    pub fn open_with_persons(
        files: &[RowFile],
        layout: &CsvLayout,
        columns: &[String],
        person: &str,
        rules: impl Into<CellParsingRules>,
    ) -> Result<Self, DataError> {
        let (numbers, person, rules) = (columns.to_vec(), Some(person.to_owned()), rules.into());
        Self::open_columns(files, layout, RequestedColumns { numbers, witnessed: false, person, rules })
    }

    fn open_columns(files: &[RowFile], layout: &CsvLayout, columns: RequestedColumns) -> Result<Self, DataError> {
        for file in files {
            open_row_file(file, layout, &columns)?;
        }
        let (files, rows) = (files.to_vec(), vec![0; files.len()]);
        Ok(Self { files, layout: layout.clone(), columns, open: None, next: 0, rows, witness: None, watched: None })
    }

    /// The same; the rows that are read, with all their columns, are remembered by their digests under a key.
    ///
    /// # Errors
    /// As [`RowFilesReader::open`].
    pub fn open_fingerprinted(
        paths: &[RowFile],
        layout: &CsvLayout,
        columns: &[String],
        rules: impl Into<CellParsingRules>,
        key: &HmacKey,
    ) -> Result<Self, DataError> {
        let mut files = Self::open(paths, layout, columns, rules)?;
        files.columns.witnessed = true;
        let seen = paths.first().map(|file| open_row_file(file, layout, &files.columns)).transpose()?;
        let read: Vec<&str> = columns.iter().map(String::as_str).collect();
        let seen = seen.map(|file| file.fingerprinted_columns()).unwrap_or_default();
        files.witness = Some(RowFingerprinter::new(key, &seen, &read).with_row_limit_for_files(paths.len()));
        Ok(files)
    }

    /// Tells a meter of the rows that are read from here on.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn with_progress_bar(mut self, meter: Option<RowProgressBar>) -> Result<Self, DataError> {
        let Some(meter) = meter else { return Ok(self) };
        let mut bytes = Vec::with_capacity(self.files.len());
        for file in &self.files {
            bytes.push(FileState::read(&file.path)?.bytes);
        }
        self.watched = Some(ReadProgress { meter, bytes });
        Ok(self)
    }

    /// As [`RowStream::read`], with the person of each row; none if it is missing and may be.
    ///
    /// # Errors
    /// As [`RowStream::read`], and for a row without a person.
    pub fn read_with_persons(
        &mut self,
        columns: &mut [Vec<f64>],
        persons: &mut Vec<Option<PersonId>>,
        most: usize,
    ) -> Result<usize, DataError> {
        let done = self.consume_rows_across_files(most as u64, |from, most, witness| {
            let beside = RowSideOutputs { witness, persons: Some(persons) };
            Ok(from.read(columns, most as usize, beside)? as u64)
        })?;
        self.report_progress(done);
        Ok(done as usize)
    }

    /// The witness's record of the rows that were read, if there is a witness.
    pub fn into_fingerprint(self) -> Option<RowsFingerprint> {
        let files = self.files.len();
        self.witness.map(|witness| witness.into_fingerprint(files))
    }

    /// The rows of each file that were read or passed over so far.
    pub fn rows_read_per_file(&self) -> &[u64] {
        &self.rows
    }

    /// The rows of each file: by the footer of a Parquet file, by reading any other once.
    ///
    /// # Errors
    /// [`DataError`] for a file that cannot be read.
    pub fn count_rows_per_file(&self) -> Result<Vec<u64>, DataError> {
        self.files.iter().map(|file| count_file_rows(file, &self.layout)).collect()
    }

    /// Applies `some`, which reads or skips rows, to one file after the other until `most` rows are done.
    fn consume_rows_across_files(
        &mut self,
        most: u64,
        mut some: impl FnMut(&mut dyn FileRows, u64, Option<&mut RowFingerprinter>) -> Result<u64, DataError>,
    ) -> Result<u64, DataError> {
        let mut done = 0;
        while done < most {
            let rows = match &mut self.open {
                Some(open) => some(open.as_mut(), most - done, self.witness.as_mut())?,
                None => 0,
            };
            if rows == 0 {
                let Some(file) = self.files.get(self.next) else { break };
                let rows = open_row_file(file, &self.layout, &self.columns)?;
                if let Some(witness) = &mut self.witness {
                    witness.begin_file(self.next, &rows.fingerprinted_columns());
                    file.fingerprint_partitions(witness, &self.columns.numbers);
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

impl RowStream for RowFilesReader {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let done = self.consume_rows_across_files(most as u64, |from, most, witness| {
            Ok(from.read(columns, most as usize, RowSideOutputs { witness, persons: None })? as u64)
        })?;
        self.report_progress(done);
        Ok(done as usize)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        self.consume_rows_across_files(rows, |from, rows, _| from.skip(rows))
    }
}

impl RowFilesReader {
    /// Tells of so many more rows.
    fn report_progress(&mut self, rows: u64) {
        let (Some(ReadProgress { meter, bytes }), Some(open)) = (&mut self.watched, &self.open) else {
            return;
        };
        let (before, from) = bytes.split_at(self.next - 1);
        let [before, from] = [before, from].map(|some| some.iter().sum::<u64>() as f64);
        let read = before + open.read_fraction() * bytes[self.next - 1] as f64;
        meter.advance(rows, read / (before + from).max(1.0));
    }
}

/// Rows with cells that are the same in all of them. A witness is shown those by [`RowFile::fingerprint_partitions`].
struct PathPartitionRows {
    rows: Box<dyn FileRows>,
    partitions: Vec<PathPartition>,
    /// For each column that is asked for its number, or none if it stands in the file.
    numbers: Vec<Option<f64>>,
    /// The person of all rows, if the path names it.
    person: Option<PersonFromPath>,
}

/// The person that a path names; nobody where that is missing and may be.
#[derive(Clone, Copy)]
struct PersonFromPath(Option<PersonId>);

/// Opens a file: Parquet by its ending, text otherwise.
///
/// # Errors
/// [`DataError`] for a file that cannot be read, lacks a column, or has one that its path names.
fn open_row_file(
    file: &RowFile,
    layout: &CsvLayout,
    columns: &RequestedColumns,
) -> Result<Box<dyn FileRows>, DataError> {
    let mut inside = columns.clone();
    inside.numbers.retain(|name| file.partition(name).is_none());
    inside.person = inside.person.filter(|name| file.partition(name).is_none());
    let rows = open_ignoring_partitions(file, layout, &inside);
    if file.partitions.is_empty() {
        return rows;
    }
    let rows = rows.map_err(|error| add_partitions_to_error(error, file))?;
    match PathPartitionRows::new(file, rows, columns) {
        Ok(rows) => Ok(Box::new(rows)),
        Err(problem) => Err(DataError::from_table_error(&file.path, problem)),
    }
}

fn open_ignoring_partitions(
    file: &RowFile,
    layout: &CsvLayout,
    columns: &RequestedColumns,
) -> Result<Box<dyn FileRows>, DataError> {
    Ok(match is_parquet(&file.path) {
        true => Box::new(ParquetRows::open(&file.path, columns)?),
        false => Box::new(TextRows::open(&file.path, layout, columns)?),
    })
}

/// The error for a column that is not there lists those that the path names, too.
fn add_partitions_to_error(error: DataError, file: &RowFile) -> DataError {
    match error {
        DataError::Table { file: path, problem } => match *problem {
            TableError::UnknownColumn { column, mut known, .. } => {
                known.extend(file.partitions.iter().map(|partition| partition.name.clone()));
                DataError::from_table_error(&path, TableError::unknown_column(&column, known))
            }
            problem => DataError::from_table_error(&path, problem),
        },
        other => other,
    }
}

impl PathPartitionRows {
    fn new(file: &RowFile, rows: Box<dyn FileRows>, columns: &RequestedColumns) -> Result<Self, TableError> {
        file.ensure_distinct_partitions(&rows.column_names())?;
        let numbers = columns.numbers.iter().map(|name| file.partition_value_as_number(name, &columns.rules));
        let numbers = numbers.collect::<Result<_, _>>()?;
        let person = columns.person.as_ref().and_then(|name| file.partition(name));
        let person = person.map(|person| parse_partition_person(person, columns.rules.missing)).transpose()?;
        Ok(Self { rows, partitions: file.partitions.clone(), numbers, person })
    }
}

fn parse_partition_person(partition: &PathPartition, missing: MissingCellPolicy) -> Result<PersonFromPath, TableError> {
    let person = partition.value.as_deref().and_then(PersonId::parse);
    if missing == MissingCellPolicy::Drop {
        return Ok(PersonFromPath(person));
    }
    let (column, problem) = (partition.name.clone(), TableCellError::NoPerson);
    person.map(|person| PersonFromPath(Some(person))).ok_or(TableError::PathCell { column, problem })
}

impl FileRows for PathPartitionRows {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize, beside: RowSideOutputs<'_>) -> Result<usize, DataError> {
        let inside = columns.iter_mut().zip(&self.numbers).filter(|(_, number)| number.is_none());
        let mut inside: Vec<Vec<f64>> = inside.map(|(column, _)| std::mem::take(column)).collect();
        let RowSideOutputs { witness, mut persons } = beside;
        let of_file = if self.person.is_none() { persons.as_deref_mut() } else { None };
        let rows = self.rows.read(&mut inside, most, RowSideOutputs { witness, persons: of_file })?;
        let mut inside = inside.into_iter();
        for (column, number) in columns.iter_mut().zip(&self.numbers) {
            match number {
                Some(number) => column.resize(column.len() + rows, *number),
                None => *column = inside.next().unwrap_or_default(),
            }
        }
        if let (Some(persons), Some(PersonFromPath(person))) = (persons, self.person) {
            persons.resize(persons.len() + rows, person);
        }
        Ok(rows)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        self.rows.skip(rows)
    }

    fn fingerprinted_columns(&self) -> Vec<String> {
        let named = self.partitions.iter().map(|partition| partition.name.clone());
        named.chain(self.rows.fingerprinted_columns()).collect()
    }

    fn column_names(&self) -> Vec<String> {
        self.rows.column_names()
    }

    fn read_fraction(&self) -> f64 {
        self.rows.read_fraction()
    }
}

/// How many rows a file has: by the footer of a Parquet file, by reading any other once.
///
/// # Errors
/// [`DataError`] for a file that cannot be read.
fn count_file_rows(file: &RowFile, layout: &CsvLayout) -> Result<u64, DataError> {
    match is_parquet(&file.path) {
        true => ParquetRows::count_rows(&file.path),
        false => TextRows::count_rows(&file.path, layout),
    }
}

/// How the addresses begin that can be read.
#[cfg(feature = "cloud")]
pub(super) const SCHEMES: [&str; 4] = ["s3", "gs", "az", "https"];

/// Whether a name is the address of something that is not on this machine: `s3://bucket/rows.csv`.
///
/// ```
/// use dpgp_data::rows::is_cloud_address;
/// assert!(is_cloud_address("s3://bucket/rows.csv".as_ref()));
/// assert!(!is_cloud_address("rows/s3:/rows.csv".as_ref()));
/// ```
pub fn is_cloud_address(name: &Path) -> bool {
    address_scheme(name).is_some()
}

/// Text before `://`, if it begins an address.
pub(super) fn address_scheme(name: &Path) -> Option<&str> {
    let (scheme, _) = name.to_str()?.split_once("://")?;
    let is_word = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then_some(scheme)
}

/// A file that is named relative to a folder; an address stays as it is.
pub fn resolve_in_folder(folder: &Path, name: &Path) -> PathBuf {
    if is_cloud_address(name) { name.to_path_buf() } else { folder.join(name) }
}

/// Fails for an address that this program cannot read, before anything is read or written.
///
/// # Errors
/// [`DataError::Address`].
pub fn ensure_readable_addresses<'n>(names: impl IntoIterator<Item = &'n Path>) -> Result<(), DataError> {
    names.into_iter().filter(|name| is_cloud_address(name)).try_for_each(cloud::check_address)
}

/// The error for an address where the program cannot read any.
#[cfg(not(feature = "cloud"))]
pub(super) fn unsupported_address_error(name: &Path) -> DataError {
    let problem = "this build cannot open addresses; `cargo install --path . --features cloud` builds one that can";
    address_error(name, problem)
}

/// The error for an address that cannot be used. What may be a key of access is not shown again.
pub(super) fn address_error(name: &Path, problem: &'static str) -> DataError {
    DataError::Address { name: strip_access_keys(name), problem }
}

/// An address without what may be a key of access.
pub(crate) fn strip_access_keys(address: &Path) -> PathBuf {
    let text = address.to_string_lossy();
    let plain = text.split(['?', '#']).next().unwrap_or_default();
    match plain.split_once("://").zip(plain.rsplit_once('@')) {
        Some(((scheme, _), (_, rest))) => format!("{scheme}://{rest}").into(),
        None => plain.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths() {
        for (name, known) in [
            ("s3://b/rows.csv", Some("s3")),
            ("ftp://host/rows.csv", Some("ftp")),
            ("://b", None),
            ("./s3://b", None),
            ("rows", None),
        ] {
            assert_eq!(address_scheme(name.as_ref()), known, "{name}");
        }
        assert_eq!(resolve_in_folder("folder".as_ref(), "s3://b/x".as_ref()), Path::new("s3://b/x"));
        assert_eq!(resolve_in_folder("folder".as_ref(), "x".as_ref()), Path::new("folder/x"));
    }

    /// A signature in an address is as good as a password.
    #[test]
    fn keys_of_access_are_not_told() {
        let error = address_error("https://me:secret@host/rows.csv?sig=secret#secret".as_ref(), "no");
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(error.to_string().contains("https://host/rows.csv"), "{error}");
    }
}
