//! What a cell of a table says: a number, or text.

use std::borrow::Cow;

use polars::prelude::{AnyValue, Series};

use super::identity::RowWitness;
use super::missing::{Missing, is_absent};
use super::person::PersonId;
use super::table_error::CellProblem;

/// A cell that is no number, and its row in its column, from 0.
pub(super) struct BadCell {
    pub row: usize,
    pub problem: CellProblem,
}

/// Appends the cells of a column, all of which must be finite numbers, but for missing ones that may be left out: NaN.
pub(super) fn append_numbers(column: &Series, missing: Missing, to: &mut Vec<f64>) -> Result<(), BadCell> {
    // A stream of `DOUBLE` is copied as it stands: looking at its cells one by one takes longer than decoding them.
    if let Some(numbers) = column.f64().ok().and_then(|column| column.cont_slice().ok())
        && numbers.iter().all(|number| number.is_finite())
    {
        to.extend_from_slice(numbers);
        return Ok(());
    }
    for (row, cell) in column.iter().enumerate() {
        to.push(missing.or_nan(number(&cell)).map_err(|problem| BadCell { row, problem })?);
    }
    Ok(())
}

/// A cell as a finite number: of a type that holds numbers, or text that says one.
pub(super) fn number(cell: &AnyValue<'_>) -> Result<f64, CellProblem> {
    match cell {
        AnyValue::Float64(value) if value.is_nan() => Err(CellProblem::Absent),
        AnyValue::Float64(value) => finite(*value).ok_or(CellProblem::NotFinite),
        AnyValue::Int64(value) => Ok(*value as f64),
        AnyValue::UInt64(value) => Ok(*value as f64),
        cell => parsed(text(cell).as_deref().unwrap_or_default()),
    }
}

/// Text as a finite number, blanks around it apart.
pub(super) fn parsed(text: &str) -> Result<f64, CellProblem> {
    let text = text.trim();
    if text.is_empty() {
        return Err(CellProblem::Missing);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ if is_absent(text) => Err(CellProblem::Absent),
        Ok(_) => Err(CellProblem::NotFinite),
        Err(_) => Err(CellProblem::NotANumber),
    }
}

/// A cell as text without blanks around it; none if it is missing.
pub(super) fn text<'a>(cell: &AnyValue<'a>) -> Option<Cow<'a, str>> {
    match cell {
        AnyValue::Null => None,
        AnyValue::String(text) => Some(text.trim()).filter(|text| !text.is_empty()).map(Cow::Borrowed),
        // The shortest digits that are read as the same number.
        AnyValue::Float64(value) => Some(Cow::Owned(format!("{value:?}"))),
        whole => Some(Cow::Owned(whole.to_string())),
    }
}

/// The person that a cell names.
pub(super) fn person(cell: &AnyValue<'_>) -> Result<PersonId, CellProblem> {
    let found = match cell {
        AnyValue::Float64(value) => PersonId::of_number(*value),
        cell => text(cell).as_deref().and_then(PersonId::of),
    };
    found.ok_or(CellProblem::NoPerson)
}

/// Shows a cell to a witness; `read` is whether a spec reads its column.
pub(super) fn show(cell: &AnyValue<'_>, witness: &mut RowWitness, read: bool) {
    match cell {
        AnyValue::Float64(value) => witness.number(*value, read),
        AnyValue::Int64(value) => witness.number(*value as f64, read),
        AnyValue::UInt64(value) => witness.number(*value as f64, read),
        cell => witness.text(text(cell).as_deref().unwrap_or_default().as_bytes(), read),
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
