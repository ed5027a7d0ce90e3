//! Tables of the user's own files.

use std::path::Path;

use super::RunError;
use super::load::{Columns, Loader, parsed};
use dpgp_data::rows::{RowFile, is_address, row_files};
use dpgp_data::{DataError, Table, tell_outside};
use dpgp_spec::setting::{DataSetting, SourceSetting};
use dpgp_task::Experiment;

/// The user's own files that a spec names, itself, by their folder or by a pattern, beside the spec; none where it names none. Those
/// outside of its folder are told.
///
/// # Errors
/// [`RunError::Data`] where a folder or a pattern leads to no file.
pub(super) fn own_files(experiment: &Experiment, source: &SourceSetting) -> Result<Vec<RowFile>, RunError> {
    let names: Vec<&str> = source.own_file().into_iter().collect();
    let folder = experiment.beside("");
    // To ask what stands at an address is to read it.
    for name in names.iter().map(Path::new).filter(|name| is_address(name)) {
        tell_outside(name, &folder, "spec");
    }
    let files = row_files(&folder, &names).map_err(Box::new)?;
    files.iter().for_each(|file| tell_outside(&file.path, &folder, "spec"));
    Ok(files)
}

/// Says which of the files that the first cell of an experiment reads stand outside of the folder of its spec.
///
/// # Errors
/// [`RunError::Data`] where a folder or a pattern leads to no file.
pub fn tell_own_files(experiment: &Experiment) -> Result<(), RunError> {
    let first = experiment.cells.first().map(|cell| &cell.setting().data.source);
    first.map_or(Ok(()), |source| own_files(experiment, source).map(drop))
}

impl Loader<'_> {
    /// A table for each of them, with the columns that its path names.
    pub(super) fn own_tables(&self, data: &DataSetting, columns: Columns) -> Result<Vec<Table>, RunError> {
        let mut tables = Vec::new();
        for file in own_files(self.experiment, &data.source)? {
            let table = table(&file, data, columns).and_then(|table| table.with_partitions(&file));
            tables.push(table.map_err(Box::new)?);
        }
        // Of a release the number of rows may be private: it is refused only where it is not.
        match tables.first() {
            Some(first)
                if columns == Columns::Used && tables.iter().all(|table: &Table| table.rows() == 0) =>
            {
                Err(Box::new(first.without_rows()).into())
            }
            _ => Ok(tables),
        }
    }
}

fn table(file: &RowFile, data: &DataSetting, columns: Columns) -> Result<Table, DataError> {
    if let SourceSetting::Csv { .. } = data.source {
        return Table::read(&file.path, &data.source.text_layout().format());
    }
    let mut names = parsed(data);
    names.retain(|name| file.partition(name).is_none());
    match columns {
        Columns::Used => Table::read_parquet(&file.path, &names),
        Columns::All => Table::read_whole_parquet(&file.path, &names),
    }
}
