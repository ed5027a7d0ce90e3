//! The rows of a task, and test inputs on a grid.

use nalgebra::DMatrix;

use dpgp_spec::setting::RangeSetting;

/// Public inputs and private targets.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Inputs (n x d).
    pub inputs: DMatrix<f64>,
    /// Targets (n).
    pub targets: Vec<f64>,
    /// The person of each row (n), if the data identify people: equal numbers for rows of one person. Empty if they do not.
    pub persons: Vec<usize>,
}

impl Sample {
    /// From one list of numbers per input column.
    pub fn new(inputs: &[Vec<f64>], targets: Vec<f64>) -> Self {
        let inputs = DMatrix::from_fn(targets.len(), inputs.len(), |i, j| inputs[j][i]);
        Self { inputs, targets, persons: Vec::new() }
    }

    /// Joins the rows of samples with the same input columns, in order. The result does not say whose rows they are.
    pub fn concat(parts: &[Self]) -> Self {
        let columns = parts.first().map_or(0, |part| part.inputs.ncols());
        let mut inputs = DMatrix::zeros(parts.iter().map(Self::row_count).sum(), columns);
        let mut targets = Vec::with_capacity(inputs.nrows());
        for part in parts {
            inputs.rows_mut(targets.len(), part.row_count()).copy_from(&part.inputs);
            targets.extend_from_slice(&part.targets);
        }
        Self { inputs, targets, persons: Vec::new() }
    }

    /// The rows at these positions, in this order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let targets = rows.iter().map(|&row| self.targets[row]).collect();
        let persons = rows.iter().filter_map(|&row| self.persons.get(row).copied()).collect();
        Self { inputs: self.inputs.select_rows(rows), targets, persons }
    }

    /// The rows of the person to whom a row belongs; that row alone if the data do not identify people.
    pub fn rows_of_same_person(&self, row: usize) -> Vec<usize> {
        match self.persons.get(row) {
            Some(person) => (0..self.row_count()).filter(|other| self.persons[*other] == *person).collect(),
            None => vec![row],
        }
    }

    /// The columns of the inputs, then the targets.
    pub fn columns(&self) -> Vec<&[f64]> {
        let mut columns = self.input_columns();
        columns.push(&self.targets);
        columns
    }

    /// The inputs, column by column.
    pub fn input_columns(&self) -> Vec<&[f64]> {
        let (inputs, rows) = (self.inputs.as_slice(), self.row_count());
        (0..self.inputs.ncols()).map(|column| &inputs[column * rows..(column + 1) * rows]).collect()
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.targets.len()
    }
}

/// The product of the ranges, a row per point; the last dimension varies fastest.
pub(super) fn product_grid(ranges: &[RangeSetting]) -> DMatrix<f64> {
    let rows: usize = ranges.iter().map(|range| range.points).product();
    DMatrix::from_fn(rows, ranges.len(), |i, d| {
        let inner: usize = ranges[d + 1..].iter().map(|range| range.points).product();
        ranges[d].value_at(i / inner % ranges[d].points)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_a_whole() {
        let part = |from: usize, to: usize| {
            let numbers = |by: f64| (from..to).map(|i| by * i as f64).collect::<Vec<f64>>();
            Sample::new(&[numbers(1.0), numbers(-2.0)], numbers(3.0))
        };
        let whole = Sample::concat(&[part(0, 3), part(3, 4), part(4, 4), part(4, 9)]);
        assert_eq!((whole.inputs, whole.targets), (part(0, 9).inputs, part(0, 9).targets));
    }
}

#[cfg(test)]
mod grid_tests {
    use super::*;

    #[test]
    fn the_last_dimension_varies_fastest() {
        let range = |from, to, points| RangeSetting { from, to, points };
        let grid = product_grid(&[range(0.0, 1.0, 2), range(5.0, 6.0, 3)]);
        let expected = [0.0, 5.0, 0.0, 5.5, 0.0, 6.0, 1.0, 5.0, 1.0, 5.5, 1.0, 6.0];
        assert_eq!(grid, DMatrix::from_row_slice(6, 2, &expected));
    }
}
