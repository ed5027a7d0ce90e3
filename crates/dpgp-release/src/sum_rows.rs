//! Sums over the rows of files.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::ReleaseError;
use super::person_rows::used_rows;
use dpgp_data::rows::{FileState, Files, MarkedRows, PresentRows, RowFile, Rows, is_address, row_files};
use dpgp_data::{DataError, DataKey, Fingerprint};
use dpgp_run::{Pool, RunError, Shard, passing_key};
use dpgp_spec::setting::{ChosenBy, DataSetting};
use dpgp_stream::{BLOCK, FileRecord, PartSums, SumRows, collect};

/// The rows that are summed.
pub(super) struct RowSource<'a> {
    /// Names of files, of folders of files, and patterns.
    pub files: &'a [PathBuf],
    /// The part of them; all without one.
    pub shard: Option<Shard>,
    pub data: &'a DataSetting,
    /// The key of their identity, if there is one.
    pub key: Option<&'a DataKey>,
}

/// Sums of rows, and what rows they are of.
pub(super) struct SummedRows<S> {
    pub files: Vec<FileRecord>,
    pub identity: Option<Fingerprint>,
    pub part: PartSums<S>,
    /// Files of sums that have no checksum.
    pub unchecked: Vec<PathBuf>,
}

/// Sums the rows of the files, or those of a shard.
///
/// # Errors
/// [`ReleaseError::Data`] for a row that cannot be read or has no place in the sums; [`ReleaseError::SameRows`] for a file that
/// is named twice, or two files with the same rows.
pub(super) fn summed<T: SumRows>(
    source: &RowSource<'_>,
    summand: &T,
    pool: &Pool,
) -> Result<SummedRows<T::Sum>, ReleaseError> {
    summed_rows(source, summand, pool).map_err(|error| match error {
        // What is summed are records, which are private as a whole.
        ReleaseError::Data(error) => source.data.offering_drop(error, ChosenBy::Record).into(),
        error => error,
    })
}

fn summed_rows<T: SumRows>(
    source: &RowSource<'_>,
    summand: &T,
    pool: &Pool,
) -> Result<SummedRows<T::Sum>, ReleaseError> {
    let found = row_files(Path::new(""), source.files)?;
    named_once(&found)?;
    let used = used_rows(&found, source.data, pool)?;
    let (layout, columns) = (source.data.source.text_layout(), columns(source.data));
    let compared = source.key.is_none() && found.len() > 1;
    let passing = compared.then(passing_key).transpose().map_err(RunError::from)?;
    let files = match source.key.or(passing.as_ref()) {
        Some(key) => Files::witnessed(&found, &layout, &columns, source.data.cell_rules(), key)?,
        None => Files::open(&found, &layout, &columns, source.data.cell_rules())?,
    };
    let counted = source.shard.map(|_| files.count()).transpose()?;
    let blocks = match (source.shard, &counted) {
        (Some(shard), Some(rows)) => shard.run(rows.iter().sum::<u64>().div_ceil(BLOCK as u64)),
        _ => 0..u64::MAX,
    };
    let expected = counted.as_ref().map(|_| (blocks.end - blocks.start) * BLOCK as u64);
    let mut files = files.watched(pool.row_meter("summing", expected))?;
    let part = match &used {
        None if source.data.drops_missing() => {
            of_blocks(&mut PresentRows::new(&mut files), blocks, summand, pool)
        }
        None => of_blocks(&mut files, blocks, summand, pool),
        Some(used) => of_blocks(&mut MarkedRows::new(&mut files, &used.kept), blocks, summand, pool),
    }?;
    if let Some(used) = &used {
        used.ensure_unchanged(&found)?;
    }
    let rows = counted.unwrap_or_else(|| files.rows().to_vec());
    let (files, identity) = (records(&found, &rows)?, files.fingerprint());
    if source.shard.is_none() {
        distinct_files(&files, identity.as_ref())?;
    }
    // Nobody else knows the rows by a key that was made for this call.
    let identity = identity.filter(|_| !compared);
    Ok(SummedRows { files, identity, part, unchecked: Vec::new() })
}

/// The sums of some blocks.
fn of_blocks<T: SumRows>(
    rows: &mut dyn Rows,
    blocks: Range<u64>,
    summand: &T,
    pool: &Pool,
) -> Result<PartSums<T::Sum>, DataError> {
    rows.skip(blocks.start * BLOCK as u64)?;
    collect(rows, blocks, summand, pool.threads())
}

/// Fails if two paths lead to one file.
fn named_once(files: &[RowFile]) -> Result<(), ReleaseError> {
    let mut seen: BTreeMap<PathBuf, &PathBuf> = BTreeMap::new();
    for RowFile { path, .. } in files {
        let file = if is_address(path) { Ok(path.clone()) } else { std::fs::canonicalize(path) };
        // One that is not there is told of when it is opened.
        let Ok(file) = file else { continue };
        if let Some(first) = seen.insert(file, path) {
            return Err(ReleaseError::same_rows(first.display(), path.display()));
        }
    }
    Ok(())
}

/// Fails if two files hold the same rows.
pub(super) fn distinct_files(
    files: &[FileRecord],
    identity: Option<&Fingerprint>,
) -> Result<(), ReleaseError> {
    match identity.and_then(Fingerprint::repeated) {
        Some((first, second)) => Err(ReleaseError::same_rows(&files[first].name, &files[second].name)),
        None => Ok(()),
    }
}

/// The columns that are read: the inputs, the target and those of the filters.
pub(super) fn columns(data: &DataSetting) -> Vec<String> {
    let filters = data.filter.iter().map(|filter| &filter.column);
    data.inputs.iter().chain(std::iter::once(&data.target)).chain(filters).cloned().collect()
}

fn records(files: &[RowFile], rows: &[u64]) -> Result<Vec<FileRecord>, ReleaseError> {
    let mut records = Vec::with_capacity(files.len());
    for (file, &rows) in files.iter().zip(rows) {
        let bytes = FileState::of(&file.path)?.bytes;
        records.push(FileRecord { name: file.name(), bytes, rows });
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also by another way to the same file; one that is not there is told of later.
    #[test]
    fn a_file_is_named_once() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let [one, two] = ["one.csv", "two.csv"].map(|name| folder.path().join(name));
        std::fs::write(&one, "x\n1\n").unwrap();
        std::fs::write(&two, "x\n1\n").unwrap();
        let named = |paths: &[PathBuf]| {
            named_once(&paths.iter().map(|path| RowFile::named(path)).collect::<Vec<RowFile>>())
        };
        let nowhere = folder.path().join("nowhere.csv");
        named(&[one.clone(), two, nowhere.clone(), nowhere]).unwrap();
        let roundabout = folder.path().join("sub/../one.csv");
        assert!(matches!(named(&[one, roundabout]), Err(ReleaseError::SameRows { .. })));
    }
}
