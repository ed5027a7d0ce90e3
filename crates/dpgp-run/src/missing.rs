//! Rows of a table that lack no cell.

use super::load::filtered;
use dpgp_data::{CellProblem, DataError, ExpectedCell, Table};
use dpgp_spec::setting::{ChosenBy, DataSetting};

/// The rows of a table that pass the filters and lack no cell that is read.
///
/// Obligation: where the target alone is private, which rows are left out depends on public columns alone; a row that they keep must
/// have a target. (A filter by the target is told of in the certificate.)
///
/// # Errors
/// [`DataError::Table`] for a column that is not there, a cell that is there and cannot be read, and a target that is missing where
/// inputs are public.
pub(super) fn complete(table: Table, data: &DataSetting, chosen_by: ChosenBy) -> Result<Table, DataError> {
    let filters = data.filter.iter().map(|filter| filter.column.as_str());
    let table = filtered(without_missing(&table, filters, data)?, data)?;
    let public = data.inputs.iter().chain(&data.person).map(String::as_str);
    match chosen_by {
        ChosenBy::Record => without_missing(&table, public.chain([data.target.as_str()]), data),
        ChosenBy::Inputs => {
            let table = without_missing(&table, public, data)?;
            let target = &data.target;
            table.ensure_complete(target, expected(data, target), &CellProblem::NoTarget)?;
            Ok(table)
        }
    }
}

/// The rows that have a cell in each of these columns.
fn without_missing<'c>(
    table: &Table,
    columns: impl Iterator<Item = &'c str>,
    data: &DataSetting,
) -> Result<Table, DataError> {
    let mut keep = vec![true; table.rows()];
    for column in columns {
        let missing = table.missing(column, expected(data, column))?;
        keep.iter_mut().zip(missing).for_each(|(keep, missing)| *keep &= !missing);
    }
    table.keep(&keep)
}

/// What a data section expects in a column.
pub(super) fn expected<'d>(data: &'d DataSetting, column: &str) -> ExpectedCell<'d> {
    match data.encode.get(column) {
        _ if data.person.as_deref() == Some(column) => ExpectedCell::Person,
        Some(codes) => ExpectedCell::Code(codes),
        None => ExpectedCell::Number,
    }
}
