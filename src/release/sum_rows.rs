//! Sums over the rows of files.

use std::path::PathBuf;

use super::ReleaseError;
use crate::data::rows::{Files, Rows};
use crate::data::{DataError, RowUnit, TableError};
use crate::run::{Pool, Shard};
use crate::setting::{DataSetting, SourceSetting};
use crate::stream::{BLOCK, FileRecord, Forest, Misfit, StreamError, SumRows, collect};

/// The rows that are summed.
pub(super) struct RowSource<'a> {
    pub files: &'a [PathBuf],
    /// The part of them; all without one.
    pub shard: Option<Shard>,
    pub data: &'a DataSetting,
}

/// Sums the rows of the files, or those of a shard.
///
/// # Errors
/// [`ReleaseError::Data`] for a row that cannot be read or has no place in the sums.
pub(super) fn summed<T: SumRows>(
    source: &RowSource<'_>,
    summand: &T,
    pool: &Pool,
) -> Result<(Vec<FileRecord>, Forest<T::Sum>), ReleaseError> {
    let mut files = Files::open(source.files, separator(source.data), &columns(source.data))?;
    let counted = source.shard.map(|_| files.count()).transpose()?;
    let blocks = match (source.shard, &counted) {
        (Some(shard), Some(rows)) => shard.run(rows.iter().sum::<u64>().div_ceil(BLOCK as u64)),
        _ => 0..u64::MAX,
    };
    files.skip(blocks.start * BLOCK as u64)?;
    let forest = collect(&mut files, blocks, summand, pool.threads()).map_err(|error| match error {
        StreamError::Data(error) => error,
        StreamError::Misfit(misfit) => located(misfit, &files, source.data),
    })?;
    let rows = counted.unwrap_or_else(|| files.rows().to_vec());
    Ok((records(source.files, &rows)?, forest))
}

/// The columns that are read: the inputs, the target and those of the filters.
fn columns(data: &DataSetting) -> Vec<String> {
    let filters = data.filter.iter().map(|filter| &filter.column);
    data.inputs.iter().chain(std::iter::once(&data.target)).chain(filters).cloned().collect()
}

fn separator(data: &DataSetting) -> u8 {
    match data.source {
        SourceSetting::Csv { separator, .. } => u8::try_from(separator).unwrap_or(b','),
        _ => b',',
    }
}

/// A row whose target has no place in the sums, by its file.
fn located(misfit: Misfit, files: &Files, data: &DataSetting) -> DataError {
    let (file, row) = files.place(misfit.row);
    let (line, column) = (row as usize + 1, data.target.clone());
    DataError::table(file, TableError::Cell { unit: RowUnit::Row, line, column, problem: misfit.problem })
}

fn records(files: &[PathBuf], rows: &[u64]) -> Result<Vec<FileRecord>, ReleaseError> {
    let mut records = Vec::with_capacity(files.len());
    for (path, &rows) in files.iter().zip(rows) {
        let bytes = std::fs::metadata(path).map_err(ReleaseError::io(path))?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        records.push(FileRecord { name, bytes, rows });
    }
    Ok(records)
}
