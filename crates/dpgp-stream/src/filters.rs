//! The rows that count.

use dpgp_data::Comparison;

/// Whether a row passes all filters, of which each has a column of its own.
pub(super) fn passes(filters: &[(Comparison, f64)], tested: &[Vec<f64>], row: usize) -> bool {
    // A number that is not one compares with nothing, and no comparison holds of it.
    filters.iter().zip(tested).all(|((is, value), column)| is.holds(column[row].partial_cmp(value)))
}

/// Takes rows that do not pass out of the first `kept` columns; the filters' columns follow them.
pub(super) fn retain(filters: &[(Comparison, f64)], columns: &mut [Vec<f64>], kept: usize) {
    if filters.is_empty() {
        return;
    }
    let (kept, tested) = columns.split_at_mut(kept);
    let keep: Vec<bool> = (0..tested[0].len()).map(|row| passes(filters, tested, row)).collect();
    for column in kept {
        let mut row = 0..;
        column.retain(|_| row.next().is_some_and(|row: usize| keep[row]));
    }
}
