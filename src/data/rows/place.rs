//! Where in a file the columns stand.

use crate::data::table_error::TableError;

/// The position of each wanted column among those of a file.
pub(in crate::data) fn places(wanted: &[String], known: &[String]) -> Result<Vec<usize>, TableError> {
    wanted.iter().map(|column| place(column, known)).collect()
}

fn place(column: &str, known: &[String]) -> Result<usize, TableError> {
    let mut found = (0..known.len()).filter(|i| known[*i] == column);
    match (found.next(), found.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => Err(TableError::RepeatedColumn(column.to_owned())),
        (None, _) => Err(TableError::unknown_column(column, known.to_vec())),
    }
}
