//! Sums in whole numbers of public units.

use nalgebra::{DMatrix, DVector};

use super::Statistics;

/// What one stands for in each of the sums, in units of the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SumsUnits {
    /// In A.
    pub a: f64,
    /// In B.
    pub b: f64,
    /// In the sum of squares.
    pub squares: f64,
}

/// The sums of some rows without any rounding: `A` (m numbers) and the lower triangle of `B` (m x m), column by column.
///
/// ```
/// use dpgp_gp::variational::{SumsUnits, WholeSums};
/// let units = SumsUnits { a: 0.5, b: 0.25, squares: 1.0 };
/// let statistics = WholeSums { a: &[2, 4], b: &[4, 8, 12], units }.statistics(7);
/// assert_eq!(statistics.a.as_slice(), [1.0, 2.0]);
/// assert_eq!(statistics.b.as_slice(), [1.0, 2.0, 2.0, 3.0]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct WholeSums<'a> {
    /// `A`.
    pub a: &'a [i128],
    /// The lower triangle of `B`.
    pub b: &'a [i128],
    /// Of both.
    pub units: SumsUnits,
}

impl WholeSums<'_> {
    /// The number m of inducing inputs.
    pub fn size(&self) -> usize {
        self.a.len()
    }

    /// As a model takes them; without noise.
    pub fn statistics(&self, rows: usize) -> Statistics {
        Statistics { a: self.vector(), b: self.matrix(), rows }
    }

    /// A in units of the model.
    pub fn vector(&self) -> DVector<f64> {
        DVector::from_iterator(self.size(), self.a.iter().map(|number| *number as f64 * self.units.a))
    }

    /// B in units of the model.
    pub fn matrix(&self) -> DMatrix<f64> {
        let m = self.size();
        let mut matrix = DMatrix::zeros(m, m);
        let places = (0..m).flat_map(|j| (j..m).map(move |i| (i, j)));
        places.zip(self.b).for_each(|(place, number)| matrix[place] = *number as f64 * self.units.b);
        // The mirror image is free, also of what was released.
        matrix.fill_upper_triangle_with_lower_triangle();
        matrix
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_are_whole_matrices() {
        let units = SumsUnits { a: 0.5, b: 0.25, squares: 1.0 };
        let sums = WholeSums { a: &[2, -4, 6], b: &[4, 8, 12, 16, 20, 24], units };
        let Statistics { a, b, rows } = sums.statistics(7);
        assert_eq!((sums.size(), rows, a.as_slice()), (3, 7, &[1.0, -2.0, 3.0][..]));
        assert_eq!(b, DMatrix::from_row_slice(3, 3, &[1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0]));
    }
}
