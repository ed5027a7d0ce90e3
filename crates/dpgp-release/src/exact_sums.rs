//! Exact sums of rows: summed in batches, merged, written to a file and read back.

use std::path::{Path, PathBuf};

use super::add_sums::{OTHER_KEYS, mismatched_sums_error, parse_sums_text};
use super::new_file::new_file;
use super::person_table::read_rows_with_persons;
use super::sum_rows::{IdentifiedSums, columns_to_read, refuse_equal_files};
use super::sums_model::SumsOf;
use super::{ExactSums, PlannedSumsRelease, ReleaseError, SumsReleaseMethod};
use dpgp_data::rows::{CheckedTableRows, ExtraColumns, InMemoryRows, RowStream, RowsWithCompleteFlag};
use dpgp_data::{HmacKey, RowSetDigest, RowsFingerprint};
use dpgp_fs::{AtomicNewFile, ReadAccess};
use dpgp_run::WorkerPool;
use dpgp_stream::{BLOCK, MergeableSum, RowFileSummary, RowSummand, sum_blocks};

/// A new file of exact sums, which only the holder of the rows can read. It gets its name in [`NewExactSumsFile::finish`],
/// so that a failed release leaves no file.
pub struct NewExactSumsFile {
    path: PathBuf,
    file: AtomicNewFile,
}

impl NewExactSumsFile {
    /// Checks that the file can be created and does not exist yet. Pipes and devices may exist.
    ///
    /// # Errors
    /// [`ReleaseError::Exists`] or [`ReleaseError::Io`].
    pub fn open(path: &Path) -> Result<Self, ReleaseError> {
        Ok(Self { path: path.to_path_buf(), file: new_file(path, ReadAccess::Holder)? })
    }

    /// Writes sums to the file.
    ///
    /// # Errors
    /// [`ReleaseError::Io`].
    pub fn write_sums<M: SumsReleaseMethod>(&mut self, total: &ExactSums<M>) -> Result<(), ReleaseError> {
        let filled =
            total.to_json().map_err(std::io::Error::other).and_then(|text| self.file.append_bytes(text.as_bytes()));
        filled.map_err(ReleaseError::io(&self.path))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`ReleaseError::Io`].
    pub fn finish(self) -> Result<(), ReleaseError> {
        self.file.finish().map_err(ReleaseError::io(&self.path))
    }
}

/// Rows that a program holds.
pub struct TableInMemory<'t> {
    /// What messages call them.
    pub name: &'t str,
    /// The columns that are summed.
    pub rows: &'t mut dyn RowStream,
    /// The other columns of the table, if it has any.
    pub others: Option<&'t mut dyn ExtraColumns>,
}

impl<M: SumsReleaseMethod> PlannedSumsRelease<'_, M> {
    /// The columns that are read of each row, in their order: the inputs, the target and those of the filters.
    pub fn columns_to_read(&self) -> Vec<String> {
        columns_to_read(&self.setting().data)
    }

    /// Sums rows with the columns of [`PlannedSumsRelease::columns_to_read`]. The sums equal those of a file with these rows, to the last
    /// bit. With a key, they identify their rows. Messages call the rows `name`. If the spec drops rows with missing
    /// cells, NaN is a missing cell.
    ///
    /// ```
    /// use dpgp_data::rows::InMemoryRows;
    /// use dpgp_release::AnyPlannedSumsRelease;
    /// use dpgp_run::{DataLocations, WorkerPool, Project};
    ///
    /// const SPEC: &str = r#"
    /// experiment.title = "a histogram"
    /// data = { source.csv.path = "rows.csv", inputs = ["x"], target = "trips" }
    /// task.density = { bins = [{ from = 0.0, to = 2.0, bins = 2 }], test = [{ from = 0.0, to = 2.0, bins = 2 }], draws = 1, estimate.histogram = {} }
    /// privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.histogram = { relation = "add-remove" } }
    /// "#;
    /// let project = Project::open_at(std::env::temp_dir(), &DataLocations::default())?;
    /// let experiment = project.parse("histogram", SPEC)?;
    /// let AnyPlannedSumsRelease::Counts(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment)? else { unreachable!() };
    /// let pool = WorkerPool::new(1)?;
    /// let mut first = InMemoryRows::new(vec![&[0.5, 1.5], &[1.0, 2.0]]);
    /// let mut total = streamed.sum_rows_in_memory("rows", &mut first, &pool, None)?;
    /// let mut second = InMemoryRows::new(vec![&[1.7], &[1.0]]);
    /// total.add_batch(streamed.sum_rows_in_memory("rows", &mut second, &pool, None)?)?;
    /// assert_eq!(total.read_row_count(), 3);
    /// let read = streamed.parse_exact_sums("rows".as_ref(), &total.to_json()?)?;
    /// assert_eq!(read.to_json()?, total.to_json()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ReleaseError::Data`] for a row with a number that is not finite;
    /// [`ReleaseError::NotReleasable`] for a spec with `data.person`, because rows in memory have no such column.
    pub fn sum_rows_in_memory(
        &self,
        name: &str,
        rows: &mut dyn RowStream,
        pool: &WorkerPool,
        key: Option<&HmacKey>,
    ) -> Result<ExactSums<M>, ReleaseError> {
        self.sum_table(TableInMemory { name, rows, others: None }, pool, key)
    }

    /// The same for rows of a table with further columns, which also identify the rows. One of them may name the persons of the rows
    /// (`data.person`). All rows of a person must then be in this table: rows of other tables cannot be added.
    ///
    /// # Errors
    /// As [`PlannedSumsRelease::sum_rows_in_memory`], and for a row without a person.
    pub fn sum_table(
        &self,
        table: TableInMemory<'_>,
        pool: &WorkerPool,
        key: Option<&HmacKey>,
    ) -> Result<ExactSums<M>, ReleaseError> {
        let (data, columns) = (&self.setting().data, self.columns_to_read());
        if let Some(person) = &data.person {
            return self.sum_person_table(table, person, pool, key);
        }
        let TableInMemory { name, rows, others } = table;
        let held = CheckedTableRows::new(rows, Path::new(name), &columns, key).with_missing_policy(data.missing);
        let mut held = match others {
            Some(others) => held.with_extra_columns(key, others),
            None => held,
        };
        let (summand, threads) = (self.method().summand(), pool.threads());
        let part = match data.drops_missing() {
            true => sum_blocks(&mut RowsWithCompleteFlag::new(&mut held), 0..u64::MAX, summand, threads)?,
            false => sum_blocks(&mut held, 0..u64::MAX, summand, threads)?,
        };
        let rows = held.rows_read();
        let files = vec![table_summary(name, rows, columns.len())];
        Ok(self.build_exact_sums(IdentifiedSums {
            files,
            identity: held.into_fingerprint(),
            part,
            unchecked: Vec::new(),
        }))
    }

    /// The same for rows of persons: at most `data.rows_per_person` of each count, as in files.
    fn sum_person_table(
        &self,
        table: TableInMemory<'_>,
        person: &str,
        pool: &WorkerPool,
        key: Option<&HmacKey>,
    ) -> Result<ExactSums<M>, ReleaseError> {
        let (data, columns) = (&self.setting().data, self.columns_to_read());
        let name = table.name;
        let (held, identity) = read_rows_with_persons(table, data, person, &columns, key)?;
        let marked = held.columns_with_kept_row_flags(data);
        let mut rows = InMemoryRows::new(marked.iter().map(Vec::as_slice).collect());
        let part = sum_blocks(&mut rows, 0..u64::MAX, self.method().summand(), pool.threads())?;
        let files = vec![table_summary(name, held.row_count() as u64, columns.len())];
        Ok(self.build_exact_sums(IdentifiedSums { files, identity, part, unchecked: Vec::new() }))
    }

    /// Sums from their text: all of some rows, as [`ExactSums::to_json`] and `dpgp sum --out` write them.
    ///
    /// # Errors
    /// [`ReleaseError::NotSums`] for other text or sums of another spec; [`ReleaseError::SumsIncomplete`] for those of
    /// a shard.
    pub fn parse_exact_sums(&self, name: &Path, text: &str) -> Result<ExactSums<M>, ReleaseError> {
        let record = parse_sums_text(name, text, &self.method().summand().zero())?;
        if record.summand != self.settings_identity() {
            return Err(mismatched_sums_error(name));
        }
        let (all, blocks) = (record.total_block_count().unwrap_or(u64::MAX), &record.part.blocks);
        if *blocks != (0..all) {
            let missing = all.saturating_sub(blocks.end - blocks.start);
            return Err(ReleaseError::SumsIncomplete { missing, all });
        }
        let unchecked = record.checksum.is_none().then(|| name.to_path_buf());
        Ok(ExactSums { record, unchecked: unchecked.into_iter().collect(), batches: Vec::new() })
    }
}

fn table_summary(name: &str, rows: u64, columns: usize) -> RowFileSummary {
    RowFileSummary { name: name.to_owned(), bytes: rows * (columns * size_of::<f64>()) as u64, rows }
}

impl<M: SumsReleaseMethod> ExactSums<M> {
    /// Fails if the rows of a batch were already added, as far as the rows of both are known: a batch that was added
    /// before, or rows that make up the same batch. A row that counts twice can change sums twice as much as a release
    /// hides.
    ///
    /// # Errors
    /// [`ReleaseError::RowsAgain`].
    pub fn ensure_no_repeated_rows(&self, more: &Self) -> Result<(), ReleaseError> {
        let known = self.batch_digests();
        let mut again = more.batch_digests().iter().any(|batch| batch.rows > 0 && known.contains(batch));
        if let (Some(one), Some(other)) = (self.fingerprint(), more.fingerprint()) {
            again |= one.key == other.key && join_fingerprints(one, other).find_repeated_files().is_some();
        }
        if again {
            return Err(ReleaseError::RowsAgain(more.display_path().display().to_string()));
        }
        Ok(())
    }

    /// The parts that its rows were added in, as far as they are known.
    fn batch_digests(&self) -> &[RowSetDigest] {
        let of_tables = self.fingerprint().map_or(&[][..], |rows| &rows.parts);
        if self.batches.is_empty() { of_tables } else { &self.batches }
    }

    /// Takes more rows of the same table.
    ///
    /// # Errors
    /// [`ReleaseError::SumsDiffer`] for rows that are known by another key, or sums of another spec.
    pub fn add_batch(&mut self, more: Self) -> Result<(), ReleaseError> {
        self.ensure_compatible_sums(&more)?;
        self.batches = [self.batch_digests(), more.batch_digests()].concat();
        for (file, more) in self.record.files.iter_mut().zip(&more.record.files) {
            file.bytes = file.bytes.saturating_add(more.bytes);
            file.rows = file.rows.saturating_add(more.rows);
        }
        let identity = self.record.identity.take().zip(more.record.identity.as_ref());
        self.record.identity = identity.map(|(mut identity, more)| {
            identity.add_rows(more);
            identity
        });
        self.add_sums(&more.record.part.sums);
        Ok(())
    }

    /// Takes the rows of other tables.
    ///
    /// # Errors
    /// As [`ExactSums::add_batch`]; [`ReleaseError::SameRows`] for a table whose rows are there already.
    pub fn merge_other_tables(&mut self, other: Self) -> Result<(), ReleaseError> {
        self.ensure_compatible_sums(&other)?;
        let record = &self.record;
        let files = record.files.iter().chain(&other.record.files).cloned().collect::<Vec<RowFileSummary>>();
        let identities = record.identity.as_ref().zip(other.record.identity.as_ref());
        let identity = identities.map(|(one, other)| join_fingerprints(one, other));
        refuse_equal_files(&files, identity.as_ref())?;
        self.batches = [self.batch_digests(), other.batch_digests()].concat();
        (self.record.files, self.record.identity) = (files, identity);
        self.add_sums(&other.record.part.sums);
        Ok(())
    }

    /// Adds sums; blocks are those of all rows in their order.
    fn add_sums(&mut self, sums: &SumsOf<M>) {
        self.record.part.sums.add(sums);
        self.record.part.blocks = 0..self.read_row_count().div_ceil(BLOCK as u64);
    }

    fn ensure_compatible_sums(&self, other: &Self) -> Result<(), ReleaseError> {
        let keys = [self, other].map(|total| total.fingerprint().map(|rows| rows.key.as_str()));
        let what = if self.record.summand != other.record.summand {
            "summands"
        } else if let [Some(one), Some(other)] = keys
            && one != other
        {
            OTHER_KEYS
        } else {
            return Ok(());
        };
        Err(ReleaseError::SumsDiffer { what, first: self.display_path(), second: other.display_path() })
    }

    /// What messages call it.
    fn display_path(&self) -> PathBuf {
        self.record.files.first().map_or_else(PathBuf::new, |file| PathBuf::from(&file.name))
    }
}

/// The rows of both, one table after the other.
fn join_fingerprints(one: &RowsFingerprint, other: &RowsFingerprint) -> RowsFingerprint {
    let mut both = one.clone();
    both.add_files(other);
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnyPlannedSumsRelease;
    use dpgp_data::rows::InMemoryRows;
    use dpgp_run::{DataLocations, Project};

    const SPEC: &str = r#"experiment.title = "a histogram"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "trips" }
task.density = { bins = [{ from = 0.0, to = 2.0, bins = 2 }], test = [{ from = 0.0, to = 2.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.histogram = { relation = "add-remove", most_per_row = 2 } }
"#;

    /// What happens to rows with these numbers of trips, by a spec; the text of their sums, or why there are none.
    fn summed(spec: &str, trips: &[f64], read: Option<&str>) -> Result<String, String> {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("histogram", spec).unwrap();
        let AnyPlannedSumsRelease::Counts(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment).unwrap()
        else {
            panic!("counts")
        };
        let places = vec![0.5; trips.len()];
        let mut rows = InMemoryRows::new(vec![&places[..], trips]);
        let mut total = streamed
            .sum_rows_in_memory("rows", &mut rows, &WorkerPool::new(1).unwrap(), None)
            .map_err(|e| e.to_string())?;
        if let Some(text) = read {
            total
                .merge_other_tables(streamed.parse_exact_sums("other".as_ref(), text).map_err(|e| e.to_string())?)
                .map_err(|e| e.to_string())?;
        }
        total.to_json().map_err(|e| e.to_string())
    }

    #[test]
    fn rows_that_a_program_cannot_hold_are_refused() {
        assert!(summed(SPEC, &[1.0, 2.0], None).is_ok());
        assert!(summed(SPEC, &[f64::NAN], None).is_err());
        let of_persons =
            SPEC.replace("target = \"trips\"", "target = \"trips\", person = \"who\", rows_per_person = 2");
        let said = summed(&of_persons, &[1.0], None).unwrap_err();
        assert!(said.contains("data.person"), "{said}");
    }

    /// A row without a number of trips is in no bin and counts among the rows that were read; an infinite one is an
    /// error.
    #[test]
    fn rows_that_lack_a_cell_are_left_out() {
        let lacking = SPEC.replace("target = \"trips\"", "target = \"trips\", missing = \"drop\"");
        let bins = |trips: &[f64]| {
            let record: serde_json::Value = serde_json::from_str(&summed(&lacking, trips, None).unwrap()).unwrap();
            (record["files"][0]["rows"].as_u64(), record["part"]["sums"]["bins"].clone())
        };
        let (rows, full) = bins(&[1.0, 2.0]);
        assert_eq!(rows, Some(2));
        assert_eq!(bins(&[1.0, f64::NAN, 2.0]), (Some(3), full));
        assert!(summed(&lacking, &[f64::INFINITY], None).is_err());
    }

    /// A batch that is added again, and sums that hold it; rows of another key or of none are not known.
    #[test]
    fn rows_that_are_there_already_are_found() {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("histogram", SPEC).unwrap();
        let AnyPlannedSumsRelease::Counts(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment).unwrap()
        else {
            panic!("counts")
        };
        let pool = WorkerPool::new(1).unwrap();
        let batch = |places: &[f64], key: Option<&[u8]>| {
            let trips = vec![1.0; places.len()];
            let mut rows = InMemoryRows::new(vec![places, &trips]);
            streamed.sum_rows_in_memory("rows", &mut rows, &pool, key.map(HmacKey::new).as_ref()).unwrap()
        };
        let mut total = batch(&[0.1, 0.2], Some(b"k"));
        for more in [&[0.3, 0.4][..], &[0.5]] {
            let more = batch(more, Some(b"k"));
            total.ensure_no_repeated_rows(&more).unwrap();
            total.add_batch(more).unwrap();
        }
        for again in [&[0.2, 0.1][..], &[0.4, 0.3], &[0.5], &[0.1, 0.2, 0.3, 0.4, 0.5]] {
            let found = total.ensure_no_repeated_rows(&batch(again, Some(b"k")));
            assert!(matches!(found, Err(ReleaseError::RowsAgain(name)) if name == "rows"), "{again:?}");
        }
        assert!(batch(&[0.5], Some(b"k")).ensure_no_repeated_rows(&total).is_err());
        total.ensure_no_repeated_rows(&batch(&[0.2, 0.3], Some(b"k"))).unwrap();
        total.ensure_no_repeated_rows(&batch(&[0.5], Some(b"other"))).unwrap();
        total.ensure_no_repeated_rows(&batch(&[0.5], None)).unwrap();
    }

    #[test]
    fn sums_of_another_spec_or_of_a_shard_are_refused() {
        let text = summed(SPEC, &[1.0, 2.0], None).unwrap();
        assert!(summed(SPEC, &[1.0], Some(&text)).is_ok());
        let wider = SPEC.replace("to = 2.0", "to = 4.0");
        assert!(summed(&wider, &[1.0], Some(&text)).is_err());
        let mut shard: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut edited = shard.clone();
        edited["files"][0]["bytes"] = serde_json::json!(7);
        let said = summed(SPEC, &[1.0], Some(&edited.to_string())).unwrap_err();
        assert!(said.contains("the checksum does not match"), "{said}");
        shard.as_object_mut().unwrap().remove("checksum");
        shard["part"]["blocks"] = serde_json::json!({ "start": 1, "end": 1 });
        assert!(summed(SPEC, &[1.0], Some(&shard.to_string())).is_err());
        assert!(summed(SPEC, &[1.0], Some("{}")).is_err());
    }

    /// Two rows of two columns of 8 bytes; sums of other specs are told by the names of their rows.
    #[test]
    fn held_rows_have_a_size_and_a_name() {
        let text = summed(SPEC, &[1.0, 2.0], None).unwrap();
        let record: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(record["files"], serde_json::json!([{ "name": "rows", "bytes": 32, "rows": 2 }]));
        let mut shard = record.clone();
        shard.as_object_mut().unwrap().remove("checksum");
        shard["part"]["blocks"] = serde_json::json!({ "start": 0, "end": 0 });
        shard["files"][0]["rows"] = serde_json::json!(3 * BLOCK);
        let said = summed(SPEC, &[1.0], Some(&shard.to_string())).unwrap_err();
        assert!(said.contains("3 of 3"), "{said}");
    }
}
