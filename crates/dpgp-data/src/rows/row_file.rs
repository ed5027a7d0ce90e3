//! A file of rows.

use std::path::{Path, PathBuf};

use super::Partition;
use crate::cell_rules::CellRules;
use crate::identity::RowWitness;
use crate::table_error::TableError;

/// A file of rows, and the columns that its path names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowFile {
    /// The file.
    pub path: PathBuf,
    /// The columns, in the order of the path.
    pub partitions: Vec<Partition>,
}

impl RowFile {
    /// A file that was named itself: its path names no columns.
    pub fn named(path: &Path) -> Self {
        Self { path: path.to_path_buf(), partitions: Vec::new() }
    }

    /// A file that was found in the folder `start` or below: all folders `name=value` below it are columns, and so are those
    /// that the path of `start` itself ends with.
    pub fn found(path: PathBuf, start: &Path) -> Self {
        let mut partitions: Vec<Partition> = start.iter().rev().map_while(partition).collect();
        partitions.reverse();
        let below = path.parent().and_then(|folder| folder.strip_prefix(start).ok());
        partitions.extend(below.into_iter().flatten().filter_map(partition));
        Self { path, partitions }
    }

    /// Its name after those of its partitions: the same wherever the folder stands.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for Partition { name: column, value } in &self.partitions {
            name.push_str(&format!("{column}={}/", value.as_deref().unwrap_or_default()));
        }
        name + &self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// The column that the path names, if it does.
    pub fn partition(&self, column: &str) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.name == column)
    }

    /// The cell of a column that the path names, as a number; NaN if it is missing and may be.
    ///
    /// # Errors
    /// [`TableError::PathCell`].
    pub(crate) fn number(&self, column: &str, rules: &CellRules) -> Result<Option<f64>, TableError> {
        let Some(Partition { name, value }) = self.partition(column) else { return Ok(None) };
        rules
            .number(column, value.as_deref().unwrap_or_default())
            .map(Some)
            .map_err(|problem| TableError::PathCell { column: name.clone(), problem })
    }

    /// Fails if the file has a column that its path names, or the path names a column twice.
    ///
    /// # Errors
    /// [`TableError::ColumnInPath`], [`TableError::RepeatedColumn`].
    pub(crate) fn ensure_apart(&self, columns: &[String]) -> Result<(), TableError> {
        for (place, Partition { name, .. }) in self.partitions.iter().enumerate() {
            if columns.contains(name) {
                return Err(TableError::ColumnInPath(name.clone()));
            }
            if self.partitions[..place].iter().any(|other| other.name == *name) {
                return Err(TableError::RepeatedColumn(name.clone()));
            }
        }
        Ok(())
    }

    /// Shows the columns that the path names to a witness, for all rows that follow; those of `read` are read by the spec.
    pub(super) fn show(&self, witness: &mut RowWitness, read: &[String]) {
        for Partition { name, value } in &self.partitions {
            witness.text(value.as_deref().unwrap_or_default().as_bytes(), read.contains(name));
        }
        witness.share_cells();
    }
}

fn partition(folder: &std::ffi::OsStr) -> Option<Partition> {
    folder.to_str().and_then(Partition::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_are_columns() {
        for (start, path, name) in [
            ("parts", "parts/a.csv", "a.csv"),
            ("parts", "parts/year=2017/month=06/a.csv", "year=2017/month=06/a.csv"),
            ("parts", "parts/year=2017/of/month=06/a=b.csv", "year=2017/month=06/a=b.csv"),
            ("parts/year=2017/month=06", "parts/year=2017/month=06/a.csv", "year=2017/month=06/a.csv"),
            ("", "year=2017/a.csv", "year=2017/a.csv"),
            ("/run=3/parts", "/run=3/parts/year=2017/a.csv", "year=2017/a.csv"),
            ("x", "x/a=__HIVE_DEFAULT_PARTITION__/=1/a.csv", "a=/a.csv"),
        ] {
            let file = RowFile::found(path.into(), start.as_ref());
            assert_eq!(file.name(), name, "{start} {path}");
        }
        assert_eq!(RowFile::named("year=2017/a.csv".as_ref()).name(), "a.csv");
    }
}
