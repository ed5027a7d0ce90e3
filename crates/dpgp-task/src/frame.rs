//! What a figure shows beyond the metrics.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A frame has no column of this name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the frame `{frame}` has no column `{column}`: it has {}", columns.join(", "))]
pub struct MissingColumn {
    /// The name of the frame.
    pub frame: String,
    /// The column that was asked for.
    pub column: String,
    /// The columns that there are.
    pub columns: Vec<String>,
}

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

    /// A column by name.
    ///
    /// # Errors
    /// [`MissingColumn`] if there is none.
    pub fn column(&self, name: &str) -> Result<&[f64], MissingColumn> {
        let found = self.columns.iter().find(|(column, _)| column == name);
        found.map(|(_, values)| values.as_slice()).ok_or_else(|| MissingColumn {
            frame: self.name.clone(),
            column: name.to_owned(),
            columns: self.columns.iter().map(|(column, _)| column.clone()).collect(),
        })
    }

    /// The columns of this name and a number, in order.
    pub fn numbered<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [f64]> {
        let numbered = self.columns.iter().filter(move |(column, _)| {
            let number = column.strip_prefix(name).unwrap_or_default();
            !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
        });
        numbered.map(|(_, values)| values.as_slice())
    }

    pub(super) fn is_finite(&self) -> bool {
        self.columns.iter().flat_map(|(_, values)| values).all(|v| v.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_by_number() {
        let points = nalgebra::DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]);
        let frame = Frame::new("curve").with_points(&points).with("drawn", [5.0, 6.0]);
        assert_eq!(frame.column("x2").unwrap(), [2.0, 4.0]);
        assert_eq!((frame.numbered("x").count(), frame.numbered("draw").count()), (2, 0));
        let error = frame.column("x3").unwrap_err().to_string();
        assert_eq!(error, "the frame `curve` has no column `x3`: it has x1, x2, drawn");
    }
}
