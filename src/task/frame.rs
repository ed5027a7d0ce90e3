//! What a figure shows beyond the metrics.

use serde::{Deserialize, Serialize};

/// A table of numbers that a cell hands to its figure: a curve, a map, the data behind them. The columns are of one
/// length. Frames are of the first replicate alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// What it holds, as the kind of figure knows it.
    pub name: String,
    /// The columns: name and numbers, all finite.
    pub columns: Vec<(String, Vec<f64>)>,
}

impl Frame {
    /// A frame without columns.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), columns: Vec::new() }
    }

    /// With one more column.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        self.columns.push((name.into(), values.into_iter().collect()));
        self
    }

    /// With a column for each dimension of some points (rows of a matrix): x1, x2, ...
    #[must_use]
    pub fn with_points(self, points: &nalgebra::DMatrix<f64>) -> Self {
        let columns = points.column_iter().enumerate();
        columns.fold(self, |frame, (d, column)| frame.with(format!("x{}", d + 1), column.iter().copied()))
    }

    /// A column by name; empty if there is none.
    pub fn column(&self, name: &str) -> &[f64] {
        self.columns.iter().find(|(column, _)| column == name).map_or(&[], |(_, values)| values)
    }

    /// The columns whose name begins so, in order.
    pub fn columns_named<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a [f64]> {
        self.columns
            .iter()
            .filter(move |(name, _)| name.starts_with(prefix))
            .map(|(_, values)| values.as_slice())
    }

    pub(super) fn is_finite(&self) -> bool {
        self.columns.iter().flat_map(|(_, values)| values).all(|v| v.is_finite())
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_by_prefix() {
        let points = nalgebra::DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]);
        let frame = Frame::new("curve").with_points(&points).with("draw1", [5.0, 6.0]);
        assert_eq!((frame.column("x2"), frame.rows()), ([2.0, 4.0].as_slice(), 2));
        assert_eq!(frame.columns_named("x").count(), 2);
        assert!(frame.column("x3").is_empty());
    }
}
