//! Sums over the rows of files, and the choice of the rows that count for each person.
//!
//! Obligation: each row enters a sum at most once, and each person with at most `rows_per_person` rows. *Proof.*
//!
//! 1. No file is read twice ([`refuse_repeated_paths`]), and files with the same rows are refused ([`refuse_equal_files`]).
//! 2. With `data.person`, a first pass over all files chooses the rows of each person ([`choose_rows_per_person`]). The second pass
//!    sums these alone. It fails if a file changed in between ([`ChosenRows::ensure_unchanged`]).
//! 3. A shard sums whole blocks of rows. Blocks are numbered over all files, so that no two shards share a row.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::ReleaseError;
use dpgp_data::rows::{
    FileState, RowFile, RowFilesReader, RowStream, RowsWithCompleteFlag, RowsWithKeptFlag, find_row_files,
    is_cloud_address,
};
use dpgp_data::{Comparison, DataError, HmacKey, KeptRows, PersonId, PersonRowSampler, RowsFingerprint};
use dpgp_run::{RunError, Shard, WorkerPool, generate_unsaved_key};
use dpgp_spec::setting::{DataSetting, PersonRowChoiceBasis};
use dpgp_stream::{BLOCK, PartialSums, RowFileSummary, RowSummand, sum_blocks};

/// The files to sum, and how to read their rows.
pub(super) struct RowSource<'a> {
    /// Names of files, folders of files, and patterns.
    pub files: &'a [PathBuf],
    /// The shard to sum. Without one, all rows.
    pub shard: Option<Shard>,
    pub data: &'a DataSetting,
    /// The key that identifies rows for ledgers, if there is one.
    pub key: Option<&'a HmacKey>,
}

/// Sums of rows from files, with the fingerprint of these rows.
pub(super) struct IdentifiedSums<S> {
    pub files: Vec<RowFileSummary>,
    pub identity: Option<RowsFingerprint>,
    pub part: PartialSums<S>,
    /// Files of sums without a checksum.
    pub unchecked: Vec<PathBuf>,
}

/// Sums the rows of the files, or those of a shard.
///
/// # Errors
/// [`ReleaseError::Data`] for a row that cannot be read or summed. [`ReleaseError::SameRows`] for a file that is named
/// twice, or for two files with the same rows.
pub(super) fn sum_row_files<T: RowSummand>(
    source: &RowSource<'_>,
    summand: &T,
    pool: &WorkerPool,
) -> Result<IdentifiedSums<T::Sum>, ReleaseError> {
    sum_files_without_error_hint(source, summand, pool).map_err(|error| match error {
        // Whole records are private here, so that the error may suggest to drop rows.
        ReleaseError::Data(error) => source.data.with_drop_rows_hint(error, PersonRowChoiceBasis::Record).into(),
        error => error,
    })
}

fn sum_files_without_error_hint<T: RowSummand>(
    source: &RowSource<'_>,
    summand: &T,
    pool: &WorkerPool,
) -> Result<IdentifiedSums<T::Sum>, ReleaseError> {
    // No file is read twice.
    let found = find_row_files(Path::new(""), source.files)?;
    refuse_repeated_paths(&found)?;

    // First pass, with `data.person` only: the rows that count for each person, chosen over all files.
    let used = choose_rows_per_person(&found, source.data, pool)?;

    // The key to compare rows of several files: that of ledgers, or one for this call alone.
    let (layout, columns) = (source.data.source.text_layout(), columns_to_read(source.data));
    let compared = source.key.is_none() && found.len() > 1;
    let passing = compared.then(generate_unsaved_key).transpose().map_err(RunError::from)?;
    let files = match source.key.or(passing.as_ref()) {
        Some(key) => RowFilesReader::open_fingerprinted(&found, &layout, &columns, source.data.cell_rules(), key)?,
        None => RowFilesReader::open(&found, &layout, &columns, source.data.cell_rules())?,
    };

    // The blocks to sum: those of the shard, of all rows of all files.
    let counted = source.shard.map(|_| files.count_rows_per_file()).transpose()?;
    let blocks = match (source.shard, &counted) {
        (Some(shard), Some(rows)) => shard.contiguous_range(rows.iter().sum::<u64>().div_ceil(BLOCK as u64)),
        _ => 0..u64::MAX,
    };
    let expected = counted.as_ref().map(|_| (blocks.end - blocks.start) * BLOCK as u64);

    // Second pass: sums of all rows, of those without missing cells, or of those chosen in the first pass.
    let mut files = files.with_progress_bar(pool.row_progress_bar("summing", expected))?;
    let part = match &used {
        None if source.data.drops_missing() => {
            skip_and_sum_blocks(&mut RowsWithCompleteFlag::new(&mut files), blocks, summand, pool)
        }
        None => skip_and_sum_blocks(&mut files, blocks, summand, pool),
        Some(used) => skip_and_sum_blocks(&mut RowsWithKeptFlag::new(&mut files, &used.kept), blocks, summand, pool),
    }?;
    // The numbers of the chosen rows mean the same rows only if no file has changed.
    if let Some(used) = &used {
        used.ensure_unchanged(&found)?;
    }

    // The identity of the rows. Several shards check for equal files when their sums are added.
    let rows = counted.unwrap_or_else(|| files.rows_read_per_file().to_vec());
    let (files, identity) = (row_file_summaries(&found, &rows)?, files.into_fingerprint());
    let identity = match source.data.person {
        Some(_) => identity.map(RowsFingerprint::compared_by_whole_rows),
        None => identity,
    };
    if source.shard.is_none() {
        refuse_equal_files(&files, identity.as_ref())?;
    }
    // A key of this call alone identifies rows for nobody else.
    let identity = identity.filter(|_| !compared);
    Ok(IdentifiedSums { files, identity, part, unchecked: Vec::new() })
}

/// Sums some blocks of rows.
fn skip_and_sum_blocks<T: RowSummand>(
    rows: &mut dyn RowStream,
    blocks: Range<u64>,
    summand: &T,
    pool: &WorkerPool,
) -> Result<PartialSums<T::Sum>, DataError> {
    rows.skip(blocks.start * BLOCK as u64)?;
    sum_blocks(rows, blocks, summand, pool.threads())
}

/// Refuses two paths to one file.
fn refuse_repeated_paths(files: &[RowFile]) -> Result<(), ReleaseError> {
    let mut seen: BTreeMap<PathBuf, &PathBuf> = BTreeMap::new();
    for RowFile { path, .. } in files {
        let file = if is_cloud_address(path) { Ok(path.clone()) } else { std::fs::canonicalize(path) };
        // A missing file is reported when it is opened.
        let Ok(file) = file else { continue };
        if let Some(first) = seen.insert(file, path) {
            return Err(ReleaseError::same_rows(first.display(), path.display()));
        }
    }
    Ok(())
}

/// Refuses two files with the same rows.
pub(super) fn refuse_equal_files(
    files: &[RowFileSummary],
    identity: Option<&RowsFingerprint>,
) -> Result<(), ReleaseError> {
    match identity.and_then(RowsFingerprint::find_repeated_files) {
        Some((first, second)) => Err(ReleaseError::same_rows(&files[first].name, &files[second].name)),
        None => Ok(()),
    }
}

/// Lists the columns to read: the inputs, the target and those of the filters.
pub(super) fn columns_to_read(data: &DataSetting) -> Vec<String> {
    let filters = data.filter.iter().map(|filter| filter.column.as_str());
    let record = data.inputs.iter().map(String::as_str).chain([data.target_column()]);
    record.chain(filters).map(str::to_owned).collect()
}

fn row_file_summaries(files: &[RowFile], rows: &[u64]) -> Result<Vec<RowFileSummary>, ReleaseError> {
    let mut records = Vec::with_capacity(files.len());
    for (file, &rows) in files.iter().zip(rows) {
        let bytes = FileState::read(&file.path)?.bytes;
        records.push(RowFileSummary { name: file.name_with_partitions(), bytes, rows });
    }
    Ok(records)
}

/// Chooses the rows that count for each person, by their numbers over all files. Without `data.person`, returns
/// nothing.
///
/// This reads all files, even for one shard: the choice for a person depends on all rows of that person. Rows that do
/// not pass the filters, or lack a cell, belong to no person.
///
/// # Errors
/// [`ReleaseError::Data`] for a row that cannot be read, or names no person.
pub(super) fn choose_rows_per_person(
    files: &[RowFile],
    data: &DataSetting,
    pool: &WorkerPool,
) -> Result<Option<ChosenRows>, ReleaseError> {
    let Some(limit) = data.rows_per_person_limit() else { return Ok(None) };
    let names = columns_to_read(data);
    let rows =
        RowFilesReader::open_with_persons(files, &data.source.text_layout(), &names, limit.column, data.cell_rules())?;
    let mut rows = rows.with_progress_bar(pool.row_progress_bar("choosing", None))?;
    let before = read_file_states(files)?;
    let mut offered = PersonRowChooser::new(data, limit.rows);
    let mut block = RowsInMemory::new(names.len());
    while rows.read_with_persons(&mut block.columns, &mut block.persons, BLOCK)? > 0 {
        offered.choose_from_block(&block);
        block.clear();
    }
    Ok(Some(ChosenRows { kept: offered.chosen.into_kept_rows(), before }))
}

/// The rows that count, and the state of the files before they were read.
#[derive(Debug)]
pub(super) struct ChosenRows {
    /// The rows.
    pub kept: KeptRows,
    before: Vec<FileState>,
}

impl ChosenRows {
    /// Fails if a file changed since then: the numbers of the chosen rows could mean other rows.
    ///
    /// # Errors
    /// [`ReleaseError::FileChanged`], [`ReleaseError::Io`].
    pub fn ensure_unchanged(&self, files: &[RowFile]) -> Result<(), ReleaseError> {
        let after = read_file_states(files)?;
        let changed = self.before.iter().zip(&after).position(|(before, after)| before != after);
        changed.map_or(Ok(()), |place| Err(ReleaseError::FileChanged(files[place].path.clone())))
    }
}

fn read_file_states(files: &[RowFile]) -> Result<Vec<FileState>, ReleaseError> {
    let mut states = Vec::with_capacity(files.len());
    for file in files {
        states.push(FileState::read(&file.path)?);
    }
    Ok(states)
}

/// Reads all rows of the files, folders and patterns into memory.
///
/// # Errors
/// As [`choose_rows_per_person`].
pub(super) fn read_all_rows(files: &[PathBuf], data: &DataSetting) -> Result<RowsInMemory, ReleaseError> {
    let files = &find_row_files(Path::new(""), files)?;
    let (names, layout) = (columns_to_read(data), data.source.text_layout());
    let mut all = RowsInMemory::new(names.len());
    match &data.person {
        None => {
            let mut rows = RowFilesReader::open(files, &layout, &names, data.cell_rules())?;
            while rows.read(&mut all.columns, BLOCK)? > 0 {}
        }
        Some(person) => {
            let mut rows = RowFilesReader::open_with_persons(files, &layout, &names, person, data.cell_rules())?;
            while rows.read_with_persons(&mut all.columns, &mut all.persons, BLOCK)? > 0 {}
        }
    }
    Ok(all)
}

/// Rows in memory.
#[derive(Debug, Clone)]
pub(super) struct RowsInMemory {
    /// One list for each column that is read. A missing cell is NaN.
    pub columns: Vec<Vec<f64>>,
    /// The person of each row, if it has one. Empty without `data.person`.
    pub persons: Vec<Option<PersonId>>,
}

impl RowsInMemory {
    fn new(columns: usize) -> Self {
        Self { columns: vec![Vec::new(); columns], persons: Vec::new() }
    }

    fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.persons.clear();
    }

    /// The number of rows.
    pub fn row_count(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The cells of a row.
    pub fn record(&self, row: usize) -> Vec<f64> {
        self.columns.iter().map(|column| column[row]).collect()
    }

    /// The rows of the same person as a row. Without `data.person`, only that row.
    pub fn rows_of_same_person(&self, row: usize) -> Vec<usize> {
        match self.persons.get(row) {
            Some(Some(person)) => (0..self.row_count()).filter(|other| self.persons[*other] == Some(*person)).collect(),
            Some(None) | None => vec![row],
        }
    }

    /// The columns to sum. With `data.person` or missing cells, a last column marks the rows that count.
    pub fn columns_with_kept_row_flags(&self, data: &DataSetting) -> Vec<Vec<f64>> {
        let mut columns = self.columns.clone();
        if let Some(limit) = data.rows_per_person_limit() {
            let mut offered = PersonRowChooser::new(data, limit.rows);
            offered.choose_from_block(self);
            columns.push(offered.chosen.into_kept_rows().row_indicators(0, self.row_count()).collect());
        } else if data.drops_missing() {
            let rows = (0..self.row_count()).map(|row| self.record(row));
            columns.push(rows.map(|row| f64::from(u8::from(!lacks_cell(&row)))).collect());
        }
        columns
    }
}

/// Whether a record has a missing cell.
fn lacks_cell(record: &[f64]) -> bool {
    record.iter().any(|cell| cell.is_nan())
}

/// Rows of persons, block by block, and those chosen so far.
struct PersonRowChooser {
    chosen: PersonRowSampler,
    filters: Vec<(Comparison, f64)>,
    /// The number of columns of a record: the inputs and the target. Those of the filters follow.
    record: usize,
    next: u64,
}

impl PersonRowChooser {
    /// Chooses at most this many rows of each person.
    fn new(data: &DataSetting, most: usize) -> Self {
        let filters = data.filter.iter().map(|filter| (filter.is, filter.value)).collect();
        Self { chosen: PersonRowSampler::new(most), filters, record: data.inputs.len() + 1, next: 0 }
    }

    /// Offers the next rows.
    fn choose_from_block(&mut self, rows: &RowsInMemory) {
        for (row, person) in rows.persons.iter().enumerate() {
            let cells = rows.record(row);
            let Some(person) = person.filter(|_| !lacks_cell(&cells)) else { continue };
            let (record, tested) = cells.split_at(self.record);
            let passes =
                self.filters.iter().zip(tested).all(|(filter, cell)| filter.0.holds(cell.partial_cmp(&filter.1)));
            if passes {
                self.chosen.insert(person, record, self.next + row as u64);
            }
        }
        self.next += rows.persons.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against rows of one file that count twice, by the same path or another one.
    #[test]
    fn a_file_is_named_once() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let [one, two] = ["one.csv", "two.csv"].map(|name| folder.path().join(name));
        std::fs::write(&one, "x\n1\n").unwrap();
        std::fs::write(&two, "x\n1\n").unwrap();
        let named = |paths: &[PathBuf]| {
            refuse_repeated_paths(&paths.iter().map(|path| RowFile::from_path(path)).collect::<Vec<RowFile>>())
        };
        let nowhere = folder.path().join("nowhere.csv");
        named(&[one.clone(), two, nowhere.clone(), nowhere]).unwrap();
        let roundabout = folder.path().join("sub/../one.csv");
        assert!(matches!(named(&[one, roundabout]), Err(ReleaseError::SameRows { .. })));
    }
}

#[cfg(test)]
mod person_rows_tests {
    use super::*;
    use dpgp_data::DatasetManifest;
    use dpgp_task::Experiment;

    const SPEC: &str = r#"experiment.title = "bins"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "n", person = "id", rows_per_person = 1 }
task.density = { bins = [{ from = 0.0, to = 4.0, bins = 4 }], test = [{ from = 0.0, to = 4.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.histogram = { relation = "add-remove", most_per_row = 2 } }
"#;

    /// Guards against wrong rows after a file grew between the two passes.
    #[test]
    fn files_must_stay_as_they_are() {
        let manifest = DatasetManifest::load_shipped().unwrap();
        let spec = Experiment::parse("s", "s.toml".as_ref(), SPEC.to_owned(), &manifest).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let files = [RowFile::from_path(&folder.path().join("rows.csv"))];
        std::fs::write(&files[0].path, "x,n,id\n1,1,a\n2,1,a\n3,1,b\n").unwrap();
        let (data, pool) = (&spec.cells[0].setting().data, WorkerPool::new(1).unwrap());
        let used = choose_rows_per_person(&files, data, &pool).unwrap().unwrap();
        assert_eq!((used.kept.row_count(), used.kept.contains(2)), (2, true));
        used.ensure_unchanged(&files).unwrap();
        std::fs::write(&files[0].path, "x,n,id\n1,1,a\n2,1,a\n3,1,b\n4,1,b\n").unwrap();
        assert!(matches!(used.ensure_unchanged(&files), Err(ReleaseError::FileChanged(_))));
    }

    /// Guards against lost rows or marks beyond one block, with a missing cell in the second of three rows.
    #[test]
    fn all_rows_are_held_and_those_that_lack_a_cell_are_marked() {
        let manifest = DatasetManifest::load_shipped().unwrap();
        let text = SPEC.replace(", person = \"id\", rows_per_person = 1", ", missing = \"drop\"");
        let spec = Experiment::parse("s", "s.toml".as_ref(), text, &manifest).unwrap();
        let data = &spec.cells[0].setting().data;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, format!("x,n\n{}", "1,1\n,1\n3,1\n".repeat(BLOCK))).unwrap();
        let held = read_all_rows(&[path], data).unwrap();
        assert_eq!((held.row_count(), held.record(2)), (3 * BLOCK, vec![3.0, 1.0]));
        let marks = held.columns_with_kept_row_flags(data).pop().unwrap();
        assert_eq!(marks[..6], [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn all_rows_of_persons_are_held() {
        let manifest = DatasetManifest::load_shipped().unwrap();
        let spec = Experiment::parse("s", "s.toml".as_ref(), SPEC.to_owned(), &manifest).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, format!("x,n,id\n{}", "1,1,a\n2,1,b\n".repeat(BLOCK))).unwrap();
        let held = read_all_rows(&[path], &spec.cells[0].setting().data).unwrap();
        assert_eq!((held.row_count(), held.rows_of_same_person(3).len()), (2 * BLOCK, BLOCK));
    }
}
