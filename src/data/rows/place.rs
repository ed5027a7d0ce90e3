//! Where in a file the columns stand.

use super::super::suggest::closest;
use super::super::table_error::TableError;

/// The position of each wanted column among those of a file.
pub(super) fn places(wanted: &[String], known: &[String]) -> Result<Vec<usize>, TableError> {
    let place = |column: &String| {
        let mut found = (0..known.len()).filter(|i| known[*i] == *column);
        match (found.next(), found.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => Err(TableError::RepeatedColumn { column: column.clone() }),
            (None, _) => {
                let suggestion = closest(column, known.iter().map(String::as_str)).map(str::to_owned);
                Err(TableError::UnknownColumn { column: column.clone(), known: known.to_vec(), suggestion })
            }
        }
    };
    wanted.iter().map(place).collect()
}
