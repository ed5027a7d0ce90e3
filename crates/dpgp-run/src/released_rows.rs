//! Rows of a private release: what stands in a private cell must not be told by a refusal.

use super::load::{numbers, parsed};
use dpgp_data::{DataError, Table};
use dpgp_spec::setting::{ChosenBy, DataSetting};

/// The rows of a table by the rules of a release.
///
/// Obligation: whether a file is refused depends on whether its columns hold what the spec reads, by all rows and whatever the filters
/// are, and not on which rows pass a filter or which word a word is. *Proof.* Where whole records are private ([`ChosenBy::Record`]),
/// every cell that is read is looked at before any filter. A word outside of `data.encode` counts as the first of them, as a clip to
/// public bounds would have it, so that every row still counts; where rows without a cell are left out, it is a missing cell. Where the
/// target alone is private, inputs, filters and their words are public, and a target outside of its codes counts as the first.
///
/// # Errors
/// [`DataError::Table`] for a column that is not there, or a cell that is not what is expected.
pub(super) fn released(table: Table, data: &DataSetting, chosen_by: ChosenBy) -> Result<Table, DataError> {
    match chosen_by {
        ChosenBy::Inputs => match data.encode.get(&data.target) {
            Some(codes) => table.with_first_code(&data.target, codes),
            None => Ok(table),
        },
        ChosenBy::Record => {
            let mut table = table;
            for (column, codes) in &data.encode {
                table = match data.drops_missing() {
                    true => table.of_codes(column, codes)?,
                    false => table.with_first_code(column, codes)?,
                };
            }
            for column in parsed(data) {
                ensure_readable(&table, data, column)?;
            }
            Ok(table)
        }
    }
}

/// Fails at the first cell of a column that cannot be read, in a row that passes the filters or not.
fn ensure_readable(table: &Table, data: &DataSetting, column: &str) -> Result<(), DataError> {
    if data.drops_missing() {
        return table.missing(column, super::missing::expected(data, column)).map(drop);
    }
    match data.person.as_deref() == Some(column) {
        true => table.persons(column).map(drop),
        false => numbers(table, data, column).map(drop),
    }
}
