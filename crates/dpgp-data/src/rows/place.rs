//! Where in a file the columns stand.

use std::collections::BTreeMap;

use crate::table_error::TableError;

/// The position of each wanted column among those of a file.
pub(crate) fn places(wanted: &[String], known: &[String]) -> Result<Vec<usize>, TableError> {
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
