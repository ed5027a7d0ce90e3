//! Rows of persons that a program holds: a column of their table names the person of each row.

use std::path::Path;

use super::ReleaseError;
use super::exact_sums::TableInMemory;
use super::sum_rows::RowsInMemory;
use dpgp_data::rows::{CheckedTableRows, ExtraCell, ExtraColumns, RowStream};
use dpgp_data::{DataError, HmacKey, LineOrRow, PersonId, RowsFingerprint, TableCellError, TableError};
use dpgp_run::{RunError, generate_unsaved_key};
use dpgp_spec::setting::DataSetting;
use dpgp_stream::BLOCK;

/// Reads all rows into memory, with the person of each, whom the column `person` names.
///
/// Obligation: the cells and the persons are read once, so that a program that changes its table meanwhile cannot make more rows of a
/// person count.
///
/// # Errors
/// [`ReleaseError::NotReleasable`] without a column of persons. [`ReleaseError::Data`] for a number that is not finite, or a row
/// without a person, unless the spec drops such rows.
pub(super) fn read_rows_with_persons(
    table: TableInMemory<'_>,
    data: &DataSetting,
    person: &str,
    columns: &[String],
    key: Option<&HmacKey>,
) -> Result<(RowsInMemory, Option<RowsFingerprint>), ReleaseError> {
    let TableInMemory { name, rows, others } = table;
    let without = || ReleaseError::NotReleasable("data.person names a column that the rows do not have");
    let others = others.ok_or_else(without)?;
    let place = others.names().iter().position(|name| name == person).ok_or_else(without)?;
    let mut others = PersonColumnCollector { others, place, persons: Vec::new() };
    // Without a key, others would not be read.
    let passing = key.is_none().then(generate_unsaved_key).transpose().map_err(RunError::from)?;
    let used = key.or(passing.as_ref());
    let mut held = CheckedTableRows::new(rows, Path::new(name), columns, used)
        .with_missing_policy(data.missing)
        .with_extra_columns(used, &mut others);
    let mut read = vec![Vec::new(); columns.len()];
    while held.read(&mut read, BLOCK)? > 0 {}
    let fingerprint = held.into_fingerprint().filter(|_| key.is_some());
    let persons = others.persons;
    if !data.drops_missing()
        && let Some(row) = persons.iter().position(Option::is_none)
    {
        let (unit, line, column, problem) = (LineOrRow::Row, row + 1, person.to_owned(), TableCellError::NoPerson);
        return Err(
            DataError::from_table_error(Path::new(name), TableError::Cell { unit, line, column, problem }).into()
        );
    }
    Ok((RowsInMemory { columns: read, persons }, fingerprint))
}

/// Other columns, of which one names persons.
struct PersonColumnCollector<'t> {
    others: &'t mut dyn ExtraColumns,
    place: usize,
    persons: Vec<Option<PersonId>>,
}

impl ExtraColumns for PersonColumnCollector<'_> {
    fn names(&self) -> Vec<String> {
        self.others.names()
    }

    fn next_cells(&mut self, rows: usize) -> Vec<Vec<ExtraCell>> {
        let cells = self.others.next_cells(rows);
        let persons = cells.get(self.place).into_iter().flatten();
        self.persons.extend(persons.map(|cell| match cell {
            ExtraCell::Number(number) => PersonId::of_number(*number),
            ExtraCell::Text(text) => PersonId::parse(&String::from_utf8_lossy(text)),
        }));
        cells
    }
}
