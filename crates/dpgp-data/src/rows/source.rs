//! Bytes and column positions of row files, marked rows, rows in memory, progress display, and detection of
//! writes during reading.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{fmt, fs, io};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::files::is_cloud_address;
use super::{RowStream, cloud};
use crate::error::{FileAction, IoErrorContext};
use crate::identity::HmacKey;
use crate::table_error::TableError;
use crate::{DataError, KeptRows};

/// The bytes of a file, from its first on, and how many of them were read.
pub(crate) struct CountingFileReader {
    from: Box<dyn Read + Send>,
    all: u64,
    read: Arc<AtomicU64>,
}

/// How much of a file was read.
pub(crate) struct ReadFraction {
    all: u64,
    read: Arc<AtomicU64>,
}

impl CountingFileReader {
    /// Opens a file on this machine or in a cloud.
    ///
    /// # Errors
    /// [`DataError::Io`]; [`TableError::NoFile`] for a pipe or a device.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        if is_cloud_address(path) {
            let (from, all) = cloud::open_bytes(path)?;
            return Ok(Self::new(from, all));
        }
        let file = open_file(path)?;
        let all = file.metadata().with_io_context(FileAction::Read, path)?.len();
        Ok(Self::new(Box::new(file), all))
    }

    fn new(from: Box<dyn Read + Send>, all: u64) -> Self {
        Self { from, all, read: Arc::default() }
    }

    /// Says how much was read while somebody else reads.
    pub fn read_fraction_handle(&self) -> ReadFraction {
        ReadFraction { all: self.all, read: Arc::clone(&self.read) }
    }
}

impl Read for CountingFileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl ReadFraction {
    /// At most 1.
    pub fn get(&self) -> f64 {
        (self.read.load(Ordering::Relaxed) as f64 / self.all.max(1) as f64).min(1.0)
    }
}

/// The tag of the bytes of a file under a key.
///
/// # Errors
/// [`DataError::Io`]; [`TableError::NoFile`] for a pipe or a device.
pub fn keyed_file_tag(path: &Path, key: &HmacKey) -> Result<[u8; 32], DataError> {
    key.tag_reader(CountingFileReader::open(path)?).with_io_context(FileAction::Read, path)
}

/// Opens a file on this machine. A pipe gives its rows once, but files are opened several times: for their columns, for their
/// rows, and to see that they did not change. A pipe without a writer would never open.
///
/// # Errors
/// [`DataError::Io`], [`TableError::NoFile`].
pub(crate) fn open_file(path: &Path) -> Result<File, DataError> {
    let found = fs::metadata(path).with_io_context(FileAction::Read, path)?;
    if !found.is_file() && !found.is_dir() {
        return Err(DataError::from_table_error(path, TableError::NoFile));
    }
    File::open(path).with_io_context(FileAction::Read, path)
}

/// The position of each wanted column among those of a file.
pub(crate) fn column_indices(wanted: &[String], known: &[String]) -> Result<Vec<usize>, TableError> {
    let mut stands: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, name) in known.iter().enumerate() {
        stands.entry(name).or_default().push(place);
    }
    let found = wanted.iter().map(|column| match stands.get(column.as_str()).map(Vec::as_slice) {
        Some([place]) => Ok(*place),
        Some(_) => Err(TableError::RepeatedColumn(column.to_owned())),
        None => Err(TableError::unknown_column(column, known.to_vec())),
    });
    found.collect()
}

/// Rows with one more column, the last: 1 for a row that is kept, 0 for any other. All rows keep their numbers.
///
/// ```
/// use dpgp_data::KeptRows;
/// use dpgp_data::rows::{InMemoryRows, RowsWithKeptFlag, RowStream};
/// let mut kept = KeptRows::default();
/// kept.insert(2);
/// let mut rows = InMemoryRows::new(vec![&[5.0, 6.0, 7.0]]);
/// let mut marked = RowsWithKeptFlag::new(&mut rows, &kept);
/// let mut columns = vec![Vec::new(); 2];
/// assert_eq!((marked.skip(1)?, marked.read(&mut columns, 9)?), (1, 2));
/// assert_eq!(columns, [[6.0, 7.0], [0.0, 1.0]]);
/// # Ok::<(), dpgp_data::DataError>(())
/// ```
pub struct RowsWithKeptFlag<'r> {
    rows: &'r mut dyn RowStream,
    kept: &'r KeptRows,
    next: u64,
}

impl<'r> RowsWithKeptFlag<'r> {
    /// Rows before the first has been read or passed over.
    pub fn new(rows: &'r mut dyn RowStream, kept: &'r KeptRows) -> Self {
        Self { rows, kept, next: 0 }
    }
}

impl RowStream for RowsWithKeptFlag<'_> {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let Some((marks, columns)) = columns.split_last_mut() else { return self.rows.read(columns, most) };
        let rows = self.rows.read(columns, most)?;
        marks.extend(self.kept.row_indicators(self.next, rows));
        self.next += rows as u64;
        Ok(rows)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        let passed = self.rows.skip(rows)?;
        self.next += passed;
        Ok(passed)
    }
}

/// Rows with one more column, the last: 0 for a row with a missing cell (NaN), 1 for any other. All rows keep their numbers.
///
/// ```
/// use dpgp_data::rows::{InMemoryRows, RowsWithCompleteFlag, RowStream};
/// let mut rows = InMemoryRows::new(vec![&[5.0, 6.0, f64::NAN], &[f64::NAN, 1.0, 2.0]]);
/// let mut marked = RowsWithCompleteFlag::new(&mut rows);
/// let mut columns = vec![Vec::new(); 3];
/// assert_eq!(marked.read(&mut columns, 9)?, 3);
/// assert_eq!(columns[2], [0.0, 1.0, 0.0]);
/// # Ok::<(), dpgp_data::DataError>(())
/// ```
pub struct RowsWithCompleteFlag<'r> {
    rows: &'r mut dyn RowStream,
}

impl<'r> RowsWithCompleteFlag<'r> {
    /// Rows that may lack cells.
    pub fn new(rows: &'r mut dyn RowStream) -> Self {
        Self { rows }
    }
}

impl RowStream for RowsWithCompleteFlag<'_> {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let Some((marks, columns)) = columns.split_last_mut() else { return self.rows.read(columns, most) };
        let rows = self.rows.read(columns, most)?;
        let first = marks.len();
        marks.resize(first + rows, 1.0);
        for column in columns {
            let last = &column[column.len() - rows..];
            let lacking = marks[first..].iter_mut().zip(last).filter(|(_, cell)| cell.is_nan());
            lacking.for_each(|(mark, _)| *mark = 0.0);
        }
        Ok(rows)
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        self.rows.skip(rows)
    }
}

/// Steps of a whole bar.
const STEPS: u64 = 1000;

/// A bar on standard error, drawn only if that is a terminal: rows that are done, how many in a second, and the time left.
pub struct RowProgressBar {
    bar: ProgressBar,
    start: Instant,
    /// How many rows will come, if that is known.
    expected: Option<u64>,
    rows: u64,
}

impl RowProgressBar {
    /// A bar that says what is done with the rows.
    #[must_use]
    pub fn stderr(what: &'static str, expected: Option<u64>) -> Self {
        let style = ProgressStyle::with_template("{prefix} {bar:30} {msg}");
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
            .with_prefix(what);
        Self { bar, start: Instant::now(), expected, rows: 0 }
    }

    /// So many more rows are done. How far that is follows from the rows expected, else from `share`, such as that of the bytes.
    pub fn advance(&mut self, rows: u64, share: f64) {
        self.rows += rows;
        let share = self.expected.map_or(share, |all| self.rows as f64 / all.max(1) as f64).min(1.0);
        self.bar.set_position((share * STEPS as f64) as u64);
        self.bar.set_message(RowProgressText { rows: self.rows, elapsed: self.start.elapsed(), share }.to_string());
    }
}

impl Drop for RowProgressBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// How far the rows are.
struct RowProgressText {
    rows: u64,
    elapsed: Duration,
    /// Of the work.
    share: f64,
}

impl fmt::Display for RowProgressText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, elapsed, share } = self;
        // Not infinite, and no speed of the first moment.
        let speed = *rows as f64 / elapsed.as_secs_f64().max(1e-3);
        write!(f, "{} rows, {} rows/s", HumanCount(*rows), HumanCount(speed as u64))?;
        if *share > 0.0 {
            let left = Duration::try_from_secs_f64(elapsed.as_secs_f64() * (1.0 - share) / share);
            write!(f, ", {} left", HumanDuration(left.unwrap_or(Duration::MAX)))?;
        }
        Ok(())
    }
}

/// Columns in memory, read as if they were a file.
#[derive(Debug, Clone)]
pub struct InMemoryRows<'a> {
    columns: Vec<&'a [f64]>,
    next: usize,
}

impl<'a> InMemoryRows<'a> {
    /// From columns of one length.
    pub fn new(columns: Vec<&'a [f64]>) -> Self {
        Self { columns, next: 0 }
    }

    fn advance(&mut self, most: usize) -> std::ops::Range<usize> {
        let rows = self.columns.first().map_or(0, |column| column.len());
        let start = self.next;
        self.next = rows.min(start.saturating_add(most));
        start..self.next
    }
}

impl RowStream for InMemoryRows<'_> {
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        let range = self.advance(most);
        for (to, from) in columns.iter_mut().zip(&self.columns) {
            to.extend_from_slice(&from[range.clone()]);
        }
        Ok(range.len())
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        Ok(self.advance(usize::try_from(rows).unwrap_or(usize::MAX)).len() as u64)
    }
}

/// Size, time and version of a file. Two that differ show that the file was written to in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// How long it is.
    pub bytes: u64,
    /// When it was written.
    pub modified: SystemTime,
    /// The store's name of this version; none on this machine.
    pub version: Option<String>,
}

impl FileState {
    /// Reads those of a file as it is now.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn read(path: &Path) -> Result<Self, DataError> {
        if is_cloud_address(path) {
            return cloud::read_file_version(path);
        }
        let file = fs::metadata(path).with_io_context(FileAction::Read, path)?;
        let modified = file.modified().with_io_context(FileAction::Read, path)?;
        Ok(Self { bytes: file.len(), modified, version: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_and_time_left() {
        let elapsed = Duration::from_secs(20);
        let text = RowProgressText { rows: 3_000_000, elapsed, share: 0.25 }.to_string();
        assert_eq!(text, "3,000,000 rows, 150,000 rows/s, 60 seconds left");
        let text = RowProgressText { rows: 0, elapsed: Duration::ZERO, share: 0.0 }.to_string();
        assert_eq!(text, "0 rows, 0 rows/s");
    }
}
