//! Sums over the rows of files.

use std::path::PathBuf;

use super::CliError;
use super::stats::StatsArguments;
use crate::data::rows::{Files, Rows};
use crate::data::{DataError, RowUnit, TableError};
use crate::run::RunError;
use crate::setting::{DataSetting, SourceSetting};
use crate::stream::{BLOCK, FileRecord, Forest, Misfit, StreamError, SumRows, collect};
use crate::task::Setting;

/// Sums the rows of the files, or those of a shard.
pub(super) fn summed<T: SumRows>(
    arguments: &StatsArguments,
    setting: &Setting,
    summand: &T,
) -> Result<(Vec<FileRecord>, Forest<T::Sum>), CliError> {
    let data = &setting.data;
    let mut files = Files::open(&arguments.files, separator(data), &columns(data))?;
    let counted = arguments.shard.map(|_| files.count()).transpose()?;
    let blocks = match (arguments.shard, &counted) {
        (Some(shard), Some(rows)) => shard.run(rows.iter().sum::<u64>().div_ceil(BLOCK as u64)),
        _ => 0..u64::MAX,
    };
    files.skip(blocks.start * BLOCK as u64)?;
    let jobs = arguments.work.jobs();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let threads = threads.map_err(|cause| RunError::Threads { jobs, cause })?;
    let forest = collect(&mut files, blocks, summand, &threads).map_err(|error| match error {
        StreamError::Data(error) => error,
        StreamError::Misfit(misfit) => located(misfit, &files, data),
    })?;
    let rows = counted.unwrap_or_else(|| files.rows().to_vec());
    Ok((records(&arguments.files, rows)?, forest))
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

fn records(files: &[PathBuf], rows: Vec<u64>) -> Result<Vec<FileRecord>, CliError> {
    let record = |(path, rows): (&PathBuf, u64)| {
        let bytes = std::fs::metadata(path).map(|found| found.len());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        bytes
            .map(|bytes| FileRecord { name, bytes, rows })
            .map_err(|cause| CliError::Io { path: path.clone(), cause })
    };
    files.iter().zip(rows).map(record).collect()
}
